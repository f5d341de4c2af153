/* SPDX-License-Identifier: MIT */
// Tables and summaries.
#include "kmem/kmem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME = 4096,
	GFP_TITLE = 9, // characters of "GFP flags"
	LINE = 105
};

static const char dashes[] =
	"---------------------------------------------------------------------------------------------------------";

static void print_line(struct pd_text *text)
{
	pd_text_printf(text, "%.*s\n", LINE, dashes);
}

// Whether rows are left out, or there are none, which perf shows alike.
static bool is_cut(const struct pd_kmem *kmem, const struct pd_kmem_rows *rows)
{
	return kmem->options.lines ? rows->count > kmem->options.lines : !rows->count;
}

static bool goes_on(const struct pd_kmem *kmem, const struct pd_kmem_rows *rows, size_t at)
{
	return at < rows->count && (!kmem->options.lines || at < kmem->options.lines) &&
	       pd_text_flush_large(kmem->pairs.sched.text);
}

// ---- slab ----

static enum pd_status print_slab_name(struct pd_kmem *kmem, const struct pd_kmem_row *row, bool callers,
				      struct pd_error *error)
{
	const struct pd_pair_place *place = NULL;
	char name[NAME];

	if (callers && !kmem->options.raw_ip && !(place = pd_pair_place(&kmem->pairs, row->shown.caller)))
		return pd_fail_memory(error);
	if (place && place->function)
		snprintf(name, sizeof(name), "%s+%" PRIx64, place->name, place->offset);
	else
		snprintf(name, sizeof(name), "%#" PRIx64, callers ? row->shown.caller : row->shown.addr);
	pd_text_printf(kmem->pairs.sched.text, " %-34s |", name);
	return PD_OK;
}

static enum pd_status print_slabs(struct pd_kmem *kmem, const struct pd_kmem_rows *rows, bool callers,
				  struct pd_error *error)
{
	struct pd_text *text = kmem->pairs.sched.text;
	enum pd_status status = PD_OK;

	print_line(text);
	pd_text_printf(text, " %-34s | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n",
		       callers ? "Callsite" : "Alloc Ptr");
	print_line(text);
	for (size_t i = 0; goes_on(kmem, rows, i) && status >= 0; i++) {
		const struct pd_kmem_row *row = rows->all[i];

		status = print_slab_name(kmem, row, callers, error);
		pd_text_printf(text,
			       " %9" PRIu64 "/%-5" PRIu64 " | %9" PRIu64 "/%-5" PRIu64 " | %8" PRIu64 " | %9" PRIu64
			       " | %6.3f%%\n",
			       row->allocated, row->allocated / row->count, row->requested, row->requested / row->count,
			       row->count, row->pingpong, pd_kmem_fragmentation(row->requested, row->allocated));
	}
	if (is_cut(kmem, rows))
		pd_text_add(
			text,
			" ...                                | ...             | ...             | ...      | ...       "
			"| ...   \n");
	print_line(text);
	return status;
}

static void print_slab_summary(struct pd_kmem *kmem)
{
	struct pd_text *text = kmem->pairs.sched.text;

	pd_text_printf(text,
		       "\nSUMMARY (SLAB allocator)\n========================\nTotal bytes requested: %" PRIu64
		       "\nTotal bytes allocated: %" PRIu64 "\nTotal bytes freed:     %" PRIu64 "\n",
		       kmem->requested, kmem->allocated, kmem->freed);
	if (kmem->allocated > kmem->freed)
		pd_text_printf(text, "Net total bytes allocated: %" PRIu64 "\n", kmem->allocated - kmem->freed);
	pd_text_printf(text,
		       "Total bytes wasted on internal fragmentation: %" PRIu64
		       "\nInternal fragmentation: %f%%\nCross CPU allocations: %" PRIu64 "/%" PRIu64 "\n",
		       kmem->allocated - kmem->requested, pd_kmem_fragmentation(kmem->requested, kmem->allocated),
		       kmem->crossed, kmem->allocations);
}

// ---- pages ----

static int gfp_width(const struct pd_kmem *kmem, size_t least)
{
	return (int)(kmem->gfp_longest > least ? kmem->gfp_longest : least);
}

static void print_gfps(struct pd_kmem *kmem)
{
	struct pd_text *text = kmem->pairs.sched.text;

	pd_text_add(text, "#\n# GFP flags\n# ---------\n");
	for (size_t i = 0; i < kmem->gfp_count; i++)
		pd_text_printf(text, "# %08" PRIx32 ": %*s: %s\n", kmem->gfps[i].flags, gfp_width(kmem, 0),
			       kmem->gfps[i].compact, kmem->gfps[i].name);
}

const char *pd_kmem_migrate_type(uint32_t type)
{
	static const char *const types[] = { "UNMOVABL", "RECLAIM", "MOVABLE", "RESERVED", "CMA/ISLT", "UNKNOWN" };

	return types[type < PD_KMEM_MIGRATE_TYPES ? type : PD_KMEM_MIGRATE_TYPES - 1];
}

static enum pd_status print_page(struct pd_kmem *kmem, const struct pd_kmem_row *row, bool callers,
				 struct pd_error *error)
{
	struct pd_text *text = kmem->pairs.sched.text;
	const struct pd_kmem_key *page = &row->shown;
	const struct pd_pair_place *place = pd_pair_place(&kmem->pairs, page->caller);

	if (!place)
		return pd_fail_memory(error);
	if (!callers && kmem->by_pfn)
		pd_text_printf(text, " %16" PRIu64 " |", page->addr);
	else if (!callers)
		pd_text_printf(text, " %016" PRIx64 " |", page->addr);
	pd_text_printf(text, " %16" PRIu64 " | %9" PRIu64 " | %5" PRIu32 " | %8s | %-*s | ", row->allocated / 1024,
		       row->count, page->order, pd_kmem_migrate_type(page->migrate_type), gfp_width(kmem, GFP_TITLE),
		       pd_kmem_compact_gfp(kmem, page->gfp));
	if (place->function)
		pd_text_printf(text, "%s\n", place->name);
	else
		pd_text_printf(text, "%" PRIx64 "\n", page->caller);
	return PD_OK;
}

static enum pd_status print_pages(struct pd_kmem *kmem, const struct pd_kmem_rows *rows, bool callers,
				  struct pd_error *error)
{
	struct pd_text *text = kmem->pairs.sched.text;
	enum pd_status status = PD_OK;

	pd_text_add(text, "\n");
	print_line(text);
	if (!callers)
		pd_text_printf(text, " %-16s |", kmem->by_pfn ? "PFN" : "Page");
	pd_text_printf(text, " %5s alloc (KB) | Hits      | Order | Mig.type | %-*s | Callsite\n",
		       kmem->options.live ? "Live" : "Total", gfp_width(kmem, GFP_TITLE), "GFP flags");
	print_line(text);
	for (size_t i = 0; goes_on(kmem, rows, i) && status >= 0; i++)
		status = print_page(kmem, rows->all[i], callers, error);
	if (is_cut(kmem, rows))
		pd_text_printf(text, "%s ...              | ...       | ...   | ...      | %-*s | ...\n",
			       callers ? "" : " ...              |", gfp_width(kmem, GFP_TITLE), "...");
	print_line(text);
	return status;
}

static void print_count(struct pd_text *text, const char *name, uint64_t count, uint64_t bytes)
{
	pd_text_printf(text, "%-30s: %16" PRIu64 "   [ %16" PRIu64 " KB ]\n", name, count, bytes / 1024);
}

static void print_orders(struct pd_kmem *kmem)
{
	struct pd_text *text = kmem->pairs.sched.text;

	pd_text_add(text, "Order     Unmovable   Reclaimable       Movable      Reserved  CMA/Isolated\n"
			  "-----  ------------  ------------  ------------  ------------  ------------\n");
	for (int order = 0; order < PD_KMEM_ORDERS; order++) {
		pd_text_printf(text, "%5d", order);
		for (int type = 0; type < PD_KMEM_MIGRATE_TYPES - 1; type++)
			if (kmem->orders[order][type])
				pd_text_printf(text, "  %12" PRId64, kmem->orders[order][type]);
			else
				pd_text_printf(text, "  %12c", '.');
		pd_text_add(text, "\n");
	}
}

static void print_page_summary(struct pd_kmem *kmem)
{
	struct pd_text *text = kmem->pairs.sched.text;
	struct pd_kmem_count all = kmem->page_allocations, matched = kmem->page_frees;

	pd_text_add(text, "\nSUMMARY (page allocator)\n========================\n");
	print_count(text, "Total allocation requests", all.count, all.bytes);
	print_count(text, "Total free requests", matched.count, matched.bytes);
	pd_text_add(text, "\n");
	matched.count -= kmem->unmatched.count;
	matched.bytes -= kmem->unmatched.bytes;
	print_count(text, "Total alloc+freed requests", matched.count, matched.bytes);
	print_count(text, "Total alloc-only requests", all.count - matched.count, all.bytes - matched.bytes);
	print_count(text, "Total free-only requests", kmem->unmatched.count, kmem->unmatched.bytes);
	pd_text_add(text, "\n");
	print_count(text, "Total allocation failures", kmem->failed.count, kmem->failed.bytes);
	pd_text_add(text, "\n");
	print_orders(kmem);
}

static enum pd_status print_slab_tables(struct pd_kmem *kmem, struct pd_error *error)
{
	const struct pd_kmem_options *options = &kmem->options;
	enum pd_status status = PD_OK;

	if (options->callers)
		status = print_slabs(kmem, &kmem->slab_callers, true, error);
	if (status >= 0 && options->allocations)
		status = print_slabs(kmem, &kmem->slabs, false, error);
	if (status >= 0)
		print_slab_summary(kmem);
	return status;
}

static enum pd_status print_page_tables(struct pd_kmem *kmem, struct pd_error *error)
{
	const struct pd_kmem_options *options = &kmem->options;
	enum pd_status status = PD_OK;

	if (options->callers || options->allocations)
		print_gfps(kmem);
	if (options->callers)
		status = print_pages(kmem, &kmem->page_callers, true, error);
	if (status >= 0 && options->allocations)
		status = print_pages(kmem, options->live ? &kmem->live : &kmem->pages, false, error);
	if (status >= 0)
		print_page_summary(kmem);
	return status;
}

enum pd_status pd_kmem_print(struct pd_kmem *kmem, struct pd_error *error)
{
	enum pd_status status = kmem->options.slab ? print_slab_tables(kmem, error) : PD_OK;

	return status >= 0 && kmem->options.pages ? print_page_tables(kmem, error) : status;
}
