/* SPDX-License-Identifier: MIT */
/* User parts of call chains that come after their samples: kept by the number that both have, since whoever reads a file twice knows them
 * when the sample comes. */
#include <string.h>

#include "state/state.h"

struct pd_u64s pd_state_deferred(const struct pd_state *state, uint64_t cookie, uint32_t tid, struct pd_moment when)
{
	const struct pd_deferred_chain *first = NULL;
	uint64_t hash = pd_hash_u64(state->seed, cookie);
	size_t at = (uint32_t)hash;

	// it is the next one with that number, should a recording have several
	for (uint32_t i; (i = pd_index_next(&state->deferred_index, hash, &at)) != PD_INDEX_END;) {
		const struct pd_deferred_chain *chain = &state->deferred[i];

		if (chain->cookie == cookie && (!chain->tid || chain->tid == tid) &&
		    !pd_moment_before(chain->when, when) && (!first || pd_moment_before(chain->when, first->when)))
			first = chain;
	}
	return first ? first->chain : (struct pd_u64s){ 0 };
}

// Memory for the chains of the last records; true if there is enough.
static bool move_chains(struct pd_state *state, size_t first, struct pd_arena *chains)
{
	size_t size = 0;
	uint64_t *at;

	for (size_t i = first; i < state->deferred_count; i++)
		size += state->deferred[i].chain.count * sizeof(*at);
	at = pd_arena_alloc(chains, size);
	for (size_t i = first; at && i < state->deferred_count; i++) {
		struct pd_u64s *chain = &state->deferred[i].chain;

		memcpy(at, chain->items, chain->count * sizeof(*at));
		chain->items = at;
		at += chain->count;
	}
	return at;
}

// Those that cannot be found any more, for want of memory, are samples without their user part.
void pd_state_forget_deferred(struct pd_state *state, size_t count)
{
	struct pd_arena chains = { .limit = state->chains.limit };
	size_t left = state->deferred_count - count;

	if (!count || !move_chains(state, count, &chains))
		return;
	pd_arena_fini(&state->chains);
	state->chains = chains;
	memmove(state->deferred, state->deferred + count, left * sizeof(*state->deferred));
	pd_index_fini(&state->deferred_index);
	for (state->deferred_count = 0; state->deferred_count < left; state->deferred_count++) {
		uint64_t hash = pd_hash_u64(state->seed, state->deferred[state->deferred_count].cookie);

		if (!pd_index_add(&state->deferred_index, hash, (uint32_t)state->deferred_count))
			return;
	}
}
