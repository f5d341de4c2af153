/* SPDX-License-Identifier: MIT */
/*
 * The signal handler walks a list that is only ever extended: nodes are reused and never freed. It makes system calls and
 * nothing else, because it may have interrupted anything.
 */
#include "files/unfinished.h"

#include <perfdata/outfile.h>

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/signals.h"

struct unfinished {
	struct unfinished *next;
	atomic_bool active;
	enum unfinished_kind kind;
	char path[PATH_MAX];
};

static const int deadly[] = { SIGNALS_ENDING, 0 };

static _Atomic(struct unfinished *) first;
static pthread_t owner;

/* ---- removing, in a signal handler ---- */

static void remove_all(void)
{
	for (struct unfinished *one = atomic_load(&first); one; one = one->next) {
		if (atomic_load(&one->active) && one->kind == UNFINISHED_TREE)
			pd_remove_tree(one->path);
	}
	for (struct unfinished *one = atomic_load(&first); one; one = one->next) {
		if (atomic_load(&one->active) && one->kind == UNFINISHED_IF_EMPTY)
			rmdir(one->path);
	}
}

/* Only the main thread makes files: while it is here, none are made. */
static void on_signal(int number)
{
	sigset_t set;

	if (!pthread_equal(pthread_self(), owner)) {
		pthread_kill(owner, number);
		return;
	}
	remove_all();
	sigemptyset(&set);
	sigaddset(&set, number);
	signal_die(number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- the list ---- */

static void deadly_set(sigset_t *set)
{
	sigemptyset(set);
	for (const int *number = deadly; *number; number++)
		sigaddset(set, *number);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	owner = pthread_self();
	deadly_set(&action.sa_mask);
	signals_handle(deadly, &action, SIGNAL_IF_USUAL);
}

static sigset_t before_begin;

void unfinished_begin(void)
{
	sigset_t set;

	deadly_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before_begin);
}

void unfinished_end(void)
{
	pthread_sigmask(SIG_SETMASK, &before_begin, NULL);
}

static struct unfinished *free_node(void)
{
	struct unfinished *one = atomic_load(&first);

	while (one && atomic_load(&one->active))
		one = one->next;
	if (one)
		return one;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	one->next = atomic_load(&first);
	atomic_store(&first, one);
	return one;
}

struct unfinished *unfinished_add(const char *path, enum unfinished_kind kind)
{
	size_t length = strlen(path);
	struct unfinished *one = length < PATH_MAX ? free_node() : NULL;

	if (!one)
		return NULL;
	memcpy(one->path, path, length + 1);
	one->kind = kind;
	atomic_store(&one->active, true);
	catch_signals();
	return one;
}

void unfinished_done(struct unfinished *one)
{
	if (!one)
		return;
	atomic_store(&one->active, false);
	for (one = atomic_load(&first); one; one = one->next) {
		if (atomic_load(&one->active))
			return;
	}
	/* others may catch signals now, such as the pager */
	signals_release(deadly, on_signal);
}

void unfinished_note(void *self, enum pd_unfinished step, const char *path)
{
	struct unfinished **one = self;

	switch (step) {
	case PD_UNFINISHED_STARTS:
		unfinished_begin();
		break;
	case PD_UNFINISHED_EXISTS:
	case PD_UNFINISHED_FOLDER:
		*one = unfinished_add(path, step == PD_UNFINISHED_FOLDER ? UNFINISHED_IF_EMPTY : UNFINISHED_TREE);
		unfinished_end();
		break;
	case PD_UNFINISHED_FAILED:
		unfinished_end();
		break;
	case PD_UNFINISHED_DONE:
		unfinished_done(*one);
		*one = NULL;
		break;
	}
}
