/* SPDX-License-Identifier: MIT */
/*
 * Slices of time: the binned counts that all collectors counted, by bucket and bin. Entries are put where their bucket has
 * its place, in parts of all binned counts; then each bucket's are sorted and joined, in parts of all buckets.
 */
#include <string.h>

#include "base/lookup/search.h"
#include "base/threads.h"
#include "profile/profile.h"

enum {
	AHEAD = 16,             // buckets that are on their way from memory
	WORTH_A_PART = 1 << 13, // binned counts; for less a thread costs more
	HALVINGS_MOST = 16,     // bins are no more than that many bits
};

struct slicer {
	struct pd_profile *profile;
	struct pd_slice_range *ranges; // by bucket
	size_t count;                  // of buckets
	size_t all;                    // binned counts
	size_t parts;
	unsigned shift;              // a slice has 1 << shift of those that were asked for
	uint32_t *at[PD_PARTS_MOST]; // where the next binned count of a bucket goes, for each part
	unsigned halvings;           // of indices, since they were joined
	// Neighbours by how many halvings make them one; more than there are: none does.
	size_t differing[PD_PARTS_MOST][HALVINGS_MOST + 2];
	bool failed[PD_PARTS_MOST]; // there was no memory for a part
};

// The lists of all collectors, one after another.
static struct pd_binned_list *list_at(struct pd_collector *c, size_t index)
{
	return &pd_collector_share(c, index)->binned;
}

static unsigned most_shift(struct pd_collector *c)
{
	unsigned shift = 0;

	for (size_t i = 0; i <= c->joined_count; i++)
		shift = list_at(c, i)->shift > shift ? list_at(c, i)->shift : shift;
	return shift;
}

static size_t count_all(struct pd_collector *c)
{
	size_t all = 0;

	for (size_t i = 0; i <= c->joined_count; i++)
		all += list_at(c, i)->count;
	return all;
}

// ---- to their places ----

static void count_binned(const struct pd_binned *binned, size_t count, uint32_t *counts)
{
	for (size_t i = 0; i < count; i++)
		counts[binned[i].bucket]++;
}

static void put_binned(const struct pd_binned *binned, size_t count, unsigned shift, uint32_t *at,
		       struct pd_slice *slices)
{
	for (size_t i = 0; i < count; i++) {
		const struct pd_binned *entry = &binned[i];
		bool timed = entry->bin != PD_BIN_NONE;

		slices[at[entry->bucket]++] = (struct pd_slice){
			.period = entry->period,
			.samples = entry->samples,
			.index = timed ? (uint32_t)entry->bin >> shift : UINT32_MAX,
		};
	}
}

// What a part of all binned counts has of each list.
static void walk_binned(struct slicer *slicer, size_t part, bool put)
{
	struct pd_collector *c = &slicer->profile->collector;
	size_t begin = pd_part_begin(slicer->all, slicer->parts, part);
	size_t end = pd_part_begin(slicer->all, slicer->parts, part + 1);

	for (size_t i = 0, first = 0; i <= c->joined_count && first < end; first += list_at(c, i++)->count) {
		const struct pd_binned_list *list = list_at(c, i);
		size_t from = begin > first ? begin - first : 0;
		size_t to = end - first < list->count ? end - first : list->count;

		if (from >= to)
			continue;
		if (put)
			put_binned(list->items + from, to - from, slicer->shift - list->shift, slicer->at[part],
				   slicer->profile->slices);
		else
			count_binned(list->items + from, to - from, slicer->at[part]);
	}
}

static void count_part(void *self, size_t part)
{
	walk_binned(self, part, false);
}

static void put_part(void *self, size_t part)
{
	walk_binned(self, part, true);
}

// Those of a bucket are together, in the order of the parts.
static void place_buckets(struct slicer *slicer)
{
	uint32_t next = 0;

	for (size_t b = 0; b < slicer->count; b++) {
		slicer->ranges[b].start = next;
		for (size_t part = 0; part < slicer->parts; part++) {
			uint32_t size = slicer->at[part][b];

			slicer->at[part][b] = next;
			next += size;
		}
		slicer->ranges[b].count = next - slicer->ranges[b].start;
	}
}

static void free_binned(struct pd_collector *c)
{
	for (size_t i = 0; i <= c->joined_count; i++) {
		struct pd_binned_list *list = list_at(c, i);

		pd_free(list->items);
		*list = (struct pd_binned_list){ 0 };
	}
}

// ---- in order ----

static size_t run_end(const struct pd_slice *slices, size_t begin, size_t count)
{
	size_t end = begin + 1;

	while (end < count && slices[end - 1].index <= slices[end].index)
		end++;
	return end < count ? end : count;
}

// Two runs become one.
static void merge_runs(const struct pd_slice *slices, size_t middle, size_t count, struct pd_slice *out)
{
	size_t left = 0, right = middle;

	while (left < middle && right < count) {
		bool later = slices[right].index < slices[left].index;

		*out++ = slices[later ? right : left];
		right += later;
		left += !later;
	}
	memcpy(out, slices + left, (middle - left) * sizeof(*slices));
	out += middle - left;
	memcpy(out, slices + right, (count - right) * sizeof(*slices));
}

struct spare {
	struct pd_slice *items;
	size_t capacity;
};

// What a thread counted is mostly in order, so there are few runs. False if there is no memory.
static bool sort_slices(struct pd_slice *slices, size_t count, struct spare *spare)
{
	for (size_t middle; count && (middle = run_end(slices, 0, count)) < count;) {
		if (!PD_GROW(spare->items, spare->capacity, count))
			return false;
		for (size_t begin = 0, end; begin < count; begin = end) {
			middle = run_end(slices, begin, count);
			end = run_end(slices, middle < count ? middle : middle - 1, count);
			merge_runs(slices + begin, middle - begin, end - begin, spare->items + begin);
		}
		memcpy(slices, spare->items, count * sizeof(*slices));
	}
	return true;
}

static uint32_t halve(uint32_t index, unsigned halvings)
{
	return index == UINT32_MAX ? index : index >> halvings;
}

// Joins slices that agree. Returns how many there are.
static size_t join_slices(struct pd_slice *slices, size_t count, unsigned halvings)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct pd_slice slice = slices[i];
		struct pd_slice *last = kept ? &slices[kept - 1] : NULL;

		slice.index = halve(slice.index, halvings);
		if (last && last->index == slice.index && last->samples <= UINT32_MAX - slice.samples) {
			last->samples += slice.samples;
			last->period += slice.period;
		} else {
			slices[kept++] = slice;
		}
	}
	return kept;
}

// Adds how many differ, by halvings: neighbours do while they have different bits that are left.
static void count_differing(const struct pd_slice *slices, size_t count, size_t *differing)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits = i ? slices[i].index ^ slices[i - 1].index : UINT32_MAX;
		unsigned most = bits ? 32 - (unsigned)__builtin_clz(bits) : 0;

		differing[most < HALVINGS_MOST + 1 ? most : HALVINGS_MOST + 1]++;
	}
}

static void fill_bucket(struct pd_bucket *bucket, const struct pd_slice *slices, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bucket->samples += slices[i].samples;
		bucket->period += slices[i].period;
	}
}

// The first bucket of a part: parts have as many binned counts each.
static size_t first_bucket(const struct slicer *slicer, size_t part)
{
	size_t begin = pd_part_begin(slicer->all, slicer->parts, part), bucket;

	if (part >= slicer->parts)
		return slicer->count;
	PD_SEARCH(bucket, 0, slicer->count, i, slicer->ranges[i].start < begin);
	return bucket;
}

static void prefetch_bucket(const struct pd_common *common, size_t bucket, size_t end)
{
	if (bucket < end)
		__builtin_prefetch(pd_bucket_at(common, (uint32_t)bucket), 1);
}

// False if there is no memory.
static bool begin_bucket(struct slicer *slicer, size_t b, struct spare *spare, size_t *differing)
{
	struct pd_slice_range *range = &slicer->ranges[b];
	struct pd_slice *slices = slicer->profile->slices + range->start;

	if (!sort_slices(slices, range->count, spare))
		return false;
	range->count = join_slices(slices, range->count, 0);
	count_differing(slices, range->count, differing);
	fill_bucket(pd_bucket_at(slicer->profile->collector.common, (uint32_t)b), slices, range->count);
	return true;
}

static void begin_part(void *self, size_t part)
{
	struct slicer *slicer = self;
	size_t end = first_bucket(slicer, part + 1);
	struct spare spare = { 0 };
	// those of the parts are neighbours, and threads would take them from each other all the time
	size_t differing[HALVINGS_MOST + 2] = { 0 };
	bool done = true;

	for (size_t b = first_bucket(slicer, part); b < end && done; b++) {
		prefetch_bucket(slicer->profile->collector.common, b + AHEAD, end);
		done = begin_bucket(slicer, b, &spare, differing);
	}
	memcpy(slicer->differing[part], differing, sizeof(differing));
	slicer->failed[part] = !done;
	pd_free(spare.items);
}

static void join_part(void *self, size_t part)
{
	struct slicer *slicer = self;
	size_t end = first_bucket(slicer, part + 1);

	for (size_t b = first_bucket(slicer, part); b < end; b++) {
		struct pd_slice_range *range = &slicer->ranges[b];

		range->count = join_slices(slicer->profile->slices + range->start, range->count, slicer->halvings);
	}
}

static size_t count_differing_after(const struct slicer *slicer, unsigned halvings)
{
	size_t differing = 0;

	for (size_t part = 0; part < slicer->parts; part++)
		for (size_t most = halvings + 1; most <= HALVINGS_MOST + 1; most++)
			differing += slicer->differing[part][most];
	return differing;
}

// Slices become twice as long until they are few enough. False if there is no memory.
static bool join_buckets(struct slicer *slicer)
{
	pd_in_parts(slicer->parts, begin_part, slicer);
	for (size_t part = 0; part < slicer->parts; part++)
		if (slicer->failed[part])
			return false;
	while (count_differing_after(slicer, slicer->halvings) > PD_BINNED_MAX && slicer->shift < HALVINGS_MOST) {
		slicer->halvings++;
		slicer->shift++;
	}
	if (slicer->halvings)
		pd_in_parts(slicer->parts, join_part, slicer);
	return true;
}

// ---- all of it ----

// Each part counts for all buckets, which must not cost more than the slices.
static size_t part_count(const struct slicer *slicer)
{
	size_t parts = pd_thread_count(slicer->profile->options.threads);
	size_t most = slicer->all / (slicer->count + 1) * 2 + 1;

	if (parts > slicer->all / WORTH_A_PART)
		parts = slicer->all / WORTH_A_PART;
	if (parts > most)
		parts = most;
	return parts > PD_PARTS_MOST ? PD_PARTS_MOST : parts ? parts : 1;
}

static bool slice(struct slicer *slicer)
{
	struct pd_profile *profile = slicer->profile;

	profile->slices = pd_realloc(NULL, (slicer->all + 1) * sizeof(*profile->slices));
	// places are 32 bits wide: so many slices would be 64 GiB
	if (!profile->slices || slicer->all > UINT32_MAX)
		return false;
	for (size_t part = 0; part < slicer->parts; part++)
		if (!(slicer->at[part] = pd_alloc((slicer->count + 1) * sizeof(*slicer->at[part]))))
			return false;
	pd_in_parts(slicer->parts, count_part, slicer);
	place_buckets(slicer);
	pd_in_parts(slicer->parts, put_part, slicer);
	free_binned(&profile->collector);
	return join_buckets(slicer);
}

bool pd_profile_slice(struct pd_profile *profile, struct pd_slice_range *ranges)
{
	struct pd_collector *c = &profile->collector;
	struct slicer slicer = {
		.profile = profile,
		.ranges = ranges,
		.count = c->common->bucket_count,
		.all = count_all(c),
		.shift = most_shift(c),
	};
	bool done;

	slicer.parts = part_count(&slicer);
	done = slice(&slicer);
	for (size_t part = 0; part < slicer.parts; part++)
		pd_free(slicer.at[part]);
	profile->slice_ns = c->slice_ns << slicer.shift;
	profile->first_slice_ns = c->first_slice * c->slice_ns;
	return done;
}
