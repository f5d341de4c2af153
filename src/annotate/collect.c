/* SPDX-License-Identifier: MIT */
/* From the entries of a profile to samples by function and address, and to tables of functions by event. */
#include <string.h>

#include "annotate/inside.h"
#include "base/sort.h"

struct adding {
	struct pd_annotate *annotate;
	struct pd_sorted *order; // of hits: by function, address and event
	uint32_t *owners;        // by hit: its function
	size_t capacity;
};

// ---- hits ----

// The number of a function, or UINT32_MAX without memory.
static uint32_t number_of(struct pd_annotate *annotate, const struct pd_function *function)
{
	uint64_t known = pd_u64_map_find(&annotate->by_function, (uintptr_t)function);

	if (known)
		return (uint32_t)(known - 1);
	if (!PD_GROW(annotate->functions, annotate->function_capacity, annotate->function_count + 1) ||
	    !pd_u64_map_add(&annotate->by_function, (uintptr_t)function, annotate->function_count + 1))
		return UINT32_MAX;
	annotate->functions[annotate->function_count] = (struct pd_annotate_hits){ .function = function };
	return (uint32_t)annotate->function_count++;
}

// Samples in no function count for what is of all samples, as in perf.
static void add_unknown(struct pd_annotate *annotate, const struct pd_profile_entry *entry,
			const struct pd_place *place)
{
	struct pd_annotate_sum *sum = &annotate->unknown[entry->event->index];

	if (annotate->options.symbol || place->function || (annotate->options.has_place && !place->dso) ||
	    (place->dso && !pd_annotate_is_wanted(annotate, place)))
		return;
	sum->period += entry->period;
	sum->samples += entry->samples;
}

static bool add_entry(struct adding *adding, const struct pd_profile_entry *entry)
{
	struct pd_annotate *annotate = adding->annotate;
	const struct pd_place *place = pd_annotate_place(annotate, entry);
	const struct pd_function *function;
	size_t n = annotate->hit_count;
	uint32_t owner;

	if (!place)
		return true;
	function = place->function ? place->function : pd_annotate_nameless_at(annotate, place);
	if (!function || !pd_annotate_is_wanted(annotate, place)) {
		add_unknown(annotate, entry, place);
		return true;
	}
	owner = number_of(annotate, function);
	if (owner == UINT32_MAX || n >= UINT32_MAX - 1 || !PD_GROW(annotate->hits, annotate->hit_capacity, n + 1) ||
	    !PD_GROW(adding->owners, adding->capacity, n + 1))
		return false;
	annotate->hits[n] = (struct pd_annotate_hit){ .addr = place->addr,
						      .event = (uint32_t)entry->event->index,
						      .sum = { entry->period, entry->samples } };
	adding->owners[n] = owner;
	annotate->hit_count++;
	return true;
}

static int compare_events(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_annotate *annotate = self;
	uint32_t x = annotate->hits[a].event, y = annotate->hits[b].event;

	return (x > y) - (x < y);
}

// Hits of one function stand together, by address and event; equal ones become one.
static bool sort_hits(struct adding *adding)
{
	struct pd_annotate *annotate = adding->annotate;
	size_t count = annotate->hit_count, out = 0;
	struct pd_annotate_hit *sorted = pd_alloc((count + 1) * sizeof(*sorted));
	uint32_t last_owner = UINT32_MAX;

	adding->order = pd_alloc((count + 1) * sizeof(*adding->order));
	for (size_t i = 0; adding->order && i < count; i++)
		adding->order[i] = (struct pd_sorted){ adding->owners[i], annotate->hits[i].addr, (uint32_t)i };
	if (!sorted || !adding->order || !pd_sort(adding->order, count, compare_events, annotate, 1)) {
		pd_free(sorted);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		const struct pd_annotate_hit *hit = &annotate->hits[adding->order[i].number];
		uint32_t owner = (uint32_t)adding->order[i].first;
		struct pd_annotate_hits *function = &annotate->functions[owner];

		if (owner == last_owner && sorted[out - 1].addr == hit->addr && sorted[out - 1].event == hit->event) {
			sorted[out - 1].sum.period += hit->sum.period;
			sorted[out - 1].sum.samples += hit->sum.samples;
			continue;
		}
		if (owner != last_owner)
			function->first = out;
		function->count++;
		last_owner = owner;
		sorted[out++] = *hit;
	}
	pd_free(annotate->hits);
	annotate->hits = sorted;
	annotate->hit_count = annotate->hit_capacity = out;
	return true;
}

bool pd_annotate_collect(struct pd_annotate *annotate)
{
	struct adding adding = { .annotate = annotate };
	struct pd_profile_entry entry;
	bool success = pd_annotate_find_nameless(annotate);

	annotate->unknown = pd_alloc((pd_file_event_count(annotate->file) + 1) * sizeof(*annotate->unknown));
	success = success && annotate->unknown;
	for (size_t i = 0; success && pd_profile_entry(annotate->profile, i, &entry); i++)
		success = add_entry(&adding, &entry);
	success = success && sort_hits(&adding);
	pd_free(adding.order);
	pd_free(adding.owners);
	return success;
}

// ---- tables ----

static const struct pd_group *group_at(const struct pd_annotate *annotate, size_t event)
{
	const struct pd_group_desc *desc = annotate->options.no_groups ? NULL : pd_file_group_desc(annotate->file);
	size_t count = pd_file_event_count(annotate->file);

	for (size_t i = 0; desc && i < desc->groups.count; i++) {
		const struct pd_group *group = PD_ITEM(pd_group, desc->groups, i);

		if (group->leader_index == event && group->nr_members > 1 && group->nr_members <= count - event)
			return group;
	}
	return NULL;
}

static char *name_of(const struct pd_annotate *annotate, const char *group, size_t first, size_t count)
{
	struct pd_text text = { 0 };

	if (group)
		pd_text_printf(&text, "%s { ", group);
	for (size_t i = 0; i < count; i++) {
		pd_text_add(&text, i ? ", " : "");
		pd_text_add(&text, pd_file_event(annotate->file, first + i)->name);
	}
	pd_text_add(&text, group ? " }" : "");
	pd_text_char(&text, 0);
	if (!text.failed)
		return text.data;
	pd_free(text.data);
	return NULL;
}

struct ordering {
	const struct pd_annotate_entry *entries;
};

// As perf: by period, then by the names of object and function.
static int compare_entries(const void *self, uint32_t a, uint32_t b)
{
	const struct ordering *ordering = self;
	const struct pd_function *x = ordering->entries[a].head.function, *y = ordering->entries[b].head.function;
	int result = strcmp(x->dso->name, y->dso->name);

	if (!result)
		result = strcmp(x->name, y->name);
	return result ? result : (x->start > y->start) - (x->start < y->start);
}

static bool sort_entries(struct pd_annotate_part *part, struct pd_annotate_entry *entries, size_t count)
{
	struct pd_sorted *order = pd_alloc((count + 1) * sizeof(*order));
	const struct ordering ordering = { entries };
	bool success = order != NULL;

	// The first event counts, the next one where it is equal.
	for (size_t i = 0; success && i < count; i++)
		order[i] = (struct pd_sorted){ ~entries[i].head.sums[0].period,
					       part->head.event_count > 1 ? ~entries[i].head.sums[1].period : 0,
					       (uint32_t)i };
	success = success && pd_sort(order, count, compare_entries, &ordering, 1);
	for (size_t i = 0; success && i < count; i++)
		part->entries[i] = entries[order[i].number];
	pd_free(order);
	return success;
}

static bool is_large(const struct pd_annotate *annotate, const struct pd_annotate_part *part,
		     const struct pd_annotate_sum *sums)
{
	double least = annotate->options.least_percent;

	for (size_t i = 0; i < part->head.event_count; i++)
		if (sums[i].samples && (double)sums[i].period * 100 >= least * (double)part->totals[i].period)
			return true;
	return false;
}

// Sums of one function by event of the table.
static void add_sums(const struct pd_annotate *annotate, const struct pd_annotate_hits *function,
		     const struct pd_annotate_table *table, struct pd_annotate_sum *sums)
{
	for (size_t i = 0; i < function->count; i++) {
		const struct pd_annotate_hit *hit = &annotate->hits[function->first + i];
		size_t event = hit->event - table->first_event;

		if (hit->event < table->first_event || event >= table->event_count ||
		    hit->addr >= function->function->end + (function->function->end == function->function->start))
			continue;
		sums[event].period += hit->sum.period;
		sums[event].samples += hit->sum.samples;
	}
}

static bool fill_part(struct pd_annotate *annotate, struct pd_annotate_part *part)
{
	size_t events = part->head.event_count, count = 0;
	struct pd_annotate_entry *entries = pd_alloc((annotate->function_count + 1) * sizeof(*entries));
	bool success;

	part->sums = pd_alloc((annotate->function_count * events + 1) * sizeof(*part->sums));
	part->entries = pd_alloc((annotate->function_count + 1) * sizeof(*entries));
	part->totals = pd_alloc(events * sizeof(*part->totals));
	if (!entries || !part->sums || !part->entries || !part->totals) {
		pd_free(entries);
		return false;
	}
	part->head.totals = part->totals;
	memcpy(part->totals, annotate->unknown + part->head.first_event, events * sizeof(*part->totals));
	for (size_t i = 0; i < annotate->function_count; i++) {
		struct pd_annotate_sum *sums = part->sums + i * events;

		add_sums(annotate, &annotate->functions[i], &part->head, sums);
		for (size_t k = 0; k < events; k++) {
			part->totals[k].period += sums[k].period;
			part->totals[k].samples += sums[k].samples;
		}
	}
	for (size_t i = 0; i < annotate->function_count; i++) {
		struct pd_annotate_sum *sums = part->sums + i * events;

		if (is_large(annotate, part, sums))
			entries[count++] = (struct pd_annotate_entry){
				.head = { .function = annotate->functions[i].function, .sums = sums },
				.hits = (uint32_t)i
			};
	}
	success = sort_entries(part, entries, count);
	part->head.function_count = success ? count : 0;
	pd_free(entries);
	return success;
}

static bool add_part(struct pd_annotate *annotate, const char *group, size_t first, size_t count)
{
	struct pd_annotate_part *part = &annotate->parts[annotate->part_count++];

	*part = (struct pd_annotate_part){ .head = { .first_event = first, .event_count = count } };
	part->name = name_of(annotate, group, first, count);
	part->head.name = part->name;
	return part->name && fill_part(annotate, part);
}

// perf record writes a name for groups that have none.
static const char *name_of_group(const struct pd_group *group)
{
	return !group->name.length || strcmp(group->name.data, "{anon_group}") == 0 ? "anon group" : group->name.data;
}

bool pd_annotate_tables(struct pd_annotate *annotate)
{
	size_t count = pd_file_event_count(annotate->file);
	bool success = true;

	annotate->parts = pd_alloc((count + 1) * sizeof(*annotate->parts));
	if (!annotate->parts)
		return false;
	if (annotate->options.all_in_one_table && count > 1 && !group_at(annotate, 0))
		return add_part(annotate, NULL, 0, count);
	for (size_t i = 0; success && i < count;) {
		const struct pd_group *group = group_at(annotate, i);
		size_t members = group ? group->nr_members : 1;

		success = add_part(annotate, group ? name_of_group(group) : NULL, i, members);
		i += members;
	}
	return success;
}
