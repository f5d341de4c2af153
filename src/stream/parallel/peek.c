/* SPDX-License-Identifier: MIT */
#include "stream/parallel/peek.h"

enum {
	PIECES = 512, // and up to twice as many
	RECORDS = 4096,
	BYTES = 2 << 20,
};

struct peek {
	void (*show)(void *self, const struct pd_record *record);
	void *self;
	size_t parts; // of all that is shown
};

// What is wrong there is told when all of it is read.
static void peek_piece(const struct peek *peek, struct pd_stream *stream, struct pd_piece piece)
{
	const struct pd_record *record;
	struct pd_error unwanted;
	enum pd_status status;

	if (piece.end - piece.begin > BYTES / peek->parts)
		piece.end = piece.begin + BYTES / peek->parts;
	status = pd_stream_open_piece(stream, &piece, &unwanted);
	for (size_t i = 0; status == PD_OK && i < RECORDS / peek->parts; i++) {
		status = pd_stream_next(stream, &record, &unwanted);
		if (status == PD_OK && record->type == PD_RECORD_SAMPLE)
			peek->show(peek->self, record);
	}
}

enum pd_status pd_peek(struct pd_file *file, const struct pd_pieces *pieces,
		       void (*show)(void *self, const struct pd_record *record), void *self, struct pd_error *error)
{
	struct peek peek = { show, self, pieces->count < PIECES ? pieces->count : PIECES };
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	if (status < 0)
		return status;
	pd_stream_follow(stream, pieces);
	for (size_t i = 0; i < pieces->count; i += pieces->count / peek.parts)
		peek_piece(&peek, stream, pieces->items[i]);
	pd_stream_close(stream);
	show(self, NULL);
	return PD_OK;
}
