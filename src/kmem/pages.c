/* SPDX-License-Identifier: MIT */
// Events of the page allocator. A page is found by its number alone until it is freed.
#include "kmem/kmem.h"

#include <string.h>

#include "format/chain.h"

enum {
	STACK = 16 // entries that are looked at
};

static bool begins(const char **name, const char *with)
{
	size_t length = strlen(with);

	if (strncmp(*name, with, length) != 0)
		return false;
	*name += length;
	return true;
}

// Names of functions that allocate pages, which are not who called them: perf's, and those of later kernels.
static bool is_allocator(const char *name)
{
	static const char *const whole[] = { "folio_alloc", "vma_alloc_folio", "alloc_frozen_page" };

	for (unsigned i = 0; i < 2 && *name == '_'; i++)
		name++;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strncmp(name, whole[i], strlen(whole[i])))
			return true;
	return (begins(&name, "alloc") || begins(&name, "get_free") || begins(&name, "get_zeroed")) &&
	       begins(&name, "_page");
}

static enum pd_status find_caller(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample, uint64_t *caller_out,
				  struct pd_error *error)
{
	struct pd_u64s chain = sample->brief.callchain;
	unsigned mode = PD_CPUMODE_USER, passed = 0;

	*caller_out = sample->brief.ip;
	for (size_t i = 0; i < chain.count && passed < STACK; i++) {
		const struct pd_pair_place *place = NULL;

		if (chain.items[i] >= PD_CONTEXT_MAX && !pd_chain_mode(chain.items[i], &mode))
			break;
		if (chain.items[i] >= PD_CONTEXT_MAX)
			continue;
		passed++;
		if (mode == PD_CPUMODE_KERNEL && !(place = pd_pair_place(&kmem->pairs, chain.items[i])))
			return pd_fail_memory(error);
		if (place && place->function && is_allocator(place->function->name))
			continue;
		*caller_out = chain.items[i];
		break;
	}
	return PD_OK;
}

static void count(struct pd_kmem_count *sum, uint64_t bytes)
{
	sum->count++;
	sum->bytes += bytes;
}

static uint64_t bytes_of(const struct pd_kmem *kmem, uint32_t order)
{
	return order < 64 ? kmem->page_bytes << order : 0;
}

static void count_order(struct pd_kmem *kmem, const struct pd_kmem_key *page, int change)
{
	if (page->order < PD_KMEM_ORDERS && page->migrate_type < PD_KMEM_MIGRATE_TYPES)
		kmem->orders[page->order][page->migrate_type] += change;
}

// One more allocation of a row; page is all that is known of it.
static bool add_page(struct pd_kmem *kmem, struct pd_kmem_rows *rows, const struct pd_kmem_key *key,
		     const struct pd_kmem_key *page, struct pd_error *error)
{
	struct pd_kmem_row *row = pd_kmem_add(kmem, rows, key, error);

	if (!row)
		return false;
	// of a page that was not passed being freed perf keeps what it was at first
	if (row->gone || !row->count) {
		row->count = row->allocated = 0;
		row->shown = *page;
	}
	row->gone = false;
	row->shown.caller = page->caller;
	row->count++;
	row->allocated += bytes_of(kmem, page->order);
	return true;
}

static struct pd_kmem_key caller_key(struct pd_kmem_key page)
{
	page.addr = 0;
	return page;
}

static struct pd_kmem_key page_key(struct pd_kmem_key page)
{
	page.caller = 0;
	return page;
}

static bool is_valid(const struct pd_kmem *kmem, uint64_t page)
{
	return kmem->by_pfn ? page != UINT64_MAX : page != 0;
}

enum pd_status pd_kmem_page_alloc(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample,
				  struct pd_error *error)
{
	const uint64_t *values = sample->values; // as in the table of kmem.c
	struct pd_kmem_key page = { .addr = values[kmem->by_pfn ? 3 : 4],
				    .order = (uint32_t)values[0],
				    .gfp = (uint32_t)values[1],
				    .migrate_type = (uint32_t)values[2] };
	struct pd_kmem_key live = { .addr = page.addr }, key, caller;
	enum pd_status status;

	count(&kmem->page_allocations, bytes_of(kmem, page.order));
	if (!is_valid(kmem, page.addr)) {
		count(&kmem->failed, bytes_of(kmem, page.order));
		return PD_OK;
	}
	status = find_caller(kmem, sample, &page.caller, error);
	if (status < 0)
		return status;
	status = pd_kmem_add_gfp(kmem, sample, page.gfp, error);
	if (status < 0)
		return status;
	key = page_key(page);
	caller = caller_key(page);
	if (!add_page(kmem, &kmem->live, &live, &page, error) ||
	    (!kmem->options.live && !add_page(kmem, &kmem->pages, &key, &page, error)) ||
	    !add_page(kmem, &kmem->page_callers, &caller, &caller, error))
		return error->status;
	count_order(kmem, &page, 1);
	return PD_OK;
}

void pd_kmem_page_free(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample)
{
	struct pd_kmem_key key = { .addr = sample->values[kmem->by_pfn ? 1 : 2] }, caller;
	struct pd_kmem_row *live = pd_kmem_find(kmem, &kmem->live, &key), *row;
	uint32_t order = (uint32_t)sample->values[0];

	count(&kmem->page_frees, bytes_of(kmem, order));
	if (!live || live->gone) {
		count(&kmem->unmatched, bytes_of(kmem, order));
		return;
	}
	live->gone = true;
	if (!kmem->options.live)
		return;
	caller = caller_key(live->shown);
	caller.order = order;
	count_order(kmem, &caller, -1);
	row = pd_kmem_find(kmem, &kmem->page_callers, &caller);
	if (!row || row->gone)
		return;
	row->allocated -= bytes_of(kmem, order);
	row->gone = !--row->count;
}
