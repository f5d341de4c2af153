/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses as objdump chooses them: the last symbol at or before an address, and of those that begin there the first
 * one in its order. Symbols are those of the full table, else those of the dynamic linker with their versions; and entries of the PLT.
 */
#include <stdlib.h>
#include <string.h>

#include "annotate/inside.h"
#include "base/cursor.h"
#include "base/lookup/search.h"
#include "object/demangle/demangle.h"
#include "object/elf/elf.h"

enum {
	TYPE_NONE = 0,
	TYPE_OBJECT = 1,
	TYPE_FUNCTION = 2,
	TYPE_SECTION = 3,
	TYPE_FILE = 4,
	BIND_GLOBAL = 1,
	INDEX_RESERVED = 0xff00,
	SECTION_VERSIONS = 0x6fffffff,
	SECTION_DEFINITIONS = 0x6ffffffd,
	MACHINE_ARM = 40,
	VERSION_HIDDEN = 0x8000,
	VERSIONS = 1 << 15,
	MOST_LABELS = 1 << 24
};

struct pd_labels {
	struct pd_label *items;
	size_t count, capacity;
	struct pd_arena names;
	struct pd_text text;
	struct pd_marks marks;
	bool failed;
};

struct reading {
	struct pd_elf *elf;
	struct pd_labels *labels;
	struct pd_bytes names;
	struct pd_bytes versions;   // of symbols
	const char **version_names; // by number
	size_t version_count, version_capacity;
};

// ---- versions ----

static const struct pd_elf_section *section_of_type(const struct pd_elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}

static struct pd_bytes linked_names(struct pd_elf *elf, const struct pd_elf_section *section)
{
	if (section->link >= elf->section_count)
		return (struct pd_bytes){ NULL, 0 };
	return pd_elf_section_bytes(elf, &elf->sections[section->link]);
}

static void note_version(struct reading *r, struct pd_bytes names, uint16_t number, uint32_t name, bool base)
{
	const char *text;
	uint32_t length;

	if (number >= VERSIONS || !pd_elf_name(names, name, &text, &length))
		return;
	if (number >= r->version_count) {
		size_t old = r->version_capacity;

		if (!PD_GROW(r->version_names, r->version_capacity, number + 1u)) {
			r->labels->failed = true;
			return;
		}
		memset(r->version_names + old, 0, (r->version_capacity - old) * sizeof(*r->version_names));
		r->version_count = number + 1u;
	}
	r->version_names[number] = base ? "Base" : text;
}

// Definitions are a list: each has a number, and its name in the record that follows it.
static void read_versions(struct reading *r)
{
	const struct pd_elf_section *section = section_of_type(r->elf, SECTION_DEFINITIONS);
	const struct pd_elf_section *symbols = section_of_type(r->elf, SECTION_VERSIONS);
	struct pd_bytes bytes, names;
	uint64_t at = 0, next = 1;

	if (!symbols)
		return;
	r->versions = pd_elf_section_bytes(r->elf, symbols);
	if (!section)
		return;
	bytes = pd_elf_section_bytes(r->elf, section);
	names = linked_names(r->elf, section);
	for (size_t i = 0; i < VERSIONS && next && at < bytes.size; i++, at += next) {
		struct pd_cursor c = pd_cursor(bytes.data + at, bytes.size - (size_t)at, r->elf->big);
		uint16_t flags, number;
		uint32_t aux, name;

		pd_cursor_u16(&c);
		flags = pd_cursor_u16(&c);
		number = pd_cursor_u16(&c);
		pd_cursor_u16(&c);
		pd_cursor_u32(&c);
		aux = pd_cursor_u32(&c);
		next = pd_cursor_u32(&c);
		if (c.failed || aux > bytes.size - at)
			return;
		c = pd_cursor(bytes.data + at + aux, bytes.size - (size_t)(at + aux), r->elf->big);
		name = pd_cursor_u32(&c);
		if (!c.failed)
			note_version(r, names, number, name, flags & 1);
	}
}

// "@@VERSION" of the index-th symbol of the dynamic linker, or "".
static void append_version(struct reading *r, size_t index, struct pd_text *text)
{
	struct pd_cursor c = pd_cursor(r->versions.data, r->versions.size, r->elf->big);
	uint16_t version, number;
	const char *name;

	pd_cursor_take(&c, (uint64_t)index * 2);
	version = pd_cursor_u16(&c);
	number = version & (VERSION_HIDDEN - 1);
	if (c.failed || !number)
		return;
	name = number < r->version_count ? r->version_names[number] : NULL;
	if (!name && number == 1)
		name = "Base";
	if (!name)
		return;
	pd_text_add(text, version & VERSION_HIDDEN ? "@" : "@@");
	pd_text_add(text, name);
}

// ---- names ----

// What is after "@" is none of the name.
static const char *readable(struct pd_labels *labels, const char *name, size_t length)
{
	const char *at = memchr(name, '@', length);
	size_t own = at && at > name ? (size_t)(at - name) : length;
	struct pd_text *text = &labels->text;
	char *linker, *full;

	text->size = 0;
	if (own > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') && !pd_demangle_rust(text, name, own) &&
	    !pd_demangle_rust_legacy(text, name, own) && pd_demangler_cxx.demangle) {
		linker = pd_arena_text(&labels->names, name, own);
		full = linker ? pd_demangler_cxx.demangle(linker) : NULL;
		if (full) {
			pd_text_add(text, full);
			pd_demangler_cxx.free(full);
		}
	}
	if (!text->size)
		pd_text_put(text, name, own);
	pd_text_put(text, name + own, length - own);
	return text->failed ? NULL : pd_arena_text(&labels->names, text->data, text->size);
}

const char *pd_label_name(struct pd_labels *labels, const struct pd_label *label)
{
	struct pd_label *own = &labels->items[label - labels->items];

	if (!own->readable)
		own->readable = readable(labels, own->name, strlen(own->name));
	return own->readable ? own->readable : own->name;
}

const char *pd_readable_name(struct pd_labels *labels, const char *name)
{
	const char *full = readable(labels, name, strlen(name));

	return full && strcmp(full, name) != 0 ? full : name;
}

// ---- reading ----

static bool add_label(struct pd_labels *labels, const struct pd_label *label)
{
	if (labels->count >= MOST_LABELS || !PD_GROW(labels->items, labels->capacity, labels->count + 1)) {
		labels->failed = true;
		return false;
	}
	labels->items[labels->count] = *label;
	labels->items[labels->count].index = (uint32_t)labels->count;
	labels->count++;
	return true;
}

// Marks of where code changes its mode; that of RISC-V may say which extensions there are: "$xrv64gc".
static bool is_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.' || (name[1] == 'x' && name[2] == 'r' && name[3] == 'v'));
}

// The lowest bit of a function of ARM says that it is Thumb.
static void note_mode(struct reading *r, struct pd_label *label)
{
	if (r->elf->machine != MACHINE_ARM || label->type != TYPE_FUNCTION)
		return;
	r->labels->failed |=
		!pd_marks_add(&r->labels->marks, label->addr & ~UINT64_C(1), label->addr & 1 ? 't' : 'a', true);
	label->addr &= ~UINT64_C(1);
}

static bool take_symbol(struct reading *r, struct pd_cursor *c, size_t index)
{
	struct pd_label label = { 0 };
	uint32_t name = pd_cursor_u32(c), length;
	struct pd_text *text = &r->labels->text;
	const char *string;
	uint8_t info;

	if (!r->elf->wide) {
		label.addr = pd_cursor_u32(c);
		label.size = pd_cursor_u32(c);
	}
	info = pd_cursor_u8(c);
	pd_cursor_u8(c);
	label.section = pd_cursor_u16(c);
	if (r->elf->wide) {
		label.addr = pd_cursor_u64(c);
		label.size = pd_cursor_u64(c);
	}
	label.type = info & 15;
	label.bind = info >> 4;
	if (c->failed)
		return false;
	if (!label.section || label.section >= INDEX_RESERVED || label.type == TYPE_SECTION ||
	    label.type == TYPE_FILE || !pd_elf_name(r->names, name, &string, &length) || !length)
		return true;
	// in a module or an object file, addresses are those of sections
	if (r->elf->type == PD_ELF_TYPE_REL && label.section < r->elf->section_count)
		label.addr += r->elf->sections[label.section].addr;
	if (is_mark(string)) {
		r->labels->failed |= !pd_marks_add(&r->labels->marks, label.addr, string[1], false);
		return !r->labels->failed;
	}
	note_mode(r, &label);
	text->size = 0;
	pd_text_put(text, string, length);
	if (r->versions.size)
		append_version(r, index, text);
	label.name = text->failed ? NULL : pd_arena_text(&r->labels->names, text->data, text->size);
	r->labels->failed |= !label.name;
	return label.name && add_label(r->labels, &label);
}

static bool read_symbols(struct pd_labels *labels, struct pd_elf *elf, uint32_t type)
{
	const struct pd_elf_section *section = section_of_type(elf, type);
	struct reading r = { .elf = elf, .labels = labels };
	size_t entry = elf->wide ? 24 : 16;
	struct pd_bytes bytes;
	struct pd_cursor c;

	if (!section)
		return false;
	bytes = pd_elf_section_bytes(elf, section);
	r.names = linked_names(elf, section);
	if (!bytes.data || !r.names.data)
		return false;
	if (type == PD_ELF_SECTION_DYNSYM)
		read_versions(&r);
	c = pd_cursor(bytes.data, bytes.size, elf->big);
	for (size_t i = 0; i < bytes.size / entry; i++)
		if (!take_symbol(&r, &c, i))
			break;
	pd_free(r.version_names);
	return true;
}

static void read_plt(struct pd_labels *labels, struct pd_elf *elf)
{
	struct pd_symtab_maker maker = { .rule = PD_SYMTAB_INNER };

	pd_elf_add_plt(elf, &maker);
	for (size_t i = 0; i < pd_symtab_maker_count(&maker); i++) {
		const struct pd_symbol *symbol = pd_symtab_maker_at(&maker, i);
		struct pd_label label = {
			.addr = symbol->start, .type = TYPE_FUNCTION, .bind = BIND_GLOBAL, .of_plt = true
		};

		if (symbol->kind != PD_SYMBOL_PLT)
			continue;
		label.name = pd_arena_text(&labels->names, symbol->name, symbol->name_length);
		if (!label.name || !add_label(labels, &label) || !pd_marks_add(&labels->marks, label.addr, 'a', true)) {
			labels->failed = true;
			break;
		}
	}
	pd_symtab_maker_fini(&maker);
}

// ---- order ----

static int compare_flags(bool a, bool b)
{
	return a == b ? 0 : a ? -1 : 1;
}

// Without their versions.
static int compare_names(const char *a, const char *b)
{
	size_t x = strcspn(a, "@"), y = strcspn(b, "@");
	int result = memcmp(a, b, x < y ? x : y);

	return result ? result : (x > y) - (x < y);
}

static int compare_labels(const void *left, const void *right)
{
	const struct pd_label *a = left, *b = right;
	int result;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	result = compare_flags(a->type == TYPE_FUNCTION, b->type == TYPE_FUNCTION);
	if (!result)
		result = compare_flags(a->type == TYPE_OBJECT, b->type == TYPE_OBJECT);
	if (!result)
		result = compare_flags(a->bind == BIND_GLOBAL, b->bind == BIND_GLOBAL);
	if (!result && a->size != b->size)
		result = a->size > b->size ? -1 : 1;
	if (!result)
		result = compare_flags(a->name[0] != '.', b->name[0] != '.');
	if (!result)
		result = compare_names(a->name, b->name);
	return result ? result : (a->index > b->index) - (a->index < b->index);
}

struct pd_labels *pd_labels_new(struct pd_elf *elf, struct pd_elf *debug)
{
	struct pd_labels *labels = pd_alloc(sizeof(*labels));

	if (!labels)
		return NULL;
	if (!elf)
		return labels;
	if (!read_symbols(labels, elf, PD_ELF_SECTION_SYMTAB) &&
	    !(debug && read_symbols(labels, debug, PD_ELF_SECTION_SYMTAB)))
		read_symbols(labels, elf, PD_ELF_SECTION_DYNSYM);
	read_plt(labels, elf);
	if (labels->failed) {
		pd_labels_free(labels);
		return NULL;
	}
	pd_marks_sort(&labels->marks);
	if (labels->count)
		qsort(labels->items, labels->count, sizeof(*labels->items), compare_labels);
	return labels;
}

void pd_labels_free(struct pd_labels *labels)
{
	if (!labels)
		return;
	pd_free(labels->items);
	pd_free(labels->marks.items);
	pd_free(labels->text.data);
	pd_arena_fini(&labels->names);
	pd_free(labels);
}

// ---- asking ----

const struct pd_label *pd_labels_find(const struct pd_labels *labels, uint64_t addr)
{
	size_t at, first;

	PD_SEARCH(at, (size_t)0, labels->count, i, labels->items[i].addr <= addr);
	if (!at)
		return labels->count ? labels->items : NULL;
	PD_SEARCH(first, (size_t)0, at, i, labels->items[i].addr < labels->items[at - 1].addr);
	return &labels->items[first];
}

char pd_labels_mark(const struct pd_labels *labels, uint64_t addr, uint64_t *until_out)
{
	return pd_marks_find(&labels->marks, addr, until_out);
}

uint64_t pd_labels_next(const struct pd_labels *labels, uint64_t addr, uint64_t end)
{
	size_t at;

	PD_SEARCH(at, (size_t)0, labels->count, i, labels->items[i].addr <= addr);
	return at < labels->count && labels->items[at].addr < end ? labels->items[at].addr : end;
}

const struct pd_label *pd_labels_function(const struct pd_labels *labels, uint64_t addr)
{
	size_t at;

	PD_SEARCH(at, (size_t)0, labels->count, i, labels->items[i].addr <= addr);
	while (at--)
		if (!labels->items[at].of_plt &&
		    (labels->items[at].type == TYPE_FUNCTION || labels->items[at].type == TYPE_NONE))
			return pd_labels_find(labels, labels->items[at].addr);
	return NULL;
}
