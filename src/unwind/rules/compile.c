/* SPDX-License-Identifier: MIT */
#include "unwind/rules/compile.h"

#include <string.h>

#include "base/cursor.h"
#include "object/dwarf/dwarf.h"
#include "unwind/ends/ends.h"
#include "unwind/rules/exidx.h"
#include "unwind/rules/sframe.h"

enum {
	SEGMENT_LOAD = 1,
	SEGMENT_EXEC = 1,
	SEGMENT_EH_FRAME = 0x6474e550,
	SEGMENT_EXIDX = 0x70000001,
	MACHINE_ARM = 40,
	ENTRY_BYTES = 128 // of code where an object starts to run, at most
};

struct compiling {
	struct pd_elf *shape; // that has the segments
	const struct pd_unwind_arch *arch;
	size_t limit;
	uint64_t code_start, code_end;
	struct pd_code code; // without effects: not looked at
	struct pd_unwind_table *table;
};

// The code of the object is between these addresses.
static void find_code(struct compiling *c)
{
	c->code_start = UINT64_MAX;
	for (size_t i = 0; i < c->shape->segment_count; i++) {
		const struct pd_elf_segment *s = &c->shape->segments[i];

		if (s->type != SEGMENT_LOAD || !(s->flags & SEGMENT_EXEC) || s->memory_size > UINT64_MAX - s->addr)
			continue;
		if (s->addr < c->code_start)
			c->code_start = s->addr;
		if (s->addr + s->memory_size > c->code_end)
			c->code_end = s->addr + s->memory_size;
	}
}

// Instructions of architectures whose rules leave begins and ends of functions out.
static void take_code(struct compiling *c, struct pd_elf *object)
{
	const struct pd_effect_set *effects = pd_effects_of(c->arch);

	for (size_t i = 0; object && effects && i < object->segment_count; i++) {
		const struct pd_elf_segment *s = &object->segments[i];
		const uint8_t *data;

		if (s->type != SEGMENT_LOAD || !(s->flags & SEGMENT_EXEC) || s->file_size > c->limit)
			continue;
		data = pd_image_part(&object->image, s->offset, s->file_size);
		if (!data)
			continue;
		c->code = (struct pd_code){ .effects = effects,
					    .bytes = { data, (size_t)s->file_size },
					    .addr = s->addr,
					    .swap = (object->big && !effects->is_little) != PD_HOST_BIG };
		return;
	}
}

static struct pd_cfi_section section_of(const struct compiling *c, struct pd_bytes bytes, uint64_t addr, bool is_debug)
{
	return (struct pd_cfi_section){
		.bytes = bytes,
		.addr = addr,
		.is_debug = is_debug,
		.big = c->shape->big,
		.word = c->shape->wide ? 8 : 4,
		.code_start = c->code_start,
		.code_end = c->code_end,
		.code = c->code.effects ? &c->code : NULL,
	};
}

// ---- without a table of sections ----

static const struct pd_elf_segment *segment_at(const struct pd_elf *elf, uint64_t addr)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct pd_elf_segment *s = &elf->segments[i];

		if (s->type == SEGMENT_LOAD && addr - s->addr < s->file_size)
			return s;
	}
	return NULL;
}

// The header says where .eh_frame begins; it ends with its segment at the latest.
static bool through_header(struct compiling *c, struct pd_bytes *bytes_out, uint64_t *addr_out)
{
	const struct pd_elf_segment *header = NULL, *segment;
	struct pd_cfi_section section;
	struct pd_cursor cursor;
	uint8_t encoding;
	const uint8_t *data;

	for (size_t i = 0; i < c->shape->segment_count && !header; i++)
		if (c->shape->segments[i].type == SEGMENT_EH_FRAME)
			header = &c->shape->segments[i];
	data = header ? pd_image_part(&c->shape->image, header->offset, header->file_size) : NULL;
	if (!data)
		return false;
	section = section_of(c, (struct pd_bytes){ data, (size_t)header->file_size }, header->addr, false);
	section.data_addr = header->addr;
	cursor = pd_cursor(data, section.bytes.size, section.big);
	if (pd_cursor_u8(&cursor) != 1)
		return false;
	encoding = pd_cursor_u8(&cursor);
	pd_cursor_u16(&cursor); // encodings of the search table
	if (!pd_cfi_address(&section, &cursor, encoding, addr_out))
		return false;
	segment = segment_at(c->shape, *addr_out);
	if (!segment)
		return false;
	bytes_out->size = (size_t)(segment->file_size - (*addr_out - segment->addr));
	bytes_out->data =
		pd_image_part(&c->shape->image, segment->offset + (*addr_out - segment->addr), bytes_out->size);
	return bytes_out->data;
}

// ---- sections ----

static bool compile_eh_frame(struct compiling *c)
{
	const struct pd_elf_section *section = pd_elf_section_by_name(c->shape, ".eh_frame");
	struct pd_cfi_section cfi;
	struct pd_bytes bytes = { NULL, 0 };
	uint64_t addr = 0;

	if (section) {
		bytes = pd_elf_section_bytes(c->shape, section);
		addr = section->addr;
	}
	if (!bytes.data && !through_header(c, &bytes, &addr))
		return true;
	if (bytes.size > c->limit)
		return true;
	cfi = section_of(c, bytes, addr, false);
	return pd_cfi_compile(&cfi, c->arch, c->table) && pd_unwind_table_sort(c->table);
}

static bool compile_debug_frame(struct compiling *c, struct pd_elf *elf)
{
	struct pd_cfi_section cfi;
	struct pd_bytes bytes;
	enum pd_status status;
	uint8_t *data;
	bool done;

	if (elf->big != c->shape->big || elf->wide != c->shape->wide)
		return true;
	status = pd_debug_section_read(elf, "frame", c->limit, &data, &bytes.size, NULL);
	if (status != PD_OK)
		return status != PD_ERROR_MEMORY;
	bytes.data = data;
	cfi = section_of(c, bytes, 0, true);
	done = pd_cfi_compile(&cfi, c->arch, c->table) && pd_unwind_table_sort(c->table);
	pd_free(data);
	return done;
}

// The list is in a segment with what it refers to.
static bool compile_exidx(struct compiling *c, const struct pd_elf_segment *list)
{
	const struct pd_elf_segment *segment = segment_at(c->shape, list->addr);
	struct pd_exidx exidx = { .addr = list->addr,
				  .size = list->file_size,
				  .big = c->shape->big,
				  .code_end = c->code_end,
				  .code = c->code.effects ? &c->code : NULL };

	if (!segment || segment->file_size > c->limit)
		return true;
	exidx.memory.data = pd_image_part(&c->shape->image, segment->offset, segment->file_size);
	exidx.memory.size = (size_t)segment->file_size;
	exidx.memory_addr = segment->addr;
	return !exidx.memory.data || pd_exidx_compile(&exidx, c->arch, c->table);
}

static bool compile_arm(struct compiling *c)
{
	for (size_t i = 0; i < c->shape->segment_count && c->shape->machine == MACHINE_ARM; i++)
		if (c->shape->segments[i].type == SEGMENT_EXIDX)
			return compile_exidx(c, &c->shape->segments[i]);
	return true;
}

static bool compile_sframe(struct compiling *c)
{
	const struct pd_elf_section *section = pd_elf_section_by_name(c->shape, ".sframe");
	struct pd_sframe sframe = { .code_start = c->code_start, .code_end = c->code_end };

	if (!section)
		return true;
	sframe.bytes = pd_elf_section_bytes(c->shape, section);
	sframe.addr = section->addr;
	return !sframe.bytes.data || sframe.bytes.size > c->limit || pd_sframe_compile(&sframe, c->arch, c->table);
}

// Nobody calls the code that an object starts to run at. Where it has no rule, as in dynamic linkers, it is the outermost function
// up to the next one that has, unless a frame pointer leads on: other functions without rules may follow.
static bool compile_entry(struct compiling *c)
{
	const struct pd_unwind_rule rule = {
		.kind = PD_CFA_REGISTER, .cfa_register = c->arch->sp, .ra = c->arch->ra, .count = 1
	};
	const struct pd_saved saved = { .number = c->arch->ra,
					.kind = PD_SAVED_UNDEFINED,
					.value = PD_UNDEFINED_MAYBE };
	uint64_t entry = c->shape->entry & c->arch->code_mask, words[2];
	struct pd_unwind_table *table = c->table;
	uint32_t number;

	if (entry < c->code_start || entry >= c->code_end || pd_unwind_table_find(table, entry))
		return true;
	memcpy(&words[0], &rule, sizeof(rule));
	memcpy(&words[1], &saved, sizeof(saved));
	number = pd_unwind_table_rule(table, words, 2);
	if (!number || !pd_unwind_table_add(table, entry, number))
		return false;
	for (uint64_t addr = entry + 1; addr < entry + ENTRY_BYTES; addr++)
		if (pd_unwind_table_find(table, addr))
			return pd_unwind_table_sort(table);
	return pd_unwind_table_add(table, entry + ENTRY_BYTES, 0) && pd_unwind_table_sort(table);
}

static bool compile_all(struct compiling *c, struct pd_elf *object, struct pd_elf *debug)
{
	struct pd_elf *packed = NULL;
	bool done;

	take_code(c, object);
	if (!compile_eh_frame(c) || (object && !compile_debug_frame(c, object)) ||
	    (debug && !compile_debug_frame(c, debug)))
		return false;
	if (object)
		packed = pd_elf_open_packed(object);
	done = !packed || compile_debug_frame(c, packed);
	pd_elf_close(packed);
	return done && compile_arm(c) && compile_sframe(c) && compile_entry(c);
}

bool pd_unwind_reads_code(const struct pd_elf *object)
{
	return pd_effects_are_known(object->machine);
}

bool pd_unwind_compile(struct pd_elf *object, struct pd_elf *debug, const struct pd_unwind_arch *arch, size_t limit,
		       struct pd_unwind_table *table_out)
{
	struct compiling c = { .shape = object ? object : debug, .arch = arch, .limit = limit, .table = table_out };

	find_code(&c);
	if (!pd_unwind_table_init(table_out, c.code_start))
		return false;
	if (c.shape->machine != arch->elf_machine || c.code_start >= c.code_end || compile_all(&c, object, debug)) {
		pd_unwind_table_finish(table_out);
		return true;
	}
	pd_unwind_table_fini(table_out);
	return false;
}

bool pd_unwind_compile_debug(struct pd_elf *elf, const struct pd_unwind_arch *arch, size_t limit,
			     struct pd_unwind_table *table_out)
{
	struct compiling c = { .shape = elf, .arch = arch, .limit = limit, .table = table_out };

	find_code(&c);
	if (!pd_unwind_table_init(table_out, c.code_start))
		return false;
	if (c.shape->machine != arch->elf_machine || c.code_start >= c.code_end || compile_debug_frame(&c, elf)) {
		pd_unwind_table_finish(table_out);
		return true;
	}
	pd_unwind_table_fini(table_out);
	return false;
}
