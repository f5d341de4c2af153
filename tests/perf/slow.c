// SPDX-License-Identifier: MIT
// Stands in front of pread(), so that reading takes as long as a large file would: SLOW_MS before each read of a piece.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum {
	PIECE_BYTES = 32 * 1024
};

typedef ssize_t pread_fn(int fd, void *data, size_t size, off64_t offset);

static void wait_a_little(size_t size)
{
	const char *ms = getenv("SLOW_MS");
	struct timespec time = { .tv_nsec = 1000000L * (ms ? atoi(ms) : 0) };

	if (size >= PIECE_BYTES)
		nanosleep(&time, NULL);
}

static ssize_t read_slowly(const char *name, int fd, void *data, size_t size, off64_t offset)
{
	pread_fn *next = (pread_fn *)dlsym(RTLD_NEXT, name);

	wait_a_little(size);
	return next(fd, data, size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	return read_slowly("pread", fd, data, size, offset);
}

// In musl a macro for the one above.
#ifdef __GLIBC__
ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	return read_slowly("pread64", fd, data, size, offset);
}
#endif
