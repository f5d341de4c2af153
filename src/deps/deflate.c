/* SPDX-License-Identifier: MIT */
/* libdeflate: what zlib makes in nearly twice the time, but all at once. */
#include <libdeflate.h>

#include "write/packer.h"

static const char *version(void)
{
	return "libdeflate " LIBDEFLATE_VERSION_STRING;
}

static void *open_packer(int level)
{
	return libdeflate_alloc_compressor(level);
}

static size_t bound(size_t size)
{
	return libdeflate_gzip_compress_bound(NULL, size);
}

static size_t finish(void *state, const void *data, size_t size, void *packed, size_t capacity, const char **reason_out)
{
	size_t used = libdeflate_gzip_compress(state, data, size, packed, capacity);

	if (!used)
		*reason_out = "no capacity";
	return used;
}

static void close_packer(void *state)
{
	libdeflate_free_compressor(state);
}

const struct pd_packer pd_packer_deflate = {
	.version = version,
	.start = open_packer,
	.bound = bound,
	.finish = finish,
	.close = close_packer,
};
