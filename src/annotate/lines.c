/* SPDX-License-Identifier: MIT */
/*
 * The code of a function as lines in the order in which objdump -d -l -S has them: the section, labels, whose code begins, where in
 * the source it is, the source up to there, instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/inside.h"
#include "object/dwarf/lines.h"
#include "object/elf/elf.h"
#include "symbol/sources.h"

enum {
	CONTEXT = 5,     // lines before the first one of a place
	SHORTEST_GAP = 8 // zeros
};

struct listing {
	struct pd_annotate_code *code;
	const char *function; // whose code the last instruction was
	const char *file;
	uint32_t line, last_line;
	bool has_line;
	struct pd_stretch stretch;
	struct pd_notation notation;
};

// ---- adding ----

static struct pd_annotate_line *add_line(struct pd_annotate_code *code, enum pd_annotate_kind kind, const char *text,
					 size_t length)
{
	struct pd_annotate_line *line;

	if (code->failed || !PD_GROW(code->lines, code->line_capacity, code->line_count + 1)) {
		code->failed = true;
		return NULL;
	}
	line = &code->lines[code->line_count];
	*line = (struct pd_annotate_line){ .kind = kind };
	line->text = pd_arena_text(&code->texts, text, length);
	if (!line->text) {
		code->failed = true;
		return NULL;
	}
	code->line_count++;
	return line;
}

// ---- labels ----

static void add_scratch(struct listing *l, enum pd_annotate_kind kind)
{
	const struct pd_text *text = &l->code->scratch;

	add_line(l->code, kind, text->failed ? "" : text->data, text->failed ? 0 : text->size);
}

static void add_label(struct listing *l, uint64_t addr)
{
	const struct pd_elf *elf = l->code->object->elf;
	struct pd_text *text = &l->code->scratch;

	text->size = 0;
	pd_text_printf(text, !elf || elf->wide ? "%016" PRIx64 " " : "%08" PRIx64 " ", addr);
	if (pd_labels_find(l->code->object->labels, addr))
		pd_put_label(l->code->object->labels, addr, text);
	else
		pd_text_printf(text, "<%s>", l->code->entry->head.function->name);
	pd_text_char(text, ':');
	add_scratch(l, PD_ANNOTATE_LABEL);
}

// As objdump: what has no sections, such as a copy of the kernel, has segments by their number.
static void put_segment(const struct listing *l)
{
	const struct pd_elf *elf = l->code->object->elf;
	size_t i = 0;

	while (elf && i < elf->segment_count &&
	       (elf->segments[i].type != 1 || l->code->start < elf->segments[i].addr ||
		l->code->start - elf->segments[i].addr >= elf->segments[i].file_size))
		i++;
	if (elf && i < elf->segment_count)
		pd_text_printf(&l->code->scratch, "load%zu", i);
	else
		pd_text_add(&l->code->scratch, "without a name");
}

static void add_section(struct listing *l)
{
	const struct pd_elf *elf = l->code->object->elf;
	const char *name = elf ? NULL : ".text";

	for (size_t i = 0; elf && i < elf->section_count && !name; i++) {
		const struct pd_elf_section *s = &elf->sections[i];

		if ((s->flags & PD_ELF_FLAG_ALLOC) && s->type != PD_ELF_SECTION_NOBITS && l->code->start >= s->addr &&
		    l->code->start - s->addr < s->size)
			name = s->name;
	}
	l->code->scratch.size = 0;
	pd_text_add(&l->code->scratch, "Disassembly of section ");
	if (name)
		pd_text_add(&l->code->scratch, name);
	else
		put_segment(l);
	pd_text_char(&l->code->scratch, ':');
	add_scratch(l, PD_ANNOTATE_SECTION);
}

// ---- source ----

static void add_source(struct listing *l, const char *path, uint32_t line)
{
	struct pd_source_file *file = pd_source_file(l->code->annotate->sources, path);
	uint32_t from = line > CONTEXT ? line - CONTEXT : 1;
	size_t length;
	const char *text;

	if (!file || !file->text)
		return;
	if (file->listing != l->code->annotate->listing) {
		file->listing = l->code->annotate->listing;
		file->last_line = file->printed = 0;
	}
	if (line == file->last_line)
		return;
	if (file->printed >= from)
		from = file->printed < line ? file->printed + 1 : line;
	for (uint32_t i = from; i <= line && pd_source_line(file, i, &text, &length); i++) {
		struct pd_annotate_line *added = add_line(l->code, PD_ANNOTATE_SOURCE, text, length);

		if (!added)
			return;
		added->file = file->path;
		added->line = i;
	}
	file->last_line = line;
	if (file->printed < line)
		file->printed = line;
}

// A name with its parameters says them itself.
static void add_function(struct listing *l, const char *name)
{
	struct pd_labels *labels = l->code->object->labels;
	const char *full = pd_readable_name(labels, name);

	l->code->scratch.size = 0;
	pd_text_printf(&l->code->scratch, "%s%s:", full, full == name ? "()" : "");
	add_scratch(l, PD_ANNOTATE_INLINED);
}

static void add_place(struct listing *l, const struct pd_lines_frame *frame)
{
	struct pd_annotate_line *line;

	l->code->scratch.size = 0;
	pd_text_printf(&l->code->scratch, "%s:%" PRIu32, frame->file ? frame->file : "???", frame->line);
	add_scratch(l, PD_ANNOTATE_PLACE);
	line = l->code->failed ? NULL : &l->code->lines[l->code->line_count - 1];
	if (line) {
		line->file = frame->file;
		line->line = frame->line;
	}
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

// Whose code it is: of whom debug information knows, else of the symbol, which also has the full name of what debug information knows
// by the name in the source.
static const char *function_at(const struct listing *l, const struct pd_lines_frame *frame, uint64_t addr)
{
	const struct pd_function *function = l->code->entry->head.function;
	const struct pd_label *label = pd_labels_function(l->code->object->labels, addr);

	if (frame->name && (frame->inlined || is_mangled(frame->name) || !label || label->addr != function->start ||
			    !is_mangled(label->name)))
		return frame->name;
	return label && label->addr >= function->start ? label->name : function->linker_name;
}

static void find_frame(const struct listing *l, uint64_t addr, struct pd_lines_frame *frame_out)
{
	const struct pd_function *function = l->code->entry->head.function;
	struct pd_symbols *symbols = l->code->annotate->symbols;
	const struct pd_place place = { .dso = function->dso, .function = function, .addr = addr, .recorded = addr };
	struct pd_line line;

	if (!l->code->object->runtime) {
		if (!pd_lookup_innermost(symbols, function->dso, addr, frame_out))
			*frame_out = (struct pd_lines_frame){ 0 };
	} else if (!function->dso->object && pd_symbols_lines(symbols, &place, &line, 1)) {
		frame_out->file = line.file;
		frame_out->line = line.line;
	}
}

// What is said before an instruction if its place is another one than that of the last.
static void put_place(struct listing *l, uint64_t addr)
{
	struct pd_lines_frame frame = { 0 };
	const char *name;

	find_frame(l, addr, &frame);
	name = function_at(l, &frame, addr);
	if (!l->function || strcmp(l->function, name) != 0) {
		add_function(l, name);
		l->has_line = false;
	}
	l->function = name;
	l->file = frame.file;
	l->line = frame.line;
	if (!frame.line)
		return;
	if (!l->has_line || l->last_line != frame.line)
		add_place(l, &frame);
	if (frame.file)
		add_source(l, frame.file, frame.line);
	l->last_line = frame.line;
	l->has_line = true;
}

// ---- instructions ----

static void add_instruction(struct listing *l, uint64_t addr)
{
	const struct pd_notation *notation = &l->notation;
	struct pd_text *text = &l->code->scratch;
	struct pd_annotate_line *line;

	text->size = 0;
	pd_put_instruction(l->code->object->labels, notation, text);
	line = text->failed ? NULL : add_line(l->code, PD_ANNOTATE_INSTRUCTION, text->data, text->size);
	if (!line)
		return;
	line->addr = addr;
	line->flow = notation->flow;
	line->has_target = notation->has_target;
	line->target = notation->target;
	line->file = l->file;
	line->line = l->line;
	line->bytes = (struct pd_bytes){ l->code->bytes + (addr - l->code->start), notation->size };
}

// How many zeros are left out; 0: none.
static uint64_t gap_at(const struct pd_annotate_code *code, uint64_t addr, uint64_t end)
{
	uint64_t size = 0;

	while (size < end - addr && !code->bytes[addr - code->start + size])
		size++;
	if (size < SHORTEST_GAP)
		return 0;
	return addr + size < end ? size / 4 * 4 : size;
}

// Code up to the next label.
static void list_part(struct listing *l, uint64_t addr, uint64_t end)
{
	struct pd_annotate_code *code = l->code;

	add_label(l, addr);
	while (addr < end && !code->failed && !code->scratch.failed) {
		const uint8_t *bytes = code->bytes + (addr - code->start);
		uint64_t gap = gap_at(code, addr, end);

		if (gap) {
			add_line(code, PD_ANNOTATE_GAP, "\t...", 4);
			addr += gap;
			continue;
		}
		put_place(l, addr);
		pd_next_instruction(&l->stretch, code->object, bytes, (size_t)(end - addr), addr, &l->notation);
		add_instruction(l, addr);
		addr += l->notation.size;
	}
}

void pd_annotate_list(struct pd_annotate_code *code)
{
	struct listing l = { .code = code };
	uint64_t addr = code->start;

	code->annotate->listing++;
	add_section(&l);
	while (addr < code->end && !code->failed) {
		uint64_t end = pd_labels_next(code->object->labels, addr, code->end);

		list_part(&l, addr, end);
		addr = end;
	}
}
