/* SPDX-License-Identifier: MIT */
/* Which family spells an instruction, and what is printed of bytes that are none. */
#include "annotate/notation.h"

#include <string.h>

// How far to go where nothing can be decoded.
static unsigned step_of(const struct pd_code_kind *kind)
{
	switch (kind->isa) {
	case PD_ISA_X86_64:
	case PD_ISA_X86_32:
		return 1;
	case PD_ISA_THUMB:
	case PD_ISA_S390X:
	case PD_ISA_RISCV64:
	case PD_ISA_RISCV32:
		return 2;
	case PD_ISA_BPF:
		return 8;
	default:
		return 4;
	}
}

void pd_notate(const struct pd_code_kind *kind, const uint8_t *code, size_t size, uint64_t addr,
	       struct pd_raw_instruction *raw, struct pd_notation *notation_out)
{
	unsigned step = step_of(kind);

	memset(notation_out, 0, sizeof(*notation_out));
	notation_out->size = raw->size;
	if (!raw->size || raw->size > size) {
		notation_out->size = step < size ? step : (unsigned)size;
		strcpy(notation_out->text, "(bad)");
		return;
	}
	pd_notate_att(kind, code, addr, raw, notation_out);
}
