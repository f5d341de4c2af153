/* SPDX-License-Identifier: MIT */
/* Removes what was written. Makes system calls and nothing else: a signal handler may have interrupted anything. */
#include <perfdata/outfile.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_LEVELS = 64, // of directories in a directory
	NAMES_SIZE = 4096
};

// What the kernel lists of a directory.
struct name {
	uint64_t inode;
	int64_t next;
	uint16_t size;
	uint8_t type;
	char text[];
};

// musl has it under the older name.
static long list_names(int dir, char *names, size_t size)
{
#ifdef __GLIBC__
	return getdents64(dir, names, size);
#else
	return getdents(dir, (struct dirent *)(void *)names, size);
#endif
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

// Removes the files of a directory. Returns the first directory in it, opened, after all else is gone; -1 if there is none. Its name
// goes into name_out.
static int clear_level(int dir, char name_out[NAME_MAX + 1])
{
	_Alignas(struct name) char names[NAMES_SIZE];
	int below = -1;
	long size;

	lseek(dir, 0, SEEK_SET);
	while ((size = list_names(dir, names, sizeof(names))) > 0) {
		for (long at = 0; at < size;) {
			const struct name *name = (const struct name *)(const void *)(names + at);

			at += name->size;
			if (is_dots(name->text) || unlinkat(dir, name->text, 0) == 0 || below >= 0)
				continue;
			below = openat(dir, name->text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			strcpy(name_out, name->text);
		}
	}
	return below;
}

void pd_remove_tree(const char *path)
{
	int levels[MOST_LEVELS + 1];
	char names[MOST_LEVELS + 1][NAME_MAX + 1];
	int depth = 0;

	if (unlink(path) == 0)
		return;
	levels[0] = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (depth >= 0 && levels[0] >= 0) {
		int below = depth < MOST_LEVELS ? clear_level(levels[depth], names[depth + 1]) : -1;

		if (below >= 0) {
			levels[++depth] = below;
			continue;
		}
		close(levels[depth]);
		// What cannot be removed would be found again and again.
		if (depth && unlinkat(levels[depth - 1], names[depth], AT_REMOVEDIR) < 0)
			break;
		depth--;
	}
	rmdir(path);
}
