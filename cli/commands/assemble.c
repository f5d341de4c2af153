/* SPDX-License-Identifier: MIT */
/*
 * perfdata assemble: a perf.data from text as perfdata text writes it. The library reads the text; this file says where
 * it comes from and what is written.
 */
#include "front/cli.h"
#include "files/input.h"
#include "files/target.h"

#include <perfdata/assemble.h>

#include <inttypes.h>
#include <string.h>

struct values {
	struct target_options target;
	const char *input;
};

static const struct option options[] = {
	GROUP(target_group, target),
	STRING("input", 'i', "TEXT", input, "text to read; - is standard input"),
	{ 0 },
};

struct assemble {
	const struct values *values;
	struct target target;
	struct pd_assembler *assembler;
	struct pd_error error;
	bool other_order; /* than the text says */
};

static enum pd_status open_target(void *self, const struct pd_writer_options *said, struct pd_writer **writer_out,
				  struct pd_error *error)
{
	struct assemble *assemble = self;
	struct target *target = &assemble->target;
	enum pd_status status;

	assemble->other_order = pd_assembler_fill(&target->wanted, said, !assemble->values->target.form);
	status = target_open_writer(target, error);
	*writer_out = target->writer;
	return status;
}

static int read_text(struct assemble *assemble, struct pd_descriptor *text)
{
	enum pd_status status = pd_assembler_pull(assemble->assembler, pd_pull_descriptor, text, &assemble->error);

	if (status == PD_ERROR_FORMAT || status == PD_ERROR_LIMIT || text->failed)
		return print_failure(CODE_UNREADABLE, "%s", assemble->error.message);
	return status < 0 ? target_failed(&assemble->target, status, &assemble->error) : CODE_OK;
}

static int assemble_text(struct assemble *assemble, struct pd_descriptor *text)
{
	const struct pd_assembler_options wanted = {
		.size = sizeof(wanted), .open = open_target, .self = assemble, .name = text->name
	};
	enum pd_status status;
	uint64_t raw;
	int code;

	/* the text itself is never written to */
	if (pd_is_same_file(assemble->target.path, text->fd))
		return print_failure(CODE_USAGE, "%s: refusing to overwrite the input file", assemble->target.path);
	status = pd_assembler_new(&wanted, &assemble->assembler, &assemble->error);
	if (status < 0)
		return target_failed(&assemble->target, status, &assemble->error);
	code = read_text(assemble, text);
	pd_assembler_records(assemble->assembler, &raw);
	if (code == CODE_OK && raw && assemble->other_order)
		print_error("%s: %" PRIu64 " items given as raw bytes keep the byte order of the text", text->name,
			    raw);
	pd_assembler_free(assemble->assembler);
	return target_close(&assemble->target, code);
}

static int run_assemble(const struct call *call)
{
	struct assemble assemble = { .values = call->values };
	struct pd_descriptor text;
	const char *path;
	int code;

	if (!input_path(assemble.values->input, call, "-", &path))
		return CODE_USAGE;
	code = target_take(&assemble.target, &assemble.values->target, PD_PACK_KEEP);
	if (code == CODE_OK)
		code = descriptor_open(path, &text);
	if (code != CODE_OK)
		return code;
	code = assemble_text(&assemble, &text);
	descriptor_close(&text);
	return code;
}

const struct command cmd_assemble = {
	.usage = "[OPTION]... -o OUTPUT [TEXT]",
	.text = "Assemble a recording from TEXT or standard input: the inverse of perfdata text. OUTPUT has the form, byte "
		"order and compression given in TEXT unless options override them; on standard output and on anything that "
		"cannot seek, it is in pipe form.\n"
		"\n"
		"The text can be written by hand: omitted fields are 0; counts, sizes and padding are computed. Errors are "
		"reported with line, column and field, and nothing is written.",
	OPTIONS(options),
	EXAMPLES({ "perfdata assemble -o perf.data perf.txt", "assemble what perfdata text wrote" },
		 { "perfdata text old.data | perfdata assemble --byte-order big -o big.data", "byte-swap a recording" },
		 { "perfdata assemble -o - <perf.txt | perf script -i -", "feed perf through a pipe" }),
	.max_words = 1,
	.run = run_assemble,
};
