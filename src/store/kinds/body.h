/* SPDX-License-Identifier: MIT */
#ifndef PD_STORE_KINDS_BODY_H
#define PD_STORE_KINDS_BODY_H

#include "base/lookup/u64_map.h"
#include "store/kinds/rows.h"

// The rows of a part for a server, and their number; without those of stacks that are in a map, which may be NULL.
enum pd_status pd_store_put_body(struct pd_sql_database *database, const struct pd_store_part *part,
				 const struct pd_u64_map *without, struct pd_text *text, uint64_t *rows_out,
				 struct pd_error *error);

#endif
