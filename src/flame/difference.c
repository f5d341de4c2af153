/* SPDX-License-Identifier: MIT */
/*
 * Two folded texts as one tree of text: how the share of each stack changed.
 */
#include <perfdata/flame.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/strings.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "base/text/text.h"

enum {
	MOST_DEPTH = 1000
};

struct node {
	uint32_t name, parent, depth;
	uint64_t values[2];   // old, new; with what is below
	double most;          // the largest change of it and of what is below
	uint32_t first, next; // children, as a list; 0: none
};

struct difference {
	struct pd_strings names;
	struct pd_arena arena;
	struct pd_u64_map children; // by parent and name, plus 1
	struct node *nodes;         // a parent before those below it
	size_t count, capacity;
	uint32_t depth;
	bool failed;
};

// ---- the tree ----

static uint32_t child_of(struct difference *d, uint32_t parent, const char *name, size_t length)
{
	uint32_t text = pd_strings_add(&d->names, &d->arena, name, length);
	uint64_t key = ((uint64_t)parent << 32 | text) + 1, known = pd_u64_map_find(&d->children, key);

	if (known)
		return (uint32_t)(known - 1);
	if (text == PD_INDEX_END || !PD_GROW(d->nodes, d->capacity, d->count + 1) ||
	    !pd_u64_map_add(&d->children, key, d->count + 1)) {
		d->failed = true;
		return 0;
	}
	d->nodes[d->count] = (struct node){ .name = text, .parent = parent, .depth = d->nodes[parent].depth + 1 };
	if (d->nodes[d->count].depth > d->depth)
		d->depth = d->nodes[d->count].depth;
	return (uint32_t)d->count++;
}

static void add_values(struct difference *d, uint32_t node, const uint64_t values[2])
{
	d->nodes[node].values[0] += values[0];
	d->nodes[node].values[1] += values[1];
}

static uint64_t last_number(const char *line, size_t *length)
{
	size_t at = *length;
	uint64_t value = 0;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
		at--;
	for (size_t i = at; i < *length; i++)
		value = value * 10 + (uint64_t)(line[i] - '0');
	*length = at ? at - 1 : 0;
	return value;
}

// "a;b;c 12 34"
static void add_line(struct difference *d, const char *line, size_t length)
{
	uint64_t values[2];
	uint32_t node = 0;

	values[1] = last_number(line, &length);
	values[0] = last_number(line, &length);
	add_values(d, 0, values);
	for (size_t at = 0; at < length && !d->failed && d->nodes[node].depth < MOST_DEPTH;) {
		const char *end = memchr(line + at, ';', length - at);
		size_t size = end ? (size_t)(end - line) - at : length - at;

		node = child_of(d, node, line + at, size);
		if (!d->failed)
			add_values(d, node, values);
		at += size + 1;
	}
}

static void read_lines(struct difference *d, struct pd_bytes text)
{
	const char *at = (const char *)text.data, *end = at + text.size;

	d->failed = !PD_GROW(d->nodes, d->capacity, 1);
	if (d->failed)
		return;
	d->nodes[d->count++] = (struct node){ 0 };
	while (at < end && !d->failed) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		add_line(d, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
}

// ---- as a tree of text ----

static double share(const struct difference *d, const struct node *node, int side)
{
	return d->nodes[0].values[side] ? (double)node->values[side] / (double)d->nodes[0].values[side] : 0;
}

static double change(const struct difference *d, const struct node *node)
{
	return (share(d, node, 1) - share(d, node, 0)) * 100;
}

// Children by the largest change in them.
static void insert_child(struct difference *d, uint32_t number)
{
	struct node *node = &d->nodes[number];
	uint32_t *place = &d->nodes[node->parent].first;

	while (*place && d->nodes[*place].most >= node->most)
		place = &d->nodes[*place].next;
	node->next = *place;
	*place = number;
}

static void link_nodes(struct difference *d, double least)
{
	for (size_t i = d->count; i-- > 1;) {
		struct node *node = &d->nodes[i], *parent = &d->nodes[node->parent];

		node->most = fmax(node->most, fabs(change(d, node)));
		parent->most = fmax(parent->most, node->most);
		if (node->most >= least)
			insert_child(d, (uint32_t)i);
	}
}

static void put_changed(const struct difference *d, const struct node *node, bool escape, struct pd_text *out)
{
	const char *name = d->names.items[node->name];

	pd_text_printf(out, " %7.2f%% %7.2f%% %+8.2f%%  %*s", share(d, node, 0) * 100, share(d, node, 1) * 100,
		       change(d, node), (int)(node->depth - 1) * 2, "");
	if (escape)
		pd_text_escaped(out, name, strlen(name));
	else
		pd_text_add(out, name);
	pd_text_char(out, '\n');
}

// Depth first, without recursion: stacks may be deep.
static bool put_tree(const struct difference *d, bool escape, struct pd_text *out)
{
	uint32_t at = d->nodes[0].first;

	while (at) {
		put_changed(d, &d->nodes[at], escape, out);
		if (!pd_text_flush_large(out))
			return false;
		if (d->nodes[at].first) {
			at = d->nodes[at].first;
			continue;
		}
		while (at && !d->nodes[at].next)
			at = d->nodes[at].parent;
		at = at ? d->nodes[at].next : 0;
	}
	return true;
}

static void free_difference(struct difference *d)
{
	pd_strings_fini(&d->names);
	pd_arena_fini(&d->arena);
	pd_u64_map_fini(&d->children);
	pd_free(d->nodes);
}

// The nodes have their names in the text, which is the caller's to free, as they are.
static enum pd_status read_both(struct pd_bytes old_text, struct pd_bytes new_text, struct difference *d,
				struct pd_text **merged_out, struct pd_error *error)
{
	enum pd_status status;

	*merged_out = pd_text_new();
	if (!*merged_out)
		return pd_fail_memory(error);
	status = pd_folded_compare(old_text, new_text, false, *merged_out, error);
	if (status != PD_OK)
		return status;
	read_lines(d, pd_text_bytes(*merged_out));
	return d->failed ? pd_fail_memory(error) : PD_OK;
}

static bool print_changes(struct difference *d, double least, bool escape, struct pd_text *text)
{
	link_nodes(d, least);
	pd_text_printf(text,
		       "# %" PRIu64 " before, %" PRIu64 " after; without what changed by less than %.2f points\n#\n"
		       "#  Before    After    Change  Function, and its callers below\n#\n",
		       d->nodes[0].values[0], d->nodes[0].values[1], least);
	return put_tree(d, escape, text);
}

// What was read goes.
static enum pd_status end_difference(struct difference *d, struct pd_text *merged, enum pd_status status, bool printed,
				     const struct pd_text *text, struct pd_error *error)
{
	pd_text_free(merged);
	free_difference(d);
	if (status < 0)
		return status;
	if (pd_text_failed(text))
		return pd_fail_memory(error);
	return printed ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "cannot write the output");
}

enum pd_status pd_flame_print_changes(struct pd_bytes old_text, struct pd_bytes new_text, double least, bool escape,
				      struct pd_text *text, struct pd_error *error)
{
	struct difference d = { 0 };
	struct pd_text *merged;
	enum pd_status status = read_both(old_text, new_text, &d, &merged, error);
	bool printed = status >= 0 && print_changes(&d, least, escape, text);

	return end_difference(&d, merged, status, printed, text, error);
}
