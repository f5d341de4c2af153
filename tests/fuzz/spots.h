/* SPDX-License-Identifier: MIT */
/*
 * Where the lines of a layout stand in the bytes of a struct: a decoded struct is walked along the table, and the
 * sizes of what is in it give the places.
 */
#ifndef PD_TEST_SPOTS_H
#define PD_TEST_SPOTS_H

#include "format/layout.h"

enum spot_kind {
	SPOT_NUMBER,
	SPOT_COUNT,
	SPOT_TEXT,
	SPOT_BYTES
};

struct spot {
	const struct pd_field *field;
	size_t at; // from the start of the struct
	size_t size;
	uint8_t kind;
	bool big;
};

enum {
	SPOT_LIMIT = 512
}; // of a struct with more lines, the first ones

struct spots {
	struct pd_scope scope; // words as before decoding
	bool big;
	size_t at; // where the walk is; at its end the size of all
	size_t count;
	struct spot items[SPOT_LIMIT];
};

void spots_find(struct spots *spots, const struct pd_layout *layout, const void *decoded);

#endif
