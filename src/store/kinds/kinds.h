/* SPDX-License-Identifier: MIT */
/* Stores that are no file of SQLite: which there are, and how a recording gets there. */
#ifndef PD_STORE_KINDS_KINDS_H
#define PD_STORE_KINDS_KINDS_H

#include "store/file.h"
#include "store/kinds/rows.h"

// kind.c. 0: a file of SQLite
unsigned pd_store_kind_of(const char *path);
// What is asked of a store that cannot be read here. PD_ERROR_UNSUPPORTED.
enum pd_status pd_store_fail_kind(const char *path, struct pd_error *error);

// folder.c: files of Parquet, and a store of SQLite with what is in them
enum pd_status pd_store_folder_add(const char *path, const struct pd_store_recording *recording,
				   struct pd_error *error);
enum pd_status pd_store_folder_prepare(const char *path, struct pd_error *error);
// The path of that store; the caller's, for pd_free. NULL: there is no memory.
char *pd_store_folder_list(const char *path);

// spool.c: ClickHouse. What cannot be sent stays in a folder, as stores of SQLite, and is sent with the next one.
enum pd_status pd_store_server_add(const char *url, const struct pd_store_recording *recording, struct pd_error *error);
enum pd_status pd_store_server_prepare(const char *url, const struct pd_store_profile *profile, struct pd_error *error);
// Those that wait.
enum pd_status pd_store_server_send(const char *url, const struct pd_store_profile *profile, struct pd_error *error);
// ask.c: what people type, as pd_store_print.
enum pd_status pd_store_server_print(const char *const *words, size_t count, const struct pd_store_options *options,
				     struct pd_text *text, struct pd_error *error);

// schema.c: the tables
void pd_store_folder_schema(struct pd_text *text);
void pd_store_server_schema(struct pd_text *text);

#endif
