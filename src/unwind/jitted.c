/* SPDX-License-Identifier: MIT */
/*
 * Rules of code that a program made while it ran, as its jitdumps have them: .eh_frame of each code, which says where it is as
 * if it followed the code, at the next multiple of 16.
 */
#include <string.h>

#include "base/threads.h"
#include "symbol/lookup.h"
#include "unwind/rules/cfi.h"
#include "unwind/unwinder.h"

enum {
	ALIGN = 16,
	FRAMES_MOST = 1 << 20 // bytes of one code's
};

static bool add_code(struct pd_jitdump *jit, const struct pd_jit_code *code, const struct pd_unwind_arch *arch,
		     struct pd_unwind_table *table)
{
	struct pd_cfi_section section = {
		.bytes.size = (size_t)(code->frames_size - code->frames_header_size),
		.addr = (code->addr + code->size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1),
		.big = pd_jitdump_about(jit).big,
		.word = arch->word,
		.code_start = code->addr,
		.code_end = code->addr + code->size,
	};
	uint8_t *data;
	bool done = true;

	if (!section.bytes.size || section.bytes.size > FRAMES_MOST || section.code_end < section.code_start)
		return true;
	data = pd_realloc(NULL, section.bytes.size);
	if (!data)
		return false;
	section.bytes.data = data;
	if (pd_jitdump_bytes(jit, code->frames_offset, data, section.bytes.size))
		done = pd_cfi_compile(&section, arch, table);
	pd_free(data);
	return done;
}

static uint64_t lowest_addr(struct pd_jitdump *const *jits)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; jits[i]; i++)
		for (size_t j = 0; j < pd_jitdump_about(jits[i]).code_count; j++)
			if (pd_jitdump_code(jits[i], j).addr < lowest)
				lowest = pd_jitdump_code(jits[i], j).addr;
	return lowest;
}

// Of several codes that were at an address, the last one counts.
bool pd_unwind_compile_jits(struct pd_jitdump *const *jits, const struct pd_unwind_arch *arch,
			    struct pd_unwind_table *table)
{
	bool done = pd_unwind_table_init(table, lowest_addr(jits));

	for (size_t i = 0; jits[i]; i++)
		for (size_t j = pd_jitdump_about(jits[i]).code_count; done && j; j--) {
			struct pd_jit_code code = pd_jitdump_code(jits[i], j - 1);

			done = add_code(jits[i], &code, arch, table);
		}
	return done && pd_unwind_table_sort(table);
}

static struct pd_unwind_module *make_module(const struct pd_dso_full *dso, const struct pd_location *location,
					    const struct pd_unwind_arch *arch)
{
	struct pd_unwind_module *module = pd_alloc(sizeof(*module));

	if (!module)
		return NULL;
	module->dso = &dso->dso;
	module->object = location->object;
	module->big = PD_HOST_BIG;
	module->found = true;
	if (pd_unwind_compile_jits(dso->jits, arch, &module->table)) {
		pd_unwind_table_finish(&module->table);
		pd_unwind_table_mark(&module->table, arch->word, arch->sp);
		return module;
	}
	pd_unwind_table_fini(&module->table);
	pd_free(module);
	return NULL;
}

static const struct pd_unwind_module *find_or_make(struct pd_unwind_shared *shared, const struct pd_location *location,
						   const struct pd_unwind_arch *arch)
{
	const struct pd_dso_full *dso = pd_lookup_dso(shared->symbols, location);
	struct pd_unwind_module *module;

	// its dumps are read with its symbols
	if (dso)
		pd_lookup_open(shared->symbols, location);
	if (!dso || !dso->jits || !dso->jits[0])
		return NULL;
	for (module = shared->first; module; module = module->next)
		if (module->dso == &dso->dso)
			return module;
	module = make_module(dso, location, arch);
	if (!module) {
		shared->failed = true;
		return NULL;
	}
	pd_unwind_shared_add(shared, module);
	return module;
}

const struct pd_unwind_module *pd_unwind_jitted_module(struct pd_unwind_shared *shared,
						       const struct pd_location *location,
						       const struct pd_unwind_arch *arch)
{
	const struct pd_unwind_module *module;

	pthread_mutex_lock(shared->lock);
	module = find_or_make(shared, location, arch);
	pthread_mutex_unlock(shared->lock);
	return module;
}
