/* SPDX-License-Identifier: MIT */
/*
 * Spans of addresses that may overlap, cut into pieces that do not: at each address the span with the highest value
 * wins. Who has an address is one binary search then, whatever a hostile file nests.
 */
#ifndef PD_OBJECT_DWARF_PIECES_H
#define PD_OBJECT_DWARF_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lookup/search.h"

#define PD_PIECE_NONE UINT32_MAX

struct pd_span {
	uint64_t start;
	uint64_t end; // after it
	uint32_t value;
};

/** Goes to the start of the next one. */
struct pd_addr_piece {
	uint64_t start;
	uint32_t value; // PD_PIECE_NONE: none
	uint32_t zero;  // pieces are written to files as they are
};

/** Sorts the spans and makes the pieces (pd_free), no more than two for each span. False if there is no memory. */
bool pd_pieces_make(struct pd_span *spans, size_t count, struct pd_addr_piece **pieces_out, size_t *count_out);

/** The piece at an address, which may be PD_PIECE_NONE; NULL in front of the first one. */
static inline const struct pd_addr_piece *pd_pieces_at(const struct pd_addr_piece *pieces, size_t count, uint64_t addr)
{
	size_t at;

	if (!count || addr < pieces->start)
		return NULL;
	PD_SEARCH_LAST(at, count, i, pieces[i].start <= addr);
	return &pieces[at];
}

/** The value at an address, or PD_PIECE_NONE. */
static inline uint32_t pd_pieces_find(const struct pd_addr_piece *pieces, size_t count, uint64_t addr)
{
	const struct pd_addr_piece *piece = pd_pieces_at(pieces, count, addr);

	return piece ? piece->value : PD_PIECE_NONE;
}

#endif
