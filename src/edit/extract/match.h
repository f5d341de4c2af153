/* SPDX-License-Identifier: MIT */
/*
 * Records that match conditions: conditions.c evaluates them, prune.c finds processes that have selected samples, match.c reads what
 * has to be known for that.
 */
#ifndef PD_EXTRACT_MATCH_H
#define PD_EXTRACT_MATCH_H

#include <perfdata/state.h>

#include "base/lookup/u64_map.h"
#include "edit/extract/extract.h"

// The context of this way to extract.
struct pd_extract_match {
	struct pd_state *state;     // NULL: nothing has to be known but the sample
	struct pd_symbols *symbols; // NULL: no places have to be known
	bool owns_symbols;
	struct pd_window window; // of all samples
	size_t known_event_count;
	struct pd_u64_map pids; // with prune: processes whose records are kept
	char unknown[PD_THREAD_NAME_BYTES];
};

// ---- conditions.c ----

// Whether a sample is selected; false for other records. Learns about new events of a pipe first.
enum pd_status pd_extract_matches(struct pd_extract *extract, const struct pd_record *record, bool *matches_out,
				  struct pd_error *error);
// Whether the condition (where) holds for a record.
bool pd_extract_has_where(const struct pd_extract *extract, const struct pd_record *record);

// ---- prune.c ----

// Adds the processes of selected samples, and their ancestors, to the empty map of the context.
enum pd_status pd_extract_find_processes(struct pd_extract *extract, struct pd_error *error);
// Whether a record may be of use to samples of these processes: those of the kernel, or of no process, always are.
bool pd_extract_is_useful(const struct pd_u64_map *pids, const struct pd_record *record);

#endif
