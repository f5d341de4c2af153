/* SPDX-License-Identifier: MIT */
/* perfdata text: a whole file as text, which perfdata assemble turns back. The library knows the text. */
#include "front/cli.h"
#include "files/input.h"
#include "files/outfile.h"

#include <perfdata/assemble.h>

struct values {
	struct input_options input;
	const char *output;
	struct pd_disassembler_options how;
};

static const struct option options[] = {
	GROUP(input_group, input),
	STRING("output", 'o', "TEXT", output, "write to TEXT instead of standard output"),
	FLAG("packed", 0, how.packed, "keep compressed records compressed instead of decoding their content"),
	{ 0 },
};

static int write_text(struct input *input, const struct values *values, struct pd_text *text)
{
	struct pd_disassembler_options how = values->how;
	struct pd_error error;
	enum pd_status status;

	how.progress = input_progress;
	how.self = input;
	status = pd_disassemble(text, input->file, &how, &error);
	progress_clear(&input->progress);
	return code_of_print(status, &error);
}

static int text_opened(struct input *input)
{
	const struct values *values = input->call->values;
	struct outfile file;
	int code = outfile_open(&file, values->output, input->out, input->name);

	return code == CODE_OK ? outfile_close(&file, write_text(input, values, file.out->text)) : code;
}

static int run_text(const struct call *call)
{
	struct input input;

	return input_run(&input, &((const struct values *)call->values)->input, call, text_opened);
}

const struct command cmd_text = {
	.usage = "[OPTION]... [FILE]",
	.text = "Decode all of FILE to text: form, events, header features and every record with all fields by name. "
		"perfdata assemble turns the text back into a perf.data file, so it can be edited, compared, kept in a "
		"repository or written by hand.\n"
		"\n"
		"Data the format tables do not describe is printed as bytes. The output of perfdata convert is restored byte "
		"for byte identical, any other file with the same content. Compressed records are decoded and compressed "
		"again by assemble; --packed keeps them unchanged.",
	OPTIONS(options),
	HOW(how),
	EXAMPLES({ "perfdata text -o perf.txt", "decode perf.data to editable text" },
		 { "perfdata text perf.data | sed 's/secret/public/g' | perfdata assemble -o public.data",
		   "edit a recording with sed" },
		 { "diff <(perfdata text old.data) <(perfdata text new.data)", "compare two recordings" }),
	.max_words = 1,
	.run = run_text,
};
