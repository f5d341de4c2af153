/* SPDX-License-Identifier: MIT */
/* The days of a folder of Parquet files: walking over them, and removing those that are old. */
#include "store/kinds/kinds.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

enum {
	SECONDS = 86400,
	NS_PER_SECOND = 1000000000
};

// ---- walking ----

typedef enum pd_status entry_fn(void *self, const char *path, const char *name, struct pd_error *error);

static enum pd_status fail_path(const char *path, struct pd_error *error)
{
	return pd_fail_system(error, errno, "%s", path);
}

// A folder that is not there has nothing in it.
static enum pd_status each_entry(const char *path, entry_fn *see, void *self, struct pd_error *error)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	enum pd_status status = PD_OK;

	if (!folder)
		return errno == ENOENT ? PD_OK : fail_path(path, error);
	while (status >= 0 && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			status = see(self, path, entry->d_name, error);
	closedir(folder);
	return status;
}

struct walk {
	pd_store_file_fn *file;
	pd_store_day_fn *day;
	void *self;
};

static enum pd_status see_service(void *self, const char *path, const char *name, struct pd_error *error)
{
	const struct walk *walk = self;
	struct pd_text text = { 0 };
	enum pd_status status;

	if (strncmp(name, "service=", 8) != 0)
		return PD_OK;
	pd_text_printf(&text, "%s/%s%c", path, name, 0);
	status = text.failed ? pd_fail_memory(error) : each_entry(text.data, walk->file, walk->self, error);
	pd_free(text.data);
	return status;
}

enum pd_status pd_store_folder_each_file(const char *day, pd_store_file_fn *see, void *self, struct pd_error *error)
{
	struct walk walk = { .file = see, .self = self };

	return each_entry(day, see_service, &walk, error);
}

static enum pd_status see_day(void *self, const char *path, const char *name, struct pd_error *error)
{
	const struct walk *walk = self;
	struct tm parts = { 0 };
	struct pd_text text = { 0 };
	const char *end = strncmp(name, "date=", 5) != 0 ? NULL : strptime(name + 5, "%Y-%m-%d", &parts);
	int64_t from;
	enum pd_status status;

	if (!end || *end)
		return PD_OK;
	from = timegm(&parts);
	pd_text_printf(&text, "%s/%s%c", path, name, 0);
	status = text.failed ? pd_fail_memory(error) : walk->day(walk->self, text.data, from, from + SECONDS, error);
	pd_free(text.data);
	return status;
}

enum pd_status pd_store_folder_each_day(const char *path, pd_store_day_fn *see, void *self, struct pd_error *error)
{
	struct walk walk = { .day = see, .self = self };
	struct pd_text text = { 0 };
	enum pd_status status;

	pd_text_printf(&text, "%s/samples%c", path, 0);
	status = text.failed ? pd_fail_memory(error) : each_entry(text.data, see_day, &walk, error);
	pd_free(text.data);
	return status;
}

// ---- removing ----

static enum pd_status remove_file(void *self, const char *path, const char *name, struct pd_error *error)
{
	static const char suffix[] = ".parquet";
	size_t length = strlen(name);
	struct pd_text text = { 0 };
	enum pd_status status = PD_OK;

	(void)self;
	if (length < strlen(suffix) || strcmp(name + length - strlen(suffix), suffix) != 0)
		return PD_OK;
	pd_text_printf(&text, "%s/%s%c", path, name, 0);
	if (text.failed)
		status = pd_fail_memory(error);
	else if (unlink(text.data) < 0 && errno != ENOENT)
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", text.data, strerror(errno));
	pd_free(text.data);
	return status;
}

// What is not empty has something that is not ours.
static enum pd_status remove_service(void *self, const char *path, const char *name, struct pd_error *error)
{
	struct pd_text text = { 0 };

	(void)self;
	pd_text_printf(&text, "%s/%s%c", path, name, 0);
	if (text.failed)
		return pd_fail_memory(error);
	rmdir(text.data);
	pd_free(text.data);
	return PD_OK;
}

static enum pd_status remove_day(void *self, const char *path, int64_t from, int64_t to, struct pd_error *error)
{
	const int64_t *before = self;
	enum pd_status status;

	(void)from;
	if (to > *before)
		return PD_OK;
	status = pd_store_folder_each_file(path, remove_file, NULL, error);
	if (status >= 0)
		status = each_entry(path, remove_service, NULL, error);
	rmdir(path);
	return status;
}

// Names of a recording that has no samples any more.
static enum pd_status remove_names(const char *path, struct pd_sql_statement *row, struct pd_error *error)
{
	static const char *const folders[] = { "frames", "stacks" };
	struct pd_sql_value hash;
	enum pd_status status = PD_OK;

	pd_sql_sqlite.value(row, 0, &hash);
	for (size_t i = 0; status >= 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct pd_text text = { 0 };

		pd_text_printf(&text, "%s/%.*s.parquet%c", folders[i], (int)hash.size, hash.data, 0);
		status = text.failed ? pd_fail_memory(error) : remove_file(NULL, path, text.data, error);
		pd_free(text.data);
	}
	return status;
}

static enum pd_status remove_all_names(const char *path, const char *list, int64_t before, struct pd_error *error)
{
	struct pd_sql_database *database;
	struct pd_sql_statement *row = NULL;
	char statement[160];
	const char *rest;
	enum pd_status status = pd_store_file_open(list, &database, error);

	if (status < 0)
		return status;
	snprintf(statement, sizeof(statement),
		 "SELECT profile FROM profiles WHERE finish_ns < %" PRId64
		 " AND length(profile) = 32 AND NOT profile GLOB '*[^0-9a-f]*'",
		 before * NS_PER_SECOND);
	status = pd_sql_sqlite.prepare(database, statement, &row, &rest, error);
	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK)
		status = remove_names(path, row, error);
	pd_sql_sqlite.finish(row);
	pd_sql_sqlite.close(database);
	return status < 0 ? status : PD_OK;
}

// The list knows it first, so that what is interrupted is gone on with.
enum pd_status pd_store_folder_prune(const char *path, uint64_t before_ns, struct pd_error *error)
{
	int64_t before = (int64_t)(before_ns / NS_PER_SECOND / SECONDS * SECONDS);
	char *list = pd_store_folder_list(path);
	enum pd_status status = list ? pd_store_file_mark(list, (uint64_t)before * NS_PER_SECOND, error) :
				       pd_fail_memory(error);

	if (status >= 0)
		status = pd_store_folder_each_day(path, remove_day, &before, error);
	if (status >= 0)
		status = remove_all_names(path, list, before, error);
	pd_free(list);
	return status;
}
