/* SPDX-License-Identifier: MIT */
/* Paths inside of a root: each component is looked at before the next one, and links are followed by hand. */
#include "object/find/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINKS = 40
}; // most to follow, as the kernel has it

struct walk {
	int root;
	char done[PATH_MAX];    // without links, from the root, without a slash in front
	char pending[PATH_MAX]; // what is to be walked yet
	unsigned links;
	bool itself;    // the last component must be no link
	bool is_device; // opening what was walked to last may do something
};

static void step_back(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash)
		*slash = 0;
	else
		w->done[0] = 0;
}

// Cuts the first component off; false if there is none.
static bool next_component(struct walk *w, char name[NAME_MAX + 1], int *error)
{
	size_t skip = strspn(w->pending, "/"), length = strcspn(w->pending + skip, "/");

	if (!length)
		return false;
	if (length > NAME_MAX) {
		*error = -ENAMETOOLONG;
		return false;
	}
	memcpy(name, w->pending + skip, length);
	name[length] = 0;
	memmove(w->pending, w->pending + skip + length, strlen(w->pending + skip + length) + 1);
	return true;
}

static int follow(struct walk *w)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(w->root, w->done, target, sizeof(target));

	if (length < 0)
		return -errno;
	if (++w->links > LINKS)
		return -ELOOP;
	// the target, then what was to come after the link
	if ((size_t)length + 1 + strlen(w->pending) >= sizeof(w->pending))
		return -ENAMETOOLONG;
	memmove(w->pending + length + 1, w->pending, strlen(w->pending) + 1);
	memcpy(w->pending, target, (size_t)length);
	w->pending[length] = '/';
	if (length && target[0] == '/')
		w->done[0] = 0;
	else
		step_back(w);
	return 0;
}

static int step(struct walk *w, const char *name)
{
	size_t have = strlen(w->done);
	struct stat about;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		step_back(w);
		return 0;
	}
	if (have + 1 + strlen(name) >= sizeof(w->done))
		return -ENAMETOOLONG;
	if (have)
		w->done[have++] = '/';
	memcpy(w->done + have, name, strlen(name) + 1);
	if (fstatat(w->root, w->done, &about, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	w->is_device = !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
	if (!S_ISLNK(about.st_mode))
		return 0;
	return w->itself && !w->pending[strspn(w->pending, "/")] ? -ELOOP : follow(w);
}

static int open_below(const char *root, const char *path, bool itself)
{
	struct walk w = { .root = -1, .itself = itself };
	char name[NAME_MAX + 1];
	int result = 0;

	if (strlen(path) >= sizeof(w.pending))
		return -ENAMETOOLONG;
	memcpy(w.pending, path, strlen(path) + 1);
	w.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.root < 0)
		return -errno;
	while (result == 0 && next_component(&w, name, &result))
		result = step(&w, name);
	if (result == 0 && w.is_device)
		result = -ENOTSUP;
	if (result == 0) {
		result = openat(w.root, w.done[0] ? w.done : ".",
				O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
		if (result < 0)
			result = -errno;
	}
	close(w.root);
	return result;
}

int pd_root_open(const char *root, const char *path)
{
	return open_below(root, path, false);
}

int pd_root_open_itself(const char *root, const char *path)
{
	return open_below(root, path, true);
}

int pd_root_open_own(const char *root, const char *path)
{
	int fd = pd_root_open_itself(root, path);
	struct stat about;

	if (fd >= 0 && (fstat(fd, &about) < 0 || (about.st_uid && about.st_uid != geteuid()))) {
		close(fd);
		return -EPERM;
	}
	return fd;
}
