/* SPDX-License-Identifier: MIT */
/* The inside of struct pd_types: objects, functions as instructions, and what is known of registers at one of them. */
#ifndef PD_TYPE_INSIDE_H
#define PD_TYPE_INSIDE_H

#include "base/lookup/strings.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "annotate/notation/notation.h"
#include "probe/find/finder.h"
#include "type/type.h"

// ---- instruction.c ----

enum {
	PD_TYPE_REGISTERS = 32, // that are followed
	PD_TYPE_VECTORS = 17,   // the first one of them
	PD_TYPE_RESULT = 0,     // numbers of DWARF
	PD_TYPE_STACK = 7,
	PD_TYPE_NO_REGISTER = -1,
	PD_TYPE_PC = -2
};

struct pd_type_operand {
	int64_t offset; // in memory, or the value of a constant
	int8_t reg;
	bool is_memory, is_constant;
	bool is_percpu; // relative to gs
};

enum pd_type_action {
	PD_TYPE_OTHER,
	PD_TYPE_MOVE,
	PD_TYPE_ADD,
	PD_TYPE_SUBTRACT,
	PD_TYPE_ADDRESS,
	PD_TYPE_CLEAR, // a register by itself
	PD_TYPE_SPOIL  // makes something else of a pointer
};

/** Processors by the first instructions of pairs that they take as one; those of Intel before AMD's. */
enum pd_type_fusing {
	PD_TYPE_NEHALEM = 1,
	PD_TYPE_LATER = 2,
	PD_TYPE_BULLDOZER = 4,
	PD_TYPE_ZEN_3 = 8
};

/** What an instruction is, as far as types need it. */
struct pd_type_instruction {
	uint64_t addr;
	uint64_t target; // of a jump or call, if has_target
	uint64_t named;  // address of an operand relative to the instruction, if has_named
	struct pd_type_operand from, to;
	uint8_t action;
	uint8_t fuses; // processors that take it and the next one as one, enum pd_type_fusing
	bool has_target, has_named, is_call, is_return, is_jump, is_conditional, is_stack;
	bool never_fused; // as the second one
};

/** Reads an instruction as binutils spells it. */
void pd_type_instruction_read(const struct pd_notation *notation, uint64_t addr, struct pd_type_instruction *out);

// ---- code.c ----

struct pd_type_search;

/** A function, with what was found for each of its instructions. */
struct pd_type_code {
	struct pd_type_code *next; // of all
	const struct pd_function *function;
	struct pd_type_object *object;
	struct pd_type_instruction *items;
	size_t count, capacity;
	const struct pd_type_access **found; // by instruction
	struct pd_type_search *ways;         // from its first instruction; NULL: not yet
};

/** Instructions one after another, from first up to last. */
struct pd_type_run {
	uint32_t first, last;
};

struct pd_type_path {
	struct pd_type_run *runs;
	size_t count, capacity;
};

#define PD_TYPE_NONE UINT32_MAX

/** Disassembles a function; an empty one if its code was not found. NULL without memory. */
struct pd_type_code *pd_type_code_of(struct pd_types *types, const struct pd_function *function);
void pd_type_code_free(struct pd_type_code *code);
/** Disassembles one instruction of a function. */
void pd_type_notate(const struct pd_type_code *code, uint64_t addr, struct pd_notation *notation_out);
/** The instruction that begins at an address, or PD_TYPE_NONE. */
uint32_t pd_type_code_at(const struct pd_type_code *code, uint64_t addr);
/** Puts the shortest way from one instruction to another one before a path; false if there is none, or no memory. */
bool pd_type_path_extend(struct pd_types *types, struct pd_type_code *code, uint32_t from, uint32_t to,
			 struct pd_type_path *path);

// ---- object.c ----

/** A variable of a unit at a fixed address. */
struct pd_type_global {
	uint64_t addr;
	struct pd_die die;
};

/** A scope in another one. */
struct pd_type_inner {
	uint64_t start, end; // a part of its code
	struct pd_die die;
};

/** What is directly below a function or a block. */
struct pd_type_scope {
	struct pd_type_scope *next; // of all of the unit
	struct pd_die *variables;   // and parameters
	size_t variable_count, variable_capacity;
	struct pd_type_inner *inner; // in the order of the debug information
	size_t inner_count, inner_capacity;
};

/** A unit whose code was asked for. */
struct pd_type_unit {
	struct pd_type_unit *next;
	uint32_t number;
	bool is_bad; // it cannot be read
	struct pd_probe_unit unit;
	struct pd_type_global *globals;
	size_t global_count, global_capacity;
	struct pd_type_global *others; // declared here, at addresses of other units
	size_t other_count, other_capacity;
	struct pd_u64_map asked;    // by address: which of others, + 2; 1: none
	struct pd_u64_map returned; // by address: which function with a type, + 2; 1: none
	struct pd_u64_map scopes;   // by offset of the entry: struct pd_type_scope
	struct pd_type_scope *scope_list;
};

struct pd_type_object {
	struct pd_type_object *next;
	const struct pd_dso *dso;
	struct pd_elf *elf; // that has the code; NULL: not found
	struct pd_probe_debug debug;
	bool has_debug;
	bool has_frames; // frames are the rules of .debug_frame
	struct pd_unwind_table frames;
	struct pd_code_kind kind;
	const struct pd_disassembler *library;
	void *disassembler;
	struct pd_dwarf_code units; // where the code of units is
	struct pd_addr_piece *pieces;
	size_t piece_count;
	struct pd_type_unit *read;
	size_t items_left;         // in scopes: those of damaged debug information have no end
	struct pd_symtab *symbols; // of code and data; NULL: not read, or not there
	bool has_symbols;
};

/** The object of a dso; NULL without memory. */
struct pd_type_object *pd_type_object_of(struct pd_types *types, const struct pd_dso *dso);
void pd_type_object_free(struct pd_type_object *object);
/** The unit whose code is at an address; NULL if there is none. */
struct pd_type_unit *pd_type_unit_at(struct pd_type_object *object, uint64_t addr);
/** The register and the offset that make the address of the frame; false if .debug_frame does not say it. */
bool pd_type_frame_at(const struct pd_type_object *object, uint64_t addr, int *reg_out, int64_t *offset_out);
/** A symbol of code or data at an address; false if there is none. */
bool pd_type_symbol_at(struct pd_type_object *object, uint64_t addr, struct pd_symbol *symbol_out);

// ---- name.c ----

enum {
	PD_TAG_REFERENCE = 0x10,
	PD_TAG_BLOCK = 0x0b
};

/** Bytes of a type, at most INT64_MAX; false if it is not known. */
bool pd_type_size(const struct pd_die *type, uint64_t *size_out);
/** What a pointer points to, or the element of an array, without qualifiers; false if it is neither, or has none. */
bool pd_type_target(const struct pd_die *type, struct pd_die *target_out);
bool pd_type_is_compound(const struct pd_die *type);
/** The same type without typedefs. */
bool pd_type_plain(const struct pd_die *type, struct pd_die *plain_out);
/** Appends its name as perf has it. */
void pd_type_put_name(struct pd_text *text, const struct pd_die *type);
/** A member of a type. */
struct pd_type_part {
	struct pd_die die, type; // type without qualifiers
	uint64_t at, size, bits; // bits of a bit field
};

/** Reads a member; false if the entry is none. */
bool pd_type_part_read(const struct pd_die *die, struct pd_type_part *part);
/** Appends the path of the member at an offset. */
void pd_type_put_member(struct pd_text *text, const struct pd_die *type, int64_t offset);
/** The type of what is at an offset, without typedefs; type itself if it has no members. */
bool pd_type_member_at(const struct pd_die *type, int64_t offset, struct pd_die *type_out);
/** The same of what a pointer points to. */
bool pd_type_pointed_member(const struct pd_die *pointer, int64_t offset, struct pd_die *type_out);
/** Whether the second type says more than the first one. */
bool pd_type_is_better(const struct pd_die *first, const struct pd_die *second);

// ---- place.c ----

/** A place of a variable: holds from start up to end. */
struct pd_type_place {
	uint64_t start, end;
	int reg;        // or PD_TYPE_NO_REGISTER
	bool is_frame;  // relative to the frame
	bool is_memory; // the variable is at the address
	bool is_addr;   // it is at offset, whatever registers have
	bool is_only;   // nothing else is done with it
	int64_t offset;
};

/** Called with each place of a variable that can be used; false ends it. */
typedef bool pd_type_place_fn(void *self, const struct pd_die *variable, const struct pd_type_place *place);
void pd_type_each_place(const struct pd_type_object *object, const struct pd_die *variable, pd_type_place_fn *each,
			void *self);
bool pd_type_is_variable(const struct pd_die *die);

// ---- an access ----

enum {
	PD_TYPE_SCOPES = 64
};

/** An access whose type is looked for. */
struct pd_type_query {
	struct pd_types *types;
	struct pd_type_code *code;
	struct pd_type_unit *unit;
	uint32_t at; // instruction
	struct pd_type_operand operand;
	struct pd_die scopes[PD_TYPE_SCOPES]; // functions, blocks and what was inlined, from the outside
	size_t scope_count;
	bool has_cfa; // the frame is where .debug_frame says
	int frame;    // register of the frame, or PD_TYPE_NO_REGISTER
	int64_t frame_offset;
	// the result
	struct pd_die type;
	int64_t offset;
	enum pd_type_answer answer;
};

// ---- scope.c ----

/** What is directly below a function or a block; an empty one without memory, after too many steps, or if it has too much. Valid as long as
 * the unit. */
const struct pd_type_scope *pd_type_scope_of(struct pd_type_query *query, const struct pd_die *die);
void pd_type_scopes_free(struct pd_type_unit *unit);

// ---- variable.c ----

/** Scopes of the instruction, and where the frame is. */
void pd_type_query_scopes(struct pd_type_query *query);
/** Looks for a variable that the register points to; sets the result. */
bool pd_type_find_variable(struct pd_type_query *query);
/** What the function at an address returns, as the unit declares it; false if it does not. */
bool pd_type_find_returned(struct pd_type_query *query, uint64_t addr, struct pd_die *type_out);
/** Looks for a variable at an address, also those of the scopes that the instruction is in; sets the result. */
bool pd_type_find_fixed(struct pd_type_query *query, uint64_t addr);
/** Looks for one of the unit. */
bool pd_type_find_global(struct pd_type_query *query, uint64_t addr, struct pd_die *type_out, int64_t *offset_out);

// ---- state.c ----

/** As the processor adds: without end. */
static inline int64_t pd_type_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t pd_type_difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

enum pd_type_holds {
	PD_TYPE_NOTHING,
	PD_TYPE_VALUE,   // of the type
	PD_TYPE_POINTER, // the address of one, plus the offset
	PD_TYPE_NUMBER
};

struct pd_type_register {
	struct pd_die type;
	int64_t offset; // or the number
	int8_t copied_from;
	uint8_t holds;
};

/** What is on the stack. */
struct pd_type_slot {
	struct pd_die type;
	int64_t at, size, offset;
	uint8_t holds;
	bool is_compound;
};

struct pd_type_state {
	struct pd_type_query *query;
	struct pd_type_register registers[PD_TYPE_REGISTERS];
	struct pd_type_slot *slots;
	size_t slot_count, slot_capacity;
	int frame;
	int64_t frame_offset;
	bool failed; // no memory
};

/** The slot at an offset, or NULL. */
struct pd_type_slot *pd_type_slot_at(struct pd_type_state *state, int64_t offset);
void pd_type_slot_set(struct pd_type_state *state, int64_t offset, const struct pd_type_register *value);
/** What an instruction changes. */
void pd_type_follow(struct pd_type_state *state, const struct pd_type_instruction *instruction);

// ---- track.c ----

/** Follows registers to the instruction; sets the result, or the answer why there is none. */
bool pd_type_track(struct pd_type_query *query);

// ---- type.c ----

struct pd_types {
	struct pd_symbols *symbols;
	struct pd_type_object *objects;
	struct pd_type_code *codes;
	struct pd_u64_map by_function;
	struct pd_arena texts;
	struct pd_strings names;                        // of types
	struct pd_type_access answers[PD_TYPE_ANSWERS]; // without a type
	uint8_t fuses;                                  // enum pd_type_fusing, one of them
	uint64_t steps, entries;                        // that all accesses together may yet take
	uint64_t work;                                  // steps that this one may yet take
	bool failed;                                    // no memory
};

/** Takes so many steps; false if there are too many. */
static inline bool pd_types_work(struct pd_types *types, uint64_t steps)
{
	if (types->work < steps) {
		types->work = 0;
		return false;
	}
	types->work -= steps;
	return true;
}

/** Takes a part of what all accesses together may take, for one, after more was added to it; what is left is to be given back. */
uint64_t pd_types_lend(uint64_t *all, uint64_t more, uint64_t most);

#endif
