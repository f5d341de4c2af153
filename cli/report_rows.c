/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to the rows of tables. A row is found by the values of all keys; with
 * --children every function of a call chain gets a row too, once for each sample.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct report *report;
	struct table *table;
	uint32_t *slots; /* row + 1 by a hash of its values */
	size_t slot_count;
	uint32_t *seen; /* by row: number of the sample that was added last */
	size_t seen_capacity;
	uint32_t sample;
};

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- finding rows ---- */

static size_t hash_values(const struct report *report, const uint32_t *values)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < report->key_count; i++) {
		hash = (hash ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return (size_t)hash;
}

static bool grow_slots(struct builder *b)
{
	size_t count = b->slot_count ? b->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < b->table->row_count; i++) {
		size_t at = hash_values(b->report, b->table->rows[i].values) & (count - 1);

		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(b->slots);
	b->slots = slots;
	b->slot_count = count;
	return true;
}

static bool grow_rows(struct builder *b)
{
	struct table *table = b->table;
	size_t capacity = table->row_capacity ? table->row_capacity * 2 : 256;
	struct row *rows = realloc(table->rows, capacity * sizeof(*rows));
	struct amounts *amounts;
	uint32_t *seen;

	if (!rows)
		return false;
	table->rows = rows;
	amounts = realloc(table->amounts, capacity * table->event_count * sizeof(*amounts));
	if (!amounts)
		return false;
	table->amounts = amounts;
	seen = realloc(b->seen, capacity * sizeof(*seen));
	if (!seen)
		return false;
	b->seen = seen;
	table->row_capacity = capacity;
	return true;
}

/* The number of the row with these values. False if there is no memory. */
static bool find_row(struct builder *b, const uint32_t *values, uint32_t *row_out)
{
	struct table *table = b->table;
	size_t bytes = b->report->key_count * sizeof(*values), at;

	if (table->row_count * 2 >= b->slot_count && !grow_slots(b))
		return false;
	for (at = hash_values(b->report, values) & (b->slot_count - 1); b->slots[at];
	     at = (at + 1) & (b->slot_count - 1)) {
		*row_out = b->slots[at] - 1;
		if (memcmp(table->rows[*row_out].values, values, bytes) == 0)
			return true;
	}
	if (table->row_count == table->row_capacity && !grow_rows(b))
		return false;
	*row_out = (uint32_t)table->row_count++;
	memset(&table->rows[*row_out], 0, sizeof(struct row));
	memcpy(table->rows[*row_out].values, values, bytes);
	memset(&table->amounts[*row_out * table->event_count], 0, table->event_count * sizeof(struct amounts));
	b->seen[*row_out] = 0;
	b->slots[at] = *row_out + 1;
	return true;
}

/* ---- values of a sample ---- */

/* The value of a key; those of frames are kept. */
static bool find_key(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out)
{
	uint32_t *kept = report->frame_values[key];

	if (kept && kept[subject->frame]) {
		*value_out = kept[subject->frame] - 1;
		return true;
	}
	if (!report->keys[key]->find(report, key, subject, value_out))
		return false;
	if (kept)
		kept[subject->frame] = *value_out + 1;
	return true;
}

static bool find_values(struct report *report, const struct subject *subject, bool frames_only, uint32_t *values)
{
	for (size_t i = 0; i < report->key_count; i++)
		if ((!frames_only || report->keys[i]->of_frame) && !find_key(report, i, subject, &values[i]))
			return false;
	return true;
}

static struct amounts *amounts_of(const struct builder *b, uint32_t row, const struct pd_profile_entry *entry)
{
	return &b->table->amounts[row * b->table->event_count + entry->event->index - b->table->first_event];
}

static bool place_matches(const struct report *report, uint32_t frame)
{
	return select_has_place(&report->select, &pd_profile_frame(report->profile, frame)->place);
}

static bool is_guest(const struct report *report, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);
	unsigned mode = pd_profile_frame(report->profile, stack->ip)->cpumode;

	return mode == PD_CPUMODE_GUEST_KERNEL || mode == PD_CPUMODE_GUEST_USER;
}

/* Whether a sample is shown. Others may count in the totals. */
static bool is_shown(const struct report *report, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);

	return !is_guest(report, entry) && (!select_by_place(&report->select) || place_matches(report, stack->ip));
}

static bool is_unresolved(const struct report *report, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);

	return !pd_profile_frame(report->profile, stack->ip)->place.function;
}

size_t first_caller(const struct report *report, const struct pd_stack *stack)
{
	size_t most = report->graph.caller ? report->max_stack : 0;

	return most && stack->caller_count > most ? stack->caller_count - most : 0;
}

/* ---- adding a sample ---- */

/* As perf: a place in no object has the level of the one before it. */
static void move_to(const struct report *report, struct subject *subject, uint32_t frame)
{
	const struct pd_frame *to = pd_profile_frame(report->profile, frame);

	subject->frame = frame;
	if (to->place.dso)
		subject->cpumode = to->cpumode;
}

typedef bool each_row_fn(struct builder *b, uint32_t row, uint32_t entry, uint32_t from);

/* Every row that a sample belongs to: its own, then those of its callers, each once. */
static bool each_row(struct builder *b, uint32_t entry_index, each_row_fn *each)
{
	struct report *report = b->report;
	const struct pd_profile_entry *entry = pd_profile_entry(report->profile, entry_index);
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);
	struct subject subject = { entry, stack->ip, pd_profile_frame(report->profile, stack->ip)->cpumode };
	uint32_t values[KEYS_MOST], row;

	b->sample++;
	if (!find_values(report, &subject, false, values) || !find_row(b, values, &row))
		return false;
	b->seen[row] = b->sample;
	if (!each(b, row, entry_index, WHOLE_CHAIN))
		return false;
	for (size_t i = first_caller(report, stack), count = stack->caller_count; report->children && i < count; i++) {
		/* With the outermost caller first, the place that it is called at first counts. */
		size_t at = report->graph.caller ? count - 1 - (i - first_caller(report, stack)) : i;

		move_to(report, &subject, stack->callers[at]);
		if (!find_values(report, &subject, true, values) || !find_row(b, values, &row))
			return false;
		if (b->seen[row] == b->sample ||
		    (select_by_place(&report->select) && !place_matches(report, subject.frame)))
			continue;
		b->seen[row] = b->sample;
		if (!each(b, row, entry_index, (uint32_t)at))
			return false;
	}
	return true;
}

/* How long the chains of a row are: from its function on, or all of a chain that begins there. */
static void note_depth(struct builder *b, uint32_t row, const struct pd_profile_entry *entry, uint32_t from)
{
	const struct report *report = b->report;
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);
	size_t first = first_caller(report, stack), depth = stack->caller_count - first;

	if (from != WHOLE_CHAIN)
		depth = report->graph.caller ? from + 1 - first : stack->caller_count - from;
	if (depth > b->table->rows[row].depth)
		b->table->rows[row].depth = depth;
}

static bool in_leader(const struct table *table, const struct pd_profile_entry *entry)
{
	return entry->event->index == table->first_event;
}

static void add_own(const struct report *report, struct amounts *amounts, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);
	unsigned mode = pd_profile_frame(report->profile, stack->ip)->cpumode;

	amounts->period += entry->period;
	amounts->samples += entry->samples;
	if (mode == PD_CPUMODE_KERNEL)
		amounts->kernel_period += entry->period;
	else if (mode == PD_CPUMODE_USER)
		amounts->user_period += entry->period;
}

static bool add_amounts(struct builder *b, uint32_t row, uint32_t entry_index, uint32_t from)
{
	const struct pd_profile_entry *entry = pd_profile_entry(b->report->profile, entry_index);
	struct amounts *amounts = amounts_of(b, row, entry);

	amounts->children_period += entry->period;
	amounts->children_samples += entry->samples;
	if (from == WHOLE_CHAIN)
		add_own(b->report, amounts, entry);
	if (in_leader(b->table, entry))
		note_depth(b, row, entry, from);
	return true;
}

static uint64_t weight_of(const struct report *report, const struct amounts *amounts)
{
	return report->children ? amounts->children_period : amounts->period;
}

static bool add_link(struct builder *b, uint32_t row, uint32_t entry, uint32_t from)
{
	struct table *table = b->table;
	const struct amounts *amounts = &table->amounts[row * table->event_count];

	/* The graph of a group is that of its leader. */
	if (!in_leader(table, pd_profile_entry(b->report->profile, entry)))
		return true;
	/* What is hidden needs no graph. */
	if (percent_of(weight_of(b->report, amounts), table->totals[0]) < b->report->least)
		return true;
	if (table->link_count == table->link_capacity) {
		size_t capacity = table->link_capacity ? table->link_capacity * 2 : 1024;
		struct link *links = realloc(table->links, capacity * sizeof(*links));

		if (!links)
			return false;
		table->links = links;
		table->link_capacity = capacity;
	}
	table->links[table->link_count++] = (struct link){ row, entry, from };
	table->rows[row].link_count++;
	return true;
}

static bool in_table(const struct table *table, const struct pd_profile_entry *entry)
{
	return entry->event->index >= table->first_event &&
	       entry->event->index < table->first_event + table->event_count;
}

static bool each_sample(struct builder *b, each_row_fn *each)
{
	const struct pd_profile_entry *entry;

	for (uint32_t i = 0; (entry = pd_profile_entry(b->report->profile, i)) != NULL; i++)
		if (in_table(b->table, entry) && is_shown(b->report, entry) &&
		    !(b->report->hide_unresolved && is_unresolved(b->report, entry)) && !each_row(b, i, each))
			return false;
	return true;
}

/* ---- totals ---- */

static bool add_totals(struct builder *b)
{
	struct table *table = b->table;
	struct report *report = b->report;
	const struct pd_profile_entry *entry;

	table->totals = calloc(table->event_count, sizeof(*table->totals));
	table->samples = calloc(table->event_count, sizeof(*table->samples));
	if (!table->totals || !table->samples)
		return false;
	for (size_t i = 0; i < table->event_count && !report->relative; i++) {
		const struct pd_profile_total *total = pd_profile_total(report->profile, table->first_event + i);

		table->totals[i] = total->left_period;
		table->samples[i] = total->left_samples;
	}
	for (size_t i = 0; (entry = pd_profile_entry(report->profile, i)) != NULL; i++) {
		size_t event = entry->event->index - table->first_event;

		if (!in_table(table, entry) || (report->hide_unresolved && is_unresolved(report, entry)) ||
		    (report->relative && !is_shown(report, entry)))
			continue;
		table->totals[event] += entry->period;
		table->samples[event] += entry->samples;
	}
	return true;
}

/* ---- links by row ---- */

static bool sort_links(struct table *table)
{
	struct link *sorted = malloc((table->link_count + 1) * sizeof(*sorted));
	size_t first = 0;

	if (!sorted)
		return false;
	for (size_t i = 0; i < table->row_count; i++) {
		table->rows[i].first_link = first;
		first += table->rows[i].link_count;
		table->rows[i].link_count = 0;
	}
	for (size_t i = 0; i < table->link_count; i++) {
		struct row *row = &table->rows[table->links[i].row];

		sorted[row->first_link + row->link_count++] = table->links[i];
	}
	free(table->links);
	table->links = sorted;
	return true;
}

/* ---- order of rows ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

/* As perf: where graphs are drawn, callers in a thread come before what they call if they have as much. perf compares so
 * within threads only, which is no order if there are several; here threads are told apart first. */
static int compare_depths(const struct report *report, const struct row *a, const struct row *b)
{
	if (report->graph.kind == GRAPH_NONE)
		return 0;
	for (size_t i = 0; i < report->key_count; i++) {
		const struct value *x = &report->values[i].items[a->values[i]], *y = &report->values[i].items[b->values[i]];

		if (!report->keys[i]->of_frame && x != y)
			return x->rank < y->rank ? -1 : 1;
	}
	return report->graph.caller ? compare_numbers(a->depth, b->depth) : compare_numbers(b->depth, a->depth);
}

uint64_t period_in(const struct amounts *amounts, enum column_kind kind)
{
	switch (kind) {
	case COLUMN_CHILDREN:
		return amounts->children_period;
	case COLUMN_KERNEL:
		return amounts->kernel_period;
	case COLUMN_USER:
		return amounts->user_period;
	default:
		return amounts->period;
	}
}

static int compare_column(const struct report *report, const struct table *table, const struct column *column,
			  const struct row *a, const struct row *b)
{
	int order = 0;

	if (column->kind == COLUMN_KEY) {
		const struct value *values = report->values[column->key].items;
		uint32_t x = values[a->values[column->key]].rank, y = values[b->values[column->key]].rank;

		return x < y ? -1 : x > y;
	}
	/* As perf: what is called counts for the leader only. */
	for (size_t i = 0; i < (column->kind == COLUMN_CHILDREN ? 1 : table->event_count) && !order; i++) {
		const struct amounts *x = &a->amounts[i], *y = &b->amounts[i];

		if (column->kind == COLUMN_SAMPLES)
			order = compare_numbers(x->samples, y->samples);
		else
			order = compare_numbers(period_in(x, column->kind), period_in(y, column->kind));
	}
	return order || column->kind != COLUMN_CHILDREN ? order : compare_depths(report, a, b);
}

struct order {
	const struct report *report;
	const struct table *table;
};

static int compare_rows(const void *a, const void *b, void *self)
{
	const struct order *order = self;
	const struct report *report = order->report;

	for (size_t i = 0; i < report->order_count; i++) {
		int compared = compare_column(report, order->table, &report->order[i], a, b);

		if (compared)
			return compared;
	}
	return 0;
}

/* ---- all ---- */

/* Rows that only others than the wanted made are not there. */
static void drop_empty(struct table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		bool any = false;

		for (size_t k = 0; k < table->event_count; k++)
			any = any || table->rows[i].amounts[k].children_samples;
		if (any)
			table->rows[kept++] = table->rows[i];
	}
	table->row_count = kept;
}

static bool build_table(struct report *report, struct table *table)
{
	struct builder b = { .report = report, .table = table };
	bool done = add_totals(&b) && each_sample(&b, add_amounts);

	if (done && report->graph.kind != GRAPH_NONE)
		done = each_sample(&b, add_link) && sort_links(table);
	for (size_t i = 0; i < table->row_count; i++)
		table->rows[i].amounts = &table->amounts[i * table->event_count];
	free(b.slots);
	free(b.seen);
	if (done)
		drop_empty(table);
	return done;
}

static bool keep_frame_values(struct report *report)
{
	size_t count = pd_profile_frame_count(report->profile);

	for (size_t i = 0; i < report->key_count; i++) {
		if (!report->keys[i]->of_frame)
			continue;
		report->frame_values[i] = calloc(count + 1, sizeof(uint32_t));
		if (!report->frame_values[i])
			return false;
	}
	return true;
}

bool rows_build(struct report *report)
{
	if (!keep_frame_values(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++)
		if (!build_table(report, &report->tables[i]))
			return false;
	if (!keys_rank(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++) {
		struct table *table = &report->tables[i];
		struct order order = { report, table };

		if (table->row_count)
			qsort_r(table->rows, table->row_count, sizeof(struct row), compare_rows, &order);
	}
	return true;
}

void table_fini(struct table *table)
{
	free(table->rows);
	free(table->amounts);
	free(table->totals);
	free(table->samples);
	free(table->links);
}
