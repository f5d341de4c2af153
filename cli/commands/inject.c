/* SPDX-License-Identifier: MIT */
/*
 * perfdata inject: the same recording with more in it: build ids, maps of code made at run time, statistics of the
 * scheduler. The library does it (perfdata/inject.h); here options are read, and the end says what was done.
 */
#include "files/analysis.h"
#include "files/input.h"
#include "files/target.h"
#include "files/unfinished.h"

#include <perfdata/inject.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
	struct input_options input;
	struct target_options target;
	struct pd_inject_options how;
	const char *known;
};

struct run {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct target target;
	struct unfinished *unfinished; /* the file that the library writes beside the output */
	struct pd_inject_known *known;
	size_t known_count;
	struct pd_inject *inject;
	struct pd_symbols *symbols; /* for unwinding */
	struct pd_inject_result result;
};

static const struct option options[] = {
	GROUP(input_group, input),
	SET("build-ids", 'b', how.build_ids, PD_INJECT_LIST, "add build ids of the objects that have samples"),
	SET("buildid-all", 0, how.build_ids, PD_INJECT_LIST_ALL, "add build ids of all mapped objects"),
	SET("mmap2-buildids", 'B', how.build_ids, PD_INJECT_MAPS,
	    "write build ids into the MMAP2 records that have samples; drop others"),
	SET("mmap2-buildid-all", 0, how.build_ids, PD_INJECT_MAPS_ALL, "write build ids into all MMAP2 records"),
	STRING("known-build-ids", 0, "LIST", known,
	       "build ids to use for these paths: 'ID PATH,ID PATH', or file://FILE with lines as buildid-list prints them"),
	FLAG("any-file", 0, how.any_file, "use the file at a recorded path even if it may have changed since"),
	GROUP(symfs_option, how.symfs),
	FLAG("jit", 'j', how.jit, "add mappings of JIT-compiled code from jit-PID.dump, with an ELF file per function"),
	STRING("jit-dir", 0, "DIR", how.jit_directory, "directory for these files (default: that of the dump)"),
	FLAG("sched-stat", 's', how.sched_stat,
	     "merge sched_stat and sched_switch events: where threads slept, and for how long"),
	FLAG("unwind", 0, how.unwind, "replace copied user stacks and LBR call stacks by call chains"),
	FLAG("convert-callchain", 0, how.unwind, "same as --unwind"),
	GROUP(stitch_option, how.stitch_lbr),
	FLAG("strip", 0, how.drop_aux, "drop AUX data"),
	GROUP(target_group, target),
	{ 0 },
};

/* ---- ids that were given ---- */

static int parse_known(struct run *run, const char *argument)
{
	struct pd_error error;
	enum pd_status status = pd_inject_known_read(argument, &run->known, &run->known_count, &error);

	if (status == PD_ERROR_ARGUMENT)
		return print_failure(CODE_USAGE, "option --known-build-ids: %s", error.message);
	if (status < 0)
		print_error("%s", error.message);
	return status == PD_ERROR_MEMORY ? CODE_UNREADABLE : status < 0 ? CODE_USAGE : CODE_OK;
}

/* ---- what the library asks for ---- */

static void note_unfinished(void *self, enum pd_unfinished step, const char *path)
{
	struct run *run = self;

	unfinished_note(&run->unfinished, step, path);
}

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct run *run = self;
	const struct symbol_options options = { .how.symfs = run->values->how.symfs };

	run->symbols = symbols_open(&options, run->input.file, state, false);
	return run->symbols;
}

/* ---- all ---- */

static bool check_options(const struct values *values)
{
	const struct pd_inject_options *how = &values->how;

	if ((values->known || how->any_file) && !how->build_ids)
		return print_error("--%s requires --build-ids, --buildid-all, --mmap2-buildids or --mmap2-buildid-all",
				   values->known ? "known-build-ids" : "any-file");
	if (how->jit_directory && !how->jit)
		return print_error("--jit-dir requires --jit");
	if (how->jit && how->symfs && !how->jit_directory)
		return print_error("--jit with --symfs requires --jit-dir");
	if (how->stitch_lbr && !how->unwind)
		return print_error("--stitch-lbr requires --unwind");
	return true;
}

/* Records that all stay as they are can stay compressed as they are. */
static enum pd_packing packing(const struct values *values)
{
	const struct pd_inject_options *how = &values->how;
	bool to_pipe = !values->target.output || !strcmp(values->target.output, "-");

	return !pd_inject_keeps_records(how) || (how->build_ids && (to_pipe || values->target.form)) ? PD_PACK_SAME :
												       PD_PACK_KEEP;
}

static void report_end(const struct run *run)
{
	uint64_t warnings = run->result.warning_count;
	struct pd_text *text = pd_text_new();

	if (warnings > PD_INJECT_WARNINGS)
		print_error("%s: %" PRIu64 " more such object%s", run->input.name, warnings - PD_INJECT_WARNINGS,
			    plural(warnings - PD_INJECT_WARNINGS));
	if (text)
		pd_inject_text(run->inject, text);
	print_and_free(text);
}

static int write_all(struct run *run)
{
	struct pd_error error;
	enum pd_status status;
	int code = target_open(&run->target, &run->input.file, 1, false);

	if (code != CODE_OK)
		return code;
	status = pd_inject_write(run->inject, run->target.writer, &run->result, &error);
	progress_clear(&run->input.progress);
	return target_close(&run->target, code_with_error(status, &error));
}

static int inject_with_options(struct run *run)
{
	const struct values *values = run->values;
	struct pd_inject_options options = values->how;
	struct pd_error error;
	enum pd_status status;
	int code = values->known ? parse_known(run, values->known) : CODE_OK;

	if (code != CODE_OK)
		return code;
	options.once = pd_inject_is_once(&values->how) && pd_file_header(run->input.file)->mode == PD_MODE_PIPE;
	options.symbols = open_symbols;
	options.warn = values->input.quiet ? NULL : input_warn;
	options.progress = input_progress;
	options.pass_end = input_pass_end;
	options.unfinished = note_unfinished;
	options.self = run;
	options.known = run->known;
	options.known_count = run->known_count;
	status = pd_inject_new(run->input.file, &options, &run->inject, &error);
	progress_clear(&run->input.progress);
	if (status < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	code = write_all(run);
	if (code == CODE_OK && !values->input.quiet) {
		unwinding_report(run->input.name, pd_inject_unwinder(run->inject));
		report_end(run);
	}
	return code == CODE_OK && run->result.lost ? CODE_DAMAGED : code;
}

static int inject_opened(struct input *input)
{
	struct run *run = (struct run *)input;
	int code = inject_with_options(run);

	pd_inject_free(run->inject);
	pd_symbols_free(run->symbols);
	pd_inject_known_free(run->known);
	return code;
}

static int run_inject(const struct call *call)
{
	struct run run = { .values = call->values };
	const struct pd_inject_options *how = &run.values->how;
	struct input_options input = run.values->input;
	const char *output = run.values->target.output;
	int code;

	if (!check_options(run.values))
		return CODE_USAGE;
	/* as perf: without -o it is a part of a pipe */
	code = target_take_path(&run.target, &run.values->target, output ? output : "-", packing(run.values));
	if (code != CODE_OK)
		return code;
	input.keep = how->build_ids == PD_INJECT_LIST || how->build_ids == PD_INJECT_MAPS ||
		     (how->unwind && !pd_inject_is_once(how));
	input.verify = true;
	return input_run(&run.input, &input, call, inject_opened);
}

const struct command cmd_inject = {
	.usage = "[OPTION]... [-o OUTPUT] [FILE]",
	.text = "Copy FILE and add information to it. Without options, OUTPUT is a plain copy. Without -o, it goes to standard output, as with perf.\n\n"
		"Build ids identify the version of a recorded object. They are read from the files at the recorded paths. "
		"Objects that may have changed get none and are reported: files with a different inode or device, or newer "
		"than FILE; the kernel and its modules if a different kernel or boot was recorded. --any-file uses such files "
		"anyway. --build-ids adds the objects that samples and their call chains are in, or all objects if there are "
		"AUX data. In a file the build ids are a list in the header, in a pipe records before the samples; --build-ids "
		"and --mmap2-buildids read a pipe to its end before writing. --mmap2-buildids keeps all MMAP2 records if "
		"there are AUX data or stack copies, which may need any of them.\n\n"
		"perfdata reads jit-PID.dump directly. For perf, --jit writes jitted-PID-N.so for each function, with code, "
		"line numbers and unwind information, and adds MMAP2 records from the time the function was compiled. The mapping "
		"of the dump and anonymous mappings of the same process are dropped, as perf does. The recording must use the "
		"clock of the dump: perf record -k mono.\n\n"
		"--sched-stat merges sched_switch, sched_process_exit and sched_stat events into one event: for each "
		"sched_stat, the last sched_switch of its thread with the time and period of the sched_stat. Other events of "
		"the three are dropped.\n\n"
		"--unwind needs the recorded objects, as script and report do: each sample gets the call chain that its copied stack "
		"unwinds to, without registers and copy. Every perf reads the result, which is much smaller, and marks "
		"incomplete stacks. With --stitch-lbr it is in the order of time. Else a pipe is unwound as it comes: perf record --call-graph dwarf -o - COMMAND | perfdata inject "
		"--unwind -i - -o FILE.\n\n"
		"Objects without a build id are reported, but are not an error. If a dump cannot be read, the exit status is 1 and "
		"OUTPUT is complete.",
	OPTIONS(options),
	HOW(how),
	EXAMPLES({ "perf record -o - -- make | perfdata inject -b -i - -o perf.data", "add build ids while recording" },
		 { "perfdata inject --buildid-all -i perf.data -o whole.data", "add build ids of all mapped objects" },
		 { "perfdata inject -j -i java.data -o named.data", "let perf report resolve JIT-compiled code" },
		 { "perfdata inject --unwind -i dwarf.data -o chains.data", "call chains in place of copied stacks" },
		 { "perfdata inject -s -i sched.data -o - | perf report -i -",
		   "show where threads slept, and for how long" }),
	.max_words = 1,
	.run = run_inject,
};
