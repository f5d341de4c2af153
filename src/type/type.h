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

/** What was found of an instruction; of those without a type, why there is none. */
enum pd_type_answer {
#define ANSWER(name, word, is_type) PD_TYPE_##name,
#include "type/answers.def"
	PD_TYPE_ANSWERS
};

struct pd_die;

/** What is accessed. Strings live as long as the types. */
struct pd_type_access {
	const char *type;   // "struct node"; in parentheses if there is none: "(unknown)", "(stack operation)"
	const char *member; // at the offset: "n.tag", "no field"; NULL if there is no type
	int32_t offset;     // in the type
	uint32_t number;    // the same for equal types
	enum pd_type_answer answer;
	const struct pd_die *die; // of the type; NULL if there is none
};

struct pd_types;

/** cpu is the file's feature CPUID, which says what instructions are fused; may be NULL. NULL without memory. */
struct pd_types *pd_types_new(struct pd_symbols *symbols, const char *cpu);
void pd_types_free(struct pd_types *types);
/** Whether this build can do it for an architecture as uname prints it (NULL: not known). Errors: PD_ERROR_UNSUPPORTED. */
enum pd_status pd_types_check(const char *arch, struct pd_error *error);
/** The access of the instruction at a place; NULL without memory. */
const struct pd_type_access *pd_types_at(struct pd_types *types, const struct pd_place *place);

/** Called with the name of an instruction; false ends it. */
typedef bool pd_type_word_fn(void *self, const char *word);
/** Names the instructions that were looked at for the access at a place: the one there, then those before it that the processor takes as one
 * with it; the last one is that of the answer. False without memory, or if the function ended it. */
bool pd_types_each_word(struct pd_types *types, const struct pd_place *place, pd_type_word_fn *each, void *self);

/** A member of a type, and those in it. Strings are valid during the call. */
struct pd_type_member {
	const char *type, *name; // name is "" if it has none
	uint64_t offset, size;   // offset is from the beginning of the outermost type
	unsigned depth;          // 0: the type itself, which has no name
	bool has_members;        // which come next
};

/** Called with each member; end: after its last member. False ends it. */
typedef bool pd_type_member_fn(void *self, const struct pd_type_member *member, bool end);
/** A type that has a die, with its members in their order. False without memory, or if the function ended it. */
bool pd_types_each_member(struct pd_types *types, const struct pd_type_access *access, pd_type_member_fn *each,
			  void *self);

#endif
