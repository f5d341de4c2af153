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

static bool prints(struct pd_stat_table *table, const struct pd_stat_options *options, const char *wanted)
{
	struct pd_text *text = pd_text_new();
	struct pd_stat_printer printer = {
		.options = options, .text = text, .separator = options->separator, .json = options->json
	};
	bool same;

	if (!text)
		return false;
	pd_stat_print_all(&printer, table);
	same = pd_text_bytes(text).size == strlen(wanted) && !memcmp(pd_text_bytes(text).data, wanted, strlen(wanted));
	if (!same)
		printf("# %.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	pd_stat_printer_fini(&printer);
	pd_text_free(text);
	return same;
}

// Two cores of two CPUs and one of one: an event of whole cores, and one of CPUs.
TEST(whole_cores)
{
	static const int32_t cpus[] = { 0, 1, 2, 3, 4 };
	static const struct pd_stat_options cores = { .separator = "," },
					    threads = { .separator = ",", .percore_show_thread = true };
	static const struct pd_stat_options json = { .json = true };
	struct pd_stat_place items[] = { { .core = 0 }, { .core = 1 }, { .core = 0 }, { .core = 1 }, { .socket = 1 } };
	struct pd_stat_cell cells[10] = { 0 };
	struct pd_stat_event events[] = { { .name = "a", .percore = true, .cells = cells },
					  { .name = "b", .cells = cells + 5 } };
	struct pd_stat_table table = { .events = events,
				       .event_count = 2,
				       .thread_count = 1,
				       .by = PD_STAT_BY_CPU,
				       .runs = 1,
				       .places = { items, 5 } };

	for (size_t i = 0; i < 2; i++) {
		events[i].attr.type = PD_TYPE_RAW;
		events[i].scale = 1;
		events[i].cpus = cpus;
		events[i].cpu_count = 5;
		events[i].supported = true;
	}
	for (size_t i = 0; i < 10; i++)
		for (size_t j = 0; j < 3; j++)
			cells[i].all[j] = j ? 10 : (uint64_t)1 << i % 5;
	pd_stat_table_round(&table, false);
	CHECK(prints(&table, &cores,
		     "S0-D0-C0,5,,a,20,100.00,,\nS0-D0-C1,10,,a,20,100.00,,\nS1-D0-C0,16,,a,10,100.00,,\n"
		     "CPU0,1,,b,10,100.00,,\nCPU1,2,,b,10,100.00,,\nCPU2,4,,b,10,100.00,,\n"
		     "CPU3,8,,b,10,100.00,,\nCPU4,16,,b,10,100.00,,\n"));
	table.event_count = 1;
	CHECK(prints(&table, &threads,
		     "CPU0,5,,a,20,100.00,,\nCPU1,10,,a,20,100.00,,\nCPU2,5,,a,20,100.00,,\n"
		     "CPU3,10,,a,20,100.00,,\nCPU4,16,,a,10,100.00,,\n"));
	table.by = PD_STAT_BY_CPU;
	events[0].cpu_count = 1;
	CHECK(prints(&table, &json,
		     "{\"core\" : \"S0-D0-C0\", \"counter-value\" : \"1.000000\", \"unit\" : \"\", \"event\" : \"a\", "
		     "\"event-runtime\" : 10, \"pcnt-running\" : 100.00, \"metric-value\" : 0.000000, "
		     "\"metric-unit\" : \"(null)\"}\n"));
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

RUN(TEST_CASE(start), TEST_CASE(places_are_read), TEST_CASE(groups), TEST_CASE(whole_cores), TEST_CASE(no_memory),
    TEST_CASE(clean))
