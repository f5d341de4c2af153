/* SPDX-License-Identifier: MIT */
/*
 * What stands after -e, with PMUs and tracepoints that are made up. The first line is one text, further lines are added to
 * the same list or are filters; a text that fails must leave the list as it was, and name a column inside of it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/events.h>

#include "walk.h"

static char root[] = "/tmp/fuzz-event-XXXXXX";

static const struct {
	const char *path, *content; // NULL: a folder
} files[] = {
	{ "sys", NULL },
	{ "sys/bus", NULL },
	{ "sys/bus/event_source", NULL },
	{ "sys/bus/event_source/devices", NULL },
	{ "sys/bus/event_source/devices/cpu", NULL },
	{ "sys/bus/event_source/devices/cpu/type", "4\n" },
	{ "sys/bus/event_source/devices/cpu/format", NULL },
	{ "sys/bus/event_source/devices/cpu/format/event", "config:0-7,32-35\n" },
	{ "sys/bus/event_source/devices/cpu/format/umask", "config:8-15\n" },
	{ "sys/bus/event_source/devices/cpu/format/ldlat", "config1:0-15\n" },
	{ "sys/bus/event_source/devices/cpu/format/edge", "config:18\n" },
	{ "sys/bus/event_source/devices/cpu/format/bad", "config:70-99,5-2\n" },
	{ "sys/bus/event_source/devices/cpu/events", NULL },
	{ "sys/bus/event_source/devices/cpu/events/cycles", "event=0x3c\n" },
	{ "sys/bus/event_source/devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ "sys/bus/event_source/devices/cpu/events/itself", "itself,event=1\n" },
	{ "sys/bus/event_source/devices/cpu/events/broken", "event=,,=3,zzz\n" },
	{ "sys/bus/event_source/devices/power", NULL },
	{ "sys/bus/event_source/devices/power/type", "12\n" },
	{ "sys/bus/event_source/devices/power/cpumask", "0,8-9\n" },
	{ "sys/bus/event_source/devices/power/format", NULL },
	{ "sys/bus/event_source/devices/power/format/event", "config:0-7\n" },
	{ "sys/bus/event_source/devices/power/events", NULL },
	{ "sys/bus/event_source/devices/power/events/energy-pkg", "event=0x02\n" },
	{ "sys/bus/event_source/devices/power/events/energy-pkg.unit", "Joules\n" },
	{ "sys/bus/event_source/devices/power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n" },
	{ "trace", NULL },
	{ "trace/events", NULL },
	{ "trace/events/sched", NULL },
	{ "trace/events/sched/sched_switch", NULL },
	{ "trace/events/sched/sched_switch/id", "321\n" },
	{ "trace/events/sched/sched_wakeup", NULL },
	{ "trace/events/sched/sched_wakeup/id", "322\n" },
	{ "trace/events/sched/enable", "0\n" },
};

static void take_away(void)
{
	char path[256];

	for (size_t i = sizeof(files) / sizeof(files[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i].path);
		remove(path);
	}
	rmdir(root);
}

static void make_machine(void)
{
	char path[256];

	REQUIRE(mkdtemp(root));
	atexit(take_away);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", root, files[i].path);
		if (!files[i].content) {
			REQUIRE(mkdir(path, 0700) == 0);
			continue;
		}
		file = fopen(path, "w");
		REQUIRE(file && fputs(files[i].content, file) >= 0);
		fclose(file);
	}
}

static void look(const struct pd_events *events)
{
	for (size_t i = 0; i < pd_events_count(events); i++) {
		const struct pd_event_wanted *wanted = pd_events_at(events, i);

		REQUIRE(wanted->name && *wanted->name);
		REQUIRE(wanted->leader <= i && (wanted->leader == i || wanted->in_group));
		REQUIRE(!wanted->system == !wanted->tracepoint);
		REQUIRE(wanted->attr.size == 0);
	}
}

static void add(struct pd_events *events, const char *line)
{
	struct pd_error error = { 0 };
	size_t before = pd_events_count(events);
	enum pd_status status;

	if (*line == '!')
		status = pd_events_filter(events, line + 1, &error);
	else
		status = pd_events_add(events, line, &error);
	if (status < 0) {
		REQUIRE(error.message[0] && memchr(error.message, 0, sizeof(error.message)));
		REQUIRE(pd_events_count(events) == before);
	}
	REQUIRE(pd_events_count(events) >= before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char sysfs[64], tracefs[64];
	const struct pd_events_options options = { .size = sizeof(options), .sysfs = sysfs, .tracefs = tracefs };
	char *text = malloc(size + 1), *rest = text, *line;
	struct pd_events *events;

	REQUIRE(text);
	if (!*sysfs) {
		make_machine();
		snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
		snprintf(tracefs, sizeof(tracefs), "%s/trace", root);
	}
	memcpy(text, data, size);
	text[size] = 0;
	REQUIRE(pd_events_new(&options, &events, NULL) == PD_OK);
	while ((line = strsep(&rest, "\n")) != NULL)
		add(events, line);
	look(events);
	if (pd_events_count(events) && pd_events_group(events, NULL) == PD_OK)
		look(events);
	pd_events_free(events);
	free(text);
	return 0;
}
