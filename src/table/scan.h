/* SPDX-License-Identifier: MIT */
/* Reading a table, batch by batch. */
#ifndef PD_TABLE_SCAN_H
#define PD_TABLE_SCAN_H

#include "table/set.h"

// What rows are wanted. Those of tables from records are left out if they do not fit; others may come anyway.
struct pd_scan_limits {
	uint64_t from_ns, to_ns; // of what has a time; to_ns is inclusive, 0: open
	const char *event;       // or NULL; need not stay valid
	bool has_pid, has_tid, has_cpu, has_type, has_key, nothing;
	uint32_t pid, tid, cpu, type;
	uint64_t key;
};

// Samples whose functions are looked up together, once their rows have ended.
struct pd_scan_places {
	struct pd_place_ask asks[PD_STACKS_AT_ONCE];
	size_t rows[PD_STACKS_AT_ONCE];
	size_t count;
};

// A cell of a sample. What pd_record_brief has is copied: so many bytes of it, else 0.
struct pd_scan_cell {
	size_t column, offset, size;
};

struct pd_scan {
	struct pd_table_set *set;
	const struct pd_table_full *table;
	struct pd_columns batch;
	struct pd_scan_limits limits;
	struct pd_walk *walk;          // of tables from records
	uint64_t at;                   // of others, the next thing
	uint32_t needs;                // of samples
	struct pd_scan_places *places; // or NULL: they are not looked up together
	size_t *columns;               // that are wanted
	size_t column_count;
	struct pd_scan_cell *cells;      // that are not always null
	const struct pd_event *cells_of; // whose they are
	size_t cell_count;
	bool *event_fits; // by event, if limits.event
	bool ended;
};

// The set must outlive it. wanted: by column.
enum pd_status pd_scan_open(struct pd_table_set *set, const struct pd_table *table, const bool *wanted,
			    const struct pd_scan_limits *limits, enum pd_order order, struct pd_scan **scan_out,
			    struct pd_error *error);
// The next rows, valid until the next call, or PD_END.
enum pd_status pd_scan_next(struct pd_scan *scan, const struct pd_columns **batch_out, struct pd_error *error);
void pd_scan_close(struct pd_scan *scan);

// ---- from one thing to its rows; each adds those of the next thing, and returns PD_END after the last one ----

enum pd_status pd_scan_stacks(struct pd_scan *scan, struct pd_error *error);
enum pd_status pd_scan_frames(struct pd_scan *scan, struct pd_error *error);
enum pd_status pd_scan_maps(struct pd_scan *scan, struct pd_error *error);
enum pd_status pd_scan_tasks(struct pd_scan *scan, struct pd_error *error);
enum pd_status pd_scan_events(struct pd_scan *scan, struct pd_error *error);
enum pd_status pd_scan_features(struct pd_scan *scan, struct pd_error *error);

// ---- from a record to its rows ----

// What samples need for the columns that are wanted. False if there is no memory.
bool pd_scan_note_needs(struct pd_scan *scan);
enum pd_status pd_scan_sample(struct pd_scan *scan, const struct pd_record *record, struct pd_error *error);
// Ends what rows of samples have been waiting for. False if there is no memory.
bool pd_scan_end_samples(struct pd_scan *scan);
void pd_scan_record(struct pd_scan *scan, const struct pd_record *record);
void pd_scan_count(struct pd_scan *scan, const struct pd_record *record);
void pd_scan_loss(struct pd_scan *scan, const struct pd_record *record);

// ---- cells ----

// A record, or NULL if it cannot be decoded, which is reported. Without memory the batch fails.
const void *pd_scan_decode(struct pd_scan *scan, const struct pd_record *record);
void pd_scan_put_string(struct pd_scan *scan, size_t column, const char *text);
// A field of a struct; a part, list or array is JSON.
void pd_scan_put_field(struct pd_scan *scan, size_t column, const struct pd_scope *scope, const void *decoded);
// A number of 32 bits that is not recorded is UINT32_MAX.
static inline void pd_scan_put_known(struct pd_scan *scan, size_t column, uint32_t value, bool is_known)
{
	if (is_known)
		pd_put_number(&scan->batch, column, value);
}
bool pd_scan_wants_sample(const struct pd_scan *scan, const struct pd_record *record, const struct pd_brief *brief,
			  const char *comm);

#endif
