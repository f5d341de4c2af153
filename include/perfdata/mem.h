/* SPDX-License-Identifier: MIT */
/**
 * mem.h - memory accesses of samples, as perf mem report -D and perf c2c report of perf 6.1 print them.
 *
 * Samples have the source of their data (PERF_SAMPLE_DATA_SRC), addresses and weights: mem-loads and mem-stores of Intel, IBS of
 * AMD, SPE of Arm. Tables of them by sort keys are those of report.h, with pd_report_options.mem_mode.
 *
 * Example:
 *
 *	struct pd_c2c_options options = { .size = sizeof(options), .stats_only = true };
 *
 *	if (pd_print_c2c(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_MEM_H
#define PERFDATA_MEM_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_mem_options {
	size_t size; /* sizeof(struct pd_mem_options); 0 is PD_ERROR_ARGUMENT */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
	const char *separator; /* between columns; NULL: a blank */
	bool phys_addr, page_size;
	bool hide_unresolved; /* only samples in functions */
};

/** Appends a line for each sample: process, thread, addresses of code and data, weight, source of the data, object and function.
 * Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT; PD_ERROR_OUTPUT; PD_ERROR_STOPPED; those of pd_run. */
PD_API enum pd_status pd_print_mem_samples(struct pd_text *text, struct pd_file *file,
					   const struct pd_mem_options *options, struct pd_error *error);

/** What lines of the cache are sorted by. */
enum pd_c2c_display {
	PD_C2C_DEFAULT, /* PD_C2C_PEER for recordings of arm64, else PD_C2C_TOTAL */
	PD_C2C_TOTAL,   /* loads of what another cache had modified (HITM) */
	PD_C2C_LOCAL,   /* of a cache of this node */
	PD_C2C_REMOTE,  /* of another node */
	PD_C2C_PEER     /* loads from another cache, modified there or not */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_c2c_options {
	size_t size; /* sizeof(struct pd_c2c_options); 0 is PD_ERROR_ARGUMENT */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
	enum pd_c2c_display display;
	const char *coalesce; /* what accesses at one offset are distinguished by: pid, tid, iaddr, dso; NULL: iaddr */
	bool stats_only;      /* no table of lines */
	bool no_source;       /* no column for the source line */
	bool full_symbols;    /* names are not cut */
	bool show_all;        /* lines however few such loads they have */
	uint64_t node_info;   /* column Node: 0 numbers, 1 with shares of stores and loads, 2 with lists of CPUs */
	size_t limit;         /* maximum number of lines and of offsets in them; 0 means 16 million */
	bool json;            /* as one JSON object */
};

/** Appends sums, the table of lines that several CPUs accessed, and for each of them its offsets. Errors: PD_ERROR_MEMORY;
 * PD_ERROR_LIMIT; PD_ERROR_ARGUMENT for an unknown name in coalesce; PD_ERROR_OUTPUT; PD_ERROR_STOPPED; those of pd_run. */
PD_API enum pd_status pd_print_c2c(struct pd_text *text, struct pd_file *file, const struct pd_c2c_options *options,
				   struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
