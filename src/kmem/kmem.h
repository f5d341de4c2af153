/* SPDX-License-Identifier: MIT */
/*
 * The inside of allocations in the kernel.
 *
 *   rows.c     what tables have rows of, by key; their order
 *   slab.c     events of the slab allocator
 *   pages.c    events of the page allocator, and who called it
 *   gfp.c      flags of allocations, with gfp.def
 *   kmem.c     the pass over a file; the public function
 *   print.c    tables and summaries; json.c, both as JSON
 */
#ifndef PD_KMEM_KMEM_H
#define PD_KMEM_KMEM_H

#include <perfdata/kmem.h>

#include "pairs/pairs.h"

enum {
	PD_KMEM_KEYS = 8,
	PD_KMEM_ORDERS = 11,
	PD_KMEM_MIGRATE_TYPES = 6,
	PD_KMEM_EVENTS = 32 // that are kept
};

// What allocations are summed up by: some of these, the others are 0.
struct pd_kmem_key {
	uint64_t addr; // of what was allocated, or the page
	uint64_t caller;
	uint32_t order, gfp, migrate_type; // of pages
};

// A row: an address, a caller, or a page.
struct pd_kmem_row {
	// what events change is together, in one line of the processor's cache or two
	uint64_t requested, allocated; // bytes
	uint64_t last_bytes;           // of the last allocation
	uint64_t count, pingpong;
	struct pd_kmem_row *last_caller; // of the slab allocator; NULL: there is no table of callers
	int16_t cpu;                     // of the last allocation; -1: it was freed
	bool gone;                       // it was freed, and is shown no more
	struct pd_kmem_key key;          // what follows is missing of rows that are only found
	struct pd_kmem_key shown;        // what is known of the last allocation, too
};

struct pd_kmem_rows {
	bool by_number;        // one number is all of their keys
	bool found_only;       // no table is made of them: they have no keys, and are not in all
	struct pd_u64_map map; // rows by it
	struct pd_index index; // others
	struct pd_kmem_row **all;
	bool descends; // equal ones are in the opposite order of their addresses
	size_t count, capacity;
};

typedef int pd_kmem_compare_fn(const struct pd_kmem_row *a, const struct pd_kmem_row *b);

struct pd_kmem_gfp {
	uint32_t flags;
	const char *name, *compact;
};

struct pd_kmem_count {
	uint64_t count, bytes;
};

// An event that is kept.
struct pd_kmem_slab_event {
	struct pd_kmem_row *row; // of its address; NULL: none yet
	uint64_t caller, addr, requested, allocated;
	int16_t cpu;
	bool frees;
};

struct pd_kmem {
	struct pd_pairs pairs;
	struct pd_kmem_options options;
	uint64_t seed;
	pd_kmem_compare_fn *slab_keys[PD_KMEM_KEYS], *page_keys[PD_KMEM_KEYS];
	struct pd_kmem_rows slabs, slab_callers;
	uint64_t requested, allocated, freed, allocations, crossed;
	struct pd_kmem_slab_event slab_events[PD_KMEM_EVENTS];
	size_t event_count;
	const struct pd_numa_topology *nodes;
	uint64_t page_bytes;
	bool by_pfn;
	struct pd_kmem_rows live, pages, page_callers;
	struct pd_kmem_count page_allocations, page_frees, unmatched, failed;
	int64_t orders[PD_KMEM_ORDERS][PD_KMEM_MIGRATE_TYPES];
	struct pd_kmem_gfp *gfps; // sorted
	size_t gfp_count, gfp_capacity;
	size_t gfp_longest; // characters of a short name
};

enum pd_kmem_point {
	PD_KMEM_KMALLOC,
	PD_KMEM_CACHE_ALLOC,
	PD_KMEM_KMALLOC_NODE,
	PD_KMEM_CACHE_ALLOC_NODE,
	PD_KMEM_KFREE,
	PD_KMEM_CACHE_FREE,
	PD_KMEM_PAGE_ALLOC,
	PD_KMEM_PAGE_FREE
};

// ---- rows.c ----

// The row with the key of this one, or NULL.
struct pd_kmem_row *pd_kmem_find(const struct pd_kmem *kmem, const struct pd_kmem_rows *rows,
				 const struct pd_kmem_key *key);
// The same, or a new one. NULL: an error.
struct pd_kmem_row *pd_kmem_add(struct pd_kmem *kmem, struct pd_kmem_rows *rows, const struct pd_kmem_key *key,
				struct pd_error *error);
enum pd_status pd_kmem_choose_keys(struct pd_kmem *kmem, struct pd_error *error);
// Sorts rows and drops those that are gone. False if there is no memory.
bool pd_kmem_sort(struct pd_kmem_rows *rows, pd_kmem_compare_fn *const keys[PD_KMEM_KEYS]);
// Leaves an empty table of the same kind.
void pd_kmem_rows_forget(struct pd_kmem_rows *rows);
void pd_kmem_rows_fini(struct pd_kmem_rows *rows);
// How much more was allocated than requested, in percent.
double pd_kmem_fragmentation(uint64_t requested, uint64_t allocated);

// ---- slab.c, pages.c, gfp.c ----

enum pd_status pd_kmem_slab_take(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error);
// After the last one.
enum pd_status pd_kmem_slab_flush(struct pd_kmem *kmem, struct pd_error *error);
enum pd_status pd_kmem_page_alloc(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample,
				  struct pd_error *error);
void pd_kmem_page_free(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample);
// Remembers what flags are called. Errors also: PD_ERROR_LIMIT, more of them than a kernel has.
enum pd_status pd_kmem_add_gfp(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample, uint32_t flags,
			       struct pd_error *error);
const char *pd_kmem_compact_gfp(const struct pd_kmem *kmem, uint32_t flags);

// ---- print.c ----

enum pd_status pd_kmem_print(struct pd_kmem *kmem, struct pd_error *error);
// Of a number that a page has.
const char *pd_kmem_migrate_type(uint32_t type);

// ---- json.c ----

enum pd_status pd_kmem_json(struct pd_kmem *kmem, struct pd_error *error);

#endif
