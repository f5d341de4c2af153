/* SPDX-License-Identifier: MIT */
/* A store that is a file of SQLite, for those who know that it is one. */
#ifndef PD_STORE_FILE_H
#define PD_STORE_FILE_H

#include "store/store.h"

// A recording that is being added, and what is said of it. Borrowed.
struct pd_store_recording {
	struct pd_sql *sql;
	const char *name, *hash, *service;
	struct pd_bytes labels; // an object of JSON
	int64_t clock;          // from times of the file to times since 1970, in ns
	const struct pd_store_profile *profile;
};

bool pd_store_file_is(const char *path);
// PD_ERROR_UNSUPPORTED without SQLite.
enum pd_status pd_store_check_engine(struct pd_error *error);
enum pd_status pd_store_file_open(const char *path, struct pd_sql_database **database_out, struct pd_error *error);
// Makes a new or empty file a store.
enum pd_status pd_store_file_make(const char *path, struct pd_error *error);
// list_only: what store ls shows, without samples. PD_END: it is there.
enum pd_status pd_store_file_add(const char *path, const struct pd_store_recording *recording, bool list_only,
				 struct pd_error *error);
enum pd_status pd_store_file_has(const char *path, const char *hash, bool *has_out, struct pd_error *error);
// Makes a new or empty file a store with the rows of a source, whose tables are those of kinds/rows.h.
enum pd_status pd_store_file_load(const char *path, const struct pd_sql_source *source, enum pd_store_need need,
				  struct pd_error *error);
// Notes that samples from before a time are removed.
enum pd_status pd_store_file_mark(const char *path, uint64_t before_ns, struct pd_error *error);
enum pd_status pd_store_file_prune(const char *path, uint64_t before_ns, struct pd_error *error);

#endif
