/* SPDX-License-Identifier: MIT */
/* What users write as values of options of a report. */
#include <perfdata/report.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
	WIDTH_MAX = 1000
};

enum pd_status pd_report_widths_parse(const char *list, struct pd_report_text_options *text, struct pd_error *error)
{
	for (size_t i = 0; *list; i++) {
		size_t length = strcspn(list, ",");
		char *end;
		unsigned long width = strtoul(list, &end, 10);

		if (i == PD_REPORT_COLUMNS_MAX || end != list + length || *list == '-' || width > WIDTH_MAX)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "'%s' is not a list of at most %d widths up to %d", list, PD_REPORT_COLUMNS_MAX,
				       WIDTH_MAX);
		text->widths[i] = width;
		list += length + (list[length] == ',');
	}
	return PD_OK;
}

bool pd_report_slice_parse(const char *text, uint64_t *ns_out)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; end != text && number > 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && number * units[i].ns >= 1 && number * units[i].ns < 1e18) {
			*ns_out = (uint64_t)(number * units[i].ns);
			return true;
		}
	return false;
}
