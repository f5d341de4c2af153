/* SPDX-License-Identifier: MIT */
/*
 * perfdata script: a line for each sample, as perf script prints it, in the order of time. A pipe is read once, anything else
 * twice: see samples.h.
 */
#include "files/input.h"
#include "options/symbol_options.h"
#include "options/value.h"
#include "files/analysis.h"
#include "files/unfinished.h"
#include "files/perf_scripts.h"
#include "options/select_options.h"

#include <perfdata/outfile.h>
#include <perfdata/samples.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
	struct input_options input;
	struct option_list fields;
	struct pd_samples_options shown; /* what flags set of it */
	struct pd_select_options select;
	const char *stop;
	bool header, header_only, show_info;
	bool dump;
	struct symbol_options symbols;
	bool ignored, per_event;
	const char *program, *generated; /* Python */
	bool listed;
};

#undef VALUES
#define VALUES struct pd_select_options

static const struct option select_lines[] = {
	STRING("addr-range", 0, "N", addr_range, "with -S 0xADDRESS: samples in N bytes from there, too"),
	{ 0 },
};

static const struct option_group script_select_group = { HEADING_FILTER, select_lines };

#undef VALUES
#define VALUES struct values

#define TYPE(NAME) (UINT64_C(1) << PD_RECORD_##NAME)

/* The only records from perf itself that is shown; bit 0 stands for it. */
#define ROUNDS UINT64_C(1)

static const struct option options[] = {
	GROUP(waiting_group, input),
	GROUP(input_group, input),
	OPTION("fields", 'F', LIST, "LIST", fields,
	       "fields to print; +NAME and -NAME change the default, TYPE: limits them to an event type"),
	FLAG("ns", 0, shown.nanoseconds, "print times in nanoseconds"),
	FLAG("Latency", 'L', shown.short_start,
	     "print names of threads in eight characters, and CPUs without brackets"),
	GROUP(select_group, select),
	GROUP(script_select_group, select),
	GROUP(switch_group, select),
	GROUP(max_stack_option, shown.max_stack),
	GROUP(unwind_option, shown.no_unwind),
	STRING("stop-bt", 0, "LIST", stop,
	       "end call chains with these functions, by name or 0xADDRESS; or file://PATH"),
	GROUP(stitch_option, shown.stitch_lbr),
	FLAG("hide-call-graph", 'G', shown.no_chains, "print only the address of the sample"),
	FLAG("show-kernel-path", 0, shown.kernel_paths, "print paths of kernel modules"),
	FLAG("full-source-path", 0, shown.source_paths, "print full paths of source files"),
	FLAG("reltime", 0, shown.relative, "print times relative to the first sample"),
	FLAG("deltatime", 0, shown.delta, "print times relative to the previous sample"),
	GROUP(header_option, header),
	GROUP(header_only_option, header_only),
	GROUP(show_info_option, show_info),
	BITS("show-task-events", 0, shown.types, TYPE(COMM) | TYPE(FORK) | TYPE(EXIT),
	     "print FORK, EXIT and COMM records too"),
	BITS("show-mmap-events", 0, shown.types, TYPE(MMAP) | TYPE(MMAP2), "print MMAP and MMAP2 records too"),
	BITS("show-switch-events", 0, shown.types, TYPE(SWITCH) | TYPE(SWITCH_CPU_WIDE),
	     "print SWITCH and SWITCH_CPU_WIDE records too"),
	BITS("show-namespace-events", 0, shown.types, TYPE(NAMESPACES), "print NAMESPACES records too"),
	BITS("show-cgroup-events", 0, shown.types, TYPE(CGROUP), "print CGROUP records too"),
	BITS("show-lost-events", 0, shown.types, TYPE(LOST), "print LOST records too"),
	BITS("show-round-events", 0, shown.types, ROUNDS, "print FINISHED_ROUND records too"),
	BITS("show-text-poke-events", 0, shown.types, TYPE(KSYMBOL) | TYPE(TEXT_POKE),
	     "print KSYMBOL and TEXT_POKE records too"),
	BITS("show-bpf-events", 0, shown.types, TYPE(KSYMBOL) | TYPE(BPF_EVENT),
	     "print KSYMBOL and BPF_EVENT records too"),
	STRING("script", 's', "FILE", program,
	       "run a Python script that was written for perf; arguments after the options are its own"),
	STRING("gen-script", 'g', "FILE", generated, "write such a script to FILE, with a handler for each tracepoint"),
	FLAG("list", 'l', listed, "list the scripts of an installed perf"),
	FLAG("per-event-dump", 0, per_event, "write the samples of each event to FILE.EVENT.dump"),
	FLAG("dump-raw-trace", 'D', dump, "also print every record in the order of time, its bytes and what is in it"),
	FLAG("merge-callchains", 0, ignored, "has no effect: call chains recorded in two parts are always one"),
	FLAG("all-cpus", 'a', ignored, "has no effect: nothing is recorded, and the samples of all CPUs are printed"),
	FLAG("no-itrace", 0, ignored, "has no effect: traces are not decoded"),
	GROUP(threads_option, shown.threads),
	GROUP(symbol_group, symbols),
	{ 0 },
};

/* A run of the command. */
struct script {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct pd_select *select;
	struct pd_select *stop; /* what call chains end with, or NULL */
	struct pd_samples *samples;
	struct pd_event_files *files; /* of each event, or NULL */
	struct unfinished **unfinished;
	struct pd_symbols *symbols;
	bool symbols_wrong; /* why is reported */
	struct pd_error error;
	enum pd_status status;
};

/* ---- what the library asks ---- */

static enum pd_status open_symbols(void *self, struct pd_file *file, const struct pd_state *state,
				   struct pd_symbols **symbols_out, struct pd_error *error)
{
	struct script *script = self;

	(void)error;
	script->symbols = symbols_open(&script->values->symbols, file, state, script->input.out->terminal);
	script->symbols_wrong = !script->symbols;
	*symbols_out = script->symbols;
	return script->symbols ? PD_OK : PD_ERROR_STOPPED;
}

static struct pd_text *text_of(void *self, const struct pd_event *event)
{
	return pd_event_files_text(((struct script *)self)->files, event->name);
}

/* ---- a file for each event ---- */

static int begin_files(struct script *script)
{
	size_t count = pd_file_event_count(script->input.file);
	const char *prefix = strcmp(script->input.name, "standard input") == 0 ? "perf.data" : script->input.name;
	enum pd_status status = pd_event_files_new(prefix, &script->files, &script->error);

	if (!(script->unfinished = calloc(count + 1, sizeof(struct unfinished *))))
		return print_failure(CODE_OUTPUT, "out of memory");
	for (size_t i = 0; i < count && status >= 0; i++) {
		const struct pd_outfile_options options = { .size = sizeof(options),
							    .input = script->input.name,
							    .unfinished = unfinished_note,
							    .self = &script->unfinished[i] };

		status = pd_event_files_add(script->files, pd_file_event(script->input.file, i)->name, &options,
					    &script->error);
	}
	return status < 0 ? print_failure(CODE_OUTPUT, "%s", script->error.message) : CODE_OK;
}

static int finish_files(struct script *script)
{
	if (pd_event_files_finish(script->files, &script->error) < 0)
		return print_failure(CODE_OUTPUT, "%s", script->error.message);
	if (!script->values->input.quiet)
		pd_event_files_print(script->input.out->text, script->files);
	return CODE_OK;
}

/* ---- options ---- */

static enum pd_status samples_of(struct script *script, const struct values *values, const struct call *call)
{
	struct pd_samples_options shown = values->shown;

	shown.fields = values->fields.items;
	shown.field_count = values->fields.count;
	shown.escape = call->out->terminal;
	shown.first_threads = values->select.time ? 1 : 0;
	shown.progress = input_progress_go_on;
	shown.symbols = open_symbols;
	shown.warn = input_warn;
	shown.text_of = values->per_event ? text_of : NULL;
	shown.escape &= !values->per_event;
	shown.raw = values->dump ? PD_RAW_SCRIPT : PD_RAW_NO;
	shown.self = script;
	return pd_samples_new(&shown, call->out->text, &script->samples, &script->error);
}

/* Functions are listed as for --symbols, and what is wrong is said of that option. */
static bool take_stop(struct script *script, const char *list)
{
	const struct pd_select_options functions = { .size = sizeof(functions), .symbols = list };
	static const char other[] = "option --symbols: ";
	struct pd_error error;
	bool named;

	if (!list || pd_select_new(&functions, &script->stop, &error) >= 0)
		return true;
	named = strncmp(error.message, other, sizeof(other) - 1) == 0;
	return print_error("option --stop-bt: %s", error.message + (named ? sizeof(other) - 1 : 0));
}

/* The first error in this order is what is reported. */
static int take_options(struct script *script, const struct values *values, const struct call *call)
{
	enum pd_status status = samples_of(script, values, call);

	if (status != PD_OK)
		return code_with_error(status, &script->error);
	if (values->shown.relative && values->shown.delta)
		return print_failure(CODE_USAGE, "--reltime and --deltatime cannot be combined");
	if (!take_stop(script, values->stop))
		return CODE_USAGE;
	if (!select_take(&script->select, &values->select))
		return CODE_USAGE;
	pd_samples_select(script->samples, script->select, script->stop);
	return CODE_OK;
}

/* ---- the passes ---- */

/* The size of what comes once is not known. */
static bool can_read_twice(struct pd_file *file)
{
	return pd_file_header(file)->file_size != 0;
}

static int report_end(const struct script *script)
{
	enum pd_status status = script->status;

	if (script->symbols_wrong)
		return CODE_UNREADABLE;
	if (status >= 0 || script->input.out->failure)
		return CODE_OK;
	if (status == PD_ERROR_NO_MATCH)
		return print_failure(CODE_NOTHING, "%s: %s", script->input.name, script->error.message);
	print_error("%s", status == PD_ERROR_MEMORY ? "out of memory" : script->error.message);
	return code_of(status);
}

static int print_file(struct script *script)
{
	int code = script->values->header ? input_print_header(&script->input, script->values->show_info) : CODE_OK;

	if (code != CODE_OK)
		return code;
	script->status = pd_samples_run(script->samples, script->input.file, &script->error);
	progress_clear(&script->input.progress);
	return report_end(script);
}

static int print_pipe(struct script *script)
{
	if (script->values->header || pd_select_waits(script->select))
		return print_failure(CODE_USAGE,
				     "%s: --header, time ranges in percent and wall clocks are not possible on a pipe",
				     script->input.name);
	script->status = pd_samples_run_once(script->samples, script->input.file, &script->error);
	progress_clear(&script->input.progress);
	return report_end(script);
}

/* ---- Python ---- */

/* Nothing is imported from the current folder, which -c has in front. */
static const char run_python[] =
	"import sys\n"
	"if sys.path[:1] == ['']:\n"
	"    del sys.path[0]\n"
	"try:\n"
	"    from perfdata.script import main\n"
	"except ImportError as error:\n"
	"    sys.exit(f'perfdata: scripts need the Python package of perfdata, which cannot be imported: {error}')\n"
	"sys.exit(main(sys.argv[1:]))\n";

static const struct {
	const char *option;
	size_t place;
} selections[] = {
#define SELECTION(option, member)                                  \
	{                                                          \
		option, offsetof(struct pd_select_options, member) \
	}
	SELECTION("--time", time),
	SELECTION("--comm", comms),
	SELECTION("--comm", comm),
	SELECTION("--pid", pid),
	SELECTION("--tid", tid),
	SELECTION("--cpu", cpu),
	SELECTION("--event", event),
	SELECTION("--dso", dsos),
	SELECTION("--dso", dso),
	SELECTION("--symbol", symbols),
	SELECTION("--symbol", symbol),
	SELECTION("--where", where),
	SELECTION("--socket", socket),
	SELECTION("--addr-range", addr_range),
	SELECTION("--switch-on", switch_on),
	SELECTION("--switch-off", switch_off),
};

static bool is_python(const char *word)
{
	size_t length = strlen(word);

	return length > 3 && strcmp(word + length - 3, ".py") == 0;
}

/* What perf's option begins with may be the language. */
static const char *without_language(const char *program)
{
	static const char *const languages[] = { "Python:", "python:", "py:" };

	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		if (!strncmp(program, languages[i], strlen(languages[i])))
			return program + strlen(languages[i]);
	}
	return program;
}

/* A file that the user names is run or written. */
static bool runs_file(const struct values *values, const struct call *call)
{
	return values->program || values->generated || (call->word_count && is_python(call->words[0]));
}

static bool needs_python(const struct values *values, const struct call *call)
{
	return values->listed || runs_file(values, call) || (call->word_count && perf_scripts_begin(call->words[0]));
}

static bool add_words(struct option_list *line, const struct values *values, const struct call *call)
{
	const char *mode = values->listed ? "list" : runs_file(values, call) ? NULL : perf_scripts_mode(call->words[0]);
	bool added = option_list_add(line, "python3") && option_list_add(line, "-c") &&
		     option_list_add(line, run_python) && option_list_add(line, "--input") &&
		     option_list_add(line, values->input.path ? values->input.path : input_default());

	for (size_t i = 0; added && i < sizeof(selections) / sizeof(selections[0]); i++) {
		const char *word;

		memcpy(&word, (const char *)&values->select + selections[i].place, sizeof(word));
		added = !word || (option_list_add(line, selections[i].option) && option_list_add(line, word));
	}
	if (added && values->generated)
		added = option_list_add(line, "--generate") &&
			option_list_add(line, is_python(values->generated) ? values->generated : "perf-script.py");
	if (added && mode)
		added = perf_scripts_add(line, mode, call);
	/* names of scripts may begin with a hyphen */
	if (added && (values->program || call->word_count))
		added = option_list_add(line, "--");
	if (added && values->program)
		added = option_list_add(line, without_language(values->program));
	for (size_t i = 0; added && i < call->word_count; i++)
		added = option_list_add(line, call->words[i]);
	return added && option_list_add(line, NULL);
}

static int start_python(const struct values *values, const struct call *call)
{
	struct option_list line = { 0 };
	int code = CODE_USAGE;

	if (perf_scripts_folder())
		setenv("PERF_EXEC_PATH", perf_scripts_folder(), 1);
	if (add_words(&line, values, call)) {
		code = CODE_UNREADABLE;
		output_flush(call->out);
		execvp(line.items[0], (char **)(uintptr_t)line.items);
		print_error("scripts are run by python3, which cannot be started: %s", strerror(errno));
	}
	free(line.items);
	return code;
}

static bool check_words(const struct call *call)
{
	const struct values *values = call->values;

	return call->word_count < 2 || needs_python(values, call) ||
	       print_error("unexpected argument '%s' (only one FILE is accepted)", call->words[1]);
}

/* ---- the command ---- */

/* Programs that share the work among several calls take a part without samples for a part like others, as perf does. */
static int print_nothing(struct script *script, bool had_samples)
{
	int code = input_nothing(&script->input, script->select, had_samples);

	return code == CODE_NOTHING ? CODE_OK : code;
}

static int run_opened(struct script *script)
{
	struct pd_samples_result result;
	int code;

	if (script->values->header_only)
		return input_print_header(&script->input, script->values->show_info);
	code = script->values->per_event ? begin_files(script) : CODE_OK;
	if (code == CODE_OK)
		code = can_read_twice(script->input.file) ? print_file(script) : print_pipe(script);
	if (code == CODE_OK && script->files)
		code = finish_files(script);
	result = pd_samples_result(script->samples);
	if (code == CODE_OK && !result.printed_count && !script->values->dump && !script->input.out->failure)
		code = print_nothing(script, result.sample_count != 0);
	if (!script->values->input.quiet && result.copied_count) {
		output_flush(script->input.out);
		copied_stacks_report(script->input.name, result.copied_count, result.printed_count);
	}
	if (!script->values->input.quiet && result.unwinder && !script->input.out->failure) {
		output_flush(script->input.out);
		unwinding_report(script->input.name, result.unwinder);
	}
	return code;
}

static int run_opened_script(struct script *script, const struct call *call)
{
	int code = take_options(script, script->values, call);

	if (code == CODE_OK)
		code = input_open(&script->input, &script->values->input, call, NULL, NULL);
	if (code == CODE_OK) {
		code = run_opened(script);
		pd_symbols_free(script->symbols);
		code = input_close(&script->input, code);
	}
	return code;
}

static int run_script(const struct call *call)
{
	struct script *script = calloc(1, sizeof(*script));
	int code;

	if (!script)
		return print_failure(CODE_UNREADABLE, "out of memory");
	script->values = call->values;
	if (needs_python(script->values, call)) {
		code = start_python(script->values, call);
		free(script);
		return code;
	}
	code = run_opened_script(script, call);
	pd_samples_free(script->samples);
	pd_select_free(script->select);
	pd_select_free(script->stop);
	pd_event_files_free(script->files);
	free(script->unfinished);
	free(script);
	return code;
}

const struct command cmd_script = {
	.usage = "[OPTION]... [FILE | [record | report] NAME [ARGUMENT]...]",
	.text = "Print the samples of FILE in time order, byte for byte as perf script (6.1), with these fields: {sample fields}. For files of stat record, print the counts of each "
		"interval, as perf 6.2 and later.\n\n"
		"Functions are looked up in the recorded files if their build ids match, in perf's cache and in debug "
		"files; kernel functions in /proc/kallsyms if it is the recorded kernel. Nothing is downloaded without "
		"--debuginfod. Copied user stacks (--call-graph dwarf) are unwound as perf does: the recorded part of a chain comes "
		"first, and return addresses are less one. A chain ends where the copied stack does, without the "
		"ffffffffffffffff that perf 6.1 adds.\n\n"
		"Event types of -F are hw, sw, trace, raw, break and synth. A list without + and - replaces the default "
		"fields; as in perf, the - in bpf-output counts too, so that such a list is added.\n\n"
		"-s runs a Python script with the handlers that perf calls (trace_begin, process_event, SYSTEM__EVENT and others) "
		"by python3 and the Python package of perfdata; of the other options those that select samples are obeyed. FILE is "
		"given by -i then. With perf_db_export_mode scripts get rows of perf's tables for databases.\n\n"
		"record NAME, report NAME, or NAME, which does both at once, run the scripts of an installed perf, found below PERF_EXEC_PATH, "
		"/usr/libexec/perf-core, /usr/lib/perf-core or ~/libexec/perf-core; what follows NAME is for them. They call perf, "
		"which is perfdata there.\n\n"
		"Strings of the file are printed unchanged, except that control characters are escaped on a terminal.",
	OPTIONS(options),
	HOW(shown),
	DEFAULTS(.shown.max_stack = PD_SAMPLES_STACK),
	EXAMPLES({ "perfdata script -i perf.data", "print every sample" },
		 { "perfdata script --ns -F comm,tid,time,event,ip,dso", "print these fields" },
		 { "perfdata script -F +misc --show-mmap-events", "more fields and records" },
		 { "perfdata script --time 10%/2 --comm make", "print the second tenth of one program" },
		 { "perfdata script -i perf.data -s my.py 10", "run a script with its argument" },
		 { "perfdata script report stackcollapse", "run a script of an installed perf" },
		 { "perf record -o - true | perfdata script", "read from a pipe" }),
	.usual = "input fields time comms event header",
	.max_words = (size_t)-1,
	.ends_at = perf_scripts_begin,
	.check = check_words,
	.run = run_script,
};
