/* SPDX-License-Identifier: MIT */
/* From a place to the type that its instruction accesses. */
#include "type/type.h"
#include "type/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	// What is read for one access, and for all of them together: so much at first, and more with each one. Only hostile files need it.
	STEPS_MOST = 1 << 26,
	ENTRIES_MOST = 1 << 22, // of debug information
	ALL_STEPS = 1 << 30,
	ALL_ENTRIES = 1 << 28,
	MORE_STEPS = 1 << 16,
	MORE_ENTRIES = 1 << 16,
	WORD_STEPS = 64, // that naming an instruction takes
	MEMBER_BYTES = 4095
};

// Pairs of instructions that the processor takes as one: the second one has the samples of both.
static void read_cpu(struct pd_types *types, const char *cpu)
{
	unsigned family = 0, model = 0;

	types->fuses = PD_TYPE_LATER;
	if (!cpu || sscanf(cpu, "%*[^,],%u,%u", &family, &model) != 2)
		return;
	if (strncmp(cpu, "AuthenticAMD", 12) == 0)
		types->fuses = family >= 0x19 ? PD_TYPE_ZEN_3 : family >= 0x15 ? PD_TYPE_BULLDOZER : 0;
	else if (family != 6 || model < 0x1e)
		types->fuses = 0;
	else
		types->fuses = model == 0x1e ? PD_TYPE_NEHALEM : PD_TYPE_LATER;
}

struct pd_types *pd_types_new(struct pd_symbols *symbols, const char *cpu)
{
	struct pd_types *types = pd_alloc(sizeof(*types));

	if (!types)
		return NULL;
	types->symbols = symbols;
	types->steps = ALL_STEPS;
	types->entries = ALL_ENTRIES;
	for (int i = 0; i < PD_TYPE_ANSWERS; i++)
		types->answers[i] = (struct pd_type_access){ .type = "(unknown)",
							     .number = UINT32_MAX,
							     .answer = (enum pd_type_answer)i };
	types->answers[PD_TYPE_STACK_OPERATION].type = "(stack operation)";
	types->answers[PD_TYPE_STACK_OPERATION].number = UINT32_MAX - 1;
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

uint64_t pd_types_lend(uint64_t *all, uint64_t more, uint64_t most)
{
	uint64_t lent = *all + more < most ? *all + more : most;

	*all += more - lent;
	return lent;
}

static bool find_type(struct pd_type_query *query)
{
	const struct pd_type_instruction *i = &query->code->items[query->at];
	bool found;

	query->answer = PD_TYPE_NO_VARIABLE;
	if (query->operand.reg == PD_TYPE_PC) {
		found = i->has_named && pd_type_find_fixed(query, i->named);
	} else {
		pd_type_query_scopes(query);
		if (!query->scope_count)
			return false;
		found = pd_type_find_variable(query);
	}
	if (!found)
		return query->operand.reg != PD_TYPE_PC && pd_type_track(query);
	query->answer = PD_TYPE_HAS_VARIABLE;
	return true;
}

// As perf's, paths of members are cut.
static void put_texts(struct pd_types *types, const struct pd_type_query *query, struct pd_text *text,
		      struct pd_type_access *access)
{
	pd_text_clear(text);
	pd_type_put_member(text, &query->type, query->offset);
	if (text->size > MEMBER_BYTES)
		text->size = MEMBER_BYTES;
	pd_text_char(text, 0);
	access->member = text->failed ? NULL : pd_strings_once(&types->names, &types->texts, text->data);
	pd_text_clear(text);
	pd_type_put_name(text, &query->type);
	pd_text_char(text, 0);
	access->type = text->failed ? NULL : pd_strings_once(&types->names, &types->texts, text->data);
}

static struct pd_type_access *give(struct pd_types *types, const struct pd_type_query *query)
{
	struct pd_type_access *access = pd_arena_alloc(&types->texts, sizeof(*access));
	struct pd_die *die = pd_arena_alloc(&types->texts, sizeof(*die));
	struct pd_text text = { .data = NULL };
	uint64_t size = 0;

	if (access && die) {
		put_texts(types, query, &text, access);
		*die = query->type;
		access->die = die;
		access->answer = query->answer;
		access->offset = (int32_t)query->offset;
		// those without a name differ by their size at least
		pd_type_size(&query->type, &size);
		pd_text_clear(&text);
		pd_text_printf(&text, "%s %" PRIu64, access->type ? access->type : "", size);
		access->number = text.failed ? PD_INDEX_END :
					       pd_strings_add(&types->names, &types->texts, text.data, text.size);
	}
	pd_free(text.data);
	types->failed |= !access || !die || !access->type || !access->member || access->number == PD_INDEX_END;
	return types->failed ? NULL : access;
}

static struct pd_type_access *find_access(struct pd_type_query *query)
{
	struct pd_types *types = query->types;
	struct pd_type_object *object = query->code->object;
	struct pd_type_access *access;

	query->unit = pd_type_unit_at(object, query->code->items[query->at].addr);
	if (!query->unit)
		return &types->answers[PD_TYPE_NO_UNIT];
	object->debug.dwarf->entry_work = pd_types_lend(&types->entries, MORE_ENTRIES, ENTRIES_MOST);
	access = find_type(query) ? give(types, query) : &types->answers[query->answer];
	types->entries += object->debug.dwarf->entry_work;
	return access;
}

// The operand of an instruction that is in memory; NULL if there is none.
static const struct pd_type_operand *memory_of(const struct pd_type_instruction *i)
{
	if (i->from.is_memory || i->from.is_percpu)
		return &i->from;
	return i->to.is_memory || i->to.is_percpu ? &i->to : NULL;
}

// Whether what an instruction accesses may be an operand of the one before, as the processor takes both as one.
static bool is_joined(const struct pd_types *types, const struct pd_type_code *code, uint32_t at)
{
	return at && code->items[at - 1].fuses & types->fuses && !code->items[at].never_fused;
}

static const struct pd_type_access *find(struct pd_types *types, struct pd_type_code *code, uint32_t at)
{
	const struct pd_type_operand *operand = NULL;
	struct pd_type_query *query;
	struct pd_type_access *access;

	for (;; at--) {
		const struct pd_type_instruction *i = &code->items[at];

		if (i->is_stack)
			return &types->answers[PD_TYPE_STACK_OPERATION];
		operand = memory_of(i);
		if (operand || !is_joined(types, code, at) || !pd_types_work(types, 1))
			break;
	}
	if (!operand || code->items[at].action == PD_TYPE_ADDRESS)
		return &types->answers[PD_TYPE_NO_MEMORY];
	query = pd_alloc(sizeof(*query));
	if (!query)
		return NULL;
	query->types = types;
	query->code = code;
	query->at = at;
	query->operand = *operand;
	access = find_access(query);
	pd_free(query);
	return types->failed ? NULL : access;
}

// The instruction at a place, or the answer why there is none. False without memory.
static bool find_code(struct pd_types *types, const struct pd_place *place, struct pd_type_code **code_out,
		      uint32_t *at_out, enum pd_type_answer *answer_out)
{
	*at_out = PD_TYPE_NONE;
	*answer_out = PD_TYPE_NO_SYMBOL;
	if (!place->function || !place->dso || place->function->dso != place->dso)
		return true;
	*code_out = pd_type_code_of(types, place->function);
	if (!*code_out)
		return false;
	*answer_out = (*code_out)->object->has_debug ? PD_TYPE_NO_INSTRUCTION : PD_TYPE_NO_DEBUG;
	// as perf: without debug information nothing is said, not even of the stack
	if ((*code_out)->object->has_debug)
		*at_out = pd_type_code_at(*code_out, place->addr);
	return true;
}

const struct pd_type_access *pd_types_at(struct pd_types *types, const struct pd_place *place)
{
	enum pd_type_answer answer;
	struct pd_type_code *code;
	uint32_t at;

	if (!find_code(types, place, &code, &at, &answer))
		return NULL;
	if (at == PD_TYPE_NONE)
		return &types->answers[answer];
	if (!code->found[at]) {
		types->work = pd_types_lend(&types->steps, MORE_STEPS, STEPS_MOST);
		code->found[at] = find(types, code, at);
		types->steps += types->work;
	}
	return code->found[at];
}

// ---- names of instructions ----

static bool give_word(const struct pd_type_code *code, uint32_t at, pd_type_word_fn *each, void *self)
{
	struct pd_notation notation;
	char word[sizeof(notation.text)];
	size_t length;

	pd_type_notate(code, code->items[at].addr, &notation);
	length = strcspn(notation.text, " \t");
	memcpy(word, notation.text, length);
	word[length] = 0;
	return each(self, word);
}

bool pd_types_each_word(struct pd_types *types, const struct pd_place *place, pd_type_word_fn *each, void *self)
{
	enum pd_type_answer answer;
	struct pd_type_code *code;
	bool goes_on = true;
	uint32_t at;

	if (!find_code(types, place, &code, &at, &answer))
		return false;
	if (at == PD_TYPE_NONE)
		return true;
	types->work = pd_types_lend(&types->steps, MORE_STEPS, STEPS_MOST);
	for (;; at--) {
		const struct pd_type_instruction *i = &code->items[at];

		goes_on = give_word(code, at, each, self);
		if (!goes_on || i->is_stack || memory_of(i) || !is_joined(types, code, at) ||
		    !pd_types_work(types, WORD_STEPS))
			break;
	}
	types->steps += types->work;
	return goes_on;
}
