/* SPDX-License-Identifier: MIT */
/* Entries of debug information: the tree, and attributes by their number. */
#include "object/dwarf/die.h"
#include "object/dwarf/dwarf_form.h"

#include <string.h>

enum {
	ORIGINS = 16 // steps from an entry to its declaration
};

// ---- the tree ----

static struct pd_cursor cursor_at(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, uint64_t offset)
{
	struct pd_cursor c = pd_dwarf_cursor(d, PD_DEBUG_INFO, offset);

	c.end = d->image->sections[PD_DEBUG_INFO].data + u->end;
	if (c.at > c.end)
		c.at = c.end;
	return c;
}

static uint64_t offset_of(const struct pd_dwarf *d, const uint8_t *at)
{
	return (uint64_t)(at - d->image->sections[PD_DEBUG_INFO].data);
}

// Reads an entry whose code was taken. False if it cannot be one.
static bool take_entry(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, uint64_t offset, uint64_t code,
		       const struct pd_cursor *c, struct pd_die *die)
{
	if (!d->entry_work || c->failed)
		return false;
	d->entry_work--;
	*die = (struct pd_die){ .dwarf = d, .unit = u, .offset = offset, .values = c->at };
	die->abbrev = code ? pd_dwarf_abbrev(u, code) : NULL;
	return die->abbrev != NULL;
}

static bool entry_at(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, uint64_t offset, struct pd_die *die)
{
	struct pd_cursor c = cursor_at(d, u, offset);
	uint64_t code = pd_dwarf_uleb(&c);

	return take_entry(d, u, offset, code, &c, die);
}

bool pd_die_unit(struct pd_dwarf *dwarf, size_t unit, struct pd_die *die)
{
	struct pd_dwarf_unit_head *u;

	if (unit >= dwarf->unit_count)
		return false;
	u = &dwarf->units[unit];
	return pd_dwarf_ready(dwarf, u) && entry_at(dwarf, u, u->tree, die);
}

bool pd_die_at(struct pd_dwarf *dwarf, uint64_t offset, struct pd_die *die)
{
	struct pd_dwarf_unit_head *u = pd_dwarf_unit_at(dwarf, offset);

	return u && entry_at(dwarf, u, offset, die);
}

static void skip_values(const struct pd_die *die, struct pd_cursor *c)
{
	const struct pd_dwarf_attribute *at = pd_dwarf_attributes(die->unit, die->abbrev);

	if (die->abbrev->size >= 0) {
		pd_cursor_take(c, (uint64_t)die->abbrev->size);
		return;
	}
	for (uint32_t i = 0; i < die->abbrev->count && !c->failed; i++)
		pd_dwarf_skip(c, die->unit, &at[i]);
}

// Where the entry after this one and all below it begins, if that is said.
static bool go_to_sibling(const struct pd_die *die, struct pd_cursor *c)
{
	struct pd_dwarf *d = die->dwarf;
	struct pd_dwarf_value value;
	uint64_t offset;

	if (!die->abbrev->has_sibling || !pd_die_value(die, 0x01, &value) ||
	    !pd_dwarf_reference(&d, die->unit, &value, &offset) || d != die->dwarf ||
	    offset <= offset_of(d, die->values) || offset > die->unit->end)
		return false;
	*c = cursor_at(d, die->unit, offset);
	return true;
}

bool pd_die_next(struct pd_die_walk *walk, bool into)
{
	struct pd_die *die = &walk->die, other;
	struct pd_cursor c = cursor_at(die->dwarf, die->unit, offset_of(die->dwarf, die->values));
	unsigned skipped = 0;

	into |= !walk->began;
	walk->began = true;
	if (!into && die->abbrev->has_children && go_to_sibling(die, &c)) {
		other = *die;
	} else {
		skip_values(die, &c);
		if (die->abbrev->has_children) {
			walk->depth++;
			skipped = into ? 0 : 1;
		} else if (!walk->depth) {
			return false;
		}
	}
	for (;;) {
		uint64_t offset = offset_of(die->dwarf, c.at), code = pd_dwarf_uleb(&c);

		if (c.failed)
			return false;
		if (!code) {
			skipped -= skipped ? 1 : 0;
			if (--walk->depth == 0)
				return false;
			continue;
		}
		if (!take_entry(die->dwarf, die->unit, offset, code, &c, &other))
			return false;
		if (!skipped) {
			*die = other;
			return true;
		}
		if (other.abbrev->has_children && go_to_sibling(&other, &c))
			continue;
		skip_values(&other, &c);
		if (other.abbrev->has_children) {
			walk->depth++;
			skipped++;
		}
	}
}

// ---- attributes ----

bool pd_die_value(const struct pd_die *die, unsigned attribute, struct pd_dwarf_value *value_out)
{
	const struct pd_dwarf_attribute *at;
	struct pd_cursor c;

	if (!die->abbrev)
		return false;
	at = pd_dwarf_attributes(die->unit, die->abbrev);
	c = cursor_at(die->dwarf, die->unit, offset_of(die->dwarf, die->values));
	for (uint32_t i = 0; i < die->abbrev->count && !c.failed; i++) {
		if (at[i].name == attribute) {
			*value_out = pd_dwarf_value(&c, die->unit, at[i].form, at[i].constant);
			return !c.failed;
		}
		pd_dwarf_skip(&c, die->unit, &at[i]);
	}
	return false;
}

bool pd_die_find_value(const struct pd_die *die, unsigned attribute, struct pd_dwarf_value *value_out,
		       struct pd_die *owner_out)
{
	struct pd_die at = *die;

	for (int i = 0; i < ORIGINS; i++) {
		if (pd_die_value(&at, attribute, value_out)) {
			if (owner_out)
				*owner_out = at;
			return true;
		}
		if (!pd_die_reference(&at, PD_AT_ORIGIN, &at) && !pd_die_reference(&at, PD_AT_SPECIFICATION, &at))
			return false;
	}
	return false;
}

bool pd_die_has(const struct pd_die *die, unsigned attribute)
{
	struct pd_dwarf_value value;

	return pd_die_value(die, attribute, &value);
}

static bool is_number(const struct pd_dwarf_value *value)
{
	switch (value->form) {
	case FORM_DATA2 ... FORM_DATA8:
	case FORM_DATA1:
	case FORM_FLAG:
	case FORM_SDATA:
	case FORM_UDATA:
	case FORM_IMPLICIT_CONST:
	case FORM_FLAG_PRESENT:
		return true;
	default:
		return false;
	}
}

bool pd_die_number(const struct pd_die *die, unsigned attribute, uint64_t *number_out)
{
	struct pd_dwarf_value value;

	if (!pd_die_value(die, attribute, &value) || !is_number(&value))
		return false;
	*number_out = value.number;
	return true;
}

bool pd_die_find_number(const struct pd_die *die, unsigned attribute, uint64_t *number_out)
{
	struct pd_dwarf_value value;

	if (!pd_die_find_value(die, attribute, &value, NULL) || !is_number(&value))
		return false;
	*number_out = value.number;
	return true;
}

bool pd_die_signed(const struct pd_die *die, unsigned attribute, int64_t *number_out)
{
	struct pd_dwarf_value value;

	if (!pd_die_value(die, attribute, &value) || !is_number(&value))
		return false;
	switch (value.form) {
	case FORM_DATA1:
		*number_out = (int8_t)value.number;
		break;
	case FORM_DATA2:
		*number_out = (int16_t)value.number;
		break;
	case FORM_DATA4:
		*number_out = (int32_t)value.number;
		break;
	default:
		*number_out = (int64_t)value.number;
		break;
	}
	return true;
}

const char *pd_die_find_text(const struct pd_die *die, unsigned attribute)
{
	struct pd_dwarf_value value;
	struct pd_die owner;

	if (!pd_die_find_value(die, attribute, &value, &owner))
		return NULL;
	return pd_dwarf_text(owner.dwarf, owner.unit, &value);
}

const char *pd_die_name(const struct pd_die *die)
{
	return pd_die_find_text(die, PD_AT_NAME);
}

const char *pd_die_linkage_name(const struct pd_die *die)
{
	const char *name = pd_die_find_text(die, PD_AT_LINKAGE_NAME);

	return name ? name : pd_die_find_text(die, PD_AT_OLD_LINKAGE_NAME);
}

static bool follow(const struct pd_die *die, const struct pd_dwarf_value *value, struct pd_die *die_out)
{
	struct pd_dwarf *d = die->dwarf;
	struct pd_dwarf_unit_head *u = die->unit;
	uint64_t offset;

	if (!pd_dwarf_reference(&d, u, value, &offset))
		return false;
	// mostly in the same unit
	if (d == die->dwarf && offset >= u->tree && offset < u->end)
		return entry_at(d, u, offset, die_out);
	return pd_die_at(d, offset, die_out);
}

bool pd_die_reference(const struct pd_die *die, unsigned attribute, struct pd_die *die_out)
{
	struct pd_dwarf_value value;

	return pd_die_value(die, attribute, &value) && follow(die, &value, die_out);
}

bool pd_die_find_reference(const struct pd_die *die, unsigned attribute, struct pd_die *die_out)
{
	struct pd_dwarf_value value;
	struct pd_die owner;

	return pd_die_find_value(die, attribute, &value, &owner) && follow(&owner, &value, die_out);
}

// ---- code ----

void pd_die_spans(const struct pd_die *die, pd_dwarf_span_fn *span, void *self)
{
	struct pd_cursor c;
	struct pd_dwarf_entry entry;

	if (!die->abbrev || !die->abbrev->has_code)
		return;
	c = cursor_at(die->dwarf, die->unit, offset_of(die->dwarf, die->values));
	pd_dwarf_entry(&c, die->unit, die->abbrev, &entry);
	pd_dwarf_spans(die->dwarf, die->unit, &entry, &die->dwarf->entry_work, span, self);
}

struct looking {
	uint64_t addr;
	bool found;
};

static bool check_span(void *self, uint64_t start, uint64_t end)
{
	struct looking *looking = self;

	looking->found = looking->addr >= start && looking->addr < end;
	return !looking->found;
}

bool pd_die_has_pc(const struct pd_die *die, uint64_t addr)
{
	struct looking looking = { .addr = addr };

	pd_die_spans(die, check_span, &looking);
	return looking.found;
}

static bool take_first(void *self, uint64_t start, uint64_t end)
{
	struct looking *looking = self;

	(void)end;
	*looking = (struct looking){ start, true };
	return false;
}

bool pd_die_entry_pc(const struct pd_die *die, bool also_ranges, uint64_t *addr_out)
{
	struct pd_dwarf_value value;
	struct looking looking = { 0 };
	uint64_t low;

	if (pd_die_value(die, PD_AT_ENTRY, &value)) {
		if (pd_dwarf_addr(die->dwarf, die->unit, &value, addr_out))
			return true;
		// of version 5 on it may be the distance from the first address
		if (is_number(&value) && pd_die_value(die, PD_AT_LOW, &value) &&
		    pd_dwarf_addr(die->dwarf, die->unit, &value, &low) &&
		    pd_die_number(die, PD_AT_ENTRY, &value.number)) {
			*addr_out = low + value.number;
			return true;
		}
	}
	if (pd_die_value(die, PD_AT_LOW, &value) && pd_dwarf_addr(die->dwarf, die->unit, &value, addr_out))
		return true;
	if (also_ranges)
		pd_die_spans(die, take_first, &looking);
	*addr_out = looking.found ? looking.addr : *addr_out;
	return looking.found;
}

bool pd_die_high_pc(const struct pd_die *die, uint64_t *addr_out)
{
	struct pd_dwarf_value low, high;
	uint64_t start;

	if (!pd_die_value(die, PD_AT_HIGH, &high))
		return false;
	if (pd_dwarf_addr(die->dwarf, die->unit, &high, addr_out))
		return true;
	if (!is_number(&high) || !pd_die_value(die, PD_AT_LOW, &low) ||
	    !pd_dwarf_addr(die->dwarf, die->unit, &low, &start))
		return false;
	*addr_out = start + high.number;
	return true;
}
