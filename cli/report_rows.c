/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to the rows of tables. A row is found by the values of all keys; with
 * --children every function of a call chain gets a row too, once for each sample.
 */
#include "report_rows.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORTH_A_PART = 1 << 12, /* entries; for less a thread costs more */
	ROWS_AHEAD = 8,
	FRAMES_AHEAD = 16, /* that are on their way from memory */
};

double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
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

/* A place for one more. False if there is no memory. */
static bool make_place(void **items, size_t count, size_t *capacity, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : 256;
	void *grown;

	if (count < *capacity)
		return true;
	grown = realloc(*items, more * size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = more;
	return true;
}

/* ---- sets of rows ---- */

static size_t first_slot(const struct row_set *set, uint32_t who, uint32_t place)
{
	uint64_t hash = ((uint64_t)who << 32 | place) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return (hash ^ hash >> 32) & (set->slot_count - 1);
}

static void expect_row(const struct row_set *set, uint32_t who, uint32_t place)
{
	if (set->slot_count)
		__builtin_prefetch(&set->slots[first_slot(set, who, place)]);
}

/* The slot of these values, or where it could be. */
static struct row_slot *slot_of(const struct row_set *set, uint32_t who, uint32_t place)
{
	size_t at = first_slot(set, who, place);

	while (set->slots[at].row && (set->slots[at].who != who || set->slots[at].place != place))
		at = (at + 1) & (set->slot_count - 1);
	return &set->slots[at];
}

uint32_t row_set_at(const struct row_set *set, uint32_t who, uint32_t place)
{
	return set->slot_count ? slot_of(set, who, place)->row - 1 : UINT32_MAX;
}

static bool grow_slots(struct row_set *set)
{
	size_t count = set->slot_count ? set->slot_count * 2 : 1024;
	struct row_slot *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	free(set->slots);
	set->slots = slots;
	set->slot_count = count;
	for (size_t i = 0; i < set->count; i++)
		*slot_of(set, set->rows[i].who, set->rows[i].place) =
			(struct row_slot){ set->rows[i].who, set->rows[i].place, (uint32_t)i + 1 };
	return true;
}

static bool grow_rows(struct row_set *set)
{
	size_t capacity = set->capacity ? set->capacity * 2 : 256;
	struct row *rows = realloc(set->rows, capacity * sizeof(*rows));
	struct amounts *amounts;

	if (!rows)
		return false;
	set->rows = rows;
	amounts = realloc(set->amounts, capacity * set->event_count * sizeof(*amounts));
	if (!amounts)
		return false;
	set->amounts = amounts;
	set->capacity = capacity;
	return true;
}

/* The number of the row with these values. False if there is no memory. */
static bool find_row(struct row_set *set, uint32_t who, uint32_t place, uint32_t *row_out)
{
	struct row_slot *slot;

	if (set->count * 2 >= set->slot_count && !grow_slots(set))
		return false;
	slot = slot_of(set, who, place);
	*row_out = slot->row - 1;
	if (slot->row)
		return true;
	if (set->count == set->capacity && !grow_rows(set))
		return false;
	*row_out = (uint32_t)set->count++;
	*slot = (struct row_slot){ who, place, *row_out + 1 };
	set->rows[*row_out] = (struct row){ .who = who, .place = place };
	memset(&set->amounts[*row_out * set->event_count], 0, set->event_count * sizeof(struct amounts));
	return true;
}

/* Adds the rows of another one, and says what number each has. False if there is no memory. */
static bool join_rows(struct row_set *set, const struct row_set *more, uint32_t *numbers)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct row *row = &more->rows[i];
		const struct amounts *from = &more->amounts[i * more->event_count];
		struct amounts *to;

		if (i + ROWS_AHEAD < more->count)
			expect_row(set, row[ROWS_AHEAD].who, row[ROWS_AHEAD].place);
		if (!find_row(set, row->who, row->place, &numbers[i]))
			return false;
		to = &set->amounts[numbers[i] * set->event_count];
		for (size_t k = 0; k < set->event_count; k++) {
			to[k].period += from[k].period;
			to[k].samples += from[k].samples;
			to[k].kernel_period += from[k].kernel_period;
			to[k].user_period += from[k].user_period;
			to[k].children_period += from[k].children_period;
			to[k].children_samples += from[k].children_samples;
		}
		if (row->depth > set->rows[numbers[i]].depth)
			set->rows[numbers[i]].depth = row->depth;
	}
	return true;
}

/* ---- entries ---- */

/* Entries come by event. */
size_t entries_before(const struct report *report, size_t event)
{
	const struct pd_profile_entry *entry;
	size_t below = 0, above = 1;

	while ((entry = pd_profile_entry(report->profile, above - 1)) != NULL && entry->event->index < event)
		above *= 2;
	while (below < above) {
		size_t middle = below + (above - below) / 2;

		entry = pd_profile_entry(report->profile, middle);
		if (entry && entry->event->index < event)
			below = middle + 1;
		else
			above = middle;
	}
	return below;
}

size_t part_entry(const struct building *building, size_t part)
{
	return building->begin + part_begin(building->end - building->begin, building->part_count, part);
}

void expect_entry(const struct building *building, size_t index)
{
	enum {
		LINE = 64
	};
	const struct report *report = building->report;
	const struct pd_profile_entry *entry;
	const char *callers;

	if (index + ENTRIES_AHEAD >= building->end)
		return;
	entry = pd_profile_entry(report->profile, index + ENTRIES_AHEAD);
	__builtin_prefetch(pd_profile_stack(report->profile, entry->stack));
	if (!report->children)
		return;
	entry = pd_profile_entry(report->profile, index);
	callers = (const char *)pd_profile_stack(report->profile, entry->stack)->callers;
	__builtin_prefetch(callers);
	__builtin_prefetch(callers + LINE);
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

size_t first_caller(const struct report *report, size_t caller_count)
{
	size_t most = report->graph.caller ? report->max_stack : 0;

	return most && caller_count > most ? caller_count - most : 0;
}

/* With the outermost caller first, the place that it is called at first counts. */
static size_t caller_at(const struct report *report, size_t count, size_t first, size_t index)
{
	return report->graph.caller ? count - 1 - (index - first) : index;
}

/* ---- the first walk: who and where ---- */

/* Whether a sample is shown. Others may count in the totals. */
static bool is_shown(uint8_t look)
{
	unsigned level = look & LOOK_LEVEL;

	return level != PD_CPUMODE_GUEST_KERNEL && level != PD_CPUMODE_GUEST_USER && (look & LOOK_WANTED);
}

static bool is_hidden(const struct report *report, uint8_t look)
{
	return report->hide_unresolved && !(look & LOOK_FUNCTION);
}

/* False if there is no memory. */
static bool find_who(struct building_part *part, const struct pd_profile_entry *entry, uint32_t *who_out)
{
	struct known_who *known = &part->known[hash_entry(entry) % KNOWN_WHOS];

	if (!known->entry || !same_entry(known->entry, entry)) {
		void *entries = part->who_entries;
		bool done = make_place(&entries, part->who_count, &part->who_capacity, sizeof(*part->who_entries));

		part->who_entries = entries;
		if (!done)
			return false;
		*known = (struct known_who){ entry, (uint32_t)part->who_count };
		part->who_entries[part->who_count++] = entry;
	}
	*who_out = known->who;
	return true;
}

/* False if there is no memory. */
static bool note_frame(struct building_part *part, uint32_t frame, unsigned cpumode)
{
	void *firsts = part->firsts;
	bool done;

	if (part->looks[frame] & LOOK_SEEN)
		return true;
	part->looks[frame] |= LOOK_SEEN;
	done = make_place(&firsts, part->first_count, &part->first_capacity, sizeof(*part->firsts));
	part->firsts = firsts;
	if (done)
		part->firsts[part->first_count++] = (struct first_frame){ frame, cpumode };
	return done;
}

/* As perf: a place in no object has the level of the one before it. */
static bool note_callers(struct building_part *part, const struct pd_stack *stack)
{
	const struct report *report = part->building->report;
	size_t count = stack->caller_count, first = first_caller(report, count);
	unsigned level = part->looks[stack->ip] & LOOK_LEVEL;

	for (size_t i = first; i < count; i++) {
		uint32_t frame = stack->callers[caller_at(report, count, first, i)];

		if (part->looks[frame] & LOOK_OBJECT)
			level = part->looks[frame] & LOOK_LEVEL;
		if (!note_frame(part, frame, level))
			return false;
	}
	return true;
}

static void add_total(struct building_part *part, const struct pd_profile_entry *entry, uint8_t look)
{
	const struct building *building = part->building;
	size_t event = entry->event->index - building->table->first_event;

	if (is_hidden(building->report, look) || (building->report->relative && !is_shown(look)))
		return;
	part->totals[event] += entry->period;
	part->samples[event] += entry->samples;
}

static bool glance_at(struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct report *report = building->report;
	const struct pd_profile_entry *entry = pd_profile_entry(report->profile, index);
	const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);
	struct glance *glance = &building->glances[index - building->begin];
	uint8_t look = report->looks[stack->ip];
	uint32_t who;

	*glance = (struct glance){ 0, stack->ip };
	add_total(part, entry, look);
	trust_add(&part->trust, entry, stack, look & LOOK_FUNCTION);
	if (!is_shown(look) || is_hidden(report, look))
		return true;
	if (!find_who(part, entry, &who) || !note_frame(part, stack->ip, look & LOOK_LEVEL))
		return false;
	glance->who = who + 1;
	return !report->children || note_callers(part, stack);
}

static void look_at_part(void *self, size_t number)
{
	struct building *building = self;
	struct building_part *part = &building->parts[number];
	size_t frames = pd_profile_frame_count(building->report->profile), events = building->table->event_count;
	size_t end = part_entry(building, number + 1);

	part->building = building;
	part->rows.event_count = events;
	part->totals = calloc(events, sizeof(*part->totals));
	part->samples = calloc(events, sizeof(*part->samples));
	part->looks = malloc(frames + 1);
	part->failed = !part->totals || !part->samples || !part->looks;
	if (!part->failed)
		memcpy(part->looks, building->report->looks, frames);
	for (size_t i = part_entry(building, number); !part->failed && i < end; i++) {
		expect_entry(building, i + ENTRIES_AHEAD);
		part->failed = !glance_at(part, i);
	}
	free(part->looks);
	part->looks = NULL;
}

/* ---- numbers for what was seen ---- */

static bool number_whos(struct building_part *part)
{
	struct report *report = part->building->report;

	part->whos = malloc((part->who_count + 1) * sizeof(*part->whos));
	for (size_t i = 0; part->whos && i < part->who_count; i++) {
		struct subject subject = { .entry = part->who_entries[i] };

		if (!values_find(report, &subject, false, &part->whos[i]))
			return false;
	}
	return part->whos;
}

static void expect_frame(const struct report *report, uint32_t frame)
{
	__builtin_prefetch(&report->frame_places[report->twins[frame]]);
	__builtin_prefetch(pd_profile_frame(report->profile, frame));
}

/* False if there is no memory. */
static bool number_frame(const struct building *building, const struct first_frame *first)
{
	struct report *report = building->report;
	struct subject subject = { .frame = first->frame, .cpumode = first->cpumode };
	uint32_t *place = &report->frame_places[first->frame], twin = report->twins[first->frame], number;
	bool shared = building->of_function && (report->looks[first->frame] & report->looks[twin] & LOOK_OWN_OBJECT);

	if (!*place && shared)
		*place = report->frame_places[twin];
	if (*place)
		return true;
	if (!values_find(report, &subject, true, &number))
		return false;
	*place = number + 1;
	if (shared)
		report->frame_places[twin] = number + 1;
	return true;
}

static bool number_frames(struct building_part *part)
{
	for (size_t i = 0; i < part->first_count; i++) {
		if (i + FRAMES_AHEAD < part->first_count)
			expect_frame(part->building->report, part->firsts[i + FRAMES_AHEAD].frame);
		if (!number_frame(part->building, &part->firsts[i]))
			return false;
	}
	return true;
}

/* In the order of the parts, so that everything has the number of where it comes first. */
static bool number_all(struct building *building)
{
	struct report *report = building->report;

	building->of_function = true;
	for (size_t i = 0; i < report->key_count; i++)
		building->of_function &= !report->keys[i]->of_frame || report->keys[i]->of_function;
	for (size_t i = 0; i < building->part_count; i++)
		if (building->parts[i].failed || !number_whos(&building->parts[i]) ||
		    !number_frames(&building->parts[i]))
			return false;
	return true;
}

/* ---- the second walk: rows ---- */

bool each_caller(struct building_part *part, const struct visit *visit, caller_fn *each)
{
	const struct report *report = part->building->report;
	size_t count = visit->stack->caller_count, first = first_caller(report, count);
	uint32_t sample = ++part->sample;

	part->seen[visit->place] = sample;
	for (size_t i = first; i < count; i++) {
		size_t at = caller_at(report, count, first, i);
		uint32_t frame = visit->stack->callers[at], place = report->frame_places[frame] - 1;
		bool counts = report->looks[frame] & LOOK_WANTED;

		if (part->seen[place] == sample || is_hidden(report, report->looks[frame]))
			continue;
		if (counts)
			part->seen[place] = sample;
		if (!each(part, visit, place, (uint32_t)at, counts))
			return false;
	}
	return true;
}

static void add_own(struct amounts *amounts, const struct pd_profile_entry *entry, unsigned cpumode)
{
	amounts->children_period += entry->period;
	amounts->children_samples += entry->samples;
	amounts->period += entry->period;
	amounts->samples += entry->samples;
	if (cpumode == PD_CPUMODE_KERNEL)
		amounts->kernel_period += entry->period;
	else if (cpumode == PD_CPUMODE_USER)
		amounts->user_period += entry->period;
}

static struct amounts *amounts_of(const struct building_part *part, uint32_t row, const struct pd_profile_entry *entry)
{
	size_t event = entry->event->index - part->building->table->first_event;

	return &part->rows.amounts[row * part->rows.event_count + event];
}

/* How long the chains of a row are: from its function on, or all of a chain that begins there. */
static void note_depth(struct building_part *part, uint32_t row, const struct visit *visit, uint32_t from)
{
	const struct report *report = part->building->report;
	size_t count = visit->stack->caller_count, first = first_caller(report, count), depth = count - first;

	if (report->graph.kind == GRAPH_NONE || visit->entry->event->index != part->building->table->first_event)
		return;
	if (from != WHOLE_CHAIN)
		depth = report->graph.caller ? from + 1 - first : count - from;
	if (depth > part->rows.rows[row].depth)
		part->rows.rows[row].depth = depth;
}

static bool add_caller(struct building_part *part, const struct visit *visit, uint32_t place, uint32_t from,
		       bool counts)
{
	struct amounts *amounts;
	uint32_t row;

	if (!find_row(&part->rows, visit->who, place, &row))
		return false;
	if (!counts)
		return true;
	amounts = amounts_of(part, row, visit->entry);
	amounts->children_period += visit->entry->period;
	amounts->children_samples += visit->entry->samples;
	note_depth(part, row, visit, from);
	return true;
}

/* False if there is no memory. */
static bool add_entry(struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct report *report = building->report;
	struct glance *glance = &building->glances[index - building->begin];
	struct visit visit = { .entry = pd_profile_entry(report->profile, index), .index = (uint32_t)index };
	uint32_t own;

	visit.who = part->whos[glance->who - 1];
	visit.place = report->frame_places[glance->at] - 1;
	if (!find_row(&part->rows, visit.who, visit.place, &own))
		return false;
	add_own(amounts_of(part, own, visit.entry), visit.entry, report->looks[glance->at] & LOOK_LEVEL);
	if (!report->children) {
		glance->at = own;
		return true;
	}
	visit.stack = pd_profile_stack(report->profile, visit.entry->stack);
	note_depth(part, own, &visit, WHOLE_CHAIN);
	return each_caller(part, &visit, add_caller);
}

static void expect_entry_row(const struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct glance *glance = &building->glances[index - building->begin];

	if (glance->who)
		expect_row(&part->rows, part->whos[glance->who - 1], building->report->frame_places[glance->at] - 1);
}

static void add_part(void *self, size_t number)
{
	struct building *building = self;
	struct building_part *part = &building->parts[number];
	size_t end = part_entry(building, number + 1);

	if (building->report->children) {
		part->seen = calloc(building->report->places.count + 1, sizeof(*part->seen));
		part->failed = !part->seen;
	}
	for (size_t i = part_entry(building, number); !part->failed && i < end; i++) {
		if (building->report->children)
			expect_entry(building, i + ENTRIES_AHEAD);
		else if (i + ENTRIES_AHEAD < end)
			expect_entry_row(part, i + ENTRIES_AHEAD);
		if (building->glances[i - building->begin].who)
			part->failed = !add_entry(part, i);
	}
}

/* The rows of all parts become those of the first one. False if there is no memory. */
static bool join_parts(struct building *building)
{
	struct row_set *rows = &building->parts[0].rows;

	for (size_t i = 0; i < building->part_count; i++) {
		struct building_part *part = &building->parts[i];

		if (part->failed)
			return false;
		if (!i)
			continue;
		part->numbers = malloc((part->rows.count + 1) * sizeof(*part->numbers));
		if (!part->numbers || !join_rows(rows, &part->rows, part->numbers))
			return false;
	}
	return true;
}

/* ---- branches ---- */

static bool add_branch(void *self, const struct subject *subject)
{
	struct building_part *part = self;
	uint32_t who, place, row;

	if (!values_find(part->building->report, subject, false, &who) ||
	    !values_find(part->building->report, subject, true, &place) || !find_row(&part->rows, who, place, &row))
		return false;
	add_own(amounts_of(part, row, subject->entry), subject->entry, subject->cpumode);
	return true;
}

/* ---- totals ---- */

static void add_totals(struct report *report, struct table *table, const struct building_part *part)
{
	report->trust.samples += part->trust.samples;
	report->trust.cut += part->trust.cut;
	report->trust.unknown += part->trust.unknown;
	for (size_t i = 0; i < table->event_count; i++) {
		table->totals[i] += part->totals[i];
		table->samples[i] += part->samples[i];
	}
}

/* False if there is no memory. */
static bool sum_totals(const struct building *building)
{
	struct table *table = building->table;

	table->totals = calloc(table->event_count, sizeof(*table->totals));
	table->samples = calloc(table->event_count, sizeof(*table->samples));
	if (!table->totals || !table->samples)
		return false;
	for (size_t i = 0; i < table->event_count && !building->report->relative; i++) {
		const struct pd_profile_total *total =
			pd_profile_total(building->report->profile, table->first_event + i);

		table->totals[i] = total->left_period;
		table->samples[i] = total->left_samples;
	}
	for (size_t i = 0; i < building->part_count; i++)
		add_totals(building->report, table, &building->parts[i]);
	return true;
}

/* ---- all ---- */

/* False if there is no memory. */
static bool add_entries(struct building *building)
{
	building->glances = malloc((building->end - building->begin + 1) * sizeof(*building->glances));
	if (!building->glances)
		return false;
	parts_do(building->part_count, look_at_part, building);
	if (!number_all(building) || !sum_totals(building))
		return false;
	parts_do(building->part_count, add_part, building);
	return join_parts(building);
}

static bool add_branches(struct building *building)
{
	struct building_part *part = &building->parts[0];

	part->building = building;
	part->rows.event_count = building->table->event_count;
	return branches_walk(building->report, building->table, add_branch, part);
}

/* Rows that only others than the wanted made are not there. */
static void drop_empty(struct table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		bool any = false;

		for (size_t k = 0; k < table->event_count; k++)
			any = any || table->rows[i].amounts[k].children_samples ||
			      table->rows[i].amounts[k].children_period;
		if (any)
			table->rows[kept++] = table->rows[i];
	}
	table->row_count = kept;
}

static void take_rows(struct table *table, struct row_set *set)
{
	table->rows = set->rows;
	table->row_count = set->count;
	table->amounts = set->amounts;
	for (size_t i = 0; i < table->row_count; i++)
		table->rows[i].amounts = &table->amounts[i * table->event_count];
	set->rows = NULL;
	set->amounts = NULL;
}

static void part_fini(struct building_part *part)
{
	free(part->who_entries);
	free(part->whos);
	free(part->firsts);
	free(part->totals);
	free(part->samples);
	free(part->rows.rows);
	free(part->rows.amounts);
	free(part->rows.slots);
	free(part->numbers);
	free(part->seen);
	free(part->links);
	free(part->link_counts);
}

static bool build_table(struct report *report, struct table *table)
{
	struct building building = {
		.report = report,
		.table = table,
		.begin = entries_before(report, table->first_event),
		.end = entries_before(report, table->first_event + table->event_count),
		.part_count = 1,
	};
	bool done;

	if (!report->by_branch)
		building.part_count =
			part_count(thread_count(report->threads), building.end - building.begin, WORTH_A_PART);
	building.parts = calloc(building.part_count, sizeof(*building.parts));
	done = building.parts && (report->by_branch ? add_branches(&building) : add_entries(&building));
	if (done) {
		take_rows(table, &building.parts[0].rows);
		done = report->by_branch || report->graph.kind == GRAPH_NONE || rows_link(&building);
	}
	if (done && select_by_place(&report->select))
		drop_empty(table);
	for (size_t i = 0; building.parts && i < building.part_count; i++)
		part_fini(&building.parts[i]);
	free(building.parts);
	free(building.glances);
	return done;
}

/* As perf: what is in no object has the level of what was before it, where a table has it first. */
static void begin_table(struct report *report, const struct table *table)
{
	size_t count = pd_profile_frame_count(report->profile);

	report->first_event = table->first_event;
	if (report->by_branch || table == report->tables)
		return;
	for (size_t i = 0; i < count; i++)
		if (!(report->looks[i] & LOOK_OBJECT))
			report->frame_places[i] = 0;
}

static bool know_frames(struct report *report)
{
	report->frame_places = calloc(pd_profile_frame_count(report->profile) + 1, sizeof(*report->frame_places));
	return report->frame_places && frames_look(report);
}

bool rows_build(struct report *report)
{
	if (!report->by_branch && !know_frames(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++) {
		begin_table(report, &report->tables[i]);
		if (!build_table(report, &report->tables[i]))
			return false;
	}
	if (!keys_rank(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++)
		if (!rows_sort(report, &report->tables[i]))
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
