/* SPDX-License-Identifier: MIT */
/* Names of code made at run time, as programs list it in /tmp/perf-PID.map: "START SIZE name" in hex. */
#ifndef PD_OBJECT_RUNTIME_PERFMAP_H
#define PD_OBJECT_RUNTIME_PERFMAP_H

#include "object/symbols/symbols.h"

/** Reads the text. Programs append to it; where entries overlap the later one has the space. One of size 0 has its first
 * address. limit is the most bytes of the table, 0 means 1 GiB. Lines that are none are counted in *bad_lines_out (may
 * be NULL). */
enum pd_status pd_perfmap_read(struct pd_symtab **table_out, const char *text, size_t size, size_t limit,
			       size_t *bad_lines_out, struct pd_error *error);
/** Reads a regular file. */
enum pd_status pd_perfmap_open(struct pd_symtab **table_out, const char *path, size_t limit, size_t *bad_lines_out,
			       struct pd_error *error);

#endif
