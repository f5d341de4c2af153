/* SPDX-License-Identifier: MIT */
/**
 * pairs.h - pairs of events of one kind as text: system calls, locks, work of the kernel, as perf 6.1 prints them.
 *
 * Memory grows with threads and what they do, not with events.
 *
 * Example:
 *
 *	struct pd_syscalls_options options = { .size = sizeof(options), .errors = true };
 *
 *	if (pd_print_syscalls(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_PAIRS_H
#define PERFDATA_PAIRS_H

#include <perfdata/stream.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Name of a system call of an architecture (of 64 bits if there are two); NULL if it is not known. */
PD_API const char *pd_syscall_name(enum pd_arch arch, bool is_64_bit, uint64_t number);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_syscalls_options {
	size_t size;         /* sizeof(struct pd_syscalls_options); 0 is PD_ERROR_ARGUMENT */
	bool errors;         /* how often each error was returned */
	size_t thread_limit; /* maximum number of threads; 0 means 4 million */
};

/** Appends a table of system calls for each thread, as perf trace -s does: from raw_syscalls:sys_enter and sys_exit, or
 * syscalls:sys_enter_NAME and sys_exit_NAME. Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_OUTPUT; PD_ERROR_FORMAT if the format of
 * a tracepoint is missing or lacks a field; PD_ERROR_NO_SAMPLES without such events; those of pd_run. */
PD_API enum pd_status pd_print_syscalls(struct pd_text *text, struct pd_file *file,
					const struct pd_syscalls_options *options, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
