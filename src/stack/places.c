/* SPDX-License-Identifier: MIT */
#include "stack/places.h"

#include "format/chain.h"

enum {
	MET_STACKS = 1 << 14
};

// ---- threads ----

const struct pd_thread_view *pd_places_view(struct pd_places *places, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_thread_view *view = pd_view_of(places->views, tid);
	struct pd_owner owner;

	if (pd_view_holds(view, pid, tid, when))
		return view;
	pd_owners_view(&places->owners, view, pid, tid, when, &owner);
	view->owner = pd_owners_find(&places->owners, &owner);
	view->used = view->owner != UINT32_MAX;
	return view->used ? view : NULL;
}

// ---- addresses ----

static bool name_frame(const struct pd_places *places, const struct pd_code_address *address)
{
	struct pd_location location;
	bool is_mapped =
		pd_state_locate(places->state, address->pid, address->cpumode, address->when, address->addr, &location);
	struct pd_place place =
		pd_symbols_place(places->symbols, address->pid, address->cpumode, address->when, address->addr);

	pd_tables_add_frame(places->tables, &place, is_mapped ? &location : NULL, address->cpumode);
	return !places->tables->failed;
}

uint32_t pd_places_frame(struct pd_places *places, struct pd_code_address address)
{
	struct pd_frames *frames = &places->frames;
	struct pd_wanted wanted = { .address = address };
	const struct pd_range *range;
	uint32_t frame;

	pd_code_address_normalize(&wanted.address);
	range = pd_range_of(places->ranges, places->state, &wanted.address, frames->unnamed_as_one);
	wanted.place = pd_place_of(frames, &wanted.address, range);
	wanted.known = pd_known_slot(frames, places->known, PD_KNOWN_PLACES, &wanted.place);
	frame = pd_known_frame(wanted.known, &wanted.place);
	if (PD_LIKELY(frame != PD_NO_FRAME))
		return places->marks + frame;
	wanted.range = *range;
	pd_frames_identify(frames, &wanted, 1);
	if (!pd_frames_find(frames, &wanted, 1))
		return PD_NO_FRAME;
	wanted.frame += places->marks;
	if (wanted.frame == places->tables->frame_count && !name_frame(places, &wanted.address))
		return PD_NO_FRAME;
	return wanted.frame;
}

// The frames of a chain, into places->chain. A chain with a marker that means nothing has none. False if there is no memory.
static bool find_chain(struct pd_places *places, struct pd_u64s chain, struct pd_code_address address, unsigned most,
		       size_t *count_out)
{
	size_t count = 0;

	*count_out = 0;
	address.cpumode = PD_CPUMODE_USER;
	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] >= PD_CONTEXT_MAX) {
			if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED)
				break;
			if (!pd_chain_mode(chain.items[i], &address.cpumode))
				return true;
			continue;
		}
		if (most && count >= most)
			break;
		address.addr = chain.items[i];
		address.depth++;
		places->chain[count] = pd_places_frame(places, address);
		if (places->chain[count++] == PD_NO_FRAME)
			return false;
	}
	*count_out = count;
	return true;
}

static bool find_stack(struct pd_places *places, const struct pd_brief *brief, uint64_t maps, struct pd_moment when,
		       unsigned most, bool is_truncated, struct pd_met_stack *met_out)
{
	struct pd_u64s chain = brief->callchain;
	struct pd_code_address address = { maps, brief->ip, brief->pid, brief->cpumode, 0, when };
	size_t count;

	if (!PD_GROW(places->chain, places->chain_capacity, chain.count + 1))
		return false;
	met_out->ip = pd_places_frame(places, address);
	// the mark is frame 0, and outermost
	met_out->stack = is_truncated && places->marks ? pd_tables_stack(places->tables, 0, 0) : 0;
	if (met_out->ip == PD_NO_FRAME || !find_chain(places, chain, address, most, &count))
		return false;
	if (!count)
		places->chain[count++] = met_out->ip;
	for (size_t i = count; i--;)
		met_out->stack = pd_tables_stack(places->tables, met_out->stack, places->chain[i]);
	return !places->tables->failed;
}

// The same words have the same stack as long as nothing else is mapped.
static struct pd_tag tag_of(const struct pd_places *places, const struct pd_brief *brief, uint64_t maps,
			    bool is_truncated)
{
	const uint64_t *secrets = places->secrets->words;
	struct pd_tag tag = { 0, 0 };

	pd_tag_add(&tag, secrets, maps, brief->ip);
	pd_tag_add(&tag, secrets + 2, (uint64_t)brief->pid << 32 | brief->cpumode,
		   (uint64_t)brief->callchain.count << 1 | is_truncated);
	pd_tag_add_words(&tag, secrets + PD_TAG_HEAD, brief->callchain.items, brief->callchain.count);
	tag.low += !tag.low; // 0 stands for none
	return tag;
}

bool pd_places_stack(struct pd_places *places, const struct pd_brief *brief, uint64_t maps, struct pd_moment when,
		     unsigned most, bool is_truncated, uint32_t *ip_out, uint32_t *stack_out)
{
	struct pd_met_stack found, *met = &found;

	if (PD_LIKELY(brief->callchain.count <= PD_TAG_CHAIN_MOST)) {
		struct pd_tag tag = tag_of(places, brief, maps, is_truncated);

		met = &places->met[tag.high % MET_STACKS];
		if (met->tag.low != tag.low || met->tag.high != tag.high) {
			met->tag.low = 0;
			if (!find_stack(places, brief, maps, when, most, is_truncated, met))
				return false;
			met->tag = tag;
		}
	} else if (!find_stack(places, brief, maps, when, most, is_truncated, met)) {
		return false;
	}
	*ip_out = met->ip;
	*stack_out = met->stack;
	return true;
}

// They are known, and not asked for.
static struct pd_symbols *symbols_of(void *self, const struct pd_state *state)
{
	(void)self;
	(void)state;
	return NULL;
}

bool pd_places_name_functions(struct pd_places *places)
{
	places->by_function = (struct pd_profile_options){ .symbols = symbols_of };
	if (!pd_functions_init(&places->functions, &places->by_function, places->state))
		return false;
	pd_functions_use(&places->functions, places->symbols);
	places->frames.functions = &places->functions;
	places->frames.unnamed_as_one = true;
	return true;
}

bool pd_places_mark_truncated(struct pd_places *places)
{
	pd_tables_add_mark(places->tables, "[truncated]");
	places->marks = 1;
	return !places->tables->failed;
}

// ---- all of it ----

bool pd_places_init(struct pd_places *places, struct pd_tables *tables, const struct pd_state *state,
		    struct pd_symbols *symbols, uint64_t seed)
{
	const struct pd_codes *codes = pd_codes_of(symbols);

	*places = (struct pd_places){ .tables = tables, .state = state, .symbols = symbols };
	places->owners.state = places->frames.state = state;
	places->owners.codes = places->frames.codes = codes;
	places->owners.by = PD_BY_COMM | PD_BY_PID | PD_BY_TID;
	places->owners.seed = places->frames.seed = seed;
	places->views = pd_alloc(PD_VIEWS * sizeof(*places->views));
	places->ranges = pd_alloc(PD_RANGE_SETS * sizeof(*places->ranges));
	places->known = pd_alloc_lines(PD_KNOWN_PLACES * sizeof(*places->known), &places->known_memory);
	places->met = pd_alloc(MET_STACKS * sizeof(*places->met));
	places->secrets = pd_alloc(sizeof(*places->secrets));
	if (places->secrets)
		pd_secrets_fill(places->secrets, seed);
	return places->views && places->ranges && places->known && places->met && places->secrets;
}

void pd_places_fini(struct pd_places *places)
{
	if (places->by_function.symbols)
		pd_functions_fini(&places->functions);
	pd_owners_fini(&places->owners);
	pd_frames_fini(&places->frames);
	pd_free(places->views);
	pd_free(places->ranges);
	pd_free(places->known_memory);
	pd_free(places->met);
	pd_free(places->secrets);
	pd_free(places->chain);
}
