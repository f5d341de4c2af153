/* SPDX-License-Identifier: MIT */
#include "state/maps.h"

#include <string.h>

#include "state/state.h"

// ---- feeding ----

// Members of objects and texts are those of the one copy, so what is the same has the same bytes.
uint32_t pd_state_map_kind(struct pd_state *state, const struct pd_map_kind *kind)
{
	struct pd_maps *maps = &state->maps;
	uint64_t hash = pd_hash(state->seed, kind, sizeof(*kind));
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&maps->kind_index, hash, &at)) != PD_INDEX_END;) {
		if (memcmp(&maps->kinds[i], kind, sizeof(*kind)) == 0)
			return i;
	}
	if (!PD_STATE_GROW(state, maps.kinds, maps.kind))
		return PD_INDEX_END;
	if (!pd_index_add(&maps->kind_index, hash, (uint32_t)maps->kind_count)) {
		state->failure = PD_ERROR_MEMORY;
		return PD_INDEX_END;
	}
	memcpy(&maps->kinds[maps->kind_count], kind, sizeof(*kind));
	return (uint32_t)maps->kind_count++;
}

static bool has_last_owner(const struct pd_maps *maps, struct pd_map_owner owner)
{
	const struct pd_map_owner *last = maps->owner_count ? &maps->owners[maps->owner_count - 1] : NULL;

	return last && last->pid == owner.pid && last->tid == owner.tid;
}

bool pd_state_put_map(struct pd_state *state, struct pd_moment from, uint64_t start, uint32_t kind,
		      struct pd_map_owner owner)
{
	struct pd_maps *maps = &state->maps;
	struct pd_map *map;

	if (!has_last_owner(maps, owner)) {
		if (!PD_STATE_GROW(state, maps.owners, maps.owner))
			return false;
		maps->owners[maps->owner_count++] = owner;
	}
	map = pd_state_add(state, &maps->maps, sizeof(*map));
	if (!map)
		return false;
	*map = (struct pd_map){ from, start, kind, (uint32_t)maps->owner_count - 1 };
	return true;
}

// ---- as users see them ----

// Addresses for all of them, of which only those are written that are asked for. A lookup cannot fail for want of memory.
bool pd_state_make_views(struct pd_state *state)
{
	struct pd_map_views *views = &state->views;
	size_t count = state->maps.maps.count;

	if (views->views)
		return true;
	views->views = count > SIZE_MAX / sizeof(*views->views) ? NULL :
								  pd_realloc(NULL, count * sizeof(*views->views));
	views->by_map = pd_alloc(count * sizeof(*views->by_map));
	if (views->views && views->by_map)
		return true;
	pd_free(views->views);
	pd_free(views->by_map);
	*views = (struct pd_map_views){ 0 };
	return false;
}

// Somebody is making the view.
#define IN_WORK UINT32_MAX

static uint32_t make_view(const struct pd_maps *maps, struct pd_map_views *views, uint32_t number)
{
	_Atomic uint32_t *by_map = &views->by_map[number];
	uint32_t view = 0;

	if (atomic_compare_exchange_strong(by_map, &view, IN_WORK)) {
		view = atomic_fetch_add(&views->count, 1);
		pd_map_fill(maps, number, &views->views[view]);
		atomic_store_explicit(by_map, view + 1, memory_order_release);
		return view + 1;
	}
	while (view == IN_WORK)
		view = atomic_load_explicit(by_map, memory_order_acquire);
	return view;
}

const struct pd_mapping *pd_state_map_view(const struct pd_state *state, uint32_t number)
{
	// what is asked for does not change by being asked for
	struct pd_state *self = (struct pd_state *)(uintptr_t)state;
	struct pd_map_views *views = &self->views;
	uint32_t view;

	if (!views->views && !pd_state_make_views(self))
		return NULL;
	view = atomic_load_explicit(&views->by_map[number], memory_order_acquire);
	if (view == 0 || view == IN_WORK)
		view = make_view(&state->maps, views, number);
	return &views->views[view - 1];
}
