/* SPDX-License-Identifier: MIT */
/* Tables of unwind rules in the index, so that the next run need not make them. */
#ifndef PD_UNWIND_RULES_SAVED_H
#define PD_UNWIND_RULES_SAVED_H

#include "object/index/index_file.h"
#include "unwind/rules/table.h"

// The table of an object; false if it is not there. index may be NULL.
bool pd_unwind_load_table(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			  size_t limit, struct pd_unwind_table *table_out);
// Keeps it, if it is worth that.
void pd_unwind_save_table(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			  const struct pd_unwind_table *table);

// The same with bytes. Nothing in a table that was made of bytes leads out of it. It uses them in place and takes over the block
// that they stand in (pd_free), if it succeeds. data is 8-aligned. False if they are no table, or there is no memory.
bool pd_unwind_unpack(struct pd_unwind_table *table_out, void *block, uint8_t *data, size_t size);
size_t pd_unwind_packed_size(const struct pd_unwind_table *table);
void pd_unwind_pack(const struct pd_unwind_table *table, uint8_t *data);

#endif
