/* SPDX-License-Identifier: MIT */
/* A sweep over the addresses with a heap of the spans that are open at a place. */
#include "object/dwarf/pieces.h"

#include <stdlib.h>

#include "base/memory.h"

struct sweep {
	const struct pd_span *spans;
	size_t *heap; // spans; the top has the highest value
	size_t heap_count;
	struct pd_piece *pieces;
	size_t count;
};

static int compare_starts(const void *a, const void *b)
{
	const struct pd_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static void push(struct sweep *s, size_t span)
{
	size_t at = s->heap_count++;

	while (at && s->spans[s->heap[(at - 1) / 2]].value < s->spans[span].value) {
		s->heap[at] = s->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->heap[at] = span;
}

static void pop(struct sweep *s)
{
	size_t moved = s->heap[--s->heap_count], at = 0;

	for (size_t child = 1; child < s->heap_count; child = 2 * at + 1) {
		if (child + 1 < s->heap_count && s->spans[s->heap[child + 1]].value > s->spans[s->heap[child]].value)
			child++;
		if (s->spans[s->heap[child]].value <= s->spans[moved].value)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = moved;
}

static void emit_piece(struct sweep *s, uint64_t start)
{
	uint32_t value = s->heap_count ? s->spans[s->heap[0]].value : PD_PIECE_NONE;
	size_t n = s->count;

	if (n && s->pieces[n - 1].start == start)
		s->pieces[n - 1].value = value;
	else if (!n || s->pieces[n - 1].value != value)
		s->pieces[s->count++] = (struct pd_piece){ .start = start, .value = value };
}

// Closes what ends up to a place.
static void sweep_to(struct sweep *s, uint64_t place)
{
	while (s->heap_count && s->spans[s->heap[0]].end <= place) {
		uint64_t end = s->spans[s->heap[0]].end;

		while (s->heap_count && s->spans[s->heap[0]].end <= end)
			pop(s);
		emit_piece(s, end);
	}
}

static bool is_sorted(const struct pd_span *spans, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (spans[i].start < spans[i - 1].start)
			return false;
	return true;
}

bool pd_pieces_make(struct pd_span *spans, size_t count, struct pd_piece **pieces_out, size_t *count_out)
{
	struct sweep s = { .spans = spans };

	*pieces_out = NULL;
	*count_out = 0;
	if (!count)
		return true;
	if (count > SIZE_MAX / 2 / sizeof(*s.pieces))
		return false;
	s.heap = pd_realloc(NULL, count * sizeof(*s.heap));
	s.pieces = pd_realloc(NULL, 2 * count * sizeof(*s.pieces));
	if (s.heap && s.pieces) {
		if (!is_sorted(spans, count))
			qsort(spans, count, sizeof(*spans), compare_starts);
		for (size_t i = 0; i < count; i++) {
			sweep_to(&s, spans[i].start);
			if (spans[i].end <= spans[i].start)
				continue;
			push(&s, i);
			emit_piece(&s, spans[i].start);
		}
		sweep_to(&s, UINT64_MAX);
	} else {
		pd_free(s.pieces);
		s.pieces = NULL;
	}
	pd_free(s.heap);
	*pieces_out = s.pieces;
	*count_out = s.count;
	return s.pieces != NULL;
}
