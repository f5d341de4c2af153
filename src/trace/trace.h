/* SPDX-License-Identifier: MIT */
/*
 * The inside of formats of tracepoints: fields, the expressions of "print fmt" as trees, and the pieces of its format
 * string. All of it is built from hostile text: expressions have a greatest size, so that walking their trees may recurse.
 * Where perf 6.1 does other than the kernel, this does as perf.
 */
#ifndef PD_TRACE_TRACE_H
#define PD_TRACE_TRACE_H

#include <perfdata/trace.h>

#include "base/memory.h"

enum {
	PD_TRACE_NODES = 1000,          // of an expression, so that its tree is not deeper
	PD_TRACE_FORMAT_MOST = 1 << 17, // bytes of a format that is parsed
	PD_TRACE_TEXT_MOST = 1 << 20,   // bytes that one sample prints, about
	PD_TRACE_FOUND = 64,            // events whose formats are found at once
	PD_TRACE_WIDTH_MOST = 4096,     // of a number or text
	PD_TRACE_PAD_MOST = 32,         // width of a number that is printed without printf
};

struct pd_member {
	struct pd_trace_field field;
	uint32_t element_size; // of an array
	bool is_array, is_dynamic, is_relative, is_pointer, is_long;
	bool found_unprintable; // its text turned out to be none: from there on it is shown as bytes
};

// The numbers show in messages.
enum pd_node_kind {
	PD_NODE_NONE = 0, // the left side of an operator that has one side
	PD_NODE_ATOM = 1,
	PD_NODE_FIELD = 2,
	PD_NODE_FLAGS = 3,
	PD_NODE_SYMBOL = 4,
	PD_NODE_HEX = 5,
	PD_NODE_INT_ARRAY = 6,
	PD_NODE_CAST = 7,
	PD_NODE_STRING = 8,
	PD_NODE_DYNAMIC = 10,
	PD_NODE_OP = 11,
	PD_NODE_BITMASK = 13,
	PD_NODE_DYNAMIC_LENGTH = 14,
	PD_NODE_HEX_STRING = 15,
};

// Operators of two characters are the first one and this.
#define PD_OP_TWICE 128 // && || << >>
#define PD_OP_EQUAL 256 // <= >= == !=

struct pd_choice_of_value {
	int64_t value; // -1: not a number
	const char *text;
	struct pd_choice_of_value *next;
};

struct pd_node {
	enum pd_node_kind kind;
	unsigned op;
	bool constant;             // number is its value
	uint64_t number;           // of an atom; mask of a cast
	const char *text;          // of an atom; delimiter of flags, or NULL
	struct pd_member *member;  // may be NULL
	struct pd_node *a, *b, *c; // sides; what flags are of; array, count and size of an item
	struct pd_choice_of_value *choices;
};

enum pd_piece_kind {
	PD_PIECE_TEXT,
	PD_PIECE_NUMBER,
	PD_PIECE_POINTER,
	PD_PIECE_STRING
};

// A part of the format string: text, or a conversion and its arguments.
struct pd_format_piece {
	enum pd_piece_kind kind;
	const char *text; // or the conversion, with only one *
	size_t size;
	int longs;                         // -2: hh, 2: ll
	char conversion;                   // its character
	bool simple;                       // it is a number with nothing but a width, longs and the conversion
	char pad_char;                     // that fills the width of a simple one
	unsigned pad;                      // this width
	char more[4];                      // characters after p
	const struct pd_node *arg, *width; // width: of a *, or NULL
};

struct pd_format {
	uint64_t id;
	const char *system;
	struct pd_bytes text;
	bool read;   // the members below are there
	bool usable; // the fields could be parsed
	bool failed; // the expressions could not
	struct pd_member *members;
	size_t member_count;
	const struct pd_format_piece *pieces;
	size_t piece_count;
};

// Of an event; NULL: not found yet.
struct pd_found_format {
	const struct pd_event *event;
	struct pd_format *format;
};

struct pd_printk {
	uint64_t addr;
	const char *text;
};

struct pd_trace {
	struct pd_file *file;
	struct pd_trace_options options;
	struct pd_arena arena;
	const struct pd_tracing_data *data; // NULL: not there yet
	bool own_data;                      // it came in a record
	bool big;
	unsigned long_size;
	struct pd_format *formats; // by id
	size_t format_count;
	struct pd_found_format found[PD_TRACE_FOUND]; // by event
	struct pd_printk *printks;                    // by address
	size_t printk_count;
	bool printks_read;
	bool lacks_memory; // some of a format could not be kept
};

// Fields and expressions of a format. Without memory they are less than there are.
void pd_trace_read_format(struct pd_trace *trace, struct pd_format *format);
bool pd_trace_read_fields(struct pd_trace *trace, struct pd_format *format, struct pd_bytes *print_out);
struct pd_member *pd_trace_find_member(const struct pd_format *format, const char *name, size_t length);
// The tree of the expression at *at, which moves past it. NULL if perf could not read it.
struct pd_node *pd_trace_expression(struct pd_trace *trace, const struct pd_format *format, const char **at,
				    const char *end);
uint64_t pd_trace_value_of_two(unsigned op, uint64_t a, uint64_t b);
// Notes which parts of a tree are always the same.
void pd_trace_find_constants(struct pd_node *node);
// White space and what is in a string literal, the quotes taken away. NULL: there is none.
char *pd_trace_literal(struct pd_trace *trace, const char **at, const char *end);
const char *pd_trace_skip_space(const char *at, const char *end);

// address.c: the kind is i (padded with zeros) or I, the order n, b, h or l; more is what comes after %p, as I6c.
void pd_trace_put_ip4(struct pd_text *text, const uint8_t *b, char kind, char order);
void pd_trace_put_ip6(struct pd_text *text, const uint8_t *b, const char *more);
// The fields of an event one after another, whatever its format prints: " NAME=VALUE".
void pd_trace_print_members(struct pd_trace *trace, struct pd_format *format, struct pd_bytes raw,
			    struct pd_text *text);
// The same of an event. False, with no output, if its format is unknown.
bool pd_trace_print_fields(struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw,
			   struct pd_text *text);
void pd_trace_print_format(struct pd_trace *trace, struct pd_format *format, struct pd_bytes raw, struct pd_text *text);
// Byte order of raw data, once a format was found.
bool pd_trace_is_big(const struct pd_trace *trace);
// Whether formats were read in part, because there was no memory.
bool pd_trace_lacks_memory(const struct pd_trace *trace);
// System and name of a tracepoint, by its format. False if the format is unknown.
bool pd_trace_name(struct pd_trace *trace, const struct pd_event *event, const char **system_out,
		   struct pd_bytes *name_out);
// The format of an event; NULL if it is unknown.
struct pd_format *pd_trace_format_of(struct pd_trace *trace, const struct pd_event *event);
// The index-th field of an event, common fields first; NULL past the end or if the format is unknown.
const struct pd_member *pd_trace_member_at(struct pd_trace *trace, const struct pd_event *event, size_t index);
// What the format of an event prints for bits of a field: the choices of the first __print_flags of it. NULL: nothing.
const struct pd_choice_of_value *pd_trace_flags(struct pd_trace *trace, const struct pd_event *event,
						const char *field);
void pd_trace_print_member(struct pd_trace *trace, struct pd_member *member, struct pd_bytes raw, struct pd_text *text);
const char *pd_trace_find_printk(struct pd_trace *trace, uint64_t addr);

#endif
