/* SPDX-License-Identifier: MIT */
/*
 * Adding samples up. A sample's raw key is who it is of and its addresses as they were recorded. A table of raw keys
 * that are cached says at once which bucket it falls into; only when it does not know, the addresses are turned
 * into frames. So a stack that comes again costs one hash, and memory grows with distinct stacks of frames, not with
 * processes or samples. The table has keys by tags of 128 bits, see hash.h.
 *
 * A collector belongs to one thread. Those of a run share buckets, frames and owners, with a lock for what nobody has
 * cached; each counts for itself, and what they counted is added up at the end.
 */
#ifndef PD_PROFILE_COLLECT_COLLECT_H
#define PD_PROFILE_COLLECT_COLLECT_H

#include "base/lookup/last_values.h"
#include "interval/running.h"
#include "profile/collect/buckets.h"
#include "profile/collect/leaves.h"
#include "profile/collect/rare.h"
#include "profile/time_bins.h"
#include "unwind/unwinder.h"

// What a collector counted of a bucket beside it.
struct pd_amount {
	uint64_t period;
	uint16_t samples;
	uint16_t bin; // that all of them are of
	bool met;     // the collector has had a sample of it
};

struct pd_amounts {
	struct pd_amount *items;
	size_t count, capacity;
};

// What a sample is counted as says which: the number of a bucket, or PD_KEY_HAS_SUMS and that of a summed key of the table.
enum {
	PD_OF_BUCKETS,
	PD_OF_SUMMED_KEYS
};

// What a collector counted of all buckets.
struct pd_share {
	struct pd_amounts amounts[2];
	uint64_t *weights; // by bucket, of events that record them
	size_t weight_count, weight_capacity;
	struct pd_binned_list binned; // if slices are asked for
};

// An event whose samples have to be looked at closely.
#define PD_NOT_PLAIN UINT32_MAX

struct pd_branches;
struct pd_pending;
struct pd_ask;
struct pd_miss;

enum {
	PD_PENDING_MOST = 128
}; // samples that wait for each other

// Adds to a sum, and to *overflows where it passes 64 bits.
static inline void pd_add_counting(uint64_t *sum, uint64_t more, uint64_t *overflows)
{
	*overflows += __builtin_add_overflow(*sum, more, sum);
}

struct pd_collector {
	const struct pd_profile_options *options;
	const struct pd_state *state;
	struct pd_file *file;
	uint64_t seed;
	uint8_t *access_raw; // access, place of the data and raw data of a sample
	size_t access_raw_capacity;
	struct pd_branches *branches; // of a sample, for PD_BY_BRANCHES, and its chain with them; see branches.c
	uint64_t *branch_chain;
	size_t branch_chain_count, branch_chain_capacity;
	struct pd_common *common;
	bool *heavy;                  // of the run before, or NULL; the table in common takes it over
	bool is_clone;                // common belongs to another one
	struct pd_unwinder *unwinder; // this thread's, which the profile or this clone owns; NULL: nothing is unwound
	struct pd_range_set *ranges;  // by a hash; a newer one takes the place
	struct pd_known_place *known; // the same
	void *known_memory;
	size_t known_count, known_added;
	size_t known_most; // the largest known_count
	struct pd_leaves leaves;
	struct pd_thread_view *views; // by a hash of the tid; a newer one takes the place
	struct pd_pending *pending;
	size_t waiting;         // samples
	struct pd_miss *misses; // of those that wait
	size_t miss_count;
	struct pd_ask *asks; // addresses whose frames are looked for
	size_t ask_count;
	uint32_t *found;      // frames of the misses
	uint32_t *found_sums; // by frame: where it is summed up if it was merged
	size_t found_count, found_capacity, sums_capacity;
	bool keeps_rare;       // what is merged is counted one by one, too
	uint64_t *found_addrs; // then by frame: its address
	size_t addrs_capacity;
	struct pd_rare_callers rare;
	struct pd_rare_ask *rare_asks;
	size_t rare_ask_count, rare_ask_capacity;
	struct pd_wanted *wanted; // those of them that are not known
	size_t wanted_count, wanted_capacity;
	struct pd_secrets *secrets;
	struct pd_key_cache *cache;
	size_t cache_added; // not noted yet
	struct pd_repeats repeats;
	// Keys of samples are of their frames, not raw: most stacks never come again, but those of functions do.
	bool by_frames;
	unsigned decided;              // how often, up to 2
	struct pd_repeats raw_repeats; // of raw keys, by which this is decided
	bool is_settled;               // raw keys repeat: as long as most are cached they need not be asked
	size_t looked_up, not_cached;  // since then, of samples
	struct pd_merge_sum *sums[PD_MERGE_EVENTS]; // by event, then by address, see merge.h; NULL: nothing was merged
	bool has_merged;                            // something
	struct pd_details last_details;             // if they have a number
	uint32_t last_details_number;
	bool has_last_details;
	uint64_t last_order;               // of the sample before
	bool shuffled;                     // samples do not come in the order of the file
	struct pd_last_values last_values; // of counters
	const struct pd_running *running;  // threads at each moment, if that is asked for
	size_t running_hint;
	struct pd_profile_total *totals; // by event
	size_t event_count;
	uint64_t overflows;    // how often the sum of an event passed 64 bits
	unsigned period_shift; // periods are divided by 2 to this power
	uint32_t *forms;       // by event: one whose samples have the same form, or PD_NOT_PLAIN
	uint64_t unknown_event, damaged;
	uint64_t sample_count; // wanted or not
	// if slices are asked for
	uint64_t slice_ns, first_slice;
	uint64_t bin_ns; // where the bin of the last sample begins
	uint16_t bin;
	struct pd_share share;
	struct pd_share *joined; // of clones
	size_t joined_count, joined_capacity;
	bool failed; // there was no memory for binned counts
};

// state, options, file and seed must have been set, and the events of the file be known; common, too, for a clone. If slices
// are asked for, slice_ns and first_slice too.
enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error);
void pd_collector_fini(struct pd_collector *collector);
// Takes a sample. What is in its record may have to wait until the next call of pd_collector_take_more or
// pd_collector_flush, which the stream must not go on before.
enum pd_status pd_collector_take(struct pd_collector *collector, const struct pd_record *record,
				 struct pd_error *error);
enum pd_status pd_collector_flush(struct pd_collector *collector, struct pd_error *error);
// Takes the samples that follow the current record of a stream and need no closer look; the stream goes on after them.
enum pd_status pd_collector_take_more(struct pd_collector *collector, struct pd_stream *stream, struct pd_error *error);
// To be called after the last record, on any thread.
void pd_collector_finish(struct pd_collector *collector);
// By which power of two all periods must be divided for their sums to fit; 0: they do.
unsigned pd_collector_excess(const struct pd_collector *collector);
// Adds what a clone has beside the buckets, or takes it over. False if there is no memory.
bool pd_collector_join(struct pd_collector *collector, struct pd_collector *clone);

// Once all collectors are finished: whether samples have to be read again, as something that was merged may have the share,
// percent, of an event. Then *heavy_out is for pd_merge_init; NULL if there is no memory.
bool pd_collector_merged_too_much(struct pd_collector *c, double share, bool **heavy_out);

// The shares of a collector and its clones: joined_count + 1 of them.
static inline struct pd_share *pd_collector_share(struct pd_collector *collector, size_t index)
{
	return index ? &collector->joined[index - 1] : &collector->share;
}

#endif
