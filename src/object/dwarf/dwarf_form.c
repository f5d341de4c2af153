/* SPDX-License-Identifier: MIT */
/* Numbers and values of attributes by their form: how they are stored, and how to step over them. */
#include "object/dwarf/dwarf.h"
#include "object/dwarf/dwarf_form.h"

#include <stdlib.h>
#include <string.h>

// ---- numbers ----

// shift_out: bits that it has, last_out: its last byte.
static uint64_t leb(struct pd_cursor *c, unsigned *shift_out, uint8_t *last_out)
{
	uint64_t value = 0;
	uint8_t byte;
	unsigned shift = 0;

	do {
		byte = pd_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 140);
	*shift_out = shift;
	*last_out = byte;
	return value;
}

uint64_t pd_dwarf_uleb_long(struct pd_cursor *c)
{
	unsigned shift;
	uint8_t last;

	return leb(c, &shift, &last);
}

int64_t pd_dwarf_sleb(struct pd_cursor *c)
{
	unsigned shift;
	uint8_t last;
	uint64_t value = leb(c, &shift, &last);

	if (shift < 64 && last & 0x40)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

uint64_t pd_dwarf_number(struct pd_cursor *c, unsigned size)
{
	uint64_t value = 0;
	const uint8_t *at;

	switch (size) {
	case 1:
		return pd_cursor_u8(c);
	case 2:
		return pd_cursor_u16(c);
	case 4:
		return pd_cursor_u32(c);
	case 8:
		return pd_cursor_u64(c);
	default:
		at = pd_cursor_take(c, size);
		for (unsigned i = 0; at && i < size && i < 8; i++)
			value |= (uint64_t)at[c->big ? size - 1 - i : i] << 8 * i;
		return value;
	}
}

// ---- forms ----

enum kind {
	KIND_NONE,
	KIND_FIXED, // of `size` bytes
	KIND_ADDR,
	KIND_OFFSET,
	KIND_ULEB,
	KIND_SLEB,
	KIND_TEXT,
	KIND_BLOCK, // a length of `size` bytes, or a ULEB, and as many bytes
	KIND_INDIRECT,
	KIND_CONSTANT, // stands with the shape
	KIND_REF_ADDR
};

struct form {
	uint8_t kind;
	uint8_t size;
};

static const struct form forms[FORM_COUNT] = {
	[0x01] = { KIND_ADDR },      [0x03] = { KIND_BLOCK, 2 }, [0x04] = { KIND_BLOCK, 4 }, [0x05] = { KIND_FIXED, 2 },
	[0x06] = { KIND_FIXED, 4 },  [0x07] = { KIND_FIXED, 8 }, [0x08] = { KIND_TEXT },     [0x09] = { KIND_BLOCK },
	[0x0a] = { KIND_BLOCK, 1 },  [0x0b] = { KIND_FIXED, 1 }, [0x0c] = { KIND_FIXED, 1 }, [0x0d] = { KIND_SLEB },
	[0x0e] = { KIND_OFFSET },    [0x0f] = { KIND_ULEB },     [0x10] = { KIND_REF_ADDR }, [0x11] = { KIND_FIXED, 1 },
	[0x12] = { KIND_FIXED, 2 },  [0x13] = { KIND_FIXED, 4 }, [0x14] = { KIND_FIXED, 8 }, [0x15] = { KIND_ULEB },
	[0x16] = { KIND_INDIRECT },  [0x17] = { KIND_OFFSET },   [0x18] = { KIND_BLOCK },    [0x19] = { KIND_FIXED, 0 },
	[0x1a] = { KIND_ULEB },      [0x1b] = { KIND_ULEB },     [0x1c] = { KIND_FIXED, 4 }, [0x1d] = { KIND_OFFSET },
	[0x1e] = { KIND_FIXED, 16 }, [0x1f] = { KIND_OFFSET },   [0x20] = { KIND_FIXED, 8 }, [0x21] = { KIND_CONSTANT },
	[0x22] = { KIND_ULEB },      [0x23] = { KIND_ULEB },     [0x24] = { KIND_FIXED, 8 }, [0x25] = { KIND_FIXED, 1 },
	[0x26] = { KIND_FIXED, 2 },  [0x27] = { KIND_FIXED, 3 }, [0x28] = { KIND_FIXED, 4 }, [0x29] = { KIND_FIXED, 1 },
	[0x2a] = { KIND_FIXED, 2 },  [0x2b] = { KIND_FIXED, 3 }, [0x2c] = { KIND_FIXED, 4 },
};

static struct form form_of(unsigned form)
{
	if (form < FORM_COUNT)
		return forms[form];
	if (form == FORM_GNU_ADDR_INDEX || form == FORM_GNU_STR_INDEX)
		return (struct form){ KIND_ULEB, 0 };
	if (form == FORM_GNU_REF_ALT || form == FORM_GNU_STRP_ALT)
		return (struct form){ KIND_OFFSET, 0 };
	return (struct form){ KIND_NONE, 0 };
}

int pd_dwarf_form_size(const struct pd_dwarf_unit_head *u, unsigned form)
{
	struct form f = form_of(form);

	switch (f.kind) {
	case KIND_FIXED:
		return f.size;
	case KIND_CONSTANT:
		return 0;
	case KIND_ADDR:
		return u->addr_size;
	case KIND_OFFSET:
		return u->offset_size;
	case KIND_REF_ADDR:
		return u->version < 3 ? u->addr_size : u->offset_size;
	default:
		return -1;
	}
}

static const char *take_text(struct pd_cursor *c)
{
	const char *text = (const char *)c->at;

	// there is a NUL after the section
	pd_cursor_take(c, (uint64_t)strnlen(text, pd_cursor_left(c)) + 1);
	return c->failed ? NULL : text;
}

struct pd_dwarf_value pd_dwarf_value(struct pd_cursor *c, const struct pd_dwarf_unit_head *u, unsigned form,
				     int64_t constant)
{
	struct pd_dwarf_value value = { .form = (uint16_t)form };
	struct form f = form_of(form);

	if (f.kind == KIND_INDIRECT) {
		form = (unsigned)pd_dwarf_uleb(c);
		f = form_of(form);
		value.form = (uint16_t)form;
		if (f.kind == KIND_INDIRECT || f.kind == KIND_CONSTANT || form > UINT16_MAX)
			f.kind = KIND_NONE;
	}
	switch (f.kind) {
	case KIND_ULEB:
		value.number = pd_dwarf_uleb(c);
		break;
	case KIND_SLEB:
		value.number = (uint64_t)pd_dwarf_sleb(c);
		break;
	case KIND_TEXT:
		value.text = take_text(c);
		break;
	case KIND_BLOCK:
		value.number = f.size ? pd_dwarf_number(c, f.size) : pd_dwarf_uleb(c);
		value.text = (const char *)pd_cursor_take(c, value.number);
		break;
	case KIND_CONSTANT:
		value.number = (uint64_t)constant;
		break;
	case KIND_NONE:
		pd_cursor_fail(c, "has an unknown form");
		break;
	default:
		value.number = pd_dwarf_number(c, (unsigned)pd_dwarf_form_size(u, form));
		break;
	}
	return value;
}

void pd_dwarf_skip(struct pd_cursor *c, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_attribute *attribute)
{
	if (attribute->size >= 0)
		pd_cursor_take(c, (uint64_t)attribute->size);
	else
		pd_dwarf_value(c, u, attribute->form, attribute->constant);
}
