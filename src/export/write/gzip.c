/* SPDX-License-Identifier: MIT */
#include "export/write/gzip.h"

#include "write/packer.h"

enum {
	LEVEL = 1,            // higher ones take three times as long, for a tenth of the size
	STORED_MOST = 65535,  // bytes of a block that is not compressed
	KEPT_MOST = 256 << 10 // bytes that zlib has not written yet
};

// ---- with zlib ----

static void compress(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size, bool last)
{
	// what was taken before may come out now
	size_t bound = pd_packer_gzip.bound(size) + KEPT_MOST;
	const char *reason = NULL;

	if (!gzip->state)
		gzip->state = pd_packer_gzip.start(LEVEL);
	if (!gzip->state || !pd_text_reserve(text, bound)) {
		text->failed = true;
		return;
	}
	text->size += (last ? pd_packer_gzip.finish : pd_packer_gzip.pack)(gzip->state, data, size,
									   text->data + text->size, bound, &reason);
	text->failed |= reason != NULL;
}

// ---- without ----

static uint32_t crc32_of(uint32_t before, const uint8_t *data, size_t size)
{
	uint32_t crc = ~before;

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

static void put_little(struct pd_text *text, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		pd_text_char(text, (char)(value >> 8 * i));
}

static void store(struct pd_gzip *gzip, struct pd_text *text, const char *data, size_t size, bool last)
{
	static const char header[10] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	size_t at = 0;

	if (!gzip->begun)
		pd_text_put(text, header, sizeof(header));
	gzip->begun = true;
	gzip->crc = crc32_of(gzip->crc, (const uint8_t *)data, size);
	gzip->size += (uint32_t)size;
	do {
		size_t piece = size - at < STORED_MOST ? size - at : STORED_MOST;

		pd_text_char(text, last && at + piece == size);
		put_little(text, piece, 2);
		put_little(text, ~piece, 2);
		pd_text_put(text, data + at, piece);
		at += piece;
	} while (at < size);
	if (!last)
		return;
	put_little(text, gzip->crc, 4);
	put_little(text, gzip->size, 4);
}

// ---- both ----

static void add_piece(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size, bool last)
{
	if (pd_packer_gzip.start)
		compress(gzip, text, data, size, last);
	else
		store(gzip, text, data, size, last);
}

void pd_gzip_add(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size)
{
	add_piece(gzip, text, data, size, false);
}

void pd_gzip_end(struct pd_gzip *gzip, struct pd_text *text, const void *data, size_t size)
{
	add_piece(gzip, text, data, size, true);
}

void pd_gzip_fini(struct pd_gzip *gzip)
{
	if (gzip->state)
		pd_packer_gzip.close(gzip->state);
	gzip->state = NULL;
}

void pd_gzip(struct pd_text *text, const void *data, size_t size)
{
	struct pd_gzip gzip = { .state = NULL };

	pd_gzip_end(&gzip, text, data, size);
	pd_gzip_fini(&gzip);
}
