/* SPDX-License-Identifier: MIT */
/* Which chains belong into the graphs of which rows, in parts of the entries as rows are found. */
#include "profile/entries.h"
#include "report/rows/building.h"

#include <string.h>

static bool add_link(struct building_part *part, uint32_t row, uint32_t entry, uint32_t from)
{
	if (!PD_GROW(part->links, part->link_capacity, part->link_count + 1))
		return false;
	part->links[part->link_count++] = (struct link){ row, entry, from };
	part->link_counts[row]++;
	return true;
}

/* False if there is no memory. */
static bool link_place(struct building_part *part, const struct visit *visit, uint32_t place, uint32_t from,
		       bool counts)
{
	const struct building *building = part->building;
	uint32_t row;

	if (!counts || !building->wanted[place])
		return true;
	row = pd_row_set_find(&building->parts[0].rows, visit->who, place);
	return !building->graphs[row] || add_link(part, row, visit->index, from);
}

/* False if there is no memory. */
static bool link_entry(struct building_part *part, size_t index)
{
	const struct building *building = part->building;
	const struct pd_report *report = building->report;
	const struct entry_state *state = &building->states[index - building->begin];
	struct visit visit = { .index = (uint32_t)index };
	uint32_t row;

	if (!state->who)
		return true;
	if (!report->children) {
		row = part->numbers ? part->numbers[state->at] : state->at;
		return !building->graphs[row] || add_link(part, row, (uint32_t)index, WHOLE_CHAIN);
	}
	visit.who = part->whos[state->who - 1];
	visit.place = report->scratch.places[state->at] - 1;
	visit.stack = report_stack(report, pd_profile_entry_stack(report->profile, index));
	return link_place(part, &visit, visit.place, WHOLE_CHAIN, true) && pd_each_caller(part, &visit, link_place);
}

/* The graph of a group is that of its leader, whose entries come first. */
static void find_links(void *self, size_t number)
{
	struct building *building = self;
	struct building_part *part = &building->parts[number];
	size_t end = pd_part_entry(building, number + 1);

	part->link_counts = pd_alloc((building->table->head.row_count + 1) * sizeof(*part->link_counts));
	part->failed = !part->link_counts;
	for (size_t i = pd_part_entry(building, number); !part->failed && i < end; i++) {
		if (pd_profile_entry_event(building->report->profile, i) != building->table->head.first_event)
			break;
		if (building->report->children)
			pd_entry_prefetch(building, i + ENTRIES_AHEAD);
		part->failed = !link_entry(part, i);
	}
}

static void put_links(void *self, size_t number)
{
	struct building *building = self;
	struct building_part *part = &building->parts[number];
	struct link *links = building->table->links;

	for (size_t i = 0; i < part->link_count; i++)
		links[part->link_counts[part->links[i].row]++] = part->links[i];
}

/* Where the links of rows begin, and those that each part found for them. False if there is no memory. */
static bool place_links(struct building *building)
{
	struct table *table = building->table;
	size_t at = 0;

	for (size_t i = 0; i < table->head.row_count; i++) {
		if (!building->graphs[i])
			continue;
		table->rows[i].first_link = at;
		for (size_t k = 0; k < building->part_count; k++) {
			size_t count = building->parts[k].link_counts[i];

			building->parts[k].link_counts[i] = at;
			at += count;
		}
		table->rows[i].link_count = (uint32_t)(at - table->rows[i].first_link);
	}
	table->links = pd_alloc((at + 1) * sizeof(*table->links));
	return table->links;
}

/* Whether a row is shown with a graph, which may have nothing in it that is large enough. */
static bool needs_graph(const struct pd_report *report, const struct table *table, const struct row *row)
{
	return !pd_row_is_small(report, table, row) && (report->graph.kind == PD_REPORT_GRAPH_FRACTAL ||
							pd_row_weight(report, row) >= pd_graph_least(report, table));
}

/* False if there is no memory. */
static bool find_graphs(struct building *building)
{
	const struct table *table = building->table;

	building->graphs = pd_alloc(table->head.row_count + 1);
	building->wanted = pd_alloc(building->report->places.count + 1);
	if (!building->graphs || !building->wanted)
		return false;
	for (size_t i = 0; i < table->head.row_count; i++)
		if (needs_graph(building->report, table, &table->rows[i]))
			building->graphs[i] = building->wanted[table->rows[i].place] = 1;
	return true;
}

bool pd_rows_link(struct building *building)
{
	bool done = find_graphs(building);

	if (done)
		pd_in_parts(building->part_count, find_links, building);
	for (size_t i = 0; i < building->part_count; i++)
		done = done && !building->parts[i].failed;
	done = done && place_links(building);
	if (done)
		pd_in_parts(building->part_count, put_links, building);
	pd_free(building->graphs);
	pd_free(building->wanted);
	return done;
}
