/* SPDX-License-Identifier: MIT */
/* From the entries of a profile to types of data with samples by offset. */
#include "type/data.h"

#include <string.h>

#include "base/lookup/search.h"
#include "base/memory.h"
#include "base/sort.h"
#include "type/inside.h"

// ---- samples ----

// The number of a type in an object, or UINT32_MAX without memory.
static uint32_t row_of(struct pd_type_data *data, const struct pd_dso *dso, const struct pd_type_access *access)
{
	uint64_t key = (uint64_t)dso->index << 32 | access->number, known = pd_u64_map_find(&data->by_type, key);
	size_t count = data->row_count;

	if (known)
		return (uint32_t)(known - 1);
	if (count >= UINT32_MAX - 1 || !PD_GROW(data->rows, data->row_capacity, count + 1) ||
	    !pd_u64_map_add(&data->by_type, key, count + 1))
		return UINT32_MAX;
	data->rows[count] = (struct pd_type_row){ .dso = dso, .access = access };
	return (uint32_t)data->row_count++;
}

static bool add_hit(struct pd_type_data *data, const struct pd_profile_entry *entry, const struct pd_dso *dso,
		    const struct pd_type_access *access)
{
	struct pd_type_hit hit = { .offset = (uint64_t)access->offset,
				   .row = row_of(data, dso, access),
				   .event = (uint32_t)entry->event->index,
				   .sum = { entry->period, entry->samples } };
	uint64_t size = 0;

	if (hit.row == UINT32_MAX || !PD_GROW(data->hits, data->hit_capacity, data->hit_count + 1))
		return false;
	pd_type_size(access->die, &size);
	// as perf: others are in no member
	if (access->offset < 0 || hit.offset >= size)
		hit.offset = UINT64_MAX;
	data->hits[data->hit_count++] = hit;
	return true;
}

// Places where nothing is mapped have no type either.
static bool is_wanted(const struct pd_type_data *data, const struct pd_place *place)
{
	const struct pd_annotate_options *options = data->base.options;

	return place->dso ? pd_annotate_is_wanted(data->annotate, place) : !options->symbol && !options->has_place;
}

static bool add_entry(struct pd_type_data *data, const struct pd_profile_entry *entry, bool with_counts)
{
	const struct pd_place *place = pd_annotate_place(data->annotate, entry);
	const struct pd_type_access *access;

	if (!place || !is_wanted(data, place))
		return true;
	if (with_counts) {
		if (!PD_GROW(data->addresses, data->address_capacity, data->address_count + 1))
			return false;
		data->addresses[data->address_count++] =
			(struct pd_type_address){ place, (uint32_t)entry->event->index };
	}
	access = pd_types_at(data->types, place);
	return access && (!access->die || add_hit(data, entry, place->dso, access));
}

static int compare_hits(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_type_data *data = self;
	uint64_t x = data->hits[a].offset, y = data->hits[b].offset;

	return (x > y) - (x < y);
}

// Instead of its own samples each hit has those of all before it.
static void add_up(struct pd_type_hit *hits, size_t count)
{
	struct pd_annotate_sum sum = { 0 };

	for (size_t i = 0; i <= count; i++) {
		struct pd_annotate_sum before = sum;

		sum.period += hits[i].sum.period;
		sum.samples += hits[i].sum.samples;
		hits[i].sum = before;
	}
}

// Hits of one row stand together, by event and offset.
static bool sort_hits(struct pd_type_data *data)
{
	size_t count = data->hit_count;
	struct pd_sorted *order = pd_alloc((count + 1) * sizeof(*order));
	struct pd_type_hit *sorted = pd_alloc((count + 1) * sizeof(*sorted));
	bool success = order && sorted;

	for (size_t i = 0; success && i < count; i++)
		order[i] = (struct pd_sorted){ data->hits[i].row, data->hits[i].event, (uint32_t)i };
	success = success && pd_sort(order, count, compare_hits, data, 1);
	for (size_t i = 0; success && i < count; i++) {
		struct pd_type_row *row = &data->rows[order[i].first];

		sorted[i] = data->hits[order[i].number];
		if (!row->count++)
			row->first = i;
	}
	pd_free(order);
	if (success)
		add_up(sorted, count);
	pd_free(success ? data->hits : sorted);
	if (success)
		data->hits = sorted;
	return success;
}

bool pd_type_data_collect(struct pd_type_data *data, bool with_counts)
{
	const struct pd_string *cpu = pd_file_cpuid(data->base.file);
	struct pd_profile_entry entry;
	bool success;

	data->types = pd_types_new(data->base.symbols, cpu ? cpu->value.data : NULL);
	success = data->types != NULL;
	for (size_t i = 0; success && pd_profile_entry(data->base.profile, i, &entry); i++)
		success = data->hit_count < UINT32_MAX - 1 && add_entry(data, &entry, with_counts);
	return success && sort_hits(data);
}

void pd_type_data_fini(struct pd_type_data *data)
{
	pd_types_free(data->types);
	pd_free(data->rows);
	pd_u64_map_fini(&data->by_type);
	pd_free(data->hits);
	pd_free(data->addresses);
}

// ---- sums ----

size_t pd_type_data_at(const struct pd_type_data *data, const struct pd_type_row *row, size_t event, uint64_t offset)
{
	const struct pd_type_hit *hits = data->hits;
	size_t at;

	PD_SEARCH(at, row->first, row->first + row->count, i,
		  hits[i].event < event || (hits[i].event == event && hits[i].offset < offset));
	return at;
}

struct pd_annotate_sum pd_type_data_sum(const struct pd_type_data *data, size_t from, size_t to)
{
	const struct pd_annotate_sum *first = &data->hits[from].sum, *last = &data->hits[to].sum;

	return (struct pd_annotate_sum){ last->period - first->period, last->samples - first->samples };
}

// ---- rows ----

static int compare_rows(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_type_data *data = self;
	const struct pd_type_row *x = &data->rows[a], *y = &data->rows[b];
	int result = strcmp(x->dso->name, y->dso->name);

	return result ? result : strcmp(y->access->type, x->access->type);
}

// As perf: "struct" and "union" may be left out.
static bool has_name(const struct pd_type_row *row, const char *name)
{
	static const char *const kinds[] = { "struct ", "union " };
	const char *type = row->access->type;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(kinds[i]);

		if (strncmp(type, kinds[i], length) == 0 && strncmp(name, kinds[i], length) != 0)
			type += length;
	}
	return strcmp(type, name) == 0;
}

static bool is_shown(const struct pd_type_data *data, const struct pd_annotate_table *table,
		     const struct pd_type_row *row)
{
	size_t next, at = pd_type_data_at(data, row, table->first_event, 0);

	for (; at < row->first + row->count; at = next) {
		size_t event = data->hits[at].event, number = event - table->first_event;
		struct pd_annotate_sum sum;

		if (number >= table->event_count)
			break;
		next = pd_type_data_at(data, row, event + 1, 0);
		sum = pd_type_data_sum(data, at, next);
		if (sum.samples && (double)sum.period * 100 >=
					   data->base.options->least_percent * (double)table->totals[number].period)
			return true;
	}
	return false;
}

static uint64_t period_of(const struct pd_type_data *data, const struct pd_type_row *row, size_t event)
{
	return pd_type_data_sum(data, pd_type_data_at(data, row, event, 0), pd_type_data_at(data, row, event + 1, 0))
		.period;
}

uint32_t *pd_type_data_order(const struct pd_type_data *data, const struct pd_annotate_table *table, const char *name,
			     size_t *count_out)
{
	struct pd_sorted *order = pd_alloc((data->row_count + 1) * sizeof(*order));
	uint32_t *rows = pd_alloc((data->row_count + 1) * sizeof(*rows));
	size_t count = 0;
	bool success = order && rows;

	for (size_t i = 0; success && i < data->row_count; i++) {
		const struct pd_type_row *row = &data->rows[i];
		size_t first = table->first_event;

		// the first event counts, the next one where it is equal
		if (is_shown(data, table, row) && (!name || has_name(row, name)))
			order[count++] =
				(struct pd_sorted){ ~period_of(data, row, first),
						    table->event_count > 1 ? ~period_of(data, row, first + 1) : 0,
						    (uint32_t)i };
	}
	success = success && pd_sort(order, count, compare_rows, data, 1);
	for (size_t i = 0; success && i < count; i++)
		rows[i] = order[i].number;
	pd_free(order);
	*count_out = count;
	if (success)
		return rows;
	pd_free(rows);
	return NULL;
}
