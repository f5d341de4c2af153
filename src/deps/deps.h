/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef PD_DEPS_DEPS_H
#define PD_DEPS_DEPS_H

#include "file/codec.h"

#define PD_USE_ZSTD "compressed records; files compressed as a whole"
#define PD_USE_GZIP "files compressed as a whole"
#define PD_USE_XZ "files compressed as a whole"
#define PD_USE_BZIP2 "files compressed as a whole"
#define PD_MAGIC_ZSTD                  \
	{                              \
		0x28, 0xb5, 0x2f, 0xfd \
	}
#define PD_MAGIC_GZIP            \
	{                        \
		0x1f, 0x8b, 0x08 \
	}
#define PD_MAGIC_XZ                         \
	{                                   \
		0xfd, '7', 'z', 'X', 'Z', 0 \
	}
#define PD_MAGIC_BZIP2        \
	{                     \
		'B', 'Z', 'h' \
	}

extern const struct pd_codec pd_codec_zstd;
extern const struct pd_codec pd_codec_gzip;
extern const struct pd_codec pd_codec_xz;
extern const struct pd_codec pd_codec_bzip2;

#endif
