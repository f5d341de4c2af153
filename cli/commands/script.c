/* SPDX-License-Identifier: MIT */
/*
 * perfdata script: a line for each sample, as perf script prints it, in the order of time.
 *
 * A file that can be read twice is: first for who ran and what was mapped, then for the samples. A
 * pipe is read once, and what it says is known from there on.
 */
#include "script.h"

#include "analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	STACK_MOST = 127 /* entries of a call chain that perf shows */
};

struct values {
	struct input_options input;
	struct option_list fields;
	bool ns;
	struct select_options select;
	struct option_number max_stack;
	bool hide_call_graph;
	bool kernel_paths, source_paths;
	bool reltime, deltatime;
	bool header, header_only, show_info;
	bool tasks, mmaps, switches, namespaces, cgroups, lost, rounds, pokes, bpf;
	bool dump;
	struct symbol_options symbols;
	bool no_itrace;
	struct option_number threads;
};

#define FLAG(name, letter, member, help)                                               \
	{                                                                              \
		name, letter, OPTION_FLAG, NULL, offsetof(struct values, member), help \
	}
#define STRING(name, letter, argument, member, help)                                         \
	{                                                                                    \
		name, letter, OPTION_STRING, argument, offsetof(struct values, member), help \
	}

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	{ "fields", 'F', OPTION_LIST, "LIST", offsetof(struct values, fields),
	  "fields to print; +NAME and -NAME change the default, TYPE: limits them to an event type" },
	FLAG("ns", 0, ns, "print times in nanoseconds"),
	SELECT_SAMPLE_OPTIONS(struct values, select),
	SELECT_PLACE_OPTIONS(struct values, select, 0),
	{ "max-stack", 0, OPTION_NUMBER, "N", offsetof(struct values, max_stack),
	  "maximum depth of call chains (default: 127)" },
	FLAG("hide-call-graph", 'G', hide_call_graph, "print only the address of the sample"),
	FLAG("show-kernel-path", 0, kernel_paths, "print paths of kernel modules"),
	FLAG("full-source-path", 0, source_paths, "print full paths of source files"),
	FLAG("reltime", 0, reltime, "print times relative to the first sample"),
	FLAG("deltatime", 0, deltatime, "print times relative to the previous sample"),
	FLAG("header", 0, header, "print the header first"),
	FLAG("header-only", 0, header_only, "print only the header"),
	FLAG("show-info", 'I', show_info, "include topology, caches and memory in the header"),
	FLAG("show-task-events", 0, tasks, "print FORK, EXIT and COMM records too"),
	FLAG("show-mmap-events", 0, mmaps, "print MMAP and MMAP2 records too"),
	FLAG("show-switch-events", 0, switches, "print SWITCH and SWITCH_CPU_WIDE records too"),
	FLAG("show-namespace-events", 0, namespaces, "print NAMESPACES records too"),
	FLAG("show-cgroup-events", 0, cgroups, "print CGROUP records too"),
	FLAG("show-lost-events", 0, lost, "print LOST records too"),
	FLAG("show-round-events", 0, rounds, "print FINISHED_ROUND records too"),
	FLAG("show-text-poke-events", 0, pokes, "print KSYMBOL and TEXT_POKE records too"),
	FLAG("show-bpf-events", 0, bpf, "print KSYMBOL and BPF_EVENT records too"),
	FLAG("dump-raw-trace", 'D', dump, "see perfdata dump"),
	FLAG("no-itrace", 0, no_itrace, "has no effect: traces are not decoded"),
	{ "threads", 0, OPTION_NUMBER, "N", offsetof(struct values, threads),
	  "number of threads (default: number of CPUs)" },
	SYMBOL_OPTIONS(struct values, symbols),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata script -i perf.data", "print every sample" },
	{ "perfdata script --ns -F comm,tid,time,event,ip,dso", "print these fields" },
	{ "perfdata script -F +misc --show-mmap-events", "more fields and records" },
	{ "perfdata script --time 10%/2 --comm make", "print the second tenth of one program" },
	{ "perf record -o - true | perfdata script", "read from a pipe" },
	{ 0 },
};

/* ---- options ---- */

#define TYPE(NAME) (UINT64_C(1) << PD_RECORD_##NAME)

/* The only records from perf itself that is shown; bit 0 stands for it. */
#define ROUNDS UINT64_C(1)

static uint64_t shown_types(const struct values *values)
{
	const struct {
		bool on;
		uint64_t types;
	} choices[] = {
		{ values->tasks, TYPE(COMM) | TYPE(FORK) | TYPE(EXIT) },
		{ values->mmaps, TYPE(MMAP) | TYPE(MMAP2) },
		{ values->switches, TYPE(SWITCH) | TYPE(SWITCH_CPU_WIDE) },
		{ values->namespaces, TYPE(NAMESPACES) },
		{ values->cgroups, TYPE(CGROUP) },
		{ values->lost, TYPE(LOST) },
		{ values->rounds, ROUNDS },
		{ values->pokes, TYPE(KSYMBOL) | TYPE(TEXT_POKE) },
		{ values->bpf, TYPE(KSYMBOL) | TYPE(BPF_EVENT) },
	};
	uint64_t types = 0;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		types |= choices[i].on ? choices[i].types : 0;
	return types;
}

static bool is_shown(const struct script *script, uint32_t type)
{
	if (type == PD_RECORD_FINISHED_ROUND)
		return script->shown_types & ROUNDS;
	return type && type < 64 && (script->shown_types >> type & 1);
}

static bool take_options(struct script *script, const struct values *values)
{
	fields_init(script->fields);
	for (size_t i = 0; i < values->fields.count; i++) {
		if (!fields_parse(script->fields, values->fields.items[i]))
			return false;
	}
	if (values->dump) {
		complain("--dump-raw-trace is not supported; use perfdata dump");
		return false;
	}
	if (values->reltime && values->deltatime) {
		complain("--reltime and --deltatime cannot be combined");
		return false;
	}
	if (!select_take(&script->select, &values->select))
		return false;
	script->chains = !values->hide_call_graph;
	script->kernel_paths = values->kernel_paths;
	script->source_paths = values->source_paths;
	script->nanoseconds = values->ns;
	script->relative = values->reltime;
	script->delta = values->deltatime;
	script->max_stack = values->max_stack.given ? values->max_stack.value : STACK_MOST;
	script->shown_types = shown_types(values);
	script->threads = values->threads.given ? (unsigned)values->threads.value : 0;
	return true;
}

/* ---- events ---- */

#define ADD_PLACE (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)

static bool has_chain(const struct pd_event *event)
{
	return event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN);
}

/* Tracepoints show an address only where there is a chain of them. */
static void add_tracepoint_place(struct script *script)
{
	struct fields *fields = &script->fields[KIND_TRACE];

	for (size_t i = 0; i < pd_file_event_count(script->input.file) && !fields->by_user; i++) {
		const struct pd_event *event = pd_file_event(script->input.file, i);

		if (script->chains && kind_of(event) == KIND_TRACE && has_chain(event))
			fields->shown |= ADD_PLACE;
	}
}

/* In a pipe whatever can have a call chain shows addresses. */
static void add_pipe_place(struct script *script, const struct pd_event *event)
{
	struct fields *fields = &script->fields[kind_of(event)];
	const uint64_t user = PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_STACK_USER);
	uint64_t all = 0;

	for (size_t i = 0; i <= event->index; i++)
		all |= pd_file_event(script->input.file, i)->attr->sample_type;
	if (script->chains && ((all & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)) ||
			       (all & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK)) || (all & user) == user))
		fields->shown |= (FIELD_IP | FIELD_SYM) & ~fields->unset;
}

/* Groups that are read as a whole. */
static bool has_groups(const struct script *script)
{
	for (size_t i = 0; i < pd_file_event_count(script->input.file); i++) {
		if (pd_file_event(script->input.file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ))
			return true;
	}
	return false;
}

static bool keep(struct script *script, enum pd_status status)
{
	if (status < 0)
		script->status = status;
	return status >= 0;
}

/* Events of a pipe come one after another. */
static bool check_events(struct script *script)
{
	struct pd_file *file = script->input.file;
	bool pipe = pd_file_header(file)->mode == PD_MODE_PIPE;

	while (script->events_checked < pd_file_event_count(file)) {
		const struct pd_event *event = pd_file_event(file, script->events_checked++);

		if (!fields_check(script->fields, event, pd_file_header(file))) {
			script->fields_wrong = true;
			return false;
		}
		if (pipe)
			add_pipe_place(script, event);
	}
	script_forget_looks(script);
	/* A file is known as a whole by now; a pipe may have new ones. */
	return !pipe || keep(script, select_learn(&script->select, file, &script->error));
}

/* ---- the walks ---- */

/* The size of what comes once is not known. */
static bool can_read_twice(struct pd_file *file)
{
	return pd_file_header(file)->file_size != 0;
}

static bool settle(struct script *script)
{
	if (!script->settled && !keep(script, pd_world_settle(script->world, &script->error)))
		return false;
	if (!script->settled)
		script_forget(script);
	script->settled = true;
	if (!script->symbols)
		script->symbols = symbols_open(script->symbol_options, script->input.file, script->world,
					       script->input.out->terminal);
	script->symbols_wrong = !script->symbols;
	return !script->symbols_wrong;
}

/* A file that does not say its machine is taken to be of this one. */
static enum pd_arch machine_of(struct pd_file *file)
{
	enum pd_arch machine = pd_file_machine(file);
	struct utsname here;

	return machine == PD_ARCH_UNKNOWN && uname(&here) == 0 ? pd_arch_by_name(here.machine) : machine;
}

static void find_machine(struct script *script)
{
	if (!script->machine_known)
		script->machine = machine_of(script->input.file);
	script->machine_known = true;
}

static bool spill(struct script *script)
{
	return script->hand ? hand_goes_on(script->hand) : output_spill(script->input.out);
}

bool script_print(struct script *script, const struct pd_record *record)
{
	bool sample = record->type == PD_RECORD_SAMPLE;

	if (!sample && !script_counts(script, record))
		return keep(script, PD_ERROR_MEMORY);
	if (!sample && !is_shown(script, record->type))
		return spill(script);
	if (script->events_checked < pd_file_event_count(script->input.file) && !check_events(script))
		return false;
	if (!settle(script))
		return false;
	find_machine(script);
	if (!sample)
		script_record(script, record);
	else if (!script_sample(script, record))
		return keep(script, PD_ERROR_MEMORY);
	return spill(script);
}

/* Feeding and asking by turns is dear, so only what may change the answers is fed. */
static bool changes_world(uint32_t type)
{
	const uint64_t types = TYPE(COMM) | TYPE(FORK) | TYPE(EXIT) | TYPE(MMAP) | TYPE(MMAP2) | TYPE(NAMESPACES) |
			       TYPE(KSYMBOL) | TYPE(BPF_EVENT) | TYPE(CGROUP) | TYPE(TEXT_POKE);

	return type < 64 ? types >> type & 1 : type == PD_RECORD_HEADER_BUILD_ID;
}

static bool print_live(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct script *script = self;

	(void)stream;
	if (record->type == PD_RECORD_SAMPLE) {
		script->samples++;
	} else if (changes_world(record->type)) {
		if (!keep(script, pd_world_take(script->world, record, &script->error)))
			return false;
		script->settled = false;
	} else if (record->type == PD_RECORD_FINISHED_ROUND) {
		/* input_walk writes it now */
		line_flush(&script->line);
	}
	return script_print(script, record);
}

/* ---- a file that can be read twice ---- */

static enum pd_status fail(struct script *script, struct pd_error *error)
{
	if (error)
		*error = script->error;
	return script->status < 0 ? script->status : PD_ERROR_STOPPED;
}

static enum pd_status feed(void *self, struct pd_stream *stream, const struct pd_record *record, struct pd_error *error)
{
	struct script *script = self;

	(void)stream;
	script->counted |= record->type == PD_RECORD_STAT_CONFIG || record->type == PD_RECORD_STAT ||
			   record->type == PD_RECORD_STAT_ROUND;
	script_trace_take(script, record);
	return pd_world_take(script->world, record, error);
}

/* Whether the text of a sample depends on it alone, and not on what was printed before. */
static bool stands_alone(const struct script *script)
{
	if (script->shown_types || script->relative || script->delta || script->line.escape || script->counted ||
	    has_groups(script) || pd_file_header(script->input.file)->mode == PD_MODE_PIPE)
		return false;
	for (size_t i = 0; i < pd_file_event_count(script->input.file); i++)
		if (script->fields[kind_of(pd_file_event(script->input.file, i))].shown & FIELD_TRACE)
			return false;
	return true;
}

/* Times and events that were asked for. Other records are shown whatever their time is, and counters of groups need
 * every sample. */
static enum pd_status ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct script *script = self;
	struct pd_window wanted = *window;
	enum pd_status status;

	script->samples += window->last_ns != 0;
	status = select_ready(&script->select, script->input.file, &wanted, error);
	if (status < 0) {
		script->refused = script->select.refused;
		return status;
	}
	if (!script->shown_types && !has_groups(script))
		*window = wanted;
	if (!settle(script))
		return fail(script, error);
	find_machine(script);
	window->whole = !stands_alone(script);
	if (!window->whole)
		hands_share(script->hands);
	return PD_OK;
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	struct script *script = self;

	progress_show(&script->input.progress, done, total);
	return true;
}

static int tell_end(struct script *script, enum pd_status status, const struct pd_error *error)
{
	line_flush(&script->line);
	progress_clear(&script->input.progress);
	if (script->fields_wrong)
		return CODE_USAGE;
	if (script->symbols_wrong)
		return CODE_UNREADABLE;
	/* then functions may lack their names */
	if (status >= 0 && script->symbols && pd_symbols_failed(script->symbols))
		status = PD_ERROR_MEMORY;
	if (status >= 0 || script->input.out->failure)
		return CODE_FINE;
	if (script->refused)
		complain("%s: %s", script->input.name, error->message);
	else
		complain("%s", status == PD_ERROR_MEMORY ? "out of memory" : error->message);
	return script->refused ? CODE_NOTHING : CODE_UNREADABLE;
}

static int run_known(struct script *script)
{
	struct pd_run_options options = { .size = sizeof(options),
					  .threads = stands_alone(script) ? script->threads : 1,
					  .order = PD_ORDER_TIME,
					  .first = feed,
					  .ready = ready,
					  .self = script,
					  .progress = show_progress,
					  .first_threads = script->select.range_count ? 1 : 0 };
	struct pd_error error = { .message = "" };
	struct pd_sink sink;
	enum pd_status status;

	script->hands = hands_new(script, &sink);
	status = script->hands ? pd_run(script->input.file, &options, &sink, &error) : PD_ERROR_MEMORY;
	hands_free(script->hands);
	script->hands = NULL;
	return tell_end(script, status, &error);
}

static int walk_known(struct script *script, bool header_first)
{
	if (header_first) {
		int code = input_print_header(&script->input, script->header_full);

		if (code != CODE_FINE)
			return code;
	}
	if (pd_file_header(script->input.file)->mode != PD_MODE_PIPE) {
		if (!check_events(script))
			return CODE_USAGE;
		fields_tell_unmet(script->fields);
		add_tracepoint_place(script);
	}
	if (!keep(script, pd_world_take_features(script->world, script->input.file, &script->error))) {
		complain("%s", script->error.message);
		return CODE_UNREADABLE;
	}
	return run_known(script);
}

/* ---- a pipe ---- */

static int walk(struct script *script, enum pd_order order, record_fn *each)
{
	int code;

	script->input.order = order;
	code = input_walk(&script->input, each, script);
	line_flush(&script->line);
	if (code == CODE_FINE && script->fields_wrong)
		return CODE_USAGE;
	if (code == CODE_FINE && script->symbols_wrong)
		return CODE_UNREADABLE;
	if (code != CODE_FINE || script->status >= 0)
		return code;
	complain("%s", script->status == PD_ERROR_MEMORY ? "out of memory" : script->error.message);
	return CODE_UNREADABLE;
}

static int walk_live(struct script *script, bool header_first)
{
	if (header_first || select_waits(&script->select)) {
		complain("%s: --header, time ranges in percent and wall clocks are not possible on a pipe",
			 script->input.name);
		return CODE_USAGE;
	}
	return walk(script, PD_ORDER_TIME, print_live);
}

/* ---- the command ---- */

static int tell_nothing(const struct script *script)
{
	if (!script->samples) {
		complain("%s: no samples in the file", script->input.name);
		return CODE_NO_SAMPLES;
	}
	complain("%s: no samples match the filters", script->input.name);
	select_tell_lack(&script->select, script->input.file);
	return CODE_NOTHING;
}

static int run_opened(struct script *script, const struct values *values)
{
	int code;

	if (values->header_only)
		return input_print_header(&script->input, values->show_info);
	if (!keep(script, pd_world_new(NULL, &script->world, &script->error))) {
		complain("%s", script->error.message);
		return CODE_UNREADABLE;
	}
	script->header_full = values->show_info;
	script->symbol_options = &values->symbols;
	if (can_read_twice(script->input.file))
		code = walk_known(script, values->header);
	else
		code = walk_live(script, values->header);
	if (code == CODE_FINE && !script->printed && !script->input.out->failure)
		code = tell_nothing(script);
	if (!values->input.quiet)
		copied_stacks_tell(script->input.name, script->copied, script->printed);
	return code;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct script *script = calloc(1, sizeof(*script));
	int code;

	if (!script) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	script->line.out = call->out;
	script->line.text = call->out->text;
	script->line.escape = call->out->terminal;
	if (!take_options(script, values)) {
		select_fini(&script->select);
		free(script);
		return CODE_USAGE;
	}
	code = input_open(&script->input, &values->input, call, NULL, NULL);
	if (code == CODE_FINE) {
		code = run_opened(script, values);
		pd_symbols_free(script->symbols);
		pd_world_free(script->world);
		code = input_close(&script->input, code);
	}
	select_fini(&script->select);
	script_counts_fini(script);
	script_trace_close(script);
	script_sample_fini(script);
	free(script);
	return code;
}

const struct command cmd_script = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the samples of FILE in time order, byte for byte as perf script (6.1), with these fields: comm, tid, pid, time, "
		"cpu, event, period, ip, sym, dso, addr, symoff, iregs, uregs, brstack, flags, data_src, "
		"weight, ins_lat, retire_lat, phys_addr, data_page_size, code_page_size, cgroup, misc, "
		"bpf-output, trace, srcline, brstacksym and brstackoff. For files of stat record, print the counts of each "
		"interval, as perf 6.2 and later.\n\n"
		"Functions are looked up in the recorded files if their build ids match, in perf's cache and in debug "
		"files; kernel functions in /proc/kallsyms if it is the recorded kernel. Nothing is downloaded without "
		"--debuginfod. Copied user stacks are not unwound: the address of the sample is printed, with a warning.\n\n"
		"Event types of -F are hw, sw, trace, raw, break and synth. A list without + and - replaces the default "
		"fields; as in perf, the - in bpf-output counts too, so that such a list is added.\n\n"
		"Strings of the file are printed unchanged, except that control characters are escaped on a terminal.",
	.options = options,
	.examples = examples,
	.usual = "input fields time comms event header",
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
