/* SPDX-License-Identifier: MIT */
/* Each system call of a writer fails in turn: it is told, nothing is left behind, and what was there stays. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/writer.h>

#include "test.h"

static int left = -1; // calls until one fails; -1: none does
static int with;      // errno of the failure
static bool reached;

static bool fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	left = -1;
	reached = true;
	errno = with;
	return true;
}

#define WRAP(type, name, parameters, arguments)                \
	type __real_##name parameters;                         \
	type __wrap_##name parameters;                         \
	type __wrap_##name parameters                          \
	{                                                      \
		return fails() ? -1 : __real_##name arguments; \
	}
WRAP(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, ftruncate64, (int fd, off_t size), (fd, size))
int __real_close(int fd);
int __wrap_close(int fd);

// A descriptor is gone also when closing it fails.
int __wrap_close(int fd)
{
	bool failed = fails();
	int result = __real_close(fd);

	if (failed)
		errno = with;
	return failed ? -1 : result;
}

static char folder[] = "/tmp/perfdata-write-XXXXXX";

static size_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2;
}

static bool has_content(const char *path, const char *content)
{
	char got[64] = "";
	int fd = open(path, O_RDONLY);
	ssize_t size = fd >= 0 ? read(fd, got, sizeof(got) - 1) : -1;

	if (fd >= 0)
		__real_close(fd);
	return size >= 0 && strcmp(got, content) == 0;
}

static bool put_content(const char *path, const char *content)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool done = fd >= 0 && __real_write(fd, content, strlen(content)) == (ssize_t)strlen(content);

	if (fd >= 0)
		__real_close(fd);
	return done;
}

// The status of the first call that fails, else of the last one. told: the system's error was told.
static enum pd_status convert(const char *from, const char *to, struct pd_writer_options *options, bool *told)
{
	struct pd_error error = { 0 };
	struct pd_file *file = NULL;
	struct pd_stream *stream = NULL;
	struct pd_writer *writer = NULL;
	const struct pd_record *record;
	enum pd_status status = PD_OK, read = PD_OK;
	int fails_at = left;

	// reading does not count
	left = -1;
	if (pd_file_open(from, NULL, &file, &error) < 0 || pd_stream_open(file, NULL, &stream, &error) < 0) {
		pd_file_close(file);
		return PD_ERROR_FORMAT;
	}
	left = fails_at;
	options->size = sizeof(*options);
	options->inputs = &file;
	options->input_count = 1;
	status = pd_writer_open(to, options, &writer, &error);
	if (status >= 0)
		status = pd_writer_copy_metadata(writer, file, &error);
	while (status >= 0 && (read = pd_stream_next(stream, &record, &error)) == PD_OK)
		status = pd_writer_pass(writer, stream, record, &error);
	if (writer) {
		// the first failure stays, whoever looks at it
		enum pd_status last = pd_writer_finish(writer, &error);

		status = read < 0 ? read : last;
	}
	*told = status == PD_ERROR_SYSTEM && error.os_errno == with && strstr(error.message, strerror(with));
	left = -1;
	pd_stream_close(stream);
	pd_file_close(file);
	return status;
}

static bool remove_output(const char *to)
{
	char inner[80];

	snprintf(inner, sizeof(inner), "%s/data", to);
	unlink(inner);
	return rmdir(to) == 0 || unlink(to) == 0;
}

static void fail_each(enum pd_mode mode, enum pd_packing packing, const char *input)
{
	struct pd_writer_options options = { .mode = mode, .packing = packing, .save_bytes = 512 };
	char from[256], to[64];
	bool told;
	int calls = 0;

	snprintf(from, sizeof(from), "%s/%s", PERFDATA_TEST_DATA, input);
	snprintf(to, sizeof(to), "%s/out", folder);
	with = ENOSPC;
	for (int at = 0; at < 1000; at++) {
		enum pd_status status;

		if (mode != PD_MODE_DIRECTORY)
			CHECK(put_content(to, "what was there"));
		left = at;
		reached = false;
		status = convert(from, to, &options, &told);
		if (!reached) {
			CHECK(status == PD_OK);
			break;
		}
		calls++;
		if (status == PD_OK) {
			// closing a directory that was only looked up in: nothing hangs on that
			CHECK(mode == PD_MODE_DIRECTORY);
			CHECK(remove_output(to));
			continue;
		}
		CHECK(told);
		CHECK(count_files(folder) == (mode != PD_MODE_DIRECTORY));
		CHECK(mode == PD_MODE_DIRECTORY || has_content(to, "what was there"));
	}
	CHECK(calls >= 3);
	CHECK(remove_output(to));
}

TEST(failure__of_each_call_for_a_file)
{
	fail_each(PD_MODE_FILE, PD_PACK_KEEP, "hot.data");
}

TEST(failure__of_each_call_for_a_pipe)
{
	fail_each(PD_MODE_PIPE, PD_PACK_KEEP, "hot-trace.data");
}

TEST(failure__of_each_call_for_a_directory)
{
	fail_each(PD_MODE_DIRECTORY, PD_PACK_KEEP, "hot.data");
}

TEST(failure__of_each_call_with_compression)
{
	bool has_zstd = false;

	for (size_t i = 0; pd_build_part(i, NULL, NULL); i++) {
		bool built_in;

		if (strstr(pd_build_part(i, &built_in, NULL), "zstd"))
			has_zstd |= built_in;
	}
	if (has_zstd)
		fail_each(PD_MODE_FILE, PD_PACK_ZSTD, "hot-multi.data");
}

TEST(failure__a_closed_pipe)
{
	struct pd_writer_options options = { .size = sizeof(options), .mode = PD_MODE_PIPE };
	const struct pd_comm comm = { .comm = { .data = "x", .length = 1 } };
	struct pd_writer *writer;
	struct pd_error error = { 0 };
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK(pipe(ends) == 0);
	close(ends[0]);
	CHECK(pd_writer_open_fd(ends[1], "pipe", &options, &writer, &error) == PD_OK);
	for (int i = 0; i < 100000; i++)
		if (pd_writer_add(writer, PD_RECORD_COMM, 0, &comm, 0, &error) < 0)
			break;
	CHECK(error.status == PD_ERROR_SYSTEM && error.os_errno == EPIPE);
	memset(&error, 0, sizeof(error));
	CHECK(pd_writer_finish(writer, &error) == PD_ERROR_SYSTEM);
	CHECK(error.os_errno == EPIPE);
	close(ends[1]);
}

// Only root can make a file system that is full.
TEST(failure__a_full_disk)
{
	struct pd_writer_options options = { .mode = PD_MODE_FILE };
	char to[80], from[256];
	bool told;

	if (mount("tmpfs", folder, "tmpfs", 0, "size=4k") < 0) {
		printf("# no small file system: %s\n", strerror(errno));
		return;
	}
	snprintf(from, sizeof(from), "%s/hot-trace.data", PERFDATA_TEST_DATA);
	snprintf(to, sizeof(to), "%s/out", folder);
	with = ENOSPC;
	CHECK(convert(from, to, &options, &told) == PD_ERROR_SYSTEM);
	CHECK(told);
	CHECK(count_files(folder) == 0);
	CHECK(umount(folder) == 0);
}

TEST(failure__setup)
{
	CHECK(mkdtemp(folder) != NULL);
}

TEST(failure__nothing_is_left)
{
	CHECK(count_files(folder) == 0);
	CHECK(rmdir(folder) == 0);
}

RUN(TEST_CASE(failure__setup), TEST_CASE(failure__of_each_call_for_a_file), TEST_CASE(failure__of_each_call_for_a_pipe),
    TEST_CASE(failure__of_each_call_for_a_directory), TEST_CASE(failure__of_each_call_with_compression),
    TEST_CASE(failure__a_closed_pipe), TEST_CASE(failure__a_full_disk), TEST_CASE(failure__nothing_is_left))
