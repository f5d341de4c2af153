/* SPDX-License-Identifier: MIT */
/*
 * Flatbuffers, from front to back: a table is added before what it points to, and offsets are filled in later. Positions count from
 * the begin of the text. https://flatbuffers.dev/internals/
 */
#ifndef PD_TABLE_FILE_FLAT_H
#define PD_TABLE_FILE_FLAT_H

#include "base/text/text.h"

// Adds a table whose fields have these sizes (0: absent), zeroed; returns its position, and those of the fields.
size_t pd_flat_table(struct pd_text *text, const uint8_t *sizes, size_t count, size_t *fields_out);
// Adds a vector of zeroed items; they begin 4 bytes after the position that it returns.
size_t pd_flat_vector(struct pd_text *text, size_t count, size_t item_size);
size_t pd_flat_string(struct pd_text *text, const char *string, size_t size);
// Sets a field, or an offset, at its position.
void pd_flat_set(struct pd_text *text, size_t at, uint64_t value, unsigned size);
void pd_flat_point(struct pd_text *text, size_t at, size_t target);

#endif
