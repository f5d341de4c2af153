/* SPDX-License-Identifier: MIT */
/*
 * The inside of a filter: a list of tests. Each compares two operands and says which test is next, so that && || ! are
 * jumps and asking needs no stack. lex.c makes words of the text, name.c operands of names, parse.c tests; trace.c looks
 * tracepoints up, match.c asks, missing.c says which fields no event records.
 */
#ifndef PD_FILTER_FILTER_H
#define PD_FILTER_FILTER_H

#include <perfdata/filter.h>
#include <perfdata/trace.h>

#include "base/memory.h"
#include "format/layout.h"

enum {
	PD_FILTER_STEPS = 6,   // from a record to a field of a part of a part
	PD_FILTER_DEPTH = 200, // of brackets
	PD_FILTER_TEXT_MOST = 1 << 16,
	PD_FILTER_MOST = 1 << 15, // tests, operands
	PD_FILTER_YES = 0xffff,   // ends of the list of tests
	PD_FILTER_NO = 0xfffe,
};

enum pd_value_kind {
	PD_VALUE_NUMBER,
	PD_VALUE_REAL,
	PD_VALUE_TEXT,
	PD_VALUE_BYTES,
	PD_VALUE_ANY, // of an operand: known when it is read
};

struct pd_filter_value {
	enum pd_value_kind kind;
	bool negative; // number is the two's complement
	uint64_t number;
	double real;
	const char *text; // or bytes
	size_t size;
};

enum pd_source_kind {
	PD_FROM_CONSTANT,
	PD_FROM_TYPE,
	PD_FROM_MISC,
	PD_FROM_CPUMODE,
	PD_FROM_SIZE,
	PD_FROM_OFFSET,
	PD_FROM_TIME,
	PD_FROM_EVENT,
	PD_FROM_PID,
	PD_FROM_TID,
	PD_FROM_CPU,
	PD_FROM_PERIOD,
	PD_FROM_NAME,   // ask says which
	PD_FROM_RECORD, // a field of the records of one type
	PD_FROM_TRAILER,
	PD_FROM_ATTR,
	PD_FROM_TRACE,
};

struct pd_filter_operand {
	enum pd_source_kind from;
	enum pd_value_kind kind;
	enum pd_filter_ask ask;
	uint32_t type; // of the records
	const struct pd_field *steps[PD_FILTER_STEPS];
	size_t step_count;
	bool count;                   // the number of items of the last step
	uint8_t brief;                // offset in struct pd_brief, where the brief form has it
	uint8_t brief_size;           // 0: it does not
	uint8_t shift;                // a part of a word
	uint64_t mask;                // 0: all of it
	const struct pd_names *names; // of its values, or NULL
	size_t trace;                 // number among the fields of tracepoints
	struct pd_filter_value value; // of a constant
	size_t at, length;            // in the text
};

enum pd_filter_op {
	PD_TEST_TRUE, // left is not 0 or empty
	PD_TEST_EQ,
	PD_TEST_NE,
	PD_TEST_LT,
	PD_TEST_LE,
	PD_TEST_GT,
	PD_TEST_GE,
	PD_TEST_GLOB,
	PD_TEST_IN, // one of count operands from right on
};

struct pd_filter_test {
	enum pd_filter_op op;
	uint16_t left, right, count;
	uint16_t yes, no;
};

// A field of tracepoints, and where it stands in the raw data of each event.
struct pd_filter_trace {
	const char *event; // NULL: of any
	const char *field;
	size_t at;                    // in the text
	struct pd_trace_field *found; // by event; size 0: it has none
};

struct pd_filter {
	struct pd_arena arena; // texts
	char *text;
	uint32_t asks;
	uint16_t start;
	struct pd_filter_test *tests;
	size_t test_count, test_capacity;
	struct pd_filter_operand *operands;
	size_t operand_count, operand_capacity;
	struct pd_filter_trace *traces;
	size_t trace_count, trace_capacity;
	size_t bound; // events
	struct pd_trace *trace;
};

// ---- lex.c ----

enum pd_token_kind {
	PD_TOKEN_END,
	PD_TOKEN_WORD,
	PD_TOKEN_NUMBER,
	PD_TOKEN_TEXT,
	PD_TOKEN_SIGN, // one or two characters
};

struct pd_token {
	enum pd_token_kind kind;
	size_t at, length; // in the text
	char sign[3];
	struct pd_filter_value value; // of numbers and texts
};

// The token at *at, which moves past it. PD_ERROR_MEMORY, PD_ERROR_ARGUMENT.
enum pd_status pd_filter_lex(struct pd_filter *filter, size_t *at, struct pd_token *token_out, struct pd_error *error);
// A failure at a place in the text.
enum pd_status pd_filter_fail(struct pd_error *error, size_t at, const char *format, ...) PD_PRINTF(3, 4);

// ---- name.c ----

// The operand that a word names.
enum pd_status pd_filter_find(struct pd_filter *filter, const struct pd_token *token,
			      struct pd_filter_operand *operand_out, struct pd_error *error);
// The number that a word is for values of an operand: of a bit, a record type. False if it is none.
bool pd_filter_constant(const struct pd_filter_operand *operand, const char *word, size_t length, uint64_t *number_out);
// Fails because a word is no value of an operand.
enum pd_status pd_filter_no_constant(const struct pd_filter *filter, const struct pd_filter_operand *operand,
				     const struct pd_token *token, struct pd_error *error);

#endif
