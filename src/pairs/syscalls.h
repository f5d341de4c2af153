/* SPDX-License-Identifier: MIT */
// System calls of threads: what is kept of them, for lines and for tables.
#ifndef PD_PAIRS_SYSCALLS_H
#define PD_PAIRS_SYSCALLS_H

#include "filter/select.h"
#include "pairs/lines/lines.h"

enum {
	PD_RECENT_CALLS = 8
};

struct pd_error_count {
	uint64_t number, count;
	struct pd_error_count *next; // with a greater number
};

// A system call of a thread.
struct pd_call_sum {
	const char *name;
	uint64_t number;
	struct pd_sched_stats stats;
	uint64_t failures;
	struct pd_error_count *errors;
	struct pd_call_sum *next; // of the thread
};

struct pd_caller {
	uint64_t entry_ns, events, runtime_ns;
	uint64_t faults[2]; // minor and major ones
	struct pd_call_sum *calls, *last;
	struct pd_call_sum *recent[PD_RECENT_CALLS]; // by the low bits of their numbers
	struct pd_line_entry entry;
};

struct pd_syscalls {
	struct pd_pairs pairs;
	struct pd_syscalls_options options;
	struct pd_u64_map map; // calls by thread and number
	enum pd_arch arch;
	bool is_64_bit;
	uint64_t events;
	// Of calls that were met:
	const char *names[PD_CALLS_KNOWN];
	bool unwanted[PD_CALLS_KNOWN];
	const struct pd_call *described[PD_CALLS_KNOWN];
	struct pd_caller all; // with total: the calls of all threads
	struct pd_lines lines;
	struct pd_call_shapes shapes;
	struct pd_points points; // other events
	struct pd_toggle toggle;
	bool toggle_checked;
	const struct pd_event *runtime_event; // whose number is known
	struct pd_raw_number runtime;
};

// ---- syscalls_tables.c ----

// What follows the lines. Errors: PD_ERROR_MEMORY; PD_ERROR_OUTPUT.
enum pd_status pd_syscalls_print_tables(struct pd_syscalls *syscalls, struct pd_error *error);
// The same as the end of the object that all is.
enum pd_status pd_syscalls_end_json(struct pd_syscalls *syscalls, struct pd_error *error);

#endif
