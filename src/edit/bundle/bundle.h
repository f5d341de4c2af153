/* SPDX-License-Identifier: MIT */
/*
 * The inside of a bundle that is written: bundle.c gives files their names, keep.c says which bytes of an object stay,
 * tar.c writes members.
 */
#ifndef PD_BUNDLE_BUNDLE_H
#define PD_BUNDLE_BUNDLE_H

#include <perfdata/bundle.h>

#include "object/elf/elf.h"
#include "write/packer.h"
#include "write/write.h"

// ---- tar.c ----

struct pd_tar {
	struct pd_output out;
	void *packer; // NULL: nothing is compressed
	uint8_t *plain, *packed;
	size_t plain_used, packed_capacity;
	int64_t modified; // of all members, in seconds since 1970
	uint64_t written; // before compression
};

// A member to be written.
struct pd_tar_member {
	const char *name;
	const char *target;                 // of a symbolic link, else NULL
	uint64_t size;                      // with its holes
	const struct pd_stretch *stretches; // what is not a hole; NULL: all of it
	size_t stretch_count;
	bool is_private; // for the user's eyes only
};

// Bytes of a file that stay.
struct pd_stretch {
	uint64_t offset;
	uint64_t size;
};

enum pd_status pd_tar_init(struct pd_tar *tar, int fd, const char *name, int level, struct pd_error *error);
void pd_tar_fini(struct pd_tar *tar);
/** Writes the headers; the bytes of all stretches follow by pd_tar_put, then pd_tar_pad. */
enum pd_status pd_tar_begin(struct pd_tar *tar, const struct pd_tar_member *member, struct pd_error *error);
enum pd_status pd_tar_put(struct pd_tar *tar, const void *data, size_t size, struct pd_error *error);
enum pd_status pd_tar_pad(struct pd_tar *tar, struct pd_error *error);
enum pd_status pd_tar_end(struct pd_tar *tar, struct pd_error *error);

// ---- keep.c ----

// What stays of an object.
struct pd_keep {
	struct pd_stretch *stretches; // NULL: all of it
	size_t count, capacity;
	uint8_t *headers; // of sections, as they are written
	uint64_t headers_at;
	size_t headers_size;
};

/** with_code: the code stays, too. False if there is no memory. */
bool pd_keep_make(struct pd_keep *keep, struct pd_elf *elf, bool with_code);
void pd_keep_fini(struct pd_keep *keep);
/** Puts the new headers over bytes that were read at an offset. */
void pd_keep_change(const struct pd_keep *keep, uint64_t offset, uint8_t *data, size_t size);

#endif
