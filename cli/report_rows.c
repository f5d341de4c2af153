/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to the rows of tables. A row is found by the values of all keys; with
 * --children every function of a call chain gets a row too, once for each sample.
 */
#include "report.h"

#include "parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The values of an entry that do not depend on frames. */
struct known_values {
	const struct pd_profile_entry *entry; /* NULL: nothing is here */
	uint32_t values[KEYS_MOST];
};

enum {
	KNOWN_VALUES = 256,
	LAST_ROWS = 1 << 22, /* that are kept, if there are not more frames */
	WORTH_A_PART = 1 << 12, /* entries; for less a thread costs more */
	AHEAD = 8, /* entries that are on their way from memory */
};

struct builder {
	struct report *report;
	struct table *table;
	uint32_t *slots; /* row + 1 by a hash of its values */
	size_t slot_count;
	uint32_t *seen; /* by row: number of the sample that was added last */
	uint32_t sample;
	uint32_t *last_rows; /* by way, then by frame: row + 1 of the last sample there */
	size_t ways; /* that samples of different threads and names have */
	uint32_t *own_rows; /* by entry: where its samples were, plus 1; 0: nowhere */
	struct known_values known[KNOWN_VALUES]; /* by a hash of what they depend on */
};

/* Finds the chains of a part of the entries. Tables of rows and of values are complete and only read. */
struct linker {
	struct builder b;
	struct link *links;
	size_t link_count, link_capacity;
	size_t *counts; /* by row, later where the next one goes */
	bool done;
};

/* An entry that is added. */
struct visit {
	const uint32_t *known; /* values that do not depend on frames */
	const struct pd_profile_entry *entry;
	const struct pd_stack *stack;
	uint32_t index;
	size_t way;
	unsigned cpumode; /* where the sample was */
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

/* The slot that has these values or could have them. */
static size_t slot_of(const struct builder *b, const uint32_t *values)
{
	size_t bytes = b->report->key_count * sizeof(*values);
	size_t at = hash_values(b->report, values) & (b->slot_count - 1);

	while (b->slots[at] && memcmp(b->table->rows[b->slots[at] - 1].values, values, bytes) != 0)
		at = (at + 1) & (b->slot_count - 1);
	return at;
}

/* The number of the row with these values. False if there is no memory. */
static bool find_row(struct builder *b, const uint32_t *values, uint32_t *row_out)
{
	struct table *table = b->table;
	size_t bytes = b->report->key_count * sizeof(*values), at;

	if (table->row_count * 2 >= b->slot_count && !grow_slots(b))
		return false;
	at = slot_of(b, values);
	if (b->slots[at]) {
		*row_out = b->slots[at] - 1;
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

static bool find_values(struct report *report, const struct subject *subject, bool of_frame, uint32_t *values)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (report->keys[i]->of_frame == of_frame && !find_key(report, i, subject, &values[i]))
			return false;
	return true;
}

static size_t hash_entry(const struct pd_profile_entry *entry)
{
	uint64_t hash = (uintptr_t)entry->comm ^ entry->slice_ns ^ entry->cgroup ^ entry->weight << 32;

	hash ^= (uint64_t)entry->tid << 32 ^ (uint64_t)entry->pid << 16 ^ entry->cpu ^ (uintptr_t)entry->raw.data;
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(hash >> 32);
}

static bool same_entry(const struct pd_profile_entry *a, const struct pd_profile_entry *b)
{
	return a->comm == b->comm && a->tid == b->tid && a->pid == b->pid && a->cpu == b->cpu && a->event == b->event &&
	       a->slice_ns == b->slice_ns && a->cgroup == b->cgroup && a->weight == b->weight &&
	       a->raw.data == b->raw.data && a->raw.size == b->raw.size;
}

/* Values of keys that do not depend on frames. NULL if there is no memory. */
static const uint32_t *values_of(struct builder *b, const struct pd_profile_entry *entry)
{
	struct known_values *known = &b->known[hash_entry(entry) % KNOWN_VALUES];
	struct subject subject = { .entry = entry };

	if (known->entry && same_entry(known->entry, entry))
		return known->values;
	known->entry = find_values(b->report, &subject, false, known->values) ? entry : NULL;
	return known->entry ? known->values : NULL;
}

static bool same_values(const struct report *report, const uint32_t *a, const uint32_t *b)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (!report->keys[i]->of_frame && a[i] != b[i])
			return false;
	return true;
}

/* The row of a subject whose values that do not depend on frames are known. False if there is no memory. */
static bool row_of(struct builder *b, const struct subject *subject, const struct visit *visit, uint32_t *row_out)
{
	uint32_t *last = &b->last_rows[visit->way * pd_profile_frame_count(b->report->profile) + subject->frame];
	uint32_t values[KEYS_MOST];

	if (*last && same_values(b->report, b->table->rows[*last - 1].values, visit->known)) {
		*row_out = *last - 1;
		return true;
	}
	memcpy(values, visit->known, sizeof(values));
	if (!find_values(b->report, subject, true, values) || !find_row(b, values, row_out))
		return false;
	*last = *row_out + 1;
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

static const struct pd_frame *frame_of(const struct report *report, const struct pd_profile_entry *entry)
{
	return pd_profile_frame(report->profile, pd_profile_stack(report->profile, entry->stack)->ip);
}

/* Whether a sample is shown. Others may count in the totals. */
static bool is_shown(const struct report *report, const struct pd_frame *frame)
{
	return frame->cpumode != PD_CPUMODE_GUEST_KERNEL && frame->cpumode != PD_CPUMODE_GUEST_USER &&
	       (!select_by_place(&report->select) || select_has_place(&report->select, &frame->place));
}

size_t first_caller(const struct report *report, size_t caller_count)
{
	size_t most = report->graph.caller ? report->max_stack : 0;

	return most && caller_count > most ? caller_count - most : 0;
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

typedef bool each_row_fn(struct builder *b, uint32_t row, const struct visit *visit, uint32_t from);

/* The rows of a sample's callers, each once. */
static bool each_caller(struct builder *b, const struct visit *visit, struct subject *subject, each_row_fn *each)
{
	struct report *report = b->report;
	const struct pd_stack *stack = visit->stack;
	size_t first = first_caller(report, stack->caller_count), count = stack->caller_count;
	uint32_t row;

	for (size_t i = first; i < count; i++) {
		/* With the outermost caller first, the place that it is called at first counts. */
		size_t at = report->graph.caller ? count - 1 - (i - first) : i;

		move_to(report, subject, stack->callers[at]);
		if (!row_of(b, subject, visit, &row))
			return false;
		if (b->seen[row] == b->sample ||
		    (select_by_place(&report->select) && !place_matches(report, subject->frame)))
			continue;
		b->seen[row] = b->sample;
		if (!each(b, row, visit, (uint32_t)at))
			return false;
	}
	return true;
}

static struct subject subject_of(const struct visit *visit)
{
	return (struct subject){ .entry = visit->entry, .frame = visit->stack->ip, .cpumode = visit->cpumode };
}

/* Every row that a sample belongs to: its own, then those of its callers. */
static bool each_row(struct builder *b, const struct visit *visit, uint32_t own, each_row_fn *each)
{
	struct subject subject = subject_of(visit);

	if (!b->report->children)
		return each(b, own, visit, WHOLE_CHAIN);
	b->seen[own] = ++b->sample;
	return each(b, own, visit, WHOLE_CHAIN) && each_caller(b, visit, &subject, each);
}

/* How long the chains of a row are: from its function on, or all of a chain that begins there. */
static void note_depth(struct builder *b, uint32_t row, const struct pd_stack *stack, uint32_t from)
{
	const struct report *report = b->report;
	size_t first = first_caller(report, stack->caller_count), depth = stack->caller_count - first;

	if (from != WHOLE_CHAIN)
		depth = report->graph.caller ? from + 1 - first : stack->caller_count - from;
	if (depth > b->table->rows[row].depth)
		b->table->rows[row].depth = depth;
}

static bool in_leader(const struct table *table, const struct pd_profile_entry *entry)
{
	return entry->event->index == table->first_event;
}

static void add_own(struct amounts *amounts, const struct visit *visit)
{
	amounts->period += visit->entry->period;
	amounts->samples += visit->entry->samples;
	if (visit->cpumode == PD_CPUMODE_KERNEL)
		amounts->kernel_period += visit->entry->period;
	else if (visit->cpumode == PD_CPUMODE_USER)
		amounts->user_period += visit->entry->period;
}

static bool add_amounts(struct builder *b, uint32_t row, const struct visit *visit, uint32_t from)
{
	const struct pd_profile_entry *entry = visit->entry;
	struct amounts *amounts = amounts_of(b, row, entry);

	amounts->children_period += entry->period;
	amounts->children_samples += entry->samples;
	if (from == WHOLE_CHAIN)
		add_own(amounts, visit);
	if (b->report->graph.kind != GRAPH_NONE && in_leader(b->table, entry))
		note_depth(b, row, visit->stack, from);
	return true;
}

static uint64_t weight_of(const struct report *report, const struct amounts *amounts)
{
	return report->children ? amounts->children_period : amounts->period;
}

/* Whether a row is shown with a graph, which may have nothing in it that is large enough. */
static bool needs_graph(const struct report *report, const struct table *table, uint32_t row)
{
	uint64_t weight = weight_of(report, &table->amounts[row * table->event_count]);

	return percent_of(weight, table->totals[0]) >= report->least &&
	       (report->graph.kind == GRAPH_FRACTAL || weight >= graph_least(report, table));
}

static bool in_table(const struct table *table, const struct pd_profile_entry *entry)
{
	return entry->event->index >= table->first_event &&
	       entry->event->index < table->first_event + table->event_count;
}

/* Asks for the memory of an entry that comes soon: call chains are anywhere. */
static void expect_entry(const struct report *report, size_t index)
{
	enum { LINE = 64 };
	const struct pd_profile_entry *entry = report->children ? pd_profile_entry(report->profile, index) : NULL;
	const char *callers = entry ? (const char *)pd_profile_stack(report->profile, entry->stack)->callers : NULL;

	if (!callers)
		return;
	__builtin_prefetch(callers);
	__builtin_prefetch(callers + LINE);
}

/* Whether an entry is shown in the table. */
static bool visit_entry(const struct builder *b, size_t index, struct visit *visit)
{
	const struct report *report = b->report;
	const struct pd_frame *frame;

	visit->index = (uint32_t)index;
	visit->entry = pd_profile_entry(report->profile, index);
	if (!in_table(b->table, visit->entry))
		return false;
	visit->stack = pd_profile_stack(report->profile, visit->entry->stack);
	frame = pd_profile_frame(report->profile, visit->stack->ip);
	visit->cpumode = frame->cpumode;
	visit->way = hash_entry(visit->entry) % b->ways;
	return is_shown(report, frame) && !(report->hide_unresolved && !frame->place.function);
}

static bool add_samples(struct builder *b)
{
	struct visit visit;

	for (size_t i = 0; pd_profile_entry(b->report->profile, i); i++) {
		struct subject subject;
		uint32_t own;

		expect_entry(b->report, i + AHEAD);
		if (!visit_entry(b, i, &visit))
			continue;
		visit.known = values_of(b, visit.entry);
		subject = subject_of(&visit);
		if (!visit.known || !row_of(b, &subject, &visit, &own))
			return false;
		b->own_rows[i] = own + 1;
		if (!each_row(b, &visit, own, add_amounts))
			return false;
	}
	return true;
}

static size_t entry_count(const struct report *report)
{
	size_t count = 0;

	while (pd_profile_entry(report->profile, count))
		count++;
	return count;
}

/* What is kept of the last samples, for each of several parts. False if there is no memory. */
static bool make_last_rows(struct builder *b, size_t parts)
{
	size_t frames = pd_profile_frame_count(b->report->profile) + 1;

	b->ways = LAST_ROWS / parts / frames;
	if (b->ways > KNOWN_VALUES)
		b->ways = KNOWN_VALUES;
	if (!b->ways)
		b->ways = 1;
	b->last_rows = calloc(b->ways * frames, sizeof(*b->last_rows));
	return b->last_rows != NULL;
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

		if (!in_table(table, entry) || (report->hide_unresolved && !frame_of(report, entry)->place.function) ||
		    (report->relative && !is_shown(report, frame_of(report, entry))))
			continue;
		table->totals[event] += entry->period;
		table->samples[event] += entry->samples;
	}
	return true;
}

/* ---- branches ---- */

/* Branches have no frames by which their rows could be known. */
static bool add_branch(void *self, const struct subject *subject)
{
	struct builder *b = self;
	struct visit visit = { .entry = subject->entry, .cpumode = subject->cpumode };
	uint32_t values[KEYS_MOST], row;
	struct amounts *amounts;

	if (!find_values(b->report, subject, false, values) || !find_values(b->report, subject, true, values) ||
	    !find_row(b, values, &row))
		return false;
	amounts = amounts_of(b, row, subject->entry);
	amounts->children_period += subject->entry->period;
	amounts->children_samples += subject->entry->samples;
	add_own(amounts, &visit);
	return true;
}

/* ---- links by row ---- */

struct linking {
	struct builder *b;
	struct linker *linkers; /* by part */
	size_t parts, entry_count;
};

static bool add_link(struct builder *b, uint32_t row, const struct visit *visit, uint32_t from)
{
	struct linker *linker = (struct linker *)(void *)((char *)b - offsetof(struct linker, b));

	/* The graph of a group is that of its leader. */
	if (!in_leader(b->table, visit->entry) || !needs_graph(b->report, b->table, row))
		return true;
	if (linker->link_count == linker->link_capacity) {
		size_t capacity = linker->link_capacity ? linker->link_capacity * 2 : 1024;
		struct link *links = realloc(linker->links, capacity * sizeof(*links));

		if (!links)
			return false;
		linker->links = links;
		linker->link_capacity = capacity;
	}
	linker->links[linker->link_count++] = (struct link){ row, visit->index, from };
	linker->counts[row]++;
	return true;
}

static void find_links(void *self, size_t part)
{
	struct linking *linking = self;
	struct linker *linker = &linking->linkers[part];
	struct builder *b = &linker->b;
	size_t end = part_begin(linking->entry_count, linking->parts, part + 1);
	struct visit visit;

	b->report = linking->b->report;
	b->table = linking->b->table;
	b->slots = linking->b->slots;
	b->slot_count = linking->b->slot_count;
	b->own_rows = linking->b->own_rows;
	b->seen = calloc(b->table->row_count + 1, sizeof(*b->seen));
	linker->counts = calloc(b->table->row_count + 1, sizeof(*linker->counts));
	linker->done = b->seen && linker->counts && make_last_rows(b, linking->parts);
	for (size_t i = part_begin(linking->entry_count, linking->parts, part); linker->done && i < end; i++) {
		uint32_t own = b->own_rows[i];

		expect_entry(b->report, i + AHEAD);
		if (!own)
			continue;
		visit_entry(b, i, &visit);
		visit.known = b->table->rows[own - 1].values;
		linker->done = each_row(b, &visit, own - 1, add_link);
	}
	free(b->last_rows);
	free(b->seen);
}

static void put_links(void *self, size_t part)
{
	struct linking *linking = self;
	struct linker *linker = &linking->linkers[part];
	struct table *table = linking->b->table;

	for (size_t i = 0; i < linker->link_count; i++)
		table->links[linker->counts[linker->links[i].row]++] = linker->links[i];
	free(linker->links);
	linker->links = NULL;
}

/* Where the links of rows begin, and those that each part found for them. False if there is no memory. */
static bool place_links(struct linking *linking)
{
	struct table *table = linking->b->table;
	size_t at = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		table->rows[i].first_link = at;
		for (size_t part = 0; part < linking->parts; part++) {
			size_t count = linking->linkers[part].counts[i];

			linking->linkers[part].counts[i] = at;
			at += count;
		}
		table->rows[i].link_count = at - table->rows[i].first_link;
	}
	table->links = malloc((at + 1) * sizeof(*table->links));
	return table->links != NULL;
}

/* False if there is no memory. */
static bool link_rows(struct builder *b)
{
	struct linking linking = { .b = b, .entry_count = entry_count(b->report) };
	bool done;

	linking.parts = part_count(thread_count(b->report->threads), linking.entry_count, WORTH_A_PART);
	linking.linkers = calloc(linking.parts, sizeof(*linking.linkers));
	done = linking.linkers != NULL;
	if (done)
		parts_do(linking.parts, find_links, &linking);
	for (size_t i = 0; linking.linkers && i < linking.parts; i++)
		done = done && linking.linkers[i].done;
	done = done && place_links(&linking);
	if (done)
		parts_do(linking.parts, put_links, &linking);
	for (size_t i = 0; linking.linkers && i < linking.parts; i++) {
		free(linking.linkers[i].links);
		free(linking.linkers[i].counts);
	}
	free(linking.linkers);
	return done;
}

/* ---- order of rows ---- */

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

/* What rows are sorted by, as numbers: the smaller ones come first. */
struct words {
	uint64_t *words;
	size_t count;
	bool half; /* the last one has room for a small number */
};

static void add_word(struct words *to, uint64_t word)
{
	to->words[to->count++] = word;
	to->half = false;
}

static void add_small(struct words *to, uint32_t number)
{
	if (to->half)
		to->words[to->count - 1] |= number;
	else
		to->words[to->count++] = (uint64_t)number << 32;
	to->half = !to->half;
}

/* As perf: where graphs are drawn, callers in a thread come before what they call if they have as much. perf compares so
 * within threads only, which is no order if there are several; here threads are told apart first. */
static void add_depth(const struct report *report, const struct row *row, struct words *to)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (!report->keys[i]->of_frame)
			add_small(to, report->values[i].ranks[row->values[i]]);
	add_word(to, report->graph.caller ? ~(uint64_t)row->depth : row->depth);
}

static void fill_words(const struct report *report, const struct table *table, const struct row *row, struct words *to)
{
	for (size_t i = 0; i < report->order_count; i++) {
		const struct column *column = &report->order[i];
		/* As perf: what is called counts for the leader only. */
		size_t events = column->kind == COLUMN_CHILDREN ? 1 : table->event_count;

		if (column->kind == COLUMN_KEY) {
			add_small(to, report->values[column->key].ranks[row->values[column->key]]);
			continue;
		}
		/* What is called is not known. */
		if (column->kind == COLUMN_CHILDREN && !report->children)
			continue;
		for (size_t k = 0; k < events; k++)
			add_word(to, ~(column->kind == COLUMN_SAMPLES ? row->amounts[k].samples :
									period_in(&row->amounts[k], column->kind)));
		if (column->kind == COLUMN_CHILDREN && report->graph.kind != GRAPH_NONE)
			add_depth(report, row, to);
	}
	for (size_t i = 0; i < report->order_count; i++) {
		const struct value_table *values = &report->values[report->order[i].key];

		if (report->order[i].kind == COLUMN_KEY && values->any_alike)
			add_small(to, values->fine[row->values[report->order[i].key]]);
	}
}

/* Words of rows behind those that nearly everything is decided by. */
struct rest {
	uint64_t *words;
	size_t count; /* of a row */
};

static int compare_rest(const void *self, uint32_t a, uint32_t b)
{
	const struct rest *rest = self;
	const uint64_t *s = rest->words + a * rest->count, *t = rest->words + b * rest->count;

	for (size_t i = 0; i < rest->count; i++)
		if (s[i] != t[i])
			return s[i] < t[i] ? -1 : 1;
	return 0;
}

/* The order of all rows. The caller frees it; NULL if there is no memory. */
static struct sorted *order_rows(const struct report *report, const struct table *table)
{
	enum { WORDS_MOST = 3 * COLUMNS_MOST + KEYS_MOST, AT_ONCE = 2 };
	size_t most = WORDS_MOST + COLUMNS_MOST * table->event_count;
	struct sorted *sorted = malloc((table->row_count + 1) * sizeof(*sorted));
	struct words one = { .words = calloc(most, sizeof(*one.words)) };
	struct rest rest = { NULL, 0 };
	bool done = sorted && one.words;

	for (size_t i = 0; done && i < table->row_count; i++) {
		one.count = 0;
		one.half = false;
		fill_words(report, table, &table->rows[i], &one);
		if (!i) {
			rest.count = one.count > AT_ONCE ? one.count - AT_ONCE : 0;
			rest.words = malloc((table->row_count * rest.count + 1) * sizeof(*rest.words));
			done = rest.words;
		}
		sorted[i] = (struct sorted){ one.words[0], one.words[1], (uint32_t)i };
		if (done)
			memcpy(rest.words + i * rest.count, one.words + AT_ONCE, rest.count * sizeof(*rest.words));
	}
	done = done && sort_all(sorted, table->row_count, compare_rest, &rest, report->threads);
	free(one.words);
	free(rest.words);
	if (done)
		return sorted;
	free(sorted);
	return NULL;
}

/* False if there is no memory. */
static bool sort_rows(const struct report *report, struct table *table)
{
	struct sorted *order = order_rows(report, table);
	struct row *rows = malloc((table->row_count + 1) * sizeof(*rows));
	bool done = order && rows;

	for (size_t i = 0; done && i < table->row_count; i++)
		rows[i] = table->rows[order[i].number];
	free(order);
	if (!done) {
		free(rows);
		return false;
	}
	free(table->rows);
	table->rows = rows;
	return true;
}

/* ---- all ---- */

/* Rows that only others than the wanted made are not there. */
static void drop_empty(struct table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		bool any = false;

		for (size_t k = 0; k < table->event_count; k++)
			any = any || table->rows[i].amounts[k].children_samples || table->rows[i].amounts[k].children_period;
		if (any)
			table->rows[kept++] = table->rows[i];
	}
	table->row_count = kept;
}

static bool build_table(struct report *report, struct table *table)
{
	struct builder b = { .report = report, .table = table };
	bool done;

	if (report->by_branch) {
		done = branches_walk(report, table, add_branch, &b);
	} else {
		b.own_rows = calloc(entry_count(report) + 1, sizeof(*b.own_rows));
		done = b.own_rows && make_last_rows(&b, 1) && add_totals(&b) && add_samples(&b);
	}
	if (done && b.own_rows && report->graph.kind != GRAPH_NONE)
		done = link_rows(&b);
	for (size_t i = 0; i < table->row_count; i++)
		table->rows[i].amounts = &table->amounts[i * table->event_count];
	free(b.slots);
	free(b.seen);
	free(b.last_rows);
	free(b.own_rows);
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

/* As perf: what is in no object has the level of what was before it, where a table has it first. */
static void begin_table(struct report *report, const struct table *table)
{
	size_t count = pd_profile_frame_count(report->profile);

	report->first_event = table->first_event;
	if (report->by_branch || table == report->tables)
		return;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < report->key_count && !pd_profile_frame(report->profile, (uint32_t)i)->place.dso; k++)
			if (report->frame_values[k])
				report->frame_values[k][i] = 0;
}

bool rows_build(struct report *report)
{
	if (!report->by_branch && !keep_frame_values(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++) {
		begin_table(report, &report->tables[i]);
		if (!build_table(report, &report->tables[i]))
			return false;
	}
	if (!keys_rank(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++)
		if (!sort_rows(report, &report->tables[i]))
			return false;
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
