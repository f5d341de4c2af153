/* SPDX-License-Identifier: MIT */
/*
 * Entries of debug information one by one, with any of their attributes: for those who ask about single functions, variables
 * and types. Who reads all of a unit does it in one pass instead (dwarf.h). Nothing is recursive; how much is read in all is limited
 * (struct pd_dwarf, entry_work).
 */
#ifndef PD_OBJECT_DWARF_DIE_H
#define PD_OBJECT_DWARF_DIE_H

#include "object/dwarf/dwarf.h"

enum pd_die_tag {
	PD_TAG_ARRAY = 0x01,
	PD_TAG_CLASS = 0x02,
	PD_TAG_ENUMERATION = 0x04,
	PD_TAG_PARAMETER = 0x05,
	PD_TAG_MEMBER = 0x0d,
	PD_TAG_POINTER = 0x0f,
	PD_TAG_STRUCTURE = 0x13,
	PD_TAG_FUNCTION_TYPE = 0x15,
	PD_TAG_TYPEDEF = 0x16,
	PD_TAG_UNION = 0x17,
	PD_TAG_INLINED = 0x1d,
	PD_TAG_SUBRANGE = 0x21,
	PD_TAG_CONST = 0x26,
	PD_TAG_FUNCTION = 0x2e,
	PD_TAG_VARIABLE = 0x34,
	PD_TAG_VOLATILE = 0x35,
	PD_TAG_RESTRICT = 0x37,
	PD_TAG_SHARED = 0x40
};

enum pd_die_attribute {
	PD_AT_LOCATION = 0x02,
	PD_AT_NAME = 0x03,
	PD_AT_BYTE_SIZE = 0x0b,
	PD_AT_BIT_OFFSET = 0x0c,
	PD_AT_BIT_SIZE = 0x0d,
	PD_AT_LOW = 0x11,
	PD_AT_HIGH = 0x12,
	PD_AT_LANGUAGE = 0x13,
	PD_AT_FOLDER = 0x1b,
	PD_AT_CONST_VALUE = 0x1c,
	PD_AT_INLINE = 0x20,
	PD_AT_PRODUCER = 0x25,
	PD_AT_UPPER_BOUND = 0x2f,
	PD_AT_ORIGIN = 0x31,
	PD_AT_COUNT = 0x37,
	PD_AT_MEMBER_LOCATION = 0x38,
	PD_AT_DECL_FILE = 0x3a,
	PD_AT_DECL_LINE = 0x3b,
	PD_AT_DECLARATION = 0x3c,
	PD_AT_ENCODING = 0x3e,
	PD_AT_EXTERNAL = 0x3f,
	PD_AT_FRAME_BASE = 0x40,
	PD_AT_SPECIFICATION = 0x47,
	PD_AT_TYPE = 0x49,
	PD_AT_ENTRY = 0x52,
	PD_AT_RANGES = 0x55,
	PD_AT_CALL_FILE = 0x58,
	PD_AT_CALL_LINE = 0x59,
	PD_AT_DATA_BIT_OFFSET = 0x6b,
	PD_AT_LINKAGE_NAME = 0x6e,
	PD_AT_OLD_LINKAGE_NAME = 0x2007
};

enum {
	PD_FORM_SEC_OFFSET = 0x17 // of a value that is a list elsewhere
};

/** An entry. Valid as long as the dwarf; abbrev is NULL in an empty one. */
struct pd_die {
	struct pd_dwarf *dwarf;
	struct pd_dwarf_unit_head *unit;
	uint64_t offset; // in .debug_info
	const struct pd_dwarf_abbrev *abbrev;
	const uint8_t *values; // of its attributes
};

static inline uint32_t pd_die_tag(const struct pd_die *die)
{
	return die->abbrev ? die->abbrev->tag : 0;
}

static inline bool pd_die_same(const struct pd_die *a, const struct pd_die *b)
{
	return a->dwarf == b->dwarf && a->offset == b->offset;
}

/** The entry of a unit by its number; false if the unit cannot be read. */
bool pd_die_unit(struct pd_dwarf *dwarf, size_t unit, struct pd_die *die_out);
/** The entry at an offset in .debug_info; false if there is none. */
bool pd_die_at(struct pd_dwarf *dwarf, uint64_t offset, struct pd_die *die_out);

/** All entries below one, in their order. */
struct pd_die_walk {
	struct pd_die die; // the present one
	unsigned depth;    // 1: a child of the first one
	bool began;
};

/** Goes to the first entry below the one that the walk was made with, or to the next one: with into below the present entry,
 * else past all that is below it. False at the end. */
bool pd_die_next(struct pd_die_walk *walk, bool into);

/** An attribute of the entry itself; false if it has none. Blocks: number is the size, text the bytes. */
bool pd_die_value(const struct pd_die *die, unsigned attribute, struct pd_dwarf_value *value_out);
/** The same, or that of the entry it is an instance of; owner_out: who has it, may be NULL. */
bool pd_die_find_value(const struct pd_die *die, unsigned attribute, struct pd_dwarf_value *value_out,
		       struct pd_die *owner_out);
bool pd_die_has(const struct pd_die *die, unsigned attribute);
/** A number that is no reference, address or block. With find as pd_die_find_value. */
bool pd_die_number(const struct pd_die *die, unsigned attribute, uint64_t *number_out);
bool pd_die_find_number(const struct pd_die *die, unsigned attribute, uint64_t *number_out);
/** The same with its sign. */
bool pd_die_signed(const struct pd_die *die, unsigned attribute, int64_t *number_out);
/** Strings live as long as the images; NULL if there is none. */
const char *pd_die_find_text(const struct pd_die *die, unsigned attribute);
const char *pd_die_name(const struct pd_die *die);
const char *pd_die_linkage_name(const struct pd_die *die);
/** The entry that an attribute refers to. */
bool pd_die_reference(const struct pd_die *die, unsigned attribute, struct pd_die *die_out);
bool pd_die_find_reference(const struct pd_die *die, unsigned attribute, struct pd_die *die_out);

/** Where the code of an entry is, see pd_dwarf_spans. */
void pd_die_spans(const struct pd_die *die, pd_dwarf_span_fn *span, void *self);
bool pd_die_has_pc(const struct pd_die *die, uint64_t addr);
/** Its entry: where it says, else its lowest address, else (also_ranges) where its first range begins. */
bool pd_die_entry_pc(const struct pd_die *die, bool also_ranges, uint64_t *addr_out);
/** The address after its last one, if it is in one piece. */
bool pd_die_high_pc(const struct pd_die *die, uint64_t *addr_out);

// ---- locations (location.c) ----

/** Lists of locations, which most readers do not need: read when a variable is asked for. */
struct pd_die_locations {
	uint8_t *old, *lists; // .debug_loc, .debug_loclists; pd_free
	size_t old_size, lists_size;
};

/** The first operation of an expression. */
struct pd_die_operation {
	uint8_t code;
	bool is_only; // the expression has no other one
	uint64_t number;
	int64_t offset;
};

/** One place of a variable. start and end are 0 if it holds everywhere. */
struct pd_die_location {
	uint64_t start, end;
	struct pd_bytes expression;
};

enum pd_operation {
	PD_OP_ADDR = 0x03,
	PD_OP_PLUS_UCONST = 0x23,
	PD_OP_REG0 = 0x50,
	PD_OP_BREG0 = 0x70,
	PD_OP_REGX = 0x90,
	PD_OP_FBREG = 0x91,
	PD_OP_BREGX = 0x92,
	PD_OP_CALL_FRAME_CFA = 0x9c,
	PD_OP_ADDRX = 0xa1,
	PD_OP_GNU_ADDR_INDEX = 0xfb
};

/** Reads lists of an object or its debug file, whichever has debug information. What cannot be read is empty. */
void pd_die_locations_read(struct pd_elf *elf, size_t limit, struct pd_die_locations *locations_out);
void pd_die_locations_fini(struct pd_die_locations *locations);

/** Called with each place; false ends it. */
typedef bool pd_die_location_fn(void *self, const struct pd_die_location *location);
/** The places that an attribute of an entry names. */
void pd_die_each_location(const struct pd_die *die, unsigned attribute, const struct pd_die_locations *locations,
			  pd_die_location_fn *each, void *self);
/** The place at an address; false if there is none. */
bool pd_die_location_at(const struct pd_die *die, unsigned attribute, const struct pd_die_locations *locations,
			uint64_t addr, struct pd_die_location *location_out);
/** The first operation of an expression; false if it is empty or damaged. */
bool pd_die_operation(const struct pd_die *die, struct pd_bytes expression, struct pd_die_operation *operation_out);

#endif
