/* SPDX-License-Identifier: MIT */
/* Messages of protocol buffers, field by field. Fields of 0 and empty strings are those that are not there. */
#ifndef PD_EXPORT_WRITE_PROTO_H
#define PD_EXPORT_WRITE_PROTO_H

#include "base/text/text.h"
#include "export/feed/tables.h"

void pd_proto_varint(struct pd_text *text, uint64_t value);
void pd_proto_number(struct pd_text *text, unsigned field, uint64_t value);
// Also if it is 0.
void pd_proto_given(struct pd_text *text, unsigned field, uint64_t value);
void pd_proto_fixed64(struct pd_text *text, unsigned field, uint64_t value);
void pd_proto_bytes(struct pd_text *text, unsigned field, const void *data, size_t size);
void pd_proto_string(struct pd_text *text, unsigned field, const char *string);
void pd_proto_table_string(struct pd_text *text, unsigned field, const struct pd_tables *tables, uint32_t string);

// A message in a field, or packed numbers. What is returned is for its end; nothing may be flushed between.
size_t pd_proto_open(struct pd_text *text, unsigned field);
void pd_proto_close(struct pd_text *text, size_t opened);

#endif
