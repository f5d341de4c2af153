/* SPDX-License-Identifier: MIT */
#include "profile/frames.h"

#include "base/cursor.h"
#include "profile/hash.h"

enum { KNOWN = 1 << 16, IS_KNOWN = 1 << 8 };

static bool is_of_kernel(unsigned cpumode)
{
	return cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_HYPERVISOR;
}

bool pd_frames_init(struct pd_frames *frames)
{
	frames->known = pd_alloc(KNOWN * sizeof(*frames->known));
	return frames->known != NULL;
}

void pd_frames_fini(struct pd_frames *frames)
{
	pd_free(frames->items);
	pd_free(frames->ids);
	pd_free(frames->known);
	pd_index_fini(&frames->index);
	*frames = (struct pd_frames){0};
}

// ---- the same place ----

static uint64_t number_of(const struct pd_object *object)
{
	return object ? object->index + 1 : 0;
}

static struct pd_frame_id identify(const struct pd_frames *frames, const struct pd_spot *spot)
{
	struct pd_location location;
	const struct pd_object *ksymbol;
	bool by_process;

	if (!pd_world_locate(frames->world, spot->pid, spot->cpumode, spot->when, spot->addr, &location))
		return (struct pd_frame_id){{0, spot->addr, spot->cpumode}};
	ksymbol = location.ksymbol ? location.ksymbol->object : NULL;
	// names of code without a file are the process's own
	by_process = location.object->kind == PD_OBJECT_ANON || location.mapping->anonymous;
	return (struct pd_frame_id){{
		number_of(location.object) | number_of(ksymbol) << 32,
		by_process ? spot->addr : location.offset,
		spot->cpumode | (uint64_t)(by_process ? spot->pid : 0) << 8 | UINT64_C(1) << 40,
	}};
}

static bool same_id(const struct pd_frame_id *a, const struct pd_frame_id *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2];
}

static uint32_t add(struct pd_frames *frames, const struct pd_frame_id *id, uint64_t hash, const struct pd_frame *frame)
{
	if (frames->count >= PD_NO_FRAME - 1 || !PD_GROW(frames->items, frames->capacity, frames->count + 1) ||
	    !PD_GROW(frames->ids, frames->id_capacity, frames->count + 1) ||
	    !pd_index_add(&frames->index, hash, (uint32_t)frames->count))
		return PD_NO_FRAME;
	frames->ids[frames->count] = *id;
	frames->items[frames->count] = *frame;
	return (uint32_t)frames->count++;
}

// The frame with an identity. The earliest in the file says where and when it was seen.
static uint32_t find(struct pd_frames *frames, const struct pd_frame_id *id, const struct pd_frame *frame)
{
	uint64_t hash = pd_hash_words(frames->seed, id->words, sizeof(id->words) / sizeof(id->words[0]));
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&frames->index, hash, &at)) != PD_INDEX_END;) {
		if (!same_id(&frames->ids[i], id))
			continue;
		if (frame->when.order < frames->items[i].when.order)
			frames->items[i] = *frame;
		return i;
	}
	return add(frames, id, hash, frame);
}

static uint32_t look_up(struct pd_frames *frames, const struct pd_spot *spot)
{
	struct pd_frame_id id = identify(frames, spot);
	struct pd_frame frame = {
		.place = {.addr = spot->addr, .recorded = spot->addr},
		.cpumode = spot->cpumode,
		.pid = spot->pid,
		.when = spot->when,
	};

	return find(frames, &id, &frame);
}

uint32_t pd_frames_find(struct pd_frames *frames, const struct pd_spot *spot)
{
	// all processes see the same kernel
	bool shared = is_of_kernel(spot->cpumode);
	uint64_t maps = shared ? (uint32_t)spot->maps : spot->maps;
	uint32_t pid = shared ? 0 : spot->pid, mode = spot->cpumode | IS_KNOWN;
	uint64_t words[2] = {maps + pid, spot->addr};
	struct pd_known_addr *known = &frames->known[pd_hash_words(frames->seed, words, 2) % KNOWN];
	struct pd_spot alone = *spot;

	if (known->addr == spot->addr && known->maps == maps && known->pid == pid &&
	    known->mode == mode && known->order <= spot->when.order)
		return known->frame;
	alone.pid = pid;
	*known = (struct pd_known_addr){maps, spot->addr, spot->when.order, pid, mode, look_up(frames, &alone)};
	if (PD_UNLIKELY(known->frame == PD_NO_FRAME))
		known->mode = 0;
	return known->frame;
}

uint32_t pd_frames_join(struct pd_frames *frames, const struct pd_frames *others, uint32_t index)
{
	return find(frames, &others->ids[index], &others->items[index]);
}
