/* SPDX-License-Identifier: MIT */
// Maps of the kernel and its modules: the records that have them, their names, and which are written.
#include "edit/merge/merge.h"

#include <stdio.h>
#include <string.h>

bool pd_kernel_is_image(const char *name)
{
	return !strncmp(name, "[kernel.kallsyms]", 17);
}

const struct pd_mmap *pd_kernel_mmap(const struct pd_record *record)
{
	const struct pd_mmap *map = (record->misc & 7) == PD_CPUMODE_KERNEL ? pd_as_mmap(record) : NULL;

	return map && map->pid == UINT32_MAX ? map : NULL;
}

const struct pd_mmap2 *pd_kernel_mmap2(const struct pd_record *record)
{
	const struct pd_mmap2 *map = (record->misc & 7) == PD_CPUMODE_KERNEL ? pd_as_mmap2(record) : NULL;

	return map && map->pid == UINT32_MAX ? map : NULL;
}

struct pd_kernel_map *pd_kernel_find(const struct pd_merge_source *source, const char *name)
{
	for (size_t i = 0; i < source->map_count; i++)
		if (!strcmp(source->maps[i].name, name))
			return &source->maps[i];
	return NULL;
}

// perf takes two equal maps of a kernel for one that ends where the other begins.
bool pd_kernel_map_is_written(const struct pd_merge *merge, const struct pd_merge_source *source, const char *name,
			      uint64_t start, uint64_t pgoff)
{
	struct pd_kernel_map *own = pd_kernel_find(source, name);

	if (!own || own->start != start || own->pgoff != pgoff)
		return false;
	for (size_t i = 0; i < merge->source_count && !own->written; i++) {
		const struct pd_merge_source *other = merge->sources[i];
		const struct pd_kernel_map *map = other == source ? NULL : pd_kernel_find(other, name);

		if (map && map->written && map->start == start && map->pgoff == pgoff)
			return true;
	}
	own->written = true;
	return false;
}

void pd_kernel_rename(const struct pd_merge_source *source, const char *name, char *renamed, size_t size)
{
	const char *host = pd_merge_text(source, PD_FEATURE_HOSTNAME);
	const char *end = strchr(name, ']');
	char number[24];

	snprintf(number, sizeof(number), "%zu", source->machine + 1);
	host = host && *host && !strchr(host, ']') ? host : number;
	if (pd_kernel_is_image(name))
		snprintf(renamed, size, "[kernel-%s]", host);
	else if (name[0] == '[' && end)
		snprintf(renamed, size, "%.*s-%s]", (int)(end - name), name, host);
	else
		snprintf(renamed, size, "%s", name);
}
