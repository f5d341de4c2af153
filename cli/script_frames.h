/* SPDX-License-Identifier: MIT */
/*
 * The text of each address is made once: a table from objects and places in them to the line that
 * perf script prints for it. Its memory is bounded; when it is full it begins anew.
 */
#ifndef CLI_SCRIPT_FRAMES_H
#define CLI_SCRIPT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_PADDING = 64 }; /* bytes that can be read behind a text */

struct frame_key {
	uint64_t what; /* see frame_key */
	uint64_t addr;
};

struct frame {
	struct frame_key key;
	uint32_t size; /* of the text, which follows */
};

/* Small, since samples come from everywhere and most slots are far from the processor. */
struct frame_slot {
	uint32_t tag; /* of the hash */
	uint32_t at;  /* of a frame, in units of struct frame; 0: the slot is free */
};

/* All zero is ready for use. */
struct frames {
	struct frame_slot *slots;
	size_t slot_count, used;
	struct frame *items; /* with their texts */
	size_t size, room; /* of the items, in units of struct frame */
};

void frames_fini(struct frames *frames);
/* Forgets everything. */
void frames_clear(struct frames *frames);
/* Keeps a text. Without memory it is not kept. */
void frames_put(struct frames *frames, const struct frame_key *key, const char *text, size_t size);

/* Of an object by its index, or of the kernel by what it has mapped; look is the CPU mode and the fields that are
 * shown. */
static inline struct frame_key frame_key(size_t place, uint32_t look, uint64_t addr)
{
	return (struct frame_key){ (uint64_t)place << 32 | look, addr };
}

static inline uint64_t frame_hash(const struct frame_key *key)
{
	uint64_t mixed = (key->addr ^ key->what * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);

	return mixed ^ mixed >> 32;
}

/* The text of an address, or NULL if there is none yet. Valid until the table is changed. */
static inline const struct frame *frames_get(const struct frames *frames, const struct frame_key *key)
{
	uint64_t hash = frame_hash(key);
	size_t mask = frames->slot_count - 1, at;

	if (!frames->slot_count)
		return NULL;
	for (at = (size_t)hash & mask; frames->slots[at].at; at = (at + 1) & mask) {
		const struct frame *frame = &frames->items[frames->slots[at].at];

		if (frames->slots[at].tag == (uint32_t)(hash >> 32) && frame->key.addr == key->addr &&
		    frame->key.what == key->what)
			return frame;
	}
	return NULL;
}

/* Asks for what frames_get looks at first. */
static inline void frames_fetch(const struct frames *frames, const struct frame_key *key)
{
	if (frames->slot_count)
		__builtin_prefetch(&frames->slots[(size_t)frame_hash(key) & (frames->slot_count - 1)]);
}

/* Asks for what frames_get most likely answers. */
static inline void frames_fetch_text(const struct frames *frames, const struct frame_key *key)
{
	uint64_t hash = frame_hash(key);
	size_t at = frames->slot_count ? (size_t)hash & (frames->slot_count - 1) : 0;
	const char *frame;

	if (!frames->slot_count || frames->slots[at].tag != (uint32_t)(hash >> 32))
		return;
	frame = (const char *)&frames->items[frames->slots[at].at];
	__builtin_prefetch(frame);
	__builtin_prefetch(frame + 64);
}

static inline const char *frame_text(const struct frame *frame)
{
	return (const char *)(frame + 1);
}

#endif
