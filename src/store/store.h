/* SPDX-License-Identifier: MIT */
/* The inside of a store that is read. */
#ifndef PD_STORE_STORE_H
#define PD_STORE_STORE_H

#include <perfdata/store.h>

#include "sql/engine.h"

enum pd_status pd_store_open(const char *path, struct pd_sql_database **database_out, struct pd_error *error);
// Where the value of a label begins; NULL if it is no KEY=VALUE.
const char *pd_store_label_value(const char *label, struct pd_error *error);

#endif
