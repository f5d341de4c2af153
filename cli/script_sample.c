/* SPDX-License-Identifier: MIT */
/*
 * A sample as a line, or as a line and its call chain. A sample of a group that is read as a whole
 * (:S) stands for one of each member: its period is what the counter gained since its last sample.
 */
#include "script.h"

#include <stdlib.h>

/* Nothing is known of the access. */
#define NO_DATA_SRC UINT64_C(0x5080021)
#define NS_PER_S UINT64_C(1000000000)
#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

/* ---- the start of a line ---- */

static void print_misc(struct line *line, uint16_t misc, uint32_t type)
{
	size_t count = 0;
	static const struct {
		char letter;
		uint16_t mode;
	} modes[] = { { 'K', PD_CPUMODE_KERNEL },
		      { 'U', PD_CPUMODE_USER },
		      { 'H', PD_CPUMODE_HYPERVISOR },
		      { 'G', PD_CPUMODE_GUEST_KERNEL },
		      { 'g', PD_CPUMODE_GUEST_USER } };
	char letters[16];

	/* The modes are numbers, but perf looks at them as bits. */
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if ((misc & modes[i].mode) == modes[i].mode)
			letters[count++] = modes[i].letter;
	}
	if ((type == PD_RECORD_MMAP || type == PD_RECORD_MMAP2) && (misc & PD_MASK(PD_MISC_MMAP_DATA)))
		letters[count++] = 'M';
	if (type == PD_RECORD_COMM && (misc & PD_MASK(PD_MISC_COMM_EXEC)))
		letters[count++] = 'E';
	if ((type == PD_RECORD_SWITCH || type == PD_RECORD_SWITCH_CPU_WIDE) &&
	    (misc & PD_MASK(PD_MISC_SWITCH_OUT))) {
		letters[count++] = 'S';
		if (misc & PD_MASK(PD_MISC_SWITCH_OUT_PREEMPT))
			letters[count++] = 'p';
	}
	letters[count] = 0;
	line_foreign_left(line, letters, count < 6 ? 6 : count + 1);
}

static uint64_t shown_time(struct script *script, uint64_t time_ns)
{
	uint64_t before = script->last_time;

	if (script->relative) {
		if (!script->has_first || !script->first_time)
			script->first_time = time_ns;
		script->has_first = true;
		return time_ns - script->first_time;
	}
	if (script->delta) {
		bool has_last = script->has_last && before;

		script->last_time = time_ns;
		script->has_last = true;
		return has_last ? time_ns - before : 0;
	}
	return time_ns;
}

static void print_time(struct script *script, uint64_t time_ns)
{
	struct line *line = &script->line;
	uint64_t shown = shown_time(script, time_ns);

	/* Both are twelve letters or more: 5.9 shows nanoseconds, 5.6 microseconds. */
	line_dec(line, shown / NS_PER_S, 5, ' ');
	line_char(line, '.');
	if (script->nanoseconds)
		line_dec(line, shown % NS_PER_S, 9, '0');
	else
		line_dec(line, shown % NS_PER_S / 1000, 6, '0');
	line_word(line, ": ");
}

void script_start(struct script *script, const struct shot *shot, uint32_t type, bool wide)
{
	struct line *line = &script->line;
	uint32_t shown = shot->shown;

	if (shown & FIELD_COMM) {
		line_foreign(line, shot->comm, wide ? 16 : 0);
		line_char(line, ' ');
	}
	if ((shown & FIELD_PID) && (shown & FIELD_TID)) {
		line_signed(line, (int32_t)shot->pid, 5, ' ');
		line_char(line, '/');
		line_signed_left(line, (int32_t)shot->tid, 5);
		line_char(line, ' ');
	} else if (shown & (FIELD_PID | FIELD_TID)) {
		line_signed(line, (int32_t)(shown & FIELD_PID ? shot->pid : shot->tid), 5, ' ');
		line_char(line, ' ');
	}
	if (shown & FIELD_CPU) {
		line_char(line, '[');
		line_signed(line, (int32_t)shot->cpu, 3, '0');
		line_word(line, "] ");
	}
	if (shown & FIELD_MISC)
		print_misc(line, shot->record->misc, type);
	if (shown & FIELD_TIME)
		print_time(script, shot->time_ns);
}

/* ---- the rest of it ---- */

static bool has_chain(const struct script *script, const struct shot *shot)
{
	return script->chains && HAS(shot->event->attr, CALLCHAIN);
}

static void print_event_name(struct script *script, const struct pd_event *event)
{
	if (!script->name_width) {
		for (size_t i = 0; i < pd_file_event_count(script->input.file); i++) {
			size_t width = strlen(pd_file_event(script->input.file, i)->name);

			if (script->name_width < width)
				script->name_width = width;
		}
	}
	line_foreign(&script->line, event->name, script->name_width);
	line_word(&script->line, ": ");
}

static void print_place(struct script *script, const struct shot *shot)
{
	bool chain = has_chain(script, shot);

	line_char(&script->line, chain ? '\n' : ' ');
	if (chain)
		script_chain(script, shot);
	else
		script_ip(script, shot);
}

/* Branches that were traced one by one: from where to where, and nothing else. */
static bool is_branch_trace(const struct pd_attr *attr)
{
	return attr->type == PD_TYPE_HARDWARE && (attr->config & PD_HW_BRANCH_INSTRUCTIONS) &&
	       attr->sample_period == 1;
}

static void print_branch_trace(struct script *script, const struct shot *shot)
{
	const struct fields *fields = &script->fields[kind_of(shot->event)];

	if (shot->shown & FIELD_IP)
		print_place(script, shot);
	if ((shot->shown & FIELD_ADDR) || (HAS(shot->event->attr, ADDR) && !fields->by_user)) {
		line_word(&script->line, " => ");
		script_addr(script, shot);
	}
	line_char(&script->line, '\n');
}

static uint64_t weight_of(const struct shot *shot)
{
	if (HAS(shot->event->attr, WEIGHT_STRUCT))
		return PD_BITS(shot->sample->weight_struct, PD_WEIGHT_VAR1_DW);
	return shot->sample->weight;
}

static void print_memory(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;
	const struct pd_sample *sample = shot->sample;
	uint32_t shown = shot->shown;

	if (shown & FIELD_ADDR)
		script_addr(script, shot);
	if (shown & FIELD_DATA_SRC)
		script_data_src(script, HAS(shot->event->attr, DATA_SRC) ? sample->data_src :
									   NO_DATA_SRC);
	if (shown & FIELD_WEIGHT)
		line_dec(line, weight_of(shot), 16, ' ');
	if (shown & FIELD_INS_LAT)
		line_dec(line, PD_BITS(sample->weight_struct, PD_WEIGHT_VAR2_W), 16, ' ');
	if (shown & FIELD_RETIRE_LAT)
		line_dec(line, PD_BITS(sample->weight_struct, PD_WEIGHT_VAR3_W), 16, ' ');
	if (shown & FIELD_CGROUP) {
		const char *path = pd_world_cgroup(script->world, sample->cgroup);

		line_char(line, ' ');
		line_foreign(line, path ? path : "unknown", 0);
	}
}

static void print_extra(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;
	const struct pd_sample *sample = shot->sample;
	const struct pd_attr *attr = shot->event->attr;
	uint32_t shown = shot->shown;

	if ((shown & FIELD_IREGS) && sample->intr_regs && sample->intr_regs->abi)
		script_regs(script, attr->sample_regs_intr, sample->intr_regs->abi,
			    sample->intr_regs->regs);
	if ((shown & FIELD_UREGS) && sample->user_regs && sample->user_regs->abi)
		script_regs(script, attr->sample_regs_user, sample->user_regs->abi,
			    sample->user_regs->regs);
	if (shown & FIELD_BRSTACK)
		script_branches(script, shot);
	if ((shown & FIELD_BPF_OUTPUT) && attr->type == PD_TYPE_SOFTWARE &&
	    attr->config == PD_SW_BPF_OUTPUT)
		script_bpf_output(script, sample->raw);
	if (shown & FIELD_PHYS_ADDR)
		line_hex(line, sample->phys_addr, 16, ' ');
	if (shown & FIELD_DATA_PAGE_SIZE)
		script_page_size(script, sample->data_page_size);
	if (shown & FIELD_CODE_PAGE_SIZE)
		script_page_size(script, sample->code_page_size);
}

static void print_shot(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;
	uint32_t shown = shot->shown;

	script->printed++;
	script_start(script, shot, PD_RECORD_SAMPLE,
		     !((shown & FIELD_IP) && has_chain(script, shot)));
	if (shown & FIELD_PERIOD) {
		line_dec(line, shot->period, 10, ' ');
		line_char(line, ' ');
	}
	if (shown & FIELD_EVENT)
		print_event_name(script, shot->event);
	if (shown & FIELD_FLAGS)
		line_spaces(line, 24); /* only decoded traces have some */
	if (is_branch_trace(shot->event->attr)) {
		print_branch_trace(script, shot);
		return;
	}
	if (shown & FIELD_TRACE)
		script_trace(script, shot);
	print_memory(script, shot);
	if (shown & FIELD_IP)
		print_place(script, shot);
	print_extra(script, shot);
	line_char(line, '\n');
}

/* ---- groups ---- */

static struct last_value *value_slot(struct last_value *slots, size_t count, uint64_t id)
{
	size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (count - 1);

	while (slots[at].used && slots[at].id != id)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static bool grow_values(struct script *script)
{
	size_t count = script->value_slots ? script->value_slots * 2 : 64;
	struct last_value *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < script->value_slots; i++) {
		const struct last_value *old = &script->last_values[i];

		if (old->used)
			*value_slot(slots, count, old->id) = *old;
	}
	free(script->last_values);
	script->last_values = slots;
	script->value_slots = count;
	return true;
}

/* Ids are those of the file's events, so the table ends to grow. NULL if there is no memory. */
static struct last_value *last_value(struct script *script, uint64_t id)
{
	struct last_value *slot;

	if (script->value_count * 2 >= script->value_slots && !grow_values(script))
		return NULL;
	slot = value_slot(script->last_values, script->value_slots, id);
	if (!slot->used) {
		*slot = (struct last_value){ .id = id, .used = true };
		script->value_count++;
	}
	return slot;
}

static void print_of_event(struct script *script, struct shot *shot)
{
	shot->shown = script->fields[kind_of(shot->event)].shown;
	if (!shot->shown || !select_has_event(&script->select, shot->event) ||
	    !select_has_time(&script->select, shot->time_ns) ||
	    !select_has_cpu(&script->select, shot->cpu) ||
	    !select_has_thread(&script->select, shot->pid, shot->tid, shot->comm))
		return;
	print_shot(script, shot);
}

static bool print_value(struct script *script, struct shot *shot, uint64_t id, uint64_t value)
{
	const struct pd_event *event = pd_file_event_by_id(script->input.file, id);
	struct last_value *last;

	if (!event)
		return true;
	last = last_value(script, id);
	if (!last)
		return false;
	shot->event = event;
	shot->period = value - last->value;
	last->value = value;
	if (shot->period)
		print_of_event(script, shot);
	return true;
}

static bool print_members(struct script *script, struct shot *shot)
{
	const struct pd_counts *counts = shot->sample->read;

	if (!PD_BITS(shot->event->attr->read_format, PD_READ_FORMAT_GROUP))
		return print_value(script, shot, counts->id, counts->value);
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, counts->members, i);

		if (!print_value(script, shot, member->id, member->value))
			return false;
	}
	return true;
}

/* ---- a sample ---- */

bool script_sample(struct script *script, const struct pd_record *record)
{
	const struct pd_sample *sample = record->event ? pd_as_sample(record) : NULL;
	char unknown[PD_THREAD_NAME_BYTES];
	const struct pd_attr *attr;
	struct shot shot;

	if (!sample)
		return true;
	attr = record->event->attr;
	shot = (struct shot){
		.record = record,
		.sample = sample,
		.event = record->event,
		.when = pd_record_moment(record),
		.cpumode = (unsigned)PD_BITS(record->misc, PD_MISC_CPUMODE),
		.pid = HAS(attr, TID) ? sample->pid : UINT32_MAX,
		.tid = HAS(attr, TID) ? sample->tid : UINT32_MAX,
		.cpu = HAS(attr, CPU) ? sample->cpu : UINT32_MAX,
		.time_ns = HAS(attr, TIME) ? sample->time_ns : UINT64_MAX,
		.period = HAS(attr, PERIOD) ? sample->period : attr->sample_period,
	};
	/* Guests need to be known by more than the file. */
	if (shot.cpumode == PD_CPUMODE_GUEST_KERNEL || shot.cpumode == PD_CPUMODE_GUEST_USER)
		return true;
	shot.comm = shot.tid == UINT32_MAX ? ":-1" :
					     pd_world_comm(script->world, shot.tid, shot.when, unknown);
	if (HAS(attr, READ) && sample->read)
		return print_members(script, &shot);
	print_of_event(script, &shot);
	return true;
}
