/* SPDX-License-Identifier: MIT */
/*
 * Samples on their way into buckets, and what a collector counts of each bucket. Private to the collector: collect.c and
 * spans.c make pending samples, pending.c looks them up, chains.c finds the frames and misses.c the buckets of those that are
 * not cached.
 */
#ifndef PD_PROFILE_COLLECT_PENDING_H
#define PD_PROFILE_COLLECT_PENDING_H

#include "profile/collect/collect.h"
#include "profile/frame/hash.h"

// What the raw data of an entry is made of.
#define PD_BY_RAW_PARTS (PD_BY_RAW | PD_BY_ACCESS | PD_BY_DATA | PD_BY_BRANCHES)
#define PD_BY_EXTRA (PD_BY_CGROUP | PD_BY_WEIGHT | PD_BY_TIME | PD_BY_RAW | PD_BY_PERIOD | PD_BY_PARALLELISM)

// Whether a chain is as it was recorded.
enum pd_pending_unwound {
	PD_RECORDED,
	PD_UNWOUND,       // a copied stack was unwound to the outermost function
	PD_UNWOUND_PARTLY // as far as possible
};

// A sample that knows its raw key. Some of them wait for each other: the places of their keys in the table are on their
// way from memory meanwhile, and looking one up after another would wait for memory each time.
struct pd_pending {
	struct pd_tag tag;
	uint64_t maps, ip, period, weight;
	struct pd_moment when;
	const uint64_t *chain; // in the record
	uint32_t chain_count;
	uint32_t owner, event, pid, cpu;
	uint32_t raw;
	uint32_t counted_as; // its bucket or summed key; PD_NOT_CACHED: not known
	uint16_t bin;
	uint8_t unwound; // enum pd_pending_unwound
	uint8_t cpumode;
	uint64_t cgroup, slice, size;         // size: of the period, without its low bits
	uint32_t parallelism;                 // 0: not asked for
	const struct pd_key_cache_line *line; // its first one, if it has a tag
};

// What preparing one depends on, which changes only when those that wait are looked up.
struct pd_lookup {
	const uint64_t *secrets;
	const struct pd_key_cache *cache;
	bool by_frames, asks;
};

static inline struct pd_lookup pd_lookup_of(const struct pd_collector *c)
{
	return (struct pd_lookup){ c->secrets->words, c->cache, c->by_frames, !c->is_settled };
}

// Most samples are of the bin of the one before.
static inline uint16_t pd_bin_of(struct pd_collector *c, uint64_t time_ns)
{
	uint64_t slice;

	if (PD_LIKELY(time_ns - c->bin_ns < c->slice_ns << c->share.binned.shift))
		return c->bin;
	if (time_ns == PD_NO_TIME)
		return PD_BIN_NONE;
	slice = time_ns / c->slice_ns;
	slice = slice > c->first_slice ? slice - c->first_slice : 0;
	if (slice >= PD_TIME_BINS_MOST)
		slice = PD_TIME_BINS_MOST - 1;
	c->bin = (uint16_t)(slice >> c->share.binned.shift);
	c->bin_ns = (c->first_slice + ((uint64_t)c->bin << c->share.binned.shift)) * c->slice_ns;
	return c->bin;
}

// A sample with a chain that is longer has no tag.
static inline bool pd_pending_has_tag(const struct pd_pending *pending)
{
	return pending->chain_count <= PD_TAG_CHAIN_MOST;
}

static inline void pd_pending_tag(const uint64_t *secrets, struct pd_pending *pending, bool extra)
{
	pd_wide sum = { 0 };

	pd_tag_add(&sum, secrets, (uint64_t)pending->owner << 32 | pending->event, pending->maps);
	pd_tag_add(&sum, secrets + 2, (uint64_t)pending->pid << 32 | pending->cpu, pending->ip);
	pd_tag_add(&sum, secrets + 4,
		   (uint64_t)pending->unwound << 56 | (uint64_t)pending->cpumode << 32 | pending->chain_count,
		   pending->raw);
	if (extra) {
		pd_tag_add(&sum, secrets + 6, pending->cgroup, pending->weight);
		pd_tag_add(&sum, secrets + 8, pending->slice, pending->size);
		pd_tag_add(&sum, secrets + 10, pending->parallelism, 0);
	}
	pd_tag_add_words(&sum, secrets + PD_TAG_HEAD, pending->chain, pending->chain_count);
	pending->tag = pd_tag_end(sum);
}

// Whether the raw key of a sample is one of a few, by which it is decided how samples are looked up. Some of its words say so; where
// programs have few places in which they are interrupted, these are in the middle of the chain.
static inline bool pd_pending_is_asked(const struct pd_pending *pending)
{
	const uint64_t *chain = pending->chain;
	uint64_t count = pending->chain_count, words = pending->ip ^ count << 40 ^ pending->pid;

	if (count)
		words ^= chain[count - 1] << 7 ^ chain[count / 2] << 13 ^ chain[count / 4] << 19 ^
			 chain[count - 1 - count / 4] << 23;
	return (words * UINT64_C(0x9e3779b97f4a7c15)) >> 55 == 0;
}

// Looked up by their raw keys are samples most of which come again; see pending.c.
static inline void pd_pending_prepare(struct pd_collector *c, const struct pd_lookup *lookup,
				      struct pd_pending *pending, bool extra)
{
	bool asked = lookup->asks && pd_pending_is_asked(pending);

	if ((lookup->by_frames && PD_LIKELY(!asked)) || PD_UNLIKELY(!pd_pending_has_tag(pending)))
		return;
	pd_pending_tag(lookup->secrets, pending, extra);
	if (PD_UNLIKELY(asked))
		pd_repeats_ask(&c->raw_repeats, &pending->tag);
	pending->line = pd_key_cache_first(lookup->cache, &pending->tag);
	if (!lookup->by_frames)
		__builtin_prefetch(pending->line);
}

// ---- threads: collect.c ----

// What the brief form of a sample does not have is needed.
bool pd_collector_needs_parts(const struct pd_collector *c, const struct pd_event *event);
// Asks the state what is true of a thread. NULL if there is no memory.
const struct pd_thread_view *pd_collector_view_anew(const struct pd_collector *c, struct pd_thread_view *view,
						    uint32_t pid, uint32_t tid, struct pd_moment when);

// What is true of a thread at a moment; valid until the next call. NULL if there is no memory.
static inline const struct pd_thread_view *pd_collector_view(const struct pd_collector *c, uint32_t pid, uint32_t tid,
							     struct pd_moment when)
{
	struct pd_thread_view *view = pd_view_of(c->views, tid);

	return PD_LIKELY(pd_view_holds(view, pid, tid, when)) ? view : pd_collector_view_anew(c, view, pid, tid, when);
}

// ---- amounts: amounts.c ----

// What was counted beside a bucket goes into it; what was counted of a summed key, into its sums and to its bucket. Without
// memory the collector fails.
void pd_amounts_finalize(struct pd_collector *c, uint32_t counted_as);
// The same of all summed keys, before the collector leaves its table.
void pd_amounts_end_keys(struct pd_collector *c);
void pd_amounts_finalize_all(struct pd_collector *c);
// Without memory the collector fails.
void pd_amounts_add_weight(struct pd_collector *c, uint32_t bucket, uint64_t weight);
// Makes an amount and those before it. False if there is no memory.
bool pd_amounts_make(struct pd_collector *c, uint32_t counted_as);

static inline struct pd_amounts *pd_amounts_of(struct pd_collector *c, uint32_t counted_as)
{
	return &c->share.amounts[counted_as >> 31];
}

// One that was made.
static inline struct pd_amount *pd_amount_at(struct pd_collector *c, uint32_t counted_as)
{
	return &pd_amounts_of(c, counted_as)->items[counted_as & ~PD_KEY_HAS_SUMS];
}

static inline bool pd_amounts_has(struct pd_collector *c, uint32_t counted_as)
{
	return (counted_as & ~PD_KEY_HAS_SUMS) < pd_amounts_of(c, counted_as)->count;
}

// False if there is no memory.
static inline bool pd_amounts_reserve(struct pd_collector *c, uint32_t counted_as)
{
	return PD_LIKELY(pd_amounts_has(c, counted_as)) || pd_amounts_make(c, counted_as);
}

static inline uint32_t pd_counted_bucket(const struct pd_collector *c, uint32_t counted_as)
{
	return counted_as & PD_KEY_HAS_SUMS ? pd_key_summed(c->cache, counted_as)->bucket : counted_as;
}

static inline void pd_amounts_count(struct pd_collector *c, const struct pd_pending *pending, uint32_t counted_as)
{
	struct pd_amount *amount = pd_amount_at(c, counted_as);

	if (PD_UNLIKELY(amount->samples == UINT16_MAX || amount->bin != pending->bin)) {
		pd_amounts_finalize(c, counted_as);
		amount->bin = pending->bin;
	}
	amount->met = true;
	amount->samples++;
	amount->period += pending->period;
	if (PD_UNLIKELY(pending->weight))
		pd_amounts_add_weight(c, pd_counted_bucket(c, counted_as), pending->weight);
}

// What this collector has had of a bucket was earlier; what another one has found may not be. What is older than all before
// says where its frames were first, too.
static inline bool pd_is_later(struct pd_collector *c, const struct pd_pending *pending, uint32_t counted_as)
{
	if (PD_LIKELY(pd_amount_at(c, counted_as)->met && !c->shuffled))
		return true;
	return pd_bucket_is_later(pd_bucket_at(c->common, pd_counted_bucket(c, counted_as)), pending->when.order);
}

// ---- branches: branches.c ----

// Makes the chain of a sample begin with its branches, if it has any; it is there until the next call. False if there is no memory.
struct pd_branch_sample {
	const struct pd_event *event;
	const struct pd_sample *sample;
	uint32_t pid;
	struct pd_moment when;
};
bool pd_branches_chain(struct pd_collector *c, const struct pd_branch_sample *of, struct pd_u64s *chain);
// How many branches that chain has, and what the sample says of them.
size_t pd_branches_passed(const struct pd_collector *c, const struct pd_passed_branch **passed_out);

// ---- misses: chains.c and misses.c ----

// A sample whose frames are looked for.
struct pd_miss {
	const struct pd_pending *pending;
	size_t found; // its own frame, then its callers
	uint32_t caller_count;
	uint32_t shared; // callers, outermost, whose frames are those of the miss before
	uint32_t sum_count;
	bool is_whole;       // each address of the chain is a caller
	bool begins_with_ip; // its first caller is where it was taken
	bool cut, damaged, unfinished;
	struct pd_key_sums sums; // where its period was summed up, as far as there is room, if sum_count is not 0
	// once all frames are known
	struct pd_tag tag; // of its frames
	const struct pd_key_cache_line *line;
	struct pd_bucket_key key;
	uint64_t hash;
	struct pd_bucket *bucket;
	uint32_t number; // of its bucket
};

// An address of a miss whose frame is looked for.
struct pd_ask {
	struct pd_known_place place, *known; // NULL: it may be merged
	uint64_t addr;
	uint32_t sum; // of such an address
	uint32_t depth;
	uint32_t at; // in the found frames
	uint32_t miss;
};

enum {
	PD_ASKS_MOST = 32 // that wait for each other
};

// Finds the frames of a sample that is not cached, as far as they are known. False if there is no memory.
bool pd_miss_begin(struct pd_collector *c, const struct pd_pending *pending);
// Finds the frames of all that were begun. False if there is no memory.
bool pd_misses_find_frames(struct pd_collector *c);
// The same, and their buckets, and counts them. False if there is no memory.
bool pd_misses_end(struct pd_collector *c);

// ---- sums of what was merged: proof.c ----

struct pd_merge_sum *pd_sums_make(struct pd_collector *c, uint32_t event);

// Those of an event. NULL if there is no memory.
static inline struct pd_merge_sum *pd_sums_of(struct pd_collector *c, uint32_t event)
{
	struct pd_merge_sum *sums = c->sums[event % PD_MERGE_EVENTS];

	return PD_LIKELY(sums) ? sums : pd_sums_make(c, event);
}

// Sums up a period of samples of a key. False if there is no memory.
bool pd_sums_add_key(struct pd_collector *c, const struct pd_key_sums *key, uint64_t period);
// Adds those of a clone. False if there is no memory.
bool pd_sums_join(struct pd_collector *c, struct pd_collector *clone);
void pd_sums_free(struct pd_collector *c);

// ---- pending.c ----

// Puts those that wait into buckets. False if there is no memory.
bool pd_pending_flush(struct pd_collector *c);

#endif
