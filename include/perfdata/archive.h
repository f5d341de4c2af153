/* SPDX-License-Identifier: MIT */
/**
 * archive.h - reads members of a tar file in place.
 *
 * Bundles (bundle.h) and the output of perf archive are tar files. Opening one lists its members; nothing is
 * unpacked, except that a compressed archive is decompressed to an unlinked temporary file. Formats: ustar, pax and
 * GNU, with sparse files of pax 1.0.
 *
 * Archives are untrusted: names cannot escape the archive, links are followed only inside it, and other file types
 * (devices, FIFOs) are listed but cannot be read.
 *
 * Threads: members may be read concurrently.
 *
 * Example:
 *
 *	struct pd_archive *archive;
 *	const struct pd_member *member;
 *
 *	if (pd_archive_open("bundle.tar", NULL, &archive, &error) == PD_OK) {
 *		for (size_t i = 0; (member = pd_archive_member(archive, i)) != NULL; i++)
 *			printf("%s\n", member->name);
 *		pd_archive_close(archive);
 *	}
 */
#ifndef PERFDATA_ARCHIVE_H
#define PERFDATA_ARCHIVE_H

#include <perfdata/file.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_archive;

enum pd_member_kind {
	PD_MEMBER_FILE,
	PD_MEMBER_FOLDER,
	PD_MEMBER_LINK,   /* symbolic */
	PD_MEMBER_REFUSED /* unusable, see reason */
};

/** A member. Valid as long as the archive. */
struct pd_member {
	size_t index;
	enum pd_member_kind kind;
	const char *name;   /* "usr/bin/x": no leading or trailing slash, no "." or ".."; unchanged if refused */
	const char *target; /* of a symbolic link, unchanged; of a hard link the earlier name; else NULL */
	const char *reason; /* why it was refused, one phrase; else NULL */
	uint64_t size;      /* in bytes, including holes */
	uint64_t offset;    /* of its header in the archive */
	int64_t modified;   /* seconds since 1970 */
};

/** Opens a tar file, optionally compressed. Of the options only the limits and temp_dir are used; NULL means
 * defaults. Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_LIMIT, PD_ERROR_UNSUPPORTED if a compression is not
 * built in, PD_ERROR_FORMAT if it is not a tar file. */
PD_API enum pd_status pd_archive_open(const char *path, const struct pd_open_options *options,
				      struct pd_archive **archive_out, struct pd_error *error);
/** The same from a file descriptor, which remains owned by the caller, and from memory, which must remain unchanged.
 * */
PD_API enum pd_status pd_archive_open_fd(int fd, const struct pd_open_options *options, struct pd_archive **archive_out,
					 struct pd_error *error);
PD_API enum pd_status pd_archive_open_memory(const void *data, size_t size, const struct pd_open_options *options,
					     struct pd_archive **archive_out, struct pd_error *error);
PD_API void pd_archive_close(struct pd_archive *archive);
/** The path of what perf archive put beside a recording; NULL if there is nothing, or the path is longer than size. */
PD_API const char *pd_archive_of_recording(const char *recording, char *path, size_t size);

/** Name as opened. */
PD_API const char *pd_archive_name(const struct pd_archive *archive);
/** The index-th member in archive order; NULL past the end. */
PD_API const struct pd_member *pd_archive_member(const struct pd_archive *archive, size_t index);
/** Why and where the list ends early, if the archive is damaged or truncated; else NULL. */
PD_API const char *pd_archive_damage(const struct pd_archive *archive, uint64_t *offset_out);

/** Finds a file by name, following links inside the archive; NULL if there is none. The last of several members with
 * one name is used, as when unpacking. */
PD_API const struct pd_member *pd_archive_find(const struct pd_archive *archive, const char *path);
/** Reads up to size bytes of a file at an offset; *got_out is less than size only at the end. Holes read as zeros.
 * Errors: PD_ERROR_SYSTEM; PD_ERROR_ARGUMENT for other members than files. */
PD_API enum pd_status pd_archive_read(const struct pd_archive *archive, const struct pd_member *member, uint64_t offset,
				      void *data, size_t size, size_t *got_out, struct pd_error *error);
/** The first extent of a file with data at or after an offset; false if there is none. */
PD_API bool pd_archive_extent(const struct pd_archive *archive, const struct pd_member *member, uint64_t offset,
			      uint64_t *start_out, uint64_t *size_out);

#ifdef __cplusplus
}
#endif
#endif
