/* SPDX-License-Identifier: MIT */
// What is counted, as perf stat takes its options, and as it names it above the counts.
#include <perfdata/stat.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

bool pd_stat_settle_targets(struct pd_targets *targets, bool by_thread)
{
	bool tasks = targets->pids.count || targets->tids.count || targets->by_user;
	bool system_wide;

	if (tasks) {
		targets->all = false;
		targets->cpus = NULL;
	}
	if (targets->pids.count)
		targets->tids = (struct pd_u32s){ 0 };
	if (!tasks && !targets->cpus && !targets->command)
		targets->all = true;
	system_wide = targets->all || targets->cpus;
	targets->per_thread = by_thread || !system_wide;
	if (targets->cpus && !by_thread)
		targets->all = true;
	return targets->command && !system_wide && !tasks;
}

static void add_escaped(struct pd_text *text, const char *words)
{
	pd_text_escaped(text, words, strlen(words));
}

static void add_command(struct pd_text *text, char *const *command)
{
	for (size_t i = 0; command && command[i]; i++) {
		pd_text_add(text, i ? " " : "");
		add_escaped(text, command[i]);
	}
}

void pd_stat_title(const struct pd_targets *targets, bool all, const char *named, struct pd_text *text)
{
	bool cpus = targets->cpus && !(all && targets->all);

	pd_text_add(text, cpus                ? "'CPU(s) " :
			  targets->all        ? "'system wide" :
			  targets->pids.count ? "process id '" :
			  targets->tids.count ? "thread id '" :
			  targets->by_user    ? "user '" :
						"'");
	if (cpus)
		add_escaped(text, targets->cpus);
	else if (!targets->all && (targets->pids.count || targets->tids.count || targets->by_user))
		add_escaped(text, named ? named : "");
	else if (!targets->all)
		add_command(text, targets->command);
	pd_text_add(text, "'");
}

// ---- cgroups ----

// Each name once; returns how many.
static size_t split_names(char *text, const char **names)
{
	size_t count = 0, i;
	const char *name;

	while ((name = strsep(&text, ",")) != NULL) {
		for (i = 0; i < count && strcmp(names[i], name) != 0;)
			i++;
		if (i == count)
			names[count++] = name;
	}
	return count;
}

enum pd_status pd_stat_cgroups_parse(const char *list, size_t event_count, const char ***cgroups_out, size_t *count_out,
				     struct pd_error *error)
{
	size_t most = 1, slots, count;
	const char **cgroups, **names;
	char *text;

	for (const char *c = list; *c; c++)
		most += *c == ',';
	// the names once more, and their texts, stand behind
	if (__builtin_mul_overflow(most, event_count + 1, &slots) || slots > SIZE_MAX / 2 / sizeof(char *))
		return pd_fail_memory(error);
	cgroups = pd_alloc(slots * sizeof(char *) + strlen(list) + 1);
	if (!cgroups)
		return pd_fail_memory(error);
	names = cgroups + most * event_count;
	text = (char *)(cgroups + slots);
	strcpy(text, list);
	count = split_names(text, names);
	for (size_t i = 0; i < count * event_count; i++)
		cgroups[i] = names[i / event_count];
	*cgroups_out = cgroups;
	*count_out = count * event_count;
	return PD_OK;
}

void pd_stat_cgroups_free(const char **cgroups)
{
	pd_free(cgroups);
}
