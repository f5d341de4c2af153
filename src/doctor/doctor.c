/* SPDX-License-Identifier: MIT */
// A doctor from its begin to its end.
#include "doctor/doctor.h"

#include <string.h>

#include "stream/each.h"

enum pd_status pd_doctor_begin(struct pd_file *file, const struct pd_doctor_options *options,
			       struct pd_doctor **doctor_out, struct pd_error *error)
{
	struct pd_doctor *doctor;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_doctor_options.size is 0");
	doctor = pd_alloc(sizeof(*doctor));
	if (!doctor)
		return pd_fail_memory(error);
	if (options)
		memcpy(&doctor->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	doctor->file = file;
	status = pd_stats_new(file, &doctor->counts.stats, error);
	if (status < 0)
		pd_doctor_free(doctor);
	else
		*doctor_out = doctor;
	return status;
}

enum pd_status pd_doctor_end(struct pd_doctor *doctor, struct pd_error *error)
{
	pd_doctor_end_counts(&doctor->counts);
	if (pd_stats_failed(doctor->counts.stats))
		return pd_fail_memory(error);
	pd_doctor_validate_recording(doctor);
	pd_doctor_sort(doctor);
	return doctor->failed ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	(void)stream;
	return pd_doctor_take(self, record, error);
}

static enum pd_status read_records(struct pd_doctor *doctor, struct pd_error *error)
{
	const struct pd_each each = { .progress = doctor->options.progress,
				      .progress_self = doctor->options.self,
				      .trusts = true };
	enum pd_status status = pd_each_record(doctor->file, &each, take_record, doctor, error);

	return status < 0 ? status : pd_doctor_end(doctor, error);
}

enum pd_status pd_doctor_new(struct pd_file *file, const struct pd_doctor_options *options,
			     struct pd_doctor **doctor_out, struct pd_error *error)
{
	struct pd_doctor *doctor = NULL;
	enum pd_status status = pd_doctor_begin(file, options, &doctor, error);

	if (status >= 0)
		status = read_records(doctor, error);
	if (status < 0)
		pd_doctor_free(doctor);
	else
		*doctor_out = doctor;
	return status < 0 ? status : PD_OK;
}

void pd_doctor_free(struct pd_doctor *doctor)
{
	if (!doctor)
		return;
	pd_stats_free(doctor->counts.stats);
	pd_free(doctor->counts.events);
	pd_free(doctor->findings);
	pd_arena_fini(&doctor->strings);
	pd_free(doctor);
}

bool pd_doctor_has_samples(const struct pd_doctor *doctor)
{
	return doctor->counts.samples > doctor->counts.unknown_event + doctor->counts.damaged;
}

uint64_t pd_doctor_sample_count(const struct pd_doctor *doctor)
{
	return doctor->counts.samples;
}

void pd_doctor_use_unwinder(struct pd_doctor *doctor, const struct pd_unwinder *unwinder)
{
	doctor->unwinder = unwinder;
}

enum pd_status pd_doctor_take_profile(struct pd_doctor *doctor, const struct pd_profile *profile,
				      const struct pd_symbols *symbols, struct pd_error *error)
{
	doctor->profile = profile;
	doctor->symbols = symbols;
	pd_doctor_validate_profile(doctor);
	pd_doctor_sort(doctor);
	return doctor->failed ? pd_fail_memory(error) : PD_OK;
}
