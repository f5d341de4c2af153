/* SPDX-License-Identifier: MIT */
/* The inside of struct pd_symtab. */
#ifndef PD_OBJECT_SYMBOLS_INSIDE_H
#define PD_OBJECT_SYMBOLS_INSIDE_H

#include "object/symbols/symbols.h"

struct pd_symtab_entry {
	uint64_t start;
	uint64_t end;
	uint32_t name;
	uint32_t name_length;
	uint16_t owner;
	uint8_t bind;
	uint8_t kind;
	uint32_t zero; // entries and pieces are packed as they are
};

// Goes to the start of the next one.
struct pd_symtab_piece {
	uint64_t start;
	uint32_t which; // entry, or PD_NO_SYMBOL
	uint32_t zero;
};

// The same in a table of less than 4 GiB of addresses, as nearly all are.
struct pd_symtab_near {
	uint32_t start; // from the base on
	uint32_t which;
};

struct pd_symtab {
	struct pd_symtab_entry *entries; // NULL, as the names: they are in pages
	size_t count;
	struct pd_symtab_piece *pieces; // NULL: they are near
	struct pd_symtab_near *near;
	size_t piece_count;
	uint64_t base; // where the first piece starts
	// where in the pieces to look, by the high bits of the distance from the base
	uint32_t *buckets;
	size_t bucket_count;
	unsigned bucket_shift;
	char *names;
	size_t names_size;
	void *block; // in which all of these stand, or NULL: each is on its own
	struct pd_symtab_pages pages;
	const uint64_t *page_ends;
	struct pd_symtab_entry **loaded; // by page, with its names behind; NULL: not read yet, or damaged
};

/** An entry of a table in pages, and the names of its page. NULL if the page is damaged, or without memory. */
const struct pd_symtab_entry *pd_symtab_load(const struct pd_symtab *table, size_t index, const char **names_out);
void pd_symtab_close_pages(struct pd_symtab *table);

static inline uint64_t pd_symtab_piece_start(const struct pd_symtab *table, size_t i)
{
	return table->near ? table->base + table->near[i].start : table->pieces[i].start;
}

static inline uint32_t pd_symtab_piece_which(const struct pd_symtab *table, size_t i)
{
	return table->near ? table->near[i].which : table->pieces[i].which;
}

static inline size_t pd_symtab_piece_size(const struct pd_symtab *table)
{
	return table->near ? sizeof(*table->near) : sizeof(*table->pieces);
}

#endif
