/* SPDX-License-Identifier: MIT */
/* The columns of a flame graph: functions of its frames, rows of its nodes, and a sample for each sum. */
#include "view/flame.h"

#include <stdio.h>
#include <string.h>

#include "base/lookup/u64_map.h"

// ---- functions ----

static const char *text_of(const struct pd_flame_data *data, uint32_t text)
{
	return data->graph->tree.texts.items[text];
}

static bool is_task(const struct tree_frame *frame)
{
	return frame->kind == FRAME_TASK || frame->kind == FRAME_EVENT;
}

// The number of an object by its text; 0 is none.
static uint32_t object_number(struct pd_flame_data *data, struct pd_u64_map *known, uint32_t text)
{
	uint64_t number = text ? pd_u64_map_find(known, text) : 1;

	if (!number) {
		number = data->object_count + 1;
		data->failed |= !pd_u64_map_add(known, text, number);
		data->objects[data->object_count++] = pd_tables_text(&data->tables, text_of(data, text));
	}
	return (uint32_t)number - 1;
}

static void add_function(struct pd_flame_data *data, const struct tree_frame *frame, uint32_t object)
{
	const char *name = text_of(data, frame->name), *file = text_of(data, frame->dso);

	data->functions[data->function_count++] = (struct pd_flame_function){
		.name = pd_tables_text(&data->tables, name),
		.object = object,
		.kind = pd_page_kind((enum frame_kind)frame->kind, name, file, file),
	};
}

// Frames of one name and object are one function, inlined or not; a task is none of a program.
static void number_functions(struct pd_flame_data *data)
{
	const struct tree *tree = &data->graph->tree;
	struct pd_u64_map known = { .seed = tree->texts.seed }, objects = { .seed = tree->texts.seed };

	data->objects[data->object_count++] = 0;
	for (size_t i = 0; i < tree->frame_count && !data->failed; i++) {
		const struct tree_frame *frame = &tree->frames[i];
		uint64_t key = (uint64_t)(is_task(frame) ? UINT32_MAX : frame->dso) << 32 | frame->name;
		uint64_t number = pd_u64_map_find(&known, key);

		if (!number) {
			add_function(data, frame, object_number(data, &objects, frame->dso));
			number = data->function_count;
			data->failed |= !pd_u64_map_add(&known, key, number);
		}
		data->function_of[i] = (uint32_t)number - 1;
	}
	pd_u64_map_fini(&known);
	pd_u64_map_fini(&objects);
}

typedef uint64_t function_cell_fn(const struct pd_flame_function *function);

static uint64_t function_name(const struct pd_flame_function *function)
{
	return function->name;
}

static uint64_t function_object(const struct pd_flame_function *function)
{
	return function->object;
}

static uint64_t function_kind(const struct pd_flame_function *function)
{
	return function->kind;
}

static void put_functions(struct pd_flame_data *data)
{
	static const struct {
		const char *name;
		enum pd_page_code code;
		function_cell_fn *cell;
	} columns[] = {
		{ "functions.name", PD_PAGE_NUMBERS, function_name },
		{ "functions.object", PD_PAGE_NUMBERS, function_object },
		{ "functions.kind", PD_PAGE_BYTES, function_kind },
	};
	struct pd_page_column column;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		pd_page_begin(&column, &data->blocks, columns[i].name, columns[i].code);
		for (size_t k = 0; k < data->function_count; k++)
			pd_page_put(&column, columns[i].cell(&data->functions[k]));
		pd_page_end(&column);
	}
	pd_page_begin(&column, &data->blocks, "objects.name", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < data->object_count; i++)
		pd_page_put(&column, data->objects[i]);
	pd_page_end(&column);
}

// ---- rows ----

static uint32_t add_row(struct pd_flame_data *data, uint32_t parent, const struct tree_node *node)
{
	const struct pd_page_row row = { parent, data->function_of[node->frame],
					 data->graph->tree.frames[node->frame].kind == FRAME_INLINED };
	uint32_t number = pd_page_row(&data->rows, &row);

	data->failed |= number == UINT32_MAX;
	return number;
}

// In a tree of stacks that begin with the sampled function, the stack of a node is the way up from it.
static void add_upwards(struct pd_flame_data *data, const uint32_t *parents)
{
	const struct tree *tree = &data->graph->tree;

	for (size_t i = 0; i < tree->value_count && !data->failed; i++) {
		uint32_t node = tree->values[i].node, row = UINT32_MAX;

		for (uint32_t at = node; at && !data->failed; at = parents[at])
			row = add_row(data, row, &tree->nodes[at]);
		data->row_of[node] = row;
	}
}

static void number_rows(struct pd_flame_data *data)
{
	const struct tree *tree = &data->graph->tree;
	uint32_t *parents = pd_realloc(NULL, tree->node_count * sizeof(*parents));

	data->failed |= !parents;
	data->row_of[0] = UINT32_MAX;
	for (size_t i = 1; i < tree->node_count && !data->failed; i++) {
		uint32_t parent = (uint32_t)i - 1;

		while (tree->nodes[parent].depth >= tree->nodes[i].depth)
			parent = parents[parent];
		parents[i] = parent;
		if (!data->graph->reverse)
			data->row_of[i] = add_row(data, data->row_of[parent], &tree->nodes[i]);
	}
	if (data->graph->reverse && !data->failed)
		add_upwards(data, parents);
	pd_free(parents);
	data->failed = data->failed || !pd_page_rows_order(&data->rows);
}

// ---- samples ----

static uint32_t place_of(const struct pd_flame_data *data, const struct tree_value *value)
{
	uint32_t row = data->row_of[value->node];

	return row == UINT32_MAX ? 0 : data->rows.rank[row] + 1;
}

// Rows in which something ended are leaves, in their order.
static void put_leaves(struct pd_flame_data *data)
{
	const struct tree *tree = &data->graph->tree;
	struct pd_page_column column;
	uint32_t count = 0;

	for (size_t i = 0; i < tree->value_count; i++)
		data->leaf_of[place_of(data, &tree->values[i])] = 1;
	pd_page_begin(&column, &data->blocks, "leaves.row", PD_PAGE_RISING);
	for (size_t i = 0; i <= data->rows.count; i++) {
		if (!data->leaf_of[i])
			continue;
		pd_page_put(&column, i);
		data->leaf_of[i] = count++;
	}
	pd_page_end(&column);
}

static void order_values(struct pd_flame_data *data)
{
	const struct tree *tree = &data->graph->tree;
	size_t begins[TREE_SLICES_MOST + 1] = { 0 };

	for (size_t i = 0; i < tree->value_count; i++)
		begins[tree->values[i].slice + 1]++;
	for (size_t i = 0; i < TREE_SLICES_MOST; i++)
		begins[i + 1] += begins[i];
	for (size_t i = 0; i < tree->value_count; i++)
		data->order[begins[tree->values[i].slice]++] = (uint32_t)i;
}

static uint64_t within(uint64_t value)
{
	return value < PD_PAGE_NUMBER_MOST ? value : PD_PAGE_NUMBER_MOST;
}

uint64_t pd_flame_tick_ns(const struct flame_graph *graph)
{
	return graph->slice_ns > PD_PAGE_NUMBER_MOST / (TREE_SLICES_MOST + 1) ? 1000 : 1;
}

typedef uint64_t value_cell_fn(const struct pd_flame_data *data, const struct tree_value *value);

// In the middle of the part of time, so that its edges are of no other one.
static uint64_t time_cell(const struct pd_flame_data *data, const struct tree_value *value)
{
	uint64_t length = data->graph->slice_ns / pd_flame_tick_ns(data->graph);

	return within(value->slice * length + length / 2);
}

static uint64_t leaf_cell(const struct pd_flame_data *data, const struct tree_value *value)
{
	return data->leaf_of[place_of(data, value)];
}

static uint64_t weight_cell(const struct pd_flame_data *data, const struct tree_value *value)
{
	(void)data;
	return within(value->value);
}

static uint64_t count_cell(const struct pd_flame_data *data, const struct tree_value *value)
{
	(void)data;
	return within(value->samples);
}

// Only where there are several.
static void order_by_event(struct pd_flame_data *data)
{
	const struct tree *tree = &data->graph->tree;
	size_t events = data->graph->event_count, *begins = data->begins;

	for (size_t i = 0; i < tree->value_count && events > 1; i++)
		begins[tree->values[i].event + 2]++;
	for (size_t i = 2; i < events + 2; i++)
		begins[i] += begins[i - 1];
	for (size_t i = 0; i < tree->value_count && events > 1; i++)
		data->by_event[begins[tree->values[data->order[i]].event + 1]++] = data->order[i];
}

// The values of an event, or of all, by slice.
static const uint32_t *values_of(const struct pd_flame_data *data, size_t event, size_t *count_out)
{
	bool all = event == data->graph->event_count || data->graph->event_count < 2;

	*count_out = all ? data->graph->tree.value_count : data->begins[event + 1] - data->begins[event];
	return all ? data->order : data->by_event + data->begins[event];
}

static void put_samples(struct pd_flame_data *data, size_t event)
{
	static const struct {
		const char *name;
		enum pd_page_code code;
		value_cell_fn *cell;
	} columns[] = {
		{ "time", PD_PAGE_RISING, time_cell },
		{ "leaf", PD_PAGE_STEPS, leaf_cell },
		{ "weight", PD_PAGE_NUMBERS, weight_cell },
		{ "count", PD_PAGE_NUMBERS, count_cell },
	};
	const struct tree *tree = &data->graph->tree;
	size_t count;
	const uint32_t *values = values_of(data, event, &count);

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct pd_page_column column;
		char name[48];

		snprintf(name, sizeof(name), "samples.%zu.%s", event, columns[i].name);
		pd_page_begin(&column, &data->blocks, name, columns[i].code);
		for (size_t k = 0; k < count; k++)
			pd_page_put(&column, columns[i].cell(data, &tree->values[values[k]]));
		pd_page_end(&column);
	}
}

bool pd_flame_has_all(const struct flame_graph *graph)
{
	return graph->event_count > 1 && graph->unit;
}

static uint64_t sum_of(uint64_t sum, uint64_t more)
{
	return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

void pd_flame_sums(const struct pd_flame_data *data, size_t event, uint64_t *samples_out, uint64_t *value_out)
{
	size_t count;
	const uint32_t *values = values_of(data, event, &count);

	*samples_out = *value_out = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tree_value *value = &data->graph->tree.values[values[i]];

		*samples_out = sum_of(*samples_out, value->samples);
		*value_out = sum_of(*value_out, value->value);
	}
}

// ---- all of it ----

// Sums have no thread of their own: the one that is there is unknown.
static void put_tasks(struct pd_flame_data *data)
{
	static const char *const names[] = { "tasks.pid", "tasks.tid", "threads.task" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pd_page_column column;

		pd_page_begin(&column, &data->blocks, names[i], PD_PAGE_NUMBERS);
		pd_page_put(&column, i < 2 ? UINT32_MAX : 0);
		pd_page_end(&column);
	}
}

static bool allocate(struct pd_flame_data *data)
{
	const struct tree *tree = &data->graph->tree;

	data->functions = pd_realloc(NULL, (tree->frame_count + 1) * sizeof(*data->functions));
	data->function_of = pd_realloc(NULL, (tree->frame_count + 1) * sizeof(*data->function_of));
	data->objects = pd_realloc(NULL, (tree->frame_count + 1) * sizeof(*data->objects));
	data->row_of = pd_realloc(NULL, tree->node_count * sizeof(*data->row_of));
	data->order = pd_realloc(NULL, (tree->value_count + 1) * sizeof(*data->order));
	data->by_event = pd_realloc(NULL, (tree->value_count + 1) * sizeof(*data->by_event));
	data->begins = pd_alloc((data->graph->event_count + 2) * sizeof(*data->begins));
	return pd_page_blocks_init(&data->blocks) && data->functions && data->function_of && data->objects &&
	       data->row_of && data->order && data->by_event && data->begins;
}

void pd_flame_put_columns(struct pd_flame_data *data)
{
	size_t events = data->graph->event_count ? data->graph->event_count : 1;

	data->failed |= !allocate(data);
	if (data->failed)
		return;
	number_functions(data);
	if (!data->failed)
		number_rows(data);
	data->leaf_of = pd_alloc((data->rows.count + 1) * sizeof(*data->leaf_of));
	data->failed |= !data->leaf_of;
	if (data->failed)
		return;
	put_functions(data);
	pd_page_put_rows(&data->blocks, &data->rows);
	put_leaves(data);
	order_values(data);
	order_by_event(data);
	for (size_t i = 0; i < events + pd_flame_has_all(data->graph); i++)
		put_samples(data, i);
	put_tasks(data);
}
