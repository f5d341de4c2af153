/* SPDX-License-Identifier: MIT */
#include "stream/cut/walk.h"

#include "base/error.h"
#include "stream/cut/pieces.h"

struct pd_known_file {
	struct pd_file *file;
	struct pd_pieces pieces;
};

struct pd_walk {
	const struct pd_known_file *known;
	struct pd_stream *stream;
	struct pd_pieces pieces; // a copy, of what is wanted
	bool by_piece;           // else the stream has all of them
	size_t next;             // piece
};

// ---- the pass ----

enum pd_status pd_known_file_new(struct pd_file *file,
				 enum pd_status (*record)(void *self, struct pd_stream *stream,
							  const struct pd_record *record, struct pd_error *error),
				 void *self, struct pd_known_file **known_out, struct pd_error *error)
{
	struct pd_visitor visitor = { .self = self, .record = record };
	struct pd_known_file *known;
	struct pd_stream *stream;
	enum pd_status status;

	if (!pd_pieces_possible(file))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: a pipe can be read only once unless it is buffered", pd_file_name(file));
	known = pd_alloc(sizeof(*known));
	if (!known)
		return pd_fail_memory(error);
	known->file = file;
	status = pd_stream_open(file, NULL, &stream, error);
	if (status >= 0) {
		status = pd_pieces_pass(&known->pieces, stream, &visitor, 1, error);
		pd_stream_close(stream);
	}
	if (status < 0)
		pd_known_file_free(known);
	else
		*known_out = known;
	return status;
}

void pd_known_file_free(struct pd_known_file *known)
{
	if (!known)
		return;
	pd_pieces_fini(&known->pieces);
	pd_free(known);
}

uint64_t pd_known_file_records(const struct pd_known_file *known)
{
	return known->pieces.record_count;
}

void pd_known_file_times(const struct pd_known_file *known, uint64_t *first_ns_out, uint64_t *last_ns_out)
{
	const struct pd_times *times = &known->pieces.times;
	bool any = times->oldest_ns <= times->newest_ns;

	*first_ns_out = any ? times->oldest_ns : 0;
	*last_ns_out = any ? times->newest_ns : 0;
}

// ---- walks ----

static bool copy_pieces(struct pd_walk *walk)
{
	const struct pd_pieces *pieces = &walk->known->pieces;

	walk->pieces = *pieces;
	walk->pieces.items = pd_realloc(NULL, (pieces->count + 1) * sizeof(*pieces->items));
	if (!walk->pieces.items)
		return false;
	if (pieces->count)
		memcpy(walk->pieces.items, pieces->items, pieces->count * sizeof(*pieces->items));
	return true;
}

enum pd_status pd_walk_new(const struct pd_known_file *known, enum pd_order order, uint64_t from_ns, uint64_t to_ns,
			   struct pd_walk **walk_out, struct pd_error *error)
{
	struct pd_walk *walk = pd_alloc(sizeof(*walk));
	enum pd_status status;

	if (!walk)
		return pd_fail_memory(error);
	walk->known = known;
	walk->by_piece = order == PD_ORDER_FILE && !known->pieces.once;
	if (!copy_pieces(walk)) {
		pd_walk_free(walk);
		return pd_fail_memory(error);
	}
	pd_pieces_narrow(&walk->pieces, from_ns, to_ns);
	status = pd_stream_open_over(known->file, order, &walk->pieces, &walk->stream, error);
	if (status < 0) {
		pd_walk_free(walk);
		return status;
	}
	pd_stream_follow(walk->stream, &known->pieces);
	*walk_out = walk;
	return PD_OK;
}

void pd_walk_free(struct pd_walk *walk)
{
	if (!walk)
		return;
	pd_stream_close(walk->stream);
	pd_free(walk->pieces.items);
	pd_free(walk);
}

enum pd_status pd_walk_next(struct pd_walk *walk, const struct pd_record **record_out, struct pd_error *error)
{
	enum pd_status status = PD_END;

	if (!walk->by_piece || walk->next)
		status = pd_stream_next(walk->stream, record_out, error);
	while (status == PD_END && walk->by_piece && walk->next < walk->pieces.count) {
		status = pd_stream_open_piece(walk->stream, &walk->pieces.items[walk->next++], error);
		if (status >= 0)
			status = pd_stream_next(walk->stream, record_out, error);
	}
	return status;
}

uint64_t pd_walk_pass(struct pd_walk *walk)
{
	return pd_stream_pass(walk->stream);
}
