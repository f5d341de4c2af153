/* SPDX-License-Identifier: MIT */
/**
 * kmem.h - what was allocated in the kernel, as perf kmem stat of perf 6.1 prints it.
 *
 * Of the slab allocator the events are kmem:kmalloc, kmem_cache_alloc, kmalloc_node, kmem_cache_alloc_node, kfree and
 * kmem_cache_free; of the page allocator kmem:mm_page_alloc and mm_page_free, with call chains. Memory grows with the addresses
 * that were allocated.
 *
 * Example:
 *
 *	struct pd_kmem_options options = { .size = sizeof(options), .callers = true, .lines = 10 };
 *
 *	if (pd_print_kmem(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_KMEM_H
#define PERFDATA_KMEM_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_kmem_options {
	size_t size;      /* sizeof(struct pd_kmem_options); 0 is PD_ERROR_ARGUMENT */
	bool slab;        /* the slab allocator: default if pages is not set */
	bool pages;       /* the page allocator */
	bool callers;     /* a table of those who allocated */
	bool allocations; /* a table of addresses, or pages */
	bool live;        /* of pages: only what was not freed */
	bool raw_ip;      /* callers of the slab allocator as addresses */
	const char *
		sort; /* keys, see pd_kmem_key, of pages if there are pages; NULL: "frag,hit,bytes", of pages "bytes,hit" */
	uint64_t lines; /* maximum number of rows of a table; 0: no limit */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
	size_t limit;          /* maximum number of addresses, and of rows; 0 means 16 million */
	const char *slab_sort; /* keys of slabs where sort is of pages; NULL: the usual ones */
	const char *time;      /* only events of this time, see pd_select_options; NULL: all */
	bool json;             /* as one JSON object */
};

/** Name of the index-th key of slabs or pages; NULL past the end. */
PD_API const char *pd_kmem_key(bool pages, size_t index);

/** Appends the tables and a summary. Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_ARGUMENT for an unknown key; PD_ERROR_OUTPUT;
 * PD_ERROR_FORMAT if the format of a tracepoint is missing or lacks a field; PD_ERROR_NO_SAMPLES without such events;
 * PD_ERROR_STOPPED; those of pd_run. */
PD_API enum pd_status pd_print_kmem(struct pd_text *text, struct pd_file *file, const struct pd_kmem_options *options,
				    struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
