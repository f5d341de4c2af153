/* SPDX-License-Identifier: MIT */
/*
 * Names of frames. The object of most frames is known since they were distinguished. Which of its symbols they are in is found in
 * parts, on several threads, once all objects are loaded; functions are made in the order of the frames, so that nothing
 * depends on threads. Of a profile with many frames a thread does it while others put the rest together.
 */
#include "base/error.h"
#include "base/threads.h"
#include "profile/profile.h"
#include "symbol/lookup.h"

// Frames; for less a thread costs more.
enum {
	WORTH_A_PART = 1 << 12,
	WORTH_A_THREAD = 1 << 15
};

#define ELSEWHERE (PD_LOOKUP_ASK - 1) // nothing is known of the frame but its address

struct naming {
	struct pd_profile *profile;
	struct pd_symbols *symbols;
	size_t parts;
	bool are_found;      // symbols of origins are those of the same tables
	size_t first_dso;    // that was loaded while samples were counted
	uint32_t *symbol_of; // by frame: PD_NO_SYMBOL, PD_LOOKUP_ASK or ELSEWHERE, too
};

// Loads the objects of all frames, by the first frame of each. Those that some thread loaded while samples were counted get the
// numbers that they would have then. False if there is no memory.
static bool load_objects(const struct naming *n)
{
	const struct pd_profile *profile = n->profile;
	struct pd_lookup_order order;

	if (!pd_lookup_order_begin(&order, n->symbols, n->first_dso))
		return false;
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct pd_frame *frame = &profile->frames[i];
		struct pd_location location;

		if (!profile->origins[i].is_known || pd_lookup_order_note(&order, profile->origins[i].object))
			continue;
		if (pd_state_locate(profile->state, frame->pid, frame->cpumode, frame->when, frame->place.recorded,
				    &location))
			pd_lookup_open(n->symbols, &location);
	}
	pd_lookup_order_end(&order);
	return true;
}

static void find_symbols(void *self, size_t part)
{
	const struct naming *n = self;
	const struct pd_profile *profile = n->profile;
	size_t end = pd_part_begin(profile->frame_count, n->parts, part + 1);

	for (size_t i = pd_part_begin(profile->frame_count, n->parts, part); i < end; i++) {
		const struct pd_origin *origin = &profile->origins[i];
		const struct pd_dso_full *dso = origin->is_known ? pd_lookup_loaded(n->symbols, origin->object) : NULL;
		struct pd_place *place = &profile->frames[i].place;

		n->symbol_of[i] = origin->is_unmapped ? PD_NO_SYMBOL : ELSEWHERE;
		if (!dso || dso->jits)
			continue;
		place->dso = &dso->dso;
		place->addr = pd_lookup_addr(dso, origin->offset, origin->by_offset, place->recorded);
		n->symbol_of[i] = n->are_found && origin->is_looked_for && !dso->kernel && !dso->kallsyms ?
					  origin->symbol :
					  pd_lookup_symbol(dso, place->addr);
	}
}

static bool has_function(const struct naming *n, size_t frame)
{
	return n->symbol_of[frame] != ELSEWHERE && n->symbol_of[frame] != PD_NO_SYMBOL;
}

static void name_frames(const struct naming *n)
{
	enum {
		AHEAD = 8
	};

	for (size_t i = 0; i < n->profile->frame_count; i++) {
		struct pd_frame *frame = &n->profile->frames[i];

		if (i + AHEAD < n->profile->frame_count && has_function(n, i + AHEAD))
			pd_lookup_prefetch(n->symbols, &frame[AHEAD].place, n->symbol_of[i + AHEAD]);
		if (n->symbol_of[i] == ELSEWHERE)
			frame->place = pd_symbols_place(n->symbols, frame->pid, frame->cpumode, frame->when,
							frame->place.recorded);
		else
			frame->place.function = has_function(n, i) ?
							pd_lookup_function(n->symbols, &frame->place, n->symbol_of[i]) :
							NULL;
	}
}

static enum pd_status name_all(struct pd_profile *profile, struct pd_symbols *symbols, size_t parts,
			       struct pd_error *error)
{
	struct naming n = {
		.profile = profile,
		.symbols = symbols,
		.parts = parts,
		.are_found = symbols == profile->symbols,
		.first_dso = symbols == profile->symbols ? profile->first_dso : symbols->dso_count,
	};

	profile->named_by = 0;
	n.symbol_of = pd_realloc(NULL, (profile->frame_count + 1) * sizeof(*n.symbol_of));
	if (!n.symbol_of)
		return pd_fail_memory(error);
	if (!load_objects(&n)) {
		pd_free(n.symbol_of);
		return pd_fail_memory(error);
	}
	pd_in_parts(n.parts, find_symbols, &n);
	name_frames(&n);
	pd_free(n.symbol_of);
	if (pd_symbols_failed(symbols))
		return pd_fail_memory(error);
	profile->named_by = symbols->serial;
	return PD_OK;
}

enum pd_status pd_profile_name(struct pd_profile *profile, struct pd_symbols *symbols, struct pd_error *error)
{
	size_t parts = pd_thread_count(profile->options.threads);

	if (profile->named_by == symbols->serial)
		return PD_OK;
	if (parts > profile->frame_count / WORTH_A_PART)
		parts = profile->frame_count / WORTH_A_PART;
	return name_all(profile, symbols, parts > PD_PARTS_MOST ? PD_PARTS_MOST : parts ? parts : 1, error);
}

// ---- in the background ----

// What goes wrong is reported when names are asked for.
static void name_in_background(void *self)
{
	struct pd_profile *profile = self;
	struct pd_error unwanted;

	name_all(profile, profile->symbols, 1, &unwanted);
}

bool pd_profile_begin_names(struct pd_profile *profile)
{
	// who fetches objects does it where names are asked for
	return profile->symbols && !profile->symbols->fetch && profile->frame_count >= WORTH_A_THREAD &&
	       pd_worker_start(&profile->namer, name_in_background, profile) == 0;
}

void pd_profile_end_names(struct pd_profile *profile)
{
	pd_worker_join(&profile->namer);
}
