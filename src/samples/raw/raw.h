/* SPDX-License-Identifier: MIT */
/* Records as perf report -D and perf script -D print them. */
#ifndef PD_SAMPLES_RAW_H
#define PD_SAMPLES_RAW_H

#include "samples/samples.h"

/* A record that is no sample, or what stands before the location of a sample. */
void pd_samples_raw(struct pd_samples *samples, const struct pd_record *record);
/* What is in a sample; nothing of one whose event is not known. */
void pd_samples_raw_sample(struct pd_samples *samples, const struct pd_record *record);
/* The thread and the object of a sample, or of a member of its group. */
void pd_samples_raw_place(struct pd_samples *samples, const struct pd_shown_sample *hit);

#endif
