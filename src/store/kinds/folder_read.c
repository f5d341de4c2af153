/* SPDX-License-Identifier: MIT */
/* A folder of Parquet files, read: those of the recordings that are wanted, of the days that are. */
#include "store/kinds/kinds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "store/kinds/reader.h"
#include "table/file/parquet.h"

enum {
	HASH_CHARS = 32,
	COLUMNS_MOST = 16,
	NS_PER_SECOND = 1000000000
};

struct recording {
	char hash[HASH_CHARS + 1];
	bool has_samples;
};

struct samples {
	size_t recording;
	char *path;
};

struct folder {
	struct pd_store_reader reader; // first
	const char *path;
	const struct pd_store_choice *choice;
	struct recording *recordings; // in the order of their begins
	size_t count, capacity;
	const struct recording **by_hash;
	struct samples *samples;
	size_t sample_count, sample_capacity;
	struct pd_arena arena;
	size_t at; // the next file
	struct pd_table_column columns[COLUMNS_MOST];
	struct pd_table table;
	struct pd_text name; // of the present file
	struct pd_source source;
	struct pd_parquet *parquet; // or NULL
};

// ---- recordings ----

static bool is_hash(const struct pd_sql_value *value)
{
	if (value->kind != PD_SQL_TEXT || value->size != HASH_CHARS)
		return false;
	for (size_t i = 0; i < value->size; i++)
		if (!memchr("0123456789abcdef", value->data[i], 16))
			return false;
	return true;
}

static enum pd_status add_recordings(struct folder *folder, struct pd_sql_statement *row, struct pd_error *error)
{
	struct pd_sql_value hash;
	enum pd_status status;

	while ((status = pd_sql_sqlite.step(row, error)) == PD_OK) {
		pd_sql_sqlite.value(row, 0, &hash);
		if (!is_hash(&hash))
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: a recording of the list has no hash",
				       folder->path);
		if (!PD_GROW(folder->recordings, folder->capacity, folder->count + 1))
			return pd_fail_memory(error);
		folder->recordings[folder->count] = (struct recording){ .has_samples = false };
		memcpy(folder->recordings[folder->count++].hash, hash.data, HASH_CHARS);
	}
	return status < 0 ? status : PD_OK;
}

static enum pd_status ask_list(struct folder *folder, struct pd_sql_database *list, struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	struct pd_text text = { 0 };
	const char *rest;
	enum pd_status status;

	PD_TEXT_LITERAL(&text, "SELECT profile FROM profiles p WHERE ");
	status = pd_store_put_profiles(folder->choice, &text, error);
	PD_TEXT_LITERAL(&text, " ORDER BY start_ns, profile");
	pd_text_char(&text, 0);
	if (status >= 0)
		status = text.failed ? pd_fail_memory(error) :
				       pd_sql_sqlite.prepare(list, text.data, &row, &rest, error);
	if (status >= 0)
		status = add_recordings(folder, row, error);
	pd_sql_sqlite.finish(row);
	pd_free(text.data);
	return status;
}

static int compare_hashes(const void *a, const void *b)
{
	return memcmp((*(const struct recording *const *)a)->hash, (*(const struct recording *const *)b)->hash,
		      HASH_CHARS);
}

static enum pd_status read_list(struct folder *folder, struct pd_error *error)
{
	char *path = pd_store_folder_list(folder->path);
	struct pd_sql_database *list = NULL;
	enum pd_status status = path ? pd_store_file_open(path, &list, error) : pd_fail_memory(error);

	if (status >= 0) {
		status = ask_list(folder, list, error);
		pd_sql_sqlite.close(list);
	}
	pd_free(path);
	folder->by_hash = pd_alloc((folder->count + 1) * sizeof(*folder->by_hash));
	if (status >= 0 && !folder->by_hash)
		return pd_fail_memory(error);
	for (size_t i = 0; folder->by_hash && i < folder->count; i++)
		folder->by_hash[i] = &folder->recordings[i];
	if (folder->by_hash)
		qsort(folder->by_hash, folder->count, sizeof(*folder->by_hash), compare_hashes);
	return status;
}

// HASH.parquet; NULL if that one is not wanted.
static struct recording *find_recording(const struct folder *folder, const char *name)
{
	struct recording key;
	const struct recording *wanted = &key, **found;

	if (strlen(name) <= HASH_CHARS || strcmp(name + HASH_CHARS, ".parquet") != 0)
		return NULL;
	memcpy(key.hash, name, HASH_CHARS);
	found = bsearch(&wanted, folder->by_hash, folder->count, sizeof(wanted), compare_hashes);
	return found ? &folder->recordings[*found - folder->recordings] : NULL;
}

// ---- files of samples ----

static enum pd_status add_samples(void *self, const char *path, const char *name, struct pd_error *error)
{
	struct folder *folder = self;
	struct recording *recording = find_recording(folder, name);
	char *kept;

	if (!recording)
		return PD_OK;
	kept = pd_arena_alloc(&folder->arena, strlen(path) + strlen(name) + 2);
	if (!kept || !PD_GROW(folder->samples, folder->sample_capacity, folder->sample_count + 1))
		return pd_fail_memory(error);
	sprintf(kept, "%s/%s", path, name);
	recording->has_samples = true;
	folder->samples[folder->sample_count++] =
		(struct samples){ .recording = (size_t)(recording - folder->recordings), .path = kept };
	return PD_OK;
}

static bool is_wanted_day(const struct folder *folder, int64_t from, int64_t to)
{
	const struct pd_store_choice *choice = folder->choice;

	return to > (int64_t)(choice->from_ns / NS_PER_SECOND) &&
	       (!choice->to_ns || from <= (int64_t)(choice->to_ns / NS_PER_SECOND));
}

static enum pd_status add_day(void *self, const char *path, int64_t from, int64_t to, struct pd_error *error)
{
	struct folder *folder = self;

	return is_wanted_day(folder, from, to) ? pd_store_folder_each_file(path, add_samples, folder, error) : PD_OK;
}

static int compare_samples(const void *a, const void *b)
{
	const struct samples *one = a, *other = b;

	if (one->recording != other->recording)
		return one->recording < other->recording ? -1 : 1;
	return strcmp(one->path, other->path);
}

static enum pd_status find_samples(struct folder *folder, struct pd_error *error)
{
	enum pd_status status = pd_store_folder_each_day(folder->path, add_day, folder, error);

	if (folder->sample_count)
		qsort(folder->samples, folder->sample_count, sizeof(*folder->samples), compare_samples);
	return status;
}

// ---- rows ----

static enum pd_status fail_in_file(const struct folder *folder, enum pd_status status, struct pd_error *error)
{
	char why[sizeof(error->message)];

	if (!error || status == PD_ERROR_MEMORY)
		return status;
	memcpy(why, error->message, sizeof(why));
	return pd_fail(error, status, PD_NO_OFFSET, "%.900s: %.900s", folder->name.data, why);
}

// Only files: anything else may never end.
static enum pd_status open_source(struct folder *folder, struct pd_error *error)
{
	struct stat about;
	int fd = open(folder->name.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	enum pd_status status;

	if (fd < 0)
		return pd_fail_system(error, errno, "%s", folder->name.data);
	if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode)) {
		close(fd);
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: no regular file", folder->name.data);
	}
	status = pd_source_open_fd(&folder->source, fd, true, error);
	if (status < 0)
		close(fd);
	return status;
}

static void close_parquet(struct folder *folder)
{
	if (!folder->parquet)
		return;
	pd_parquet_close(folder->parquet);
	folder->parquet = NULL;
	pd_source_close(&folder->source);
}

// The name of the next file; false past the last one.
static bool name_next(struct folder *folder)
{
	const struct pd_store_table *table = folder->reader.part.table;
	bool is_name = table == &pd_store_tables[PD_STORE_TABLE_frames] ||
		       table == &pd_store_tables[PD_STORE_TABLE_stacks];

	pd_text_clear(&folder->name);
	if (table->by_day && folder->at == folder->sample_count)
		return false;
	if (table->by_day) {
		pd_text_printf(&folder->name, "%s%c", folder->samples[folder->at++].path, 0);
		return true;
	}
	while (is_name && folder->at < folder->count && !folder->recordings[folder->at].has_samples)
		folder->at++;
	if (folder->at == folder->count)
		return false;
	pd_text_printf(&folder->name, "%s/%s/%s.parquet%c", folder->path, table->name,
		       folder->recordings[folder->at++].hash, 0);
	return true;
}

static enum pd_status open_next(struct folder *folder, struct pd_error *error)
{
	enum pd_status status;

	if (!name_next(folder))
		return PD_END;
	if (folder->name.failed)
		return pd_fail_memory(error);
	status = open_source(folder, error);
	if (status < 0)
		return status;
	status = pd_parquet_open(&folder->source, &folder->table, &folder->parquet, error);
	if (status >= 0)
		return status;
	pd_source_close(&folder->source);
	return fail_in_file(folder, status, error);
}

static enum pd_status begin(struct pd_store_reader *reader, struct pd_error *error)
{
	struct folder *folder = (struct folder *)reader;

	(void)error;
	close_parquet(folder);
	folder->at = 0;
	folder->table = (struct pd_table){ .name = reader->part.table->name,
					   .columns = folder->columns,
					   .column_count = pd_store_folder_describe(&reader->part, folder->columns,
										    COLUMNS_MOST) };
	return PD_OK;
}

static enum pd_status next(struct pd_store_reader *reader, struct pd_error *error)
{
	struct folder *folder = (struct folder *)reader;
	enum pd_status status = PD_OK;

	while (status == PD_OK) {
		if (folder->parquet) {
			status = pd_parquet_next(folder->parquet, error);
			if (status == PD_OK)
				return status;
			close_parquet(folder);
			if (status < 0)
				return fail_in_file(folder, status, error);
		}
		status = open_next(folder, error);
	}
	return status;
}

static void cell(const struct pd_store_reader *reader, size_t column, struct pd_sql_value *value_out)
{
	const struct folder *folder = (const struct folder *)reader;
	struct pd_parquet_cell cell;

	pd_parquet_cell(folder->parquet, column, &cell);
	*value_out = (struct pd_sql_value){ .kind = PD_SQL_NULL };
	if (cell.valid && folder->columns[column].type == PD_COLUMN_NAME)
		*value_out = (struct pd_sql_value){ .kind = PD_SQL_TEXT,
						    .data = (const char *)cell.bytes.data,
						    .size = cell.bytes.size };
	else if (cell.valid)
		*value_out = (struct pd_sql_value){ .kind = PD_SQL_INTEGER, .integer = (int64_t)cell.number };
}

static const struct pd_store_reader_kind kind = { begin, next, cell };

enum pd_status pd_store_folder_open(const char *path, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error)
{
	struct folder folder = { .reader.kind = &kind, .path = path, .choice = question->choice };
	enum pd_status status = read_list(&folder, error);

	if (status >= 0)
		status = find_samples(&folder, error);
	if (status >= 0)
		status = pd_store_reader_open(&folder.reader, question, database_out, error);
	close_parquet(&folder);
	pd_free(folder.name.data);
	pd_free(folder.recordings);
	pd_free(folder.by_hash);
	pd_free(folder.samples);
	pd_arena_fini(&folder.arena);
	return status;
}
