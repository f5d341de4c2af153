/* SPDX-License-Identifier: MIT */
/*
 * The inside of a merge. scan.c reads each recording once; machines.c, kernels.c, clocks.c, formats.c and events.c decide
 * what becomes of it; features.c writes what surrounds the records, pass.c the records. kernel_maps.c, source.c and
 * repeats.c are used by these; merge.c is on top.
 */
#ifndef PD_MERGE_MERGE_H
#define PD_MERGE_MERGE_H

#include <perfdata/merge.h>

#include <perfdata/stream.h>

#include "base/error.h"
#include "base/memory.h"

enum {
	PD_MERGE_TEXT_BYTES = 9216 // two paths and some words
};

// Numbers that grow.
struct pd_numbers {
	uint64_t *items;
	size_t count, capacity;
};

// Where the kernel or one of its modules was.
struct pd_kernel_map {
	char *name;
	uint64_t start, end;
	uint64_t pgoff;
	bool written; // in the output
};

// A change of numbers, as the writer expects it.
struct pd_number_changes {
	struct pd_number_change *items;
	size_t count, capacity;
};

// One of the recordings.
struct pd_merge_source {
	struct pd_file *file;
	const char *name;
	size_t index;
	struct pd_merge *merge;
	uint64_t first_ns, last_ns; // of samples; 0 if none has a time
	uint64_t begin_ns;          // oldest time of any record, or 0
	struct pd_kernel_map *maps; // of the kernel, the image first
	size_t map_count, map_capacity;
	bool scanned;
	bool has_aux; // AUXTRACE records
	bool raw_big_endian;
	// what is made of it
	size_t machine; // number of the boot that it ran in, from 0
	size_t session; // index of the first source that is a piece of the same recording
	size_t *events; // in the output, by index of the event
	struct pd_number_changes ids, tracepoints;
	struct pd_address_change *addresses; // of the kernel
	size_t address_count;
	bool other_kernel; // another kernel than that of the first
	struct pd_join join;
	struct pd_join early; // for what ran before the recording
};

// An event of the output.
struct pd_joined_event {
	struct pd_attr attr;
	const char *name;
	struct pd_numbers ids;
	size_t source; // where it comes from
	size_t index;  // there
	size_t taken;  // 1 + the last source that has it
};

struct pd_joined_events {
	struct pd_joined_event *items;
	size_t count, capacity;
};

struct pd_merge_formats;

struct pd_merge {
	struct pd_merge_options options;
	struct pd_merge_source **sources;
	size_t source_count, source_capacity;
	struct pd_joined_events events;
	struct pd_merge_formats *formats;
	uint64_t kernel_free; // below this no kernel is
	uint64_t secret[2];
	char *failure; // the whole text, for which an error may have no room; or NULL
};

// ---- source.c: what all parts ask of a source ----

void pd_merge_source_free(struct pd_merge_source *source);
// Text of a feature that is one, or NULL.
const char *pd_merge_text(const struct pd_merge_source *source, unsigned feature);
// Bytes of a feature. False if the source does not have it.
bool pd_merge_feature_bytes(const struct pd_merge_source *source, unsigned feature, struct pd_bytes *bytes_out);
// A time of the source in the output.
uint64_t pd_merge_shifted(const struct pd_merge_source *source, uint64_t time_ns);
// False if there is no memory.
bool pd_numbers_add(struct pd_numbers *numbers, uint64_t number);
// Fills in the error and keeps the whole text. Returns the status.
enum pd_status pd_merge_fail(const struct pd_merge *merge, struct pd_error *error, enum pd_status status,
			     const char *format, ...) PD_PRINTF(4, 5);
// A warning for the function of the caller.
void pd_merge_warn(const struct pd_merge *merge, const char *format, ...) PD_PRINTF(2, 3);

// ---- kernel_maps.c ----

// A record that maps the image or a module of the kernel, or NULL.
const struct pd_mmap *pd_kernel_mmap(const struct pd_record *record);
const struct pd_mmap2 *pd_kernel_mmap2(const struct pd_record *record);
// True for the image of the kernel, not for a module.
bool pd_kernel_is_image(const char *name);
// The map with a name, or NULL.
struct pd_kernel_map *pd_kernel_find(const struct pd_merge_source *source, const char *name);
// Whether another source has written the same map of the kernel; else it is noted that this one writes it.
bool pd_kernel_map_is_written(const struct pd_merge *merge, const struct pd_merge_source *source, const char *name,
			      uint64_t start, uint64_t pgoff);
// What the image or a module of another kernel is called.
void pd_kernel_rename(const struct pd_merge_source *source, const char *name, char *renamed, size_t size);

// ---- what is decided, one after the other ----

// scan.c: reads a source once.
enum pd_status pd_merge_scan(struct pd_merge_source *source, struct pd_error *error);
// machines.c: which sources ran in the same boot, and which are pieces of one recording.
void pd_merge_find_machines(struct pd_merge *merge);
// kernels.c: one space of kernel addresses.
enum pd_status pd_merge_plan_kernels(struct pd_merge *merge, struct pd_error *error);
// clocks.c
enum pd_status pd_merge_plan_clocks(struct pd_merge *merge, struct pd_error *error);
// Time of what a recorder found when it started.
void pd_merge_plan_early(struct pd_merge *merge);
// formats.c: one list of tracepoint formats.
enum pd_status pd_merge_plan_formats(struct pd_merge *merge, struct pd_error *error);
// What a tracepoint of a source is called in the output: attr.config.
uint64_t pd_merge_formats_config(const struct pd_merge_source *source, uint64_t config);
// Gives the writer TRACING_DATA. PD_OK if there is none.
enum pd_status pd_merge_formats_write(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error);
void pd_merge_formats_free(struct pd_merge_formats *formats);
// events.c: one list of events, and the changes that make records fit it.
enum pd_status pd_merge_plan_events(struct pd_merge *merge, struct pd_error *error);

// ---- features.c ----

// For pieces of a recording, which have only some of its events: gives an unused writer the events of a file for which
// is_kept is true, and its features, which are those of the whole file except for groups of events and SAMPLE_TIME.
// first_ns and last_ns are the times of the first and last sample, 0 if none has a time. Errors: PD_ERROR_MEMORY and
// those of pd_writer_set_feature.
enum pd_status pd_merge_piece_header(struct pd_file *file, const bool *is_kept, uint64_t first_ns, uint64_t last_ns,
				     struct pd_writer *writer, struct pd_error *error);

// Gives the writer events and features.
enum pd_status pd_merge_header(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error);

// ---- repeats.c: records that several pieces of a recording have ----

struct pd_repeats;

// NULL without memory.
struct pd_repeats *pd_repeats_new(const struct pd_merge *merge);
void pd_repeats_free(struct pd_repeats *repeats);
// *repeated_out: another piece has brought this record, which is at a time of the output, or untimed. False without
// memory.
bool pd_repeats_take(struct pd_repeats *repeats, const struct pd_merge_source *source, const struct pd_record *record,
		     uint64_t time_ns, bool untimed, bool *repeated_out);

// ---- pass.c: records in the order of time ----

enum pd_status pd_merge_pass(struct pd_merge *merge, struct pd_writer *writer, struct pd_merge_result *result,
			     struct pd_error *error);

#endif
