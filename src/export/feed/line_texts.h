/* SPDX-License-Identifier: MIT */
/* Text that is the same whenever a line, function or string of the tables is written: made once. */
#ifndef PD_EXPORT_FEED_LINE_TEXTS_H
#define PD_EXPORT_FEED_LINE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

struct pd_line_text {
	size_t at, size;
};

// Zeros are empty.
struct pd_line_texts {
	struct pd_text *text; // of all pieces
	struct pd_line_text *items;
	size_t count, capacity;
};

// The piece of a number, until another one is made; false if it is not made yet.
static inline bool pd_line_texts_get(const struct pd_line_texts *pieces, size_t number, struct pd_bytes *piece_out)
{
	const struct pd_line_text *piece = number < pieces->count ? &pieces->items[number] : NULL;

	if (!piece || !piece->size)
		return false;
	*piece_out = (struct pd_bytes){ .data = (const uint8_t *)pieces->text->data + piece->at, .size = piece->size };
	return true;
}

// Adds the piece of a number to a text; false if it is not made yet.
bool pd_line_texts_put(const struct pd_line_texts *pieces, size_t number, struct pd_text *text);
// The text that the piece of a number is to be added to, and then kept. NULL, and false, if there is no memory.
struct pd_text *pd_line_texts_begin(struct pd_line_texts *pieces, size_t number);
bool pd_line_texts_keep(struct pd_line_texts *pieces, size_t number);
void pd_line_texts_fini(struct pd_line_texts *pieces);

#endif
