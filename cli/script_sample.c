/* SPDX-License-Identifier: MIT */
/*
 * A sample as a line, or as a line and its call chain. A sample of a group that is read as a whole
 * (:S) stands for one of each member: its period is what the counter gained since its last sample.
 */
#include "script.h"

#include <inttypes.h>
#include <stdio.h>
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
	if ((type == PD_RECORD_SWITCH || type == PD_RECORD_SWITCH_CPU_WIDE) && (misc & PD_MASK(PD_MISC_SWITCH_OUT))) {
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

/* The digits of a second stay for thousands of lines. */
static void print_second(struct script *script, uint64_t second)
{
	struct line *line = &script->line;

	if (second != script->second || !script->second_size) {
		script->second = second;
		script->second_size =
			(size_t)snprintf(script->second_digits, sizeof(script->second_digits), "%5" PRIu64 ".", second);
	}
	memcpy(line_piece(line), script->second_digits, sizeof(script->second_digits));
	line->used += script->second_size;
}

static void print_time(struct script *script, uint64_t time_ns)
{
	struct line *line = &script->line;
	uint64_t shown = shown_time(script, time_ns);

	/* Both are twelve letters or more: 5.9 shows nanoseconds, 5.6 microseconds. */
	print_second(script, shown / NS_PER_S);
	if (script->nanoseconds)
		line_dec(line, shown % NS_PER_S, 9, '0');
	else
		line_dec(line, shown % NS_PER_S / 1000, 6, '0');
	line_word(line, ": ");
}

/* comm, pid and tid. */
static void print_thread(struct line *line, const struct shot *shot, bool wide)
{
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
}

/* Made once for a thread, unless it is escaped or long. */
static void start_thread(struct line *line, const struct shot *shot, bool wide)
{
	struct thread_view *thread = shot->thread;
	uint64_t flushes;
	size_t start;

	if (thread && thread->start_size && thread->wide == wide && thread->shown == shot->shown) {
		line_padded(line, thread->start, thread->start_size);
		return;
	}
	line_piece(line);
	start = line->used;
	flushes = line->flushes;
	print_thread(line, shot, wide);
	if (!thread || line->flushes != flushes || line->used - start > START_MOST)
		return;
	thread->start_size = line->used - start;
	thread->wide = wide;
	thread->shown = shot->shown;
	memcpy(thread->start, line->room + start, thread->start_size);
}

void script_start(struct script *script, const struct shot *shot, uint32_t type, bool wide)
{
	struct line *line = &script->line;
	uint32_t shown = shot->shown;

	start_thread(line, shot, wide);
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

/* What the brief form of a sample has. */
#define BRIEF                                                                                               \
	(FIELD_COMM | FIELD_TID | FIELD_PID | FIELD_TIME | FIELD_CPU | FIELD_EVENT | FIELD_IP | FIELD_SYM | \
	 FIELD_DSO | FIELD_ADDR | FIELD_SYMOFF | FIELD_PERIOD | FIELD_FLAGS | FIELD_MISC | FIELD_SRCLINE)

/* The name of an event, as wide as the longest one that was known when the first was printed. */
static void make_name(struct script *script, struct event_look *look, const struct pd_event *event)
{
	size_t length = strlen(event->name), width;

	for (size_t i = 0; !script->look_known && i < pd_file_event_count(script->input.file); i++) {
		size_t own = strlen(pd_file_event(script->input.file, i)->name);

		script->name_width = script->name_width < own ? own : script->name_width;
	}
	script->look_known = true;
	width = script->name_width < length ? length : script->name_width;
	free(look->name);
	look->name = calloc(1, width + 3 + LINE_PIECE);
	if (!look->name)
		return;
	memset(look->name, ' ', width - length);
	memcpy(look->name + width - length, event->name, length);
	memcpy(look->name + width, ": ", 3);
	look->name_size = width + 2;
}

/* NULL if there is no memory. */
static const struct event_look *look_of(struct script *script, const struct pd_event *event)
{
	struct event_look *look;

	if (event->index >= script->look_count) {
		size_t count = pd_file_event_count(script->input.file);
		struct event_look *looks = realloc(script->looks, count * sizeof(*looks));

		if (!looks)
			return NULL;
		memset(looks + script->look_count, 0, (count - script->look_count) * sizeof(*looks));
		script->looks = looks;
		script->look_count = count;
	}
	look = &script->looks[event->index];
	if (!look->known) {
		look->shown = script->fields[kind_of(event)].shown;
		if (event->attr->type != PD_TYPE_SOFTWARE || event->attr->config != PD_SW_BPF_OUTPUT)
			look->shown &= ~(uint32_t)FIELD_BPF_OUTPUT;
		look->chain = script->chains && HAS(event->attr, CALLCHAIN);
		look->lbr = look->chain && HAS(event->attr, BRANCH_STACK) &&
			    PD_BITS(event->attr->branch_sample_type, PD_BRANCH_TYPE_CALL_STACK);
		look->copied = look->chain && HAS(event->attr, STACK_USER) && HAS(event->attr, REGS_USER);
		look->needs_sample = (look->shown & ~(uint32_t)BRIEF) || HAS(event->attr, READ) || look->lbr ||
				     look->copied;
		make_name(script, look, event);
		look->known = look->name != NULL;
	}
	return look->known ? look : NULL;
}

static void print_event_name(struct script *script, const struct shot *shot)
{
	if (script->line.escape)
		line_foreign(&script->line, shot->look->name, 0);
	else
		line_padded(&script->line, shot->look->name, shot->look->name_size);
}

static void print_place(struct script *script, const struct shot *shot)
{
	bool chain = shot->look->chain;

	line_char(&script->line, chain ? '\n' : ' ');
	if (chain)
		script_chain(script, shot);
	else
		script_ip(script, shot);
}

/* Branches that were traced one by one: from where to where, and nothing else. */
static bool is_branch_trace(const struct pd_attr *attr)
{
	return attr->type == PD_TYPE_HARDWARE && (attr->config & PD_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
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
		script_data_src(script, HAS(shot->event->attr, DATA_SRC) ? sample->data_src : NO_DATA_SRC);
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

/* The forms of a branch stack, in perf's order. */
static uint32_t next_branches(uint32_t field)
{
	return field == FIELD_BRSTACK ? FIELD_BRSTACKSYM : field == FIELD_BRSTACKSYM ? FIELD_BRSTACKOFF : 0;
}

static void print_extra(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;
	const struct pd_sample *sample = shot->sample;
	const struct pd_attr *attr = shot->event->attr;
	uint32_t shown = shot->shown;

	if ((shown & FIELD_IREGS) && sample->intr_regs && sample->intr_regs->abi)
		script_regs(script, attr->sample_regs_intr, sample->intr_regs->abi, sample->intr_regs->regs);
	if ((shown & FIELD_UREGS) && sample->user_regs && sample->user_regs->abi)
		script_regs(script, attr->sample_regs_user, sample->user_regs->abi, sample->user_regs->regs);
	for (uint32_t field = FIELD_BRSTACK; field; field = next_branches(field)) {
		if (shown & field)
			script_branches(script, shot, field);
	}
	if (shown & FIELD_BPF_OUTPUT)
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
	if ((shown & FIELD_IP) && shot->look->copied)
		script->copied += pd_sample_needs_unwinding(shot->sample);
	if (shown & FIELD_IP)
		script_fetch(script, shot);
	script_start(script, shot, PD_RECORD_SAMPLE, !((shown & FIELD_IP) && shot->look->chain));
	if (shown & FIELD_IP)
		script_fetch_text(script);
	if (shown & FIELD_PERIOD) {
		line_dec(line, shot->period, 10, ' ');
		line_char(line, ' ');
	}
	if (shown & FIELD_EVENT)
		print_event_name(script, shot);
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

/* Who is asked for names by a condition. */
struct asked {
	struct script *script;
	const struct shot *shot;
};

static const char *name_of(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	const struct asked *asked = self;

	(void)record;
	return what == PD_FILTER_COMM ? asked->shot->comm : script_name(asked->script, asked->shot, what);
}

static bool has_where(struct script *script, const struct shot *shot)
{
	struct asked asked = { script, shot };
	const struct pd_filter_names names = { &asked, name_of };

	return select_has_where(&script->select, shot->record, &names);
}

static bool print_of_event(struct script *script, struct shot *shot)
{
	shot->look = look_of(script, shot->event);
	if (!shot->look)
		return false;
	shot->shown = shot->look->shown;
	if (!shot->shown || !select_has_event(&script->select, shot->event) ||
	    !select_has_time(&script->select, shot->time_ns) || !select_has_cpu(&script->select, shot->cpu) ||
	    !select_has_thread(&script->select, shot->pid, shot->tid, shot->comm) || !has_where(script, shot))
		return true;
	if (!select_by_place(&script->select) || script_has_place(script, shot))
		print_shot(script, shot);
	return true;
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
	return !shot->period || print_of_event(script, shot);
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

/* ---- threads ---- */

static bool is_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

static struct thread_view *thread_of(struct script *script, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct thread_view *thread;

	if (!script->views && !(script->views = calloc(VIEWS, sizeof(*script->views))))
		return NULL;
	thread = &script->views[(tid ^ pid * 31) % VIEWS];
	if (thread->known && thread->tid == tid && thread->pid == pid && !is_before(when, thread->view.from) &&
	    is_before(when, thread->view.until))
		return thread;
	*thread = (struct thread_view){ .known = true, .pid = pid, .tid = tid };
	pd_world_view(script->world, pid, tid, when, &thread->view);
	thread->comm = thread->view.comm;
	if (!thread->comm)
		thread->comm = pd_world_comm(script->world, tid, when, thread->unknown);
	return thread;
}

void script_forget_looks(struct script *script)
{
	for (size_t i = 0; i < script->look_count; i++)
		script->looks[i].known = false;
}

void script_forget(struct script *script)
{
	if (script->views)
		memset(script->views, 0, VIEWS * sizeof(*script->views));
	frames_clear(&script->frames);
}

void script_sample_fini(struct script *script)
{
	for (size_t i = 0; i < script->look_count; i++)
		free(script->looks[i].name);
	free(script->looks);
	free(script->views);
	frames_fini(&script->frames);
	free(script->last_values);
}

/* ---- a sample ---- */

bool script_sample(struct script *script, const struct pd_record *record)
{
	struct shot shot = { .record = record, .event = record->event };
	const struct event_look *look;
	char unknown[PD_THREAD_NAME_BYTES];

	if (!record->event || !pd_record_brief(record, &shot.brief))
		return true;
	frames_keep_up(&script->frames);
	look = look_of(script, record->event);
	if (!look)
		return false;
	if (look->needs_sample && !(shot.sample = pd_as_sample(record)))
		return true;
	shot.when = pd_record_moment(record);
	shot.cpumode = shot.brief.cpumode;
	shot.pid = shot.brief.pid;
	shot.tid = shot.brief.tid;
	shot.cpu = shot.brief.cpu;
	shot.time_ns = shot.brief.time_ns;
	shot.period = shot.brief.period;
	/* Guests need to be known by more than the file. */
	if (shot.cpumode == PD_CPUMODE_GUEST_KERNEL || shot.cpumode == PD_CPUMODE_GUEST_USER)
		return true;
	shot.thread = shot.tid == UINT32_MAX ? NULL : thread_of(script, shot.pid, shot.tid, shot.when);
	shot.comm = shot.thread            ? shot.thread->comm :
		    shot.tid == UINT32_MAX ? ":-1" :
					     pd_world_comm(script->world, shot.tid, shot.when, unknown);
	if (shot.sample && HAS(record->event->attr, READ) && shot.sample->read)
		return print_members(script, &shot);
	return print_of_event(script, &shot);
}
