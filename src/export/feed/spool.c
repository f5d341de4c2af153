/* SPDX-License-Identifier: MIT */
#include "export/feed/spool.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/source.h"

enum {
	KEPT_PAGES = 8192 // 16 MiB; those with a higher number are in the file
};

void pd_spool_init(struct pd_spool *spool, const char *temp_dir)
{
	*spool = (struct pd_spool){ .temp_dir = temp_dir ? temp_dir : "/tmp", .fd = -1 };
}

void pd_spool_fini(struct pd_spool *spool)
{
	for (size_t i = 0; i < spool->page_count && i < KEPT_PAGES && spool->pages; i++)
		pd_free(spool->pages[i]);
	pd_free(spool->pages);
	if (spool->opened)
		close(spool->fd);
}

void pd_spool_track_fini(struct pd_spool_track *track)
{
	pd_free(track->page);
}

// ---- pages ----

static bool fail(struct pd_spool *spool, enum pd_status status)
{
	if (spool->status >= 0)
		spool->status = status;
	return false;
}

static bool write_page(struct pd_spool *spool, uint32_t number, const struct pd_spool_page *page)
{
	const char *data = (const char *)page;
	size_t done = 0;

	if (!spool->opened)
		spool->fd = pd_source_temporary(spool->temp_dir, &spool->error);
	spool->opened = spool->fd >= 0;
	if (!spool->opened)
		return fail(spool, PD_ERROR_SYSTEM);
	while (done < sizeof(*page)) {
		off_t at = (off_t)(number - KEPT_PAGES) * (off_t)sizeof(*page) + (off_t)done;
		ssize_t n = pwrite(spool->fd, data + done, sizeof(*page) - done, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(spool, pd_fail_system(&spool->error, errno, "cannot write a temporary file"));
		done += (size_t)n;
	}
	return true;
}

static bool read_page(struct pd_spool *spool, uint32_t number, struct pd_spool_page *page)
{
	char *data = (char *)page;
	size_t done = 0;

	while (done < sizeof(*page)) {
		off_t at = (off_t)(number - KEPT_PAGES) * (off_t)sizeof(*page) + (off_t)done;
		ssize_t n = pread(spool->fd, data + done, sizeof(*page) - done, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(spool, pd_fail_system(&spool->error, errno, "cannot read a temporary file"));
		done += (size_t)n;
	}
	return true;
}

// A number that no page has. False if there is none, or no memory.
static bool new_number(struct pd_spool *spool, uint32_t *number_out)
{
	size_t want = spool->page_count < KEPT_PAGES ? spool->page_count + 1 : KEPT_PAGES;

	if (spool->page_count >= UINT32_MAX || !PD_GROW(spool->pages, spool->page_capacity, want))
		return fail(spool, pd_fail_memory(&spool->error));
	if (spool->page_count < KEPT_PAGES)
		spool->pages[spool->page_count] = NULL;
	*number_out = (uint32_t)spool->page_count++;
	return true;
}

// Makes the page of a track as large as that; it is the first one if there is none.
static bool resize_page(struct pd_spool *spool, struct pd_spool_track *track, uint32_t capacity)
{
	struct pd_spool_page *page = pd_realloc(track->page, offsetof(struct pd_spool_page, bytes) + capacity);

	if (!page)
		return fail(spool, pd_fail_memory(&spool->error));
	if (!track->page && !new_number(spool, &track->first)) {
		pd_free(page);
		return false;
	}
	if (!track->page)
		track->last = track->first;
	track->page = page;
	track->capacity = capacity;
	return true;
}

// Puts the full page of a track away and begins the next one.
static bool end_page(struct pd_spool *spool, struct pd_spool_track *track)
{
	uint32_t number = track->last;
	struct pd_spool_page *page;

	if (!new_number(spool, &track->page->next))
		return false;
	track->last = track->page->next;
	track->used = 0;
	if (number >= KEPT_PAGES)
		return write_page(spool, number, track->page);
	page = pd_realloc(NULL, sizeof(*page));
	if (!page)
		return fail(spool, pd_fail_memory(&spool->error));
	spool->pages[number] = track->page;
	track->page = page;
	return true;
}

// Most tracks are of threads that run for a moment.
static bool enlarge_page(struct pd_spool *spool, struct pd_spool_track *track)
{
	enum {
		FIRST_BYTES = 60
	};
	uint32_t more = track->capacity ? 2 * track->capacity : FIRST_BYTES;

	if (track->capacity == PD_SPOOL_BYTES)
		return end_page(spool, track);
	return resize_page(spool, track, more < PD_SPOOL_BYTES ? more : PD_SPOOL_BYTES);
}

// ---- numbers ----

static bool put_byte(struct pd_spool *spool, struct pd_spool_track *track, uint8_t byte)
{
	if (track->used == track->capacity && !enlarge_page(spool, track))
		return false;
	track->page->bytes[track->used++] = byte;
	return true;
}

bool pd_spool_put(struct pd_spool *spool, struct pd_spool_track *track, uint64_t value)
{
	if (spool->status < 0)
		return false;
	for (; value > 127; value >>= 7)
		if (!put_byte(spool, track, (uint8_t)(value | 128)))
			return false;
	track->count++;
	return put_byte(spool, track, (uint8_t)value);
}

static bool load_page(struct pd_spool_reader *reader, uint32_t number)
{
	reader->at = 0;
	reader->page = &reader->loaded;
	if (number == reader->track->last)
		reader->page = reader->track->page;
	else if (number >= KEPT_PAGES)
		return read_page(reader->spool, number, &reader->loaded);
	else
		reader->page = reader->spool->pages[number];
	return true;
}

void pd_spool_begin(struct pd_spool_reader *reader, struct pd_spool *spool, const struct pd_spool_track *track)
{
	reader->spool = spool;
	reader->track = track;
	reader->left = track->count;
	if (reader->left && !load_page(reader, track->first))
		reader->left = 0;
}

bool pd_spool_get(struct pd_spool_reader *reader, uint64_t *value_out)
{
	unsigned shift = 0;
	uint8_t byte;

	*value_out = 0;
	if (!reader->left)
		return false;
	do {
		if (reader->at == PD_SPOOL_BYTES && !load_page(reader, reader->page->next)) {
			reader->left = 0;
			return false;
		}
		byte = reader->page->bytes[reader->at++];
		*value_out |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	reader->left--;
	return true;
}
