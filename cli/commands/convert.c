/* SPDX-License-Identifier: MIT */
/*
 * perfdata convert: the same content in another form: file, pipe or directory, compressed or not, in either byte order,
 * in the order of time. The library does it (perfdata/convert.h).
 */
#include "front/cli.h"
#include "files/input.h"
#include "files/target.h"

#include <perfdata/convert.h>

#include <string.h>

struct values {
	struct input_options input;
	struct target_options target;
	bool sort;
	const char *reader;
};

static const struct option options[] = {
	GROUP(waiting_group, input),
	GROUP(input_group, input),
	GROUP(target_group, target),
	FLAG("sort", 'S', sort, "sort records by time"),
	STRING("for", 0, "READER", reader,
	       "write what an older or other program reads: perf-6.1, perf-5.10, quipper, samply ...; help lists them"),
	{ 0 },
};

struct convert {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct target target;
};

static int convert_opened(struct input *input)
{
	struct convert *convert = (struct convert *)input;
	const struct pd_convert_options options = { .size = sizeof(options),
						    .sort = convert->values->sort,
						    .progress = input_progress,
						    .self = &convert->input };
	/* What --waiting is made of is not overwritten either. */
	struct pd_file *const inputs[] = { convert->input.file, convert->input.switches };
	struct pd_error error;
	enum pd_status status;
	int code = target_open(&convert->target, inputs, inputs[1] ? 2 : 1, true);

	if (code != CODE_OK)
		return code;
	status = pd_convert(convert->input.file, convert->target.writer, &options, &error);
	if (status < 0)
		progress_clear(&convert->input.progress);
	return target_close(&convert->target, code_with_error(status, &error));
}

/* ---- readers ---- */

static int list_readers(struct output *out)
{
	const struct pd_consumer *reader;

	for (size_t i = 0; (reader = pd_consumer_at(i)) != NULL; i++)
		pd_text_printf(out->text, "%-10s %s\n", reader->name, reader->doc);
	return CODE_OK;
}

static int take_reader(struct convert *convert)
{
	const char *name = convert->values->reader;

	if (!name)
		return CODE_OK;
	convert->target.consumer = pd_consumer_find(name);
	if (convert->target.consumer)
		return CODE_OK;
	return print_failure(CODE_USAGE, "option --for: unknown reader '%s'; --for help lists them", name);
}

static int run_convert(const struct call *call)
{
	struct convert convert = { .values = call->values };
	struct input_options input = convert.values->input;
	/* Compressed records keep an order of their own. */
	enum pd_packing packing = convert.values->sort ? PD_PACK_SAME : PD_PACK_KEEP;
	int code;

	if (convert.values->reader && !strcmp(convert.values->reader, "help"))
		return list_readers(call->out);
	code = target_take(&convert.target, &convert.values->target, packing);
	if (code == CODE_OK)
		code = take_reader(&convert);
	if (code != CODE_OK)
		return code;
	input.keep = convert.values->sort;
	input.verify = true;
	return input_run(&convert.input, &input, call, convert_opened);
}

const struct command cmd_convert = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Rewrite FILE in another form: file, pipe or directory, compressed or not, little- or big-endian, sorted by time. "
		"Events, records and features are kept, including types unknown to this version. Without options OUTPUT is a "
		"perf.data file (version 2) of the same endianness.\n\n"
		"--for READER writes what that program accepts: event attributes of the size it knows, records it can decompress, "
		"and only record types, header features and flags it knows. Whatever is dropped is reported. Samples are all "
		"kept. --for help lists the readers; the man page perf.data(5) describes the format.\n\n"
		"OUTPUT is written under a temporary name (OUTPUT.new-...) and renamed when complete; an existing file stays until "
		"then. An interrupted run removes the temporary file, unless it read from a pipe. FILE is never modified.",
	OPTIONS(options),
	EXAMPLES({ "perfdata convert -o new.data", "copy, without unused space" },
		 { "perf record -o - -- make | perfdata convert -i - -z -o perf.data", "save a pipe, compressed" },
		 { "perfdata convert -i perf.data -o - | perf script -i -", "convert a file to a pipe" },
		 { "perfdata convert -i s390.data --byte-order little -o here.data", "byte-swap a recording" },
		 { "perfdata convert --for perf-6.1 new.data -o old.data", "for the perf of an older distribution" },
		 { "perfdata convert --sort --no-compress -o flat.data", "sort by time, for simple readers" }),
	.max_words = 1,
	.run = run_convert,
};
