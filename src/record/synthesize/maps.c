/* SPDX-License-Identifier: MIT */
/*
 * Maps of processes that run already. Where only code is wanted, the kernel is asked for it map by map (PROCMAP_QUERY, since
 * 6.11): it spares itself the names of the many that are none, which are most of what the text costs.
 */
#include "record/synthesize/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"

#define GATE "[vsyscall]"

struct map {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min, prot, flags;
	const char *path; // "" if there is none
};

// start-end perms offset major:minor inode path
static bool parse_map(char *line, struct map *map)
{
	char *at;

	map->start = strtoull(line, &at, 16);
	if (*at++ != '-')
		return false;
	map->end = strtoull(at, &at, 16);
	if (*at++ != ' ' || strnlen(at, 4) < 4)
		return false;
	map->prot = (at[0] == 'r' ? PD_MASK(PD_PROT_READ) : 0) | (at[1] == 'w' ? PD_MASK(PD_PROT_WRITE) : 0) |
		    (at[2] == 'x' ? PD_MASK(PD_PROT_EXEC) : 0);
	map->flags = at[3] == 's' ? PD_MASK(PD_MAP_SHARED) : PD_MASK(PD_MAP_PRIVATE);
	at += 4;
	map->pgoff = strtoull(at, &at, 16);
	map->maj = (uint32_t)strtoul(at, &at, 16);
	if (*at++ != ':')
		return false;
	map->min = (uint32_t)strtoul(at, &at, 16);
	map->ino = strtoull(at, &at, 10);
	map->path = at + strspn(at, " ");
	return true;
}

// The kernel writes newlines as \012, and nothing else so.
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = 0;
}

static enum pd_status add_map(struct pd_maps *maps, uint32_t pid, struct map *map, struct pd_error *error)
{
	bool executable = map->prot & PD_MASK(PD_PROT_EXEC);
	uint16_t misc = PD_CPUMODE_USER | (executable ? 0 : PD_MASK(PD_MISC_MMAP_DATA));
	// as the kernel names memory without a file
	const char *path = *map->path ? map->path : "//anon";
	struct pd_mmap2 record = { .pid = pid,
				   .tid = pid,
				   .addr = map->start,
				   .len = map->end - map->start,
				   .pgoff = map->pgoff,
				   .maj = map->maj,
				   .min = map->min,
				   .ino = map->ino,
				   .prot = map->prot,
				   .flags = map->flags,
				   .filename = { path, (uint32_t)strlen(path), 0 } };
	uint8_t build_id[20], size = 0;

	if (maps->options->build_ids && executable) {
		if (strcmp(path, "[vdso]") == 0)
			pd_build_id_of_vdso(build_id, &size);
		else if (path[0] == '/')
			pd_build_id_of_file(path, build_id, &size);
	}
	if (size) {
		misc |= PD_MASK(PD_MISC_MMAP_BUILD_ID);
		record.build_id_size = size;
		record.build_id = (struct pd_bytes){ build_id, sizeof(build_id) };
	}
	return pd_made_add(maps->made, PD_RECORD_MMAP2, misc, &record, error);
}

static bool is_wanted(const struct pd_maps *maps, const struct map *map)
{
	bool readable = maps->options->data_maps && map->prot & PD_MASK(PD_PROT_READ);

	return readable || map->prot & PD_MASK(PD_PROT_EXEC);
}

// ---- as text ----

static const char *path_of(const struct pd_maps *maps, uint32_t pid, char *path, size_t capacity)
{
	snprintf(path, capacity, "%s/%" PRIu32 "/maps", maps->proc, pid);
	return path;
}

// Those that begin at an address or above.
static enum pd_status add_text(struct pd_maps *maps, uint32_t pid, uint64_t from, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	char path[512], *at, *line;
	struct map map;

	if (!pd_procfile_read(&maps->file, path_of(maps, pid, path, sizeof(path))))
		return PD_OK;
	maps->notes->maps_cut += maps->file.cut;
	at = maps->file.size ? maps->file.data : NULL;
	while (status >= 0 && (line = pd_procfile_line(&at)) != NULL) {
		if (!parse_map(line, &map) || map.start < from || !is_wanted(maps, &map))
			continue;
		unescape((char *)map.path);
		status = add_map(maps, pid, &map, error);
	}
	return status;
}

// ---- as answers ----

// As linux/fs.h has it since 6.11.
struct query {
	uint64_t size, flags, addr;
	uint64_t start, end, prot_flags, page_size, offset, ino;
	uint32_t maj, min, name_size, build_id_size;
	uint64_t name, build_id;
};

#define QUERY _IOWR('f', 17, struct query)

enum {
	QUERY_READABLE = 1,
	QUERY_WRITABLE = 2,
	QUERY_EXECUTABLE = 4,
	QUERY_SHARED = 8,
	QUERY_NEXT = 16 // the map at the address, or the first after it
};

// The page of system calls that is above all memory: of no process, so that only the text has it. Each process has it that
// was not started with addresses of 32 bits, if the recorder has it.
static void find_gate(struct pd_maps *maps)
{
	char path[512], *at, *line;
	struct map map;

	maps->knows_gate = true;
	snprintf(path, sizeof(path), "%s/self/maps", maps->proc);
	maps->asks = sizeof(void *) == 8 && pd_procfile_read(&maps->file, path) && maps->file.size;
	at = maps->asks ? maps->file.data : NULL;
	while ((line = pd_procfile_line(&at)) != NULL)
		if (parse_map(line, &map) && strcmp(map.path, GATE) == 0)
			maps->gate = (struct pd_gate){
				.start = map.start, .end = map.end, .prot = map.prot, .flags = map.flags
			};
}

static enum pd_status add_gate(struct pd_maps *maps, uint32_t pid, struct pd_error *error)
{
	const struct pd_gate *gate = &maps->gate;
	struct map map = {
		.start = gate->start, .end = gate->end, .prot = gate->prot, .flags = gate->flags, .path = GATE
	};

	return gate->end && is_wanted(maps, &map) ? add_map(maps, pid, &map, error) : PD_OK;
}

static enum pd_status add_answer(struct pd_maps *maps, uint32_t pid, const struct query *query, struct pd_error *error)
{
	uint64_t flags = query->prot_flags;
	struct map map = { .start = query->start,
			   .end = query->end,
			   .pgoff = query->offset,
			   .ino = query->ino,
			   .maj = query->maj,
			   .min = query->min,
			   .path = query->name_size ? (const char *)(uintptr_t)query->name : "" };

	map.prot = (flags & QUERY_READABLE ? PD_MASK(PD_PROT_READ) : 0) |
		   (flags & QUERY_WRITABLE ? PD_MASK(PD_PROT_WRITE) : 0) |
		   (flags & QUERY_EXECUTABLE ? PD_MASK(PD_PROT_EXEC) : 0);
	map.flags = flags & QUERY_SHARED ? PD_MASK(PD_MAP_SHARED) : PD_MASK(PD_MAP_PRIVATE);
	return add_map(maps, pid, &map, error);
}

// Adds maps of code one by one. What could not be asked for begins at *from_out; UINT64_MAX: nothing.
static enum pd_status add_answers(struct pd_maps *maps, uint32_t pid, int fd, uint64_t *from_out,
				  struct pd_error *error)
{
	enum pd_status status = PD_OK;
	struct query query;
	char name[4096];

	*from_out = 0;
	for (;;) {
		query = (struct query){ .size = sizeof(query),
					.flags = QUERY_EXECUTABLE | QUERY_NEXT,
					.addr = *from_out,
					.name_size = sizeof(name),
					.name = (uintptr_t)name };
		if (ioctl(fd, QUERY, &query) < 0)
			break;
		status = add_answer(maps, pid, &query, error);
		if (status < 0)
			return status;
		*from_out = query.end;
	}
	if (errno == ENOENT && *from_out > UINT32_MAX)
		status = add_gate(maps, pid, error);
	// ESRCH: no memory, as threads of the kernel, or gone
	if (errno == ENOENT || errno == ESRCH)
		*from_out = UINT64_MAX;
	else if (errno == ENOTTY || errno == EINVAL)
		maps->asks = false;
	return status;
}

enum pd_status pd_maps_add(struct pd_maps *maps, uint32_t pid, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	uint64_t from = 0;
	char path[512];
	int fd = -1;

	if (!maps->options->maps)
		return PD_OK;
	if (!maps->knows_gate)
		find_gate(maps);
	if (maps->asks && !maps->options->data_maps)
		fd = open(path_of(maps, pid, path, sizeof(path)), O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		status = add_answers(maps, pid, fd, &from, error);
		close(fd);
	}
	return status < 0 || from == UINT64_MAX ? status : add_text(maps, pid, from, error);
}
