/* SPDX-License-Identifier: MIT */
/*
 * Loaded in front of the C library: no more than so many threads can be created.
 *
 *   THREADS_MOST=N     how many; later ones fail with EAGAIN
 *   THREADS_LOG=FILE   gets a letter for each: t for one that was created, f for one that failed
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *self)
{
	static atomic_long seen;
	const char *most = getenv("THREADS_MOST"), *log = getenv("THREADS_LOG");
	int fails = most && atomic_fetch_add(&seen, 1) >= atol(most);
	int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (fd >= 0) {
		if (write(fd, fails ? "f" : "t", 1) != 1)
			_exit(1);
		close(fd);
	}
	return fails ? EAGAIN : ((create_fn *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attr, start, self);
}
