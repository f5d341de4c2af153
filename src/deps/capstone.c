/* SPDX-License-Identifier: MIT */
/* Disassembly by capstone. */
#include <capstone/capstone.h>

#include <stdio.h>
#include <string.h>

#include "annotate/notation/disassembler.h"
#include "base/memory.h"

struct handle {
	csh capstone;
	cs_insn *instruction;
};

static bool arch_of(const struct pd_code_kind *kind, cs_arch *arch_out, unsigned *mode_out)
{
	static const struct {
		enum pd_isa isa;
		cs_arch arch;
		unsigned mode;
	} kinds[] = {
		{ PD_ISA_X86_64, CS_ARCH_X86, CS_MODE_64 },
		{ PD_ISA_X86_32, CS_ARCH_X86, CS_MODE_32 },
		{ PD_ISA_ARM64, CS_ARCH_ARM64, CS_MODE_ARM },
		{ PD_ISA_ARM, CS_ARCH_ARM, CS_MODE_ARM },
		{ PD_ISA_THUMB, CS_ARCH_ARM, CS_MODE_THUMB },
		{ PD_ISA_PPC64, CS_ARCH_PPC, CS_MODE_64 },
		{ PD_ISA_PPC32, CS_ARCH_PPC, CS_MODE_32 },
		{ PD_ISA_S390X, CS_ARCH_SYSZ, CS_MODE_ARM },
		{ PD_ISA_RISCV64, CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC },
		{ PD_ISA_RISCV32, CS_ARCH_RISCV, CS_MODE_RISCV32 | CS_MODE_RISCVC },
		{ PD_ISA_MIPS64, CS_ARCH_MIPS, CS_MODE_MIPS64 },
		{ PD_ISA_MIPS32, CS_ARCH_MIPS, CS_MODE_MIPS32 },
		{ PD_ISA_BPF, CS_ARCH_BPF, CS_MODE_BPF_EXTENDED },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].isa != kind->isa)
			continue;
		*arch_out = kinds[i].arch;
		*mode_out = kinds[i].mode | (kind->big ? (unsigned)CS_MODE_BIG_ENDIAN : 0);
		return true;
	}
	return false;
}

static void close_handle(void *self)
{
	struct handle *handle = self;

	if (handle->instruction)
		cs_free(handle->instruction, 1);
	if (handle->capstone)
		cs_close(&handle->capstone);
	pd_free(handle);
}

static void *open_handle(const struct pd_code_kind *kind)
{
	struct handle *handle;
	unsigned mode;
	cs_arch arch;

	if (!arch_of(kind, &arch, &mode))
		return NULL;
	handle = pd_alloc(sizeof(*handle));
	if (!handle)
		return NULL;
	if (cs_open(arch, (cs_mode)mode, &handle->capstone) != CS_ERR_OK)
		handle->capstone = 0;
	else if (arch == CS_ARCH_X86 && !kind->intel)
		cs_option(handle->capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	handle->instruction = handle->capstone ? cs_malloc(handle->capstone) : NULL;
	if (handle->instruction)
		return handle;
	close_handle(handle);
	return NULL;
}

static void read_next(void *self, const uint8_t *code, size_t size, uint64_t addr,
		      struct pd_raw_instruction *instruction_out)
{
	struct handle *handle = self;
	const cs_insn *instruction = handle->instruction;

	instruction_out->size = 0;
	if (!cs_disasm_iter(handle->capstone, &code, &size, &addr, handle->instruction))
		return;
	instruction_out->size = instruction->size;
	snprintf(instruction_out->mnemonic, sizeof(instruction_out->mnemonic), "%s", instruction->mnemonic);
	snprintf(instruction_out->operands, sizeof(instruction_out->operands), "%s", instruction->op_str);
}

#define TEXT_OF(number) #number
#define NAME_OF(major, minor) "capstone " TEXT_OF(major) "." TEXT_OF(minor)

static const char *version(void)
{
	return NAME_OF(CS_API_MAJOR, CS_API_MINOR);
}

const struct pd_disassembler pd_disassembler_capstone = {
	.name = "capstone",
	.version = version,
	.start = open_handle,
	.close = close_handle,
	.next = read_next,
};
