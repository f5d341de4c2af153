/* SPDX-License-Identifier: MIT */
/* Two commands change places from round to round, so that a machine that becomes slower is so for both. */
#include "record/runs.h"

#include "front/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RUNS_MOST = 999
};

bool record_runs_take(struct record_runs *runs, uint64_t count, const char *path, char **command)
{
	*runs = (struct record_runs){ .count = (size_t)count, .path = path, .side_count = 1, .sides = { command } };
	if (!count || count > RUNS_MOST)
		return print_error("option --runs: the number must be between 1 and %d", RUNS_MOST);
	if (!path)
		return print_error("--runs writes several files: standard output is only one");
	if (!command || !*command)
		return print_error("--runs needs a COMMAND");
	for (size_t i = 0; command[i]; i++) {
		if (strcmp(command[i], "--vs") != 0)
			continue;
		if (!i || !command[i + 1] || runs->side_count == 2)
			return print_error("--vs stands between two commands");
		command[i] = NULL;
		runs->sides[runs->side_count++] = command + i + 1;
	}
	return true;
}

/* perf.data: perf-2.data, or perf-a-2.data and perf-b-2.data. Numbers have as many digits as the last one. NULL if there is no
 * memory. */
static char *name_of(const struct record_runs *runs, size_t side, size_t run)
{
	const char *leaf = strrchr(runs->path, '/'), *dot = strrchr(leaf ? leaf : runs->path, '.');
	size_t length = dot && dot > runs->path && dot[-1] != '/' ? (size_t)(dot - runs->path) : strlen(runs->path);
	char digits[24], *name;
	int width = snprintf(digits, sizeof(digits), "%zu", runs->count);

	if (asprintf(&name, "%.*s%s-%0*zu%s", (int)length, runs->path,
		     runs->side_count < 2 ? "" :
		     side                 ? "-b" :
					    "-a",
		     width, run + 1, runs->path + length) < 0)
		return NULL;
	return name;
}

static int do_one(struct record_runs *runs, size_t side, size_t run,
		  int (*once)(void *self, const char *path, char *const *command), void *self)
{
	int code = CODE_OUTPUT;

	runs->name = name_of(runs, side, run);
	if (runs->name)
		code = once(self, runs->name, runs->sides[side]);
	else
		print_error("out of memory");
	free(runs->name);
	runs->name = NULL;
	return code;
}

int record_runs_do(struct record_runs *runs, int (*once)(void *self, const char *path, char *const *command),
		   void *self)
{
	int code = CODE_OK;

	for (size_t run = 0; run < runs->count; run++)
		for (size_t i = 0; i < runs->side_count && code == CODE_OK; i++)
			code = do_one(runs, run % 2 ? runs->side_count - 1 - i : i, run, once, self);
	return code;
}

static void print_list(const struct record_runs *runs, size_t side)
{
	for (size_t run = 0; run < runs->count; run++) {
		char *name = name_of(runs, side, run);

		fprintf(stderr, "%s%s", run ? "," : " ", name ? name : "");
		free(name);
	}
}

void record_runs_report(struct record_runs *runs)
{
	if (strpbrk(runs->path, " ,\t\n\"'\\$`&;|<>()*?[]#~!"))
		return;
	fprintf(stderr, "perfdata: next: perfdata diff --per run");
	print_list(runs, 0);
	if (runs->side_count == 2)
		print_list(runs, 1);
	else
		fprintf(stderr, " NEW[,NEW...]");
	fprintf(stderr, "\n");
}
