/* SPDX-License-Identifier: MIT */
/*
 * Debug information of versions 2 to 5, as far as lines, functions and what was inlined into them need it: units, the
 * trees in them, line programs. It is read in one pass over a unit, into the flat tables of unit_table.h. All of it may
 * be hostile: every read is bounded, nothing is followed without a limit, and work is linear in the size of the input.
 */
#ifndef PD_OBJECT_DWARF_DWARF_H
#define PD_OBJECT_DWARF_DWARF_H

#include "base/cursor.h"
#include "object/elf/elf.h"
#include "object/dwarf/unit_table.h"

enum pd_debug_section {
	PD_DEBUG_INFO,
	PD_DEBUG_ABBREV,
	PD_DEBUG_LINE,
	PD_DEBUG_STR,
	PD_DEBUG_LINE_STR,
	PD_DEBUG_RANGES,
	PD_DEBUG_RNGLISTS,
	PD_DEBUG_ADDR,
	PD_DEBUG_STR_OFFSETS,
	PD_DEBUG_ARANGES,
	PD_DEBUG_SECTIONS
};

/** The sections of a file that have debug information, uncompressed and relocated. A NUL stands after each. */
struct pd_debug_image {
	uint8_t *data; // pd_free
	size_t size;
	bool big;
	struct pd_bytes sections[PD_DEBUG_SECTIONS];
	uint64_t first_addr; // there is no code below
	uint64_t sum;        // of what stands in it, to tell one from another
};

/** limit is the most bytes to take. PD_ERROR_UNSUPPORTED if the file has no debug information, PD_ERROR_LIMIT. */
enum pd_status pd_debug_image_make(struct pd_elf *elf, size_t limit, struct pd_debug_image *image_out,
				   struct pd_error *error);

/** Reads one section, as "frame" for .debug_frame, into memory that the caller frees (pd_free). PD_ERROR_UNSUPPORTED if there is
 * none or it is empty, PD_ERROR_LIMIT. */
enum pd_status pd_debug_section_read(struct pd_elf *elf, const char *name, size_t limit, uint8_t **data_out,
				     size_t *size_out, struct pd_error *error);

/** Units that have code, and where it is. */
struct pd_dwarf_code {
	uint32_t *units; // numbers in the file
	size_t count, capacity;
	struct pd_span *spans; // value is the index in units
	size_t span_count, span_capacity;
};

struct pd_dwarf;

/** Both images must live until close; shared is what several debug files share, and may be NULL.
 * PD_ERROR_MEMORY. */
enum pd_status pd_dwarf_open(struct pd_dwarf **dwarf_out, const struct pd_debug_image *image, struct pd_dwarf *shared,
			     struct pd_error *error);
void pd_dwarf_close(struct pd_dwarf *dwarf);
/** Adds to code; false without memory. */
bool pd_dwarf_code(struct pd_dwarf *dwarf, struct pd_dwarf_code *code);
/** Fills a maker with a unit; false without memory. What cannot be read is left out. */
bool pd_dwarf_unit(struct pd_dwarf *dwarf, uint32_t unit, struct pd_unit_maker *maker);

// ---- inside of the reader ----

enum {
	PD_DWARF_TAG_CLASS = 0x02,
	PD_DWARF_TAG_COMPILE_UNIT = 0x11,
	PD_DWARF_TAG_STRUCTURE = 0x13,
	PD_DWARF_TAG_INLINED = 0x1d,
	PD_DWARF_TAG_FUNCTION = 0x2e,
	PD_DWARF_TAG_NAMESPACE = 0x39,
	PD_DWARF_TAG_SKELETON_UNIT = 0x4a
};

/** What an attribute is for. */
enum pd_dwarf_use {
	PD_USE_NOTHING,
	PD_USE_SIBLING,
	PD_USE_NAME,
	PD_USE_LINKAGE_NAME,
	PD_USE_LOW,
	PD_USE_HIGH,
	PD_USE_RANGES,
	PD_USE_ORIGIN,
	PD_USE_SPECIFICATION,
	PD_USE_CALL_FILE,
	PD_USE_CALL_LINE,
	PD_USE_LINES,
	PD_USE_FOLDER,
	PD_USE_STR_OFFSETS_BASE,
	PD_USE_ADDR_BASE,
	PD_USE_RNGLISTS_BASE,
	PD_USE_LOCLISTS_BASE,
	PD_USE_COUNT
};

struct pd_dwarf_attribute {
	uint16_t form;
	uint8_t use;
	int8_t size; // of the value; -1: it says itself
	uint16_t name;
	int64_t constant;
};

struct pd_dwarf_abbrev {
	uint64_t code;
	uint32_t tag;
	uint32_t first, count; // attributes
	int32_t size;          // of all of them; -1: not always the same
	bool has_children;
	bool has_code; // it says where code is
	bool has_sibling;
};

struct pd_dwarf_abbrevs {
	struct pd_dwarf_abbrev *items;
	size_t count, capacity;
	struct pd_dwarf_attribute *attributes;
	size_t attribute_count, attribute_capacity;
	uint64_t offset;
	uint8_t addr_size, offset_size, version;
	struct pd_dwarf_abbrevs *next;
};

/** The value of an attribute that was read. form is 0 if there is none. */
struct pd_dwarf_value {
	uint16_t form;
	uint64_t number;  // an index, an offset, an address, a constant, the size of a block
	const char *text; // of what stands in place; the bytes of a block
};

struct pd_dwarf_unit_head {
	uint64_t start, end; // in .debug_info
	uint64_t tree;       // where its first entry is
	uint64_t abbrev_offset;
	struct pd_dwarf_abbrevs *abbrevs; // NULL: not read yet
	uint64_t str_offsets_base, addr_base, rnglists_base, loclists_base, low;
	uint8_t version, addr_size, offset_size, type;
	bool is_ready; // bases are read
	bool is_bad;
};

struct pd_dwarf {
	const struct pd_debug_image *image;
	struct pd_dwarf *shared;
	struct pd_dwarf_unit_head *units;
	size_t unit_count, unit_capacity;
	struct pd_dwarf_abbrevs *tables;
	size_t abbrev_work; // attributes that may yet be read: units may share tables, or claim to have many
	size_t entry_work;  // entries and ranges that may yet be read one by one (die.h)
	bool out_of_memory;
};

/** An entry of a tree, with the values that have a use. */
struct pd_dwarf_entry {
	const struct pd_dwarf_abbrev *abbrev;
	struct pd_dwarf_value values[PD_USE_COUNT];
};

static inline struct pd_cursor pd_dwarf_cursor(const struct pd_dwarf *d, enum pd_debug_section which, uint64_t from)
{
	const struct pd_bytes *bytes = &d->image->sections[which];

	if (from > bytes->size)
		from = bytes->size;
	// what is missing is empty, but stands somewhere
	return pd_cursor(bytes->size ? bytes->data + from : (const uint8_t *)"", bytes->size - (size_t)from,
			 d->image->big);
}

uint64_t pd_dwarf_uleb_long(struct pd_cursor *c);

PD_ALWAYS_INLINE uint64_t pd_dwarf_uleb(struct pd_cursor *c)
{
	if (c->at < c->end && !(*c->at & 0x80))
		return *c->at++;
	return pd_dwarf_uleb_long(c);
}

int64_t pd_dwarf_sleb(struct pd_cursor *c);
/** A number of 1 to 8 bytes. */
uint64_t pd_dwarf_number(struct pd_cursor *c, unsigned size);

/** A value of a form, which is no value of the unit's tree only if u has no tree. */
struct pd_dwarf_value pd_dwarf_value(struct pd_cursor *c, const struct pd_dwarf_unit_head *u, unsigned form,
				     int64_t constant);
void pd_dwarf_skip(struct pd_cursor *c, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_attribute *attribute);

/** The unit at an offset in .debug_info, with its tables read; NULL if there is none. */
struct pd_dwarf_unit_head *pd_dwarf_unit_at(struct pd_dwarf *d, uint64_t offset);
/** Reads the first entry of a unit; false if there is none, or the unit is damaged. */
bool pd_dwarf_unit_entry(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, struct pd_dwarf_entry *entry);
/** Notes from that entry what values of the unit refer to; the unit is ready then. */
void pd_dwarf_set_bases(const struct pd_dwarf *d, struct pd_dwarf_unit_head *u, const struct pd_dwarf_entry *entry);
bool pd_dwarf_ready(struct pd_dwarf *d, struct pd_dwarf_unit_head *u);
const struct pd_dwarf_abbrev *pd_dwarf_abbrev(const struct pd_dwarf_unit_head *u, uint64_t code);
/** The attributes of a shape; NULL if it has none. */
static inline const struct pd_dwarf_attribute *pd_dwarf_attributes(const struct pd_dwarf_unit_head *u,
								   const struct pd_dwarf_abbrev *abbrev)
{
	return abbrev->count ? u->abbrevs->attributes + abbrev->first : NULL;
}

/** Reads the attributes of an entry whose code was taken already. */
void pd_dwarf_entry(struct pd_cursor *c, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_abbrev *abbrev,
		    struct pd_dwarf_entry *entry_out);

/** Texts live as long as the images. NULL if it is none. */
const char *pd_dwarf_text(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u,
			  const struct pd_dwarf_value *value);
bool pd_dwarf_addr(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_value *value,
		   uint64_t *addr_out);
/** Where a value refers to; *d is changed to where that stands. */
bool pd_dwarf_reference(struct pd_dwarf **d, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_value *value,
			uint64_t *offset_out);

/** Called with each stretch of code; false ends it. */
typedef bool pd_dwarf_span_fn(void *self, uint64_t start, uint64_t end);
/** Where the code of an entry is. *work is how many ranges may yet be read. */
void pd_dwarf_spans(const struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, const struct pd_dwarf_entry *entry,
		    size_t *work, pd_dwarf_span_fn *span, void *self);

/** A row of a line program as it stands there. */
struct pd_dwarf_row {
	uint64_t addr, file;
	uint32_t line;
	bool is_statement, is_after_prologue;
	bool ends; // nothing is here
};
typedef void pd_dwarf_row_fn(void *self, const struct pd_dwarf_row *row);

/** The files of a unit as texts of a maker, made when they are asked for. */
struct pd_dwarf_files {
	struct pd_unit_maker *maker;
	pd_dwarf_row_fn *row; // gets the rows instead of the maker; or NULL
	void *row_self;
	const char *folder;
	const char **folders;
	size_t folder_count, folder_capacity;
	struct pd_dwarf_file *items;
	size_t count, capacity;
};

struct pd_dwarf_file {
	const char *name;
	uint64_t folder;
	uint32_t text;
	bool has_text;
};

/** Reads the program at an offset into the maker: its files, and its rows. */
void pd_dwarf_lines(struct pd_dwarf *d, const struct pd_dwarf_unit_head *u, uint64_t offset,
		    struct pd_dwarf_files *files);
uint32_t pd_dwarf_file_text(struct pd_dwarf_files *files, uint64_t file);
void pd_dwarf_files_fini(struct pd_dwarf_files *files);

/** Reads the functions of a unit into the maker. */
void pd_dwarf_scopes(struct pd_dwarf *d, struct pd_dwarf_unit_head *u, struct pd_dwarf_files *files,
		     struct pd_unit_maker *maker);

#endif
