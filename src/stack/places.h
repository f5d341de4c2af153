/* SPDX-License-Identifier: MIT */
/* From the addresses of a sample to a stack: who runs, what is mapped there, which function it is. */
#ifndef PD_STACK_PLACES_H
#define PD_STACK_PLACES_H

#include "stack/tables.h"
#include "profile/frame/frames.h"
#include "profile/collect/owners.h"

// A stack that was met lately, by a hash of all it depends on.
struct pd_met_stack {
	struct pd_tag tag;
	uint32_t ip, stack;
};

// An address of a chain.
struct pd_chain_entry {
	uint64_t addr;
	unsigned cpumode;
	uint32_t frame, stack;
};

struct pd_chain_entries {
	struct pd_chain_entry *items; // innermost first
	size_t count, capacity;
};

// The chain that was found last on a CPU: the outermost callers of the next one are mostly the same.
struct pd_last_chain {
	uint64_t maps;
	uint32_t pid;
	uint32_t root; // the stack of the outermost entry's caller
	struct pd_chain_entries entries;
};

enum {
	PD_LAST_CHAINS = 16
};

// What is asked of an address, so many at once: the memory of all answers is on its way before the first is looked at.
struct pd_place_ask {
	struct pd_code_address address;
	struct pd_known_place place;
	const struct pd_known_place *known;
};

struct pd_places {
	struct pd_tables *tables;
	const struct pd_state *state;
	struct pd_symbols *symbols;
	struct pd_owners owners; // threads: a number for each process, thread and name
	struct pd_thread_view *views;
	struct pd_profile_options by_function;
	struct pd_functions functions; // if frames are functions
	struct pd_frames frames;       // their numbers are those of the tables, less the marks
	bool no_stacks;   // chain is all that is wanted; only a sample without a chain has a stack, that of its address
	bool as_recorded; // stacks are those of chains, which may have no place for where a sample was taken
	uint32_t marks;   // frames of the tables before those with addresses: 1 if stacks are unwound, else 0
	struct pd_range_set *ranges;
	struct pd_known_place *known;
	void *known_memory;
	size_t known_count, known_added;
	struct pd_met_stack *met; // by the tag; a newer one takes the place
	struct pd_secrets *secrets;
	struct pd_chain_entries entries;           // of the present sample
	struct pd_last_chain last[PD_LAST_CHAINS]; // by CPU
	const struct pd_chain_entries *chain;      // what pd_places_stack found last, unless it is empty
};

// False if there is no memory. State and symbols must be final.
bool pd_places_init(struct pd_places *places, struct pd_tables *tables, const struct pd_state *state,
		    struct pd_symbols *symbols, uint64_t seed);
void pd_places_fini(struct pd_places *places);

// What is true of a thread; its owner is the number of the thread. NULL if there is no memory.
const struct pd_thread_view *pd_places_view(struct pd_places *places, uint32_t pid, uint32_t tid,
					    struct pd_moment when);
// To be called before the first frame if frames are functions: an address of each is known. with_lines: where lines of source or inlined
// functions are known, frames are addresses. False if there is no memory.
bool pd_places_name_functions(struct pd_places *places, bool with_lines);
// To be called before the first stack if stacks may be truncated. False if there is no memory.
bool pd_places_mark_truncated(struct pd_places *places);
// The frame of an address; PD_NO_FRAME if there is no memory.
uint32_t pd_places_frame(struct pd_places *places, struct pd_code_address address);
// Asks for the frame of an address, and then for the frames of at most PD_STACKS_AT_ONCE that were asked for, before anything else is
// asked of the places. False if there is no memory.
void pd_places_ask(struct pd_places *places, struct pd_code_address address, struct pd_place_ask *ask);
bool pd_places_frames(struct pd_places *places, const struct pd_place_ask *asks, size_t count, uint32_t *frames_out);
// The frame of a sampled address, and the stack of a sample with at most `most` callers (0: all). False if there is no memory.
bool pd_places_stack(struct pd_places *places, const struct pd_brief *brief, uint64_t maps, struct pd_moment when,
		     unsigned most, bool is_truncated, uint32_t *ip_out, uint32_t *stack_out);

#endif
