/* SPDX-License-Identifier: MIT */
/*
 * Texts and frames of a tree of stacks.
 */
#include "flame/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/path.h"

enum {
	NONE = PD_INDEX_END
};

/* ---- texts ---- */

uint32_t pd_tree_text(struct tree *tree, const char *text, size_t length)
{
	uint32_t found;

	// what is empty may be nowhere
	if (!length)
		text = "";
	found = pd_strings_add(&tree->texts, &tree->arena, text, strnlen(text, length));
	if (found != NONE)
		return found;
	tree->failed = true;
	return 0;
}

/* ---- frames ---- */

uint32_t pd_tree_frame(struct tree *tree, uint32_t name, uint32_t dso, enum frame_kind kind)
{
	struct tree_frame frame = { name, dso, kind };
	uint64_t hash = pd_hash(tree->texts.seed, &frame, sizeof(frame));
	size_t at = (uint32_t)hash;
	uint32_t i;

	while ((i = pd_index_next(&tree->frame_index, hash, &at)) != NONE)
		if (!memcmp(&tree->frames[i], &frame, sizeof(frame)))
			return i;
	if (tree->frame_count >= NONE - 1 || !PD_GROW(tree->frames, tree->frame_capacity, tree->frame_count + 1) ||
	    !pd_index_add(&tree->frame_index, hash, (uint32_t)tree->frame_count)) {
		tree->failed = true;
		return 0;
	}
	tree->frames[tree->frame_count] = frame;
	return (uint32_t)tree->frame_count++;
}

void pd_tree_init(struct tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->texts.seed = pd_hash_secret();
	pd_tree_text(tree, "", 0);
}

void pd_tree_fini(struct tree *tree)
{
	pd_strings_fini(&tree->texts);
	pd_arena_fini(&tree->arena);
	pd_free(tree->frames);
	pd_index_fini(&tree->frame_index);
	pd_free(tree->values);
	pd_free(tree->nodes);
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
