/* SPDX-License-Identifier: MIT */
/*
 * Included before all else where the library is built with -Dfiles=disabled: recordings come from memory and callbacks only,
 * and what would open a path fails as if the system could not (ENOSYS). So symbols come from the recording alone.
 */
#ifndef PD_WITHOUT_FILES_H
#define PD_WITHOUT_FILES_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int pd_no_path(const char *path, ...)
{
	(void)path;
	errno = ENOSYS;
	return -1;
}

static inline int pd_no_path_at(int folder, ...)
{
	(void)folder;
	errno = ENOSYS;
	return -1;
}

static inline void *pd_no_stream(const char *path, ...)
{
	(void)path;
	errno = ENOSYS;
	return NULL;
}

static inline void *pd_no_stream_of(int fd, ...)
{
	(void)fd;
	errno = ENOSYS;
	return NULL;
}

static inline void *pd_no_map(const void *at, size_t size, ...)
{
	(void)at;
	(void)size;
	errno = ENOSYS;
	return MAP_FAILED;
}

#define open(...) pd_no_path(__VA_ARGS__)
#define openat(...) pd_no_path_at(__VA_ARGS__)
#define fopen(...) ((FILE *)pd_no_stream(__VA_ARGS__))
#define fdopen(...) ((FILE *)pd_no_stream_of(__VA_ARGS__))
#define opendir(path) ((DIR *)pd_no_stream(path))
#define fdopendir(fd) ((DIR *)pd_no_stream_of(fd))
#define mmap(...) pd_no_map(__VA_ARGS__)
#define stat(path, status) pd_no_path(path, status)
#define lstat(path, status) pd_no_path(path, status)
#define fstatat(...) pd_no_path_at(__VA_ARGS__)
#define readlink(...) pd_no_path(__VA_ARGS__)
#define readlinkat(...) pd_no_path_at(__VA_ARGS__)
#define realpath(path, resolved) ((char *)pd_no_stream(path, resolved))
#define mkstemp(path) pd_no_path(path)
#define mkostemp(path, flags) pd_no_path(path, flags)
#define mkdtemp(path) ((char *)pd_no_stream(path))
#define chmod(path, mode) pd_no_path(path, mode)
#define dup(fd) pd_no_path_at(fd)
#define mkdir(path, mode) pd_no_path(path, mode)
#define rename(from, to) pd_no_path(from, to)
#define unlink(path) pd_no_path(path)
#define rmdir(path) pd_no_path(path)

#endif
