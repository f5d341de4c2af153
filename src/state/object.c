/* SPDX-License-Identifier: MIT */
/* What a state keeps once: texts, and the objects that are mapped. */
#include <string.h>

#include "state/state.h"

static void fail_full(struct pd_state *state)
{
	state->failure = PD_ERROR_LIMIT;
}

void *pd_state_keep(struct pd_state *state, const void *data, size_t size)
{
	uint64_t left = state->limit - state->fed_bytes;
	void *memory;

	// the arena adds a block when it must, of at most 1 MiB or what is wanted
	if (left < state->kept.used || left - state->kept.used < size) {
		fail_full(state);
		return NULL;
	}
	state->kept.limit = left < SIZE_MAX ? (size_t)left : SIZE_MAX;
	memory = pd_arena_alloc(&state->kept, size + 1);
	if (!memory)
		state->failure = PD_ERROR_MEMORY;
	else if (data && size)
		memcpy(memory, data, size);
	return memory;
}

bool pd_state_reserve(struct pd_state *state, void **items, size_t *capacity, size_t want, size_t size)
{
	size_t before = *capacity, after = before ? before * 2 : 16;
	uint64_t used = state->fed_bytes + state->kept.used;

	if (want <= before)
		return true;
	if (want >= UINT32_MAX / 4 || used > state->limit || (after - before) * size > state->limit - used) {
		fail_full(state);
		return false;
	}
	if (!pd_grow(items, capacity, want, size)) {
		state->failure = PD_ERROR_MEMORY;
		return false;
	}
	state->fed_bytes += (*capacity - before) * size;
	return true;
}

void *pd_state_add(struct pd_state *state, struct pd_blocks *list, size_t item_size)
{
	if (pd_blocks_are_full(list)) {
		void *block;

		if (!pd_state_reserve(state, (void **)&list->blocks, &list->capacity, list->block_count + 1,
				      sizeof(void *)))
			return NULL;
		if (list->count >= UINT32_MAX / 4) {
			fail_full(state);
			return NULL;
		}
		block = pd_state_keep(state, NULL, PD_BLOCK_ITEMS * item_size);
		if (!block)
			return NULL;
		list->blocks[list->block_count++] = block;
	}
	return pd_blocks_at(list, list->count++, item_size);
}

static bool add_index(struct pd_state *state, struct pd_index *index, uint64_t hash, size_t number)
{
	if (pd_index_add(index, hash, (uint32_t)number))
		return true;
	state->failure = PD_ERROR_MEMORY;
	return false;
}

uint32_t pd_state_text_number(struct pd_state *state, const char *data, size_t length)
{
	uint64_t hash = pd_hash(state->seed, data, length);
	size_t at = (uint32_t)hash;
	char *copy;

	for (uint32_t i; (i = pd_index_next(&state->text_index, hash, &at)) != PD_INDEX_END;) {
		if (strncmp(state->texts[i], data, length) == 0 && !state->texts[i][length])
			return i;
	}
	if (!PD_STATE_GROW(state, texts, text))
		return PD_INDEX_END;
	copy = pd_state_keep(state, data, length);
	if (!copy || !add_index(state, &state->text_index, hash, state->text_count))
		return PD_INDEX_END;
	state->texts[state->text_count] = copy;
	return (uint32_t)state->text_count++;
}

const char *pd_state_text(struct pd_state *state, const char *data, size_t length)
{
	uint32_t number = pd_state_text_number(state, data, length);

	return number == PD_INDEX_END ? NULL : state->texts[number];
}

// ---- objects ----

// By the beginning of the path.
static const struct {
	const char *with;
	enum pd_object_kind kind;
} path_kinds[] = {
	{ "//anon", PD_OBJECT_ANON },    { "/anon_hugepage", PD_OBJECT_ANON }, { "/dev/zero", PD_OBJECT_ANON },
	{ "/memfd:", PD_OBJECT_ANON },   { "/SYSV", PD_OBJECT_ANON },          { "anon_inode:", PD_OBJECT_ANON },
	{ "[anon", PD_OBJECT_ANON },     { "[heap]", PD_OBJECT_ANON },         { "[stack", PD_OBJECT_ANON },
	{ "[uprobes]", PD_OBJECT_ANON }, { "[vdso", PD_OBJECT_VDSO },          { "[vsyscall]", PD_OBJECT_VSYSCALL },
};

enum pd_object_kind pd_object_kind_of(const char *path)
{
	for (size_t i = 0; i < sizeof(path_kinds) / sizeof(path_kinds[0]); i++) {
		const char *with = path_kinds[i].with;

		// nearly all differ in these
		if (path[0] == with[0] && path[1] == with[1] && strncmp(path, with, strlen(with)) == 0)
			return path_kinds[i].kind;
	}
	return PD_OBJECT_FILE;
}

// A build id that came by path is no part of the identity.
static bool same_object(const struct pd_object_full *full, const struct pd_object *like, size_t path_length)
{
	const struct pd_object *object = &full->object;
	size_t id_size = full->own_build_id ? object->build_id_size : 0;

	return object->kind == like->kind && object->machine == like->machine && object->maj == like->maj &&
	       object->min == like->min && object->ino == like->ino && object->ino_generation == like->ino_generation &&
	       id_size == like->build_id_size && memcmp(object->build_id, like->build_id, id_size) == 0 &&
	       strncmp(object->path, like->path, path_length) == 0 && !object->path[path_length];
}

static uint64_t hash_object(uint64_t seed, const struct pd_object *object, size_t path_length)
{
	uint64_t hash = pd_hash(seed, object->path, path_length);

	hash = pd_hash_u64(seed, hash ^ object->ino);
	hash = pd_hash_u64(seed, hash ^ object->ino_generation);
	hash = pd_hash_u64(seed, hash ^ ((uint64_t)object->maj << 32 | object->min));
	hash = pd_hash_u64(seed, hash ^ ((uint64_t)object->machine << 32 | (uint64_t)object->kind));
	return object->build_id_size ? hash ^ pd_hash(seed, object->build_id, object->build_id_size) : hash;
}

static bool of_kernel(const struct pd_object *object)
{
	return object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE;
}

const struct pd_object *pd_state_object_like(struct pd_state *state, const struct pd_object *like, size_t path_length)
{
	uint64_t hash = hash_object(state->seed, like, path_length);
	size_t at = (uint32_t)hash;
	struct pd_object_full full = { .object = *like, .own_build_id = like->build_id_size != 0 };
	struct pd_object_full *copy;

	for (uint32_t i; (i = pd_index_next(&state->object_index, hash, &at)) != PD_INDEX_END;) {
		if (same_object(state->objects[i], like, path_length))
			return &state->objects[i]->object;
	}
	full.object.index = state->object_count;
	full.object.path = pd_state_text(state, like->path, path_length);
	full.build_id_key = pd_state_build_id_key(state, like->path, path_length, of_kernel(like));
	if (!full.object.path || !full.build_id_key || !PD_STATE_GROW(state, objects, object))
		return NULL;
	copy = pd_state_keep(state, &full, sizeof(full));
	if (!copy || !add_index(state, &state->object_index, hash, state->object_count))
		return NULL;
	state->objects[state->object_count++] = copy;
	return &copy->object;
}

// ---- build ids by path ----

// The name of a module in the path of its file, or 0.
static size_t module_name(const char *path, size_t length, const char **name_out)
{
	size_t begin = length, end = length;

	while (begin && path[begin - 1] != '/')
		begin--;
	// after ".ko" there may be how it is compressed
	for (size_t i = begin; i + 3 <= length; i++) {
		if (memcmp(path + i, ".ko", 3) == 0 && (i + 3 == length || path[i + 3] == '.'))
			end = i;
	}
	*name_out = path + begin;
	return end < length ? end - begin : 0;
}

const char *pd_state_build_id_key(struct pd_state *state, const char *path, size_t length, bool of_kernel)
{
	static const char kernel[] = "[kernel.kallsyms]";
	char text[128];
	const char *name;
	size_t size;

	if (!of_kernel)
		return pd_state_text(state, path, length);
	size = module_name(path, length, &name);
	if (size && size < sizeof(text) - 2) {
		text[0] = '[';
		for (size_t i = 0; i < size; i++)
			text[i + 1] = name[i] == '-' ? '_' : name[i];
		text[size + 1] = ']';
		return pd_state_text(state, text, size + 2);
	}
	if (size || (length && path[0] == '[' && !memmem(path, length, "kernel.", 7)))
		return pd_state_text(state, path, length);
	return pd_state_text(state, kernel, sizeof(kernel) - 1);
}

// Texts are kept once, so their addresses say whether they are the same.
static uint64_t hash_key(const struct pd_state *state, const char *key, uint32_t machine)
{
	return pd_hash_u64(state->seed, (uint64_t)(uintptr_t)key ^ (uint64_t)machine << 32);
}

// The build id of a key, or NULL.
static const struct pd_named_build_id *find_build_id(const struct pd_state *state, const struct pd_index *by_key,
						     const char *key, uint32_t machine)
{
	uint64_t hash = hash_key(state, key, machine);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(by_key, hash, &at)) != PD_INDEX_END;) {
		if (state->build_ids[i].key == key && state->build_ids[i].machine == machine)
			return &state->build_ids[i];
	}
	return NULL;
}

static void name_object(struct pd_state *state, const struct pd_index *by_key, struct pd_object_full *full)
{
	const struct pd_named_build_id *id =
		full->own_build_id ? NULL : find_build_id(state, by_key, full->build_id_key, full->object.machine);

	if (!id)
		return;
	full->object.build_id_size = id->size;
	memcpy(full->object.build_id, id->bytes, sizeof(id->bytes));
}

bool pd_state_name_objects(struct pd_state *state)
{
	struct pd_index by_key = { 0 };
	bool done = true;

	for (size_t i = 0; done && i < state->build_id_count; i++) {
		const struct pd_named_build_id *id = &state->build_ids[i];

		// the first one counts
		if (!find_build_id(state, &by_key, id->key, id->machine))
			done = add_index(state, &by_key, hash_key(state, id->key, id->machine), i);
	}
	for (size_t i = 0; done && i < state->object_count; i++)
		name_object(state, &by_key, state->objects[i]);
	pd_index_fini(&by_key);
	return done;
}
