/* SPDX-License-Identifier: MIT */
#include "server/follow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	POLL_US = 100000,
	COSTS = 3 /* a view is made in at most one of so many seconds, on average */
};

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* The file that was there before keeps its inode when the recorder renames it, which it does unless the file is empty. */
bool follow_has_begun(const struct follow *follow)
{
	struct stat now;

	return stat(follow->path, &now) == 0 &&
	       (now.st_ino != follow->before.st_ino || now.st_dev != follow->before.st_dev);
}

static void exec_recorder(const struct follow *follow, const char **line)
{
	/* Ctrl-C is ours, and it gets one from us, whatever becomes of us. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGINT);
	execv(follow->recorder, (char **)(uintptr_t)line);
	_exit(127);
}

enum pd_status server_fail(struct pd_error *error, enum pd_status status, const char *what)
{
	int number = errno;

	if (!error)
		return status;
	*error = (struct pd_error){ .status = status, .os_errno = number, .offset = PD_NO_OFFSET };
	snprintf(error->message, sizeof(error->message), "%s: %s", what, strerror(number));
	return status;
}

enum pd_status follow_start(struct follow *follow, const char *const *words, size_t word_count, struct pd_error *error)
{
	const char *const before[] = { "perfdata", "record", "-q", "-o", follow->path };
	const size_t count = sizeof(before) / sizeof(before[0]);
	const char **line;

	line = calloc(count + word_count + 1, sizeof(*line));
	if (!line)
		return server_fail(error, PD_ERROR_MEMORY, "cannot start the recorder");
	memcpy(line, before, sizeof(before));
	memcpy(line + count, words, word_count * sizeof(*line));
	if (stat(follow->path, &follow->before) != 0 || !follow->before.st_size)
		memset(&follow->before, 0, sizeof(follow->before));
	follow->process = fork();
	if (follow->process == 0)
		exec_recorder(follow, line);
	free(line);
	if (follow->process > 0)
		return PD_OK;
	follow->process = 0;
	return server_fail(error, PD_ERROR_SYSTEM, "cannot start the recorder");
}

static void reap_recorder(struct follow *follow)
{
	if (follow->process && waitpid(follow->process, &follow->status, WNOHANG) == follow->process)
		follow->process = 0;
}

/* A recording without samples yet is none yet. */
static bool make_view(struct follow *follow)
{
	const struct pd_open_options how = { .size = sizeof(how) };
	struct pd_viewer *view = NULL;
	struct pd_file *file;

	clock_gettime(CLOCK_MONOTONIC, &follow->made);
	if (!follow_has_begun(follow) || pd_file_open(follow->path, &how, &file, NULL) < 0)
		return false;
	if (pd_viewer_new(file, follow->options, &view, NULL) < 0) {
		pd_viewer_free(view);
		pd_file_close(file);
		return false;
	}
	follow_fini(follow);
	follow->view = view;
	follow->file = file;
	return true;
}

bool follow_refresh(struct follow *follow)
{
	bool was_running = follow->process != 0, made;

	reap_recorder(follow);
	if (!was_running || (follow->process && seconds_since(&follow->made) < follow->pause))
		return false;
	made = make_view(follow);
	follow->pause = (COSTS - 1) * seconds_since(&follow->made);
	return made;
}

bool follow_wait(struct follow *follow)
{
	while (!follow->view && follow->process) {
		usleep(POLL_US);
		follow_refresh(follow);
	}
	return follow->view;
}

void follow_stop(struct follow *follow)
{
	if (!follow->process)
		return;
	kill(follow->process, SIGINT);
	while (waitpid(follow->process, &follow->status, 0) < 0 && errno == EINTR)
		;
	follow->process = 0;
}

void follow_fini(struct follow *follow)
{
	pd_viewer_free(follow->view);
	pd_file_close(follow->file);
	follow->view = NULL;
	follow->file = NULL;
}
