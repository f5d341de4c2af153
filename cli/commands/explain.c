/* SPDX-License-Identifier: MIT */
/* perfdata explain: what the format's table says of a name, or all of it. */
#include "front/cli.h"

#include <perfdata/explain.h>

#include <stddef.h>

struct values {
	enum pd_explain_as as;
};

static const struct option options[] = {
	SET("c", 'c', as, PD_EXPLAIN_C, "print the C struct from <perfdata/format.h>"),
	SET("json", 'j', as, PD_EXPLAIN_JSON, "print JSON, one object per line"),
	SET("man", 0, as, PD_EXPLAIN_MAN, "print roff; without NAME the manual page perf.data(5)"),
	SET("markdown", 0, as, PD_EXPLAIN_MARKDOWN, "print Markdown; without NAME the whole format"),
	{ 0 },
};

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
	enum pd_explain_as as = ((const struct values *)call->values)->as;
	int code = CODE_OK;

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
