/* SPDX-License-Identifier: MIT */
/*
 * The inside of recordings of waiting.
 *
 *   waiting.c    records in time order, from intervals to samples
 *   sleepers.c   the last call chain of each thread, and its name
 *   chain.c      call chains of samples
 *   pairs.c      the same for pairs of events that somebody names
 *   labels.c     words that stand in call chains: as code of the kernel that KSYMBOL records name
 *   output.c     events and features of the output, and its records
 */
#ifndef PD_EDIT_WAITING_WAITING_H
#define PD_EDIT_WAITING_WAITING_H

#include <perfdata/waiting.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "interval/pair.h"

enum {
	PD_WAITING_NAME = 16 // of a thread
};

// ---- threads ----

struct pd_sleeper {
	uint32_t pid; // UINT32_MAX: not known
	char name[PD_WAITING_NAME];
	uint64_t *chain; // of its last switch out
	size_t count, capacity;
};

struct pd_sleepers {
	struct pd_arena arena;
	struct pd_u64_map map; // by thread
	struct pd_sleeper **all;
	size_t count, capacity;
};

// NULL: no memory.
struct pd_sleeper *pd_sleeper_of(struct pd_sleepers *sleepers, uint32_t tid);
bool pd_sleeper_keep_chain(struct pd_sleeper *sleeper, struct pd_u64s chain);
// Takes names out of COMM and FORK. False: no memory.
bool pd_sleepers_take(struct pd_sleepers *sleepers, const struct pd_record *record);
void pd_sleepers_fini(struct pd_sleepers *sleepers);

// ---- labels ----

struct pd_label {
	const char *name; // in the arena
	uint64_t addr;
};

struct pd_labels {
	struct pd_label *all;
	size_t count, capacity;
	struct pd_u64_map map; // number + 1 by hash
	struct pd_arena arena;
};

// ---- output ----

struct pd_waiting {
	struct pd_file *file;
	struct pd_writer *writer;
	struct pd_waiting_options options;
	struct pd_waiting_result result;
	struct pd_intervals *intervals;
	struct pd_tracepoints points;
	struct pd_pair pair; // instead of the two; its text is NULL if there is none
	struct pd_pairing pairing;
	struct pd_sleepers sleepers;
	struct pd_labels labels;
	struct pd_join join;
	size_t *events; // of the join
	uint64_t id;    // of the event of the output
	uint64_t since_round;
	bool late;
	// the wakeup that is being read, if it is one
	bool wakes;
	bool samples; // the record that is being read is a sample
	uint32_t waker;
	struct pd_u64s waker_chain;
	uint64_t *chain; // that is being built
	size_t chain_count, chain_capacity;
};

// The address of a label, which is written when it is first needed. False: an error.
bool pd_label_addr(struct pd_waiting *waiting, const char *name, uint64_t time_ns, uint64_t *addr_out,
		   struct pd_error *error);
void pd_labels_fini(struct pd_labels *labels);

// What a sample is made of, beside its interval.
struct pd_waited {
	const char *name;  // "[sleeping]"
	const char *ended; // "woken", by waiting->waker; NULL: by nobody who is known
	uint32_t pid;      // of the thread that waited
	uint64_t end_ns;
	struct pd_u64s chain;
};
// Makes waiting->chain.
enum pd_status pd_waited_chain(struct pd_waiting *waiting, const struct pd_waited *waited, struct pd_error *error);
// Whether intervals that are so long are samples; counts those that are not.
bool pd_waiting_wants(struct pd_waiting *waiting, uint64_t length_ns);

// Of options.pair.
enum pd_status pd_waiting_open_pair(struct pd_waiting *waiting, struct pd_error *error);
enum pd_status pd_waiting_pair(struct pd_waiting *waiting, const struct pd_record *record, struct pd_error *error);

// Events and features; after a pipe was read once.
enum pd_status pd_waiting_begin(struct pd_waiting *waiting, struct pd_error *error);
// Copies a record that is not a sample, as far as it is of use.
enum pd_status pd_waiting_pass(struct pd_waiting *waiting, struct pd_stream *stream, const struct pd_record *record,
			       struct pd_error *error);
// Writes waiting->chain as a sample.
enum pd_status pd_waiting_add(struct pd_waiting *waiting, const struct pd_interval *interval, uint32_t pid,
			      struct pd_error *error);

#endif
