/* SPDX-License-Identifier: MIT */
/* A doctor that is shown the records of a file by somebody who reads them anyway, so that they are not read once more. */
#ifndef PD_DOCTOR_VISIT_H
#define PD_DOCTOR_VISIT_H

#include <perfdata/doctor.h>

// Before the first record. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT.
enum pd_status pd_doctor_begin(struct pd_file *file, const struct pd_doctor_options *options,
			       struct pd_doctor **doctor_out, struct pd_error *error);
// Each record, in the order of the file. Errors: PD_ERROR_MEMORY.
enum pd_status pd_doctor_take(struct pd_doctor *doctor, const struct pd_record *record, struct pd_error *error);
// After the last one: then the doctor is as pd_doctor_new makes it. Errors: PD_ERROR_MEMORY.
enum pd_status pd_doctor_end(struct pd_doctor *doctor, struct pd_error *error);
// Before pd_doctor_take_profile, where somebody has unwound all samples who is not the profile. It must remain as the profile. May be NULL.
void pd_doctor_use_unwinder(struct pd_doctor *doctor, const struct pd_unwinder *unwinder);

#endif
