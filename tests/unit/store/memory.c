/* SPDX-License-Identifier: MIT */
/* Every allocation of what is done with a store fails once, each in turn: it fails with PD_ERROR_MEMORY then, or does what it does. */
#include <perfdata/perfdata.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/feed.h"

#include "../failing.h"
#include "../no_files.h"
#include "../temporary.h"
#include "../test.h"

#define RECORDING PERFDATA_TEST_DATA "/hot.data"

static char path[64], folder[64];

// A new one each time.
static enum pd_status add(void)
{
	static const char *const labels[] = { "service=web" };
	const struct pd_store_profile profile = { .size = sizeof(profile), .labels = labels, .label_count = 1 };
	struct opened opened = { NULL, NULL };
	const struct pd_sql_options how = { .size = sizeof(how),
					    .tables = { .symbols = open_symbols, .self = &opened } };
	struct pd_sql *sql = NULL;
	enum pd_status status = pd_file_open(RECORDING, NULL, &opened.file, NULL);

	if (truncate(path, 0) != 0)
		return PD_ERROR_SYSTEM;
	if (status >= 0)
		status = pd_sql_new(&opened.file, 1, &how, &sql, NULL);
	if (status >= 0)
		status = pd_store_add(path, sql, opened.file, &profile, NULL);
	pd_sql_free(sql);
	pd_symbols_free(opened.symbols);
	pd_file_close(opened.file);
	return status;
}

// To a folder with files of Parquet, which is gone before.
static enum pd_status add_to_folder(void)
{
	struct opened opened = { NULL, NULL };
	const struct pd_sql_options how = { .size = sizeof(how),
					    .tables = { .symbols = open_symbols, .self = &opened } };
	struct pd_sql *sql = NULL;
	enum pd_status status;

	pd_remove_tree(folder);
	if (mkdir(folder, 0700) != 0)
		return PD_ERROR_SYSTEM;
	status = pd_file_open(RECORDING, NULL, &opened.file, NULL);
	if (status >= 0)
		status = pd_sql_new(&opened.file, 1, &how, &sql, NULL);
	if (status >= 0)
		status = pd_store_add(folder, sql, opened.file, NULL, NULL);
	pd_sql_free(sql);
	pd_symbols_free(opened.symbols);
	pd_file_close(opened.file);
	return status;
}

static struct pd_symbols *symbols_without_files(void *self, struct pd_file *file, const struct pd_state *state)
{
	struct opened opened = { file, NULL };

	(void)self;
	return open_symbols(&opened, state);
}

// By its name, on another thread; a new store each time.
static enum pd_status feed(void)
{
	const struct pd_store_profile profile = { .size = sizeof(profile), .symbols = symbols_without_files };
	enum pd_status status = truncate(path, 0) == 0 ? pd_store_prepare(path, &profile, NULL) : PD_ERROR_SYSTEM;
	struct pd_store_feed *feed = status < 0 ? NULL : pd_store_feed_new(path, &profile);
	struct pd_store_fed *fed = NULL;

	if (status >= 0)
		status = feed && pd_store_feed_add(feed, RECORDING) ? PD_OK : PD_ERROR_MEMORY;
	if (status >= 0) {
		fed = pd_store_feed_take(feed, true);
		status = fed ? fed->status : PD_ERROR_NO_MATCH;
		if (fed && strcmp(fed->path, RECORDING) != 0)
			status = PD_ERROR_NO_MATCH;
	}
	if (status >= 0 && pd_store_feed_take(feed, true))
		status = PD_ERROR_LIMIT;
	free(fed);
	pd_store_feed_free(feed);
	return status;
}

static enum pd_status keep(void *self, const void *data, size_t size, struct pd_error *error)
{
	(void)data;
	(void)error;
	*(uint64_t *)self += size;
	return PD_OK;
}

static enum pd_status get(void)
{
	uint64_t written = 0, samples = 0;
	const struct pd_writer_options options = { .size = sizeof(options), .mode = PD_MODE_PIPE };
	struct pd_writer *writer = NULL;
	enum pd_status status = pd_writer_open_put(keep, &written, "out", &options, &writer, NULL);

	if (status >= 0)
		status = pd_store_get(path, NULL, writer, &samples, NULL);
	pd_writer_abort(writer);
	return status >= 0 && !samples ? PD_ERROR_NO_SAMPLES : status;
}

// As a recording, with the names that come with it.
static enum pd_status read_all(void)
{
	static const char *const words[] = { "service=web", "2000-01-01..,..2100-01-01" };
	const struct pd_profile_options how = { .size = sizeof(how), .by = PD_BY_CHAIN | PD_BY_COMM, .threads = 1 };
	struct pd_file *file = NULL;
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	enum pd_status status = pd_store_open_file(path, words, 2, NULL, &file, NULL);

	if (status >= 0)
		status = pd_profile_read(file, &how, &profile, NULL);
	if (status >= 0)
		status = pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, NULL);
	if (status >= 0)
		status = pd_profile_name(profile, symbols, NULL);
	if (status >= 0 && pd_symbols_failed(symbols))
		status = PD_ERROR_MEMORY;
	if (status >= 0 && !pd_symbols_function(symbols, 0))
		status = PD_ERROR_NO_MATCH;
	pd_profile_free(profile);
	pd_symbols_free(symbols);
	pd_file_close(file);
	return status;
}

// The same of a folder, and its functions.
static enum pd_status read_folder(void)
{
	const char *const top[] = { "top", folder };
	struct pd_file *file = NULL;
	struct pd_text *text = pd_text_new();
	enum pd_status status = text ? pd_store_open_file(folder, NULL, 0, NULL, &file, NULL) : PD_ERROR_MEMORY;

	if (status >= 0)
		status = pd_store_print(top, 2, NULL, text, NULL);
	if (status >= 0 && pd_text_failed(text))
		status = PD_ERROR_MEMORY;
	pd_file_close(file);
	pd_text_free(text);
	return status;
}

static enum pd_status find(void)
{
	static const char *const words[] = { "service=web" }, *const top[] = { "top", path, "service=web" };
	char hash[PD_STORE_HASH_BYTES];
	struct pd_text *text = pd_text_new();
	enum pd_status status = text ? pd_store_profile(path, words, 1, 0, hash, NULL) : PD_ERROR_MEMORY;

	if (status >= 0)
		status = pd_store_print(top, 3, NULL, text, NULL);
	if (status >= 0 && pd_text_failed(text))
		status = PD_ERROR_MEMORY;
	pd_text_free(text);
	return status;
}

static enum pd_status ask(void)
{
	struct pd_text *text = pd_text_new();
	enum pd_status status = text ? pd_store_ask(path, NULL, PD_SQL_JSONL, text, NULL) : PD_ERROR_MEMORY;

	if (status >= 0 && pd_text_failed(text))
		status = PD_ERROR_MEMORY;
	pd_text_free(text);
	return status;
}

// How many failures there were; 0 if one was not told.
static long every_turn(const char *name, enum pd_status (*act)(void))
{
	long failures = 0;

	for (long turn = 0;; turn++) {
		enum pd_status status;

		has_failed = false;
		left = turn;
		status = act();
		left = -1;
		if (status < 0 && ((status != PD_ERROR_MEMORY && status != PD_ERROR_STOPPED) || !has_failed)) {
			printf("# %s: allocation %ld: %s\n", name, turn, pd_status_name(status));
			return 0;
		}
		failures += status < 0;
		if (!has_failed)
			return failures;
	}
}

TEST(test_store__says_so_when_memory_runs_out)
{
	int fd;

	name_temporary(path, sizeof(path), "store");
	name_temporary(folder, sizeof(folder), "stores");
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	CHECK(fd >= 0);
	CHECK(mkdir(folder, 0700) == 0);
	CHECK(every_turn("folder", add_to_folder) > 20);
	CHECK(every_turn("folder, read", read_folder) > 20);
	pd_remove_tree(folder);
	CHECK(every_turn("feed", feed) > 20);
	CHECK(every_turn("add", add) > 20);
	CHECK(every_turn("get", get) > 20);
	CHECK(every_turn("read", read_all) > 20);
	CHECK(every_turn("find", find) > 1);
	CHECK(every_turn("ask", ask) > 1);
	close(fd);
	unlink(path);
}

RUN(TEST_CASE(test_store__says_so_when_memory_runs_out))
