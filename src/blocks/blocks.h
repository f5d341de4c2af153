/* SPDX-License-Identifier: MIT */
/*
 * Basic blocks, as branch stacks have them: the code from where one branch went to the next branch that was taken, with the cycles that
 * it took. Counted over all events; who asks by function gets those that end in it.
 */
#ifndef PD_BLOCKS_BLOCKS_H
#define PD_BLOCKS_BLOCKS_H

#include <perfdata/profile.h>

/** Where a block begins is unknown: the branch before was not recorded, or went into another function. */
#define PD_BLOCK_NO_START UINT64_MAX

struct pd_block_count {
	const struct pd_function *function;
	uint64_t start, end;    // addresses in the object; end is that of the branch
	uint64_t count;         // how often it was executed
	uint64_t predicted;     // of these the branch was predicted
	uint64_t timed, cycles; // how often its cycles were recorded, and their sum
	uint32_t least, most;   // cycles
};

struct pd_blocks;

struct pd_blocks_options {
	struct pd_file *file;
	struct pd_symbols *symbols;
	const struct pd_state *state;
	enum pd_choice (*choose)(const void *filter, const struct pd_candidate *candidate); // may be NULL
	const void *filter;
};

/** Whether an event records the branches that blocks are made of. */
bool pd_blocks_recorded(struct pd_file *file);
/** Reads the branch stacks of a file, whose profile was read before. Errors: those of pd_stream_next; PD_ERROR_MEMORY. */
enum pd_status pd_blocks_read(const struct pd_blocks_options *options, struct pd_blocks **blocks_out,
			      struct pd_error *error);
/** NULL is ignored. */
void pd_blocks_free(struct pd_blocks *blocks);
/** Those of a function by end and start, PD_BLOCK_NO_START last. */
const struct pd_block_count *pd_blocks_of(const struct pd_blocks *blocks, const struct pd_function *function,
					  size_t *count_out);
/** All, those of a function next to each other. */
const struct pd_block_count *pd_blocks_all(const struct pd_blocks *blocks, size_t *count_out);
/** Cycles of all blocks. */
uint64_t pd_blocks_cycles(const struct pd_blocks *blocks);

/** Cycles of all branches, also of those whose block is not known. */
uint64_t pd_blocks_all_cycles(const struct pd_blocks *blocks);

/** Blocks that end at one branch, as perf adds them up: cycles are those of all, but a block has only those of its longest form. */
struct pd_block {
	const struct pd_function *function;
	uint64_t start, end; // start is PD_BLOCK_NO_START only if no block has one
	uint64_t count, predicted;
	uint64_t timed, cycles;         // of all
	uint64_t own_timed, own_cycles; // of those that begin at start
	uint32_t least, most;
};

/** Joins the blocks at counts that end at the first one's end into one; returns how many these are. */
size_t pd_block_join(const struct pd_block_count *counts, size_t count, struct pd_block *block_out);

#endif
