/* SPDX-License-Identifier: MIT */
/* User parts of call chains that come after their samples: kept by the number that both have, since whoever reads a file twice knows them
 * when the sample comes. */
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
