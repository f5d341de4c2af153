/* SPDX-License-Identifier: MIT */
/*
 * A recording out of names: events, threads, functions and samples as they come. Each function gets an address of its own in
 * the space of the kernel, and a KSYMBOL record with its name before the first sample that has it, so that every reader of
 * perf.data files shows the name without any other file.
 */
#ifndef PD_IMPORT_BUILDER_H
#define PD_IMPORT_BUILDER_H

#include <perfdata/import.h>

#include "base/lookup/strings.h"
#include "base/lookup/u64_map.h"

struct pd_builder_sample {
	uint32_t event; // see pd_builder_event
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu;
	uint64_t period, weight;
	const uint64_t *chain; // addresses, innermost first; at least one
	size_t count;
	bool unfinished; // outer callers are missing
};

struct pd_builder {
	struct pd_writer *writer;
	struct pd_import_result *result;
	const char *name;      // of the input
	uint64_t sample_type;  // beside what all have; set before the first event
	bool no_chains;        // samples have their address alone; likewise
	struct pd_arena arena; // of names
	struct pd_strings events, functions, comms;
	struct pd_u64_map comm_of; // pid and tid to the number of a name plus 1
	uint64_t most_frames;      // of all samples together; 0: any number. Formats that name a stack once need it
	uint64_t *chain;           // with its marker
	size_t chain_capacity;
	enum pd_status status; // the first failure
	struct pd_error *error;
};

void pd_builder_init(struct pd_builder *builder, struct pd_writer *writer, const struct pd_import_options *options,
		     struct pd_import_result *result, struct pd_error *error);
void pd_builder_fini(struct pd_builder *builder);
// For an input of that size: small inputs must not become large recordings.
void pd_builder_limit(struct pd_builder *builder, size_t input_size);
// The number of an event by its name. Values are nanoseconds or else counts.
uint32_t pd_builder_event(struct pd_builder *builder, const char *name, size_t size, bool nanoseconds);
// The address of a function by its name.
uint64_t pd_builder_function(struct pd_builder *builder, const char *name, size_t size);
// Says the name of a thread, if it is new.
void pd_builder_thread(struct pd_builder *builder, uint32_t pid, uint32_t tid, const char *comm, size_t size);
// The same for a thread whose numbers are not known: returns one for its name, which is its process, too.
uint32_t pd_builder_numberless_thread(struct pd_builder *builder, const char *comm, size_t size);
// Something is mapped in a process, or in the kernel, at an address and at that offset.
void pd_builder_map(struct pd_builder *builder, uint32_t pid, uint64_t addr, uint64_t size, const char *path);
// So many samples are missing.
void pd_builder_lost(struct pd_builder *builder, uint64_t count);
void pd_builder_sample(struct pd_builder *builder, const struct pd_builder_sample *sample);

#endif
