/* SPDX-License-Identifier: MIT */
/*
 * The inside of a split. keys.c says into which piece a sample belongs, pieces.c has the table of pieces, names.c what they
 * are called, tasks.c which tasks a piece has to know, events.c which events; count.c reads the file first, split.c is on top.
 */
#ifndef PD_SPLIT_SPLIT_H
#define PD_SPLIT_SPLIT_H

#include <perfdata/run.h>
#include <perfdata/split.h>
#include <perfdata/state.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"

// The key of samples that do not say what it is made of.
#define PD_SPLIT_UNKNOWN UINT64_MAX

struct pd_split_output {
	struct pd_split_piece shown;
	uint64_t key;
	struct pd_writer *writer;    // while it is written
	struct pd_sample_time times; // as its feature has them
};

// A process and its parent, or a process and the key of a piece that has samples of it.
struct pd_task_pair {
	uint64_t first, second;
};

struct pd_task_pairs {
	struct pd_task_pair *items;
	size_t count, capacity;
	size_t sorted; // the first ones, ascending and each once
};

struct pd_split {
	struct pd_split_options options;
	struct pd_file *file;
	struct pd_state *state; // for COMM and CGROUP
	struct pd_window window;
	struct pd_split_result result;
	uint64_t known_count; // samples in pieces that say what the key is made of
	struct pd_split_output *pieces;
	size_t piece_count, piece_capacity;
	struct pd_u64_map by_key; // 1 + index of a piece
	struct pd_arena names;
	// SIZE: bytes that every piece has; bytes and number of the piece that grows
	uint64_t common_bytes, piece_bytes, piece_number;
	struct pd_task_pairs tasks;   // process, and key of a piece that has samples of it
	struct pd_task_pairs parents; // process, and the one that forked it
	bool *referenced;             // events that other records belong to, by index
	size_t event_count, event_capacity;
	// the pieces that are written
	size_t first, open_count;
	struct pd_u64_map needs; // by process: the pieces that need it, as bits
	uint64_t copied_bytes;   // of what is no sample, in all pieces
};

// Whether pieces are of tasks, so that records of others can be left out.
static inline bool pd_split_by_tasks(const struct pd_split *split)
{
	return split->options.by == PD_SPLIT_PID || split->options.by == PD_SPLIT_COMM ||
	       split->options.by == PD_SPLIT_CGROUP;
}

// ---- keys.c ----

// The key of a sample; in both passes samples come in the order of the file. *missing_out: its event does not record what
// the key is made of. False if the sample is damaged or of no event.
bool pd_split_key(struct pd_split *split, const struct pd_record *record, uint64_t *key_out, bool *missing_out);

// ---- pieces.c ----

// NULL if there is none.
struct pd_split_output *pd_split_find_piece(const struct pd_split *split, uint64_t key);
// Adds it if it is not there. NULL if there is no memory.
struct pd_split_output *pd_split_add_piece(struct pd_split *split, uint64_t key);
void pd_split_sort_pieces(struct pd_split *split);

// ---- names.c ----

// Gives each piece its name.
enum pd_status pd_split_name_pieces(struct pd_split *split, struct pd_error *error);

// ---- tasks.c ----

// Adds a pair, unless it was the last one. False if there is no memory.
bool pd_task_pairs_add(struct pd_task_pairs *pairs, struct pd_task_pair pair);
void pd_task_pairs_sort(struct pd_task_pairs *pairs);
// Finds out which processes the open pieces need. False if there is no memory.
bool pd_split_note_needs(struct pd_split *split);
// The open pieces that need what a record says, as bits, for pieces of tasks.
uint64_t pd_split_pieces_of_task(const struct pd_split *split, const struct pd_record *record);

// ---- count.c ----

// With what follows the record, as far as the file goes.
uint64_t pd_split_record_bytes(const struct pd_stream *stream, const struct pd_record *record);
// Reads the file and counts the samples of each piece.
enum pd_status pd_split_count_all(struct pd_split *split, struct pd_error *error);

// ---- events.c ----

// Notes that a record that goes into all pieces belongs to an event. False if there is no memory.
bool pd_split_note_event(struct pd_split *split, const struct pd_record *record);
// Gives the writer of a piece its events and features.
enum pd_status pd_split_write_events(const struct pd_split *split, const struct pd_split_output *piece,
				     struct pd_error *error);
// Passes a record that is no sample, without the ids of events that the piece does not have.
enum pd_status pd_split_pass_of_events(const struct pd_split *split, const struct pd_split_output *piece,
				       struct pd_stream *stream, const struct pd_record *record,
				       struct pd_error *error);

#endif
