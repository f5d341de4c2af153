/* SPDX-License-Identifier: MIT */
/*
 * Numbers that have to wait for the end of the recording, in any number of tracks. They are packed into pages; pages beyond a
 * limit go to a temporary file, so that memory does not grow with samples.
 */
#ifndef PD_EXPORT_FEED_SPOOL_H
#define PD_EXPORT_FEED_SPOOL_H

#include <perfdata/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PD_SPOOL_PAGE = 2048,
	PD_SPOOL_BYTES = PD_SPOOL_PAGE - sizeof(uint32_t)
};

// A page, and the number of the one after it.
struct pd_spool_page {
	uint32_t next;
	uint8_t bytes[PD_SPOOL_BYTES];
};

// Zeros are an empty track.
struct pd_spool_track {
	struct pd_spool_page *page; // the last one, or NULL
	uint32_t used, capacity;    // bytes of it; the first page of a track grows until it is a whole one
	uint32_t first, last;       // numbers of pages
	uint64_t count;             // of numbers
};

struct pd_spool {
	const char *temp_dir;
	struct pd_spool_page **pages; // in memory, by number; the last page of a track is not among them
	size_t page_count, page_capacity;
	int fd;      // of the file, or -1
	bool opened; // there is a file
	struct pd_error error;
	enum pd_status status; // PD_OK, or what went wrong
};

// Reads a track from its beginning; more can be put into it only when nobody reads.
struct pd_spool_reader {
	struct pd_spool *spool;
	const struct pd_spool_track *track;
	const struct pd_spool_page *page;
	struct pd_spool_page loaded; // if it was in the file
	size_t at;
	uint64_t left; // numbers
};

void pd_spool_init(struct pd_spool *spool, const char *temp_dir);
void pd_spool_fini(struct pd_spool *spool);
// False if that failed: spool->status is why.
bool pd_spool_put(struct pd_spool *spool, struct pd_spool_track *track, uint64_t value);
void pd_spool_track_fini(struct pd_spool_track *track);
void pd_spool_begin(struct pd_spool_reader *reader, struct pd_spool *spool, const struct pd_spool_track *track);
// False at the end, and if that failed.
bool pd_spool_get(struct pd_spool_reader *reader, uint64_t *value_out);

#endif
