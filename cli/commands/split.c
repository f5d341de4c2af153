/* SPDX-License-Identifier: MIT */
/*
 * perfdata split: one recording as several. The library does it (perfdata/split.h); here files are
 * opened, as many at a time as the library writes.
 */
#include "files/input.h"
#include "files/target.h"
#include "files/unfinished.h"

#include <perfdata/outfile.h>
#include <perfdata/split.h>

#include <string.h>

struct values {
	struct input_options input;
	struct target_options target;
	const char *by;
	bool json;
};

static const struct option options[] = {
	GROUP(input_group, input),
	STRING("by", 'b', "WHAT", by, "event, pid, comm, cpu, cgroup, time=DURATION (10s, 500ms) or size=BYTES (64M)"),
	GROUP(target_group, target),
	FLAG("json", 'j', json, "print what was written as JSON lines"),
	{ 0 },
};

struct run {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct pd_split_options options;
	struct pd_split *split;
	struct pd_outfiles *files;     /* by piece */
	struct unfinished *unfinished; /* their folder */
};

/* ---- writing ---- */

/* Writes the pieces from one on, so many as can be open at a time. */
static int write_group(struct run *run, size_t first)
{
	struct target targets[PD_SPLIT_AT_ONCE] = { 0 };
	struct pd_writer *writers[PD_SPLIT_AT_ONCE];
	size_t count = pd_split_piece_count(run->split) - first;
	struct pd_error error;
	enum pd_status status;
	int code = CODE_OK;

	count = count < PD_SPLIT_AT_ONCE ? count : PD_SPLIT_AT_ONCE;
	for (size_t i = 0; i < count && code == CODE_OK; i++) {
		code = target_take_path(&targets[i], &run->values->target, pd_outfiles_at(run->files, first + i),
					PD_PACK_SAME);
		if (code == CODE_OK)
			code = target_open(&targets[i], &run->input.file, 1, false);
		writers[i] = targets[i].writer;
	}
	if (code == CODE_OK) {
		status = pd_split_write(run->split, first, writers, count, &error);
		progress_clear(&run->input.progress);
		code = code_with_error(status, &error);
	}
	input_again(&run->input);
	for (size_t i = 0; i < count; i++)
		code = target_close(&targets[i], code);
	return code;
}

/* ---- what was written ---- */

static void print_counts(const struct run *run)
{
	struct pd_text *text = run->values->input.quiet ? NULL : pd_text_new();

	if (text)
		pd_split_text(run->split, text);
	print_and_free(text);
}

/* Paths for all pieces, none of which may be there yet. */
static int make_paths(struct run *run)
{
	const struct pd_outfile_options options = { .size = sizeof(options),
						    .unfinished = unfinished_note,
						    .self = &run->unfinished };
	const struct pd_split_piece *piece;
	struct pd_error error;
	enum pd_status status = pd_outfiles_new(run->values->target.output, &options, &run->files, &error);

	for (size_t i = 0; status >= 0 && (piece = pd_split_piece(run->split, i)) != NULL; i++)
		status = pd_outfiles_add(run->files, piece->name, &error);
	if (status >= 0)
		status = pd_outfiles_begin(run->files, &error);
	return code_with_error(status, &error);
}

static int write_all(struct run *run, struct output *out)
{
	struct pd_split_result result;
	int code = make_paths(run);

	if (code != CODE_OK)
		return code;
	for (size_t i = 0; i < pd_split_piece_count(run->split) && code == CODE_OK; i += PD_SPLIT_AT_ONCE)
		code = write_group(run, i);
	pd_outfiles_end(run->files, code == CODE_OK);
	if (code != CODE_OK)
		return code;
	pd_split_count(run->split, &result);
	pd_split_print_pieces(run->split, run->files, run->values->json, out->text);
	print_counts(run);
	return result.lost_count || result.deep_count ? CODE_DAMAGED : CODE_OK;
}

static int split_opened(struct run *run, struct output *out)
{
	struct pd_error error;
	enum pd_status status = pd_split_new(run->input.file, &run->options, &run->split, &error);
	int code;

	progress_clear(&run->input.progress);
	input_again(&run->input);
	if (status < 0)
		return code_with_error(status, &error);
	code = write_all(run, out);
	pd_outfiles_free(run->files);
	pd_split_free(run->split);
	return code;
}

/* The form of the pieces is the same for all, so it is checked before anything is read. */
static int take_options(struct run *run)
{
	const struct values *values = run->values;
	const char *output = values->target.output;
	struct target target;
	struct pd_error error;

	if (!values->by)
		return print_failure(
			CODE_USAGE,
			"nothing to split by; use --by event, pid, comm, cpu, cgroup, time=DURATION or size=BYTES");
	if (pd_split_parse(values->by, &run->options, &error) < 0)
		return print_failure(CODE_USAGE, "option --by: %s", error.message);
	if (!output || !*output || !strcmp(output, "-"))
		return print_failure(CODE_USAGE, "no output given; use -o DIRECTORY, or -o FILE with %%s in its name");
	return target_take_path(&target, &values->target, output, PD_PACK_SAME);
}

static int run_split(const struct call *call)
{
	struct run run = { .values = call->values };
	struct input_options input = run.values->input;
	int code = take_options(&run);

	input.keep = input.verify = true;
	if (code == CODE_OK)
		code = input_open(&run.input, &input, call, NULL, NULL);
	if (code != CODE_OK)
		return code;
	run.options.size = sizeof(run.options);
	run.options.progress = input_progress;
	run.options.self = &run;
	return input_close(&run.input, split_opened(&run, call->out));
}

const struct command cmd_split = {
	.usage = "[OPTION]... --by WHAT -o DIRECTORY [FILE]",
	.text = "Split a recording into several: one per event, process, thread name, CPU or cgroup, or slices by time or size. "
		"Each is a complete recording with all that its samples need: tasks, mappings, and the description of machine and "
		"events. merge joins them again.\n\n"
		"OUTPUT is a directory, created if missing, or a file name with %s, which is replaced by the event, number or name; "
		"special characters become _. Nothing is overwritten: if one of the files exists, none is written. The files written "
		"are listed.\n\n"
		"Files by process, thread name or cgroup omit what is known about other processes. Files by event also contain the "
		"first event of the recording and those that task records belong to. Time slices begin with the first sample. Files "
		"are written 64 at a time; FILE is read once for each 64.\n\n"
		"The file of a process includes the mappings of its ancestors, up to 64; if it has more, a warning is printed and the "
		"exit code is 1. At most 4096 files are written, and at most 512 MiB plus 64 times the input of records other than "
		"samples.",
	OPTIONS(options),
	EXAMPLES({ "perfdata split --by pid -o out/", "one file per process: out/1234.data ..." },
		 { "perfdata split --by event -o out/%s.data", "one file per event, with this name" },
		 { "perfdata split -i day.data --by time=10m -o slices/", "slices of ten minutes" },
		 { "perfdata split -i big.data --by size=64M -o part-%s.data", "pieces of at most 64 MiB" }),
	.max_words = 1,
	.run = run_split,
};
