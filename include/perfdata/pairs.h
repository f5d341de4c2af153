/* SPDX-License-Identifier: MIT */
/**
 * pairs.h - pairs of events of one kind as text: system calls, locks, work of the kernel, as perf 6.1 prints them.
 *
 * Memory grows with threads and what they do, not with events.
 *
 * Example:
 *
 *	struct pd_syscalls_options options = { .size = sizeof(options), .text = PD_SYSCALLS_SUMMARY };
 *
 *	if (pd_print_syscalls(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_PAIRS_H
#define PERFDATA_PAIRS_H

#include <perfdata/stream.h>
#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Name of a system call of an architecture (of 64 bits if there are two); NULL if it is not known. */
PD_API const char *pd_syscall_name(enum pd_arch arch, bool is_64_bit, uint64_t number);

/** What is printed of system calls. */
enum pd_syscalls_text {
	PD_SYSCALLS_LINES,   /* each call, with its arguments */
	PD_SYSCALLS_SUMMARY, /* a table for each thread */
	PD_SYSCALLS_BOTH
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_syscalls_options {
	size_t size;         /* sizeof(struct pd_syscalls_options); 0 is PD_ERROR_ARGUMENT */
	bool errors;         /* how often each error was returned */
	size_t thread_limit; /* maximum number of threads; 0 means 4 million */
	enum pd_syscalls_text text;
	const char *calls; /* only these, as a list with commas and wildcards; after a '!' all others. NULL: all */
	const char *pids, *tids;  /* only these, as a list of numbers and ranges; NULL: all */
	const char *without_pids; /* not these */
	/* Of lines only: */
	uint64_t min_duration_ns; /* calls that took so long */
	bool failed_only;         /* calls that failed */
	uint64_t max_lines;       /* the first calls; 0: all */
	bool full_time;           /* times as recorded, instead of those since the first call */
	bool without_names;       /* of threads, only the number */
	/* Of all: */
	bool json; /* as one JSON object */
	/* The file is being recorded (pd_recorder_open_file): text goes to its sink at the end of each round, losses are printed where they
	 * were, and reading ends with the last of max_lines. Only calls of raw_syscalls are calls then; other events are lines of their
	 * own, with the fields of tracepoints, as perf trace -e prints them. */
	bool live;
	/* BTF of the kernel that recorded (/sys/kernel/btf/vmlinux), for names of enums in fields of tracepoints, as perf 7.2 has them; must
	 * remain valid. Empty: numbers. */
	struct pd_bytes kernel_types;
	bool without_threads; /* of lines: no threads, as there is only one */
	bool total;           /* one table for all threads */
	uint64_t max_calls;   /* in each table; 0: all */
	/* Of lines: the call chains of calls that end and of other events stand below them, if they were recorded. */
	uint64_t max_stack; /* frames of them; 0: 127 */
	uint64_t min_stack; /* no calls and events with fewer; those without a chain are printed */
	bool user_stacks;   /* of calls: without the kernel's frames */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
	bool live_names; /* with live: names of functions and objects are needed, for call chains or page faults */
	bool runtimes; /* tables: how long each thread ran, by sched:sched_stat_runtime, whose events are no lines then */
	/* Only what is between events of these names, which are among those that are read; NULL: from the beginning, to the end. */
	const char *switch_on, *switch_off;
	bool show_switches; /* these events, too */
};

/** Whether a list, as pd_syscalls_options.calls, has a call. */
PD_API bool pd_call_is_wanted(const char *list, const char *name);
/** Whether an architecture has a call that an item of such a list, with wildcards, fits. */
PD_API bool pd_call_is_known(enum pd_arch arch, bool is_64_bit, const char *item);

/** Appends system calls as perf trace does: from raw_syscalls:sys_enter and sys_exit, or syscalls:sys_enter_NAME and sys_exit_NAME.
 * Errors: PD_ERROR_ARGUMENT for a wrong list, or one with a name that is no call of the file's machine; PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_OUTPUT; PD_ERROR_FORMAT if the format of a
 * tracepoint is missing or lacks a field; PD_ERROR_NO_SAMPLES without such events; those of pd_run. */
PD_API enum pd_status pd_print_syscalls(struct pd_text *text, struct pd_file *file,
					const struct pd_syscalls_options *options, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
