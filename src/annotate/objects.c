/* SPDX-License-Identifier: MIT */
/* Objects with code and who can take it apart. They stay open: several of their functions may be asked for. */
#include "annotate/inside.h"
#include "object/find/find.h"
#include "symbol/sources.h"

struct pd_code_kind pd_code_kind(uint32_t machine, bool wide, bool big, bool intel)
{
	static const struct {
		uint16_t machine;
		enum pd_isa wide, narrow;
	} kinds[] = {
		{ 3, PD_ISA_X86_32, PD_ISA_X86_32 },         { 8, PD_ISA_MIPS64, PD_ISA_MIPS32 },
		{ 20, PD_ISA_PPC32, PD_ISA_PPC32 },          { 21, PD_ISA_PPC64, PD_ISA_PPC64 },
		{ 22, PD_ISA_S390X, PD_ISA_S390X },          { 40, PD_ISA_ARM, PD_ISA_ARM },
		{ 62, PD_ISA_X86_64, PD_ISA_X86_64 },        { 183, PD_ISA_ARM64, PD_ISA_ARM64 },
		{ 243, PD_ISA_RISCV64, PD_ISA_RISCV32 },     { 247, PD_ISA_BPF, PD_ISA_BPF },
		{ 258, PD_ISA_LOONGARCH64, PD_ISA_UNKNOWN },
	};
	struct pd_code_kind kind = { .big = big, .intel = intel };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].machine == machine)
			kind.isa = wide ? kinds[i].wide : kinds[i].narrow;
	return kind;
}

const struct pd_disassembler *pd_disassembler_for(enum pd_isa isa)
{
	return isa == PD_ISA_LOONGARCH64 ? &pd_disassembler_llvm : &pd_disassembler_capstone;
}

void pd_annotate_start(struct pd_object_code *object, struct pd_code_kind kind)
{
	object->kind = kind;
	object->library = pd_disassembler_for(kind.isa);
	if (!object->library->start)
		return;
	object->disassembler = object->library->start(&kind);
	if (kind.isa == PD_ISA_ARM)
		object->other = object->library->start(&(struct pd_code_kind){ .isa = PD_ISA_THUMB, .big = kind.big });
}

// JIT-compiled code and BPF programs are in no object.
static bool is_runtime(const struct pd_dso *dso)
{
	return !dso->object || dso->object->kind == PD_OBJECT_KSYMBOL;
}

static void open_object(struct pd_annotate *annotate, struct pd_object_code *object)
{
	const char *path;

	object->path = object->dso->long_name;
	object->runtime = is_runtime(object->dso);
	if (object->runtime) {
		object->labels = pd_labels_new(NULL, NULL);
		return;
	}
	object->found = pd_alloc(sizeof(*object->found));
	if (!object->found)
		return;
	object->elf = pd_lookup_open_code(annotate->symbols, object->dso, object->found);
	if (!object->elf)
		return;
	path = pd_lookup_code_path(annotate->symbols, object->dso);
	object->path = path ? path : object->path;
	object->labels = pd_labels_new(object->elf, object->found->debug);
	pd_annotate_start(object, pd_code_kind(object->elf->machine, object->elf->wide, object->elf->big,
					       annotate->options.intel));
}

struct pd_object_code *pd_annotate_object(struct pd_annotate *annotate, const struct pd_dso *dso)
{
	struct pd_object_code *object = annotate->objects;

	while (object && object->dso != dso)
		object = object->next;
	if (object)
		return object;
	object = pd_alloc(sizeof(*object));
	if (!object)
		return NULL;
	object->dso = dso;
	object->next = annotate->objects;
	annotate->objects = object;
	open_object(annotate, object);
	return object;
}

void pd_annotate_close_objects(struct pd_annotate *annotate)
{
	struct pd_object_code *object = annotate->objects;

	while (object) {
		struct pd_object_code *next = object->next;

		if (object->disassembler)
			object->library->close(object->disassembler);
		if (object->other)
			object->library->close(object->other);
		pd_labels_free(object->labels);
		if (object->found)
			pd_found_close(object->found);
		pd_free(object->found);
		pd_free(object);
		object = next;
	}
	annotate->objects = NULL;
}
