/* SPDX-License-Identifier: MIT */
/*
 * The inside of pairs of events as text.
 *
 *   pairs.c      what they have in common: a pass over the file, and sums
 *   places.c     functions of the kernel by address
 *   syscalls.c   perf trace -s; syscall_names.c with syscalls.def, names of system calls; errors.def, names of errors
 */
#ifndef PD_PAIRS_PAIRS_H
#define PD_PAIRS_PAIRS_H

#include <perfdata/pairs.h>
#include <perfdata/select.h>
#include <perfdata/symbol.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/number_list.h"
#include "base/text/text.h"
#include "interval/tracepoints.h"
#include "sched/sched.h"

enum {
	PD_PAIR_RECENT = 256
};

struct pd_pairs;
typedef enum pd_status pd_pairs_fn(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample,
				   struct pd_error *error);

// A pass: who reads puts this first into its own struct.
struct pd_pairs {
	struct pd_sched sched; // threads, and memory
	struct pd_timehist_options limits;
	struct pd_tracepoints points;
	pd_pairs_fn *take;
	void (*forget)(struct pd_pairs *pairs); // all records, which come again; NULL: what was printed stays
	// Gets all other records, too; may be NULL.
	enum pd_status (*other)(struct pd_pairs *pairs, const struct pd_record *record, struct pd_error *error);
	// Who needs functions of the kernel sets resolves, and what opens their symbols; NULL: pd_symbols_new.
	uint64_t records, lost, lost_chunks;
	const char *time; // only events of this time, as pd_select_options.time; NULL: all
	bool takes_all;   // events of other times, too: take asks pd_pairs_has_time
	struct pd_select *select;
	bool names_only; // of threads COMM records alone are read, as some of perf's commands do
	bool numbers_only; // take looks at fields of the table, times, CPUs and threads alone, if all of them may come again
	bool resolves;
	bool of_programs; // functions of programs are looked up, too, not of the kernel alone
	bool live; // the file is being recorded: it is read once, and text is written out at the end of each round
	bool early; // functions are needed with the first event: mappings of the kernel are read with them while none comes later
	bool unopened;      // there are none: it was said why
	bool state_changed; // records came since names were known, if it is live
	bool late; // functions are only needed when all is read: mappings are read with it, and no pass of their own
	struct pd_symbols *(*open)(void *self, const struct pd_state *state);
	void *open_self;
	struct pd_state *state;
	struct pd_symbols *symbols;
	struct pd_u64_map places;
	const struct pd_pair_place *recent[PD_PAIR_RECENT]; // of these, by the low bits of their addresses
	bool sections_known, has_sections;
	uint64_t sections[4]; // of the scheduler and of locks: their begins and ends
};

// Where code of the kernel is.
struct pd_pair_place {
	uint64_t addr;
	const struct pd_function *function; // NULL: not known
	const char *name;                   // of the function, as it can be printed on a terminal; NULL: not known
	uint64_t offset;                    // in the function
	bool is_lock;                       // what takes locks or switches threads
};

// Reads all of a file in time order. Errors also: PD_ERROR_NO_SAMPLES, with this message, if no event is in the table.
enum pd_status pd_pairs_run(struct pd_pairs *pairs, struct pd_file *file, struct pd_text *text,
			    const struct pd_tracepoint *table, size_t count, size_t thread_limit, const char *missing,
			    struct pd_error *error);
// What is being recorded: makes names known as far as it was read.
enum pd_status pd_pairs_follow_state(struct pd_pairs *pairs, struct pd_error *error);
// Whether events of this time are wanted.
bool pd_pairs_has_time(const struct pd_pairs *pairs, uint64_t time_ns);
// For pd_pair_place.
const struct pd_pair_place *pd_pair_find_place(struct pd_pairs *pairs, uint64_t addr);
// Code of the kernel or of a module, which is looked up once. NULL: no memory.
static inline const struct pd_pair_place *pd_pair_place(struct pd_pairs *pairs, uint64_t addr)
{
	const struct pd_pair_place **recent = &pairs->recent[addr % PD_PAIR_RECENT];

	if (PD_UNLIKELY(!*recent || (*recent)->addr != addr))
		*recent = pd_pair_find_place(pairs, addr);
	return *recent;
}
// A name of the recording, as it can be printed on a terminal, kept until the end. NULL: no memory.
const char *pd_pairs_name(struct pd_pairs *pairs, const char *name, size_t length);
void pd_pairs_fini(struct pd_pairs *pairs);

#endif
