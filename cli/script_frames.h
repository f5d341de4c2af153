/* SPDX-License-Identifier: MIT */
/*
 * The text of each address is made once: a table from what is mapped and the address to the line that
 * perf script prints for it. Its memory is bounded; when it is full it begins anew.
 */
#ifndef CLI_SCRIPT_FRAMES_H
#define CLI_SCRIPT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_PADDING = 64 }; /* bytes that can be read behind a text */

struct frame_key {
	uint64_t maps; /* of pd_view */
	uint64_t addr;
	uint32_t look; /* CPU mode and the fields that are shown */
};

struct frame {
	struct frame_key key;
	uint32_t at;   /* in the texts */
	uint32_t size; /* 0: the slot is free */
};

/* All zero is ready for use. */
struct frames {
	struct frame *slots;
	size_t slot_count, used;
	char *texts;
	size_t text_size, text_room;
};

void frames_fini(struct frames *frames);
/* Forgets everything. */
void frames_clear(struct frames *frames);
/* Keeps a text. Without memory it is not kept. */
void frames_put(struct frames *frames, const struct frame_key *key, const char *text, size_t size);

static inline size_t frame_hash(const struct frame_key *key)
{
	uint64_t mixed = (key->addr ^ (key->maps + key->look) * UINT64_C(0x9e3779b97f4a7c15)) *
			 UINT64_C(0xff51afd7ed558ccd);

	return (size_t)(mixed >> 29 ^ mixed >> 47);
}

static inline bool frame_is(const struct frame *frame, const struct frame_key *key)
{
	return frame->key.addr == key->addr && frame->key.maps == key->maps && frame->key.look == key->look;
}

/* The text of an address, or NULL if there is none yet. */
static inline const char *frames_get(const struct frames *frames, const struct frame_key *key, size_t *size_out)
{
	size_t mask = frames->slot_count - 1, at;

	if (!frames->slot_count)
		return NULL;
	for (at = frame_hash(key) & mask; frames->slots[at].size; at = (at + 1) & mask) {
		if (!frame_is(&frames->slots[at], key))
			continue;
		*size_out = frames->slots[at].size;
		return frames->texts + frames->slots[at].at;
	}
	return NULL;
}

#endif
