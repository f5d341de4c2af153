/* SPDX-License-Identifier: MIT */
/* The inside of a profile: what is there once all samples have been added up. */
#ifndef PD_PROFILE_PROFILE_H
#define PD_PROFILE_PROFILE_H

#include "base/lookup/hash.h"
#include "base/threads.h"
#include "profile/collect/collect.h"

// An entry without what it has in common with others.
struct pd_counted {
	uint64_t samples, period;
	uint32_t owner, details, stack; // numbers
};

struct pd_slice_range {
	size_t start, count;
};

enum {
	PD_PROFILE_TABLES = 24 // most
};

// Tables that a profile needed.
struct pd_profile_tables {
	struct pd_profile_table items[PD_PROFILE_TABLES];
	size_t count;
	uint64_t samples;
	uint64_t buckets;
};

struct pd_profile {
	struct pd_profile_options options;
	struct pd_file *file;
	struct pd_state *state;
	bool foreign_state;            // it belongs to somebody else
	struct pd_pieces *pieces;      // of a run before, which the file was known by; or NULL
	struct pd_symbols *symbols;    // that are loaded and used by a thread in the background, or NULL
	struct pd_symbols *codes_of;   // that know code that replaced other code, or NULL
	size_t first_dso;              // of those that were loaded while samples were counted
	struct pd_worker preparer;     // of symbols, while samples are read
	struct pd_worker namer;        // of frames, while the rest is arranged
	uint64_t named_by;             // the serial of the symbols that all places have their names from, or 0
	struct pd_collector collector; // empty once all is put together
	struct pd_unwinder *unwinder;  // of the collector, or NULL
	struct pd_running *running;    // threads at each moment, or NULL
	struct pd_profile_losses losses;
	struct pd_profile_total *totals;
	size_t event_count;
	// What is told of an entry is put together when it is asked for; the entries of a sum are there as they are.
	struct pd_counted *counted;
	uint64_t *weights;       // of entries; NULL: no event records any
	struct pd_owner *owners; // their names are those of threads without one, too
	struct pd_details *details;
	struct pd_bytes *raw_items;
	struct pd_profile_entry *entries;
	size_t entry_count;
	struct pd_slice *slices;             // of all entries
	struct pd_slice_range *slice_ranges; // by entry
	uint64_t slice_ns, first_slice_ns;
	struct pd_stack *stacks;
	size_t stack_count, stack_capacity;
	struct pd_frame *frames;
	struct pd_origin *origins; // of frames
	size_t frame_count;
	struct pd_rare_caller *rare; // by their first samples
	size_t rare_count;
	struct pd_arena arena;              // names
	struct pd_arena callers[PD_SHARDS]; // of stacks
	struct pd_arena raws;               // raw data of entries
	struct pd_profile_tables collected; // what counting needed
	struct pd_profile_tables *measured; // that and the result, with the sizes, if they were asked for
	struct pd_profile_sizes sizes;
};

// Notes what a record says of losses. profile/profile.c
void pd_profile_note_losses(struct pd_profile_losses *losses, const struct pd_record *record);
// Whether there are copied stacks that are to be unwound.
bool pd_unwinding_is_wanted(const struct pd_file *file, const struct pd_profile_options *options);
// Arranges what was collected and takes it over from the collector.
enum pd_status pd_profile_finish(struct pd_profile *profile, enum pd_status status, struct pd_error *error);
// Notes the tables of the collector, before it is taken apart. profile/sizes.c
void pd_profile_note_tables(struct pd_profile *profile);
// Entries become slices, by the number of their bucket; buckets get what was counted. ranges has room for all buckets, and
// is where theirs are then. False if there is no memory. profile/slices.c
bool pd_profile_slice(struct pd_profile *profile, struct pd_slice_range *ranges);
// Begins to name frames, which are all there, on a thread of its own if that is worth it; the other one waits for its end.
// profile/names.c
bool pd_profile_begin_names(struct pd_profile *profile);
void pd_profile_end_names(struct pd_profile *profile);
// Turns buckets into entries, stacks and frames. profile/arrange.c
enum pd_status pd_profile_arrange(struct pd_profile *profile, struct pd_error *error);

#endif
