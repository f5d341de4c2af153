/* SPDX-License-Identifier: MIT */
/*
 * The entries of the feature BUILD_ID: records of old, in several shapes.
 */
#ifndef CLI_BUILD_IDS_H
#define CLI_BUILD_IDS_H

#include "running.h"

#include <perfdata/file.h>

enum {
	BUILD_ID_BYTES = 20
};

struct build_id_entry {
	uint16_t misc;
	uint32_t pid; /* UINT32_MAX: the host; also where recorders did not write it */
	struct build_id id;
	const char *name; /* ended by a NUL */
};

/* A walk; begins with all but the first two members 0. */
struct build_id_walk {
	struct pd_bytes records;
	bool big_endian;
	bool begun, lacks_pid;
	size_t at;
	size_t unreadable; /* bytes of entries that make no sense, once the end is reached */
};

/* The next entry; false at the end. */
bool build_ids_next(struct build_id_walk *walk, struct build_id_entry *entry_out);

#endif
