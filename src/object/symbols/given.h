/* SPDX-License-Identifier: MIT */
/*
 * Names that come with a recording which is made of sums, as those of a store: each object is mapped at a place of its own, in all
 * processes, and each function has an address in it. They are the file's (pd_file_give); nothing else is looked for then. The weight of a
 * sample in such a file is the number of samples that it stands for.
 */
#ifndef PD_OBJECT_SYMBOLS_GIVEN_H
#define PD_OBJECT_SYMBOLS_GIVEN_H

#include "base/lookup/hash.h"
#include "base/memory.h"
#include "object/symbols/symbols.h"

enum {
	PD_GIVEN_CODE_BYTES = 16, // of a function
	PD_GIVEN_OBJECT_BITS = 28 // of the space of an object
};

struct pd_given_function {
	const char *name; // as the linker has it
	bool nameless;    // it is what has no symbol
};

struct pd_given_object {
	const char *path;             // of its mappings, which no other one has
	const char *name, *long_name; // see struct pd_dso
	uint64_t start;               // where it is mapped
	// in the order of their addresses
	struct pd_given_function *functions;
	size_t count, capacity;
};

struct pd_given {
	struct pd_arena arena; // of the names
	struct pd_index by_path;
	uint64_t seed;
	struct pd_given_object *objects;
	size_t count, capacity;
};

struct pd_given *pd_given_new(void);
void pd_given_free(void *given); // NULL is ignored
// The number of a new object; SIZE_MAX if there is no memory, or no more space. Strings stay the caller's.
size_t pd_given_add_object(struct pd_given *given, const char *name, const char *long_name, bool kernel);
// The address of a new function; 0 likewise.
uint64_t pd_given_add_function(struct pd_given *given, size_t object, const char *name, size_t size, bool nameless);

// The object that is mapped from a path, whose symbols are added; NULL if there is none.
const struct pd_given_object *pd_given_names(const struct pd_given *given, const char *path,
					     struct pd_symtab_maker *maker);
// The number of the object that has an address which was given.
static inline size_t pd_given_object_of(uint64_t address)
{
	return (size_t)(address << 17 >> (17 + PD_GIVEN_OBJECT_BITS)) - 1;
}

#endif
