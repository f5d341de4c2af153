/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and writes into a file how much of the processor it used, to its very end: what a program says of itself
 * leaves out how it ends.
 *
 * usage: timed FILE COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

static double used(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

int main(int count, char **words)
{
	int status = -1;
	FILE *file;
	pid_t child;

	if (count < 3)
		return 2;
	child = fork();
	if (child == 0) {
		execvp(words[2], words + 2);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 1;
	file = fopen(words[1], "w");
	if (!file)
		return 1;
	fprintf(file, "%.6f\n", used(RUSAGE_CHILDREN) + used(RUSAGE_SELF));
	return fclose(file) == 0 && status == 0 ? 0 : 1;
}
