/* SPDX-License-Identifier: MIT */
/* libbz2: files compressed by bzip2, which is what perf archive makes. */
#include <bzlib.h>
#include <stdlib.h>

#include "deps/deps.h"

static void *open_stream(void)
{
	bz_stream *stream = calloc(1, sizeof(*stream));

	if (stream && BZ2_bzDecompressInit(stream, 0, 0) != BZ_OK) {
		free(stream);
		return NULL;
	}
	return stream;
}

static enum pd_codec_result bzip2_run(void *state, struct pd_codec_run *run)
{
	bz_stream *stream = state;
	unsigned in_size = run->in_size > 1u << 30 ? 1u << 30 : (unsigned)run->in_size;
	unsigned out_size = run->out_size > 1u << 30 ? 1u << 30 : (unsigned)run->out_size;
	int result;

	stream->next_in = (char *)(uintptr_t)run->in;
	stream->avail_in = in_size;
	stream->next_out = (char *)run->out;
	stream->avail_out = out_size;
	result = BZ2_bzDecompress(stream);
	run->in += in_size - stream->avail_in;
	run->in_size -= in_size - stream->avail_in;
	run->out += out_size - stream->avail_out;
	run->out_size -= out_size - stream->avail_out;
	if (result == BZ_STREAM_END) {
		// another stream may follow
		BZ2_bzDecompressEnd(stream);
		*stream = (bz_stream){ 0 };
		result = BZ2_bzDecompressInit(stream, 0, 0);
		run->reason = "out of memory";
		return result == BZ_OK ? PD_CODEC_END : PD_CODEC_ERROR;
	}
	if (result == BZ_OK)
		return PD_CODEC_OK;
	run->reason = result == BZ_MEM_ERROR ? "out of memory" : "damaged bzip2 data";
	return PD_CODEC_ERROR;
}

static void close_stream(void *state)
{
	BZ2_bzDecompressEnd(state);
	free(state);
}

const struct pd_codec pd_codec_bzip2 = {
	.name = "bzip2",
	.use = PD_USE_BZIP2,
	.magic = PD_MAGIC_BZIP2,
	.magic_size = 3,
	.start = open_stream,
	.run = bzip2_run,
	.close = close_stream,
};
