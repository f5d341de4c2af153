/* SPDX-License-Identifier: MIT */
/* Included before all else on WASI: the functions of the system that its libc does not have. */
#ifndef PD_WITHOUT_WASI_H
#define PD_WITHOUT_WASI_H

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Flags that it does not know. A folder cannot be written to: no file without a name is opened with the first.
#ifndef O_TMPFILE
#define O_TMPFILE 0
#endif
#ifndef O_PATH
#define O_PATH O_SEARCH // open() refuses an access mode of 0
#endif

#define GRND_NONBLOCK 1
#define CLOCK_BOOTTIME CLOCK_MONOTONIC

// Leaves the order of equal elements, as that of the GNU libc does.
void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *self);

// Memory has no limit but its own.
#define RLIMIT_AS 0
#define RLIMIT_DATA 1
#define RLIM_INFINITY (~0ULL)

struct rlimit {
	unsigned long long rlim_cur, rlim_max;
};

static inline int getrlimit(int resource, struct rlimit *limit)
{
	(void)resource;
	limit->rlim_cur = limit->rlim_max = RLIM_INFINITY;
	return 0;
}

static inline int pd_no_advice(void *memory, size_t size, int advice)
{
	(void)memory;
	(void)size;
	(void)advice;
	return 0;
}
#define madvise(memory, size, advice) pd_no_advice(memory, size, advice)

// files.h has these as macros.
#ifndef PD_WITHOUT_FILES_H
// As that of the GNU libc: the six characters X at the end of path become others.
int mkostemp(char *path, int flags);

// Nothing that reads recordings needs the others.
static inline char *realpath(const char *path, char *resolved)
{
	(void)path;
	(void)resolved;
	return NULL;
}

static inline char *mkdtemp(char *path)
{
	(void)path;
	return NULL;
}

static inline int dup(int fd)
{
	(void)fd;
	return -1;
}

static inline int chmod(const char *path, mode_t mode)
{
	(void)path;
	(void)mode;
	return 0;
}

#endif

// Files have no mode.
static inline int fchmod(int fd, mode_t mode)
{
	(void)fd;
	(void)mode;
	return 0;
}

static inline uid_t geteuid(void)
{
	return 0;
}

static inline ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
	(void)flags;
	return getentropy(bytes, size) == 0 ? (ssize_t)size : -1;
}

#endif
