/* SPDX-License-Identifier: MIT */
/*
 * Loaded in front of the C library: one of the calls that change something below a folder fails, or a signal comes
 * before it. Counted are those that write to, cut, close, make or name a file there, and writes to standard output.
 *
 *   FAIL_BELOW=FOLDER   what is watched
 *   FAIL_AT=N           the call that fails, the first one is 0; without it none does
 *   FAIL_WITH=ERRNO     what it fails with
 *   FAIL_SIGNAL=NUMBER  a signal in place of that
 *   FAIL_LOG=FILE       gets a letter for each call that was watched
 *   LATE_ANSWER=USEC    so late comes each poll() for room to write
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *below;
static long at = -1, seen;
static useconds_t late;
static int with, number, log_fd = -1;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAIL_LOG");

	below = getenv("FAIL_BELOW");
	with = getenv("FAIL_WITH") ? atoi(getenv("FAIL_WITH")) : EIO;
	number = getenv("FAIL_SIGNAL") ? atoi(getenv("FAIL_SIGNAL")) : 0;
	at = getenv("FAIL_AT") ? atol(getenv("FAIL_AT")) : -1;
	late = getenv("LATE_ANSWER") ? (useconds_t)atol(getenv("LATE_ANSWER")) : 0;
	if (text)
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// Whether the call that is told by a character is the one that fails.
static bool fails(char code)
{
	if (log_fd >= 0)
		syscall(SYS_write, log_fd, &code, 1);
	if (seen++ != at)
		return false;
	if (number)
		raise(number);
	errno = with;
	return !number;
}

static bool is_below(const char *path)
{
	return below && path && strncmp(path, below, strlen(below)) == 0;
}

// A file below the folder that can be written, or standard output.
static bool is_watched(int fd)
{
	char link[64], path[PATH_MAX] = "";
	int saved = errno, flags = fcntl(fd, F_GETFL);
	bool is;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	is = below && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
	     (fd == STDOUT_FILENO || (readlink(link, path, sizeof(path) - 1) > 0 && is_below(path)));
	errno = saved;
	return is;
}

#define REAL(type, name, parameters) ((type(*) parameters)dlsym(RTLD_NEXT, #name))

#define WATCH_FD(type, name, code, parameters, arguments)      \
	type name parameters;                                  \
	type name parameters                                   \
	{                                                      \
		if (is_watched(fd) && fails(code))             \
			return -1;                             \
		return REAL(type, name, parameters) arguments; \
	}

WATCH_FD(ssize_t, write, 'w', (int fd, const void *data, size_t size), (fd, data, size))
WATCH_FD(ssize_t, pwrite, 'p', (int fd, const void *data, size_t size, off_t offset), (fd, data, size, offset))
WATCH_FD(int, ftruncate, 't', (int fd, off_t size), (fd, size))
WATCH_FD(int, fsync, 's', (int fd), (fd))
WATCH_FD(int, fdatasync, 's', (int fd), (fd))

// A descriptor is gone also when closing it fails.
int close(int fd)
{
	bool failed = fd > STDERR_FILENO && is_watched(fd) && fails('c');
	int result = REAL(int, close, (int))(fd);

	if (failed)
		errno = with;
	return failed ? -1 : result;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (late && count && fds[0].events & POLLOUT)
		usleep(late);
	return REAL(int, poll, (struct pollfd *, nfds_t, int))(fds, count, timeout);
}

int rename(const char *from, const char *to)
{
	if (is_below(to) && fails('r'))
		return -1;
	return REAL(int, rename, (const char *, const char *))(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	if (is_below(path) && fails('d'))
		return -1;
	return REAL(int, mkdir, (const char *, mode_t))(path, mode);
}

char *mkdtemp(char *path)
{
	if (is_below(path) && fails('d'))
		return NULL;
	return REAL(char *, mkdtemp, (char *))(path);
}

int mkostemp(char *path, int flags)
{
	if (is_below(path) && fails('o'))
		return -1;
	return REAL(int, mkostemp, (char *, int))(path, flags);
}

static bool makes(const char *path, int flags)
{
	return flags & O_CREAT && is_below(path) && fails('o');
}

#define WATCH_OPEN(name)                                                             \
	int name(const char *path, int flags, ...)                                   \
	{                                                                            \
		va_list more;                                                        \
		mode_t mode;                                                         \
                                                                                     \
		va_start(more, flags);                                               \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;     \
		va_end(more);                                                        \
		if (makes(path, flags))                                              \
			return -1;                                                   \
		return REAL(int, name, (const char *, int, ...))(path, flags, mode); \
	}
WATCH_OPEN(open)

// Made in a directory that is watched.
#define WATCH_OPENAT(name)                                                                                     \
	int name(int dir, const char *path, int flags, ...)                                                    \
	{                                                                                                      \
		char link[64], folder[PATH_MAX] = "";                                                          \
		va_list more;                                                                                  \
		mode_t mode;                                                                                   \
                                                                                                               \
		va_start(more, flags);                                                                         \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                               \
		va_end(more);                                                                                  \
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);                                         \
		if (flags & O_CREAT && readlink(link, folder, sizeof(folder) - 1) > 0 && makes(folder, flags)) \
			return -1;                                                                             \
		return REAL(int, name, (int, const char *, int, ...))(dir, path, flags, mode);                 \
	}
WATCH_OPENAT(openat)

// Names of glibc's own; in musl they are macros for those without 64.
#ifdef __GLIBC__
WATCH_FD(ssize_t, pwrite64, 'p', (int fd, const void *data, size_t size, off64_t offset), (fd, data, size, offset))
WATCH_FD(int, ftruncate64, 't', (int fd, off64_t size), (fd, size))
WATCH_OPEN(open64)
WATCH_OPENAT(openat64)

int mkostemp64(char *path, int flags)
{
	if (is_below(path) && fails('o'))
		return -1;
	return REAL(int, mkostemp64, (char *, int))(path, flags);
}
#endif
