/* SPDX-License-Identifier: MIT */
/*
 * A sample as a line, or as a line and its call chain. A sample of a group that is read as a whole
 * (:S) stands for one of each member: its period is what the counter gained since its last sample.
 */
#include "format/text/access.h"
#include "samples/raw/raw.h"
#include "state/locate.h"
#include "stream/read/stream.h"

#include <perfdata/summary.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

enum {
	COMM_SHORT = 8 /* of a name of a thread where lines begin short */
};

/* ---- the start of a line ---- */

static void print_misc(struct pd_line_buffer *line, uint16_t misc, uint32_t type)
{
	size_t count = 0;
	static const struct {
		char character;
		uint16_t mode;
	} modes[] = { { 'K', PD_CPUMODE_KERNEL },
		      { 'U', PD_CPUMODE_USER },
		      { 'H', PD_CPUMODE_HYPERVISOR },
		      { 'G', PD_CPUMODE_GUEST_KERNEL },
		      { 'g', PD_CPUMODE_GUEST_USER } };
	char text[16];

	/* The modes are numbers, but perf looks at them as bits. */
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if ((misc & modes[i].mode) == modes[i].mode)
			text[count++] = modes[i].character;
	}
	if ((type == PD_RECORD_MMAP || type == PD_RECORD_MMAP2) && (misc & PD_MASK(PD_MISC_MMAP_DATA)))
		text[count++] = 'M';
	if (type == PD_RECORD_COMM && (misc & PD_MASK(PD_MISC_COMM_EXEC)))
		text[count++] = 'E';
	if ((type == PD_RECORD_SWITCH || type == PD_RECORD_SWITCH_CPU_WIDE) && (misc & PD_MASK(PD_MISC_SWITCH_OUT))) {
		text[count++] = 'S';
		if (misc & PD_MASK(PD_MISC_SWITCH_OUT_PREEMPT))
			text[count++] = 'p';
	}
	text[count] = 0;
	pd_line_foreign_left(line, text, count < 6 ? 6 : count + 1);
}

static uint64_t shown_time(struct pd_samples *samples, uint64_t time_ns)
{
	uint64_t before = samples->last_time;

	if (samples->options.relative) {
		if (!samples->has_first || !samples->first_time)
			samples->first_time = time_ns;
		samples->has_first = true;
		return time_ns - samples->first_time;
	}
	if (samples->options.delta) {
		bool has_last = samples->has_last && before;

		samples->last_time = time_ns;
		samples->has_last = true;
		return has_last ? time_ns - before : 0;
	}
	return time_ns;
}

/* The digits of a second stay for thousands of lines. */
static void print_second(struct pd_samples *samples, uint64_t second)
{
	struct pd_line_buffer *line = &samples->line;

	if (second != samples->second || !samples->second_size) {
		samples->second = second;
		samples->second_size = (size_t)snprintf(samples->second_digits, sizeof(samples->second_digits),
							"%5" PRIu64 ".", second);
	}
	memcpy(pd_line_piece(line), samples->second_digits, sizeof(samples->second_digits));
	line->used += samples->second_size;
}

static void print_time(struct pd_samples *samples, uint64_t time_ns)
{
	struct pd_line_buffer *line = &samples->line;
	uint64_t shown = shown_time(samples, time_ns);

	/* Both are twelve characters or more: 5.9 shows nanoseconds, 5.6 microseconds. */
	print_second(samples, shown / NS_PER_S);
	if (samples->options.nanoseconds)
		pd_line_dec(line, shown % NS_PER_S, 9, '0');
	else
		pd_line_dec(line, shown % NS_PER_S / 1000, 6, '0');
	pd_line_word(line, ": ");
}

/* The day and the time of day, of the time zone of who reads. */
static void print_day(struct pd_samples *samples, uint64_t time_ns)
{
	uint64_t wall = pd_file_wall_clock(samples->file, time_ns);
	time_t second = (time_t)(wall / NS_PER_S);
	struct pd_line_buffer *line = &samples->line;
	char text[64];
	struct tm parts;

	if (wall == PD_NO_TIME || !localtime_r(&second, &parts) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S.", &parts))
		strcpy(text, "?.");
	pd_line_word(line, text);
	pd_line_dec(line, samples->options.nanoseconds ? wall % NS_PER_S : wall % NS_PER_S / 1000,
		    samples->options.nanoseconds ? 9 : 6, '0');
	pd_line_char(line, ' ');
}

static void print_comm(struct pd_line_buffer *line, const char *comm, bool cut, size_t width)
{
	char part[COMM_SHORT + 1];

	if (cut) {
		snprintf(part, sizeof(part), "%.*s", COMM_SHORT, comm);
		pd_line_foreign(line, part, COMM_SHORT);
	} else {
		pd_line_foreign(line, comm, width);
	}
	pd_line_char(line, ' ');
}

/* comm, pid and tid. */
static void print_thread(struct pd_line_buffer *line, const struct pd_shown_sample *hit, bool cut, bool wide)
{
	uint32_t shown = hit->shown;

	if (shown & FIELD_COMM)
		print_comm(line, hit->comm, cut, wide ? 16 : 0);
	if ((shown & FIELD_PID) && (shown & FIELD_TID)) {
		pd_line_signed(line, (int32_t)hit->pid, 5, ' ');
		pd_line_char(line, '/');
		pd_line_signed_left(line, (int32_t)hit->tid, 5);
		pd_line_char(line, ' ');
	} else if (shown & (FIELD_PID | FIELD_TID)) {
		pd_line_signed(line, (int32_t)(shown & FIELD_PID ? hit->pid : hit->tid), 5, ' ');
		pd_line_char(line, ' ');
	}
}

/* Made once for a thread, unless it is escaped or long. */
static void start_thread(struct pd_line_buffer *line, const struct pd_shown_sample *hit, bool cut, bool wide)
{
	struct pd_thread_line *thread = hit->thread;
	uint64_t flushes;
	size_t start;

	if (thread && thread->start_size && thread->wide == wide && thread->shown == hit->shown) {
		pd_line_padded(line, thread->start, thread->start_size);
		return;
	}
	pd_line_piece(line);
	start = line->used;
	flushes = line->flushes;
	print_thread(line, hit, cut, wide);
	if (!thread || line->flushes != flushes || line->used - start > START_MOST)
		return;
	thread->start_size = line->used - start;
	thread->wide = wide;
	thread->shown = hit->shown;
	memcpy(thread->start, line->bytes + start, thread->start_size);
}

void pd_samples_start(struct pd_samples *samples, const struct pd_shown_sample *hit, uint32_t type, bool wide)
{
	struct pd_line_buffer *line = &samples->line;
	uint32_t shown = hit->shown;

	start_thread(line, hit, samples->options.short_start, wide);
	if ((shown & FIELD_CPU) && samples->options.short_start) {
		pd_line_signed(line, (int32_t)hit->cpu, 3, ' ');
		pd_line_char(line, ' ');
	} else if (shown & FIELD_CPU) {
		pd_line_char(line, '[');
		pd_line_signed(line, (int32_t)hit->cpu, 3, '0');
		pd_line_word(line, "] ");
	}
	if (shown & FIELD_MISC)
		print_misc(line, hit->record->misc, type);
	if (shown & FIELD_TOD)
		print_day(samples, hit->time_ns);
	if (shown & FIELD_TIME)
		print_time(samples, hit->time_ns);
}

/* ---- the rest of it ---- */

/* What the brief form of a sample has. */
#define BRIEF                                                                                               \
	(FIELD_COMM | FIELD_TID | FIELD_PID | FIELD_TIME | FIELD_CPU | FIELD_EVENT | FIELD_IP | FIELD_SYM | \
	 FIELD_DSO | FIELD_ADDR | FIELD_SYMOFF | FIELD_PERIOD | FIELD_FLAGS | FIELD_MISC | FIELD_SRCLINE | FIELD_TOD)

/* The name of an event, as wide as the longest one that was known when the first was printed. */
static void make_name(struct pd_samples *samples, struct pd_event_style *style, const struct pd_event *event)
{
	size_t length = strlen(event->name), width;

	for (size_t i = 0; !samples->name_width_known && i < pd_file_event_count(samples->file); i++) {
		size_t own = strlen(pd_file_event(samples->file, i)->name);

		samples->name_width = samples->name_width < own ? own : samples->name_width;
	}
	samples->name_width_known = true;
	width = samples->name_width < length ? length : samples->name_width;
	pd_free(style->name);
	style->name = pd_alloc(width + 3 + PD_LINE_PIECE);
	if (!style->name)
		return;
	memset(style->name, ' ', width - length);
	memcpy(style->name + width - length, event->name, length);
	memcpy(style->name + width, ": ", 3);
	style->name_size = width + 2;
}

/* NULL if there is no memory. */
static const struct pd_event_style *style_of(struct pd_samples *samples, const struct pd_event *event)
{
	struct pd_event_style *style;

	if (event->index >= samples->style_count) {
		size_t count = pd_file_event_count(samples->file);
		struct pd_event_style *styles = pd_realloc(samples->styles, count * sizeof(*styles));

		if (!styles)
			return NULL;
		memset(styles + samples->style_count, 0, (count - samples->style_count) * sizeof(*styles));
		samples->styles = styles;
		samples->style_count = count;
	}
	style = &samples->styles[event->index];
	if (!style->known) {
		style->shown = samples->fields[pd_event_kind(event)].shown;
		if (event->attr->type != PD_TYPE_SOFTWARE || event->attr->config != PD_SW_BPF_OUTPUT)
			style->shown &= ~(uint32_t)FIELD_BPF_OUTPUT;
		style->chain = !samples->options.no_chains && HAS(event->attr, CALLCHAIN);
		style->copied = style->chain && pd_unwinder_wants(event->attr);
		style->needs_sample = (style->shown & ~(uint32_t)(BRIEF | FIELD_TRACE)) || HAS(event->attr, READ) ||
				      style->copied;
		make_name(samples, style, event);
		style->known = style->name != NULL;
	}
	return style->known ? style : NULL;
}

static void print_event_name(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	if (samples->line.escape)
		pd_line_foreign(&samples->line, hit->style->name, 0);
	else
		pd_line_padded(&samples->line, hit->style->name, hit->style->name_size);
}

static void print_place(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	bool chain = hit->style->chain;

	pd_line_char(&samples->line, chain ? '\n' : ' ');
	if (chain)
		pd_samples_chain(samples, hit);
	else
		pd_samples_ip(samples, hit);
}

/* Branches that were traced one by one: from where to where, and nothing else. */
static bool is_branch_trace(const struct pd_attr *attr)
{
	return attr->type == PD_TYPE_HARDWARE && (attr->config & PD_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
}

static void print_branch_trace(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	const struct pd_sample_fields *fields = &samples->fields[pd_event_kind(hit->event)];

	if (hit->shown & FIELD_IP)
		print_place(samples, hit);
	if ((hit->shown & FIELD_ADDR) || (HAS(hit->event->attr, ADDR) && !fields->by_user)) {
		pd_line_word(&samples->line, " => ");
		pd_samples_addr(samples, hit);
	}
	pd_line_char(&samples->line, '\n');
}

static uint64_t weight_of(const struct pd_shown_sample *hit)
{
	if (HAS(hit->event->attr, WEIGHT_STRUCT))
		return PD_BITS(hit->sample->weight_struct, PD_WEIGHT_VAR1_DW);
	return hit->sample->weight;
}

static void print_memory(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_line_buffer *line = &samples->line;
	const struct pd_sample *sample = hit->sample;
	uint32_t shown = hit->shown;

	if (shown & FIELD_ADDR)
		pd_samples_addr(samples, hit);
	if (shown & FIELD_DATA_SRC)
		pd_samples_data_src(samples, HAS(hit->event->attr, DATA_SRC) ? sample->data_src : PD_NO_DATA_SRC);
	if (shown & FIELD_WEIGHT)
		pd_line_dec(line, weight_of(hit), 16, ' ');
	if (shown & FIELD_INS_LAT)
		pd_line_dec(line, PD_BITS(sample->weight_struct, PD_WEIGHT_VAR2_W), 16, ' ');
	if (shown & FIELD_RETIRE_LAT)
		pd_line_dec(line, PD_BITS(sample->weight_struct, PD_WEIGHT_VAR3_W), 16, ' ');
	if (shown & FIELD_CGROUP) {
		const char *path = pd_state_cgroup(samples->state, sample->cgroup);

		pd_line_char(line, ' ');
		pd_line_foreign(line, path ? path : "unknown", 0);
	}
}

/* The forms of a branch stack, in perf's order. */
static uint32_t next_branches(uint32_t field)
{
	return field == FIELD_BRSTACK ? FIELD_BRSTACKSYM : field == FIELD_BRSTACKSYM ? FIELD_BRSTACKOFF : 0;
}

static void print_extra(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_line_buffer *line = &samples->line;
	const struct pd_sample *sample = hit->sample;
	const struct pd_attr *attr = hit->event->attr;
	uint32_t shown = hit->shown;

	if ((shown & FIELD_IREGS) && sample->intr_regs && sample->intr_regs->abi)
		pd_samples_regs(samples, attr->sample_regs_intr, sample->intr_regs->abi, sample->intr_regs->regs);
	if ((shown & FIELD_UREGS) && sample->user_regs && sample->user_regs->abi)
		pd_samples_regs(samples, attr->sample_regs_user, sample->user_regs->abi, sample->user_regs->regs);
	for (uint32_t field = FIELD_BRSTACK; field; field = next_branches(field)) {
		if (shown & field)
			pd_samples_branches(samples, hit, field);
	}
	if (shown & FIELD_BPF_OUTPUT)
		pd_samples_bpf_output(samples, sample->raw);
	if (shown & FIELD_PHYS_ADDR)
		pd_line_hex(line, sample->phys_addr, 16, ' ');
	if (shown & FIELD_DATA_PAGE_SIZE)
		pd_samples_page_size(samples, sample->data_page_size);
	if (shown & FIELD_CODE_PAGE_SIZE)
		pd_samples_page_size(samples, sample->code_page_size);
}

/* From the first sample on of which it is shown where it was. */
static __attribute__((noinline)) void add_maps(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_thread_line *thread = hit->thread;

	samples->shows_code = thread->has_maps = true;
	pd_state_view(samples->state, thread->pid, thread->tid, hit->when, &thread->view);
}

static void print_hit(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct pd_line_buffer *line = &samples->line;
	uint32_t shown = hit->shown;

	samples->printed++;
	if ((shown & FIELD_IP) && hit->thread && !hit->thread->has_maps)
		add_maps(samples, hit);
	if ((shown & FIELD_IP) && hit->style->copied && !samples->unwinder)
		samples->copied += pd_sample_needs_unwinding(hit->sample);
	if (shown & FIELD_IP)
		pd_samples_fetch(samples, hit);
	pd_samples_start(samples, hit, PD_RECORD_SAMPLE, !((shown & FIELD_IP) && hit->style->chain));
	if (shown & FIELD_IP)
		pd_samples_fetch_text(samples);
	if (shown & FIELD_PERIOD) {
		pd_line_dec(line, hit->period, 10, ' ');
		pd_line_char(line, ' ');
	}
	if (shown & FIELD_EVENT)
		print_event_name(samples, hit);
	if (shown & FIELD_FLAGS)
		pd_line_spaces(line, 24); /* only decoded traces have some */
	if (is_branch_trace(hit->event->attr)) {
		print_branch_trace(samples, hit);
		return;
	}
	if (shown & FIELD_TRACE)
		pd_samples_trace(samples, hit);
	print_memory(samples, hit);
	if (shown & FIELD_IP)
		print_place(samples, hit);
	print_extra(samples, hit);
	pd_line_char(line, '\n');
}

/* ---- groups ---- */

/* Who is asked for names by a condition. */
struct asked {
	struct pd_samples *samples;
	const struct pd_shown_sample *hit;
};

static const char *name_of(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	const struct asked *asked = self;

	(void)record;
	return what == PD_FILTER_COMM ? asked->hit->comm : pd_samples_name(asked->samples, asked->hit, what);
}

static bool is_selected(const struct pd_select *select, const struct pd_samples_candidate *candidate)
{
	const struct pd_brief *brief = candidate->brief;

	return pd_select_has_event(select, candidate->event) && pd_select_has_time(select, brief->time_ns) &&
	       pd_select_has_cpu(select, brief->cpu) &&
	       pd_select_has_thread(select, brief->pid, brief->tid, candidate->comm) &&
	       pd_select_has_where(select, candidate->record, candidate->names);
}

static bool is_chosen(struct pd_samples *samples, const struct pd_shown_sample *hit)
{
	struct asked asked = { samples, hit };
	const struct pd_filter_names names = { &asked, name_of };
	const struct pd_samples_candidate candidate = {
		.record = hit->record, .event = hit->event, .brief = &hit->brief, .comm = hit->comm, .names = &names
	};

	return (!samples->select || is_selected(samples->select, &candidate)) &&
	       (!samples->options.choose || samples->options.choose(samples->options.self, &candidate));
}

/* Another file for each event. */
static void aim_at_event(struct pd_samples *samples, const struct pd_event *event)
{
	struct pd_text *text = samples->options.text_of(samples->options.self, event);

	aim_at(samples, text ? text : samples->text);
}

static bool print_of_event(struct pd_samples *samples, struct pd_shown_sample *hit)
{
	if (samples->options.raw)
		pd_samples_raw_place(samples, hit);
	if (samples->options.raw == PD_RAW_REPORT)
		return true;
	hit->style = style_of(samples, hit->event);
	if (!hit->style)
		return false;
	hit->shown = hit->style->shown;
	if (!hit->shown || !is_chosen(samples, hit))
		return true;
	if (((!samples->options.choose_place && !samples->selects_place) || pd_samples_has_place(samples, hit)) &&
	    !pd_toggle_leaves(&samples->toggle, hit->event)) {
		if (samples->options.text_of)
			aim_at_event(samples, hit->event);
		print_hit(samples, hit);
	}
	return true;
}

static bool print_value(struct pd_samples *samples, struct pd_shown_sample *hit, uint64_t id, uint64_t value)
{
	const struct pd_event *event = pd_file_event_by_id(samples->file, id);

	if (!event)
		return true;
	if (!pd_last_values_gain(&samples->last_values, id, value, &hit->period))
		return false;
	hit->event = event;
	return !hit->period || print_of_event(samples, hit);
}

static bool print_members(struct pd_samples *samples, struct pd_shown_sample *hit)
{
	const struct pd_counts *counts = hit->sample->read;

	if (!PD_BITS(hit->event->attr->read_format, PD_READ_FORMAT_GROUP))
		return print_value(samples, hit, counts->id, counts->value);
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, counts->members, i);

		if (!print_value(samples, hit, member->id, member->value))
			return false;
	}
	return true;
}

/* ---- threads ---- */

static bool is_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

static struct pd_thread_line *thread_of(struct pd_samples *samples, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_thread_line *thread;

	if (!samples->views && !(samples->views = pd_alloc((VIEWS) * sizeof(*samples->views))))
		return NULL;
	thread = &samples->views[(tid ^ pid * 31) % VIEWS];
	if (thread->known && thread->tid == tid && thread->pid == pid && !is_before(when, thread->view.from) &&
	    is_before(when, thread->view.until))
		return thread;
	*thread = (struct pd_thread_line){ .known = true, .pid = pid, .tid = tid };
	thread->has_maps = samples->shows_code;
	if (thread->has_maps)
		pd_state_view(samples->state, pid, tid, when, &thread->view);
	else
		pd_state_view_name(samples->state, tid, when, &thread->view);
	thread->comm = thread->view.comm;
	if (!thread->comm)
		thread->comm = pd_state_comm(samples->state, tid, when, thread->unknown);
	return thread;
}

void pd_samples_forget_styles(struct pd_samples *samples)
{
	for (size_t i = 0; i < samples->style_count; i++)
		samples->styles[i].known = false;
}

void pd_samples_forget(struct pd_samples *samples)
{
	if (samples->views)
		memset(samples->views, 0, VIEWS * sizeof(*samples->views));
	pd_address_texts_clear(&samples->frames);
}

void pd_samples_sample_fini(struct pd_samples *samples)
{
	for (size_t i = 0; i < samples->style_count; i++)
		pd_free(samples->styles[i].name);
	pd_free(samples->styles);
	pd_free(samples->views);
	pd_address_texts_fini(&samples->frames);
	pd_last_values_fini(&samples->last_values);
}

/* ---- a sample ---- */

/* What the brief form lacks. False if the sample is damaged. */
static bool take_fields(struct pd_shown_sample *hit, const struct pd_event_style *style)
{
	if (!style->needs_sample &&
	    (!(style->shown & FIELD_TRACE) || pd_record_quick_raw(hit->record, &hit->brief, &hit->raw)))
		return true;
	hit->sample = pd_as_sample(hit->record);
	if (hit->sample)
		hit->raw = hit->sample->raw;
	return hit->sample != NULL;
}

bool pd_samples_sample(struct pd_samples *samples, const struct pd_record *record)
{
	struct pd_shown_sample hit = { .record = record, .event = record->event };
	const struct pd_event_style *style;
	char unknown[PD_THREAD_NAME_BYTES];

	if (!record->event || !pd_record_brief(record, &hit.brief))
		return true;
	pd_address_texts_keep_up(&samples->frames);
	style = style_of(samples, record->event);
	if (!style)
		return false;
	if (!take_fields(&hit, style))
		return true;
	hit.when = pd_record_moment(record);
	hit.cpumode = hit.brief.cpumode;
	hit.pid = hit.brief.pid;
	hit.tid = hit.brief.tid;
	hit.cpu = hit.brief.cpu;
	hit.time_ns = hit.brief.time_ns;
	hit.period = hit.brief.period;
	/* Guests need to be known by more than the file. */
	if (hit.cpumode == PD_CPUMODE_GUEST_KERNEL || hit.cpumode == PD_CPUMODE_GUEST_USER)
		return true;
	hit.thread = hit.tid == UINT32_MAX ? NULL : thread_of(samples, hit.pid, hit.tid, hit.when);
	hit.comm = hit.thread            ? hit.thread->comm :
		   hit.tid == UINT32_MAX ? ":-1" :
					   pd_state_comm(samples->state, hit.tid, hit.when, unknown);
	if (hit.sample && HAS(record->event->attr, READ) && hit.sample->read)
		return print_members(samples, &hit);
	return print_of_event(samples, &hit);
}
