/* SPDX-License-Identifier: MIT */
#include "profile/frame/frames.h"

#include "base/cursor.h"
#include "symbol/lookup.h"

// The last word of an id: CPU mode, process, and these.
#define IS_LOCATED (UINT64_C(1) << 40)
#define IS_BY_OFFSET (UINT64_C(1) << 41)
#define IS_BY_PROCESS (UINT64_C(1) << 42)
#define IS_FUNCTION (UINT64_C(1) << 43)
#define IS_MERGED (UINT64_C(1) << 44)
#define IS_NAMELESS (UINT64_C(1) << 45) // an address for which there is no function
#define IS_ONE (UINT64_C(1) << 46)      // of all places with a name, or without one
#define NO_FUNCTION UINT64_MAX          // what has no name in an object

void pd_frames_fini(struct pd_frames *frames)
{
	pd_index_fini(&frames->index);
	pd_merge_fini(&frames->merge);
	pd_free(frames->items);
	*frames = (struct pd_frames){ 0 };
}

// ---- the same place ----

// Whether a function may stand for an address: those of a file, upon which nothing lies.
static bool may_be_function(const struct pd_frames *frames, const struct pd_range *range)
{
	return frames->functions && (range->flags & PD_RANGE_MAPPED) && !(range->flags & PD_RANGE_BY_PROCESS) &&
	       !range->ksymbol;
}

static void identify_function(const struct pd_frames *frames, struct pd_wanted *wanted, struct pd_frame_id *id)
{
	const struct pd_object *object = pd_state_object(frames->state, wanted->range.object - 1);
	enum pd_named named;
	uint64_t number;

	named = pd_functions_find(frames->functions, object, &wanted->address, &wanted->range, &number);
	wanted->unnamed = named == PD_NAMED_NOT && wanted->address.cpumode == PD_CPUMODE_USER;
	if (frames->places_as_one && named != PD_NAMED_ADDRESS) {
		*id = (struct pd_frame_id){ { 0, named == PD_NAMED_NOT, wanted->address.cpumode | IS_ONE } };
		return;
	}
	if (named == PD_NAMED_NOT && !frames->unnamed_as_one)
		id->words[2] |= IS_NAMELESS;
	if (named == PD_NAMED_ADDRESS || (named == PD_NAMED_NOT && !frames->unnamed_as_one))
		return;
	id->words[1] = named == PD_NAMED_NOT ? NO_FUNCTION : number;
	id->words[2] |= IS_FUNCTION;
}

static struct pd_frame_id identify(const struct pd_frames *frames, struct pd_wanted *wanted)
{
	const struct pd_code_address *address = &wanted->address;
	const struct pd_range *range = &wanted->range;
	bool by_process = range->flags & PD_RANGE_BY_PROCESS;
	struct pd_frame_id id;
	uint64_t code = 0;

	if (!(range->flags & PD_RANGE_MAPPED)) {
		wanted->unnamed = address->cpumode == PD_CPUMODE_USER;
		return (struct pd_frame_id){ { 0, wanted->place.where, address->cpumode } };
	}
	// of processes; code of the kernel has no dumps
	if (by_process && frames->codes && !range->ksymbol)
		code = pd_codes_number(frames->codes, address->pid, address->when, address->addr);
	id = (struct pd_frame_id){ {
		range->object | (range->ksymbol + code) << 32,
		wanted->place.where,
		address->cpumode | IS_LOCATED | (range->flags & PD_RANGE_BY_OFFSET ? IS_BY_OFFSET : 0) |
			(by_process ? (uint64_t)address->pid << 8 | IS_BY_PROCESS : 0),
	} };
	if (may_be_function(frames, range))
		identify_function(frames, wanted, &id);
	return id;
}

unsigned pd_frame_cpumode(const struct pd_raw_frame *frame)
{
	return (uint8_t)frame->id.words[2];
}

struct pd_origin pd_frame_origin(const struct pd_raw_frame *frame)
{
	const struct pd_frame_id *id = &frame->id;

	// above 32 bits: code that the kernel or a program made
	return (struct pd_origin){
		.offset = frame->offset,
		.object = (uint32_t)id->words[0] - 1,
		.symbol = id->words[2] & IS_FUNCTION && id->words[1] < PD_NO_SYMBOL ? (uint32_t)id->words[1] :
										      PD_NO_SYMBOL,
		.is_looked_for = id->words[2] & (IS_FUNCTION | IS_NAMELESS),
		.is_known = (id->words[2] & (IS_LOCATED | IS_BY_PROCESS)) == IS_LOCATED && !(id->words[0] >> 32),
		.is_unmapped = (id->words[2] & ~IS_MERGED) == PD_CPUMODE_USER,
		.by_offset = id->words[2] & IS_BY_OFFSET,
	};
}

static bool same_id(const struct pd_frame_id *a, const struct pd_frame_id *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2];
}

static uint32_t append_frame(struct pd_frames *frames, const struct pd_raw_frame *frame, uint64_t hash)
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

static bool is_earlier(const struct pd_raw_frame *a, const struct pd_raw_frame *b)
{
	return a->when.order < b->when.order || (a->when.order == b->when.order && a->depth < b->depth);
}

// The frame that is the same, or PD_NO_FRAME. The earliest in the file says where and when it was seen.
static uint32_t find_known(struct pd_frames *frames, const struct pd_raw_frame *frame, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&frames->index, hash, &at)) != PD_INDEX_END;) {
		struct pd_raw_frame *known = &frames->items[i];
		bool own = known->own;

		if (!same_id(&known->id, &frame->id))
			continue;
		if (is_earlier(frame, known))
			*known = *frame;
		known->own = own;
		return i;
	}
	return PD_NO_FRAME;
}

static uint32_t find(struct pd_frames *frames, const struct pd_raw_frame *frame, uint64_t hash)
{
	uint32_t known = find_known(frames, frame, hash);

	return known == PD_NO_FRAME ? append_frame(frames, frame, hash) : known;
}

// The same for a caller without a name, which may be merged.
static uint32_t find_caller(struct pd_frames *frames, const struct pd_raw_frame *frame, uint64_t hash)
{
	uint64_t object = frame->id.words[0], addr = frame->id.words[1];
	uint32_t found = find_known(frames, frame, hash);
	bool is_new = found == PD_NO_FRAME || !frames->items[found].own;

	if (is_new && !pd_merge_distinguishes(&frames->merge, object, addr))
		return frames->merge.frame;
	if (found == PD_NO_FRAME)
		found = append_frame(frames, frame, hash);
	if (found == PD_NO_FRAME)
		return PD_NO_FRAME;
	frames->items[found].own = true;
	pd_merge_note(&frames->merge, object, addr, frames->items[found].when.order, found, is_new);
	return found;
}

// Symbols are anywhere, and those of many addresses come in the time of one.
static void prefetch_functions(const struct pd_frames *frames, const struct pd_wanted *wanted, size_t count)
{
	for (unsigned stage = 0; stage < PD_FUNCTION_STAGES; stage++)
		for (size_t i = 0; i < count; i++)
			if (may_be_function(frames, &wanted[i].range))
				pd_functions_prefetch(frames->functions, &wanted[i].address, &wanted[i].range, stage);
}

void pd_frames_identify(const struct pd_frames *frames, struct pd_wanted *wanted, size_t count)
{
	prefetch_functions(frames, wanted, count);
	for (size_t i = 0; i < count; i++) {
		wanted[i].id = identify(frames, &wanted[i]);
		wanted[i].hash = hash_id(frames, &wanted[i].id);
	}
}

static bool end(struct pd_frames *frames, struct pd_wanted *wanted)
{
	const struct pd_code_address *address = &wanted->address;
	struct pd_raw_frame frame = {
		.id = wanted->id,
		.when = address->when,
		.recorded = address->addr,
		.pid = address->pid,
		.offset = wanted->place.where,
		.depth = address->depth,
	};

	if (wanted->unnamed && (wanted->place.order_kind & PD_IS_CALLER))
		wanted->frame = find_caller(frames, &frame, wanted->hash);
	else
		wanted->frame = find(frames, &frame, wanted->hash);
	if (wanted->frame == PD_NO_FRAME)
		return false;
	pd_known_keep(wanted->known, &wanted->place, wanted->frame);
	return true;
}

bool pd_frames_merge(struct pd_frames *frames, bool *heavy)
{
	const struct pd_raw_frame frame = {
		.id = { { 0, 0, PD_CPUMODE_USER | IS_MERGED } },
		.pid = UINT32_MAX,
	};

	if (!pd_merge_init(&frames->merge, frames->seed, heavy))
		return false;
	frames->merge.frame = append_frame(frames, &frame, hash_id(frames, &frame.id));
	return frames->merge.frame != PD_NO_FRAME;
}

bool pd_frame_is_merged(const struct pd_raw_frame *frame)
{
	return frame->id.words[2] & IS_MERGED;
}

bool pd_frame_is_unnamed(const struct pd_raw_frame *frame, uint64_t *object_out, uint64_t *addr_out)
{
	*object_out = frame->id.words[0];
	*addr_out = frame->id.words[1];
	return !(frame->id.words[2] & (IS_FUNCTION | IS_BY_PROCESS | IS_MERGED)) &&
	       pd_frame_cpumode(frame) == PD_CPUMODE_USER;
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
