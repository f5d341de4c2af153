/* SPDX-License-Identifier: MIT */
/*
 * Parses and applies the options that select samples. Times are seconds with a fraction, or parts
 * of the whole time: 10%/2 is the second tenth, 0%-10% the first.
 */
#include "script_select.h"

#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* Seconds with up to nine digits behind the point; false if it is something else. */
static bool parse_seconds(const char *text, size_t length, uint64_t *ns_out)
{
	uint64_t seconds = 0, ns = 0, scale = NS_PER_S;
	size_t at = 0;

	while (at < length && isdigit((unsigned char)text[at]) && seconds < UINT64_MAX / NS_PER_S / 10)
		seconds = seconds * 10 + (uint64_t)(text[at++] - '0');
	if (at < length && text[at] == '.') {
		for (at++; at < length && isdigit((unsigned char)text[at]); at++) {
			scale /= 10;
			ns += scale * (uint64_t)(text[at] - '0');
		}
	}
	*ns_out = seconds * NS_PER_S + ns;
	return at == length;
}

static bool parse_range(struct select *select, const char *text, size_t length)
{
	const char *comma = memchr(text, ',', length);
	size_t first = comma ? (size_t)(comma - text) : length;
	struct time_range *range = &select->ranges[select->range_count++];

	*range = (struct time_range){ 0 };
	if (!parse_seconds(text, first, &range->start) ||
	    (comma && !parse_seconds(comma + 1, length - first - 1, &range->end)))
		return false;
	return !range->end || range->start <= range->end;
}

static bool parse_part(struct select *select, const char *text, size_t length)
{
	char *rest;
	double a = strtod(text, &rest), b;
	double *part = select->parts[select->part_count++];

	if (*rest++ != '%' || a < 0)
		return false;
	if (*rest == '/') {
		b = strtod(rest + 1, &rest);
		part[0] = a * (b - 1) / 100;
		part[1] = a * b / 100;
	} else if (*rest == '-') {
		b = strtod(rest + 1, &rest);
		part[0] = a / 100;
		part[1] = b / 100;
		rest += *rest == '%';
	} else {
		part[0] = 0;
		part[1] = a / 100;
	}
	return rest == text + length && part[0] >= 0 && part[0] <= part[1] && part[1] <= 1;
}

bool select_times(struct select *select, const char *argument)
{
	const char *ends = strchr(argument, '%') ? ", " : " ";
	const char *at = argument;

	while (*at) {
		size_t length = strcspn(at, ends);

		if (length && (select->range_count == RANGES_MOST || select->part_count == RANGES_MOST ||
			       !(strchr(argument, '%') ? parse_part : parse_range)(select, at, length))) {
			complain("option --time: '%s' is no time", argument);
			return false;
		}
		at += length;
		at += *at != 0;
	}
	return true;
}

bool select_cpus(struct select *select, const char *argument)
{
	const char *at = argument;

	select->by_cpu = true;
	while (*at) {
		char *rest;
		unsigned long first = strtoul(at, &rest, 10), last = first;

		if (rest == at)
			break;
		if (*rest == '-') {
			at = rest + 1;
			last = strtoul(at, &rest, 10);
			if (rest == at)
				break;
		}
		if (last < first || last >= CPU_WORDS * 64)
			break;
		for (; first <= last; first++)
			select->cpus[first / 64] |= UINT64_C(1) << first % 64;
		at = rest;
		if (*at != ',')
			break;
		at++;
	}
	if (!*at)
		return true;
	complain("option --cpu: '%s' is no list of CPUs", argument);
	return false;
}

bool select_numbers(const char *option, const char *list)
{
	if (!list || list[strspn(list, "0123456789,")] == 0)
		return true;
	complain("option --%s: '%s' is no list of numbers", option, list);
	return false;
}

void select_resolve(struct select *select, uint64_t first_ns, uint64_t last_ns)
{
	double total = (double)(last_ns - first_ns);

	for (size_t i = 0; i < select->part_count; i++) {
		struct time_range *range = &select->ranges[i];

		range->start = first_ns + (uint64_t)(select->parts[i][0] * total + 0.5);
		range->end = first_ns + (uint64_t)(select->parts[i][1] * total + 0.5);
		/* The end of a part is the start of the next one. */
		if (range->end > range->start && range->end != last_ns)
			range->end--;
	}
	if (select->part_count)
		select->range_count = select->part_count;
}

bool select_has_time(const struct select *select, uint64_t time_ns)
{
	if (!select->range_count || !time_ns)
		return true;
	for (size_t i = 0; i < select->range_count; i++) {
		const struct time_range *range = &select->ranges[i];

		if ((!range->start || time_ns >= range->start) && (!range->end || time_ns <= range->end))
			return true;
	}
	return false;
}

bool select_has_cpu(const struct select *select, uint32_t cpu)
{
	if (!select->by_cpu || cpu == UINT32_MAX)
		return true;
	return cpu < CPU_WORDS * 64 && (select->cpus[cpu / 64] >> cpu % 64 & 1);
}

static bool has_number(const char *list, uint32_t number)
{
	while (*list) {
		char *rest;

		if (strtoul(list, &rest, 10) == number && rest != list)
			return true;
		list = rest + (*rest == ',');
	}
	return false;
}

static bool has_name(const char *list, const char *name)
{
	size_t own = strlen(name);

	while (*list) {
		size_t length = strcspn(list, ",");

		if (length == own && !memcmp(list, name, length))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

bool select_has_thread(const struct select *select, uint32_t pid, uint32_t tid, const char *comm)
{
	return (!select->comms || has_name(select->comms, comm)) &&
	       (!select->pids || has_number(select->pids, pid)) &&
	       (!select->tids || has_number(select->tids, tid));
}
