/* SPDX-License-Identifier: MIT */
/* What the library asks of a compressor: one endless stream, cut into pieces that can be inflated as they come. A file
 * in deps fills it. */
#ifndef PD_WRITE_PACKER_H
#define PD_WRITE_PACKER_H

#include <stddef.h>
#include <stdint.h>

enum {
	// Most bytes of a block of zstd: one that compresses to nothing less still fits into a record, with the header of its
	// frame. A reader gets nothing of a block before it has all of it.
	PD_PACK_BLOCK = 65472
};

struct pd_packer {
	void *(*start)(int level);    // NULL if there is no memory; the member is NULL if it is not built in
	size_t (*bound)(size_t size); // most bytes that a piece of this size gives
	// Compresses a piece whole, in blocks of at most PD_PACK_BLOCK. 0 and *reason_out if that fails.
	size_t (*pack)(void *state, const void *data, size_t size, void *out, size_t capacity, const char **reason_out);
	// The same, and ends the stream.
	size_t (*finish)(void *state, const void *data, size_t size, void *out, size_t capacity,
			 const char **reason_out);
	void (*close)(void *state);
};

extern const struct pd_packer pd_packer_zstd;
// Pieces need not be inflatable before the end; `pack` may give nothing.
extern const struct pd_packer pd_packer_gzip;
// quick.c: frames that zstd reads, of at most PD_PACK_PIECE bytes; each piece is one.
extern const struct pd_packer pd_packer_quick;

#endif
