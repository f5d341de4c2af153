/* SPDX-License-Identifier: MIT */
/*
 * What compilers make of branch stacks: how often each branch of one object was taken, and each range between two branches was
 * run through. autofdo.c, bolt.c and llvm_profgen.c write it, each with addresses of its own kind.
 */
#ifndef PD_EXPORT_FORMAT_BRANCHES_H
#define PD_EXPORT_FORMAT_BRANCHES_H

#include "export/export.h"
#include "export/feed/sums.h"

enum pd_branch_addresses {
	PD_BRANCH_OFFSETS,  // in the file
	PD_BRANCH_VIRTUAL,  // as linked
	PD_BRANCH_IN_MAPPED // from where the mapped code begins
};

struct pd_branch_count {
	uint64_t from, to; // of an address: to is 0
	uint64_t count, mispredicted;
};

struct pd_branch_list {
	struct pd_branch_count *items; // by address
	size_t count, capacity;
};

struct pd_branches {
	struct pd_sums sums;
	uint64_t stacks, entries; // samples with a branch stack, and branches that are of user space
	uint32_t object;
	struct pd_branch_list taken, ranges, addresses;
};

void pd_branches_take(struct pd_export *self, const struct pd_export_sample *sample);
// Makes the lists. False if there is nothing to write, with the reason noted, or no memory.
bool pd_branches_end(struct pd_export *self, enum pd_branch_addresses addresses);
void pd_branches_fini(struct pd_export *self);

#endif
