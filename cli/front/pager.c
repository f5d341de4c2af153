/* SPDX-License-Identifier: MIT */
/*
 * Starts the pager on the read end of a pipe, and waits for it. While it runs, it owns the terminal: a signal ends the
 * program only after the pager has exited, or the shell's prompt would appear in the middle of it.
 */
#include "front/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/signals.h"

extern char **environ;

enum {
	NONE = 0,
	STARTING = -1
};

static volatile sig_atomic_t pager; /* its process, or one of these */

/* ---- which ---- */

static bool is_word(const char *value, const char *const *words)
{
	while (*words && strcmp(value, *words) != 0)
		words++;
	return *words;
}

static bool is_no(const char *value)
{
	static const char *const words[] = { "false", "no", "off", "0", NULL };

	return is_word(value, words);
}

static bool is_yes(const char *value)
{
	static const char *const words[] = { "true", "yes", "on", "1", NULL };

	return is_word(value, words);
}

static bool is_program(const char *folder, size_t folder_length, const char *name, size_t length)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%.*s/%.*s", (int)folder_length, folder, (int)length, name);

	return n > 0 && n < (int)sizeof(path) && access(path, X_OK) == 0;
}

/* A shell that does not find the pager would take what is printed with it. What only the shell understands is left to it. */
bool program_is_installed(const char *command)
{
	size_t length = strcspn(command, " \t");
	const char *path = getenv("PATH");

	if (strcspn(command, "|&;<>()$`\\\"'*?[#~=%{") < length || memchr(command, '/', length))
		return *command != '/' || is_program("", 0, command + 1, length - 1);
	for (path = path ? path : "/usr/bin:/bin"; *path; path += *path == ':') {
		size_t folder = strcspn(path, ":");

		if (is_program(path, folder, command, length))
			return true;
		path += folder;
	}
	return false;
}

const char *pager_command(const struct pd_config *config, const char *command, bool forced, bool usual)
{
	const char *pager_of_perf = getenv("PERF_PAGER"), *own = getenv("PAGER");
	const char *wanted = "less", *setting;
	char key[64];

	snprintf(key, sizeof(key), "pager.%s", command);
	setting = pd_config_get(config, key);
	if (!forced && (setting ? is_no(setting) : !usual))
		return NULL;
	if (pager_of_perf)
		wanted = pager_of_perf;
	else if (setting && !is_yes(setting) && !is_no(setting))
		wanted = setting;
	else if (own)
		wanted = own;
	return *wanted && strcmp(wanted, "cat") != 0 && program_is_installed(wanted) ? wanted : NULL;
}

/* ---- running it ---- */

static void on_signal(int number)
{
	pager_end();
	signal_die(number);
}

static const int deadly[] = { SIGNALS_ENDING, SIGQUIT, 0 };

/* mask: of signals, in the pager. */
static int spawn(const char *command, int input, const sigset_t *mask, pid_t *pid_out)
{
	char shell[] = "sh", option[] = "-c", *line = strdup(command);
	char *const words[] = { shell, option, line, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t how;
	int failure = line ? posix_spawn_file_actions_init(&actions) : ENOMEM;

	if (!failure) {
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
		posix_spawnattr_init(&how);
		posix_spawnattr_setsigmask(&how, mask);
		posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
		failure = posix_spawn(pid_out, "/bin/sh", &actions, &how, words, environ);
		posix_spawnattr_destroy(&how);
		posix_spawn_file_actions_destroy(&actions);
	}
	free(line);
	return failure;
}

static void redirect(int end)
{
	if (isatty(STDERR_FILENO))
		dup2(end, STDERR_FILENO);
	dup2(end, STDOUT_FILENO);
}

bool pager_start(const char *command)
{
	const struct sigaction action = { .sa_handler = on_signal };
	sigset_t signals, before;
	int ends[2], failure;
	pid_t pid;

	/* As git: what fits on the screen ends at once, colours are shown, the screen stays as it is. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	/* a signal that comes meanwhile waits until the pager's process is known, and nothing else keeps its pipe open */
	sigemptyset(&signals);
	for (const int *number = deadly; *number; number++)
		sigaddset(&signals, *number);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	pager = STARTING;
	signals_handle(deadly, &action, SIGNAL_IF_USUAL);
	failure = spawn(command, ends[0], &before, &pid);
	if (!failure)
		redirect(ends[1]);
	close(ends[0]);
	close(ends[1]);
	pager = failure ? NONE : pid;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failure;
}

void pager_end(void)
{
	int before = errno;

	/* another thread starts it */
	while (pager == STARTING)
		poll(NULL, 0, 1);
	if (pager != NONE) {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
			;
		pager = NONE;
	}
	errno = before;
}
