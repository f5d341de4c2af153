/* SPDX-License-Identifier: MIT */
/*
 * Rows in groups: those that are equal in some columns come one after another, ordered by these, so that the engine need not sort
 * all rows. What is wanted of the rows is kept, in eight bytes a cell.
 */
#ifndef PD_SQL_GROUP_H
#define PD_SQL_GROUP_H

#include "sql/engine.h"
#include "table/scan.h"

struct pd_sql_groups;

// Reads a scan to its end. columns are those of the table that rows are grouped by; what is wanted has no texts or bytes, but names.
enum pd_status pd_sql_groups_read(struct pd_scan *scan, const struct pd_sql_group *columns, size_t count,
				  struct pd_sql_groups **groups_out, struct pd_error *error);
// NULL is fine.
void pd_sql_groups_free(struct pd_sql_groups *groups);
// The next row; false at the end.
bool pd_sql_groups_next(struct pd_sql_groups *groups);
// A cell of the present row; false if it is null, or not wanted.
bool pd_sql_groups_cell(const struct pd_sql_groups *groups, size_t column, uint64_t *value_out);

#endif
