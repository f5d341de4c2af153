/* SPDX-License-Identifier: MIT */
// What to split by, in the words of users.
#include <perfdata/split.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct unit {
	const char *name;
	double size;
};

// A number with a unit. The first unit is what a bare number has.
static bool parse_amount(const char *text, const struct unit *units, uint64_t *amount_out)
{
	const double max = 9e18;
	char *end;
	double number = strtod(text, &end);

	if (end == text || !(number > 0))
		return false;
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcmp(end, unit->name) != 0 && !(unit == units && !*end))
			continue;
		if (number * unit->size < 1 || number * unit->size > max)
			return false;
		*amount_out = (uint64_t)(number * unit->size + 0.5);
		return true;
	}
	return false;
}

enum pd_status pd_split_parse(const char *text, struct pd_split_options *options, struct pd_error *error)
{
	static const char *const words[] = { "event", "pid", "comm", "cpu", "cgroup" };
	static const struct unit times[] = { { "s", 1e9 },  { "ms", 1e6 },   { "us", 1e3 }, { "ns", 1 },
					     { "m", 60e9 }, { "h", 3600e9 }, { 0 } };
	static const struct unit sizes[] = { { "", 1 },           { "K", 1024 }, { "M", 1048576 },
					     { "G", 1073741824 }, { "k", 1024 }, { 0 } };
	uint64_t amount = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(text, words[i])) {
			options->by = (enum pd_split_by)i;
			return PD_OK;
		}
	}
	if (!strncmp(text, "time=", 5) && parse_amount(text + 5, times, &amount))
		options->by = PD_SPLIT_TIME;
	else if (!strncmp(text, "size=", 5) && parse_amount(text + 5, sizes, &amount))
		options->by = PD_SPLIT_SIZE;
	else
		return pd_fail(
			error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			"'%s' is not event, pid, comm, cpu, cgroup, time=DURATION (like 10s) or size=BYTES (like "
			"64M)",
			text);
	options->amount = amount;
	return PD_OK;
}
