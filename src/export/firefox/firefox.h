/* SPDX-License-Identifier: MIT */
/* What the files about the Firefox Profiler share: firefox.c has tables, threads.c threads and their markers, counters.c what was
 * counted, columns.c columns. */
#ifndef PD_EXPORT_FIREFOX_FIREFOX_H
#define PD_EXPORT_FIREFOX_FIREFOX_H

#include "export/feed/rows.h"
#include "export/feed/tracks.h"

// What happened to a thread.
struct pd_firefox_markers {
	uint32_t pid, tid;
	struct pd_spool_track track;
	uint64_t count;
	uint64_t kinds[16]; // of each
	bool shown;
};

// What a process has counted of an event.
struct pd_firefox_counter {
	uint32_t pid, event;
	struct pd_spool_track track; // steps of time, and values
	uint64_t count, last_ns;
	size_t thread; // number of the track that it is shown with
	bool has_main;
};

struct pd_firefox {
	struct pd_tracks tracks;
	struct pd_firefox_markers *markers; // by thread
	size_t marker_count, marker_capacity;
	struct pd_u64_map markers_of;        // from process and thread
	struct pd_firefox_counter *counters; // by their first sample
	size_t counter_count, counter_capacity;
	struct pd_u64_map counter_of; // from process and event
	bool prepared;
	bool has_base;
	uint64_t base_ns;    // times are since then
	uint32_t *frame_of;  // by line
	uint32_t *source_of; // by string: number of the source and 1
	uint32_t *sources;   // strings
	size_t source_count;
	const struct pd_rows *rows;
};

// ---- columns.c ----

typedef void pd_firefox_cell_fn(struct pd_export *self, size_t number);
// A comma and the name of a member.
void pd_firefox_key(struct pd_export *self, const char *key);
void pd_firefox_string(struct pd_export *self, uint32_t string);
void pd_firefox_column(struct pd_export *self, const char *key, size_t count, pd_firefox_cell_fn *cell);
// A column of one value.
void pd_firefox_same(struct pd_export *self, const char *key, size_t count, const char *value);
void pd_firefox_milliseconds(struct pd_export *self, uint64_t ns);

// ---- threads.c ----

void pd_firefox_prepare(struct pd_export *self);
void pd_firefox_record(struct pd_export *self, const struct pd_record *record);
void pd_firefox_put_schemas(struct pd_export *self);
void pd_firefox_put_threads(struct pd_export *self, const struct pd_rows *rows);
void pd_firefox_fini_markers(struct pd_export *self);

// ---- counters.c ----

void pd_firefox_count(struct pd_export *self, const struct pd_export_sample *sample, const struct pd_track *track);
void pd_firefox_put_counters(struct pd_export *self);
void pd_firefox_fini_counters(struct pd_export *self);

#endif
