/* SPDX-License-Identifier: MIT */
/* One instruction after another, in whatever mode their addresses are, and with names of addresses. */
#include <inttypes.h>

#include "annotate/inside.h"

static void find_stretch(struct pd_stretch *stretch, const struct pd_object_code *object, uint64_t addr)
{
	char mark = pd_labels_mark(object->labels, addr, &stretch->until);

	stretch->kind = object->kind;
	stretch->disassembler = object->disassembler;
	stretch->data = mark == 'd';
	if (mark == 't' && object->other) {
		stretch->kind.isa = PD_ISA_THUMB;
		stretch->disassembler = object->other;
	}
}

void pd_next_instruction(struct pd_stretch *stretch, const struct pd_object_code *object, const uint8_t *bytes,
			 size_t size, uint64_t addr, struct pd_notation *notation_out)
{
	if (addr >= stretch->until)
		find_stretch(stretch, object, addr);
	if (size > stretch->until - addr)
		size = (size_t)(stretch->until - addr);
	if (stretch->data) {
		pd_notate_data(&stretch->kind, bytes, size, addr, notation_out);
		return;
	}
	object->library->next(stretch->disassembler, bytes, size, addr, &stretch->raw);
	pd_notate(&stretch->kind, &stretch->notation, bytes, size, addr, &stretch->raw, notation_out);
}

void pd_put_label(struct pd_labels *labels, uint64_t addr, struct pd_text *text)
{
	const struct pd_label *label = pd_labels_find(labels, addr);

	if (!label)
		return;
	pd_text_char(text, '<');
	pd_text_add(text, pd_label_name(labels, label));
	if (addr > label->addr)
		pd_text_printf(text, "+0x%" PRIx64, addr - label->addr);
	else if (addr < label->addr)
		pd_text_printf(text, "-0x%" PRIx64, label->addr - addr);
	pd_text_char(text, '>');
}

void pd_put_instruction(struct pd_labels *labels, const struct pd_notation *notation, struct pd_text *text)
{
	bool nameless = notation->has_name && !pd_labels_find(labels, notation->named);

	if (!notation->has_name) {
		pd_text_add(text, notation->text);
		return;
	}
	pd_text_put(text, notation->text, notation->name_start);
	if (nameless)
		pd_text_add(text, "0x");
	pd_text_put(text, notation->text + notation->name_start, notation->name_end - notation->name_start);
	if (!nameless) {
		pd_text_char(text, ' ');
		pd_put_label(labels, notation->named, text);
	}
	pd_text_add(text, notation->text + notation->name_end);
}
