/* SPDX-License-Identifier: MIT */
/*
 * A table of symbols in pages: those of a range of addresses, read when one of them is first asked for. A kernel has
 * a hundred thousand functions, of which a recording has some hundred. A page that is damaged is as if it were not
 * there.
 */
#ifndef PD_SYMBOL_INDEX_PAGES_H
#define PD_SYMBOL_INDEX_PAGES_H

#include "object/elf/image.h"
#include "object/symbols/symbols.h"

/** A page, as it is kept in front of all of them. */
struct pd_index_page {
	uint64_t start;  // its first address; it goes to the start of the next one
	uint64_t offset; // from the end of the first part of the file
	uint64_t sum;
	uint32_t size;
	uint32_t number; // of its first symbol, among those of all pages
};

struct pd_index_pages;

/** Pages of a file that is taken, and begin at an offset in it. NULL if there are none, if they are not as they should
 * be, or without memory; the file stays the caller's then. */
struct pd_index_pages *pd_index_pages_new(struct pd_image *file, uint64_t begin, const uint8_t *list, size_t size);
void pd_index_pages_free(struct pd_index_pages *pages);
/** The table that has an address, if any has it, and the number of its first symbol. NULL if none has it, or if the page
 * is damaged. The pages must not be used by others meanwhile. */
const struct pd_symtab *pd_index_pages_find(struct pd_index_pages *pages, uint64_t addr, uint64_t *number_out);
/** Whether some page could not be read. */
bool pd_index_pages_failed(const struct pd_index_pages *pages);
/** Bytes that they take, as far as they are read. */
size_t pd_index_pages_bytes(const struct pd_index_pages *pages);

/** Makes pages out of symbols, which come in the order of their addresses. Zeroed memory is an empty one; failure
 * sticks. */
struct pd_index_pages_maker {
	struct pd_symtab_maker table;
	size_t table_count;
	uint64_t start, end; // of the symbols in it
	uint32_t number;
	struct pd_index_page *pages;
	size_t count, capacity;
	uint8_t *bytes;
	size_t size, bytes_capacity;
	bool failed;
};

void pd_index_pages_add(struct pd_index_pages_maker *maker, const struct pd_symbol *symbol);
/** After the last one. False if there is no memory. */
bool pd_index_pages_end(struct pd_index_pages_maker *maker);
void pd_index_pages_maker_fini(struct pd_index_pages_maker *maker);

#endif
