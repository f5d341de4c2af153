/* SPDX-License-Identifier: MIT */
/* Text that is the same whenever a line of the tables is written: made once. */
#ifndef PD_EXPORT_FEED_LINE_TEXTS_H
#define PD_EXPORT_FEED_LINE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_text;

struct pd_line_text {
	size_t at, size;
};

// Zeros are empty.
struct pd_line_texts {
	struct pd_text *text; // of all pieces
	struct pd_line_text *items;
	size_t count, capacity;
};

// Adds the piece of a number to a text; false if it is not made yet.
bool pd_line_texts_put(const struct pd_line_texts *pieces, size_t number, struct pd_text *text);
// The text that the piece of a number is to be added to, and then kept. NULL, and false, if there is no memory.
struct pd_text *pd_line_texts_begin(struct pd_line_texts *pieces, size_t number);
bool pd_line_texts_keep(struct pd_line_texts *pieces, size_t number);
void pd_line_texts_fini(struct pd_line_texts *pieces);

#endif
