/* SPDX-License-Identifier: MIT */
/*
 * Where an object's symbols are. Looks at the path that was recorded, in caches that are ordered by build id, and beside
 * the object; never on the network. What has another build id than the one that was recorded is not used, and every
 * place that was looked at is reported with the reason, so that a user can be helped.
 */
#ifndef PD_OBJECT_FIND_FIND_H
#define PD_OBJECT_FIND_FIND_H

#include "object/elf/elf.h"

enum {
	PD_FIND_ARCHIVES = 16
};

/** Directories; each may be NULL. No path leads out of them. */
struct pd_find_places {
	const char *symfs;        // recorded paths are looked for below it: "/" for this machine's own files
	const char *cache;        // perf's, such as ~/.debug
	const char *const *debug; // such as /usr/lib/debug: build ids, and directories as on the machine
	size_t debug_count;
	bool always_debug; // look for the debug file of an object that has all its symbols too
	size_t limit;      // most bytes to keep of an object, 0 means 1 GiB
	// tar files in the layout of bundles and of the cache, looked at before the directories
	const struct pd_archive *archives[PD_FIND_ARCHIVES];
	size_t archive_count;
	// brings one that is looked at when nothing else has what is wanted; may be NULL, as may be what it returns
	const struct pd_archive *(*spare)(void *self);
	void *spare_self;
	bool ids_only; // what has no build id is in the archives or nowhere
};

struct pd_find_wanted {
	const char *path;       // as recorded; "[vdso]" and "[kernel.kallsyms]" are known
	const char *name;       // what archives call it if that is not the path, such as "[ext4]"; else NULL
	struct pd_object_id id; // size 0 if it is not known: then nothing can be checked
};

enum pd_find_kind {
	PD_FIND_OBJECT,
	PD_FIND_DEBUG,
	PD_FIND_KALLSYMS
};

enum pd_find_action {
	PD_FIND_USED,
	PD_FIND_MISSING,
	PD_FIND_REFUSED
};

struct pd_find_try {
	enum pd_find_kind kind;
	enum pd_find_action action;
	const char *root;
	const char *path;   // below the root
	const char *reason; // for all actions; "" if there is nothing to say
	bool other_id;      // refused for its build id
};

/** What was found, all of it optional, and where was looked. */
struct pd_found {
	struct pd_elf *object;
	struct pd_elf *debug;
	struct pd_image kallsyms; // fd is -1 if there is none
	struct pd_find_try *tries;
	size_t try_count;
	size_t try_capacity;
	struct pd_arena texts;
	bool out_of_memory;
};

/** Where the files that were found came from: what is kept of them is bound to this. */
struct pd_file_origin {
	const char *place;        // path of the object, or of the debug file if there is no other; where it would be if
				  // nothing was found; NULL if nothing may be kept
	struct pd_stamp files[2]; // object and debug file; those that were not found are zero
};

/** Finding nothing is no error. PD_ERROR_MEMORY; found_out needs no close then. */
enum pd_status pd_find(const struct pd_find_places *places, const struct pd_find_wanted *wanted,
		       struct pd_found *found_out, struct pd_error *error);
void pd_found_close(struct pd_found *found);

/** Its place lives as long as what was found. It has none where something came out of an archive: whoever made that
 * chose the build ids in it. */
struct pd_file_origin pd_found_origin(struct pd_found *found, const struct pd_find_places *places);

/** A file in the archives, by its path; false if none has it. The image is valid as long as the archive. */
bool pd_find_in_archives(const struct pd_find_places *places, const char *path, struct pd_image *image_out);

/** The file with debug information that a file shares with others (dwz), if it has the build id that is asked for; or
 * NULL. */
struct pd_elf *pd_find_shared(const struct pd_find_places *places, struct pd_elf *elf);

/** The checksum that links to debug files carry. crc is that of the bytes before, 0 at first. */
uint32_t pd_crc32(uint32_t crc, const uint8_t *data, size_t size);

#endif
