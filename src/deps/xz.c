/* SPDX-License-Identifier: MIT */
/* liblzma: files compressed by xz. */
#include <lzma.h>
#include <stdlib.h>

#include "deps/deps.h"

enum {
	MEMORY_LIMIT = 256 << 20
};

static const char *version(void)
{
	return "liblzma " LZMA_VERSION_STRING;
}

static void *open_stream(void)
{
	lzma_stream *stream = calloc(1, sizeof(*stream));

	if (stream && lzma_stream_decoder(stream, MEMORY_LIMIT, 0) != LZMA_OK) {
		free(stream);
		return NULL;
	}
	return stream;
}

static const char *reason_of(lzma_ret result)
{
	switch (result) {
	case LZMA_MEM_ERROR:
		return "no memory";
	case LZMA_MEMLIMIT_ERROR:
		return "needs too much memory";
	case LZMA_OPTIONS_ERROR:
		return "unsupported xz options";
	default:
		return "damaged xz data";
	}
}

static enum pd_codec_result xz_run(void *state, struct pd_codec_run *run)
{
	lzma_stream *stream = state;
	lzma_ret result;

	stream->next_in = run->in;
	stream->avail_in = run->in_size;
	stream->next_out = run->out;
	stream->avail_out = run->out_size;
	result = lzma_code(stream, LZMA_RUN);
	run->in = stream->next_in;
	run->in_size = stream->avail_in;
	run->out = stream->next_out;
	run->out_size = stream->avail_out;
	if (result == LZMA_STREAM_END) {
		// another stream may follow
		if (lzma_stream_decoder(stream, MEMORY_LIMIT, 0) != LZMA_OK) {
			run->reason = "no memory";
			return PD_CODEC_ERROR;
		}
		return PD_CODEC_END;
	}
	if (result == LZMA_OK || result == LZMA_BUF_ERROR)
		return PD_CODEC_OK;
	run->reason = reason_of(result);
	return PD_CODEC_ERROR;
}

static void close_stream(void *state)
{
	lzma_end(state);
	free(state);
}

const struct pd_codec pd_codec_xz = {
	.name = "xz",
	.use = PD_USE_XZ,
	.magic = PD_MAGIC_XZ,
	.magic_size = 6,
	.version = version,
	.start = open_stream,
	.run = xz_run,
	.close = close_stream,
};
