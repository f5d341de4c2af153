/* SPDX-License-Identifier: MIT */
/*
 * perfdata convert: the same content in another form: file, pipe or directory, compressed or not, in either byte order,
 * in the order of time. The library's writer does the work; this file says what is wanted of it.
 */
#include "cli.h"
#include "input.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_LEVEL = 22,
	RECORDS_PER_ROUND = 65536 /* of sorted output, so that readers need not keep all of it */
};

struct values {
	struct input_options input;
	const char *output;
	const char *to;
	const char *byte_order;
	bool compress, compress2, no_compress;
	struct option_number level;
	bool sort;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	{ "output", 'o', OPTION_STRING, "FILE", offsetof(struct values, output),
	  "what is written; - is standard output" },
	{ "to", 0, OPTION_STRING, "FORM", offsetof(struct values, to),
	  "file (the default), pipe (the default for what cannot seek, and for -) or dir" },
	{ "byte-order", 0, OPTION_STRING, "ORDER", offsetof(struct values, byte_order),
	  "little, big or same (the default)" },
	{ "compress", 'z', OPTION_FLAG, NULL, offsetof(struct values, compress),
	  "compress records, for perf 5.2 and later" },
	{ "compress2", 0, OPTION_FLAG, NULL, offsetof(struct values, compress2),
	  "compress into COMPRESSED2 records, for perf 6.16 and later" },
	{ "level", 0, OPTION_NUMBER, "N", offsetof(struct values, level),
	  "level of compression, 1 (fast, the default) to 22 (small); implies --compress" },
	{ "no-compress", 0, OPTION_FLAG, NULL, offsetof(struct values, no_compress),
	  "write compressed records plain" },
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
	struct pd_writer *writer;
	struct pd_error error;
	enum pd_status status;
	uint64_t passed; /* since the last round */
	bool late; /* the order of time is not kept */
};

/* ---- what is wanted ---- */

struct word {
	const char *name;
	int value;
};

static bool find_word(const struct word *words, const char *option, const char *name, int *value)
{
	for (; name && words->name; words++) {
		if (!strcmp(words->name, name)) {
			*value = words->value;
			return true;
		}
	}
	if (name)
		complain("option --%s: '%s' is not known", option, name);
	return !name;
}

/* What is no file, and has no other form, is written in order. */
static int default_mode(const char *output)
{
	struct stat status;

	if (!strcmp(output, "-"))
		return PD_MODE_PIPE;
	return stat(output, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) ? PD_MODE_PIPE :
												     PD_MODE_FILE;
}

static bool choose_packing(const struct values *values, struct pd_writer_options *wanted)
{
	bool compress = values->compress || values->compress2 || values->level.given;

	if (values->no_compress && compress) {
		complain("--no-compress goes with no other option of compression");
		return false;
	}
	if (values->level.given && (!values->level.value || values->level.value > MOST_LEVEL)) {
		complain("option --level: %" PRIu64 " is not between 1 and %d", values->level.value, MOST_LEVEL);
		return false;
	}
	wanted->level = (int)values->level.value;
	/* Compressed records keep an order of their own. */
	wanted->packing = values->sort ? PD_PACK_SAME : PD_PACK_KEEP;
	if (values->no_compress)
		wanted->packing = PD_PACK_NONE;
	else if (compress)
		wanted->packing = values->compress2 ? PD_PACK_ZSTD2 : PD_PACK_ZSTD;
	return true;
}

static bool choose(const struct values *values, struct pd_writer_options *wanted)
{
	static const struct word modes[] = {
		{ "file", PD_MODE_FILE }, { "pipe", PD_MODE_PIPE }, { "dir", PD_MODE_DIRECTORY }, { 0 }
	};
	static const struct word orders[] = {
		{ "little", PD_ENDIAN_LITTLE }, { "big", PD_ENDIAN_BIG }, { "same", PD_ENDIAN_SAME }, { 0 }
	};
	int mode, order = PD_ENDIAN_SAME;

	if (!values->output) {
		complain("say what is to be written: -o FILE, or -o - for standard output");
		return false;
	}
	mode = default_mode(values->output);
	if (!find_word(modes, "to", values->to, &mode) ||
	    !find_word(orders, "byte-order", values->byte_order, &order))
		return false;
	wanted->mode = (enum pd_mode)mode;
	wanted->endian = (enum pd_endian)order;
	return choose_packing(values, wanted);
}

/* ---- doing it ---- */

static bool begin_round(struct convert *convert)
{
	const struct pd_finished_round round = { 0 };

	convert->passed = 0;
	if (!convert->late)
		convert->status = pd_writer_add(convert->writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, &convert->error);
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
	convert->status = pd_writer_pass(convert->writer, stream, record, &convert->error);
	if (!convert->values->sort)
		pd_writer_pass_following(convert->writer, stream);
	return convert->status >= 0;
}

static int failed(const struct convert *convert)
{
	complain("%s", convert->error.message);
	return convert->status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_OUTPUT;
}

static int convert_all(struct convert *convert)
{
	int code = CODE_FINE;

	convert->status = pd_writer_carry(convert->writer, convert->input.file, &convert->error);
	if (convert->status >= 0)
		code = input_walk(&convert->input, convert_record, convert);
	if (code != CODE_FINE) {
		pd_writer_abort(convert->writer);
		return code;
	}
	if (convert->status < 0)
		pd_writer_abort(convert->writer);
	else
		convert->status = pd_writer_finish(convert->writer, &convert->error);
	return convert->status < 0 ? failed(convert) : CODE_FINE;
}

static int convert_opened(struct convert *convert, struct pd_writer_options *wanted)
{
	struct pd_file *const inputs[] = { convert->input.file };
	const char *output = convert->values->output;

	wanted->inputs = inputs;
	wanted->input_count = 1;
	if (strcmp(output, "-") != 0)
		convert->status = pd_writer_open(output, wanted, &convert->writer, &convert->error);
	else
		convert->status = pd_writer_open_fd(STDOUT_FILENO, "standard output", wanted, &convert->writer,
						    &convert->error);
	if (convert->status < 0)
		return failed(convert);
	return convert_all(convert);
}

static int run(const struct call *call)
{
	struct convert convert = { .values = call->values };
	struct input_options input = convert.values->input;
	struct pd_writer_options wanted = { .size = sizeof(wanted) };
	int code;

	if (!choose(convert.values, &wanted))
		return CODE_USAGE;
	if (!strcmp(convert.values->output, "-") && isatty(STDOUT_FILENO)) {
		complain("standard output is a terminal, which wants no perf data");
		return CODE_USAGE;
	}
	input.keep = convert.values->sort;
	code = input_open(&convert.input, &input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	convert.input.order = convert.values->sort ? PD_ORDER_TIME : PD_ORDER_FILE;
	code = convert_opened(&convert, &wanted);
	return input_close(&convert.input, code);
}

const struct command cmd_convert = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Writes the content of FILE anew: events, records and features, those that this version does not know "
		"too. Without options OUTPUT is a file of version 2, in the byte order of FILE, with its parts in the "
		"order of perf.\n\n"
		"OUTPUT takes its name when it is whole; what had the name before stays until then. What an interrupted run "
		"leaves behind is named OUTPUT.new-..., and opens. FILE itself is never written to.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
