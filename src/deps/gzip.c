/* SPDX-License-Identifier: MIT */
/* zlib: files compressed by gzip, sections of objects. */
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "deps/deps.h"
#include "write/packer.h"

static const char *version(void)
{
	return "zlib " ZLIB_VERSION;
}

static void *open_stream(void)
{
	z_stream *stream = calloc(1, sizeof(*stream));

	// 32: expect gzip's header, or that of zlib, which sections have
	if (stream && inflateInit2(stream, 32 + MAX_WBITS) != Z_OK) {
		free(stream);
		return NULL;
	}
	return stream;
}

static enum pd_codec_result gzip_run(void *state, struct pd_codec_run *run)
{
	z_stream *stream = state;
	size_t in_size = run->in_size > 1u << 30 ? 1u << 30 : run->in_size;
	size_t out_size = run->out_size > 1u << 30 ? 1u << 30 : run->out_size;
	int result;

	stream->next_in = (Bytef *)(uintptr_t)run->in;
	stream->avail_in = (uInt)in_size;
	stream->next_out = run->out;
	stream->avail_out = (uInt)out_size;
	result = inflate(stream, Z_NO_FLUSH);
	run->in += in_size - stream->avail_in;
	run->in_size -= in_size - stream->avail_in;
	run->out += out_size - stream->avail_out;
	run->out_size -= out_size - stream->avail_out;
	if (result == Z_STREAM_END) {
		// another member may follow
		inflateReset(stream);
		return PD_CODEC_END;
	}
	if (result == Z_OK || result == Z_BUF_ERROR)
		return PD_CODEC_OK;
	run->reason = stream->msg ? stream->msg : "damaged gzip data";
	return PD_CODEC_ERROR;
}

static void close_stream(void *state)
{
	inflateEnd(state);
	free(state);
}

const struct pd_codec pd_codec_gzip = {
	.name = "gzip",
	.use = PD_USE_GZIP,
	.magic = PD_MAGIC_GZIP,
	.magic_size = 3,
	.version = version,
	.start = open_stream,
	.run = gzip_run,
	.close = close_stream,
};

// ---- compressing ----

static void *open_packer(int level)
{
	z_stream *stream = calloc(1, sizeof(*stream));

	// 16: with the header of gzip, which has no name and no time
	if (stream && deflateInit2(stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(stream);
		return NULL;
	}
	return stream;
}

// What cannot be compressed grows by five bytes in 16 KiB; header and trailer have 18.
static size_t bound(size_t size)
{
	return size + size / 1024 + 64;
}

static size_t deflate_all(void *state, const void *data, size_t size, void *packed, size_t capacity, bool last,
			  const char **reason_out)
{
	z_stream *stream = state;
	size_t left = capacity;
	int result = Z_OK;

	stream->next_in = (Bytef *)(uintptr_t)data;
	stream->next_out = packed;
	while (result == Z_OK && left && (size || last)) {
		uInt in_size = size > 1u << 30 ? 1u << 30 : (uInt)size;
		uInt out_size = left > 1u << 30 ? 1u << 30 : (uInt)left;

		stream->avail_in = in_size;
		stream->avail_out = out_size;
		result = deflate(stream, last && in_size == size ? Z_FINISH : Z_NO_FLUSH);
		size -= in_size - stream->avail_in;
		left -= out_size - stream->avail_out;
	}
	if (result == Z_STREAM_END || (!last && result == Z_OK && !size))
		return capacity - left;
	*reason_out = stream->msg ? stream->msg : "no capacity";
	return 0;
}

static size_t pack(void *state, const void *data, size_t size, void *packed, size_t capacity, const char **reason_out)
{
	return deflate_all(state, data, size, packed, capacity, false, reason_out);
}

static size_t finish(void *state, const void *data, size_t size, void *packed, size_t capacity, const char **reason_out)
{
	return deflate_all(state, data, size, packed, capacity, true, reason_out);
}

static void close_packer(void *state)
{
	deflateEnd(state);
	free(state);
}

const struct pd_packer pd_packer_gzip = {
	.start = open_packer,
	.bound = bound,
	.pack = pack,
	.finish = finish,
	.close = close_packer,
};
