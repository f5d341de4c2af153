/* SPDX-License-Identifier: MIT */
#include "export/feed/line_texts.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/text.h"

bool pd_line_texts_put(const struct pd_line_texts *pieces, size_t number, struct pd_text *text)
{
	struct pd_bytes piece;

	if (!pd_line_texts_get(pieces, number, &piece))
		return false;
	pd_text_put(text, (const char *)piece.data, piece.size);
	return true;
}

struct pd_text *pd_line_texts_begin(struct pd_line_texts *pieces, size_t number)
{
	size_t before = pieces->count;

	if (!pieces->text)
		pieces->text = pd_text_new();
	if (!pieces->text || !PD_GROW(pieces->items, pieces->capacity, number + 1))
		return NULL;
	if (number >= before) {
		memset(pieces->items + before, 0, (number + 1 - before) * sizeof(*pieces->items));
		pieces->count = number + 1;
	}
	pieces->items[number] = (struct pd_line_text){ .at = pieces->text->size };
	return pieces->text;
}

bool pd_line_texts_keep(struct pd_line_texts *pieces, size_t number)
{
	struct pd_line_text *piece = &pieces->items[number];

	if (pieces->text->failed)
		return false;
	piece->size = pieces->text->size - piece->at;
	return true;
}

void pd_line_texts_fini(struct pd_line_texts *pieces)
{
	pd_text_free(pieces->text);
	pd_free(pieces->items);
}
