/* SPDX-License-Identifier: MIT */
/* Code that is in no object: what a program made and wrote to a jitdump, and BPF programs that the recording carries. */
#include <string.h>

#include "annotate/inside.h"
#include "object/runtime/jitdump.h"
#include "symbol/sources.h"

enum {
	LARGEST = 8 << 20
};

// ---- jitdump ----

static enum pd_status read_jit(struct pd_annotate_code *code, const struct pd_function *function,
			       struct pd_error *error)
{
	struct pd_jit_code jit_code;
	struct pd_jitdump *jit;
	uint8_t *bytes;

	if (!pd_lookup_jit_code(code->annotate->symbols, function, &jit, &jit_code) || !jit_code.code_offset)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: its code is in no object and no jitdump",
			       function->name);
	if (!jit_code.size || jit_code.size > LARGEST)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: larger than 8 MiB", function->name);
	bytes = pd_arena_alloc(&code->texts, (size_t)jit_code.size);
	if (!bytes)
		return pd_fail_memory(error);
	if (!pd_jitdump_bytes(jit, jit_code.code_offset, bytes, (size_t)jit_code.size))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: its code is not in the jitdump",
			       function->name);
	code->bytes = bytes;
	code->start = function->start;
	code->end = function->start + jit_code.size;
	if (!code->object->disassembler)
		pd_annotate_start(code->object, pd_code_kind(pd_jitdump_about(jit).machine, true,
							     pd_jitdump_about(jit).big, code->annotate->options.intel));
	return PD_OK;
}

// ---- BPF ----

static struct pd_bytes array_of(const struct pd_bpf_program *program, uint64_t mask, uint64_t offset, uint64_t size)
{
	if (!(program->arrays & mask) || offset > program->data.size || size > program->data.size - offset)
		return (struct pd_bytes){ NULL, 0 };
	return (struct pd_bytes){ program->data.data + offset, (size_t)size };
}

static uint64_t word_of(struct pd_bytes bytes, size_t index, size_t size, bool big)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size && (index + 1) * size <= bytes.size; i++)
		value |= (uint64_t)bytes.data[index * size + i] << 8 * (big ? size - 1 - i : i);
	return value;
}

// The function of a program at an address: its code follows that of those before it.
static struct pd_bytes find_in_program(const struct pd_bpf_program *program, uint64_t addr, bool big)
{
	const struct pd_bpf_prog_info *info = program->info;
	struct pd_bytes addrs = array_of(program, PD_MASK(PD_BPF_ARRAYS_JITED_KSYMS), info->jited_ksyms,
					 UINT64_C(8) * info->nr_jited_ksyms);
	struct pd_bytes sizes = array_of(program, PD_MASK(PD_BPF_ARRAYS_JITED_FUNC_LENS), info->jited_func_lens,
					 UINT64_C(4) * info->nr_jited_func_lens);
	struct pd_bytes code =
		array_of(program, PD_MASK(PD_BPF_ARRAYS_JITED_INSNS), info->jited_prog_insns, info->jited_prog_len);
	uint64_t offset = 0;

	for (size_t i = 0; i < addrs.size / 8 && i < sizes.size / 4; i++) {
		uint64_t size = word_of(sizes, i, 4, big);

		if (word_of(addrs, i, 8, big) == addr && offset <= code.size && size <= code.size - offset)
			return (struct pd_bytes){ code.data + offset, (size_t)size };
		offset += size;
	}
	return (struct pd_bytes){ NULL, 0 };
}

static uint32_t machine_of(struct pd_file *file)
{
	static const struct {
		const char *arch;
		uint32_t machine;
	} machines[] = { { "x86_64", 62 }, { "aarch64", 183 }, { "s390x", 22 }, { "ppc64le", 21 }, { "riscv64", 243 } };
	const struct pd_string *arch = pd_file_arch(file);

	for (size_t i = 0; arch && i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(arch->value.data, machines[i].arch))
			return machines[i].machine;
	return 0;
}

static enum pd_status find_bpf(struct pd_annotate_code *code, const struct pd_function *function,
			       struct pd_error *error)
{
	struct pd_file *file = code->annotate->file;
	const struct pd_bpf_programs *programs = pd_file_bpf_prog_info(file);
	bool big = pd_file_header(file)->big_endian;
	struct pd_bytes bytes = { NULL, 0 };

	for (size_t i = 0; programs && !bytes.size && i < programs->programs.count; i++)
		bytes = find_in_program(PD_ITEM(pd_bpf_program, programs->programs, i), function->start, big);
	if (!bytes.size)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: its code is not in the recording",
			       function->name);
	code->bytes = bytes.data;
	code->start = function->start;
	code->end = function->start + bytes.size;
	if (!code->object->disassembler)
		pd_annotate_start(code->object,
				  pd_code_kind(machine_of(file), true, big, code->annotate->options.intel));
	return PD_OK;
}

enum pd_status pd_annotate_runtime_code(struct pd_annotate_code *code, const struct pd_function *function,
					struct pd_error *error)
{
	return function->dso->object ? find_bpf(code, function, error) : read_jit(code, function, error);
}
