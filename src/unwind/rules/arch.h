/* SPDX-License-Identifier: MIT */
/*
 * What unwinding has to know of an architecture: which register is which, in the numbers of DWARF, and what holds where no rule
 * says otherwise. Registers are kept by number, below PD_UNWIND_REGISTERS; the few that are needed and have a larger one get
 * the last of these.
 */
#ifndef PD_UNWIND_RULES_ARCH_H
#define PD_UNWIND_RULES_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include <perfdata/format.h>

enum {
	PD_UNWIND_REGISTERS = 64,
	PD_UNWIND_EXTRA = 63, // the one with a large number
	PD_UNWIND_NO_REGISTER = 255
};

// How code without rules is left.
enum pd_unwind_fallback {
	PD_FALLBACK_NONE,
	PD_FALLBACK_PAIR,       // the frame pointer points to the caller's, the return address is after it
	PD_FALLBACK_PAIR_BELOW, // both are below where it points to
	PD_FALLBACK_ARM,        // as the first one, by r11, or r7 in Thumb code
	PD_FALLBACK_POWER, // back chain: the stack pointer points to the caller's, LR is saved in the caller's frame
	PD_FALLBACK_S390   // back chain, if it was compiled so
};

struct pd_unwind_arch {
	const uint8_t *registers; // by perf's index: number of DWARF, or PD_UNWIND_NO_REGISTER
	uint8_t register_count;
	uint8_t pc;   // perf's index
	uint8_t word; // bytes
	uint8_t sp, fp, ra;
	uint8_t extra;      // number of DWARF that is kept as PD_UNWIND_EXTRA
	uint8_t fallback;   // enum pd_unwind_fallback
	bool has_link;      // functions get their return address in a register
	uint8_t below_cfa;  // the caller's stack pointer is so many bytes below the CFA
	uint64_t code_mask; // of return addresses: other bits may be signatures, or say which instruction set it is
	uint16_t elf_machine;
};

// Whether memory of such a machine is big-endian. A recording may have been converted since, but copies of memory are as they were.
// name is that of the recording ("ppc64le"), or NULL; file_is_big decides where neither says it.
bool pd_unwind_memory_is_big(enum pd_arch machine, const char *name, bool file_is_big);

// NULL if it is not known. abi is that of the registers of a sample: PD_REGS_ABI_...
const struct pd_unwind_arch *pd_unwind_arch_of(enum pd_arch machine, uint64_t abi);

// The number that a register of DWARF is kept by, or PD_UNWIND_NO_REGISTER.
static inline uint8_t pd_unwind_register(const struct pd_unwind_arch *arch, uint64_t number)
{
	if (number < PD_UNWIND_EXTRA)
		return (uint8_t)number;
	return number == arch->extra ? PD_UNWIND_EXTRA : PD_UNWIND_NO_REGISTER;
}

#endif
