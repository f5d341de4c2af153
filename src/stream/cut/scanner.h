/* SPDX-License-Identifier: MIT */
/*
 * Scanners: threads that cut later regions of a file into pieces while its pass is still at the first one. Each begins at
 * a place that it guesses to be the start of a record. If the pass comes to this very place, what the scanner
 * found is what the pass would have found; if it does not, the scanner's work is thrown away.
 *
 * A scanner goes on as long as there is no problem to report and nothing that changes what is known about the file. What it sees
 * besides samples is kept for the pass, which shows it in the order of the file.
 */
#ifndef PD_STREAM_SCANNER_H
#define PD_STREAM_SCANNER_H

#include "stream/read/batch.h"
#include "stream/cut/cut.h"

struct pd_scanner {
	uint64_t begin, end;     // of part 0: whole records, one after another
	struct pd_pieces pieces; // record_count is set; places count from 0
	struct pd_batch others;  // records that are no samples, by place
};

struct pd_scanners;

// NULL if scanners would be of no use, or cannot be had. threads: with the one of the pass.
struct pd_scanners *pd_scanners_start(const struct pd_file *file, size_t threads);
// The next scanner is of no interest as long as the pass is before this place of part 0.
uint64_t pd_scanners_limit(const struct pd_scanners *scanners);
// What was found by the scanner that began at a place at the limit or after it; NULL if none did. It is valid until the
// next call.
struct pd_scanner *pd_scanners_at(struct pd_scanners *scanners, uint64_t offset);
// NULL is fine.
void pd_scanners_end(struct pd_scanners *scanners);

#endif
