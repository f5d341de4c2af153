/* SPDX-License-Identifier: MIT */
/* What the doctor finds, in the header of the page. */
#include <perfdata/doctor.h>

#include "export/page/page.h"

static void put_finding(struct pd_export *self, struct pd_json *json, const struct pd_finding *finding)
{
	static const char *const severities[] = { "note", "warning", "bad" };
	const char *const texts[][2] = { { "text", finding->text },
					 { "meaning", finding->meaning },
					 { "command", finding->command } };

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "code", finding->code);
	pd_json_string(json, "severity", severities[finding->severity]);
	pd_json_number(json, "count", finding->count);
	pd_json_number(json, "total", finding->total);
	for (size_t i = 0; i < 3; i++) {
		uint32_t string = pd_tables_text(&self->tables, texts[i][1]);

		pd_json_string(json, texts[i][0], texts[i][1] ? pd_tables_text_of(&self->tables, string) : NULL);
	}
	pd_json_close(json, '}');
}

void pd_page_put_findings(struct pd_export *self, struct pd_json *json)
{
	const struct pd_page *page = self->sink;
	const struct pd_finding *finding;

	pd_json_open(json, "findings", '[');
	for (size_t i = 0; (finding = pd_doctor_finding(page->doctor, i)) != NULL; i++)
		put_finding(self, json, finding);
	pd_json_close(json, ']');
}
