/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a store, which is a file of SQLite: all that is asked of it and done to it. Whatever it has in it, there is an answer or an
 * error, and the file of a store that is only read stays as it is.
 */
#include <perfdata/perfdata.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "walk.h"

static char path[256];

static void require_known(enum pd_status status, const struct pd_error *error)
{
	// nothing in it, or SQLite could not read or write a page that the file says it has
	if (status < PD_ERROR_STOPPED)
		REQUIRE(error->status == status && error->message[0] && !strchr(error->message, '\n'));
	else if (status < 0)
		walk_require_error(status, error);
}

static void print(const char *action)
{
	const char *const words[] = { action, path };
	struct pd_text *text = pd_text_new();
	struct pd_error error;

	REQUIRE(text);
	require_known(pd_store_print(words, 2, NULL, text, &error), &error);
	pd_text_free(text);
}

// As a recording: what report, diff and the others read.
static void read_as_recording(const char *words)
{
	const struct pd_report_options options = { .size = sizeof(options), .sort = "comm,dso,sym" };
	const struct pd_open_options limits = { .size = sizeof(limits),
						.memory_limit = 8 << 20,
						.inflate_limit = 1 << 20 };
	const struct pd_symbols_options names = { .size = sizeof(names), .flags = PD_SYMBOLS_NO_FILES };
	struct pd_text *text = pd_text_new();
	struct pd_report *report;
	struct pd_file *file;
	struct pd_error error;
	enum pd_status status = pd_store_open_file(path, &words, words ? 1 : 0, &limits, &file, &error);

	REQUIRE(text);
	if (status >= 0) {
		status = pd_report_read(file, &options, &names, &report, &error);
		if (status >= 0) {
			status = pd_report_json(report, text, &error);
			pd_report_free(report);
		}
		require_known(status, &error);
		pd_file_close(file);
	} else {
		require_known(status, &error);
	}
	pd_text_free(text);
}

static void require_unchanged(const uint8_t *data, size_t size)
{
	uint8_t *now = malloc(size + 1);
	FILE *file = fopen(path, "rb");

	REQUIRE(now && file && fread(now, 1, size + 1, file) == size && (!size || memcmp(now, data, size) == 0));
	fclose(file);
	free(now);
}

static void change(void)
{
	struct pd_error error;
	enum pd_status status = pd_store_add_file(path, FUZZ_DATA "/hot-regs.data", NULL, &error);

	require_known(status, &error);
	// that it is there now does not depend on what else there is
	if (status == PD_OK)
		REQUIRE(pd_store_add_file(path, FUZZ_DATA "/hot-regs.data", NULL, &error) != PD_OK);
	require_known(pd_store_prune(path, UINT64_C(1795889803) * 1000000000, &error), &error);
}

static void remove_files(void)
{
	char journal[sizeof(path) + 8];

	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(journal);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = getenv("TMPDIR");
	FILE *file;

	if (!path[0])
		snprintf(path, sizeof(path), "%s/fuzz-store-%d.db", folder ? folder : "/tmp", (int)getpid());
	file = fopen(path, "wb");
	REQUIRE(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	print("ls");
	print("top");
	read_as_recording(NULL);
	read_as_recording("service=web");
	read_as_recording("2000-01-01..");
	require_unchanged(data, size);
	change();
	remove_files();
	return 0;
}

// Files of SQLite are pages that point into each other: bytes change where they are, most of them in what is used of a page.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static const uint8_t bytes[] = { 0, 1, 2, 5, 10, 13, 0x7f, 0x80, 0x81, 0xff };
	unsigned count = 1 + (unsigned)rand() % 8;

	if (seed % 16 == 0 || size < 1024)
		return LLVMFuzzerMutate(data, size, max_size);
	for (unsigned i = 0; i < count; i++) {
		size_t at = (size_t)rand() % size;

		for (unsigned tries = 0; tries < 8 && !data[at]; tries++)
			at = (size_t)rand() % size;
		data[at] = rand() % 2 ? bytes[(size_t)rand() % sizeof(bytes)] : (uint8_t)rand();
	}
	return seed % 32 == 1 ? (size_t)rand() % size : size;
}
