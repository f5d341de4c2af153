/* SPDX-License-Identifier: MIT */
/*
 * The order of lines. A semicolon stands after each name but the last, so a name has two places in the order: one where
 * it ends a line ("main") and one where more follows ("main;"), between which other names may fall ("main.cold"). With
 * places for frames, lines are lists of numbers, and none is the beginning of another one.
 */
#include "flame/lines.h"

#include "base/lookup/search.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "flame/tree.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

/* ---- filling ---- */

void pd_lines_prefetch(struct stack_lines *lines, size_t count, size_t frames)
{
	/* Without memory it comes later, or is missed then. */
	lines->items = pd_realloc(NULL, count * sizeof(*lines->items));
	lines->frames = pd_realloc(NULL, frames * sizeof(*lines->frames));
	lines->capacity = lines->items ? count : 0;
	lines->frame_capacity = lines->frames ? frames : 0;
}

uint32_t *pd_lines_reserve(struct stack_lines *lines, size_t count)
{
	if (PD_GROW(lines->frames, lines->frame_capacity, lines->frame_count + count))
		return lines->frames + lines->frame_count;
	lines->failed = true;
	return NULL;
}

void pd_lines_frame(struct stack_lines *lines, uint32_t frame)
{
	uint32_t *slot = pd_lines_reserve(lines, 1);

	if (!slot)
		return;
	*slot = frame;
	lines->frame_count++;
}

void pd_lines_end(struct stack_lines *lines, uint64_t value, uint32_t entry)
{
	const struct stack_line *last = lines->count ? &lines->items[lines->count - 1] : NULL;
	size_t start = last ? last->start + last->count : 0;

	if (lines->failed || start == lines->frame_count)
		return;
	if (lines->count >= UINT32_MAX || !PD_GROW(lines->items, lines->capacity, lines->count + 1)) {
		lines->failed = true;
		return;
	}
	lines->items[lines->count++] =
		(struct stack_line){ start, value, (uint32_t)(lines->frame_count - start), entry };
}

void pd_lines_fini(struct stack_lines *lines)
{
	pd_free(lines->frames);
	pd_free(lines->items);
}

struct joining {
	struct stack_lines *lines, *parts;
	size_t first_frame[PD_PARTS_MOST], first_line[PD_PARTS_MOST];
};

static void join_part(void *self, size_t part)
{
	struct joining *joining = self;
	struct stack_lines *more = &joining->parts[part];
	struct stack_line *items = joining->lines->items + joining->first_line[part];

	if (more->frame_count)
		memcpy(joining->lines->frames + joining->first_frame[part], more->frames,
		       more->frame_count * sizeof(*more->frames));
	for (size_t i = 0; i < more->count; i++) {
		items[i] = more->items[i];
		items[i].start += joining->first_frame[part];
	}
	pd_lines_fini(more);
}

void pd_lines_join(struct stack_lines *lines, struct stack_lines *parts, size_t part_count)
{
	struct joining joining = { .lines = lines, .parts = parts };
	size_t frames = 0, count = 0;

	pd_lines_fini(lines);
	/* The first ones stay where they are. */
	*lines = parts[0];
	for (size_t i = 0; i < part_count; i++) {
		joining.first_frame[i] = frames;
		joining.first_line[i] = count;
		frames += parts[i].frame_count;
		count += parts[i].count;
		lines->failed |= parts[i].failed;
	}
	lines->failed = lines->failed || !PD_GROW(lines->frames, lines->frame_capacity, frames) ||
			!PD_GROW(lines->items, lines->capacity, count);
	if (!lines->failed) {
		lines->frame_count = frames;
		lines->count = count;
		parts[0] = (struct stack_lines){ 0 };
		pd_in_parts(part_count, join_part, &joining);
		return;
	}
	for (size_t i = 1; i < part_count; i++)
		pd_lines_fini(&parts[i]);
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
	size_t parts;
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
	struct name *names = pd_realloc(NULL, (2 * tree->frame_count + 1) * sizeof(*names));

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
	printing->places = pd_realloc(NULL, (name_count + 1) * sizeof(*printing->places));
	for (size_t i = 0; printing->places && i < name_count; i++)
		printing->places[printing->names[i].item] = (uint32_t)i;
	return printing->places != NULL;
}

/* Frames of lines become places in the order. */
static void place_frames(void *self, size_t part)
{
	const struct printing *printing = self;
	size_t end = pd_part_begin(printing->lines->count, printing->parts, part + 1);

	for (size_t i = pd_part_begin(printing->lines->count, printing->parts, part); i < end; i++) {
		const struct stack_line *line = &printing->lines->items[i];
		uint32_t *frames = printing->lines->frames + line->start, last = line->count - 1;

		for (uint32_t k = 0; k <= last; k++)
			frames[k] = printing->places[2 * (size_t)frames[k] + (k < last)];
	}
}

/* ---- printing ---- */

static bool same_line(const struct stack_lines *lines, const struct stack_line *a, const struct stack_line *b)
{
	return a->count == b->count && lines_common(lines, a, b) == a->count;
}

enum {
	VALUE_BYTES = 24
}; /* of a value and what ends a line */

/* Scratch memory for a line. */
struct line_scratch {
	char *text;
	size_t size;
};

static void *begin_scratch(void *self)
{
	(void)self;
	return pd_alloc(sizeof(struct line_scratch));
}

static void end_scratch(void *self)
{
	struct line_scratch *scratch = self;

	pd_free(scratch->text);
	pd_free(scratch);
}

/* A line ends with it. */
static void put_value(char *at, uint64_t value)
{
	char digits[VALUE_BYTES];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	while (count)
		*at++ = digits[--count];
	*at++ = '\n';
	*at = 0;
}

/* False if there is no memory. */
static bool print_line(const struct printing *printing, const struct stack_line *line, uint64_t value,
		       struct line_scratch *scratch, struct pd_text *text)
{
	const uint32_t *frames = printing->lines->frames + line->start;
	size_t size = VALUE_BYTES;
	char *at;

	for (uint32_t i = 0; i < line->count; i++)
		size += printing->names[frames[i]].length + 1;
	if (!PD_GROW(scratch->text, scratch->size, size))
		return false;
	at = scratch->text;
	for (uint32_t i = 0; i < line->count; i++) {
		const struct name *name = &printing->names[frames[i]];

		memcpy(at, name->text, name->length);
		at += name->length;
		*at++ = i + 1 < line->count ? ';' : ' ';
	}
	put_value(at, value);
	pd_text_add(text, scratch->text);
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

enum {
	LINES_TOGETHER = 1024
};

/* Where the lines end that are the same as one. They lie in a row, and there may be millions of them. */
static size_t run_end(const struct printing *printing, size_t i)
{
	size_t count = printing->lines->count, step = 1, low = i, end;

	while (low + step < count && same_line(printing->lines, line_at(printing, i), line_at(printing, low + step))) {
		low += step;
		step *= 2;
	}
	PD_SEARCH(end, low + 1, low + step < count ? low + step : count, at,
		  same_line(printing->lines, line_at(printing, i), line_at(printing, at)));
	return end;
}

/* Lines that are the same are not parted. */
static size_t chunk_begin(const struct printing *printing, size_t chunk)
{
	size_t i = chunk * LINES_TOGETHER;

	if (i >= printing->lines->count)
		return printing->lines->count;
	return is_same_as_last(printing, i) ? run_end(printing, i) : i;
}

static bool print_chunk(void *self, void *scratch, size_t chunk, struct pd_text *out)
{
	const struct printing *printing = self;
	size_t end = chunk_begin(printing, chunk + 1);

	for (size_t i = chunk_begin(printing, chunk), next; i < end; i = next) {
		uint64_t value = line_at(printing, i)->value;

		for (next = i + 1; is_same_as_last(printing, next); next++)
			value += line_at(printing, next)->value;
		if (!print_line(printing, line_at(printing, i), value, scratch, out))
			return false;
	}
	return true;
}

static bool print_lines(struct printing *printing, size_t threads, struct pd_text *out)
{
	struct pd_pipeline_job job = {
		.count = (printing->lines->count + LINES_TOGETHER - 1) / LINES_TOGETHER,
		.threads = threads,
		.self = printing,
		.begin = begin_scratch,
		.end = end_scratch,
		.make = print_chunk,
	};
	struct pd_pipeline *pipeline = pd_pipeline_start(&job);
	const struct pd_text *text;
	bool done = pipeline != NULL;

	for (size_t i = 0; done && i < job.count && pd_text_flush_large(out); i++) {
		text = pd_pipeline_next(pipeline);
		done = text != NULL;
		if (done)
			pd_text_put(out, text->data, text->size);
	}
	pd_pipeline_end(pipeline);
	return done;
}

bool pd_lines_print(struct stack_lines *lines, const struct tree *tree, size_t threads, struct pd_text *out)
{
	enum {
		WORTH_A_PART = 1 << 12
	};
	struct printing printing = {
		.lines = lines,
		.parts = pd_part_count(pd_thread_count(threads), lines->count, WORTH_A_PART),
	};
	uint32_t limit = 2 * (uint32_t)tree->frame_count;
	bool done;

	if (!lines->failed && !tree->failed)
		printing.names = sort_names(tree);
	done = printing.names && place_names(&printing, limit);
	if (done) {
		pd_in_parts(printing.parts, place_frames, &printing);
		printing.order = pd_lines_sort(lines, limit, printing.parts);
	}
	done = printing.order && print_lines(&printing, threads, out);
	pd_free(printing.order);
	pd_free(printing.places);
	pd_free(printing.names);
	return done;
}
