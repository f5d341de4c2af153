/* SPDX-License-Identifier: MIT */
/*
 * JIT-compiled code, for tools that know only files: each function of a jitdump becomes an ELF file, and a map of it at
 * the time at which it was compiled. Maps wait until the recording has come to their time, so that they break no round.
 */
#include "edit/inject/jit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	CLOCK_OF_DUMPS = 1, // CLOCK_MONOTONIC of Linux, whatever this system calls it
	PADDING = 8
};

struct pd_inject_jit {
	struct pd_code_dump *dumps;
	size_t dump_count, dump_capacity;
	struct pd_code_map *maps; // by time
	size_t map_count, map_capacity, next;
	const struct pd_time_conv *conv;
	struct pd_time_conv conversion;
};

// ---- files ----

// ---- codes ----

static int by_index(const void *a, const void *b, void *jit)
{
	const struct pd_jit_code *left = pd_jitdump_code_at(jit, *(const size_t *)a);
	const struct pd_jit_code *right = pd_jitdump_code_at(jit, *(const size_t *)b);

	if (left->index != right->index)
		return left->index > right->index ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

// For each code the one whose file it is: itself, or what was moved. NULL if there is no memory.
static size_t *find_files(struct pd_code_dump *dump)
{
	size_t count = pd_jitdump_what(dump->jit)->code_count, file = 0;
	size_t *order = pd_alloc((count + 1) * sizeof(*order)), *files = pd_alloc((count + 1) * sizeof(*files));
	const struct pd_jit_code *before = NULL;

	dump->repeats = pd_alloc((count + 1) * sizeof(*dump->repeats));
	if (!order || !files || !dump->repeats) {
		pd_free(order);
		pd_free(files);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_index, dump->jit);
	for (size_t i = 0; i < count; i++) {
		const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, order[i]);
		bool same = before && before->index == code->index;

		if (!code->moved || !same) {
			file = order[i];
			dump->repeats[file] = same;
		}
		files[order[i]] = file;
		before = code;
	}
	pd_free(order);
	return files;
}

static uint64_t time_of(const struct pd_inject_jit *jit, const struct pd_code_dump *dump, uint64_t time)
{
	const struct pd_time_conv *conv = &jit->conversion;
	uint64_t shift = conv->time_shift & 63;

	if (!pd_jitdump_what(dump->jit)->arch_timestamps)
		return time;
	if (conv->cap_user_time_short)
		time = conv->time_cycles + ((time - conv->time_cycles) & conv->time_mask);
	return conv->time_zero + (time >> shift) * conv->time_mult +
	       (((time & ((UINT64_C(1) << shift) - 1)) * conv->time_mult) >> shift);
}

static bool add_map(struct pd_inject *inject, const struct pd_code_map *map)
{
	struct pd_inject_jit *jit = inject->jit;

	if (!PD_GROW(jit->maps, jit->map_capacity, jit->map_count + 1))
		return pd_inject_no_memory(inject);
	jit->maps[jit->map_count++] = *map;
	return true;
}

static void set_address(const struct pd_inject_jit *jit, const struct pd_code_dump *dump,
			const struct pd_jit_code *code, struct pd_code_map *load)
{
	bool own = code->pid == pd_jitdump_what(dump->jit)->pid;

	load->time_ns = time_of(jit, dump, code->time);
	load->addr = code->addr;
	// What the program mapped after the code belongs to it.
	load->len = code->frames_mapped ? ((code->size + 7) & ~UINT64_C(7)) + code->frames_mapped : code->size;
	load->pid = own ? dump->pid : code->pid;
	// In a container it has other numbers.
	load->tid = own && dump->pid != code->pid ? dump->pid : code->tid;
}

static int by_time(const void *a, const void *b)
{
	const struct pd_code_map *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? 1 : -1;
	if (left->dump != right->dump)
		return left->dump > right->dump ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

static bool create_maps(struct pd_inject *inject, size_t which)
{
	struct pd_inject_jit *jit = inject->jit;
	struct pd_code_dump *dump = &jit->dumps[which];
	size_t count = pd_jitdump_what(dump->jit)->code_count;
	size_t *files = find_files(dump);
	struct pd_code_map *made = pd_alloc((count + 1) * sizeof(*made));
	bool ok = files && made;

	if (!ok)
		pd_inject_no_memory(inject);
	for (size_t i = 0; i < count && ok; i++) {
		const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, i);

		if (files[i] == i && !pd_code_file_write(inject, dump, i, &made[i])) {
			continue;
		}
		made[i] = made[files[i]];
		made[i].dump = which;
		made[i].number = files[i];
		set_address(jit, dump, code, &made[i]);
		if (made[i].pgoff && made[i].len)
			ok = add_map(inject, &made[i]);
	}
	pd_free(made);
	pd_free(files);
	if (jit->map_count > jit->next)
		qsort(jit->maps + jit->next, jit->map_count - jit->next, sizeof(*jit->maps), by_time);
	return ok;
}

// ---- maps of dumps ----

static const char *why_not(const struct pd_inject *inject, const struct pd_record *record, const struct pd_jitdump *jit)
{
	const struct pd_attr *attr = record->event ? record->event->attr : NULL;

	if (pd_jitdump_what(jit)->arch_timestamps)
		return inject->jit->conv ?
			       NULL :
			       "its timestamps are TSC values, and the recording has no TIME_CONV record to convert them";
	if (!attr || !PD_BITS(attr->flags, PD_ATTR_USE_CLOCKID) || attr->clockid != CLOCK_OF_DUMPS)
		return "the recording uses a different clock than jitdumps (perf record -k mono)";
	return NULL;
}

static char *folder_of(const struct pd_inject *inject, const char *path)
{
	const char *slash = strrchr(path, '/'), *folder = inject->options.jit_directory;

	if (folder)
		return realpath(folder, NULL);
	return slash > path ? strndup(path, (size_t)(slash - path)) : strdup(slash ? "/" : ".");
}

static bool open_dump(struct pd_inject *inject, struct pd_code_dump *dump, const struct pd_record *record,
		      const char *path)
{
	struct pd_error error;
	const char *why;

	if (pd_jitdump_open(inject->options.symfs, path, 0, &dump->jit, &error) < 0) {
		pd_inject_warn(inject, true, "%s", error.message);
		return false;
	}
	why = why_not(inject, record, dump->jit);
	if (why) {
		pd_inject_warn(inject, true, "%s: %s", path, why);
		return false;
	}
	if (pd_jitdump_what(dump->jit)->damage)
		pd_inject_warn(inject, true, "%s: offset %" PRIu64 ": %s", path,
			       pd_jitdump_what(dump->jit)->damage_offset, pd_jitdump_what(dump->jit)->damage);
	dump->folder = folder_of(inject, path);
	dump->path = strdup(path);
	if (!dump->folder || !dump->path) {
		pd_inject_warn(inject, true, "%s: %s",
			       inject->options.jit_directory ? inject->options.jit_directory : path, strerror(errno));
		return false;
	}
	return true;
}

static void close_dump(struct pd_code_dump *dump)
{
	pd_jitdump_close(dump->jit);
	free(dump->path);
	free(dump->folder);
	pd_free(dump->repeats);
}

static bool is_open(const struct pd_inject_jit *jit, uint32_t pid, const char *path)
{
	for (size_t i = 0; i < jit->dump_count; i++) {
		if (jit->dumps[i].pid == pid && (!path || !strcmp(jit->dumps[i].path, path)))
			return true;
	}
	return false;
}

static enum pd_inject_action take_dump_map(struct pd_inject *inject, const struct pd_record *record, uint32_t pid,
					   const char *path, const struct pd_sample_id *trailer)
{
	struct pd_inject_jit *jit = inject->jit;
	struct pd_code_dump dump = { .pid = pid, .event = pd_inject_event(record) };

	if (is_open(jit, pid, path)) {
		inject->result.dump_map_count++;
		return PD_INJECT_DROP;
	}
	if (!open_dump(inject, &dump, record, path)) {
		close_dump(&dump);
		return PD_INJECT_PASS;
	}
	if (!PD_GROW(jit->dumps, jit->dump_capacity, jit->dump_count + 1)) {
		close_dump(&dump);
		pd_inject_no_memory(inject);
		return PD_INJECT_FAILED;
	}
	if (trailer) {
		dump.trailer = *trailer;
		dump.has_trailer = true;
	}
	jit->dumps[jit->dump_count++] = dump;
	inject->result.dump_map_count++;
	return create_maps(inject, jit->dump_count - 1) ? PD_INJECT_DROP : PD_INJECT_FAILED;
}

// Memory that programs put code into.
static bool is_memory(const char *path)
{
	static const char *const beginnings[] = { "//anon", "[anon", "/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (!strncmp(path, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static enum pd_inject_action take_map(struct pd_inject *inject, const struct pd_record *record, uint32_t pid,
				      const char *path, bool executable, const struct pd_sample_id *trailer)
{
	if (executable && pd_jitdump_is(path))
		return take_dump_map(inject, record, pid, path, trailer);
	// It may be recorded after the code in it, when it becomes executable, and would then hide it.
	if (executable && is_memory(path) && is_open(inject->jit, pid, NULL)) {
		inject->result.memory_map_count++;
		return PD_INJECT_DROP;
	}
	return PD_INJECT_PASS;
}

enum pd_inject_action pd_inject_jit_record(struct pd_inject *inject, const struct pd_record *record)
{
	const struct pd_time_conv *conv;
	const struct pd_mmap2 *mmap2;
	const struct pd_mmap *mmap;

	if (record->time_ns != PD_NO_TIME && !pd_inject_jit_write(inject, record->time_ns))
		return PD_INJECT_FAILED;
	if (record->type == PD_RECORD_TIME_CONV && (conv = pd_as_time_conv(record))) {
		inject->jit->conversion = *conv;
		inject->jit->conv = &inject->jit->conversion;
	} else if (record->type == PD_RECORD_MMAP2 && (mmap2 = pd_as_mmap2(record))) {
		return take_map(inject, record, mmap2->pid, mmap2->filename.data, mmap2->prot & PD_MASK(PD_PROT_EXEC),
				mmap2->sample_id);
	} else if (record->type == PD_RECORD_MMAP && (mmap = pd_as_mmap(record))) {
		return take_map(inject, record, mmap->pid, mmap->filename.data,
				!(record->misc & PD_MASK(PD_MISC_MMAP_DATA)), mmap->sample_id);
	}
	return PD_INJECT_PASS;
}

// ---- maps of code ----

static bool write_map(struct pd_inject *inject, const struct pd_code_map *load)
{
	const struct pd_code_dump *dump = &inject->jit->dumps[load->dump];
	const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, load->number);
	struct pd_sample_id trailer = dump->trailer;
	uint16_t misc = PD_CPUMODE_USER;
	struct pd_mmap2 map = {
		.pid = load->pid,
		.tid = load->tid,
		.addr = load->addr,
		.len = load->len,
		.pgoff = load->pgoff,
		.maj = load->maj,
		.min = load->min,
		.ino = load->ino,
		.ino_generation = 1,
		.prot = (uint32_t)PD_MASK(PD_PROT_EXEC),
		.flags = (uint32_t)PD_MASK(PD_MAP_SHARED),
		.sample_id = dump->has_trailer ? &trailer : NULL,
	};
	char path[PATH_MAX + PADDING] = ""; // written with zeros after it

	if (!pd_code_file_name(dump, code, load->number, path, PATH_MAX))
		return true;
	trailer.pid = load->pid;
	trailer.tid = load->tid;
	trailer.time_ns = load->time_ns;
	map.filename = (struct pd_str){ path, (uint32_t)strlen(path), (uint32_t)(strlen(path) + PADDING) & ~7u };
	if (inject->ids && pd_inject_is_in_maps(inject)) {
		misc |= (uint16_t)PD_MASK(PD_MISC_MMAP_BUILD_ID);
		map.build_id_size = load->id.size;
		map.build_id = (struct pd_bytes){ load->id.bytes, PD_BUILD_ID_SIZE };
	} else if (inject->ids && !pd_inject_ids_add(inject, path, &load->id)) {
		return false;
	}
	inject->result.code_map_count++;
	return pd_inject_keep(inject,
			      pd_writer_add(inject->writer, PD_RECORD_MMAP2, misc, &map, dump->event, &inject->error));
}

bool pd_inject_jit_write(struct pd_inject *inject, uint64_t up_to_ns)
{
	struct pd_inject_jit *jit = inject->jit;

	while (jit->next < jit->map_count && jit->maps[jit->next].time_ns <= up_to_ns) {
		if (!write_map(inject, &jit->maps[jit->next++]))
			return false;
	}
	return true;
}

bool pd_inject_jit_waits(const struct pd_inject *inject)
{
	return inject->jit->next < inject->jit->map_count;
}

// ---- start and end ----

enum pd_status pd_inject_jit_open(struct pd_inject *inject, struct pd_error *error)
{
	inject->jit = pd_alloc(sizeof(*inject->jit));
	return inject->jit ? PD_OK : pd_fail_memory(error);
}

void pd_inject_jit_close(struct pd_inject *inject)
{
	struct pd_inject_jit *jit = inject->jit;

	if (!jit)
		return;
	for (size_t i = 0; i < jit->dump_count; i++)
		close_dump(&jit->dumps[i]);
	pd_free(jit->dumps);
	pd_free(jit->maps);
	pd_free(jit);
	inject->jit = NULL;
}
