/* SPDX-License-Identifier: MIT */
/*
 * A table of the symbols of one object: from an address to a name. A maker collects symbols in any order, with names
 * that are still where they were read; making the table sorts them, keeps one name for each address, ends symbols
 * that have no size, and copies the names that are left into one block. A finished table does not change.
 *
 * Where symbols overlap, the space is cut into pieces beforehand, so that a lookup is one binary search whatever a
 * hostile file nests.
 */
#ifndef PD_OBJECT_SYMBOLS_SYMBOLS_H
#define PD_OBJECT_SYMBOLS_SYMBOLS_H

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

enum pd_symbol_bind {
	PD_BIND_LOCAL,
	PD_BIND_WEAK,
	PD_BIND_GLOBAL
};

enum pd_symbol_kind {
	PD_SYMBOL_FUNCTION,
	PD_SYMBOL_DATA,
	PD_SYMBOL_INDIRECT, // an ifunc: its code chooses a function
	PD_SYMBOL_PLT,      // a stub that jumps to a function of another object
	PD_SYMBOL_BOUND,    // no symbol, but what stands before it ends here; not in the finished table
	PD_SYMBOL_NAMELESS  // stands for what has no symbol, and is called after its object
};

/** A symbol covers [start, end). In a table name has a NUL after it and lives as long as the table. */
struct pd_symbol {
	uint64_t start;
	uint64_t end;
	const char *name;
	uint32_t name_length;
	uint16_t owner; // a number the maker's user gave, such as the module
	uint8_t bind;
	uint8_t kind;
};

/** Who has an address that several symbols cover. */
enum pd_symtab_rule {
	PD_SYMTAB_INNER, // the one that starts last; of those that start together the best name, the others go
	PD_SYMTAB_LATER  // the one that was added last
};

struct pd_symtab;
struct pd_symtab_item;

/** Where a table reads its pages from, see pd_symtab_unpack_pages. */
struct pd_symtab_pages {
	void *self;
	uint64_t size; // of all pages
	/** False if the bytes are not there, or damaged. */
	bool (*read)(void *self, size_t page, uint64_t offset, void *data, size_t size);
	void (*close)(void *self);
};

/** Collects symbols. Zeroed memory with a rule is an empty one. Its failure sticks and comes out of make. */
struct pd_symtab_maker {
	enum pd_symtab_rule rule;
	size_t limit;          // most bytes to take for symbols and names; 0 means 1 GiB
	struct pd_arena names; // for names that stand nowhere else
	struct pd_symtab_item *items;
	size_t count;
	size_t capacity;
	size_t name_bytes;
	struct pd_text shown; // a name as it is shown
	bool out_of_memory;
	bool over_limit;
};

/** Adds a symbol; name must stay valid until the table is made. An end of start means that the size is not known:
 * the symbol then goes to the next one, at most to `most` (exclusive; 0: not known either, about a page).
 * Symbols without a name are left out. */
void pd_symtab_add(struct pd_symtab_maker *maker, const struct pd_symbol *symbol, uint64_t most);

/** What was added so far, in that order. index must be less than the count; valid until the next one is added. */
size_t pd_symtab_maker_count(const struct pd_symtab_maker *maker);
const struct pd_symbol *pd_symtab_maker_at(const struct pd_symtab_maker *maker, size_t index);
/** Whether an address that both begin at is named by the second one, which was added later. */
bool pd_symtab_maker_prefers(struct pd_symtab_maker *maker, size_t first, size_t second);

/** Makes the table and empties the maker, also on failure.
 * PD_ERROR_MEMORY, or PD_ERROR_LIMIT if there was more than the maker's limit. */
enum pd_status pd_symtab_make(struct pd_symtab_maker *maker, struct pd_symtab **table_out, struct pd_error *error);
void pd_symtab_maker_fini(struct pd_symtab_maker *maker);
void pd_symtab_free(struct pd_symtab *table);

/** The symbol that covers an address; false if there is none. */
bool pd_symtab_find(const struct pd_symtab *table, uint64_t addr, struct pd_symbol *symbol_out);

/** The same as a number for pd_symtab_at; PD_NO_SYMBOL if there is none. */
uint32_t pd_symtab_find_index(const struct pd_symtab *table, uint64_t addr);
#define PD_NO_SYMBOL UINT32_MAX
/** Asks for the memory that pd_symtab_find_index will need, in two stages: the second one needs what the first one asked for. */
void pd_symtab_prefetch(const struct pd_symtab *table, uint64_t addr, unsigned stage);

/** Symbols in the order of their addresses. index must be less than the count. A table in pages may read one, which only one thread may
 * do; name is NULL if that page is damaged or there is no memory. */
size_t pd_symtab_count(const struct pd_symtab *table);
struct pd_symbol pd_symtab_at(const struct pd_symtab *table, size_t index);

/** Bytes that the table takes, as far as its pages are read. */
size_t pd_symtab_bytes(const struct pd_symtab *table);

/** A whole table as bytes, to be kept by this machine. data has room for the packed size. */
size_t pd_symtab_packed_size(const struct pd_symtab *table);
void pd_symtab_pack(const struct pd_symtab *table, uint8_t *data);
/** The table again, which uses the bytes in place and takes over the block that they stand in (pd_free), if it succeeds. data
 * is 8-aligned. False if the bytes are no table, or without memory; they may be hostile. */
bool pd_symtab_unpack(struct pd_symtab **table_out, void *block, const uint8_t *data, size_t size);

/** Whether most of a table is worth being left where it is until it is asked for. */
bool pd_symtab_is_large(const struct pd_symtab *table);
/** A table in two parts, of which the second one is pages: what symbols are, some dozens in each. */
size_t pd_symtab_page_count(const struct pd_symtab *table);
size_t pd_symtab_first_size(const struct pd_symtab *table);
size_t pd_symtab_pages_size(const struct pd_symtab *table);
/** Each has room for that size; ends_out, where each page ends in the second part, for the number of pages. */
void pd_symtab_pack_pages(const struct pd_symtab *table, uint8_t *first, uint8_t *pages, uint64_t *ends_out);
/** pd_symtab_unpack of a whole table or of a first part. A table in pages takes over *pages, if it succeeds. */
bool pd_symtab_unpack_pages(struct pd_symtab **table_out, void *block, const uint8_t *data, size_t size,
			    const struct pd_symtab_pages *pages);
bool pd_symtab_is_in_pages(const struct pd_symtab *table);
/** Reads all pages of such a table, which does not need what it reads from any more. */
void pd_symtab_read_pages(struct pd_symtab *table);

#endif
