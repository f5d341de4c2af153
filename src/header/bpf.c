/* SPDX-License-Identifier: MIT */
/*
 * A BPF program is printed with the address, size and name of each of its functions. These stand
 * in arrays after its description; the names of functions are in its type information. Everything
 * here is in the byte order of the recorder, and nothing is trusted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "header/bpf.h"
#include "header/btf.h"

enum {
	NAME_MOST = 255 /* bytes of a function's name that are printed */
};

/* A program on its way to the text. */
struct program {
	const struct pd_bpf_prog_info *info;
	struct pd_bytes data;
	uint64_t arrays;
	struct pd_btf_set *btfs;
	size_t btf; /* which of them */
	bool has_btf;
	bool big;
};

/* The array that begins at offset, or nothing if the program has none. */
static struct pd_bytes array_of(const struct program *program, uint64_t mask, uint64_t offset, uint64_t count,
				uint64_t size)
{
	return program->arrays & mask ? pd_btf_bytes(program->data, offset, count * size) :
					(struct pd_bytes){ NULL, 0 };
}

static void print_tag(struct pd_text *out, const struct program *program, uint32_t function)
{
	const struct pd_bpf_prog_info *info = program->info;
	struct pd_bytes tags =
		array_of(program, PD_MASK(PD_BPF_ARRAYS_PROG_TAGS), info->prog_tags, info->nr_prog_tags, 8);
	struct pd_bytes tag = pd_btf_bytes(tags, function * UINT64_C(8), 8);

	if (tag.size < 8)
		tag = info->tag;
	for (size_t i = 0; i < tag.size; i++)
		pd_text_printf(out, "%02x", tag.data[i]);
}

/* Type of a function in the type information. */
static uint64_t type_of(const struct program *program, uint32_t function)
{
	const struct pd_bpf_prog_info *info = program->info;
	uint64_t size = info->func_info_rec_size;
	struct pd_bytes infos =
		array_of(program, PD_MASK(PD_BPF_ARRAYS_FUNC_INFO), info->func_info, info->nr_func_info, size);

	return pd_btf_word(infos, function * size + 4, 4, program->big);
}

static struct pd_bytes function_name(const struct program *program, uint32_t function)
{
	const struct pd_bpf_prog_info *info = program->info;
	struct pd_bytes name = info->name;
	const uint8_t *end;

	if (program->has_btf) {
		name = pd_btf_type_name(program->btfs, program->btf, type_of(program, function));
		return pd_btf_bytes(name, 0, NAME_MOST);
	}
	if (info->nr_jited_ksyms > 1)
		return (struct pd_bytes){ (const uint8_t *)"F", 1 };
	end = name.size ? memchr(name.data, '\0', name.size) : NULL;
	if (end)
		name.size = (size_t)(end - name.data);
	return name;
}

static void print_function(struct pd_text *out, const struct program *program, uint32_t function)
{
	const struct pd_bpf_prog_info *info = program->info;
	struct pd_bytes name = function_name(program, function);
	struct pd_bytes addresses =
		array_of(program, PD_MASK(PD_BPF_ARRAYS_JITED_KSYMS), info->jited_ksyms, info->nr_jited_ksyms, 8);
	struct pd_bytes sizes = array_of(program, PD_MASK(PD_BPF_ARRAYS_JITED_FUNC_LENS), info->jited_func_lens,
					 info->nr_jited_func_lens, 4);

	pd_text_add(out, "bpf_prog_");
	print_tag(out, program, function);
	pd_text_add(out, name.size ? "_" : "");
	pd_text_escaped(out, (const char *)name.data, name.size);
	pd_text_printf(out, " addr 0x%" PRIx64 " size %" PRIu64 "\n",
		       pd_btf_word(addresses, function * UINT64_C(8), 8, program->big),
		       pd_btf_word(sizes, function * UINT64_C(4), 4, program->big));
}

/* The number of functions is what the file says; only those with an address are printed. */
static uint32_t function_count(const struct program *program)
{
	const struct pd_bpf_prog_info *info = program->info;
	struct pd_bytes addresses =
		array_of(program, PD_MASK(PD_BPF_ARRAYS_JITED_KSYMS), info->jited_ksyms, info->nr_jited_ksyms, 8);

	return (uint32_t)(addresses.size / 8);
}

static void print_program(struct pd_text *out, const struct program *program)
{
	uint32_t count = function_count(program);

	pd_text_printf(out, "# bpf_prog_info %" PRIu32 ":", program->info->id);
	if (count == 1) {
		pd_text_add(out, " ");
		print_function(out, program, 0);
		return;
	}
	pd_text_add(out, "\n");
	for (uint32_t i = 0; i < count; i++) {
		pd_text_printf(out, "# \tsub_prog %" PRIu32 ": ", i);
		print_function(out, program, i);
	}
}

/* Programs are printed in the order of their numbers. */
struct numbered {
	uint32_t number;
	size_t place;
};

static int compare(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static void print_item(struct pd_text *out, const struct pd_bpf_program *item, struct pd_btf_set *btfs, bool big)
{
	struct program program = {
		.info = item->info,
		.data = item->data,
		.arrays = item->arrays,
		.btfs = btfs,
		.big = big,
	};

	program.has_btf = item->info->btf_id && pd_btf_find(btfs, item->info->btf_id, &program.btf);
	print_program(out, &program);
}

void pd_header_bpf_programs(struct pd_text *out, const struct pd_bpf_programs *programs, const struct pd_bpf_btf *btf,
			    bool big)
{
	const struct pd_list *list = &programs->programs;
	struct numbered *order = pd_alloc((list->count ? list->count : 1) * sizeof(*order));
	struct pd_btf_set *btfs = pd_btf_new(btf, big);

	for (size_t i = 0; order && i < list->count; i++)
		order[i] = (struct numbered){ PD_ITEM(pd_bpf_program, *list, i)->info->id, i };
	if (order)
		qsort(order, list->count, sizeof(*order), compare);
	for (size_t i = 0; order && btfs && i < list->count; i++) {
		/* Of two programs with one number perf keeps the first. */
		if (!i || order[i].number != order[i - 1].number)
			print_item(out, PD_ITEM(pd_bpf_program, *list, order[i].place), btfs, big);
	}
	pd_btf_free(btfs);
	pd_free(order);
}

void pd_header_bpf_btf(struct pd_text *out, const struct pd_bpf_btf *btf)
{
	struct pd_btf_set *btfs = pd_btf_new(btf, false);

	for (size_t i = 0; btfs && i < pd_btf_count(btfs); i++)
		pd_text_printf(out, "# btf info of id %" PRIu32 "\n", pd_btf_number(btfs, i));
	pd_btf_free(btfs);
}
