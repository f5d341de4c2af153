/* SPDX-License-Identifier: MIT */
/*
 * A recording cut into several: which samples go into which piece, what the pieces are called, and which tasks a piece
 * has to know. cmd_split.c walks and writes.
 */
#ifndef CLI_SPLIT_H
#define CLI_SPLIT_H

#include "front/input.h"
#include "front/target.h"

#include <perfdata/world.h>

enum split_by {
	BY_EVENT,
	BY_PID,
	BY_COMM,
	BY_CPU,
	BY_CGROUP,
	BY_TIME,
	BY_SIZE
};

/* One of the recordings that are written. */
struct piece {
	uint64_t key;
	char *path;
	uint64_t samples;
	uint64_t first_ns, last_ns; /* of samples; 0 if none has a time */
	struct target target;
	struct pd_sample_time times; /* as the feature has them */
};

/* A table of numbers, each with the number of what it belongs to. */
struct key_slot {
	uint64_t key;
	size_t index_plus_1; /* 0: empty */
};

/* A pair of tasks, or of a piece and a task. */
struct pair {
	uint64_t first, second;
};

struct pairs {
	struct pair *items;
	size_t count, room;
	size_t sorted; /* the first ones, ascending and each once */
};

struct split {
	enum split_by by;
	uint64_t amount; /* of BY_TIME in ns, of BY_SIZE in bytes */
	struct pd_file *file;
	struct pd_world *world; /* for BY_COMM and BY_CGROUP */
	struct pd_window window;
	struct piece *pieces;
	size_t piece_count, piece_room;
	struct key_slot *slots;
	size_t slot_count;
	/* BY_SIZE: bytes that every piece has; the piece that grows and its samples */
	uint64_t common_bytes, piece_bytes, piece_number;
	struct pairs tasks;   /* process and key of a piece that has samples of it */
	struct pairs parents; /* process and the one that forked it */
	bool *referenced;     /* events that other records belong to, by index */
	size_t event_count;
};

/* Fills in the error; returns its status. */
enum pd_status out_of_memory(struct pd_error *error);
/* Makes *items hold count elements. False if there is no memory. */
bool room_for(void *items, size_t *room, size_t count, size_t item_size);

/* Takes the argument of --by. Says on stderr what is wrong and returns false then. */
bool split_take(struct split *split, const char *by);
void split_fini(struct split *split);

/* Whether pieces are of tasks, so that records of others can be left out. */
static inline bool split_by_tasks(const struct split *split)
{
	return split->by == BY_PID || split->by == BY_COMM || split->by == BY_CGROUP;
}

/* What samples have in common that do not say what the key is made of. */
#define KEY_UNKNOWN UINT64_MAX

/* The key of a sample; in both walks samples come in the order of the file. *missing_out: its event does not record what
 * the key is made of. False if it is damaged or of no event. */
bool split_key(struct split *split, const struct pd_record *record, uint64_t *key_out, bool *missing_out);
/* What lacks in samples, and how it is recorded. */
const char *split_missing(const struct split *split);
/* The piece of a key, or NULL. */
struct piece *split_find(const struct split *split, uint64_t key);
/* The same; it is made if it is not there. NULL if there is no memory. */
struct piece *split_add(struct split *split, uint64_t key);

/* Gives each piece its path. Says on stderr what is wrong and returns another code than CODE_FINE then. */
int split_name(struct split *split, const char *output);

/* Adds a pair, unless it was the last one. False if there is no memory. */
bool pairs_add(struct pairs *pairs, struct pair pair);
void pairs_sort(struct pairs *pairs);
/* The pairs with a first number; *count_out of them. */
const struct pair *pairs_find(const struct pairs *pairs, uint64_t first, size_t *count_out);

#endif
