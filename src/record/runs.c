/* SPDX-License-Identifier: MIT */
/* A command that is recorded several times, or two of them in turn: which comes when, and what the files are called. */
#include <perfdata/recorder.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
	SIDES_MOST = 2
};

struct pd_record_runs {
	size_t count, side_count;
	char *const *sides[SIDES_MOST]; // commands, each ends with NULL
	char **words;                   // of both, with a NULL in place of --vs
	const char **names;             // of the files, those of a round together
	struct pd_arena arena;
};

// ---- commands ----

static enum pd_status fail_vs(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "--vs stands between two commands");
}

static enum pd_status split_command(struct pd_record_runs *runs, char *const *command, struct pd_error *error)
{
	size_t count = 0;

	while (command[count])
		count++;
	runs->words = pd_arena_alloc(&runs->arena, (count + 1) * sizeof(*runs->words));
	if (!runs->words)
		return pd_fail_memory(error);
	memcpy(runs->words, command, (count + 1) * sizeof(*runs->words));
	runs->sides[runs->side_count++] = runs->words;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(command[i], "--vs") != 0)
			continue;
		if (!i || i + 1 == count || runs->side_count == SIDES_MOST)
			return fail_vs(error);
		runs->words[i] = NULL;
		runs->sides[runs->side_count++] = runs->words + i + 1;
	}
	return PD_OK;
}

// ---- names ----

// perf.data: perf-2.data, or perf-a-2.data and perf-b-2.data. Numbers have as many digits as the last one.
static const char *make_name(struct pd_record_runs *runs, const char *path, size_t side, size_t run)
{
	const char *leaf = strrchr(path, '/'), *dot = strrchr(leaf ? leaf : path, '.');
	size_t length = dot && dot > path && dot[-1] != '/' ? (size_t)(dot - path) : strlen(path);
	size_t size = strlen(path) + 32;
	char digits[24], *name = pd_arena_alloc(&runs->arena, size);
	int width = snprintf(digits, sizeof(digits), "%zu", runs->count);

	if (name)
		snprintf(name, size, "%.*s%s-%0*zu%s", (int)length, path,
			 runs->side_count < 2 ? "" :
			 side                 ? "-b" :
						"-a",
			 width, run + 1, path + length);
	return name;
}

static enum pd_status make_names(struct pd_record_runs *runs, const char *path, struct pd_error *error)
{
	runs->names = pd_arena_alloc(&runs->arena, runs->count * runs->side_count * sizeof(*runs->names));
	for (size_t i = 0; runs->names && i < runs->count * runs->side_count; i++) {
		runs->names[i] = make_name(runs, path, i % runs->side_count, i / runs->side_count);
		if (!runs->names[i])
			return pd_fail_memory(error);
	}
	return runs->names ? PD_OK : pd_fail_memory(error);
}

// ---- runs ----

enum pd_status pd_record_runs_new(uint64_t count, const char *path, char *const *command,
				  struct pd_record_runs **runs_out, struct pd_error *error)
{
	struct pd_record_runs *runs;
	enum pd_status status;

	if (!count || count > PD_RECORD_RUNS_MOST)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the number must be between 1 and %d",
			       PD_RECORD_RUNS_MOST);
	runs = pd_alloc(sizeof(*runs));
	if (!runs)
		return pd_fail_memory(error);
	*runs = (struct pd_record_runs){ .count = (size_t)count };
	status = split_command(runs, command, error);
	if (status >= 0)
		status = make_names(runs, path, error);
	if (status < 0)
		pd_record_runs_free(runs);
	else
		*runs_out = runs;
	return status;
}

void pd_record_runs_free(struct pd_record_runs *runs)
{
	if (!runs)
		return;
	pd_arena_fini(&runs->arena);
	pd_free(runs);
}

const char *pd_record_runs_at(const struct pd_record_runs *runs, size_t index, char *const **command_out)
{
	size_t run = index / runs->side_count, side = index % runs->side_count;

	if (run >= runs->count)
		return NULL;
	side = run % 2 ? runs->side_count - 1 - side : side;
	*command_out = runs->sides[side];
	return runs->names[run * runs->side_count + side];
}

static void add_side(const struct pd_record_runs *runs, size_t side, struct pd_text *text)
{
	for (size_t run = 0; run < runs->count; run++)
		pd_text_printf(text, "%s%s", run ? "," : " ", runs->names[run * runs->side_count + side]);
}

void pd_record_runs_text(const struct pd_record_runs *runs, struct pd_text *text)
{
	for (size_t side = 0; side < runs->side_count; side++)
		add_side(runs, side, text);
	if (runs->side_count < 2)
		pd_text_add(text, " NEW[,NEW...]");
}
