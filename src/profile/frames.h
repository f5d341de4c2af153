/* SPDX-License-Identifier: MIT */
/*
 * Frames: distinct places. Processes have the same file at different addresses; what is one place in one object is one
 * frame, however many processes run it. Memory without a file is told apart by process, and codes that a process put one in
 * the place of another are told apart.
 */
#ifndef PD_PROFILE_FRAMES_H
#define PD_PROFILE_FRAMES_H

#include <perfdata/profile.h>

#include "base/memory.h"
#include "symbol/codes.h"
#include "world/index.h"

// What makes a place the same.
struct pd_frame_id {
	uint64_t words[3];
};

// A place, and the earliest sample that has it. What a look-up touches comes first, in one line of the cache.
struct pd_seen_frame {
	struct pd_frame_id id;
	struct pd_moment when;
	uint64_t recorded;
	uint32_t pid;
	unsigned cpumode;
	uint64_t depth; // which address of the sample it is; lines of the cache are not shared
};

// An address that was looked up: what a process has there while its maps stay as they are.
struct pd_known_addr {
	uint64_t maps;
	uint64_t addr;
	uint64_t order; // of the earliest sample that asked
	uint32_t pid;
	uint32_t mode; // CPU mode, plus 1 << 8 if something is known
	uint32_t frame;
};

// Several threads find frames, one at a time.
struct pd_frames {
	const struct pd_world *world;
	const struct pd_codes *codes; // or NULL
	uint64_t seed;
	struct pd_seen_frame *items;
	size_t count, capacity;
	struct pd_index index;
};

enum { PD_KNOWN_ADDRS = 1 << 16 };

// An address of a sample.
struct pd_spot {
	uint64_t maps; // pd_view.maps
	uint64_t addr;
	uint32_t pid;
	unsigned cpumode;
	uint32_t depth; // 0: where it was taken; its callers behind
	struct pd_moment when;
};

// PD_NO_FRAME if there is no memory.
#define PD_NO_FRAME UINT32_MAX

// A frame that is looked for.
struct pd_wanted {
	struct pd_spot spot;
	uint32_t frame; // once it was found
	// on the way
	bool is_known;
	struct pd_known_addr *known;
	struct pd_frame_id id;
	uint64_t hash;
};

void pd_frames_fini(struct pd_frames *frames);
// Says of each what is known of its address, which is the thread's own, or who it is. Returns how many are not known.
size_t pd_frames_look(const struct pd_frames *frames, struct pd_known_addr *known, struct pd_wanted *wanted, size_t count);
// Finds those that are not known, many at once, so that they need not wait for memory one after another. False if there
// is none left. Others must not use the frames meanwhile.
bool pd_frames_find(struct pd_frames *frames, struct pd_wanted *wanted, size_t count);

#endif
