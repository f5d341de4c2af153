/* SPDX-License-Identifier: MIT */
/* The files of an object: itself, its debug file, and what that shares with others. */
#include "probe/find/unit.h"

#include <string.h>

#include "unwind/rules/compile.h"

static void open_shared(struct pd_probe_debug *debug, const struct pd_find_places *places)
{
	debug->shared_file = pd_find_shared(places, debug->with_info);
	if (debug->shared_file &&
	    pd_debug_image_make(debug->shared_file, debug->limit, &debug->shared_image, NULL) == PD_OK)
		pd_dwarf_open(&debug->shared, &debug->shared_image, NULL, NULL);
}

// Without rules the frame of a function is not known, and with it where its variables are.
static void open_rules(struct pd_probe_debug *debug)
{
	const struct pd_elf *elf = debug->object;
	enum pd_arch machine = pd_arch_by_elf(elf->machine);

	debug->arch = pd_unwind_arch_of(machine, elf->wide ? PD_REGS_ABI_64 : PD_REGS_ABI_32);
	debug->has_rules = debug->arch && pd_unwind_compile(debug->object, debug->files.debug, debug->arch,
							    debug->limit, &debug->rules);
}

enum pd_status pd_probe_debug_read(struct pd_probe_debug *debug, const struct pd_find_places *places,
				   struct pd_error *error)
{
	enum pd_status status;

	debug->object = debug->files.object;
	debug->with_info = debug->files.debug;
	status = debug->with_info ? pd_debug_image_make(debug->with_info, debug->limit, &debug->image, error) :
				    PD_ERROR_UNSUPPORTED;
	if (status == PD_ERROR_UNSUPPORTED) {
		debug->with_info = debug->object;
		status = pd_debug_image_make(debug->with_info, debug->limit, &debug->image, error);
	}
	if (status == PD_ERROR_UNSUPPORTED) {
		debug->with_info = NULL;
		return PD_OK;
	}
	if (status)
		return status;
	open_shared(debug, places);
	status = pd_dwarf_open(&debug->dwarf, &debug->image, debug->shared, error);
	if (status)
		return status;
	pd_die_locations_read(debug->with_info, debug->limit, &debug->locations);
	open_rules(debug);
	return PD_OK;
}

enum pd_status pd_probe_debug_open(struct pd_probe_debug *debug, const struct pd_find_wanted *wanted,
				   const struct pd_find_places *places, struct pd_error *error)
{
	struct pd_find_places all = *places;
	enum pd_status status;

	*debug = (struct pd_probe_debug){ .limit = UINT32_MAX };
	all.always_debug = true;
	status = pd_find(&all, wanted, &debug->files, error);
	if (status)
		return status;
	if (debug->files.object) {
		status = pd_probe_debug_read(debug, &all, error);
	} else {
		const struct pd_find_try *try = debug->files.try_count ? &debug->files.tries[0] : NULL;

		status = pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", wanted->path,
				 try && try->reason[0] ? try->reason : "not found");
	}
	if (status)
		pd_probe_debug_close(debug);
	return status;
}

void pd_probe_debug_close(struct pd_probe_debug *debug)
{
	pd_symtab_free(debug->symbols);
	if (debug->has_rules)
		pd_unwind_table_fini(&debug->rules);
	pd_die_locations_fini(&debug->locations);
	pd_probe_others_fini(debug);
	pd_dwarf_close(debug->dwarf);
	pd_dwarf_close(debug->shared);
	pd_free(debug->image.data);
	pd_free(debug->shared_image.data);
	pd_elf_close(debug->shared_file);
	pd_found_close(&debug->files);
	*debug = (struct pd_probe_debug){ .object = NULL };
}

const struct pd_symtab *pd_probe_debug_symbols(struct pd_probe_debug *debug)
{
	const struct pd_elf_symbol_options options = { .limit = debug->limit };

	if (!debug->symbols)
		pd_elf_symtab(debug->object, debug->files.debug, &options, &debug->symbols, NULL);
	return debug->symbols;
}
