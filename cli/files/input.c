/* SPDX-License-Identifier: MIT */
/*
 * Opens the file of a command and reports its problems on standard error, each kind a few times only:
 * a damaged file can have millions.
 */
#include "files/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/signals.h"

#undef VALUES
#define VALUES struct input_options

static const struct option lines[] = {
	GROUP(input_option, path),
	GROUP(force_option, force),
	GROUP(quiet_option, quiet),
	FLAG("verbose", 'v', verbose, "also report harmless anomalies"),
	{ 0 },
};

const struct option_group input_group = { HEADING_INPUT, lines };

static const struct option waiting_lines[] = {
	OPTION("waiting", 0, ATTACHED, "MIN-MAX", waiting,
	       "off-CPU time: samples are times that threads waited, from the switches of the recording; only those of a duration, as 1ms-20ms"),
	STRING("pair", 0, "begin=EVENT,end=EVENT,key=FIELD", pair,
	       "samples are times from one event to another with the same values of fields, as key=dev+sector; also ,owner=begin|end|FIELD and ,name=TEXT"),
	{ 0 },
};

const struct option_group waiting_group = { HEADING_FILTER, waiting_lines };

enum {
	PROBLEMS_SHOWN = 20 /* of each kind */
};

void input_again(struct input *input)
{
	pd_problem_count_again(&input->problems);
}

void input_progress(void *self, uint64_t done, uint64_t total)
{
	struct input *input = self;

	progress_show(&input->progress, done, total);
}

void input_progress_step(void *self, const struct pd_stream *stream)
{
	struct input *input = self;

	progress_step(&input->progress, stream);
}

bool input_progress_go_on(void *self, uint64_t done, uint64_t total)
{
	input_progress(self, done, total);
	return true;
}

void input_warn(void *self, const char *message)
{
	struct input *input = self;

	progress_clear(&input->progress);
	print_error("%s", message);
}

void input_pass_end(void *self)
{
	struct input *input = self;

	progress_clear(&input->progress);
	input_again(input);
}

bool input_report(struct input *input, const struct pd_problem *problem)
{
	char place[40] = "";

	if (input->quiet || (problem->severity == PD_INFO && !input->verbose))
		return true;
	if (pd_problem_count(&input->problems, problem->code) >= PROBLEMS_SHOWN)
		return true;
	progress_clear(&input->progress);
	if (problem->offset != PD_NO_OFFSET)
		snprintf(place, sizeof(place), "at offset 0x%" PRIx64 ": ", problem->offset);
	print_error("%s: %s%s: %s: %s%s%s", input->name, place, pd_severity_name(problem->severity), problem->code,
		    problem->field ? problem->field : "", problem->field ? ": " : "", problem->message);
	return true;
}

static bool report_problem(void *self, const struct pd_problem *problem)
{
	return input_report(self, problem);
}

static void report_rest(struct input *input)
{
	for (size_t i = 0; i < input->problems.kind_count; i++) {
		const struct pd_problem_kind *problem = &input->problems.kinds[i];

		if (problem->count > PROBLEMS_SHOWN)
			print_error("%s: %s: %" PRIu64 " more", input->name, problem->code,
				    problem->count - PROBLEMS_SHOWN);
	}
}

const char *input_default(void)
{
	struct stat status;

	return fstat(STDIN_FILENO, &status) == 0 && S_ISFIFO(status.st_mode) ? "-" : "perf.data";
}

static void on_interrupt(int number)
{
	(void)number;
}

/* ^C means whoever records into the pipe: with its end comes what was asked for. A second one means us. */
static void outlive_writer(void)
{
	struct sigaction once = { .sa_handler = on_interrupt, .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
	struct stat status;

	if (fstat(STDIN_FILENO, &status) == 0 && S_ISFIFO(status.st_mode))
		signals_handle((const int[]){ SIGINT, 0 }, &once, SIGNAL_IF_USUAL);
}

/* ---- waiting ---- */

/* What follows reads a recording that is made of the one that was opened. */
static int open_waiting(struct input *input, const struct input_options *from, const struct pd_open_options *options)
{
	struct pd_waiting_options how = { .size = sizeof(how), .pair = from->pair };
	struct pd_waiting_result result;
	char text[PD_WAITING_TEXT];
	struct pd_file *made;
	struct pd_error error;
	enum pd_status status;

	if (from->waiting && pd_waiting_range_parse(from->waiting, &how, &error) < 0)
		return print_failure(CODE_USAGE, "option --waiting: %s", error.message);
	status = pd_waiting_open(input->file, &how, options, &made, &result, &error);
	if (status == PD_ERROR_NO_SAMPLES)
		return print_failure(CODE_NO_SAMPLES, "%s: %s", input->name, error.message);
	if (status < 0)
		return code_with_error(status, &error);
	if (!input->quiet && pd_waiting_describe(&how, &result, text))
		print_error("%s: %s", input->name, text);
	input_again(input);
	input->switches = input->file;
	input->file = made;
	input->left_out = result.left_out_count != 0;
	return CODE_OK;
}

bool input_path(const char *option, const struct call *call, const char *usual, const char **path_out)
{
	*path_out = option ? option : call->word_count ? call->words[0] : usual;
	return !option || !call->word_count ||
	       print_error("unexpected argument '%s' (--input is '%s' already)", call->words[0], option);
}

int descriptor_open(const char *path, struct pd_descriptor *descriptor_out)
{
	bool standard = !strcmp(path, "-");

	*descriptor_out = (struct pd_descriptor){ .fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
						  .name = standard ? "standard input" : path };
	return descriptor_out->fd >= 0 ? CODE_OK : print_failure(CODE_UNREADABLE, "%s: %s", path, strerror(errno));
}

void descriptor_close(const struct pd_descriptor *descriptor)
{
	if (descriptor->fd != STDIN_FILENO)
		close(descriptor->fd);
}

int input_nothing(const struct input *input, const struct pd_select *select, bool had_samples)
{
	if (!had_samples && !input->left_out)
		return print_failure(CODE_NO_SAMPLES, "%s: no samples in the file", input->name);
	print_error("%s: no samples match the filters", input->name);
	if (select)
		select_report_missing(select, input->file);
	return CODE_NOTHING;
}

struct pd_store_profile store_said(const struct option_list *labels)
{
	return (struct pd_store_profile){ .size = sizeof(struct pd_store_profile),
					  .labels = labels ? labels->items : NULL,
					  .label_count = labels ? labels->count : 0,
					  .credentials = getenv("PERFDATA_STORE_CREDENTIALS"),
					  .spool = getenv("PERFDATA_STORE_SPOOL") };
}

int input_open(struct input *input, const struct input_options *options, const struct call *call,
	       pd_problem_fn *problem, void *self)
{
	struct pd_open_options open_options = { .size = sizeof(open_options) };
	const struct pd_store_profile said = store_said(NULL);
	bool makes = options->waiting || options->pair;
	const char *path;
	struct pd_error error;
	enum pd_status status;

	memset(input, 0, sizeof(*input));
	if (!input_path(options->path, call, input_default(), &path))
		return CODE_USAGE;
	if (call->word_count > 1 && !pd_store_is(path))
		return print_failure(CODE_USAGE, "unexpected argument '%s' (only one FILE is accepted)",
				     call->words[1]);
	input->quiet = options->quiet;
	input->verbose = options->verbose;
	input->verify = options->verify;
	input->call = call;
	input->out = call->out;
	input->out->progress = &input->progress;
	input->name = strcmp(path, "-") != 0 ? path : "standard input";
	open_options.problem = problem ? problem : report_problem;
	open_options.self = problem ? self : input;
	open_options.keep = options->keep || makes;
	open_options.recover = options->recover;
	if (strcmp(path, "-") == 0)
		outlive_writer();
	if (strcmp(path, "-") == 0)
		status = pd_file_open_fd(STDIN_FILENO, &open_options, &input->file, &error);
	else if (pd_store_is(path)) /* the other words say which samples */
		status = pd_store_open_with(path, call->words + 1, call->word_count ? call->word_count - 1 : 0, &said,
					    &open_options, &input->file, &error);
	else
		status = pd_file_open(path, &open_options, &input->file, &error);
	if (status == PD_OK) {
		int code = makes ? open_waiting(input, options, &open_options) : CODE_OK;

		return code == CODE_OK ? code : input_close(input, code);
	}
	report_rest(input);
	print_error("%s", error.message);
	input->out->progress = NULL;
	return status == PD_ERROR_NO_MATCH || status == PD_ERROR_ARGUMENT ? code_of(status) : CODE_UNREADABLE;
}

int input_close(struct input *input, int code)
{
	bool damaged = (input->file && pd_file_problem_count(input->file, PD_DAMAGE) > 0) ||
		       (input->switches && pd_file_problem_count(input->switches, PD_DAMAGE) > 0);

	progress_clear(&input->progress);
	if (input->file)
		report_rest(input);
	pd_file_close(input->file);
	pd_file_close(input->switches);
	input->file = input->switches = NULL;
	input->out->progress = NULL;
	return code == CODE_OK && damaged ? CODE_DAMAGED : code;
}

int input_run(struct input *input, const struct input_options *options, const struct call *call,
	      int (*run)(struct input *input))
{
	int code = input_open(input, options, call, NULL, NULL);

	return code == CODE_OK ? input_close(input, run(input)) : code;
}

int input_print_header(struct input *input, bool full)
{
	struct pd_error error;

	return code_with_error(pd_print_perf_header(input->out->text, input->file, full, &error), &error);
}

int input_print(const struct call *call)
{
	struct input_options from = *(const struct input_options *)call->values;
	struct pd_error error;
	enum pd_status status;
	struct input input;
	int code;

	from.keep = !call->command->once; /* time order may need two passes */
	code = input_open(&input, &from, call, NULL, NULL);
	if (code != CODE_OK)
		return code;
	status = call->command->print(&input, (const char *)call->values + call->command->how, &error);
	progress_clear(&input.progress);
	code = status == PD_ERROR_NO_SAMPLES || status == PD_ERROR_NO_MATCH ?
		       print_failure(code_of(status), "%s: %s", input.name, error.message) :
		       code_of_print(status, &error);
	return input_close(&input, code);
}
