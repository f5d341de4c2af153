/* SPDX-License-Identifier: MIT */
/* The code of an object as objdump -d --no-show-raw-insn prints it: a line for each instruction. usage: disassemble [--llvm|--intel]
 * OBJECT; --llvm: by the other library; --intel: x86 in Intel's syntax. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/inside.h"
#include "object/elf/elf.h"

static void print_section(const struct pd_object_code *object, const struct pd_elf_section *section)
{
	struct pd_bytes bytes = pd_elf_section_bytes(object->elf, section);
	struct pd_text text = { 0 };
	struct pd_stretch stretch = { 0 };

	for (uint64_t addr = section->addr, end = addr + bytes.size; bytes.data && addr < end;) {
		uint64_t next = pd_labels_next(object->labels, addr, end);

		for (uint64_t at = addr; at < next;) {
			struct pd_notation notation;

			pd_next_instruction(&stretch, object, bytes.data + (at - section->addr), (size_t)(next - at),
					    at, &notation);
			text.size = 0;
			pd_put_instruction(object->labels, &notation, &text);
			printf("%" PRIx64 "\t%.*s\n", at, (int)text.size, text.data);
			at += notation.size;
		}
		addr = next;
	}
	pd_free(text.data);
}

int main(int argc, char **argv)
{
	struct pd_object_code object = { 0 };
	struct pd_error error;
	bool intel = argc == 3 && strcmp(argv[1], "--intel") == 0;

	if (argc == 3 && strcmp(argv[1], "--llvm") == 0) {
		object.library = &pd_disassembler_llvm;
		argv++;
		argc--;
	}
	argv += intel;
	argc -= intel;
	if (argc != 2 || pd_elf_open(&object.elf, argv[1], 0, &error) != PD_OK)
		return 2;
	object.kind = pd_code_kind(object.elf->machine, object.elf->wide, object.elf->big, intel);
	object.labels = pd_labels_new(object.elf, NULL);
	object.library = object.library ? object.library : pd_disassembler_for(object.kind.isa);
	if (!object.library->start)
		return 77;
	object.disassembler = object.library->start(&object.kind);
	object.other = object.library->start(&(struct pd_code_kind){ .isa = PD_ISA_THUMB, .big = object.kind.big });
	if (!object.labels || !object.disassembler)
		return 77;
	for (size_t i = 0; i < object.elf->section_count; i++)
		if ((object.elf->sections[i].flags & PD_ELF_FLAG_EXEC) && object.elf->sections[i].type == 1)
			print_section(&object, &object.elf->sections[i]);
	object.library->close(object.disassembler);
	if (object.other)
		object.library->close(object.other);
	pd_labels_free(object.labels);
	pd_elf_close(object.elf);
	return 0;
}
