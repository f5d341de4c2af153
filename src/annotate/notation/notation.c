/* SPDX-License-Identifier: MIT */
/* Which family writes an instruction, and what is printed of bytes that are none. */
#include "annotate/notation/notation.h"

#include <stdio.h>
#include <string.h>

// How far to go where nothing can be decoded.
static unsigned step_of(const struct pd_code_kind *kind, const uint8_t *code, size_t size)
{
	switch (kind->isa) {
	case PD_ISA_X86_64:
	case PD_ISA_X86_32:
		return 1;
	case PD_ISA_THUMB:
		return size >= 2 && (code[kind->big ? 0 : 1] & 0xf8) >= 0xe8 ? 4 : 2;
	case PD_ISA_RISCV64:
	case PD_ISA_RISCV32:
		return (code[0] & 3) == 3 ? 4 : 2;
	case PD_ISA_BPF:
		return 8;
	default:
		return 4;
	}
}

static void write_instruction(struct pd_notation_writer *s)
{
	switch (s->kind->isa) {
	case PD_ISA_X86_64:
	case PD_ISA_X86_32:
		(s->kind->intel ? pd_notate_intel : pd_notate_att)(s);
		break;
	case PD_ISA_ARM64:
		pd_notate_arm64(s);
		break;
	case PD_ISA_PPC64:
	case PD_ISA_PPC32:
		pd_notate_ppc(s);
		break;
	case PD_ISA_S390X:
		pd_notate_s390(s);
		break;
	case PD_ISA_RISCV64:
	case PD_ISA_RISCV32:
		pd_notate_riscv(s);
		break;
	case PD_ISA_MIPS64:
	case PD_ISA_MIPS32:
		pd_notate_mips(s);
		break;
	case PD_ISA_ARM:
	case PD_ISA_THUMB:
		pd_notate_arm(s);
		break;
	case PD_ISA_LOONGARCH64:
		pd_notate_loongarch(s);
		break;
	default:
		pd_notation_put(&s->out, s->raw->mnemonic, strlen(s->raw->mnemonic));
		if (s->raw->operands[0]) {
			pd_notation_put_tab(s);
			pd_notation_put(&s->out, s->raw->operands, strlen(s->raw->operands));
		}
	}
}

static uint32_t value_of(const struct pd_code_kind *kind, const uint8_t *code, unsigned count)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (uint32_t)code[i] << 8 * (kind->big ? count - 1 - i : i);
	return value;
}

// What is no instruction is a number, but for x86.
static void write_bad(const struct pd_code_kind *kind, const uint8_t *code, struct pd_notation *notation)
{
	uint32_t value = value_of(kind, code, notation->size <= 4 ? notation->size : 0);

	switch (kind->isa) {
	case PD_ISA_X86_64:
	case PD_ISA_X86_32:
		strcpy(notation->text, "(bad)");
		break;
	case PD_ISA_ARM64:
		snprintf(notation->text, sizeof(notation->text), ".inst   0x%08x ; undefined", value);
		break;
	case PD_ISA_THUMB:
		if (notation->size == 4)
			value = kind->big ? value : value << 16 | value >> 16;
		// fallthrough
	case PD_ISA_ARM:
		snprintf(notation->text, sizeof(notation->text), "                @ <UNDEFINED> instruction: 0x%0*x",
			 (int)(2 * notation->size), value);
		break;
	case PD_ISA_RISCV64:
	case PD_ISA_RISCV32:
		snprintf(notation->text, sizeof(notation->text), ".%ubyte  0x%x", notation->size, value);
		break;
	case PD_ISA_S390X:
		snprintf(notation->text, sizeof(notation->text), "%-7s 0x%0*x",
			 notation->size == 4 ? ".long" :
			 notation->size == 2 ? ".short" :
					       ".byte",
			 (int)(2 * notation->size), value);
		break;
	case PD_ISA_PPC64:
	case PD_ISA_PPC32:
		if (value >> 26 == 17 && (value & 3) == 1 && notation->size == 4) // which capstone 5 does not know
			snprintf(notation->text, sizeof(notation->text), "scv     %u", value >> 5 & 127);
		else
			snprintf(notation->text, sizeof(notation->text), ".long 0x%x", value);
		break;
	case PD_ISA_MIPS64:
	case PD_ISA_MIPS32:
		if (notation->size == 4 && pd_notate_odd_mips(code, kind->big, notation->text, sizeof(notation->text)))
			break;
		// fallthrough
	default:
		snprintf(notation->text, sizeof(notation->text), "%-7s 0x%x",
			 notation->size == 4 ? ".long" :
			 notation->size == 2 ? ".short" :
					       ".byte",
			 value);
	}
}

void pd_notate(const struct pd_code_kind *kind, struct pd_notation_state *state, const uint8_t *code, size_t size,
	       uint64_t addr, struct pd_raw_instruction *raw, struct pd_notation *notation_out)
{
	struct pd_notation_writer writer = { .kind = kind,
					     .state = state,
					     .code = code,
					     .addr = addr,
					     .raw = raw,
					     .notation = notation_out,
					     .out = { notation_out->text, 0, sizeof(notation_out->text) } };
	unsigned step = step_of(kind, code, size);

	memset(notation_out, 0, sizeof(*notation_out));
	notation_out->size = raw->size;
	if (!raw->size || raw->size > size) {
		notation_out->size = step < size ? step : (unsigned)size;
		write_bad(kind, code, notation_out);
		return;
	}
	write_instruction(&writer);
}

void pd_notate_data(const struct pd_code_kind *kind, const uint8_t *code, size_t size, uint64_t addr,
		    struct pd_notation *notation_out)
{
	unsigned count = size >= 4 && !(addr & 3) ? 4 : size >= 2 && !(addr & 1) ? 2 : 1;
	uint32_t value = value_of(kind, code, count);

	memset(notation_out, 0, sizeof(*notation_out));
	notation_out->size = count;
	snprintf(notation_out->text, sizeof(notation_out->text), "%-7s 0x%0*x",
		 count == 4 ? ".word" :
		 count == 2 ? ".short" :
			      ".byte",
		 (int)(2 * count), value);
}
