/* SPDX-License-Identifier: MIT */
/* Where the unwind rules of an object are: .eh_frame, by its section or by its header, then .debug_frame of the object and of
 * its debug file. On some architectures they leave begins and ends of functions out, which is mended by the code, see ends.h. */
#ifndef PD_UNWIND_RULES_COMPILE_H
#define PD_UNWIND_RULES_COMPILE_H

#include "object/elf/elf.h"
#include "unwind/rules/arch.h"
#include "unwind/rules/table.h"

// Makes the table of an object and its debug file, of which one may be NULL. limit: most bytes of one section. Damage and what is
// missing give a smaller table. False if there is no memory.
bool pd_unwind_compile(struct pd_elf *object, struct pd_elf *debug, const struct pd_unwind_arch *arch, size_t limit,
		       struct pd_unwind_table *table_out);

// Whether the table of an object is also made of its code. Rules may be in another file.
bool pd_unwind_reads_code(const struct pd_elf *object);

// The same of .debug_frame alone.
bool pd_unwind_compile_debug(struct pd_elf *elf, const struct pd_unwind_arch *arch, size_t limit,
			     struct pd_unwind_table *table_out);

#endif
