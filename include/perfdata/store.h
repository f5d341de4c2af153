/* SPDX-License-Identifier: MIT */
/**
 * store.h - many recordings in one database that grows: samples summed up in ten seconds and hours, with names and stacks once.
 *
 * A store is a file of SQLite, a folder with files of Parquet ("fleet/"), or a server ("clickhouse://HOST:PORT/DATABASE", which has the
 * tables that pd_store_print shows). What is read of the last two is copied into a temporary file first. A recording is in it once, however often it is added, as a file, a pipe, compressed or not: it is known by a hash
 * of the records of the kernel, in the byte order that they have. Changes are made as a whole or not at all. Sums of a store are sums of its recordings; hours stay when details are pruned.
 *
 * Example:
 *
 *	const char *const words[] = { "schema" };
 *
 *	if (pd_store_print(words, 1, NULL, text, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_STORE_H
#define PERFDATA_STORE_H

#include <perfdata/sql.h>
#include <perfdata/symbol.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is said of a recording that is added. Zero is the default for each member. */
struct pd_store_profile {
	size_t size;               /* sizeof(struct pd_store_profile) */
	const char *name;          /* NULL: that of the file */
	const char *const *labels; /* "KEY=VALUE"; hours are summed up by the value of "service" */
	size_t label_count;
	uint64_t end_ns; /* when the recording ended, in ns since 1970, for files that do not know the time of day; 0: when the file was
			  * modified, if that is known */
	/* Only for pd_store_add_file: symbols for this state, which are freed then. NULL: those of pd_symbols_new without options. */
	struct pd_symbols *(*symbols)(void *self, struct pd_file *file, const struct pd_state *state);
	void *self;
	/* Only for servers. "USER:PASSWORD", or "@PATH" of a file whose first line is that; NULL or empty: none. It is never part of a
	 * message. */
	const char *credentials;
	/* A folder where recordings wait that the server cannot take now; NULL or empty: one of the user in /var/tmp. */
	const char *spool;
};

/** Adds the samples of a recording to the store at a path, which is created if it is not there. sql is what pd_sql_new made of this one
 * file. PD_END: the recording is in the store. Errors: as pd_sql_run; PD_ERROR_UNSUPPORTED if SQLite is not built in or cannot be loaded;
 * PD_ERROR_FORMAT: the file is no store; PD_ERROR_ARGUMENT: a label is no KEY=VALUE. */
PD_API enum pd_status pd_store_add(const char *path, struct pd_sql *sql, struct pd_file *file,
				   const struct pd_store_profile *profile, struct pd_error *error);
/** The same for a file that is only named. profile may be NULL. Errors: also those of pd_file_open. Any thread. */
PD_API enum pd_status pd_store_add_file(const char *path, const char *file, const struct pd_store_profile *profile,
					struct pd_error *error);
/** Whether recordings can be added to the store at a path, as far as that is known before the first one; it is created if it is not
 * there. Errors: as pd_store_add. */
PD_API enum pd_status pd_store_prepare(const char *path, const struct pd_store_profile *profile,
				       struct pd_error *error);
/** When the last so many days began, in ns since 1970: for before_ns and from_ns. At least 1 s; 0 for 0 days. Any thread. */
PD_API uint64_t pd_store_days_ago(unsigned days);

/** Removes samples from before a time, in ns since 1970, and names that nothing needs; of a folder and a server those of whole days. Sums
 * of hours remain. Errors: as pd_store_add. */
PD_API enum pd_status pd_store_prune(const char *path, uint64_t before_ns, struct pd_error *error);

/** Runs statements over the tables of a store, which change nothing, and prints their rows. NULL: what is in the store, recording by
 * recording. Errors: as pd_sql_run and pd_store_add. */
PD_API enum pd_status pd_store_ask(const char *path, const char *statements, enum pd_sql_format format,
				   struct pd_text *text, struct pd_error *error);

/** Which samples. Zero is the default for each member. */
struct pd_store_choice {
	size_t size;               /* sizeof(struct pd_store_choice) */
	const char *const *labels; /* "KEY=VALUE", which recordings have, all of them */
	size_t label_count;
	uint64_t from_ns, to_ns; /* since 1970, to ten seconds; to_ns is exclusive, 0: open */
	const char *profile;     /* of one recording: its hash, or how that begins */
	const char *credentials; /* only for servers, as in struct pd_store_profile; may be NULL */
};
/** Adds samples to a writer that has nothing yet, for every reader of recordings: one for each row of the store, its period is the sum of
 * the row. samples_out may be NULL. Errors: as pd_sql_run; those of the writer; PD_ERROR_NO_MATCH: there are none. */
PD_API enum pd_status pd_store_get(const char *path, const struct pd_store_choice *choice, struct pd_writer *writer,
				   uint64_t *samples_out, struct pd_error *error);

/** Whether the file at a path is a store. */
PD_API bool pd_store_is(const char *path);
/** Opens samples as a recording, which is in a temporary file, for all that is asked of files: threads, functions and objects have
 * their names whatever files there are, and each sample counts as often as it was recorded. Times and addresses are gone.
 *
 * Words are what people type: conditions with commas between them, all of which hold: KEY=VALUE, a label; FROM..TO, times in UTC as
 * 2026-11-28, 2026-11-28T10:30, or 7d, 12h, 30m ago, each of which may be missing; a recording by the first digits of its hash. A backslash
 * before a comma makes it part of a condition. Errors: as pd_store_get and pd_file_open; PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_store_open_file(const char *path, const char *const *words, size_t count,
					 const struct pd_open_options *options, struct pd_file **file_out,
					 struct pd_error *error);
/** The same of a server that wants credentials: those of said, which may be NULL. */
PD_API enum pd_status pd_store_open_with(const char *path, const char *const *words, size_t count,
					 const struct pd_store_profile *said, const struct pd_open_options *options,
					 struct pd_file **file_out, struct pd_error *error);
enum {
	PD_STORE_HASH_BYTES = 33
};
/** The hash of the index-th recording that has such samples, with a NUL, in the order of their begins; PD_END past the last one.
 * Errors: as pd_store_ask; PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_store_profile(const char *path, const char *const *words, size_t count, size_t index,
				       char hash_out[PD_STORE_HASH_BYTES], struct pd_error *error);

/** The hashes of all of them, with commas between and a NUL at the end, instead of what text had. said is as above. Errors: likewise; PD_ERROR_NO_MATCH: there are none; PD_ERROR_MEMORY also if text is NULL. */
PD_API enum pd_status pd_store_profiles(const char *path, const char *const *words, size_t count,
					const struct pd_store_profile *said, struct pd_text *text,
					struct pd_error *error);

/** Zero is the default for each member. */
struct pd_store_options {
	size_t size; /* sizeof(struct pd_store_options) */
	enum pd_sql_format format;
	uint64_t before_ns;                     /* of prune */
	const struct pd_store_profile *profile; /* of it credentials and spool; may be NULL */
};
/** What people type: "ls", a path; "sql", a path and a statement; "top", a path and words of pd_store_open_file, which prints the fifty
 * functions of each event that took most themselves, and the sum of the others; "prune", a path; "add", a server, which sends it what waits; "schema",
 * which prints the tables of a store as statements, or those of "parquet" or "clickhouse". Errors: as pd_store_ask; PD_ERROR_ARGUMENT: there is no such action. */
PD_API enum pd_status pd_store_print(const char *const *words, size_t count, const struct pd_store_options *options,
				     struct pd_text *text, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
