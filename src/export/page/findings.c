/* SPDX-License-Identifier: MIT */
/* What the doctor finds, in the header of the page. */
#include <perfdata/doctor.h>

#include "export/page/page.h"

static void put_text(struct pd_export *self, struct pd_json *json, const char *name, const char *text)
{
	uint32_t string = pd_tables_text(&self->tables, text);

	pd_json_string(json, name, text ? pd_tables_text_of(&self->tables, string) : NULL);
}

static void put_object(struct pd_export *self, struct pd_json *json, const struct pd_finding_object *object)
{
	struct pd_str reason = pd_finding_reason(object);

	pd_json_open(json, NULL, '{');
	put_text(self, json, "name", object->dso->long_name);
	pd_json_number(json, "samples", object->samples);
	pd_json_string(json, "reason",
		       pd_tables_text_of(&self->tables, pd_tables_string(&self->tables, reason.data, reason.length)));
	put_text(self, json, "command", object->command);
	pd_json_close(json, '}');
}

static void put_finding(struct pd_export *self, struct pd_json *json, const struct pd_finding *finding)
{
	static const char *const severities[] = { "note", "warning", "bad" };

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "code", finding->code);
	pd_json_string(json, "severity", severities[finding->severity]);
	pd_json_number(json, "count", finding->count);
	pd_json_number(json, "total", finding->total);
	put_text(self, json, "text", finding->text);
	put_text(self, json, "meaning", finding->meaning);
	put_text(self, json, "command", finding->command);
	pd_json_open(json, "objects", '[');
	for (size_t i = 0; i < finding->object_count; i++)
		put_object(self, json, &finding->objects[i]);
	pd_json_close(json, ']');
	pd_json_number(json, "more_objects", finding->more_object_count);
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
