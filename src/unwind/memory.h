/* SPDX-License-Identifier: MIT */
/* The copy of a stack as memory, and beside it what objects have in all processes: data that nobody writes. */
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
	// bytes that are somewhere else, or NULL
	bool (*fetch)(void *self, uint64_t addr, unsigned size, uint8_t *bytes_out);
	void *fetch_self;
};

// False for a size that no word has.
static inline bool pd_unwind_load(const uint8_t *at, unsigned size, bool swap, uint64_t *value_out)
{
	switch (size) {
	case 8:
		*value_out = pd_load_u64(at, swap);
		return true;
	case 4:
		*value_out = pd_load_u32(at, swap);
		return true;
	case 2:
		*value_out = pd_load_u16(at, swap);
		return true;
	case 1:
		*value_out = *at;
		return true;
	default:
		return false;
	}
}

static inline bool pd_unwind_read(struct pd_unwind_memory *memory, uint64_t addr, unsigned size, uint64_t *value_out)
{
	uint64_t offset = addr - memory->start;

	if (PD_UNLIKELY(offset > memory->size || memory->size - offset < size)) {
		memory->missed = true;
		memory->missed_addr = addr;
		return false;
	}
	return pd_unwind_load(memory->data + offset, size, memory->swap, value_out);
}

static inline bool pd_unwind_read_word(struct pd_unwind_memory *memory, uint64_t addr, uint64_t *value_out)
{
	return pd_unwind_read(memory, memory->word == 4 ? (uint32_t)addr : addr, memory->word, value_out);
}

// The same from anywhere: for addresses that a rule computes.
static inline bool pd_unwind_read_any(struct pd_unwind_memory *memory, uint64_t addr, unsigned size,
				      uint64_t *value_out)
{
	const bool missed = memory->missed;
	const uint64_t missed_addr = memory->missed_addr;
	uint8_t bytes[sizeof(uint64_t)];

	if (pd_unwind_read(memory, addr, size, value_out))
		return true;
	if (size > sizeof(bytes) || !memory->fetch || !memory->fetch(memory->fetch_self, addr, size, bytes) ||
	    !pd_unwind_load(bytes, size, memory->swap, value_out))
		return false;
	memory->missed = missed;
	memory->missed_addr = missed_addr;
	return true;
}

#endif
