/* SPDX-License-Identifier: MIT */
/*
 * Which type of data an instruction accesses, with perf's text (perf 7.2's sort keys type, typeoff and typecln): the operand in memory is
 * that of the disassembled instruction; what its register points to is said by the locations of variables in the debug information, else by
 * following registers from the beginning of the function. Of x86-64. Each function is disassembled once, and each instruction looked
 * at once.
 */
#ifndef PD_TYPE_TYPE_H
#define PD_TYPE_TYPE_H

#include <perfdata/symbol.h>

/** What is accessed. Strings live as long as the types. */
struct pd_type_access {
	const char *type;   // "struct node"; in parentheses if there is none: "(unknown)", "(stack operation)"
	const char *member; // at the offset: "n.tag", "no field"; NULL if there is no type
	int32_t offset;     // in the type
	uint32_t number;    // the same for equal types
};

struct pd_types;

/** cpu is the file's feature CPUID, which says what instructions are fused; may be NULL. NULL without memory. */
struct pd_types *pd_types_new(struct pd_symbols *symbols, const char *cpu);
void pd_types_free(struct pd_types *types);
/** Whether this build can do it for an architecture as uname prints it (NULL: not known). Errors: PD_ERROR_UNSUPPORTED. */
enum pd_status pd_types_check(const char *arch, struct pd_error *error);
/** The access of the instruction at a place; NULL without memory. */
const struct pd_type_access *pd_types_at(struct pd_types *types, const struct pd_place *place);

#endif
