/* SPDX-License-Identifier: MIT */
/*
 * The inside of a tar file that was opened: a list of members, and an order by name to find them.
 *
 * tar.c parses headers, archive.c lists, finds and reads.
 */
#ifndef PD_FILE_ARCHIVE_H
#define PD_FILE_ARCHIVE_H

#include <perfdata/archive.h>

#include "base/memory.h"
#include "file/source.h"

enum {
	PD_TAR_BLOCK = 512
};

// Bytes of a sparse member that are there.
struct pd_extent {
	uint64_t offset; // in the member
	uint64_t size;
	uint64_t at; // in the archive
};

struct pd_member_full {
	struct pd_member member;         // first: what the user sees
	uint64_t at;                     // of its bytes in the archive, if it has no holes
	bool is_same;                    // a hard link: it is the earlier member that target names
	const struct pd_extent *extents; // NULL: it has none
	size_t extent_count;
};

struct pd_archive {
	char *name;
	struct pd_source source;
	uint64_t memory_limit;
	struct pd_arena arena; // names, extents
	struct pd_member_full **members;
	size_t count, capacity;
	uint32_t *order; // of members by name, then by place
	const char *damage;
	uint64_t damage_offset;
};

/** Takes the source, also on failure; it must have been unwrapped. *is_tar_out (may be NULL) says false, with PD_OK and
 * no archive, for what is no tar file; then the source is as it was. */
enum pd_status pd_archive_take(struct pd_source *source, const char *name, const struct pd_open_options *options,
			       struct pd_archive **archive_out, bool *is_tar_out, struct pd_error *error);
/** An archive inside of another one, which must stay open. */
enum pd_status pd_archive_open_member(const struct pd_archive *archive, const struct pd_member *member,
				      const struct pd_open_options *options, struct pd_archive **archive_out,
				      struct pd_error *error);
/** A source over a file without holes; the archive must stay open. */
enum pd_status pd_archive_source(const struct pd_archive *archive, const struct pd_member *member,
				 struct pd_source *source_out, struct pd_error *error);

// ---- tar.c ----

/** True for the first block of a tar file. */
bool pd_tar_is_header(const uint8_t block[PD_TAR_BLOCK]);
/** Adds all members to the list. What is damaged ends it. Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT, PD_ERROR_SYSTEM. */
enum pd_status pd_tar_list(struct pd_archive *archive, struct pd_error *error);

#endif
