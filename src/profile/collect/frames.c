/* SPDX-License-Identifier: MIT */
#include "profile/collect/frames.h"

#include "base/cursor.h"

// The last word of an id: CPU mode, process, and these.
#define IS_LOCATED (UINT64_C(1) << 40)
#define IS_BY_OFFSET (UINT64_C(1) << 41)
#define IS_BY_PROCESS (UINT64_C(1) << 42)

void pd_frames_fini(struct pd_frames *frames)
{
	pd_index_fini(&frames->index);
	pd_free(frames->items);
	*frames = (struct pd_frames){ 0 };
}

// ---- the same place ----

static uint64_t number_of(const struct pd_object *object)
{
	return object ? object->index + 1 : 0;
}

static struct pd_frame_id identify(const struct pd_frames *frames, const struct pd_code_address *address)
{
	struct pd_location location;
	const struct pd_object *ksymbol;
	uint64_t code = 0;
	uint64_t flags = IS_LOCATED;
	bool by_process;

	if (!pd_state_locate(frames->state, address->pid, address->cpumode, address->when, address->addr, &location))
		return (struct pd_frame_id){ { 0, address->addr, address->cpumode } };
	ksymbol = location.ksymbol ? location.ksymbol->object : NULL;
	// names of code without a file are the process's own
	by_process = location.object->kind == PD_OBJECT_ANON || location.mapping->anonymous;
	// of processes; code of the kernel has no dumps
	if (by_process && frames->codes && !ksymbol)
		code = pd_codes_number(frames->codes, address->pid, address->when, address->addr);
	flags |= location.mapping->by_offset ? IS_BY_OFFSET : 0;
	flags |= by_process ? IS_BY_PROCESS : 0;
	return (struct pd_frame_id){ {
		number_of(location.object) | (number_of(ksymbol) + code) << 32,
		by_process ? address->addr : location.offset,
		address->cpumode | (uint64_t)(by_process ? address->pid : 0) << 8 | flags,
	} };
}

struct pd_origin pd_frame_origin(const struct pd_frame_id *id)
{
	// above 32 bits: code that the kernel or a program made
	return (struct pd_origin){
		.offset = id->words[1],
		.object = (uint32_t)id->words[0] - 1,
		.is_known = (id->words[2] & (IS_LOCATED | IS_BY_PROCESS)) == IS_LOCATED && !(id->words[0] >> 32),
		.is_nowhere = !(id->words[2] & IS_LOCATED) && id->words[2] == PD_CPUMODE_USER,
		.by_offset = id->words[2] & IS_BY_OFFSET,
	};
}

static bool same_id(const struct pd_frame_id *a, const struct pd_frame_id *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2];
}

static uint32_t append_frame(struct pd_frames *frames, const struct pd_seen_frame *frame, uint64_t hash)
{
	if (frames->count >= PD_NO_FRAME - 1 || !PD_GROW(frames->items, frames->capacity, frames->count + 1) ||
	    !pd_index_add(&frames->index, hash, (uint32_t)frames->count))
		return PD_NO_FRAME;
	frames->items[frames->count] = *frame;
	return (uint32_t)frames->count++;
}

static uint64_t hash_id(const struct pd_frames *frames, const struct pd_frame_id *id)
{
	return pd_hash_words(frames->seed, id->words, sizeof(id->words) / sizeof(id->words[0]));
}

static bool is_earlier(const struct pd_seen_frame *a, const struct pd_seen_frame *b)
{
	return a->when.order < b->when.order || (a->when.order == b->when.order && a->depth < b->depth);
}

// The frame that is the same. The earliest in the file says where and when it was seen.
static uint32_t find(struct pd_frames *frames, const struct pd_seen_frame *frame, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&frames->index, hash, &at)) != PD_INDEX_END;) {
		if (!same_id(&frames->items[i].id, &frame->id))
			continue;
		if (is_earlier(frame, &frames->items[i]))
			frames->items[i] = *frame;
		return i;
	}
	return append_frame(frames, frame, hash);
}

void pd_frames_identify(const struct pd_frames *frames, struct pd_wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		wanted[i].id = identify(frames, &wanted[i].address);
		wanted[i].hash = hash_id(frames, &wanted[i].id);
	}
}

static bool end(struct pd_frames *frames, struct pd_wanted *wanted)
{
	const struct pd_code_address *address = &wanted->address;
	struct pd_seen_frame frame = {
		.id = wanted->id,
		.when = address->when,
		.recorded = address->addr,
		.pid = address->pid,
		.cpumode = address->cpumode,
		.depth = address->depth,
	};

	wanted->frame = find(frames, &frame, wanted->hash);
	if (wanted->frame == PD_NO_FRAME)
		return false;
	*wanted->known = (struct pd_known_addr){ address->maps, address->addr, pd_known_order_mode(address),
						 address->pid, wanted->frame };
	return true;
}

bool pd_frames_find(struct pd_frames *frames, struct pd_wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pd_index_prefetch(&frames->index, wanted[i].hash);
	for (size_t i = 0; i < count; i++) {
		uint32_t likely = pd_index_peek(&frames->index, wanted[i].hash);

		if (likely != PD_INDEX_END)
			__builtin_prefetch(&frames->items[likely]);
	}
	for (size_t i = 0; i < count; i++)
		if (!end(frames, &wanted[i]))
			return false;
	return true;
}
