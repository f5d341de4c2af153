/* SPDX-License-Identifier: MIT */
/*
 * What the doctor finds, the code of functions and when threads ran are of all of the file, not of what is chosen. To read the file anew
 * for each of them would take longer than everything else, so most are shown each record while the export reads it.
 */
#include <perfdata/doctor.h>

#include "doctor/visit.h"
#include "export/page/page.h"
#include "profile/known.h"

enum pd_status pd_page_first(struct pd_export *self, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_doctor_options options = { .size = sizeof(options) };
	struct pd_page *page = self->sink;
	enum pd_status status = page->doctor ? PD_OK : pd_doctor_begin(self->file, &options, &page->doctor, error);

	return status < 0 ? status : pd_doctor_take(page->doctor, record, error);
}

enum pd_status pd_page_every(struct pd_export *self, const struct pd_record *record, struct pd_error *error)
{
	return pd_page_take_interval(self, record, error);
}

// A run of its own, as it takes several threads and the order of the file: both together are worth more than one run less.
static enum pd_status read_profile(struct pd_export *self, struct pd_error *error)
{
	const struct pd_profile_options options = { .size = sizeof(options),
						    .by = PD_BY_CHAIN | PD_BY_COMM | PD_BY_ADDRESS };
	struct pd_page *page = self->sink;
	enum pd_status status =
		pd_profile_read_known(self->file, self->state, self->pieces, &options, &page->profile, error);

	return status < 0 ? status : pd_profile_name(page->profile, self->symbols, error);
}

void pd_page_end_visits(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	struct pd_error error;
	enum pd_status status = pd_doctor_end(page->doctor, &error);

	if (status >= 0)
		status = read_profile(self, &error);
	pd_doctor_use_unwinder(page->doctor, self->unwinder);
	if (status >= 0 && pd_doctor_has_samples(page->doctor))
		status = pd_doctor_take_profile(page->doctor, page->profile, self->symbols, &error);
	if (status < 0)
		pd_export_stop(self, status, &error);
}

// Findings have texts of their own.
void pd_page_end_profile(struct pd_page *page)
{
	pd_profile_free(page->profile);
	page->profile = NULL;
}

void pd_page_free_visits(struct pd_page *page)
{
	pd_doctor_free(page->doctor);
	pd_profile_free(page->profile);
	pd_intervals_free(page->intervals.from);
	pd_free(page->intervals.items);
}
