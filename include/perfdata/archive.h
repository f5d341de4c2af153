/* SPDX-License-Identifier: MIT */
/**
 * archive.h - the files in a tar file, read where they stand.
 *
 * Bundles (bundle.h) are such files, and so is what perf archive makes. Opening one lists its members; nothing is
 * unpacked but an archive that is compressed as a whole, which is copied into an unlinked temporary file. Forms: ustar,
 * pax and that of GNU, with sparse files as pax 1.0 has them.
 *
 * Archives may be hostile: names never lead out of the archive, links are followed inside of it only, what has no
 * meaning here (devices, FIFOs) is listed and cannot be read.
 *
 * Threads: members may be read by several at a time.
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
	PD_MEMBER_REFUSED /* it cannot be used, see reason */
};

/** Lives as long as the archive. */
struct pd_member {
	size_t index;
	enum pd_member_kind kind;
	const char *name;   /* "usr/bin/x": no slash in front or behind, no "." or ".."; of what was refused as it stands */
	const char *target; /* of a link, as it stands; of a file the earlier name that it is another one of; else NULL */
	const char *reason; /* why it was refused, one phrase; else NULL */
	uint64_t size;      /* bytes, those of holes too */
	uint64_t offset;    /* of its header in the archive */
	int64_t modified;   /* in seconds since 1970 */
};

/** Opens a tar file, also one that is compressed. Of the options the limits and temp_dir count; NULL means defaults.
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY, PD_ERROR_LIMIT, PD_ERROR_UNSUPPORTED if a compression is not built in,
 * PD_ERROR_FORMAT if it is no tar file. */
PD_API enum pd_status pd_archive_open(const char *path, const struct pd_open_options *options,
				      struct pd_archive **archive_out, struct pd_error *error);
/** The same from a descriptor, which the caller keeps and closes, and from memory, which must stay as it is. */
PD_API enum pd_status pd_archive_open_fd(int fd, const struct pd_open_options *options,
					 struct pd_archive **archive_out, struct pd_error *error);
PD_API enum pd_status pd_archive_open_memory(const void *data, size_t size, const struct pd_open_options *options,
					     struct pd_archive **archive_out, struct pd_error *error);
PD_API void pd_archive_close(struct pd_archive *archive);

/** Name that it was opened with. */
PD_API const char *pd_archive_name(const struct pd_archive *archive);
/** The index-th member in the order of the archive; NULL past the end. */
PD_API const struct pd_member *pd_archive_member(const struct pd_archive *archive, size_t index);
/** Why the list ends early, and where, if the archive is damaged or cut off; else NULL. */
PD_API const char *pd_archive_damage(const struct pd_archive *archive, uint64_t *offset_out);

/** The file of that name, through links inside of the archive; NULL if there is none. Of several with one name the last
 * one counts, as when they are unpacked. */
PD_API const struct pd_member *pd_archive_find(const struct pd_archive *archive, const char *path);
/** Reads up to size bytes of a file at an offset; *got_out is less only at its end. Holes are zeros.
 * Errors: PD_ERROR_SYSTEM; PD_ERROR_ARGUMENT for what is no file. */
PD_API enum pd_status pd_archive_read(const struct pd_archive *archive, const struct pd_member *member,
				      uint64_t offset, void *data, size_t size, size_t *got_out,
				      struct pd_error *error);
/** The first stretch of a file at or behind an offset that is no hole; false if there is none. */
PD_API bool pd_archive_extent(const struct pd_archive *archive, const struct pd_member *member, uint64_t offset,
			      uint64_t *start_out, uint64_t *size_out);

#ifdef __cplusplus
}
#endif
#endif
