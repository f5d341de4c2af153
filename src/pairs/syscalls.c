/* SPDX-License-Identifier: MIT */
// perf trace: begins and ends of system calls, and a table of them for each thread.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "filter/select.h"
#include "pairs/syscalls.h"

enum {
	RAW_ENTER,
	RAW_EXIT,
	ENTER,
	EXIT,
	RAW_ONLY = 2
};

static const struct pd_tracepoint points[] = {
	[RAW_ENTER] = { "raw_syscalls:sys_enter", { "id" } },
	[RAW_EXIT] = { "raw_syscalls:sys_exit", { "id", "ret" } },
	[ENTER] = { "syscalls:sys_enter_*", { "?__syscall_nr", "?nr" } },
	[EXIT] = { "syscalls:sys_exit_*", { "?__syscall_nr", "ret", "?nr" } },
};

// ---- events ----

// Of an architecture without a table. NULL: no memory.
static const char *name_number(struct pd_syscalls *syscalls, uint64_t number)
{
	char name[32];
	size_t size = (size_t)snprintf(name, sizeof(name), "syscall_%" PRIu64, number) + 1;
	char *copy = pd_arena_alloc(&syscalls->pairs.sched.arena, size);

	if (copy)
		memcpy(copy, name, size);
	return copy;
}

static const char *name_of(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample, uint64_t number)
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

// Numbers of one file, which are smaller than PD_CALLS_KNOWN, are those of one table.
static const char *find_name(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample, uint64_t number)
{
	if (syscalls->names[number])
		return syscalls->names[number];
	syscalls->names[number] = name_of(syscalls, sample, number);
	if (syscalls->names[number])
		syscalls->unwanted[number] = !pd_call_is_wanted(syscalls->options.calls, syscalls->names[number]);
	return syscalls->names[number];
}

static struct pd_sched_thread *thread_of(struct pd_syscalls *syscalls, uint32_t pid, uint32_t tid,
					 struct pd_error *error)
{
	struct pd_sched *sched = &syscalls->pairs.sched;
	struct pd_sched_thread *thread = pd_sched_find(sched, (int32_t)pid, (int32_t)tid, error);

	if (!thread || thread->own)
		return thread;
	thread->own = pd_arena_alloc(&sched->arena, sizeof(struct pd_caller));
	if (thread->own)
		return thread;
	pd_fail_memory(error);
	return NULL;
}

static struct pd_call_sum *add_call(struct pd_syscalls *syscalls, struct pd_caller *caller, uint64_t number,
				    const char *name)
{
	struct pd_call_sum *call = pd_arena_alloc(&syscalls->pairs.sched.arena, sizeof(*call));

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
static struct pd_call_sum *find_call(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample,
				     struct pd_caller *caller, uint64_t number, struct pd_error *error)
{
	uint64_t key = (uint64_t)(uintptr_t)caller << 12 ^ number;
	struct pd_call_sum *call =
		(struct pd_call_sum *)(uintptr_t)pd_u64_map_find(&syscalls->map, key); // NOLINT: it was a pointer
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

static inline struct pd_call_sum *call_of(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample,
					  struct pd_caller *caller, uint64_t number, struct pd_error *error)
{
	struct pd_call_sum **recent = &caller->recent[number % PD_RECENT_CALLS];

	if (PD_UNLIKELY(!*recent || (*recent)->number != number))
		*recent = find_call(syscalls, sample, caller, number, error);
	return *recent;
}

static bool count_error(struct pd_syscalls *syscalls, struct pd_call_sum *call, uint64_t number)
{
	struct pd_error_count **at = &call->errors, *fresh;

	call->failures++;
	if (!syscalls->options.errors)
		return true;
	while (*at && (*at)->number < number)
		at = &(*at)->next;
	if (!*at || (*at)->number != number) {
		fresh = pd_arena_alloc(&syscalls->pairs.sched.arena, sizeof(*fresh));
		if (!fresh)
			return false;
		*fresh = (struct pd_error_count){ .number = number, .next = *at };
		*at = fresh;
	}
	(*at)->count++;
	return true;
}

static enum pd_status take_exit(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample,
				struct pd_caller *caller, uint64_t number, struct pd_error *error)
{
	uint64_t time_ns = sample->brief.time_ns;
	bool entered = caller->entry_ns && time_ns > caller->entry_ns;
	int64_t result = (int64_t)sample->values[1];
	struct pd_call_sum *call;

	error->status = PD_OK;
	call = call_of(syscalls, sample, syscalls->options.total ? &syscalls->all : caller, number, error);
	if (!call)
		return error->status;
	pd_sched_add_value(&call->stats, entered ? time_ns - caller->entry_ns : 0);
	return result >= 0 || count_error(syscalls, call, -(uint64_t)result) ? PD_OK : pd_fail_memory(error);
}

// perf counts only those that have a name.
static bool is_known(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample, uint64_t number)
{
	return find_name(syscalls, sample, number) || sample->which != RAW_ENTER;
}

// Between which events: those of a pipe, or of what is recorded now, are known when the first sample comes. PD_END: not wanted.
static enum pd_status take_toggle(struct pd_syscalls *syscalls, const struct pd_event *event, struct pd_error *error)
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
static const struct pd_call *describe(struct pd_syscalls *syscalls, uint64_t number)
{
	const char *name = syscalls->names[number];

	if (!syscalls->described[number] && name)
		syscalls->described[number] = pd_call_new(&syscalls->pairs.sched.arena, name);
	return syscalls->described[number];
}

static void begin_time(struct pd_syscalls *syscalls, uint64_t time_ns)
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

static enum pd_status print_line(struct pd_syscalls *syscalls, const struct pd_tracepoint_sample *sample,
				 struct pd_sched_thread *thread, uint64_t number, struct pd_error *error)
{
	struct pd_line_entry *entry = &((struct pd_caller *)thread->own)->entry;
	const struct pd_call *call = describe(syscalls, number);
	uint64_t time_ns = sample->brief.time_ns;

	if (!call)
		return syscalls->names[number] ? pd_fail_memory(error) : PD_OK;
	begin_time(syscalls, time_ns);
	if (sample->which == RAW_EXIT || sample->which == EXIT) {
		struct pd_line_chain chain =
			chain_of(sample->event, sample->brief.callchain, sample->brief.pid, time_ns);

		chain.user_only = syscalls->options.user_stacks;
		return pd_lines_exit(&syscalls->lines, thread, entry, call, &chain, (int64_t)sample->values[1], error);
	}
	pd_lines_enter(&syscalls->lines, entry, call, time_ns);
	pd_call_read_values(&syscalls->shapes, syscalls->pairs.points.trace, sample, entry->values);
	pd_lines_entered(&syscalls->lines, thread, entry);
	return PD_OK;
}

// PD_END: all lines that are wanted were printed.
static enum pd_status status_of_lines(const struct pd_syscalls *syscalls)
{
	const struct pd_syscalls_options *options = &syscalls->options;

	return options->live && options->max_lines && syscalls->lines.printed >= options->max_lines ? PD_END : PD_OK;
}

static enum pd_status take_point(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	struct pd_syscalls *syscalls = (struct pd_syscalls *)pairs;
	bool is_exit = sample->which == RAW_EXIT || sample->which == EXIT;
	uint64_t number = sample->values[0];
	struct pd_sched_thread *thread;
	struct pd_caller *caller;
	enum pd_status status;

	if (sample->which >= RAW_ONLY && !number)
		number = sample->values[is_exit ? 2 : 1];
	if (!is_wanted_thread(&syscalls->options, sample->brief.pid, sample->brief.tid))
		return PD_OK;
	if ((status = take_toggle(syscalls, sample->event, error)) != PD_OK)
		return status == PD_END ? PD_OK : status;
	syscalls->events++;
	if (number >= PD_CALLS_KNOWN || !is_known(syscalls, sample, number) || syscalls->unwanted[number])
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
static enum pd_status print_lost(struct pd_syscalls *syscalls, const struct pd_record *record, struct pd_error *error)
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

static enum pd_status print_fault(struct pd_syscalls *syscalls, const struct pd_record *record,
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
static enum pd_status take_runtime(struct pd_syscalls *syscalls, const struct pd_record *record,
				   struct pd_caller *caller, struct pd_error *error)
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

static enum pd_status print_other(struct pd_syscalls *syscalls, const struct pd_record *record,
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

static bool is_runtime(const struct pd_syscalls *syscalls, const struct pd_event *event)
{
	return syscalls->options.runtimes && pd_event_is(event, "sched:sched_stat_runtime");
}

// What tables have of other events. PD_END: it is no line.
static enum pd_status count_other(struct pd_syscalls *syscalls, const struct pd_record *record,
				  const struct pd_brief *brief, struct pd_error *error)
{
	const bool runtime = is_runtime(syscalls, record->event);
	const bool is_major = record->event->attr->config == SW_PAGE_FAULTS_MAJ;
	struct pd_sched_thread *thread;
	struct pd_caller *caller;

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

// Of a file, as perf, page faults and run times alone; others only switch.
static bool is_wanted_event(const struct pd_syscalls *syscalls, const struct pd_event *event)
{
	return syscalls->options.live || is_fault(event) || is_runtime(syscalls, event);
}

static enum pd_status take_other(struct pd_pairs *pairs, const struct pd_record *record, struct pd_error *error)
{
	struct pd_syscalls *syscalls = (struct pd_syscalls *)pairs;
	const struct pd_syscalls_options *options = &syscalls->options;
	struct pd_brief brief;
	enum pd_status status;

	if (record->type != PD_RECORD_SAMPLE)
		return options->live ? print_lost(syscalls, record, error) : PD_OK;
	if (!record->event || !pd_record_brief(record, &brief) || !is_wanted_thread(options, brief.pid, brief.tid))
		return PD_OK;
	if ((status = take_toggle(syscalls, record->event, error)) != PD_OK)
		return status == PD_END ? PD_OK : status;
	if (!is_wanted_event(syscalls, record->event))
		return PD_OK;
	syscalls->events++;
	status = count_other(syscalls, record, &brief, error);
	if (status != PD_OK || options->text == PD_SYSCALLS_SUMMARY)
		return status == PD_END ? PD_OK : status;
	return print_other(syscalls, record, &brief, error);
}

static void forget(struct pd_pairs *pairs)
{
	struct pd_syscalls *syscalls = (struct pd_syscalls *)pairs;

	pd_u64_map_fini(&syscalls->map);
	syscalls->events = 0;
	syscalls->all = (struct pd_caller){ 0 };
	memset(syscalls->names, 0, sizeof(syscalls->names));         // NOLINT: of pointers
	memset(syscalls->described, 0, sizeof(syscalls->described)); // NOLINT: of pointers
}

static enum pd_status print_all(struct pd_syscalls *syscalls, struct pd_file *file, struct pd_text *text,
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
		return pd_syscalls_end_json(syscalls, error);
	if (syscalls->options.text == PD_SYSCALLS_LINES)
		return PD_OK;
	return pd_syscalls_print_tables(syscalls, error);
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
	struct pd_syscalls syscalls = { .pairs.take = take_point, .pairs.forget = forget, .pairs.numbers_only = true };
	struct pd_error own;
	enum pd_status status;
	bool switches;

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
	switches = syscalls.toggle.on || syscalls.toggle.off;
	pd_toggle_begin(&syscalls.toggle);
	if (status >= 0 && pd_file_event_count(file))
		status = pd_toggle_check(&syscalls.toggle, file, error);
	if (status < 0)
		return status;
	// what was printed stays, and what switches has to come in its order
	if (syscalls.options.text != PD_SYSCALLS_SUMMARY || switches)
		syscalls.pairs.forget = NULL;
	syscalls.pairs.live = syscalls.options.live;
	syscalls.pairs.resolves = syscalls.pairs.of_programs = shows_places(file, &syscalls.options);
	syscalls.pairs.open = syscalls.options.symbols;
	syscalls.pairs.open_self = syscalls.options.self;
	if (syscalls.options.live || syscalls.options.runtimes || switches || is_pipe(file) || has_faults(file))
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
