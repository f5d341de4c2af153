/* SPDX-License-Identifier: MIT */
/*
 * Build ids that stand outside of perf.data: of the running kernel, of its modules, and of an ELF file.
 */
#ifndef CLI_RUNNING_H
#define CLI_RUNNING_H

#include <perfdata/perfdata.h>

/* All say on stderr what is wrong and return another code than CODE_FINE then. */

/* Prints the build id of the running kernel. */
int running_kernel(struct pd_text *out);
/* Prints build id, first and last address and name of the running kernel and of its modules. */
int running_maps(struct pd_text *out);

/* True if the file begins as ELF does. */
bool elf_file_is(const char *path);
/* Build id of an ELF file; size 0 if it has none or is damaged. */
struct pd_build_id elf_file_build_id(const char *path);

#endif
