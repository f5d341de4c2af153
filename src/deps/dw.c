/* SPDX-License-Identifier: MIT */
/*
 * libdw of elfutils (LGPL-3+ or GPL-2+, linked dynamically): units, their lines, functions and what was inlined into them.
 *
 * The input may be hostile. The library checks its bounds, but leaves the program when memory runs out, so that each
 * call into it is made from where it can be left; and it follows what the input says, so that walks here only go
 * forward, up to a depth.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/version.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "deps/deps.h"
#include "symbol/dwarf.h"

#define TEXT(x) #x
#define AS_TEXT(x) TEXT(x)

enum {
	DEEPEST = 200,  // of the tree of a unit
	ORIGINS = 16,   // steps from code to its declaration
	ROW_BYTES = 96, // that the library takes for a row
	UNITS = 1 << 24
};

struct pd_dwarf {
	Elf *elf;
	Dwarf *dwarf;
	struct pd_debug_image *image;
	bool has_shared;
	Dwarf_Die unit;
	Dwarf_Files *files;
	size_t file_count;
	uint32_t *file_texts; // of files; PD_NO_TEXT: not made yet
	struct name *names;   // a hash table
	size_t name_count, name_slots;
	size_t taken; // by lines
};

static const char *version(void)
{
	return "libdw " AS_TEXT(_ELFUTILS_VERSION);
}

// ---- without memory ----

static _Thread_local jmp_buf *way_out;

static __attribute__((noreturn)) void no_memory(void)
{
	longjmp(*way_out, 1);
}

// False if memory ran out: then the library is only good for being closed.
static bool guarded(bool (*run)(void *), void *self)
{
	jmp_buf here;
	jmp_buf *volatile outer = way_out;
	volatile bool ok = false;

	way_out = &here;
	if (!setjmp(here))
		ok = run(self);
	way_out = outer;
	return ok;
}

// ---- opening ----

static bool begin(void *self)
{
	struct pd_dwarf *d = self;

	elf_version(EV_CURRENT);
	d->elf = elf_memory((char *)d->image->data, d->image->size);
	d->dwarf = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
	if (d->dwarf)
		dwarf_new_oom_handler(d->dwarf, no_memory);
	return d->dwarf != NULL;
}

static void close_dwarf(struct pd_dwarf *d)
{
	if (!d)
		return;
	if (d->dwarf)
		dwarf_end(d->dwarf);
	if (d->elf)
		elf_end(d->elf);
	pd_free(d->file_texts);
	pd_free(d->names);
	pd_free(d);
}

static struct pd_dwarf *open_dwarf(struct pd_debug_image *image, struct pd_dwarf *shared)
{
	struct pd_dwarf *d = pd_alloc(sizeof(*d));

	if (!d)
		return NULL;
	d->image = image;
	if (!guarded(begin, d)) {
		close_dwarf(d);
		return NULL;
	}
	// without it the library would look for it, but the image does not say where
	if (shared)
		dwarf_setalt(d->dwarf, shared->dwarf);
	d->has_shared = shared != NULL;
	return d;
}

// ---- units ----

struct units_call {
	struct pd_dwarf *d;
	struct pd_dwarf_units *units;
	struct bare *bare; // units that do not say where their code is, in the order of the file
	size_t bare_count, bare_capacity;
	size_t steps; // over ranges, which many units may share
};

struct bare {
	uint64_t offset;
	bool found;
	uint32_t unit; // its number, if found
};

static bool add_span(struct units_call *call, uint64_t start, uint64_t end, uint32_t unit)
{
	struct pd_dwarf_units *u = call->units;

	// what the linker left out is below all code, or at the very end
	if (end <= start || start < call->d->image->first_addr || start >= UINT64_MAX - 1)
		return true;
	if (!PD_GROW(u->spans, u->span_capacity, u->span_count + 1))
		return false;
	u->spans[u->span_count++] = (struct pd_span){start, end, unit};
	return true;
}

static bool add_offset(struct pd_dwarf_units *u, uint64_t offset)
{
	if (!PD_GROW(u->offsets, u->capacity, u->count + 1))
		return false;
	u->offsets[u->count++] = offset;
	return true;
}

static bool add_unit(struct units_call *call, Dwarf_Die *die)
{
	size_t before = call->units->span_count;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (call->steps && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		call->steps--;
		if (!add_span(call, start, end, (uint32_t)call->units->count))
			return false;
	}
	if (call->units->span_count != before)
		return add_offset(call->units, dwarf_dieoffset(die));
	if (!PD_GROW(call->bare, call->bare_capacity, call->bare_count + 1))
		return false;
	call->bare[call->bare_count++] = (struct bare){.offset = dwarf_dieoffset(die)};
	return true;
}

static int compare_bare(const void *key, const void *bare)
{
	uint64_t x = *(const uint64_t *)key, y = ((const struct bare *)bare)->offset;

	return (x > y) - (x < y);
}

static bool add_listed_one(struct units_call *call, Dwarf_Arange *range)
{
	Dwarf_Addr start;
	Dwarf_Word length;
	Dwarf_Off offset;
	struct bare *bare;

	if (dwarf_getarangeinfo(range, &start, &length, &offset) != 0)
		return true;
	bare = bsearch(&offset, call->bare, call->bare_count, sizeof(*call->bare), compare_bare);
	if (!bare)
		return true;
	if (!bare->found) {
		bare->unit = (uint32_t)call->units->count;
		bare->found = true;
		if (!add_offset(call->units, offset))
			return false;
	}
	return add_span(call, start, start + length, bare->unit);
}

// The list that debug information may have of all code, for units that do not say theirs.
static bool add_listed(struct units_call *call)
{
	Dwarf_Aranges *list;
	size_t count;

	if (!call->bare_count || dwarf_getaranges(call->d->dwarf, &list, &count) != 0)
		return true;
	for (size_t i = 0; i < count; i++)
		if (!add_listed_one(call, dwarf_onearange(list, i)))
			return false;
	return true;
}

static bool read_units(void *self)
{
	struct units_call *call = self;
	Dwarf_CU *unit = NULL;
	Dwarf_Half version_;
	uint8_t type;
	Dwarf_Die die;

	for (size_t i = 0; i < UNITS; i++) {
		memset(&die, 0, sizeof(die));
		if (dwarf_get_units(call->d->dwarf, unit, &unit, &version_, &type, &die, NULL))
			break;
		if (die.addr && (dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit) &&
		    !add_unit(call, &die))
			return false;
	}
	return add_listed(call);
}

static bool units(struct pd_dwarf *d, struct pd_dwarf_units *out)
{
	struct units_call call = {.d = d, .units = out, .steps = d->image->size};
	bool ok = guarded(read_units, &call);

	pd_free(call.bare);
	return ok;
}

// ---- names ----

// What a DIE says of itself, taken in one pass over its attributes.
struct facts {
	Dwarf_Attribute low, high, origin, specification, linkage, name, call_file, call_line;
	bool ranges;
	const struct pd_dwarf *d;
};

struct wanted {
	unsigned attribute;
	size_t member;
};

#define WANT(attribute, member) {attribute, offsetof(struct facts, member)}

static const struct wanted wanted_attributes[] = {
	WANT(DW_AT_low_pc, low),
	WANT(DW_AT_high_pc, high),
	WANT(DW_AT_abstract_origin, origin),
	WANT(DW_AT_specification, specification),
	WANT(DW_AT_linkage_name, linkage),
	WANT(DW_AT_MIPS_linkage_name, linkage),
	WANT(DW_AT_name, name),
	WANT(DW_AT_call_file, call_file),
	WANT(DW_AT_call_line, call_line),
};

static bool is_foreign(unsigned form)
{
	return form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt || form == DW_FORM_ref_sup4 ||
	       form == DW_FORM_ref_sup8 || form == DW_FORM_strp_sup;
}

static int take_attribute(Dwarf_Attribute *attribute, void *self)
{
	struct facts *facts = self;
	unsigned code = dwarf_whatattr(attribute);

	if (code == DW_AT_ranges) {
		facts->ranges = true;
		return DWARF_CB_OK;
	}
	for (size_t i = 0; i < sizeof(wanted_attributes) / sizeof(wanted_attributes[0]); i++) {
		if (wanted_attributes[i].attribute != code)
			continue;
		if (facts->d->has_shared || !is_foreign(dwarf_whatform(attribute)))
			memcpy((char *)facts + wanted_attributes[i].member, attribute, sizeof(*attribute));
		break;
	}
	return DWARF_CB_OK;
}

static struct facts facts_of(const struct pd_dwarf *d, Dwarf_Die *die)
{
	struct facts facts = {.d = d};

	dwarf_getattrs(die, take_attribute, &facts, 0);
	return facts;
}

static const char *text_of(Dwarf_Attribute *attribute)
{
	return attribute->valp ? dwarf_formstring(attribute) : NULL;
}

// The linker's name if a declaration on the way has one, else the nearest name of the source.
static const char *find_name(const struct pd_dwarf *d, Dwarf_Die die, struct facts *facts)
{
	const char *name = NULL;

	for (int i = 0; i < ORIGINS; i++) {
		struct facts next = i ? facts_of(d, &die) : *facts;
		Dwarf_Attribute *way = next.origin.valp ? &next.origin : &next.specification;
		const char *linkage = text_of(&next.linkage);

		if (linkage)
			return linkage;
		if (!name)
			name = text_of(&next.name);
		if (!way->valp || !dwarf_formref_die(way, &die))
			break;
	}
	return name;
}

struct name {
	const void *addr; // of the DIE
	uint32_t text;
};

static size_t slot_of(const struct pd_dwarf *d, const void *addr)
{
	uint64_t hash = (uint64_t)(uintptr_t)addr * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (d->name_slots - 1);

	while (d->names[at].addr && d->names[at].addr != addr)
		at = (at + 1) & (d->name_slots - 1);
	return at;
}

static bool grow_names(struct pd_dwarf *d)
{
	struct name *old = d->names;
	size_t count = d->name_slots;
	struct name *names = pd_alloc((count ? 2 * count : 256) * sizeof(*names));

	if (!names)
		return false;
	d->names = names;
	d->name_slots = count ? 2 * count : 256;
	for (size_t i = 0; i < count; i++)
		if (old[i].addr)
			d->names[slot_of(d, old[i].addr)] = old[i];
	pd_free(old);
	return true;
}

// Many inlined copies have one origin: its name is looked for once in a unit.
static uint32_t name_text(struct pd_dwarf *d, struct pd_unit_maker *maker, Dwarf_Die *die, struct facts *facts)
{
	Dwarf_Die origin = *die;
	size_t slot;

	if (!facts->origin.valp || facts->linkage.valp || facts->name.valp || !dwarf_formref_die(&facts->origin, &origin))
		return pd_unit_maker_text(maker, find_name(d, *die, facts));
	if (2 * d->name_count >= d->name_slots && !grow_names(d)) {
		maker->failed = true;
		return PD_NO_TEXT;
	}
	slot = slot_of(d, origin.addr);
	if (!d->names[slot].addr) {
		d->names[slot] = (struct name){origin.addr, pd_unit_maker_text(maker, find_name(d, *die, facts))};
		d->name_count++;
	}
	return d->names[slot].text;
}

// ---- files ----

static uint32_t file_text(struct pd_dwarf *d, struct pd_unit_maker *maker, size_t file)
{
	const char *path;

	if (file >= d->file_count)
		return pd_unit_maker_text(maker, "");
	if (d->file_texts[file] == PD_NO_TEXT) {
		path = dwarf_filesrc(d->files, file, NULL, NULL);
		d->file_texts[file] = pd_unit_maker_text(maker, path ? path : "");
	}
	return d->file_texts[file];
}

static bool take_files(struct pd_dwarf *d)
{
	pd_free(d->file_texts);
	d->file_texts = NULL;
	d->file_count = 0;
	if (dwarf_getsrcfiles(&d->unit, &d->files, &d->file_count) != 0) {
		d->file_count = 0;
		return true;
	}
	d->file_texts = pd_realloc(NULL, d->file_count * sizeof(*d->file_texts));
	if (!d->file_texts) {
		d->file_count = 0;
		return false;
	}
	memset(d->file_texts, 0xff, d->file_count * sizeof(*d->file_texts));
	return true;
}

// ---- lines ----

static void put_line(struct pd_dwarf *d, struct pd_unit_maker *maker, Dwarf_Line *line)
{
	struct pd_unit_row row = {.file = PD_NO_TEXT};
	Dwarf_Files *files;
	Dwarf_Addr addr;
	size_t file;
	bool ends;
	int number;

	if (dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &ends))
		return;
	row.addr = addr;
	if (!ends) {
		row.line = dwarf_lineno(line, &number) || number < 0 ? 0 : (uint32_t)number;
		row.file = file_text(d, maker, dwarf_line_file(line, &files, &file) ? SIZE_MAX : file);
	}
	pd_unit_maker_row(maker, &row);
}

// A byte of a line program may make a row: what the library would take for it is known before.
static bool has_room(struct pd_dwarf *d, const struct pd_unit_maker *maker)
{
	const struct pd_debug_image *image = d->image;
	Dwarf_Attribute attribute;
	Dwarf_Word at;
	struct pd_cursor c;
	uint64_t size;

	if (!dwarf_attr(&d->unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &at) ||
	    at >= image->lines_size)
		return false;
	c = pd_cursor(image->data + image->lines_at + at, image->lines_size - at, image->big);
	size = pd_cursor_u32(&c);
	if (size == UINT32_MAX)
		size = pd_cursor_u64(&c);
	return size <= pd_cursor_room(&c) && (!maker->limit || size <= maker->limit / ROW_BYTES);
}

static void put_lines(struct pd_dwarf *d, struct pd_unit_maker *maker)
{
	Dwarf_Lines *lines;
	size_t count;

	if (!has_room(d, maker) || dwarf_getsrclines(&d->unit, &lines, &count) != 0)
		return;
	d->taken += count * ROW_BYTES / 2;
	for (size_t i = 0; i < count; i++)
		put_line(d, maker, dwarf_onesrcline(lines, i));
}

// ---- functions ----

struct walk {
	struct pd_dwarf *d;
	struct pd_unit_maker *maker;
	size_t steps; // over ranges, which many functions may share
};

struct level {
	Dwarf_Die die;
	uint32_t scope; // that it stands in
};

enum what {
	NOTHING, // cannot hold code
	INSIDE,
	FUNCTION,
	INLINED
};

static enum what what_is(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		return FUNCTION;
	case DW_TAG_inlined_subroutine:
		return INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return INSIDE;
	default:
		return NOTHING;
	}
}

static void put_span(struct walk *w, uint64_t start, uint64_t end, uint32_t scope)
{
	if (start >= w->d->image->first_addr && start < UINT64_MAX - 1)
		pd_unit_maker_span(w->maker, start, end, scope);
}

static void put_spans(struct walk *w, Dwarf_Die *die, struct facts *facts, uint32_t scope)
{
	Dwarf_Addr base, start, end;
	Dwarf_Word size;
	ptrdiff_t at = 0;

	if (facts->ranges) {
		while (w->steps && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
			w->steps--;
			put_span(w, start, end, scope);
		}
		return;
	}
	if (dwarf_formaddr(&facts->low, &start) || !facts->high.valp)
		return;
	if (!dwarf_formaddr(&facts->high, &end))
		put_span(w, start, end, scope);
	else if (!dwarf_formudata(&facts->high, &size))
		put_span(w, start, start + size, scope);
}

static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word value;

	if (!attribute->valp || dwarf_formudata(attribute, &value) || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

// Returns the scope of what stands inside.
static uint32_t put_scope(struct walk *w, Dwarf_Die *die, uint32_t parent, bool inlined)
{
	struct facts facts = facts_of(w->d, die);
	struct pd_unit_scope scope = {.parent = inlined ? parent : PD_NO_SCOPE, .call_file = PD_NO_TEXT};
	uint32_t number;

	if (!facts.ranges && !facts.low.valp)
		return parent;
	scope.name = name_text(w->d, w->maker, die, &facts);
	if (inlined && facts.call_file.valp) {
		scope.call_file = file_text(w->d, w->maker, number_of(&facts.call_file));
		scope.call_line = number_of(&facts.call_line);
	}
	number = pd_unit_maker_scope(w->maker, &scope);
	put_spans(w, die, &facts, number);
	return number;
}

static bool visit(struct walk *w, const struct level *level, uint32_t *scope_out)
{
	Dwarf_Die die = level->die;
	enum what what = what_is(&die);

	*scope_out = level->scope;
	if (what == FUNCTION || what == INLINED)
		*scope_out = put_scope(w, &die, level->scope, what == INLINED);
	return what != NOTHING;
}

// A tree in the order of the file: what does not go forward is hostile and ends the walk.
static void walk(struct walk *w)
{
	struct level levels[DEEPEST], *level = levels;
	Dwarf_Off before = dwarf_dieoffset(&w->d->unit), here;
	uint32_t inside;

	if (dwarf_child(&w->d->unit, &level->die) != 0)
		return;
	level->scope = PD_NO_SCOPE;
	while (!w->maker->failed && (here = dwarf_dieoffset(&level->die)) > before) {
		before = here;
		if (visit(w, level, &inside) && level < levels + DEEPEST - 1 &&
		    dwarf_child(&level->die, &level[1].die) == 0) {
			level++;
			level->scope = inside;
			continue;
		}
		while (dwarf_siblingof(&level->die, &level->die) != 0) {
			if (level == levels)
				return;
			level--;
		}
	}
}

// ---- a unit ----

struct unit_call {
	struct pd_dwarf *d;
	uint64_t offset;
	struct pd_unit_maker *maker;
};

static bool read_unit(void *self)
{
	struct unit_call *call = self;
	struct pd_dwarf *d = call->d;
	struct walk w = {.d = d, .maker = call->maker, .steps = d->image->size};

	if (!dwarf_offdie(d->dwarf, call->offset, &d->unit))
		return true;
	d->name_count = 0;
	if (d->name_slots)
		memset(d->names, 0, d->name_slots * sizeof(*d->names));
	if (!take_files(d))
		return false;
	put_lines(d, call->maker);
	walk(&w);
	return !call->maker->failed;
}

static bool unit(struct pd_dwarf *d, uint64_t offset, struct pd_unit_maker *maker)
{
	struct unit_call call = {d, offset, maker};

	return guarded(read_unit, &call);
}

static size_t taken(const struct pd_dwarf *d)
{
	return d->taken;
}

const struct pd_dwarf_reader pd_dwarf_reader = {
	.name = "libdw",
	.use = PD_USE_DW,
	.version = version,
	.open = open_dwarf,
	.close = close_dwarf,
	.units = units,
	.unit = unit,
	.taken = taken,
};
