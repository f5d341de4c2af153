/* SPDX-License-Identifier: MIT */
/*
 * The inside of a recorder. events*.c turn names into attrs; open.c asks the kernel for them; rings.c and drain.c take
 * what comes; existing.c describes what already runs and machine.c the machine; recorder.c is the whole.
 *
 * What these make are records and features for a writer. Records that describe what already runs are made through the
 * tables (struct pd_made), and are bytes from there on: a writer takes them, or a live stream.
 */
#ifndef PD_RECORD_RECORD_H
#define PD_RECORD_RECORD_H

#include <perfdata/recorder.h>

#include "base/memory.h"

// ---- made.c: records out of structs ----

// Records one after another, in the byte order of this machine.
struct pd_made {
	uint8_t *data;
	size_t size, capacity;
	uint64_t trailer_bits; // of the sample_id that stands after each record, of zeros: attr.sample_type, 0: none
	// Takes what is there when it grows above a limit, so that memory stays small; may be NULL.
	enum pd_status (*take)(void *self, struct pd_bytes records, struct pd_error *error);
	void *self;
};

// Adds a record from a struct of pd_record_layout(type). Its sample_id is made here.
enum pd_status pd_made_add(struct pd_made *made, uint32_t type, uint16_t misc, void *decoded, struct pd_error *error);
// Hands what is there to take.
enum pd_status pd_made_flush(struct pd_made *made, struct pd_error *error);
void pd_made_fini(struct pd_made *made);
// What makes the size of a record a multiple of 8 bytes.
static inline struct pd_bytes pd_made_padding(size_t size)
{
	static const uint8_t zeros[8];

	return (struct pd_bytes){ zeros, -size % 8 };
}

// ---- existing*.c: what already runs ----

struct pd_existing_options {
	const char *proc;    // NULL: "/proc"
	const char *sysfs;   // NULL: "/sys"
	struct pd_u32s pids; // processes to describe, with all their threads
	struct pd_u32s tids; // threads, whose process is described with these threads only
	bool all;            // every process
	bool data_maps;      // not only code
	bool build_ids;      // in MMAP2, in place of inodes
	bool namespaces, cgroups, bpf, tasks, maps;
	bool kernel; // the kernel, modules
};

// Tells what could not be found out: processes that went meanwhile are none of that.
struct pd_existing_notes {
	bool kernel_addresses_hidden; // kptr_restrict
	uint64_t maps_cut;            // processes whose maps are too many to be read
};

enum pd_status pd_existing_kernel(struct pd_made *made, const struct pd_existing_options *options,
				  struct pd_existing_notes *notes, struct pd_error *error);
enum pd_status pd_existing_tasks(struct pd_made *made, const struct pd_existing_options *options,
				 struct pd_existing_notes *notes, struct pd_error *error);
enum pd_status pd_existing_bpf(struct pd_made *made, const struct pd_existing_options *options, struct pd_error *error);
enum pd_status pd_existing_cgroups(struct pd_made *made, const struct pd_existing_options *options,
				   struct pd_error *error);

// ---- machine*.c: features that say where and how it was recorded ----

struct pd_machine_options {
	const char *proc, *sysfs, *tracefs; // NULL: the usual places
	const char *const *command_line;
	const struct pd_attr *attrs; // of the events, for those features that are about them
	const char *const *names;
	const size_t *leaders; // index of the event that leads the group
	size_t event_count;
	bool use_clock; // CLOCKID, CLOCK_DATA of clock; else CLOCK_DATA of the kernel's own
	int32_t clock;
	bool branches; // BRANCH_STACK
	bool tracing;  // TRACING_DATA of the tracepoints among the attrs
	bool bpf;      // BPF_PROG_INFO, BPF_BTF
};

// Sets all features that describe the machine: HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM,
// CMDLINE, CPU_TOPOLOGY, NUMA_TOPOLOGY, PMU_MAPPINGS, CACHE, MEM_TOPOLOGY, CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS ...
// What cannot be found out is left out.
enum pd_status pd_machine_features(struct pd_writer *writer, const struct pd_machine_options *options,
				   struct pd_error *error);
// The parts of that: processors and memory; what is about the events.
enum pd_status pd_machine_cpus(struct pd_writer *writer, const struct pd_machine_options *options,
			       struct pd_error *error);
enum pd_status pd_machine_events(struct pd_writer *writer, const struct pd_machine_options *options,
				 struct pd_error *error);
// The features BPF_PROG_INFO and BPF_BTF: programs that are loaded, and their types.
enum pd_status pd_machine_bpf(struct pd_writer *writer, struct pd_error *error);
// The feature TRACING_DATA: formats of the tracepoints among the events.
enum pd_status pd_machine_tracing(struct pd_writer *writer, const struct pd_machine_options *options,
				  struct pd_error *error);

// ---- clock.c ----

// The time of day and that of the kernel's clock of events without a clockid, at one moment. False if the kernel allows no event.
bool pd_clock_compare(uint64_t *wall_ns_out, uint64_t *event_ns_out);

// ---- buildid.c: of files and of the kernel; false if there is none ----

bool pd_build_id_of_file(const char *path, uint8_t build_id[20], uint8_t *size_out);
bool pd_build_id_of_kernel(const char *sysfs, uint8_t build_id[20], uint8_t *size_out);
bool pd_build_id_of_module(const char *sysfs, const char *name, uint8_t build_id[20], uint8_t *size_out);
bool pd_build_id_of_vdso(uint8_t build_id[20], uint8_t *size_out);

#endif
