/* SPDX-License-Identifier: MIT */
/**
 * bundle.h - packs a recording with its objects and symbols into one tar file, to be read on any machine.
 *
 * pd_pack_new and pd_pack_write do it all: they find the objects, add them and write the manifest.
 *
 * pd_file_open opens a bundle like the recording, and pd_symbols_new finds the objects in it. Its members are:
 *
 *   perf.data, or perf.data/data, perf.data/data.0 ... for a directory
 *   .build-id/ab/cdef.../elf, debug, vdso     objects and their debug files, as in perf's cache of build ids
 *   [kernel.kallsyms]/BUILD-ID/kallsyms       symbols of a kernel, as in that cache
 *   usr/bin/x, tmp/perf-1.map, [module]       links from the recorded paths, and objects without build id
 *   manifest.json                             list of packed and missing files, written by the caller
 *
 * Unpacked by tar, it is a directory for --symfs and for perf --buildid-dir. Objects keep headers, symbols, debug and
 * unwind information at their offsets; code and data are replaced by holes (NOBITS sections). Code stays where copied stacks are
 * unwound by it, too (arm64, ppc64le).
 *
 * The output is reproducible. Threads: one at a time. The first error is sticky.
 *
 * Example:
 *
 *	struct pd_bundle *bundle;
 *
 *	if (pd_bundle_open_fd(fd, "x.tar", NULL, &bundle, &error) == PD_OK) {
 *		pd_bundle_add_file(bundle, file, &error);
 *		for (size_t i = 0; pd_symbols_dso(symbols, i); i++)
 *			pd_bundle_add_dso(bundle, symbols, pd_symbols_dso(symbols, i), NULL, NULL, &error);
 *		pd_bundle_finish(bundle, &error);
 *	}
 */
#ifndef PERFDATA_BUNDLE_H
#define PERFDATA_BUNDLE_H

#include <perfdata/archive.h>
#include <perfdata/profile.h>
#include <perfdata/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_bundle_flag {
	PD_BUNDLE_FULL = 1 /* unchanged objects, with code and data */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_bundle_options {
	size_t size;    /* sizeof(struct pd_bundle_options); 0 is PD_ERROR_ARGUMENT */
	uint32_t flags; /* PD_BUNDLE_... */
	int level;      /* zstd compression level, 1 to 22; 0: uncompressed, readable in place */
};

/** The compression level of a bundle at a path where nothing says another: that of zstd if its name ends in .zst, else 0. */
PD_API int pd_bundle_level(const char *path);

struct pd_bundle;

/** Starts a bundle at the current position of a file descriptor, which remains owned by the caller and need not be
 * seekable. name is used in messages. Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT, PD_ERROR_UNSUPPORTED if zstd is not
 * built in. */
PD_API enum pd_status pd_bundle_open_fd(int fd, const char *name, const struct pd_bundle_options *options,
					struct pd_bundle **bundle_out, struct pd_error *error);
/** Writes the end and frees the bundle, also on failure. */
PD_API enum pd_status pd_bundle_finish(struct pd_bundle *bundle, struct pd_error *error);
/** Frees the bundle; the output is incomplete. */
PD_API void pd_bundle_abort(struct pd_bundle *bundle);

/** Adds the recording, byte for byte; a file compressed as a whole is stored decompressed. It must be a file that can
 * be read twice (pd_open_options.keep), and be added first. Errors: PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_bundle_add_file(struct pd_bundle *bundle, struct pd_file *file, struct pd_error *error);
/** Adds a file. PD_ERROR_ARGUMENT if the name exists, or escapes the bundle. */
PD_API enum pd_status pd_bundle_add_bytes(struct pd_bundle *bundle, const char *name, struct pd_bytes bytes,
					  struct pd_error *error);

/** A file that was packed for an object. Valid during the call only. */
struct pd_bundled {
	const char *kind;            /* "object", "debug", "shared-debug", "kallsyms", "perf-map", "jitdump" */
	const char *name;            /* in the bundle */
	const char *from;            /* where it was found */
	const char *missing;         /* why it could not be packed, or NULL */
	uint64_t size;               /* original size, uncompressed */
	uint64_t packed;             /* size in the bundle, uncompressed; 0 if already packed */
	struct pd_build_id build_id; /* size 0: none */
};
typedef void pd_bundled_fn(void *self, const struct pd_bundled *bundled);

/** Adds all files with symbols and lines of an object; there may be none: see pd_dso.state. each is called for each
 * of them. The object must have been looked up (pd_symbols_at).
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_bundle_add_dso(struct pd_bundle *bundle, struct pd_symbols *symbols, const struct pd_dso *dso,
					pd_bundled_fn *each, void *self, struct pd_error *error);

/* ---- a recording with everything it needs ---- */

/** Zero is the default for each member; NULL means all defaults. */
struct pd_pack_options {
	size_t size;      /* sizeof(struct pd_pack_options); 0 is PD_ERROR_ARGUMENT */
	bool all;         /* all mapped objects, not only those that samples refer to */
	bool full;        /* the bundle has PD_BUNDLE_FULL: for the list only */
	pd_warn_fn *warn; /* gets the first PD_PACK_WARNINGS objects that are missing; may be NULL */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of both functions */
};

enum {
	PD_PACK_WARNINGS = 20
};

struct pd_pack_result {
	uint64_t object_count;
	uint64_t missing_count; /* objects of which nothing was packed */
	uint64_t file_count;    /* packed files */
	uint64_t file_bytes;    /* original size of these */
	uint64_t packed_bytes;  /* size of these in the bundle, uncompressed */
};

struct pd_pack;

/** Looks up the objects that samples, call chains, branches and data addresses of a file refer to. If it has stack copies
 * or AUX data, all mapped objects are taken. The profile is that of the file by PD_BY_CHAIN, with these symbols, whose
 * index must be off (pd_symbols_options.index_dir). All remain open. Errors: PD_ERROR_MEMORY, those of pd_stream_next. */
PD_API enum pd_status pd_pack_new(struct pd_file *file, const struct pd_profile *profile, struct pd_symbols *symbols,
				  const struct pd_pack_options *options, struct pd_pack **pack_out,
				  struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_pack_free(struct pd_pack *pack);
/** Adds the file, the objects and manifest.json to a bundle that was just opened, once. The caller finishes the bundle, or
 * aborts it after an error. Errors: those of pd_bundle_add_file and pd_bundle_add_dso. */
PD_API enum pd_status pd_pack_write(struct pd_pack *pack, struct pd_bundle *bundle, struct pd_pack_result *result_out,
				    struct pd_error *error);

/** What was packed, in a line or two: how many objects are missing in addition to those that were warned of, and how many there are. */
PD_API void pd_pack_text(const struct pd_pack_result *result, struct pd_text *text);

/* ---- unpacking ---- */

/** Zero is the default for each member; NULL means all defaults. */
struct pd_unpack_options {
	size_t size;      /* sizeof(struct pd_unpack_options); 0 is PD_ERROR_ARGUMENT */
	unsigned mode;    /* permissions of the directory; 0: 0700 */
	pd_warn_fn *warn; /* gets the first PD_UNPACK_WARNINGS members that are skipped; may be NULL */
	/* Tells of the directory, for programs that remove it if they are interrupted. May be NULL. */
	pd_unfinished_fn *unfinished;
	void *self; /* first argument of both functions */
};

enum {
	PD_UNPACK_WARNINGS = 20
};

struct pd_unpack_result {
	uint64_t file_count;
	uint64_t link_count;
	uint64_t refused_count; /* members that were skipped: outside of the directory, no file, or in the way of another */
	char incomplete[4096]; /* after an error: the directory with what was unpacked; empty if there is none */
};

/** Unpacks an archive into a new directory, or one that is empty. It appears under its name when it is complete. Nothing
 * outside of it is written, and no link leads out of it. *result_out is also written on failure. Errors: PD_ERROR_OUTPUT.
 */
PD_API enum pd_status pd_archive_unpack(const struct pd_archive *archive, const char *directory,
					const struct pd_unpack_options *options, struct pd_unpack_result *result_out,
					struct pd_error *error);

/** What was unpacked into a directory, in a line. */
PD_API void pd_unpack_text(const struct pd_unpack_result *result, const char *directory, struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
