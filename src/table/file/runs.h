/* SPDX-License-Identifier: MIT */
/* Small numbers of Parquet: runs of equal ones, and others packed into bits, eight at a time. */
#ifndef PD_TABLE_FILE_RUNS_H
#define PD_TABLE_FILE_RUNS_H

#include "base/text/text.h"

// Bits of the largest of so many numbers from 0.
unsigned pd_runs_width(size_t count);
void pd_put_runs(struct pd_text *text, const uint32_t *items, size_t count, unsigned width);

#endif
