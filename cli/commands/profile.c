/* SPDX-License-Identifier: MIT */
/* perfdata profile save: runs as a small file that diff takes in their place. */
#include "files/compare.h"
#include "files/outfile.h"

#include <string.h>

struct values {
	struct analysis_options analysis;
	const char *sort, *output;
};

static const struct option options[] = {
	STRING("output", 'o', "FILE", output, "write to FILE instead of standard output"),
	STRING("sort", 's', "KEYS", sort, "group by these keys, as in report (default: dso,sym)"),
	GROUP(input_group, analysis.input),
	GROUP(select_group_diff, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	{ 0 },
};

static int write_saved(const struct pd_diff *diff, const struct values *values, const struct call *call)
{
	struct pd_error error;
	struct outfile file;
	enum pd_status status;
	int code = outfile_open(&file, values->output, call->out, NULL);

	if (code != CODE_OK)
		return code;
	status = pd_diff_save(diff, file.out->text, &error);
	return outfile_close(&file, code_of_print(status, &error));
}

static int run_profile(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_diff_options how = { .size = sizeof(how), .join_names = true };
	struct compare compare = { .options = &values->analysis, .sort = values->sort, .call = call };
	struct pd_error error;
	int code, written;

	if (!call->word_count || strcmp(call->words[0], "save") != 0)
		return print_failure(CODE_USAGE, "'save' is all there is: perfdata profile save FILE[,FILE...]");
	if (call->word_count != 2)
		return print_failure(CODE_USAGE, "name the recordings, with commas between them");
	if (values->analysis.input.path)
		return print_failure(CODE_USAGE, "name the recordings as arguments, not with --input");
	code = code_with_error(pd_diff_new(&how, &compare.diff, &error), &error);
	if (code == CODE_OK)
		code = compare_add_all(&compare, call->words + 1, 1);
	if (code_is_usable(code)) {
		written = write_saved(compare.diff, values, call);
		code = written != CODE_OK ? written : code;
	}
	pd_diff_free(compare.diff);
	return code;
}

const struct command cmd_profile = {
	.usage = "save [OPTION]... FILE[,FILE...]",
	.text = "Write the sums of each run, by function or by the groups that --sort names, as a small text. perfdata diff takes it in place of "
		"the recordings, also as a baseline for recordings that are made later, on any machine.\n"
		"\n"
		"The sort keys must be those of the comparison. The format is described in docs/diff.md; a later version of perfdata reads what "
		"an earlier one wrote.",
	OPTIONS(options),
	EXAMPLES({ "perfdata record --runs 5 -o main.data -- ./bench", "five runs" },
		 { "perfdata profile save -o main.profile main-1.data,main-2.data,main-3.data,main-4.data,main-5.data",
		   "keep their sums" },
		 { "perfdata diff main.profile new-1.data,new-2.data,new-3.data", "compare with them later" }),
	.usual = "output sort comms dsos symbols time",
	.max_words = 2,
	.run = run_profile,
};
