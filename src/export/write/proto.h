/* SPDX-License-Identifier: MIT */
/* Messages of protocol buffers with strings of the tables. */
#ifndef PD_EXPORT_WRITE_PROTO_H
#define PD_EXPORT_WRITE_PROTO_H

#include "base/text/proto.h"
#include "stack/tables.h"

static inline void pd_proto_table_string(struct pd_text *text, unsigned field, const struct pd_tables *tables,
					 uint32_t string)
{
	if (string)
		pd_proto_bytes(text, field, tables->strings[string].text, tables->strings[string].size);
}

#endif
