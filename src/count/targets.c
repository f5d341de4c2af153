/* SPDX-License-Identifier: MIT */
// What is counted, as perf stat takes its options, and as it names it above the counts.
#include <perfdata/stat.h>

#include <string.h>

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
