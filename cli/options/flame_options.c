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

int flame_fold(const struct call *call, const struct analysis_options *options, const char *path,
	       const struct pd_flame_options *flame_options, struct pd_text *text, const char **name_out)
{
	const struct call alone = { .values = call->values, .out = call->out };
	struct pd_flame_options own = *flame_options;
	struct analysis_options wanted = *options;
	struct pd_flame *graph = NULL;
	struct analysis analysis;
	struct pd_error error;
	int code;

	if (path)
		wanted.input.path = path;
	code = analysis_begin(&analysis, &wanted, path ? &alone : call);
	if (code == CODE_OK)
		code = flame_read_file(&analysis, &wanted, &own, &graph);
	if (code == CODE_OK)
		code = code_with_error(pd_flame_print_folded(graph, text, &error), &error);
	*name_out = path ? path : analysis.input.name;
	pd_flame_free(graph);
	return analysis_close(&analysis, code);
}
