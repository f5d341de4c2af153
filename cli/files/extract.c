/* SPDX-License-Identifier: MIT */
#include "files/extract.h"

#include <string.h>

#include "options/select_options.h"

#undef VALUES
#define VALUES struct extract_values

static const struct option lines[] = {
	GROUP(input_group, input),
	GROUP(target_group, target),
	FLAG("json", 'j', json, "print what was kept as JSON on standard output"),
	{ 0 },
};

const struct option_group extract_group = { HEADING_OUTPUT, lines };

struct run {
	struct input input; /* first: see input_progress */
	const struct extract_values *values;
	struct pd_extract_options *options;
	const struct symbol_options *symbol_options;
	struct target target;
	struct pd_extract *extract;
	struct pd_symbols *symbols;
	bool symbols_wrong; /* why is reported */
	struct pd_extract_result result;
};

/* ---- what the library asks ---- */

/* Problems are reported in the first pass, and not again. */
static void end_pass(void *self)
{
	struct run *run = self;

	run->input.quiet = true;
}

static enum pd_status open_symbols(void *self, struct pd_file *file, const struct pd_state *state,
				   struct pd_symbols **symbols_out, struct pd_error *error)
{
	struct run *run = self;

	(void)error;
	run->symbols = symbols_open(run->symbol_options, file, state, false);
	run->symbols_wrong = !run->symbols;
	*symbols_out = run->symbols;
	return run->symbols ? PD_OK : PD_ERROR_STOPPED;
}

/* ---- what was kept ---- */

static void report_text(const struct run *run, void (*print)(const struct pd_extract *extract, struct pd_text *text))
{
	struct pd_text *text = run->values->input.quiet ? NULL : pd_text_new();

	if (text)
		print(run->extract, text);
	print_and_free(text);
}

/* What was kept is there, even if it is nothing: a slice of a recording may be empty. */
static int report_end(const struct run *run)
{
	const struct pd_extract_result *result = &run->result;

	if (run->values->json)
		pd_extract_json(run->extract, run->input.out->text);
	report_text(run, pd_extract_text);
	if (result->kept_sample_count || result->records)
		return CODE_OK;
	return input_nothing(&run->input, run->options->select, result->sample_count != 0);
}

/* ---- all ---- */

static int open_input(struct run *run, const struct call *call)
{
	struct input_options input = run->values->input;
	int code = target_take(&run->target, &run->values->target, PD_PACK_SAME);

	if (code == CODE_OK && run->values->json && !strcmp(run->values->target.output, "-")) {
		print_error("--json and -o - both write to standard output");
		code = CODE_USAGE;
	}
	if (code != CODE_OK)
		return code;
	input.keep = pd_extract_reads_twice(run->options);
	input.verify = true;
	return input_open(&run->input, &input, call, NULL, NULL);
}

static int prepare(struct run *run)
{
	struct pd_error error;
	enum pd_status status = pd_extract_new(run->input.file, run->options, &run->extract, &error);

	if (status >= 0)
		return CODE_OK;
	progress_clear(&run->input.progress);
	if (status == PD_ERROR_NO_MATCH && run->options->span_ns)
		print_error("%s: option --seconds: samples have no timestamps", run->input.name);
	else if (!run->symbols_wrong)
		print_error("%s", error.message);
	return status == PD_ERROR_NO_MATCH ? CODE_NOTHING : CODE_UNREADABLE;
}

static int write_all(struct run *run)
{
	struct pd_error error;
	enum pd_status status;
	int code = target_open(&run->target, &run->input.file, 1, false);

	if (code != CODE_OK)
		return code;
	status = pd_extract_write(run->extract, run->target.writer, &run->result, &error);
	progress_clear(&run->input.progress);
	code = code_with_error(status, &error);
	if (code == CODE_OK)
		report_text(run, pd_extract_weights_text);
	code = target_close(&run->target, code);
	return code == CODE_OK ? report_end(run) : code;
}

int extract_run(const struct call *call, const struct extract_values *values, struct pd_extract_options *options,
		const struct symbol_options *symbols)
{
	struct run run = { .values = values, .options = options, .symbol_options = symbols };
	int code;

	options->size = sizeof(*options);
	options->symbols = symbols ? open_symbols : NULL;
	options->progress = input_progress;
	options->pass_end = end_pass;
	options->self = &run;
	code = open_input(&run, call);
	if (code != CODE_OK)
		return code;
	code = prepare(&run);
	if (code == CODE_OK)
		code = write_all(&run);
	pd_symbols_free(run.symbols);
	pd_extract_free(run.extract);
	return input_close(&run.input, code);
}
