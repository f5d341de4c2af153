/* SPDX-License-Identifier: MIT */
/*
 * Text back to structs, by walking their layout: the inverse of emit.h. The parser reads one statement, which is in
 * memory as a whole. Its failure sticks and knows its place; what could not be read is 0.
 *
 * Fields may stand in any order. Those that are left out are 0, counts of what is listed are counted, and ids are those
 * of the event.
 */
#ifndef PD_FORMAT_TEXT_PARSE_H
#define PD_FORMAT_TEXT_PARSE_H

#include "format/layout.h"

struct pd_parser {
	const char *start;
	const char *at;
	const char *end;
	struct pd_scope scope; // words of conditions; parts go to its arena
	enum pd_arch arch;     // for register names
	bool big;              // byte order of records in features
	uint64_t id;           // of the event, for ids that are left out
	unsigned depth;
	// the first failure
	const char *failed_at; // NULL while nothing failed
	const char *layout;    // where it failed; may be NULL
	const char *field;
	enum pd_status status;
	char reason[200];
};

struct pd_parser pd_parser(const char *text, size_t size, struct pd_arena *arena);
// The first failure wins.
void pd_parse_fail(struct pd_parser *p, const char *at, const char *format, ...) PD_PRINTF(3, 4);

// Passes over spaces, line ends, commas and comments. False at the end.
bool pd_parse_more(struct pd_parser *p);
// Takes a character if it is next.
bool pd_parse_take(struct pd_parser *p, char c);
void pd_parse_want(struct pd_parser *p, char c);
// Takes "key:" if it is next.
bool pd_parse_key(struct pd_parser *p, const char *key);
// A word of letters, digits, '_', '-' and '.', cut to fit; empty if there is none.
void pd_parse_word(struct pd_parser *p, char *word, size_t size);

uint64_t pd_parse_u64(struct pd_parser *p, uint64_t most);
uint16_t pd_parse_misc(struct pd_parser *p, uint32_t type);
uint64_t pd_parse_bits(struct pd_parser *p, const struct pd_names *names);
struct pd_bytes pd_parse_bytes(struct pd_parser *p);
const char *pd_parse_text(struct pd_parser *p);
struct pd_u64s pd_parse_u64s(struct pd_parser *p);

// Pieces of these, for fields.
enum {
	PD_PARSE_WORD = 64,
	PD_PARSE_MOST_DEPTH = 16
}; // layouts are not that deep
void *pd_parse_memory(struct pd_parser *p, size_t size);
size_t pd_parse_word_length(const struct pd_parser *p);
// The next thing is a text in quotes, or bytes.
bool pd_parse_at_bytes(struct pd_parser *p);
struct pd_bytes pd_parse_quoted(struct pd_parser *p);
// A number of so many bytes; negative ones have the same bits in an unsigned field.
uint64_t pd_parse_sized(struct pd_parser *p, size_t size);
// Seconds with a point, else ns; "none" is the largest number.
uint64_t pd_parse_time(struct pd_parser *p);
double pd_parse_f64(struct pd_parser *p);
// A number, or the name of a value.
uint64_t pd_parse_value(struct pd_parser *p, const struct pd_names *names, size_t size);

// Fields up to a '}', which is not taken, or the end. out is zeroed memory of layout->struct_size.
void pd_parse_struct(struct pd_parser *p, const struct pd_layout *layout, void *out);

#endif
