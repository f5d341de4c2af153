/* SPDX-License-Identifier: MIT */
/*
 * Registers and stacks, by rules that the input makes too. A chain ends, is no deeper than it may be, and is the same whether outer frames are
 * known from the thread's last sample or not, and whether plain rules are applied at once or step by step.
 */
#include <string.h>

#include "unwind/unwinder.h"
#include "walk.h"

enum {
	HEAD = 2,
	RULES = 16, // each for so many bytes of code, again and again
	RULE_BYTES = 12,
	CODE = 64,
	ROWS = 64,
	REGISTERS = 32,
	START = 0x10000, // of the stack
	MOST = 100
};

// What a walk needs of an unwinder.
struct fixture {
	struct pd_unwinder unwinder;
	struct pd_unwind_module module;
	struct pd_unwind_maps maps[PD_UNWIND_MAPS];
	struct pd_unwind_cached cached[PD_UNWIND_CACHED];
	struct pd_unwind_trail trails[PD_UNWIND_TRAILS + 1];
};

static struct fixture fixture;

static uint32_t make_rule(struct pd_unwind_table *table, const uint8_t *data, const struct pd_unwind_arch *arch)
{
	const uint8_t bases[] = { arch->sp, arch->fp, arch->sp, data[1] % REGISTERS };
	uint64_t words[1 + 4];
	struct pd_unwind_rule rule = { .cfa = (int8_t)data[0] * 8,
				       .kind = PD_CFA_REGISTER,
				       .cfa_register = bases[data[2] & 3],
				       .ra = arch->ra,
				       .count = data[3] % 5,
				       .is_signal = data[3] == UINT8_MAX };

	if (!data[2])
		return 0;
	memcpy(words, &rule, sizeof(rule));
	for (size_t i = 0; i < rule.count; i++) {
		uint8_t number = i ? data[4 + 2 * i] % REGISTERS : arch->ra, kind = data[4 + 2 * i] >> 5;
		struct pd_saved saved = { .number = number,
					  .kind = kind < PD_SAVED_AT_EXPRESSION ? kind : PD_SAVED_AT_CFA,
					  .value = (int8_t)data[5 + 2 * i] * 4 };

		if (saved.kind == PD_SAVED_REGISTER)
			saved.value = data[5 + 2 * i] % REGISTERS;
		memcpy(&words[1 + i], &saved, sizeof(saved));
	}
	return pd_unwind_table_rule(table, words, 1 + (size_t)rule.count);
}

static void make_table(struct pd_unwind_table *table, const uint8_t *data, const struct pd_unwind_arch *arch)
{
	REQUIRE(pd_unwind_table_init(table, 0));
	for (size_t i = 0; i < ROWS; i++)
		REQUIRE(pd_unwind_table_add(table, i * CODE, make_rule(table, data + i % RULES * RULE_BYTES, arch)));
	REQUIRE(pd_unwind_table_sort(table));
	pd_unwind_table_finish(table);
}

static void prepare(const struct pd_unwind_arch *arch)
{
	struct pd_unwinder *unwinder = &fixture.unwinder;

	unwinder->maps = fixture.maps;
	unwinder->cached = fixture.cached;
	for (size_t i = 0; i <= PD_UNWIND_TRAILS; i++) {
		unwinder->trail[i] = &fixture.trails[i];
		fixture.trails[i].count = 0;
	}
	memset(fixture.cached, 0, sizeof(fixture.cached));
	// all addresses are of one mapping, with the code at its beginning
	for (size_t i = 0; i < PD_UNWIND_MAPS; i++)
		fixture.maps[i] = (struct pd_unwind_maps){
			.maps = 1,
			.arch = arch,
			.pid = 1,
			.count = 2,
			.spans = { { .size = UINT64_MAX, .module = &fixture.module, .is_mapped = true, .is_code = true },
				   { .begin = UINT64_MAX, .size = 1 } }
		};
}

static struct pd_unwind_walk walk_of(const struct pd_unwind_arch *arch, const uint8_t *data, size_t size, bool swap,
				     uint64_t *frames)
{
	struct pd_unwind_walk walk = { .unwinder = &fixture.unwinder, .arch = arch, .maps = 1, .pid = 1, .tid = 1 };

	walk.frames = frames;
	walk.most = MOST;
	for (size_t i = 0; i < REGISTERS; i++)
		walk.registers.values[i] = START + (uint64_t)data[i] * 8;
	walk.registers.values[arch->ra] = data[REGISTERS];
	walk.registers.values[arch->sp] = START + data[REGISTERS + 1] % 4 * 8u;
	walk.registers.known = UINT64_MAX >> (data[REGISTERS + 2] & 31);
	walk.registers.known |= UINT64_C(1) << arch->sp;
	walk.pc = data[REGISTERS + 3] * 16u;
	data += REGISTERS + 4;
	walk.memory = (struct pd_unwind_memory){
		.data = data, .start = START, .size = size - REGISTERS - 4, .word = arch->word, .swap = swap
	};
	return walk;
}

// The same as the first walk.
static void walk_again(const struct pd_unwind_walk *first, const struct pd_unwind_walk *begin)
{
	uint64_t frames[MOST];
	struct pd_unwind_walk walk = *begin;

	walk.frames = frames;
	pd_unwind_walk(&walk);
	REQUIRE(walk.count == first->count && walk.end == first->end);
	REQUIRE(memcmp(frames, first->frames, walk.count * sizeof(*frames)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t rules = RULES * RULE_BYTES;
	const struct pd_unwind_arch *arch;
	uint64_t frames[MOST];
	struct pd_unwind_walk begin, walk;

	if (size < HEAD + rules + REGISTERS + 4)
		return 0;
	arch = pd_unwind_arch_of((enum pd_arch)(PD_ARCH_X86 + data[0] % (PD_ARCH_CSKY - PD_ARCH_X86 + 1)),
				 data[1] & 1 ? PD_REGS_ABI_32 : PD_REGS_ABI_64);
	REQUIRE(arch);
	make_table(&fixture.module.table, data + HEAD, arch);
	prepare(arch);
	begin = walk_of(arch, data + HEAD + rules, size - HEAD - rules, data[1] & 2, frames);
	walk = begin;
	pd_unwind_walk(&walk);
	REQUIRE(walk.count >= 1 && walk.count <= MOST && (size_t)walk.end < PD_UNWIND_ENDS);
	REQUIRE(walk.end != PD_UNWIND_DEPTH || walk.count == MOST);
	walk_again(&walk, &begin);
	pd_unwind_table_mark(&fixture.module.table, arch->word, arch->sp);
	walk_again(&walk, &begin);
	prepare(arch);
	walk_again(&walk, &begin);
	pd_unwind_table_fini(&fixture.module.table);
	return 0;
}
