/* SPDX-License-Identifier: MIT */
#include "profile/collect/leaves.h"

#include "base/memory.h"
#include "profile/collect/pending.h"

enum {
	LEAVES_FIRST = 1 << 11, // for small files
	LEAVES_MOST = 1 << 16,
	IN_LINE = 2,
	GROWTH = 8
};

static bool has_callers_or_more(const struct pd_profile_options *options)
{
	return options->by & (PD_BY_CHAIN | PD_BY_EXTRA | PD_BY_RAW_PARTS | PD_BY_CPU);
}

bool pd_leaves_init(struct pd_collector *c)
{
	struct pd_leaves *leaves = &c->leaves;

	if (has_callers_or_more(c->options))
		return true;
	leaves->count = leaves->most = LEAVES_FIRST;
	leaves->items = pd_alloc_lines(leaves->count * sizeof(*leaves->items), &leaves->memory);
	leaves->asks = pd_alloc(PD_PENDING_MOST * sizeof(*leaves->asks));
	// raw keys are not looked for, nor asked about
	c->by_frames = c->is_settled = true;
	return leaves->items && leaves->asks;
}

void pd_leaves_fini(struct pd_leaves *leaves)
{
	pd_free(leaves->memory);
	pd_free(leaves->asks);
	leaves->memory = leaves->items = NULL;
	leaves->asks = NULL;
	leaves->count = 0;
}

// What is known is known again soon, so a larger table begins empty. Without memory the present one goes on.
static void grow_leaves(struct pd_leaves *leaves)
{
	struct pd_leaf *items;
	void *memory;

	if (leaves->count >= LEAVES_MOST)
		return;
	items = pd_alloc_lines(GROWTH * leaves->count * sizeof(*items), &memory);
	if (!items)
		return;
	pd_free(leaves->memory);
	leaves->items = items;
	leaves->memory = memory;
	leaves->count *= GROWTH;
	leaves->most = leaves->count;
	leaves->added = 0;
}

// What the sample before was asked for: most are of the same process, and many in the same range.
struct before {
	uint64_t maps;
	uint32_t pid;
	uint8_t cpumode;
	struct pd_code_address address;
	struct pd_range_set *set;
	const struct pd_range *range; // NULL: not known
};

static inline const struct pd_range *range_of(struct pd_collector *c, const struct pd_pending *pending,
					      struct before *before)
{
	if (PD_UNLIKELY(before->maps != pending->maps || before->pid != pending->pid ||
			before->cpumode != pending->cpumode || !before->range)) {
		before->maps = pending->maps;
		before->pid = pending->pid;
		before->cpumode = pending->cpumode;
		before->address =
			(struct pd_code_address){ pending->maps, 0, pending->pid, pending->cpumode, 0, { 0 } };
		pd_code_address_normalize(&before->address);
		before->set = pd_range_set_of(c->ranges, &before->address);
	} else if (PD_LIKELY(pd_range_has(before->range, pending->ip))) {
		return before->range;
	}
	before->address.addr = pending->ip;
	before->address.when = pending->when;
	before->range = pd_range_in(before->set, c->state, &before->address, c->common->frames.unnamed_as_one);
	return before->range;
}

static inline void ask_leaf(struct pd_collector *c, const struct pd_pending *pending, const struct pd_range *range,
			    struct pd_leaf_ask *ask)
{
	const uint64_t seed = c->common->frames.seed, where = (pending->ip + range->to_offset) & range->mask;
	uint64_t hash = pd_fold(where ^ seed, (range->what + range->pid + ((uint64_t)pending->owner << 40)) ^ ~seed);

	ask->leaf.what = range->what;
	ask->leaf.where = where;
	ask->leaf.pid = range->pid;
	ask->leaf.owner = pending->owner;
	ask->leaf.event_kind = pending->event << 8 | range->kind;
	ask->known = &c->leaves.items[(hash >> 20) & (c->leaves.count - 1) & ~(size_t)(IN_LINE - 1)];
	__builtin_prefetch(ask->known);
}

// Without a branch for each.
static inline bool same_leaf(const struct pd_leaf *a, const struct pd_leaf *b)
{
	return !((a->where ^ b->where) | (a->what ^ b->what) | (a->pid ^ b->pid) | (a->owner ^ b->owner) |
		 (a->event_kind ^ b->event_kind));
}

static inline uint32_t find_leaf(const struct pd_leaf_ask *ask)
{
	const struct pd_leaf *known = ask->known;

	known += same_leaf(&known[1], &ask->leaf);
	// where nothing is, this is PD_NOT_CACHED
	return PD_LIKELY(same_leaf(known, &ask->leaf)) ? known->bucket_plus_1 - 1 : PD_NOT_CACHED;
}

// A newer one takes the place of the older one of two.
static void keep_leaf(struct pd_leaves *leaves, const struct pd_leaf_ask *ask, uint32_t bucket)
{
	if (!same_leaf(&ask->known[0], &ask->leaf))
		ask->known[1] = ask->known[0];
	ask->known[0] = ask->leaf;
	ask->known[0].bucket_plus_1 = bucket + 1;
	leaves->added++;
}

bool pd_leaves_flush(struct pd_collector *c, size_t waiting)
{
	struct before before = { 0 };

	for (size_t i = 0; i < waiting; i++)
		ask_leaf(c, &c->pending[i], range_of(c, &c->pending[i], &before), &c->leaves.asks[i]);
	for (size_t i = 0; i < waiting; i++) {
		uint32_t bucket = c->pending[i].counted_as = find_leaf(&c->leaves.asks[i]);

		if (PD_LIKELY(pd_amounts_has(c, bucket)))
			__builtin_prefetch(pd_amount_at(c, bucket), 1);
	}
	for (size_t i = 0; i < waiting; i++) {
		const struct pd_pending *pending = &c->pending[i];

		if (PD_LIKELY(pending->counted_as != PD_NOT_CACHED && pd_amounts_has(c, pending->counted_as) &&
			      pd_is_later(c, pending, pending->counted_as)))
			pd_amounts_count(c, pending, pending->counted_as);
		else if (!pd_miss_begin(c, pending))
			return false;
	}
	return true;
}

bool pd_leaves_end(struct pd_collector *c)
{
	const size_t count = c->miss_count;

	if (!pd_misses_end(c))
		return false;
	for (size_t i = 0; i < count; i++)
		keep_leaf(&c->leaves, &c->leaves.asks[c->misses[i].pending - c->pending], c->misses[i].number);
	if (PD_UNLIKELY(c->leaves.added > c->leaves.count / 2))
		grow_leaves(&c->leaves);
	return true;
}
