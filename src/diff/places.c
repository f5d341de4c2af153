/* SPDX-License-Identifier: MIT */
/*
 * Where functions are in the source, for those whose names changed: a function that only the baseline has and one that only the other
 * sides have are the same one if they are at the same place of a file. Lines move with what is inserted above them, so the
 * functions that both have say by how much.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "report/keys/values.h"
#include "report/report.h"

enum {
	INLINED = 16,         /* levels of inlined functions that are looked through */
	NEAR_LINES = 5,       /* between lines that are one place */
	LEAST_SHARE = 2000,   /* a row below one part of so many cannot be tested, and need not be known */
	FUNCTIONS_MOST = 1000 /* of a file: each is compared with each */
};

/* ---- while symbols are there ---- */

static bool is_small(const struct pd_diff *diff, const struct diff_event *event, uint32_t row)
{
	size_t run = diff->run_count - 1;

	return run_sum(event, run, row).period < event->runs[run].total.period / LEAST_SHARE;
}

bool pd_diff_take_place(struct pd_diff *diff, struct diff_event *event, uint32_t number, const struct pd_report *report,
			const struct pd_function *function)
{
	size_t side = diff->runs[diff->run_count - 1].side != 0;
	struct diff_place *place = &event->rows[number].places[side];
	struct pd_line lines[INLINED];
	size_t count;

	if (!diff->options.join_names || !function || place->file || is_small(diff, event, number))
		return true;
	/* the first instruction is that of its head, or of something that was inlined there */
	count = pd_symbols_lines(report->symbols,
				 &(struct pd_place){ function->dso, function, function->start, function->start }, lines,
				 INLINED);
	if (!count || count > INLINED || !lines[count - 1].file || !lines[count - 1].line)
		return true;
	place->line = lines[count - 1].line;
	place->file = pd_arena_text(&diff->texts, pd_path_leaf(lines[count - 1].file),
				    strlen(pd_path_leaf(lines[count - 1].file)));
	return place->file != NULL;
}

/* ---- once all runs are there ---- */

/* By how much lines moved: as those of the nearest functions before and after a line that are in both. */
struct shifts {
	int64_t before, after;
};

struct located {
	uint32_t row;
	uint32_t lines[2];    /* 0: it is not in the baseline, or not in others */
	struct shifts shifts; /* of the line in the baseline */
};

struct places {
	struct pd_diff *diff;
	struct diff_event *event;
	struct located *items; /* by object and file */
	size_t count;
	const char **objects; /* by row */
};

static bool is_in(const struct places *places, size_t row, bool baseline)
{
	const struct pd_diff *diff = places->diff;

	for (size_t run = 0; run < diff->run_count; run++)
		if ((diff->runs[run].side == 0) == baseline && run_sum(places->event, run, row).present)
			return true;
	return false;
}

static const struct diff_place *place_of(const struct places *places, uint32_t row)
{
	const struct diff_row *at = &places->event->rows[row];

	return at->places[0].file ? &at->places[0] : &at->places[1];
}

static const char *object_of(const struct places *places, const struct diff_row *row)
{
	struct pd_diff *diff = places->diff;
	struct pd_bytes text;

	pd_text_clear(diff->scratch);
	for (size_t i = 0; i < diff->key_count; i++) {
		if (diff->keys[i]->has_level)
			continue;
		if (strcmp(diff->keys[i]->head.name, "dso") == 0)
			pd_diff_plain_object(diff->scratch, row->cells[i]);
		else
			pd_text_add(diff->scratch, row->cells[i]);
		pd_text_add(diff->scratch, "\2");
	}
	text = pd_text_bytes(diff->scratch);
	return pd_arena_text(&diff->texts, text.data, text.size);
}

static int compare_files(const struct places *places, uint32_t a, uint32_t b)
{
	int result = strcmp(places->objects[a], places->objects[b]);

	return result ? result : strcmp(place_of(places, a)->file, place_of(places, b)->file);
}

static int compare_items(const void *self, uint32_t a, uint32_t b)
{
	return compare_files(self, a, b);
}

/* False if there is no memory. */
static bool find_items(struct places *places)
{
	const struct diff_event *event = places->event;
	struct pd_sorted *sorted = pd_alloc((event->row_count + 1) * sizeof(*sorted));
	bool done;

	places->objects = pd_alloc((event->row_count + 1) * sizeof(*places->objects));
	places->items = pd_alloc((event->row_count + 1) * sizeof(*places->items));
	done = sorted && places->objects && places->items;
	for (uint32_t i = 0; done && i < event->row_count; i++) {
		if (event->rows[i].joined || !place_of(places, i)->file)
			continue;
		places->objects[i] = object_of(places, &event->rows[i]);
		done = places->objects[i] != NULL;
		sorted[places->count++].number = i;
	}
	done = done && pd_sort(sorted, places->count, compare_items, places, 1);
	for (size_t i = 0; done && i < places->count; i++) {
		const struct diff_row *row = &event->rows[sorted[i].number];

		places->items[i] = (struct located){ .row = sorted[i].number,
						     .lines = { row->places[0].line, row->places[1].line } };
	}
	pd_free(sorted);
	return done;
}

static int64_t shift_of(const struct located *item)
{
	return (int64_t)item->lines[1] - (int64_t)item->lines[0];
}

static struct shifts shifts_at(const struct located *items, size_t count, uint32_t line)
{
	const struct located *before = NULL, *after = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!items[i].lines[0] || !items[i].lines[1])
			continue;
		if (items[i].lines[0] <= line && (!before || items[i].lines[0] > before->lines[0]))
			before = &items[i];
		if (items[i].lines[0] > line && (!after || items[i].lines[0] < after->lines[0]))
			after = &items[i];
	}
	before = before ? before : after;
	after = after ? after : before;
	return before ? (struct shifts){ shift_of(before), shift_of(after) } : (struct shifts){ 0, 0 };
}

static bool is_only(const struct places *places, const struct located *item, bool baseline)
{
	return item->lines[baseline ? 0 : 1] && is_in(places, item->row, baseline) &&
	       !is_in(places, item->row, !baseline) && !places->event->rows[item->row].joined;
}

static int64_t between(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

/* What was inserted may be before the function itself. */
static int64_t distance_of(const struct located *from, const struct located *to)
{
	int64_t one = between((int64_t)from->lines[0] + from->shifts.before, (int64_t)to->lines[1]);
	int64_t two = between((int64_t)from->lines[0] + from->shifts.after, (int64_t)to->lines[1]);

	return one < two ? one : two;
}

/* The one that is nearest to another; count if none is near, or several are as near. */
static size_t nearest_new(const struct places *places, const struct located *items, size_t count,
			  const struct located *old)
{
	int64_t least = NEAR_LINES + 1;
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		int64_t distance;

		if (!is_only(places, &items[i], false))
			continue;
		distance = distance_of(old, &items[i]);
		if (distance <= least)
			found = distance == least ? count : i;
		least = distance < least ? distance : least;
	}
	return found;
}

/* Whether no other function of the baseline is as near. */
static bool is_nearest(const struct places *places, const struct located *items, size_t count,
		       const struct located *old, const struct located *new)
{
	int64_t distance = distance_of(old, new);

	for (size_t i = 0; i < count; i++)
		if (&items[i] != old && is_only(places, &items[i], true) && distance_of(&items[i], new) <= distance)
			return false;
	return true;
}

static void join_file(const struct places *places, struct located *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		items[i].shifts = shifts_at(items, count, items[i].lines[0]);
	for (size_t i = 0; i < count; i++) {
		size_t new = is_only(places, &items[i], true) ? nearest_new(places, items, count, &items[i]) : count;

		if (new < count && is_nearest(places, items, count, &items[i], &items[new]))
			pd_diff_join_rows(places->diff, places->event, items[i].row, items[new].row);
	}
}

bool pd_diff_join_places(struct pd_diff *diff, struct diff_event *event)
{
	struct places places = { .diff = diff, .event = event };
	bool done = find_items(&places);

	for (size_t i = 0, end; done && i < places.count; i = end) {
		for (end = i + 1;
		     end < places.count && compare_files(&places, places.items[i].row, places.items[end].row) == 0;
		     end++)
			;
		if (end - i <= FUNCTIONS_MOST)
			join_file(&places, places.items + i, end - i);
	}
	pd_free(places.objects);
	pd_free(places.items);
	return done;
}
