/* SPDX-License-Identifier: MIT */
/*
 * perfdata explain: what the format's table says of a name, or all of it.
 */
#include "front/cli.h"

#include <perfdata/explain.h>

#include <stddef.h>

struct values {
	bool c;
	bool json;
	bool man;
	bool markdown;
};

static const struct option options[] = {
	FLAG("c", 'c', c, "print the C struct from <perfdata/format.h>"),
	GROUP(json_lines_option, json),
	FLAG("man", 0, man, "print roff; without NAME the manual page perf.data(5)"),
	FLAG("markdown", 0, markdown, "print Markdown; without NAME the whole format"),
	{ 0 },
};

static bool choose_form(const struct values *values, enum pd_explain_as *as_out)
{
	if (values->c + values->json + values->man + values->markdown > 1)
		return print_error("--c, --json, --man and --markdown cannot be combined");
	*as_out = values->c        ? PD_EXPLAIN_C :
		  values->json     ? PD_EXPLAIN_JSON :
		  values->man      ? PD_EXPLAIN_MAN :
		  values->markdown ? PD_EXPLAIN_MARKDOWN :
				     PD_EXPLAIN_TEXT;
	return true;
}

static int explain(struct pd_text *text, const char *name, enum pd_explain_as as)
{
	struct pd_error error;
	enum pd_status status = pd_explain(text, name, as, &error);

	if (status >= 0)
		return CODE_OK;
	print_error("%s", error.message);
	return status == PD_ERROR_NO_MATCH ? CODE_NOTHING : CODE_OUTPUT;
}

static int run_explain(const struct call *call)
{
	enum pd_explain_as as = PD_EXPLAIN_TEXT;
	int code = CODE_OK;

	if (!choose_form(call->values, &as))
		return CODE_USAGE;
	if (!call->word_count)
		return explain(call->out->text, NULL, as);
	for (size_t i = 0; i < call->word_count; i++) {
		int own = explain(call->out->text, call->words[i], as);

		code = own == CODE_OK ? code : own;
	}
	return code;
}

const struct command cmd_explain = {
	.usage = "[OPTION]... [NAME]...",
	.text = "NAME is a record (MMAP2), a feature (HOSTNAME), a part of them (branch_stack), a set of "
		"bits or names (sample_type), one field (mmap2.pgoff), a number, or a problem code "
		"(truncated-record), in upper or lower case. Every match is explained. Without NAME, "
		"all names are listed.",
	OPTIONS(options),
	EXAMPLES({ "perfdata explain", "list all names" }, { "perfdata explain MMAP2", "show the fields of a record" },
		 { "perfdata explain sample_type", "show the bits of a field" },
		 { "perfdata explain mmap2.pgoff", "show one field" },
		 { "perfdata explain truncated-record", "show what to do about a problem" },
		 { "perfdata explain --man | man -l -", "read the format as a manual page" }),
	.max_words = SIZE_MAX,
	.run = run_explain,
};
