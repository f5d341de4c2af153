/* SPDX-License-Identifier: MIT */
/* The kernel as an object that probes are in. */
#ifndef PD_PROBE_KERNEL_H
#define PD_PROBE_KERNEL_H

#include "probe/set.h"

/** Opens its image, or a module, if there is one with debug information. Errors: those of pd_probe_debug_open for what was given. */
enum pd_status pd_probe_open_kernel(struct pd_probes *probes, struct pd_error *error);
/** Makes a point by debug information one that the kernel takes: from a symbol on. */
enum pd_status pd_probe_place_in_kernel(struct pd_probes *probes, struct pd_probe_point *point, struct pd_error *error);

#endif
