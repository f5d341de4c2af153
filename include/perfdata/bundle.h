/* SPDX-License-Identifier: MIT */
/**
 * bundle.h - a recording with all that its samples need, in one tar file that can be read anywhere.
 *
 *	pd_bundle_open_fd(fd, "x.tar", NULL, &bundle, &error);
 *	pd_bundle_add_file(bundle, file, &error);
 *	for each object that samples touch: pd_bundle_add_dso(bundle, symbols, dso, &each, self, &error);
 *	pd_bundle_finish(bundle, &error);
 *
 * pd_file_open opens a bundle as it opens the recording, and pd_symbols_new finds the objects in it. Its members are:
 *
 *   perf.data, or perf.data/data, perf.data/data.0 ... for a directory
 *   .build-id/ab/cdef.../elf, debug, vdso     objects and their debug files, as in perf's cache of build ids
 *   [kernel.kallsyms]/BUILD-ID/kallsyms       symbols of a kernel, as in that cache
 *   usr/bin/x, tmp/perf-1.map, [module]       links to these from the paths that were recorded, and what has no build id
 *   manifest.json                             what was packed and what is missing, by whoever made the bundle
 *
 * So what tar unpacks is a directory for --symfs and for perf --buildid-dir. Objects keep headers, symbols, debug and
 * unwind information at their places; code and data are holes, and their sections say so (NOBITS).
 *
 * The same input gives the same bytes. Threads: one at a time. The first failure stays.
 */
#ifndef PERFDATA_BUNDLE_H
#define PERFDATA_BUNDLE_H

#include <perfdata/archive.h>
#include <perfdata/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_bundle_flag {
	PD_BUNDLE_FULL = 1 /* objects as they are, with code and data */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_bundle_options {
	size_t size;    /* sizeof(struct pd_bundle_options); 0 is PD_ERROR_ARGUMENT */
	uint32_t flags; /* PD_BUNDLE_... */
	int level;      /* of compression by zstd, 1 to 22; 0: not compressed, so that readers need no copy */
};

struct pd_bundle;

/** Begins a bundle at the present position of a descriptor, which the caller keeps and closes; it need not seek. name is
 * for messages. Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT, PD_ERROR_UNSUPPORTED if zstd is not built in. */
PD_API enum pd_status pd_bundle_open_fd(int fd, const char *name, const struct pd_bundle_options *options,
					struct pd_bundle **bundle_out, struct pd_error *error);
/** Writes the end. Takes the bundle, also when it fails. */
PD_API enum pd_status pd_bundle_finish(struct pd_bundle *bundle, struct pd_error *error);
/** Takes the bundle; what was written has no end. */
PD_API void pd_bundle_abort(struct pd_bundle *bundle);

/** Adds the recording, byte for byte; what was compressed as a whole is not any more. It must be a file that can be read
 * twice (pd_open_options.keep), and be added first. Errors: PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_bundle_add_file(struct pd_bundle *bundle, struct pd_file *file, struct pd_error *error);
/** Adds a file. PD_ERROR_ARGUMENT if the name is taken, or leads out of the bundle. */
PD_API enum pd_status pd_bundle_add_bytes(struct pd_bundle *bundle, const char *name, struct pd_bytes bytes,
					  struct pd_error *error);

/** A file that was packed for an object. Valid during the call only. */
struct pd_bundled {
	const char *kind;  /* "object", "debug", "shared-debug", "kallsyms", "perf-map", "jitdump" */
	const char *name;  /* in the bundle */
	const char *from;  /* where it was found */
	const char *missing; /* why it could not be packed; NULL: it was */
	uint64_t size;     /* as it was, uncompressed */
	uint64_t packed;   /* bytes of it in the bundle, uncompressed; 0 if it was there already */
	struct pd_build_id build_id; /* size 0: it has none */
};
typedef void pd_bundled_fn(void *self, const struct pd_bundled *bundled);

/** Adds all files that symbols and lines of an object come from, which may be none: see pd_dso.state then. each is
 * called for each of them. The object must have been asked for (pd_symbols_at).
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_bundle_add_dso(struct pd_bundle *bundle, struct pd_symbols *symbols, const struct pd_dso *dso,
					pd_bundled_fn *each, void *self, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
