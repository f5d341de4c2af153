/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to the rows of tables. A row is found by the values of all keys; with
 * --children every function of a call chain gets a row too, once for each sample.
 */
#include "report/rows/building.h"

#include <string.h>

enum {
	WORTH_A_PART = 1 << 12, /* entries; for less a thread costs more */
	FRAMES_AHEAD = 16,      /* that are on their way from memory */
};

/* ---- entries ---- */

static size_t hash_entry(const struct pd_profile_entry *entry)
{
	uint64_t hash = (uintptr_t)entry->comm ^ entry->slice_ns ^ entry->cgroup ^ entry->weight << 32;

	hash ^= (uint64_t)entry->parallelism << 24 ^ (uint64_t)entry->tid << 32 ^ (uint64_t)entry->pid << 16 ^
		entry->cpu ^ (uintptr_t)entry->raw.data;
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(hash >> 32);
}

static bool same_entry(const struct pd_profile_entry *a, const struct pd_profile_entry *b)
{
	return a->comm == b->comm && a->tid == b->tid && a->pid == b->pid && a->cpu == b->cpu && a->event == b->event &&
	       a->slice_ns == b->slice_ns && a->cgroup == b->cgroup && a->weight == b->weight &&
	       a->parallelism == b->parallelism && a->raw.data == b->raw.data && a->raw.size == b->raw.size;
}

/* ---- the first pass: who and where ---- */

/* Whether a sample is shown. Others may count in the totals. */
static bool is_shown(const struct pd_report *report, const struct pd_profile_entry *entry, uint8_t flags)
{
	unsigned level = flags & FRAME_LEVEL;

	if (report->options.only_parents && !pd_parent_of(report, entry))
		return false;
	return level != PD_CPUMODE_GUEST_KERNEL && level != PD_CPUMODE_GUEST_USER && (flags & FRAME_REQUESTED);
}

/* False if there is no memory. */
static bool find_who(struct building_part *part, const struct pd_profile_entry *entry, uint32_t *who_out)
{
	struct known_who *known = &part->known[hash_entry(entry) % KNOWN_WHOS];
	const struct pd_function *parent = pd_parent_of(part->building->report, entry);

	if (!known->is_known || known->parent != parent || !same_entry(&known->entry, entry)) {
		if (!PD_GROW(part->who_entries, part->who_capacity, part->who_count + 1))
			return false;
		*known = (struct known_who){ *entry, true, parent, (uint32_t)part->who_count };
		part->who_entries[part->who_count++] = *entry;
	}
	*who_out = known->who;
	return true;
}

/* False if there is no memory. */
static bool note_frame(struct building_part *part, uint32_t frame, unsigned cpumode)
{
	if (part->flags[frame] & FRAME_VISITED)
		return true;
	part->flags[frame] |= FRAME_VISITED;
	if (!PD_GROW(part->firsts, part->first_capacity, part->first_count + 1))
		return false;
	part->firsts[part->first_count++] = (struct first_frame){ frame, cpumode };
	return true;
}

/* As perf: a place in no object has the level of the one before it. */
static bool note_callers(struct building_part *part, const struct pd_stack *stack)
{
	const struct pd_report *report = part->building->report;
	size_t count = stack->caller_count, first = pd_first_caller(report, count);
	unsigned level = part->flags[stack->ip] & FRAME_LEVEL;

	for (size_t i = first; i < count; i++) {
		uint32_t frame = stack->callers[pd_caller_at(report, count, first, i)];

		if (frame == report->scratch.merged)
			continue;
		if (part->flags[frame] & FRAME_OBJECT)
			level = part->flags[frame] & FRAME_LEVEL;
		if (!note_frame(part, frame, level))
			return false;
	}
	return true;
}

static void add_total(struct building_part *part, const struct pd_profile_entry *entry, uint8_t flags)
{
	const struct building *building = part->building;
	size_t event = entry->event->index - building->table->head.first_event;

	if (is_unresolved(building->report, flags) ||
	    (building->report->options.relative && !is_shown(building->report, entry, flags)))
		return;
	part->totals[event] += entry->period;
	part->latencies[event] += entry_latency(entry);
	part->samples[event] += entry->samples;
}

static bool state_entry(struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct pd_report *report = building->report;
	struct entry_state *state = &building->states[index - building->begin];
	const struct pd_stack *stack;
	struct pd_profile_entry entry;
	uint8_t flags;
	uint32_t who;

	pd_profile_entry(report->profile, index, &entry);
	stack = report_stack(report, entry.stack);
	flags = report->scratch.flags[stack->ip];
	*state = (struct entry_state){ 0, stack->ip };
	add_total(part, &entry, flags);
	pd_quality_add(&part->quality, &entry, stack, flags & FRAME_FUNCTION);
	if (!is_shown(report, &entry, flags) || is_unresolved(report, flags))
		return true;
	if (!find_who(part, &entry, &who) || !note_frame(part, stack->ip, flags & FRAME_LEVEL))
		return false;
	state->who = who + 1;
	return !report->children || note_callers(part, stack);
}

static void collect_part(void *self, size_t number)
{
	struct building *building = self;
	struct building_part *part = &building->parts[number];
	size_t frames = pd_profile_frame_count(building->report->profile), events = building->table->head.event_count;
	size_t end = pd_part_entry(building, number + 1);

	part->building = building;
	part->rows.event_count = events;
	part->totals = pd_alloc(events * sizeof(*part->totals));
	part->samples = pd_alloc(events * sizeof(*part->samples));
	part->latencies = pd_alloc(events * sizeof(*part->latencies));
	part->flags = pd_alloc(frames + 1);
	part->failed = !part->totals || !part->samples || !part->latencies || !part->flags;
	if (!part->failed)
		memcpy(part->flags, building->report->scratch.flags, frames);
	for (size_t i = pd_part_entry(building, number); !part->failed && i < end; i++) {
		pd_entry_prefetch(building, i + ENTRIES_AHEAD);
		part->failed = !state_entry(part, i);
	}
	pd_free(part->flags);
	part->flags = NULL;
}

/* ---- numbers for what was seen ---- */

static bool number_whos(struct building_part *part)
{
	struct pd_report *report = part->building->report;

	part->whos = pd_alloc((part->who_count + 1) * sizeof(*part->whos));
	for (size_t i = 0; part->whos && i < part->who_count; i++) {
		struct key_context context = { .entry = &part->who_entries[i] };

		if (!pd_values_find(report, &context, false, &part->whos[i]))
			return false;
	}
	return part->whos;
}

static void prefetch_frame(const struct pd_report *report, uint32_t frame)
{
	__builtin_prefetch(&report->scratch.places[report->scratch.clones[frame]]);
	__builtin_prefetch(pd_profile_frame(report->profile, frame));
}

/* False if there is no memory. */
static bool number_frame(const struct building *building, const struct first_frame *first)
{
	struct pd_report *report = building->report;
	struct key_context context = { .frame = first->frame, .cpumode = first->cpumode };
	uint32_t *place = &report->scratch.places[first->frame], clone = report->scratch.clones[first->frame], number;
	bool shared = building->of_function &&
		      (report->scratch.flags[first->frame] & report->scratch.flags[clone] & FRAME_OWN_OBJECT);

	if (!*place && shared)
		*place = report->scratch.places[clone];
	if (*place)
		return true;
	if (!pd_values_find(report, &context, true, &number))
		return false;
	*place = number + 1;
	if (shared)
		report->scratch.places[clone] = number + 1;
	return true;
}

static bool number_frames(struct building_part *part)
{
	const struct pd_report *report = part->building->report;

	for (size_t i = 0; i < part->first_count; i++) {
		if (i + FRAMES_AHEAD < part->first_count)
			prefetch_frame(report, part->firsts[i + FRAMES_AHEAD].frame);
		if (report->scratch.merged != NO_FRAME &&
		    !pd_rare_number(part->building,
				    pd_profile_frame(report->profile, part->firsts[i].frame)->when.order))
			return false;
		if (!number_frame(part->building, &part->firsts[i]))
			return false;
	}
	return true;
}

/* Most frames that were seen have values of their own. False if there is no memory. */
static bool reserve_values(struct building *building)
{
	struct pd_report *report = building->report;
	size_t rare = pd_rare_count_all(report), count = report->places.count + rare;

	building->rare_places = pd_realloc(NULL, (rare + 1) * sizeof(*building->rare_places));
	if (!building->rare_places)
		return false;
	for (size_t i = 0; i < building->part_count; i++)
		count += building->parts[i].first_count;
	for (size_t i = 0; i < report->key_count; i++)
		if (report->keys[i]->of_function && !pd_value_reserve(&report->values[i], count, rare))
			return false;
	return pd_value_sets_reserve(&report->places, report->key_count, count);
}

/* In the order of the parts, so that everything has the number of where it comes first. */
static bool number_all(struct building *building)
{
	struct pd_report *report = building->report;

	if (!reserve_values(building))
		return false;
	building->of_function = true;
	for (size_t i = 0; i < report->key_count; i++)
		building->of_function &= !report->keys[i]->of_frame || report->keys[i]->of_function;
	for (size_t i = 0; i < building->part_count; i++)
		if (building->parts[i].failed || !number_whos(&building->parts[i]) ||
		    !number_frames(&building->parts[i]))
			return false;
	return pd_rare_number(building, UINT64_MAX);
}

/* ---- the second pass: rows ---- */

static void add_own(struct pd_report_amounts *amounts, const struct pd_profile_entry *entry, unsigned cpumode)
{
	amounts->children_period += entry->period;
	amounts->children_samples += entry->samples;
	amounts->children_latency += entry_latency(entry);
	amounts->latency += entry_latency(entry);
	amounts->period += entry->period;
	amounts->samples += entry->samples;
	if (cpumode == PD_CPUMODE_KERNEL)
		amounts->kernel_period += entry->period;
	else if (cpumode == PD_CPUMODE_USER)
		amounts->user_period += entry->period;
}

static struct pd_report_amounts *amounts_of(const struct building_part *part, uint32_t row,
					    const struct pd_profile_entry *entry)
{
	size_t event = entry->event->index - part->building->table->head.first_event;

	return &part->rows.amounts[row * part->rows.event_count + event];
}

/* How long the chains of a row are: from its function on, or all of a chain that begins there. */
static void note_depth(struct building_part *part, uint32_t row, const struct visit *visit, uint32_t from)
{
	const struct pd_report *report = part->building->report;
	size_t count = visit->stack->caller_count, first = pd_first_caller(report, count), depth = count - first;

	if (report->graph.kind == PD_REPORT_GRAPH_NONE ||
	    visit->entry->event->index != part->building->table->head.first_event)
		return;
	if (from != WHOLE_CHAIN)
		depth = report->graph.caller ? from + 1 - first : count - from;
	if (depth > part->rows.rows[row].depth)
		part->rows.rows[row].depth = (uint32_t)depth;
}

static bool add_caller(struct building_part *part, const struct visit *visit, uint32_t place, uint32_t from,
		       bool counts)
{
	struct pd_report_amounts *amounts;
	uint32_t row;

	if (!pd_row_set_add(&part->rows, visit->who, place, &row))
		return false;
	if (!counts)
		return true;
	amounts = amounts_of(part, row, visit->entry);
	amounts->children_period += visit->entry->period;
	amounts->children_samples += visit->entry->samples;
	amounts->children_latency += entry_latency(visit->entry);
	note_depth(part, row, visit, from);
	return true;
}

/* False if there is no memory. */
static bool add_entry(struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct pd_report *report = building->report;
	struct entry_state *state = &building->states[index - building->begin];
	struct pd_profile_entry entry;
	struct visit visit = { .entry = &entry, .index = (uint32_t)index };
	uint32_t own;

	pd_profile_entry(report->profile, index, &entry);
	visit.who = part->whos[state->who - 1];
	visit.place = report->scratch.places[state->at] - 1;
	if (!pd_row_set_add(&part->rows, visit.who, visit.place, &own))
		return false;
	add_own(amounts_of(part, own, visit.entry), visit.entry, report->scratch.flags[state->at] & FRAME_LEVEL);
	if (!report->children) {
		state->at = own;
		return true;
	}
	visit.stack = report_stack(report, visit.entry->stack);
	note_depth(part, own, &visit, WHOLE_CHAIN);
	return pd_each_caller(part, &visit, add_caller);
}

static void prefetch_entry_row(const struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct entry_state *state = &building->states[index - building->begin];

	if (state->who)
		pd_row_set_prefetch(&part->rows, part->whos[state->who - 1],
				    building->report->scratch.places[state->at] - 1);
}

static void add_part(void *self, size_t number)
{
	struct building *building = self;
	struct building_part *part = &building->parts[number];
	size_t end = pd_part_entry(building, number + 1);

	/* Most places have one row. Groups have more amounts than that is worth. */
	if (part->rows.event_count == 1)
		part->failed = !pd_row_set_reserve(&part->rows, building->report->places.count * 9 / 8 + 1);
	if (building->report->children) {
		part->last_sample = pd_alloc((building->report->places.count + 1) * sizeof(*part->last_sample));
		part->failed |= !part->last_sample;
	}
	for (size_t i = pd_part_entry(building, number); !part->failed && i < end; i++) {
		if (building->report->children)
			pd_entry_prefetch(building, i + ENTRIES_AHEAD);
		else if (i + ENTRIES_AHEAD < end)
			prefetch_entry_row(part, i + ENTRIES_AHEAD);
		if (building->states[i - building->begin].who)
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
		part->numbers = pd_alloc((part->rows.count + 1) * sizeof(*part->numbers));
		if (!part->numbers || !pd_row_set_join(rows, &part->rows, part->numbers))
			return false;
	}
	return true;
}

/* ---- branches ---- */

static bool add_branch(void *self, const struct key_context *context)
{
	struct building_part *part = self;
	uint32_t who, place, row;

	if (!pd_values_find(part->building->report, context, false, &who) ||
	    !pd_values_find(part->building->report, context, true, &place) ||
	    !pd_row_set_add(&part->rows, who, place, &row))
		return false;
	add_own(amounts_of(part, row, context->entry), context->entry, context->cpumode);
	return true;
}

/* ---- totals ---- */

static void add_totals(struct pd_report *report, struct table *table, const struct building_part *part)
{
	report->quality.samples += part->quality.samples;
	report->quality.cut_stacks += part->quality.cut_stacks;
	report->quality.unresolved += part->quality.unresolved;
	for (size_t i = 0; i < table->head.event_count; i++) {
		table->totals[i] += part->totals[i];
		table->samples[i] += part->samples[i];
		table->latencies[i] += part->latencies[i];
	}
}

/* False if there is no memory. */
static bool sum_totals(const struct building *building)
{
	struct table *table = building->table;

	if (!pd_table_begin_totals(table))
		return false;
	for (size_t i = 0; i < table->head.event_count && !building->report->options.relative; i++) {
		const struct pd_profile_total *total =
			pd_profile_total(building->report->profile, table->head.first_event + i);

		table->totals[i] = total->left_period;
		table->samples[i] = total->left_samples;
		table->latencies[i] = total->left_latency;
	}
	for (size_t i = 0; i < building->part_count; i++)
		add_totals(building->report, table, &building->parts[i]);
	return true;
}

/* ---- all ---- */

/* False if there is no memory. */
static bool add_entries(struct building *building)
{
	building->states = pd_alloc((building->end - building->begin + 1) * sizeof(*building->states));
	if (!building->states)
		return false;
	pd_in_parts(building->part_count, collect_part, building);
	if (!number_all(building) || !sum_totals(building))
		return false;
	pd_in_parts(building->part_count, add_part, building);
	return join_parts(building) && pd_rare_rows(building);
}

static bool add_branches(struct building *building)
{
	struct building_part *part = &building->parts[0];

	part->building = building;
	part->rows.event_count = building->table->head.event_count;
	return pd_branches_read(building->report, building->table, add_branch, part);
}

/* Rows that only others than the wanted made are not there. */
static bool is_empty(const struct table *table, const struct row *row)
{
	bool any = false;

	for (size_t k = 0; k < table->head.event_count; k++)
		any = any || row->amounts[k].children_samples || row->amounts[k].children_period;
	return !any;
}

/* Values of functions have their names, as long as there are no levels in front of them. */
static bool is_called(const struct pd_report *report, const struct row *row)
{
	uint32_t value = row_value(report, row, report->symbol_key);
	const struct value *called = &report->values[report->symbol_key].items[value];

	return !called->is_addr && strstr(called->text, report->options.symbol_part);
}

/* As perf, which has the samples of all rows nevertheless. */
static void sum_kept_rows(struct table *table)
{
	for (size_t k = 0; k < table->head.event_count; k++) {
		table->totals[k] = 0;
		table->latencies[k] = 0;
		for (size_t i = 0; i < table->head.row_count; i++) {
			table->totals[k] += table->rows[i].amounts[k].period;
			table->latencies[k] += table->rows[i].amounts[k].latency;
		}
	}
}

static void drop_rows(const struct pd_report *report, struct table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->head.row_count; i++) {
		const struct row *row = &table->rows[i];

		if ((report->options.has_place && is_empty(table, row)) ||
		    (report->options.symbol_part && !is_called(report, row)))
			continue;
		table->rows[kept++] = *row;
	}
	table->head.row_count = kept;
	if (report->options.symbol_part && report->options.relative)
		sum_kept_rows(table);
}

static void take_rows(struct table *table, struct row_set *set)
{
	table->rows = set->rows;
	table->head.row_count = set->count;
	table->amounts = set->amounts;
	for (size_t i = 0; i < table->head.row_count; i++)
		table->rows[i].amounts = &table->amounts[i * table->head.event_count];
	set->rows = NULL;
	set->amounts = NULL;
}

static void part_fini(struct building_part *part)
{
	pd_free(part->who_entries);
	pd_free(part->whos);
	pd_free(part->firsts);
	pd_free(part->totals);
	pd_free(part->samples);
	pd_free(part->latencies);
	pd_row_set_fini(&part->rows);
	pd_free(part->numbers);
	pd_free(part->last_sample);
	pd_free(part->links);
	pd_free(part->link_counts);
}

static bool build_table(struct pd_report *report, struct table *table)
{
	struct building building = {
		.report = report,
		.table = table,
		.begin = pd_entries_before(report, table->head.first_event),
		.end = pd_entries_before(report, table->head.first_event + table->head.event_count),
		.part_count = 1,
	};
	bool done;

	if (!report->by_branch)
		building.part_count =
			pd_part_count(report->options.threads, building.end - building.begin, WORTH_A_PART);
	building.parts = pd_alloc(building.part_count * sizeof(*building.parts));
	done = building.parts && (report->by_branch ? add_branches(&building) : add_entries(&building));
	if (done) {
		take_rows(table, &building.parts[0].rows);
		done = (!report->percentiles || report->by_branch || pd_rows_percentiles(&building)) &&
		       (!report->accesses || report->by_branch || pd_rows_accesses(&building));
	}
	if (done) {
		done = report->by_branch || report->graph.kind == PD_REPORT_GRAPH_NONE || pd_rows_link(&building);
	}
	if (done)
		drop_rows(report, table);
	for (size_t i = 0; building.parts && i < building.part_count; i++)
		part_fini(&building.parts[i]);
	pd_free(building.parts);
	pd_free(building.states);
	pd_free(building.rare_places);
	return done;
}

/* As perf: what is in no object has the level of what was before it, where a table has it first. */
static void begin_table(struct pd_report *report, const struct table *table)
{
	size_t count = pd_profile_frame_count(report->profile);

	report->scratch.first_event = table->head.first_event;
	if (report->by_branch || table == report->tables)
		return;
	for (size_t i = 0; i < count; i++)
		if (!(report->scratch.flags[i] & FRAME_OBJECT))
			report->scratch.places[i] = 0;
}

/* What stands for many is behind all others. */
static uint32_t merged_frame(const struct pd_profile *profile)
{
	size_t count = pd_profile_frame_count(profile);

	return count && pd_profile_frame(profile, (uint32_t)count - 1)->merged ? (uint32_t)count - 1 : NO_FRAME;
}

static bool know_frames(struct pd_report *report)
{
	report->scratch.merged = merged_frame(report->profile);
	report->scratch.places =
		pd_alloc((pd_profile_frame_count(report->profile) + 1) * sizeof(*report->scratch.places));
	return report->scratch.places && pd_frames_classify(report) && pd_parents_find(report);
}

bool pd_rows_build(struct pd_report *report)
{
	if (!report->by_branch && !know_frames(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++) {
		begin_table(report, &report->tables[i]);
		if (!build_table(report, &report->tables[i]))
			return false;
		report->tables[i].head.totals = report->tables[i].totals;
		report->tables[i].head.samples = report->tables[i].samples;
		report->tables[i].head.latencies = report->by_latency ? report->tables[i].latencies : NULL;
	}
	if (!pd_values_rank(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++)
		if (!pd_rows_sort(report, &report->tables[i]))
			return false;
	return true;
}
