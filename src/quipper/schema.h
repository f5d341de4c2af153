/* SPDX-License-Identifier: MIT */
/* The messages of PerfDataProto as data, see schema.def. */
#ifndef PD_QUIPPER_SCHEMA_H
#define PD_QUIPPER_SCHEMA_H

#include "format/layout.h"

enum pd_quipper_type {
	PD_QUIPPER_U32,
	PD_QUIPPER_U64,
	PD_QUIPPER_BOOL,
	PD_QUIPPER_STRING,
	PD_QUIPPER_BYTES,
	PD_QUIPPER_MESSAGE
};

enum pd_quipper_how {
	PD_QUIPPER_NUMBER,
	PD_QUIPPER_ALSO,
	PD_QUIPPER_ALWAYS,
	PD_QUIPPER_EITHER,
	PD_QUIPPER_BIT,
	PD_QUIPPER_NUMBERS,
	PD_QUIPPER_ID,
	PD_QUIPPER_CPUS,
	PD_QUIPPER_OUT,
	PD_QUIPPER_TEXT,
	PD_QUIPPER_MD5,
	PD_QUIPPER_ROOT,
	PD_QUIPPER_ROOT_MD5,
	PD_QUIPPER_TEXTS,
	PD_QUIPPER_MD5S,
	PD_QUIPPER_HEX,
	PD_QUIPPER_DATA,
	PD_QUIPPER_LENGTH,
	PD_QUIPPER_TAIL,
	PD_QUIPPER_PART,
	PD_QUIPPER_HERE,
	PD_QUIPPER_LIST,
	PD_QUIPPER_NO_INDEX,
	PD_QUIPPER_TRAILER,
	PD_QUIPPER_OTHER,
	PD_QUIPPER_EVENT
};

enum pd_quipper_message_id {
#define MESSAGE(Name, layout) PD_QUIPPER_##Name,
#include "quipper/schema.def"
	PD_QUIPPER_MESSAGE_COUNT
};

struct pd_quipper_line {
	const char *name;
	const char *member; // NULL: of no struct
	uint8_t number;
	uint8_t type; // enum pd_quipper_type
	uint8_t how;  // enum pd_quipper_how
	bool repeated;
	bool inside;                         // the member is in the struct that `pointer` points to
	uint8_t shift, width;                // of bits
	uint16_t offset, size;               // of the member
	uint16_t other_offset;               // of a second member
	uint16_t other_size;                 // of that
	uint16_t item;                       // offset in each item of a list
	uint16_t pointer;                    // offset
	const char *pointer_name;            // and its member
	const struct pd_layout *part_layout; // of what is pointed to, or of items
	enum pd_quipper_message_id part;
	uint32_t value; // or type of records
};

struct pd_quipper_message {
	const struct pd_layout *layout;
	const struct pd_quipper_line *lines;
	size_t count;
};

enum {
	PD_QUIPPER_MOST_LINES = 49
};

struct pd_quipper_message pd_quipper_message(enum pd_quipper_message_id id);
// A line by the number or name of its field, the first one; NULL: there is none.
const struct pd_quipper_line *pd_quipper_by_number(enum pd_quipper_message_id message, uint32_t number);
const struct pd_quipper_line *pd_quipper_by_name(enum pd_quipper_message_id message, const char *name, size_t length);
// The line of PerfEvent for a type of records; NULL: there is none.
const struct pd_quipper_line *pd_quipper_event(uint32_t type);

// When members are there, as the tables say.
struct pd_quipper_plan {
	const struct pd_field *fields[PD_QUIPPER_MESSAGE_COUNT][PD_QUIPPER_MOST_LINES];
	const struct pd_field *pointers[PD_QUIPPER_MESSAGE_COUNT][PD_QUIPPER_MOST_LINES];
};

void pd_quipper_plan_init(struct pd_quipper_plan *plan);

#endif
