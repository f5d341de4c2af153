/* SPDX-License-Identifier: MIT */
/*
 * The order of lines. A semicolon stands behind each name but the last, so a name has two places in the order: one where
 * it ends a line ("main") and one where more follows ("main;"), between which other names may fall ("main.cold"). With
 * places for frames, lines are lists of numbers, and none is the beginning of another one.
 */
#include "stack_lines.h"

#include "ahead.h"
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
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

void lines_join(struct stack_lines *lines, struct stack_lines *more)
{
	size_t start = lines->frame_count;

	lines_frames(lines, more->frames, more->frame_count);
	lines->failed |= more->failed || !make_room((void **)&lines->items, &lines->room, lines->count + more->count + 1,
						     sizeof(*lines->items));
	for (size_t i = 0; i < more->count && !lines->failed; i++) {
		lines->items[lines->count] = more->items[i];
		lines->items[lines->count++].start += start;
	}
	lines_fini(more);
	*more = (struct stack_lines){ 0 };
}

/* ---- names in order ---- */

struct name {
	const char *text;
	uint32_t length;
	uint32_t item; /* 2 * frame, and 1 if more follows */
};

/* What is done in parts. */
struct printing {
	struct stack_lines *lines;
	struct name *names;
	uint32_t *places; /* of names, by item */
	uint32_t *order;  /* lines */
	uint32_t *merged;
	size_t parts;
	size_t step; /* so many parts were merged */
	bool failed[PARTS_MOST];
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

	if (!names)
		return NULL;
	for (size_t i = 0; i < 2 * tree->frame_count; i++) {
		const char *text = tree->texts.items[tree->frames[i / 2].name];

		names[i] = (struct name){ text, (uint32_t)strlen(text), (uint32_t)i };
	}
	qsort(names, 2 * tree->frame_count, sizeof(*names), compare_names);
	return names;
}

static bool place_names(struct printing *printing, size_t name_count)
{
	printing->places = malloc((name_count + 1) * sizeof(*printing->places));
	for (size_t i = 0; printing->places && i < name_count; i++)
		printing->places[printing->names[i].item] = (uint32_t)i;
	return printing->places != NULL;
}

/* Frames of lines become places in the order. */
static void place_frames(const struct printing *printing, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		const struct stack_line *line = &printing->lines->items[i];
		uint32_t *frames = printing->lines->frames + line->start, last = line->count - 1;

		for (uint32_t k = 0; k <= last; k++)
			frames[k] = printing->places[2 * (size_t)frames[k] + (k < last)];
	}
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

/* Sorts a part of the lines. */
static void sort_part(void *self, size_t part)
{
	struct printing *printing = self;
	size_t begin = part_begin(printing->lines->count, printing->parts, part);
	size_t end = part_begin(printing->lines->count, printing->parts, part + 1);
	struct sorter sorter = { .lines = printing->lines, .keys = malloc((end - begin + 1) * sizeof(uint64_t)) };
	bool done = sorter.keys != NULL;

	place_frames(printing, begin, end);
	for (size_t i = begin; done && i < end; i++)
		sorter.keys[i - begin] = i;
	done = done && push(&sorter, 0, end - begin, 0);
	while (done && sorter.range_count)
		done = sort_range(&sorter, sorter.ranges[--sorter.range_count]);
	for (size_t i = begin; done && i < end; i++)
		printing->order[i] = (uint32_t)sorter.keys[i - begin];
	printing->failed[part] = !done;
	free(sorter.ranges);
	free(sorter.keys);
}

static bool is_before(const struct stack_lines *lines, uint32_t left, uint32_t right)
{
	const struct stack_line *a = &lines->items[left], *b = &lines->items[right];
	const uint32_t *x = lines->frames + a->start, *y = lines->frames + b->start;
	uint32_t count = a->count < b->count ? a->count : b->count;

	for (uint32_t i = 0; i < count; i++)
		if (x[i] != y[i])
			return x[i] < y[i];
	return left < right;
}

/* Merges two neighbours. */
static void merge_pair(void *self, size_t pair)
{
	struct printing *printing = self;
	size_t count = printing->lines->count, parts = printing->parts, first = 2 * pair * printing->step;
	size_t second = first + printing->step < parts ? first + printing->step : parts;
	size_t last = second + printing->step < parts ? second + printing->step : parts;
	size_t a = part_begin(count, parts, first), middle = part_begin(count, parts, second), b = middle;
	size_t end = part_begin(count, parts, last);
	const uint32_t *order = printing->order;

	for (size_t i = a; i < end; i++) {
		bool from_b = a == middle || (b < end && !is_before(printing->lines, order[a], order[b]));

		printing->merged[i] = from_b ? order[b++] : order[a++];
	}
}

static bool sort_lines(struct printing *printing)
{
	size_t count = printing->lines->count;

	printing->order = malloc((count + 1) * sizeof(*printing->order));
	printing->merged = malloc((count + 1) * sizeof(*printing->merged));
	if (!printing->order || !printing->merged)
		return false;
	parts_do(printing->parts, sort_part, printing);
	for (size_t i = 0; i < printing->parts; i++)
		if (printing->failed[i])
			return false;
	for (printing->step = 1; printing->step < printing->parts; printing->step *= 2) {
		uint32_t *order = printing->order;

		parts_do((printing->parts + 2 * printing->step - 1) / (2 * printing->step), merge_pair, printing);
		printing->order = printing->merged;
		printing->merged = order;
	}
	return true;
}

/* ---- printing ---- */

static bool same_line(const struct stack_lines *lines, const struct stack_line *a, const struct stack_line *b)
{
	return a->count == b->count &&
	       memcmp(lines->frames + a->start, lines->frames + b->start, a->count * sizeof(*lines->frames)) == 0;
}

/* Room for a line. */
struct line_room {
	char *text;
	size_t size;
};

static void *begin_room(void *self)
{
	(void)self;
	return calloc(1, sizeof(struct line_room));
}

static void end_room(void *self)
{
	struct line_room *room = self;

	free(room->text);
	free(room);
}

/* False if there is no memory. */
static bool print_line(const struct printing *printing, const struct stack_line *line, uint64_t value,
		       struct line_room *room, struct pd_text *text)
{
	enum { VALUE_BYTES = 24 };
	const uint32_t *frames = printing->lines->frames + line->start;
	size_t size = VALUE_BYTES;
	char *at;

	for (uint32_t i = 0; i < line->count; i++)
		size += printing->names[frames[i]].length + 1;
	if (!make_room((void **)&room->text, &room->size, size, 1))
		return false;
	at = room->text;
	for (uint32_t i = 0; i < line->count; i++) {
		const struct name *name = &printing->names[frames[i]];

		memcpy(at, name->text, name->length);
		at += name->length;
		*at++ = i + 1 < line->count ? ';' : ' ';
	}
	snprintf(at, VALUE_BYTES, "%" PRIu64 "\n", value);
	pd_text_add(text, room->text);
	return true;
}

static const struct stack_line *line_at(const struct printing *printing, size_t i)
{
	return &printing->lines->items[printing->order[i]];
}

static bool is_same_as_last(const struct printing *printing, size_t i)
{
	return i && i < printing->lines->count &&
	       same_line(printing->lines, line_at(printing, i - 1), line_at(printing, i));
}

enum { LINES_TOGETHER = 1024 };

/* Lines that are the same are not parted. */
static size_t chunk_begin(const struct printing *printing, size_t chunk)
{
	size_t i = chunk * LINES_TOGETHER;

	while (is_same_as_last(printing, i))
		i++;
	return i < printing->lines->count ? i : printing->lines->count;
}

static bool print_chunk(void *self, void *room, size_t chunk, struct pd_text *out)
{
	const struct printing *printing = self;
	size_t end = chunk_begin(printing, chunk + 1);

	for (size_t i = chunk_begin(printing, chunk), next; i < end; i = next) {
		uint64_t value = line_at(printing, i)->value;

		for (next = i + 1; is_same_as_last(printing, next); next++)
			value += line_at(printing, next)->value;
		if (!print_line(printing, line_at(printing, i), value, room, out))
			return false;
	}
	return true;
}

static bool print_lines(struct printing *printing, size_t threads, struct output *out)
{
	struct ahead_job job = {
		.count = (printing->lines->count + LINES_TOGETHER - 1) / LINES_TOGETHER,
		.threads = threads,
		.self = printing,
		.begin = begin_room,
		.end = end_room,
		.make = print_chunk,
	};
	struct ahead *ahead = ahead_start(&job);
	const struct pd_text *text;
	bool done = ahead != NULL;

	for (size_t i = 0; done && i < job.count && output_spill(out); i++) {
		text = ahead_next(ahead);
		done = text != NULL;
		if (done)
			output_put(out, (const char *)pd_text_bytes(text).data, pd_text_bytes(text).size);
	}
	ahead_end(ahead);
	return done;
}

bool lines_print(struct stack_lines *lines, const struct tree *tree, size_t threads, struct output *out)
{
	enum { WORTH_A_PART = 1 << 12 };
	struct printing printing = {
		.lines = lines,
		.parts = part_count(thread_count(threads), lines->count, WORTH_A_PART),
	};
	bool done;

	if (!lines->failed && !tree->failed)
		printing.names = sort_names(tree);
	done = printing.names && place_names(&printing, 2 * tree->frame_count) && sort_lines(&printing) &&
	       print_lines(&printing, threads, out);
	free(printing.order);
	free(printing.merged);
	free(printing.places);
	free(printing.names);
	return done;
}
