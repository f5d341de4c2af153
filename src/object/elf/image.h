/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an object or of a map of symbols. Only the parts that are asked for are read, into memory that lives as
 * long as the image, so that a kernel image of half a gigabyte costs its symbol table. Nothing is mapped: a file that
 * shrinks meanwhile must not end the process. Only regular files are opened, never a device or a FIFO; and files in
 * archives, where they stand.
 */
#ifndef PD_OBJECT_ELF_IMAGE_H
#define PD_OBJECT_ELF_IMAGE_H

#include <perfdata/archive.h>

#include "base/error.h"
#include "base/memory.h"

/** What tells a file from another one that took its place, or from itself after a change. All zero for what is no file
 * of its own: memory, and members of archives. */
struct pd_stamp {
	uint64_t known; // 1
	uint64_t device, inode, size;
	int64_t written_s, written_ns; // time of the last change of its bytes
	int64_t changed_s, changed_ns; // or of anything else
};

enum {
	PD_IMAGE_READ = 4
};

/** A large part that was read: symbols and their names are asked for by their table and by each section of relocations. */
struct pd_image_read {
	uint64_t offset, size;
	const uint8_t *data; // NULL: nothing is here
};

struct pd_image {
	int fd;                           // -1 for memory and members
	const struct pd_archive *archive; // whose member it is, or NULL
	const struct pd_member *member;
	const uint8_t *memory; // all of it, or NULL
	uint8_t *owned;        // the same, if it is to be freed
	uint64_t size;
	struct pd_stamp stamp;                    // of the file, also when it was inflated into memory
	struct pd_arena arena;                    // parts that were read
	struct pd_image_read read[PD_IMAGE_READ]; // of these the last large ones
	unsigned next_read;                       // to be replaced
	bool failed;                              // a part is missing for want of memory, or by the limit
};

/** Opens a regular file. limit is the most bytes of parts to keep, 0 means 1 GiB. PD_ERROR_SYSTEM, or
 * PD_ERROR_UNSUPPORTED for what is no regular file. */
enum pd_status pd_image_open(struct pd_image *image, const char *path, size_t limit, struct pd_error *error);
/** The same with a descriptor, which it takes, also on failure. name is for messages. */
enum pd_status pd_image_open_fd(struct pd_image *image, int fd, const char *name, size_t limit, struct pd_error *error);
/** A file in an archive, which must stay open as long. */
void pd_image_open_member(struct pd_image *image, const struct pd_archive *archive, const struct pd_member *member,
			  size_t limit);
/** Memory that the caller keeps until close. */
void pd_image_open_memory(struct pd_image *image, const void *data, size_t size);
/** Takes memory from pd_alloc. */
void pd_image_take_memory(struct pd_image *image, uint8_t *data, size_t size);
void pd_image_close(struct pd_image *image);
/** False for what was never opened, or is closed. */
static inline bool pd_image_is_open(const struct pd_image *image)
{
	return image->fd >= 0 || image->archive || image->memory;
}

/** Bytes [offset, offset + size), valid until close. NULL if the image does not have all of them, or if there is no
 * memory or the limit is reached. */
const uint8_t *pd_image_part(struct pd_image *image, uint64_t offset, uint64_t size);
/** Copies up to size bytes at an offset; returns how many there were. */
size_t pd_image_copy(const struct pd_image *image, uint64_t offset, void *data, size_t size);

/** Reads all of a file, also one whose size is not known, such as those of /proc. The data is given away (pd_free) and
 * has a NUL after it. PD_ERROR_LIMIT if there are more than limit bytes. */
enum pd_status pd_image_read_all(struct pd_image *image, size_t limit, uint8_t **data_out, size_t *size_out,
				 struct pd_error *error);
/** The same of a file by its path; a limit of 0 means 256 MiB. */
enum pd_status pd_image_read_file(const char *path, size_t limit, uint8_t **data_out, size_t *size_out,
				  struct pd_error *error);

/** Inflates bytes with the codec of that name; the result is given away (pd_free). PD_ERROR_UNSUPPORTED if the codec
 * is not built in, PD_ERROR_LIMIT if there are more than limit bytes. */
enum pd_status pd_image_inflate(const char *codec, const uint8_t *data, size_t size, size_t limit, uint8_t **data_out,
				size_t *size_out, struct pd_error *error);

#endif
