/* SPDX-License-Identifier: MIT */
/*
 * Begins and ends of functions by their instructions: what clang 14 makes of them, where rules leave them out or are too
 * early, and what must not be taken for an end. Then each allocation fails in turn; the linker wraps them (--wrap).
 */
#define FAILING_COUNTS_LIVE
#include "unit/failing.h"
#include "unwind/ends/ends.h"
#include "unwind/rules/exidx.h"

#include "unit/test.h"
#include "unit/unwind/rules.h"

enum {
	BASE = 0x2000,
	END = 0x9000,
	ARM_SP = 31,
	ARM_LR = 30,
	POWER_SP = 1,
	ROOM = 1024
};

struct example {
	struct pd_unwind_table table;
	uint8_t code[ROOM];
	unsigned unit; // bytes of a line
};

// Rules of functions from BASE on, absolute addresses of 4 bytes: a common entry, CFA = sp + offset (of two bytes), of a return address column,
// with addresses in units of so many bytes.
#define COMMON_OF(sp, offset, ra, unit)                                                                       \
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, unit, 0x78, ra, 1, 0x03, 0x0c, sp, 0x80 | (offset & 0x7f), \
		offset >> 7, 0, 0, 0
#define COMMON(sp, ra) COMMON_OF(sp, 0, ra, 4)
// An entry at an offset of the section; its instructions fill 15 bytes.
#define FUNCTION(offset, at, size, ...) \
	0x1c, 0, 0, 0, (offset) + 4, 0, 0, 0, at, BASE >> 8, 0, 0, size, 0, 0, 0, 0, __VA_ARGS__

// A function that compilers make.
struct function {
	enum pd_arch machine;
	uint64_t abi;
	struct pd_bytes rules, code;
	bool big;
};

static bool compile_function(struct example *e, const struct function *f)
{
	const struct pd_unwind_arch *arch = pd_unwind_arch_of(f->machine, f->abi);
	const struct pd_code code = {
		.effects = pd_effects_of(arch), .bytes = f->code, .addr = BASE, .swap = PD_HOST_BIG != f->big
	};
	const struct pd_cfi_section section = {
		.bytes = f->rules, .word = 8, .code_start = BASE, .code_end = END, .code = &code
	};

	if (!pd_unwind_table_init(&e->table, BASE))
		return false;
	if (pd_cfi_compile(&section, arch, &e->table) && pd_unwind_table_sort(&e->table))
		return true;
	pd_unwind_table_fini(&e->table);
	return false;
}

static bool compile(struct example *e, enum pd_arch machine, struct pd_bytes rules, const uint32_t *words, size_t count)
{
	const struct function f = { machine, PD_REGS_ABI_64, rules, { e->code, 4 * count }, false };

	for (size_t i = 0; i < 4 * count; i++)
		e->code[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
	e->unit = 4;
	return compile_function(e, &f);
}

static bool is_at(const struct example *e, unsigned line, unsigned number, int32_t value)
{
	return has_saved(&e->table, BASE + e->unit * line, number, PD_SAVED_AT_CFA, value);
}

static bool is_as_it_was(const struct example *e, unsigned line, unsigned number)
{
	const struct pd_unwind_rule *rule = rule_at(&e->table, BASE + e->unit * line);

	for (size_t i = 0; rule && i < rule->count; i++)
		if (rule->saved[i].number == number)
			return false;
	return rule;
}

static bool cfa_is(const struct example *e, unsigned line, unsigned number, int32_t offset)
{
	return has_cfa(&e->table, BASE + e->unit * line, number, offset);
}

// ---- arm64 ----

static const uint32_t arm_code[] = {
	0xd503233f, // 0: paciasp
	0xa9be7bfd, // 1: stp x29, x30, [sp, #-32]!
	0xf9000bf3, // 2: str x19, [sp, #16]
	0x910003fd, // 3: mov x29, sp
	0xd10043ff, // 4: sub sp, sp, #16
	0xaa0003f3, // 5: mov x19, x0
	0x94000100, // 6: bl
	0xb40000a0, // 7: cbz x0, 12
	0x910003bf, // 8: mov sp, x29
	0xf9400bf3, // 9: ldr x19, [sp, #16]
	0xa8c27bfd, // 10: ldp x29, x30, [sp], #32
	0xd65f03c0, // 11: ret
	0xaa1303e0, // 12: mov x0, x19
	0x910043ff, // 13: add sp, sp, #16
	0xf9400bf3, // 14: ldr x19, [sp, #16]
	0xa8c27bfd, // 15: ldp x29, x30, [sp], #32
	0x14001000, // 16: b, to another function
	0xd503201f, // 17: nop
};

// What holds once the frame is there: CFA = x29 + 32, x19 at 16 bytes below it, x29 at 32, x30 at 24.
#define ARM_FRAME 0x0c, 29, 32, 0x93, 2, 0x9d, 4, 0x9e, 3
static const uint8_t arm_rules[] = { COMMON(31, 30), FUNCTION(24, 0, 72, 0x44, ARM_FRAME, 0, 0, 0, 0, 0) };
// The same, three instructions too early.
static const uint8_t arm_early[] = { COMMON(31, 30), FUNCTION(24, 0, 72, 0x41, ARM_FRAME, 0, 0, 0, 0, 0) };

static void check_arm(const struct example *e)
{
	CHECK(cfa_is(e, 0, ARM_SP, 0) && cfa_is(e, 1, ARM_SP, 0) && is_as_it_was(e, 1, ARM_LR));
	CHECK(cfa_is(e, 2, ARM_SP, 32) && is_at(e, 2, ARM_LR, -24) && is_at(e, 2, 29, -32) && is_as_it_was(e, 2, 19));
	CHECK(cfa_is(e, 3, ARM_SP, 32) && is_at(e, 3, 19, -16));
	for (unsigned line = 4; line <= 7; line++)
		CHECK(cfa_is(e, line, 29, 32) && is_at(e, line, ARM_LR, -24) && is_at(e, line, 19, -16));
	CHECK(cfa_is(e, 8, 29, 32) && is_at(e, 8, 19, -16) && is_at(e, 8, 29, -32));
	CHECK(cfa_is(e, 9, ARM_SP, 32) && is_at(e, 9, 19, -16) && is_at(e, 9, ARM_LR, -24));
	CHECK(cfa_is(e, 10, ARM_SP, 32) && is_as_it_was(e, 10, 19) && is_at(e, 10, ARM_LR, -24));
	CHECK(cfa_is(e, 11, ARM_SP, 0) && is_as_it_was(e, 11, ARM_LR) && is_as_it_was(e, 11, 29));
	CHECK(cfa_is(e, 12, 29, 32) && is_at(e, 12, ARM_LR, -24));
}

TEST(test_ends__arm64)
{
	static struct example e;

	CHECK(compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ arm_rules, sizeof(arm_rules) }, arm_code, 18));
	check_arm(&e);
	// the frame is not known by the stack pointer, so a jump proves nothing
	CHECK(cfa_is(&e, 13, 29, 32) && cfa_is(&e, 16, 29, 32) && cfa_is(&e, 17, 29, 32));
	pd_unwind_table_fini(&e.table);
	CHECK(compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ arm_early, sizeof(arm_early) }, arm_code, 18));
	check_arm(&e);
	pd_unwind_table_fini(&e.table);
}

// CFA = sp + 48 from line 1 on, where nothing is saved.
static const uint8_t arm_leaf[] = { COMMON(31, 30),
				    FUNCTION(24, 0, 32, 0x41, 0x0e, 48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };

// Nothing but the CFA at the begin.
static const uint8_t arm_whole[] = { COMMON(31, 30),
				     FUNCTION(24, 0, 240, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) };

TEST(test_ends__jumps)
{
	static const uint32_t code[] = {
		0xd100c3ff, // 0: sub sp, sp, #48
		0xb4000060, // 1: cbz x0, 4
		0x14001000, // 2: b, to a part of this function that is elsewhere
		0x14000002, // 3: b 5
		0x9100c3ff, // 4: add sp, sp, #48
		0x14001000, // 5: b, to another function
		0x9100c3ff, // 6: add sp, sp, #48
		0x14001000, // 7: b, to another function
	};
	static struct example e;

	CHECK(compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ arm_leaf, sizeof(arm_leaf) }, code, 8));
	CHECK(cfa_is(&e, 0, ARM_SP, 0) && cfa_is(&e, 1, ARM_SP, 48) && cfa_is(&e, 2, ARM_SP, 48) &&
	      cfa_is(&e, 3, ARM_SP, 48));
	CHECK(cfa_is(&e, 4, ARM_SP, 48) && cfa_is(&e, 5, ARM_SP, 0));
	CHECK(cfa_is(&e, 6, ARM_SP, 48) && cfa_is(&e, 7, ARM_SP, 0) && !rule_at(&e.table, BASE + 32));
	pd_unwind_table_fini(&e.table);
}

// ---- ppc64le ----

static const uint32_t power_code[] = {
	0x7c0802a6, // 0: mflr 0
	0xfbc1fff0, // 1: std 30, -16(1)
	0x7c3e0b78, // 2: mr 30, 1
	0xf8010010, // 3: std 0, 16(1)
	0xf821ff91, // 4: stdu 1, -112(1)
	0x38600001, // 5: li 3, 1
	0x48000101, // 6: bl
	0x60000000, // 7: nop
	0x38210070, // 8: addi 1, 1, 112
	0xe8010010, // 9: ld 0, 16(1)
	0xebc1fff0, // 10: ld 30, -16(1)
	0x7c0803a6, // 11: mtlr 0
	0x4e800020, // 12: blr
	0x60000000, // 13: nop
};
// CFA = r1 + 112 from line 1 on, r30 at 16 bytes below it, LR at 16 above it: as clang has it, four instructions too early.
static const uint8_t power_rules[] = { COMMON(1, 65), FUNCTION(24, 0, 56, 0x41, 0x0e, 112, 0x9e, 2, 0x11, 65, 0x7e, 0,
							       0, 0, 0, 0, 0, 0) };

static void check_power(const struct example *e)
{
	const unsigned lr = PD_UNWIND_EXTRA;

	for (unsigned line = 0; line <= 3; line++)
		CHECK(cfa_is(e, line, POWER_SP, 0) && is_as_it_was(e, line, lr));
	CHECK(is_as_it_was(e, 2, 30) && is_at(e, 3, 30, -16));
	CHECK(cfa_is(e, 4, POWER_SP, 0) && is_at(e, 4, 30, -16));
	for (unsigned line = 5; line <= 8; line++)
		CHECK(cfa_is(e, line, POWER_SP, 112) && is_at(e, line, 30, -16) && is_at(e, line, lr, 16));
	CHECK(cfa_is(e, 9, POWER_SP, 0) && is_at(e, 9, lr, 16) && is_at(e, 9, 30, -16));
	CHECK(cfa_is(e, 10, POWER_SP, 0) && has_saved(&e->table, BASE + 40, lr, PD_SAVED_REGISTER, 0));
	CHECK(is_at(e, 10, 30, -16) && is_as_it_was(e, 11, 30));
	CHECK(has_saved(&e->table, BASE + 44, lr, PD_SAVED_REGISTER, 0) && is_as_it_was(e, 12, lr));
	CHECK(cfa_is(e, 12, POWER_SP, 0) && cfa_is(e, 13, POWER_SP, 112));
}

TEST(test_ends__power)
{
	static struct example e;

	CHECK(compile(&e, PD_ARCH_POWERPC, (struct pd_bytes){ power_rules, sizeof(power_rules) }, power_code, 14));
	check_power(&e);
	pd_unwind_table_fini(&e.table);
}

// ---- riscv64 ----

static const uint8_t riscv_code[] = {
	0x13, 0x01, 0x01, 0x81, // 0: addi sp, sp, -2032
	0x23, 0x34, 0x11, 0x7e, // 2: sd ra, 2024(sp)
	0x23, 0x30, 0x81, 0x7e, // 4: sd s0, 2016(sp)
	0xb7, 0x15, 0x00, 0x00, // 6: lui a1, 1
	0x9b, 0x85, 0x05, 0xfa, // 8: addiw a1, a1, -96
	0x33, 0x01, 0xb1, 0x40, // 10: sub sp, sp, a1
	0x97, 0x00, 0x00, 0x00, // 12: auipc ra, 0
	0xe7, 0x80, 0x00, 0x01, // 14: jalr 16(ra)
	0x85, 0x65,             // 16: lui a1, 1
	0x9b, 0x85, 0x05, 0xfa, // 17: addiw a1, a1, -96
	0x2e, 0x91,             // 19: add sp, sp, a1
	0x83, 0x30, 0x81, 0x7e, // 20: ld ra, 2024(sp)
	0x03, 0x34, 0x01, 0x7e, // 22: ld s0, 2016(sp)
	0x13, 0x01, 0x01, 0x7f, // 24: addi sp, sp, 2032
	0x82, 0x80,             // 26: ret
	0x82, 0x80,             // 27: ret
};
// CFA = sp + 2032 after the first instruction, ra and s0 there after the third one, CFA = sp + 6032 from line 12 on.
static const uint8_t riscv_rules[] = { COMMON(2, 1), FUNCTION(24, 0, 56, 0x41, 0x0e, 0xf0, 0x0f, 0x42, 0x81, 1, 0x88, 2,
							      0x43, 0x0e, 0x90, 0x2f, 0, 0) };
static const struct function riscv = {
	PD_ARCH_RISCV, PD_REGS_ABI_64, { riscv_rules, sizeof(riscv_rules) }, { riscv_code, sizeof(riscv_code) }, false
};

TEST(test_ends__riscv)
{
	static struct example example = { .unit = 2 };
	const struct example *e = &example;

	CHECK(compile_function(&example, &riscv));
	CHECK(cfa_is(e, 0, 2, 0) && cfa_is(e, 2, 2, 2032) && is_as_it_was(e, 2, 1) && cfa_is(e, 10, 2, 2032));
	for (unsigned line = 12; line <= 19; line++)
		CHECK(cfa_is(e, line, 2, 6032) && is_at(e, line, 1, -8) && is_at(e, line, 8, -16));
	CHECK(cfa_is(e, 20, 2, 2032) && is_at(e, 20, 1, -8) && is_at(e, 20, 8, -16));
	CHECK(cfa_is(e, 22, 2, 2032) && is_as_it_was(e, 22, 1) && is_at(e, 22, 8, -16));
	CHECK(cfa_is(e, 24, 2, 2032) && is_as_it_was(e, 24, 8) && cfa_is(e, 26, 2, 0) && is_as_it_was(e, 26, 8));
	CHECK(cfa_is(e, 27, 2, 0) && is_as_it_was(e, 27, 1));
	pd_unwind_table_fini(&example.table);
}

// ---- s390x ----

static const uint8_t s390_code[] = {
	0xeb, 0xdf, 0xf0, 0x68, 0x00, 0x24, // 0: stmg %r13, %r15, 104(%r15)
	0xa7, 0xfb, 0xff, 0x38,             // 3: aghi %r15, -200
	0xc0, 0xe5, 0xff, 0xff, 0xff, 0xde, // 5: brasl %r14
	0xeb, 0xdf, 0xf1, 0x30, 0x00, 0x04, // 8: lmg %r13, %r15, 304(%r15)
	0x07, 0xfe,                         // 11: br %r14
	0x07, 0x07,                         // 12: nopr
};
static const uint8_t s390_rules[] = { COMMON_OF(15, 160, 14, 2), FUNCTION(24, 0, 26, 0x43, 0x8d, 7, 0x8e, 6, 0x8f, 5,
									  0x42, 0x0e, 0xe8, 2, 0, 0, 0, 0) };
static const struct function s390 = {
	PD_ARCH_S390, PD_REGS_ABI_64, { s390_rules, sizeof(s390_rules) }, { s390_code, sizeof(s390_code) }, true
};

TEST(test_ends__s390)
{
	static struct example example = { .unit = 2 };
	const struct example *e = &example;

	CHECK(compile_function(&example, &s390));
	CHECK(cfa_is(e, 0, 15, 160) && cfa_is(e, 3, 15, 160) && is_at(e, 3, 14, -48) && is_at(e, 3, 13, -56));
	CHECK(cfa_is(e, 5, 15, 360) && is_at(e, 5, 14, -48) && cfa_is(e, 8, 15, 360) && is_at(e, 8, 15, -40));
	CHECK(cfa_is(e, 11, 15, 160) && is_as_it_was(e, 11, 14) && is_as_it_was(e, 11, 13) && is_as_it_was(e, 11, 15));
	CHECK(cfa_is(e, 12, 15, 360) && is_at(e, 12, 14, -48));
	pd_unwind_table_fini(&example.table);
}

// ---- mips ----

static const uint8_t mips_code[] = {
	0x27, 0xbd, 0xff, 0xf0, // 0: addiu $sp, $sp, -16
	0xaf, 0xbf, 0x00, 0x08, // 1: sw $ra, 8($sp)
	0xaf, 0xbe, 0x00, 0x00, // 2: sw $fp, 0($sp)
	0x03, 0xa0, 0xf0, 0x25, // 3: move $fp, $sp
	0x27, 0xbd, 0xff, 0xf0, // 4: addiu $sp, $sp, -16
	0x0c, 0x00, 0x84, 0xc5, // 5: jal
	0x00, 0x20, 0x20, 0x25, // 6: move $4, $1
	0x03, 0xc0, 0xe8, 0x25, // 7: move $sp, $fp
	0x8f, 0xbe, 0x00, 0x00, // 8: lw $fp, 0($sp)
	0x8f, 0xbf, 0x00, 0x08, // 9: lw $ra, 8($sp)
	0x03, 0xe0, 0x00, 0x08, // 10: jr $ra
	0x27, 0xbd, 0x00, 0x10, // 11: addiu $sp, $sp, 16
	0x10, 0x00, 0xff, 0xf8, // 12: b 5
	0x27, 0xbd, 0x00, 0x20, // 13: addiu $sp, $sp, 32
	0x03, 0xe0, 0x00, 0x08, // 14: jr $ra
	0x00, 0x00, 0x00, 0x00, // 15: nop
};
// The frame is known by fp from line 4 on.
static const uint8_t mips_rules[] = { COMMON(29, 31), FUNCTION(24, 0, 64, 0x41, 0x0e, 16, 0x42, 0x9f, 1, 0x9e, 2, 0x41,
							       0x0d, 30, 0, 0, 0, 0) };
static const struct function mips = {
	PD_ARCH_MIPS, PD_REGS_ABI_32, { mips_rules, sizeof(mips_rules) }, { mips_code, sizeof(mips_code) }, true
};

TEST(test_ends__mips)
{
	static struct example example = { .unit = 4 };
	const struct example *e = &example;

	CHECK(compile_function(&example, &mips));
	CHECK(cfa_is(e, 0, 29, 0) && cfa_is(e, 1, 29, 16) && is_as_it_was(e, 1, 31) && is_at(e, 3, 31, -8));
	for (unsigned line = 4; line <= 7; line++)
		CHECK(cfa_is(e, line, 30, 16) && is_at(e, line, 31, -8) && is_at(e, line, 30, -16));
	CHECK(cfa_is(e, 8, 29, 16) && is_at(e, 8, 31, -8) && is_at(e, 8, 30, -16));
	CHECK(cfa_is(e, 9, 29, 16) && is_at(e, 9, 31, -8) && is_as_it_was(e, 9, 30));
	// what is run before the return
	CHECK(cfa_is(e, 10, 29, 16) && is_as_it_was(e, 10, 31) && cfa_is(e, 11, 29, 16) && is_as_it_was(e, 11, 31));
	// nothing leads from what is run with a jump to the next instruction
	CHECK(cfa_is(e, 12, 30, 16) && cfa_is(e, 13, 30, 16) && cfa_is(e, 14, 29, 0) && cfa_is(e, 15, 29, 0));
	pd_unwind_table_fini(&example.table);
}

// ---- arm ----

static const uint8_t arm32_code[] = {
	0x30, 0x48, 0x2d, 0xe9, // 0: push {r4, r5, r11, lr}
	0x28, 0xd0, 0x4d, 0xe2, // 1: sub sp, sp, #40
	0x00, 0x00, 0x00, 0xeb, // 2: bl
	0x28, 0xd0, 0x8d, 0xe2, // 3: add sp, sp, #40
	0x30, 0x88, 0xbd, 0xe8, // 4: pop {r4, r5, r11, pc}
	0x00, 0x00, 0x50, 0xe3, // 5: cmp r0, #0, of another function with the same frame
	0x1e, 0xff, 0x2f, 0x01, // 6: bxeq lr
	0x30, 0x48, 0x2d, 0xe9, // 7: push {r4, r5, r11, lr}
	0x28, 0xd0, 0x4d, 0xe2, // 8: sub sp, sp, #40
	0x00, 0x00, 0x00, 0xeb, // 9: bl
	0x28, 0xd0, 0x8d, 0xe2, // 10: add sp, sp, #40
	0x30, 0x48, 0xbd, 0xe8, // 11: pop {r4, r5, r11, lr}
	0x00, 0x10, 0x00, 0xea, // 12: b, to another function
};
static const uint8_t thumb_code[] = {
	0xb0, 0xb5,             // 0: push {r4, r5, r7, lr}
	0x8a, 0xb0,             // 1: sub sp, #40
	0xff, 0xf7, 0xd3, 0xff, // 2: bl
	0x0a, 0xb0,             // 4: add sp, #40
	0xb0, 0xbd,             // 5: pop {r4, r5, r7, pc}
	0x00, 0x28,             // 6: cmp r0, #0, of another function
	0xf8, 0xd0,             // 7: beq
	0xb0, 0xb5,             // 8: push {r4, r5, r7, lr}
	0x8a, 0xb0,             // 9: sub sp, #40
	0xff, 0xf7, 0xd3, 0xff, // 10: bl
};

// A list of .ARM.exidx with one entry: 40 bytes, and then the registers of a mask, from r4 on, and lr.
static bool compile_listed(struct example *e, struct pd_bytes code_bytes, uint8_t mask)
{
	const struct pd_unwind_arch *arch = pd_unwind_arch_of(PD_ARCH_ARM, PD_REGS_ABI_32);
	const struct pd_code code = {
		.effects = pd_effects_of(arch), .bytes = code_bytes, .addr = BASE, .swap = PD_HOST_BIG
	};
	// it is at ROOM, and refers to what is as far before it
	const uint8_t list[] = { 0, (uint8_t)(0x100 - ROOM / 256), 0xff, 0x7f, mask, 0x84, 0x09, 0x80 };
	const struct pd_exidx exidx = { .memory = { list, sizeof(list) },
					.memory_addr = BASE + ROOM,
					.addr = BASE + ROOM,
					.size = sizeof(list),
					.code_end = BASE + code_bytes.size,
					.code = &code };

	if (!pd_unwind_table_init(&e->table, BASE))
		return false;
	if (pd_exidx_compile(&exidx, arch, &e->table))
		return true;
	pd_unwind_table_fini(&e->table);
	return false;
}

static bool compile_arm32(struct example *e)
{
	return compile_listed(e, (struct pd_bytes){ arm32_code, sizeof(arm32_code) }, 0x83);
}

// Begins and ends of both functions.
static void check_arm32(const struct example *e)
{
	for (unsigned line = 0; line <= 7; line += line ? 1 : 5)
		CHECK(cfa_is(e, line, 13, 0) && is_as_it_was(e, line, 14) && is_as_it_was(e, line, 4));
	CHECK(cfa_is(e, 12, 13, 0) && is_as_it_was(e, 12, 14));
	for (unsigned line = 1; line <= 8; line += 7)
		CHECK(cfa_is(e, line, 13, 16) && is_at(e, line, 4, -16) && is_at(e, line, 14, -4));
	for (unsigned line = 2; line <= 9; line += 7)
		CHECK(cfa_is(e, line, 13, 56) && cfa_is(e, line + 1, 13, 56) && is_at(e, line, 11, -8));
	CHECK(cfa_is(e, 4, 13, 16) && is_at(e, 4, 14, -4) && cfa_is(e, 11, 13, 16) && is_at(e, 11, 4, -16));
}

TEST(test_ends__arm)
{
	static struct example example = { .unit = 4 };
	const struct example *e = &example;

	CHECK(compile_arm32(&example));
	check_arm32(e);
	pd_unwind_table_fini(&example.table);
	example.unit = 2;
	CHECK(compile_listed(&example, (struct pd_bytes){ thumb_code, sizeof(thumb_code) }, 0x0b));
	CHECK(cfa_is(e, 0, 13, 0) && cfa_is(e, 1, 13, 16) && is_at(e, 1, 7, -8) && is_at(e, 1, 14, -4));
	CHECK(cfa_is(e, 2, 13, 56) && cfa_is(e, 4, 13, 56) && is_at(e, 4, 14, -4));
	CHECK(cfa_is(e, 5, 13, 16) && is_at(e, 5, 14, -4) && cfa_is(e, 6, 13, 0) && cfa_is(e, 7, 13, 0));
	CHECK(cfa_is(e, 8, 13, 0) && cfa_is(e, 9, 13, 16) && is_at(e, 9, 4, -16) && cfa_is(e, 10, 13, 56));
	pd_unwind_table_fini(&example.table);
}

TEST(test_ends__arm_without_memory)
{
	static struct example e = { .unit = 4 };
	bool done = false;

	for (long n = 0; !done && n < 1000; n++) {
		left = n;
		done = compile_arm32(&e);
		CHECK(done == (left >= 0));
		left = -1;
		CHECK(done || live == 0);
	}
	CHECK(done);
	check_arm32(&e);
	pd_unwind_table_fini(&e.table);
	CHECK(live == 0);
}

TEST(test_ends__without_memory)
{
	static struct example e;
	bool done = false;

	for (long n = 0; !done && n < 1000; n++) {
		left = n;
		done = compile(&e, PD_ARCH_POWERPC, (struct pd_bytes){ power_rules, sizeof(power_rules) }, power_code,
			       14);
		if (left >= 0)
			CHECK(done);
		left = -1;
		CHECK(done || live == 0);
	}
	CHECK(done);
	check_power(&e);
	pd_unwind_table_fini(&e.table);
	CHECK(live == 0);
}

// A new rule at each instruction, so that memory for them ends here, too.
TEST(test_ends__without_memory_for_rules)
{
	static struct example e;
	uint32_t code[64];
	bool done = false;

	for (size_t i = 0; i < 64; i++)
		code[i] = 0xd10043ff; // sub sp, sp, #16
	for (long n = 0; !done && n < 1000; n++) {
		left = n;
		done = compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ arm_whole, sizeof(arm_whole) }, code, 64);
		CHECK(done == (left >= 0));
		left = -1;
		CHECK(done || live == 0);
	}
	CHECK(done);
	for (unsigned line = 0; line < 60; line++)
		CHECK(cfa_is(&e, line, ARM_SP, 16 * (int32_t)line));
	pd_unwind_table_fini(&e.table);
	CHECK(live == 0);
}

// ---- what is hostile ----

// All functions are the same one: its code is looked at once.
TEST(test_ends__again_and_again)
{
	enum {
		FUNCTIONS = 5000,
		CODE = ROOM / 4,
		SIZE = 32
	};
	static uint8_t rules[24 + FUNCTIONS * SIZE] = { COMMON(31, 30) };
	static uint32_t code[CODE];
	static struct example e;

	for (size_t i = 0; i < CODE; i++)
		code[i] = i % 2 ? 0xd65f03c0 : 0xf9400bf3; // ret, ldr x19, [sp, #16]
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		const uint32_t words[] = { SIZE - 4, 24 + i * SIZE + 4, BASE, ROOM };

		memcpy(rules + 24 + i * SIZE, words, sizeof(words));
	}
	CHECK(compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ rules, sizeof(rules) }, code, CODE));
	CHECK(is_at(&e, 2, 19, 16) && is_as_it_was(&e, 3, 19) && e.table.row_capacity < 10 * FUNCTIONS);
	pd_unwind_table_fini(&e.table);
}

// Code ends before the function does, and may be anything.
TEST(test_ends__any_code)
{
	static struct example e;
	uint32_t words[18], state = 1;

	for (size_t count = 0; count <= 18; count++) {
		CHECK(compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ arm_rules, sizeof(arm_rules) }, arm_code, count));
		CHECK(cfa_is(&e, 17, 29, 32));
		pd_unwind_table_fini(&e.table);
	}
	for (unsigned i = 0; i < 20000; i++) {
		memcpy(words, i % 2 ? power_code : arm_code, sizeof(power_code));
		for (unsigned k = 0; k < 4; k++) {
			state = state * 1664525 + 1013904223;
			words[state >> 16 & 15] ^= UINT32_C(1) << (state >> 8 & 31);
		}
		CHECK(i % 2 ? compile(&e, PD_ARCH_POWERPC, (struct pd_bytes){ power_rules, sizeof(power_rules) }, words,
				      14) :
			      compile(&e, PD_ARCH_ARM64, (struct pd_bytes){ arm_rules, sizeof(arm_rules) }, words, 14));
		for (unsigned line = 0; line < 14; line++)
			CHECK(rule_at(&e.table, BASE + e.unit * line));
		pd_unwind_table_fini(&e.table);
	}
	CHECK(live == 0);
}

TEST(test_ends__any_code_of_others)
{
	static const struct function *const all[] = { &riscv, &s390, &mips };
	static struct example e;
	uint8_t code[128];
	uint32_t state = 1;

	for (unsigned i = 0; i < 20000; i++) {
		struct function f = *all[i % (sizeof(all) / sizeof(all[0]))];

		memcpy(code, f.code.data, f.code.size);
		for (unsigned k = 0; k < 4; k++) {
			state = state * 1664525 + 1013904223;
			code[(state >> 16) % f.code.size] ^= (uint8_t)(1u << (state >> 8 & 7));
		}
		f.code.data = code;
		f.code.size -= i % 7;
		CHECK(compile_function(&e, &f));
		for (size_t at = 0; at < f.code.size; at++)
			CHECK(rule_at(&e.table, BASE + at));
		pd_unwind_table_fini(&e.table);
	}
	CHECK(live == 0);
}

TEST(test_ends__any_code_of_arm)
{
	static const struct pd_bytes all[] = { { arm32_code, sizeof(arm32_code) }, { thumb_code, sizeof(thumb_code) } };
	static struct example e;
	uint8_t code[sizeof(arm32_code)];
	uint32_t state = 1;

	for (unsigned i = 0; i < 20000; i++) {
		struct pd_bytes bytes = all[i % 2];

		memcpy(code, bytes.data, bytes.size);
		for (unsigned k = 0; k < 4; k++) {
			state = state * 1664525 + 1013904223;
			code[(state >> 16) % bytes.size] ^= (uint8_t)(1u << (state >> 8 & 7));
		}
		bytes.data = code;
		bytes.size -= i % 7;
		CHECK(compile_listed(&e, bytes, 0x83));
		for (size_t at = 0; at < bytes.size; at++)
			CHECK(rule_at(&e.table, BASE + at));
		pd_unwind_table_fini(&e.table);
	}
	CHECK(live == 0);
}

RUN(TEST_CASE(test_ends__arm64), TEST_CASE(test_ends__jumps), TEST_CASE(test_ends__power), TEST_CASE(test_ends__riscv),
    TEST_CASE(test_ends__s390), TEST_CASE(test_ends__mips), TEST_CASE(test_ends__arm),
    TEST_CASE(test_ends__arm_without_memory), TEST_CASE(test_ends__without_memory),
    TEST_CASE(test_ends__without_memory_for_rules), TEST_CASE(test_ends__again_and_again),
    TEST_CASE(test_ends__any_code), TEST_CASE(test_ends__any_code_of_others), TEST_CASE(test_ends__any_code_of_arm))
