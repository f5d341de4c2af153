/* SPDX-License-Identifier: MIT */
/*
 * What samples have in common, once each: strings, functions, addresses and stacks, numbered by first use. Strings are made
 * harmless here, for all formats: valid UTF-8 without control characters and direction overrides.
 */
#ifndef PD_STACK_TABLES_H
#define PD_STACK_TABLES_H

#include <perfdata/symbol.h>

#include "base/lookup/hash.h"
#include "base/memory.h"

struct pd_table_string {
	const char *text; // ends with NUL, which it has nowhere else
	size_t size;
};

// Number 0 is no object.
struct pd_table_object {
	const struct pd_dso *dso;
	uint32_t name, path; // strings: short, and in full
	uint32_t build_id;   // string of hexadecimal digits, or 0
	struct pd_build_id id;
	bool kernel;
};

// A mapping as one process had it; others may have it elsewhere. Number 0 is none.
struct pd_table_mapping {
	uint32_t object;
	uint64_t start, end, pgoff;
};

struct pd_table_function {
	uint32_t name;   // string, never empty
	uint32_t linker; // string: as in the symbol table
	uint32_t file;   // string, or 0
	uint32_t object;
	uint64_t start; // in the object
	bool known;     // else it stands for all addresses of the object without a name
};

// A function at an address: itself or inlined.
struct pd_table_line {
	uint32_t function;
	uint32_t line; // 0: unknown
	uint32_t file; // string, or 0
	bool inlined;
};

// A distinct address.
struct pd_table_frame {
	uint32_t mapping, object;
	struct pd_place place; // recorded as one process had it
	unsigned cpumode;
	bool is_mark;                    // no address: it stands for callers that are not known
	uint32_t first_line, line_count; // innermost first; at least one
};

enum {
	PD_STACKS_AT_ONCE = 64
};

// A stack is a frame and the stack of its callers. Number 0 is the empty one.
struct pd_table_stack {
	uint32_t parent;
	uint32_t frame;
	uint32_t path; // a hash of all its frames
};

// A stack by itself, for who wants no stacks of callers: its frames are `count` of tables.whole_frames, innermost first. Number 0 is empty.
struct pd_table_whole {
	size_t at;
	uint32_t count;
};

struct pd_tables {
	uint64_t seed;
	struct pd_symbols *symbols;
	const struct pd_state *state;
	bool no_lines; // of source: each address is one function
	struct pd_arena arena;
	struct pd_table_string *strings;
	size_t string_count, string_capacity;
	struct pd_index string_index;
	struct pd_table_object *objects;
	size_t object_count, object_capacity;
	uint32_t *object_of; // by index of the dso
	size_t object_of_capacity;
	struct pd_table_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct pd_index mapping_index;
	struct pd_table_function *functions;
	size_t function_count, function_capacity;
	uint32_t *function_of, *unnamed_of; // by index of the function, of the object: number and 1
	size_t function_of_capacity, unnamed_of_capacity;
	struct pd_table_line *lines;
	size_t line_count, line_capacity;
	struct pd_table_frame *frames;
	size_t frame_count, frame_capacity;
	struct pd_table_stack *stacks;
	size_t stack_count, stack_capacity;
	struct pd_index stack_index;
	bool whole_stacks; // numbers of stacks are those of `wholes`; stacks has the empty one alone
	struct pd_table_whole *wholes;
	size_t whole_count, whole_capacity;
	uint32_t *whole_frames;
	size_t whole_frame_count, whole_frame_capacity;
	uint32_t *expanded; // see pd_tables_expand
	size_t expanded_capacity;
	bool failed; // there was no memory: numbers may be 0
};

void pd_tables_init(struct pd_tables *tables, uint64_t seed);
void pd_tables_fini(struct pd_tables *tables);

// The number of a string, made harmless. 0 is the empty one.
uint32_t pd_tables_string(struct pd_tables *tables, const char *text, size_t size);
uint32_t pd_tables_text(struct pd_tables *tables, const char *text);
// Adds an address, the next number. location NULL: nothing is mapped.
uint32_t pd_tables_add_frame(struct pd_tables *tables, const struct pd_place *place, const struct pd_location *location,
			     unsigned cpumode);
// Adds a frame that stands for callers that are not known.
uint32_t pd_tables_add_mark(struct pd_tables *tables, const char *name);
// The number of a stack.
uint32_t pd_tables_stack(struct pd_tables *tables, uint32_t parent, uint32_t frame);
// The numbers of stacks of which each is the parent of the one before, the last one has this parent. count is at most
// PD_STACKS_AT_ONCE.
void pd_tables_stacks(struct pd_tables *tables, uint32_t parent, const uint32_t *frames, size_t count,
		      uint32_t *stacks_out);
// The number of a stack if stacks are whole: so many frames must have been added to whole_frames, by pd_tables_whole_frame. They are kept
// if they are new.
uint32_t pd_tables_whole(struct pd_tables *tables, size_t count);
// Adds a frame, innermost first. False if there is no memory.
static inline bool pd_tables_whole_frame(struct pd_tables *tables, size_t at, uint32_t frame)
{
	if (!PD_GROW(tables->whole_frames, tables->whole_frame_capacity, tables->whole_frame_count + at + 1)) {
		tables->failed = true;
		return false;
	}
	tables->whole_frames[tables->whole_frame_count + at] = frame;
	return true;
}
// How many stacks there are, the empty one among them.
static inline size_t pd_tables_stack_count(const struct pd_tables *tables)
{
	return tables->whole_stacks ? tables->whole_count : tables->stack_count;
}
// The frames of a stack, innermost first. Valid until the next call.
const uint32_t *pd_tables_frames(struct pd_tables *tables, uint32_t stack, size_t *count_out);
// The lines of a stack, innermost first, with inlined functions. Valid until the next call.
const uint32_t *pd_tables_expand(struct pd_tables *tables, uint32_t stack, size_t *count_out);

// By line: the frame that it is of. To be freed with pd_free; NULL if there is no memory.
uint32_t *pd_tables_frames_of_lines(const struct pd_tables *tables);

// The frame of a stack that is not empty which called no other one.
static inline uint32_t pd_tables_innermost(const struct pd_tables *tables, uint32_t stack)
{
	return tables->whole_stacks ? tables->whole_frames[tables->wholes[stack].at] : tables->stacks[stack].frame;
}

static inline const char *pd_tables_text_of(const struct pd_tables *tables, uint32_t string)
{
	return tables->strings[string].text;
}

static inline const struct pd_table_function *pd_tables_function_of(const struct pd_tables *tables, uint32_t line)
{
	return &tables->functions[tables->lines[line].function];
}

#endif
