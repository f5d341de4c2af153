/* SPDX-License-Identifier: MIT */
/*
 * The symbol tables of ELF files. Which symbols name code, what their values mean on each machine, and the small object
 * that .gnu_debugdata packs.
 */
#include "object/elf/elf.h"

#include <string.h>

#include "base/cursor.h"

enum {
	TYPE_NONE = 0,
	TYPE_OBJECT = 1,
	TYPE_FUNCTION = 2,
	TYPE_INDIRECT_FUNCTION = 10,
	BIND_LOCAL = 0,
	BIND_WEAK = 2,
	VISIBILITY_INTERNAL = 1,
	VISIBILITY_HIDDEN = 2,
	INDEX_UNDEFINED = 0,
	INDEX_RESERVED = 0xff00,
	INDEX_ELSEWHERE = 0xffff,
	SECTION_INDEXES = 18,
	MACHINE_PPC64 = 21,
	MACHINE_ARM = 40,
	MACHINE_AARCH64 = 183,
	MACHINE_RISCV = 243,
	PPC64_ABI = 3 // bits of the flags
};

struct raw_symbol {
	uint32_t name;
	uint8_t info;
	uint8_t other;
	uint32_t section;
	uint64_t value;
	uint64_t size;
};

struct reading {
	struct pd_elf *elf;    // whose table is read
	struct pd_elf *object; // what runs: has the bytes that a debug file lacks
	bool data;
	struct pd_bytes names;
	struct pd_bytes indexes; // sections of symbols whose 16 bits do not do
	const struct pd_elf_section *opd;
	struct pd_bytes opd_bytes;
	struct pd_symtab_maker *maker;
};

static struct raw_symbol read_symbol(const struct pd_elf *elf, struct pd_cursor *c)
{
	struct raw_symbol s = { .name = pd_cursor_u32(c) };

	if (!elf->wide) {
		s.value = pd_cursor_u32(c);
		s.size = pd_cursor_u32(c);
	}
	s.info = pd_cursor_u8(c);
	s.other = pd_cursor_u8(c);
	s.section = pd_cursor_u16(c);
	if (elf->wide) {
		s.value = pd_cursor_u64(c);
		s.size = pd_cursor_u64(c);
	}
	return s;
}

// Marks where a machine's code changes its mode or is data; and labels that assemblers keep by mistake.
static bool is_mark(uint16_t machine, const struct raw_symbol *raw, const char *name)
{
	bool marks = machine == MACHINE_ARM || machine == MACHINE_AARCH64 || machine == MACHINE_RISCV;

	if (marks && name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	    (!name[2] || name[2] == '.' || machine == MACHINE_RISCV))
		return true;
	return (raw->info & 15) == TYPE_NONE && raw->info >> 4 == BIND_LOCAL && name[0] == '.' && name[1] == 'L';
}

// Descriptors of functions: three words, the first is where the code is.
static bool through_opd(const struct reading *r, uint64_t *addr)
{
	struct pd_cursor c;

	if (*addr < r->opd->addr || *addr - r->opd->addr >= r->opd_bytes.size)
		return false;
	c = pd_cursor(r->opd_bytes.data, r->opd_bytes.size, r->elf->big);
	pd_cursor_take(&c, *addr - r->opd->addr);
	*addr = pd_cursor_u64(&c);
	return !c.failed;
}

// Labels of data count where the section says by its name that it has data, unless they are hidden.
static bool is_data_label(const struct raw_symbol *raw, const struct pd_elf_section *section)
{
	unsigned visibility = raw->other & 3;

	return visibility != VISIBILITY_INTERNAL && visibility != VISIBILITY_HIDDEN && strstr(section->name, "data");
}

static int kind_of(const struct raw_symbol *raw, const struct pd_elf_section *section)
{
	switch (raw->info & 15) {
	case TYPE_FUNCTION:
		return PD_SYMBOL_FUNCTION;
	case TYPE_INDIRECT_FUNCTION:
		return PD_SYMBOL_INDIRECT;
	case TYPE_OBJECT:
		return PD_SYMBOL_DATA;
	case TYPE_NONE:
		if (section->flags & PD_ELF_FLAG_EXEC)
			return PD_SYMBOL_FUNCTION;
		return is_data_label(raw, section) ? PD_SYMBOL_DATA : PD_SYMBOL_BOUND;
	default:
		return PD_SYMBOL_BOUND;
	}
}

static uint8_t bind_of(const struct raw_symbol *raw)
{
	unsigned bind = raw->info >> 4;

	if (bind == BIND_LOCAL)
		return PD_BIND_LOCAL;
	return bind == BIND_WEAK ? PD_BIND_WEAK : PD_BIND_GLOBAL;
}

// The section of a symbol, or NULL if it is in none.
static const struct pd_elf_section *section_of(const struct reading *r, const struct raw_symbol *raw, size_t index)
{
	uint64_t section = raw->section;

	if (section == INDEX_ELSEWHERE && r->indexes.data) {
		struct pd_cursor c = pd_cursor(r->indexes.data, r->indexes.size, r->elf->big);

		pd_cursor_take(&c, (uint64_t)index * 4);
		section = pd_cursor_u32(&c);
	} else if (section >= INDEX_RESERVED) {
		return NULL;
	}
	if (section == INDEX_UNDEFINED || section >= r->elf->section_count)
		return NULL;
	return &r->elf->sections[section];
}

static void add_symbol(const struct reading *r, const struct raw_symbol *raw, size_t index)
{
	const struct pd_elf *elf = r->elf;
	const struct pd_elf_section *section = section_of(r, raw, index);
	struct pd_symbol symbol = { .start = raw->value, .bind = bind_of(raw) };
	uint64_t most;
	int kind;

	if (!section || !section->placed || !(section->flags & PD_ELF_FLAG_ALLOC))
		return;
	kind = kind_of(raw, section);
	if (kind == PD_SYMBOL_BOUND || (kind == PD_SYMBOL_DATA && !r->data))
		return;
	if (!pd_elf_name(r->names, raw->name, &symbol.name, &symbol.name_length) ||
	    is_mark(elf->machine, raw, symbol.name))
		return;
	// data without a size goes on after its section, up to what comes next: labels mark the end of one, too
	most = kind == PD_SYMBOL_DATA ? 0 : section->addr + section->size;
	if (elf->type == PD_ELF_TYPE_REL)
		symbol.start += section->addr;
	if (elf->machine == MACHINE_ARM && (raw->info & 15) != TYPE_NONE && kind != PD_SYMBOL_DATA)
		symbol.start &= ~UINT64_C(1);
	if (r->opd && strcmp(section->name, ".opd") == 0 && kind != PD_SYMBOL_DATA) {
		most = 0;
		if (!through_opd(r, &symbol.start))
			return;
	}
	symbol.kind = (uint8_t)kind;
	symbol.end = raw->size > UINT64_MAX - symbol.start ? UINT64_MAX : symbol.start + raw->size;
	pd_symtab_add(r->maker, &symbol, most);
}

// Indexes belong to the table that they are linked to.
static struct pd_bytes find_indexes(struct pd_elf *elf, const struct pd_elf_section *table)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if (s->type == SECTION_INDEXES && s->link == (size_t)(table - elf->sections))
			return pd_elf_section_bytes(elf, s);
	}
	return (struct pd_bytes){ NULL, 0 };
}

static void find_opd(struct reading *r)
{
	if (r->object->machine != MACHINE_PPC64 || (r->object->flags & PPC64_ABI) > 1 || !r->object->wide ||
	    r->object->big != r->elf->big)
		return;
	r->opd = pd_elf_section_by_name(r->object, ".opd");
	if (r->opd && r->object->type != PD_ELF_TYPE_REL)
		r->opd_bytes = pd_elf_section_bytes(r->object, r->opd);
}

static void add_table(struct reading *r, const struct pd_elf_section *table)
{
	struct pd_elf *elf = r->elf;
	struct pd_bytes symbols = pd_elf_section_bytes(elf, table);
	size_t step = table->entry_size >= (elf->wide ? 24 : 16) ? (size_t)table->entry_size : elf->wide ? 24 : 16;

	if (!symbols.data || table->link >= elf->section_count)
		return;
	r->names = pd_elf_section_bytes(elf, &elf->sections[table->link]);
	r->indexes = find_indexes(elf, table);
	find_opd(r);
	for (size_t i = 1; i < symbols.size / step; i++) {
		struct pd_cursor c = pd_cursor(symbols.data + i * step, step, elf->big);
		struct raw_symbol raw = read_symbol(elf, &c);

		add_symbol(r, &raw, i);
		if (r->maker->over_limit || r->maker->out_of_memory)
			return;
	}
}

static const struct pd_elf_section *find_type(const struct pd_elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}

static void add_of_type(struct reading *r, uint32_t type)
{
	const struct pd_elf_section *table = find_type(r->elf, type);

	if (table)
		add_table(r, table);
}

bool pd_elf_has_symtab(const struct pd_elf *elf)
{
	const struct pd_elf_section *table = find_type(elf, PD_ELF_SECTION_SYMTAB);

	return table && table->size > (elf->wide ? 24 : 16);
}

bool pd_elf_symbol_addr(struct pd_elf *elf, const char *name, uint64_t *addr_out)
{
	const struct pd_elf_section *table = find_type(elf, PD_ELF_SECTION_SYMTAB);
	struct pd_bytes symbols, names;
	size_t step = elf->wide ? 24 : 16;

	if (!table || table->link >= elf->section_count)
		return false;
	symbols = pd_elf_section_bytes(elf, table);
	names = pd_elf_section_bytes(elf, &elf->sections[table->link]);
	for (size_t i = 1; symbols.data && i < symbols.size / step; i++) {
		struct pd_cursor c = pd_cursor(symbols.data + i * step, step, elf->big);
		struct raw_symbol raw = read_symbol(elf, &c);
		uint32_t length;
		const char *text;

		if (raw.section == INDEX_UNDEFINED || !pd_elf_name(names, raw.name, &text, &length) ||
		    strcmp(text, name) != 0)
			continue;
		*addr_out = raw.value;
		return true;
	}
	return false;
}

struct pd_elf *pd_elf_open_packed(struct pd_elf *elf)
{
	const struct pd_elf_section *section = pd_elf_section_by_name(elf, ".gnu_debugdata");
	struct pd_bytes packed = { NULL, 0 };
	struct pd_elf *small = NULL;
	struct pd_image image;
	uint8_t *data;
	size_t size;

	if (section)
		packed = pd_elf_section_bytes(elf, section);
	if (!packed.data || pd_image_inflate("xz", packed.data, packed.size, elf->limit, &data, &size, NULL) != PD_OK)
		return NULL;
	pd_image_take_memory(&image, data, size);
	// what it packs is no object that is compressed once more
	if (size < 4 || memcmp(data, "\177ELF", 4) != 0) {
		pd_image_close(&image);
		return NULL;
	}
	pd_elf_open_image(&small, &image, ".gnu_debugdata", elf->limit, NULL);
	return small;
}

enum pd_status pd_elf_symtab(struct pd_elf *object, struct pd_elf *debug, const struct pd_elf_symbol_options *options,
			     struct pd_symtab **table_out, struct pd_error *error)
{
	struct pd_symtab_maker maker = { .rule = PD_SYMTAB_INNER, .limit = options ? options->limit : 0 };
	struct reading r = { .elf = object, .object = object, .data = options && options->data, .maker = &maker };
	struct pd_elf *packed = NULL;
	enum pd_status status;

	maker.names.limit = object->limit;
	if (debug && pd_elf_has_symtab(debug)) {
		r.elf = debug;
		add_of_type(&r, PD_ELF_SECTION_SYMTAB);
	} else if (pd_elf_has_symtab(object)) {
		add_of_type(&r, PD_ELF_SECTION_SYMTAB);
	} else {
		add_of_type(&r, PD_ELF_SECTION_DYNSYM);
		// it stays open until the table is made, because names point into it
		packed = pd_elf_open_packed(object);
		if (packed) {
			r.elf = packed;
			add_of_type(&r, PD_ELF_SECTION_SYMTAB);
		}
	}
	pd_elf_add_plt(object, &maker);
	status = pd_symtab_make(&maker, table_out, error);
	pd_elf_close(packed);
	return status;
}
