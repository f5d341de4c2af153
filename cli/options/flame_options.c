/* SPDX-License-Identifier: MIT */
#include "options/flame_options.h"

static bool is_wanted(void *self, const struct pd_place *place)
{
	return pd_select_has_place(self, place);
}

int flame_read_file(struct analysis *analysis, const struct analysis_options *options,
		    struct pd_flame_options *flame_options, struct pd_flame **flame_out)
{
	struct pd_profile_options profile = { .size = sizeof(profile) };
	struct pd_error error;
	int code;

	pd_flame_profile_options(flame_options, &profile);
	code = analysis_read(analysis, options, &profile);
	if (code != CODE_OK)
		return code;
	flame_options->name = analysis->input.name;
	if (pd_select_by_place(analysis->select)) {
		flame_options->wanted = is_wanted;
		flame_options->self = analysis->select;
	}
	return code_with_error(pd_flame_read(analysis->profile, analysis->symbols, flame_options, flame_out, &error),
			       &error);
}

static void report_stacks(const struct folding *folding, struct pd_flame *flame, const struct analysis *analysis)
{
	struct pd_flame_summary summary;

	if (!folding->warns || analysis->input.quiet)
		return;
	pd_flame_summary(flame, &summary);
	copied_stacks_report(analysis->input.name, summary.copied, summary.samples);
	unwinding_report(analysis->input.name, pd_profile_unwinder(analysis->profile));
}

int flame_fold(const struct folding *folding, const char *path, struct folded *folded)
{
	const struct call *call = folding->call;
	const struct call alone = { .values = call->values, .out = call->out };
	struct pd_flame_options own = *folding->how;
	struct analysis_options wanted = *folding->options;
	struct pd_flame *flame = NULL;
	struct analysis analysis;
	struct pd_error error;
	int code;

	if (path)
		wanted.input.path = path;
	code = analysis_begin(&analysis, &wanted, path ? &alone : call);
	if (code == CODE_OK)
		code = flame_read_file(&analysis, &wanted, &own, &flame);
	if (code == CODE_OK)
		code = code_of_print(pd_flame_print_folded(flame, folded->text, &error), &error);
	if (folded->text == call->out->text)
		output_flush(call->out);
	if (code == CODE_OK)
		report_stacks(folding, flame, &analysis);
	folded->name = path ? path : analysis.input.name;
	folded->event = folding->how->one_event;
	pd_flame_free(flame);
	return analysis_close(&analysis, code);
}

int flame_compare(const struct folding *folding, const char *old_path, const char *new_path,
		  int (*print)(const struct call *call, const struct folded *old_stacks,
			       const struct folded *new_stacks))
{
	struct folded old_stacks = { pd_text_new() }, new_stacks = { pd_text_new() };
	int code = old_stacks.text && new_stacks.text ? flame_fold(folding, old_path, &old_stacks) :
							print_failure(CODE_UNREADABLE, "out of memory");
	int other = code_is_usable(code) ? flame_fold(folding, new_path, &new_stacks) : code;

	if (code_is_usable(other)) {
		int printed = print(folding->call, &old_stacks, &new_stacks);

		other = printed != CODE_OK ? printed : code != CODE_OK ? code : other;
	}
	pd_text_free(old_stacks.text);
	pd_text_free(new_stacks.text);
	return other;
}
