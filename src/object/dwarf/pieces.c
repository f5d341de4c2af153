/* SPDX-License-Identifier: MIT */
/* A sweep over the addresses with a heap of the spans that are open at a place. */
#include "object/dwarf/pieces.h"

#include <stdlib.h>

#include "base/lookup/heap.h"
#include "base/memory.h"

struct sweep {
	const struct pd_span *spans;
	struct pd_heap heap; // spans, in the order of their values
	struct pd_addr_piece *pieces;
	size_t count;
};

static int compare_starts(const void *a, const void *b)
{
	const struct pd_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

// Ordered by value, then by number.
static uint64_t key_of(const struct sweep *s, size_t span)
{
	return (uint64_t)s->spans[span].value << 32 | span;
}

static const struct pd_span *top(const struct sweep *s)
{
	return &s->spans[(uint32_t)s->heap.items[0]];
}

static void emit_piece(struct sweep *s, uint64_t start)
{
	uint32_t value = s->heap.count ? top(s)->value : PD_PIECE_NONE;
	size_t n = s->count;

	if (n && s->pieces[n - 1].start == start)
		s->pieces[n - 1].value = value;
	else if (!n || s->pieces[n - 1].value != value)
		s->pieces[s->count++] = (struct pd_addr_piece){ .start = start, .value = value };
}

// Closes what ends up to a place.
static void sweep_to(struct sweep *s, uint64_t place)
{
	while (s->heap.count && top(s)->end <= place) {
		uint64_t end = top(s)->end;

		while (s->heap.count && top(s)->end <= end)
			pd_heap_pop(&s->heap);
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

bool pd_pieces_make(struct pd_span *spans, size_t count, struct pd_addr_piece **pieces_out, size_t *count_out)
{
	struct sweep s = { .spans = spans };

	*pieces_out = NULL;
	*count_out = 0;
	if (!count)
		return true;
	if (count > SIZE_MAX / 2 / sizeof(*s.pieces) || count > UINT32_MAX)
		return false;
	s.heap.items = pd_realloc(NULL, count * sizeof(*s.heap.items));
	s.pieces = pd_realloc(NULL, 2 * count * sizeof(*s.pieces));
	if (s.heap.items && s.pieces) {
		if (!is_sorted(spans, count))
			qsort(spans, count, sizeof(*spans), compare_starts);
		for (size_t i = 0; i < count; i++) {
			sweep_to(&s, spans[i].start);
			if (spans[i].end <= spans[i].start)
				continue;
			pd_heap_push(&s.heap, key_of(&s, i));
			emit_piece(&s, spans[i].start);
		}
		sweep_to(&s, UINT64_MAX);
	} else {
		pd_free(s.pieces);
		s.pieces = NULL;
	}
	pd_free(s.heap.items);
	*pieces_out = s.pieces;
	*count_out = s.count;
	return s.pieces != NULL;
}
