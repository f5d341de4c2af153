/* SPDX-License-Identifier: MIT */
/* What the doctor finds, in the header of the page: the recording is read again for it. */
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

static enum pd_status take_profile(struct pd_export *self, struct pd_doctor *doctor, struct pd_profile **profile_out,
				   struct pd_error *error)
{
	const struct pd_profile_options options = { .size = sizeof(options), .by = PD_BY_CHAIN | PD_BY_COMM };
	enum pd_status status = pd_profile_read(self->file, &options, profile_out, error);

	if (status >= 0)
		status = pd_profile_name(*profile_out, self->symbols, error);
	if (status >= 0)
		status = pd_doctor_take_profile(doctor, *profile_out, self->symbols, error);
	return status;
}

void pd_page_put_findings(struct pd_export *self, struct pd_json *json)
{
	const struct pd_doctor_options options = { .size = sizeof(options) };
	struct pd_doctor *doctor = NULL;
	struct pd_profile *profile = NULL;
	const struct pd_finding *finding;
	struct pd_error error;
	enum pd_status status = pd_doctor_new(self->file, &options, &doctor, &error);

	if (status >= 0 && pd_doctor_has_samples(doctor))
		status = take_profile(self, doctor, &profile, &error);
	self->failed |= status == PD_ERROR_MEMORY;
	pd_json_open(json, "findings", '[');
	for (size_t i = 0; status >= 0 && (finding = pd_doctor_finding(doctor, i)) != NULL; i++)
		put_finding(self, json, finding);
	pd_json_close(json, ']');
	pd_doctor_free(doctor);
	pd_profile_free(profile);
}
