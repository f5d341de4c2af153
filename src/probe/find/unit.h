/* SPDX-License-Identifier: MIT */
/* What probes ask of debug information: the files of an object, and one of its units with functions and lines. */
#ifndef PD_PROBE_FIND_UNIT_H
#define PD_PROBE_FIND_UNIT_H

#include "object/dwarf/die.h"
#include "object/find/find.h"
#include "unwind/rules/arch.h"
#include "unwind/rules/table.h"

/** A row of the lines of a unit, in the order of addresses. */
struct pd_probe_row {
	uint64_t addr;
	const char *file;
	uint32_t line, order;
	bool is_statement, is_after_prologue, ends;
};

/** A unit that was read. */
struct pd_probe_unit {
	struct pd_probe_debug *debug;
	struct pd_die die;
	struct pd_die *functions; // entries of functions in their order, declarations too
	size_t function_count, function_capacity;
	struct pd_addr_piece *pieces; // which function has an address
	size_t piece_count;
	struct pd_probe_row *rows;
	size_t row_count, row_capacity;
	struct pd_unit_maker texts;
	struct pd_dwarf_files files;
	bool has_rows, has_pieces; // both are read when they are asked for
	bool failed;               // no memory
};

/** An object and its debug information. */
struct pd_probe_debug {
	struct pd_found files;
	struct pd_elf *object;    // its segments are those of the file that runs
	struct pd_elf *with_info; // the object or its debug file, whichever has debug information; NULL: none
	struct pd_debug_image image, shared_image;
	struct pd_elf *shared_file;
	struct pd_dwarf *dwarf, *shared;
	struct pd_die_locations locations;
	const struct pd_unwind_arch *arch; // NULL: not known
	struct pd_unwind_table rules;
	bool has_rules;
	struct pd_symtab *symbols;          // once it was asked for
	struct pd_probe_others **others[2]; // files of each unit of dwarf and of shared, see others.c
	size_t limit;
};

/** Opens an object with the debug file that belongs to it. Having no debug information is no error: dwarf is NULL then. Errors:
 * PD_ERROR_SYSTEM, PD_ERROR_FORMAT, PD_ERROR_MEMORY. */
enum pd_status pd_probe_debug_open(struct pd_probe_debug *debug, const struct pd_find_wanted *wanted,
				   const struct pd_find_places *places, struct pd_error *error);
/** The same for files that were found. */
enum pd_status pd_probe_debug_read(struct pd_probe_debug *debug, const struct pd_find_places *places,
				   struct pd_error *error);
void pd_probe_debug_close(struct pd_probe_debug *debug);
/** Its symbols; NULL if they cannot be read. */
const struct pd_symtab *pd_probe_debug_symbols(struct pd_probe_debug *debug);

/** Reads a unit by its number; false if there is nothing to read. Its memory is that of the unit before. */
bool pd_probe_unit_read(struct pd_probe_debug *debug, size_t number, struct pd_probe_unit *unit);
void pd_probe_unit_fini(struct pd_probe_unit *unit);

/** The path of a file by its number, or NULL. */
const char *pd_probe_unit_file(struct pd_probe_unit *unit, uint64_t number);
/** The path that ends with another one, or NULL. */
const char *pd_probe_unit_file_by_tail(struct pd_probe_unit *unit, const char *tail);
/** Whether one of two paths ends with the other one. */
bool pd_probe_same_tail(const char *a, const char *b);

// ---- others.c ----

/** The path of a file of a unit that was read, or NULL. */
const char *pd_probe_file_at(const struct pd_unit_maker *texts, struct pd_dwarf_files *files, uint64_t number);
/** The path of a file of the unit that an entry is in, or NULL. It lives as long as debug. False without memory. */
bool pd_probe_other_file(struct pd_probe_debug *debug, const struct pd_die *die, uint64_t number,
			 const char **file_out);
void pd_probe_others_fini(struct pd_probe_debug *debug);

// ---- unit.c ----

/** Where an entry was declared, with its origins; false if it is not known. */
bool pd_probe_declared(struct pd_probe_unit *unit, const struct pd_die *die, const char **file_out, uint32_t *line_out);
/** Where an inlined function was called. */
bool pd_probe_called(struct pd_probe_unit *unit, const struct pd_die *die, const char **file_out, uint32_t *line_out);
/** Whether an entry is a function that is no mere declaration. */
bool pd_probe_is_defined(const struct pd_die *die);
/** Whether it has code. */
bool pd_probe_is_instance(const struct pd_die *die);

/** The function that an address is in, inlined ones left aside; NULL if there is none. */
const struct pd_die *pd_probe_function_at(struct pd_probe_unit *unit, uint64_t addr);
/** The first inlined function below an entry that has an address. */
bool pd_probe_inlined_at(const struct pd_die *die, uint64_t addr, struct pd_die *die_out);
/** The file and line of an address: at the entry of a function those of its declaration. */
bool pd_probe_line_at(struct pd_probe_unit *unit, uint64_t addr, const char **file_out, uint32_t *line_out);

/** Called with lines, and where their code begins; false ends it. */
typedef bool pd_probe_line_fn(void *self, const char *file, uint32_t line, uint64_t addr);
/** All lines of a unit, or of the function or inlined function in it, also those where functions begin and are called. */
void pd_probe_each_line(struct pd_probe_unit *unit, const struct pd_die *die, pd_probe_line_fn *each, void *self);

#endif
