/* SPDX-License-Identifier: MIT */
/*
 * From buckets to what users see. Buckets are put in the order in which the file has them and frames in that of their
 * first use, so that nothing depends on threads or on hashes; equal stacks become one. Each step is done in parts, on
 * several threads, and needs the step before it.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/strings.h"
#include "base/radix.h"
#include "base/threads.h"
#include "file/file.h"
#include "profile/frame/hash.h"
#include "profile/profile.h"

// Where a bucket or a frame stands among the others.
struct order {
	uint64_t order; // of the sample that has it first
	uint32_t minor; // the event of the bucket; which address of the sample the frame is
	uint32_t number;
};

enum {
	AHEAD = 16,             // buckets that are on their way from memory
	WORTH_A_PART = 1 << 13, // buckets; for less a thread costs more
};

struct arranger {
	struct pd_profile *profile;
	const struct pd_common *from;
	uint64_t seed;
	size_t count; // of buckets
	size_t parts;
	struct order *orders, *spare; // of the buckets
	struct order *frame_orders, *frame_spare;
	uint32_t *numbers; // of frames of the collector
	uint64_t *hashes;  // of stacks, by entry
	uint32_t *stacks;  // by entry: the first entry that has the same one, later its number
	uint32_t *firsts;  // by the number of a stack: the first entry that has it
	size_t stack_count;
	bool failed[PD_PARTS_MOST]; // there was no memory for a part
	struct pd_strings names;
};

static struct pd_bucket *bucket_of(const struct arranger *a, size_t entry)
{
	return pd_bucket_at(a->from, a->orders[entry].number);
}

// Asks for the memory of a bucket that comes soon.
static void prefetch_bucket(const struct arranger *a, size_t entry)
{
	enum {
		LINE = 64
	};
	const char *bucket;

	if (entry >= a->count)
		return;
	bucket = (const char *)bucket_of(a, entry);
	__builtin_prefetch(bucket);
	__builtin_prefetch(bucket + LINE);
	__builtin_prefetch(bucket + 2 * LINE);
}

static void range_of(const struct arranger *a, size_t part, size_t *begin_out, size_t *end_out)
{
	*begin_out = pd_part_begin(a->count, a->parts, part);
	*end_out = pd_part_begin(a->count, a->parts, part + 1);
}

// ---- order ----

static void collect_part(void *self, size_t part)
{
	struct arranger *a = self;
	size_t begin, end;

	range_of(a, part, &begin, &end);
	for (size_t i = begin; i < end; i++) {
		const struct pd_bucket *bucket = pd_bucket_at(a->from, (uint32_t)i);

		if (i + AHEAD < end)
			__builtin_prefetch(pd_bucket_at(a->from, (uint32_t)(i + AHEAD)));
		a->orders[i] = (struct order){ bucket->order, pd_bucket_details(a->from, bucket)->event, (uint32_t)i };
	}
}

static uint64_t order_of(const void *item)
{
	return ((const struct order *)item)->order;
}

static uint64_t order_of_rare(const void *item)
{
	return ((const struct pd_rare_caller *)item)->order;
}

static uint64_t minor_of(const void *item)
{
	return ((const struct order *)item)->minor;
}

// Sorts by one of the numbers and leaves the order of those that have the same.
static void sort_by(struct order **orders, struct order **spare, size_t count, bool minor)
{
	struct order *was = *orders;

	*orders = minor ? pd_radix_sort(was, *spare, count, sizeof(*was), minor_of) :
			  pd_radix_sort(was, *spare, count, sizeof(*was), order_of);
	if (*orders != was)
		*spare = was;
}

static bool is_before(const struct order *a, const struct order *b)
{
	return a->minor < b->minor || (a->minor == b->minor && a->order <= b->order);
}

static void sort_orders(struct arranger *a)
{
	bool sorted = true;

	for (size_t i = 1; i < a->count; i++)
		sorted = sorted && is_before(&a->orders[i - 1], &a->orders[i]);
	// with one thread they come in this order
	if (sorted)
		return;
	sort_by(&a->orders, &a->spare, a->count, false);
	sort_by(&a->orders, &a->spare, a->count, true);
}

// ---- frames ----

static void sort_frames(struct arranger *a)
{
	const struct pd_frames *frames = &a->from->frames;

	struct order last = { 0, 0, 0 };

	for (size_t i = 0; i < frames->count; i++) {
		const struct pd_raw_frame *frame = &frames->items[i];

		a->frame_orders[i] = (struct order){ frame->when.order, frame->depth, (uint32_t)i };
		last.order = last.order < frame->when.order ? frame->when.order : last.order;
		last.minor = last.minor < frame->depth ? frame->depth : last.minor;
	}
	// what stands for many is behind all others
	if (frames->merge.frame != PD_NOT_MERGED)
		a->frame_orders[frames->merge.frame] =
			(struct order){ last.order, last.minor + 1, frames->merge.frame };
	sort_by(&a->frame_orders, &a->frame_spare, frames->count, true);
	sort_by(&a->frame_orders, &a->frame_spare, frames->count, false);
}

static void sort_both(void *self, size_t part)
{
	if (part)
		sort_frames(self);
	else
		sort_orders(self);
}

static void place_frames(void *self, size_t part)
{
	struct arranger *a = self;
	struct pd_profile *profile = a->profile;
	const struct pd_frames *frames = &a->from->frames;
	size_t end = pd_part_begin(frames->count, a->parts, part + 1);

	for (size_t i = pd_part_begin(frames->count, a->parts, part); i < end; i++) {
		const struct pd_raw_frame *frame = &frames->items[a->frame_orders[i].number];

		if (i + AHEAD < end)
			__builtin_prefetch(&frames->items[a->frame_orders[i + AHEAD].number]);
		a->numbers[a->frame_orders[i].number] = (uint32_t)i;
		profile->frames[i] = (struct pd_frame){
			.place = { .addr = frame->recorded, .recorded = frame->recorded },
			.cpumode = pd_frame_cpumode(frame),
			.pid = frame->pid,
			.when = frame->when,
			.merged = pd_frame_is_merged(frame),
		};
		profile->origins[i] = pd_frame_origin(frame);
	}
}

static void arrange_order(struct arranger *a)
{
	pd_in_parts(a->parts, collect_part, a);
	if (a->parts > 1) {
		pd_in_parts(2, sort_both, a);
	} else {
		sort_orders(a);
		sort_frames(a);
	}
	pd_in_parts(a->parts, place_frames, a);
	a->profile->frame_count = a->from->frames.count;
}

// ---- names ----

// False if there is no memory.
static bool name_owners(struct arranger *a)
{
	struct pd_owners *owners = &a->profile->collector.common->owners;
	char unknown[PD_THREAD_NAME_BYTES];

	if (!(a->profile->options.by & PD_BY_COMM))
		return true;
	for (size_t i = 0; i < owners->count; i++) {
		struct pd_owner *owner = &owners->items[i];

		if (owner->nameless)
			snprintf(unknown, sizeof(unknown), ":%d", (int32_t)owner->tid);
		owner->comm = pd_strings_once(&a->names, &a->profile->arena, owner->nameless ? unknown : owner->comm);
		if (!owner->comm)
			return false;
	}
	return true;
}

// ---- stacks ----

// The callers stay where the bucket has them, with the numbers that users see.
static void number_callers(void *self, size_t part)
{
	struct arranger *a = self;
	size_t begin, end;

	range_of(a, part, &begin, &end);
	for (size_t i = begin; i < end; i++) {
		struct pd_bucket *bucket = bucket_of(a, i);
		struct pd_bucket_key *key = &bucket->key;

		prefetch_bucket(a, i + AHEAD);
		key->ip = a->numbers[key->ip];
		for (size_t k = 0; k < key->caller_count; k++)
			bucket->callers[k] = a->numbers[bucket->callers[k]];
		a->hashes[i] = pd_hash_halves(a->seed ^ key->ip, bucket->callers, key->caller_count);
	}
}

static bool same_stack(const struct pd_bucket *a, const struct pd_bucket *b)
{
	const struct pd_bucket_key *x = &a->key, *y = &b->key;

	return x->ip == y->ip && x->caller_count == y->caller_count && x->cut == y->cut && x->damaged == y->damaged &&
	       x->unfinished == y->unfinished &&
	       (!x->caller_count || memcmp(a->callers, b->callers, x->caller_count * sizeof(a->callers[0])) == 0);
}

// The first entries of the stacks of a part. By hand, as slots of 4 bytes are faster: docs/decisions/tables.md.
struct stack_table {
	uint32_t *slots; // entry + 1, by the hash of its stack
	size_t mask;
};

// False if there is no memory.
static bool make_stacks(struct stack_table *table, size_t count)
{
	size_t slots = 64;

	while (slots < count * 2)
		slots *= 2;
	table->slots = pd_alloc_table(slots * sizeof(*table->slots));
	table->mask = slots - 1;
	return table->slots;
}

static void find_stack(struct arranger *a, const struct stack_table *table, size_t entry)
{
	uint64_t hash = a->hashes[entry];
	size_t at = hash & table->mask;

	for (; table->slots[at]; at = (at + 1) & table->mask) {
		uint32_t other = table->slots[at] - 1;

		if (a->hashes[other] == hash && same_stack(bucket_of(a, other), bucket_of(a, entry))) {
			a->stacks[entry] = other;
			return;
		}
	}
	a->stacks[entry] = (uint32_t)entry;
	table->slots[at] = (uint32_t)entry + 1;
}

// A part has the stacks whose hashes are its own.
static bool is_of_part(const struct arranger *a, size_t entry, size_t part)
{
	return (a->hashes[entry] >> 32) * a->parts >> 32 == part;
}

static size_t stacks_of_part(const struct arranger *a, size_t part)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		count += is_of_part(a, i, part);
	return count;
}

static void find_stacks(void *self, size_t part)
{
	struct arranger *a = self;
	struct stack_table table;

	a->failed[part] = !make_stacks(&table, stacks_of_part(a, part));
	for (size_t i = 0; i < a->count && !a->failed[part]; i++) {
		if (i + AHEAD < a->count && is_of_part(a, i + AHEAD, part))
			__builtin_prefetch(&table.slots[a->hashes[i + AHEAD] & table.mask], 1);
		if (is_of_part(a, i, part))
			find_stack(a, &table, i);
	}
	pd_free(table.slots);
}

// Numbers stacks by their first entries; an entry has the number of its stack then.
static void number_stacks(struct arranger *a)
{
	for (size_t i = 0; i < a->count; i++) {
		if (a->stacks[i] != i) {
			a->stacks[i] = a->stacks[a->stacks[i]];
			continue;
		}
		a->firsts[a->stack_count] = (uint32_t)i;
		a->stacks[i] = (uint32_t)a->stack_count++;
	}
}

// ---- entries ----

// What was counted of a bucket: what is in it, and beside it for each collector.
static void add_up(const struct arranger *a, const struct pd_bucket *bucket, struct pd_counted *entry,
		   uint64_t *weights)
{
	struct pd_collector *c = &a->profile->collector;

	entry->samples = bucket->samples;
	entry->period = bucket->period;
	for (size_t i = 0; i <= c->joined_count; i++) {
		const struct pd_share *share = pd_collector_share(c, i);
		const struct pd_amounts *amounts = &share->amounts[PD_OF_BUCKETS];

		if (bucket->number < share->weight_count)
			*weights += share->weights[bucket->number];
		if (bucket->number >= amounts->count)
			continue;
		entry->samples += amounts->items[bucket->number].samples;
		entry->period += amounts->items[bucket->number].period;
	}
	if (pd_file_given(c->file))
		entry->samples = *weights;
}

static void fill_entry(struct arranger *a, size_t at, const struct pd_bucket *bucket)
{
	struct pd_counted *entry = &a->profile->counted[at];
	uint64_t weights = 0;

	entry->owner = bucket->key.owner;
	entry->details = bucket->key.details;
	entry->stack = a->stacks[at];
	add_up(a, bucket, entry, &weights);
	if (a->profile->weights)
		a->profile->weights[at] = weights;
}

// Stacks without callers do not need the memory of their bucket.
static void fill_stack(struct arranger *a, uint32_t number, const struct pd_bucket *bucket)
{
	static const uint32_t none[1];
	const struct pd_bucket_key *key = &bucket->key;

	a->profile->stacks[number] = (struct pd_stack){
		.ip = key->ip,
		.callers = key->caller_count ? bucket->callers : none,
		.caller_count = key->caller_count,
		.cut = key->cut || key->unfinished,
		.damaged = key->damaged,
		.unfinished = key->unfinished,
	};
}

// Asks for what was counted of a bucket that comes soon.
static void prefetch_amounts(const struct arranger *a, size_t entry)
{
	struct pd_collector *c = &a->profile->collector;

	for (size_t i = 0; entry < a->count && i <= c->joined_count; i++) {
		const struct pd_amounts *amounts = &pd_collector_share(c, i)->amounts[PD_OF_BUCKETS];

		if (a->orders[entry].number < amounts->count)
			__builtin_prefetch(&amounts->items[a->orders[entry].number]);
	}
}

static void fill(void *self, size_t part)
{
	struct arranger *a = self;
	size_t begin, end;

	range_of(a, part, &begin, &end);
	for (size_t i = begin; i < end; i++) {
		const struct pd_bucket *bucket = bucket_of(a, i);

		prefetch_bucket(a, i + AHEAD);
		prefetch_amounts(a, i + AHEAD);
		fill_entry(a, i, bucket);
		if (a->firsts[a->stacks[i]] == i)
			fill_stack(a, a->stacks[i], bucket);
	}
}

// Entries have the slices of their buckets. False if there is no memory.
static bool arrange_slices(struct arranger *a)
{
	struct pd_profile *profile = a->profile;
	struct pd_slice_range *ranges; // by bucket
	bool done;

	if (!profile->options.slices)
		return true;
	ranges = pd_alloc((a->count + 1) * sizeof(*ranges));
	profile->slice_ranges = pd_realloc(NULL, (a->count + 1) * sizeof(*profile->slice_ranges));
	done = ranges && profile->slice_ranges && pd_profile_slice(profile, ranges);
	for (size_t i = 0; done && i < a->count; i++)
		profile->slice_ranges[i] = ranges[a->orders[i].number];
	pd_free(ranges);
	return done;
}

// False if there is no memory.
static bool sort_rare(struct pd_rare_callers *rare)
{
	struct pd_rare_caller *spare, *sorted;

	// with one thread they come in this order
	if (pd_radix_is_sorted(rare->items, rare->count, sizeof(*spare), order_of_rare))
		return true;
	spare = pd_realloc(NULL, rare->count * sizeof(*spare));
	if (!spare)
		return false;
	sorted = pd_radix_sort(rare->items, spare, rare->count, sizeof(*spare), order_of_rare);
	pd_free(sorted == spare ? rare->items : spare);
	rare->items = sorted;
	return true;
}

// What was merged, in the order of the file, and with entries in the place of buckets. False if there is no memory.
static bool arrange_rare(struct arranger *a)
{
	struct pd_rare_callers *rare = &a->profile->collector.rare;
	uint32_t *entries; // by bucket

	if (!rare->count)
		return true;
	pd_index_fini(&rare->index);
	entries = pd_realloc(NULL, (a->count + 1) * sizeof(*entries));
	for (size_t i = 0; entries && i < a->count; i++)
		entries[a->orders[i].number] = (uint32_t)i;
	for (size_t i = 0; entries && i < rare->count; i++)
		rare->items[i].bucket = entries[rare->items[i].bucket];
	pd_free(entries);
	if (!entries || !sort_rare(rare))
		return false;
	a->profile->rare = rare->items;
	a->profile->rare_count = rare->count;
	*rare = (struct pd_rare_callers){ 0 };
	return true;
}

// ---- all of it ----

#define MAKE(items, count) (((items) = pd_realloc(NULL, ((count) + 1) * sizeof(*(items)))) != NULL)

static bool allocate_orders(struct arranger *a)
{
	size_t frames = a->from->frames.count;

	return MAKE(a->orders, a->count) && MAKE(a->spare, a->count) && MAKE(a->numbers, frames) &&
	       MAKE(a->frame_orders, frames) && MAKE(a->frame_spare, frames) && MAKE(a->profile->frames, frames) &&
	       MAKE(a->profile->origins, frames);
}

static bool has_weights(const struct arranger *a)
{
	struct pd_collector *c = &a->profile->collector;
	bool any = false;

	for (size_t i = 0; i <= c->joined_count; i++)
		any |= pd_collector_share(c, i)->weight_count != 0;
	return any;
}

static bool allocate_entries(struct arranger *a)
{
	return MAKE(a->hashes, a->count) && MAKE(a->stacks, a->count) && MAKE(a->firsts, a->count) &&
	       MAKE(a->profile->counted, a->count) && (!has_weights(a) || MAKE(a->profile->weights, a->count));
}

// Nothing is looked for any more.
static void drop_indexes(struct pd_common *common)
{
	for (size_t i = 0; i < PD_SHARDS; i++)
		pd_index_fini(&common->shards[i].index);
	pd_index_fini(&common->frames.index);
	pd_index_fini(&common->details.index);
	pd_index_fini(&common->raws.index);
	pd_index_fini(&common->owners.index);
}

// What frames were made of, before there is more.
static void drop_frames(struct arranger *a, struct pd_frames *frames)
{
	pd_free(frames->items);
	pd_free(a->frame_orders);
	pd_free(a->frame_spare);
	pd_free(a->spare);
	frames->items = NULL;
	frames->capacity = 0;
	a->frame_orders = a->frame_spare = a->spare = NULL;
}

static bool arrange_stacks(struct arranger *a)
{
	pd_in_parts(a->parts, number_callers, a);
	pd_in_parts(a->parts, find_stacks, a);
	for (size_t i = 0; i < a->parts; i++)
		if (a->failed[i])
			return false;
	number_stacks(a);
	return MAKE(a->profile->stacks, a->stack_count);
}

static bool arrange(struct arranger *a)
{
	struct pd_profile *profile = a->profile;

	drop_indexes(profile->collector.common);
	if (!allocate_orders(a))
		return false;
	arrange_order(a);
	drop_frames(a, &profile->collector.common->frames);
	if (!allocate_entries(a))
		return false;
	// that is a thread less for the rest
	if (pd_profile_begin_names(profile) && a->parts > 1)
		a->parts--;
	// slices say how many samples a bucket has
	if (!arrange_slices(a) || !arrange_rare(a) || !name_owners(a) || !arrange_stacks(a))
		return false;
	pd_in_parts(a->parts, fill, a);
	profile->entry_count = a->count;
	profile->stack_count = profile->stack_capacity = a->stack_count;
	return true;
}

static size_t part_count(const struct pd_profile *profile, size_t buckets)
{
	size_t parts = pd_thread_count(profile->options.threads);

	if (parts > buckets / WORTH_A_PART)
		parts = buckets / WORTH_A_PART;
	return parts > PD_PARTS_MOST ? PD_PARTS_MOST : parts ? parts : 1;
}

enum pd_status pd_profile_arrange(struct pd_profile *profile, struct pd_error *error)
{
	struct arranger a = {
		.profile = profile,
		.from = profile->collector.common,
		.seed = profile->collector.seed,
		.names.seed = profile->collector.seed,
	};
	bool done = false;

	if (!profile->collector.failed) {
		a.count = a.from->bucket_count;
		a.parts = part_count(profile, a.count);
		done = arrange(&a);
	}
	pd_free(a.orders);
	pd_free(a.spare);
	pd_free(a.frame_orders);
	pd_free(a.frame_spare);
	pd_free(a.numbers);
	pd_free(a.hashes);
	pd_free(a.stacks);
	pd_free(a.firsts);
	pd_strings_fini(&a.names);
	return done ? PD_OK : pd_fail_memory(error);
}
