/* SPDX-License-Identifier: MIT */
/* The inside of repairs: what is made anew of parts that are lost or damaged. */
#ifndef PD_REPAIR_REPAIR_H
#define PD_REPAIR_REPAIR_H

#include <perfdata/repair.h>

#include "stream/read/stream.h"

// ---- formats.c: formats of tracepoints ----

// All zero at first.
struct pd_formats {
	struct pd_arena arena;
	struct pd_tracing_data data; // valid until fini
	struct pd_tracing_system *systems;
	size_t count;
	size_t recovered; // formats that are not as they were
};

bool pd_file_has_tracepoints(const struct pd_file *file);
// Formats for all tracepoints of a file that has none.
enum pd_status pd_formats_make(struct pd_formats *formats, const struct pd_file *file, struct pd_error *error);
// The formats of a file, those that are damaged in another form. recovered is 0 if they can stay as they are.
enum pd_status pd_formats_recover(struct pd_formats *formats, const struct pd_file *file,
				  const struct pd_tracing_data *data, struct pd_error *error);
void pd_formats_fini(struct pd_formats *formats);

// ---- counts.c: what counts belong to ----

// CPUs, and one bit for any CPU, which has the number 65535 in files.
struct pd_cpu_bits {
	uint64_t words[1024];
};

// Of perf stat. All zero at first.
struct pd_count_maps {
	struct pd_cpu_bits *cpus; // of CPU_MAP, or of the counts if that one is made; NULL: nothing is known
	uint32_t threads;         // the same for THREAD_MAP
	bool make_cpus, make_threads;
	bool made;
};

// Reads the counts and maps of a file.
enum pd_status pd_count_maps_learn(struct pd_count_maps *maps, struct pd_file *file, struct pd_error *error);
// Whether the record stays: a count that belongs to nothing does not, nor does a map that another one replaces.
bool pd_count_maps_keep(const struct pd_count_maps *maps, struct pd_stream *stream, const struct pd_record *record);
// Writes the maps that are made before the first record that wants them. The writer may be NULL.
enum pd_status pd_count_maps_pass(struct pd_count_maps *maps, struct pd_file *file, struct pd_writer *writer,
				  const struct pd_record *record, struct pd_error *error);
void pd_count_maps_fini(struct pd_count_maps *maps);

#endif
