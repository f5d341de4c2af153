/* SPDX-License-Identifier: MIT */
/*
 * The tree of stacks. Three hash tables without deletion find texts, frames and nodes; a node remembers which of its
 * children was asked for last, because stacks that follow each other share most of their callers.
 *
 * A node is made after its parent, so walking the nodes backwards sees children before parents: sums and limits
 * need no recursion, however deep the stacks are.
 */
#include "flame_tree.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum {
	FIRST_SLOTS = 1024 /* power of two, as all sizes of hash tables */
};

/* ---- memory ---- */

/* Makes room for one more item. */
static bool grow(void **items, size_t *room, size_t count, size_t size)
{
	size_t wanted = *room ? *room * 2 : 256;
	void *grown;

	if (count < *room)
		return true;
	if (wanted > SIZE_MAX / size || count >= NONE - 1)
		return false;
	grown = realloc(*items, wanted * size);
	if (!grown)
		return false;
	*items = grown;
	*room = wanted;
	return true;
}

static uint32_t *new_slots(size_t count)
{
	uint32_t *slots = malloc(count * sizeof(*slots));

	if (slots)
		memset(slots, 0xff, count * sizeof(*slots));
	return slots;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t hash = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xc2b2ae3d27d4eb4f));

	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return hash ^ hash >> 32;
}

/* ---- texts ---- */

static uint64_t text_hash(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static bool texts_rehash(struct tree_texts *texts)
{
	size_t wanted = texts->slot_count ? texts->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots;

	if (texts->count * 2 < texts->slot_count)
		return true;
	slots = new_slots(wanted);
	if (!slots)
		return false;
	for (size_t i = 0; i < texts->count; i++) {
		size_t slot = text_hash(texts->items[i], strlen(texts->items[i])) & (wanted - 1);

		while (slots[slot] != NONE)
			slot = (slot + 1) & (wanted - 1);
		slots[slot] = (uint32_t)i;
	}
	free(texts->slots);
	texts->slots = slots;
	texts->slot_count = wanted;
	return true;
}

static uint32_t texts_find(struct tree_texts *texts, const char *text, size_t length)
{
	size_t slot;
	char *copy;

	if (!texts_rehash(texts))
		return NONE;
	slot = text_hash(text, length) & (texts->slot_count - 1);
	for (; texts->slots[slot] != NONE; slot = (slot + 1) & (texts->slot_count - 1)) {
		const char *item = texts->items[texts->slots[slot]];

		if (!strncmp(item, text, length) && !item[length])
			return texts->slots[slot];
	}
	copy = malloc(length + 1);
	if (!copy || !grow((void **)&texts->items, &texts->room, texts->count, sizeof(*texts->items))) {
		free(copy);
		return NONE;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	texts->items[texts->count] = copy;
	texts->slots[slot] = (uint32_t)texts->count;
	return (uint32_t)texts->count++;
}

uint32_t tree_text(struct tree *tree, const char *text, size_t length)
{
	uint32_t found = texts_find(&tree->texts, text, strnlen(text, length));

	if (found != NONE)
		return found;
	tree->failed = true;
	return 0;
}

/* ---- frames ---- */

static uint64_t frame_hash(const struct tree_frame *frame)
{
	return mix((uint64_t)frame->name << 32 | frame->dso, frame->kind);
}

static bool frames_rehash(struct tree *tree)
{
	size_t wanted = tree->frame_slot_count ? tree->frame_slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots;

	if (tree->frame_count * 2 < tree->frame_slot_count)
		return true;
	slots = new_slots(wanted);
	if (!slots)
		return false;
	for (size_t i = 0; i < tree->frame_count; i++) {
		size_t slot = frame_hash(&tree->frames[i]) & (wanted - 1);

		while (slots[slot] != NONE)
			slot = (slot + 1) & (wanted - 1);
		slots[slot] = (uint32_t)i;
	}
	free(tree->frame_slots);
	tree->frame_slots = slots;
	tree->frame_slot_count = wanted;
	return true;
}

uint32_t tree_frame(struct tree *tree, uint32_t name, uint32_t dso, enum frame_kind kind)
{
	struct tree_frame frame = { name, dso, kind };
	size_t slot;

	if (!frames_rehash(tree) ||
	    !grow((void **)&tree->frames, &tree->frame_room, tree->frame_count, sizeof(frame))) {
		tree->failed = true;
		return 0;
	}
	slot = frame_hash(&frame) & (tree->frame_slot_count - 1);
	for (; tree->frame_slots[slot] != NONE; slot = (slot + 1) & (tree->frame_slot_count - 1)) {
		if (!memcmp(&tree->frames[tree->frame_slots[slot]], &frame, sizeof(frame)))
			return tree->frame_slots[slot];
	}
	tree->frames[tree->frame_count] = frame;
	tree->frame_slots[slot] = (uint32_t)tree->frame_count;
	return (uint32_t)tree->frame_count++;
}

/* ---- nodes ---- */

static bool seeds_rehash(struct tree *tree)
{
	size_t wanted = tree->seed_slot_count ? tree->seed_slot_count * 4 : FIRST_SLOTS;
	uint32_t *slots;

	if (tree->seed_count * 2 < tree->seed_slot_count)
		return true;
	slots = new_slots(wanted);
	if (!slots)
		return false;
	for (size_t i = 1; i < tree->seed_count; i++) {
		size_t slot = mix(tree->seeds[i].parent, tree->seeds[i].frame) & (wanted - 1);

		while (slots[slot] != NONE)
			slot = (slot + 1) & (wanted - 1);
		slots[slot] = (uint32_t)i;
	}
	free(tree->seed_slots);
	tree->seed_slots = slots;
	tree->seed_slot_count = wanted;
	return true;
}

static uint32_t seed_new(struct tree *tree, uint32_t parent, uint32_t frame)
{
	if (!grow((void **)&tree->seeds, &tree->seed_room, tree->seed_count, sizeof(*tree->seeds))) {
		tree->failed = true;
		return 0;
	}
	tree->seeds[tree->seed_count] = (struct tree_seed){ .frame = frame, .parent = parent };
	return (uint32_t)tree->seed_count++;
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame)
{
	uint32_t recent, node;
	size_t slot;

	if (!tree->seed_count)
		return 0;
	recent = tree->seeds[parent].recent;
	if (recent && tree->seeds[recent].frame == frame)
		return recent;
	if (!seeds_rehash(tree)) {
		tree->failed = true;
		return 0;
	}
	slot = mix(parent, frame) & (tree->seed_slot_count - 1);
	for (; tree->seed_slots[slot] != NONE; slot = (slot + 1) & (tree->seed_slot_count - 1)) {
		node = tree->seed_slots[slot];
		if (tree->seeds[node].parent == parent && tree->seeds[node].frame == frame) {
			tree->seeds[parent].recent = node;
			return node;
		}
	}
	node = seed_new(tree, parent, frame);
	if (node) {
		tree->seed_slots[slot] = node;
		tree->seeds[node].next = tree->seeds[parent].child;
		tree->seeds[parent].child = tree->seeds[parent].recent = node;
	}
	return node;
}

void tree_add(struct tree *tree, uint32_t node, uint16_t event, uint16_t slice, uint64_t value)
{
	if (!grow((void **)&tree->values, &tree->value_room, tree->value_count, sizeof(*tree->values))) {
		tree->failed = true;
		return;
	}
	tree->values[tree->value_count++] = (struct tree_value){ node, event, slice, value };
}

void tree_init(struct tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree_text(tree, "", 0);
	seed_new(tree, 0, NONE);
}

void tree_fini(struct tree *tree)
{
	for (size_t i = 0; i < tree->texts.count; i++)
		free(tree->texts.items[i]);
	free(tree->texts.items);
	free(tree->texts.slots);
	free(tree->frames);
	free(tree->frame_slots);
	free(tree->seeds);
	free(tree->seed_slots);
	free(tree->values);
	free(tree->nodes);
	memset(tree, 0, sizeof(*tree));
}

/* ---- order ---- */

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

/* The place of each of count things in the order of compare. */
static uint32_t *ranks(size_t count, int (*compare)(const void *, const void *, void *), void *self)
{
	uint32_t *sorted = malloc((count + 1) * sizeof(*sorted));
	uint32_t *rank = malloc((count + 1) * sizeof(*rank));

	if (sorted && rank) {
		for (size_t i = 0; i < count; i++)
			sorted[i] = (uint32_t)i;
		qsort_r(sorted, count, sizeof(*sorted), compare, self);
		for (size_t i = 0; i < count; i++)
			rank[sorted[i]] = (uint32_t)i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(sorted);
	return rank;
}

static uint32_t *frame_ranks(struct tree *tree)
{
	uint32_t *text_rank = ranks(tree->texts.count, compare_texts, tree);
	struct frame_order order = { tree->frames, text_rank };
	uint32_t *rank = text_rank ? ranks(tree->frame_count, compare_frames, &order) : NULL;

	free(text_rank);
	return rank;
}

/* ---- the end ---- */

static void add_up(struct tree *tree)
{
	for (size_t i = 0; i < tree->value_count; i++)
		tree->seeds[tree->values[i].node].total += tree->values[i].value;
	for (size_t i = tree->seed_count; i-- > 1;)
		tree->seeds[tree->seeds[i].parent].total += tree->seeds[i].total;
}

static int compare_children(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Ranks and nodes of siblings, while they are sorted. */
struct sorting {
	const uint32_t *rank; /* by frame */
	uint64_t *keys;
	size_t room;
};

/* Puts the children of a node in order. */
static bool sort_children(struct tree *tree, uint32_t node, struct sorting *sorting)
{
	struct tree_seed *seeds = tree->seeds;
	uint32_t *last = &seeds[node].child;
	size_t count = 0;

	for (uint32_t child = *last; child; child = seeds[child].next) {
		if (!grow((void **)&sorting->keys, &sorting->room, count, sizeof(*sorting->keys)))
			return false;
		sorting->keys[count++] = (uint64_t)sorting->rank[seeds[child].frame] << 32 | child;
	}
	qsort(sorting->keys, count, sizeof(*sorting->keys), compare_children);
	for (size_t i = 0; i < count; i++) {
		*last = (uint32_t)sorting->keys[i];
		last = &seeds[*last].next;
	}
	*last = 0;
	return true;
}

static bool link_children(struct tree *tree)
{
	uint32_t *rank = frame_ranks(tree);
	struct sorting sorting = { .rank = rank };
	bool fine = rank != NULL;

	for (size_t i = 0; fine && i < tree->seed_count; i++) {
		uint32_t child = tree->seeds[i].child;

		if (child && tree->seeds[child].next)
			fine = sort_children(tree, (uint32_t)i, &sorting);
	}
	free(sorting.keys);
	free(rank);
	return fine;
}

static void put_node(struct tree *tree, uint32_t node, uint32_t depth)
{
	struct tree_seed *seed = &tree->seeds[node];

	seed->place = (uint32_t)tree->finished_count;
	tree->nodes[tree->finished_count++] =
		(struct tree_node){ seed->frame, tree->seeds[seed->parent].place, depth, seed->total };
}

static void put_nodes(struct tree *tree, uint64_t least)
{
	const struct tree_seed *seeds = tree->seeds;
	uint32_t node = 0, depth = 0;

	put_node(tree, 0, 0);
	while (true) {
		bool kept = !node || seeds[node].total >= least;
		uint32_t next = kept ? seeds[node].child : 0;

		if (next) {
			depth++;
		} else {
			while (node && !seeds[node].next) {
				node = seeds[node].parent;
				depth--;
			}
			if (!node)
				break;
			next = seeds[node].next;
		}
		node = next;
		if (seeds[node].total >= least)
			put_node(tree, node, depth);
	}
	/* Parents come first, so that whole branches fall to the last one that is there. */
	for (size_t i = 1; i < tree->seed_count; i++) {
		if (seeds[i].total < least)
			tree->seeds[i].place = seeds[seeds[i].parent].place;
	}
	tree->left_out = tree->seed_count - tree->finished_count;
}

static int compare_values(const void *left, const void *right)
{
	const struct tree_value *a = left, *b = right;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Joins neighbours that agree. */
static void merge_values(struct tree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->value_count; i++) {
		const struct tree_value *value = &tree->values[i];
		struct tree_value *last = kept ? &tree->values[kept - 1] : NULL;

		if (last && last->node == value->node && !compare_values(last, value))
			last->value += value->value;
		else
			tree->values[kept++] = *value;
	}
	tree->value_count = kept;
}

static bool sort_values(struct tree *tree, size_t node_count)
{
	struct tree_value *sorted = malloc((tree->value_count + 1) * sizeof(*sorted));
	size_t *starts = calloc(node_count + 2, sizeof(*starts));

	if (sorted && starts) {
		for (size_t i = 0; i < tree->value_count; i++)
			starts[tree->values[i].node + 2]++;
		for (size_t i = 0; i < node_count; i++)
			starts[i + 2] += starts[i + 1];
		for (size_t i = 0; i < tree->value_count; i++)
			sorted[starts[tree->values[i].node + 1]++] = tree->values[i];
		for (size_t i = 0; i < node_count; i++) {
			if (starts[i + 1] - starts[i] > 1)
				qsort(sorted + starts[i], starts[i + 1] - starts[i], sizeof(*sorted), compare_values);
		}
		free(tree->values);
		tree->values = sorted;
		tree->value_room = tree->value_count + 1;
		merge_values(tree);
		sorted = NULL;
		free(starts);
		return true;
	}
	free(sorted);
	free(starts);
	return false;
}

bool tree_finish(struct tree *tree, uint64_t least)
{
	bool fine = !tree->failed && tree->seed_count;

	if (fine) {
		tree->nodes = calloc(tree->seed_count, sizeof(*tree->nodes));
		add_up(tree);
		fine = tree->nodes && link_children(tree);
	}
	if (fine) {
		put_nodes(tree, least);
		for (size_t i = 0; i < tree->value_count; i++)
			tree->values[i].node = tree->seeds[tree->values[i].node].place;
		fine = sort_values(tree, tree->finished_count);
	}
	tree->failed |= !fine;
	return fine;
}

uint64_t tree_total(const struct tree *tree)
{
	uint64_t total = 0;

	for (size_t i = 0; i < tree->value_count; i++)
		total += tree->values[i].value;
	return total;
}

uint64_t tree_event_total(const struct tree *tree, uint16_t event)
{
	uint64_t total = 0;

	for (size_t i = 0; i < tree->value_count; i++)
		total += tree->values[i].event == event ? tree->values[i].value : 0;
	return total;
}

unsigned tree_coarsen(struct tree *tree, size_t most)
{
	unsigned factor = 1;
	uint16_t last = 0;

	for (size_t i = 0; i < tree->value_count; i++)
		last = tree->values[i].slice > last ? tree->values[i].slice : last;
	if (tree->value_count > most && last && !tree->failed)
		tree->failed |= !sort_values(tree, tree->seed_count);
	/* They stay in order. */
	while (tree->value_count > most && last && !tree->failed) {
		for (size_t i = 0; i < tree->value_count; i++)
			tree->values[i].slice /= 2;
		merge_values(tree);
		factor *= 2;
		last /= 2;
	}
	return factor;
}

/* ---- names ---- */

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

enum frame_kind frame_kind_by_name(enum frame_kind kind, const char *name, const char *dso)
{
	static const struct {
		enum frame_kind kind;
		bool jit; /* only in code that was made at run time */
		const char *start;
	} names[] = {
		{ FRAME_PYTHON, true, "py::" },		 { FRAME_NODE, true, "JS:" },
		{ FRAME_NODE, true, "LazyCompile:" },	 { FRAME_NODE, true, "Function:" },
		{ FRAME_NODE, true, "Builtin:" },	 { FRAME_NODE, true, "BytecodeHandler:" },
		{ FRAME_NODE, true, "RegExp:" },	 { FRAME_NODE, true, "Script:" },
		{ FRAME_NODE, true, "Eval:" },		 { FRAME_JAVA, true, "Interpreter" },
		{ FRAME_PYTHON, false, "_PyEval_" },	 { FRAME_PYTHON, false, "PyEval_" },
	};
	static const struct {
		enum frame_kind kind;
		const char *start;
	} objects[] = {
		{ FRAME_JAVA, "libjvm.so" },
		{ FRAME_PYTHON, "libpython" },
		{ FRAME_PYTHON, "python" },
	};
	bool jit = kind == FRAME_JIT;

	if (!jit && kind != FRAME_USER)
		return kind;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if ((jit || !names[i].jit) && starts_with(name, names[i].start))
			return names[i].kind;
	}
	/* Ljava/lang/String;::length, or what is left of it in folded stacks */
	if (jit && strchr(name, '/') && (strstr(name, "::") || strchr(name, ';')))
		return FRAME_JAVA;
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (starts_with(last_part(dso), objects[i].start))
			return objects[i].kind;
	}
	return !strcmp(last_part(dso), "node") ? FRAME_NODE : kind;
}
