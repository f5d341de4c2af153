/* SPDX-License-Identifier: MIT */
/*
 * Stubs through which an object calls functions of others. They have no symbols: the n-th belongs to the n-th
 * relocation. How large they are is a matter of the machine.
 */
#include "symbol/elf.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"

struct stubs {
	uint16_t machine;
	uint8_t head; // what stands before the first one
	uint8_t size;
};

static const struct stubs machines[] = {
	{3, 16, 16},    // i386
	{22, 32, 32},   // s390x
	{40, 20, 12},   // arm
	{62, 16, 16},   // x86-64
	{183, 32, 16},  // aarch64
	{243, 32, 16},  // riscv
	{258, 32, 16},  // loongarch
};

struct relocations {
	struct pd_elf *elf;
	struct pd_bytes bytes;
	size_t step;
	size_t count;
	struct pd_bytes symbols;
	size_t symbol_step;
	struct pd_bytes names;
};

static const struct stubs *find_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

static bool find_relocations(struct pd_elf *elf, struct relocations *r)
{
	const struct pd_elf_section *section = pd_elf_section_by_name(elf, ".rela.plt"), *symbols;
	unsigned word = elf->wide ? 8 : 4;
	bool addends = section != NULL;

	r->elf = elf;
	if (!section)
		section = pd_elf_section_by_name(elf, ".rel.plt");
	if (!section)
		return false;
	r->bytes = pd_elf_section_bytes(elf, section);
	r->step = word * (addends ? 3 : 2);
	r->count = r->bytes.size / r->step;
	if (section->link && section->link < elf->section_count) {
		symbols = &elf->sections[section->link];
		r->symbols = pd_elf_section_bytes(elf, symbols);
		r->symbol_step = elf->wide ? 24 : 16;
		if (symbols->link < elf->section_count)
			r->names = pd_elf_section_bytes(elf, &elf->sections[symbols->link]);
	}
	return r->count > 0;
}

// The name of the symbol that the n-th relocation is for; without one it is for a function found at run time.
static bool name_stub(const struct relocations *r, size_t index, char *out, size_t size)
{
	struct pd_cursor c = pd_cursor(r->bytes.data + index * r->step, r->step, r->elf->big);
	uint64_t info, symbol;
	const char *name = NULL;
	uint32_t length = 0;
	int n;

	if (r->elf->wide) {
		pd_cursor_u64(&c);
		info = pd_cursor_u64(&c);
		symbol = info >> 32;
	} else {
		pd_cursor_u32(&c);
		info = pd_cursor_u32(&c);
		symbol = info >> 8;
	}
	if (symbol && r->symbols.data) {
		c = pd_cursor(r->symbols.data, r->symbols.size, r->elf->big);
		pd_cursor_take(&c, symbol * r->symbol_step);
		pd_elf_name(r->names, pd_cursor_u32(&c), &name, &length);
	}
	if (symbol && (c.failed || !length))
		return false;
	// what is found out at run time has no symbol, and for perf no name
	n = snprintf(out, size, "%s@plt", name ? name : "");
	return n > 0 && (size_t)n < size;
}

static void add_stubs(const struct relocations *r, const struct pd_elf_section *section, uint64_t head, uint64_t size,
		      struct pd_symtab_maker *maker)
{
	char text[1 << 12];

	for (size_t i = 0; i < r->count && head + (i + 1) * size <= section->size; i++) {
		struct pd_symbol symbol = {.bind = PD_BIND_LOCAL, .kind = PD_SYMBOL_PLT};

		if (!name_stub(r, i, text, sizeof(text)))
			continue;
		symbol.start = section->addr + head + i * size;
		symbol.end = symbol.start + size;
		symbol.name_length = (uint32_t)strlen(text);
		symbol.name = pd_arena_text(&maker->names, text, symbol.name_length);
		if (!symbol.name) {
			maker->out_of_memory = true;
			return;
		}
		if (symbol.end > symbol.start)
			pd_symtab_add(maker, &symbol, 0);
	}
}

void pd_elf_add_plt(struct pd_elf *elf, struct pd_symtab_maker *maker)
{
	const struct pd_elf_section *plt = pd_elf_section_by_name(elf, ".plt");
	const struct pd_elf_section *second = pd_elf_section_by_name(elf, ".plt.sec");
	const struct stubs *stubs = find_machine(elf->machine);
	struct relocations r = {0};

	if (!stubs || elf->type == PD_ELF_TYPE_REL || !find_relocations(elf, &r))
		return;
	// without lazy binding there is nothing before the first one
	if (plt && plt->size / stubs->size == r.count && plt->size % stubs->size == 0)
		add_stubs(&r, plt, 0, stubs->size, maker);
	else if (plt && plt->size > stubs->head)
		add_stubs(&r, plt, stubs->head, stubs->size, maker);
	if (second)
		add_stubs(&r, second, 0, stubs->size, maker);
}
