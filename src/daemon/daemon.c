/* SPDX-License-Identifier: MIT */
/* A daemon: waits for requests, ends of sessions and changes of the configuration, and does what follows from them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "daemon/parts.h"

// ---- opening ----

static struct pd_daemon *daemon_new(const struct pd_daemon_options *options)
{
	struct pd_daemon *daemon = pd_alloc(sizeof(*daemon));

	if (!daemon)
		return NULL;
	memcpy(&daemon->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	daemon->base.dir = daemon->base.lock = daemon->base.listener = -1;
	daemon->observer.fd = daemon->wake[0] = daemon->wake[1] = daemon->stopper = -1;
	daemon->started_ms = pd_daemon_now_ms();
	return daemon;
}

// Paths that do not depend on where the process is.
static enum pd_status keep_paths(struct pd_daemon *daemon, struct pd_error *error)
{
	struct pd_daemon_options *options = &daemon->options;
	ssize_t length;

	if (options->config && *options->config) {
		char *real = realpath(options->config, NULL);

		if (!real)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: %s", options->config,
				       strerror(errno));
		snprintf(daemon->config, sizeof(daemon->config), "%s", real);
		free(real);
		options->config = daemon->config;
	}
	if (options->program)
		return PD_OK;
	length = readlink("/proc/self/exe", daemon->program, sizeof(daemon->program) - 1);
	if (length < 0)
		return pd_fail_system(error, errno, "/proc/self/exe");
	options->program = daemon->program;
	return PD_OK;
}

// The base must be known first: what else goes wrong, and what sessions say, is in there.
static enum pd_status read_config(struct pd_daemon *daemon, struct pd_error *error)
{
	struct pd_config *config;
	enum pd_status status = pd_daemon_config_load(&daemon->options, &config, error);

	if (status < 0)
		return status;
	status = pd_daemon_base_path(&daemon->options, config, daemon->base.path, error);
	if (status >= 0)
		status = pd_daemon_sessions_set(&daemon->sessions, config, error);
	pd_config_free(config);
	return status;
}

static enum pd_status open_daemon(struct pd_daemon *daemon, struct pd_error *error)
{
	enum pd_status status = keep_paths(daemon, error);

	daemon->answer = pd_text_new();
	if (!daemon->answer)
		return pd_fail_memory(error);
	if (status >= 0 && pipe2(daemon->wake, O_CLOEXEC | O_NONBLOCK) < 0)
		status = pd_fail_system(error, errno, "cannot start");
	// watched before it is read: no change comes between
	if (status >= 0)
		pd_daemon_observer_init(&daemon->observer, &daemon->options);
	if (status >= 0)
		status = read_config(daemon, error);
	return status >= 0 ? pd_daemon_base_open(&daemon->base, error) : status;
}

// In the background there is no terminal, and no directory that could not be unmounted.
static enum pd_status leave_terminal(const struct pd_daemon_base *base, struct pd_error *error)
{
	int none = open("/dev/null", O_RDWR | O_CLOEXEC);
	int output =
		openat(base->dir, "output", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	bool ok = none >= 0 && output >= 0 && dup2(none, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
		  dup2(output, STDERR_FILENO) >= 0 && chdir("/") == 0;
	enum pd_status status =
		ok ? PD_OK :
		     pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s/output: %s", base->path, strerror(errno));

	if (none >= 0)
		close(none);
	if (output >= 0)
		close(output);
	return status;
}

enum pd_status pd_daemon_open(const struct pd_daemon_options *options, struct pd_daemon **daemon_out,
			      struct pd_error *error)
{
	struct pd_daemon *daemon;
	struct pd_error own;
	enum pd_status status;
	int ready = -1;

	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_daemon_options.size is not set");
	error = error ? error : &own;
	if (options->background) {
		status = pd_daemon_fork(&ready, error);
		if (status < 0 || ready < 0) {
			if (status >= 0)
				*daemon_out = NULL;
			return status;
		}
	}
	daemon = daemon_new(options);
	status = daemon ? open_daemon(daemon, error) : pd_fail_memory(error);
	if (status >= 0 && ready >= 0)
		status = leave_terminal(&daemon->base, error);
	if (status < 0)
		pd_daemon_close(daemon);
	if (ready >= 0)
		pd_daemon_ready(ready, status, error);
	if (status >= 0)
		*daemon_out = daemon;
	return status;
}

// ---- running ----

// A configuration that is damaged changes nothing.
static void read_again(struct pd_daemon *daemon)
{
	struct pd_config *config;
	struct pd_error error;
	enum pd_status status = pd_daemon_config_load(&daemon->options, &config, &error);
	char base[PD_DAEMON_PATH];

	if (status < 0) {
		pd_daemon_warn(&daemon->options, "%s; the sessions stay as they are", error.message);
		return;
	}
	status = pd_daemon_base_path(&daemon->options, config, base, &error);
	if (status < 0 || strcmp(base, daemon->base.path) != 0)
		pd_daemon_warn(&daemon->options, "the base stays %s as long as the daemon runs", daemon->base.path);
	status = pd_daemon_sessions_set(&daemon->sessions, config, &error);
	if (status < 0)
		pd_daemon_warn(&daemon->options, "%s", error.message);
	pd_config_free(config);
}

enum {
	POLL_WAKE,
	POLL_LISTENER,
	POLL_OBSERVER,
	POLL_SESSIONS
};

// False if there is no memory.
static bool fill_polls(struct pd_daemon *daemon, size_t *count_out)
{
	const struct pd_daemon_sessions *sessions = &daemon->sessions;

	*count_out = POLL_SESSIONS + sessions->count;
	if (!PD_GROW(daemon->polls, daemon->polls_capacity, *count_out))
		return false;
	daemon->polls[POLL_WAKE] = (struct pollfd){ .fd = daemon->wake[0], .events = POLLIN };
	daemon->polls[POLL_LISTENER] = (struct pollfd){ .fd = daemon->base.listener, .events = POLLIN };
	daemon->polls[POLL_OBSERVER] = (struct pollfd){ .fd = daemon->observer.fd, .events = POLLIN };
	for (size_t i = 0; i < sessions->count; i++)
		daemon->polls[POLL_SESSIONS + i] =
			(struct pollfd){ .fd = sessions->items[i].process, .events = POLLIN };
	return true;
}

static enum pd_status wait_and_serve(struct pd_daemon *daemon, int wait_ms, struct pd_error *error)
{
	char bytes[16];
	size_t count;

	if (!fill_polls(daemon, &count))
		return pd_fail_memory(error);
	if (poll(daemon->polls, count, wait_ms) < 0)
		return errno == EINTR ? PD_OK : pd_fail_system(error, errno, "cannot wait");
	if (daemon->polls[POLL_OBSERVER].revents && pd_daemon_observer_take(&daemon->observer) && !daemon->stopping)
		read_again(daemon);
	if (daemon->polls[POLL_LISTENER].revents)
		pd_daemon_serve(daemon);
	if (daemon->polls[POLL_WAKE].revents && read(daemon->wake[0], bytes, sizeof(bytes)) > 0)
		daemon->stopping = true;
	return PD_OK;
}

enum pd_status pd_daemon_run(struct pd_daemon *daemon, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (;;) {
		int wait_ms;

		if (status < 0 || daemon->stopping)
			pd_daemon_sessions_end(&daemon->sessions);
		wait_ms = pd_daemon_sessions_step(&daemon->sessions, &daemon->options, &daemon->base);
		if ((status < 0 || daemon->stopping) && !daemon->sessions.count)
			return status;
		// without memory sessions are still ended
		if (status < 0)
			poll(NULL, 0, PD_DAEMON_SECOND_MS / 10);
		else
			status = wait_and_serve(daemon, wait_ms, error);
	}
}

// ---- the end ----

void pd_daemon_stop(struct pd_daemon *daemon)
{
	int before = errno;
	ssize_t done = write(daemon->wake[1], "", 1);

	(void)done;
	errno = before;
}

void pd_daemon_close(struct pd_daemon *daemon)
{
	if (!daemon)
		return;
	pd_daemon_sessions_fini(&daemon->sessions);
	pd_daemon_observer_fini(&daemon->observer);
	pd_daemon_base_fini(&daemon->base);
	for (size_t i = 0; i < 2; i++)
		if (daemon->wake[i] >= 0)
			close(daemon->wake[i]);
	// now another one could be started there
	if (daemon->stopper >= 0)
		pd_daemon_answer(daemon->stopper, PD_DAEMON_YES, (struct pd_bytes){ 0 });
	pd_text_free(daemon->answer);
	pd_free(daemon->polls);
	pd_free(daemon);
}
