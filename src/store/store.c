/* SPDX-License-Identifier: MIT */
/* What is said of a recording that is added, and what people type. */
#include "store/store.h"

#include <stdio.h>
#include <time.h>

#include <perfdata/summary.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/text/text.h"
#include "sql/sql.h"
#include "store/kinds/kinds.h"

enum {
	HASH_BYTES = 16,
	FIRST_TOOL_RECORD = 64,
	NS_PER_SECOND = 1000000000
};

// ---- what is said of a recording ----

struct said {
	char hash[2 * HASH_BYTES + 1];
	struct pd_text labels; // an object of JSON
	const char *service;
	int64_t clock; // from times of the file to times since 1970, in ns
};

// Of what the kernel recorded: what the recorder adds is not the same in every form.
static enum pd_status hash_records(struct pd_file *file, struct said *said, struct pd_error *error)
{
	uint8_t hash[PD_SHA256_BYTES];
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_sha256 sha;
	enum pd_status status = pd_stream_open(file, NULL, &stream, error);

	if (status < 0)
		return status;
	pd_sha256_begin(&sha);
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK)
		if (record->type < FIRST_TOOL_RECORD)
			pd_sha256_add(&sha, record->bytes.data, record->bytes.size);
	pd_stream_close(stream);
	pd_sha256_end(&sha, hash);
	for (size_t i = 0; i < HASH_BYTES; i++)
		snprintf(said->hash + 2 * i, 3, "%02x", hash[i]);
	return status < 0 ? status : PD_OK;
}

static enum pd_status put_labels(const struct pd_store_profile *profile, struct said *said, struct pd_error *error)
{
	static const char service[] = "service=";

	said->service = "";
	pd_text_char(&said->labels, '{');
	for (size_t i = 0; i < profile->label_count; i++) {
		const char *label = profile->labels[i], *value = pd_store_label_value(label, error);

		if (!value)
			return PD_ERROR_ARGUMENT;
		if (i)
			pd_text_char(&said->labels, ',');
		pd_text_json_string(&said->labels, label, (size_t)(value - 1 - label));
		pd_text_char(&said->labels, ':');
		pd_text_json_string(&said->labels, value, strlen(value));
		if (!strncmp(label, service, strlen(service)))
			said->service = value;
	}
	pd_text_char(&said->labels, '}');
	return said->labels.failed ? pd_fail_memory(error) : PD_OK;
}

static void find_clock(struct pd_sql *sql, struct pd_file *file, uint64_t end_ns, struct said *said)
{
	uint64_t last_ns = sql->files[0].set->window.last_ns, there = pd_file_wall_clock(file, last_ns);
	int64_t modified = pd_file_modified(file);

	if (!end_ns && modified > 0 && modified < INT64_MAX / NS_PER_SECOND)
		end_ns = (uint64_t)modified * NS_PER_SECOND;
	if (there == PD_NO_TIME)
		there = end_ns ? end_ns : last_ns;
	said->clock = (int64_t)(there - last_ns);
}

// ---- changes ----

static enum pd_status add_to_kind(const char *path, const struct pd_store_recording *recording, struct pd_error *error)
{
	switch (pd_store_kind_of(path)) {
	case PD_STORE_FOLDER:
		return pd_store_folder_add(path, recording, error);
	case PD_STORE_SERVER:
		return pd_store_server_add(path, recording, error);
	default:
		return pd_store_file_add(path, recording, false, error);
	}
}

enum pd_status pd_store_add(const char *path, struct pd_sql *sql, struct pd_file *file,
			    const struct pd_store_profile *profile, struct pd_error *error)
{
	struct pd_store_profile all = { 0 };
	struct said said = { .clock = 0 };
	struct pd_store_recording recording = { .sql = sql, .hash = said.hash, .profile = &all };
	enum pd_status status = pd_store_check_engine(error);

	if (status < 0)
		return status;
	if (sql->file_count != 1 || (profile && !profile->size))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "not one file, or options without a size");
	if (profile)
		memcpy(&all, profile, profile->size < sizeof(all) ? profile->size : sizeof(all));
	status = put_labels(&all, &said, error);
	if (status >= 0)
		status = hash_records(file, &said, error);
	find_clock(sql, file, all.end_ns, &said);
	recording.name = all.name ? all.name : pd_file_name(file);
	recording.service = said.service;
	recording.clock = said.clock;
	recording.labels = (struct pd_bytes){ (const uint8_t *)said.labels.data, said.labels.size };
	if (status >= 0)
		status = add_to_kind(path, &recording, error);
	pd_free(said.labels.data);
	return status;
}

// One that is there may be in use by others now, which is no reason not to begin.
enum pd_status pd_store_prepare(const char *path, const struct pd_store_profile *profile, struct pd_error *error)
{
	struct pd_sql_database *database;
	enum pd_status status;

	for (size_t i = 0; profile && i < profile->label_count; i++)
		if (!pd_store_label_value(profile->labels[i], error))
			return PD_ERROR_ARGUMENT;
	if (pd_store_kind_of(path))
		return pd_store_kind_of(path) == PD_STORE_FOLDER ? pd_store_folder_prepare(path, error) :
								   pd_store_server_prepare(path, profile, error);
	if (!pd_store_file_is(path))
		return pd_store_file_make(path, error);
	status = pd_store_file_open(path, &database, error);
	if (status >= 0)
		pd_sql_sqlite.close(database);
	return status;
}

uint64_t pd_store_days_ago(unsigned days)
{
	uint64_t now = (uint64_t)time(NULL), span = UINT64_C(86400) * days;

	if (!days)
		return 0;
	return (span < now ? now - span : 1) * NS_PER_SECOND;
}

enum pd_status pd_store_prune(const char *path, uint64_t before_ns, struct pd_error *error)
{
	const struct pd_store_options options = { .size = sizeof(options), .before_ns = before_ns };

	switch (pd_store_kind_of(path)) {
	case PD_STORE_FOLDER:
		return pd_store_folder_prune(path, before_ns, error);
	case PD_STORE_SERVER:
		return pd_store_server_prune(path, &options, error);
	default:
		return pd_store_file_prune(path, before_ns, error);
	}
}

// ---- what people type ----

// NULL: those of SQLite.
static enum pd_status print_schema(const char *kind, struct pd_text *text, struct pd_error *error)
{
	if (kind && !strcmp(kind, "parquet"))
		pd_store_folder_schema(text);
	else if (kind && !strcmp(kind, "clickhouse"))
		pd_store_server_schema(text);
	else if (kind)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no kind of store: '%s' (parquet, clickhouse)",
			       kind);
	if (kind)
		return PD_OK;
#define TABLE(statement) pd_text_add(text, statement ";\n");
#include "store/statements.def"
	return PD_OK;
}

static enum pd_status print_top(const char *const *words, size_t count, const struct pd_store_options *options,
				struct pd_text *text, struct pd_error *error)
{
	const char *credentials = pd_store_credentials(options->profile);
	struct pd_store_choice *choice;
	enum pd_status status = pd_store_choice_new(words + 2, count - 2, credentials, &choice, error);

	if (status < 0)
		return status;
	status = pd_store_print_top(words[1], choice, options->format, text, error);
	pd_store_choice_free(choice);
	return status;
}

enum pd_status pd_store_print(const char *const *words, size_t count, const struct pd_store_options *options,
			      struct pd_text *text, struct pd_error *error)
{
	struct pd_store_options all = { 0 };

	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	if (count >= 2 && pd_store_kind_of(words[1]) == PD_STORE_SERVER) {
		enum pd_status status = pd_store_server_print(words, count, &all, text, error);

		if (status != PD_END)
			return status;
	}
	if (count == 2 && !strcmp(words[0], "ls"))
		return pd_store_ask(words[1], NULL, all.format, text, error);
	if (count == 3 && !strcmp(words[0], "sql"))
		return pd_store_ask(words[1], words[2], all.format, text, error);
	if (count >= 2 && !strcmp(words[0], "top"))
		return print_top(words, count, &all, text, error);
	if (count == 2 && !strcmp(words[0], "prune") && all.before_ns)
		return pd_store_prune(words[1], all.before_ns, error);
	if (count < 1 || count > 2 || strcmp(words[0], "schema") != 0)
		return pd_fail(
			error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			"what to do with a store: add STORE FILE..., ls STORE, top STORE, get STORE, sql STORE STATEMENT, prune STORE --days N, or schema");
	return print_schema(count == 2 ? words[1] : NULL, text, error);
}
