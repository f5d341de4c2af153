/* SPDX-License-Identifier: MIT */
/*
 * Lines and inlined functions of one unit of debug information as flat arrays: line entries say which line the code from an
 * address on comes from, and which function it is in; links, what that was inlined into.
 * A maker is filled in any order. A table is one block of memory that can be written to a file and used again; it is
 * checked before, so that a hostile one gives wrong answers at worst.
 */
#ifndef PD_OBJECT_DWARF_UNIT_TABLE_H
#define PD_OBJECT_DWARF_UNIT_TABLE_H

#include "base/lookup/hash.h"
#include "object/dwarf/lines.h"
#include "object/dwarf/pieces.h"

#define PD_NO_TEXT UINT32_MAX
#define PD_NO_SCOPE PD_PIECE_NONE

/** Which line the code comes from, up to the address of the next one. */
struct pd_unit_row {
	uint64_t addr;
	uint32_t file; // a text; PD_NO_TEXT: there is no code
	uint32_t line;
};

/** A function, or what was inlined into one. */
struct pd_unit_scope {
	uint32_t name;      // a text
	uint32_t parent;    // of what was inlined: the scope that it stands in, an earlier one; else PD_NO_SCOPE
	uint32_t call_file; // of what was inlined: a text
	uint32_t call_line;
};

/** Zeroed memory with a limit is an empty one. Its failure sticks. */
struct pd_unit_maker {
	size_t limit; // most bytes to take; 0 means 1 GiB
	struct pd_unit_row *rows;
	size_t row_count, row_capacity;
	struct pd_unit_scope *scopes;
	size_t scope_count, scope_capacity;
	struct pd_span *spans; // value is the scope
	size_t span_count, span_capacity;
	char *texts;
	size_t texts_size, texts_capacity;
	struct pd_index index; // of texts: where they begin
	bool failed;
};

/* In names of functions after their scope, where debug information has no name of the linker: "app::", the mark, "f". */
enum {
	PD_SCOPE_MARK = '\001'
};

/** A text by its number; the same one for equal texts. PD_NO_TEXT for NULL, and on failure. */
uint32_t pd_unit_maker_text(struct pd_unit_maker *maker, const char *text);
/** Rows of later calls hide those of earlier ones at the same address, but for those without code. */
void pd_unit_maker_row(struct pd_unit_maker *maker, const struct pd_unit_row *row);
/** Returns its number; PD_NO_SCOPE on failure. Of scopes that cover an address the last one has it. */
uint32_t pd_unit_maker_scope(struct pd_unit_maker *maker, const struct pd_unit_scope *scope);
void pd_unit_maker_span(struct pd_unit_maker *maker, uint64_t start, uint64_t end, uint32_t scope);
void pd_unit_maker_fini(struct pd_unit_maker *maker);

// ---- the layout of a table, in the byte order of the machine ----

enum {
	PD_UNIT_RANGES = 64
}; // most of them

#define PD_UNIT_LAST UINT32_C(0x80000000)
#define PD_UNIT_JUMP UINT32_C(0x7fffffff)

/** After it: ranges, entries, links, texts. */
struct pd_unit_head {
	uint32_t range_count, entry_count, link_count, texts_size;
};

/** Offsets of entries from the first one on count from the start; ranges lie far apart. */
struct pd_unit_range {
	uint64_t start;
	uint32_t first;
	uint32_t zero;
};

/** Goes to the next one, also into the next range. */
struct pd_unit_entry {
	uint32_t offset;
	uint32_t file; // a text; PD_NO_TEXT: there is no line
	uint32_t line;
	uint32_t chain; // the link of its scope, or PD_NO_SCOPE
};

/** A scope, the one that it stands in is the next link. */
struct pd_unit_link {
	uint32_t name;      // a text, with PD_UNIT_LAST if it was not inlined; or PD_UNIT_JUMP
	uint32_t call_file; // a text; of a jump: the link where the chain goes on
	uint32_t call_line;
};

/** Where to look for entries of a range: steps of the same length. */
struct pd_unit_index {
	uint64_t start;
	uint32_t first, count; // steps
};

struct pd_unit_table {
	const void *block;
	void *owned; // the same, or NULL if it is somebody else's
	size_t size;
	const struct pd_unit_range *ranges;
	const struct pd_unit_entry *entries;
	const struct pd_unit_link *links;
	const char *texts;
	uint32_t range_count, entry_count, link_count, texts_size;
	struct pd_unit_index *indexes;
	const uint32_t *steps; // in the block of the indexes
	unsigned shift;
};

/** Makes the table and empties the maker, also on failure. False if memory ran out or the limit was reached. */
bool pd_unit_table_make(struct pd_unit_maker *maker, struct pd_unit_table *table_out);
/** Takes a block of pd_alloc that was the one of a table, also on failure. False if it cannot be one. */
bool pd_unit_table_take(struct pd_unit_table *table_out, void *block, size_t size);
/** The same with a block that stays the caller's, as long as the table. It is 8-aligned. */
bool pd_unit_table_use(struct pd_unit_table *table_out, const void *block, size_t size);
void pd_unit_table_fini(struct pd_unit_table *table);

/** See pd_lines_find. */
size_t pd_unit_table_find(const struct pd_unit_table *table, uint64_t addr, struct pd_lines_frame *frames_out,
			  size_t capacity);

#endif
