/* SPDX-License-Identifier: MIT */
/*
 * Pairs of events that somebody names: an interval begins with one event and ends with another whose key is the same.
 *
 *   pair.c      the specification, from text
 *   pairing.c   what is open, and the intervals that end
 *
 * Memory grows with what is open at one time.
 */
#ifndef PD_INTERVAL_PAIR_H
#define PD_INTERVAL_PAIR_H

#include <perfdata/interval.h>

#include "base/memory.h"
#include "interval/tracepoints.h"

enum {
	PD_PAIR_FIELDS = 4, // of a key
	PD_PAIR_TID = 254,  // in place of a number of a value: what the sample says
	PD_PAIR_CPU = 255
};

enum pd_pair_owner {
	PD_PAIR_BEGIN, // the thread of the event that begins
	PD_PAIR_END,
	PD_PAIR_FIELD // its number is a field of the event that begins
};

enum pd_pair_side {
	PD_PAIR_BEGINS,
	PD_PAIR_ENDS,
	PD_PAIR_SIDES
};

// What is asked for. Strings are in text.
struct pd_pair {
	char *text;
	const char *events[PD_PAIR_SIDES];
	const char *keys[PD_PAIR_SIDES][PD_PAIR_FIELDS];
	size_t key_count;
	enum pd_pair_owner owner;
	const char *owner_field;
	const char *name; // NULL: that of the event that begins
};

// Reads "begin=EVENT,end=EVENT,key=FIELD". pd_pair_fini is safe after an error: PD_ERROR_ARGUMENT, PD_ERROR_MEMORY.
enum pd_status pd_pair_parse(struct pd_pair *pair, const char *text, struct pd_error *error);
void pd_pair_fini(struct pd_pair *pair);

// A pair whose second event has come.
struct pd_paired {
	uint32_t pid, tid, cpu; // of its owner, UINT32_MAX: not known; where it began
	uint32_t end_tid;
	uint64_t begin_ns, end_ns;
	unsigned flags;       // enum pd_interval_flag
	bool foreign;         // the chain is that of another thread than the owner
	struct pd_u64s chain; // of the event of the owner
	struct pd_u64s end_chain;
};
typedef enum pd_status pd_paired_fn(void *self, const struct pd_paired *paired, struct pd_error *error);

struct pd_pair_open;

struct pd_pairing {
	const struct pd_pair *pair;
	pd_paired_fn *paired;
	void *self;
	size_t limit; // of what is open; 0 means 4 million
	struct pd_tracepoints points;
	struct pd_tracepoint table[PD_PAIR_SIDES];
	uint8_t places[PD_PAIR_SIDES][PD_PAIR_FIELDS], owner_place; // of the values of a sample
	bool same_event;
	uint64_t seed, losses;
	struct pd_pair_open *open; // those that are open, and those that were
	size_t count, capacity, open_count;
	uint32_t free;   // number + 1 of one that was
	uint32_t *heads; // number + 1 of the first with a hash
	size_t head_count;
	struct pd_interval_counts counts;
};

// pair must remain valid. pd_pairing_fini is safe after an error.
enum pd_status pd_pairing_init(struct pd_pairing *pairing, struct pd_file *file, const struct pd_pair *pair,
			       struct pd_error *error);
// The next record in time order. Errors: those of pd_tracepoints_take and of the function; PD_ERROR_LIMIT; PD_ERROR_MEMORY.
enum pd_status pd_pairing_take(struct pd_pairing *pairing, const struct pd_record *record, struct pd_error *error);
// After the last one: counts. PD_ERROR_NO_SAMPLES if one of the events is not in the file.
enum pd_status pd_pairing_finish(struct pd_pairing *pairing, struct pd_error *error);
void pd_pairing_fini(struct pd_pairing *pairing);

#endif
