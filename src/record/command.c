/* SPDX-License-Identifier: MIT */
/*
 * The command: forked before the events are opened, because they are opened on it, and run when they are. Between
 * fork and exec it calls only what is safe there.
 */
#include "record/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

static _Noreturn void run_child(int go, int result, char *const *argv, bool keep_output)
{
	char byte;
	ssize_t got;

	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (!keep_output)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	// the recorder is gone, or does not want it
	if (got != 1)
		_exit(0);
	execvp(argv[0], argv);
	got = write(result, &errno, sizeof(errno));
	(void)got;
	_exit(127);
}

enum pd_status pd_command_prepare(struct pd_command *command, char *const *argv, bool keep_output,
				  struct pd_error *error)
{
	int go[2], result[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return pd_fail_system(error, errno, "%s: cannot start", argv[0]);
	if (pipe2(result, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return pd_fail_system(error, errno, "%s: cannot start", argv[0]);
	}
	command->pid = fork();
	if (command->pid == 0) {
		close(go[1]);
		close(result[0]);
		run_child(go[0], result[1], argv, keep_output);
	}
	close(go[0]);
	close(result[1]);
	command->go = go[1];
	command->result = result[0];
	if (command->pid > 0)
		return PD_OK;
	command->pid = 0;
	close(go[1]);
	close(result[0]);
	return pd_fail_system(error, errno, "%s: cannot start", argv[0]);
}

enum pd_status pd_command_start(struct pd_command *command, struct pd_error *error)
{
	ssize_t got = write(command->go, "", 1);

	command->started = true;
	close(command->go);
	command->go = -1;
	if (got != 1)
		return pd_fail_system(error, errno, "cannot start the command");
	// exec closes the pipe
	do
		got = read(command->result, &command->failure, sizeof(command->failure));
	while (got < 0 && errno == EINTR);
	if (got != sizeof(command->failure))
		command->failure = 0;
	close(command->result);
	command->result = -1;
	return PD_OK;
}

bool pd_command_has_ended(struct pd_command *command)
{
	pid_t got;

	if (!command->pid || command->ended)
		return command->ended;
	do
		got = wait4(command->pid, &command->status, WNOHANG, &command->usage);
	while (got < 0 && errno == EINTR);
	command->ended = got != 0;
	return command->ended;
}

void pd_command_end(struct pd_command *command)
{
	if (command->pid && command->started && !pd_command_has_ended(command))
		kill(command->pid, SIGTERM);
}

void pd_command_fini(struct pd_command *command, bool wait)
{
	if (!command->pid)
		return;
	if (!command->started) {
		close(command->go);
		close(command->result);
		wait = true;
	}
	while (wait && !command->ended) {
		pid_t got = waitpid(command->pid, &command->status, 0);

		if (got < 0 && errno == EINTR)
			continue;
		command->ended = true;
	}
	command->pid = 0;
}
