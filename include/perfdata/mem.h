/* SPDX-License-Identifier: MIT */
/**
 * mem.h - memory accesses of samples, as perf mem report -D of perf 6.1 prints them.
 *
 * Samples have the source of their data (PERF_SAMPLE_DATA_SRC), addresses and weights: mem-loads and mem-stores of Intel, IBS of
 * AMD, SPE of Arm. Tables of them by sort keys are those of report.h, with pd_report_options.mem_mode.
 *
 * Example:
 *
 *	struct pd_mem_options options = { .size = sizeof(options), .phys_addr = true };
 *
 *	if (pd_print_mem_samples(text, file, &options, &error) == PD_OK)
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

#ifdef __cplusplus
}
#endif
#endif
