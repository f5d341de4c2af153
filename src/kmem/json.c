/* SPDX-License-Identifier: MIT */
// Allocations as JSON: the tables that are asked for, and the sums.
#include "kmem/kmem.h"

#include <perfdata/json.h>

#include "base/text/text.h"

static bool goes_on(const struct pd_kmem *kmem, const struct pd_kmem_rows *rows, size_t at)
{
	return at < rows->count && (!kmem->options.lines || at < kmem->options.lines);
}

static enum pd_status add_caller(struct pd_kmem *kmem, struct pd_json *json, uint64_t addr, struct pd_error *error)
{
	const struct pd_pair_place *place = pd_pair_place(&kmem->pairs, addr);

	if (!place)
		return pd_fail_memory(error);
	pd_json_open(json, "caller", '{');
	pd_json_number(json, "addr", addr);
	pd_json_string(json, "symbol", place->name);
	if (place->function)
		pd_json_number(json, "offset", place->offset);
	pd_json_close(json, '}');
	return PD_OK;
}

static void add_sums(struct pd_json *json, const struct pd_kmem_row *row)
{
	pd_json_number(json, "count", row->count);
	pd_json_number(json, "allocated_bytes", row->allocated);
}

static enum pd_status add_slab(struct pd_kmem *kmem, struct pd_json *json, const struct pd_kmem_row *row, bool callers,
			       struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (callers)
		status = add_caller(kmem, json, row->shown.caller, error);
	else
		pd_json_number(json, "addr", row->shown.addr);
	add_sums(json, row);
	pd_json_number(json, "requested_bytes", row->requested);
	pd_json_number(json, "pingpong", row->pingpong);
	return status;
}

static enum pd_status add_page(struct pd_kmem *kmem, struct pd_json *json, const struct pd_kmem_row *row, bool callers,
			       struct pd_error *error)
{
	if (!callers)
		pd_json_number(json, kmem->by_pfn ? "pfn" : "page", row->shown.addr);
	add_sums(json, row);
	pd_json_number(json, "order", row->shown.order);
	pd_json_string(json, "migrate_type", pd_kmem_migrate_type(row->shown.migrate_type));
	pd_json_string(json, "gfp", pd_kmem_compact_gfp(kmem, row->shown.gfp));
	return add_caller(kmem, json, row->shown.caller, error);
}

typedef enum pd_status add_row_fn(struct pd_kmem *kmem, struct pd_json *json, const struct pd_kmem_row *row,
				  bool callers, struct pd_error *error);

static enum pd_status add_table(struct pd_kmem *kmem, struct pd_json *json, const struct pd_kmem_rows *rows,
				bool callers, add_row_fn *add_row, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	pd_json_open(json, callers ? "callers" : "allocations", '[');
	for (size_t i = 0; goes_on(kmem, rows, i) && status >= 0; i++) {
		pd_json_open(json, NULL, '{');
		status = add_row(kmem, json, rows->all[i], callers, error);
		pd_json_close(json, '}');
		if (status >= 0)
			status = pd_text_flush_or_fail(json->text, error);
	}
	pd_json_close(json, ']');
	return status;
}

// Both tables as far as they are asked for.
static enum pd_status add_tables(struct pd_kmem *kmem, struct pd_json *json, const struct pd_kmem_rows *callers,
				 const struct pd_kmem_rows *allocations, add_row_fn *add_row, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (kmem->options.callers)
		status = add_table(kmem, json, callers, true, add_row, error);
	if (status >= 0 && kmem->options.allocations)
		status = add_table(kmem, json, allocations, false, add_row, error);
	return status;
}

static enum pd_status add_slabs(struct pd_kmem *kmem, struct pd_json *json, struct pd_error *error)
{
	enum pd_status status;

	pd_json_open(json, "slab", '{');
	status = add_tables(kmem, json, &kmem->slab_callers, &kmem->slabs, add_slab, error);
	pd_json_number(json, "requested_bytes", kmem->requested);
	pd_json_number(json, "allocated_bytes", kmem->allocated);
	pd_json_number(json, "freed_bytes", kmem->freed);
	pd_json_number(json, "allocations", kmem->allocations);
	pd_json_number(json, "crossed", kmem->crossed);
	pd_json_close(json, '}');
	return status;
}

static void add_count(struct pd_json *json, const char *name, const struct pd_kmem_count *count)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "count", count->count);
	pd_json_number(json, "bytes", count->bytes);
	pd_json_close(json, '}');
}

static void add_signed(struct pd_json *json, const char *name, int64_t value)
{
	pd_json_name(json, name);
	pd_text_s64(json->text, value);
}

// How many allocations there were, by order and type; of those that are live, less may be left than were freed.
static void add_orders(struct pd_kmem *kmem, struct pd_json *json)
{
	pd_json_open(json, "orders", '[');
	for (int order = 0; order < PD_KMEM_ORDERS; order++) {
		pd_json_open(json, NULL, '{');
		for (uint32_t type = 0; type < PD_KMEM_MIGRATE_TYPES - 1; type++)
			add_signed(json, pd_kmem_migrate_type(type), kmem->orders[order][type]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static enum pd_status add_pages(struct pd_kmem *kmem, struct pd_json *json, struct pd_error *error)
{
	const struct pd_kmem_rows *pages = kmem->options.live ? &kmem->live : &kmem->pages;
	enum pd_status status;

	pd_json_open(json, "pages", '{');
	status = add_tables(kmem, json, &kmem->page_callers, pages, add_page, error);
	add_count(json, "allocated", &kmem->page_allocations);
	add_count(json, "freed", &kmem->page_frees);
	add_count(json, "freed_only", &kmem->unmatched);
	add_count(json, "failed", &kmem->failed);
	add_orders(kmem, json);
	pd_json_close(json, '}');
	return status;
}

enum pd_status pd_kmem_json(struct pd_kmem *kmem, struct pd_error *error)
{
	struct pd_json json = { .text = kmem->pairs.sched.text };
	enum pd_status status = PD_OK;

	pd_json_open(&json, NULL, '{');
	if (kmem->options.slab)
		status = add_slabs(kmem, &json, error);
	if (status >= 0 && kmem->options.pages)
		status = add_pages(kmem, &json, error);
	pd_json_number(&json, "lost", kmem->pairs.lost);
	pd_json_close(&json, '}');
	pd_text_char(json.text, '\n');
	return status;
}
