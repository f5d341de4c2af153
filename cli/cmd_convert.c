/* SPDX-License-Identifier: MIT */
/*
 * perfdata convert: the same content in another form: file, pipe or directory, compressed or not, in either byte order,
 * in the order of time. The library's writer does the work; this file says what is wanted of it.
 */
#include "cli.h"
#include "input.h"
#include "target.h"

enum {
	RECORDS_PER_ROUND = 65536 /* of sorted output, so that readers need not keep all of it */
};

struct values {
	struct input_options input;
	struct target_options target;
	bool sort;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	TARGET_OPTIONS(struct values, target),
	{ "sort", 'S', OPTION_FLAG, NULL, offsetof(struct values, sort), "in the order of time" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata convert -o new.data", "the same content, with nothing but that" },
	{ "perf record -o - -- make | perfdata convert -i - -z -o perf.data", "save a pipe, compressed" },
	{ "perfdata convert -i perf.data -o - | perf script -i -", "a file as a pipe" },
	{ "perfdata convert -i s390.data --byte-order little -o here.data", "for a machine of the other byte order" },
	{ "perfdata convert --sort --no-compress -o flat.data", "in the order of time, for simple readers" },
	{ 0 },
};

struct convert {
	const struct values *values;
	struct input input;
	struct target target;
	struct pd_error error;
	enum pd_status status;
	uint64_t passed; /* since the last round */
	bool late; /* the order of time is not kept */
};

/* ---- doing it ---- */

static bool begin_round(struct convert *convert)
{
	const struct pd_finished_round round = { 0 };

	convert->passed = 0;
	if (!convert->late)
		convert->status = pd_writer_add(convert->target.writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, &convert->error);
	return convert->status >= 0;
}

static bool convert_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct convert *convert = self;

	if (convert->values->sort) {
		convert->late |= record->flags & PD_RECORD_LATE;
		/* Rounds say how far the order of the input was from that of time. */
		if (record->type == PD_RECORD_FINISHED_ROUND)
			return true;
		if (++convert->passed > RECORDS_PER_ROUND && !begin_round(convert))
			return false;
	}
	convert->status = pd_writer_pass(convert->target.writer, stream, record, &convert->error);
	if (!convert->values->sort)
		pd_writer_pass_following(convert->target.writer, stream);
	return convert->status >= 0;
}

static int convert_opened(struct convert *convert)
{
	struct pd_file *const inputs[] = { convert->input.file };
	int code = target_open(&convert->target, inputs, 1, true);

	if (code == CODE_FINE)
		code = input_walk(&convert->input, convert_record, convert);
	if (code == CODE_FINE && convert->status < 0)
		code = target_failed(&convert->target, convert->status, &convert->error);
	return target_close(&convert->target, code);
}

static int run(const struct call *call)
{
	struct convert convert = { .values = call->values };
	struct input_options input = convert.values->input;
	/* Compressed records keep an order of their own. */
	enum pd_packing packing = convert.values->sort ? PD_PACK_SAME : PD_PACK_KEEP;
	int code = target_take(&convert.target, &convert.values->target, packing);

	if (code != CODE_FINE)
		return code;
	input.keep = convert.values->sort;
	input.verify = true;
	code = input_open(&convert.input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	convert.input.order = convert.values->sort ? PD_ORDER_TIME : PD_ORDER_FILE;
	return input_close(&convert.input, convert_opened(&convert));
}

const struct command cmd_convert = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Writes the content of FILE anew: events, records and features, those that this version does not know "
		"too. Without options OUTPUT is a file of version 2, in the byte order of FILE, with its parts in the "
		"order of perf.\n\n"
		"OUTPUT takes its name when it is whole; what had the name before stays until then. A run that a signal ends "
		"takes away what it has written; what is left of one that was killed, or that read a pipe, is named OUTPUT.new-..., "
		"and opens. FILE itself is never written to.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
