/* SPDX-License-Identifier: MIT */
/*
 * Frames: distinct places. Processes have the same file at different addresses; what is one place in one object is one
 * frame, however many processes run it. Memory without a file is distinguished by process, and so are codes that a process
 * put one in the place of another.
 */
#ifndef PD_PROFILE_COLLECT_FRAMES_H
#define PD_PROFILE_COLLECT_FRAMES_H

#include <perfdata/profile.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "profile/frame/hash.h"
#include "profile/frame/functions.h"
#include "profile/frame/merge.h"
#include "profile/frame/ranges.h"
#include "symbol/codes.h"
#include "base/lookup/hash.h"

// What makes a place the same.
struct pd_frame_id {
	uint64_t words[3];
};

// A place in a file that nothing lies upon, so that its name depends on the object alone.
struct pd_origin {
	uint64_t offset;
	uint32_t object; // its index
	uint32_t symbol; // if it was looked for: its number, or PD_NO_SYMBOL; of the kernel's it is another number
	bool is_looked_for;
	bool is_known;    // else there is more to be asked, but for what is
	bool is_unmapped; // in memory of a process of which nothing was recorded
	bool by_offset;   // of the mapping
};

// A place, and the earliest sample that has it. What a look-up touches comes first, in one line of the cache.
struct pd_raw_frame {
	struct pd_frame_id id;
	struct pd_moment when;
	uint64_t recorded;
	uint64_t offset; // in its object
	uint32_t pid;
	uint32_t depth : 31; // which address of the sample it is; lines of the cache are not shared
	uint32_t own : 1;    // as a caller, too, see merge.h
};

struct pd_origin pd_frame_origin(const struct pd_raw_frame *frame);
unsigned pd_frame_cpumode(const struct pd_raw_frame *frame);

// A place that was looked up lately: in a file, whatever process asks; in memory without one, of a process while its maps stay
// as they are. Two of them are a line of the processor's cache.
struct pd_known_place {
	uint64_t what, where;
	uint64_t order_kind; // of the earliest sample that asked; what kind of place it is in the low byte, with PD_IS_KNOWN
	uint32_t pid;
	uint32_t frame;
};

// Several threads find frames, one at a time.
struct pd_frames {
	const struct pd_state *state;
	const struct pd_codes *codes;   // or NULL
	struct pd_functions *functions; // that stand for their addresses, or NULL
	bool unnamed_as_one;            // so does what has no name, for each object and where nothing is mapped
	bool places_as_one;             // all that have a name are one frame, and all that have none
	struct pd_merge merge;          // callers without a name that are rare
	uint64_t seed;
	struct pd_raw_frame *items;
	size_t count, capacity;
	struct pd_index index;
};

enum {
	PD_KNOWN_PLACES_FIRST = 1 << 11, // for small files: memory that is not needed costs most of their time
	PD_KNOWN_PLACES = 1 << 16,
	PD_KNOWN_GROWTH = 8,
	PD_KNOWN_IN_LINE = 2
};
enum {
	PD_IS_CALLER = 1 << 6, // it may be merged
	PD_IS_KNOWN = 1 << 7
};

// PD_NO_FRAME if there is no memory.
#define PD_NO_FRAME UINT32_MAX

// A frame that is looked for.
struct pd_wanted {
	struct pd_code_address address;
	struct pd_range range;
	struct pd_known_place place; // as it will be known
	struct pd_known_place *known;
	uint32_t frame; // once it was found
	uint32_t miss;  // who asked knows what it is for
	size_t at;      // the same
	// on the way
	struct pd_frame_id id;
	uint64_t hash;
	bool unnamed;
};

// The place of an address, without its frame. Each member is stored where it stays: a copy of what was just written in parts waits until
// all of it is in the cache.
static inline void pd_place_fill(struct pd_known_place *place, const struct pd_frames *frames,
				 const struct pd_code_address *address, const struct pd_range *range)
{
	bool is_caller = address->depth && frames->merge.own;

	place->what = range->what;
	place->where = (address->addr + range->to_offset) & range->mask;
	place->order_kind = address->when.order << 8 | range->kind | PD_IS_KNOWN | (is_caller ? PD_IS_CALLER : 0);
	place->pid = range->pid;
	place->frame = 0;
}

static inline unsigned pd_place_cpumode(const struct pd_known_place *place)
{
	return place->order_kind & 7;
}

// Whether it is a caller that may be merged, in memory of a process of which nothing was recorded.
static inline bool pd_place_is_unmapped_caller(const struct pd_known_place *place)
{
	return (uint8_t)place->order_kind == (PD_CPUMODE_USER | PD_IS_CALLER | PD_IS_KNOWN);
}

// What is known, which is a thread's own, of a place; where it stands or would stand.
static inline struct pd_known_place *pd_known_slot(const struct pd_frames *frames, struct pd_known_place *known,
						   size_t known_count, const struct pd_known_place *place)
{
	uint64_t hash = pd_fold(place->where ^ frames->seed, (place->what + place->pid) ^ ~frames->seed);

	return &known[(hash >> 20) & (known_count - 1) & ~(uint64_t)(PD_KNOWN_IN_LINE - 1)];
}

// Without a branch for each.
static inline bool pd_same_place(const struct pd_known_place *a, const struct pd_known_place *b)
{
	return !((a->where ^ b->where) | (a->what ^ b->what) | (a->pid ^ b->pid) |
		 (uint8_t)(a->order_kind ^ b->order_kind));
}

// PD_NO_FRAME if nothing is known. Nobody could foresee which of the two it is.
static inline uint32_t pd_known_frame(const struct pd_known_place *known, const struct pd_known_place *place)
{
	known += pd_same_place(&known[1], place);
	return PD_LIKELY(pd_same_place(known, place) && known->order_kind <= place->order_kind) ? known->frame :
												  PD_NO_FRAME;
}

// A newer one takes the place of the older one of two.
static inline void pd_known_keep(struct pd_known_place *known, const struct pd_known_place *place, uint32_t frame)
{
	if (!pd_same_place(&known[0], place))
		known[1] = known[0];
	known[0] = *place;
	known[0].frame = frame;
}

// Makes the frame that stands for callers that are rare; heavy as for pd_merge_init. False if there is no memory.
bool pd_frames_merge(struct pd_frames *frames, bool *heavy);
bool pd_frame_is_merged(const struct pd_raw_frame *frame);
// Whether a frame is an address of a process without a name, in an object (0: none), or may be one.
bool pd_frame_is_unnamed(const struct pd_raw_frame *frame, uint64_t *object_out, uint64_t *addr_out);
void pd_frames_fini(struct pd_frames *frames);
// Says of each who it is. Needs no lock.
void pd_frames_identify(const struct pd_frames *frames, struct pd_wanted *wanted, size_t count);
// Finds them, many at once, so that they need not wait for memory one after another. False if there is none left. Others
// must not use the frames meanwhile.
bool pd_frames_find(struct pd_frames *frames, struct pd_wanted *wanted, size_t count);

#endif
