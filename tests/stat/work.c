/* SPDX-License-Identifier: MIT */
/*
 * What is counted: as many calls, page faults and sleeps as it is told.
 *
 *   work CALLS PAGES SLEEPS BUSY_MS     busy is time of the CPU
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1000 + (double)time.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 0, pages = argc > 2 ? atol(argv[2]) : 0;
	long sleeps = argc > 3 ? atol(argv[3]) : 0, busy = argc > 4 ? atol(argv[4]) : 0;
	const struct timespec moment = { .tv_nsec = 1000000 };
	long size = sysconf(_SC_PAGESIZE);
	double end;
	char *memory = NULL;

	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	if (pages)
		memory = mmap(NULL, (size_t)(pages * size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	if (pages)
		madvise(memory, (size_t)(pages * size), MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		memory[i * size] = 1;
	for (long i = 0; i < sleeps; i++)
		nanosleep(&moment, NULL);
	for (end = now() + (double)busy; busy && now() < end;)
		;
	return 0;
}
