/* SPDX-License-Identifier: MIT */
#include "files/perf_scripts.h"

#include "options/options.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *perf_scripts_folder(void)
{
	static char home[PATH_MAX];
	const char *folders[] = { getenv("PERF_EXEC_PATH"), "/usr/libexec/perf-core", "/usr/lib/perf-core", home };
	char path[PATH_MAX];

	snprintf(home, sizeof(home), "%s/libexec/perf-core", getenv("HOME") ? getenv("HOME") : "");
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i])
			continue;
		snprintf(path, sizeof(path), "%s/scripts", folders[i]);
		if (access(path, X_OK) == 0)
			return folders[i];
	}
	return NULL;
}

static bool is_perf_script(const char *name)
{
	static const char *const forms[] = { "python/bin/%s-record", "python/bin/%s-report", "perl/bin/%s-record",
					     "perl/bin/%s-report" };
	const char *folder = perf_scripts_folder();
	char path[PATH_MAX], file[PATH_MAX];

	for (size_t i = 0; folder && !strchr(name, '/') && i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(file, sizeof(file), forms[i], name);
		if (snprintf(path, sizeof(path), "%s/scripts/%s", folder, file) < (int)sizeof(path) &&
		    access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* As much of it as perf asks for. */
static bool begins(const char *word, const char *whole)
{
	return strlen(word) > 2 && strncmp(word, whole, strlen(word)) == 0;
}

const char *perf_scripts_mode(const char *word)
{
	if (access(word, F_OK) == 0)
		return NULL;
	return begins(word, "record") ? "record" :
	       begins(word, "report") ? "report" :
	       is_perf_script(word)   ? "live" :
					NULL;
}

bool perf_scripts_begin(const char *word)
{
	return perf_scripts_mode(word) != NULL;
}

/* Whether options of record are followed by a command. Others are not for record. */
static bool has_command(const struct call *call, const char *mode)
{
	size_t first = strcmp(mode, "live") == 0 ? 1 : 2;
	const struct command_line *record = command_by_name("record");
	struct parsed parsed;
	bool found;

	if (!record || first >= call->word_count || strcmp(mode, "report") == 0)
		return false;
	found = options_parse(record->command, (int)(call->word_count - first),
			      (char **)(uintptr_t)(call->words + first), NULL, &parsed) &&
		parsed.words.count;
	options_fini(record->command, &parsed);
	return found;
}

bool perf_scripts_add(struct option_list *line, const char *mode, const struct call *call)
{
	static char program[PATH_MAX];
	bool has_name = strcmp(mode, "live") == 0 || strcmp(mode, "list") == 0 || call->word_count > 1;

	if (!has_name)
		return print_error("%s: the name of a script is missing; see perfdata script -l", call->words[0]);
	if (!realpath("/proc/self/exe", program))
		return print_error("/proc/self/exe: %s", strerror(errno));
	return option_list_add(line, "--by-name") && option_list_add(line, mode) &&
	       option_list_add(line, "--program") && option_list_add(line, program) &&
	       (has_command(call, mode) || option_list_add(line, "--without-command"));
}
