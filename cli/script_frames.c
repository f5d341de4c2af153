/* SPDX-License-Identifier: MIT */
/*
 * Open addressing, at most half full; the texts are one piece of memory.
 */
#include "script_frames.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 1024, SLOTS_MOST = 1 << 21, ITEMS_MOST = (96 << 20) / sizeof(struct frame), ITEMS_LEAST = 4096 };

void frames_fini(struct frames *frames)
{
	free(frames->slots);
	free(frames->items);
	*frames = (struct frames){ 0 };
}

void frames_clear(struct frames *frames)
{
	if (frames->slots)
		memset(frames->slots, 0, frames->slot_count * sizeof(*frames->slots));
	frames->used = 0;
	frames->size = 0;
}

static void put_slot(struct frames *frames, const struct frame_key *key, uint32_t item)
{
	uint64_t hash = frame_hash(key);
	size_t at = (size_t)hash & (frames->slot_count - 1);

	while (frames->slots[at].at)
		at = (at + 1) & (frames->slot_count - 1);
	frames->slots[at] = (struct frame_slot){ (uint32_t)(hash >> 32), item };
}

static bool grow_slots(struct frames *frames)
{
	size_t old_count = frames->slot_count, count = old_count ? old_count * 2 : SLOTS_LEAST;
	struct frame_slot *old = frames->slots, *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	frames->slots = slots;
	frames->slot_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].at)
			put_slot(frames, &frames->items[old[i].at].key, old[i].at);
	free(old);
	return true;
}

static bool grow_items(struct frames *frames, size_t want)
{
	size_t room = frames->room ? frames->room : ITEMS_LEAST;
	struct frame *items;

	while (room < want)
		room *= 2;
	if (room == frames->room)
		return true;
	items = realloc(frames->items, room * sizeof(*items));
	if (!items)
		return false;
	frames->items = items;
	frames->room = room;
	return true;
}

static size_t units(size_t bytes)
{
	return (bytes + sizeof(struct frame) - 1) / sizeof(struct frame);
}

void frames_put(struct frames *frames, const struct frame_key *key, const char *text, size_t size)
{
	size_t count = 1 + units(size), padding = units(FRAME_PADDING);
	struct frame *frame;

	if (!size || size > ITEMS_MOST)
		return;
	if (frames->size + count + padding > ITEMS_MOST ||
	    (frames->slot_count == SLOTS_MOST && frames->used * 2 >= SLOTS_MOST))
		frames_clear(frames);
	if (frames->used * 2 >= frames->slot_count && !grow_slots(frames))
		return;
	/* the first unit is of nobody: 0 is a free slot */
	if (!frames->size)
		frames->size = 1;
	if (!grow_items(frames, frames->size + count + padding))
		return;
	frame = &frames->items[frames->size];
	*frame = (struct frame){ .key = *key, .size = (uint32_t)size };
	memcpy(frame + 1, text, size);
	put_slot(frames, key, (uint32_t)frames->size);
	frames->size += count;
	frames->used++;
}
