/* SPDX-License-Identifier: MIT */
/* Addresses for frames of a store, which the recording that is made of it has names for. */
#ifndef PD_STORE_FRAMES_H
#define PD_STORE_FRAMES_H

#include "base/text/text.h"
#include "import/builder.h"
#include "store/store.h"
#include "object/symbols/given.h"

// Instead of addresses, with names by object.
enum {
	PD_STORE_NOTHING = 0x1000,          // where nothing is mapped
	PD_STORE_TRUNCATED = 0x2000,        // callers that are missing
	PD_STORE_NOTHING_OF_KERNEL = 0x3000 // where nothing is mapped, in samples of the kernel
};

struct pd_store_frame {
	bool known;      // else the others mean nothing
	uint64_t number; // in the store
	struct pd_sql_value function, linker, object, path, kind;
};

struct pd_store_frames {
	struct pd_builder *builder;
	struct pd_given *given;      // which gets names by object; NULL: the recording itself has names of functions
	struct pd_strings objects;   // in its arena, numbered as its objects
	struct pd_u64_map addresses; // by number of a frame
	struct pd_u64_map mapped;    // by process and object
	struct pd_text scratch;
};

void pd_store_frames_fini(struct pd_store_frames *frames);
// 0 if it failed.
uint64_t pd_store_frames_address(struct pd_store_frames *frames, const struct pd_store_frame *frame,
				 struct pd_error *error);
// Maps the objects of a chain in a process, as far as they are not. False if there is no memory.
bool pd_store_frames_map(struct pd_store_frames *frames, uint32_t pid, const uint64_t *chain, size_t count);

#endif
