/* SPDX-License-Identifier: MIT */
/* zstd: compressed records and whole files. */
#include <zstd.h>

#include "deps/deps.h"

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

static enum pd_codec_result run(void *state, struct pd_codec_run *run)
{
	ZSTD_inBuffer in = {run->in, run->in_size, 0};
	ZSTD_outBuffer out = {run->out, run->out_size, 0};
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
	.open = open_stream,
	.run = run,
	.close = close_stream,
};
