/* SPDX-License-Identifier: MIT */
/*
 * Runs a command with its input and output at /dev/null and prints what it took: seconds of wall time,
 * seconds of processor time, peak resident bytes, exit status. A child starts with the peak of the
 * process that it was forked from, so this is done by a small program rather than by the script.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void run(char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage usage;
	int status;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: once COMMAND [ARGUMENT]...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	child = fork();
	if (!child)
		run(argv + 1);
	if (child < 0 || wait4(child, &status, 0, &usage) < 0)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.6f %.6f %lld %d\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss * 1024LL,
	       WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	return 0;
}
