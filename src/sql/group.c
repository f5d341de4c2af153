/* SPDX-License-Identifier: MIT */
#include "sql/group.h"

#include <stdlib.h>

#include "base/error.h"

struct group {
	size_t first; // row
	size_t count;
};

struct pd_sql_groups {
	const struct pd_scan *scan;
	const size_t *by; // places in scan->columns
	size_t by_count;
	size_t width; // cells of a row
	uint64_t *cells;
	uint8_t *valid; // by cell
	size_t cell_capacity, valid_capacity;
	uint32_t *group_of; // by row
	size_t row_count, row_capacity;
	struct group *groups;
	size_t count, capacity;
	struct pd_index index;
	uint32_t *order; // rows, group by group
	size_t at;       // in order, one more than the present one
};

static uint64_t hash_row(const struct pd_sql_groups *groups, size_t row)
{
	uint64_t hash = groups->scan->set->strings.seed;

	for (size_t i = 0; i < groups->by_count; i++) {
		size_t cell = row * groups->width + groups->by[i];

		hash = pd_hash_u64(hash + groups->valid[cell] + 1, groups->cells[cell]);
	}
	return hash;
}

static bool is_same(const struct pd_sql_groups *groups, size_t a, size_t b)
{
	for (size_t i = 0; i < groups->by_count; i++) {
		size_t x = a * groups->width + groups->by[i], y = b * groups->width + groups->by[i];

		if (groups->cells[x] != groups->cells[y] || groups->valid[x] != groups->valid[y])
			return false;
	}
	return true;
}

static bool find_group(struct pd_sql_groups *groups, size_t row, uint32_t *group_out)
{
	uint64_t hash = hash_row(groups, row);
	size_t at = (uint32_t)hash;

	while ((*group_out = pd_index_next(&groups->index, hash, &at)) != PD_INDEX_END)
		if (is_same(groups, groups->groups[*group_out].first, row))
			return true;
	*group_out = (uint32_t)groups->count;
	if (groups->count >= PD_INDEX_END || !PD_GROW(groups->groups, groups->capacity, groups->count + 1) ||
	    !pd_index_add(&groups->index, hash, *group_out))
		return false;
	groups->groups[groups->count++] = (struct group){ row, 0 };
	return true;
}

static uint64_t number_of(const struct pd_column_buffer *buffer, size_t row)
{
	uint32_t half;

	if (pd_column_is_wide(buffer->type))
		return ((const uint64_t *)buffer->items)[row];
	half = ((const uint32_t *)buffer->items)[row];
	return buffer->type == PD_COLUMN_S32 ? (uint64_t)(int32_t)half : half;
}

static bool take_row(struct pd_sql_groups *groups, const struct pd_columns *batch, size_t row)
{
	size_t begin = groups->row_count * groups->width;

	if (!PD_GROW(groups->cells, groups->cell_capacity, begin + groups->width) ||
	    !PD_GROW(groups->valid, groups->valid_capacity, begin + groups->width) ||
	    !PD_GROW(groups->group_of, groups->row_capacity, groups->row_count + 1) || groups->row_count >= UINT32_MAX)
		return false;
	for (size_t i = 0; i < groups->width; i++) {
		const struct pd_column_buffer *buffer = &batch->columns[groups->scan->columns[i]];

		groups->valid[begin + i] = buffer->valid[row];
		groups->cells[begin + i] = buffer->valid[row] ? number_of(buffer, row) : 0;
	}
	if (!find_group(groups, groups->row_count, &groups->group_of[groups->row_count]))
		return false;
	groups->groups[groups->group_of[groups->row_count++]].count++;
	return true;
}

// ---- order ----

// Names by their bytes, numbers signed, as SQL has them.
static int compare_cells(const struct pd_sql_groups *groups, size_t place, uint64_t a, uint64_t b)
{
	const struct pd_tables *tables = &groups->scan->set->strings;

	if (groups->scan->table->table.columns[groups->scan->columns[place]].type == PD_COLUMN_NAME)
		return strcmp(pd_tables_text_of(tables, (uint32_t)a), pd_tables_text_of(tables, (uint32_t)b));
	return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
}

static int compare_groups(const void *one, const void *other, void *self)
{
	const struct pd_sql_groups *groups = self;
	size_t a = groups->groups[*(const uint32_t *)one].first, b = groups->groups[*(const uint32_t *)other].first;

	for (size_t i = 0; i < groups->by_count; i++) {
		size_t x = a * groups->width + groups->by[i], y = b * groups->width + groups->by[i];
		int difference = groups->valid[x] - groups->valid[y];

		if (!difference && groups->valid[x])
			difference = compare_cells(groups, groups->by[i], groups->cells[x], groups->cells[y]);
		if (difference)
			return difference;
	}
	return a < b ? -1 : a > b;
}

// Rows of a group stay in the order in which they were read.
static bool order_rows(struct pd_sql_groups *groups)
{
	uint32_t *sorted = pd_alloc((groups->count + 1) * sizeof(*sorted));
	size_t *next = pd_alloc((groups->count + 1) * sizeof(*next)), at = 0;

	groups->order = pd_alloc((groups->row_count + 1) * sizeof(*groups->order));
	if (sorted && next && groups->order) {
		for (size_t i = 0; i < groups->count; i++)
			sorted[i] = (uint32_t)i;
		qsort_r(sorted, groups->count, sizeof(*sorted), compare_groups, groups);
		for (size_t i = 0; i < groups->count; i++) {
			next[sorted[i]] = at;
			at += groups->groups[sorted[i]].count;
		}
		for (size_t i = 0; i < groups->row_count; i++)
			groups->order[next[groups->group_of[i]]++] = (uint32_t)i;
	}
	pd_free(sorted);
	pd_free(next);
	return sorted && next && groups->order;
}

// ---- reading ----

static enum pd_status read_rows(struct pd_sql_groups *groups, struct pd_scan *scan, struct pd_error *error)
{
	const struct pd_columns *batch;
	enum pd_status status;

	while ((status = pd_scan_next(scan, &batch, error)) == PD_OK)
		for (size_t row = 0; row < batch->rows; row++)
			if (!take_row(groups, batch, row))
				return pd_fail_memory(error);
	if (status == PD_END && !order_rows(groups))
		return pd_fail_memory(error);
	return status < 0 ? status : PD_OK;
}

static size_t place_of(const struct pd_scan *scan, size_t column)
{
	size_t place = 0;

	while (place < scan->column_count && scan->columns[place] != column)
		place++;
	return place;
}

enum pd_status pd_sql_groups_read(struct pd_scan *scan, const size_t *columns, size_t count,
				  struct pd_sql_groups **groups_out, struct pd_error *error)
{
	struct pd_sql_groups *groups = pd_alloc(sizeof(*groups));
	size_t *by = pd_alloc((count + 1) * sizeof(*by));
	enum pd_status status = PD_ERROR_MEMORY;

	if (groups && by) {
		groups->scan = scan;
		groups->by = by;
		groups->by_count = count;
		groups->width = scan->column_count;
		for (size_t i = 0; i < count; i++)
			by[i] = place_of(scan, columns[i]);
		status = read_rows(groups, scan, error);
		if (status >= 0) {
			*groups_out = groups;
			return PD_OK;
		}
		pd_sql_groups_free(groups);
		return status;
	}
	pd_free(groups);
	pd_free(by);
	return pd_fail_memory(error);
}

void pd_sql_groups_free(struct pd_sql_groups *groups)
{
	if (!groups)
		return;
	pd_free((void *)groups->by);
	pd_free(groups->cells);
	pd_free(groups->valid);
	pd_free(groups->group_of);
	pd_free(groups->groups);
	pd_index_fini(&groups->index);
	pd_free(groups->order);
	pd_free(groups);
}

bool pd_sql_groups_next(struct pd_sql_groups *groups)
{
	return groups->at++ < groups->row_count;
}

bool pd_sql_groups_cell(const struct pd_sql_groups *groups, size_t column, uint64_t *value_out)
{
	size_t place = place_of(groups->scan, column), cell = groups->order[groups->at - 1] * groups->width + place;

	if (place == groups->width || !groups->valid[cell])
		return false;
	*value_out = groups->cells[cell];
	return true;
}
