/* SPDX-License-Identifier: MIT */
// A pass over the memory accesses of a file in the order of time, with what was mapped.
#ifndef PD_MEM_PASS_H
#define PD_MEM_PASS_H

#include <perfdata/mem.h>
#include <perfdata/run.h>

struct pd_mem_sample {
	const struct pd_event *event;
	const struct pd_sample *sample;
	struct pd_brief brief;
	struct pd_place code;
	const struct pd_mapping *mapping; // of the data, or NULL
	uint64_t weight, data_src;
};

struct pd_mem_pass {
	struct pd_file *file;
	struct pd_symbols *(*open)(void *self, const struct pd_state *state); // or NULL
	void *self;
	struct pd_state *state;
	struct pd_symbols *symbols;
	enum pd_status (*take)(struct pd_mem_pass *pass, const struct pd_mem_sample *sample, struct pd_error *error);
};

// State and symbols live until pd_mem_pass_fini, which follows in any case.
enum pd_status pd_mem_pass_run(struct pd_mem_pass *pass, struct pd_error *error);
void pd_mem_pass_fini(struct pd_mem_pass *pass);

#endif
