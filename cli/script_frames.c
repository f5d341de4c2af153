/* SPDX-License-Identifier: MIT */
/*
 * Open addressing, at most two thirds full; the texts are one piece of memory.
 */
#include "script_frames.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 1024, SLOTS_MOST = 1 << 20, TEXTS_MOST = 64 << 20 };

void frames_fini(struct frames *frames)
{
	free(frames->slots);
	free(frames->texts);
	*frames = (struct frames){ 0 };
}

void frames_clear(struct frames *frames)
{
	if (frames->slots)
		memset(frames->slots, 0, frames->slot_count * sizeof(*frames->slots));
	frames->used = 0;
	frames->text_size = 0;
}

static struct frame *free_slot(struct frame *slots, size_t count, const struct frame_key *key)
{
	size_t at = frame_hash(key) & (count - 1);

	while (slots[at].size)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static bool grow_slots(struct frames *frames)
{
	size_t count = frames->slot_count ? frames->slot_count * 2 : SLOTS_LEAST;
	struct frame *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < frames->slot_count; i++) {
		if (frames->slots[i].size)
			*free_slot(slots, count, &frames->slots[i].key) = frames->slots[i];
	}
	free(frames->slots);
	frames->slots = slots;
	frames->slot_count = count;
	return true;
}

static bool grow_texts(struct frames *frames, size_t want)
{
	size_t room = frames->text_room ? frames->text_room : 64 * 1024;
	char *texts;

	want += FRAME_PADDING;
	while (room < want)
		room *= 2;
	if (room == frames->text_room)
		return true;
	texts = realloc(frames->texts, room);
	if (!texts)
		return false;
	frames->texts = texts;
	frames->text_room = room;
	return true;
}

void frames_put(struct frames *frames, const struct frame_key *key, const char *text, size_t size)
{
	struct frame *slot;

	if (!size || size > TEXTS_MOST / 2)
		return;
	if (frames->text_size + size > TEXTS_MOST ||
	    (frames->slot_count == SLOTS_MOST && frames->used * 3 >= SLOTS_MOST * 2))
		frames_clear(frames);
	if (frames->used * 3 >= frames->slot_count * 2 && !grow_slots(frames))
		return;
	if (!grow_texts(frames, frames->text_size + size))
		return;
	memcpy(frames->texts + frames->text_size, text, size);
	slot = free_slot(frames->slots, frames->slot_count, key);
	*slot = (struct frame){ .key = *key, .at = (uint32_t)frames->text_size, .size = (uint32_t)size };
	frames->text_size += size;
	frames->used++;
}
