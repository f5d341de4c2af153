/* SPDX-License-Identifier: MIT */
#include "record/ring/backlog.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum {
	PIECE = 1 << 20, // bytes, as many as are put at once if these are more
	SPARE_MOST = 16  // pieces
};

struct pd_backlog_piece {
	struct pd_backlog_piece *next;
	uint8_t *data;
	size_t size, capacity;
};

static void free_pieces(struct pd_backlog_piece *piece)
{
	struct pd_backlog_piece *next;

	for (; piece; piece = next) {
		next = piece->next;
		pd_free(piece->data);
		pd_free(piece);
	}
}

void pd_backlog_init(struct pd_backlog *backlog)
{
	pthread_mutexattr_t attr;

	*backlog = (struct pd_backlog){ 0 };
	backlog->last = &backlog->first;
	// who writes may have a higher priority than who reads, and does not wait for those between
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&backlog->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(&backlog->more, NULL);
	pthread_cond_init(&backlog->taken, NULL);
}

static void forget(struct pd_backlog *backlog)
{
	free_pieces(backlog->first);
	free_pieces(backlog->filled);
	free_pieces(backlog->reading);
	free_pieces(backlog->spare);
	backlog->first = backlog->filled = backlog->reading = backlog->spare = NULL;
	backlog->last = &backlog->first;
	backlog->at = backlog->waiting = backlog->spare_count = 0;
}

void pd_backlog_fini(struct pd_backlog *backlog)
{
	forget(backlog);
	pthread_cond_destroy(&backlog->taken);
	pthread_cond_destroy(&backlog->more);
	pthread_mutex_destroy(&backlog->lock);
}

void pd_backlog_restart(struct pd_backlog *backlog)
{
	forget(backlog);
	backlog->ended = backlog->left = false;
	backlog->most = 0;
}

// ---- who writes ----

static struct pd_backlog_piece *new_piece(struct pd_backlog *backlog)
{
	struct pd_backlog_piece *piece;

	pthread_mutex_lock(&backlog->lock);
	piece = backlog->spare;
	if (piece) {
		backlog->spare = piece->next;
		backlog->spare_count--;
	}
	pthread_mutex_unlock(&backlog->lock);
	if (!piece)
		return pd_alloc(sizeof(*piece));
	piece->next = NULL;
	piece->size = 0;
	return piece;
}

// With the lock.
static void add_piece(struct pd_backlog *backlog, struct pd_backlog_piece *piece)
{
	*backlog->last = piece;
	backlog->last = &piece->next;
	backlog->waiting += piece->size;
	pthread_cond_signal(&backlog->more);
}

// The reader may begin with what there is, and memory of pieces of one size is used again.
static void close_piece(struct pd_backlog *backlog)
{
	pthread_mutex_lock(&backlog->lock);
	add_piece(backlog, backlog->filled);
	pthread_mutex_unlock(&backlog->lock);
	backlog->filled = NULL;
}

bool pd_backlog_put(struct pd_backlog *backlog, const void *data, size_t size)
{
	struct pd_backlog_piece *piece;

	if (backlog->filled && backlog->filled->size && backlog->filled->size + size > PIECE)
		close_piece(backlog);
	piece = backlog->filled ? backlog->filled : new_piece(backlog);
	backlog->filled = piece;
	if (!piece || !PD_GROW(piece->data, piece->capacity, piece->size + size))
		return false;
	memcpy(piece->data + piece->size, data, size);
	piece->size += size;
	return true;
}

void pd_backlog_flush(struct pd_backlog *backlog)
{
	struct pd_backlog_piece *piece = backlog->filled;

	if (!piece || !piece->size)
		return;
	backlog->filled = NULL;
	pthread_mutex_lock(&backlog->lock);
	add_piece(backlog, piece);
	while (backlog->most && backlog->waiting >= backlog->most && !backlog->left)
		pthread_cond_wait(&backlog->taken, &backlog->lock);
	pthread_mutex_unlock(&backlog->lock);
}

void pd_backlog_end(struct pd_backlog *backlog)
{
	pthread_mutex_lock(&backlog->lock);
	backlog->ended = true;
	pthread_cond_signal(&backlog->more);
	pthread_mutex_unlock(&backlog->lock);
}

bool pd_backlog_is_left(struct pd_backlog *backlog)
{
	bool left;

	pthread_mutex_lock(&backlog->lock);
	left = backlog->left;
	pthread_mutex_unlock(&backlog->lock);
	return left;
}

// ---- who reads ----

// With the lock.
static void give_back(struct pd_backlog *backlog, struct pd_backlog_piece *piece)
{
	if (backlog->spare_count == SPARE_MOST || piece->capacity > 2 * PIECE) {
		free_pieces(piece);
		return;
	}
	piece->next = backlog->spare;
	backlog->spare = piece;
	backlog->spare_count++;
}

static void next_piece(struct pd_backlog *backlog, bool wait)
{
	pthread_mutex_lock(&backlog->lock);
	if (backlog->reading)
		give_back(backlog, backlog->reading);
	while (wait && !backlog->first && !backlog->ended)
		pthread_cond_wait(&backlog->more, &backlog->lock);
	backlog->reading = backlog->first;
	backlog->at = 0;
	if (backlog->first) {
		backlog->first = backlog->first->next;
		backlog->last = backlog->first ? backlog->last : &backlog->first;
		backlog->reading->next = NULL;
		backlog->waiting -= backlog->reading->size;
		pthread_cond_signal(&backlog->taken);
	}
	pthread_mutex_unlock(&backlog->lock);
}

size_t pd_backlog_take(struct pd_backlog *backlog, void *data, size_t size, bool wait)
{
	size_t left;

	if (!backlog->reading || backlog->at == backlog->reading->size)
		next_piece(backlog, wait);
	if (!backlog->reading)
		return 0;
	left = backlog->reading->size - backlog->at;
	size = left < size ? left : size;
	memcpy(data, backlog->reading->data + backlog->at, size);
	backlog->at += size;
	return size;
}

void pd_backlog_leave(struct pd_backlog *backlog)
{
	pthread_mutex_lock(&backlog->lock);
	backlog->left = true;
	pthread_cond_signal(&backlog->taken);
	pthread_mutex_unlock(&backlog->lock);
}
