/* SPDX-License-Identifier: MIT */
/*
 * Stacks and frames by hashes of the names in them: the same function in the same object has the same number whatever the address,
 * the process and the recording. Two that are different and have one hash are taken for one.
 */
#include "table/set.h"

enum {
	SEED = 1 // the numbers are the same in all files
};

static uint64_t hash_text(const struct pd_tables *tables, uint32_t string, uint64_t seed)
{
	return pd_hash(seed, tables->strings[string].text, tables->strings[string].size);
}

static uint64_t hash_frame(const struct pd_tables *tables, const struct pd_table_frame *frame)
{
	const struct pd_table_function *function = pd_tables_function_of(tables, frame->first_line);
	const struct pd_table_object *object = &tables->objects[frame->object];
	uint64_t hash = hash_text(tables, object->path, SEED);

	hash = hash_text(tables, object->build_id, hash);
	hash = hash_text(tables, function->linker ? function->linker : function->name, hash);
	return hash ? hash : 1;
}

static bool note_first(struct pd_u64_map *map, uint64_t id, size_t number)
{
	return pd_u64_map_find(map, id) || pd_u64_map_add(map, id, number + 1);
}

uint64_t pd_table_frame_id(struct pd_table_set *set, uint32_t frame)
{
	struct pd_stack_ids *ids = &set->ids;

	if (frame >= ids->frame_count && !PD_GROW(ids->frames, ids->frame_capacity, set->strings.frame_count)) {
		set->strings.failed = true;
		return 0;
	}
	for (; ids->frame_count <= frame; ids->frame_count++) {
		uint64_t id = hash_frame(&set->strings, &set->strings.frames[ids->frame_count]);

		if (!note_first(&ids->frame_of, id, ids->frame_count)) {
			set->strings.failed = true;
			return 0;
		}
		ids->frames[ids->frame_count] = id;
	}
	return ids->frames[frame];
}

uint64_t pd_table_caller_id(uint64_t parent, uint64_t frame)
{
	const uint64_t words[] = { parent, frame };
	uint64_t id = pd_hash(SEED, words, sizeof(words));

	return id + !id;
}

// Callers have smaller numbers.
uint64_t pd_table_stack_id(struct pd_table_set *set, uint32_t stack)
{
	struct pd_stack_ids *ids = &set->ids;

	if (stack >= ids->stack_count && !PD_GROW(ids->stacks, ids->stack_capacity, set->strings.stack_count)) {
		set->strings.failed = true;
		return 0;
	}
	for (; ids->stack_count <= stack; ids->stack_count++) {
		const struct pd_table_stack *one = &set->strings.stacks[ids->stack_count];
		uint64_t id = 0;

		if (ids->stack_count)
			id = pd_table_caller_id(ids->stacks[one->parent], pd_table_frame_id(set, one->frame));
		if (set->strings.failed || (id && !note_first(&ids->stack_of, id, ids->stack_count))) {
			set->strings.failed = true;
			return 0;
		}
		ids->stacks[ids->stack_count] = id;
	}
	return ids->stacks[stack];
}

// ---- as text ----

void pd_table_print_stack(const struct pd_table_set *set, uint32_t stack, struct pd_text *text)
{
	const struct pd_tables *tables = &set->strings;
	size_t at = text->size;
	uint32_t next;

	// innermost first, each in front of what is there
	for (; stack; stack = next) {
		const struct pd_table_frame *frame = &tables->frames[tables->stacks[stack].frame];
		const struct pd_table_string *name =
			&tables->strings[pd_tables_function_of(tables, frame->first_line)->name];
		size_t size = name->size + (text->size > at);

		next = tables->stacks[stack].parent;
		if (!pd_text_reserve(text, size))
			return;
		memmove(text->data + at + size, text->data + at, text->size - at);
		memcpy(text->data + at, name->text, name->size);
		if (size > name->size)
			text->data[at + name->size] = ';';
		text->size += size;
	}
}
