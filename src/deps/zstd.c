/* SPDX-License-Identifier: MIT */
/* zstd: compressed records and whole files. */
#include <zstd.h>

#include "deps/deps.h"
#include "write/packer.h"

static const char *version(void)
{
	return "zstd " ZSTD_VERSION_STRING;
}

static void *open_stream(void)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();

	// the window is memory that a hostile frame asks for: 128 MiB is zstd's own default for its tool
	if (context)
		ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
	return context;
}

static enum pd_codec_result zstd_run(void *state, struct pd_codec_run *run)
{
	ZSTD_inBuffer in = { run->in, run->in_size, 0 };
	ZSTD_outBuffer out = { run->out, run->out_size, 0 };
	size_t result = ZSTD_decompressStream(state, &out, &in);

	run->in += in.pos;
	run->in_size -= in.pos;
	run->out += out.pos;
	run->out_size -= out.pos;
	if (ZSTD_isError(result)) {
		run->reason = ZSTD_getErrorName(result);
		return PD_CODEC_ERROR;
	}
	return result == 0 ? PD_CODEC_END : PD_CODEC_OK;
}

static void close_stream(void *state)
{
	ZSTD_freeDCtx(state);
}

const struct pd_codec pd_codec_zstd = {
	.name = "zstd",
	.use = PD_USE_ZSTD,
	.magic = PD_MAGIC_ZSTD,
	.magic_size = 4,
	.version = version,
	.start = open_stream,
	.run = zstd_run,
	.close = close_stream,
};

// ---- compressing ----

static void *open_packer(int level)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (context && ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level))) {
		ZSTD_freeCCtx(context);
		return NULL;
	}
	return context;
}

// Flushed a block at a time, as no setting of all its versions makes blocks smaller.
static size_t compress(void *state, const void *data, size_t size, void *packed, size_t capacity, ZSTD_EndDirective how,
		       const char **reason_out)
{
	ZSTD_inBuffer in = { data, 0, 0 };
	ZSTD_outBuffer out = { packed, capacity, 0 };
	size_t left;

	do {
		if (in.pos == in.size)
			in.size = size - in.pos < PD_PACK_BLOCK ? size : in.pos + PD_PACK_BLOCK;
		left = ZSTD_compressStream2(state, &out, &in, in.size < size ? ZSTD_e_flush : how);
		if (ZSTD_isError(left)) {
			*reason_out = ZSTD_getErrorName(left);
			return 0;
		}
	} while ((left || in.pos < size) && out.pos < out.size);
	if (left)
		*reason_out = "no room";
	return left ? 0 : out.pos;
}

// Flushed, so that readers get all of it; the frame stays open, as perf's.
static size_t pack(void *state, const void *data, size_t size, void *packed, size_t capacity, const char **reason_out)
{
	return compress(state, data, size, packed, capacity, ZSTD_e_flush, reason_out);
}

static size_t finish(void *state, const void *data, size_t size, void *packed, size_t capacity, const char **reason_out)
{
	return compress(state, data, size, packed, capacity, ZSTD_e_end, reason_out);
}

// The header of the frame, and the end of each of its blocks, may come on top.
static size_t bound(size_t size)
{
	return ZSTD_compressBound(size) + 1024;
}

static void close_packer(void *state)
{
	ZSTD_freeCCtx(state);
}

const struct pd_packer pd_packer_zstd = {
	.start = open_packer,
	.bound = bound,
	.pack = pack,
	.finish = finish,
	.close = close_packer,
};
