/* SPDX-License-Identifier: MIT */
/* Objects with their debug information: units by address, their variables at fixed addresses, and frames. */
#include "type/inside.h"

#include <stdlib.h>

#include "symbol/lookup.h"
#include "symbol/sources.h"
#include "unwind/rules/compile.h"

enum {
	MACHINE_X86_64 = 62,
	ITEM_BYTES = 2 // of debug information that an entry, or a part of its code, takes at least
};

// ---- objects ----

static size_t most_items(const struct pd_debug_image *image)
{
	static const int sections[] = { PD_DEBUG_INFO, PD_DEBUG_RANGES, PD_DEBUG_RNGLISTS };
	size_t size = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		size += image->sections[sections[i]].size;
	return size / ITEM_BYTES;
}

// What belongs to the place that it was found for is closed by its owner.
static void open_debug(struct pd_types *types, struct pd_type_object *object)
{
	struct pd_probe_debug *debug = &object->debug;
	const struct pd_unwind_arch *arch = pd_unwind_arch_of(PD_ARCH_X86, PD_REGS_ABI_64);

	if (!debug->files.object)
		debug->files.object = debug->files.debug;
	if (pd_probe_debug_read(debug, &types->symbols->places, NULL) || !debug->dwarf)
		return;
	object->has_debug = true;
	object->items_left = most_items(&debug->image);
	object->has_frames = pd_unwind_compile_debug(debug->with_info, arch, debug->limit, &object->frames);
	if (pd_dwarf_code(debug->dwarf, &object->units))
		pd_pieces_make(object->units.spans, object->units.span_count, &object->pieces, &object->piece_count);
}

static void open_object(struct pd_types *types, struct pd_type_object *object)
{
	object->debug.limit = types->symbols->limit;
	object->elf = pd_lookup_open_code(types->symbols, object->dso, &object->debug.files);
	if (!object->elf || object->elf->machine != MACHINE_X86_64 || !object->elf->wide)
		return;
	object->kind = (struct pd_code_kind){ .isa = PD_ISA_X86_64 };
	object->library = &pd_disassembler_capstone;
	object->disassembler = object->library->start ? object->library->start(&object->kind) : NULL;
	if (object->disassembler && object->elf == object->debug.files.object)
		open_debug(types, object);
}

struct pd_type_object *pd_type_object_of(struct pd_types *types, const struct pd_dso *dso)
{
	struct pd_type_object *object = types->objects;

	while (object && object->dso != dso)
		object = object->next;
	if (object)
		return object;
	object = pd_alloc(sizeof(*object));
	if (!object)
		return NULL;
	object->dso = dso;
	object->next = types->objects;
	types->objects = object;
	open_object(types, object);
	return object;
}

static void free_units(struct pd_type_object *object)
{
	struct pd_type_unit *unit = object->read;

	while (unit) {
		struct pd_type_unit *next = unit->next;

		pd_probe_unit_fini(&unit->unit);
		pd_free(unit->globals);
		pd_free(unit->others);
		pd_u64_map_fini(&unit->asked);
		pd_u64_map_fini(&unit->returned);
		pd_type_scopes_free(unit);
		pd_free(unit);
		unit = next;
	}
}

void pd_type_object_free(struct pd_type_object *object)
{
	if (!object)
		return;
	free_units(object);
	if (object->disassembler)
		object->library->close(object->disassembler);
	if (object->has_frames)
		pd_unwind_table_fini(&object->frames);
	pd_symtab_free(object->symbols);
	pd_free(object->units.units);
	pd_free(object->units.spans);
	pd_free(object->pieces);
	pd_probe_debug_close(&object->debug);
	pd_free(object);
}

// ---- units ----

static bool add_global(void *self, const struct pd_die *variable, const struct pd_type_place *place)
{
	struct pd_type_unit *unit = self;

	if (!place->is_addr || !place->is_only)
		return true;
	if (!PD_GROW(unit->globals, unit->global_capacity, unit->global_count + 1)) {
		unit->unit.failed = true;
		return false;
	}
	unit->globals[unit->global_count++] = (struct pd_type_global){ (uint64_t)place->offset, *variable };
	return true;
}

static int compare_globals(const void *a, const void *b)
{
	const struct pd_type_global *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void read_globals(const struct pd_type_object *object, struct pd_type_unit *unit)
{
	struct pd_die_walk walk = { .die = unit->unit.die };

	while (pd_die_next(&walk, false) && !unit->unit.failed)
		if (pd_die_tag(&walk.die) == PD_TAG_VARIABLE)
			pd_type_each_place(object, &walk.die, add_global, unit);
	if (unit->global_count)
		qsort(unit->globals, unit->global_count, sizeof(*unit->globals), compare_globals);
}

static struct pd_type_unit *read_unit(struct pd_type_object *object, uint32_t number)
{
	struct pd_type_unit *unit = pd_alloc(sizeof(*unit));

	if (!unit)
		return NULL;
	unit->number = number;
	unit->next = object->read;
	object->read = unit;
	object->debug.dwarf->entry_work = object->debug.image.sections[PD_DEBUG_INFO].size;
	unit->is_bad = !pd_probe_unit_read(&object->debug, number, &unit->unit);
	if (!unit->is_bad)
		read_globals(object, unit);
	return unit;
}

struct pd_type_unit *pd_type_unit_at(struct pd_type_object *object, uint64_t addr)
{
	uint32_t at = pd_pieces_find(object->pieces, object->piece_count, addr);
	struct pd_type_unit *unit = object->read;

	if (at == PD_PIECE_NONE || at >= object->units.count)
		return NULL;
	while (unit && unit->number != object->units.units[at])
		unit = unit->next;
	if (!unit)
		unit = read_unit(object, object->units.units[at]);
	return unit && !unit->is_bad ? unit : NULL;
}

bool pd_type_symbol_at(struct pd_type_object *object, uint64_t addr, struct pd_symbol *symbol_out)
{
	const struct pd_elf_symbol_options options = { .data = true, .limit = object->debug.limit };

	if (!object->has_symbols)
		pd_elf_symtab(object->debug.object, object->debug.files.debug, &options, &object->symbols, NULL);
	object->has_symbols = true;
	return object->symbols && pd_symtab_find(object->symbols, addr, symbol_out);
}

bool pd_type_frame_at(const struct pd_type_object *object, uint64_t addr, int *reg_out, int64_t *offset_out)
{
	uint32_t number = object->has_frames ? pd_unwind_table_find(&object->frames, addr) : 0;
	const struct pd_unwind_rule *rule = number ? pd_unwind_table_at(&object->frames, number) : NULL;

	if (!rule || rule->kind != PD_CFA_REGISTER)
		return false;
	*reg_out = rule->cfa_register;
	*offset_out = rule->cfa;
	return true;
}
