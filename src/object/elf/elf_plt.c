/* SPDX-License-Identifier: MIT */
/*
 * Entries through which an object calls functions of others (.plt, .plt.got, .plt.sec). They have no symbols. Each jumps to
 * what a slot of the GOT holds, and the relocation of that slot names the function. The order of entries says nothing:
 * linkers put those of indirect functions (ifuncs) anywhere, and their relocations last.
 */
#include "object/elf/elf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/lookup/search.h"

enum {
	MACHINE_PPC64 = 21,
	PPC64_ABI = 3, // bits of the flags
	SECTION_RELA = 4,
	SECTION_REL = 9,
	LONGEST_NAME = 1 << 12
};

// Code from an address on.
struct code {
	const uint8_t *bytes;
	size_t size;
	uint64_t addr;
	uint64_t got; // what position-independent code adds offsets of slots to, on some machines
	bool big;
};

// Whether an entry begins there: the bytes that it takes up to its jump, or 0; and its slot.
typedef size_t entry_fn(const struct code *code, uint64_t *slot_out);

struct machine {
	uint16_t number;
	uint8_t step; // entries begin at multiples of this
	uint8_t longest;
	uint32_t indirect; // type of the relocations of ifuncs
	entry_fn *entry;
};

struct entry {
	uint64_t start, end;
	uint64_t slot;
	uint64_t resolver; // of an ifunc
	const char *name;
	uint32_t name_length;
	bool found;    // the slot has a relocation
	bool indirect; // an ifunc
	size_t best;   // item of the maker that names the resolver
};

struct entries {
	struct pd_elf *elf;
	const struct machine *machine;
	struct entry *items;
	size_t count, capacity;
	bool out_of_memory;
};

// ---- machines ----

static uint32_t word_at(const struct code *code, size_t at, bool big)
{
	struct pd_cursor c = pd_cursor(code->bytes, code->size, big);

	pd_cursor_take(&c, at);
	return pd_cursor_u32(&c);
}

static uint64_t extend(uint64_t value, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	return ((value & (2 * sign - 1)) ^ sign) - sign;
}

// [endbr] [bnd] jmp *slot; sets where the offset stands.
static bool x86_jump(const struct code *code, size_t *at_out, uint8_t *form_out)
{
	size_t at = 0;

	if (code->size >= 4 && code->bytes[0] == 0xf3 && code->bytes[1] == 0x0f && code->bytes[2] == 0x1e)
		at = 4;
	if (at < code->size && code->bytes[at] == 0xf2)
		at++;
	if (code->size < at + 6 || code->bytes[at] != 0xff)
		return false;
	*form_out = code->bytes[at + 1];
	*at_out = at + 2;
	return true;
}

static size_t x86_64_entry(const struct code *code, uint64_t *slot_out)
{
	uint8_t form;
	size_t at;

	if (!x86_jump(code, &at, &form) || form != 0x25)
		return 0;
	*slot_out = code->addr + at + 4 + extend(word_at(code, at, false), 32);
	return at + 4;
}

static size_t i386_entry(const struct code *code, uint64_t *slot_out)
{
	uint8_t form;
	size_t at;

	if (!x86_jump(code, &at, &form) || (form != 0x25 && form != 0xa3))
		return 0;
	// ebx is where the GOT is
	*slot_out = (uint32_t)((form == 0xa3 ? code->got : 0) + word_at(code, at, false));
	return at + 4;
}

// [bti] adrp x16, page; ldr x17, [x16, offset]
static size_t aarch64_entry(const struct code *code, uint64_t *slot_out)
{
	size_t at = word_at(code, 0, false) == 0xd503245f ? 4 : 0;
	uint32_t page = word_at(code, at, false), load = word_at(code, at + 4, false);
	bool wide = (load & 0xffc003ff) == 0xf9400211;

	if ((page & 0x9f00001f) != 0x90000010 || !(wide || (load & 0xffc003ff) == 0xb9400211))
		return 0;
	*slot_out = ((code->addr + at) & ~UINT64_C(0xfff)) +
		    (extend((page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3), 21) << 12) +
		    ((uint64_t)(load >> 10 & 0xfff) << (wide ? 3 : 2));
	return at + 8;
}

// A number of 8 bits, turned right.
static uint32_t arm_immediate(uint32_t word)
{
	uint32_t value = word & 0xff;
	unsigned turn = (word >> 8 & 15) * 2;

	return turn ? value >> turn | value << (32 - turn) : value;
}

// [Thumb: bx pc; nop] add ip, pc, n; add ip, ip, n ...; ldr pc, [ip, n]!
static size_t arm_entry(const struct code *code, uint64_t *slot_out)
{
	bool big = code->big;
	size_t at = word_at(code, 0, big) == (big ? 0x477846c0 : 0x46c04778) ? 4 : 0;
	uint32_t word = word_at(code, at, big);
	uint64_t slot = code->addr + at + 8;

	if ((word & 0xfffff000) != 0xe28fc000)
		return 0;
	for (unsigned i = 0; i < 3; i++) {
		slot += arm_immediate(word);
		word = word_at(code, at += 4, big);
		if ((word & 0xfffff000) != 0xe28cc000)
			break;
	}
	if ((word & 0xfffff000) != 0xe5bcf000)
		return 0;
	*slot_out = (uint32_t)(slot + (word & 0xfff));
	return at + 4;
}

// larl %r1, slot; lg %r1, 0(%r1)
static size_t s390x_entry(const struct code *code, uint64_t *slot_out)
{
	static const uint8_t load[] = { 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04 };

	if (code->size < 12 || code->bytes[0] != 0xc0 || code->bytes[1] != 0x10 ||
	    memcmp(code->bytes + 6, load, sizeof(load)) != 0)
		return 0;
	*slot_out = code->addr + 2 * extend(word_at(code, 2, true), 32);
	return 12;
}

// auipc t3, n; ld t3, n(t3)
static size_t riscv_entry(const struct code *code, uint64_t *slot_out)
{
	uint32_t page = word_at(code, 0, false), load = word_at(code, 4, false);

	if ((page & 0xfff) != 0xe17 || ((load & 0xfffff) != 0xe3e03 && (load & 0xfffff) != 0xe2e03))
		return 0;
	*slot_out = code->addr + extend(page & 0xfffff000, 32) + extend(load >> 20, 12);
	return 8;
}

// pcaddu12i $t3, n; ld $t3, $t3, n
static size_t loongarch_entry(const struct code *code, uint64_t *slot_out)
{
	uint32_t page = word_at(code, 0, false), load = word_at(code, 4, false);

	if ((page & 0xfe00001f) != 0x1c00000f ||
	    ((load & 0xffc003ff) != 0x28c001ef && (load & 0xffc003ff) != 0x288001ef))
		return 0;
	*slot_out = code->addr + (extend(page >> 5, 20) << 12) + extend(load >> 10, 12);
	return 8;
}

// [std r2, 24(r1)] addis r12, r2, n; ld r12, n(r12); mtctr r12; bctr. They stand in .text, and r2 is the table of contents.
static size_t ppc64_entry(const struct code *code, uint64_t *slot_out)
{
	size_t at = word_at(code, 0, code->big) == 0xf8410018 ? 4 : 0;
	uint32_t word = word_at(code, at, code->big);
	uint64_t slot = code->got + 0x8000;

	if ((word & 0xffff0000) == 0x3d820000) {
		slot += extend(word, 16) << 16;
		word = word_at(code, at += 4, code->big);
		if ((word & 0xffff0003) != 0xe98c0000)
			return 0;
	} else if ((word & 0xffff0003) != 0xe9820000) {
		return 0;
	}
	if (word_at(code, at + 4, code->big) != 0x7d8903a6 || word_at(code, at + 8, code->big) != 0x4e800420)
		return 0;
	*slot_out = slot + extend(word & 0xfffc, 16);
	return at + 12;
}

static const struct machine machines[] = {
	{ 3, 8, 16, 42, i386_entry },    { MACHINE_PPC64, 4, 20, 248, ppc64_entry },
	{ 22, 4, 32, 61, s390x_entry },  { 40, 4, 20, 160, arm_entry },
	{ 62, 8, 16, 37, x86_64_entry }, { 183, 4, 24, 1032, aarch64_entry },
	{ 243, 4, 16, 58, riscv_entry }, { 258, 4, 16, 12, loongarch_entry },
};

static const struct machine *find_machine(const struct pd_elf *elf)
{
	// the first binary interface of ppc64 calls through descriptors
	if (elf->machine == MACHINE_PPC64 && (elf->flags & PPC64_ABI) != 2)
		return NULL;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].number == elf->machine)
			return &machines[i];
	return NULL;
}

// ---- entries and their slots ----

static uint64_t got_of(const struct pd_elf *elf)
{
	const struct pd_elf_section *got = elf->machine == MACHINE_PPC64 ? NULL :
									   pd_elf_section_by_name(elf, ".got.plt");

	if (!got)
		got = pd_elf_section_by_name(elf, ".got");
	return got ? got->addr : 0;
}

static void find_entries_in(struct entries *entries, const struct pd_elf_section *section)
{
	const struct machine *machine = entries->machine;
	struct pd_bytes bytes = pd_elf_section_bytes(entries->elf, section);
	uint64_t got = got_of(entries->elf);
	size_t first = entries->count;

	for (size_t at = 0; bytes.data && at < bytes.size;) {
		struct code code = { bytes.data + at, bytes.size - at, section->addr + at, got, entries->elf->big };
		struct entry entry = { .start = code.addr };
		size_t size = machine->entry(&code, &entry.slot);

		if (!size) {
			at += machine->step;
			continue;
		}
		if (entries->count > first && entries->items[entries->count - 1].end > entry.start)
			entries->items[entries->count - 1].end = entry.start;
		if (!PD_GROW(entries->items, entries->capacity, entries->count + 1)) {
			entries->out_of_memory = true;
			return;
		}
		entry.end = code.size < machine->longest ? code.addr + code.size : code.addr + machine->longest;
		if (entry.end < entry.start)
			return;
		entries->items[entries->count++] = entry;
		at += (size + machine->step - 1) / machine->step * machine->step;
	}
}

static void find_entries(struct entries *entries)
{
	const struct pd_elf *elf = entries->elf;

	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];
		bool is_plt = strncmp(s->name, ".plt", 4) == 0 || strcmp(s->name, ".iplt") == 0;

		if (s->type != PD_ELF_SECTION_NOBITS && s->flags & PD_ELF_FLAG_EXEC &&
		    (is_plt || elf->machine == MACHINE_PPC64))
			find_entries_in(entries, s);
	}
}

static int by_slot(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->slot != y->slot ? (x->slot < y->slot ? -1 : 1) : x->start < y->start ? -1 : x->start > y->start;
}

static int by_resolver(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->indirect != y->indirect)
		return x->indirect ? -1 : 1;
	return x->resolver != y->resolver ? (x->resolver < y->resolver ? -1 : 1) : by_slot(a, b);
}

// ---- relocations ----

// A section of relocations, and what their symbols are called.
struct relocations {
	struct pd_bytes bytes, symbols, names;
	bool addends;
};

struct relocation {
	uint64_t slot, symbol, addend;
	uint32_t type;
};

static struct relocations read_section(struct pd_elf *elf, const struct pd_elf_section *section)
{
	struct relocations r = { .bytes = pd_elf_section_bytes(elf, section),
				 .addends = section->type == SECTION_RELA };
	const struct pd_elf_section *symbols = section->link < elf->section_count ? &elf->sections[section->link] :
										    NULL;

	if (symbols && section->link)
		r.symbols = pd_elf_section_bytes(elf, symbols);
	if (r.symbols.data && symbols->link < elf->section_count)
		r.names = pd_elf_section_bytes(elf, &elf->sections[symbols->link]);
	return r;
}

static struct relocation read_relocation(const struct pd_elf *elf, struct pd_cursor *c, bool addends)
{
	struct relocation r = { .slot = elf->wide ? pd_cursor_u64(c) : pd_cursor_u32(c) };
	uint64_t info = elf->wide ? pd_cursor_u64(c) : pd_cursor_u32(c);

	r.symbol = elf->wide ? info >> 32 : info >> 8;
	r.type = elf->wide ? (uint32_t)info : (uint32_t)info & 0xff;
	if (addends)
		r.addend = elf->wide ? pd_cursor_u64(c) : pd_cursor_u32(c);
	return r;
}

// What a slot of 32 bits holds in the file: there relocations without addend have it.
static uint64_t content_of(const struct pd_elf *elf, uint64_t slot)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const struct pd_elf_section *s = &elf->sections[i];
		uint8_t bytes[4];
		struct pd_cursor c;

		if (s->type == PD_ELF_SECTION_NOBITS || !(s->flags & PD_ELF_FLAG_ALLOC) || slot < s->addr ||
		    slot - s->addr >= s->size)
			continue;
		c = pd_cursor(bytes, pd_image_copy(&elf->image, s->offset + (slot - s->addr), bytes, sizeof(bytes)),
			      elf->big);
		return pd_cursor_u32(&c);
	}
	return 0;
}

// The entries of a slot, that no relocation has named before.
static struct entry *entries_of(struct entries *entries, uint64_t slot)
{
	size_t low;

	PD_SEARCH(low, 0, entries->count, i, entries->items[i].slot < slot);
	return low < entries->count && entries->items[low].slot == slot && !entries->items[low].found ?
		       &entries->items[low] :
		       NULL;
}

static void take_relocation(struct entries *entries, const struct relocations *all, const struct relocation *r)
{
	const struct pd_elf *elf = entries->elf;
	struct entry *entry = r->symbol || r->type == entries->machine->indirect ? entries_of(entries, r->slot) : NULL;
	struct pd_cursor c = pd_cursor(all->symbols.data, all->symbols.size, elf->big);
	const char *name = NULL;
	uint32_t length = 0;

	if (!entry)
		return;
	pd_cursor_take(&c, r->symbol * (elf->wide ? 24 : 16));
	if (r->symbol && (!pd_elf_name(all->names, pd_cursor_u32(&c), &name, &length) || c.failed))
		length = 0;
	for (; entry < entries->items + entries->count && entry->slot == r->slot; entry++) {
		entry->found = true;
		entry->indirect = !r->symbol;
		entry->resolver = entry->indirect && !all->addends ? content_of(elf, r->slot) : r->addend;
		entry->name = name;
		entry->name_length = length;
	}
}

static void take_relocations(struct entries *entries, const struct pd_elf_section *section)
{
	const struct relocations all = read_section(entries->elf, section);
	size_t step = (entries->elf->wide ? 8 : 4) * (all.addends ? 3u : 2u);

	for (size_t at = 0; all.bytes.data && all.bytes.size - at >= step; at += step) {
		struct pd_cursor c = pd_cursor(all.bytes.data + at, step, entries->elf->big);
		struct relocation r = read_relocation(entries->elf, &c, all.addends);

		take_relocation(entries, &all, &r);
	}
}

// ---- names ----

// Entries of ifuncs are called as the ifunc whose code the relocation names.
static void name_indirect(struct entries *entries, struct pd_symtab_maker *maker)
{
	size_t count = 0;

	qsort(entries->items, entries->count, sizeof(*entries->items), by_resolver);
	while (count < entries->count && entries->items[count].indirect)
		entries->items[count++].best = SIZE_MAX;
	for (size_t i = 0; count && i < pd_symtab_maker_count(maker); i++) {
		const struct pd_symbol *symbol = pd_symtab_maker_at(maker, i);
		size_t low;

		PD_SEARCH(low, 0, count, s, entries->items[s].resolver < symbol->start);
		if (low < count && entries->items[low].resolver == symbol->start &&
		    symbol->kind == PD_SYMBOL_INDIRECT &&
		    (entries->items[low].best == SIZE_MAX ||
		     pd_symtab_maker_prefers(maker, entries->items[low].best, i)))
			entries->items[low].best = i;
	}
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = &entries->items[i];
		const struct pd_symbol *symbol;

		// the first of those with one resolver has the answer
		if (i && entry[-1].resolver == entry->resolver)
			entry->best = entry[-1].best;
		symbol = entry->best == SIZE_MAX ? NULL : pd_symtab_maker_at(maker, entry->best);
		entry->name = symbol ? symbol->name : NULL;
		entry->name_length = symbol ? symbol->name_length : 0;
	}
}

static void add_symbol(struct pd_symtab_maker *maker, uint64_t start, uint64_t end, const char *name, uint8_t kind)
{
	struct pd_symbol symbol = { .start = start, .end = end, .bind = PD_BIND_LOCAL, .kind = kind };

	symbol.name_length = (uint32_t)strlen(name);
	symbol.name = pd_arena_text(&maker->names, name, symbol.name_length);
	if (!symbol.name)
		maker->out_of_memory = true;
	else if (end > start)
		pd_symtab_add(maker, &symbol, 0);
}

static void add_entry(const struct entry *entry, struct pd_symtab_maker *maker)
{
	char text[LONGEST_NAME];
	int n;

	if (entry->name_length)
		n = snprintf(text, sizeof(text), "%.*s@plt", (int)entry->name_length, entry->name);
	else
		n = snprintf(text, sizeof(text), "offset_%#" PRIx64 "@plt", entry->start);
	if (n > 0 && (size_t)n < sizeof(text))
		add_symbol(maker, entry->start, entry->end, text, PD_SYMBOL_PLT);
}

// What stands before the first entry looks the function up, for all of them.
static void add_head(const struct entries *entries, struct pd_symtab_maker *maker)
{
	const struct pd_elf_section *plt = pd_elf_section_by_name(entries->elf, ".plt");

	if (!plt || plt->type == PD_ELF_SECTION_NOBITS || !(plt->flags & PD_ELF_FLAG_EXEC) ||
	    plt->size > UINT64_MAX - plt->addr)
		return;
	for (size_t i = 0; i < entries->count; i++)
		if (entries->items[i].found && entries->items[i].start == plt->addr)
			return;
	add_symbol(maker, plt->addr, plt->addr + plt->size, ".plt", PD_SYMBOL_FUNCTION);
}

void pd_elf_add_plt(struct pd_elf *elf, struct pd_symtab_maker *maker)
{
	struct entries entries = { .elf = elf, .machine = find_machine(elf) };

	if (!entries.machine || elf->type == PD_ELF_TYPE_REL)
		return;
	find_entries(&entries);
	if (entries.count) {
		qsort(entries.items, entries.count, sizeof(*entries.items), by_slot);
		for (size_t i = 0; i < elf->section_count; i++)
			if (elf->sections[i].flags & PD_ELF_FLAG_ALLOC &&
			    (elf->sections[i].type == SECTION_RELA || elf->sections[i].type == SECTION_REL))
				take_relocations(&entries, &elf->sections[i]);
		name_indirect(&entries, maker);
		add_head(&entries, maker);
	}
	for (size_t i = 0; i < entries.count; i++)
		if (entries.items[i].found)
			add_entry(&entries.items[i], maker);
	maker->out_of_memory |= entries.out_of_memory;
	pd_free(entries.items);
}
