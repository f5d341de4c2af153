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
	struct pd_sql_group *by; // places in scan->columns
	size_t by_count;
	size_t width; // cells of a row
	uint64_t *cells;
	uint8_t *valid; // by cell
	size_t cell_capacity, valid_capacity;
	uint32_t *group_of; // by row that is kept
	size_t kept, row_capacity;
	size_t row_count; // of all, of which the first one of each group is kept if nothing else is wanted of them
	bool others;      // more is wanted of rows than what they are grouped by
	struct group *groups;
	size_t count, capacity;
	struct pd_index index;
	bool by_name;      // and by nothing else
	uint32_t *of_name; // by number of the name: group and 1; 0: not met
	size_t name_capacity;
	uint32_t *sorted; // groups
	uint32_t *order;  // rows, group by group; NULL: nothing else is wanted of them
	size_t at;        // in order, one more than the present one
	size_t group;     // in sorted, of the present row
	size_t group_end; // in order
	size_t *places;   // by column of the table, in scan->columns
	bool *is_by;      // by place
};

static uint64_t hash_row(const struct pd_sql_groups *groups, size_t row)
{
	uint64_t hash = groups->scan->set->strings.seed;

	for (size_t i = 0; i < groups->by_count; i++) {
		size_t cell = row * groups->width + groups->by[i].column;

		hash = pd_hash_u64(hash + groups->valid[cell] + 1, groups->cells[cell]);
	}
	return hash;
}

static bool is_same(const struct pd_sql_groups *groups, size_t a, size_t b)
{
	for (size_t i = 0; i < groups->by_count; i++) {
		size_t x = a * groups->width + groups->by[i].column, y = b * groups->width + groups->by[i].column;

		if (groups->cells[x] != groups->cells[y] || groups->valid[x] != groups->valid[y])
			return false;
	}
	return true;
}

static bool find_by_words(struct pd_sql_groups *groups, size_t row, uint32_t *group_out)
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

static bool find_group(struct pd_sql_groups *groups, size_t row, uint32_t *group_out)
{
	size_t cell = row * groups->width + groups->by->column, name = groups->cells[cell],
	       before = groups->name_capacity;

	if (!groups->by_name || !groups->valid[cell])
		return find_by_words(groups, row, group_out);
	if (name >= before) {
		if (!PD_GROW(groups->of_name, groups->name_capacity, name + 1))
			return false;
		memset(groups->of_name + before, 0, (groups->name_capacity - before) * sizeof(*groups->of_name));
	}
	*group_out = groups->of_name[name] - 1;
	if (groups->of_name[name])
		return true;
	if (!find_by_words(groups, row, group_out))
		return false;
	groups->of_name[name] = *group_out + 1;
	return true;
}

// A further row of a name of which nothing else is wanted. False if it is a new one, or none.
static bool count_known(struct pd_sql_groups *groups, const struct pd_column_buffer *buffer, size_t row)
{
	uint32_t name = ((const uint32_t *)buffer->items)[row];

	if (groups->others || !groups->by_name || !buffer->valid[row] || name >= groups->name_capacity ||
	    !groups->of_name[name] || groups->row_count >= UINT32_MAX)
		return false;
	groups->groups[groups->of_name[name] - 1].count++;
	groups->row_count++;
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
	size_t begin = groups->kept * groups->width, count = groups->count;
	uint32_t group;

	if (!PD_GROW(groups->cells, groups->cell_capacity, begin + groups->width) ||
	    !PD_GROW(groups->valid, groups->valid_capacity, begin + groups->width) ||
	    !PD_GROW(groups->group_of, groups->row_capacity, groups->kept + 1) || groups->row_count >= UINT32_MAX)
		return false;
	for (size_t i = 0; i < groups->width; i++) {
		const struct pd_column_buffer *buffer = &batch->columns[groups->scan->columns[i]];

		groups->valid[begin + i] = buffer->valid[row];
		groups->cells[begin + i] = buffer->valid[row] ? number_of(buffer, row) : 0;
	}
	if (!find_group(groups, groups->kept, &group))
		return false;
	groups->group_of[groups->kept] = group;
	groups->kept += groups->others || groups->count > count;
	groups->groups[group].count++;
	groups->row_count++;
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
		size_t x = a * groups->width + groups->by[i].column, y = b * groups->width + groups->by[i].column;
		int difference = groups->valid[x] - groups->valid[y];

		if (!difference && groups->valid[x])
			difference = compare_cells(groups, groups->by[i].column, groups->cells[x], groups->cells[y]);
		if (difference)
			return groups->by[i].descending ? -difference : difference;
	}
	return a < b ? -1 : a > b;
}

static bool sort_groups(struct pd_sql_groups *groups)
{
	groups->sorted = pd_alloc((groups->count + 1) * sizeof(*groups->sorted));
	if (!groups->sorted)
		return false;
	for (size_t i = 0; i < groups->count; i++)
		groups->sorted[i] = (uint32_t)i;
	qsort_r(groups->sorted, groups->count, sizeof(*groups->sorted), compare_groups, groups);
	return true;
}

// Rows of a group stay in the order in which they were read.
static bool order_rows(struct pd_sql_groups *groups)
{
	size_t *next = pd_alloc((groups->count + 1) * sizeof(*next)), at = 0;

	groups->order = pd_alloc((groups->row_count + 1) * sizeof(*groups->order));
	if (next && groups->order) {
		for (size_t i = 0; i < groups->count; i++) {
			next[groups->sorted[i]] = at;
			at += groups->groups[groups->sorted[i]].count;
		}
		for (size_t i = 0; i < groups->row_count; i++)
			groups->order[next[groups->group_of[i]]++] = (uint32_t)i;
	}
	pd_free(next);
	return next && groups->order;
}

// ---- reading ----

static enum pd_status read_rows(struct pd_sql_groups *groups, struct pd_scan *scan, struct pd_error *error)
{
	const struct pd_columns *batch;
	enum pd_status status;

	while ((status = pd_scan_next(scan, &batch, error)) == PD_OK) {
		const struct pd_column_buffer *first = &batch->columns[scan->columns[groups->by->column]];

		for (size_t row = 0; row < batch->rows; row++)
			if (!count_known(groups, first, row) && !take_row(groups, batch, row))
				return pd_fail_memory(error);
	}
	if (status == PD_END && !(sort_groups(groups) && (!groups->others || order_rows(groups))))
		return pd_fail_memory(error);
	return status < 0 ? status : PD_OK;
}

static bool list_places(struct pd_sql_groups *groups, const struct pd_sql_group *columns, size_t count)
{
	const struct pd_scan *scan = groups->scan;
	struct pd_sql_group *by = pd_alloc((count + 1) * sizeof(*by));
	size_t all = scan->table->table.column_count;

	groups->by = by;
	groups->by_count = count;
	groups->width = scan->column_count;
	groups->places = pd_alloc((all + 1) * sizeof(*groups->places));
	groups->is_by = pd_alloc(groups->width + 1);
	if (!by || !groups->places || !groups->is_by)
		return false;
	for (size_t i = 0; i < all; i++)
		groups->places[i] = groups->width;
	for (size_t i = 0; i < groups->width; i++)
		groups->places[scan->columns[i]] = i;
	for (size_t i = 0; i < count; i++) {
		by[i] = (struct pd_sql_group){ groups->places[columns[i].column], columns[i].descending };
		groups->is_by[by[i].column] = true;
	}
	for (size_t i = 0; i < groups->width; i++)
		groups->others |= !groups->is_by[i];
	groups->by_name = count == 1 && scan->table->table.columns[columns->column].type == PD_COLUMN_NAME;
	return true;
}

enum pd_status pd_sql_groups_read(struct pd_scan *scan, const struct pd_sql_group *columns, size_t count,
				  struct pd_sql_groups **groups_out, struct pd_error *error)
{
	struct pd_sql_groups *groups = pd_alloc(sizeof(*groups));
	enum pd_status status;

	if (!groups)
		return pd_fail_memory(error);
	groups->scan = scan;
	status = list_places(groups, columns, count) ? read_rows(groups, scan, error) : pd_fail_memory(error);
	if (status < 0)
		pd_sql_groups_free(groups);
	else
		*groups_out = groups;
	return status;
}

void pd_sql_groups_free(struct pd_sql_groups *groups)
{
	if (!groups)
		return;
	pd_free(groups->by);
	pd_free(groups->places);
	pd_free(groups->is_by);
	pd_free(groups->cells);
	pd_free(groups->valid);
	pd_free(groups->group_of);
	pd_free(groups->groups);
	pd_index_fini(&groups->index);
	pd_free(groups->of_name);
	pd_free(groups->sorted);
	pd_free(groups->order);
	pd_free(groups);
}

bool pd_sql_groups_next(struct pd_sql_groups *groups)
{
	if (groups->at >= groups->row_count)
		return false;
	if (groups->at == groups->group_end) {
		groups->group += groups->at != 0;
		groups->group_end += groups->groups[groups->sorted[groups->group]].count;
	}
	groups->at++;
	return true;
}

// What rows are grouped by is that of the first one, which is near.
bool pd_sql_groups_cell(const struct pd_sql_groups *groups, size_t column, uint64_t *value_out)
{
	size_t place = groups->places[column], row;

	if (place == groups->width)
		return false;
	row = groups->is_by[place] ? groups->groups[groups->sorted[groups->group]].first :
				     groups->order[groups->at - 1];
	if (!groups->valid[row * groups->width + place])
		return false;
	*value_out = groups->cells[row * groups->width + place];
	return true;
}
