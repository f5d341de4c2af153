/* SPDX-License-Identifier: MIT */
/*
 * The features BPF_PROG_INFO and BPF_BTF: BPF programs that are loaded, as the kernel describes them, and their types.
 * A description has addresses of arrays, which the kernel fills; in the file these are offsets after it.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "record/record.h"
#include "write/write.h"

enum {
	MOST_DATA = 64 << 20 // bytes of all programs, and of all types
};

// Where a description has the address of an array, the number of its items, and their size: a size that is fixed if
// size_at is 0. In the order of their bits, which is that of the arrays in the file.
static const struct array {
	uint64_t bit;
	size_t addr_at, count_at, size_at, size;
} arrays[] = {
#define AT(member) offsetof(struct bpf_prog_info, member)
	{ PD_MASK(PD_BPF_ARRAYS_JITED_INSNS), AT(jited_prog_insns), AT(jited_prog_len), 0, 1 },
	{ PD_MASK(PD_BPF_ARRAYS_JITED_KSYMS), AT(jited_ksyms), AT(nr_jited_ksyms), 0, 8 },
	{ PD_MASK(PD_BPF_ARRAYS_JITED_FUNC_LENS), AT(jited_func_lens), AT(nr_jited_func_lens), 0, 4 },
	{ PD_MASK(PD_BPF_ARRAYS_FUNC_INFO), AT(func_info), AT(nr_func_info), AT(func_info_rec_size), 0 },
	{ PD_MASK(PD_BPF_ARRAYS_LINE_INFO), AT(line_info), AT(nr_line_info), AT(line_info_rec_size), 0 },
	{ PD_MASK(PD_BPF_ARRAYS_JITED_LINE_INFO), AT(jited_line_info), AT(nr_jited_line_info),
	  AT(jited_line_info_rec_size), 0 },
	{ PD_MASK(PD_BPF_ARRAYS_PROG_TAGS), AT(prog_tags), AT(nr_prog_tags), 0, BPF_TAG_SIZE },
#undef AT
};

enum {
	ARRAYS = sizeof(arrays) / sizeof(arrays[0])
};

struct collector {
	struct pd_write_bytes programs, types;
	uint32_t program_count, type_count;
	uint32_t *type_ids;
	size_t type_capacity;
};

static long call_bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static bool get_info(int fd, void *info, uint32_t *size)
{
	union bpf_attr attr = { .info = { .bpf_fd = (uint32_t)fd, .info_len = *size, .info = (uintptr_t)info } };

	if (call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0)
		return false;
	*size = attr.info.info_len;
	return true;
}

static uint32_t u32_at(const struct bpf_prog_info *info, size_t at)
{
	uint32_t number;

	memcpy(&number, (const uint8_t *)info + at, sizeof(number));
	return number;
}

static size_t size_of(const struct bpf_prog_info *info, const struct array *array)
{
	size_t item = array->size_at ? u32_at(info, array->size_at) : array->size;

	return (size_t)u32_at(info, array->count_at) * item;
}

// ---- programs ----

// Asks for the arrays that the first answer said there are. NULL if the program went, or returned more than before.
static uint8_t *get_arrays(int fd, const struct bpf_prog_info *first, struct bpf_prog_info *info, size_t *total_out)
{
	uint64_t places[ARRAYS] = { 0 };
	uint32_t size = sizeof(*info);
	uint8_t *data;
	size_t total = 0;

	for (unsigned i = 0; i < ARRAYS; i++) {
		places[i] = total;
		total += (size_of(first, &arrays[i]) + 7) & ~(size_t)7;
		if (total > MOST_DATA)
			return NULL;
	}
	data = pd_alloc(total + 8);
	if (!data)
		return NULL;
	memset(info, 0, sizeof(*info));
	for (unsigned i = 0; i < ARRAYS; i++) {
		uint64_t addr = (uintptr_t)(data + places[i]);

		// as many as there is room for
		memcpy((uint8_t *)info + arrays[i].addr_at, &addr, sizeof(addr));
		memcpy((uint8_t *)info + arrays[i].count_at, (const uint8_t *)first + arrays[i].count_at, 4);
		if (arrays[i].size_at)
			memcpy((uint8_t *)info + arrays[i].size_at, (const uint8_t *)first + arrays[i].size_at, 4);
	}
	if (!get_info(fd, info, &size)) {
		pd_free(data);
		return NULL;
	}
	for (unsigned i = 0; i < ARRAYS; i++)
		memcpy((uint8_t *)info + arrays[i].addr_at, &places[i], sizeof(places[i]));
	*total_out = total;
	return data;
}

static enum pd_status add_program(struct collector *collector, int fd, struct bpf_prog_info *info,
				  struct pd_error *error)
{
	struct bpf_prog_info first = { 0 };
	uint32_t size = sizeof(first), lengths[2];
	uint64_t bits = 0;
	uint8_t *data;
	size_t total;
	bool done;

	// what was not compiled has no addresses
	if (!get_info(fd, &first, &size) || !first.nr_jited_ksyms)
		return PD_OK;
	data = get_arrays(fd, &first, info, &total);
	if (!data)
		return PD_OK;
	for (unsigned i = 0; i < ARRAYS; i++)
		bits |= arrays[i].bit;
	lengths[0] = size;
	lengths[1] = (uint32_t)total;
	done = collector->programs.size + total > MOST_DATA ||
	       (pd_write_put(&collector->programs, lengths, sizeof(lengths)) &&
		pd_write_put(&collector->programs, &bits, sizeof(bits)) &&
		pd_write_put(&collector->programs, info, size) && pd_write_put(&collector->programs, data, total) &&
		++collector->program_count);
	pd_free(data);
	return done ? PD_OK : pd_fail_memory(error);
}

// ---- types ----

static bool has_type(const struct collector *collector, uint32_t id)
{
	for (uint32_t i = 0; i < collector->type_count; i++)
		if (collector->type_ids[i] == id)
			return true;
	return false;
}

static enum pd_status add_type(struct collector *collector, uint32_t id, struct pd_error *error)
{
	union bpf_attr attr = { .btf_id = id };
	struct bpf_btf_info info = { 0 };
	uint32_t size = sizeof(info), btf_size, head[2];
	bool done = true;
	uint8_t *data;
	int fd = !id || has_type(collector, id) ? -1 : (int)call_bpf(BPF_BTF_GET_FD_BY_ID, &attr);

	if (fd < 0)
		return PD_OK;
	btf_size = get_info(fd, &info, &size) ? info.btf_size : 0;
	data = btf_size && btf_size < MOST_DATA ? pd_alloc(btf_size) : NULL;
	info = (struct bpf_btf_info){ .btf = (uintptr_t)data, .btf_size = btf_size };
	size = sizeof(info);
	if (data && get_info(fd, &info, &size) && info.btf_size == btf_size) {
		head[0] = id;
		head[1] = btf_size;
		done = PD_GROW(collector->type_ids, collector->type_capacity, collector->type_count + 1) &&
		       pd_write_put(&collector->types, head, sizeof(head)) &&
		       pd_write_put(&collector->types, data, btf_size);
		if (done)
			collector->type_ids[collector->type_count++] = id;
	}
	pd_free(data);
	close(fd);
	return done ? PD_OK : pd_fail_memory(error);
}

// ---- both ----

static enum pd_status walk_programs(struct collector *collector, struct pd_error *error)
{
	union bpf_attr next = { .start_id = 0 };
	enum pd_status status = PD_OK;

	// without the right to ask there are none
	while (status >= 0 && call_bpf(BPF_PROG_GET_NEXT_ID, &next) == 0) {
		union bpf_attr attr = { .prog_id = next.next_id };
		struct bpf_prog_info info = { 0 };
		int fd = (int)call_bpf(BPF_PROG_GET_FD_BY_ID, &attr);

		next.start_id = next.next_id;
		if (fd < 0)
			continue;
		status = add_program(collector, fd, &info, error);
		close(fd);
		if (status >= 0)
			status = add_type(collector, info.btf_id, error);
	}
	return status;
}

// A number of items, and the items.
static enum pd_status set(struct pd_writer *writer, unsigned feature, uint32_t count,
			  const struct pd_write_bytes *items, struct pd_error *error)
{
	struct pd_write_bytes all = { 0 };
	enum pd_status status = pd_write_put(&all, &count, sizeof(count)) &&
						pd_write_put(&all, items->data, items->size) ?
					PD_OK :
					pd_fail_memory(error);

	if (status >= 0)
		status = pd_writer_set_feature_bytes(writer, feature, (struct pd_bytes){ all.data, all.size }, error);
	pd_free(all.data);
	return status;
}

enum pd_status pd_machine_bpf(struct pd_writer *writer, struct pd_error *error)
{
	struct collector collector = { 0 };
	enum pd_status status = walk_programs(&collector, error);

	if (status >= 0)
		status = set(writer, PD_FEATURE_BPF_PROG_INFO, collector.program_count, &collector.programs, error);
	if (status >= 0)
		status = set(writer, PD_FEATURE_BPF_BTF, collector.type_count, &collector.types, error);
	pd_free(collector.programs.data);
	pd_free(collector.types.data);
	pd_free(collector.type_ids);
	return status;
}
