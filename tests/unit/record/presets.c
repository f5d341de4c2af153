/* SPDX-License-Identifier: MIT */
// Which events of memory accesses are recorded, on machines that are made up: what their PMUs have is in folders.
#include <perfdata/events.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../temporary.h"
#include "test.h"

enum {
	FILES = 8
};

static char root[64], made[64][256];
static size_t made_count;

static void make(const char *name, const char *content)
{
	FILE *file;

	snprintf(made[made_count], sizeof(made[0]), "%s%s", root, name);
	if (content) {
		file = fopen(made[made_count], "w");
		if (file) {
			fputs(content, file);
			fclose(file);
		}
	} else {
		mkdir(made[made_count], 0700);
	}
	made_count++;
}

// The folder of devices, with nothing in it.
static bool make_root(void)
{
	name_temporary(root, sizeof(root), "presets");
	if (mkdir(root, 0700) != 0)
		return false;
	make("/bus", NULL);
	make("/bus/event_source", NULL);
	make("/bus/event_source/devices", NULL);
	return true;
}

static void make_pmu(const char *pmu, const char *const files[FILES])
{
	static const char *const folders[] = { "", "/format", "/events" };
	char path[128];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "/bus/event_source/devices/%s%s", pmu, folders[i]);
		make(path, NULL);
	}
	snprintf(path, sizeof(path), "/bus/event_source/devices/%s/type", pmu);
	make(path, "4\n");
	for (size_t i = 0; i < FILES && files[i]; i++) {
		snprintf(path, sizeof(path), "/bus/event_source/devices/%s/%s", pmu, files[i]);
		make(path, strstr(files[i], "ldlat")  ? "config1:0-15\n" :
			   strstr(files[i], "format") ? "config:0-15\n" :
							"event=0xcd\n");
	}
}

static void remove_all(void)
{
	while (made_count)
		remove(made[--made_count]);
	rmdir(root);
}

// Names of the events of a preset on a machine, with the leader's number after those that are in a group; an error's message.
static const char *events_of(const char *pmu, const char *const files[FILES])
{
	static char names[512];
	struct pd_events_options options = { .size = sizeof(options), .sysfs = root, .tracefs = root };
	const struct pd_event_wanted *wanted;
	struct pd_events *events = NULL;
	struct pd_error error = { 0 };
	size_t at = 0;

	names[0] = 0;
	if (!make_root())
		return "no folder";
	make_pmu(pmu, files);
	if (pd_events_new(&options, &events, &error) < 0 ||
	    pd_events_add_preset(events, pd_event_preset_find("mem"), &error) < 0)
		snprintf(names, sizeof(names), "%.60s", error.message);
	for (size_t i = 0; (wanted = pd_events_at(events, i)) != NULL && at < sizeof(names); i++) {
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? " " : "", wanted->name);
		if (wanted->in_group && at < sizeof(names))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "@%zu", wanted->leader);
	}
	pd_events_free(events);
	remove_all();
	return names;
}

#define EVENTS(pmu, ...) events_of(pmu, (const char *const[FILES]){ __VA_ARGS__ })

TEST(presets__loads_have_a_least_latency)
{
	CHECK_STR(EVENTS("cpu", "format/event", "format/ldlat", "events/mem-loads", "events/mem-stores"),
		  "cpu/mem-loads,ldlat=30/P cpu/mem-stores/P");
	CHECK_STR(EVENTS("cpu", "format/event", "format/ldlat", "events/mem-loads"), "cpu/mem-loads,ldlat=30/P");
}

TEST(presets__an_auxiliary_event_leads_loads)
{
	CHECK_STR(EVENTS("cpu", "format/event", "format/ldlat", "events/mem-loads-aux", "events/mem-loads",
			 "events/mem-stores"),
		  "cpu/mem-loads-aux/@0 cpu/mem-loads,ldlat=30/@0 cpu/mem-stores/P");
	CHECK_STR(EVENTS("cpu_core", "format/event", "format/ldlat", "events/mem-loads-aux", "events/mem-loads",
			 "events/mem-stores"),
		  "cpu_core/mem-loads-aux/@0 cpu_core/mem-loads,ldlat=30/@0 cpu_core/mem-stores/P");
}

TEST(presets__without_a_least_latency_all_loads_are_taken)
{
	CHECK_STR(EVENTS("cpu", "format/event", "events/mem-loads", "events/mem-stores"),
		  "cpu/mem-loads/P cpu/mem-stores/P");
}

TEST(presets__other_processors)
{
	CHECK_STR(EVENTS("cpu_atom", "format/event", "format/ldlat", "events/mem-loads", "events/mem-stores"),
		  "cpu_atom/mem-loads,ldlat=30/P cpu_atom/mem-stores/P");
	CHECK_STR(EVENTS("ibs_op", "format/event"), "ibs_op//");
	CHECK_STR(EVENTS("cpu", "format/event"), "this machine has no events of memory accesses (mem-loads, IB");
}

// What is listed of a machine with a PMU and two tracepoints.
static const char *list_of(const char *pmu)
{
	static char names[512];
	struct pd_events_options options = { .size = sizeof(options), .sysfs = root, .tracefs = root, .pmu = pmu };
	struct pd_error error = { 0 };
	struct pd_text *text;

	if (!make_root())
		return "no folder";
	text = pd_text_new();
	make_pmu("uncore_a", (const char *const[FILES]){ "format/event", "events/reads" });
	make("/events", NULL);
	make("/events/sched", NULL);
	make("/events/sched/switch", NULL);
	make("/events/sched/switch/id", "300\n");
	make("/events/sched/wakeup", NULL);
	make("/events/sched/wakeup/id", "7\n");
	make("/events/sched/enable", "0\n");
	if (pd_print_event_list(text, &options, NULL, 0, PD_EVENT_LIST_DETAILS, &error) < 0)
		pd_text_add(text, error.message);
	snprintf(names, sizeof(names), "%.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	pd_text_free(text);
	remove_all();
	return names;
}

TEST(presets__a_list_of_a_pmu_says_how_its_events_are_encoded)
{
	CHECK_STR(list_of("uncore_*"), "  uncore_a/reads/                                    [Kernel PMU event]\n"
				       "        uncore_a/event=0xcd/\n");
	CHECK_STR(list_of("tracepoint"), "  sched:switch                                       [Tracepoint event]\n"
					 "        tracepoint/config=0x12c/\n"
					 "  sched:wakeup                                       [Tracepoint event]\n"
					 "        tracepoint/config=0x7/\n");
	CHECK_STR(list_of("uncore_b"), "no matching event on this machine");
}

RUN(TEST_CASE(presets__loads_have_a_least_latency), TEST_CASE(presets__an_auxiliary_event_leads_loads),
    TEST_CASE(presets__without_a_least_latency_all_loads_are_taken), TEST_CASE(presets__other_processors),
    TEST_CASE(presets__a_list_of_a_pmu_says_how_its_events_are_encoded))
