/* SPDX-License-Identifier: MIT */
/*
 * Memory for what scrub writes anew for one record: taken piece by piece, given back all at once.
 */
#include "scrub.h"

#include <stdlib.h>
#include <string.h>

struct room_piece {
	struct room_piece *next;
	size_t size;
	max_align_t data[];
};

enum {
	PIECE_BYTES = 64 << 10
};

void *room_take(struct room *room, size_t size)
{
	size_t wanted = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	struct room_piece *piece = room->pieces;
	void *data;

	if (wanted < size)
		return NULL;
	if (!piece || piece->size - room->used < wanted) {
		size_t bytes = wanted > PIECE_BYTES ? wanted : PIECE_BYTES;

		if (bytes > SIZE_MAX - sizeof(*piece))
			return NULL;
		piece = malloc(sizeof(*piece) + bytes);
		if (!piece)
			return NULL;
		piece->next = room->pieces;
		piece->size = bytes;
		room->pieces = piece;
		room->total += bytes;
		room->used = 0;
	}
	data = (char *)piece->data + room->used;
	room->used += wanted;
	return memset(data, 0, size);
}

void room_reset(struct room *room)
{
	if (room->pieces && (room->pieces->next || room->pieces->size > PIECE_BYTES))
		room_fini(room);
	room->used = 0;
}

void room_fini(struct room *room)
{
	while (room->pieces) {
		struct room_piece *next = room->pieces->next;

		free(room->pieces);
		room->pieces = next;
	}
	room->used = room->total = 0;
}
