/* SPDX-License-Identifier: MIT */
/* The inside of struct pd_annotate: samples by function and address, and the code of one function as lines. */
#ifndef PD_ANNOTATE_INSIDE_H
#define PD_ANNOTATE_INSIDE_H

#include <perfdata/annotate.h>

#include "annotate/base.h"
#include "annotate/notation/notation.h"
#include "base/lookup/hash.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "base/text/text.h"

// ---- collect.c ----

/** Samples of an event at an address. */
struct pd_annotate_hit {
	uint64_t addr;
	uint32_t event; // of the file
	struct pd_annotate_sum sum;
};

/** A function with samples of any event. */
struct pd_annotate_hits {
	const struct pd_function *function;
	size_t first, count; // hits, by address and event
};

/** A function of a table. */
struct pd_annotate_entry {
	struct pd_annotate_function head; // first: what the user sees
	uint32_t hits;                    // which of pd_annotate.functions it is
};

struct pd_annotate_part {
	struct pd_annotate_table head;
	char *name;
	struct pd_annotate_entry *entries;
	struct pd_annotate_sum *sums; // of all entries, by event
	struct pd_annotate_sum *totals;
};

/** The symbols of an object in the order in which addresses are named by them. */
struct pd_labels;
/** Texts of source files. */
struct pd_source_files;
struct pd_blocks;

struct pd_annotate {
	struct pd_annotate_options options;
	struct pd_file *file;
	const struct pd_profile *profile;
	struct pd_symbols *symbols;
	struct pd_u64_map by_function; // index in functions, plus 1
	struct pd_annotate_hits *functions;
	size_t function_count, function_capacity;
	struct pd_annotate_hit *hits;
	size_t hit_count, hit_capacity;
	struct pd_annotate_part *parts;
	size_t part_count;
	struct pd_object_code *objects; // that were opened, see code.c
	struct pd_source_files *sources;
	struct pd_blocks *blocks;        // of branch stacks, or NULL
	struct pd_annotate_sum *unknown; // by event of the file: in no function
	struct pd_function *nameless;    // addresses that are in no function, by object and address
	size_t nameless_count, nameless_capacity;
	struct pd_arena texts;
	uint64_t listing; // number of the function that was listed last
};

/** Adds up the entries of the profile, and makes the tables. False without memory. */
bool pd_annotate_collect(struct pd_annotate *annotate);
bool pd_annotate_tables(struct pd_annotate *annotate);

// ---- objects.c ----

/** What code is for a machine of ELF. */
struct pd_code_kind pd_code_kind(uint32_t machine, bool wide, bool big, bool intel);

/** An object whose code is asked for; stays open, as several functions are asked for. */
struct pd_object_code {
	struct pd_object_code *next;
	const struct pd_dso *dso;
	struct pd_elf *elf; // NULL: not found
	const char *path;   // of the file that has the code, or of the object
	struct pd_found *found;
	struct pd_labels *labels;
	struct pd_code_kind kind;
	const struct pd_disassembler *library;
	void *disassembler; // a handle of it, or NULL
	void *other;        // of the other mode of ARM
	bool runtime;       // its code is in no object
	bool reported;      // why there is no code
};

/** The object of a dso, which may have been found or not; NULL without memory. */
struct pd_object_code *pd_annotate_object(struct pd_annotate *annotate, const struct pd_dso *dso);
void pd_annotate_close_objects(struct pd_annotate *annotate);

/** The library for a kind of code. */
const struct pd_disassembler *pd_disassembler_for(enum pd_isa isa);
/** Opens the disassemblers of an object. */
void pd_annotate_start(struct pd_object_code *object, struct pd_code_kind kind);

// ---- runtime.c ----

/** Finds code that is in no object: made by the program, or a BPF program. */
enum pd_status pd_annotate_runtime_code(struct pd_annotate_code *code, const struct pd_function *function,
					struct pd_error *error);

// ---- nameless.c ----

/** Gives addresses that are in no function something like one. False without memory. */
bool pd_annotate_find_nameless(struct pd_annotate *annotate);
/** What an address in no function belongs to, or NULL. */
const struct pd_function *pd_annotate_nameless_at(const struct pd_annotate *annotate, const struct pd_place *place);

// ---- code.c ----

struct pd_annotate_code {
	struct pd_annotate *annotate;
	const struct pd_annotate_part *part;
	const struct pd_annotate_entry *entry;
	struct pd_object_code *object;
	uint64_t start, end;
	const uint8_t *bytes;
	struct pd_arena texts;
	struct pd_text scratch;
	struct pd_annotate_line *lines;
	size_t line_count, line_capacity;
	struct pd_annotate_sum *sums; // by line and event
	bool failed;
	struct pd_annotate_branch *branches; // by line; NULL: no branch stacks
	struct pd_annotate_block *blocks;
	size_t block_count;
	double ipc, covered;
};

// ---- branches.c ----

/** What branch stacks say of the lines, once they are there. False without memory. */
bool pd_annotate_add_branches(struct pd_annotate_code *code);

// ---- lines.c ----

/** Fills the lines of a function. */
void pd_annotate_list(struct pd_annotate_code *code);

// ---- instruction.c ----

/** Instructions between two changes of mode. Zero at first. */
struct pd_stretch {
	uint64_t until; // where it ends
	bool data;
	struct pd_code_kind kind;
	void *disassembler;
	struct pd_raw_instruction raw;
	struct pd_notation_state notation;
};

/** The instruction at addr, of which size bytes are there. */
void pd_next_instruction(struct pd_stretch *stretch, const struct pd_object_code *object, const uint8_t *bytes,
			 size_t size, uint64_t addr, struct pd_notation *notation_out);
/** Appends the text of an instruction, with names of addresses. */
void pd_put_instruction(struct pd_labels *labels, const struct pd_notation *notation, struct pd_text *text);
/** Appends "<name+0x10>". */
void pd_put_label(struct pd_labels *labels, uint64_t addr, struct pd_text *text);

// ---- marks.c ----

struct pd_mark {
	uint64_t addr;
	char kind;    // a: ARM, t: Thumb, x: other code, d: data
	bool implied; // by a function
};

struct pd_marks {
	struct pd_mark *items;
	size_t count, capacity;
};

/** False without memory. */
bool pd_marks_add(struct pd_marks *marks, uint64_t addr, char kind, bool implied);
void pd_marks_sort(struct pd_marks *marks);
/** The kind at an address, 0 if nothing is said; and where that ends. */
char pd_marks_find(const struct pd_marks *marks, uint64_t addr, uint64_t *until_out);

// ---- labels.c ----

struct pd_label {
	uint64_t addr;
	const char *name;     // as linkers have it
	const char *readable; // once it was asked for
	uint64_t size;
	uint32_t section;
	uint32_t index; // in the order of the tables
	uint8_t type, bind;
	bool of_plt; // an entry of the PLT, for which the object has no symbol
};

/** NULL without memory. */
struct pd_labels *pd_labels_new(struct pd_elf *elf, struct pd_elf *debug);
void pd_labels_free(struct pd_labels *labels);
/** Its name as people wrote it, with parameters. */
const char *pd_label_name(struct pd_labels *labels, const struct pd_label *label);
/** A name of linkers as people wrote it; the same pointer if it is no mangled one. */
const char *pd_readable_name(struct pd_labels *labels, const char *name);
/** The one that names an address; NULL if there is none. */
const struct pd_label *pd_labels_find(const struct pd_labels *labels, uint64_t addr);
/** The first address after one at which a label begins, at most end. */
uint64_t pd_labels_next(const struct pd_labels *labels, uint64_t addr, uint64_t end);
/** The mark at an address, see marks.c. */
char pd_labels_mark(const struct pd_labels *labels, uint64_t addr, uint64_t *until_out);
/** The function at an address, or NULL. */
const struct pd_label *pd_labels_function(const struct pd_labels *labels, uint64_t addr);

// ---- source_files.c ----

struct pd_source_file {
	const char *path;
	const char *text; // NULL: it could not be read
	size_t size;
	size_t *line_starts;
	size_t line_count;
	uint32_t last_line, printed; // of the function that is listed
	uint64_t listing;            // which that is
};

struct pd_source_files *pd_source_files_new(void);
void pd_source_files_free(struct pd_source_files *files);
/** The file of a path; NULL without memory. */
struct pd_source_file *pd_source_file(struct pd_source_files *files, const char *path);
/** A line from 1 on; false past the end. */
bool pd_source_line(const struct pd_source_file *file, uint32_t line, const char **text_out, size_t *length_out);

#endif
