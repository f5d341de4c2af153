/* SPDX-License-Identifier: MIT */
/* Small numbers of Parquet: runs of equal ones, and others packed into bits, eight at a time. */
#ifndef PD_TABLE_FILE_RUNS_H
#define PD_TABLE_FILE_RUNS_H

#include "base/cursor.h"
#include "base/text/text.h"

// Bits of the largest of so many numbers from 0.
unsigned pd_runs_width(size_t count);
void pd_put_runs(struct pd_text *text, const uint32_t *items, size_t count, unsigned width);
// Reads so many; the cursor fails if there are less, or if bits are more than 32.
void pd_take_runs(struct pd_cursor *c, uint32_t *items, size_t count, unsigned width);

#endif
