/* SPDX-License-Identifier: MIT */
/*
 * BPF programs and their type information in the words of perf report --header-only.
 */
#ifndef PD_HEADER_BPF_H
#define PD_HEADER_BPF_H

#include <perfdata/file.h>
#include <perfdata/text.h>

/* The programs of BPF_PROG_INFO, by their number. Names of functions come from btf, which may
 * be NULL. big: the numbers in the arrays and in the type information are big endian. */
void pd_header_bpf_programs(struct pd_text *out, const struct pd_bpf_programs *programs, const struct pd_bpf_btf *btf,
			    bool big);
/* The numbers of BPF_BTF. */
void pd_header_bpf_btf(struct pd_text *out, const struct pd_bpf_btf *btf);

#endif
