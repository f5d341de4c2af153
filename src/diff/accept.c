/* SPDX-License-Identifier: MIT */
/* Changes that are known and wanted: a list of rows, for conditions on changes. */
#include "diff/gate.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
	ACCEPTED_MOST = 10000,
	LINE_BYTES = 4096
};

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* Cuts off "<= 12%" at the end. False if what follows the sign is no number. */
static bool take_limit(char *line, double *limit_out)
{
	char *sign = strstr(line, " <= "), *end;

	*limit_out = INFINITY;
	if (!sign)
		return true;
	*limit_out = strtod(sign + 4, &end);
	if (end == sign + 4 || !isfinite(*limit_out))
		return false;
	if (*end == '%')
		end++;
	*sign = '\0';
	return !*end;
}

static enum pd_status take_line(struct pd_diff_gate *gate, const char *path, size_t number, char *line,
				struct pd_error *error)
{
	struct accepted accepted = { 0 };
	char *text = trim(line);

	if (!*text || *text == '#')
		return PD_OK;
	if (!take_limit(text, &accepted.limit))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: line %zu: not a number of percent", path,
			       number);
	text = trim(text);
	if (gate->accepted_count == ACCEPTED_MOST)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: too many lines", path);
	accepted.pattern = pd_arena_text(&gate->texts, text, strlen(text));
	if (!accepted.pattern || !PD_GROW(gate->accepted, gate->accepted_capacity, gate->accepted_count + 1))
		return pd_diff_no_memory(error);
	gate->accepted[gate->accepted_count++] = accepted;
	return PD_OK;
}

enum pd_status pd_diff_gate_accept(struct pd_diff_gate *gate, const char *path, struct pd_error *error)
{
	FILE *stream = fopen(path, "re");
	enum pd_status status = PD_OK;
	char line[LINE_BYTES];

	if (!stream)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
	for (size_t number = 1; status == PD_OK && fgets(line, sizeof(line), stream); number++) {
		if (strlen(line) == sizeof(line) - 1)
			status =
				pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: line %zu: too long", path, number);
		else
			status = take_line(gate, path, number, line, error);
	}
	fclose(stream);
	return status;
}

/* A function stands behind "[.] ". */
static bool matches(const char *pattern, const char *cell)
{
	bool level = cell[0] == '[' && cell[1] && cell[2] == ']' && cell[3] == ' ';

	return fnmatch(pattern, cell, 0) == 0 || (level && fnmatch(pattern, cell + 4, 0) == 0);
}

bool pd_diff_is_accepted(const struct pd_diff_gate *gate, const struct pd_diff *diff, size_t event, size_t row,
			 const struct pd_diff_change *change)
{
	double growth = change->old_share > 0 ? 100 * change->change / change->old_share : INFINITY;
	const char *cell;

	for (size_t i = 0; i < gate->accepted_count; i++) {
		if (growth > gate->accepted[i].limit)
			continue;
		for (size_t key = 0; (cell = pd_diff_cell(diff, event, row, key)) != NULL; key++)
			if (matches(gate->accepted[i].pattern, cell))
				return true;
	}
	return false;
}
