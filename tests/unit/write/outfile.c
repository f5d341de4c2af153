/* SPDX-License-Identifier: MIT */
/* Files that appear when they are complete: what is there meanwhile, what is never overwritten; removal; and lack of memory. */
#include <perfdata/outfile.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../failing.h"
#include "../test.h"

static char folder[] = "/tmp/perfdata-outfile-XXXXXX";
static struct pd_error error;

static const char *path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static bool write_file(const char *name, const char *content)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0640);
	bool done = fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content);

	return fd >= 0 && close(fd) == 0 && done;
}

static bool has(const char *name, const char *content)
{
	char got[64] = "";
	int fd = open(path_of(name), O_RDONLY);
	bool same = fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0 && !strcmp(got, content);

	if (fd >= 0)
		close(fd);
	return same;
}

static bool is_there(const char *name)
{
	struct stat status;

	return lstat(path_of(name), &status) == 0;
}

static void note(void *self, enum pd_unfinished step, const char *path)
{
	char *steps = self;
	static const char letters[] = { [PD_UNFINISHED_STARTS] = 's',
					[PD_UNFINISHED_EXISTS] = 'e',
					[PD_UNFINISHED_FAILED] = 'f',
					[PD_UNFINISHED_DONE] = 'd' };

	(void)path;
	steps[strlen(steps)] = letters[step];
}

TEST(appears_at_the_end)
{
	char steps[8] = "";
	const struct pd_outfile_options options = { .size = sizeof(options), .unfinished = note, .self = steps };
	struct pd_outfile *file;
	struct stat status;

	CHECK(write_file("new", "old content"));
	CHECK(pd_outfile_open(path_of("new"), &options, &file, &error) == PD_OK);
	CHECK(write(pd_outfile_fd(file), "text", 4) == 4 && has("new", "old content"));
	CHECK_STR(steps, "se");
	CHECK(access(pd_outfile_temporary(file), F_OK) == 0 && pd_outfile_finish(file, &error) == PD_OK);
	CHECK(has("new", "text"));
	CHECK_STR(steps, "sed");
	CHECK(stat(path_of("new"), &status) == 0 && (status.st_mode & 0777) == 0640);
}

TEST(or_not_at_all)
{
	struct pd_outfile *file;

	CHECK(pd_outfile_open(path_of("never"), NULL, &file, &error) == PD_OK);
	CHECK(write(pd_outfile_fd(file), "text", 4) == 4);
	pd_outfile_abort(file);
	pd_outfile_abort(NULL);
	CHECK(!is_there("never"));
}

TEST(links_stay)
{
	struct pd_outfile *file;
	struct stat status;

	CHECK(write_file("target", "old") && symlink("target", path_of("link")) == 0);
	CHECK(pd_outfile_open(path_of("link"), NULL, &file, &error) == PD_OK);
	CHECK(write(pd_outfile_fd(file), "new", 3) == 3 && pd_outfile_finish(file, &error) == PD_OK);
	CHECK(has("target", "new") && lstat(path_of("link"), &status) == 0 && S_ISLNK(status.st_mode));
}

TEST(is_not_overwritten)
{
	struct pd_outfile_options options = { .size = sizeof(options) };
	struct pd_outfile *file;

	CHECK(write_file("recording", "PERFILE2 and more") && write_file("input", "text"));
	CHECK(pd_outfile_open(path_of("recording"), NULL, &file, &error) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "recording: refusing to overwrite a perf.data file"));
	options.input = path_of("input");
	CHECK(pd_outfile_open(path_of("input"), &options, &file, &error) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "input: refusing to overwrite the input file"));
	CHECK(pd_outfile_open(path_of("other"), NULL, &file, &error) == PD_OK && write_file("other", "2ELIFREP"));
	CHECK(pd_outfile_finish(file, &error) == PD_ERROR_ARGUMENT && has("other", "2ELIFREP"));
	CHECK(pd_outfile_open(path_of("none/x"), NULL, &file, &error) == PD_ERROR_SYSTEM);
}

TEST(no_memory)
{
	struct pd_outfile *file;

	left = 0;
	CHECK(pd_outfile_open(path_of("memory"), NULL, &file, &error) == PD_ERROR_MEMORY);
	left = -1;
	CHECK(!is_there("memory"));
}

TEST(trees)
{
	CHECK(mkdir(path_of("a"), 0700) == 0 && mkdir(path_of("a/b"), 0700) == 0 && mkdir(path_of("a/b/c"), 0700) == 0);
	CHECK(write_file("a/x", "x") && write_file("a/b/c/y", "y") && symlink("../target", path_of("a/link")) == 0);
	pd_remove_tree(path_of("a"));
	CHECK(!is_there("a") && is_there("target"));
	pd_remove_tree(path_of("target"));
	CHECK(!is_there("target"));
	pd_remove_tree(path_of("target"));
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

TEST(end)
{
	pd_remove_tree(folder);
	CHECK(access(folder, F_OK) != 0);
}

RUN(TEST_CASE(start), TEST_CASE(appears_at_the_end), TEST_CASE(or_not_at_all), TEST_CASE(links_stay),
    TEST_CASE(is_not_overwritten), TEST_CASE(no_memory), TEST_CASE(trees), TEST_CASE(end))
