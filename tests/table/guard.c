/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void guard_init(struct guard *guard, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	size = (size + page - 1) / page * page;
	guard->mapped = size + 2 * page;
	guard->mapping = mmap(NULL, guard->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (guard->mapping == MAP_FAILED ||
	    mprotect((uint8_t *)guard->mapping + page, size, PROT_READ | PROT_WRITE) < 0) {
		perror("mmap");
		exit(1);
	}
	guard->begin = (uint8_t *)guard->mapping + page;
	guard->end = guard->begin + size;
}

void guard_fini(struct guard *guard)
{
	munmap(guard->mapping, guard->mapped);
}
