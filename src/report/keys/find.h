/* SPDX-License-Identifier: MIT */
/* How each sort key finds its value in a context: the functions of struct key, those that keys.def names. */
#ifndef PD_REPORT_KEYS_FIND_H
#define PD_REPORT_KEYS_FIND_H

#include "report/keys/values.h"
#include "report/report.h"

typedef bool pd_key_find_fn(struct pd_report *report, size_t key, const struct key_context *context,
			    uint32_t *value_out);

#define KEY(function, ...) pd_key_find_fn pd_key_##function;
#include "report/keys/keys.def"
#undef KEY

/* The address of a frame, for the key addr where callers have rows. */
pd_key_find_fn pd_key_frame_addr;
/* The place that a key of frames is asked about: in the view of branches, where the branch went. */
const struct pd_frame *pd_key_frame(const struct pd_report *report, const struct key_context *context);
/* What a tracepoint recorded; other keys may have asked for what comes before it. */
struct pd_bytes pd_key_raw(const struct pd_report *report, const struct pd_profile_entry *entry);
/* What the samples of an entry say of their branches. */
const struct pd_passed_branch *pd_key_branches(const struct pd_report *report, const struct pd_profile_entry *entry,
					       size_t *count_out);
/* Whether a key is one of types of data, and whether these can be found in a file (NULL: any). Errors: PD_ERROR_UNSUPPORTED. */
bool pd_key_is_of_types(const struct key *key);
enum pd_status pd_key_check_types(struct pd_file *file, struct pd_error *error);
/* The formats of tracepoints. NULL if there is no memory. */
struct pd_trace *pd_report_trace(struct pd_report *report, struct pd_file *file);
/* The character of a CPU mode. */
char pd_key_level(unsigned cpumode);

#endif
