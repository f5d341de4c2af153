/* SPDX-License-Identifier: MIT */
#include "stack/places.h"

#include "format/chain.h"
#include "symbol/data.h"

#include <string.h>

enum {
	MET_STACKS = 1 << 18 // of a program that runs for long; memory that is not used costs nothing
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

static bool name_frame(const struct pd_places *places, const struct pd_wanted *wanted)
{
	const struct pd_code_address *address = &wanted->address;
	struct pd_location location;
	// most addresses that come once are garbage outside of any mapping
	bool is_mapped =
		wanted->range.flags & PD_RANGE_MAPPED &&
		pd_state_locate(places->state, address->pid, address->cpumode, address->when, address->addr, &location);
	struct pd_place place = { .addr = address->addr, .recorded = address->addr };

	if (is_mapped)
		place = pd_symbols_at(places->symbols, &location, address->when, address->addr);
	else if (address->cpumode != PD_CPUMODE_USER)
		place = pd_symbols_place(places->symbols, address->pid, address->cpumode, address->when, address->addr);

	pd_tables_add_frame(places->tables, &place, is_mapped ? &location : NULL, address->cpumode);
	return !places->tables->failed;
}

// Finds frames that are not known, many at once.
static bool find_wanted(struct pd_places *places, struct pd_wanted *wanted, size_t count)
{
	places->known_added += count;
	pd_frames_identify(&places->frames, wanted, count);
	if (!pd_frames_find(&places->frames, wanted, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		wanted[i].frame += places->marks;
		// new ones have the next numbers, in this order
		if (wanted[i].frame == places->tables->frame_count && !name_frame(places, &wanted[i]))
			return false;
	}
	return true;
}

// What is asked of an address, with its frame if that is known, else PD_NO_FRAME.
static void want(struct pd_places *places, const struct pd_code_address *address, struct pd_wanted *wanted)
{
	*wanted = (struct pd_wanted){ .address = *address };
	pd_code_address_normalize(&wanted->address);
	wanted->range = *pd_range_of(places->ranges, places->state, &wanted->address, places->frames.unnamed_as_one);
	pd_place_fill(&wanted->place, &places->frames, &wanted->address, &wanted->range);
	wanted->known = pd_known_slot(&places->frames, places->known, places->known_count, &wanted->place);
}

// What is known of places is known again soon, so a larger table begins empty. Without memory the present one goes on.
static void grow_known(struct pd_places *places)
{
	struct pd_known_place *known;
	void *memory;

	if (PD_LIKELY(places->known_added <= places->known_count / 2) || places->known_count >= PD_KNOWN_PLACES)
		return;
	known = pd_alloc_lines(PD_KNOWN_GROWTH * places->known_count * sizeof(*known), &memory);
	if (!known)
		return;
	pd_free(places->known_memory);
	places->known = known;
	places->known_memory = memory;
	places->known_count *= PD_KNOWN_GROWTH;
	places->known_added = 0;
}

uint32_t pd_places_frame(struct pd_places *places, struct pd_code_address address)
{
	struct pd_wanted wanted;
	uint32_t frame;

	grow_known(places);
	want(places, &address, &wanted);
	frame = pd_known_frame(wanted.known, &wanted.place);
	if (PD_LIKELY(frame != PD_NO_FRAME))
		return places->marks + frame;
	return find_wanted(places, &wanted, 1) ? wanted.frame : PD_NO_FRAME;
}

void pd_places_ask(struct pd_places *places, struct pd_code_address address, struct pd_place_ask *ask)
{
	pd_code_address_normalize(&address);
	ask->address = address;
	pd_place_fill(&ask->place, &places->frames, &address,
		      pd_range_of(places->ranges, places->state, &address, places->frames.unnamed_as_one));
	ask->known = pd_known_slot(&places->frames, places->known, places->known_count, &ask->place);
	__builtin_prefetch(ask->known);
}

bool pd_places_frames(struct pd_places *places, const struct pd_place_ask *asks, size_t count, uint32_t *frames_out)
{
	struct pd_wanted wanted[PD_STACKS_AT_ONCE];
	size_t wanted_count = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t frame = pd_known_frame(asks[i].known, &asks[i].place);

		frames_out[i] = places->marks + frame;
		if (PD_LIKELY(frame != PD_NO_FRAME))
			continue;
		want(places, &asks[i].address, &wanted[wanted_count]);
		wanted[wanted_count++].at = i;
	}
	if (wanted_count && !find_wanted(places, wanted, wanted_count))
		return false;
	for (size_t i = 0; i < wanted_count; i++)
		frames_out[wanted[i].at] = wanted[i].frame;
	grow_known(places);
	return true;
}

// ---- chains ----

static struct pd_code_address entry_address(const struct pd_code_address *first, const struct pd_chain_entry *entries,
					    size_t at)
{
	struct pd_code_address address = *first;

	address.addr = entries[at].addr;
	address.cpumode = entries[at].cpumode;
	address.depth += (uint32_t)at;
	return address;
}

// The addresses of a chain, into places->entries. A chain with a marker that means nothing has none. False if there is no memory.
static bool list_entries(struct pd_places *places, struct pd_u64s chain, unsigned most)
{
	struct pd_chain_entries *entries = &places->entries;
	unsigned cpumode = PD_CPUMODE_USER;

	entries->count = 0;
	if (!PD_GROW(entries->items, entries->capacity, chain.count + 1))
		return false;
	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX) {
			if (most && entries->count >= most)
				break;
			entries->items[entries->count++] = (struct pd_chain_entry){ chain.items[i], cpumode, 0, 0 };
		} else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED) {
			break;
		} else if (!pd_chain_mode(chain.items[i], &cpumode)) {
			entries->count = 0;
			break;
		}
	}
	return true;
}

// How many of the outermost entries are those of another chain; these have their stacks then.
static size_t share_entries(struct pd_chain_entries *entries, const struct pd_chain_entries *other)
{
	size_t most = entries->count < other->count ? entries->count : other->count, shared = 0;
	struct pd_chain_entry *to = entries->items + entries->count;
	const struct pd_chain_entry *from = other->items + other->count;

	for (; shared < most && to[-1].addr == from[-1].addr && to[-1].cpumode == from[-1].cpumode; shared++)
		*--to = *--from;
	return shared;
}

// At most PD_STACKS_AT_ONCE.
static bool find_frames(struct pd_places *places, struct pd_code_address address, struct pd_chain_entry *entries,
			size_t count)
{
	struct pd_place_ask asks[PD_STACKS_AT_ONCE];
	uint32_t frames[PD_STACKS_AT_ONCE];

	for (size_t i = 0; i < count; i++)
		pd_places_ask(places, entry_address(&address, entries, i), &asks[i]);
	if (!pd_places_frames(places, asks, count, frames))
		return false;
	for (size_t i = 0; i < count; i++)
		entries[i].frame = frames[i];
	return true;
}

// The stacks of some entries; those after them have theirs.
static void find_stacks(struct pd_places *places, uint32_t parent, struct pd_chain_entry *entries, size_t count)
{
	uint32_t frames[PD_STACKS_AT_ONCE], stacks[PD_STACKS_AT_ONCE];

	for (size_t i = 0; i < count; i++)
		frames[i] = entries[i].frame;
	pd_tables_stacks(places->tables, parent, frames, count, stacks);
	for (size_t i = 0; i < count; i++)
		entries[i].stack = stacks[i];
}

// Those that have no stack yet are the first ones.
static bool find_entries(struct pd_places *places, struct pd_code_address address, uint32_t parent, size_t count)
{
	struct pd_chain_entry *entries = places->entries.items;

	address.depth = 1;
	for (size_t i = 0, some; i < count; i += some) {
		some = count - i < PD_STACKS_AT_ONCE ? count - i : PD_STACKS_AT_ONCE;
		if (!find_frames(places, address, entries + i, some))
			return false;
		address.depth += (uint32_t)some;
	}
	for (size_t left = places->no_stacks || places->tables->whole_stacks ? 0 : count, some; left; left -= some) {
		some = left < PD_STACKS_AT_ONCE ? left : PD_STACKS_AT_ONCE;
		find_stacks(places, parent, entries + left - some, some);
		parent = entries[left - some].stack;
	}
	return !places->tables->failed;
}

static struct pd_last_chain *last_chain(struct pd_places *places, const struct pd_brief *brief, uint64_t maps,
					uint32_t root)
{
	struct pd_last_chain *last = &places->last[brief->cpu % PD_LAST_CHAINS];

	if (last->maps != maps || last->pid != brief->pid || last->root != root)
		last->entries.count = 0;
	last->maps = maps;
	last->pid = brief->pid;
	last->root = root;
	return last;
}

static bool find_chain(struct pd_places *places, const struct pd_brief *brief, uint64_t maps, struct pd_moment when,
		       uint32_t root)
{
	struct pd_last_chain *last = last_chain(places, brief, maps, root);
	const struct pd_code_address address = { .maps = maps, .pid = brief->pid, .when = when };
	struct pd_chain_entries before = last->entries, *entries = &places->entries;
	size_t shared = before.count ? share_entries(entries, &before) : 0;
	uint32_t parent = shared ? entries->items[entries->count - shared].stack : root;

	last->entries.count = 0;
	if (!find_entries(places, address, parent, entries->count - shared))
		return false;
	last->entries = *entries;
	*entries = before;
	places->chain = &last->entries;
	return true;
}

// The stack of a chain, or of one address, by itself; the mark of unknown callers is frame 0.
static uint32_t whole_stack(struct pd_places *places, const struct pd_chain_entries *chain, uint32_t ip, bool is_marked)
{
	size_t count = 0;
	bool ok = true;

	for (; chain && count < chain->count && ok; count++)
		ok = pd_tables_whole_frame(places->tables, count, chain->items[count].frame);
	if (!chain)
		ok = pd_tables_whole_frame(places->tables, count++, ip);
	if (ok && is_marked)
		ok = pd_tables_whole_frame(places->tables, count++, 0);
	return ok ? pd_tables_whole(places->tables, count) : 0;
}

// The sampled address is mostly the first one of the chain.
static bool is_first(const struct pd_chain_entries *entries, const struct pd_brief *brief)
{
	return entries->count && entries->items->addr == brief->ip && entries->items->cpumode == brief->cpumode;
}

// Puts the sampled address in front of the chain if that is called by it. False if there is no memory.
static bool put_own_entry(struct pd_places *places, const struct pd_code_address *address, uint32_t ip)
{
	struct pd_chain_entries *entries = &places->entries;
	const struct pd_table_frame *own, *first;
	struct pd_code_address first_address = *address;
	uint32_t frame;

	first_address.depth = 1;
	frame = pd_places_frame(places, entry_address(&first_address, entries->items, 0));
	if (frame == PD_NO_FRAME)
		return false;
	own = &places->tables->frames[ip];
	first = &places->tables->frames[frame];
	if (!pd_place_is_called(&own->place, address->cpumode, &first->place, entries->items->cpumode))
		return true;
	if (!PD_GROW(entries->items, entries->capacity, entries->count + 1))
		return false;
	memmove(entries->items + 1, entries->items, entries->count++ * sizeof(*entries->items));
	entries->items[0] = (struct pd_chain_entry){ address->addr, address->cpumode, 0, 0 };
	return true;
}

static bool find_stack(struct pd_places *places, const struct pd_brief *brief, uint64_t maps, struct pd_moment when,
		       unsigned most, bool is_truncated, struct pd_met_stack *met_out)
{
	const struct pd_code_address address = { maps, brief->ip, brief->pid, brief->cpumode, 0, when };
	bool first, is_marked = is_truncated && places->marks, whole = places->tables->whole_stacks;
	uint32_t root = 0;

	if (!list_entries(places, brief->callchain, most))
		return false;
	first = is_first(&places->entries, brief);
	met_out->ip = first ? 0 : pd_places_frame(places, address);
	// the mark is frame 0, and outermost
	if (is_marked && !whole)
		root = pd_tables_stack(places->tables, 0, 0);
	if (met_out->ip == PD_NO_FRAME)
		return false;
	places->chain = NULL;
	if (places->entries.count && !first && !places->as_recorded && !put_own_entry(places, &address, met_out->ip))
		return false;
	if (places->entries.count) {
		if (!find_chain(places, brief, maps, when, root))
			return false;
		if (first)
			met_out->ip = places->chain->items->frame;
		met_out->stack = places->chain->items->stack;
	}
	if (whole)
		met_out->stack = whole_stack(places, places->chain, met_out->ip, is_marked);
	else if (!places->chain)
		met_out->stack = pd_tables_stack(places->tables, root, met_out->ip);
	return !places->tables->failed;
}

// The same words have the same stack as long as nothing else is mapped.
static struct pd_tag tag_of(const struct pd_places *places, const struct pd_brief *brief, uint64_t maps,
			    bool is_truncated)
{
	const uint64_t *secrets = places->secrets->words;
	pd_wide sum = { 0 };

	pd_tag_add(&sum, secrets, maps, brief->ip);
	pd_tag_add(&sum, secrets + 2, (uint64_t)brief->pid << 32 | brief->cpumode,
		   (uint64_t)brief->callchain.count << 1 | is_truncated);
	pd_tag_add_words(&sum, secrets + PD_TAG_HEAD, brief->callchain.items, brief->callchain.count);
	return pd_tag_end(sum);
}

bool pd_places_stack(struct pd_places *places, const struct pd_brief *brief, uint64_t maps, struct pd_moment when,
		     unsigned most, bool is_truncated, uint32_t *ip_out, uint32_t *stack_out)
{
	struct pd_met_stack found, *met = &found;

	grow_known(places);
	if (PD_LIKELY(brief->callchain.count <= PD_TAG_CHAIN_MOST && !places->no_stacks)) {
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

bool pd_places_name_functions(struct pd_places *places, bool with_lines)
{
	places->by_function = (struct pd_profile_options){ .symbols = symbols_of, .by = with_lines ? PD_BY_LINE : 0 };
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
	places->known_count = PD_KNOWN_PLACES_FIRST;
	places->known = pd_alloc_lines(places->known_count * sizeof(*places->known), &places->known_memory);
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
	pd_free(places->entries.items);
	for (size_t i = 0; i < PD_LAST_CHAINS; i++)
		pd_free(places->last[i].entries.items);
}
