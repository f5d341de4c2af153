/* SPDX-License-Identifier: MIT */
/* Units of debug information: their heads, the shapes of their entries, values of attributes, where their code is. */
#include "object/dwarf/dwarf.h"

#include <stdlib.h>
#include <string.h>

enum {
	UNIT_COMPILE = 1,
	UNIT_TYPE = 2,
	UNIT_SKELETON = 4,
	UNIT_SPLIT_COMPILE = 5,
	UNIT_SPLIT_TYPE = 6,
	MOST_ATTRIBUTES = 4096, // of an entry
	WORK_FACTOR = 8         // how often the shapes may be read
};

// ---- numbers ----

uint64_t pd_dwarf_uleb_long(struct pd_cursor *c)
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
	return value;
}

int64_t pd_dwarf_sleb(struct pd_cursor *c)
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
	if (shift < 64 && byte & 0x40)
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

enum {
	FORM_ADDR = 0x01,
	FORM_STRING = 0x08,
	FORM_STRP = 0x0e,
	FORM_REF_ADDR = 0x10,
	FORM_REF1 = 0x11,
	FORM_REF_UDATA = 0x15,
	FORM_SEC_OFFSET = 0x17,
	FORM_STRX = 0x1a,
	FORM_ADDRX = 0x1b,
	FORM_REF_SUP4 = 0x1c,
	FORM_STRP_SUP = 0x1d,
	FORM_LINE_STRP = 0x1f,
	FORM_IMPLICIT_CONST = 0x21,
	FORM_RNGLISTX = 0x23,
	FORM_REF_SUP8 = 0x24,
	FORM_STRX1 = 0x25,
	FORM_STRX4 = 0x28,
	FORM_ADDRX1 = 0x29,
	FORM_ADDRX4 = 0x2c,
	FORM_COUNT = 0x2d,
	FORM_GNU_ADDR_INDEX = 0x1f01,
	FORM_GNU_STR_INDEX = 0x1f02,
	FORM_GNU_REF_ALT = 0x1f20,
	FORM_GNU_STRP_ALT = 0x1f21
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

// The size of a value of a form if it is always the same, else -1.
static int size_of_form(const struct pd_dwarf_unit_head *u, unsigned form)
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

	// there is a NUL behind the section
	pd_cursor_take(c, (uint64_t)strnlen(text, pd_cursor_room(c)) + 1);
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
		pd_cursor_take(c, f.size ? pd_dwarf_number(c, f.size) : pd_dwarf_uleb(c));
		break;
	case KIND_CONSTANT:
		value.number = (uint64_t)constant;
		break;
	case KIND_NONE:
		pd_cursor_fail(c, "has an unknown form");
		break;
	default:
		value.number = pd_dwarf_number(c, (unsigned)size_of_form(u, form));
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

// ---- shapes of entries ----

struct use {
	uint16_t attribute;
	uint8_t use;
};

static const struct use uses[] = {
	{ 0x01, PD_USE_SIBLING },
	{ 0x03, PD_USE_NAME },
	{ 0x10, PD_USE_LINES },
	{ 0x11, PD_USE_LOW },
	{ 0x12, PD_USE_HIGH },
	{ 0x1b, PD_USE_FOLDER },
	{ 0x31, PD_USE_ORIGIN },
	{ 0x47, PD_USE_SPECIFICATION },
	{ 0x55, PD_USE_RANGES },
	{ 0x58, PD_USE_CALL_FILE },
	{ 0x59, PD_USE_CALL_LINE },
	{ 0x6e, PD_USE_LINKAGE_NAME },
	{ 0x72, PD_USE_STR_OFFSETS_BASE },
	{ 0x73, PD_USE_ADDR_BASE },
	{ 0x74, PD_USE_RNGLISTS_BASE },
	{ 0x2007, PD_USE_LINKAGE_NAME },
	{ 0x2133, PD_USE_ADDR_BASE },
};

static uint8_t use_of(uint64_t attribute)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].attribute == attribute)
			return uses[i].use;
	return PD_USE_NOTHING;
}

// Reads the attributes of a shape; false at its end, without memory or when it is damaged.
static bool read_attribute(struct pd_dwarf *d, struct pd_cursor *c, const struct pd_dwarf_unit_head *u,
			   struct pd_dwarf_abbrevs *t, struct pd_dwarf_abbrev *abbrev)
{
	uint64_t name = pd_dwarf_uleb(c), form = pd_dwarf_uleb(c);
	struct pd_dwarf_attribute attribute = { .form = (uint16_t)form, .use = use_of(name) };

	if (form == FORM_IMPLICIT_CONST)
		attribute.constant = pd_dwarf_sleb(c);
	if (c->failed || (!name && !form))
		return false;
	if (abbrev->count >= MOST_ATTRIBUTES || !d->abbrev_work || form > UINT16_MAX) {
		pd_cursor_fail(c, "is too long");
		return false;
	}
	d->abbrev_work--;
	if (!PD_GROW(t->attributes, t->attribute_capacity, t->attribute_count + 1)) {
		d->out_of_memory = true;
		return false;
	}
	attribute.size = (int8_t)size_of_form(u, attribute.form);
	t->attributes[t->attribute_count++] = attribute;
	abbrev->count++;
	abbrev->size = attribute.size < 0 || abbrev->size < 0 ? -1 : abbrev->size + attribute.size;
	abbrev->has_code |= attribute.use == PD_USE_LOW || attribute.use == PD_USE_RANGES;
	abbrev->has_sibling |= attribute.use == PD_USE_SIBLING;
	return true;
}

static int compare_abbrevs(const void *a, const void *b)
{
	const struct pd_dwarf_abbrev *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

static bool read_abbrevs(struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, struct pd_dwarf_abbrevs *t)
{
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_ABBREV, u->abbrev_offset);
	bool sorted = true;

	for (;;) {
		struct pd_dwarf_abbrev abbrev = { .code = pd_dwarf_uleb(&c), .first = (uint32_t)t->attribute_count };

		if (c.failed || !abbrev.code)
			break;
		abbrev.tag = (uint32_t)pd_dwarf_uleb(&c);
		abbrev.has_children = pd_cursor_u8(&c) != 0;
		while (read_attribute(d, &c, u, t, &abbrev))
			;
		if (c.failed || d->out_of_memory)
			break;
		if (!d->abbrev_work--) {
			d->abbrev_work = 0;
			break;
		}
		if (!PD_GROW(t->items, t->capacity, t->count + 1)) {
			d->out_of_memory = true;
			break;
		}
		sorted = sorted && (!t->count || t->items[t->count - 1].code < abbrev.code);
		t->items[t->count++] = abbrev;
	}
	if (!sorted)
		qsort(t->items, t->count, sizeof(*t->items), compare_abbrevs);
	return !d->out_of_memory;
}

static struct pd_dwarf_abbrevs *abbrevs_of(struct pd_dwarf *d, const struct pd_dwarf_unit_head *u)
{
	struct pd_dwarf_abbrevs *t;
	size_t looked = 0;

	// units that share a table mostly stand together
	for (t = d->tables; t && looked < 64; t = t->next, looked++)
		if (t->offset == u->abbrev_offset && t->addr_size == u->addr_size && t->offset_size == u->offset_size &&
		    t->version == u->version)
			return t;
	t = pd_alloc(sizeof(*t));
	if (!t) {
		d->out_of_memory = true;
		return NULL;
	}
	t->offset = u->abbrev_offset;
	t->addr_size = u->addr_size;
	t->offset_size = u->offset_size;
	t->version = u->version;
	t->next = d->tables;
	d->tables = t;
	read_abbrevs(d, u, t);
	return d->out_of_memory ? NULL : t;
}

const struct pd_dwarf_abbrev *pd_dwarf_abbrev(const struct pd_dwarf_unit_head *u, uint64_t code)
{
	const struct pd_dwarf_abbrevs *t = u->abbrevs;
	struct pd_dwarf_abbrev key = { .code = code };

	// mostly they are numbered from 1 on
	if (code - 1 < t->count && t->items[code - 1].code == code)
		return &t->items[code - 1];
	return t->count ? bsearch(&key, t->items, t->count, sizeof(key), compare_abbrevs) : NULL;
}

void pd_dwarf_entry(struct pd_cursor *c, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_abbrev *abbrev,
		    struct pd_dwarf_entry *entry_out)
{
	const struct pd_dwarf_attribute *at = pd_dwarf_attributes(u, abbrev);

	entry_out->abbrev = abbrev;
	for (size_t i = 0; i < PD_USE_COUNT; i++)
		entry_out->values[i].form = 0;
	for (uint32_t i = 0; i < abbrev->count && !c->failed; i++) {
		if (at[i].use == PD_USE_NOTHING)
			pd_dwarf_skip(c, u, &at[i]);
		else
			entry_out->values[at[i].use] = pd_dwarf_value(c, u, at[i].form, at[i].constant);
	}
	for (size_t i = 0; c->failed && i < PD_USE_COUNT; i++)
		entry_out->values[i].form = 0;
}

// ---- values ----

static const char *text_at(const struct pd_dwarf *d, enum pd_debug_section which, uint64_t offset)
{
	const struct pd_bytes *bytes = &d->image->sections[which];

	return offset < bytes->size ? (const char *)bytes->data + offset : NULL;
}

static const char *text_by_index(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, uint64_t index)
{
	struct pd_cursor c;
	uint64_t offset;

	if (index > d->image->sections[PD_DEBUG_STR_OFFSETS].size)
		return NULL;
	c = pd_dwarf_cursor(d, PD_DEBUG_STR_OFFSETS, u->str_offsets_base);
	pd_cursor_take(&c, index * u->offset_size);
	offset = pd_dwarf_number(&c, u->offset_size);
	return c.failed ? NULL : text_at(d, PD_DEBUG_STR, offset);
}

const char *pd_dwarf_text(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u,
			  const struct pd_dwarf_value *value)
{
	switch (value->form) {
	case FORM_STRING:
		return value->text;
	case FORM_STRP:
		return text_at(d, PD_DEBUG_STR, value->number);
	case FORM_LINE_STRP:
		return text_at(d, PD_DEBUG_LINE_STR, value->number);
	case FORM_STRP_SUP:
	case FORM_GNU_STRP_ALT:
		return d->shared ? text_at(d->shared, PD_DEBUG_STR, value->number) : NULL;
	case FORM_STRX:
	case FORM_GNU_STR_INDEX:
	case FORM_STRX1 ... FORM_STRX4:
		return text_by_index(d, u, value->number);
	default:
		return NULL;
	}
}

static bool addr_by_index(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, uint64_t index,
			  uint64_t *addr_out)
{
	struct pd_cursor c;

	if (index > d->image->sections[PD_DEBUG_ADDR].size)
		return false;
	c = pd_dwarf_cursor(d, PD_DEBUG_ADDR, u->addr_base);
	pd_cursor_take(&c, index * u->addr_size);
	*addr_out = pd_dwarf_number(&c, u->addr_size);
	return !c.failed;
}

bool pd_dwarf_addr(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_value *value,
		   uint64_t *addr_out)
{
	switch (value->form) {
	case FORM_ADDR:
		*addr_out = value->number;
		return true;
	case FORM_ADDRX:
	case FORM_GNU_ADDR_INDEX:
	case FORM_ADDRX1 ... FORM_ADDRX4:
		return addr_by_index(d, u, value->number, addr_out);
	default:
		return false;
	}
}

bool pd_dwarf_reference(struct pd_dwarf **d, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_value *value,
			uint64_t *offset_out)
{
	switch (value->form) {
	case FORM_REF1 ... FORM_REF_UDATA:
		*offset_out = u->start + value->number;
		return value->number < u->end - u->start;
	case FORM_REF_ADDR:
		*offset_out = value->number;
		return true;
	case FORM_REF_SUP4:
	case FORM_REF_SUP8:
	case FORM_GNU_REF_ALT:
		*offset_out = value->number;
		*d = (*d)->shared;
		return *d != NULL;
	default:
		return false;
	}
}

// ---- where code is ----

struct spans {
	const struct pd_dwarf *d;
	const struct pd_dwarf_unit_head *u;
	struct pd_cursor c;
	uint64_t base;
	size_t *work;
	pd_dwarf_span_fn *span;
	void *self;
};

static bool tell(const struct spans *s, uint64_t start, uint64_t end)
{
	uint64_t last = s->u->addr_size == 4 ? UINT32_MAX : UINT64_MAX;

	if (s->c.failed || !*s->work)
		return false;
	--*s->work;
	// what the linker left out is below all code, or at the very end
	if (end <= start || start < s->d->image->first_addr || start >= last - 1)
		return true;
	return s->span(s->self, start, end);
}

static void spans_of_ranges(struct spans *s)
{
	uint64_t last = s->u->addr_size == 4 ? UINT32_MAX : UINT64_MAX;

	for (;;) {
		uint64_t start = pd_dwarf_number(&s->c, s->u->addr_size), end = pd_dwarf_number(&s->c, s->u->addr_size);

		if (s->c.failed || (!start && !end))
			return;
		if (start == last)
			s->base = end;
		else if (!tell(s, start + s->base, end + s->base))
			return;
	}
}

static uint64_t indexed(struct spans *s)
{
	uint64_t addr = 0;

	if (!addr_by_index(s->d, s->u, pd_dwarf_uleb(&s->c), &addr))
		pd_cursor_fail(&s->c, "is not in the address table");
	return addr;
}

// One entry of version 5; false at the end.
static bool span_of_list(struct spans *s)
{
	unsigned size = s->u->addr_size;
	uint64_t start;

	switch (pd_cursor_u8(&s->c)) {
	case 1: // base, by index
		s->base = indexed(s);
		return !s->c.failed;
	case 2: // start and end, by index
		start = indexed(s);
		return tell(s, start, indexed(s));
	case 3: // start by index, length
		start = indexed(s);
		return tell(s, start, start + pd_dwarf_uleb(&s->c));
	case 4: // distances from the base
		start = s->base + pd_dwarf_uleb(&s->c);
		return tell(s, start, s->base + pd_dwarf_uleb(&s->c));
	case 5: // base
		s->base = pd_dwarf_number(&s->c, size);
		return !s->c.failed;
	case 6: // start and end
		start = pd_dwarf_number(&s->c, size);
		return tell(s, start, pd_dwarf_number(&s->c, size));
	case 7: // start and length
		start = pd_dwarf_number(&s->c, size);
		return tell(s, start, start + pd_dwarf_uleb(&s->c));
	default:
		return false;
	}
}

static void spans_of_lists(struct spans *s, const struct pd_dwarf_value *value)
{
	uint64_t offset = value->number;

	if (value->form == FORM_RNGLISTX) {
		if (offset > s->d->image->sections[PD_DEBUG_RNGLISTS].size)
			return;
		s->c = pd_dwarf_cursor(s->d, PD_DEBUG_RNGLISTS, s->u->rnglists_base);
		pd_cursor_take(&s->c, offset * s->u->offset_size);
		offset = pd_dwarf_number(&s->c, s->u->offset_size);
		if (s->c.failed || offset > s->d->image->sections[PD_DEBUG_RNGLISTS].size)
			return;
		offset += s->u->rnglists_base;
	}
	s->c = pd_dwarf_cursor(s->d, PD_DEBUG_RNGLISTS, offset);
	while (span_of_list(s))
		;
}

void pd_dwarf_spans(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_entry *entry,
		    size_t *work, pd_dwarf_span_fn *span, void *self)
{
	const struct pd_dwarf_value *ranges = &entry->values[PD_USE_RANGES], *high = &entry->values[PD_USE_HIGH];
	struct spans s = { .d = d, .u = u, .base = u->low, .work = work, .span = span, .self = self };
	uint64_t start, end;

	if (ranges->form && u->version >= 5) {
		spans_of_lists(&s, ranges);
	} else if (ranges->form) {
		s.c = pd_dwarf_cursor(d, PD_DEBUG_RANGES, ranges->number);
		spans_of_ranges(&s);
	} else if (high->form && pd_dwarf_addr(d, u, &entry->values[PD_USE_LOW], &start)) {
		// a constant is the distance from the start
		if (!pd_dwarf_addr(d, u, high, &end))
			end = start + high->number;
		tell(&s, start, end);
	}
}

// ---- units ----

static bool read_head(struct pd_dwarf *d, struct pd_cursor *all, struct pd_dwarf_unit_head *u)
{
	const uint8_t *info = d->image->sections[PD_DEBUG_INFO].data;
	struct pd_cursor c;
	unsigned version;
	uint64_t size;

	*u = (struct pd_dwarf_unit_head){ .start = (uint64_t)(all->at - info), .offset_size = 4 };
	size = pd_cursor_u32(all);
	if (size == UINT32_MAX) {
		u->offset_size = 8;
		size = pd_cursor_u64(all);
	}
	if (all->failed || !size)
		return false;
	size = size < pd_cursor_room(all) ? size : pd_cursor_room(all);
	c = pd_cursor(all->at, (size_t)size, d->image->big);
	pd_cursor_take(all, size);
	u->end = (uint64_t)(all->at - info);
	version = pd_cursor_u16(&c);
	u->version = version < UINT8_MAX ? (uint8_t)version : UINT8_MAX;
	u->type = UNIT_COMPILE;
	if (u->version >= 5) {
		u->type = pd_cursor_u8(&c);
		u->addr_size = pd_cursor_u8(&c);
		u->abbrev_offset = pd_dwarf_number(&c, u->offset_size);
		if (u->type == UNIT_SKELETON || u->type == UNIT_SPLIT_COMPILE)
			pd_cursor_u64(&c);
		if (u->type == UNIT_TYPE || u->type == UNIT_SPLIT_TYPE)
			pd_cursor_take(&c, 8u + u->offset_size);
	} else {
		u->abbrev_offset = pd_dwarf_number(&c, u->offset_size);
		u->addr_size = pd_cursor_u8(&c);
	}
	u->tree = (uint64_t)(c.at - info);
	u->is_bad = c.failed || u->version < 2 || u->version > 5 || (u->addr_size != 4 && u->addr_size != 8);
	// where the tables begin behind their heads, if nothing says so
	u->str_offsets_base = u->version >= 5 ? u->offset_size * 2u : 0;
	u->addr_base = u->version >= 5 ? 8 : 0;
	u->rnglists_base = u->offset_size == 8 ? 20 : 12;
	return true;
}

static bool read_heads(struct pd_dwarf *d)
{
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_INFO, 0);
	struct pd_dwarf_unit_head u;

	while (pd_cursor_room(&c) && read_head(d, &c, &u)) {
		if (!PD_GROW(d->units, d->unit_capacity, d->unit_count + 1))
			return false;
		d->units[d->unit_count++] = u;
	}
	return true;
}

enum pd_status pd_dwarf_open(struct pd_dwarf **dwarf_out, const struct pd_debug_image *image, struct pd_dwarf *shared,
			     struct pd_error *error)
{
	struct pd_dwarf *d = pd_alloc(sizeof(*d));

	if (!d)
		return pd_fail_memory(error);
	d->image = image;
	d->shared = shared;
	d->abbrev_work = image->sections[PD_DEBUG_ABBREV].size * WORK_FACTOR;
	if (!read_heads(d)) {
		pd_dwarf_close(d);
		return pd_fail_memory(error);
	}
	*dwarf_out = d;
	return PD_OK;
}

void pd_dwarf_close(struct pd_dwarf *d)
{
	if (!d)
		return;
	while (d->tables) {
		struct pd_dwarf_abbrevs *t = d->tables;

		d->tables = t->next;
		pd_free(t->items);
		pd_free(t->attributes);
		pd_free(t);
	}
	pd_free(d->units);
	pd_free(d);
}

// Reads the entry of the unit itself; false if there is none.
static bool read_unit_entry(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, struct pd_dwarf_entry *entry)
{
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_INFO, u->tree);
	const struct pd_dwarf_abbrev *abbrev;

	if (u->is_bad)
		return false;
	c.end = d->image->sections[PD_DEBUG_INFO].data + u->end;
	if (!u->abbrevs)
		u->abbrevs = abbrevs_of(d, u);
	abbrev = u->abbrevs ? pd_dwarf_abbrev(u, pd_dwarf_uleb(&c)) : NULL;
	if (!abbrev) {
		u->is_bad = true;
		return false;
	}
	pd_dwarf_entry(&c, u, abbrev, entry);
	return !c.failed;
}

static void take_bases(const struct pd_dwarf *d, struct pd_dwarf_unit_head *u, const struct pd_dwarf_entry *entry)
{
	const struct pd_dwarf_value *values = entry->values;

	if (values[PD_USE_STR_OFFSETS_BASE].form)
		u->str_offsets_base = values[PD_USE_STR_OFFSETS_BASE].number;
	if (values[PD_USE_ADDR_BASE].form)
		u->addr_base = values[PD_USE_ADDR_BASE].number;
	if (values[PD_USE_RNGLISTS_BASE].form)
		u->rnglists_base = values[PD_USE_RNGLISTS_BASE].number;
	if (!pd_dwarf_addr(d, u, &values[PD_USE_LOW], &u->low))
		u->low = 0;
	u->is_ready = true;
}

bool pd_dwarf_ready(struct pd_dwarf *d, struct pd_dwarf_unit_head *u)
{
	struct pd_dwarf_entry entry;

	if (!u->is_ready && read_unit_entry(d, u, &entry))
		take_bases(d, u, &entry);
	return u->is_ready;
}

struct pd_dwarf_unit_head *pd_dwarf_unit_at(struct pd_dwarf *d, uint64_t offset)
{
	size_t low = 0, count = d->unit_count;

	while (count > 1) {
		size_t half = count / 2;

		low += d->units[low + half].start <= offset ? half : 0;
		count -= half;
	}
	if (!count || offset < d->units[low].tree || offset >= d->units[low].end || !pd_dwarf_ready(d, &d->units[low]))
		return NULL;
	return &d->units[low];
}

// ---- which units have code ----

struct finding {
	struct pd_dwarf *d;
	struct pd_dwarf_code *code;
	size_t work;
	bool *has_code; // of all units
	bool out_of_memory;
};

static bool add_span(void *self, uint64_t start, uint64_t end)
{
	struct finding *f = self;
	struct pd_dwarf_code *code = f->code;

	if (!PD_GROW(code->spans, code->span_capacity, code->span_count + 1)) {
		f->out_of_memory = true;
		return false;
	}
	code->spans[code->span_count++] = (struct pd_span){ start, end, (uint32_t)code->count };
	return true;
}

// Counts the unit that spans were just added for.
static bool add_unit(struct finding *f, size_t which)
{
	if (!PD_GROW(f->code->units, f->code->capacity, f->code->count + 1)) {
		f->out_of_memory = true;
		return false;
	}
	f->code->units[f->code->count++] = (uint32_t)which;
	f->has_code[which] = true;
	return true;
}

static bool is_compile_unit(const struct pd_dwarf_entry *entry)
{
	return entry->abbrev->tag == PD_DWARF_TAG_COMPILE_UNIT || entry->abbrev->tag == PD_DWARF_TAG_SKELETON_UNIT;
}

static void find_own(struct finding *f)
{
	struct pd_dwarf_entry entry;

	for (size_t i = 0; i < f->d->unit_count && !f->out_of_memory && !f->d->out_of_memory; i++) {
		struct pd_dwarf_unit_head *u = &f->d->units[i];
		size_t before = f->code->span_count;

		if (!read_unit_entry(f->d, u, &entry))
			continue;
		take_bases(f->d, u, &entry);
		if (!is_compile_unit(&entry))
			continue;
		pd_dwarf_spans(f->d, u, &entry, &f->work, add_span, f);
		if (f->code->span_count != before)
			add_unit(f, i);
	}
}

static int compare_starts(const void *key, const void *unit)
{
	uint64_t x = *(const uint64_t *)key, y = ((const struct pd_dwarf_unit_head *)unit)->start;

	return (x > y) - (x < y);
}

// One set of the list of all code, for a unit that does not say where its code is.
static void find_listed_set(struct finding *f, struct pd_cursor *all)
{
	uint64_t size = pd_cursor_u32(all), start, length;
	unsigned offset_size = 4, addr_size;
	const uint8_t *begin = all->at - 4;
	struct pd_dwarf_unit_head *u;
	struct pd_cursor c;
	size_t before = f->code->span_count, head;

	if (size == UINT32_MAX) {
		size = pd_cursor_u64(all);
		offset_size = 8;
	}
	c = pd_cursor(all->at, size < pd_cursor_room(all) ? (size_t)size : pd_cursor_room(all), all->big);
	pd_cursor_take(all, pd_cursor_room(&c));
	pd_cursor_u16(&c); // version
	start = pd_dwarf_number(&c, offset_size);
	u = f->d->unit_count ? bsearch(&start, f->d->units, f->d->unit_count, sizeof(*u), compare_starts) : NULL;
	addr_size = pd_cursor_u8(&c);
	if (pd_cursor_u8(&c) || !u || c.failed || (addr_size != 4 && addr_size != 8) || f->has_code[u - f->d->units])
		return;
	// entries are aligned to their size, from the beginning of the set
	head = (size_t)(c.at - begin);
	pd_cursor_take(&c, -head & (2 * addr_size - 1));
	for (;;) {
		start = pd_dwarf_number(&c, addr_size);
		length = pd_dwarf_number(&c, addr_size);
		if (c.failed || (!start && !length))
			break;
		if (start >= f->d->image->first_addr && length && start + length > start &&
		    !add_span(f, start, start + length))
			return;
	}
	if (f->code->span_count != before)
		add_unit(f, (size_t)(u - f->d->units));
}

bool pd_dwarf_code(struct pd_dwarf *d, struct pd_dwarf_code *code)
{
	struct finding f = { .d = d, .code = code, .work = d->image->size };
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_ARANGES, 0);

	f.has_code = pd_alloc(d->unit_count * sizeof(*f.has_code));
	if (!f.has_code)
		return false;
	find_own(&f);
	while (pd_cursor_room(&c) > 4 && !c.failed && !f.out_of_memory)
		find_listed_set(&f, &c);
	pd_free(f.has_code);
	return !f.out_of_memory && !d->out_of_memory;
}

bool pd_dwarf_unit(struct pd_dwarf *d, uint32_t unit, struct pd_unit_maker *maker)
{
	struct pd_dwarf_files files = { .maker = maker };
	struct pd_dwarf_entry entry;
	struct pd_dwarf_unit_head *u;

	if (unit >= d->unit_count)
		return true;
	u = &d->units[unit];
	if (!read_unit_entry(d, u, &entry))
		return !d->out_of_memory;
	take_bases(d, u, &entry);
	files.folder = pd_dwarf_text(d, u, &entry.values[PD_USE_FOLDER]);
	if (entry.values[PD_USE_LINES].form)
		pd_dwarf_lines(d, u, entry.values[PD_USE_LINES].number, &files);
	pd_dwarf_scopes(d, u, &files, maker);
	pd_dwarf_files_fini(&files);
	return !maker->failed && !d->out_of_memory;
}
