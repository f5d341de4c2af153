/* SPDX-License-Identifier: MIT */
/*
 * Debug information, as a foreign library reads it. The library gets an ELF image that was made for it (it opens no
 * file itself, and meets no headers but ours) and fills tables of our own.
 */
#ifndef PD_SYMBOL_DWARF_H
#define PD_SYMBOL_DWARF_H

#include "symbol/elf.h"
#include "symbol/unit_table.h"

/** The sections of a file that have debug information, uncompressed and relocated, as an ELF file in memory. */
struct pd_debug_image {
	uint8_t *data; // pd_free
	size_t size;
	bool big;
	size_t lines_at, lines_size; // its .debug_line
	uint64_t first_addr;         // there is no code below
	uint64_t sum;                // of what stands in it, to tell one from another
};

/** limit is the most bytes to take. PD_ERROR_UNSUPPORTED if the file has no debug information, PD_ERROR_LIMIT. */
enum pd_status pd_debug_image_make(struct pd_elf *elf, size_t limit, struct pd_debug_image *image_out,
				   struct pd_error *error);

/** Units that have code, in the order of the file, and where it is. */
struct pd_dwarf_units {
	uint64_t *offsets;
	size_t count, capacity;
	struct pd_span *spans; // value is the unit
	size_t span_count, span_capacity;
};

struct pd_dwarf;

/** What a library does; open is NULL if none is built in. */
struct pd_dwarf_reader {
	const char *name;
	const char *use;
	const char *(*version)(void);
	/** Both images must live until close, shared (which may be NULL) longer. NULL if it cannot be read. */
	struct pd_dwarf *(*open)(struct pd_debug_image *image, struct pd_dwarf *shared);
	void (*close)(struct pd_dwarf *dwarf);
	/** Adds to units; false without memory. */
	bool (*units)(struct pd_dwarf *dwarf, struct pd_dwarf_units *units);
	/** Fills a maker with a unit; false without memory. What cannot be read is left out. */
	bool (*unit)(struct pd_dwarf *dwarf, uint64_t offset, struct pd_unit_maker *maker);
	/** About how many bytes it keeps of the units that it read. */
	size_t (*taken)(const struct pd_dwarf *dwarf);
};

extern const struct pd_dwarf_reader pd_dwarf_reader;

#endif
