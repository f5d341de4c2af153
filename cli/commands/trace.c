/* SPDX-License-Identifier: MIT */
/* perfdata trace: system calls and other events, of a recording or while they happen, as perf prints them. */
#include "front/signals.h"
#include "record/options.h"
#include "files/input.h"
#include "options/select_options.h"
#include "options/symbol_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace_values {
	struct input_options input;
	struct pd_tracer_options live; /* its calls are also for recordings */
	struct option_tags tags;
	const char *output;
	struct option_number map_timeout_ms;
	struct pd_select_options select; /* events that switch */
	bool kernel_stacks;
	bool unused;
};
#undef VALUES
#define VALUES struct trace_values

static const struct option target_lines[] = {
	FLAG("all-cpus", 'a', live.recording.targets.all, "trace the whole system (default without COMMAND)"),
	OPTION("pid", 'p', TAGGED, "LIST", tags,
	       "trace these processes; of FILE, only those with these numbers: 1,5-9"),
	OPTION("tid", 't', TAGGED, "LIST", tags, "the same with threads"),
	OPTION("uid", 'u', TAGGED, "USER", tags, "trace all processes of this user"),
	STRING("cpu", 'C', "LIST", live.recording.targets.cpus, "trace these CPUs: 0,2-3"),
	OPTION("cgroup", 'G', TAGGED, "LIST", tags, "restrict the preceding events to these cgroups; needs -a"),
	FLAG("follow", 0, live.follow, "with -p and -t: new threads and child processes, too"),
	FLAG("no-inherit", 0, live.recording.sampling.no_inherit, "do not follow child processes and new threads"),
	RECORDER("delay", 'D', "MS", live.recording, "start tracing after MS milliseconds"),
	GROUP(mmap_pages_option, live.recording),
	NUMBER("proc-map-timeout", 0, "MS", map_timeout_ms, "no effect: mappings of processes are not read"),
	FLAG("sort-events", 0, unused, "no effect: events are always in the order of time"),
	{ 0 },
};
static const struct option_group trace_target_group = { HEADING_TARGET, target_lines };

static const struct option options[] = {
	SET("summary", 's', live.calls.text, PD_SYSCALLS_SUMMARY, "print a table of system calls for each thread only"),
	SET("with-summary", 'S', live.calls.text, PD_SYSCALLS_BOTH, "print these tables after the calls"),
	CHOICE("summary-mode", 0, "thread|total", live.calls.total, NULL, "a table for each thread, or one for all"),
	INTEGER("max-summary", 0, "N", live.calls.max_calls, "rows of each table"),
	FLAG("bpf-summary", 0, unused, "no effect: tables are made without BPF"),
	FLAG("errno-summary", 0, live.calls.errors, "in tables: also how often each error was returned"),
	OPTION("event", 'e', TAGGED, "LIST", tags,
	       "only these system calls: open*,close; after a '!' all others; while tracing, also other events: sched:sched_switch"),
	OPTION("expr", 0, TAGGED, "LIST", tags, "the same"),
	OPTION("filter", 0, TAGGED, "EXPRESSION", tags,
	       "filter for the tracepoints of the preceding --event: 'prev_pid == 1'"),
	FLAG("syscalls", 0, live.with_calls, "with other events and page faults: system calls, too"),
	OPTION("pf", 'F', TAGGED, "all|maj|min", tags,
	       "page faults: all, major or minor ones; system calls only with --syscalls; of a recording, those that it has"),
	OPTION("call-graph", 0, TAGGED, "HOW", tags,
	       "record call chains and print them below calls and events: fp or lbr"),
	FLAG("kernel-syscall-graph", 0, kernel_stacks, "also the kernel's part of the call chains of system calls"),
	INTEGER("max-stack", 0, "N", live.calls.max_stack, "call chains have N frames at most (default: 127)"),
	INTEGER("min-stack", 0, "N", live.calls.min_stack,
		"only calls and events whose call chain has N frames or more"),
	FLAG("sched", 0, live.calls.runtimes, "in tables: how long each thread ran (sched:sched_stat_runtime)"),
	OPTION("duration", 0, MILLISECONDS, "MS", live.calls.min_duration_ns,
	       "only calls that took so many milliseconds (0.5) or more"),
	FLAG("failure", 0, live.calls.failed_only, "only calls that failed"),
	FLAG("failure-only", 0, live.calls.failed_only, "the same"),
	STRING("filter-pids", 0, "LIST", live.calls.without_pids, "no processes with these numbers"),
	INTEGER("max-events", 0, "N", live.calls.max_lines, "print the first N calls and events"),
	FLAG("time", 'T', live.calls.full_time, "print times as recorded, not those since the first call"),
	FLAG("no-comm", 0, live.calls.without_names, "print the numbers of threads without their names"),
	STRING("output", 'o', "FILE", output,
	       "write to FILE (default: standard error while tracing, standard output for a recording)"),
	GROUP(switch_group, select),
	GROUP_HERE(trace_target_group),
	GROUP(json_option, live.calls.json),
	GROUP(input_group, input),
	{ 0 },
};

/* ---- options ---- */

/* What is there and no program is a recording, unless a -- says that it is a command. */
static bool names_file(const struct call *call)
{
	struct stat found;
	size_t at = 0;

	if (call->word_count != 1 || stat(call->words[0], &found))
		return false;
	while (call->arguments[at] && call->arguments[at] != call->words[0])
		at++;
	if (at && !strcmp(call->arguments[at - 1], "--"))
		return false;
	return S_ISDIR(found.st_mode) || access(call->words[0], X_OK);
}

static void report_note(void *self, const struct pd_recorder_note *note)
{
	const struct trace_values *values = self;

	if (note->severity > PD_INFO && !(values->input.quiet && note->severity < PD_DAMAGE))
		record_print_note(note);
}

static bool take_tags(const struct trace_values *values, struct pd_tracer *tracer)
{
	struct pd_error error;

	for (size_t i = 0; i < values->tags.count; i++) {
		const struct option_tag *tag = &values->tags.items[i];

		if (pd_tracer_set(tracer, tag->name, tag->value, &error) < 0)
			return print_error("option --%s: %s", tag->name, error.message);
	}
	return true;
}

/* ---- tracing ---- */

static struct pd_tracer *volatile running;
static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
	if (running)
		pd_tracer_stop(running);
}

static int run_tracer(struct trace_values *values, const struct call *call, char *const *command)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct pd_tracer_options *live = &values->live;
	struct pd_recorded recorded = { 0 };
	struct pd_error error;
	int code;

	live->size = sizeof(*live);
	live->recording.size = sizeof(live->recording);
	live->recording.targets.command = command;
	live->recording.command_line = call->line;
	live->recording.note = report_note;
	live->calls.user_stacks = !values->kernel_stacks;
	live->recording.self = values;
	call->out->ended = &ended;
	signals_end_recording(&action);
	code = code_of_print(pd_tracer_run(running, live, call->out->text, &recorded, &error), &error);
	if (!values->output)
		output_flush(call->out);
	if (recorded.lost && !call->out->failure)
		print_error("%" PRIu64 " events lost; try larger ring buffers (-m 16M), or fewer system calls (-e)",
			    recorded.lost);
	return recorded.command_errno ? record_code(&recorded, command[0]) : code;
}

static int trace_live(struct trace_values *values, const struct call *call)
{
	struct record_setup setup = { 0 };
	struct pd_tracer *tracer;
	struct pd_error error;
	int code = CODE_USAGE;

	if (pd_tracer_new(&tracer, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	running = tracer;
	if (take_tags(values, tracer) && record_copy_command(&setup, call))
		code = run_tracer(values, call, setup.command);
	running = NULL;
	pd_tracer_free(tracer);
	record_fini(&setup);
	return code;
}

/* Of a recording, threads and calls are chosen by it; the last list of threads counts, and all lists of calls. */
static bool take_choice(struct pd_syscalls_options *calls, struct pd_text *list, const struct option_tag *tag)
{
	bool is_event = !strcmp(tag->name, "event") || !strcmp(tag->name, "expr");
	bool except = *tag->value == '!', first = !pd_text_bytes(list).size;

	if (!strcmp(tag->name, "pid"))
		calls->pids = tag->value;
	else if (!strcmp(tag->name, "tid"))
		calls->tids = tag->value;
	else if (!strcmp(tag->name, "pf"))
		return true;
	else if (!is_event)
		return print_error("option --%s: not for a recording", tag->name);
	else if (strchr(tag->value, ':'))
		return print_error("option --%s: '%s': of a recording, only system calls are printed", tag->name,
				   tag->value);
	else if (!first && except != (*pd_text_bytes(list).data == '!'))
		return print_error(
			"option --%s: system calls that are wanted and those that are not ('!') are mutually exclusive",
			tag->name);
	else
		pd_text_printf(list, "%s%s", first ? "" : ",", tag->value + (except && !first));
	return true;
}

static int trace_file(struct trace_values *values, const struct call *call)
{
	struct pd_syscalls_options *calls = &values->live.calls;
	struct pd_text *list = pd_text_new();
	struct call own = *call;
	bool right = list && (!values->live.recording.targets.cpus || print_error("option --cpu: not for a recording"));
	int code = CODE_USAGE;

	for (size_t i = 0; right && i < values->tags.count; i++)
		right = take_choice(calls, list, &values->tags.items[i]);
	if (right && pd_text_bytes(list).size) {
		pd_text_printf(list, "%c", 0);
		calls->calls = (const char *)pd_text_bytes(list).data;
	}
	own.values = values;
	if (!list || pd_text_failed(list))
		code = print_failure(CODE_UNREADABLE, "out of memory");
	else if (right)
		code = input_print(&own);
	pd_text_free(list);
	return code;
}

/* A file for the text. What is there is replaced once there is something to write, so that a wrong option leaves it alone. */
struct late_output {
	struct output out;
	const char *path;
};

static bool open_late(struct late_output *late)
{
	if (late->out.fd >= 0 || late->out.failure)
		return !late->out.failure;
	late->out.fd = pd_tracer_output(late->path);
	late->out.failure = late->out.fd < 0 ? errno : 0;
	return !late->out.failure;
}

static bool write_late(void *self, struct pd_text *text)
{
	struct late_output *late = self;

	if (pd_text_bytes(text).size && !open_late(late)) {
		pd_text_clear(text);
		return false;
	}
	return output_flush(&late->out);
}

static int finish_late(struct late_output *late, int code)
{
	int finish = CODE_OK;

	/* a recording without calls has a file without lines, and what was read of a damaged one is not lost */
	if (late->path && (code_is_usable(code) || pd_text_bytes(late->out.text).size))
		open_late(late);
	if (late->out.fd >= 0 || late->out.failure)
		finish = output_finish(&late->out);
	if (late->path && late->out.fd >= 0)
		close(late->out.fd);
	output_fini(&late->out);
	return code == CODE_OK ? finish : code;
}

static bool is_same_file(const char *input, const char *output)
{
	struct stat one, other;

	return input && output && !stat(input, &one) && !stat(output, &other) && S_ISREG(one.st_mode) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int run_trace(const struct call *call)
{
	struct trace_values values = *(const struct trace_values *)call->values;
	struct pd_syscalls_options *calls = &values.live.calls;
	bool is_file = values.input.path || names_file(call);
	struct late_output late = { .path = values.output };
	struct call own = *call;

	calls->switch_on = values.select.switch_on;
	calls->switch_off = values.select.switch_off;
	calls->show_switches = values.select.show_switches;
	if (is_file && is_same_file(values.input.path ? values.input.path : call->words[0], values.output))
		return print_failure(CODE_OUTPUT, "%s: this is the input", values.output);
	if (is_file && !values.output)
		return trace_file(&values, call);
	if (!output_init(&late.out, values.output ? -1 : STDERR_FILENO))
		return print_failure(CODE_OUTPUT, "out of memory");
	if (values.output)
		pd_text_set_sink(late.out.text, write_late, &late);
	late.out.name = values.output ? values.output : "standard error";
	own.out = &late.out;
	return finish_late(&late, (is_file ? trace_file : trace_live)(&values, &own));
}

static enum pd_status print_trace(struct input *input, const void *how, struct pd_error *error)
{
	struct pd_syscalls_options own = *(const struct pd_syscalls_options *)how;

	own.symbols = symbols_of_input;
	own.self = input;
	return pd_print_syscalls(input->out->text, input->file, &own, error);
}

const struct command cmd_trace = {
	.usage = "[OPTION]... [FILE | COMMAND [ARGUMENT]...]",
	.text = "Print each system call of COMMAND, or of running processes, while it happens, or of a recording: with its arguments, what it "
		"returned and how long it took; with -s for each thread how often it called what, and how long that took. The text is that of perf "
		"trace of perf 6.1, names of enums in fields of events are those of perf 7.2.\n"
		"\n"
		"A single word that names a file, and no program, is a recording (FILE), as is that of -i. It has raw_syscalls:sys_enter and "
		"raw_syscalls:sys_exit (perfdata trace record, perf trace record), or events of single calls, which perf does not read: "
		"syscalls:sys_enter_NAME and syscalls:sys_exit_NAME. Without FILE and COMMAND the whole system is traced, until Ctrl-C.\n"
		"\n"
		"COMMAND is terminated when tracing ends. Events are printed when all that happened before them is known, which takes a fifth of a "
		"second. Where events were lost stands a line that says how many.\n"
		"\n"
		"Names are those of the machine that recorded: x86-64, i386, arm64, RISC-V or LoongArch. What arguments point to, such as the name "
		"of a file, is not recorded. The exit status is not that of COMMAND, but 127 if it cannot be executed.",
	.options = options,
	.values_size = sizeof(struct trace_values),
	EXAMPLES({ "perfdata trace -- make", "the system calls of a command" },
		 { "perfdata trace -p 4711 -e 'open*,close' --failure", "calls of a running process that fail" },
		 { "perfdata trace -as -- sleep 10", "which calls of the whole system took how long, by thread" },
		 { "perfdata trace -e sched:sched_switch,futex -- ./app", "other events between system calls" },
		 { "perfdata trace record -- make", "record the system calls of a command" },
		 { "perfdata trace --duration 10 -e '!futex' -i perf.data",
		   "of a recording, calls that took 10 ms or more" }),
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.live = true,
	HOW(live.calls),
	.print = print_trace,
	.run = run_trace,
};
