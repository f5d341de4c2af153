/* SPDX-License-Identifier: MIT */
/* Names for files and folders of a test that no other one has. */
#ifndef PD_TEST_TEMPORARY_H
#define PD_TEST_TEMPORARY_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* In memory, where there is such a folder: what is synchronized to a disk takes its time. */
static inline void name_temporary(char *name, size_t size, const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(name, size, "%s/perfdata-%s-%ld-%llx", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", what,
		 (long)getpid(), (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec);
}

#endif
