/* SPDX-License-Identifier: MIT */
/*
 * The signal handler walks a list that is only ever extended: nodes are reused and never freed. It makes system calls and
 * nothing else, because it may have interrupted anything.
 */
#include "files/unfinished.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "front/signals.h"

enum {
	MOST_LEVELS = 64, /* of directories in a directory */
	NAMES_SIZE = 4096
};

struct unfinished {
	struct unfinished *next;
	atomic_bool active;
	enum unfinished_kind kind;
	char path[PATH_MAX];
};

/* What the kernel lists of a directory. */
struct name {
	uint64_t inode;
	int64_t next;
	uint16_t size;
	uint8_t type;
	char text[];
};

static const int deadly[] = { SIGNALS_ENDING, 0 };

static _Atomic(struct unfinished *) first;
static pthread_t owner;

/* ---- removing, in a signal handler ---- */

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Removes the files of a directory. Returns the first directory in it, opened, after all else is gone; -1 if there is
 * none. Its name goes into name_out. */
static int clear_level(int dir, char name_out[NAME_MAX + 1])
{
	_Alignas(struct name) char names[NAMES_SIZE];
	int below = -1;
	long size;

	lseek(dir, 0, SEEK_SET);
	while ((size = syscall(SYS_getdents64, dir, names, sizeof(names))) > 0) {
		for (long at = 0; at < size;) {
			const struct name *name = (const struct name *)(const void *)(names + at);

			at += name->size;
			if (is_dots(name->text) || unlinkat(dir, name->text, 0) == 0 || below >= 0)
				continue;
			below = openat(dir, name->text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			strcpy(name_out, name->text);
		}
	}
	return below;
}

static void remove_tree(const char *path)
{
	int levels[MOST_LEVELS + 1];
	char names[MOST_LEVELS + 1][NAME_MAX + 1];
	int depth = 0;

	if (unlink(path) == 0)
		return;
	levels[0] = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	while (depth >= 0 && levels[0] >= 0) {
		int below = depth < MOST_LEVELS ? clear_level(levels[depth], names[depth + 1]) : -1;

		if (below >= 0) {
			levels[++depth] = below;
			continue;
		}
		close(levels[depth]);
		/* What cannot be removed would be found again and again. */
		if (depth && unlinkat(levels[depth - 1], names[depth], AT_REMOVEDIR) < 0)
			break;
		depth--;
	}
	rmdir(path);
}

static void remove_all(void)
{
	for (struct unfinished *one = atomic_load(&first); one; one = one->next) {
		if (atomic_load(&one->active) && one->kind == UNFINISHED_TREE)
			remove_tree(one->path);
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

void unfinished_note(struct unfinished **one, enum pd_unfinished step, const char *path)
{
	switch (step) {
	case PD_UNFINISHED_STARTS:
		unfinished_begin();
		break;
	case PD_UNFINISHED_EXISTS:
		*one = unfinished_add(path, UNFINISHED_TREE);
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
