/* SPDX-License-Identifier: MIT */
/* Addresses as call frame information has them. */
#include "object/dwarf/dwarf.h"
#include "unwind/rules/cfi.h"

enum {
	ENCODING_OMIT = 0xff,
	ENCODING_FORMAT = 0x0f,
	ENCODING_RELATIVE = 0x70,
	ENCODING_PCREL = 0x10,
	ENCODING_TEXTREL = 0x20,
	ENCODING_DATAREL = 0x30,
	ENCODING_ALIGNED = 0x50
};

uint64_t pd_cfi_word(struct pd_cursor *c, unsigned size)
{
	return size == 8 ? pd_cursor_u64(c) : pd_cursor_u32(c);
}

bool pd_cfi_encoded(struct pd_cursor *c, uint8_t encoding, uint8_t word, uint64_t *value_out)
{
	switch (encoding & ENCODING_FORMAT) {
	case 0x00:
		*value_out = pd_cfi_word(c, word);
		return !c->failed;
	case 0x01:
		*value_out = pd_dwarf_uleb(c);
		return !c->failed;
	case 0x02:
		*value_out = pd_cursor_u16(c);
		return !c->failed;
	case 0x03:
		*value_out = pd_cursor_u32(c);
		return !c->failed;
	case 0x04:
	case 0x0c:
		*value_out = pd_cursor_u64(c);
		return !c->failed;
	case 0x08:
		*value_out = word == 8 ? pd_cursor_u64(c) : (uint64_t)pd_cursor_s32(c);
		return !c->failed;
	case 0x09:
		*value_out = (uint64_t)pd_dwarf_sleb(c);
		return !c->failed;
	case 0x0a:
		*value_out = (uint64_t)(int16_t)pd_cursor_u16(c);
		return !c->failed;
	case 0x0b:
		*value_out = (uint64_t)pd_cursor_s32(c);
		return !c->failed;
	default:
		return false;
	}
}

bool pd_cfi_address(const struct pd_cfi_section *section, struct pd_cursor *c, uint8_t encoding, uint64_t *addr_out)
{
	uint64_t base = 0, place = section->addr + (uint64_t)(c->at - section->bytes.data), value;

	if (encoding == ENCODING_OMIT)
		return false;
	switch (encoding & ENCODING_RELATIVE) {
	case 0:
		break;
	case ENCODING_PCREL:
		base = place;
		break;
	case ENCODING_DATAREL:
		base = section->data_addr;
		break;
	case ENCODING_ALIGNED:
		pd_cursor_take(c, -place & (section->word - 1u));
		break;
	default: // relative to code or to a function: nobody has them
		return false;
	}
	if (!pd_cfi_encoded(c, encoding, section->word, &value))
		return false;
	value += base;
	*addr_out = section->word == 4 ? (uint32_t)value : value;
	return true;
}
