/* SPDX-License-Identifier: MIT */
/*
 * Where bytes come from: a descriptor that can seek, one that cannot, memory, or any of these through a
 * decompressor. Reading happens at increasing offsets where the source cannot seek. What must be read out of
 * order and cannot be is copied first: small things to memory, large ones to an unlinked temporary file.
 */
#ifndef PD_FILE_SOURCE_H
#define PD_FILE_SOURCE_H

#include <stdbool.h>

#include "base/error.h"
#include "file/codec.h"

struct pd_source {
	int fd; // -1 for memory
	bool owns_fd;
	bool seekable;
	bool is_regular; // the descriptor can be read at any place, beneath a decompressor too
	uint64_t base;   // where in the descriptor offset 0 is
	uint64_t bound;  // the descriptor's bytes from there on that belong to it, UINT64_MAX if all do
	enum pd_status (*pull)(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error); // or NULL
	void *pull_self;
	const uint8_t *memory; // all of it, if not NULL
	size_t memory_size;
	uint8_t *owned;    // memory to be freed
	uint64_t size;     // of all, if known, else UINT64_MAX
	uint64_t position; // next offset of what cannot seek
	// through a decompressor
	const struct pd_codec *codec;
	void *codec_state;
	uint8_t *packed; // buffer of compressed bytes
	size_t packed_at, packed_size;
	uint64_t packed_offset;
	bool packed_end;
	bool frame_open; // input ended inside a frame
	uint64_t limit;  // most bytes out of the decompressor
	bool damaged;
	const char *damage;
	// the first bytes, read to find out what it is, not yet given away
	uint8_t first[512];
	size_t first_size;
};

enum pd_status pd_source_open_fd(struct pd_source *source, int fd, bool owns_fd, struct pd_error *error);
void pd_source_open_memory(struct pd_source *source, const void *data, size_t size);
// What a function gives: with each call at least one byte, none at the end.
void pd_source_open_pull(struct pd_source *source,
			 enum pd_status (*pull)(void *self, void *data, size_t size, size_t *got_out,
						struct pd_error *error),
			 void *self);
// A part of one that can seek and must stay open meanwhile. The part must lie inside.
void pd_source_open_range(struct pd_source *source, const struct pd_source *whole, uint64_t offset, uint64_t size);
void pd_source_close(struct pd_source *source);

// If the source is compressed as a whole: reads through the codec from now on.
enum pd_status pd_source_unwrap(struct pd_source *source, uint64_t limit, struct pd_error *error);

// Reads up to size bytes at an offset; *got_out is less only at the end. What cannot seek is read in order,
// but for the first 512 bytes, which can be read again until something after them was.
enum pd_status pd_source_read(struct pd_source *source, uint64_t offset, void *data, size_t size, size_t *got_out,
			      struct pd_error *error);
// The same, but does not wait for more than least bytes: those who write into a pipe may take their time. *got_out is less
// than least only at the end.
enum pd_status pd_source_read_some(struct pd_source *source, uint64_t offset, void *data, size_t least, size_t size,
				   size_t *got_out, struct pd_error *error);

// A file for reading and writing that has no name: its descriptor, or -1.
int pd_source_temporary(const char *dir, struct pd_error *error);
// Makes the source seekable, by a copy if need be.
enum pd_status pd_source_make_seekable(struct pd_source *source, const char *temp_dir, struct pd_error *error);

#endif
