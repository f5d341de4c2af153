/* SPDX-License-Identifier: MIT */
/* How each sort key finds its value in a context: the functions of struct key. */
#ifndef PD_REPORT_KEYS_FIND_H
#define PD_REPORT_KEYS_FIND_H

#include "report/keys/values.h"
#include "report/report.h"

typedef bool pd_key_find_fn(struct pd_report *report, size_t key, const struct key_context *context,
			    uint32_t *value_out);

/* entry_keys.c */
pd_key_find_fn pd_key_comm;
pd_key_find_fn pd_key_tid;
pd_key_find_fn pd_key_tgid;
pd_key_find_fn pd_key_cpu;
pd_key_find_fn pd_key_socket;
pd_key_find_fn pd_key_cgroup;
pd_key_find_fn pd_key_cgroup_id;
pd_key_find_fn pd_key_ipc;
pd_key_find_fn pd_key_weight;
pd_key_find_fn pd_key_time;
pd_key_find_fn pd_key_trace;

/* frame_keys.c */
pd_key_find_fn pd_key_dso;
pd_key_find_fn pd_key_symbol;
pd_key_find_fn pd_key_srcline;
pd_key_find_fn pd_key_srcfile;
pd_key_find_fn pd_key_symbol_size;
pd_key_find_fn pd_key_dso_from;
pd_key_find_fn pd_key_dso_to;
pd_key_find_fn pd_key_symbol_from;
pd_key_find_fn pd_key_symbol_to;
pd_key_find_fn pd_key_srcline_from;
pd_key_find_fn pd_key_srcline_to;
pd_key_find_fn pd_key_mispredict;
pd_key_find_fn pd_key_in_tx;
pd_key_find_fn pd_key_abort;
pd_key_find_fn pd_key_cycles;

#endif
