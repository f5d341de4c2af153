/* SPDX-License-Identifier: MIT */
/* Numbers of registers, which are those of the kernel's perf_regs.h, and names of machines. */
#include "format/layout.h"
#include "../test.h"

#include <strings.h>

static const struct {
	enum pd_arch arch;
	unsigned number;
	const char *name; // NULL: there is none
} registers[] = {
	{ PD_ARCH_X86, 0, "AX" },        { PD_ARCH_X86, 8, "IP" },        { PD_ARCH_X86, 9, "FLAGS" },
	{ PD_ARCH_X86, 15, "GS" },       { PD_ARCH_X86, 16, "R8" },       { PD_ARCH_X86, 23, "R15" },
	{ PD_ARCH_X86, 24, NULL },       { PD_ARCH_X86, 31, NULL },       { PD_ARCH_X86, 32, "XMM0" },
	{ PD_ARCH_X86, 62, "XMM15" },    { PD_ARCH_X86, 64, NULL },       { PD_ARCH_ARM, 11, "fp" },
	{ PD_ARCH_ARM, 15, "pc" },       { PD_ARCH_ARM, 16, NULL },       { PD_ARCH_ARM64, 29, "x29" },
	{ PD_ARCH_ARM64, 30, "lr" },     { PD_ARCH_ARM64, 31, "sp" },     { PD_ARCH_ARM64, 32, "pc" },
	{ PD_ARCH_ARM64, 33, NULL },     { PD_ARCH_ARM64, 46, "vg" },     { PD_ARCH_POWERPC, 32, "nip" },
	{ PD_ARCH_POWERPC, 36, "link" }, { PD_ARCH_POWERPC, 41, "dar" },  { PD_ARCH_POWERPC, 42, "dsisr" },
	{ PD_ARCH_POWERPC, 56, "pmc6" }, { PD_ARCH_S390, 15, "R15" },     { PD_ARCH_S390, 16, "FP0" },
	{ PD_ARCH_S390, 32, "MASK" },    { PD_ARCH_S390, 33, "PC" },      { PD_ARCH_RISCV, 0, "pc" },
	{ PD_ARCH_RISCV, 2, "sp" },      { PD_ARCH_RISCV, 10, "a0" },     { PD_ARCH_RISCV, 31, "t6" },
	{ PD_ARCH_UNKNOWN, 0, NULL },    { (enum pd_arch)1000, 0, NULL },
};

TEST(test_regs__numbers)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		const char *name = pd_register_name(registers[i].arch, registers[i].number);

		// upper and lower case are a matter of taste
		CHECK(!name == !registers[i].name);
		CHECK(!name || strcasecmp(name, registers[i].name) == 0);
	}
}

TEST(test_regs__machines_by_name)
{
	CHECK(pd_arch_by_name("x86_64") == PD_ARCH_X86 && pd_arch_by_name("i686") == PD_ARCH_X86);
	CHECK(pd_arch_by_name("aarch64") == PD_ARCH_ARM64 && pd_arch_by_name("arm64") == PD_ARCH_ARM64);
	CHECK(pd_arch_by_name("armv7l") == PD_ARCH_ARM && pd_arch_by_name("ppc64le") == PD_ARCH_POWERPC);
	CHECK(pd_arch_by_name("s390x") == PD_ARCH_S390 && pd_arch_by_name("riscv64") == PD_ARCH_RISCV);
	CHECK(pd_arch_by_name("mips64") == PD_ARCH_MIPS && pd_arch_by_name("loongarch64") == PD_ARCH_LOONGARCH);
	CHECK(pd_arch_by_name("") == PD_ARCH_UNKNOWN && pd_arch_by_name(NULL) == PD_ARCH_UNKNOWN);
	CHECK(pd_arch_by_name("vax") == PD_ARCH_UNKNOWN);
}

TEST(test_regs__machines_by_elf)
{
	CHECK(pd_arch_by_elf(62) == PD_ARCH_X86 && pd_arch_by_elf(183) == PD_ARCH_ARM64);
	CHECK(pd_arch_by_elf(22) == PD_ARCH_S390 && pd_arch_by_elf(0) == PD_ARCH_UNKNOWN);
}

RUN(TEST_CASE(test_regs__numbers), TEST_CASE(test_regs__machines_by_name), TEST_CASE(test_regs__machines_by_elf))
