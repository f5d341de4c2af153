/* SPDX-License-Identifier: MIT */
/*
 * What the period of a sample counts, which depends on its event.
 */
#include <perfdata/profile.h>

#include <string.h>

#include "file/file.h"

// The period of these tracepoints is how long a task ran or waited.
static const char sched_stat[] = "sched:sched_stat_";

static bool counts_time(const struct pd_event *event)
{
	const struct pd_attr *attr = event->attr;

	if (pd_attr_is_clock(attr))
		return true;
	if (attr->type == PD_TYPE_TRACEPOINT)
		return !strncmp(event->name, sched_stat, sizeof(sched_stat) - 1);
	return !strcmp(event->name, "offcpu-time");
}

// With a frequency the kernel changes the period all the time, and what was asked for is not it.
static bool knows_period(const struct pd_attr *attr)
{
	const uint64_t counted = PD_MASK(PD_SAMPLE_TYPE_PERIOD) | PD_MASK(PD_SAMPLE_TYPE_READ);

	return (attr->sample_type & counted) || !PD_BITS(attr->flags, PD_ATTR_FREQ);
}

enum pd_unit pd_event_unit(const struct pd_event *event)
{
	if (!knows_period(event->attr))
		return PD_UNIT_SAMPLES;
	return counts_time(event) ? PD_UNIT_NS : PD_UNIT_EVENTS;
}
