/* SPDX-License-Identifier: MIT */
/* What the files about the Firefox Profiler share: firefox.c has tables, firefox_threads.c threads and their markers, firefox_columns.c
 * columns. */
#ifndef PD_EXPORT_FORMAT_FIREFOX_H
#define PD_EXPORT_FORMAT_FIREFOX_H

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

struct pd_firefox {
	struct pd_tracks tracks;
	struct pd_firefox_markers *markers; // by thread
	size_t marker_count, marker_capacity;
	struct pd_u64_map markers_of; // from process and thread
	bool prepared;
	bool has_base;
	uint64_t base_ns;    // times are since then
	uint32_t *frame_of;  // by line
	uint32_t *source_of; // by string: number of the source and 1
	uint32_t *sources;   // strings
	size_t source_count;
	const struct pd_rows *rows;
};

// ---- firefox_columns.c ----

typedef void pd_firefox_cell_fn(struct pd_export *self, size_t number);
// A comma and the name of a member.
void pd_firefox_key(struct pd_export *self, const char *key);
void pd_firefox_string(struct pd_export *self, uint32_t string);
void pd_firefox_column(struct pd_export *self, const char *key, size_t count, pd_firefox_cell_fn *cell);
// A column of one value.
void pd_firefox_same(struct pd_export *self, const char *key, size_t count, const char *value);
void pd_firefox_milliseconds(struct pd_export *self, uint64_t ns);

// ---- firefox_threads.c ----

void pd_firefox_prepare(struct pd_export *self);
void pd_firefox_record(struct pd_export *self, const struct pd_record *record);
void pd_firefox_put_schemas(struct pd_export *self);
void pd_firefox_put_threads(struct pd_export *self, const struct pd_rows *rows);
void pd_firefox_fini_markers(struct pd_export *self);

#endif
