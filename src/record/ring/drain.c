/* SPDX-License-Identifier: MIT */
/* From a ring buffer to the outputs: bytes move as they are, in pieces that fit into the cache, counted on the way. */
#include "record/inside.h"
#include "write/write.h"

enum pd_status pd_session_put_live(struct pd_recorder *recorder, struct pd_bytes records, struct pd_error *error)
{
	return recorder->live ? pd_writer_put_outside(recorder->live, 0, records.data, records.size, error) : PD_OK;
}

enum pd_status pd_session_put_piece(struct pd_recorder *recorder, size_t part, struct pd_bytes piece,
				    struct pd_error *error)
{
	enum pd_status status = pd_session_put_live(recorder, piece, error);

	return status < 0 || !recorder->writer ? status : pd_writer_put_records(recorder->writer, part, piece, error);
}

// Each part is counted right before it is packed, so that it comes from memory once.
static enum pd_status put_view(struct pd_recorder *recorder, const struct pd_ring_view *view, size_t part,
			       struct pd_ring_counts *counts, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	size_t counted = 0, until = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct pd_bytes rest = view->pieces[i];

		while (rest.size && status >= 0) {
			struct pd_bytes piece = { rest.data, rest.size < PD_PACK_PIECE ? rest.size : PD_PACK_PIECE };

			until += piece.size;
			rest.data += piece.size;
			rest.size -= piece.size;
			status = pd_ring_counts_add(counts, view, &counted, until, error);
			if (recorder->options.sampling.build_id_mmap)
				counts->marked_count = 0;
			if (status >= 0 && counts->marked_count)
				status = pd_ring_counts_unmark(counts, &piece, until, error);
			if (status >= 0)
				status = pd_session_put_piece(recorder, part, piece, error);
		}
	}
	return status;
}

static enum pd_status write_ring(struct pd_recorder *recorder, struct pd_ring *ring, size_t part,
				 struct pd_ring_counts *counts, bool *any, struct pd_error *error)
{
	struct pd_ring_view view;
	enum pd_status status;

	if (!pd_ring_peek(ring, &view))
		return PD_OK;
	*any = true;
	if (ring->offcpu) {
		status = pd_offcpu_take(recorder->offcpu, &view, error);
		if (status >= 0)
			pd_ring_release(ring, &view);
		return status;
	}
	status = put_view(recorder, &view, part, counts, error);
	if (status >= 0)
		pd_ring_release(ring, &view);
	return status;
}

enum pd_status pd_session_drain_ring(struct pd_recorder *recorder, struct pd_ring *ring, size_t part,
				     struct pd_ring_counts *counts, bool newest, bool *any, struct pd_error *error)
{
	enum pd_status status;

	if (ring->backward && !newest)
		return PD_OK;
	pd_ring_pause(ring, true);
	status = write_ring(recorder, ring, part, counts, any, error);
	pd_ring_pause(ring, false);
	return status;
}
