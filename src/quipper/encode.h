/* SPDX-License-Identifier: MIT */
/* From a struct of the format to the fields of a message. */
#ifndef PD_QUIPPER_ENCODE_H
#define PD_QUIPPER_ENCODE_H

#include "base/text/proto.h"
#include "format/text/print.h"
#include "quipper/schema.h"

struct pd_quipper_encoder {
	const struct pd_quipper_plan *plan;
	struct pd_scope scope;
	struct pd_bytes tail; // what follows the record
	struct pd_text *text;
};

void pd_quipper_encode(struct pd_quipper_encoder *self, enum pd_quipper_message_id message, const void *decoded);
// A field with a message of a struct.
void pd_quipper_encode_in(struct pd_quipper_encoder *self, unsigned number, enum pd_quipper_message_id message,
			  const void *decoded);
// Bytes of a path that name its first two directories, as quipper has it.
size_t pd_quipper_root(const char *path, size_t length);

#endif
