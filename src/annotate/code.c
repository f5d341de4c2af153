/* SPDX-License-Identifier: MIT */
/* The bytes of a function, its lines, and their samples. */
#include <string.h>

#include "annotate/inside.h"
#include "object/elf/elf.h"

enum {
	LARGEST = 8 << 20,
	SIZELESS = 256 // bytes of a function whose size nobody knows
};

static enum pd_status check_disassembler(const struct pd_annotate_code *code, struct pd_error *error)
{
	const struct pd_object_code *object = code->object;

	if (object->library == &pd_disassembler_llvm && !object->disassembler)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "%s: its code can be disassembled by libLLVM 16 or newer only, which was not found",
			       object->dso->name);
	if (!pd_disassembler_capstone.start && object->library != &pd_disassembler_llvm)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "this build has no disassembler: it was made without capstone 5");
	if (!object->disassembler && (object->elf || code->bytes))
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "%s: the disassembler does not know this machine (ELF machine %u)", object->dso->name,
			       object->elf ? object->elf->machine : 0);
	return object->labels ? PD_OK : pd_fail_memory(error);
}

static enum pd_status find_bytes(struct pd_annotate_code *code, const struct pd_function *function,
				 struct pd_error *error)
{
	const struct pd_object_code *object = code->object;
	enum pd_status status = PD_OK;
	uint64_t offset, size;

	if (object->runtime) {
		status = pd_annotate_runtime_code(code, function, error);
		return status == PD_OK ? check_disassembler(code, error) : status;
	}
	if (!object->elf)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: no object with its code was found (%s)",
			       function->dso->name, function->dso->detail);
	status = check_disassembler(code, error);
	if (status != PD_OK)
		return status;
	code->start = function->start;
	size = function->end > function->start ? function->end - function->start : SIZELESS;
	if (size > LARGEST)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: larger than 8 MiB", function->name);
	if (!pd_elf_offset(object->elf, code->start, &offset))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: not in %s", function->name,
			       function->dso->name);
	if (offset < object->elf->image.size && size > object->elf->image.size - offset)
		size = object->elf->image.size - offset;
	code->bytes = pd_image_part(&object->elf->image, offset, size);
	if (!code->bytes || !size)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: not in the file of %s", function->name,
			       function->dso->name);
	code->end = code->start + size;
	return PD_OK;
}

// An instruction has the samples of its bytes.
static bool add_up(struct pd_annotate_code *code)
{
	const struct pd_annotate *annotate = code->annotate;
	const struct pd_annotate_hits *hits = &annotate->functions[code->entry->hits];
	size_t events = code->part->head.event_count, at = hits->first, end = hits->first + hits->count;

	code->sums = pd_alloc((code->line_count * events + 1) * sizeof(*code->sums));
	if (!code->sums)
		return false;
	for (size_t i = 0; i < code->line_count; i++) {
		const struct pd_annotate_line *line = &code->lines[i];

		if (line->kind != PD_ANNOTATE_INSTRUCTION)
			continue;
		while (at < end && annotate->hits[at].addr < line->addr)
			at++;
		for (; at < end && annotate->hits[at].addr < line->addr + line->bytes.size; at++) {
			size_t event = annotate->hits[at].event - code->part->head.first_event;

			if (annotate->hits[at].event < code->part->head.first_event || event >= events)
				continue;
			code->sums[i * events + event].period += annotate->hits[at].sum.period;
			code->sums[i * events + event].samples += annotate->hits[at].sum.samples;
		}
	}
	return true;
}

enum pd_status pd_annotate_open(struct pd_annotate *annotate, size_t table, size_t function,
				struct pd_annotate_code **code_out, struct pd_error *error)
{
	struct pd_annotate_code *code;
	enum pd_status status;

	if (table >= annotate->part_count || function >= annotate->parts[table].head.function_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no such function");
	code = pd_alloc(sizeof(*code));
	if (!code)
		return pd_fail_memory(error);
	code->annotate = annotate;
	code->part = &annotate->parts[table];
	code->entry = &code->part->entries[function];
	code->object = pd_annotate_object(annotate, code->entry->head.function->dso);
	status = code->object ? find_bytes(code, code->entry->head.function, error) : pd_fail_memory(error);
	if (status == PD_OK) {
		pd_annotate_list(code);
		if (code->failed || code->scratch.failed || !add_up(code) || !pd_annotate_add_branches(code))
			status = pd_fail_memory(error);
	}
	if (status == PD_OK)
		*code_out = code;
	else
		pd_annotate_close(code);
	return status;
}

void pd_annotate_close(struct pd_annotate_code *code)
{
	if (!code)
		return;
	pd_arena_fini(&code->texts);
	pd_free(code->scratch.data);
	pd_free(code->lines);
	pd_free(code->sums);
	pd_free(code->branches);
	pd_free(code->blocks);
	pd_free(code);
}

const struct pd_annotate_line *pd_annotate_line(const struct pd_annotate_code *code, size_t index)
{
	return index < code->line_count ? &code->lines[index] : NULL;
}

const struct pd_annotate_sum *pd_annotate_line_sums(const struct pd_annotate_code *code, size_t index)
{
	if (index >= code->line_count || code->lines[index].kind != PD_ANNOTATE_INSTRUCTION)
		return NULL;
	return code->sums + index * code->part->head.event_count;
}
