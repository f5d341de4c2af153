/* SPDX-License-Identifier: MIT */
/*
 * perfdata split: one recording as several. The library does it (perfdata/split.h); here --by and -o are read, paths are
 * made, and files are opened as many at a time as the library writes.
 */
#include "front/input.h"
#include "front/target.h"
#include "front/unfinished.h"

#include <perfdata/split.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct values {
	struct input_options input;
	struct target_options target;
	const char *by;
	bool json;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	{ "by", 'b', OPTION_STRING, "WHAT", offsetof(struct values, by),
	  "event, pid, comm, cpu, cgroup, time=DURATION (10s, 500ms) or size=BYTES (64M)" },
	TARGET_OPTIONS(struct values, target),
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json), "print what was written as JSON lines" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata split --by pid -o out/", "one file per process: out/1234.data ..." },
	{ "perfdata split --by event -o out/%s.data", "one file per event, with this name" },
	{ "perfdata split -i day.data --by time=10m -o slices/", "slices of ten minutes" },
	{ "perfdata split -i big.data --by size=64M -o part-%s.data", "pieces of at most 64 MiB" },
	{ 0 },
};

struct run {
	const struct values *values;
	struct pd_split_options options;
	struct input input;
	struct pd_split *split;
	const char *output; /* with %s, or a directory */
	char **paths;       /* by piece */
	bool made_directory;
	struct unfinished *directory;
};

/* ---- --by ---- */

struct unit {
	const char *name;
	double size;
};

/* A number with a unit. The first unit is what a bare number has. */
static bool parse_amount(const char *text, const struct unit *units, double most, uint64_t *amount_out)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || !(number > 0))
		return false;
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcmp(end, unit->name) != 0 && !(unit == units && !*end))
			continue;
		if (number * unit->size < 1 || number * unit->size > most)
			return false;
		*amount_out = (uint64_t)(number * unit->size + 0.5);
		return true;
	}
	return false;
}

static bool parse_by(struct pd_split_options *options, const char *by)
{
	static const char *const words[] = { "event", "pid", "comm", "cpu", "cgroup" };
	static const struct unit times[] = { { "s", 1e9 },  { "ms", 1e6 },   { "us", 1e3 }, { "ns", 1 },
					     { "m", 60e9 }, { "h", 3600e9 }, { 0 } };
	static const struct unit sizes[] = { { "", 1 },           { "K", 1024 }, { "M", 1048576 },
					     { "G", 1073741824 }, { "k", 1024 }, { 0 } };

	if (!by) {
		complain("nothing to split by; use --by event, pid, comm, cpu, cgroup, time=DURATION or size=BYTES");
		return false;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(by, words[i])) {
			options->by = (enum pd_split_by)i;
			return true;
		}
	}
	options->by = PD_SPLIT_TIME;
	if (!strncmp(by, "time=", 5) && parse_amount(by + 5, times, 9e18, &options->amount))
		return true;
	options->by = PD_SPLIT_SIZE;
	if (!strncmp(by, "size=", 5) && parse_amount(by + 5, sizes, 9e18, &options->amount))
		return true;
	complain(
		"option --by: '%s' is not event, pid, comm, cpu, cgroup, time=DURATION (like 10s) or size=BYTES (like 64M)",
		by);
	return false;
}

/* ---- paths ---- */

static char *path_of(const char *output, const char *name)
{
	const char *mark = strstr(output, "%s");
	size_t front = mark ? (size_t)(mark - output) : strlen(output);
	size_t size = strlen(output) + strlen(name) + sizeof("/.data");
	char *path = malloc(size);

	if (path)
		snprintf(path, size, "%.*s%s%s%s", (int)front, output,
			 mark || (front && output[front - 1] == '/') ? "" : "/", name, mark ? mark + 2 : ".data");
	return path;
}

/* Nothing is written over. */
static int make_paths(struct run *run)
{
	size_t count = pd_split_piece_count(run->split);
	struct stat status;

	run->paths = calloc(count + 1, sizeof(*run->paths));
	for (size_t i = 0; i < count; i++) {
		if (run->paths)
			run->paths[i] = path_of(run->output, pd_split_piece(run->split, i)->name);
		if (!run->paths || !run->paths[i]) {
			complain("out of memory");
			return CODE_UNREADABLE;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (lstat(run->paths[i], &status) == 0) {
			complain("%s: already exists; nothing is written", run->paths[i]);
			return CODE_OUTPUT;
		}
	}
	return CODE_FINE;
}

static int make_directory(struct run *run)
{
	const char *output = run->output;
	struct stat status;

	if (strstr(output, "%s") || stat(output, &status) == 0)
		return CODE_FINE;
	unfinished_begin();
	run->made_directory = mkdir(output, 0777) == 0;
	if (run->made_directory)
		run->directory = unfinished_add(output, UNFINISHED_IF_EMPTY);
	unfinished_end();
	if (run->made_directory)
		return CODE_FINE;
	complain("%s: cannot create: %s", output, strerror(errno));
	return CODE_OUTPUT;
}

/* Without a piece in it, it goes again. */
static void leave_directory(struct run *run, int code)
{
	unfinished_done(run->directory);
	if (run->made_directory && code != CODE_FINE)
		rmdir(run->output);
}

/* ---- writing ---- */

/* Writes the pieces from one on, so many as can be open at a time. */
static int write_group(struct run *run, size_t first)
{
	struct pd_file *const inputs[] = { run->input.file };
	struct target targets[PD_SPLIT_AT_ONCE] = { 0 };
	struct pd_writer *writers[PD_SPLIT_AT_ONCE];
	size_t count = pd_split_piece_count(run->split) - first;
	struct pd_error error;
	enum pd_status status;
	int code = CODE_FINE;

	count = count < PD_SPLIT_AT_ONCE ? count : PD_SPLIT_AT_ONCE;
	for (size_t i = 0; i < count && code == CODE_FINE; i++) {
		code = target_take_path(&targets[i], &run->values->target, run->paths[first + i], PD_PACK_SAME);
		if (code == CODE_FINE)
			code = target_open(&targets[i], inputs, 1, false);
		writers[i] = targets[i].writer;
	}
	if (code == CODE_FINE) {
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

static void print_pieces(const struct run *run, struct output *out)
{
	const struct pd_split_piece *piece;

	for (size_t i = 0; (piece = pd_split_piece(run->split, i)) != NULL; i++) {
		const char *path = run->paths[i];
		struct stat status;
		uint64_t size = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;

		if (run->values->json) {
			struct pd_json json = { .text = out->text };

			pd_json_open(&json, NULL, '{');
			pd_json_string(&json, "file", path);
			pd_json_number(&json, "samples", piece->sample_count);
			pd_json_number(&json, "bytes", size);
			pd_json_close(&json, '}');
			pd_text_add(out->text, "\n");
		} else {
			pd_text_printf(out->text, "%10" PRIu64 " samples  ", piece->sample_count);
			pd_text_escaped(out->text, path, strlen(path));
			pd_text_add(out->text, "\n");
		}
		if (!output_spill(out))
			return;
	}
}

static void print_counts(const struct run *run, const struct pd_split_result *result)
{
	size_t files = pd_split_piece_count(run->split);
	uint64_t all = result->sample_count + result->lost_count;

	if (run->values->input.quiet)
		return;
	if (result->deep_count)
		complain("warning: %zu process%s %d or more ancestors: their files lack mappings "
			 "inherited from more distant ones",
			 result->deep_count, result->deep_count == 1 ? " has" : "es have", PD_SPLIT_MAX_ANCESTORS + 1);
	complain("%" PRIu64 " of %" PRIu64 " sample%s in %zu file%s", result->sample_count, all, plural(all), files,
		 plural(files));
	if (result->unknown_count)
		complain("%" PRIu64 " of them in the file named unknown: %s", result->unknown_count,
			 pd_split_lacks(run->split));
	if (result->lost_count)
		complain("%" PRIu64 " sample%s in no file: damaged, or of an unknown event", result->lost_count,
			 plural(result->lost_count));
}

static int write_all(struct run *run, struct output *out)
{
	struct pd_split_result result;
	int code = make_paths(run);

	if (code == CODE_FINE)
		code = make_directory(run);
	for (size_t i = 0; i < pd_split_piece_count(run->split) && code == CODE_FINE; i += PD_SPLIT_AT_ONCE)
		code = write_group(run, i);
	leave_directory(run, code);
	if (code != CODE_FINE)
		return code;
	pd_split_count(run->split, &result);
	print_pieces(run, out);
	print_counts(run, &result);
	return result.lost_count || result.deep_count ? CODE_DAMAGED : CODE_FINE;
}

static void show_progress(void *self, uint64_t done, uint64_t total)
{
	struct run *run = self;

	progress_show(&run->input.progress, done, total);
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
	for (size_t i = 0; run->paths && i < pd_split_piece_count(run->split); i++)
		free(run->paths[i]);
	free(run->paths);
	pd_split_free(run->split);
	return code;
}

/* The form of the pieces is the same for all, so it is checked before anything is read. */
static int take_options(struct run *run)
{
	const struct values *values = run->values;
	struct target target;

	if (!parse_by(&run->options, values->by))
		return CODE_USAGE;
	run->output = values->target.output;
	if (!run->output || !*run->output || !strcmp(run->output, "-")) {
		complain("no output given; use -o DIRECTORY, or -o FILE with %%s in its name");
		return CODE_USAGE;
	}
	return target_take_path(&target, &values->target, run->output, PD_PACK_SAME);
}

static int run_split(const struct call *call)
{
	struct run run = { .values = call->values };
	struct input_options input = run.values->input;
	int code = take_options(&run);

	input.keep = input.verify = true;
	if (code == CODE_FINE)
		code = input_open(&run.input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	run.options.size = sizeof(run.options);
	run.options.progress = show_progress;
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
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run_split,
};
