/* SPDX-License-Identifier: MIT */
/* From a location to its dso: objects that go by one name and have one build id share it. */
#include <stdio.h>
#include <string.h>

#include "symbol/lookup.h"

struct wanted {
	const char *name; // of scripts
	const char *short_name;
	const struct pd_object *object; // NULL for code made at run time
	struct pd_object_id id;
	uint32_t machine;
	uint32_t pid;
};

static struct pd_object_id id_of(const struct pd_object *object)
{
	struct pd_object_id id = { .size = object->build_id_size };

	memcpy(id.bytes, object->build_id, sizeof(object->build_id));
	return id;
}

static uint64_t hash_wanted(const struct pd_symbols *symbols, const struct wanted *w)
{
	uint64_t hash = pd_hash(symbols->seed, w->name, strlen(w->name));

	hash = pd_hash_u64(symbols->seed, hash ^ ((uint64_t)w->machine << 32 | w->pid));
	return pd_hash(hash, w->id.bytes, w->id.size);
}

static bool is_wanted(const struct pd_dso_full *dso, const struct wanted *w)
{
	return dso->pid == w->pid && dso->machine == w->machine && dso->id.size == w->id.size &&
	       memcmp(dso->id.bytes, w->id.bytes, w->id.size) == 0 && strcmp(dso->dso.long_name, w->name) == 0;
}

static bool is_kernel(const struct pd_object *object)
{
	return object && (object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE ||
			  object->kind == PD_OBJECT_KSYMBOL);
}

static struct pd_dso_full *add_dso(struct pd_symbols *symbols, const struct wanted *w, uint64_t hash)
{
	struct pd_dso_full *dso = pd_arena_alloc(&symbols->kept, sizeof(*dso));
	const char *short_name = w->short_name;

	if (!dso || symbols->dso_count >= UINT32_MAX / 2 ||
	    !PD_GROW(symbols->dsos, symbols->dso_capacity, symbols->dso_count + 1))
		return NULL;
	if (!short_name)
		short_name = pd_lookup_short_name(symbols, w->name, w->object->kind);
	*dso = (struct pd_dso_full){
		.dso = { .index = symbols->dso_count,
			 .name = short_name,
			 .long_name = w->name,
			 .object = w->object,
			 .kernel = is_kernel(w->object),
			 .detail = "" },
		.id = w->id,
		.file_id = w->id,
		.machine = w->machine,
		.pid = w->pid,
		.path = w->object ? w->object->path : w->name,
		.symbols = symbols,
		.functions = { .seed = symbols->seed },
		.inlined = { .seed = symbols->seed },
		.line_files = { .kallsyms = { .fd = -1 } },
	};
	if (!pd_index_add(&symbols->by_name, hash, (uint32_t)symbols->dso_count))
		return NULL;
	symbols->dsos[symbols->dso_count++] = dso;
	return dso;
}

static struct pd_dso_full *find_or_add(struct pd_symbols *symbols, const struct wanted *w)
{
	uint64_t hash = hash_wanted(symbols, w);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&symbols->by_name, hash, &at)) != PD_INDEX_END;)
		if (is_wanted(symbols->dsos[i], w))
			return symbols->dsos[i];
	return add_dso(symbols, w, hash);
}

static struct pd_dso_full *dso_of_object(struct pd_symbols *symbols, const struct pd_object *object)
{
	struct wanted w = { .object = object, .id = id_of(object), .machine = object->machine };
	size_t before = symbols->by_object_count;
	struct pd_dso_full *dso;

	if (!PD_GROW(symbols->by_object, symbols->by_object_count, object->index + 1))
		return NULL;
	if (symbols->by_object_count > before)
		memset(symbols->by_object + before, 0,
		       (symbols->by_object_count - before) * sizeof(*symbols->by_object));
	w.name = pd_lookup_name(symbols, object);
	dso = w.name ? find_or_add(symbols, &w) : NULL;
	symbols->by_object[object->index] = dso;
	return dso;
}

static struct pd_dso_full *dso_of_process(struct pd_symbols *symbols, uint32_t pid)
{
	uint64_t hash = pd_hash_u64(symbols->seed, pid);
	size_t at = (uint32_t)hash;
	struct pd_dso_full *dso;
	char name[32], short_name[32];
	struct wanted w = { .pid = pid };

	for (uint32_t i; (i = pd_index_next(&symbols->by_pid, hash, &at)) != PD_INDEX_END;)
		if (symbols->dsos[i]->pid == pid)
			return symbols->dsos[i];
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int32_t)pid);
	snprintf(short_name, sizeof(short_name), "[JIT] tid %d", (int32_t)pid);
	w.name = pd_arena_text(&symbols->kept, name, strlen(name));
	w.short_name = pd_arena_text(&symbols->kept, short_name, strlen(short_name));
	dso = w.name && w.short_name ? find_or_add(symbols, &w) : NULL;
	if (!dso || !pd_index_add(&symbols->by_pid, hash, (uint32_t)dso->dso.index))
		return NULL;
	return dso;
}

struct pd_dso_full *pd_lookup_dso(struct pd_symbols *symbols, const struct pd_location *location)
{
	const struct pd_object *object = location->object;
	struct pd_dso_full *dso = NULL;

	// a file can be in huge pages as well
	if (location->mapping->anonymous && pd_lookup_is_nameless(location))
		dso = dso_of_process(symbols, location->mapping->pid);
	else if (object->index < symbols->by_object_count && symbols->by_object[object->index])
		return symbols->by_object[object->index];
	else
		dso = dso_of_object(symbols, object);
	if (!dso)
		symbols->failed = true;
	return dso;
}
