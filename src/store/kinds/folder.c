/* SPDX-License-Identifier: MIT */
/*
 * A folder with files of Parquet, several for each recording, which are named after its hash: TABLE/HASH.parquet, and
 * samples/date=D/service=S/HASH.parquet. Those of a recording that was added in part only are replaced when it is added again. The list
 * of what is in it is a store of SQLite without samples, which is changed last.
 */
#include "store/kinds/kinds.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <perfdata/outfile.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "base/write_all.h"
#include "table/file/format.h"
#include "write/packer.h"

enum {
	LEVEL = 3, // of zstd
	COLUMNS_MOST = 16,
	SECONDS = 86400 // of a day
};

struct folder {
	const char *path, *hash, *service;
	struct pd_sql_database *rows; // of the recording
	struct pd_tables strings;
	void *packer; // NULL: nothing is compressed
};

// ---- paths ----

// As Hive has it, and all who learnt from it. Letters of UTF-8 stay: of escaped ones Spark makes a letter of each byte.
static void put_partition(struct pd_text *text, const char *value)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

	size_t left = strlen(value), plain = 0;

	if (!left)
		PD_TEXT_LITERAL(text, "__HIVE_DEFAULT_PARTITION__");
	for (; left; left--, value++, plain -= plain != 0) {
		if (!plain)
			plain = pd_text_plain(value, left);
		if ((plain && *value & 0x80) || strchr(harmless, *value))
			pd_text_char(text, *value);
		else
			pd_text_printf(text, "%%%02X", (unsigned char)*value);
	}
}

static void put_day(struct pd_text *text, int64_t day)
{
	time_t seconds = (time_t)(day * SECONDS);
	char date[40] = "";
	struct tm parts;

	if (gmtime_r(&seconds, &parts))
		strftime(date, sizeof(date), "%Y-%m-%d", &parts);
	pd_text_add(text, date);
}

static void put_path(struct pd_text *text, const struct folder *folder, const struct pd_store_part *part)
{
	pd_text_printf(text, "%s/%s/", folder->path, part->table->name);
	if (part->table->by_day) {
		PD_TEXT_LITERAL(text, "date=");
		put_day(text, part->day);
		PD_TEXT_LITERAL(text, "/service=");
		put_partition(text, folder->service);
		pd_text_char(text, '/');
	}
	pd_text_printf(text, "%s.parquet%c", folder->hash, 0);
}

static enum pd_status fail_path(const char *path, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
}

// The folders that a path goes through. The path is as before in the end.
static enum pd_status make_folders(char *path, struct pd_error *error)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int result;

		*slash = 0;
		result = mkdir(path, 0777);
		if (result < 0 && errno != EEXIST) {
			enum pd_status status = fail_path(path, error);

			*slash = '/';
			return status;
		}
		*slash = '/';
	}
	return PD_OK;
}

static const char list_name[] = "_store.db";

static char *join(const char *folder, const char *name)
{
	struct pd_text text = { 0 };

	pd_text_printf(&text, "%s/%s%c", folder, name, 0);
	if (!text.failed)
		return text.data;
	pd_free(text.data);
	return NULL;
}

char *pd_store_folder_list(const char *path)
{
	return join(path, list_name);
}

// ---- rows ----

static enum pd_column_type type_of(enum pd_store_type type)
{
	static const enum pd_column_type types[] = {
		[PD_STORE_U32] = PD_COLUMN_U32,  [PD_STORE_S32] = PD_COLUMN_S32,   [PD_STORE_U64] = PD_COLUMN_U64,
		[PD_STORE_S64] = PD_COLUMN_S64,  [PD_STORE_NAME] = PD_COLUMN_NAME, [PD_STORE_TEXT] = PD_COLUMN_NAME,
		[PD_STORE_TIME] = PD_COLUMN_S64, [PD_STORE_CHAIN] = PD_COLUMN_U64,
	};

	return types[type];
}

size_t pd_store_folder_describe(const struct pd_store_part *part, struct pd_table_column *columns, size_t most)
{
	const struct pd_store_column *column;
	size_t count = 0;

	for (; count < most && (column = pd_store_part_column(part, count)) != NULL; count++)
		columns[count] = (struct pd_table_column){ .name = column->name, .type = type_of(column->type) };
	return count;
}

static void put_row(struct folder *folder, struct pd_columns *batch, struct pd_sql_statement *row)
{
	for (size_t i = 0; i < batch->column_count; i++) {
		struct pd_sql_value value;
		bool valid;
		int64_t number = pd_store_number(row, i, &valid);

		if (batch->columns[i].type == PD_COLUMN_NAME) {
			pd_sql_sqlite.value(row, i, &value);
			valid = value.kind == PD_SQL_TEXT;
			number = valid ? pd_tables_string(&folder->strings, value.data, value.size) : 0;
		}
		if (valid)
			pd_put_number(batch, i, (uint64_t)number);
	}
	pd_columns_end_row(batch);
}

static enum pd_status put_batch(struct folder *folder, struct pd_table_file *file, struct pd_columns *batch,
				struct pd_error *error)
{
	enum pd_status status = batch->failed || folder->strings.failed ? pd_fail_memory(error) :
									  file->format->add(file, batch, error);

	pd_columns_clear(batch);
	return status;
}

static enum pd_status put_rows(struct folder *folder, struct pd_table_file *file, struct pd_columns *batch,
			       struct pd_sql_statement *row, struct pd_error *error)
{
	enum pd_status status = file->format->begin(file, error);

	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK) {
		put_row(folder, batch, row);
		if (pd_columns_is_full(batch))
			status = put_batch(folder, file, batch, error);
	}
	if (status >= 0 && batch->rows)
		status = put_batch(folder, file, batch, error);
	return status < 0 ? status : file->format->end(file, error);
}

static enum pd_status write_rows(struct folder *folder, const struct pd_store_part *part, struct pd_text *text,
				 struct pd_error *error)
{
	struct pd_table_column columns[COLUMNS_MOST];
	const struct pd_table table = { .name = part->table->name,
					.columns = columns,
					.column_count = pd_store_folder_describe(part, columns, COLUMNS_MOST) };
	struct pd_table_file file = { .format = &pd_table_format_parquet,
				      .table = &table,
				      .strings = &folder->strings,
				      .text = text,
				      .packer = folder->packer,
				      .own = pd_alloc(pd_table_format_parquet.size) };
	bool wanted[COLUMNS_MOST];
	struct pd_columns batch;
	struct pd_sql_statement *row = NULL;
	enum pd_status status;

	memset(wanted, 1, sizeof(wanted));
	status = pd_columns_init(&batch, &table, wanted, PD_COLUMNS_CAPACITY) && file.own ?
			 pd_store_part_open(folder->rows, part, &row, error) :
			 pd_fail_memory(error);
	if (status >= 0)
		status = put_rows(folder, &file, &batch, row, error);
	pd_sql_sqlite.finish(row);
	pd_columns_fini(&batch);
	if (file.own)
		file.format->fini(&file);
	pd_free(file.own);
	return status;
}

// ---- files ----

static enum pd_status of_output(enum pd_status status, struct pd_error *error)
{
	if (status != PD_ERROR_SYSTEM)
		return status;
	if (error)
		error->status = PD_ERROR_OUTPUT;
	return PD_ERROR_OUTPUT;
}

static bool write_text(void *self, struct pd_text *text)
{
	bool done = pd_write_all(pd_outfile_fd(self), text->data, text->size);

	pd_text_clear(text);
	return done;
}

static enum pd_status write_file(struct folder *folder, const struct pd_store_part *part, char *path,
				 struct pd_error *error)
{
	struct pd_text text = { 0 };
	struct pd_outfile *file;
	enum pd_status status = make_folders(path, error);

	if (status < 0)
		return status;
	status = of_output(pd_outfile_open(path, NULL, &file, error), error);
	if (status < 0)
		return status;
	pd_text_set_sink(&text, write_text, file);
	status = write_rows(folder, part, &text, error);
	if (status >= 0 && !pd_text_flush(&text))
		status = text.failed ? pd_fail_memory(error) : fail_path(path, error);
	pd_free(text.data);
	if (status >= 0)
		return of_output(pd_outfile_finish(file, error), error);
	pd_outfile_abort(file);
	return status;
}

static enum pd_status put_part(void *self, const struct pd_store_part *part, struct pd_error *error)
{
	struct folder *folder = self;
	struct pd_text path = { 0 };
	enum pd_status status;

	put_path(&path, folder, part);
	status = path.failed ? pd_fail_memory(error) : write_file(folder, part, path.data, error);
	pd_free(path.data);
	return status;
}

// ---- a recording ----

static enum pd_status write_parts(struct folder *folder, const char *rows, struct pd_error *error)
{
	enum pd_status status = pd_store_file_open(rows, &folder->rows, error);

	if (status < 0)
		return status;
	pd_tables_init(&folder->strings, pd_hash_secret());
	if (pd_packer_zstd.start) {
		folder->packer = pd_packer_zstd.start(LEVEL);
		status = folder->packer ? PD_OK : pd_fail_memory(error);
	}
	if (status >= 0)
		status = pd_store_each_part(folder->rows, PD_STORE_FOLDER, put_part, folder, error);
	if (folder->packer)
		pd_packer_zstd.close(folder->packer);
	pd_tables_fini(&folder->strings);
	pd_sql_sqlite.close(folder->rows);
	return status;
}

// By way of a store of SQLite that is gone afterwards.
static enum pd_status add_rows(struct folder *folder, const struct pd_store_recording *recording,
			       struct pd_error *error)
{
	char *rows = join(folder->path, ".adding-XXXXXX");
	int fd = rows ? mkstemp(rows) : -1;
	enum pd_status status = !rows  ? pd_fail_memory(error) :
				fd < 0 ? fail_path(rows, error) :
					 pd_store_file_add(rows, recording, false, error);

	if (status >= 0)
		status = write_parts(folder, rows, error);
	if (fd >= 0) {
		close(fd);
		unlink(rows);
	}
	pd_free(rows);
	return status;
}

enum pd_status pd_store_folder_add(const char *path, const struct pd_store_recording *recording, struct pd_error *error)
{
	struct folder folder = { .path = path, .hash = recording->hash, .service = recording->service };
	char *list = pd_store_folder_list(path);
	bool has = false;
	enum pd_status status = list ? pd_store_folder_prepare(path, error) : pd_fail_memory(error);

	if (status >= 0)
		status = pd_store_file_has(list, recording->hash, &has, error);
	if (status >= 0 && !has)
		status = add_rows(&folder, recording, error);
	if (status >= 0)
		status = has ? PD_END : pd_store_file_add(list, recording, true, error);
	pd_free(list);
	return status;
}

static bool is_empty(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry = NULL;

	// what another one made that was killed is no other file
	while (folder && (entry = readdir(folder)) != NULL &&
	       (entry->d_name[0] == '.' || !strncmp(entry->d_name, list_name, strlen(list_name))))
		;
	if (folder)
		closedir(folder);
	return folder && !entry;
}

enum pd_status pd_store_folder_prepare(const char *path, struct pd_error *error)
{
	char *list = pd_store_folder_list(path);
	enum pd_status status = list ? make_folders(list, error) : pd_fail_memory(error);

	if (status >= 0 && access(list, F_OK) != 0 && !is_empty(path))
		status = pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: a folder with other files is no store",
				 path);
	if (status >= 0 && !pd_store_file_is(list))
		status = pd_store_file_make(list, error);
	pd_free(list);
	return status;
}
