/* SPDX-License-Identifier: MIT */
/* From the fields of a message to a struct of the format. */
#ifndef PD_QUIPPER_DECODE_H
#define PD_QUIPPER_DECODE_H

#include "base/text/proto.h"
#include "quipper/schema.h"

struct pd_quipper_decoder {
	const struct pd_quipper_plan *plan;
	struct pd_scope scope; // parts are made in its arena
	struct pd_bytes tail;  // what follows the record
	const char *wrong;     // the first failure, or NULL
};

// Fills in a zeroed struct of the layout of the message. Bytes are borrowed from the message. False: self->wrong says why.
bool pd_quipper_decode(struct pd_quipper_decoder *self, enum pd_quipper_message_id message, struct pd_bytes bytes,
		       void *decoded);
// The id of the event of a record; false if the message has none.
bool pd_quipper_find_id(enum pd_quipper_message_id message, struct pd_bytes bytes, uint64_t *id_out);
// Makes counts fit, and parts that must be there but were not given. False if there is no memory.
bool pd_quipper_complete(struct pd_scope *scope, const struct pd_layout *layout, void *decoded);

#endif
