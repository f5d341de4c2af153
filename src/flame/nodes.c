/* SPDX-License-Identifier: MIT */
/*
 * From lines to nodes. In the order of their frames, a line adds the nodes that it has not in common with the line before;
 * so nodes come in the order in which they are printed, and are looked for nowhere.
 *
 * It is done in parts: first each part counts what it is going to make, then it knows where that begins. A node's total is
 * what lies between the sums of values at its first line and after its last one, which may be of a later part.
 */
#include "flame/tree.h"

#include "base/memory.h"
#include "base/threads.h"
#include "profile/entries.h"

#include <perfdata/profile.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum {
	WORTH_A_PART = 1 << 10, /* lines; for less a thread costs more */
	AHEAD = 8,              /* lines that are on their way from memory */
	SLICES = 1 << TREE_SLICE_BITS
};

static_assert((int)TREE_SLICES_MOST <= (int)SLICES, "all slices have their place");

/* What lines have in common, by slice. */
struct bins {
	uint64_t sums[SLICES], samples[SLICES];
	uint64_t used[SLICES / 64]; /* bits */
};

struct part {
	size_t begin, end; /* in the order of lines */
	size_t node_count, first_node;
	size_t value_count[TREE_SLICE_BITS + 1]; /* if slices are halved so often */
	size_t first_value;
	uint64_t sum, sum_before;
	uint32_t most_frames, last_slice;
	uint32_t *open; /* nodes that more lines may be in, by depth; NONE: it is of a part before */
	uint32_t open_count;
	size_t below; /* nodes that have less than is wanted */
	bool failed;
	char padding[PD_PARTS_PADDING];
};

/* What a line has from its entry. */
struct origin {
	const struct pd_slice *slices;
	uint64_t samples;
	uint32_t slice_count;
	uint32_t event;
};

struct builder {
	struct tree *tree;
	struct stack_lines *lines;
	const struct tree_source *source;
	struct origin *origins; /* by line */
	uint32_t *rank;         /* of frames */
	uint32_t *ranked;       /* frames by rank */
	uint32_t *order;        /* of lines */
	uint32_t *common;       /* by place in the order: frames that a line has in common with the one before */
	uint64_t *sums;         /* the same: values of all lines before; at first only of the part */
	uint64_t least;
	unsigned halvings; /* of slices */
	size_t part_count;
	struct part *parts;
};

/* ---- the order of frames ---- */

static int compare_texts(const void *left, const void *right, void *self)
{
	const struct tree *tree = self;

	return strcmp(tree->texts.items[*(const uint32_t *)left], tree->texts.items[*(const uint32_t *)right]);
}

struct frame_order {
	const struct tree_frame *frames;
	const uint32_t *text_rank;
};

static int compare_frames(const void *left, const void *right, void *self)
{
	const struct frame_order *order = self;
	const struct tree_frame *a = &order->frames[*(const uint32_t *)left];
	const struct tree_frame *b = &order->frames[*(const uint32_t *)right];
	uint32_t keys[2][3] = { { order->text_rank[a->name], order->text_rank[a->dso], a->kind },
				{ order->text_rank[b->name], order->text_rank[b->dso], b->kind } };

	for (size_t i = 0; i < 3; i++) {
		if (keys[0][i] != keys[1][i])
			return keys[0][i] < keys[1][i] ? -1 : 1;
	}
	return 0;
}

/* The things 0 to count in the order of compare, and the place of each. */
static bool sort_numbers(size_t count, int (*compare)(const void *, const void *, void *), void *self,
			 uint32_t **sorted_out, uint32_t **places_out)
{
	uint32_t *sorted = *sorted_out = pd_realloc(NULL, (count + 1) * sizeof(*sorted));
	uint32_t *places = *places_out = pd_realloc(NULL, (count + 1) * sizeof(*places));

	if (!sorted || !places)
		return false;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, count, sizeof(*sorted), compare, self);
	for (size_t i = 0; i < count; i++)
		places[sorted[i]] = (uint32_t)i;
	return true;
}

static bool rank(struct builder *builder)
{
	struct tree *tree = builder->tree;
	uint32_t *texts, *text_rank;
	bool done = sort_numbers(tree->texts.count, compare_texts, tree, &texts, &text_rank);
	struct frame_order order = { tree->frames, text_rank };

	done = done && sort_numbers(tree->frame_count, compare_frames, &order, &builder->ranked, &builder->rank);
	pd_free(texts);
	pd_free(text_rank);
	return done;
}

/* ---- lines ---- */

static struct origin origin_of(const struct tree_source *source, const struct stack_line *line)
{
	struct origin origin = { .samples = source->profile ? pd_profile_entry_samples(source->profile, line->entry) :
							      line->value };
	size_t count;

	if (source->event_count > 1)
		origin.event = source->event_index[pd_profile_entry_event(source->profile, line->entry)];
	if (source->slice_step) {
		origin.slices = pd_profile_slices(source->profile, line->entry, &count);
		origin.slice_count = (uint32_t)count;
	}
	return origin;
}

/* Frames of lines become ranks. */
static void begin_part(void *self, size_t part)
{
	struct builder *builder = self;
	const struct stack_lines *lines = builder->lines;
	size_t end = pd_part_begin(lines->count, builder->part_count, part + 1);

	for (size_t i = pd_part_begin(lines->count, builder->part_count, part); i < end; i++) {
		const struct stack_line *line = &lines->items[i];

		for (size_t k = line->start; k < line->start + line->count; k++)
			lines->frames[k] = builder->rank[lines->frames[k]];
		builder->origins[i] = origin_of(builder->source, line);
	}
}

static const struct stack_line *line_at(const struct builder *builder, size_t place)
{
	return &builder->lines->items[builder->order[place]];
}

/* The frames that a line has in common with the one before. */
static uint32_t common_at(const struct builder *builder, size_t place)
{
	return place ? lines_common(builder->lines, line_at(builder, place - 1), line_at(builder, place)) : 0;
}

static bool is_same(const struct builder *builder, size_t place)
{
	return place && line_at(builder, place)->count == line_at(builder, place - 1)->count &&
	       common_at(builder, place) == line_at(builder, place)->count;
}

/* Lines that are the same are not parted. */
static size_t first_place(const struct builder *builder, size_t part)
{
	size_t place = pd_part_begin(builder->lines->count, builder->part_count, part);

	while (place < builder->lines->count && is_same(builder, place))
		place++;
	return place;
}

/* ---- values ---- */

static void bin_add(struct bins *bins, uint32_t slice, uint64_t value, uint64_t samples)
{
	bins->sums[slice] += value;
	bins->samples[slice] += samples;
	bins->used[slice / 64] |= (uint64_t)1 << slice % 64;
}

static void add_line(const struct builder *builder, uint32_t line, struct bins *bins)
{
	const struct tree_source *source = builder->source;
	const struct origin *origin = &builder->origins[line];
	bool by_samples = origin->slice_count && source->units[origin->event] == PD_UNIT_SAMPLES;

	if (!source->slice_step && builder->lines->items[line].value)
		bin_add(bins, 0, builder->lines->items[line].value, origin->samples);
	for (uint32_t i = 0; i < origin->slice_count; i++) {
		const struct pd_slice *slice = &origin->slices[i];
		uint64_t value = by_samples ? slice->samples : slice->period;
		uint32_t index = 0;

		if (slice->index != UINT32_MAX)
			index = (slice->index - source->first_slice) / source->slice_step;
		if (value)
			bin_add(bins, index >> builder->halvings, value, slice->samples);
	}
}

/* Empties bins. Returns how many had something. */
static size_t bins_drain(struct bins *bins, struct tree_value *values, uint32_t node, uint32_t event)
{
	size_t count = 0;

	for (size_t word = 0; word < SLICES / 64; word++)
		for (; bins->used[word]; bins->used[word] &= bins->used[word] - 1) {
			size_t slice = word * 64 + (size_t)__builtin_ctzll(bins->used[word]);

			values[count++] = (struct tree_value){ node, event, (uint32_t)slice, bins->sums[slice],
							       bins->samples[slice] };
			bins->sums[slice] = bins->samples[slice] = 0;
		}
	return count;
}

/* Asks for the memory of lines that come soon. */
static void prefetch_node(const struct builder *builder, size_t place)
{
	enum {
		LINE = 64
	};
	const char *slices;

	if (place + 2 * AHEAD < builder->lines->count) {
		__builtin_prefetch(line_at(builder, place + 2 * AHEAD));
		__builtin_prefetch(&builder->origins[builder->order[place + 2 * AHEAD]]);
	}
	if (place + AHEAD < builder->lines->count) {
		slices = (const char *)builder->origins[builder->order[place + AHEAD]].slices;
		__builtin_prefetch(builder->lines->frames + line_at(builder, place + AHEAD)->start);
		if (!slices)
			return;
		__builtin_prefetch(slices);
		__builtin_prefetch(slices + LINE);
		__builtin_prefetch(slices + 2 * LINE);
	}
}

static uint32_t event_at(const struct builder *builder, size_t place)
{
	return builder->origins[builder->order[place]].event;
}

/* Puts the values of lines that are the same and of one event. Returns their end. */
static size_t put_values(const struct builder *builder, size_t place, size_t end, uint32_t node, struct bins *bins,
			 struct tree_value *values, size_t *count_out)
{
	uint32_t event = event_at(builder, place);

	/* Entries, and so lines that are the same, come by event. */
	do {
		add_line(builder, builder->order[place++], bins);
	} while (place < end && event_at(builder, place) == event);
	*count_out = bins_drain(bins, values, node, event);
	return place;
}

/* ---- what a part is going to make ---- */

static unsigned bits_of(uint32_t number)
{
	return number ? 32 - (unsigned)__builtin_clz(number) : 0;
}

/* Slices are one when so many bits are gone as they differ in. */
static void count_values(struct part *part, const struct tree_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned bits = i ? bits_of(values[i].slice ^ values[i - 1].slice) : TREE_SLICE_BITS + 1;

		part->sum += values[i].value;
		for (unsigned halvings = 0; halvings < bits; halvings++)
			part->value_count[halvings]++;
		if (values[i].slice > part->last_slice)
			part->last_slice = values[i].slice;
	}
}

static void count_part(void *self, size_t number)
{
	struct builder *builder = self;
	struct part *part = &builder->parts[number];
	struct tree_value values[SLICES];
	struct bins bins = { 0 };
	size_t next, count;

	part->begin = first_place(builder, number);
	part->end = first_place(builder, number + 1);
	if (part->begin < part->end)
		builder->common[part->begin] = common_at(builder, part->begin);
	for (size_t i = part->begin; i < part->end; i = next) {
		uint32_t frames = line_at(builder, i)->count;

		if (frames > part->most_frames)
			part->most_frames = frames;
		part->node_count += frames - builder->common[i];
		for (next = i + 1; next < part->end; next++) {
			prefetch_node(builder, next);
			builder->common[next] = common_at(builder, next);
			if (builder->common[next] < line_at(builder, next)->count)
				break;
		}
		for (size_t at = i; at < next; at++)
			builder->sums[at] = part->sum;
		for (size_t at = i; at < next;) {
			at = put_values(builder, at, next, 0, &bins, values, &count);
			count_values(part, values, count);
		}
	}
}

/* ---- making ---- */

static void close_node(const struct builder *builder, struct part *part, uint64_t sum)
{
	uint32_t node = part->open[--part->open_count];

	if (node == NONE)
		return;
	builder->tree->nodes[node].total = sum - builder->tree->nodes[node].total;
	part->below += builder->tree->nodes[node].total < builder->least;
}

static void make_part(void *self, size_t number)
{
	struct builder *builder = self;
	struct part *part = &builder->parts[number];
	struct tree_node *nodes = builder->tree->nodes;
	struct tree_value *values = builder->tree->values;
	size_t node = part->first_node, value = part->first_value, next, count;
	struct bins bins = { 0 };

	for (size_t i = part->begin; i < part->end; i = next) {
		const struct stack_line *line = line_at(builder, i);
		const uint32_t *frames = builder->lines->frames + line->start;
		uint64_t sum = builder->sums[i] + part->sum_before;

		for (next = i + 1; next < part->end && builder->common[next] == line_at(builder, next)->count;)
			next++;
		prefetch_node(builder, next);
		while (part->open_count > builder->common[i])
			close_node(builder, part, sum);
		while (part->open_count < line->count) {
			nodes[node] = (struct tree_node){ builder->ranked[frames[part->open_count]],
							  part->open_count + 1, sum };
			part->open[part->open_count++] = (uint32_t)node++;
		}
		for (size_t at = i; at < next; value += count)
			at = put_values(builder, at, next, (uint32_t)node - 1, &bins, values + value, &count);
		builder->sums[i] = sum;
	}
}

/* Where the nodes that a part left open end. */
static void close_part(const struct builder *builder, struct part *part)
{
	for (size_t i = part->end; part->open_count; i++) {
		uint32_t common = i < builder->lines->count ? builder->common[i] : 0;

		while (part->open_count > common)
			close_node(builder, part, builder->sums[i]);
	}
}

static bool allocate_nodes(struct builder *builder, size_t node_count, size_t value_count)
{
	if (node_count >= NONE)
		return false;
	builder->tree->nodes = pd_realloc(NULL, node_count * sizeof(*builder->tree->nodes));
	builder->tree->values = pd_realloc(NULL, (value_count + 1) * sizeof(*builder->tree->values));
	for (size_t i = 0; i < builder->part_count; i++) {
		struct part *part = &builder->parts[i];

		part->open_count = part->begin < part->end ? builder->common[part->begin] : 0;
		part->open = pd_realloc(NULL, (part->most_frames + 1) * sizeof(*part->open));
		if (!part->open)
			return false;
		memset(part->open, 0xff, part->open_count * sizeof(*part->open));
	}
	return builder->tree->nodes && builder->tree->values;
}

static size_t value_count_of(const struct builder *builder, unsigned halvings)
{
	size_t count = 0;

	for (size_t i = 0; i < builder->part_count; i++)
		count += builder->parts[i].value_count[halvings];
	return count;
}

/* Joins slices of time by twos until there are not more values than most. */
static void choose_halvings(struct builder *builder, size_t most)
{
	uint32_t last = 0;

	for (size_t i = 0; i < builder->part_count; i++)
		if (builder->parts[i].last_slice > last)
			last = builder->parts[i].last_slice;
	for (; most && last && value_count_of(builder, builder->halvings) > most; last /= 2)
		builder->halvings++;
	builder->tree->joined = 1u << builder->halvings;
}

static uint64_t least_of(uint64_t total, double percent)
{
	double least = (double)total * percent / 100;

	return least < 1 ? 1 : least < (double)UINT64_MAX ? (uint64_t)least : UINT64_MAX;
}

static bool make_nodes(struct builder *builder, const struct tree_options *options)
{
	struct tree *tree = builder->tree;
	size_t node = 1, value = 0;
	uint64_t sum = 0;

	pd_in_parts(builder->part_count, count_part, builder);
	choose_halvings(builder, options->values);
	for (size_t i = 0; i < builder->part_count; i++) {
		struct part *part = &builder->parts[i];

		part->first_node = node;
		part->first_value = value;
		part->sum_before = sum;
		node += part->node_count;
		value += part->value_count[builder->halvings];
		sum += part->sum;
	}
	if (!allocate_nodes(builder, node, value))
		return false;
	builder->least = least_of(sum, options->least);
	tree->node_count = node;
	tree->value_count = value;
	tree->nodes[0] = (struct tree_node){ .frame = NONE, .total = sum };
	builder->sums[builder->lines->count] = sum;
	pd_in_parts(builder->part_count, make_part, builder);
	return true;
}

/* ---- what is left out ---- */

static int compare_values(const void *left, const void *right)
{
	const struct tree_value *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Leaves out nodes with what is below them. places is where each is then, or who has what was theirs. path has room for
 * the deepest stack. */
static void leave_out(struct tree *tree, uint64_t least, uint32_t *places, uint32_t *path)
{
	uint32_t gone = NONE; /* depth of the node that is left out */
	size_t kept = 1;

	places[0] = path[0] = 0;
	for (size_t i = 1; i < tree->node_count; i++) {
		struct tree_node node = tree->nodes[i];

		if (node.depth > gone) {
			places[i] = path[gone - 1];
			continue;
		}
		gone = node.total < least ? node.depth : NONE;
		if (gone == NONE) {
			path[node.depth] = (uint32_t)kept;
			tree->nodes[kept++] = node;
		}
		places[i] = path[gone == NONE ? node.depth : node.depth - 1];
	}
	tree->left_out = tree->node_count - kept;
	tree->node_count = kept;
}

/* Sorts values again whose nodes have changed, and joins those that agree. */
static void merge_values(struct tree *tree, const uint32_t *places)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->value_count; i++)
		tree->values[i].node = places[tree->values[i].node];
	qsort(tree->values, tree->value_count, sizeof(*tree->values), compare_values);
	for (size_t i = 0; i < tree->value_count; i++) {
		if (!kept || compare_values(&tree->values[kept - 1], &tree->values[i])) {
			tree->values[kept++] = tree->values[i];
			continue;
		}
		tree->values[kept - 1].value += tree->values[i].value;
		tree->values[kept - 1].samples += tree->values[i].samples;
	}
	tree->value_count = kept;
}

static bool prune(struct builder *builder)
{
	struct tree *tree = builder->tree;
	uint32_t *places, *path, most_frames = 0;
	size_t below = 0;
	bool done;

	for (size_t i = 0; i < builder->part_count; i++) {
		close_part(builder, &builder->parts[i]);
		below += builder->parts[i].below;
		if (builder->parts[i].most_frames > most_frames)
			most_frames = builder->parts[i].most_frames;
	}
	if (!below)
		return true;
	places = pd_realloc(NULL, tree->node_count * sizeof(*places));
	path = pd_realloc(NULL, ((size_t)most_frames + 1) * sizeof(*path));
	done = places && path;
	if (done) {
		leave_out(tree, builder->least, places, path);
		merge_values(tree, places);
	}
	pd_free(places);
	pd_free(path);
	return done;
}

/* ---- all of it ---- */

static bool begin(struct builder *builder)
{
	size_t count = builder->lines->count;

	builder->parts = pd_alloc(builder->part_count * sizeof(*builder->parts));
	builder->common = pd_realloc(NULL, (count + 1) * sizeof(*builder->common));
	builder->sums = pd_realloc(NULL, (count + 1) * sizeof(*builder->sums));
	builder->origins = pd_realloc(NULL, (count + 1) * sizeof(*builder->origins));
	if (!builder->parts || !builder->common || !builder->sums || !builder->origins || !rank(builder))
		return false;
	pd_in_parts(builder->part_count, begin_part, builder);
	builder->order = pd_lines_sort(builder->lines, (uint32_t)builder->tree->frame_count, builder->part_count);
	return builder->order != NULL;
}

bool pd_tree_finish(struct tree *tree, struct stack_lines *lines, const struct tree_source *source,
		    const struct tree_options *options)
{
	struct builder builder = {
		.tree = tree,
		.lines = lines,
		.source = source,
		.part_count = pd_part_count(pd_thread_count(options->threads), lines->count, WORTH_A_PART),
	};

	tree->failed |= lines->failed;
	tree->failed = tree->failed || !begin(&builder) || !make_nodes(&builder, options) || !prune(&builder);
	for (size_t i = 0; builder.parts && i < builder.part_count; i++)
		pd_free(builder.parts[i].open);
	pd_free(builder.parts);
	pd_free(builder.common);
	pd_free(builder.sums);
	pd_free(builder.order);
	pd_free(builder.origins);
	pd_free(builder.rank);
	pd_free(builder.ranked);
	return !tree->failed;
}
