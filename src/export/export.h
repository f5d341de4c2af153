/* SPDX-License-Identifier: MIT */
/*
 * The inside of an export: what a format is given, and what it has to do. A format is a sink: it begins, gets every sample
 * in time order with the numbers of its thread and stack in the tables, and ends. What goes wrong is noted, and the export
 * ends after the present sample.
 */
#ifndef PD_EXPORT_EXPORT_H
#define PD_EXPORT_EXPORT_H

#include <perfdata/export.h>

#include "base/lookup/u64_map.h"
#include "stack/places.h"
#include "export/feed/sums.h"
#include "stack/tables.h"
#include "stream/parallel/known.h"

enum pd_support {
#define SAMPLE_PART(NAME, bit, text) PD_SUPPORT_##NAME,
#define RECORDS(NAME, type, text) PD_SUPPORT_##NAME,
#define OTHER(NAME, text) PD_SUPPORT_##NAME,
#include "export/support.def"
	PD_SUPPORT_COUNT
};
#define PD_SUPPORTS_ALL UINT64_MAX
#define PD_SUPPORTS(NAME) (UINT64_C(1) << PD_SUPPORT_##NAME)

// A sample, or what one member of a group counted since its last sample.
struct pd_export_sample {
	const struct pd_record *record;
	const struct pd_event *event;
	const struct pd_brief *brief; // its period is what was counted
	uint32_t thread;              // see pd_export_thread
	uint32_t ip, stack;           // of the tables
	uint64_t maps;                // pd_view.maps
	uint64_t id;                  // of the counter whose value it is; 0: the sample's own
	uint64_t value;               // by the unit of the event: the period, or 1
	uint64_t time_ns;             // PD_NO_TIME if there is none
	bool is_truncated;            // its callers are not all known
	// Of formats that need no stacks: the chain with its frames, innermost first; NULL if there is none, but a stack of one frame.
	const struct pd_chain_entries *chain;
};

// Goes through the stack of a sample, innermost first. Frames know an address of theirs, the sample knows its own.
struct pd_chain_walk {
	const struct pd_tables *tables;
	const struct pd_export_sample *sample;
	uint32_t stack;
	size_t at; // in the chain as recorded, or in sample->chain
};

void pd_chain_walk_begin(struct pd_chain_walk *walk, const struct pd_tables *tables,
			 const struct pd_export_sample *sample);
bool pd_chain_walk_next(struct pd_chain_walk *walk, const struct pd_table_frame **frame_out, uint64_t *addr_out);

struct pd_export;

// What a frame of the tables is: as little as the format shows, since there are few functions and any number of addresses.
enum pd_export_frames {
	PD_FRAMES_ADDRESSES,
	PD_FRAMES_MAPPED,    // of addresses where nothing is mapped in a process, one for all
	PD_FRAMES_LINES,     // an address only where lines of source or inlined functions are known, else a function
	PD_FRAMES_FUNCTIONS, // no lines, no inlined functions
};

struct pd_export_sink {
	size_t size;         // of what it keeps, zeroed at first: export->sink
	bool as_recorded;    // chains are not unwound, and have nothing in front of them
	bool all_records;    // samples cannot be chosen
	bool in_folder;      // files in a folder, by options.file
	bool of_tables;      // not of samples: options.table is one of them, which is not in a folder
	bool no_frames;      // ip and stack of samples are not needed
	bool no_stacks;      // stack is not needed where there is a chain
	bool each_value;     // values are not added up by those who read them: each may have 64 bits
	uint64_t value_most; // of a sample; 0: 2^63 - 1
	bool whole_stacks;   // stacks are numbered by themselves, not as callers of others: see pd_tables_frames
	enum pd_export_frames frames;
	void (*begin)(struct pd_export *self); // before the first sample, once it is known that there is one
	void (*sample)(struct pd_export *self, const struct pd_export_sample *sample);
	// Another record, in time order with the samples, and before the first one, too. NULL: they are not needed.
	void (*record)(struct pd_export *self, const struct pd_record *record);
	// Every record of the file, whatever is chosen, samples among them: first in the order of the file, before anything else is known,
	// then in time order. NULL: they are not needed.
	enum pd_status (*first)(struct pd_export *self, const struct pd_record *record, struct pd_error *error);
	enum pd_status (*every)(struct pd_export *self, const struct pd_record *record, struct pd_error *error);
	void (*end)(struct pd_export *self); // after the last sample
	void (*fini)(struct pd_export *self);
	// Exports everything by itself, instead of all other functions; NULL: it does not.
	enum pd_status (*whole)(struct pd_export *self, struct pd_file *file, struct pd_error *error);
};

struct pd_event_sum {
	uint64_t samples, value;
};

struct pd_export {
	struct pd_export_options options;
	const struct pd_export_sink *format;
	uint64_t supports; // PD_SUPPORTS(...)
	struct pd_text *text;
	struct pd_file *file;
	struct pd_state *state;
	struct pd_profile *profile; // of formats that export by themselves
	struct pd_symbols *symbols, *own_symbols;
	struct pd_unwinder *unwinder; // or NULL
	struct pd_tables tables;
	struct pd_pieces *pieces; // of the file, for another run; or NULL
	struct pd_places places;
	bool has_places;
	bool begun;
	void *sink;
	struct pd_event_sum *sums; // by event
	uint32_t *comm_of;         // by thread: the string of its name and 1, or 0
	size_t comm_capacity;
	size_t event_count, events_used; // those of the file, and those that samples are of
	uint64_t *last_values;           // of counters
	struct pd_u64_map value_of;      // id to place in last_values
	size_t value_count, value_capacity;
	uint64_t from_ns, to_ns;    // what is wanted; to_ns is inclusive, 0: open
	uint64_t first_ns, last_ns; // of the exported samples; 0: none
	uint64_t dropped[PD_SUPPORT_COUNT];
	struct pd_export_result result;
	bool failed;               // there was no memory
	enum pd_status wrong;      // PD_OK, or what ended the export
	struct pd_error wrong_why; // and why
};

// A thread of a sample by its number.
static inline const struct pd_owner *pd_export_thread(const struct pd_export *self, uint32_t thread)
{
	return &self->places.owners.items[thread];
}
// The string of its name: ":TID" if it is not known.
uint32_t pd_export_comm(struct pd_export *self, uint32_t thread);
// The string of "name pid/tid" of a thread, with an event unless that is UINT32_MAX.
uint32_t pd_export_track_name(struct pd_export *self, uint32_t thread, uint32_t event);
// What follows the name of a thread where several events are shown.
void pd_export_put_event(struct pd_text *text, const char *event);
// "nanoseconds", "count" or "samples".
const char *pd_export_unit(const struct pd_event *event);
// Of the first sample, in ns since 1970; 0 if it is not known.
uint64_t pd_export_wall_clock(const struct pd_export *self);
const char *pd_export_name(const struct pd_export *self);
// Adds a sample to the sum of its event, stack, thread and CPU.
void pd_export_sum(struct pd_export *self, struct pd_sums *sums, const struct pd_export_sample *sample);
// Counts what the format has no field for: parts of samples of an event, and records of a type.
void pd_export_note_parts(struct pd_export *self, const struct pd_event *event, uint64_t samples);
void pd_export_note_records(struct pd_export *self, uint32_t type, uint64_t records);
// Notes that the export cannot go on.
void pd_export_stop(struct pd_export *self, enum pd_status status, const struct pd_error *error);
// Writes what has become large; to be called between samples, or wherever nothing written before is needed any more.
void pd_export_flush(struct pd_export *self);

#endif
