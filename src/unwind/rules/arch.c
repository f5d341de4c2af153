/* SPDX-License-Identifier: MIT */
/* Sources: the psABI documents of the architectures for numbers of DWARF, asm/perf_regs.h of Linux for those of perf. */
#include "unwind/rules/arch.h"

#include <stddef.h>
#include <string.h>

enum {
	NONE = PD_UNWIND_NO_REGISTER
};

#define ALL_BITS UINT64_MAX
#define LOW_32 UINT64_C(0xffffffff)
// What user addresses have; pointer authentication uses the rest.
#define ARM64_ADDRESS UINT64_C(0x0000ffffffffffff)

static const uint8_t x86_64[] = { 0,    3,    2,    1,    4, 5, 6,  7,  16, NONE, NONE, NONE,
				  NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,   14,   15 };
static const uint8_t x86_32[] = { 0, 3, 1, 2, 6, 7, 5, 4, 8 };
static const uint8_t arm[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
static const uint8_t same_32[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
// The first is the program counter.
static const uint8_t after_pc[] = { NONE, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				    16,   17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
static const uint8_t power[] = { 0,
				 1,
				 2,
				 3,
				 4,
				 5,
				 6,
				 7,
				 8,
				 9,
				 10,
				 11,
				 12,
				 13,
				 14,
				 15,
				 16,
				 17,
				 18,
				 19,
				 20,
				 21,
				 22,
				 23,
				 24,
				 25,
				 26,
				 27,
				 28,
				 29,
				 30,
				 31,
				 NONE,
				 NONE,
				 NONE,
				 NONE,
				 PD_UNWIND_EXTRA };
// Floating-point registers are numbered by pairs.
static const uint8_t s390[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31 };
static const uint8_t csky[] = { NONE, 15, NONE, NONE, 14, NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };

#define REGISTERS(list) .registers = (list), .register_count = sizeof(list)

static const struct {
	enum pd_arch machine;
	uint64_t abi; // 0: any
	struct pd_unwind_arch arch;
} architectures[] = {
	{ PD_ARCH_X86,
	  PD_REGS_ABI_32,
	  { REGISTERS(x86_32), .pc = 8, .word = 4, .sp = 4, .fp = 5, .ra = 8, .extra = NONE,
	    .fallback = PD_FALLBACK_PAIR, .code_mask = LOW_32, .elf_machine = 3 } },
	{ PD_ARCH_X86,
	  0,
	  { REGISTERS(x86_64), .pc = 8, .word = 8, .sp = 7, .fp = 6, .ra = 16, .extra = NONE,
	    .fallback = PD_FALLBACK_PAIR, .code_mask = ALL_BITS, .elf_machine = 62 } },
	{ PD_ARCH_ARM,
	  0,
	  { REGISTERS(arm), .pc = 15, .word = 4, .sp = 13, .fp = 11, .ra = 14, .extra = NONE,
	    .fallback = PD_FALLBACK_ARM, .has_link = true, .code_mask = LOW_32 - 1, .elf_machine = 40 } },
	{ PD_ARCH_ARM64,
	  PD_REGS_ABI_32,
	  { REGISTERS(arm), .pc = 15, .word = 4, .sp = 13, .fp = 11, .ra = 14, .extra = NONE,
	    .fallback = PD_FALLBACK_ARM, .has_link = true, .code_mask = LOW_32 - 1, .elf_machine = 40 } },
	{ PD_ARCH_ARM64,
	  0,
	  { REGISTERS(same_32), .pc = 32, .word = 8, .sp = 31, .fp = 29, .ra = 30, .extra = NONE,
	    .fallback = PD_FALLBACK_PAIR, .has_link = true, .code_mask = ARM64_ADDRESS, .elf_machine = 183 } },
	{ PD_ARCH_POWERPC,
	  PD_REGS_ABI_32,
	  { REGISTERS(power), .pc = 32, .word = 4, .sp = 1, .fp = 31, .ra = PD_UNWIND_EXTRA, .extra = 65,
	    .fallback = PD_FALLBACK_POWER, .has_link = true, .code_mask = LOW_32, .elf_machine = 20 } },
	{ PD_ARCH_POWERPC,
	  0,
	  { REGISTERS(power), .pc = 32, .word = 8, .sp = 1, .fp = 31, .ra = PD_UNWIND_EXTRA, .extra = 65,
	    .fallback = PD_FALLBACK_POWER, .has_link = true, .code_mask = ALL_BITS, .elf_machine = 21 } },
	{ PD_ARCH_S390,
	  0,
	  { REGISTERS(s390), .pc = 33, .word = 8, .sp = 15, .fp = 11, .ra = 14, .extra = 65,
	    .fallback = PD_FALLBACK_S390, .has_link = true, .below_cfa = 160, .code_mask = ALL_BITS,
	    .elf_machine = 22 } },
	{ PD_ARCH_RISCV,
	  PD_REGS_ABI_32,
	  { REGISTERS(after_pc), .pc = 0, .word = 4, .sp = 2, .fp = 8, .ra = 1, .extra = 64,
	    .fallback = PD_FALLBACK_PAIR_BELOW, .has_link = true, .code_mask = LOW_32, .elf_machine = 243 } },
	{ PD_ARCH_RISCV,
	  0,
	  { REGISTERS(after_pc), .pc = 0, .word = 8, .sp = 2, .fp = 8, .ra = 1, .extra = 64,
	    .fallback = PD_FALLBACK_PAIR_BELOW, .has_link = true, .code_mask = ALL_BITS, .elf_machine = 243 } },
	{ PD_ARCH_MIPS,
	  PD_REGS_ABI_32,
	  { REGISTERS(after_pc), .pc = 0, .word = 4, .sp = 29, .fp = 30, .ra = 31, .extra = NONE, .has_link = true,
	    .code_mask = LOW_32, .elf_machine = 8 } },
	{ PD_ARCH_MIPS,
	  0,
	  { REGISTERS(after_pc), .pc = 0, .word = 8, .sp = 29, .fp = 30, .ra = 31, .extra = NONE, .has_link = true,
	    .code_mask = ALL_BITS, .elf_machine = 8 } },
	{ PD_ARCH_LOONGARCH,
	  0,
	  { REGISTERS(after_pc), .pc = 0, .word = 8, .sp = 3, .fp = 22, .ra = 1, .extra = NONE,
	    .fallback = PD_FALLBACK_PAIR_BELOW, .has_link = true, .code_mask = ALL_BITS, .elf_machine = 258 } },
	{ PD_ARCH_CSKY,
	  0,
	  { REGISTERS(csky), .pc = 2, .word = 4, .sp = 14, .fp = 8, .ra = 15, .extra = NONE, .has_link = true,
	    .code_mask = LOW_32, .elf_machine = 252 } },
};

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

bool pd_unwind_memory_is_big(enum pd_arch machine, const char *name, bool file_is_big)
{
	switch (machine) {
	case PD_ARCH_X86:
	case PD_ARCH_RISCV:
	case PD_ARCH_LOONGARCH:
		return false;
	case PD_ARCH_S390:
		return true;
	case PD_ARCH_POWERPC:
		return name ? !ends_with(name, "le") : file_is_big;
	case PD_ARCH_ARM64:
		return name ? ends_with(name, "_be") : file_is_big;
	case PD_ARCH_ARM:
		return name ? ends_with(name, "b") : file_is_big;
	default: // the name of MIPS is the same for both
		return file_is_big;
	}
}

const struct pd_unwind_arch *pd_unwind_arch_of(enum pd_arch machine, uint64_t abi)
{
	for (size_t i = 0; i < sizeof(architectures) / sizeof(architectures[0]); i++)
		if (architectures[i].machine == machine && (!architectures[i].abi || architectures[i].abi == abi))
			return &architectures[i].arch;
	return NULL;
}
