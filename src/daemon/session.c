/* SPDX-License-Identifier: MIT */
/*
 * One recorder: a process in a directory, with a pair of FIFOs to ask it. Between fork and exec only what is safe there is called.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "daemon/parts.h"

enum {
	END_MS = 10 * PD_DAEMON_SECOND_MS // how long one may take to end
};

// ---- its directory ----

static int open_directory(const struct pd_daemon_session *session, const struct pd_daemon_base *base)
{
	char name[PD_DAEMON_PATH];
	int fd;

	errno = ENAMETOOLONG;
	if (snprintf(name, sizeof(name), "session-%s", session->name) >= (int)sizeof(name))
		return -1;
	if (mkdirat(base->dir, name, 0755) < 0 && errno != EEXIST)
		return -1;
	fd = openat(base->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

// An old one may have words in it that nobody read.
static bool make_fifo(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return false;
	return mkfifoat(dir, name, 0600) == 0;
}

static int open_output(int dir)
{
	if (!make_fifo(dir, "control") || !make_fifo(dir, "ack"))
		return -1;
	return openat(dir, "output", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
}

// ---- its process ----

struct launch {
	const char *program;
	char **words;
	int dir, output;
	pid_t parent;
};

static void put_error(const char *what)
{
	ssize_t done = write(STDERR_FILENO, what, strlen(what));

	(void)done;
}

static _Noreturn void run_child(const struct launch *launch)
{
	int none = open("/dev/null", O_RDWR);

	// ^C in a terminal is for the daemon, and its end is that of its sessions
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launch->parent)
		_exit(0);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0 || dup2(launch->output, STDOUT_FILENO) < 0 ||
	    dup2(launch->output, STDERR_FILENO) < 0 || fchdir(launch->dir) < 0)
		_exit(127);
	execv(launch->program, launch->words);
	put_error(launch->program);
	put_error(": cannot be run\n");
	_exit(127);
}

static pid_t start_process(struct launch *launch)
{
	pid_t pid;

	launch->parent = getpid();
	pid = fork();
	if (pid == 0)
		run_child(launch);
	return pid;
}

// The words of its command line; NULL if there is no memory. *text_out has them.
static char **command_line(const struct pd_daemon_session *session, char **text_out)
{
	static const char *const first[] = { "perfdata", "record", "--control=fifo:control,ack" };
	size_t count = sizeof(first) / sizeof(first[0]), capacity = 0;
	char **words = NULL, *text = pd_daemon_copy(session->run, strlen(session->run));

	if (!text || !PD_GROW(words, capacity, count + 1)) {
		pd_free(text);
		return NULL;
	}
	memcpy(words, first, sizeof(first));
	words[count] = NULL;
	if (!pd_daemon_split(text, &words, &capacity, &count)) {
		pd_free(words);
		pd_free(text);
		return NULL;
	}
	*text_out = text;
	return words;
}

static enum pd_status launch_in(struct pd_daemon_session *session, const struct pd_daemon_options *options, int output,
				struct pd_error *error)
{
	char *text, **words = command_line(session, &text);
	struct launch launch = { options->program, words, session->dir, output, 0 };
	int failure;

	if (!words)
		return pd_fail_memory(error);
	session->pid = start_process(&launch);
	failure = errno;
	pd_free(words);
	pd_free(text);
	if (session->pid < 0) {
		session->pid = 0;
		return pd_fail_system(error, failure, "session '%s': cannot start", session->name);
	}
	session->process = (int)syscall(SYS_pidfd_open, session->pid, 0);
	session->started_ms = pd_daemon_now_ms();
	session->kill_ms = 0;
	return PD_OK;
}

enum pd_status pd_daemon_session_start(struct pd_daemon_session *session, const struct pd_daemon_options *options,
				       const struct pd_daemon_base *base, struct pd_error *error)
{
	enum pd_status status;
	int output;

	if (session->dir < 0)
		session->dir = open_directory(session, base);
	output = session->dir < 0 ? -1 : open_output(session->dir);
	if (output < 0)
		return pd_fail_system(error, errno, "session '%s': its directory cannot be used", session->name);
	status = launch_in(session, options, output, error);
	close(output);
	return status;
}

// ---- its end ----

void pd_daemon_session_end(struct pd_daemon_session *session)
{
	uint64_t now = pd_daemon_now_ms();

	if (session->pid && !session->kill_ms) {
		kill(session->pid, SIGTERM);
		session->kill_ms = now + END_MS;
	} else if (session->pid && session->kill_ms <= now) {
		// with what it started
		kill(-session->pid, SIGKILL);
		session->kill_ms = now + END_MS;
	}
}

static void report_end(const struct pd_daemon_session *session, const struct pd_daemon_options *options, int status)
{
	bool signalled = WIFSIGNALED(status);

	pd_daemon_warn(options, "session '%s' [%d] has ended: %s %d", session->name, (int)session->pid,
		       signalled ? "signal" : "exit code", signalled ? WTERMSIG(status) : WEXITSTATUS(status));
}

bool pd_daemon_session_has_ended(struct pd_daemon_session *session, const struct pd_daemon_options *options)
{
	int status = 0;
	pid_t got;

	if (!session->pid)
		return true;
	got = waitpid(session->pid, &status, WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR))
		return false;
	report_end(session, options, status);
	if (session->process >= 0)
		close(session->process);
	session->process = -1;
	session->pid = 0;
	session->kill_ms = 0;
	return true;
}

void pd_daemon_session_fini(struct pd_daemon_session *session)
{
	if (session->process >= 0)
		close(session->process);
	if (session->dir >= 0)
		close(session->dir);
	pd_free(session->name);
	pd_free(session->run);
	pd_free(session->next);
}

// ---- asking it ----

// Answers that came too late for whoever asked.
static void drop_answers(int fd)
{
	char bytes[256];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

// Open for both, so that it does not matter whether the recorder has opened its end yet.
static int open_fifo(int dir, const char *name)
{
	return openat(dir, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

bool pd_daemon_session_ask(const struct pd_daemon_session *session, int *answer_out)
{
	int control = open_fifo(session->dir, "control"), answer = open_fifo(session->dir, "ack");
	bool ok = control >= 0 && answer >= 0;

	if (ok) {
		drop_answers(answer);
		ok = write(control, "ping\n", 5) == 5;
	}
	if (control >= 0)
		close(control);
	if (!ok && answer >= 0)
		close(answer);
	if (ok)
		*answer_out = answer;
	return ok;
}
