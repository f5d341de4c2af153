/* SPDX-License-Identifier: MIT */
/*
 * Adding samples up. A sample becomes a key: a few words that say what keeps it apart, its address, its call chain as
 * it was recorded. Equal keys are one bucket. Nothing has a name yet, so a sample costs one look into a hash table;
 * what is true of its thread is asked of the world only when that changes.
 *
 * A collector belongs to one thread. Two are put together by adding the buckets of one to the other.
 */
#ifndef PD_PROFILE_COLLECT_H
#define PD_PROFILE_COLLECT_H

#include <perfdata/profile.h>

#include "base/memory.h"

// Words of a key. What is seldom asked for stands behind the chain, if it is.
enum {
	PD_KEY_WHO, // number of the owner, event
	PD_KEY_MODE, // CPU mode, CPU
	PD_KEY_IP,
	PD_KEY_CHAIN
};

enum {
	PD_EXTRA_CGROUP,
	PD_EXTRA_WEIGHT,
	PD_EXTRA_SLICE,
	PD_EXTRA_COUNT
};

#define PD_BY_EXTRA (PD_BY_CGROUP | PD_BY_WEIGHT | PD_BY_TIME)

// Samples with one key.
struct pd_bucket {
	uint64_t hash;
	uint64_t samples;
	uint64_t period;
	uint64_t weights;
	struct pd_moment first; // when and where it was first seen
	size_t count; // of words
	uint64_t key[];
};

// Who is asked for: a thread or a process by one name, with one set of maps.
struct pd_owner {
	const char *comm; // NULL: not asked for, or not known
	uint32_t pid, tid; // UINT32_MAX: not asked for; process of the maps stands in maps_pid
	uint32_t maps_pid;
	bool nameless; // its name is asked for, and not known
	uint64_t maps;
};

// What is known of a thread for a while.
struct pd_thread_view {
	struct pd_view view;
	uint32_t pid, tid;
	uint32_t owner;
	bool used;
};

struct pd_owner_slot {
	uint32_t hash;
	uint32_t number_plus_1;
};

// Counter value of an id at its last sample.
struct pd_last_value {
	uint64_t id;
	uint64_t value;
	bool used;
};

struct pd_collector {
	const struct pd_profile_options *options;
	const struct pd_world *world;
	struct pd_file *file;
	uint64_t seed;
	bool by_time_order; // counter values are read with samples: their gain needs the order of time
	struct pd_arena arena; // buckets
	struct pd_bucket **slots;
	size_t slot_count; // a power of two
	size_t bucket_count;
	struct pd_owner *owners;
	size_t owner_count, owner_capacity;
	struct pd_owner_slot *owner_slots;
	size_t owner_slot_count;
	struct pd_thread_view *views; // by a hash of the tid; a newer one takes the place
	struct pd_last_value *last_values;
	size_t value_slots, value_count;
	uint64_t *key; // of the present sample
	size_t key_capacity;
	struct pd_profile_total *totals; // by event
	size_t event_count;
	uint64_t unknown_event, damaged;
	uint64_t seen; // samples, wanted or not
	enum pd_status failure;
};

// world, options, file and seed must have been set, and the events of the file be known.
enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error);
void pd_collector_fini(struct pd_collector *collector);
enum pd_status pd_collector_take(struct pd_collector *collector, const struct pd_record *record, struct pd_error *error);
// Adds all that another one has.
enum pd_status pd_collector_join(struct pd_collector *collector, const struct pd_collector *other,
				 struct pd_error *error);

#endif
