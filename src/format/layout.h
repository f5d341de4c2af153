/* SPDX-License-Identifier: MIT */
/*
 * The tables as data: what walkers see (print, json, check, explain, and the filler and mutator of the tests).
 * decode.c and encode.c are expansions of the same lines as straight code.
 */
#ifndef PD_FORMAT_LAYOUT_H
#define PD_FORMAT_LAYOUT_H

#include "base/cursor.h"
#include "base/memory.h"
#include "base/buffer.h"

#include <perfdata/format.h>

// Words that conditions look at.
enum pd_word {
	PD_WORD_MISC,
	PD_WORD_SAMPLE_TYPE,
	PD_WORD_READ_FORMAT,
	PD_WORD_BRANCH_TYPE,
	PD_WORD_REGS_USER,
	PD_WORD_REGS_INTR,
	PD_WORD_TRAILER, // sample_type if the record has a sample_id, else 0
	PD_WORD_NRCPUS,
	PD_WORD_ATTR_SIZE,
	PD_WORD_SCHEDSTAT,
	PD_WORD_QUIRKS,
	PD_WORD_COUNT
};

// What decoding and encoding depend on besides the bytes.
struct pd_scope {
	uint64_t words[PD_WORD_COUNT];
	struct pd_arena *arena; // where decoded parts go
};

enum pd_line_kind {
	PD_LINE_END,
	PD_LINE_FIELD,
	PD_LINE_FLAGS,
	PD_LINE_TEXT,
	PD_LINE_CHARS,
	PD_LINE_ARRAY,
	PD_LINE_ONE,
	PD_LINE_AGAIN,
	PD_LINE_BOXED,
	PD_LINE_LIST,
	PD_LINE_RECORDS,
	PD_LINE_MORE, // no bytes: whether something follows
	PD_LINE_SET,  // no bytes: hands a member down as a word
	PD_LINE_ORDER // no bytes: byte order from here on
};

enum pd_kind {
	PD_KIND_NONE,
	PD_KIND_U8,
	PD_KIND_U16,
	PD_KIND_U32,
	PD_KIND_U64,
	PD_KIND_S32,
	PD_KIND_F64,
	PD_KIND_STR0,
	PD_KIND_CSTR,
	PD_KIND_PSTR
};

enum pd_show {
	PD_SHOW_DEC,
	PD_SHOW_HEX,
	PD_SHOW_ADDR,
	PD_SHOW_TIME,
	PD_SHOW_SIGNED,
	PD_SHOW_HIDDEN,
	PD_SHOW_NAMES,
	PD_SHOW_BITS,
	PD_SHOW_CHAIN,
	PD_SHOW_REGS
};

// Numbers that mean something in one recording only.
enum pd_role {
	PD_ROLE_NONE,
	PD_ROLE_ID,
	PD_ROLE_TASK
};

enum pd_when_op {
	PD_WHEN_ALWAYS,
	PD_WHEN_MASKED, // (word & mask) == want
	PD_WHEN_WORD_NOT,
	PD_WHEN_WORD_LEAST,
	PD_WHEN_WORD_BELOW,
	PD_WHEN_IS,
	PD_WHEN_NOT,
	PD_WHEN_LEAST,
	PD_WHEN_SINCE // wire_size is 0 or at least want
};

struct pd_when {
	uint8_t op;
	uint8_t word;
	uint8_t size; // of the member
	uint16_t offset;
	uint64_t mask;
	uint64_t want;
	const char *text;
};

enum pd_count_op {
	PD_COUNT_NONE,
	PD_COUNT_LEADING, // value: enum pd_kind
	PD_COUNT_MEMBER,
	PD_COUNT_FIXED,
	PD_COUNT_REST,
	PD_COUNT_POPCOUNT,
	PD_COUNT_BITS_OF,
	PD_COUNT_WORD,
	PD_COUNT_BITMAP,
	PD_COUNT_ATTR, // a BOXED attr, by its own size
	PD_COUNT_AFTER // of MORE, where value is the bytes (for each): only if the member is not 0
};

struct pd_counting {
	uint8_t op;
	uint8_t word;
	uint8_t size; // of the member
	uint16_t offset;
	uint32_t value;
	const char *text;
};

struct pd_field {
	const char *name;
	const char *doc;
	uint8_t line;
	uint8_t kind;
	uint8_t show;
	uint8_t role;
	uint8_t word; // REGS, SET
	uint16_t offset;
	uint16_t size; // of the member
	const struct pd_names *names;
	struct pd_when when;
	struct pd_counting count;
	const struct pd_layout *part;
};

enum pd_layout_form {
	PD_FORM_PART,
	PD_FORM_BOX,
	PD_FORM_BODY
};

struct pd_layout {
	const char *name;
	const char *doc;
	uint8_t form;
	bool plain; // numbers only, the same bytes in memory and in a little-endian file
	uint16_t min_size;
	uint16_t struct_size;
	const struct pd_field *(*fields)(size_t *count_out);
	void (*decode)(struct pd_cursor *c, struct pd_scope *s, void *out);
	void (*encode)(struct pd_buffer *p, struct pd_scope *s, const void *in);
};

struct pd_name {
	const char *text;
	int64_t value; // number, or position of the lowest bit
	uint8_t width; // 0 for a whole value
	const struct pd_names *values;
};

struct pd_names {
	const char *name;
	const char *doc;
	const struct pd_name *items;
	uint16_t count;
	bool bits;
};

// Names of NONE in a BIT line.
#define pd_names_NONE (*(const struct pd_names *)0)
#define BITS(SET, set, doc) extern const struct pd_names pd_names_##set;
#define ENUM(SET, set, doc) extern const struct pd_names pd_names_##set;
#include <perfdata/table/flag.def>

enum pd_layout_id {
#define PART(layout, doc) PD_LAYOUT_##layout,
#define BOX(layout, doc) PD_LAYOUT_##layout,
#define BODY(layout, doc) PD_LAYOUT_##layout,
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	PD_LAYOUT_COUNT
};
extern const struct pd_layout pd_layouts[PD_LAYOUT_COUNT];

// Bits of a condition's word: MASK_TRAILER(TIME).
#define MASK_MISC(BIT) PD_MASK(PD_MISC_##BIT)
#define MASK_SAMPLE_TYPE(BIT) PD_MASK(PD_SAMPLE_TYPE_##BIT)
#define MASK_TRAILER(BIT) PD_MASK(PD_SAMPLE_TYPE_##BIT)
#define MASK_READ_FORMAT(BIT) PD_MASK(PD_READ_FORMAT_##BIT)
#define MASK_BRANCH_TYPE(BIT) PD_MASK(PD_BRANCH_TYPE_##BIT)
#define MASK_QUIRKS(BIT) PD_MASK(PD_QUIRKS_##BIT)

// Bytes of a number on the wire.
#define WIRE_U8 1
#define WIRE_U16 2
#define WIRE_U32 4
#define WIRE_U64 8
#define WIRE_S32 4
#define WIRE_F64 8
#define WIRE_STR0 1
#define WIRE_CSTR 1
#define WIRE_PSTR 4

// Least bytes of each layout: PD_MIN_branch.
#define ALWAYS_ALWAYS 1
#define ALWAYS_HAS(W, B) 0
#define ALWAYS_LACKS(W, B) 0
#define ALWAYS_ONLY(W, B, O) 0
#define ALWAYS_IS(m, v) 0
#define ALWAYS_NOT(m, v) 0
#define ALWAYS_LEAST(m, v) 0
#define ALWAYS_WORD_IS(W, v) 0
#define ALWAYS_WORD_NOT(W, v) 0
#define ALWAYS_WORD_LEAST(W, v) 0
#define ALWAYS_WORD_BELOW(W, v) 0
#define ALWAYS_SINCE(n) 0
#define LEAD_LEADING(KIND) WIRE_##KIND
#define LEAD_MEMBER(m) 0
#define LEAD_FIXED(n) 0
#define LEAD_REST 0
#define LEAD_POPCOUNT(W) 0
#define LEAD_BITS_OF(m) 0
#define LEAD_WORD(W) 0
#define LEAD_BITMAP(m) 0
#define ITEMS_LEADING(KIND) 0
#define ITEMS_MEMBER(m) 0
#define ITEMS_FIXED(n) (n)
#define ITEMS_REST 0
#define ITEMS_POPCOUNT(W) 0
#define ITEMS_BITS_OF(m) 0
#define ITEMS_WORD(W) 0
#define ITEMS_BITMAP(m) 0
#define FIT_EXACT 1
#define FIT_CUT 0

#define PART(layout, doc) \
	enum {            \
	PD_MIN_##layout = 0
#define BOX(layout, doc) \
	enum {           \
	PD_MIN_##layout = 0
#define BODY(layout, doc) \
	enum {            \
	PD_MIN_##layout = 0
#define END(layout) \
	}           \
	;
#define FIELD(KIND, member, SHOW, WHEN, doc) +ALWAYS_##WHEN *WIRE_##KIND
#define FLAGS(KIND, member, set, WHEN, doc) +ALWAYS_##WHEN *WIRE_##KIND
#define TEXT(KIND, member, WHEN, doc) +ALWAYS_##WHEN *WIRE_##KIND
#define CHARS(member, bytes, FIT, WHEN, doc) +ALWAYS_##WHEN *FIT_##FIT *(bytes)
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) +ALWAYS_##WHEN *(LEAD_##COUNT + ITEMS_##COUNT * WIRE_##KIND)
#define ONE(layout, member, WHEN, doc) +ALWAYS_##WHEN *PD_MIN_##layout
#define LIST(layout, member, COUNT, WHEN, doc) +ALWAYS_##WHEN *(LEAD_##COUNT + ITEMS_##COUNT * PD_MIN_##layout)
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

// Whether lists of a layout can be used where they were read: its struct has no other bytes than the file.
#define PD_IS_PLAIN(layout) (PD_PLAIN_##layout && PD_MIN_##layout == sizeof(struct pd_##layout))

// Whether a layout is nothing but numbers that are always there: PD_PLAIN_branch.
#define PART(layout, doc) \
	enum {            \
	PD_PLAIN_##layout = 1
#define BOX(layout, doc) \
	enum {           \
	PD_PLAIN_##layout = 0
#define BODY(layout, doc) \
	enum {            \
	PD_PLAIN_##layout = 0
#define END(layout) \
	}           \
	;
#define FIELD(KIND, member, SHOW, WHEN, doc) *ALWAYS_##WHEN
#define FLAGS(KIND, member, set, WHEN, doc) *ALWAYS_##WHEN
#define TEXT(KIND, member, WHEN, doc) *0
#define CHARS(member, bytes, FIT, WHEN, doc) *0
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) *0
#define ONE(layout, member, WHEN, doc) *0
#define AGAIN(layout, member, WHEN, doc) *0
#define BOXED(layout, member, SIZE, WHEN, doc) *0
#define LIST(layout, member, COUNT, WHEN, doc) *0
#define RECORDS(member, NAME, doc) *0
#define SIZED() *0
#define MORE(member, NEED) *0
#define SET(WORD, member) *0
#define ORDER(member) *0
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

// Whether a field is there in a decoded struct.
bool pd_when_holds(const struct pd_when *when, const struct pd_scope *scope, const void *decoded);
// A number of 1, 2, 4 or 8 bytes in a decoded struct.
uint64_t pd_member(const void *decoded, size_t offset, size_t size);

// Bytes that a struct with SINCE lines says it takes, in a member `size`; 0 if there is none.
uint64_t pd_layout_said_size(const struct pd_layout *layout, const void *decoded);

// C bit-fields of a big-endian producer, counted from the other end, and back. bits is 32 or 64.
uint64_t pd_bits_from_big(const struct pd_names *set, uint64_t word, unsigned bits);
uint64_t pd_bits_to_big(const struct pd_names *set, uint64_t word, unsigned bits);

#endif
