/* SPDX-License-Identifier: MIT */
/*
 * The inside of work of the kernel.
 *
 *   classes.def   kinds of work, and their events
 *   works.c       work by number and CPU, what of it has not ended, and its names
 *   kwork.c       from events to sums; the public function
 *   top.c         what of the time of each CPU its threads had, and interrupts and softirqs in them
 *   print.c       tables, and a line for each time; json.c, both as JSON
 */
#ifndef PD_KWORK_KWORK_H
#define PD_KWORK_KWORK_H

#include <perfdata/kwork.h>

#include "pairs/pairs.h"

enum pd_kwork_class {
#define CLASS(NAME, name, raise, entry, exit, id, field) PD_KWORK_##NAME,
#include "kwork/classes.def"
	PD_KWORK_CLASSES
};

enum pd_kwork_step {
	PD_KWORK_RAISE,
	PD_KWORK_ENTRY,
	PD_KWORK_EXIT,
	PD_KWORK_STEPS
};

// Values of a sample, by the fields of an event.
enum pd_kwork_field {
	PD_KWORK_ID,
	PD_KWORK_COMMON_PID,
	PD_KWORK_OTHER
};

// The time of a CPU.
struct pd_kwork_cpu {
	uint32_t cpu;
	uint64_t total_ns, idle_ns, irq_ns, softirq_ns, load_ns;
};

// An event whose partner is to come.
struct pd_kwork_open {
	uint64_t time_ns;
	uint64_t raised_ns; // of an entry: when it was raised, or 0
};

struct pd_kwork_stack {
	struct pd_kwork_open *items;
	size_t count, capacity;
};

// Work on a CPU.
struct pd_kwork_work {
	enum pd_kwork_class of;
	uint32_t cpu;
	uint64_t id;
	const char *name; // or NULL
	struct pd_kwork_stack open[PD_KWORK_EXIT];
	uint64_t left[PD_KWORK_STEPS]; // events that had no begin
	uint64_t count, total_ns, max_ns, max_begin_ns, max_end_ns;
	uint64_t usage; // of its CPUs, in 1/10000
};

typedef int pd_kwork_compare_fn(const struct pd_kwork_work *a, const struct pd_kwork_work *b);

struct pd_kwork {
	struct pd_pairs pairs;
	struct pd_kwork_options options;
	unsigned order[PD_KWORK_CLASSES]; // of classes in the output, from 1; 0: not wanted
	pd_kwork_compare_fn *keys[4];     // NULL behind the last one
	uint64_t seed;
	struct pd_index index;
	struct pd_kwork_work **works;
	size_t count, capacity;
	size_t open_count;
	uint64_t first_ns, last_ns;
	struct pd_u64_map cpu_map; // their places, from 1
	struct pd_kwork_cpu *cpus;
	size_t cpu_count, cpu_capacity;
	struct pd_json json;
	bool json_begun;
};

// ---- works.c ----

const char *pd_kwork_class_name(enum pd_kwork_class of);
// NULL: an error.
struct pd_kwork_work *pd_kwork_find(struct pd_kwork *kwork, enum pd_kwork_class of, uint64_t id, uint32_t cpu,
				    struct pd_error *error);
// The same, if there is one.
struct pd_kwork_work *pd_kwork_known(const struct pd_kwork *kwork, enum pd_kwork_class of, uint64_t id, uint32_t cpu);
// Looks for the name if it has none yet. False if there is no memory.
bool pd_kwork_name(struct pd_kwork *kwork, struct pd_kwork_work *work, const struct pd_tracepoint_sample *sample);
enum pd_status pd_kwork_push(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
			     struct pd_kwork_open open, struct pd_error *error);
// Forgets what has not ended, and counts it.
void pd_kwork_drop(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step);
bool pd_kwork_pop(struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_step step,
		  struct pd_kwork_open *open_out);
enum pd_status pd_kwork_choose_keys(struct pd_kwork *kwork, struct pd_error *error);
// False if there is no memory.
bool pd_kwork_sort(struct pd_kwork *kwork);
// Whether an event of the work counts; the time span then has it.
bool pd_kwork_is_chosen(struct pd_kwork *kwork, const struct pd_kwork_work *work, uint64_t time_ns);
void pd_kwork_add_time(struct pd_kwork_work *work, uint64_t begin_ns, uint64_t end_ns);
void pd_kwork_works_fini(struct pd_kwork *kwork);

// ---- top.c ----

enum pd_status pd_kwork_take_top(struct pd_kwork *kwork, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error);
// Sums of threads and CPUs, both in their order. False if there is no memory.
bool pd_kwork_sum_top(struct pd_kwork *kwork);
// a of b in 1/10000
uint64_t pd_kwork_share(uint64_t a, uint64_t b);

// ---- print.c ----

void pd_kwork_print_head(struct pd_text *text);
void pd_kwork_print_time(struct pd_kwork *kwork, const struct pd_kwork_work *work, const struct pd_kwork_open *begin,
			 uint64_t end_ns);
void pd_kwork_print(struct pd_kwork *kwork);
void pd_kwork_print_top(struct pd_kwork *kwork);

// Events that did not fit, by step.
struct pd_kwork_left {
	uint64_t of[PD_KWORK_STEPS], all;
};
struct pd_kwork_left pd_kwork_count_left(const struct pd_kwork *kwork);

// ---- json.c ----

void pd_kwork_json_time(struct pd_kwork *kwork, const struct pd_kwork_work *work, const struct pd_kwork_open *begin,
			uint64_t end_ns);
void pd_kwork_json(struct pd_kwork *kwork);

#endif
