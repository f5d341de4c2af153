/* SPDX-License-Identifier: MIT */
/* Stores that are no file of SQLite: which there are, and how a recording gets there. */
#ifndef PD_STORE_KINDS_KINDS_H
#define PD_STORE_KINDS_KINDS_H

#include "store/file.h"
#include "store/kinds/rows.h"

#include <perfdata/table.h>

// kind.c. 0: a file of SQLite
unsigned pd_store_kind_of(const char *path);

// folder.c: files of Parquet, and a store of SQLite with what is in them
enum pd_status pd_store_folder_add(const char *path, const struct pd_store_recording *recording,
				   struct pd_error *error);
enum pd_status pd_store_folder_prepare(const char *path, struct pd_error *error);
// The path of that store; the caller's, for pd_free. NULL: there is no memory.
char *pd_store_folder_list(const char *path);
// The columns of a part; returns their number.
size_t pd_store_folder_describe(const struct pd_store_part *part, struct pd_table_column *columns, size_t most);

// days.c. Calls a function for each day, whose seconds since 1970 are from to to, and for each file of one.
typedef enum pd_status pd_store_day_fn(void *self, const char *path, int64_t from, int64_t to, struct pd_error *error);
enum pd_status pd_store_folder_each_day(const char *path, pd_store_day_fn *see, void *self, struct pd_error *error);
typedef enum pd_status pd_store_file_fn(void *self, const char *path, const char *name, struct pd_error *error);
enum pd_status pd_store_folder_each_file(const char *day, pd_store_file_fn *see, void *self, struct pd_error *error);
// Removes whole days that are before a time, and names of recordings that have no samples then.
enum pd_status pd_store_folder_prune(const char *path, uint64_t before_ns, struct pd_error *error);

// folder_read.c, server_read.c: opens a store of SQLite with what is needed of what was chosen.
enum pd_status pd_store_folder_open(const char *path, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error);
enum pd_status pd_store_server_read(const char *url, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error);
// Likewise whole days, as the server has them.
enum pd_status pd_store_server_prune(const char *url, const struct pd_store_options *options, struct pd_error *error);

// spool.c: ClickHouse. What cannot be sent stays in a folder, as stores of SQLite, and is sent with the next one.
enum pd_status pd_store_server_add(const char *url, const struct pd_store_recording *recording, struct pd_error *error);
enum pd_status pd_store_server_prepare(const char *url, const struct pd_store_profile *profile, struct pd_error *error);
// Those that wait.
enum pd_status pd_store_server_send(const char *url, const struct pd_store_profile *profile, struct pd_error *error);
// ask.c: what people type, as pd_store_print. PD_END: it is nothing that a server does itself.
enum pd_status pd_store_server_print(const char *const *words, size_t count, const struct pd_store_options *options,
				     struct pd_text *text, struct pd_error *error);

// schema.c: the tables
void pd_store_folder_schema(struct pd_text *text);
void pd_store_server_schema(struct pd_text *text);

#endif
