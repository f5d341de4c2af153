/* SPDX-License-Identifier: MIT */
/*
 * The order of lines. A semicolon stands behind each name but the last, so a name has two places in the order: one where
 * it ends a line ("main") and one where more follows ("main;"), between which other names may fall ("main.cold"). With
 * places for frames, lines are lists of numbers, and none is the beginning of another one.
 */
#include "stack_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- filling ---- */

static bool make_room(void **items, size_t *room, size_t want, size_t size)
{
	size_t count = *room ? *room : 1024;
	void *grown;

	if (want <= *room)
		return true;
	while (count < want)
		count *= 2;
	grown = realloc(*items, count * size);
	if (!grown)
		return false;
	*items = grown;
	*room = count;
	return true;
}

void lines_frames(struct stack_lines *lines, const uint32_t *frames, size_t count)
{
	if (!make_room((void **)&lines->frames, &lines->frame_room, lines->frame_count + count, sizeof(*frames))) {
		lines->failed = true;
		return;
	}
	if (count)
		memcpy(lines->frames + lines->frame_count, frames, count * sizeof(*frames));
	lines->frame_count += count;
}

void lines_frame(struct stack_lines *lines, uint32_t frame)
{
	lines_frames(lines, &frame, 1);
}

void lines_end(struct stack_lines *lines, uint64_t value)
{
	const struct stack_line *last = lines->count ? &lines->items[lines->count - 1] : NULL;
	size_t start = last ? last->start + last->count : 0;

	if (lines->failed || start == lines->frame_count)
		return;
	if (lines->count >= UINT32_MAX ||
	    !make_room((void **)&lines->items, &lines->room, lines->count + 1, sizeof(*lines->items))) {
		lines->failed = true;
		return;
	}
	lines->items[lines->count++] = (struct stack_line){ start, value, (uint32_t)(lines->frame_count - start) };
}

void lines_fini(struct stack_lines *lines)
{
	free(lines->frames);
	free(lines->items);
}

/* ---- names in order ---- */

struct name {
	const char *text;
	uint32_t item; /* 2 * frame, and 1 if more follows */
};

static int compare_names(const void *left, const void *right)
{
	const struct name *a = left, *b = right;
	size_t same = 0;
	int next, other;

	while (a->text[same] && a->text[same] == b->text[same])
		same++;
	next = a->text[same] ? (unsigned char)a->text[same] : a->item & 1 ? ';' : 0;
	other = b->text[same] ? (unsigned char)b->text[same] : b->item & 1 ? ';' : 0;
	return next - other;
}

static struct name *sort_names(const struct tree *tree)
{
	struct name *names = malloc((2 * tree->frame_count + 1) * sizeof(*names));

	for (size_t i = 0; names && i < 2 * tree->frame_count; i++)
		names[i] = (struct name){ tree->texts.items[tree->frames[i / 2].name], (uint32_t)i };
	if (names)
		qsort(names, 2 * tree->frame_count, sizeof(*names), compare_names);
	return names;
}

/* Frames of lines become places in the order. */
static bool place_frames(struct stack_lines *lines, const struct name *names, size_t name_count)
{
	uint32_t *places = malloc((name_count + 1) * sizeof(*places));

	if (!places)
		return false;
	for (size_t i = 0; i < name_count; i++)
		places[names[i].item] = (uint32_t)i;
	for (size_t i = 0; i < lines->count; i++) {
		uint32_t *frames = lines->frames + lines->items[i].start, last = lines->items[i].count - 1;

		for (uint32_t k = 0; k <= last; k++)
			frames[k] = places[2 * (size_t)frames[k] + (k < last)];
	}
	free(places);
	return true;
}

/* ---- lines in order ---- */

/* Lines that agree in so many frames. */
struct range {
	size_t begin, end;
	uint32_t depth;
};

struct sorter {
	const struct stack_lines *lines;
	uint64_t *keys; /* frame << 32 | line */
	struct range *ranges; /* to be sorted yet */
	size_t range_count, range_room;
};

static bool push(struct sorter *sorter, size_t begin, size_t end, uint32_t depth)
{
	if (end - begin < 2)
		return true;
	if (!make_room((void **)&sorter->ranges, &sorter->range_room, sorter->range_count + 1, sizeof(*sorter->ranges)))
		return false;
	sorter->ranges[sorter->range_count++] = (struct range){ begin, end, depth };
	return true;
}

static int compare_keys(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts by the next frame; those that agree in it are left for later. */
static bool sort_range(struct sorter *sorter, struct range range)
{
	const struct stack_lines *lines = sorter->lines;
	uint64_t *keys = sorter->keys;
	size_t begin = range.begin;
	bool sorted = true;

	/* Of lines that agree all end if one does. */
	if (lines->items[(uint32_t)keys[begin]].count == range.depth)
		return true;
	for (size_t i = range.begin; i < range.end; i++) {
		uint32_t line = (uint32_t)keys[i];

		keys[i] = (uint64_t)lines->frames[lines->items[line].start + range.depth] << 32 | line;
		sorted = sorted && (i == range.begin || keys[i - 1] <= keys[i]);
	}
	if (!sorted)
		qsort(keys + range.begin, range.end - range.begin, sizeof(*keys), compare_keys);
	for (size_t i = range.begin + 1; i <= range.end; i++) {
		if (i < range.end && keys[i] >> 32 == keys[begin] >> 32)
			continue;
		if (!push(sorter, begin, i, range.depth + 1))
			return false;
		begin = i;
	}
	return true;
}

/* Keys whose low halves are lines in order. NULL if there is no memory. */
static uint64_t *sort_lines(const struct stack_lines *lines)
{
	struct sorter sorter = { .lines = lines, .keys = malloc((lines->count + 1) * sizeof(uint64_t)) };
	bool done = sorter.keys != NULL;

	for (size_t i = 0; done && i < lines->count; i++)
		sorter.keys[i] = i;
	done = done && push(&sorter, 0, lines->count, 0);
	while (done && sorter.range_count)
		done = sort_range(&sorter, sorter.ranges[--sorter.range_count]);
	free(sorter.ranges);
	if (done)
		return sorter.keys;
	free(sorter.keys);
	return NULL;
}

/* ---- printing ---- */

static bool same_line(const struct stack_lines *lines, const struct stack_line *a, const struct stack_line *b)
{
	return a->count == b->count &&
	       memcmp(lines->frames + a->start, lines->frames + b->start, a->count * sizeof(*lines->frames)) == 0;
}

static void print_line(const struct stack_lines *lines, const struct stack_line *line, uint64_t value,
		       const struct name *names, struct pd_text *text)
{
	const uint32_t *frames = lines->frames + line->start;

	for (uint32_t i = 0; i < line->count; i++) {
		pd_text_add(text, names[frames[i]].text);
		pd_text_add(text, i + 1 < line->count ? ";" : " ");
	}
	pd_text_printf(text, "%" PRIu64 "\n", value);
}

static void print_lines(const struct stack_lines *lines, const uint64_t *order, const struct name *names,
			struct output *out)
{
	for (size_t i = 0, next; i < lines->count && output_spill(out); i = next) {
		const struct stack_line *line = &lines->items[(uint32_t)order[i]];
		uint64_t value = line->value;

		for (next = i + 1; next < lines->count; next++) {
			const struct stack_line *other = &lines->items[(uint32_t)order[next]];

			if (!same_line(lines, line, other))
				break;
			value += other->value;
		}
		print_line(lines, line, value, names, out->text);
	}
}

bool lines_print(struct stack_lines *lines, const struct tree *tree, struct output *out)
{
	struct name *names = lines->failed || tree->failed ? NULL : sort_names(tree);
	uint64_t *order = NULL;

	if (names && place_frames(lines, names, 2 * tree->frame_count))
		order = sort_lines(lines);
	if (order)
		print_lines(lines, order, names, out);
	free(order);
	free(names);
	return order != NULL;
}
