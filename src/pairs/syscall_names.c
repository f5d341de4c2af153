/* SPDX-License-Identifier: MIT */
// System calls by number.
#include <string.h>

#include <perfdata/pairs.h>

static const struct {
	const char *name;
	int16_t x86_64, i386, generic;
} names[] = {
#define SYSCALL(name, x86_64, i386, generic) { #name, x86_64, i386, generic },
#include "pairs/syscalls.def"
};

enum {
	NUMBERS = 1024
};

// The list is short, and callers keep what they found.
const char *pd_syscall_name(enum pd_arch arch, bool is_64_bit, uint64_t number)
{
	bool is_x86 = arch == PD_ARCH_X86;

	if (number >= NUMBERS || arch == PD_ARCH_UNKNOWN)
		return NULL;
	if (!is_x86 && arch != PD_ARCH_ARM64 && arch != PD_ARCH_RISCV && arch != PD_ARCH_LOONGARCH)
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int16_t own = is_x86 ? (is_64_bit ? names[i].x86_64 : names[i].i386) : names[i].generic;

		if (own == (int16_t)number)
			return names[i].name;
	}
	return NULL;
}
