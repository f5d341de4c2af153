/* SPDX-License-Identifier: MIT */
// The pass over a file.
#include "kmem/kmem.h"

#include <string.h>

#include "trace/trace.h"

enum {
	PAGE = 4096
};

static const struct pd_tracepoint points[] = {
	[PD_KMEM_KMALLOC] = { "kmem:kmalloc", { "call_site", "ptr", "bytes_req", "bytes_alloc", "?node" } },
	[PD_KMEM_CACHE_ALLOC] = { "kmem:kmem_cache_alloc",
				  { "call_site", "ptr", "bytes_req", "bytes_alloc", "?node" } },
	[PD_KMEM_KMALLOC_NODE] = { "kmem:kmalloc_node", { "call_site", "ptr", "bytes_req", "bytes_alloc", "?node" } },
	[PD_KMEM_CACHE_ALLOC_NODE] = { "kmem:kmem_cache_alloc_node",
				       { "call_site", "ptr", "bytes_req", "bytes_alloc", "?node" } },
	[PD_KMEM_KFREE] = { "kmem:kfree", { "?call_site", "ptr" } },
	[PD_KMEM_CACHE_FREE] = { "kmem:kmem_cache_free", { "?call_site", "ptr" } },
	[PD_KMEM_PAGE_ALLOC] = { "kmem:mm_page_alloc", { "order", "gfp_flags", "migratetype", "?pfn", "?page" } },
	[PD_KMEM_PAGE_FREE] = { "kmem:mm_page_free", { "order", "?pfn", "?page" } },
};

static uint32_t node_of(const struct pd_kmem *kmem, uint32_t cpu)
{
	for (size_t i = 0; kmem->nodes && kmem->nodes->nodes.count > 1 && i < kmem->nodes->nodes.count; i++) {
		const struct pd_numa_node *node = PD_ITEM(pd_numa_node, kmem->nodes->nodes, i);

		if (pd_list_has(node->cpus.data, cpu))
			return node->node;
	}
	return 0;
}

// Memory of another node than that of the CPU; -1 stands for any node.
static bool is_crossed(const struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample)
{
	int32_t node = (int32_t)sample->values[4];

	return node != -1 && (uint32_t)node != node_of(kmem, sample->brief.cpu);
}

static enum pd_status take_point(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	struct pd_kmem *kmem = (struct pd_kmem *)pairs;

	if (sample->which >= PD_KMEM_PAGE_ALLOC && !kmem->options.pages)
		return PD_OK;
	if (sample->which < PD_KMEM_PAGE_ALLOC && !kmem->options.slab)
		return PD_OK;
	if (sample->which == PD_KMEM_PAGE_ALLOC)
		return pd_kmem_page_alloc(kmem, sample, error);
	if (sample->which == PD_KMEM_PAGE_FREE)
		pd_kmem_page_free(kmem, sample);
	if (sample->which >= PD_KMEM_PAGE_ALLOC)
		return PD_OK;
	kmem->crossed += sample->which < PD_KMEM_KFREE && is_crossed(kmem, sample);
	return pd_kmem_slab_take(kmem, sample, error);
}

static void forget(struct pd_pairs *pairs)
{
	struct pd_kmem *kmem = (struct pd_kmem *)pairs;

	pd_kmem_rows_forget(&kmem->slabs);
	pd_kmem_rows_forget(&kmem->slab_callers);
	kmem->requested = kmem->allocated = kmem->freed = kmem->allocations = kmem->crossed = 0;
	kmem->event_count = 0;
}

static bool has_field(struct pd_file *file, struct pd_trace *trace, const char *event, const char *name)
{
	const struct pd_event *found;
	struct pd_trace_field field;

	for (size_t i = 0; (found = pd_file_event(file, i)) != NULL; i++)
		for (size_t k = 0; pd_event_is(found, event) && pd_trace_field_at(trace, found, k, &field); k++)
			if (!strcmp(field.name, name))
				return true;
	return false;
}

// Of the machine that recorded.
static void read_page_size(struct pd_kmem *kmem, struct pd_file *file)
{
	const struct pd_tracing_data *data = pd_file_tracing_data(file);

	if (data && data->page_size)
		kmem->page_bytes = data->page_size;
}

static bool has_any(struct pd_file *file, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++)
		if (pd_file_has_tracepoint(file, points[i].name))
			return true;
	return false;
}

// Tables of what was not recorded would say that there was none.
static enum pd_status check_events(const struct pd_kmem *kmem, struct pd_file *file, struct pd_error *error)
{
	if (kmem->options.slab && !has_any(file, 0, PD_KMEM_PAGE_ALLOC))
		return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET,
			       "no events of the slab allocator (perfdata kmem record)");
	if (kmem->options.pages && !has_any(file, PD_KMEM_PAGE_ALLOC, PD_KMEM_PAGE_FREE + 1))
		return pd_fail(
			error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET,
			"no events of the page allocator (perfdata record -e kmem:mm_page_alloc,kmem:mm_page_free)");
	return PD_OK;
}

static enum pd_status read_all(struct pd_kmem *kmem, struct pd_file *file, struct pd_text *text, struct pd_error *error)
{
	struct pd_trace *trace;
	enum pd_status status = pd_kmem_choose_keys(kmem, error);

	if (status >= 0)
		status = pd_trace_new(file, NULL, &trace, error);
	if (status < 0)
		return status;
	read_page_size(kmem, file);
	kmem->nodes = pd_file_numa_topology(file);
	kmem->by_pfn = has_field(file, trace, points[PD_KMEM_PAGE_ALLOC].name, "pfn");
	pd_trace_free(trace);
	kmem->pairs.take = take_point;
	kmem->pairs.resolves = kmem->pairs.names_only = true;
	// callers of pages are found by the names of functions
	kmem->pairs.late = kmem->pairs.numbers_only = !kmem->options.pages;
	kmem->pairs.forget = forget;
	kmem->pairs.open = kmem->options.symbols;
	kmem->pairs.time = kmem->options.time;
	kmem->pairs.open_self = kmem->options.self;
	kmem->pairs.places.seed = kmem->seed = pd_hash_secret();
	kmem->slabs.found_only = !kmem->options.allocations;
	kmem->slabs.map.seed = kmem->slab_callers.map.seed = kmem->live.map.seed = kmem->seed;
	status = pd_pairs_run(&kmem->pairs, file, text, points, sizeof(points) / sizeof(points[0]), 0,
			      "no allocations (perfdata kmem record)", error);
	if (status >= 0)
		status = pd_kmem_slab_flush(kmem, error);
	return status < 0 ? status : check_events(kmem, file, error);
}

// Tables that are printed.
static bool sort_tables(struct pd_kmem *kmem)
{
	const struct pd_kmem_options *options = &kmem->options;
	struct pd_kmem_rows *pages = options->live ? &kmem->live : &kmem->pages;

	if (options->callers && (!pd_kmem_sort(&kmem->slab_callers, kmem->slab_keys) ||
				 !pd_kmem_sort(&kmem->page_callers, kmem->page_keys)))
		return false;
	return !options->allocations ||
	       (pd_kmem_sort(&kmem->slabs, kmem->slab_keys) && pd_kmem_sort(pages, kmem->page_keys));
}

static enum pd_status print(struct pd_kmem *kmem, struct pd_error *error)
{
	if (!sort_tables(kmem))
		return pd_fail_memory(error);
	return (kmem->options.json ? pd_kmem_json : pd_kmem_print)(kmem, error);
}

enum pd_status pd_print_kmem(struct pd_text *text, struct pd_file *file, const struct pd_kmem_options *options,
			     struct pd_error *error)
{
	struct pd_kmem kmem = { .page_bytes = PAGE,
				.live = { .descends = true, .by_number = true },
				.slabs.by_number = true,
				.slab_callers.by_number = true };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_kmem_options.size is 0");
	if (options)
		memcpy(&kmem.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	kmem.options.slab |= !kmem.options.pages;
	status = read_all(&kmem, file, text, error);
	if (status >= 0)
		status = print(&kmem, error);
	pd_kmem_rows_fini(&kmem.slabs);
	pd_kmem_rows_fini(&kmem.slab_callers);
	pd_kmem_rows_fini(&kmem.live);
	pd_kmem_rows_fini(&kmem.pages);
	pd_kmem_rows_fini(&kmem.page_callers);
	pd_free(kmem.gfps);
	pd_pairs_fini(&kmem.pairs);
	return status < 0 ? status : pd_text_flush_or_fail(text, error);
}
