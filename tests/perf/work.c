// SPDX-License-Identifier: MIT
/*
 * A program to be recorded: functions that call each other, recursion, threads, children and programs that are
 * started, page faults. It stops after the time that was asked for.
 * usage: work MILLISECONDS [PART]...   (alone when nothing is named; the parts are at the end of this file)
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

volatile uint64_t sink;
static double limit_seconds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

KEEP static void spin(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i * i;
}

KEEP static void leaf_long(void)
{
	spin(30000);
	sink++;
}

KEEP static void leaf_short(void)
{
	spin(10000);
	sink++;
}

KEEP static void middle(void)
{
	leaf_long();
	leaf_short();
	sink++;
}

KEEP static void recurse(int depth)
{
	if (depth > 0)
		recurse(depth - 1);
	else
		leaf_short();
	sink++;
}

KEEP static void alone(double seconds)
{
	double end = now() + seconds;

	while (now() < end) {
		middle();
		recurse(7);
	}
}

static void *thread_main(void *name)
{
	prctl(PR_SET_NAME, name);
	alone(limit_seconds / 3);
	return NULL;
}

KEEP static void threads(double seconds)
{
	static const char *const names[] = { "one", "two words", "three" };
	pthread_t all[3];

	(void)seconds;
	for (int i = 0; i < 3; i++)
		pthread_create(&all[i], NULL, thread_main, (void *)names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(all[i], NULL);
}

KEEP static void forks(double seconds)
{
	char milliseconds[32];

	snprintf(milliseconds, sizeof(milliseconds), "%d", (int)(seconds * 1000 / 4));
	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (i % 2 == 0) {
				alone(seconds / 4);
				_exit(0);
			}
			execl("/proc/self/exe", "work", milliseconds, "alone", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}

KEEP static void many(double seconds)
{
	(void)seconds;
	for (int i = 0; i < 2000; i++) {
		pid_t child = vfork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

KEEP static void touch(char *memory, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		memory[i]++;
}

KEEP static void faults(double seconds)
{
	double end = now() + seconds;
	size_t size = 1 << 20;

	while (now() < end) {
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		touch(memory, size);
		munmap(memory, size);
		spin(1000000);
	}
}

KEEP static void clock_loop(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		sink++;
}

KEEP static void writes(double seconds)
{
	double end = now() + seconds;
	FILE *null = fopen("/dev/null", "w");

	setbuf(null, NULL);
	while (now() < end) {
		fputs("text", null);
		usleep(300);
	}
	fclose(null);
}

KEEP static void leaves(double seconds)
{
	alone(seconds);
	_exit(3);
}

/* From here on nobody finds the file that runs. */
KEEP static void deleted(double seconds)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size > 0) {
		path[size] = 0;
		unlink(path);
	}
	alone(seconds);
}

static const struct {
	const char *name;
	void (*run)(double seconds);
} parts[] = {
	{ "alone", alone },  { "threads", threads }, { "forks", forks },
	{ "many", many },    { "faults", faults },   { "clock", clock_loop },
	{ "write", writes }, { "exit", leaves },     { "deleted", deleted },
};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) / 1000 : 0.2;

	limit_seconds = seconds;
	if (argc < 3)
		alone(seconds);
	for (int i = 2; i < argc; i++)
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			if (strcmp(argv[i], parts[k].name) == 0)
				parts[k].run(seconds / (argc - 2));
	return 0;
}
