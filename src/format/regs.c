/* SPDX-License-Identifier: MIT */
/* Names of registers by machine. Source: arch/<machine>/include/uapi/asm/perf_regs.h of Linux. */
#include <string.h>

#include <perfdata/format.h>

static const char *const x86[] = {
	"AX",     "BX",    "CX",     "DX",    "SI",     "DI",    "BP",     "SP",    "IP",     "FLAGS",  "CS",
	"SS",     "DS",    "ES",     "FS",    "GS",     "R8",    "R9",     "R10",   "R11",    "R12",    "R13",
	"R14",    "R15",   NULL,     NULL,    NULL,     NULL,    NULL,     NULL,    NULL,     NULL,     "XMM0",
	"XMM0H",  "XMM1",  "XMM1H",  "XMM2",  "XMM2H",  "XMM3",  "XMM3H",  "XMM4",  "XMM4H",  "XMM5",   "XMM5H",
	"XMM6",   "XMM6H", "XMM7",   "XMM7H", "XMM8",   "XMM8H", "XMM9",   "XMM9H", "XMM10",  "XMM10H", "XMM11",
	"XMM11H", "XMM12", "XMM12H", "XMM13", "XMM13H", "XMM14", "XMM14H", "XMM15", "XMM15H",
};
static const char *const arm[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};
static const char *const arm64[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
	"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",
	"pc",  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  "vg",
};
static const char *const powerpc[] = {
	"r0",    "r1",    "r2",    "r3",    "r4",   "r5",   "r6",    "r7",   "r8",    "r9",    "r10",     "r11",
	"r12",   "r13",   "r14",   "r15",   "r16",  "r17",  "r18",   "r19",  "r20",   "r21",   "r22",     "r23",
	"r24",   "r25",   "r26",   "r27",   "r28",  "r29",  "r30",   "r31",  "nip",   "msr",   "orig_r3", "ctr",
	"link",  "xer",   "ccr",   "softe", "trap", "dar",  "dsisr", "sier", "mmcra", "mmcr0", "mmcr1",   "mmcr2",
	"mmcr3", "sier2", "sier3", "pmc1",  "pmc2", "pmc3", "pmc4",  "pmc5", "pmc6",
};
static const char *const s390[] = {
	"R0",  "R1",  "R2",   "R3",   "R4",   "R5",   "R6",   "R7",   "R8",   "R9",  "R10", "R11",
	"R12", "R13", "R14",  "R15",  "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5", "FP6", "FP7",
	"FP8", "FP9", "FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};
static const char *const riscv[] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static const char *const mips[] = {
	"PC",  "$1",  "$2",  "$3",  "$4",  "$5",  "$6",  "$7",  "$8",  "$9",  "$10", "$11", "$12", "$13", "$14", "$15",
	"$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29", "$30", "$31",
};
static const char *const loongarch[] = {
	"PC",   "%r1",  "%r2",  "%r3",  "%r4",  "%r5",  "%r6",  "%r7",  "%r8",  "%r9",  "%r10",
	"%r11", "%r12", "%r13", "%r14", "%r15", "%r16", "%r17", "%r18", "%r19", "%r20", "%r21",
	"%r22", "%r23", "%r24", "%r25", "%r26", "%r27", "%r28", "%r29", "%r30", "%r31",
};
static const char *const csky[] = {
	"tls",      "lr",       "pc",       "sr",      "sp",      "orig_a0", "a0",       "a1",
	"a2",       "a3",       "regs0",    "regs1",   "regs2",   "regs3",   "regs4",    "regs5",
	"regs6",    "regs7",    "regs8",    "regs9",   "exregs0", "exregs1", "exregs2",  "exregs3",
	"exregs4",  "exregs5",  "exregs6",  "exregs7", "exregs8", "exregs9", "exregs10", "exregs11",
	"exregs12", "exregs13", "exregs14", "hi",      "lo",      "dcsr",
};

#define NAMES(list)                                  \
	{                                            \
		list, sizeof(list) / sizeof(list[0]) \
	}
static const struct {
	const char *const *names;
	unsigned count;
} machines[] = {
	[PD_ARCH_X86] = NAMES(x86),     [PD_ARCH_ARM] = NAMES(arm),
	[PD_ARCH_ARM64] = NAMES(arm64), [PD_ARCH_POWERPC] = NAMES(powerpc),
	[PD_ARCH_S390] = NAMES(s390),   [PD_ARCH_RISCV] = NAMES(riscv),
	[PD_ARCH_MIPS] = NAMES(mips),   [PD_ARCH_LOONGARCH] = NAMES(loongarch),
	[PD_ARCH_CSKY] = NAMES(csky),
};

const char *pd_register_name(enum pd_arch arch, unsigned number)
{
	if ((unsigned)arch >= sizeof(machines) / sizeof(machines[0]) || number >= machines[arch].count)
		return NULL;
	return machines[arch].names[number];
}

// By how the name begins, the longer first: uname -m has many endings (armv7l, ppc64le, s390x, i686).
enum pd_arch pd_arch_by_name(const char *name)
{
	static const struct {
		const char *prefix;
		enum pd_arch arch;
	} prefixes[] = {
		{ "x86", PD_ARCH_X86 },       { "i386", PD_ARCH_X86 },        { "i486", PD_ARCH_X86 },
		{ "i586", PD_ARCH_X86 },      { "i686", PD_ARCH_X86 },        { "amd64", PD_ARCH_X86 },
		{ "aarch64", PD_ARCH_ARM64 }, { "arm64", PD_ARCH_ARM64 },     { "arm", PD_ARCH_ARM },
		{ "ppc", PD_ARCH_POWERPC },   { "powerpc", PD_ARCH_POWERPC }, { "s390", PD_ARCH_S390 },
		{ "riscv", PD_ARCH_RISCV },   { "mips", PD_ARCH_MIPS },       { "loongarch", PD_ARCH_LOONGARCH },
		{ "csky", PD_ARCH_CSKY },
	};

	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
			return prefixes[i].arch;
	return PD_ARCH_UNKNOWN;
}

// Numbers of elf.h.
enum pd_arch pd_arch_by_elf(uint32_t e_machine)
{
	static const struct {
		uint32_t e_machine;
		enum pd_arch arch;
	} machines_of_elf[] = {
		{ 3, PD_ARCH_X86 },      { 62, PD_ARCH_X86 },        { 40, PD_ARCH_ARM },   { 183, PD_ARCH_ARM64 },
		{ 20, PD_ARCH_POWERPC }, { 21, PD_ARCH_POWERPC },    { 22, PD_ARCH_S390 },  { 243, PD_ARCH_RISCV },
		{ 8, PD_ARCH_MIPS },     { 258, PD_ARCH_LOONGARCH }, { 252, PD_ARCH_CSKY },
	};

	for (size_t i = 0; i < sizeof(machines_of_elf) / sizeof(machines_of_elf[0]); i++)
		if (machines_of_elf[i].e_machine == e_machine)
			return machines_of_elf[i].arch;
	return PD_ARCH_UNKNOWN;
}
