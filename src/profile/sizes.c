/* SPDX-License-Identifier: MIT */
/*
 * What a profile consists of: how many stacks, functions and nodes there are, and how much memory each table takes. Tables of
 * the collector are noted in passing, which costs nothing; everything else is counted when it is asked for.
 */
#include <string.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "file/file.h"
#include "profile/collect/pending.h"
#include "profile/profile.h"
#include "object/index/index_pages.h"
#include "state/state.h"
#include "symbol/lookup.h"

static void add_table(struct pd_profile_tables *tables, struct pd_profile_table table)
{
	if (tables->count < PD_PROFILE_TABLES)
		tables->items[tables->count++] = table;
}

static size_t bytes_of_index(const struct pd_index *index)
{
	return index->capacity * sizeof(*index->slots);
}

// ---- while samples are read ----

static void note_buckets(struct pd_profile_tables *tables, const struct pd_common *common)
{
	struct pd_profile_table buckets = { .name = "buckets",
					    .doc = "sums of samples, with their stacks",
					    .stacks = true };
	struct pd_profile_table index = {
		.name = "bucket index", .doc = "from hashes to buckets", .stacks = true, .while_reading = true
	};

	buckets.count = index.count = tables->buckets = common->bucket_count;
	for (size_t i = 0; i < PD_SHARDS; i++) {
		buckets.bytes += common->shards[i].arena.used;
		index.bytes += bytes_of_index(&common->shards[i].index);
	}
	for (size_t i = 0; i < PD_BUCKET_BLOCKS; i++)
		if (common->blocks[i])
			index.bytes += ((uint64_t)64 << i) * sizeof(*common->blocks[i]);
	add_table(tables, buckets);
	add_table(tables, index);
}

// What the threads counted.
static void note_amounts(struct pd_profile_tables *tables, struct pd_collector *c)
{
	struct pd_profile_table amounts = { .name = "amounts",
					    .doc = "what each thread counted of each bucket",
					    .stacks = true,
					    .while_reading = true };
	struct pd_profile_table binned = {
		.name = "binned amounts", .doc = "the same by time slice", .stacks = true, .while_reading = true
	};

	for (size_t i = 0; i <= c->joined_count; i++) {
		const struct pd_share *share = pd_collector_share(c, i);

		amounts.count += share->amounts[PD_OF_BUCKETS].count;
		amounts.bytes += share->amounts[PD_OF_BUCKETS].capacity * sizeof(struct pd_amount) +
				 share->weight_capacity * sizeof(*share->weights);
		binned.count += share->binned.count;
		binned.bytes += share->binned.capacity * sizeof(*share->binned.items);
	}
	add_table(tables, amounts);
	if (binned.bytes)
		add_table(tables, binned);
}

// What each thread has for itself, most of it of one size.
static void note_working_memory(struct pd_profile_tables *tables, const struct pd_collector *c)
{
	uint64_t threads = c->joined_count + 1;
	uint64_t fixed = c->known_most * sizeof(*c->known) + PD_RANGE_SETS * sizeof(*c->ranges) +
			 PD_VIEWS * sizeof(*c->views) + PD_PENDING_MOST * (sizeof(*c->pending) + sizeof(*c->misses)) +
			 2 * PD_REPEATS * sizeof(*c->repeats.tags) + sizeof(*c->secrets);

	if (c->leaves.most)
		fixed += c->leaves.most * sizeof(*c->leaves.items) + PD_PENDING_MOST * sizeof(*c->leaves.asks);
	for (size_t i = 0; i < PD_MERGE_EVENTS; i++)
		fixed += c->sums[i] ? PD_MERGE_SUMS * sizeof(*c->sums[i]) : 0;

	add_table(tables, (struct pd_profile_table){ .name = "working memory",
						     .doc = "caches of the threads, and what waits for memory",
						     .count = threads,
						     .bytes = threads * fixed + c->found_capacity * sizeof(*c->found) +
							      c->sums_capacity * sizeof(*c->found_sums) +
							      c->wanted_capacity * sizeof(*c->wanted),
						     .while_reading = true });
}

static void note_common(struct pd_profile_tables *tables, const struct pd_common *common)
{
	const struct pd_frames *frames = &common->frames;
	const struct pd_owners *owners = &common->owners;
	const struct pd_raws *raws = &common->raws;
	uint64_t lines = common->cache.last_count;
	uint64_t summed = common->cache.last_summed * (sizeof(struct pd_summed_key) + sizeof(struct pd_amount));

	add_table(tables, (struct pd_profile_table){ .name = "key cache",
						     .doc = "raw keys of stacks that were seen lately",
						     .count = lines * PD_KEYS_IN_LINE,
						     .bytes = lines * sizeof(struct pd_key_cache_line) + summed,
						     .stacks = true,
						     .while_reading = true });
	add_table(tables, (struct pd_profile_table){ .name = "frames",
						     .doc = "functions or addresses, and their index",
						     .count = frames->count,
						     .bytes = frames->capacity * sizeof(*frames->items) +
							      bytes_of_index(&frames->index),
						     .while_reading = true });
	add_table(tables, (struct pd_profile_table){ .name = "owners",
						     .doc = "threads, processes or names that samples are counted for",
						     .count = owners->count,
						     .bytes = owners->capacity * sizeof(*owners->items) +
							      bytes_of_index(&owners->index),
						     .while_reading = true });
	add_table(tables, (struct pd_profile_table){ .name = "details",
						     .doc = "events, and what else tells samples apart beside stacks",
						     .count = common->details.count,
						     .bytes = common->details.capacity * sizeof(struct pd_details) +
							      bytes_of_index(&common->details.index),
						     .while_reading = true });
	if (frames->merge.own)
		add_table(tables,
			  (struct pd_profile_table){ .name = "frequent callers",
						     .doc = "those without a name that have a frame of their own",
						     .count = frames->merge.unmapped_count,
						     .bytes = PD_MERGE_SUMS * sizeof(*frames->merge.own),
						     .while_reading = true });
	if (raws->count)
		add_table(tables,
			  (struct pd_profile_table){ .name = "raw data",
						     .doc = "distinct raw data of samples",
						     .count = raws->count - 1,
						     .bytes = raws->capacity * sizeof(*raws->items) +
							      bytes_of_index(&raws->index) + raws->bytes.used });
}

void pd_profile_note_tables(struct pd_profile *profile)
{
	struct pd_collector *c = &profile->collector;
	struct pd_profile_tables *tables = &profile->collected;

	// there was no memory to begin with
	if (!c->common)
		return;
	*tables = (struct pd_profile_tables){ .count = 0 };
	for (size_t i = 0; i < c->event_count; i++)
		tables->samples += c->totals[i].samples;
	note_buckets(tables, c->common);
	note_amounts(tables, c);
	note_common(tables, c->common);
	note_working_memory(tables, c);
}

// ---- the result ----

static void add_result(struct pd_profile_tables *tables, const struct pd_profile *profile)
{
	uint64_t slices = 0;
	uint64_t entries =
		profile->entry_count * (sizeof(*profile->counted) + (profile->weights ? sizeof(*profile->weights) : 0));

	for (size_t i = 0; profile->slice_ranges && i < profile->entry_count; i++)
		slices += profile->slice_ranges[i].count;
	add_table(tables, (struct pd_profile_table){ .name = "entries",
						     .doc = "buckets in the order of the file",
						     .count = profile->entry_count,
						     .bytes = entries,
						     .stacks = true });
	add_table(tables, (struct pd_profile_table){ .name = "stacks",
						     .doc = "distinct stacks, whose frames are those of buckets",
						     .count = profile->stack_count,
						     .bytes = profile->stack_capacity * sizeof(*profile->stacks),
						     .stacks = true });
	add_table(tables, (struct pd_profile_table){ .name = "places",
						     .doc = "frames in the order of their first use",
						     .count = profile->frame_count,
						     .bytes = profile->frame_count *
							      (sizeof(*profile->frames) + sizeof(*profile->origins)) });
	if (profile->rare_count)
		add_table(tables, (struct pd_profile_table){ .name = "merged callers",
							     .doc = "addresses that are one frame, with a sum of each",
							     .count = profile->rare_count,
							     .bytes = profile->rare_count * sizeof(*profile->rare) });
	if (slices)
		add_table(tables,
			  (struct pd_profile_table){ .name = "slices",
						     .doc = "entries by time slice",
						     .count = slices,
						     .bytes = slices * sizeof(*profile->slices) +
							      profile->entry_count * sizeof(*profile->slice_ranges) });
}

static void add_state(struct pd_profile_tables *tables, const struct pd_state *state)
{
	const struct pd_state_sizes sizes = pd_state_measure(state);

	add_table(tables, (struct pd_profile_table){ .name = "processes and mappings",
						     .doc = "what the file says of them",
						     .count = sizes.fed_count,
						     .bytes = sizes.fed_bytes });
	add_table(tables, (struct pd_profile_table){ .name = "address spaces",
						     .doc = "processes and mappings by time",
						     .count = sizes.space_count,
						     .bytes = sizes.finalized_bytes });
}

// Objects may have one table, as modules have that of the kernel.
static bool add_symbols(struct pd_profile_tables *tables, const struct pd_symbols *symbols)
{
	struct pd_profile_table table = { .name = "symbol tables", .doc = "of the objects that were loaded" };
	struct pd_u64_map known = { 0 };
	bool ok = true;

	for (size_t i = 0; i < symbols->dso_count && ok; i++) {
		const struct pd_dso_full *dso = symbols->dsos[i];
		const struct pd_symtab *symtab = dso->table;

		if (dso->has_pages)
			table.bytes += pd_index_pages_bytes(dso->kernel->kallsyms.image);
		if (!symtab || pd_u64_map_find(&known, (uintptr_t)symtab))
			continue;
		ok = pd_u64_map_add(&known, (uintptr_t)symtab, 1);
		table.count++;
		table.bytes += pd_symtab_bytes(symtab);
	}
	pd_u64_map_fini(&known);
	add_table(tables, table);
	return ok;
}

// ---- counting ----

// Notes a number; false if there is no memory.
static bool note_number(struct pd_u64_map *known, uint64_t number, uint64_t *count)
{
	if (pd_u64_map_find(known, number))
		return true;
	++*count;
	return pd_u64_map_add(known, number, 1);
}

static bool count_functions(struct pd_profile *profile, struct pd_profile_sizes *sizes)
{
	struct pd_u64_map functions = { 0 }, names = { 0 };
	uint64_t seed = pd_file_secret(profile->file);
	bool ok = true;

	for (size_t i = 0; i < profile->frame_count && ok; i++) {
		const struct pd_function *function = profile->frames[i].place.function;

		if (!function)
			sizes->unnamed_frames++;
		else
			ok = note_number(&functions, (uintptr_t)function, &sizes->functions) &&
			     note_number(&names, pd_hash(seed, function->name, strlen(function->name)), &sizes->names);
	}
	pd_u64_map_fini(&functions);
	pd_u64_map_fini(&names);
	return ok;
}

// Paths from the outermost caller on, by hashes of 64 bits.
static bool count_nodes(struct pd_profile *profile, struct pd_profile_sizes *sizes)
{
	struct pd_u64_map paths = { 0 };
	const uint64_t seed = pd_file_secret(profile->file);
	bool ok = true;

	for (size_t i = 0; i < profile->stack_count && ok; i++) {
		const struct pd_stack *stack = &profile->stacks[i];
		bool has_leaf = stack->caller_count && stack->callers[0] == stack->ip;
		uint64_t path = seed;

		for (size_t k = stack->caller_count; k > 0 && ok; k--) {
			path = pd_hash_words(seed, (uint64_t[]){ path, stack->callers[k - 1] }, 2);
			ok = note_number(&paths, path, &sizes->nodes);
		}
		if (ok && !has_leaf)
			ok = note_number(&paths, pd_hash_words(seed, (uint64_t[]){ path, stack->ip }, 2),
					 &sizes->nodes);
	}
	pd_u64_map_fini(&paths);
	return ok;
}

static void add_up(struct pd_profile_sizes *sizes, const struct pd_profile_tables *tables)
{
	sizes->tables = (struct pd_list){ tables->items, tables->count, sizeof(tables->items[0]) };
	for (size_t i = 0; i < tables->count; i++) {
		sizes->bytes += tables->items[i].bytes;
		sizes->stack_bytes += tables->items[i].stacks ? tables->items[i].bytes : 0;
	}
}

enum pd_status pd_profile_measure(struct pd_profile *profile, const struct pd_symbols *symbols,
				  const struct pd_profile_sizes **sizes_out, struct pd_error *error)
{
	struct pd_profile_sizes *sizes = &profile->sizes;
	struct pd_profile_tables *tables = profile->measured;

	if (!tables)
		tables = profile->measured = pd_alloc(sizeof(*tables));
	if (!tables)
		return pd_fail_memory(error);
	*tables = profile->collected;
	*sizes = (struct pd_profile_sizes){
		.samples = tables->samples,
		.buckets = tables->buckets,
		.stacks = profile->stack_count,
		.frames = profile->frame_count,
	};
	add_result(tables, profile);
	add_state(tables, profile->state);
	if ((symbols && (!add_symbols(tables, symbols) || !count_functions(profile, sizes))) ||
	    !count_nodes(profile, sizes))
		return pd_fail_memory(error);
	add_up(sizes, tables);
	*sizes_out = sizes;
	return PD_OK;
}
