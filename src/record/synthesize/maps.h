/* SPDX-License-Identifier: MIT */
/* Maps of processes that run already, as records. */
#ifndef PD_RECORD_MAPS_H
#define PD_RECORD_MAPS_H

#include "record/machine/procfile.h"
#include "record/record.h"

// A map that all processes have.
struct pd_gate {
	uint64_t start, end; // end 0: there is none
	uint32_t prot, flags;
};

struct pd_maps {
	struct pd_made *made;
	const struct pd_existing_options *options;
	const char *proc;
	struct pd_existing_notes *notes;
	struct pd_procfile file; // to be freed by who made the struct
	bool knows_gate;
	bool asks; // the kernel answers questions about maps, as far as is known
	struct pd_gate gate;
};

// Adds a record for each map that the options want. A process that is not there is passed over.
enum pd_status pd_maps_add(struct pd_maps *maps, uint32_t pid, struct pd_error *error);

#endif
