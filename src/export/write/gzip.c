/* SPDX-License-Identifier: MIT */
#include "export/write/gzip.h"

#include "write/packer.h"

enum {
	LEVEL = 1,          // higher ones take three times as long, for a tenth of the size
	STORED_MOST = 65535 // bytes of a block that is not compressed
};

// ---- with zlib ----

static bool compress(struct pd_text *text, const void *data, size_t size)
{
	void *state = pd_packer_gzip.start(LEVEL);
	const char *reason = NULL;
	size_t bound = pd_packer_gzip.bound(size), packed = 0;

	if (state && pd_text_reserve(text, bound))
		packed = pd_packer_gzip.finish(state, data, size, text->data + text->size, bound, &reason);
	text->size += packed;
	if (state)
		pd_packer_gzip.close(state);
	return packed != 0;
}

// ---- without ----

static uint32_t crc32_of(const uint8_t *data, size_t size)
{
	uint32_t crc = ~UINT32_C(0);

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

static void store(struct pd_text *text, const char *data, size_t size)
{
	static const char header[10] = { 0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	size_t at = 0;

	pd_text_put(text, header, sizeof(header));
	do {
		size_t piece = size - at < STORED_MOST ? size - at : STORED_MOST;

		pd_text_char(text, at + piece == size);
		put_little(text, piece, 2);
		put_little(text, ~piece, 2);
		pd_text_put(text, data + at, piece);
		at += piece;
	} while (at < size);
	put_little(text, crc32_of((const uint8_t *)data, size), 4);
	put_little(text, size, 4);
}

void pd_gzip(struct pd_text *text, const void *data, size_t size)
{
	if (!pd_packer_gzip.start)
		store(text, data, size);
	else if (!compress(text, data, size))
		text->failed = true;
}
