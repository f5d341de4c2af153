/* SPDX-License-Identifier: MIT */
/*
 * Compressed data. The first byte says what becomes of the rest: the payload of compressed records, itself or
 * compressed first, so that the records inside are reached; or a file that is compressed as a whole.
 */
#include <string.h>

#include "walk.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum {
	COMPRESS = 1,
	PADDED = 2,
	WHOLE = 4,
	SMALL_PIECES = 8,
	BIG = 16
};

struct buffer {
	uint8_t data[1 << 17];
	size_t size;
};

static void put(struct buffer *out, const void *data, size_t size)
{
	if (size > sizeof(out->data) - out->size)
		size = sizeof(out->data) - out->size;
	memcpy(out->data + out->size, data, size);
	out->size += size;
}

static void put_head(struct buffer *out, uint32_t type, size_t size, bool big)
{
	uint8_t little[8] = { (uint8_t)type, 0, 0, 0, 0, 0, (uint8_t)size, (uint8_t)(size >> 8) };
	uint8_t other[8] = { 0, 0, 0, (uint8_t)type, 0, 0, (uint8_t)(size >> 8), (uint8_t)size };

	put(out, big ? other : little, 8);
}

static void put_records(struct buffer *out, const uint8_t *data, size_t size, unsigned flags)
{
	size_t piece = flags & SMALL_PIECES ? 24 : 4096;
	bool big = flags & BIG;

	put(out, big ? "2ELIFREP\0\0\0\0\0\0\0\x10" : "PERFILE2\x10\0\0\0\0\0\0", 16);
	for (size_t at = 0, step; at < size; at += step) {
		static const uint8_t zeros[8];
		size_t pad = flags & PADDED ? -(size - at < piece ? size - at : piece) & 7 : 0;
		uint8_t count[8] = { 0 };

		step = size - at < piece ? size - at : piece;
		put_head(out, flags & PADDED ? 83 : 81, step + pad + (flags & PADDED ? 16 : 8), big);
		count[big ? 7 : 0] = (uint8_t)step;
		count[big ? 6 : 1] = (uint8_t)(step >> 8);
		if (flags & PADDED)
			put(out, count, 8);
		put(out, data + at, step);
		put(out, zeros, pad);
	}
}

// A file reads the same when it was compressed as a whole.
static void compare(const uint8_t *data, size_t size, const struct walk *packed, enum pd_status status)
{
	struct walk plain = { .once = true };
	struct pd_open_options options = walk_options(&plain);
	struct pd_error error;

	options.inflate_limit = 4 << 20;
	REQUIRE(walk_memory(data, size, &options, &plain, &error) == status);
	REQUIRE(plain.records == packed->records);
	for (unsigned i = PD_INFO; i <= PD_DAMAGE; i++)
		REQUIRE(plain.told[i] == packed->told[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct buffer packed, file;
	struct walk walk = { .once = true };
	enum pd_status status;
	struct pd_open_options options = walk_options(&walk);
	struct pd_error error;
	unsigned flags;

	if (!size || size > 50000)
		return 0;
	flags = *data++;
	size--;
	packed.size = file.size = 0;
	if (flags & COMPRESS) {
#ifdef HAVE_ZSTD
		packed.size = ZSTD_compress(packed.data, sizeof(packed.data), data, size, 1);
		REQUIRE(!ZSTD_isError(packed.size));
#endif
	} else {
		put(&packed, data, size);
	}
	if (flags & WHOLE)
		put(&file, packed.data, packed.size);
	else
		put_records(&file, packed.data, packed.size, flags);
	options.inflate_limit = 4 << 20;
	status = walk_memory(file.data, file.size, &options, &walk, &error);
	REQUIRE(status != PD_ERROR_MEMORY);
	if (flags & WHOLE && flags & COMPRESS && size)
		compare(data, size, &walk, status);
	return 0;
}
