/* SPDX-License-Identifier: MIT */
/*
 * Frames: distinct places. Processes have the same file at different addresses; what is one place in one object is one
 * frame, however many processes run it. Memory without a file is distinguished by process, and so are codes that a process
 * put one in the place of another.
 */
#ifndef PD_PROFILE_COLLECT_FRAMES_H
#define PD_PROFILE_COLLECT_FRAMES_H

#include <perfdata/profile.h>

#include "base/memory.h"
#include "profile/collect/hash.h"
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
	bool is_known;   // else there is more to be asked, but for what is
	bool is_nowhere; // in memory of a process of which nothing was recorded
	bool by_offset;  // of the mapping
};

struct pd_origin pd_frame_origin(const struct pd_frame_id *id);

// A place, and the earliest sample that has it. What a look-up touches comes first, in one line of the cache.
struct pd_seen_frame {
	struct pd_frame_id id;
	struct pd_moment when;
	uint64_t recorded;
	uint32_t pid;
	unsigned cpumode;
	uint64_t depth; // which address of the sample it is; lines of the cache are not shared
};

// An address that was looked up: what a process has there while its maps stay as they are. Two of them are a line of the
// processor's cache.
struct pd_known_addr {
	uint64_t maps;
	uint64_t addr;
	uint64_t order_mode; // of the earliest sample that asked; CPU mode in the low byte, with PD_IS_KNOWN
	uint32_t pid;
	uint32_t frame;
};

// Several threads find frames, one at a time.
struct pd_frames {
	const struct pd_state *state;
	const struct pd_codes *codes; // or NULL
	uint64_t seed;
	struct pd_seen_frame *items;
	size_t count, capacity;
	struct pd_index index;
};

enum {
	PD_KNOWN_ADDRS = 1 << 16
};
enum {
	PD_IS_KNOWN = 1 << 7
};

// An address of a sample.
struct pd_code_address {
	uint64_t maps; // pd_view.maps
	uint64_t addr;
	uint32_t pid;
	unsigned cpumode;
	uint32_t depth; // 0: where it was taken; its callers after it
	struct pd_moment when;
};

// PD_NO_FRAME if there is no memory.
#define PD_NO_FRAME UINT32_MAX

// A frame that is looked for.
struct pd_wanted {
	struct pd_code_address address;
	uint32_t frame; // once it was found
	size_t at;      // who asked knows what it is for
	// on the way
	struct pd_known_addr *known;
	struct pd_frame_id id;
	uint64_t hash;
};

// What is known, which is a thread's own, of an address; where it stands or would stand.
static inline struct pd_known_addr *pd_known_slot(const struct pd_frames *frames, struct pd_known_addr *known,
						  const struct pd_code_address *address)
{
	uint64_t words[2] = { address->maps + address->pid, address->addr };

	return &known[pd_hash_words(frames->seed, words, 2) % PD_KNOWN_ADDRS];
}

static inline uint64_t pd_known_order_mode(const struct pd_code_address *address)
{
	return address->when.order << 8 | address->cpumode | PD_IS_KNOWN;
}

// PD_NO_FRAME if nothing is known. The address is one that pd_code_address_normalize had.
static inline uint32_t pd_known_frame(const struct pd_known_addr *known, const struct pd_code_address *address)
{
	uint64_t order_mode = pd_known_order_mode(address);
	bool is_known = known->addr == address->addr && known->maps == address->maps && known->pid == address->pid &&
			(uint8_t)known->order_mode == (uint8_t)order_mode && known->order_mode <= order_mode;

	return is_known ? known->frame : PD_NO_FRAME;
}

// All processes see the same kernel.
static inline void pd_code_address_normalize(struct pd_code_address *address)
{
	if (address->cpumode == PD_CPUMODE_KERNEL || address->cpumode == PD_CPUMODE_HYPERVISOR) {
		address->maps = (uint32_t)address->maps;
		address->pid = 0;
	}
}

void pd_frames_fini(struct pd_frames *frames);
// Says of each who it is. Needs no lock.
void pd_frames_identify(const struct pd_frames *frames, struct pd_wanted *wanted, size_t count);
// Finds them, many at once, so that they need not wait for memory one after another. False if there is none left. Others
// must not use the frames meanwhile.
bool pd_frames_find(struct pd_frames *frames, struct pd_wanted *wanted, size_t count);

#endif
