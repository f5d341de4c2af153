/* SPDX-License-Identifier: MIT */
/*
 * What options of the recording commands are given: sizes, times, users, clocks, registers, kinds of branches. All say on
 * stderr what is wrong, with the name of the option, and return false then.
 */
#ifndef CLI_RECORD_VALUES_H
#define CLI_RECORD_VALUES_H

#include "front/cli.h"

#include <perfdata/recorder.h>

/* 100, 64K, 2M, 1G as bytes. */
bool value_size(const char *option, const char *text, uint64_t *bytes_out);
/* 500ms, 10s, 2m, 1h, 1d as ns; without a unit seconds. */
bool value_duration(const char *option, const char *text, uint64_t *ns_out);
/* Rings as perf takes them: pages, or a size with B, K, M, G; rounded up to a power of 2 of pages. What stands behind a
 * comma is for AUX data. */
bool value_ring(const char *option, const char *text, uint64_t *bytes_out);
/* 1,2,3 as numbers, which the caller frees. */
bool value_numbers(const char *option, const char *text, uint32_t **numbers_out, size_t *count_out);
/* A name or a number. */
bool value_user(const char *option, const char *text, uint32_t *uid_out);
/* mono, CLOCK_MONOTONIC ... */
bool value_clock(const char *option, const char *text, int32_t *clock_out);
/* fp, dwarf, dwarf,SIZE, lbr, no */
bool value_call_graph(const char *option, const char *text, enum pd_call_graph *how_out, uint32_t *stack_size_out);
/* any,u,k ... as bits of branch_sample_type */
bool value_branches(const char *option, const char *text, uint64_t *bits_out);
/* ax,bx ... as a mask; "" is all of this machine, "?" prints the names and returns false */
bool value_registers(const char *option, const char *text, uint64_t *mask_out);

#endif
