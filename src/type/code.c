/* SPDX-License-Identifier: MIT */
/* Functions as instructions, and ways through them: from one instruction to another one, block by block. */
#include "type/inside.h"

#include <string.h>

enum {
	LARGEST = 1 << 20, // bytes of a function
	VISITS = 8         // of instructions that take as long as a step
};

/** A run of instructions up to a jump. */
struct block {
	uint32_t first, last;
	uint32_t parent;
};

struct pd_type_search {
	const struct pd_type_code *code;
	uint32_t target;      // or PD_TYPE_NONE: all that can be reached
	struct block *blocks; // in the order in which they are looked at
	size_t count, capacity;
	uint32_t *owners; // by instruction: the first block that it is in, plus 1; or that it begins one
	bool failed;
};

// ---- instructions ----

static struct pd_bytes bytes_of(const struct pd_type_object *object, const struct pd_function *function)
{
	uint64_t offset, size = function->end > function->start ? function->end - function->start : 0;
	struct pd_bytes bytes = { NULL, 0 };

	if (!object->elf || !object->disassembler || !size || size > LARGEST ||
	    !pd_elf_offset(object->elf, function->start, &offset))
		return bytes;
	if (offset < object->elf->image.size && size > object->elf->image.size - offset)
		size = object->elf->image.size - offset;
	bytes.data = pd_image_part(&object->elf->image, offset, size);
	bytes.size = bytes.data ? (size_t)size : 0;
	return bytes;
}

static bool read_code(struct pd_type_code *code)
{
	struct pd_type_object *object = code->object;
	struct pd_bytes bytes = bytes_of(object, code->function);
	struct pd_notation_state state = { .known = 0 };
	struct pd_raw_instruction raw;
	struct pd_notation notation;

	for (size_t at = 0; at < bytes.size; at += notation.size) {
		uint64_t addr = code->function->start + at;

		if (!PD_GROW(code->items, code->capacity, code->count + 1))
			return false;
		object->library->next(object->disassembler, bytes.data + at, bytes.size - at, addr, &raw);
		pd_notate(&object->kind, &state, bytes.data + at, bytes.size - at, addr, &raw, &notation);
		pd_type_instruction_read(&notation, addr, &code->items[code->count++]);
	}
	code->found = pd_alloc((code->count + 1) * sizeof(struct pd_type_access *));
	return code->found != NULL;
}

void pd_type_notate(const struct pd_type_code *code, uint64_t addr, struct pd_notation *notation_out)
{
	struct pd_type_object *object = code->object;
	struct pd_bytes bytes = bytes_of(object, code->function);
	struct pd_notation_state state = { .known = 0 };
	size_t at = (size_t)(addr - code->function->start);
	struct pd_raw_instruction raw;

	object->library->next(object->disassembler, bytes.data + at, bytes.size - at, addr, &raw);
	pd_notate(&object->kind, &state, bytes.data + at, bytes.size - at, addr, &raw, notation_out);
}

void pd_type_code_free(struct pd_type_code *code)
{
	if (!code)
		return;
	if (code->ways) {
		pd_free(code->ways->blocks);
		pd_free(code->ways->owners);
		pd_free(code->ways);
	}
	pd_free(code->items);
	pd_free(code->found);
	pd_free(code);
}

struct pd_type_code *pd_type_code_of(struct pd_types *types, const struct pd_function *function)
{
	uint64_t known = pd_u64_map_find(&types->by_function, (uintptr_t)function);
	struct pd_type_code *code;

	if (known)
		return (struct pd_type_code *)(uintptr_t)known; // NOLINT: it was a pointer
	code = pd_alloc(sizeof(*code));
	if (!code)
		return NULL;
	code->function = function;
	code->object = pd_type_object_of(types, function->dso);
	if (!code->object || !read_code(code) ||
	    !pd_u64_map_add(&types->by_function, (uintptr_t)function, (uintptr_t)code)) {
		pd_type_code_free(code);
		return NULL;
	}
	code->next = types->codes;
	types->codes = code;
	return code;
}

uint32_t pd_type_code_at(const struct pd_type_code *code, uint64_t addr)
{
	size_t at;

	PD_SEARCH(at, 0, code->count, i, code->items[i].addr < addr);
	return at < code->count && code->items[at].addr == addr ? (uint32_t)at : PD_TYPE_NONE;
}

// ---- ways ----

static void add_block(struct pd_type_search *s, uint32_t first, uint32_t parent)
{
	if (first == PD_TYPE_NONE || first >= s->code->count || s->owners[first] || s->failed)
		return;
	if (!PD_GROW(s->blocks, s->capacity, s->count + 1)) {
		s->failed = true;
		return;
	}
	s->owners[first] = (uint32_t)s->count + 1;
	s->blocks[s->count++] = (struct block){ first, first, parent };
}

// Goes through a block, and adds those that follow it; true if the target is in it.
static bool visit(struct pd_type_search *s, uint32_t number)
{
	const struct pd_type_code *code = s->code;
	uint32_t at = s->blocks[number].first;
	bool found = false;

	for (;; at++) {
		const struct pd_type_instruction *i = &code->items[at];

		// a block that begins there may not have been gone through yet
		if (!s->owners[at] || s->owners[at] > number)
			s->owners[at] = number + 1;
		found = at == s->target;
		if (found || at + 1 == code->count || i->is_return)
			break;
		if (!i->is_jump)
			continue;
		if (i->has_target)
			add_block(s, pd_type_code_at(code, i->target), number);
		if (i->is_conditional)
			add_block(s, at + 1, number);
		break;
	}
	s->blocks[number].last = at;
	return found;
}

// Puts the way to a target in a block before a path.
static bool prepend(struct pd_type_path *path, const struct pd_type_search *s, uint32_t last, uint32_t target)
{
	size_t count = 0;
	uint32_t at;

	for (at = last; at != PD_TYPE_NONE; at = s->blocks[at].parent)
		count++;
	if (!PD_GROW(path->runs, path->capacity, path->count + count))
		return false;
	// the first one of the path may go on where this one ends
	if (path->count && path->runs[0].first == target) {
		path->runs[0].first = s->blocks[last].first;
		target = PD_TYPE_NONE;
		last = s->blocks[last].parent;
		count--;
	}
	memmove(path->runs + count, path->runs, path->count * sizeof(*path->runs));
	path->count += count;
	for (at = last; count; at = s->blocks[at].parent, target = PD_TYPE_NONE)
		path->runs[--count] = (struct pd_type_run){ s->blocks[at].first,
							    target == PD_TYPE_NONE ? s->blocks[at].last : target };
	return true;
}

// Searches from one instruction on; true if the target is found, which is in the last block that was gone through then.
static bool search(struct pd_type_search *s, uint32_t from, uint32_t *block_out)
{
	bool found = false;

	s->owners = pd_alloc((s->code->count + 1) * sizeof(*s->owners));
	s->failed = !s->owners;
	if (!s->failed)
		add_block(s, from, PD_TYPE_NONE);
	for (uint32_t i = 0; i < s->count && !found && !s->failed; i++) {
		found = visit(s, i);
		*block_out = i;
	}
	return found;
}

// All ways from the beginning of the function, which most accesses ask for, are searched once. NULL after too many steps, or without memory.
static const struct pd_type_search *search_all(struct pd_types *types, struct pd_type_code *code)
{
	uint32_t last;

	if (code->ways)
		return code->ways;
	if (!pd_types_work(types, code->count / VISITS + 1))
		return NULL;
	code->ways = pd_alloc(sizeof(*code->ways));
	if (code->ways) {
		*code->ways = (struct pd_type_search){ .code = code, .target = PD_TYPE_NONE };
		search(code->ways, 0, &last);
	}
	types->failed |= !code->ways || code->ways->failed;
	return types->failed ? NULL : code->ways;
}

static bool extend_from_first(struct pd_types *types, struct pd_type_code *code, uint32_t to, struct pd_type_path *path)
{
	const struct pd_type_search *ways = search_all(types, code);

	if (!ways || !ways->owners[to])
		return false;
	if (prepend(path, ways, ways->owners[to] - 1, to))
		return true;
	types->failed = true;
	return false;
}

bool pd_type_path_extend(struct pd_types *types, struct pd_type_code *code, uint32_t from, uint32_t to,
			 struct pd_type_path *path)
{
	struct pd_type_search s = { .code = code, .target = to };
	bool found;
	uint32_t block;

	if (!from)
		return extend_from_first(types, code, to, path);
	if (!pd_types_work(types, code->count / VISITS + 1))
		return false;
	found = search(&s, from, &block);
	if (found && !prepend(path, &s, block, to))
		s.failed = true;
	types->failed |= s.failed;
	pd_free(s.blocks);
	pd_free(s.owners);
	return found && !s.failed;
}
