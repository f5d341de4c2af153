/* SPDX-License-Identifier: MIT */
/* The copy of a stack as memory. */
#ifndef PD_UNWIND_MEMORY_H
#define PD_UNWIND_MEMORY_H

#include "base/cursor.h"

struct pd_unwind_memory {
	const uint8_t *data;
	uint64_t start; // the address of the first byte
	uint64_t size;
	uint8_t word; // bytes
	bool swap;    // it is not the byte order of this machine
	bool missed;  // something was read that is not there
	uint64_t missed_addr;
};

static inline bool pd_unwind_read(struct pd_unwind_memory *memory, uint64_t addr, unsigned size, uint64_t *value_out)
{
	uint64_t offset = addr - memory->start;
	const uint8_t *at;

	if (PD_UNLIKELY(offset > memory->size || memory->size - offset < size)) {
		memory->missed = true;
		memory->missed_addr = addr;
		return false;
	}
	at = memory->data + offset;
	switch (size) {
	case 8:
		*value_out = pd_load_u64(at, memory->swap);
		return true;
	case 4:
		*value_out = pd_load_u32(at, memory->swap);
		return true;
	case 2:
		*value_out = pd_load_u16(at, memory->swap);
		return true;
	case 1:
		*value_out = *at;
		return true;
	default:
		return false;
	}
}

static inline bool pd_unwind_read_word(struct pd_unwind_memory *memory, uint64_t addr, uint64_t *value_out)
{
	return pd_unwind_read(memory, memory->word == 4 ? (uint32_t)addr : addr, memory->word, value_out);
}

#endif
