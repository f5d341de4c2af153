/* SPDX-License-Identifier: MIT */
#include "options/select_options.h"

#include "front/cli.h"

#include <string.h>

struct pd_filter *select_condition(const char *option, const char *text)
{
	struct pd_filter *filter;
	struct pd_error error;

	if (pd_filter_new(text, &filter, &error) >= 0)
		return filter;
	print_error("option --%s: %s", option, error.message);
	if (error.offset != PD_NO_OFFSET && !strchr(text, '\n')) {
		print_error("  %s", text);
		print_error("  %*s^", (int)error.offset, "");
	}
	return NULL;
}

bool select_take(struct pd_select **select_out, const struct pd_select_options *options)
{
	struct pd_select_options sized = *options;
	struct pd_error error;

	sized.size = sizeof(sized);
	*select_out = NULL;
	if (pd_select_new(&sized, select_out, &error) >= 0)
		return true;
	/* What is wrong with a condition is shown in its text. */
	if (error.offset != PD_NO_OFFSET)
		pd_filter_free(select_condition("where", options->where));
	else
		print_error("%s", error.message);
	return false;
}

void select_report_missing(const struct pd_select *select, struct pd_file *file)
{
	const struct pd_filter *where = pd_select_where(select);
	struct pd_str lack = where ? pd_filter_lacks(where, file) : (struct pd_str){ 0 };

	if (lack.data)
		print_error("option --where: no event records '%.*s'", (int)lack.length, lack.data);
	if (pd_select_lacks_cpu(select))
		print_error("option --cpu: no event records the CPU (record with -a or --sample-cpu)");
}
