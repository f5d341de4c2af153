/* SPDX-License-Identifier: MIT */
/*
 * Where the lines of a layout stand in the bytes of a struct: a decoded struct is walked along the table, and the
 * sizes of what is in it give the places.
 */
#ifndef PD_TEST_RANGES_H
#define PD_TEST_RANGES_H

#include "format/layout.h"

enum field_range_kind {
	RANGE_NUMBER,
	RANGE_COUNT,
	RANGE_TEXT,
	RANGE_BYTES
};

struct field_range {
	const struct pd_field *field;
	size_t at; // from the start of the struct
	size_t size;
	uint8_t kind;
	bool big;
};

enum {
	RANGE_LIMIT = 512
}; // of a struct with more lines, the first ones

struct field_ranges {
	struct pd_scope scope; // words as before decoding
	bool big;
	size_t at; // where the walk is; at its end the size of all
	size_t count;
	struct field_range items[RANGE_LIMIT];
};

void field_ranges_find(struct field_ranges *ranges, const struct pd_layout *layout, const void *decoded);

#endif
