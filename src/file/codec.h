/* SPDX-License-Identifier: MIT */
/* What the library asks of a decompressor. One file in deps fills a struct pd_codec for each foreign library;
 * deps.c lists those that are built in. */
#ifndef PD_FILE_CODEC_H
#define PD_FILE_CODEC_H

#include <stddef.h>
#include <stdint.h>

struct pd_codec_run {
	const uint8_t *in; // moved on by what was taken
	size_t in_size;
	uint8_t *out; // moved on by what was given
	size_t out_size;
	const char *reason; // set when run fails
};

enum pd_codec_result {
	PD_CODEC_OK,  // wants more input or more room
	PD_CODEC_END, // a frame or member ended; more may follow
	PD_CODEC_ERROR
};

struct pd_codec {
	const char *name; // "zstd"
	const char *use;  // what it is for, in words
	uint8_t magic[6];
	size_t magic_size;
	const char *(*version)(void);
	void *(*start)(void); // NULL if there is no memory
	enum pd_codec_result (*run)(void *state, struct pd_codec_run *run);
	void (*close)(void *state);
};

// All codecs that could be there; open is NULL in one that was not built in. Ends with a NULL.
extern const struct pd_codec *const pd_codecs[];

// The codec of that name, or NULL if it is not built in.
const struct pd_codec *pd_codec_by_name(const char *name);

#endif
