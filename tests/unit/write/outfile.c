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
					[PD_UNFINISHED_DONE] = 'd',
					[PD_UNFINISHED_FOLDER] = 'F' };

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

// ---- folders ----

TEST(folder_appears_at_the_end)
{
	char steps[8] = "";
	const struct pd_outfile_options options = { .size = sizeof(options), .unfinished = note, .self = steps };
	struct pd_outfolder *made;
	struct pd_text *text;

	CHECK(pd_outfolder_is_free(path_of("set")) && mkdir(path_of("set"), 0700) == 0);
	CHECK(pd_outfolder_open(path_of("set"), &options, &made, &error) == PD_OK);
	text = pd_outfolder_file(made, "one");
	CHECK(text);
	pd_text_add(text, "1");
	text = pd_outfolder_file(made, "two");
	CHECK(text && !is_there("set/one"));
	for (int i = 0; i < 100000; i++)
		pd_text_add(text, "22222222");
	CHECK(pd_text_flush_large(text) && !pd_text_bytes(text).size);
	CHECK(pd_outfolder_finish(made, &error) == PD_OK && has("set/one", "1") && is_there("set/two"));
	CHECK_STR(steps, "sed");
	CHECK(!pd_outfolder_is_free(path_of("set")));
	CHECK(pd_outfolder_open(path_of("set"), NULL, &made, &error) == PD_ERROR_OUTPUT);
	CHECK(strstr(error.message, "set: cannot create: Directory not empty"));
	pd_remove_tree(path_of("set"));
}

TEST(folder_or_not_at_all)
{
	struct pd_outfolder *made;

	CHECK(pd_outfolder_open(path_of("set"), NULL, &made, &error) == PD_OK && pd_outfolder_file(made, "one"));
	pd_outfolder_abort(made);
	pd_outfolder_abort(NULL);
	CHECK(!is_there("set"));
	CHECK(pd_outfolder_open(path_of("set"), NULL, &made, &error) == PD_OK);
	CHECK(!pd_outfolder_file(made, "no/one") && !pd_outfolder_file(made, "two"));
	CHECK(pd_outfolder_finish(made, &error) == PD_ERROR_OUTPUT && strstr(error.message, "set: cannot create: "));
	CHECK(!is_there("set"));
	CHECK(symlink("nowhere", path_of("dangling")) == 0 && !pd_outfolder_is_free(path_of("dangling")));
}

static enum pd_status write_folder(void)
{
	struct pd_outfolder *made;
	enum pd_status status = pd_outfolder_open(path_of("set"), NULL, &made, &error);
	struct pd_text *text = status < 0 ? NULL : pd_outfolder_file(made, "one");

	if (status < 0)
		return status;
	if (text)
		pd_text_add(text, "1");
	return pd_outfolder_finish(made, &error);
}

// ---- several files ----

TEST(several)
{
	char steps[8] = "";
	const struct pd_outfile_options options = { .size = sizeof(options), .unfinished = note, .self = steps };
	struct pd_outfiles *files;
	char pattern[128];

	CHECK(pd_outfiles_new(path_of("pieces"), &options, &files, &error) == PD_OK);
	CHECK(pd_outfiles_add(files, "a", &error) == PD_OK && pd_outfiles_begin(files, &error) == PD_OK);
	CHECK(is_there("pieces") && strstr(pd_outfiles_at(files, 0), "/pieces/a.data") && !pd_outfiles_at(files, 1));
	CHECK_STR(steps, "sF");
	pd_outfiles_end(files, false);
	CHECK(!is_there("pieces"));
	CHECK_STR(steps, "sFd");
	pd_outfiles_free(files);
	pd_outfiles_free(NULL);
	snprintf(pattern, sizeof(pattern), "%s", path_of("x-%s.y"));
	CHECK(pd_outfiles_new(pattern, NULL, &files, &error) == PD_OK && pd_outfiles_add(files, "b", &error) == PD_OK);
	CHECK_STR(pd_outfiles_at(files, 0), path_of("x-b.y"));
	CHECK(write_file("x-b.y", "") && pd_outfiles_begin(files, &error) == PD_ERROR_OUTPUT);
	CHECK(strstr(error.message, "x-b.y: already exists; nothing is written"));
	pd_outfiles_free(files);
	CHECK(pd_outfiles_new(path_of("none/x"), NULL, &files, &error) == PD_OK);
	CHECK(pd_outfiles_begin(files, &error) == PD_ERROR_OUTPUT && strstr(error.message, "x: cannot create: "));
	pd_outfiles_end(files, true);
	pd_outfiles_free(files);
}

static enum pd_status name_files(void)
{
	struct pd_outfiles *files;
	enum pd_status status = pd_outfiles_new("folder", NULL, &files, &error);

	if (status < 0)
		return status;
	for (int i = 0; i < 3 && status >= 0; i++)
		status = pd_outfiles_add(files, "name", &error);
	pd_outfiles_free(files);
	return status;
}

// Each allocation of a job fails once: it fails then, and leaves nothing.
static bool fails_each_in_turn(enum pd_status (*job)(void))
{
	for (long n = 0; n < 100; n++) {
		enum pd_status status;

		has_failed = false;
		left = n;
		status = job();
		left = -1;
		if (!has_failed)
			return status == PD_OK && n > 2;
		if (status >= 0 || is_there("set"))
			return false;
	}
	return false;
}

static enum pd_status write_events(void)
{
	struct pd_event_files *files = NULL;
	char prefix[128];
	enum pd_status status;
	struct pd_text *text;

	snprintf(prefix, sizeof(prefix), "%s", path_of("in"));
	status = pd_event_files_new(prefix, &files, &error);
	if (status >= 0)
		status = pd_event_files_add(files, "cycles", NULL, &error);
	if (status >= 0 && (text = pd_event_files_text(files, "cycles")) != NULL)
		pd_text_add(text, "a sample\n");
	if (status >= 0 && (text = pd_event_files_text(files, "cpu/../\001x/")) != NULL)
		pd_text_add(text, "another\n");
	if (status >= 0)
		status = pd_event_files_finish(files, &error);
	pd_event_files_free(files);
	return status;
}

TEST(of_events)
{
	struct pd_event_files *files;
	const struct pd_event_file *one;

	CHECK(write_events() == PD_OK && has("in.cycles.dump", "a sample\n"));
	CHECK(has("in.cpu_.._\x5fx_.dump", "another\n"));
	CHECK(pd_event_files_new(path_of("no/in"), &files, &error) == PD_OK);
	CHECK(!pd_event_files_text(files, "cycles") && pd_event_files_finish(files, &error) == PD_ERROR_SYSTEM);
	pd_event_files_free(files);
	CHECK(pd_event_files_new(path_of("two"), &files, &error) == PD_OK);
	CHECK(pd_event_files_text(files, "a") && pd_event_files_text(files, "a") && pd_event_files_text(files, "b"));
	one = pd_event_files_at(files, 0);
	CHECK(one && one->samples == 2 && !strcmp(one->path, path_of("two.a.dump")) && !pd_event_files_at(files, 2));
	pd_event_files_free(files);
	CHECK(!is_there("two.a.dump"));
	pd_event_files_free(NULL);
}

TEST(no_memory)
{
	struct pd_outfile *file;

	left = 0;
	CHECK(pd_outfile_open(path_of("memory"), NULL, &file, &error) == PD_ERROR_MEMORY);
	left = -1;
	CHECK(!is_there("memory"));
	CHECK(fails_each_in_turn(write_folder) && has("set/one", "1"));
	pd_remove_tree(path_of("set"));
	CHECK(fails_each_in_turn(name_files));
	CHECK(fails_each_in_turn(write_events));
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
    TEST_CASE(is_not_overwritten), TEST_CASE(folder_appears_at_the_end), TEST_CASE(folder_or_not_at_all),
    TEST_CASE(several), TEST_CASE(of_events), TEST_CASE(no_memory), TEST_CASE(trees), TEST_CASE(end))
