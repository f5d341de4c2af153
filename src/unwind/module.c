/* SPDX-License-Identifier: MIT */
/* Objects are found as their symbols are, and their rules compiled when the first address in them is met. */
#include "unwind/unwinder.h"

#include <string.h>

#include "base/threads.h"
#include "symbol/lookup.h"
#include "unwind/rules/compile.h"
#include "unwind/rules/saved.h"

enum {
	SEGMENT_LOAD = 1,
	SEGMENT_EXEC = 1,
	SEGMENT_WRITE = 2
};

static size_t count_objects(const struct pd_state *state)
{
	size_t count = 0;

	while (pd_state_object(state, count))
		count++;
	return count;
}

struct pd_unwind_shared *pd_unwind_shared_new(struct pd_file *file, const struct pd_state *state,
					      struct pd_symbols *symbols)
{
	struct pd_unwind_shared *shared = pd_alloc(sizeof(*shared));

	if (!shared)
		return NULL;
	*shared = (struct pd_unwind_shared){
		.file = file, .state = state, .symbols = symbols, .machine = pd_file_machine(file), .users = 1
	};
	shared->module_count = count_objects(state);
	shared->modules = pd_alloc((shared->module_count + 1) * sizeof(*shared->modules));
	if (!shared->modules) {
		pd_free(shared);
		return NULL;
	}
	pd_lock_init(&shared->own_lock);
	shared->lock = &shared->own_lock;
	return shared;
}

bool pd_unwind_shared_grow(struct pd_unwind_shared *shared)
{
	size_t count = count_objects(shared->state);
	struct pd_unwind_module **modules;

	if (count <= shared->module_count)
		return true;
	modules = pd_realloc(shared->modules, (count + 1) * sizeof(*modules));
	if (!modules)
		return false;
	memset(modules + shared->module_count, 0, (count + 1 - shared->module_count) * sizeof(*modules));
	shared->modules = modules;
	shared->module_count = count;
	return true;
}

static void free_module(struct pd_unwind_module *module)
{
	struct pd_unwind_page *next;

	for (struct pd_unwind_page *page = module->pages; page; page = next) {
		next = page->next;
		pd_free(page);
	}
	pd_unwind_table_fini(&module->table);
	pd_free(module->segments);
	pd_free(module);
}

void pd_unwind_shared_free(struct pd_unwind_shared *shared)
{
	struct pd_unwind_module *module = shared->first, *next;

	if (__atomic_sub_fetch(&shared->users, 1, __ATOMIC_ACQ_REL))
		return;
	for (; module; module = next) {
		next = module->next;
		free_module(module);
	}
	pthread_mutex_destroy(&shared->own_lock);
	pd_free(shared->modules);
	pd_free(shared);
}

void pd_unwind_shared_add(struct pd_unwind_shared *shared, struct pd_unwind_module *module)
{
	module->number = shared->first ? shared->first->number + 1 : 0;
	module->next = shared->first;
	shared->first = module;
}

// ---- loading ----

static bool take_segments(struct pd_unwind_module *module, const struct pd_elf *elf)
{
	module->segments = pd_alloc((elf->segment_count + 1) * sizeof(*module->segments));
	if (!module->segments)
		return false;
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i];

		if (s->type == SEGMENT_LOAD && (s->flags & SEGMENT_EXEC || !(s->flags & SEGMENT_WRITE)))
			module->segments[module->segment_count++] = (struct pd_unwind_segment){
				.offset = s->offset,
				.size = s->file_size,
				.addr = s->addr,
				.is_code = s->flags & SEGMENT_EXEC,
				.is_constant = !(s->flags & SEGMENT_WRITE),
			};
	}
	return true;
}

static bool compile(struct pd_unwind_shared *shared, struct pd_unwind_module *module, struct pd_found *found,
		    const struct pd_unwind_arch *arch)
{
	struct pd_elf *shape = found->object ? found->object : found->debug;
	const struct pd_symbols *symbols = shared->symbols;
	struct pd_object_id id = { .size = 0 };
	struct pd_file_origin origin;

	if (!shape)
		return true;
	module->found = true;
	module->big = shape->big;
	if (!take_segments(module, shape))
		return false;
	origin = pd_found_origin(found, &symbols->places);
	if (!pd_elf_id(shape, &id))
		return pd_unwind_compile(found->object, found->debug, arch, symbols->limit, &module->table);
	module->is_saved = pd_unwind_load_table(symbols->index, &id, &origin, symbols->limit, &module->table);
	if (module->is_saved)
		return true;
	if (!pd_unwind_compile(found->object, found->debug, arch, symbols->limit, &module->table))
		return false;
	// what could not be read may be there the next time
	if (!found->object || !found->object->image.failed)
		pd_unwind_save_table(symbols->index, &id, &origin, &module->table);
	return true;
}

// NULL if there is no memory.
static struct pd_unwind_module *make_module(struct pd_unwind_shared *shared, const struct pd_location *location,
					    const struct pd_unwind_arch *arch, const struct pd_dso *dso)
{
	struct pd_unwind_module *module = pd_alloc(sizeof(*module));
	struct pd_found found;
	bool done = true;

	if (!module)
		return NULL;
	module->dso = dso;
	module->object = location->object;
	// rules may be in the debug file of an object that has all its symbols
	if (pd_lookup_open_files(shared->symbols, location, &found)) {
		done = compile(shared, module, &found, arch);
		done &= !found.out_of_memory;
		pd_found_close(&found);
	}
	if (done) {
		pd_unwind_table_mark(&module->table, arch->word, arch->sp);
		return module;
	}
	free_module(module);
	return NULL;
}

static struct pd_unwind_module *find_or_make(struct pd_unwind_shared *shared, const struct pd_location *location,
					     const struct pd_unwind_arch *arch)
{
	const struct pd_dso_full *dso = pd_lookup_dso(shared->symbols, location);
	struct pd_unwind_module *module;

	if (!dso)
		return NULL;
	for (module = shared->first; module; module = module->next)
		if (module->dso == &dso->dso)
			return module;
	module = make_module(shared, location, arch, &dso->dso);
	if (!module)
		return NULL;
	pd_unwind_shared_add(shared, module);
	return module;
}

static const struct pd_unwind_module *load(struct pd_unwind_shared *shared, const struct pd_location *location,
					   const struct pd_unwind_arch *arch)
{
	size_t index = location->object->index;
	struct pd_unwind_module *module = shared->modules[index];

	if (module)
		return module;
	module = find_or_make(shared, location, arch);
	if (module)
		__atomic_store_n(&shared->modules[index], module, __ATOMIC_RELEASE);
	else
		shared->failed = true;
	return module;
}

const struct pd_unwind_module *pd_unwind_module_of(struct pd_unwind_shared *shared, const struct pd_location *location,
						   const struct pd_unwind_arch *arch)
{
	const struct pd_unwind_module *module;

	if (location->object->index >= shared->module_count)
		return NULL;
	module = __atomic_load_n(&shared->modules[location->object->index], __ATOMIC_ACQUIRE);
	if (module)
		return module;
	pthread_mutex_lock(shared->lock);
	module = load(shared, location, arch);
	pthread_mutex_unlock(shared->lock);
	return module;
}

const struct pd_unwind_segment *pd_unwind_segment_at(const struct pd_unwind_module *module, uint64_t offset)
{
	for (size_t i = 0; i < module->segment_count; i++)
		if (module->segments[i].is_code && offset - module->segments[i].offset < module->segments[i].size)
			return &module->segments[i];
	return NULL;
}
