/* SPDX-License-Identifier: MIT */
/*
 * Texts and frames of a tree of stacks. Two hash tables without deletion find them.
 */
#include "flame/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/path.h"

#define NONE UINT32_MAX

enum {
	FIRST_SLOTS = 1024 /* power of two, as all sizes of hash tables */
};

/* ---- memory ---- */

/* Reserves memory for one more item. */
static bool grow(void **items, size_t *capacity, size_t count, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 256;
	void *grown;

	if (count < *capacity)
		return true;
	if (wanted > SIZE_MAX / size || count >= NONE - 1)
		return false;
	grown = realloc(*items, wanted * size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = wanted;
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
	if (!copy || !grow((void **)&texts->items, &texts->capacity, texts->count, sizeof(*texts->items))) {
		free(copy);
		return NONE;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	texts->items[texts->count] = copy;
	texts->slots[slot] = (uint32_t)texts->count;
	return (uint32_t)texts->count++;
}

uint32_t pd_tree_text(struct tree *tree, const char *text, size_t length)
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

uint32_t pd_tree_frame(struct tree *tree, uint32_t name, uint32_t dso, enum frame_kind kind)
{
	struct tree_frame frame = { name, dso, kind };
	size_t slot;

	if (!frames_rehash(tree) ||
	    !grow((void **)&tree->frames, &tree->frame_capacity, tree->frame_count, sizeof(frame))) {
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

void pd_tree_init(struct tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	pd_tree_text(tree, "", 0);
}

void pd_tree_fini(struct tree *tree)
{
	for (size_t i = 0; i < tree->texts.count; i++)
		free(tree->texts.items[i]);
	free(tree->texts.items);
	free(tree->texts.slots);
	free(tree->frames);
	free(tree->frame_slots);
	free(tree->values);
	free(tree->nodes);
	memset(tree, 0, sizeof(*tree));
}

/* ---- names ---- */

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

enum frame_kind pd_frame_kind_by_name(enum frame_kind kind, const char *name, const char *dso)
{
	static const struct {
		enum frame_kind kind;
		bool jit; /* only in code that was made at run time */
		const char *start;
	} names[] = {
		{ FRAME_PYTHON, true, "py::" },       { FRAME_NODE, true, "JS:" },
		{ FRAME_NODE, true, "LazyCompile:" }, { FRAME_NODE, true, "Function:" },
		{ FRAME_NODE, true, "Builtin:" },     { FRAME_NODE, true, "BytecodeHandler:" },
		{ FRAME_NODE, true, "RegExp:" },      { FRAME_NODE, true, "Script:" },
		{ FRAME_NODE, true, "Eval:" },        { FRAME_JAVA, true, "Interpreter" },
		{ FRAME_PYTHON, false, "_PyEval_" },  { FRAME_PYTHON, false, "PyEval_" },
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
		if (starts_with(pd_path_leaf(dso), objects[i].start))
			return objects[i].kind;
	}
	return !strcmp(pd_path_leaf(dso), "node") ? FRAME_NODE : kind;
}
