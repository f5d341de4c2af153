/* SPDX-License-Identifier: MIT */
/* Which kind of dso gets its symbols from where: files, the vdso, the kernel, code made at run time. Each is loaded once. */
#include "file/file.h"
#include "symbol/lookup.h"
#include "symbol/sources.h"

#include <string.h>

// Its build id: what was recorded, or that of this system's if it is certain that no other was.
static struct pd_object_id id_of_vdso(struct pd_symbols *symbols, const struct pd_dso_full *dso)
{
	struct pd_object_id id = dso->id;
	struct pd_build_id own;

	if (!id.size && !symbols->places.ids_only && pd_symbols_build_id(symbols, dso->dso.object, &own, NULL)) {
		id.size = own.size;
		memcpy(id.bytes, own.bytes, own.size);
	}
	return id;
}

struct pd_elf *pd_lookup_own_vdso_of(struct pd_symbols *symbols, const struct pd_dso_full *dso)
{
	struct pd_object_id id = { .size = 0 }, wanted;
	struct pd_elf *elf;

	if (!symbols->own_machine || dso->machine)
		return NULL;
	wanted = id_of_vdso(symbols, dso);
	elf = wanted.size ? pd_lookup_own_vdso() : NULL;
	if (elf && pd_elf_id(elf, &id) && pd_object_id_equal(&id, &wanted))
		return elf;
	pd_elf_close(elf);
	return NULL;
}

static void load_vdso(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	struct pd_elf *elf;

	pd_lookup_load_file(symbols, dso);
	elf = dso->table ? NULL : pd_lookup_own_vdso_of(symbols, dso);
	if (!elf)
		return;
	pd_lookup_read_table(symbols, dso, elf, NULL, &(struct pd_file_origin){ .place = NULL });
	pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "the vdso of this system");
	pd_elf_close(elf);
}

// ---- files for other purposes than names ----

bool pd_lookup_open_files(struct pd_symbols *symbols, const struct pd_location *location, struct pd_found *found_out)
{
	enum pd_object_kind kind = location->object->kind;
	const struct pd_dso_full *dso = pd_lookup_dso(symbols, location);
	struct pd_find_places places = symbols->places;
	struct pd_find_wanted wanted;

	if (!dso || (symbols->flags & PD_SYMBOLS_NO_FILES) || (kind != PD_OBJECT_FILE && kind != PD_OBJECT_VDSO))
		return false;
	wanted = pd_lookup_wanted(dso);
	places.always_debug = true;
	if (pd_find(&places, &wanted, found_out, NULL)) {
		symbols->failed = true;
		return false;
	}
	if (!found_out->object && kind == PD_OBJECT_VDSO)
		found_out->object = pd_lookup_own_vdso_of(symbols, dso);
	if (!found_out->object && !found_out->debug)
		found_out->object = pd_lookup_fetch(symbols, &dso->id, false);
	return true;
}

static bool has_code(const struct pd_elf *elf)
{
	for (size_t i = 0; elf && i < elf->section_count; i++)
		if ((elf->sections[i].flags & PD_ELF_FLAG_EXEC) && elf->sections[i].type != PD_ELF_SECTION_NOBITS)
			return true;
	return elf && !elf->section_count;
}

// Whose list of symbols has those of a module, at their addresses.
static const struct pd_kernel *kernel_of_module(struct pd_symbols *symbols, const struct pd_dso_full *dso)
{
	return dso->kallsyms ? pd_lookup_kernel_of(symbols, dso->machine) : NULL;
}

struct pd_elf *pd_lookup_open_code(struct pd_symbols *symbols, const struct pd_dso *dso, struct pd_found *found_out)
{
	struct pd_dso_full *full = symbols->dsos[dso->index];
	struct pd_find_wanted wanted = pd_lookup_wanted(full);
	struct pd_find_places places = symbols->places;
	const struct pd_kernel *kernel;

	*found_out = (struct pd_found){ .kallsyms = { .fd = -1 } };
	if ((symbols->flags & PD_SYMBOLS_NO_FILES) || !dso->object || dso->object->kind == PD_OBJECT_KSYMBOL)
		return NULL;
	kernel = full->kernel ? full->kernel : kernel_of_module(symbols, full);
	if (kernel && kernel->has_kallsyms) {
		found_out->object = pd_lookup_open_kcore(symbols, kernel);
		if (found_out->object)
			return found_out->object;
	}
	if (full->kernel && !full->kernel->image_path)
		return symbols->given_image;
	if (full->kernel)
		wanted = (struct pd_find_wanted){ .path = full->kernel->image_path,
						  .name = full->kernel->image_path,
						  .id = full->id };
	places.always_debug = true;
	if (pd_find(&places, &wanted, found_out, NULL)) {
		*found_out = (struct pd_found){ .kallsyms = { .fd = -1 } };
		symbols->failed = true;
		return NULL;
	}
	if (!found_out->object && dso->object->kind == PD_OBJECT_VDSO)
		found_out->object = pd_lookup_own_vdso_of(symbols, full);
	if (!found_out->object && !found_out->debug)
		found_out->object = pd_lookup_fetch(symbols, &full->id, false);
	if (has_code(found_out->object))
		return found_out->object;
	return has_code(found_out->debug) ? found_out->debug : NULL;
}

const char *pd_lookup_code_path(const struct pd_symbols *symbols, const struct pd_dso *dso)
{
	const struct pd_kernel *kernel = symbols->dsos[dso->index]->kernel;

	if (!kernel)
		return dso->long_name;
	return kernel->image ? kernel->detail : pd_lookup_kcore_path(kernel);
}

// ---- all kinds ----

static void load_nothing(struct pd_symbols *symbols, struct pd_dso_full *dso)
{
	pd_lookup_report(symbols, dso, PD_DSO_NO_SYMBOLS, "no symbols");
}

void pd_lookup_load(struct pd_symbols *symbols, struct pd_dso_full *dso, const struct pd_location *location)
{
	enum pd_object_kind kind = location->object->kind;

	if (symbols->flags & PD_SYMBOLS_NO_FILES)
		pd_lookup_report(symbols, dso, PD_DSO_MISSING, "not searched");
	else if (pd_file_given(symbols->file))
		pd_lookup_load_given(symbols, dso);
	else if (!dso->dso.object)
		pd_lookup_load_runtime(symbols, dso);
	else if (kind == PD_OBJECT_KERNEL)
		pd_lookup_load_kernel(symbols, dso, location);
	else if (kind == PD_OBJECT_MODULE)
		pd_lookup_load_module(symbols, dso, location);
	else if (kind == PD_OBJECT_KSYMBOL)
		pd_lookup_report(symbols, dso, PD_DSO_SYMBOLS, "the name was recorded");
	else if (kind == PD_OBJECT_VDSO)
		load_vdso(symbols, dso);
	else if (kind == PD_OBJECT_FILE)
		pd_lookup_load_file(symbols, dso);
	else
		load_nothing(symbols, dso);
	if (dso->dso.state == PD_DSO_UNUSED)
		pd_lookup_report(symbols, dso, PD_DSO_MISSING, "out of memory");
}

void pd_lookup_unload(struct pd_dso_full *dso)
{
	pd_symtab_free(dso->own_table);
	pd_symtab_free(dso->reread_table);
	pd_u64_map_fini(&dso->functions);
	pd_u64_map_fini(&dso->inlined);
	pd_lookup_lines_fini(dso);
}
