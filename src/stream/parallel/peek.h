/* SPDX-License-Identifier: MIT */
/* A small part of the samples of a file, from all over it, to see what is frequent. */
#ifndef PD_STREAM_PEEK_H
#define PD_STREAM_PEEK_H

#include "stream/cut/pieces.h"

// Shows the first samples of some pieces to `show`, and NULL at the end. pieces: at least one.
enum pd_status pd_peek(struct pd_file *file, const struct pd_pieces *pieces,
		       void (*show)(void *self, const struct pd_record *record), void *self, struct pd_error *error);

#endif
