/* SPDX-License-Identifier: MIT */
#include "serve/live.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/cli.h"
#include "front/message.h"

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
static bool is_recorded(const struct live *live)
{
	struct stat now;

	return stat(live->path, &now) == 0 && (now.st_ino != live->before.st_ino || now.st_dev != live->before.st_dev);
}

bool live_start(struct live *live, const char *const *words, size_t word_count)
{
	const char *const before[] = { "perfdata", "record", "-q", "-o", live->path };
	const size_t count = sizeof(before) / sizeof(before[0]);
	const char **line;

	line = calloc(count + word_count + 1, sizeof(*line));
	if (!line)
		return print_error("out of memory");
	memcpy(line, before, sizeof(before));
	memcpy(line + count, words, word_count * sizeof(*line));
	if (stat(live->path, &live->before) != 0 || !live->before.st_size)
		memset(&live->before, 0, sizeof(live->before));
	live->recorder = fork();
	if (live->recorder == 0) {
		/* Ctrl-C is ours, and it gets one from us, whatever becomes of us. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGINT);
		execv("/proc/self/exe", (char **)(uintptr_t)line);
		_exit(127);
	}
	free(line);
	if (live->recorder > 0)
		return true;
	live->recorder = 0;
	return print_error("cannot start the recorder: %s", strerror(errno));
}

static void reap_recorder(struct live *live)
{
	if (live->recorder && waitpid(live->recorder, &live->status, WNOHANG) == live->recorder)
		live->recorder = 0;
}

/* A recording without samples yet is none yet. */
static bool make_view(struct live *live)
{
	const struct pd_open_options how = { .size = sizeof(how) };
	struct pd_viewer *view = NULL;
	struct pd_file *file;

	clock_gettime(CLOCK_MONOTONIC, &live->made);
	if (!is_recorded(live) || pd_file_open(live->path, &how, &file, NULL) < 0)
		return false;
	if (pd_viewer_new(file, live->options, &view, NULL) < 0) {
		pd_viewer_free(view);
		pd_file_close(file);
		return false;
	}
	live_fini(live);
	live->view = view;
	live->file = file;
	return true;
}

bool live_refresh(struct live *live)
{
	bool was_running = live->recorder != 0, made;

	reap_recorder(live);
	if (!was_running || (live->recorder && seconds_since(&live->made) < live->pause))
		return false;
	made = make_view(live);
	live->pause = (COSTS - 1) * seconds_since(&live->made);
	return made;
}

bool live_wait(struct live *live)
{
	while (!live->view && live->recorder) {
		usleep(POLL_US);
		live_refresh(live);
	}
	return live->view;
}

int live_failed(const struct live *live)
{
	int code = WIFEXITED(live->status) ? WEXITSTATUS(live->status) : CODE_OK;

	if (code == CODE_NO_COMMAND || (code != CODE_OK && !is_recorded(live)))
		return code;
	return print_failure(CODE_NO_SAMPLES, "%s: nothing was recorded", live->path);
}

void live_stop(struct live *live)
{
	if (!live->recorder)
		return;
	kill(live->recorder, SIGINT);
	while (waitpid(live->recorder, &live->status, 0) < 0 && errno == EINTR)
		;
	live->recorder = 0;
}

void live_fini(struct live *live)
{
	pd_viewer_free(live->view);
	pd_file_close(live->file);
	live->view = NULL;
	live->file = NULL;
}
