/* SPDX-License-Identifier: MIT */
/*
 * perfdata record: what happens on this machine, into a perf.data. The library's recorder does the work; this file says
 * what is wanted of it, and says at the end what was recorded and what was lost.
 */
#include "front/signals.h"
#include "record/options.h"
#include "options/symbol_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct values {
	struct record_values recording;
	const char *preset, *output;
	bool quiet, verbose, dry_run;
	bool unwind_now;
	const char *compression, *switch_output, *threads;
	bool timestamp_boundary;
	const char *control;
	bool no_buildid, no_buildid_cache, buildid_all;
	struct option_number runs;
	bool force;
	const char *store;
	struct option_list labels, switch_events;
	/* how perf works inside */
	const char *aio, *affinity, *vmlinux;
	struct option_number synthesizers, map_timeout_ms;
};

static const struct option options[] = {
	GROUP(record_target_group, recording),
	GROUP(record_sample_group, recording),
	STRING("for", 0, "WHAT", preset,
	       "record the events of a command: sched, waiting, lock, kwork, timechart (-tasks, -power or -io), kmem, trace, mem or c2c; perfdata sched record is short for that"),
	STRING("output", 'o', "FILE", output, "output file (default: perf.data); - writes a pipe to standard output"),
	OPTION("compression-level", 'z', LEVEL, "N", compression,
	       "compress records, at level 1 (fast) to 22 (small); without N as fast as possible; 0: do not"),
	FLAG("no-samples", 'n', recording.wanted.sampling.no_samples, "record no samples, only side-band records"),
	FLAG("stat", 's', recording.wanted.sampling.stat, "record counts of each thread"),
	FLAG("running-time", 0, recording.wanted.sampling.running_time, "record enabled and running times with counts"),
	FLAG("per-thread", 0, recording.wanted.targets.per_thread, "one ring buffer per thread instead of per CPU"),
	FLAG("off-cpu", 0, recording.wanted.sampling.off_cpu,
	     "also record where and how long threads sleep, as event offcpu-time; with -g including kernel stacks"),
	FLAG("unwind-now", 0, unwind_now,
	     "with --call-graph dwarf: unwind copied stacks while recording, and write call chains in their place"),
	NUMBER("runs", 0, "N", runs,
	       "record COMMAND N times, each into a file of its own: FILE-1, FILE-2 ...; see --vs below"),
	RECORDER("delay", 'D', "MS", recording.wanted,
		 "start sampling after MS milliseconds; -1: when enabled by --control"),
	GROUP(control_option, control),
	FLAG("overwrite", 0, recording.wanted.session.overwrite,
	     "flight recorder: keep only the newest records in memory, write them at exit, or at SIGUSR2 with --switch-output"),
	OPTION("switch-output", 0, ATTACHED, "WHEN", switch_output,
	       "start a new file at SIGUSR2 (signal), or after a size (100M) or a time (30s)"),
	OPTION("switch-output-event", 0, LIST, "EVENT", switch_events,
	       "start a new file when EVENT happens, a tracepoint or EVENT/period=N/; it is not recorded (may be repeated)"),
	RECORDER("switch-max-files", 0, "N", recording.wanted, "keep only the newest N files of --switch-output"),
	STRING("store", 0, "STORE", store, "add complete files to STORE; --switch-max-files removes only added ones"),
	OPTION("label", 0, LIST, "KEY=VALUE", labels, "label of what is added to STORE (may be repeated)"),
	FLAG("timestamp-filename", 0, recording.wanted.session.timestamp_filename,
	     "append a timestamp to the output file name"),
	FLAG("timestamp-boundary", 0, timestamp_boundary,
	     "no effect: times of the first and last sample are always recorded"),
	FLAG("tail-synthesize", 0, recording.wanted.session.tail_synthesize,
	     "synthesize records of running processes at exit"),
	RECORDER("synth", 0, "WHAT", recording.wanted,
		 "records to synthesize for running processes: all, task, mmap, cgroup or no"),
	RECORDER("max-size", 0, "SIZE", recording.wanted, "stop when the output reaches this size: 100M"),
	RECORDER("duration", 0, "TIME", recording.wanted, "stop after this time: 10s"),
	RECORDER("mmap-flush", 0, "SIZE", recording.wanted, "minimum bytes to drain from a ring buffer at once"),
	FLAG("no-buffering", 0, recording.wanted.session.no_buffering,
	     "wake up for each sample, instead of when a ring buffer is half full"),
	GROUP(realtime_option, recording.wanted),
	OPTION("threads", 0, ATTACHED, "SPEC", threads,
	       "write a directory with several threads, one per cpu (default), core, package, numa node, or RINGS/CPUS:..."),
	FLAG("no-buildid", 'B', no_buildid, "do not record build ids"),
	FLAG("no-buildid-cache", 'N', no_buildid_cache, "do not add objects to the build-id cache"),
	FLAG("buildid-all", 0, buildid_all, "add objects without samples to the build-id cache, too"),
	FLAG("dry-run", 0, dry_run, "open the events, but record nothing"),
	FLAG("verbose", 'v', verbose, "print the attributes of each opened event"),
	FLAG("force", 'f', force, "no effect"),
	OPTION("aio", 0, LEVEL, "N", aio, "no effect: ring buffers are large enough"),
	STRING("affinity", 0, "WHERE", affinity, "no effect: --threads drains ring buffers on their CPUs"),
	STRING("vmlinux", 0, "FILE", vmlinux,
	       "no effect, but FILE must be readable: report --vmlinux takes names from it"),
	NUMBER("num-thread-synthesize", 0, "N", synthesizers,
	       "no effect: running processes are synthesized by one thread"),
	NUMBER("proc-map-timeout", 0, "MS", map_timeout_ms, "no effect: maps of processes are always read completely"),
	FLAG("quiet", 'q', quiet, "print only errors"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata record -g -- make", "profile make and all its child processes" },
	{ "perfdata record -F 99 -a -g -- sleep 30", "profile the whole system for 30 seconds" },
	{ "perfdata record -e sched:sched_switch -a --duration 5s", "trace context switches for 5 seconds" },
	{ "perfdata record -p 4711 --max-size 100M -o slow.data", "profile a running process" },
	{ "perfdata record --runs 5 -- ./old-app --vs ./new-app",
	  "two programs in turn, five times each, for perfdata diff" },
	{ "perfdata record -o - -g -- ./app | perfdata report -i -", "record and report without a file" },
	{ 0 },
};

struct record {
	const struct values *values;
	struct record_setup setup;
	struct pd_recorder *recorder;
	struct pd_unwound_options chains; /* with --unwind-now: where they go */
	struct pd_store_profile stored;   /* with --store: what is said of the files */
	struct pd_events *triggers;       /* --switch-output-event */
};

/* ---- what is wanted ---- */

static bool take_triggers(struct record *record)
{
	const struct option_list *names = &record->values->switch_events;
	struct pd_session *session = &record->setup.options.session;
	struct pd_error error;
	enum pd_status status = names->count ? pd_events_new(NULL, &record->triggers, &error) : PD_OK;

	for (size_t i = 0; i < names->count && status >= 0; i++)
		status = pd_events_add(record->triggers, names->items[i], &error);
	session->switch_on_call |= names->count != 0;
	return status >= 0 || print_error("option --switch-output-event: %s", error.message);
}

static bool take_session(const struct values *values, struct pd_recorder_options *wanted)
{
	wanted->session.tail_synthesize |= wanted->session.overwrite;
	if (values->no_buildid)
		wanted->session.build_ids = PD_BUILD_IDS_NONE;
	return option_set_recorder(wanted, "threads", values->threads) &&
	       option_set_recorder(wanted, "switch-output", values->switch_output);
}

/* What -z says, or else the configuration; it is "" for a compressor without levels, which is the fastest. A pipe is compressed
 * only by -z: the configuration speaks of files. */
static bool take_packing(const struct values *values, const struct pd_config *config, struct pd_writer_options *output)
{
	const char *source = "option --compression-level", *text = values->compression;
	struct pd_error error;

	if (!text && output->mode != PD_MODE_PIPE) {
		source = "configuration: record.compression-level";
		text = pd_config_get(config, "record.compression-level");
	}
	return !text || pd_compression_parse(text, output, &error) >= 0 || print_error("%s: %s", source, error.message);
}

static bool take_output(struct record *record, const struct pd_config *config)
{
	const struct values *values = record->values;
	struct pd_recorder_options *wanted = &record->setup.options;
	const char *path = values->output;

	/* as perf: what is piped on is meant, unless a file is named */
	wanted->path = path ? path : "perf.data";
	if (path && !strcmp(path, "-")) {
		wanted->path = NULL;
		wanted->fd = STDOUT_FILENO;
		wanted->output.mode = PD_MODE_PIPE;
		if (isatty(STDOUT_FILENO))
			return print_error("refusing to write binary data to a terminal; use -o FILE");
	}
	wanted->output.size = sizeof(wanted->output);
	wanted->output.packing = PD_PACK_NONE;
	return take_packing(values, config, &wanted->output);
}

static struct pd_symbols *open_symbols(void *self, struct pd_file *file, const struct pd_state *state)
{
	const struct symbol_options options = { 0 };

	(void)self;
	return symbols_open(&options, file, state, false);
}

/* Chains are written by another writer than that of the recorder, which then has none. */
static bool take_unwinding(struct record *record)
{
	const struct values *values = record->values;
	struct pd_recorder_options *wanted = &record->setup.options;

	if (!values->unwind_now)
		return true;
	if (wanted->sampling.call_graph != PD_CALL_GRAPH_DWARF)
		return print_error("--unwind-now requires --call-graph dwarf");
	if (wanted->session.switch_on_call || wanted->session.overwrite || values->threads ||
	    wanted->session.timestamp_filename || wanted->session.max_size)
		return print_error("--unwind-now cannot be combined with --switch-output, --overwrite, --threads, "
				   "--timestamp-filename or --max-size");
	record->chains = (struct pd_unwound_options){ .size = sizeof(record->chains),
						      .path = wanted->path,
						      .fd = wanted->fd,
						      .output = wanted->output,
						      .no_build_ids = values->no_buildid,
						      .symbols = open_symbols };
	wanted->path = NULL;
	wanted->fd = -1;
	return true;
}

static int take_store(struct record *record)
{
	const struct values *values = record->values;
	struct pd_error error;

	if (!values->store)
		return values->labels.count ? print_failure(CODE_USAGE, "--label requires --store") : CODE_OK;
	if (values->output && !strcmp(values->output, "-"))
		return print_failure(CODE_USAGE, "--store cannot be combined with -o -");
	record->stored = store_said(&values->labels);
	record->stored.symbols = open_symbols;
	return code_with_error(pd_store_prepare(values->store, &record->stored, &error), &error);
}

static bool take_preset(struct record_setup *setup, const char *name)
{
	struct pd_error error;
	enum pd_status status = name ? pd_recorder_options_preset(&setup->options, setup->events, name, &error) : PD_OK;

	if (status == PD_ERROR_NO_MATCH)
		return print_error("option --for: %s", error.message);
	return status >= 0 || print_error("%s", error.message);
}

static bool take_values(struct record *record, const struct call *call)
{
	const struct values *values = record->values;
	struct record_setup *setup = &record->setup;
	struct pd_recorder_options *wanted = &setup->options;

	if (!record_take(setup, &values->recording, call) || !record_take_samples(setup, &values->recording) ||
	    !take_preset(setup, values->preset))
		return false;
	if (values->vmlinux && access(values->vmlinux, R_OK) < 0)
		return print_error("option --vmlinux: %s: %s", values->vmlinux, strerror(errno));
	/* a thread is named for itself */
	wanted->sampling.no_inherit |= values->recording.tids != NULL;
	if (!call->word_count && !pd_targets_are_given(&wanted->targets))
		return print_error("nothing to record: give a COMMAND, -a (system-wide) or -p PID");
	return take_session(values, wanted) && take_triggers(record) && take_output(record, call->config) &&
	       take_unwinding(record);
}

/* ---- what is reported ---- */

static void report_note(void *self, const struct pd_recorder_note *note)
{
	const struct record *record = self;

	if (record->values->quiet && note->severity < PD_DAMAGE)
		return;
	if (note->severity == PD_INFO && !record->values->verbose && strcmp(note->code, "no-hardware") != 0)
		return;
	record_print_note(note);
}

static void report_attr(void *self, const struct pd_attr *attr, int32_t pid, int32_t cpu, int os_errno)
{
	struct pd_text *text = pd_text_new();

	(void)self;
	if (!text)
		return;
	pd_print_opened_attr(text, attr, pid, cpu, os_errno);
	fprintf(stderr, "%.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
}

/* For a person who looks at it: what to type now. */
static void report_next(const struct record *record)
{
	const char *path = record->setup.options.path;
	bool named = path && strcmp(path, "perf.data") != 0;

	/* a shell would split such a name */
	if (!path || record->values->runs.given || strpbrk(path, " \t\n\"'\\$`&;|<>()*?[]#~!") ||
	    !isatty(STDERR_FILENO))
		return;
	print_error("next: perfdata report%s%s, or perfdata flame%s%s -o flame.html", named ? " " : "",
		    named ? path : "", named ? " " : "", named ? path : "");
}

static void report_end(const struct record *record, const struct pd_recorded *recorded)
{
	const struct pd_recorder_options *options = &record->setup.options;
	bool stamped = options->path && (options->session.switch_on_call || options->session.timestamp_filename);
	struct pd_text *text = pd_text_new();

	if (text)
		pd_recorded_text(recorded, options, record->values->quiet, text);
	print_and_free(text);
	if (!record->values->quiet && recorded->samples && !stamped)
		report_next(record);
}

/* ---- signals ---- */

static struct pd_recorder *running;
static volatile sig_atomic_t stopped_by;

static void on_signal(int number)
{
	if (number == SIGUSR2) {
		pd_recorder_switch(running);
	} else {
		stopped_by = number;
		pd_recorder_stop(running);
	}
}

static void catch_signals(struct record *record)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	running = record->recorder;
	signals_end_recording(&action);
	signals_handle((const int[]){ SIGUSR2, 0 }, &action, SIGNAL_ALWAYS);
}

/* ---- doing it ---- */

static enum pd_status record_unwound(struct record *record, struct pd_recorded *recorded, struct pd_error *error)
{
	enum pd_status status;

	record->chains.incomplete = record->values->quiet ? NULL : pd_text_new();
	status = pd_recorder_run_unwound(record->recorder, &record->chains, recorded, error);
	print_and_free(record->chains.incomplete);
	record->setup.options.path = record->chains.path;
	return status;
}

static int record_all(struct record *record, const struct call *call)
{
	const struct values *values = record->values;
	struct pd_recorded recorded;
	struct pd_control *control = NULL;
	struct pd_trigger *trigger = NULL;
	struct pd_error error;
	enum pd_status status;

	catch_signals(record);
	status = record->triggers ? pd_trigger_open(record->recorder, record->triggers, &trigger, &error) : PD_OK;
	if (status < 0)
		return code_with_error(status, &error);
	if (!record_open_control(values->control, record->recorder, &control)) {
		pd_trigger_close(trigger);
		return CODE_USAGE;
	}
	status = values->unwind_now ? record_unwound(record, &recorded, &error) :
				      pd_recorder_run(record->recorder, &recorded, &error);
	pd_control_close(control);
	pd_trigger_close(trigger);
	if (status < 0)
		return print_failure(CODE_OUTPUT, "%s", error.message);
	if (!recorded.command_errno)
		report_end(record, &recorded);
	/* as perf has it at the end of a recording */
	if (record->setup.options.path && recorded.samples && !values->no_buildid && !values->no_buildid_cache)
		record_cache_objects(record->setup.options.path, values->buildid_all, call->config);
	if (recorded.not_stored)
		return CODE_OUTPUT;
	if (!recorded.command_errno && stopped_by && !recorded.command_ended)
		return CODE_SIGNAL + stopped_by;
	return record_code(&recorded, call->word_count ? record->setup.options.targets.command[0] : "");
}

static int record_opened(struct record *record, const struct call *call)
{
	struct pd_error error;
	int code = CODE_OK;

	record->setup.options.note = report_note;
	record->setup.options.attr = record->values->verbose ? report_attr : NULL;
	record->setup.options.self = record;
	if (pd_recorder_open(&record->setup.options, &record->recorder, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	pd_recorder_set_store(record->recorder, record->values->store, &record->stored);
	if (!record->values->dry_run)
		code = record_all(record, call);
	pd_recorder_close(record->recorder);
	return code;
}

static int record_run(struct record *record, const struct call *call, const char *path, char *const *command)
{
	int code;

	if (record->values->unwind_now)
		record->chains.path = path;
	record->setup.options.path = record->values->unwind_now ? NULL : path;
	record->setup.options.targets.command = command;
	code = record_opened(record, call);
	return code == CODE_OK && stopped_by ? CODE_SIGNAL + stopped_by : code;
}

/* For a person who looks at it: the command that compares the files. A shell would split some names. */
static void report_runs(const struct pd_record_runs *runs, const char *path)
{
	struct pd_text *text = strpbrk(path, " ,\t\n\"'\\$`&;|<>()*?[]#~!") ? NULL : pd_text_new();

	if (!text)
		return;
	pd_text_add(text, "next: perfdata diff --per run");
	pd_record_runs_text(runs, text);
	print_and_free(text);
}

static int record_several(struct record *record, const struct call *call)
{
	const char *path = record->values->unwind_now ? record->chains.path : record->setup.options.path, *name;
	struct pd_record_runs *runs;
	struct pd_error error;
	enum pd_status status;
	char *const *command;
	int code = CODE_OK;

	if (!path || !record->setup.command)
		return print_failure(CODE_USAGE, path ? "--runs needs a COMMAND" :
							"--runs writes several files: standard output is only one");
	status = pd_record_runs_new(record->values->runs.value, path, record->setup.command, &runs, &error);
	if (status < 0)
		return print_failure(CODE_USAGE, strncmp(error.message, "--", 2) ? "option --runs: %s" : "%s",
				     error.message);
	for (size_t i = 0; code == CODE_OK && (name = pd_record_runs_at(runs, i, &command)) != NULL; i++)
		code = record_run(record, call, name, command);
	if (code == CODE_OK && !record->values->quiet)
		report_runs(runs, path);
	pd_record_runs_free(runs);
	return code;
}

static int run_record(const struct call *call)
{
	struct record record = { .values = call->values };
	int code = CODE_USAGE;

	if (take_values(&record, call))
		code = take_store(&record);
	if (code == CODE_OK)
		code = record.values->runs.given ? record_several(&record, call) : record_opened(&record, call);
	pd_events_free(record.triggers);
	record_fini(&record.setup);
	return code;
}

const struct command cmd_record = {
	.usage = "[OPTION]... [--] [COMMAND [ARGUMENT]...]",
	.text = "Record events of COMMAND, or of running processes, until COMMAND exits or you press Ctrl-C. The options and the "
		"file format are those of perf record. COMMAND is terminated when the recording stops.\n\n"
		"An existing FILE is renamed to FILE.old. The header is updated every second, so a recording that was killed can "
		"still be read, except for its last moments.\n\n"
		"Files are not compressed unless -z is given, or the key record.compression-level is set in ~/.perfconfig.\n\n"
		"--off-cpu adds samples of the event offcpu-time, one for each time a thread slept: the period is the duration in ns, "
		"the call chain is where it blocked. It needs permission to profile the kernel, but neither BPF nor tracefs.\n\n"
		"--store STORE adds each file to a store (see perfdata store) while the next one is recorded. Files remain. What cannot be added "
		"is reported, and the exit status is 4 then.\n\n"
		"--runs N records COMMAND N times, into perf-1.data, perf-2.data and so on, named after FILE. Two commands with --vs between them, "
		"as in perfdata record --runs 5 -- OLD --vs NEW, are recorded in turn, into perf-a-1.data, perf-b-1.data and so on; every "
		"other round begins with NEW. perfdata diff takes the files, separated by commas. The first run that fails is the last "
		"one.\n\n"
		"The exit status is that of COMMAND; 127 if it cannot be executed, 128 plus the signal number if a signal stopped the recording.",
	OWN_TABLES,
	.usual = "event freq call-graph all-cpus pid output duration",
	.max_words = (size_t)-1,
	.ends_at_word = true,
	.live = true,
	.run = run_record,
};
