/* SPDX-License-Identifier: MIT */
/*
 * The C++ run-time library's demangler, linked statically: some fifty kilobytes, and no other library at run time.
 *
 * Behind "sr", which begins an expression, that of GCC 12 asks for one more part of a name until nothing there can begin
 * one, and does not see that at some forms of C, D and U it comes no further: it never ends. So names in which that can be
 * are read on a thread of their own, which is stopped when it has used far more time than any name needs. While it turns in
 * circles the library asks for no memory, so nothing is held then.
 * (It is not one of base/threads.h, which nobody stops, and has a stack of its own size.)
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deps/deps.h"
#include "object/demangle/demangle.h"

enum {
	POLL_NS = 5000000,   // how often the thread is looked at
	MOST_NS = 300000000, // processor time of a name
	STACK = 8 << 20,
	TEXT_MOST = 256 << 10,
};

// Hands out the text piece by piece. Not 0: the name has none.
int __gcclibcxx_demangle_callback(const char *name, void (*take)(const char *piece, size_t size, void *self),
				  void *self);

struct text {
	char *data;
	size_t size, capacity;
	jmp_buf enough;
};

struct reading {
	const char *name;
	struct text text;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done, good;
};

// Names that refer to their own parts can say a part twice, that one twice, and so on.
static void take_piece(const char *piece, size_t size, void *self)
{
	struct text *text = self;
	size_t capacity = text->capacity;
	char *data;

	if (size > TEXT_MOST - text->size)
		longjmp(text->enough, 1);
	while (capacity <= text->size + size)
		capacity = capacity ? capacity * 2 : 256;
	if (capacity > text->capacity) {
		data = realloc(text->data, capacity);
		if (!data)
			longjmp(text->enough, 1);
		text->data = data;
		text->capacity = capacity;
	}
	memcpy(text->data + text->size, piece, size);
	text->size += size;
	text->data[text->size] = 0;
}

// What is in text belongs to the caller, also if this is stopped.
static bool read_name(const char *name, struct text *text)
{
	return setjmp(text->enough) == 0 && __gcclibcxx_demangle_callback(name, take_piece, text) == 0;
}

static char *end_text(struct text *text, bool good)
{
	if (good)
		return text->data;
	free(text->data);
	return NULL;
}

static void *read_aside(void *self)
{
	struct reading *reading = self;
	bool good;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	good = read_name(reading->name, &reading->text);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_mutex_lock(&reading->lock);
	reading->good = good;
	reading->done = true;
	pthread_cond_signal(&reading->ended);
	pthread_mutex_unlock(&reading->lock);
	return NULL;
}

static bool is_too_long(pthread_t thread)
{
	struct timespec used;
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &used) == 0 &&
	       (used.tv_sec || used.tv_nsec > MOST_NS);
}

static void wait_for(struct reading *reading, pthread_t thread)
{
	struct timespec until;

	pthread_mutex_lock(&reading->lock);
	while (!reading->done && !is_too_long(thread)) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += POLL_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&reading->ended, &reading->lock, &until);
	}
	if (!reading->done)
		pthread_cancel(thread);
	pthread_mutex_unlock(&reading->lock);
	pthread_join(thread, NULL);
}

// Where one name did not end others are not tried: a file may have any number of them.
static char *demangle_aside(const char *name)
{
	static bool gave_up;
	struct reading reading = { .name = name };
	pthread_attr_t attr;
	pthread_t thread;

	if (__atomic_load_n(&gave_up, __ATOMIC_RELAXED))
		return NULL;
	pthread_mutex_init(&reading.lock, NULL);
	pthread_cond_init(&reading.ended, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&thread, &attr, read_aside, &reading) == 0)
		wait_for(&reading, thread);
	else
		reading.done = true;
	if (!reading.done)
		__atomic_store_n(&gave_up, true, __ATOMIC_RELAXED);
	pthread_attr_destroy(&attr);
	pthread_cond_destroy(&reading.ended);
	pthread_mutex_destroy(&reading.lock);
	return end_text(&reading.text, reading.good);
}

static char *demangle(const char *name)
{
	struct text text = { 0 };

	if (pd_cxx_may_not_end(name))
		return demangle_aside(name);
	return end_text(&text, read_name(name, &text));
}

const struct pd_demangler pd_demangler_cxx = {
	.name = "libsupc++",
	.demangle = demangle,
	.free = free,
};
