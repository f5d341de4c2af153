/* SPDX-License-Identifier: MIT */
/* From a place to the type that its instruction accesses. */
#include "type/type.h"
#include "type/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	STEPS_MOST = 1 << 30,  // of all accesses together: what only hostile files need
	ENTRIES_MOST = 1 << 22 // of debug information, for one access
};

// Pairs of instructions that the processor takes as one: the second one has the samples of both.
static void read_cpu(struct pd_types *types, const char *cpu)
{
	unsigned family = 0, model = 0;

	types->intel_fuses = true;
	if (!cpu || sscanf(cpu, "%*[^,],%u,%u", &family, &model) != 2)
		return;
	types->amd_fuses = strncmp(cpu, "AuthenticAMD", 12) == 0 && family >= 0x15;
	types->intel_fuses = family == 6 && model >= 0x1e;
}

struct pd_types *pd_types_new(struct pd_symbols *symbols, const char *cpu)
{
	struct pd_types *types = pd_alloc(sizeof(*types));

	if (!types)
		return NULL;
	types->symbols = symbols;
	types->work = STEPS_MOST;
	types->unknown.type = "(unknown)";
	types->stack.type = "(stack operation)";
	types->unknown.number = UINT32_MAX;
	types->stack.number = UINT32_MAX - 1;
	read_cpu(types, cpu);
	return types;
}

void pd_types_free(struct pd_types *types)
{
	if (!types)
		return;
	while (types->codes) {
		struct pd_type_code *next = types->codes->next;

		pd_type_code_free(types->codes);
		types->codes = next;
	}
	while (types->objects) {
		struct pd_type_object *next = types->objects->next;

		pd_type_object_free(types->objects);
		types->objects = next;
	}
	pd_u64_map_fini(&types->by_function);
	pd_strings_fini(&types->names);
	pd_arena_fini(&types->texts);
	pd_free(types);
}

enum pd_status pd_types_check(const char *arch, struct pd_error *error)
{
	if (!pd_disassembler_capstone.start)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "types of data need a disassembler: this build was made without capstone 5");
	if (arch && strcmp(arch, "x86_64") != 0)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "types of data are known of x86_64 only, and this is a recording of %s", arch);
	return PD_OK;
}

// ---- one access ----

static bool find_type(struct pd_type_query *query)
{
	struct pd_type_object *object = query->code->object;
	const struct pd_type_instruction *i = &query->code->items[query->at];

	query->unit = object->has_debug ? pd_type_unit_at(object, i->addr) : NULL;
	if (!query->unit)
		return false;
	object->debug.dwarf->entry_work = ENTRIES_MOST;
	if (query->operand.reg == PD_TYPE_PC)
		return i->has_named && pd_type_find_fixed(query, i->named);
	pd_type_query_scopes(query);
	return query->scope_count && (pd_type_find_variable(query) || pd_type_track(query));
}

static struct pd_type_access *give(struct pd_types *types, const struct pd_type_query *query)
{
	struct pd_type_access *access = pd_arena_alloc(&types->texts, sizeof(*access));
	struct pd_text text = { .data = NULL };
	uint64_t size = 0;
	size_t member;

	pd_type_put_name(&text, &query->type);
	pd_text_char(&text, 0);
	member = text.size;
	pd_type_put_member(&text, &query->type, query->offset);
	access = text.failed ? NULL : access;
	if (access) {
		access->type = pd_arena_text(&types->texts, text.data, member - 1);
		access->member = pd_arena_text(&types->texts, text.data + member, text.size - member);
		access->offset = (int32_t)query->offset;
		// those without a name differ by their size at least
		pd_type_size(&query->type, &size);
		text.size = member - 1;
		pd_text_printf(&text, " %" PRIu64, size);
		access->number = text.failed ? PD_INDEX_END :
					       pd_strings_add(&types->names, &types->texts, text.data, text.size);
	}
	pd_free(text.data);
	types->failed |= !access;
	return access && access->type && access->member && access->number != PD_INDEX_END ? access : NULL;
}

// The operand of an instruction that is in memory; NULL if there is none.
static const struct pd_type_operand *memory_of(const struct pd_type_instruction *i)
{
	if (i->from.is_memory || i->from.is_percpu)
		return &i->from;
	return i->to.is_memory || i->to.is_percpu ? &i->to : NULL;
}

static bool is_fused(const struct pd_types *types, const struct pd_type_instruction *first,
		     const struct pd_type_instruction *second)
{
	return first->fuses && !second->never_fused && (types->intel_fuses || types->amd_fuses);
}

static struct pd_type_access *find(struct pd_types *types, const struct pd_type_code *code, uint32_t at)
{
	const struct pd_type_operand *operand;
	struct pd_type_query *query;
	struct pd_type_access *access;

	for (;; at--) {
		const struct pd_type_instruction *i = &code->items[at];

		if (i->is_stack)
			return &types->stack;
		if (i->action == PD_TYPE_ADDRESS)
			return &types->unknown;
		operand = memory_of(i);
		if (operand)
			break;
		if (!at || !is_fused(types, &code->items[at - 1], i))
			return &types->unknown;
	}
	query = pd_alloc(sizeof(*query));
	if (!query)
		return NULL;
	query->types = types;
	query->code = code;
	query->at = at;
	query->operand = *operand;
	access = find_type(query) ? give(types, query) : &types->unknown;
	pd_free(query);
	return types->failed ? NULL : access;
}

const struct pd_type_access *pd_types_at(struct pd_types *types, const struct pd_place *place)
{
	struct pd_type_code *code;
	uint32_t at;

	if (!place->function || !place->dso || place->function->dso != place->dso)
		return &types->unknown;
	code = pd_type_code_of(types, place->function);
	if (!code)
		return NULL;
	at = pd_type_code_at(code, place->addr);
	// as perf: without debug information nothing is said, not even of the stack
	if (at == PD_TYPE_NONE || !code->object->has_debug)
		return &types->unknown;
	if (!code->found[at])
		code->found[at] = find(types, code, at);
	return code->found[at];
}
