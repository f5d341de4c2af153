/* SPDX-License-Identifier: MIT */
/* Units of debug information: their heads, the abbreviations of their entries, values that refer to tables, ranges of code. */
#include "object/dwarf/dwarf.h"
#include "object/dwarf/dwarf_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/lookup/search.h"

enum {
	UNIT_COMPILE = 1,
	UNIT_TYPE = 2,
	UNIT_SKELETON = 4,
	UNIT_SPLIT_COMPILE = 5,
	UNIT_SPLIT_TYPE = 6,
	MOST_ATTRIBUTES = 4096, // of an entry
	WORK_FACTOR = 8,        // how often the shapes may be read
	LEAST_ENTRY_WORK = 1 << 20,
	ENTRY_WORK_FACTOR = 64
};

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
	{ 0x8c, PD_USE_LOCLISTS_BASE },
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
	struct pd_dwarf_attribute attribute = {
		.form = (uint16_t)form,
		.use = use_of(name),
		.name = name <= UINT16_MAX ? (uint16_t)name : 0,
	};

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
	attribute.size = (int8_t)pd_dwarf_form_size(u, attribute.form);
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

static bool emit_span(const struct spans *s, uint64_t start, uint64_t end)
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
		else if (!emit_span(s, start + s->base, end + s->base))
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
		return emit_span(s, start, indexed(s));
	case 3: // start by index, length
		start = indexed(s);
		return emit_span(s, start, start + pd_dwarf_uleb(&s->c));
	case 4: // distances from the base
		start = s->base + pd_dwarf_uleb(&s->c);
		return emit_span(s, start, s->base + pd_dwarf_uleb(&s->c));
	case 5: // base
		s->base = pd_dwarf_number(&s->c, size);
		return !s->c.failed;
	case 6: // start and end
		start = pd_dwarf_number(&s->c, size);
		return emit_span(s, start, pd_dwarf_number(&s->c, size));
	case 7: // start and length
		start = pd_dwarf_number(&s->c, size);
		return emit_span(s, start, start + pd_dwarf_uleb(&s->c));
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
		emit_span(&s, start, end);
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
	size = size < pd_cursor_left(all) ? size : pd_cursor_left(all);
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
	// where the tables begin after their heads, if nothing says so
	u->str_offsets_base = u->version >= 5 ? u->offset_size * 2u : 0;
	u->addr_base = u->version >= 5 ? 8 : 0;
	u->rnglists_base = u->offset_size == 8 ? 20 : 12;
	u->loclists_base = u->rnglists_base;
	return true;
}

static bool read_heads(struct pd_dwarf *d)
{
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_INFO, 0);
	struct pd_dwarf_unit_head u;

	while (pd_cursor_left(&c) && read_head(d, &c, &u)) {
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
	d->entry_work = LEAST_ENTRY_WORK + image->sections[PD_DEBUG_INFO].size * ENTRY_WORK_FACTOR;
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
bool pd_dwarf_unit_entry(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, struct pd_dwarf_entry *entry)
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

void pd_dwarf_set_bases(const struct pd_dwarf *d, struct pd_dwarf_unit_head *u, const struct pd_dwarf_entry *entry)
{
	const struct pd_dwarf_value *values = entry->values;

	if (values[PD_USE_STR_OFFSETS_BASE].form)
		u->str_offsets_base = values[PD_USE_STR_OFFSETS_BASE].number;
	if (values[PD_USE_ADDR_BASE].form)
		u->addr_base = values[PD_USE_ADDR_BASE].number;
	if (values[PD_USE_RNGLISTS_BASE].form)
		u->rnglists_base = values[PD_USE_RNGLISTS_BASE].number;
	if (values[PD_USE_LOCLISTS_BASE].form)
		u->loclists_base = values[PD_USE_LOCLISTS_BASE].number;
	if (!pd_dwarf_addr(d, u, &values[PD_USE_LOW], &u->low))
		u->low = 0;
	u->is_ready = true;
}

bool pd_dwarf_ready(struct pd_dwarf *d, struct pd_dwarf_unit_head *u)
{
	struct pd_dwarf_entry entry;

	if (!u->is_ready && pd_dwarf_unit_entry(d, u, &entry))
		pd_dwarf_set_bases(d, u, &entry);
	return u->is_ready;
}

struct pd_dwarf_unit_head *pd_dwarf_unit_at(struct pd_dwarf *d, uint64_t offset)
{
	struct pd_dwarf_unit_head *u;
	size_t at;

	if (!d->unit_count)
		return NULL;
	PD_SEARCH_LAST(at, d->unit_count, i, d->units[i].start <= offset);
	u = &d->units[at];
	return offset >= u->tree && offset < u->end && pd_dwarf_ready(d, u) ? u : NULL;
}
