/* SPDX-License-Identifier: MIT */
/* The directory of the index is kept from growing, and is not listed for each file that is written. */
#include "object/index/index_file.h"
#include "../temporary.h"
#include "../test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const olds[] = { "1111111111111111.symbols.1", "2222222222222222.symbols.1",
				    "3333333333333333.symbols.1" };

static bool is_there(int folder, const char *name)
{
	struct stat about;

	return fstatat(folder, name, &about, 0) == 0;
}

/* More than there may be, in files without blocks, the first of which was used first; and one that is not of the index. */
static void put_olds(int folder)
{
	for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]); i++) {
		const struct timespec used[2] = { { 1000 + (time_t)i, 0 }, { 1000 + (time_t)i, 0 } };
		int fd = openat(folder, olds[i], O_CREAT | O_EXCL | O_WRONLY, 0600);

		CHECK(fd >= 0 && ftruncate(fd, (off_t)400 << 20) == 0 && futimens(fd, used) == 0);
		close(fd);
	}
	close(openat(folder, "not-ours", O_CREAT | O_EXCL | O_WRONLY, 0600));
}

static int make_folder(char *path, size_t size)
{
	int folder;

	name_temporary(path, size, "index");
	folder = mkdir(path, 0700) == 0 ? open(path, O_RDONLY | O_DIRECTORY) : -1;
	if (folder >= 0)
		put_olds(folder);
	return folder;
}

static bool write_file(const char *path, uint8_t number, const void *data, size_t size)
{
	const struct pd_object_id id = { { 10, 11, 12, 13, 14, 15, 16, number }, 8 };
	const struct pd_index_key key = { .id = &id, .kind = PD_INDEX_SYMBOLS };
	const struct pd_index_part part = { .data = data, .size = size };

	return pd_index_write(path, &key, &part, 1);
}

static void remove_all(const char *path, int folder)
{
	DIR *list = fdopendir(folder);

	for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
		if (entry->d_name[0] != '.')
			unlinkat(folder, entry->d_name, 0);
	closedir(list);
	CHECK(rmdir(path) == 0);
}

TEST(limit)
{
	enum {
		SMALL = 100,
		LARGE = 16 << 20
	};
	char path[128];
	char *bytes = calloc(1, LARGE);
	int folder = make_folder(path, sizeof(path));

	CHECK(folder >= 0 && bytes);
	/* what is small is not worth a list of all that is there */
	for (uint8_t i = 0; i < 64; i++)
		CHECK(write_file(path, i, bytes, SMALL));
	CHECK(is_there(folder, olds[0]));
	CHECK(write_file(path, 100, bytes, LARGE));
	CHECK(!is_there(folder, olds[0]) && is_there(folder, olds[1]) && is_there(folder, olds[2]));
	CHECK(is_there(folder, "0a0b0c0d0e0f1064.symbols") && is_there(folder, "not-ours"));
	remove_all(path, folder);
	free(bytes);
}

/* Small files are enough to be noticed when there are many. */
TEST(many)
{
	enum {
		SIZE = 2 << 20
	};
	char path[128];
	char *bytes = calloc(1, SIZE);
	int folder = make_folder(path, sizeof(path));

	CHECK(folder >= 0 && bytes);
	for (uint8_t i = 0; i < 40 && is_there(folder, olds[0]); i++)
		CHECK(write_file(path, i, bytes, SIZE));
	CHECK(!is_there(folder, olds[0]) && is_there(folder, olds[2]));
	remove_all(path, folder);
	free(bytes);
}

RUN(TEST_CASE(limit), TEST_CASE(many))
