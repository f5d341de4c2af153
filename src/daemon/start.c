/* SPDX-License-Identifier: MIT */
/*
 * From the foreground to the background: the process forks, and the old one waits until the new one says that it is ready, or why it is
 * not. So whoever started a daemon can ask it at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/write_all.h"
#include "daemon/parts.h"

static bool read_all(int fd, void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t got = read(fd, at, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

// The status of the new process, in the old one.
static enum pd_status await_child(pid_t pid, int ready, struct pd_error *error)
{
	struct pd_error report;
	int status;
	bool got = read_all(ready, &report, sizeof(report));

	close(ready);
	if (got && report.status == PD_OK)
		return PD_OK;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!got)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "the daemon ended before it was ready");
	if (error)
		*error = report;
	return report.status;
}

enum pd_status pd_daemon_fork(int *ready_out, struct pd_error *error)
{
	int ready[2];
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return pd_fail_system(error, errno, "cannot start the daemon");
	pid = fork();
	if (pid < 0) {
		enum pd_status status = pd_fail_system(error, errno, "cannot start the daemon");

		close(ready[0]);
		close(ready[1]);
		return status;
	}
	if (pid) {
		close(ready[1]);
		*ready_out = -1;
		return await_child(pid, ready[0], error);
	}
	close(ready[0]);
	setsid();
	*ready_out = ready[1];
	return PD_OK;
}

void pd_daemon_ready(int ready, enum pd_status status, const struct pd_error *error)
{
	struct pd_error report = { .status = PD_OK };

	if (status < 0)
		report = *error;
	pd_write_all(ready, &report, sizeof(report));
	close(ready);
	if (status < 0)
		_exit(1);
}
