/* SPDX-License-Identifier: MIT */
/* perfdata merge: several recordings as one, in the order of time. The library does it (perfdata/merge.h). */
#include "files/input.h"
#include "files/target.h"

#include <perfdata/merge.h>

#include <stdlib.h>
#include <string.h>

struct values {
	struct input_options input;
	struct target_options target;
	struct pd_merge_options how;
	struct option_list offsets;
};

static const struct option options[] = {
	GROUP(input_group, input),
	GROUP(target_group, target),
	CHOICE("align", 0, "HOW", how.clocks, "auto|wall|first|none",
	       "align clocks of different boots: wall (by CLOCK_DATA), first (same start time), none, or auto (the default: wall if "
	       "available, else none)"),
	OPTION("offset", 0, LIST, "FILE=SECONDS", offsets, "add SECONDS (may be negative) to the timestamps of FILE"),
	CHOICE("machines", 0, "HOW", how.machines, "auto|same|different",
	       "same: all files are from one boot of one machine; different: none are; auto (the default)"),
	CHOICE("kernels", 0, "HOW", how.kernels, "move|refuse|keep",
	       "different kernels, or kernels at different addresses: move (the default), refuse, or keep, which gives "
	       "wrong function names"),
	FLAG("keep-pids", 0, how.keep_pids, "do not renumber PIDs of other machines"),
	FLAG("drop-aux", 0, how.drop_aux, "drop AUX data"),
	{ 0 },
};

struct run {
	const struct values *values;
	struct target target;
	struct input *inputs;
	size_t input_count;
	struct pd_merge *merge;
};

/* ---- messages ---- */

static void clear_progress(struct run *run)
{
	for (size_t i = 0; i < run->input_count; i++)
		progress_clear(&run->inputs[i].progress);
}

static void warn(void *self, const char *message)
{
	clear_progress(self);
	print_error("%s", message);
}

static void show_progress(void *self, size_t file, uint64_t done, uint64_t total)
{
	struct run *run = self;

	progress_show(&run->inputs[file].progress, done, total);
}

static int failed(struct run *run, enum pd_status status, const struct pd_error *error)
{
	const char *whole = pd_merge_failure(run->merge);

	clear_progress(run);
	print_error("%s", whole ? whole : error->message);
	return code_of(status);
}

static void report_counts(const struct run *run, const struct pd_merge_result *result)
{
	struct pd_text *text = run->values->input.quiet ? NULL : pd_text_new();

	if (text)
		pd_merge_result_text(run->merge, result, text);
	print_and_free(text);
}

/* ---- all ---- */

static int open_target(struct run *run)
{
	struct pd_file **files = calloc(run->input_count, sizeof(struct pd_file *));
	int code;

	if (!files)
		return print_failure(CODE_UNREADABLE, "out of memory");
	for (size_t i = 0; i < run->input_count; i++)
		files[i] = run->inputs[i].file;
	code = target_open(&run->target, files, run->input_count, false);
	free(files);
	return code;
}

static int write_all(struct run *run)
{
	struct pd_merge_result result = { 0 };
	struct pd_error error;
	enum pd_status status;
	int code = open_target(run);

	if (code != CODE_OK)
		return code;
	status = pd_merge_write(run->merge, run->target.writer, &result, &error);
	if (status < 0)
		code = failed(run, status, &error);
	clear_progress(run);
	code = target_close(&run->target, code);
	if (code == CODE_OK)
		report_counts(run, &result);
	return code == CODE_OK && result.undecoded_count ? CODE_DAMAGED : code;
}

static int join(struct run *run)
{
	struct pd_error error;
	enum pd_status status = pd_merge_compare(run->merge, &error);

	for (size_t i = 0; i < run->values->offsets.count && status >= 0; i++)
		if (pd_merge_shift_parse(run->merge, run->values->offsets.items[i], &error) < 0)
			return print_failure(CODE_USAGE, "option --offset: %s", error.message);
	if (status >= 0)
		status = pd_merge_plan(run->merge, &error);
	return status < 0 ? failed(run, status, &error) : write_all(run);
}

static int open_input(struct run *run, struct input_options *options, const struct call *call)
{
	const struct call alone = { .values = call->values, .out = call->out };
	struct input *input = &run->inputs[run->input_count++];
	struct pd_error error;
	enum pd_status status;
	int code;

	options->keep = true;
	code = input_open(input, options, &alone, NULL, NULL);
	if (code != CODE_OK)
		return code;
	status = pd_merge_add(run->merge, input->file, &error);
	progress_clear(&input->progress);
	if (status < 0)
		return failed(run, status, &error);
	input_again(input);
	return CODE_OK;
}

/* The files in the order in which they were named; that of -i comes first. */
static int open_inputs(struct run *run, const struct call *call)
{
	size_t count = call->word_count + (run->values->input.path != NULL);
	size_t standard = 0;
	int code = CODE_OK;

	if (!count)
		return print_failure(CODE_USAGE, "no input given; name the files to merge");
	run->inputs = calloc(count, sizeof(*run->inputs));
	if (!run->inputs)
		return print_failure(CODE_UNREADABLE, "out of memory");
	for (size_t i = 0; i < count && code == CODE_OK; i++) {
		struct input_options options = run->values->input;

		if (i || !options.path)
			options.path = call->words[i - (run->values->input.path != NULL)];
		standard += !strcmp(options.path, "-");
		if (standard > 1)
			return print_failure(CODE_USAGE, "standard input can be read only once");
		code = open_input(run, &options, call);
	}
	return code;
}

static int run_merge(const struct call *call)
{
	struct run run = { .values = call->values };
	struct pd_merge_options options = run.values->how;
	struct pd_error error;
	int code = target_take(&run.target, &run.values->target, PD_PACK_SAME);

	if (code != CODE_OK)
		return code;
	options.quiet = run.values->input.quiet;
	options.warn = warn;
	options.progress = show_progress;
	options.self = &run;
	if (pd_merge_new(&options, &run.merge, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	code = open_inputs(&run, call);
	if (code == CODE_OK)
		code = join(&run);
	pd_merge_free(run.merge);
	for (size_t i = 0; i < run.input_count; i++)
		if (run.inputs[i].file)
			code = input_close(&run.inputs[i], code);
	free(run.inputs);
	return code;
}

const struct command cmd_merge = {
	.usage = "[OPTION]... -o OUTPUT FILE...",
	.text = "Merge recordings into one, sorted by time.\n\n"
		"Equal events are merged, others are added; where ids or sample fields conflict, records are rewritten. Pieces of one "
		"recording, as made by split and cut, are reassembled: samples keep their bytes, and records found in several pieces, "
		"such as the map of the kernel, are written once.\n\n"
		"Recordings from the same boot share a clock. Those from another boot or machine (detected by host name, release and "
		"kernel address) are aligned by CLOCK_DATA if they have it, and their PIDs are renumbered: 10000000 is "
		"added for the second machine, 20000000 for the third. So report -s pid, or --where 'pid >= 10000000', separates "
		"machines, except for idle tasks, which have PID 0 on each. Raw tracepoint data is unchanged. "
		"A file has a single kernel address space: the same kernel, loaded elsewhere by another boot, is moved onto the "
		"first one; a different kernel is moved to a free range and named [kernel-HOST].\n\n"
		"Host name, command line and the like are those of the first file that has them; differences are "
		"reported. AUX data is kept if it comes from a single recording and nothing about it changes: two hardware traces "
		"cannot be separated in one file.",
	OPTIONS(options),
	HOW(how),
	EXAMPLES({ "perfdata merge morning.data evening.data -o day.data", "merge two recordings" },
		 { "perfdata merge web-*.data --align wall -o fleet.data",
		   "several machines, aligned by wall-clock time" },
		 { "perfdata merge a.data b.data --offset b.data=-1.5 -o -", "shift b by -1.5 s and write a pipe" },
		 { "perfdata merge parts/*.data -o whole.data", "reassemble what split made" }),
	.max_words = SIZE_MAX,
	.run = run_merge,
};
