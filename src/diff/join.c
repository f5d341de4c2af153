/* SPDX-License-Identifier: MIT */
/* Rows whose names differ in what compilers add become one, unless both sides have each of them: then nothing moved between them. */
#include "diff/diff.h"

#include <string.h>

#include "report/keys/values.h"

struct joining {
	struct pd_diff *diff;
	struct diff_event *event;
	struct pd_index index; /* of first rows, by a hash of their plain identity */
	const char **plain;    /* by row */
	uint32_t *first;       /* by row: the first one of the group */
	bool *unequal;         /* by first row: a side lacks one of the group */
};

static void describe(struct joining *joining, const struct diff_row *row)
{
	struct pd_diff *diff = joining->diff;

	pd_text_clear(diff->scratch);
	for (size_t i = 0; i < diff->key_count; i++) {
		const char *cell = row->cells[i];

		if (diff->keys[i]->has_level && strlen(cell) >= 4)
			pd_diff_plain_function(diff->scratch, cell + 4);
		else if (strcmp(diff->keys[i]->head.name, "dso") == 0)
			pd_diff_plain_object(diff->scratch, cell);
		else
			pd_text_add(diff->scratch, cell);
		pd_text_add(diff->scratch, "\2");
	}
}

static bool is_everywhere(const struct joining *joining, size_t row)
{
	const struct pd_diff *diff = joining->diff;

	for (size_t side = 0; side < diff->side_count; side++) {
		bool found = false;

		for (size_t run = 0; run < diff->run_count && !found; run++)
			found = diff->runs[run].side == side && run_sum(joining->event, run, row).present;
		if (!found)
			return false;
	}
	return true;
}

/* False if there is no memory. */
static bool group_row(struct joining *joining, uint32_t row)
{
	struct pd_diff *diff = joining->diff;
	struct pd_bytes bytes;
	uint64_t hash;
	size_t at;
	uint32_t other;

	describe(joining, &joining->event->rows[row]);
	bytes = pd_text_bytes(diff->scratch);
	joining->plain[row] = pd_arena_text(&diff->texts, bytes.data, bytes.size);
	if (!joining->plain[row] || pd_text_failed(diff->scratch))
		return false;
	hash = pd_hash(diff->seed, bytes.data, bytes.size);
	at = hash;
	while ((other = pd_index_next(&joining->index, hash, &at)) != PD_INDEX_END)
		if (strcmp(joining->plain[other], joining->plain[row]) == 0)
			break;
	if (other == PD_INDEX_END && !pd_index_add(&joining->index, hash, row))
		return false;
	joining->first[row] = other == PD_INDEX_END ? row : other;
	joining->unequal[joining->first[row]] |= !is_everywhere(joining, row);
	return true;
}

void pd_diff_join_rows(const struct pd_diff *diff, struct diff_event *event, uint32_t first, uint32_t row)
{
	for (size_t run = 0; run < diff->run_count; run++) {
		struct run_sums *sums = &event->runs[run];

		/* the first one has a smaller number, so it is in what has the other */
		if (row >= sums->count || !sums->items[row].present)
			continue;
		sums->items[first].period += sums->items[row].period;
		sums->items[first].samples += sums->items[row].samples;
		sums->items[first].present = true;
	}
	event->rows[row].joined = true;
	event->rows[row].next_joined = event->rows[first].next_joined;
	event->rows[first].next_joined = row + 1;
}

bool pd_diff_join(struct pd_diff *diff, struct diff_event *event)
{
	struct joining joining = { .diff = diff, .event = event };
	bool done;

	joining.plain = pd_alloc((event->row_count + 1) * sizeof(*joining.plain));
	joining.first = pd_alloc((event->row_count + 1) * sizeof(*joining.first));
	joining.unequal = pd_alloc(event->row_count + 1);
	done = joining.plain && joining.first && joining.unequal;
	for (uint32_t i = 0; done && i < event->row_count; i++)
		done = group_row(&joining, i);
	for (uint32_t i = 0; done && i < event->row_count; i++)
		if (joining.first[i] != i && joining.unequal[joining.first[i]])
			pd_diff_join_rows(diff, event, joining.first[i], i);
	pd_index_fini(&joining.index);
	pd_free(joining.plain);
	pd_free(joining.first);
	pd_free(joining.unequal);
	return done;
}
