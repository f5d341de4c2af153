/* SPDX-License-Identifier: MIT */
/**
 * lock.h - how long threads waited for locks of the kernel, as perf lock contention, report and info of perf 6.1 print it.
 *
 * The events are lock:contention_begin and contention_end, or those of kernels with LOCKDEP: lock:lock_acquire, lock_acquired,
 * lock_contended and lock_release. Memory grows with locks, threads, and the call chains that lead to them.
 *
 * Example:
 *
 *	struct pd_lock_options options = { .size = sizeof(options), .sort = "wait_max" };
 *
 *	if (pd_print_lock_contention(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_LOCK_H
#define PERFDATA_LOCK_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PD_LOCK_NO_STACK UINT32_MAX

/** Zero is the default for each member; NULL means all defaults. */
struct pd_lock_options {
	size_t size;        /* sizeof(struct pd_lock_options); 0 is PD_ERROR_ARGUMENT */
	bool by_thread;     /* a row for each thread, not for each lock or caller */
	bool combine;       /* of pd_print_lock_report: locks of the same name in one row */
	bool map;           /* of pd_print_lock_info: locks, not threads, unless by_thread is set */
	bool stacks;        /* of pd_print_lock_contention: the call chain below each row */
	bool broken;        /* how many events did not fit, also if there are none */
	bool no_header;     /* rows only */
	const char *sort;   /* a column, largest first; NULL: wait_total, of pd_print_lock_report acquired */
	const char *fields; /* columns: "contended,wait_max", see pd_lock_column; NULL: the usual ones */
	uint64_t entries;   /* maximum number of rows; 0: no limit */
	unsigned max_stack; /* entries of call chains that are looked at; 0 means 8, PD_LOCK_NO_STACK none */
	unsigned skip;      /* one more than how many of them are never callers; 0 means 4: three */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
	size_t lock_limit; /* maximum number of locks, threads, and of both together; 0 means 4 million */
	const char *time;  /* only events of this time, see pd_select_options; NULL: all */
	bool json;         /* as one JSON object */
};

/** Name of the index-th column, for sort and fields; NULL past the end. */
PD_API const char *pd_lock_column(size_t index);

/** Appends a table of callers (or threads) that waited, with the type of the lock. Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT;
 * PD_ERROR_ARGUMENT for an unknown column; PD_ERROR_OUTPUT; PD_ERROR_FORMAT if the format of a tracepoint is missing or lacks a field;
 * PD_ERROR_NO_SAMPLES without events of locks; PD_ERROR_STOPPED; those of pd_run. */
PD_API enum pd_status pd_print_lock_contention(struct pd_text *text, struct pd_file *file,
					       const struct pd_lock_options *options, struct pd_error *error);
/** Appends a table of locks (or threads). Errors: as above. */
PD_API enum pd_status pd_print_lock_report(struct pd_text *text, struct pd_file *file,
					   const struct pd_lock_options *options, struct pd_error *error);
/** Appends a list of threads or locks. Errors: as above. */
PD_API enum pd_status pd_print_lock_info(struct pd_text *text, struct pd_file *file,
					 const struct pd_lock_options *options, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
