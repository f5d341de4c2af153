/* SPDX-License-Identifier: MIT */
#include "object/symbols/given.h"

#include <stdio.h>
#include <string.h>

enum {
	OBJECTS_MOST = 1 << 18 // there are addresses for them
};
static const uint64_t kernel_begin = 0xffff800000000000;
static const uint64_t object_size = UINT64_C(1) << PD_GIVEN_OBJECT_BITS;

struct pd_given *pd_given_new(void)
{
	struct pd_given *given = pd_alloc(sizeof(*given));

	if (given)
		given->seed = pd_hash_secret();
	return given;
}

void pd_given_free(void *self)
{
	struct pd_given *given = self;

	if (!given)
		return;
	for (size_t i = 0; i < given->count; i++)
		pd_free(given->objects[i].functions);
	pd_free(given->objects);
	pd_index_fini(&given->by_path);
	pd_arena_fini(&given->arena);
	pd_free(given);
}

// ---- what is added ----

// The kernel's are modules: they need no symbol that is known. No name has a meaning of its own, such as that of memory without a file.
static bool name_object(struct pd_given *given, struct pd_given_object *object, size_t number, bool kernel)
{
	char path[40];
	int length = snprintf(path, sizeof(path), kernel ? "[%zu]" : "/%zu", number);

	object->path = pd_arena_text(&given->arena, path, (size_t)length);
	return object->path &&
	       pd_index_add(&given->by_path, pd_hash(given->seed, path, (size_t)length), (uint32_t)number);
}

size_t pd_given_add_object(struct pd_given *given, const char *name, const char *long_name, bool kernel)
{
	size_t number = given->count;
	struct pd_given_object object = {
		.name = pd_arena_text(&given->arena, name, strlen(name)),
		.long_name = pd_arena_text(&given->arena, long_name, strlen(long_name)),
		.start = (kernel ? kernel_begin : 0) + (number + 1) * object_size,
	};

	if (number >= OBJECTS_MOST || !object.name || !object.long_name ||
	    !PD_GROW(given->objects, given->capacity, number + 1) || !name_object(given, &object, number, kernel))
		return SIZE_MAX;
	given->objects[given->count++] = object;
	return number;
}

uint64_t pd_given_add_function(struct pd_given *given, size_t number, const char *name, size_t size, bool nameless)
{
	struct pd_given_object *object = &given->objects[number];
	const char *copy = pd_arena_text(&given->arena, name, strnlen(name, size));

	if (!copy || object->count >= object_size / PD_GIVEN_CODE_BYTES ||
	    !PD_GROW(object->functions, object->capacity, object->count + 1))
		return 0;
	object->functions[object->count] = (struct pd_given_function){ copy, nameless };
	return object->start + PD_GIVEN_CODE_BYTES * (uint64_t)object->count++;
}

// ---- what is asked for ----

static const struct pd_given_object *find_by_path(const struct pd_given *given, const char *path)
{
	uint64_t hash = pd_hash(given->seed, path, strlen(path));
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&given->by_path, hash, &at)) != PD_INDEX_END;)
		if (!strcmp(given->objects[i].path, path))
			return &given->objects[i];
	return NULL;
}

static void add_symbol(struct pd_symtab_maker *maker, const struct pd_given_function *function, uint64_t start)
{
	static const char plt[] = "@plt";
	const char *name = function->name;
	size_t length = strlen(name), tail = strlen(plt);
	bool is_plt = length > tail && !strcmp(name + length - tail, plt);
	const struct pd_symbol symbol = { .start = start,
					  .end = start + PD_GIVEN_CODE_BYTES,
					  .name = name,
					  .name_length = (uint32_t)length,
					  .bind = PD_BIND_GLOBAL,
					  .kind = function->nameless ? PD_SYMBOL_NAMELESS :
						  is_plt             ? PD_SYMBOL_PLT :
								       PD_SYMBOL_FUNCTION };

	pd_symtab_add(maker, &symbol, 0);
}

const struct pd_given_object *pd_given_names(const struct pd_given *given, const char *path,
					     struct pd_symtab_maker *maker)
{
	const struct pd_given_object *object = find_by_path(given, path);

	for (size_t i = 0; object && i < object->count; i++)
		add_symbol(maker, &object->functions[i], object->start + PD_GIVEN_CODE_BYTES * i);
	return object;
}
