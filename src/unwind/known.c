/* SPDX-License-Identifier: MIT */
/*
 * What is at an address, in two steps, each with a cache of the thread. Spans of addresses with one mapping are a process's own, and a
 * chain stays in one for a while. Rules by address are an object's, whatever processes map it, so that those of libraries, and of
 * programs that run again, are known to the next process.
 */
#include "unwind/unwinder.h"

#include "base/cursor.h"
#include "symbol/lookup.h"

#define MIXED_BITS ((UINT64_C(1) << 48) - 1)

// ---- mappings of a thread ----

static bool is_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

uint64_t pd_unwinder_maps(struct pd_unwinder *unwinder, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_unwind_view *view = &unwinder->views[(tid ^ tid >> 10) % PD_UNWIND_VIEWS];

	if (!view->used || view->tid != tid || view->pid != pid || is_before(when, view->view.from) ||
	    !is_before(when, view->view.until)) {
		*view = (struct pd_unwind_view){ .pid = pid, .tid = tid, .used = true };
		pd_state_view(unwinder->shared->state, pid, tid, when, &view->view);
	}
	return view->view.maps;
}

// ---- spans ----

// The span becomes that part of the mapping which is in one segment of the object, or the address alone.
static void clip_span(struct pd_unwind_span *span, const struct pd_unwind_segment *segment, uint64_t offset,
		      uint64_t addr)
{
	uint64_t before = addr - span->begin, after = span->size - before;

	if (!segment) {
		before = 0;
		after = 1;
	} else {
		before = before < offset - segment->offset ? before : offset - segment->offset;
		after = after < segment->offset + segment->size - offset ? after :
									   segment->offset + segment->size - offset;
	}
	span->begin = addr - before;
	span->size = before + after;
}

// Where the span is in the terms of the rules. Code that a program made has no file, and rules by address.
static void find_module(struct pd_unwind_span *span, const struct pd_unwind_walk *walk,
			const struct pd_location *location, uint64_t addr)
{
	const struct pd_unwind_segment *segment;

	if (location->mapping->anonymous && pd_lookup_is_nameless(location)) {
		span->module = pd_unwind_jitted_module(walk->unwinder->shared, location, walk->arch);
		return;
	}
	span->module = pd_unwind_module_of(walk->unwinder->shared, location, walk->arch);
	if (!span->module)
		return;
	span->bias = location->offset - addr;
	if (!location->mapping->by_offset)
		return;
	segment = pd_unwind_segment_at(span->module, location->offset);
	clip_span(span, segment, location->offset, addr);
	if (segment)
		span->bias += segment->addr - segment->offset;
	else
		span->module = NULL;
}

static void fill_span(struct pd_unwind_span *span, const struct pd_unwind_walk *walk, uint64_t addr)
{
	struct pd_location location;
	bool is_mapped =
		pd_state_locate(walk->unwinder->shared->state, walk->pid, PD_CPUMODE_USER, walk->when, addr, &location);

	*span = (struct pd_unwind_span){ .begin = location.begin, .size = location.end - location.begin };
	if (!is_mapped)
		return;
	span->is_mapped = true;
	span->is_code = location.mapping->executable;
	span->object = location.object;
	find_module(span, walk, &location, addr);
}

static __attribute__((noinline)) const struct pd_unwind_span *ask_span(struct pd_unwind_walk *walk, uint64_t addr)
{
	struct pd_unwind_maps *maps = walk->known;
	size_t at = maps->count;

	if (maps->count < PD_UNWIND_SPANS) {
		maps->count++;
	} else {
		at = maps->next;
		maps->next = (uint8_t)((at + 1) % PD_UNWIND_SPANS);
	}
	fill_span(&maps->spans[at], walk, addr);
	return &maps->spans[at];
}

static inline bool has_addr(const struct pd_unwind_span *span, uint64_t addr)
{
	return addr - span->begin < span->size;
}

static inline const struct pd_unwind_span *span_of(struct pd_unwind_walk *walk, uint64_t addr)
{
	struct pd_unwind_maps *maps = walk->known;

	// a caller is mostly in the same object
	if (maps->last < maps->count && has_addr(&maps->spans[maps->last], addr))
		return &maps->spans[maps->last];
	for (uint8_t i = 0; i < maps->count; i++)
		if (has_addr(&maps->spans[i], addr)) {
			maps->last = i;
			return &maps->spans[i];
		}
	return ask_span(walk, addr);
}

const struct pd_unwind_span *pd_unwind_span_at(struct pd_unwind_walk *walk, uint64_t addr)
{
	return span_of(walk, addr);
}

static void begin_maps(struct pd_unwind_walk *walk)
{
	uint64_t hash = (walk->maps ^ walk->maps >> 29 ^ walk->pid) * UINT64_C(0x9e3779b97f4a7c15);
	struct pd_unwind_maps *maps = &walk->unwinder->maps[hash >> 32 & (PD_UNWIND_MAPS - 1)];

	walk->known = maps;
	if (maps->maps == walk->maps && maps->pid == walk->pid && maps->arch == walk->arch)
		return;
	maps->maps = walk->maps;
	maps->pid = walk->pid;
	maps->arch = walk->arch;
	maps->count = maps->next = 0;
}

// ---- trails ----

static inline struct pd_unwind_trail **trail_of(const struct pd_unwind_walk *walk)
{
	return &walk->unwinder->trail[(walk->tid ^ walk->tid >> 4) % PD_UNWIND_TRAILS];
}

static void begin_trail(struct pd_unwind_walk *walk)
{
	const struct pd_unwind_trail *last = *trail_of(walk);
	bool same = last->tid == walk->tid && last->pid == walk->pid && last->maps == walk->maps &&
		    last->arch == walk->arch;

	walk->trod = last->frames;
	walk->trod_end = last->frames + (same ? last->count : 0);
	walk->trail = walk->unwinder->trail[PD_UNWIND_TRAILS];
	walk->trail->count = 0;
}

void pd_unwind_keep_trail(struct pd_unwind_walk *walk)
{
	struct pd_unwind_trail **slot = trail_of(walk), *last = *slot;

	walk->trail->maps = walk->maps;
	walk->trail->arch = walk->arch;
	walk->trail->pid = walk->pid;
	walk->trail->tid = walk->tid;
	*slot = walk->trail;
	walk->unwinder->trail[PD_UNWIND_TRAILS] = last;
}

void pd_unwind_begin(struct pd_unwind_walk *walk)
{
	begin_maps(walk);
	begin_trail(walk);
}

// ---- rules ----

static inline uint32_t search(const struct pd_unwind_walk *walk, const struct pd_unwind_module *module, uint64_t addr)
{
	walk->unwinder->effort.searched++;
	return pd_unwind_table_find(&module->table, addr);
}

// Rules are within 32 bits of their base, so 48 bits are all of a key; multiplied by an odd number they still are, and each one is another.
static inline uint32_t rule_at(const struct pd_unwind_walk *walk, const struct pd_unwind_module *module, uint64_t addr)
{
	uint64_t rel = addr - module->table.base;
	uint64_t mixed = (rel | (uint64_t)module->number << 32) * UINT64_C(0x9e3779b97f4b) & MIXED_BITS;
	struct pd_unwind_cached *cached = &walk->unwinder->cached[mixed >> 32];

	_Static_assert((int)PD_UNWIND_CACHED == 1 << 16, "so many bits say the place");
	if (PD_UNLIKELY(rel > UINT32_MAX || module->number > UINT16_MAX))
		return search(walk, module, addr);
	if (PD_UNLIKELY(cached->rest != (uint32_t)mixed || !cached->rule_plus_1))
		*cached = (struct pd_unwind_cached){ (uint32_t)mixed, search(walk, module, addr) + 1 };
	return cached->rule_plus_1 - 1;
}

struct pd_unwind_known pd_unwind_ask(struct pd_unwind_walk *walk, uint64_t addr)
{
	const struct pd_unwind_span *span = span_of(walk, addr);
	struct pd_unwind_known known = {
		.module = span->module, .object = span->object, .is_mapped = span->is_mapped, .is_code = span->is_code
	};
	uint32_t rule;

	if (!span->module)
		return known;
	walk->unwinder->effort.asked++;
	rule = rule_at(walk, span->module, addr + span->bias);
	if (rule)
		known.rule = pd_unwind_table_at(&span->module->table, rule);
	return known;
}
