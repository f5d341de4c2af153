/* SPDX-License-Identifier: MIT */
/* Which CPU is where, out of a folder that is made up: clusters, dies, nodes, and caches that some of the CPUs share. */
#include <perfdata/stat.h>

#include "../failing.h"
#include "../temporary.h"
#include "../test.h"
#include "count/count.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char sysfs[128];

// A file with all folders above it.
static bool put(const char *name, const char *content)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/devices/system/%s", sysfs, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (!file)
		return false;
	fprintf(file, "%s\n", content);
	return fclose(file) == 0;
}

static bool put_cpu(unsigned cpu, const char *name, const char *content)
{
	char path[128];

	snprintf(path, sizeof(path), "cpu/cpu%u/%s", cpu, name);
	return put(path, content);
}

static bool put_cache(unsigned cpu, unsigned index, const char *level, const char *cpus)
{
	char name[64];

	snprintf(name, sizeof(name), "cache/index%u/level", index);
	if (!put_cpu(cpu, name, level))
		return false;
	snprintf(name, sizeof(name), "cache/index%u/shared_cpu_list", index);
	return put_cpu(cpu, name, cpus);
}

// Four CPUs in two clusters; those of the first share a cache of level 2, all one of level 3 but the last, which has none.
TEST(start)
{
	static const char *const clusters[] = { "8", "8", "10", "-1" }, *const second[] = { "0-1", "0-1", "2", "3" };

	name_temporary(sysfs, sizeof(sysfs), "places");
	CHECK(put("cpu/cpufreq/boost", "1") && put("node/node0/cpulist", "0-1,3") && put("node/node5/cpulist", "2"));
	for (unsigned cpu = 0; cpu < 4; cpu++) {
		CHECK(put_cpu(cpu, "topology/cluster_id", clusters[cpu]) &&
		      put_cpu(cpu, "topology/core_id", second[cpu]));
		CHECK(put_cache(cpu, 0, "1", cpu ? cpu == 1 ? "1" : cpu == 2 ? "2" : "3" : "0"));
		CHECK(put_cache(cpu, 1, "2", second[cpu]));
		CHECK(cpu == 3 || put_cache(cpu, 2, "3", "0-2"));
		CHECK(put_cache(cpu, cpu == 3 ? 2 : 3, "9", "0-3"));
	}
}

TEST(places_are_read)
{
	struct pd_stat_places places = { 0 };

	CHECK(pd_stat_places_of_machine(&places, sysfs) && places.count == 4);
	if (places.count != 4)
		return;
	CHECK(places.items[0].cluster == 8);
	CHECK(places.items[2].cluster == 10);
	CHECK(places.items[3].cluster == 0);
	CHECK(places.items[2].node == 5);
	CHECK(places.items[3].node == 0);
	CHECK(places.items[1].caches[0] == 1);
	CHECK(places.items[1].caches[1] == 0);
	CHECK(places.items[2].caches[2] == 0);
	CHECK(places.items[3].caches[2] == -1);
	CHECK(places.items[0].caches[3] == -1);
	pd_stat_places_fini(&places);
	CHECK(pd_stat_places_of_machine(&places, "/nonexistent") && !places.count);
}

// Groups of the last level: the last CPU has one of its own, of another level.
TEST(groups)
{
	static const int32_t cpus[] = { 3, 2, 1, 0, 7 };
	struct pd_stat_event event = { .cpus = cpus, .cpu_count = 5 };
	struct pd_stat_table table = { .events = &event, .event_count = 1, .by = PD_STAT_BY_CACHE };
	static const int wanted[][2] = { { 0, -1 }, { 2, 3 }, { 3, 0 } }, second[] = { -1, 0, 2, 3 };
	struct pd_stat_group *groups;
	size_t count;

	CHECK(pd_stat_places_of_machine(&table.places, sysfs));
	groups = pd_stat_groups(&table, &count);
	CHECK(count == 3);
	for (size_t i = 0; i < count && count == 3; i++) {
		CHECK(groups[i].place.level == wanted[i][0]);
		CHECK(groups[i].place.cache == wanted[i][1]);
	}
	pd_free(groups);
	table.cache_level = 2;
	groups = pd_stat_groups(&table, &count);
	CHECK(count == 4);
	for (size_t i = 0; i < count && count == 4; i++)
		CHECK(groups[i].place.cache == second[i]);
	pd_free(groups);
	table.by = PD_STAT_BY_CLUSTER;
	groups = pd_stat_groups(&table, &count);
	CHECK(count == 3);
	CHECK(count != 3 || (groups[1].place.cluster == 8 && groups[2].place.cluster == 10));
	pd_free(groups);
	pd_stat_places_fini(&table.places);
}

TEST(no_memory)
{
	for (long n = 0; n < 100; n++) {
		struct pd_stat_places places = { 0 };
		bool read;

		left = n;
		has_failed = false;
		read = pd_stat_places_of_machine(&places, sysfs);
		left = -1;
		CHECK(read || has_failed);
		pd_stat_places_fini(&places);
	}
}

TEST(clean)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s", sysfs);
	CHECK(system(command) == 0);
}

RUN(TEST_CASE(start), TEST_CASE(places_are_read), TEST_CASE(groups), TEST_CASE(no_memory), TEST_CASE(clean))
