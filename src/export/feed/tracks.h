/* SPDX-License-Identifier: MIT */
/* What each thread has of each event, kept until the end, for formats that have threads one after another. */
#ifndef PD_EXPORT_FEED_TRACKS_H
#define PD_EXPORT_FEED_TRACKS_H

#include "export/export.h"
#include "export/feed/spool.h"

struct pd_track {
	uint32_t thread, event; // the last name of the thread, if names do not count
	bool first_of_thread;   // else it is of another event
	struct pd_spool_track samples;
	uint64_t number;            // for the format
	uint64_t count, value;      // of samples, and what they count
	uint64_t first_ns, last_ns; // of a clock that never stands still where the recording has no times
};

// Zeros and pd_spool_init are empty.
struct pd_tracks {
	struct pd_spool spool;
	struct pd_track *items; // by their first sample
	size_t count, capacity;
	struct pd_u64_map map;     // from thread and event
	struct pd_u64_map threads; // from process and thread to a number
	uint64_t thread_count;
	bool by_name; // a thread with another name is another one
};

struct pd_tracked_sample {
	uint64_t time_ns, value;
	uint32_t stack;
};

void pd_tracks_init(struct pd_tracks *tracks, const struct pd_export *self);
void pd_tracks_fini(struct pd_tracks *tracks);
// The track of a sample, made if need be; NULL if there is no memory, which is noted.
struct pd_track *pd_tracks_of(struct pd_tracks *tracks, struct pd_export *self, const struct pd_export_sample *sample);
// Keeps a sample; what goes wrong is noted.
struct pd_track *pd_tracks_add(struct pd_tracks *tracks, struct pd_export *self, const struct pd_export_sample *sample);
// A sample of a reader that pd_spool_begin was called for. False at the end.
bool pd_track_next(struct pd_spool_reader *reader, struct pd_tracked_sample *sample);
// Stops the export if the spool has failed.
void pd_tracks_check(struct pd_tracks *tracks, struct pd_export *self);
// The track with the most samples.
size_t pd_tracks_largest(const struct pd_tracks *tracks);

#endif
