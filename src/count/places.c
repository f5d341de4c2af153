/* SPDX-License-Identifier: MIT */
/* Which CPU is in which core, die, socket and node: of this machine, or as a file says it. */
#include "count/count.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_CPUS = 1 << 16
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
		items[i] = (struct pd_stat_place){ .node = -1 };
	places->items = items;
	places->count = count;
	return true;
}

void pd_stat_places_fini(struct pd_stat_places *places)
{
	pd_free(places->items);
	*places = (struct pd_stat_places){ 0 };
}

/* Gives the CPUs of a list ("0-3,8") a node. What is no list says nothing. */
static bool set_node(struct pd_stat_places *places, const char *list, size_t length, int node)
{
	const char *at = list, *end = list + length;

	while (at < end && isdigit((unsigned char)*at)) {
		unsigned long first = 0, last;

		for (; at < end && isdigit((unsigned char)*at) && first < MOST_CPUS; at++)
			first = first * 10 + (unsigned long)(*at - '0');
		last = first;
		if (at < end && *at == '-')
			for (at++, last = 0; at < end && isdigit((unsigned char)*at) && last < MOST_CPUS; at++)
				last = last * 10 + (unsigned long)(*at - '0');
		if (first > last || !reserve_places(places, last + 1))
			return first <= last && last >= MOST_CPUS;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			places->items[cpu].node = node;
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

static int read_number(size_t cpu, const char *name)
{
	char path[128], line[32];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/topology/%s", cpu, name);
	return read_line(path, line, sizeof(line)) ? (int)strtol(line, NULL, 10) : 0;
}

static bool read_nodes(struct pd_stat_places *places)
{
	DIR *dir = opendir("/sys/devices/system/node");
	struct dirent *entry;
	bool ok = true;

	while (dir && ok && (entry = readdir(dir)) != NULL) {
		char path[512], line[4096];

		if (strncmp(entry->d_name, "node", 4) != 0 || !isdigit((unsigned char)entry->d_name[4]))
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/node/%s/cpulist", entry->d_name);
		if (read_line(path, line, sizeof(line)))
			ok = set_node(places, line, strcspn(line, "\n"), (int)strtol(entry->d_name + 4, NULL, 10));
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

bool pd_stat_places_of_machine(struct pd_stat_places *places)
{
	DIR *dir = opendir("/sys/devices/system/cpu");
	struct dirent *entry;
	bool ok = true;

	while (dir && ok && (entry = readdir(dir)) != NULL) {
		size_t cpu;

		if (strncmp(entry->d_name, "cpu", 3) != 0 || !isdigit((unsigned char)entry->d_name[3]))
			continue;
		cpu = strtoul(entry->d_name + 3, NULL, 10);
		ok = reserve_places(places, cpu + 1);
		if (!ok)
			break;
		places->items[cpu].socket = known(read_number(cpu, "physical_package_id"));
		places->items[cpu].die = known(read_number(cpu, "die_id"));
		places->items[cpu].core = known(read_number(cpu, "core_id"));
	}
	if (dir)
		closedir(dir);
	return ok && read_nodes(places);
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
	bool ok = !cores || take_cores(places, cores);

	for (size_t i = 0; nodes && i < nodes->nodes.count && ok; i++) {
		const struct pd_numa_node *node = PD_ITEM(pd_numa_node, nodes->nodes, i);

		ok = set_node(places, node->cpus.data, node->cpus.length, (int)node->node);
	}
	return ok;
}
