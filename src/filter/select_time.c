/* SPDX-License-Identifier: MIT */
/*
 * The argument of --time. Ranges are parted by blanks, their ends by a comma:
 *
 *	START,STOP  START,  ,STOP      seconds of the file's clock with a fraction, as script shows them
 *	10%/2  0%-10%  10%             parts of the whole time: the second tenth, the first, the first
 *	2024-05-01 12:00:00,12:00:05   wall clock; a date, a time of day, or both; T may part them, Z is UTC
 *	1234  1234.5  12:00            as long as it is exact: that second, that tenth of one, that minute
 *
 * Wall clocks are those of the reader's time zone. They need the feature CLOCK_DATA, which perfdata record and perf record -k
 * writes. A time of day without a date is that of the first sample's day, or of the next one if the recording went
 * past midnight and only so reaches it.
 */
#include "filter/select.h"

#include "base/error.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

enum {
	DAY_S = 24 * 60 * 60
};

/* ---- as typed ---- */

/* Exactly so many digits. */
static bool take_digits(const char **at, size_t digits, int *value_out)
{
	int value = 0;

	for (size_t i = 0; i < digits; i++, (*at)++) {
		if (!isdigit((unsigned char)**at))
			return false;
		value = value * 10 + (**at - '0');
	}
	*value_out = value;
	return true;
}

/* What stands after a point; the tenth digit and others count for nothing. *unit_out is what the last digit is
 * worth. */
static uint64_t take_fraction(const char **at, uint64_t *unit_out)
{
	uint64_t ns = 0, scale = NS_PER_S;

	if (**at == '.') {
		for ((*at)++; isdigit((unsigned char)**at); (*at)++) {
			scale /= 10;
			ns += scale * (uint64_t)(**at - '0');
		}
	}
	*unit_out = scale ? scale : 1;
	return ns;
}

static bool take_seconds(const char **at, struct pd_time_limit *limit)
{
	uint64_t seconds = 0;
	const char *from = *at;

	while (isdigit((unsigned char)**at) && seconds < UINT64_MAX / NS_PER_S / 10)
		seconds = seconds * 10 + (uint64_t)(*(*at)++ - '0');
	limit->kind = PD_LIMIT_CLOCK;
	limit->ns = seconds * NS_PER_S + take_fraction(at, &limit->unit_ns);
	return *at > from;
}

/* 12:30, 12:30:01 or 12:30:01.5 */
static bool take_clock(const char **at, struct pd_time_limit *limit)
{
	int hour, minute, second = 0;

	if (!take_digits(at, isdigit((unsigned char)(*at)[1]) ? 2 : 1, &hour) || *(*at)++ != ':' ||
	    !take_digits(at, 2, &minute) || hour > 24 || minute > 59)
		return false;
	limit->unit_ns = 60 * NS_PER_S;
	limit->ns = 0;
	if (**at == ':') {
		(*at)++;
		if (!take_digits(at, 2, &second) || second > 60)
			return false;
		limit->ns = take_fraction(at, &limit->unit_ns);
	}
	limit->ns += (uint64_t)((hour * 60 + minute) * 60 + second) * NS_PER_S;
	return true;
}

static bool take_utc(const char **at)
{
	bool utc = **at == 'Z';

	*at += utc;
	return utc;
}

static bool take_date(const char **at, struct pd_time_limit *limit)
{
	struct tm day = { .tm_isdst = -1 };
	time_t start;

	if (!take_digits(at, 4, &day.tm_year) || *(*at)++ != '-' || !take_digits(at, 2, &day.tm_mon) ||
	    *(*at)++ != '-' || !take_digits(at, 2, &day.tm_mday) || day.tm_year < 1971 || day.tm_mon < 1 ||
	    day.tm_mon > 12 || day.tm_mday < 1 || day.tm_mday > 31)
		return false;
	day.tm_year -= 1900;
	day.tm_mon--;
	limit->unit_ns = DAY_S * NS_PER_S;
	if (**at == 'T' || (**at == ' ' && isdigit((unsigned char)(*at)[1]) && memchr(*at + 2, ':', 2))) {
		(*at)++;
		if (!take_clock(at, limit))
			return false;
	}
	/* The hour goes through the calendar: days with a change of the clocks are not 24 hours long. */
	day.tm_sec = (int)(limit->ns / NS_PER_S);
	day.tm_hour = day.tm_sec / 3600;
	day.tm_min = day.tm_sec / 60 % 60;
	day.tm_sec %= 60;
	start = take_utc(at) ? timegm(&day) : mktime(&day);
	if (start < 0)
		return false;
	limit->kind = PD_LIMIT_WALL;
	limit->ns = (uint64_t)start * NS_PER_S + limit->ns % NS_PER_S;
	return true;
}

static bool take_limit(const char **at, struct pd_time_limit *limit)
{
	size_t digits = strspn(*at, "0123456789");

	if (digits == 4 && (*at)[4] == '-')
		return take_date(at, limit);
	if ((*at)[digits] != ':' || !digits || digits > 2)
		return take_seconds(at, limit);
	limit->kind = PD_LIMIT_OF_DAY;
	if (!take_clock(at, limit))
		return false;
	limit->utc = take_utc(at);
	return true;
}

/* "1, 2" is one range, "1, 2,3" are two. */
static void skip_blank(const char **at)
{
	size_t length = **at == ' ' ? strcspn(*at + 1, " ") : 0;

	if (length && !memchr(*at + 1, ',', length))
		(*at)++;
}

static bool take_range(const char **at, struct pd_time_limit limits[2])
{
	if (**at != ',' && !take_limit(at, &limits[0]))
		return false;
	if (**at != ',') {
		limits[1] = limits[0];
		limits[1].ns += limits[0].unit_ns - 1;
	} else {
		(*at)++;
		skip_blank(at);
		if (**at != 0 && **at != ' ' && !take_limit(at, &limits[1]))
			return false;
	}
	if (limits[1].kind == limits[0].kind && limits[0].kind != PD_LIMIT_OF_DAY && limits[1].ns &&
	    limits[0].ns > limits[1].ns)
		return false;
	return **at == 0 || **at == ' ';
}

static bool take_percent(const char **at, double *value_out)
{
	char *rest;

	/* Not a sign, not a name of infinity. */
	if (!isdigit((unsigned char)**at) && **at != '.')
		return false;
	*value_out = strtod(*at, &rest) / 100;
	*at = rest;
	return *(*at)++ == '%';
}

static bool take_part(const char **at, struct pd_time_limit limits[2])
{
	double first, last;
	char *rest;

	if (!take_percent(at, &first))
		return false;
	if (**at == '/') {
		unsigned long number = strtoul(*at + 1, &rest, 10);

		if (!isdigit((unsigned char)(*at)[1]) || !number)
			return false;
		*at = rest;
		last = first * (double)number;
		first *= (double)(number - 1);
	} else if (**at == '-') {
		(*at)++;
		if (!take_percent(at, &last))
			return false;
	} else {
		last = first;
		first = 0;
	}
	limits[0] = (struct pd_time_limit){ .kind = PD_LIMIT_PART, .part = first };
	limits[1] = (struct pd_time_limit){ .kind = PD_LIMIT_PART, .part = last };
	return first <= last && last <= 1 && strchr(", ", **at);
}

static enum pd_status fail_wrong(const char *argument, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "option --time: invalid time range '%s'", argument);
}

enum pd_status pd_select_times(struct pd_select *select, const char *argument, struct pd_error *error)
{
	bool parts = strchr(argument, '%') != NULL;
	const char *at = argument;

	while (*at) {
		struct pd_time_limit *limits = select->limits[select->range_count % PD_SELECT_RANGES];

		if (*at == ' ' || (parts && *at == ',')) {
			at++;
			continue;
		}
		if (select->range_count == PD_SELECT_RANGES)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "option --time: too many ranges (at most %d)", PD_SELECT_RANGES);
		if (!(parts ? take_part : take_range)(&at, limits))
			return fail_wrong(argument, error);
		/* Seconds of the file's clock need no file. */
		select->ranges[select->range_count++] = (struct pd_time_range){ limits[0].ns, limits[1].ns };
	}
	return select->range_count ? PD_OK : fail_wrong(argument, error);
}

/* ---- in the time of the file ---- */

struct clocks {
	struct pd_window window;
	const struct pd_clock_data *wall; /* or NULL */
};

static uint64_t from_wall(const struct clocks *clocks, uint64_t wall_ns)
{
	uint64_t away = wall_ns - clocks->wall->wall_clock_ns;
	uint64_t ns = away + clocks->wall->clockid_time_ns;

	/* What was before the file's clock began is as good as its first moment. 0 would be an open end. */
	if (wall_ns < clocks->wall->wall_clock_ns && (ns > clocks->wall->clockid_time_ns || !ns))
		return 1;
	return ns;
}

/* A time of day some days after the first sample's. */
static uint64_t on_day(const struct clocks *clocks, const struct pd_time_limit *limit, int days)
{
	uint64_t first_wall = clocks->window.first_ns - clocks->wall->clockid_time_ns + clocks->wall->wall_clock_ns;
	time_t first = (time_t)(first_wall / NS_PER_S), found;
	uint64_t seconds = limit->ns / NS_PER_S;
	struct tm day = { 0 };

	if (limit->utc)
		gmtime_r(&first, &day);
	else
		localtime_r(&first, &day);
	day.tm_mday += days;
	day.tm_hour = (int)(seconds / 3600);
	day.tm_min = (int)(seconds / 60 % 60);
	day.tm_sec = (int)(seconds % 60);
	day.tm_isdst = -1;
	found = limit->utc ? timegm(&day) : mktime(&day);
	return from_wall(clocks, (uint64_t)found * NS_PER_S + limit->ns % NS_PER_S);
}

static uint64_t of_day(const struct clocks *clocks, const struct pd_time_limit *limit)
{
	uint64_t ns = on_day(clocks, limit, 0), next = on_day(clocks, limit, 1);

	return ns < clocks->window.first_ns && next <= clocks->window.last_ns ? next : ns;
}

static uint64_t resolve_limit(const struct clocks *clocks, const struct pd_time_limit *limit)
{
	double total = (double)(clocks->window.last_ns - clocks->window.first_ns);

	switch (limit->kind) {
	case PD_LIMIT_OPEN:
		return 0;
	case PD_LIMIT_CLOCK:
		return limit->ns;
	case PD_LIMIT_WALL:
		return from_wall(clocks, limit->ns);
	case PD_LIMIT_OF_DAY:
		return of_day(clocks, limit);
	case PD_LIMIT_PART:
		return clocks->window.first_ns + (uint64_t)(limit->part * total + 0.5);
	}
	return 0;
}

/* No time is in it. */
static const struct pd_time_range nothing = { UINT64_MAX, UINT64_MAX - 1 };

static struct pd_time_range resolve_range(const struct clocks *clocks, const struct pd_time_limit limits[2])
{
	struct pd_time_range range = { resolve_limit(clocks, &limits[0]), resolve_limit(clocks, &limits[1]) };

	/* The end of a part is the start of the next one, also where parts are shorter than the clock ticks: there perf has
	 * samples in several. Only the last part has its end. */
	if (limits[1].kind == PD_LIMIT_PART && limits[1].part < 1) {
		if (range.end <= range.start)
			return nothing;
		range.end--;
	}
	if (limits[1].kind == PD_LIMIT_OF_DAY && range.end < range.start)
		range.end += DAY_S * NS_PER_S;
	return range;
}

static bool wants(const struct pd_select *select, unsigned kinds)
{
	for (size_t i = 0; i < select->range_count; i++) {
		if (kinds >> select->limits[i][0].kind & 1 || kinds >> select->limits[i][1].kind & 1)
			return true;
	}
	return false;
}

enum {
	WALLS = 1 << PD_LIMIT_WALL | 1 << PD_LIMIT_OF_DAY,
	ENDS = 1 << PD_LIMIT_PART | 1 << PD_LIMIT_OF_DAY
};

bool pd_select_waits(const struct pd_select *select)
{
	return wants(select, WALLS | ENDS);
}

const struct pd_sample_time *pd_select_noted_time(struct pd_file *file)
{
	const struct pd_sample_time *noted = pd_file_sample_time(file);

	/* if no sample has a time, perf may note the largest number twice */
	return noted && noted->last_ns && noted->last_ns != PD_NO_TIME && noted->first_ns <= noted->last_ns ? noted :
													      NULL;
}

enum pd_status pd_select_resolve_times(struct pd_select *select, struct pd_file *file, const struct pd_window *window,
				       struct pd_error *error)
{
	struct clocks clocks = { .window = *window };

	if (wants(select, WALLS)) {
		clocks.wall = pd_file_clock_data(file);
		if (!clocks.wall || !clocks.wall->wall_clock_ns)
			return pd_fail(
				error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				"option --time: no wall-clock time in the file (record with -k CLOCK_MONOTONIC)");
	}
	if (wants(select, ENDS)) {
		/* perf takes parts of what the recorder noted. */
		const struct pd_sample_time *noted = pd_select_noted_time(file);

		if (noted) {
			clocks.window.first_ns = noted->first_ns;
			clocks.window.last_ns = noted->last_ns;
		}
		if (!clocks.window.last_ns)
			return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				       "option --time: samples have no timestamps, so there are no parts of the time");
	}
	for (size_t i = 0; i < select->range_count; i++)
		select->ranges[i] = resolve_range(&clocks, select->limits[i]);
	return PD_OK;
}

/* As perf does it: one range takes samples without a time, which it has as 0 or as the end of all time. */
bool pd_select_has_time(const struct pd_select *select, uint64_t time_ns)
{
	if (!select->range_count || (select->range_count == 1 && !time_ns))
		return true;
	for (size_t i = 0; i < select->range_count; i++) {
		const struct pd_time_range *range = &select->ranges[i];

		if (time_ns >= range->start && (!range->end || time_ns <= range->end))
			return true;
	}
	return false;
}
