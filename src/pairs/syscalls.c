/* SPDX-License-Identifier: MIT */
// perf trace: begins and ends of system calls, and a table of them for each thread.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/text/text.h"
#include "filter/select.h"
#include "pairs/lines/lines.h"
#include "pairs/pairs.h"

enum {
	RAW_ENTER,
	RAW_EXIT,
	ENTER,
	EXIT,
	RAW_ONLY = 2,
	KNOWN = PD_CALLS_KNOWN,
	RECENT = 8,
	BUCKETS = 256 // of perf's table of threads, whose order is that of the output
};

static const struct pd_tracepoint points[] = {
	[RAW_ENTER] = { "raw_syscalls:sys_enter", { "id" } },
	[RAW_EXIT] = { "raw_syscalls:sys_exit", { "id", "ret" } },
	[ENTER] = { "syscalls:sys_enter_*", { "?__syscall_nr", "?nr" } },
	[EXIT] = { "syscalls:sys_exit_*", { "?__syscall_nr", "ret", "?nr" } },
};

struct error_count {
	uint64_t number, count;
	struct error_count *next; // with a greater number
};

// A system call of a thread.
struct call {
	const char *name;
	uint64_t number;
	struct pd_sched_stats stats;
	uint64_t failures;
	struct error_count *errors;
	struct call *next; // of the thread
};

struct caller {
	uint64_t entry_ns, events, runtime_ns;
	uint64_t faults[2]; // minor and major ones
	struct call *calls, *last;
	struct call *recent[RECENT]; // by the low bits of their numbers
	struct pd_line_entry entry;
};

struct syscalls {
	struct pd_pairs pairs;
	struct pd_syscalls_options options;
	struct pd_u64_map map; // calls by thread and number
	enum pd_arch arch;
	bool is_64_bit;
	uint64_t events;
	// Of calls that were met:
	const char *names[KNOWN];
	bool unwanted[KNOWN];
	const struct pd_call *described[KNOWN];
	struct caller all; // with total: the calls of all threads
	struct pd_lines lines;
	struct pd_call_shapes shapes;
	struct pd_points points; // other events
	struct pd_toggle toggle;
	bool toggle_checked;
	const struct pd_event *runtime_event; // whose number is known
	struct pd_raw_number runtime;
};

// ---- events ----

// Of an architecture without a table. NULL: no memory.
static const char *name_number(struct syscalls *syscalls, uint64_t number)
{
	char name[32];
	size_t size = (size_t)snprintf(name, sizeof(name), "syscall_%" PRIu64, number) + 1;
	char *copy = pd_arena_alloc(&syscalls->pairs.sched.arena, size);

	if (copy)
		memcpy(copy, name, size);
	return copy;
}

static const char *name_of(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample, uint64_t number)
{
	size_t prefix = strlen(points[sample->which].name) - 1;

	if (!syscalls->arch) {
		const struct pd_string *arch = pd_file_arch(syscalls->pairs.sched.file);

		syscalls->arch = pd_file_machine(syscalls->pairs.sched.file);
		syscalls->is_64_bit = !arch || arch->value.data[0] != 'i';
	}
	// those have it in their own name
	if (sample->which >= RAW_ONLY)
		return pd_pairs_name(&syscalls->pairs, sample->event->name + prefix,
				     strlen(sample->event->name + prefix));
	if (pd_syscall_name(syscalls->arch, syscalls->is_64_bit, 1))
		return pd_syscall_name(syscalls->arch, syscalls->is_64_bit, number);
	return name_number(syscalls, number);
}

// Numbers of one file, which are smaller than KNOWN, are those of one table.
static const char *find_name(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample, uint64_t number)
{
	if (syscalls->names[number])
		return syscalls->names[number];
	syscalls->names[number] = name_of(syscalls, sample, number);
	if (syscalls->names[number])
		syscalls->unwanted[number] = !pd_call_is_wanted(syscalls->options.calls, syscalls->names[number]);
	return syscalls->names[number];
}

static struct pd_sched_thread *thread_of(struct syscalls *syscalls, uint32_t pid, uint32_t tid, struct pd_error *error)
{
	struct pd_sched *sched = &syscalls->pairs.sched;
	struct pd_sched_thread *thread = pd_sched_find(sched, (int32_t)pid, (int32_t)tid, error);

	if (!thread || thread->own)
		return thread;
	thread->own = pd_arena_alloc(&sched->arena, sizeof(struct caller));
	if (thread->own)
		return thread;
	pd_fail_memory(error);
	return NULL;
}

static struct call *add_call(struct syscalls *syscalls, struct caller *caller, uint64_t number, const char *name)
{
	struct call *call = pd_arena_alloc(&syscalls->pairs.sched.arena, sizeof(*call));

	if (!call)
		return NULL;
	call->name = name;
	call->number = number;
	call->stats.min = UINT64_MAX;
	if (caller->last)
		caller->last->next = call;
	else
		caller->calls = call;
	caller->last = call;
	return call;
}

// NULL, with an error, or without one if it has no name.
static struct call *find_call(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample,
			      struct caller *caller, uint64_t number, struct pd_error *error)
{
	uint64_t key = (uint64_t)(uintptr_t)caller << 12 ^ number;
	struct call *call = (struct call *)(uintptr_t)pd_u64_map_find(&syscalls->map, key); // NOLINT: it was a pointer
	const char *name;

	if (call)
		return call;
	name = find_name(syscalls, sample, number);
	call = name ? add_call(syscalls, caller, number, name) : NULL;
	if (name && (!call || !pd_u64_map_set(&syscalls->map, key, (uintptr_t)call))) {
		pd_fail_memory(error);
		return NULL;
	}
	return call;
}

static inline struct call *call_of(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample,
				   struct caller *caller, uint64_t number, struct pd_error *error)
{
	struct call **recent = &caller->recent[number % RECENT];

	if (PD_UNLIKELY(!*recent || (*recent)->number != number))
		*recent = find_call(syscalls, sample, caller, number, error);
	return *recent;
}

static bool count_error(struct syscalls *syscalls, struct call *call, uint64_t number)
{
	struct error_count **at = &call->errors, *fresh;

	call->failures++;
	if (!syscalls->options.errors)
		return true;
	while (*at && (*at)->number < number)
		at = &(*at)->next;
	if (!*at || (*at)->number != number) {
		fresh = pd_arena_alloc(&syscalls->pairs.sched.arena, sizeof(*fresh));
		if (!fresh)
			return false;
		*fresh = (struct error_count){ .number = number, .next = *at };
		*at = fresh;
	}
	(*at)->count++;
	return true;
}

static enum pd_status take_exit(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample,
				struct caller *caller, uint64_t number, struct pd_error *error)
{
	uint64_t time_ns = sample->brief.time_ns;
	bool entered = caller->entry_ns && time_ns > caller->entry_ns;
	int64_t result = (int64_t)sample->values[1];
	struct call *call;

	error->status = PD_OK;
	call = call_of(syscalls, sample, syscalls->options.total ? &syscalls->all : caller, number, error);
	if (!call)
		return error->status;
	pd_sched_add_value(&call->stats, entered ? time_ns - caller->entry_ns : 0);
	return result >= 0 || count_error(syscalls, call, -(uint64_t)result) ? PD_OK : pd_fail_memory(error);
}

// perf counts only those that have a name.
static bool is_known(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample, uint64_t number)
{
	return find_name(syscalls, sample, number) || sample->which != RAW_ENTER;
}

// Between which events: those of a pipe, or of what is recorded now, are known when the first sample comes. PD_END: not wanted.
static enum pd_status take_toggle(struct syscalls *syscalls, const struct pd_event *event, struct pd_error *error)
{
	struct pd_toggle *toggle = &syscalls->toggle;

	if (!toggle->on && !toggle->off)
		return PD_OK;
	if (!syscalls->toggle_checked && pd_toggle_check(toggle, syscalls->pairs.sched.file, error) < 0)
		return error->status;
	syscalls->toggle_checked = true;
	return pd_toggle_leaves(toggle, event) ? PD_END : PD_OK;
}

static bool has(const char *list, uint32_t number)
{
	return list && pd_list_has(list, number);
}

static bool is_wanted_thread(const struct pd_syscalls_options *options, uint32_t pid, uint32_t tid)
{
	if (options->without_pids && pd_list_has(options->without_pids, pid))
		return false;
	return (!options->pids && !options->tids) || has(options->pids, pid) || has(options->tids, tid);
}

// ---- lines ----

// What a call is given; NULL: no memory.
static const struct pd_call *describe(struct syscalls *syscalls, uint64_t number)
{
	const char *name = syscalls->names[number];

	if (!syscalls->described[number] && name)
		syscalls->described[number] = pd_call_new(&syscalls->pairs.sched.arena, name);
	return syscalls->described[number];
}

static void begin_time(struct syscalls *syscalls, uint64_t time_ns)
{
	if (!syscalls->lines.base_ns && !syscalls->options.full_time)
		syscalls->lines.base_ns = time_ns;
}

static bool has_chain(const struct pd_event *event)
{
	return event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN);
}

static struct pd_line_chain chain_of(const struct pd_event *event, struct pd_u64s addresses, uint32_t pid,
				     uint64_t time_ns)
{
	return (struct pd_line_chain){
		.is_recorded = has_chain(event), .addresses = addresses, .pid = pid, .time_ns = time_ns
	};
}

static enum pd_status print_line(struct syscalls *syscalls, const struct pd_tracepoint_sample *sample,
				 struct pd_sched_thread *thread, uint64_t number, struct pd_error *error)
{
	struct pd_line_entry *entry = &((struct caller *)thread->own)->entry;
	const struct pd_call *call = describe(syscalls, number);
	uint64_t time_ns = sample->brief.time_ns;

	if (!call)
		return syscalls->names[number] ? pd_fail_memory(error) : PD_OK;
	begin_time(syscalls, time_ns);
	if (sample->which == RAW_EXIT || sample->which == EXIT) {
		struct pd_line_chain chain =
			chain_of(sample->event, sample->brief.callchain, sample->brief.pid, time_ns);

		chain.user_only = syscalls->options.user_stacks;
		if (pd_pairs_follow_state(&syscalls->pairs, error) < 0)
			return error->status;
		pd_lines_exit(&syscalls->lines, thread, entry, call, &chain, (int64_t)sample->values[1]);
		return pd_text_flush_or_fail(syscalls->pairs.sched.text, error);
	}
	pd_lines_enter(&syscalls->lines, entry, call, time_ns);
	pd_call_read_values(&syscalls->shapes, syscalls->pairs.points.trace, sample, entry->values);
	pd_lines_entered(&syscalls->lines, thread, entry);
	return PD_OK;
}

// PD_END: all lines that are wanted were printed.
static enum pd_status status_of_lines(const struct syscalls *syscalls)
{
	const struct pd_syscalls_options *options = &syscalls->options;

	return options->live && options->max_lines && syscalls->lines.printed >= options->max_lines ? PD_END : PD_OK;
}

static enum pd_status take_point(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	struct syscalls *syscalls = (struct syscalls *)pairs;
	bool is_exit = sample->which == RAW_EXIT || sample->which == EXIT;
	uint64_t number = sample->values[0];
	struct pd_sched_thread *thread;
	struct caller *caller;
	enum pd_status status;

	if (sample->which >= RAW_ONLY && !number)
		number = sample->values[is_exit ? 2 : 1];
	if (!is_wanted_thread(&syscalls->options, sample->brief.pid, sample->brief.tid))
		return PD_OK;
	if ((status = take_toggle(syscalls, sample->event, error)) != PD_OK)
		return status == PD_END ? PD_OK : status;
	syscalls->events++;
	if (number >= KNOWN || !is_known(syscalls, sample, number) || syscalls->unwanted[number])
		return PD_OK;
	thread = thread_of(syscalls, sample->brief.pid, sample->brief.tid, error);
	if (!thread)
		return error->status;
	caller = thread->own;
	caller->events++;
	if (syscalls->options.text != PD_SYSCALLS_SUMMARY && print_line(syscalls, sample, thread, number, error) < 0)
		return error->status;
	if (!is_exit)
		caller->entry_ns = sample->brief.time_ns;
	else if (take_exit(syscalls, sample, caller, number, error) < 0)
		return error->status;
	return status_of_lines(syscalls);
}

// ---- other events ----

// Where it was lost: what is printed before and after it does not follow on one another.
static enum pd_status print_lost(struct syscalls *syscalls, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_lost *lost = record->type == PD_RECORD_LOST ? pd_as_lost(record) : NULL;

	if (!lost || syscalls->options.json || syscalls->options.text == PD_SYSCALLS_SUMMARY)
		return PD_OK;
	pd_text_printf(syscalls->pairs.sched.text, "LOST %" PRIu64 " events!\n", lost->lost);
	return pd_text_flush_or_fail(syscalls->pairs.sched.text, error);
}

enum {
	SW_PAGE_FAULTS = 2,
	SW_PAGE_FAULTS_MIN = 5,
	SW_PAGE_FAULTS_MAJ = 6
};

static bool is_fault(const struct pd_event *event)
{
	const uint64_t config = event->attr->config;

	return event->attr->type == PD_TYPE_SOFTWARE &&
	       (config == SW_PAGE_FAULTS || config == SW_PAGE_FAULTS_MIN || config == SW_PAGE_FAULTS_MAJ);
}

static bool has_faults(struct pd_file *file)
{
	bool any = false;

	for (size_t i = 0; i < pd_file_event_count(file); i++)
		any = any || is_fault(pd_file_event(file, i));
	return any;
}

static enum pd_status print_fault(struct syscalls *syscalls, const struct pd_record *record,
				  const struct pd_brief *brief, const struct pd_point *point, struct pd_error *error)
{
	const struct pd_sample *sample = pd_as_sample(record);
	const struct pd_fault fault = { .point = *point,
					.ip = brief->ip,
					.addr = sample ? sample->addr : 0,
					.cpumode = brief->cpumode,
					.is_major = record->event->attr->config == SW_PAGE_FAULTS_MAJ };

	return pd_lines_fault(&syscalls->lines, &fault, error);
}

// How long a thread ran.
static enum pd_status take_runtime(struct syscalls *syscalls, const struct pd_record *record, struct caller *caller,
				   struct pd_error *error)
{
	struct pd_trace *trace = syscalls->pairs.points.trace;
	struct pd_raw_brief raw_brief;
	struct pd_bytes raw;
	uint64_t runtime_ns;

	if (syscalls->runtime_event != record->event &&
	    pd_raw_number_find(trace, record->event, "runtime", &syscalls->runtime, error) < 0)
		return error->status;
	syscalls->runtime_event = record->event;
	if (pd_sample_raw(record, &raw_brief, &raw) && pd_raw_number_read(raw, &syscalls->runtime, &runtime_ns)) {
		caller->runtime_ns += runtime_ns;
		syscalls->all.runtime_ns += runtime_ns;
	}
	return PD_OK;
}

static enum pd_status print_other(struct syscalls *syscalls, const struct pd_record *record,
				  const struct pd_brief *brief, struct pd_error *error)
{
	struct pd_point point = { .event = record->event,
				  .time_ns = brief->time_ns,
				  .chain = chain_of(record->event, brief->callchain, brief->pid, brief->time_ns) };
	struct pd_raw_brief raw_brief;
	enum pd_status status = pd_pairs_follow_state(&syscalls->pairs, error);

	if (status < 0 || !pd_lines_chain_is_long_enough(&syscalls->lines, &point.chain))
		return status;
	point.thread = pd_sched_find(&syscalls->pairs.sched, (int32_t)brief->pid, (int32_t)brief->tid, error);
	if (!point.thread)
		return error->status;
	begin_time(syscalls, brief->time_ns);
	if (is_fault(record->event)) {
		status = print_fault(syscalls, record, brief, &point, error);
	} else {
		if (!pd_sample_raw(record, &raw_brief, &point.raw))
			point.raw = (struct pd_bytes){ NULL, 0 };
		status = pd_lines_point(&syscalls->lines, &syscalls->points, &point, error);
	}
	return status < 0 ? status : status_of_lines(syscalls);
}

// What tables have of other events. PD_END: it is no line.
static enum pd_status count_other(struct syscalls *syscalls, const struct pd_record *record,
				  const struct pd_brief *brief, struct pd_error *error)
{
	const bool runtime = syscalls->options.runtimes && pd_event_is(record->event, "sched:sched_stat_runtime");
	const bool is_major = record->event->attr->config == SW_PAGE_FAULTS_MAJ;
	struct pd_sched_thread *thread;
	struct caller *caller;

	if (!runtime && !is_fault(record->event))
		return pd_sched_find(&syscalls->pairs.sched, (int32_t)brief->pid, (int32_t)brief->tid, error) ?
			       PD_OK :
			       error->status;
	thread = thread_of(syscalls, brief->pid, brief->tid, error);
	if (!thread)
		return error->status;
	caller = thread->own;
	caller->events++;
	if (runtime)
		return take_runtime(syscalls, record, caller, error) < 0 ? error->status : PD_END;
	caller->faults[is_major]++;
	syscalls->all.faults[is_major]++;
	return PD_OK;
}

// Of a file, as perf, only page faults.
static enum pd_status take_other(struct pd_pairs *pairs, const struct pd_record *record, struct pd_error *error)
{
	struct syscalls *syscalls = (struct syscalls *)pairs;
	const struct pd_syscalls_options *options = &syscalls->options;
	struct pd_brief brief;
	enum pd_status status;

	if (record->type != PD_RECORD_SAMPLE)
		return options->live ? print_lost(syscalls, record, error) : PD_OK;
	if (!record->event || !pd_record_brief(record, &brief) || !is_wanted_thread(options, brief.pid, brief.tid))
		return PD_OK;
	if ((status = take_toggle(syscalls, record->event, error)) != PD_OK)
		return status == PD_END ? PD_OK : status;
	syscalls->events++;
	status = count_other(syscalls, record, &brief, error);
	if (status != PD_OK || options->text == PD_SYSCALLS_SUMMARY || !(options->live || is_fault(record->event)))
		return status == PD_END ? PD_OK : status;
	return print_other(syscalls, record, &brief, error);
}

static void forget(struct pd_pairs *pairs)
{
	struct syscalls *syscalls = (struct syscalls *)pairs;

	pd_u64_map_fini(&syscalls->map);
	syscalls->events = 0;
	syscalls->all = (struct caller){ 0 };
	memset(syscalls->names, 0, sizeof(syscalls->names));         // NOLINT: of pointers
	memset(syscalls->described, 0, sizeof(syscalls->described)); // NOLINT: of pointers
}

// ---- tables ----

static double total_of(const struct call *call)
{
	return (double)call->stats.count * (call->stats.mean / 1e6);
}

struct sorted_calls {
	const struct call **items;
	size_t count;
};

// The longest first, equal ones by number.
static int compare_calls(const void *a, const void *b)
{
	const struct call *x = *(const struct call *const *)a, *y = *(const struct call *const *)b;
	double p = total_of(x), q = total_of(y);

	if (p != q)
		return p > q ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool sort_calls(const struct caller *caller, struct sorted_calls *sorted)
{
	size_t count = 0;

	for (const struct call *call = caller->calls; call; call = call->next)
		count++;
	sorted->items = pd_alloc((count + 1) * sizeof(*sorted->items)); // NOLINT: of pointers
	sorted->count = 0;
	for (const struct call *call = caller->calls; sorted->items && call; call = call->next)
		sorted->items[sorted->count++] = call;
	if (sorted->items)
		qsort(sorted->items, count, sizeof(*sorted->items), compare_calls); // NOLINT: of pointers
	return sorted->items;
}

static void print_errors(struct pd_text *text, const struct call *call)
{
	for (const struct error_count *error = call->errors; error; error = error->next) {
		const char *name = pd_error_name(error->number);

		pd_text_printf(text, "\t\t\t\t%s: %" PRIu64 "\n", name ? name : "(unknown)", error->count);
	}
}

static void print_call(struct pd_text *text, const struct call *call)
{
	const struct pd_sched_stats *stats = &call->stats;
	const double times_ms[] = { total_of(call), (double)stats->min / 1e6, stats->mean / 1e6,
				    (double)stats->max / 1e6 };

	PD_TEXT_LITERAL(text, "   ");
	pd_text_left(text, call->name, 15);
	pd_text_char(text, ' ');
	pd_text_number(text, stats->count, 8);
	pd_text_char(text, ' ');
	pd_text_number(text, call->failures, 6);
	for (size_t i = 0; i < sizeof(times_ms) / sizeof(times_ms[0]); i++) {
		pd_text_char(text, ' ');
		pd_text_fixed(text, times_ms[i], 9, 3);
	}
	pd_text_char(text, ' ');
	pd_text_fixed(text, pd_sched_stats_error(stats), 9, 2);
	PD_TEXT_LITERAL(text, "%\n");
	print_errors(text, call);
}

// The table of a thread; empty if none of its calls ended.
static bool print_calls(struct pd_text *text, const struct caller *caller, uint64_t most)
{
	struct sorted_calls sorted;

	if (!sort_calls(caller, &sorted))
		return false;
	pd_text_add(text, "\n   syscall            calls  errors  total       min       avg       max       stddev\n"
			  "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
			  "   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
	for (size_t i = 0; i < sorted.count && (!most || i < most); i++)
		print_call(text, sorted.items[i]);
	pd_text_add(text, "\n\n");
	pd_free(sorted.items);
	return true;
}

static uint64_t events_of(const struct pd_sched_thread *thread)
{
	const struct caller *caller = thread->own;

	return caller ? caller->events : 0;
}

static int compare_threads(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_sched *sched = self;
	const struct pd_sched_thread *x = sched->threads[a], *y = sched->threads[b];
	uint32_t p = (uint32_t)x->tid % BUCKETS, q = (uint32_t)y->tid % BUCKETS;

	if (p != q)
		return p < q ? -1 : 1;
	if (events_of(x) != events_of(y))
		return events_of(x) < events_of(y) ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

// ---- JSON ----

static void json_times(struct pd_json *json, const struct call *call)
{
	const struct pd_sched_stats *stats = &call->stats;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", call->name);
	pd_json_number(json, "calls", stats->count);
	pd_json_number(json, "failed", call->failures);
	pd_json_number(json, "total_ns", (uint64_t)(stats->mean * (double)stats->count + 0.5));
	pd_json_number(json, "min_ns", stats->min);
	pd_json_number(json, "mean_ns", (uint64_t)stats->mean);
	pd_json_number(json, "max_ns", stats->max);
	pd_json_double(json, "error_percent", pd_sched_stats_error(stats));
	if (call->errors)
		pd_json_open(json, "errors", '{');
	for (const struct error_count *error = call->errors; error; error = error->next) {
		const char *name = pd_error_name(error->number);

		pd_json_number(json, name ? name : "unknown", error->count);
	}
	if (call->errors)
		pd_json_close(json, '}');
	pd_json_close(json, '}');
}

static bool json_calls(struct pd_json *json, const struct caller *caller, uint64_t most)
{
	struct sorted_calls sorted;

	if (!sort_calls(caller, &sorted))
		return false;
	pd_json_open(json, "calls", '[');
	for (size_t i = 0; i < sorted.count && (!most || i < most); i++)
		json_times(json, sorted.items[i]);
	pd_json_close(json, ']');
	pd_free(sorted.items);
	return true;
}

static bool json_thread(struct pd_json *json, const struct pd_sched_thread *thread, uint64_t most, bool with_runtime)
{
	const struct caller *caller = thread->own;
	bool done;

	pd_json_open(json, NULL, '{');
	pd_sched_json_thread(json, "thread", thread);
	pd_json_number(json, "events", caller->events);
	if (with_runtime)
		pd_json_number(json, "runtime_ns", caller->runtime_ns);
	if (caller->faults[0] || caller->faults[1]) {
		pd_json_number(json, "minor_faults", caller->faults[0]);
		pd_json_number(json, "major_faults", caller->faults[1]);
	}
	done = json_calls(json, caller, most);
	pd_json_close(json, '}');
	return done;
}

static enum pd_status json_total(struct syscalls *syscalls, struct pd_error *error)
{
	bool done;

	pd_json_open(&syscalls->lines.json, "total", '{');
	done = json_calls(&syscalls->lines.json, &syscalls->all, syscalls->options.max_calls);
	pd_json_close(&syscalls->lines.json, '}');
	return done ? PD_OK : pd_fail_memory(error);
}

static enum pd_status json_threads(struct syscalls *syscalls, const struct pd_sorted *order, struct pd_error *error)
{
	struct pd_json *json = &syscalls->lines.json;
	struct pd_sched *sched = &syscalls->pairs.sched;
	enum pd_status status = PD_OK;

	pd_json_open(json, "threads", '[');
	for (size_t i = 0; i < sched->thread_count && status >= 0; i++) {
		const struct pd_sched_thread *thread = sched->threads[order[i].number];

		if (thread->own && !thread->gone)
			status = json_thread(json, thread, syscalls->options.max_calls, syscalls->options.runtimes) ?
					 pd_text_flush_or_fail(sched->text, error) :
					 pd_fail_memory(error);
	}
	pd_json_close(json, ']');
	return status;
}

static void end_head(struct syscalls *syscalls, const struct caller *caller)
{
	struct pd_text *text = syscalls->pairs.sched.text;

	if (caller->faults[1])
		pd_text_printf(text, ", %" PRIu64 " majfaults", caller->faults[1]);
	if (caller->faults[0])
		pd_text_printf(text, ", %" PRIu64 " minfaults", caller->faults[0]);
	if (syscalls->options.runtimes)
		pd_text_printf(text, ", %.3f msec", (double)caller->runtime_ns / 1e6);
	pd_text_char(text, '\n');
}

static enum pd_status print_threads(struct syscalls *syscalls, const struct pd_sorted *order, struct pd_error *error)
{
	struct pd_sched *sched = &syscalls->pairs.sched;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < sched->thread_count && status >= 0; i++) {
		const struct pd_sched_thread *thread = sched->threads[order[i].number];
		const struct caller *caller = thread->own;

		if (!caller || thread->gone)
			continue;
		pd_text_printf(sched->text, " %s (%d), %" PRIu64 " events, %.1f%%", thread->comm, thread->tid,
			       caller->events, (double)caller->events / (double)syscalls->events * 100.0);
		end_head(syscalls, caller);
		status = print_calls(sched->text, caller, syscalls->options.max_calls) ?
				 pd_text_flush_or_fail(sched->text, error) :
				 pd_fail_memory(error);
	}
	return status;
}

// One table, of all threads.
static enum pd_status print_total(struct syscalls *syscalls, struct pd_error *error)
{
	struct pd_text *text = syscalls->pairs.sched.text;

	pd_text_printf(text, " total, %" PRIu64 " events", syscalls->events);
	end_head(syscalls, &syscalls->all);
	return print_calls(text, &syscalls->all, syscalls->options.max_calls) ? pd_text_flush_or_fail(text, error) :
										pd_fail_memory(error);
}

static enum pd_status print_sorted(struct syscalls *syscalls, struct pd_error *error)
{
	struct pd_sched *sched = &syscalls->pairs.sched;
	struct pd_sorted *order = pd_alloc((sched->thread_count + 1) * sizeof(*order));
	enum pd_status status = PD_ERROR_MEMORY;

	for (size_t i = 0; order && i < sched->thread_count; i++)
		order[i].number = (uint32_t)i;
	if (order && pd_sort(order, sched->thread_count, compare_threads, sched, 1))
		status = (syscalls->options.json ? json_threads : print_threads)(syscalls, order, error);
	else
		pd_fail_memory(error);
	pd_free(order);
	return status;
}

static enum pd_status end_json(struct syscalls *syscalls, struct pd_error *error)
{
	struct pd_json *json = &syscalls->lines.json;
	enum pd_status status = PD_OK;

	pd_lines_json_begin(&syscalls->lines);
	if (syscalls->options.text != PD_SYSCALLS_SUMMARY)
		pd_json_close(json, ']');
	if (syscalls->options.text != PD_SYSCALLS_LINES)
		status = syscalls->options.total ? json_total(syscalls, error) : print_sorted(syscalls, error);
	pd_json_number(json, "events", syscalls->events);
	pd_json_number(json, "lost", syscalls->pairs.lost);
	pd_json_close(json, '}');
	pd_text_char(json->text, '\n');
	return status;
}

static enum pd_status print_all(struct syscalls *syscalls, struct pd_file *file, struct pd_text *text,
				struct pd_error *error)
{
	bool raw = syscalls->options.live || pd_file_has_tracepoint(file, points[RAW_EXIT].name);
	enum pd_status status =
		pd_pairs_run(&syscalls->pairs, file, text, points, raw ? RAW_ONLY : sizeof(points) / sizeof(points[0]),
			     syscalls->options.thread_limit, "no system calls (perfdata trace record)", error);

	// page faults are lines of their own
	if (status == PD_ERROR_NO_SAMPLES && has_faults(file))
		status = PD_OK;
	if (status < 0)
		return status;
	if (syscalls->options.json)
		return end_json(syscalls, error);
	if (syscalls->options.text == PD_SYSCALLS_LINES)
		return PD_OK;
	pd_text_add(text, "\n Summary of events:\n\n");
	return (syscalls->options.total ? print_total : print_sorted)(syscalls, error);
}

static enum pd_status check_options(const struct pd_syscalls_options *options, struct pd_error *error)
{
	const char *const lists[] = { options->pids, options->tids, options->without_pids };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i] && !pd_list_is_right(lists[i]))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: not a list of numbers", lists[i]);
	return PD_OK;
}

// Calls that are events of their own are there whatever the machine is.
static bool has_call(struct pd_file *file, const char *item)
{
	static const char prefix[] = "syscalls:sys_enter_";
	const struct pd_string *arch = pd_file_arch(file);
	const enum pd_arch machine = pd_file_machine(file);
	const bool is_64_bit = !arch || arch->value.data[0] != 'i';

	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const char *name = pd_file_event(file, i)->name;

		if (name && !strncmp(name, prefix, strlen(prefix)) && pd_call_is_wanted(item, name + strlen(prefix)))
			return true;
	}
	return !pd_syscall_name(machine, is_64_bit, 1) || pd_call_is_known(machine, is_64_bit, item);
}

static enum pd_status check_calls(struct pd_file *file, const char *list, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (const char *at = list ? list + (*list == '!') : ""; status == PD_OK && *at;) {
		const size_t length = strcspn(at, ",");
		struct pd_text item = { 0 };

		pd_text_put(&item, at, length);
		pd_text_char(&item, 0);
		if (item.failed)
			status = pd_fail_memory(error);
		else if (length && !has_call(file, item.data))
			status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
					 "'%s' is no system call of the machine that recorded", item.data);
		pd_free(item.data);
		at += length + (at[length] == ',');
	}
	return status;
}

// Which events a pipe has is not known before it is read.
static bool is_pipe(struct pd_file *file)
{
	return pd_file_header(file)->mode == PD_MODE_PIPE;
}

// Names are needed for chains and page faults.
static bool shows_places(struct pd_file *file, const struct pd_syscalls_options *options)
{
	bool any = options->live ? options->live_names : is_pipe(file) || has_faults(file);

	for (size_t i = 0; !options->live && i < pd_file_event_count(file); i++)
		any = any || has_chain(pd_file_event(file, i));
	return any && options->text != PD_SYSCALLS_SUMMARY;
}

enum pd_status pd_print_syscalls(struct pd_text *text, struct pd_file *file, const struct pd_syscalls_options *options,
				 struct pd_error *error)
{
	struct syscalls syscalls = { .pairs.take = take_point, .pairs.forget = forget, .pairs.numbers_only = true };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_syscalls_options.size is 0");
	if (options)
		memcpy(&syscalls.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	// who knows no other text means the table
	if (options && options->size <= offsetof(struct pd_syscalls_options, text))
		syscalls.options.text = PD_SYSCALLS_SUMMARY;
	status = check_options(&syscalls.options, error);
	if (status >= 0 && !syscalls.options.live)
		status = check_calls(file, syscalls.options.calls, error);
	syscalls.toggle = (struct pd_toggle){ .on = syscalls.options.switch_on,
					      .off = syscalls.options.switch_off,
					      .shown = syscalls.options.show_switches };
	pd_toggle_begin(&syscalls.toggle);
	if (status >= 0 && pd_file_event_count(file))
		status = pd_toggle_check(&syscalls.toggle, file, error);
	if (status < 0)
		return status;
	// what was printed stays
	if (syscalls.options.text != PD_SYSCALLS_SUMMARY)
		syscalls.pairs.forget = NULL;
	syscalls.pairs.live = syscalls.options.live;
	syscalls.pairs.resolves = syscalls.pairs.of_programs = shows_places(file, &syscalls.options);
	syscalls.pairs.open = syscalls.options.symbols;
	syscalls.pairs.open_self = syscalls.options.self;
	if (syscalls.options.live || syscalls.options.runtimes || is_pipe(file) || has_faults(file))
		syscalls.pairs.other = take_other;
	syscalls.points = (struct pd_points){ .tracepoints = &syscalls.pairs.points,
					      .types = syscalls.options.kernel_types,
					      .is_big = PD_HOST_BIG };
	syscalls.lines = (struct pd_lines){ .pairs = &syscalls.pairs,
					    .sched = &syscalls.pairs.sched,
					    .options = &syscalls.options,
					    .is_arm = pd_file_machine(file) == PD_ARCH_ARM64,
					    .json.text = text };
	syscalls.map.seed = pd_hash_secret();
	status = print_all(&syscalls, file, text, error);
	pd_free(syscalls.lines.scratch.data);
	pd_u64_map_fini(&syscalls.map);
	pd_pairs_fini(&syscalls.pairs);
	return status < 0 ? status : pd_text_flush_or_fail(text, error);
}
