// SPDX-License-Identifier: MIT
/*
 * A program whose copied stacks are unwound: functions without frame pointers that call each other in ways that are hard to
 * follow. Each way ends in spin(), below functions whose order is known.
 * usage: copied MILLISECONDS WAY
 * With -DBY_HAND also through those of copied_hand.S.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))

volatile uint64_t sink;
static double limit_seconds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

KEEP static void spin(void)
{
	for (uint64_t i = 0; i < 300000; i++)
		sink += i * i;
}

KEEP static uint64_t inner(uint64_t a)
{
	spin();
	return a + sink;
}

KEEP static uint64_t nested(uint64_t a)
{
	return inner(a + 1) * 3;
}

KEEP static uint64_t recursive(uint64_t depth)
{
	volatile char room[512];

	room[0] = (char)depth;
	return (depth ? recursive(depth - 1) : nested(1)) + (uint64_t)room[0];
}

KEEP static uint64_t deep(uint64_t a)
{
	return recursive(12) + a;
}

KEEP static uint64_t dynamic(uint64_t a)
{
	volatile char *room = __builtin_alloca(100 + a % 1000);

	room[a % 100] = 1;
	return inner(a) + (uint64_t)room[a % 100];
}

KEEP static uint64_t aligned(uint64_t a)
{
	_Alignas(128) volatile char room[256];
	volatile char *more = __builtin_alloca(64 + a % 64);

	room[a % 256] = more[0] = 1;
	return inner(a) + (uint64_t)room[a % 256] + (uint64_t)more[0];
}

KEEP static void in_handler(void)
{
	spin();
	sink++;
}

static void handle(int number)
{
	(void)number;
	in_handler();
	sink++;
}

KEEP static uint64_t signalled(uint64_t a)
{
	raise(SIGUSR1);
	return a + sink;
}

KEEP static uint64_t on_stack_of_its_own(uint64_t a)
{
	raise(SIGUSR2);
	return a + sink;
}

static int compare(const void *a, const void *b)
{
	nested(1);
	return *(const int *)a - *(const int *)b;
}

KEEP static uint64_t sorted(uint64_t a)
{
	int items[] = { 5, 3, 8, (int)a };

	qsort(items, 4, sizeof(items[0]), compare);
	return (uint64_t)items[0];
}

// Through a library that is loaded then, and unloaded.
KEEP static uint64_t loaded(uint64_t a)
{
	uint64_t (*in_library)(uint64_t(*)(uint64_t), uint64_t) = NULL;
	const char *path = getenv("LIBRARY");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	if (library)
		*(void **)&in_library = dlsym(library, "in_library");
	if (in_library)
		a += in_library(nested, a);
	if (library)
		dlclose(library);
	return a;
}

#ifdef BY_HAND
void hand_register(uint64_t (*call)(void));
void hand_expression(uint64_t (*call)(void));
void hand_value(uint64_t (*call)(void));
void hand_tail(uint64_t (*call)(void));

KEEP static uint64_t by_tail(void)
{
	hand_tail((uint64_t(*)(void))(void *)spin);
	return sink + 1;
}

KEEP static uint64_t by_value(void)
{
	hand_value(by_tail);
	return sink + 2;
}

KEEP static uint64_t by_expression(void)
{
	hand_expression(by_value);
	return sink + 3;
}

KEEP static uint64_t by_hand(uint64_t a)
{
	hand_register(by_expression);
	return sink + a;
}
#endif

static void *in_thread(void *way)
{
	uint64_t (*const *run)(uint64_t) = way;
	double end = now() + limit_seconds;

	while (now() < end)
		sink += (*run)(sink);
	return NULL;
}

static const struct {
	const char *name;
	uint64_t (*run)(uint64_t);
} ways[] = {
	{ "nested", nested },   { "deep", deep },        { "dynamic", dynamic },
	{ "aligned", aligned }, { "signal", signalled }, { "other", on_stack_of_its_own },
	{ "sorted", sorted },   { "loaded", loaded },
#ifdef BY_HAND
	{ "hand", by_hand },
#endif
};

static void take_signals(void)
{
	static char stack[64 << 10];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handle };

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "nested";
	pthread_t thread;

	limit_seconds = argc > 1 ? atof(argv[1]) / 1000 : 0.2;
	take_signals();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		void *run = (void *)&ways[i].run;

		if (strcmp(way, ways[i].name) == 0)
			in_thread(run);
		else if (strcmp(way, "thread") == 0 && i == 0 && pthread_create(&thread, NULL, in_thread, run) == 0)
			pthread_join(thread, NULL);
	}
	return 0;
}
