/* SPDX-License-Identifier: MIT */
/* Which CPU is in which core, cluster, die, socket and node, and which share a cache: of this machine, or as a file says it. */
#include "count/count.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_CPUS = 1 << 16,
	MOST_NAMED =
		16 * MOST_CPUS // CPUs in all lists of a file: each is in one node, and in a cache or two of each level
};

static bool reserve_places(struct pd_stat_places *places, size_t count)
{
	struct pd_stat_place *items;

	if (count <= places->count || count > MOST_CPUS)
		return count <= MOST_CPUS;
	items = pd_realloc(places->items, count * sizeof(*items));
	if (!items)
		return false;
	for (size_t i = places->count; i < count; i++)
		items[i] = (struct pd_stat_place){ .node = -1, .caches = { -1, -1, -1, -1 } };
	places->items = items;
	places->count = count;
	return true;
}

void pd_stat_places_fini(struct pd_stat_places *places)
{
	pd_free(places->items);
	*places = (struct pd_stat_places){ 0 };
}

static unsigned long read_cpu(const char **at, const char *end)
{
	unsigned long cpu = 0;

	for (; *at < end && isdigit((unsigned char)**at) && cpu < MOST_CPUS; ++*at)
		cpu = cpu * 10 + (unsigned long)(**at - '0');
	return cpu;
}

/* Gives the CPUs of a list ("0-3,8") a node or, with a level, the cache of it that they share, which is named by the first of them.
 * What is no list says nothing, nor what names more CPUs than there may be. */
static bool set_shared(struct pd_stat_places *places, const char *list, size_t length, unsigned level, int node)
{
	const char *at = list, *end = list + length;
	const int named = level ? (int)read_cpu(&list, end) : node;

	while (at < end && isdigit((unsigned char)*at)) {
		unsigned long first = read_cpu(&at, end), last = first;

		if (at < end && *at == '-') {
			at++;
			last = read_cpu(&at, end);
		}
		if (first > last || last >= MOST_CPUS || last - first >= places->unnamed)
			return true;
		if (!reserve_places(places, last + 1))
			return false;
		places->unnamed -= last - first + 1;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			*(level ? &places->items[cpu].caches[level - 1] : &places->items[cpu].node) = named;
		at += at < end && *at == ',';
	}
	return true;
}

/* ---- this machine ---- */

static bool read_line(const char *path, char *line, size_t capacity)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, (int)capacity, file);

	if (file)
		fclose(file);
	return got;
}

/* What is known of a CPU in a file of its own; 0 if there is none. */
static int read_number(const char *cpus, size_t cpu, const char *name)
{
	char path[512], line[32];

	snprintf(path, sizeof(path), "%s/cpu%zu/%s", cpus, cpu, name);
	return read_line(path, line, sizeof(line)) ? (int)strtol(line, NULL, 10) : 0;
}

/* Each CPU has the same number of caches, each in a folder. */
static bool read_caches(struct pd_stat_places *places, const char *cpus, size_t cpu)
{
	char name[64], path[512], list[4096];
	bool ok = true, found = true;

	for (unsigned i = 0; ok && found; i++) {
		int level;

		snprintf(name, sizeof(name), "cache/index%u/level", i);
		level = read_number(cpus, cpu, name);
		snprintf(path, sizeof(path), "%s/cpu%zu/cache/index%u/shared_cpu_list", cpus, cpu, i);
		found = read_line(path, list, sizeof(list));
		if (found && level > 0 && level <= PD_STAT_CACHE_LEVELS)
			ok = set_shared(places, list, strcspn(list, "\n"), (unsigned)level, 0);
	}
	return ok;
}

static bool read_nodes(struct pd_stat_places *places, const char *sysfs)
{
	char nodes[256];
	struct dirent *entry;
	bool ok = true;
	DIR *dir;

	snprintf(nodes, sizeof(nodes), "%s/devices/system/node", sysfs);
	dir = opendir(nodes);
	while (dir && ok && (entry = readdir(dir)) != NULL) {
		char path[768], line[4096];

		if (strncmp(entry->d_name, "node", 4) != 0 || !isdigit((unsigned char)entry->d_name[4]))
			continue;
		snprintf(path, sizeof(path), "%s/%s/cpulist", nodes, entry->d_name);
		if (read_line(path, line, sizeof(line)))
			ok = set_shared(places, line, strcspn(line, "\n"), 0, (int)strtol(entry->d_name + 4, NULL, 10));
	}
	if (dir)
		closedir(dir);
	return ok;
}

/* -1 is what a kernel says that does not know. */
static int known(int number)
{
	return number < 0 ? 0 : number;
}

static bool read_cpu_places(struct pd_stat_places *places, const char *cpus, size_t cpu)
{
	if (!reserve_places(places, cpu + 1))
		return false;
	places->items[cpu].socket = known(read_number(cpus, cpu, "topology/physical_package_id"));
	places->items[cpu].die = known(read_number(cpus, cpu, "topology/die_id"));
	places->items[cpu].cluster = known(read_number(cpus, cpu, "topology/cluster_id"));
	places->items[cpu].core = known(read_number(cpus, cpu, "topology/core_id"));
	return read_caches(places, cpus, cpu);
}

bool pd_stat_places_of_machine(struct pd_stat_places *places, const char *sysfs)
{
	char cpus[256];
	struct dirent *entry;
	bool ok = true;
	DIR *dir;

	places->unnamed = SIZE_MAX;
	snprintf(cpus, sizeof(cpus), "%s/devices/system/cpu", sysfs);
	dir = opendir(cpus);
	while (dir && ok && (entry = readdir(dir)) != NULL)
		if (!strncmp(entry->d_name, "cpu", 3) && isdigit((unsigned char)entry->d_name[3]))
			ok = read_cpu_places(places, cpus, strtoul(entry->d_name + 3, NULL, 10));
	if (dir)
		closedir(dir);
	return ok && read_nodes(places, sysfs);
}

/* ---- a file ---- */

static bool take_cores(struct pd_stat_places *places, const struct pd_cpu_topology *topology)
{
	if (!reserve_places(places, topology->places.count))
		return false;
	for (size_t i = 0; i < topology->places.count; i++) {
		const struct pd_cpu_place *place = PD_ITEM(pd_cpu_place, topology->places, i);

		places->items[i].core = known((int)place->core_id);
		places->items[i].socket = known((int)place->package_id);
		if (i < topology->die_ids.count)
			places->items[i].die = known((int)topology->die_ids.items[i]);
	}
	return true;
}

bool pd_stat_places_of_file(struct pd_stat_places *places, struct pd_file *file)
{
	const struct pd_cpu_topology *cores = pd_file_cpu_topology(file);
	const struct pd_numa_topology *nodes = pd_file_numa_topology(file);
	const struct pd_cache *caches = pd_file_cache(file);
	bool ok = !cores || take_cores(places, cores);

	places->unnamed = MOST_NAMED;
	/* of several that hold a CPU, as perf has it, the last in the file counts */
	for (size_t i = 0; caches && i < caches->levels.count && ok; i++) {
		const struct pd_cache_level *cache = PD_ITEM(pd_cache_level, caches->levels, i);

		if (cache->level && cache->level <= PD_STAT_CACHE_LEVELS)
			ok = set_shared(places, cache->map.data, cache->map.length, cache->level, 0);
	}

	for (size_t i = 0; nodes && i < nodes->nodes.count && ok; i++) {
		const struct pd_numa_node *node = PD_ITEM(pd_numa_node, nodes->nodes, i);

		ok = set_shared(places, node->cpus.data, node->cpus.length, 0, (int)node->node);
	}
	return ok;
}
