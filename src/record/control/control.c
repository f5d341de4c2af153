/* SPDX-License-Identifier: MIT */
/*
 * Commands to a recorder while it runs, through a descriptor or a FIFO: a word on each line, answered by "ack".
 */
#include <perfdata/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

enum {
	LINE_CAPACITY = 256
};

struct pd_control {
	struct pd_recorder *recorder;
	pd_warn_fn *warn;
	void *self;
	int in, out; // -1: none
	bool owns;   // both are closed at the end
	int end[2];  // pipe that ends the thread
	struct pd_worker thread;
};

static void warn_of(const struct pd_control *control, const char *what, const char *name, const char *rest)
{
	char sentence[200];

	snprintf(sentence, sizeof(sentence), "control: %s '%.100s'%s", what, name, rest);
	if (control->warn)
		control->warn(control->self, sentence);
}

static void answer(const struct pd_control *control, const char *text)
{
	size_t size = strlen(text);

	while (control->out >= 0 && size) {
		struct pollfd fds[2] = { { .fd = control->out, .events = POLLOUT },
					 { .fd = control->end[0], .events = POLLIN } };
		ssize_t done;

		// whoever reads no answers must not keep the recording from ending
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		// but what can be reported is reported: the recording may be over before "stop" is answered
		if (!fds[0].revents && fds[1].revents)
			return;
		if (!fds[0].revents)
			continue;
		done = write(control->out, text, size);
		if (done < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (done <= 0)
			return;
		text += done;
		size -= (size_t)done;
	}
}

static void list_events(const struct pd_control *control)
{
	const char *name;

	for (size_t i = 0; (name = pd_recorder_event_name(control->recorder, i)) != NULL; i++) {
		answer(control, name);
		answer(control, "\n");
	}
}

static bool has_event(const struct pd_control *control, const char *wanted)
{
	const char *name;

	for (size_t i = 0; (name = pd_recorder_event_name(control->recorder, i)) != NULL; i++)
		if (!strcmp(name, wanted))
			return true;
	return false;
}

static void obey(const struct pd_control *control, char *line)
{
	char *name = strchr(line, ' ');

	if (name)
		*name++ = 0;
	if (!strcmp(line, "enable") || !strcmp(line, "disable")) {
		if (name && *name && !has_event(control, name))
			warn_of(control, "no event", name, "; evlist lists the events");
		pd_recorder_enable(control->recorder, line[0] == 'e', name);
	} else if (!strcmp(line, "evlist")) {
		list_events(control);
	} else if (!strcmp(line, "snapshot")) {
		pd_recorder_switch(control->recorder);
	} else if (!strcmp(line, "stop")) {
		pd_recorder_stop(control->recorder);
	} else if (strcmp(line, "ping") != 0) {
		warn_of(control, "unknown command", line, "");
		return;
	}
	answer(control, "ack\n");
}

// Lines out of what comes; a line that is too long is none.
static void take_bytes(const struct pd_control *control, char *line, size_t *used, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool end = bytes[i] == '\n' || bytes[i] == 0;

		if (!end && *used < LINE_CAPACITY - 1) {
			line[(*used)++] = bytes[i];
		} else if (end) {
			line[*used] = 0;
			if (*used && *used < LINE_CAPACITY - 1)
				obey(control, line);
			*used = 0;
		}
	}
}

static void serve(void *self)
{
	const struct pd_control *control = self;
	struct pollfd fds[2] = { { .fd = control->in, .events = POLLIN }, { .fd = control->end[0], .events = POLLIN } };
	char line[LINE_CAPACITY], bytes[LINE_CAPACITY];
	size_t used = 0;

	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		ssize_t got = 0;

		if (fds[1].revents)
			break;
		if (fds[0].revents)
			got = read(control->in, bytes, sizeof(bytes));
		if (got > 0)
			take_bytes(control, line, &used, bytes, (size_t)got);
		else if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL) || (fds[0].revents && got == 0))
			fds[0].fd = -1; // whoever spoke is gone
	}
}

static bool parse_descriptor(const char *text, int *fd_out)
{
	uint64_t number;

	if (!pd_number_parse(text, &number) || number > INT_MAX)
		return false;
	*fd_out = (int)number;
	return true;
}

// Two numbers of descriptors, or two paths; the second one may be missing.
static bool open_both(struct pd_control *control, char *first)
{
	char *second = strchr(first, ',');

	if (second)
		*second++ = 0;
	if (control->owns) {
		// for reading and writing, so that a speaker may come and go
		control->in = open(first, O_RDWR | O_CLOEXEC);
		control->out = second ? open(second, O_RDWR | O_CLOEXEC) : -1;
	} else {
		errno = EBADF;
		if (!parse_descriptor(first, &control->in) || (second && !parse_descriptor(second, &control->out)))
			return false;
	}
	return control->in >= 0 && fcntl(control->in, F_GETFD) >= 0 && (!second || fcntl(control->out, F_GETFD) >= 0);
}

static enum pd_status open_where(struct pd_control *control, const char *where, struct pd_error *error)
{
	bool fd = !strncmp(where, "fd:", 3), fifo = !strncmp(where, "fifo:", 5);
	char *text;
	int failure;

	if (!fd && !fifo)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "expected fd:IN[,OUT] or fifo:IN[,OUT]");
	text = strdup(where);
	if (!text)
		return pd_fail_memory(error);
	control->owns = fifo;
	failure = open_both(control, text + (fd ? 3 : 5)) ? 0 : errno;
	free(text);
	return failure ? pd_fail_system(error, failure, "cannot open '%s'", where) : PD_OK;
}

static enum pd_status start_thread(struct pd_control *control, struct pd_error *error)
{
	int failure;

	if (pipe2(control->end, O_CLOEXEC) < 0)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s", strerror(errno));
	failure = pd_worker_start(&control->thread, serve, control);
	return failure ? pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "cannot start a thread") : PD_OK;
}

enum pd_status pd_control_open(struct pd_recorder *recorder, const char *where, pd_warn_fn *warn, void *self,
			       struct pd_control **control_out, struct pd_error *error)
{
	struct pd_control *control = pd_alloc(sizeof(*control));
	enum pd_status status;

	if (!control)
		return pd_fail_memory(error);
	*control = (struct pd_control){
		.recorder = recorder, .warn = warn, .self = self, .in = -1, .out = -1, .end = { -1, -1 }
	};
	status = open_where(control, where, error);
	if (status >= 0)
		status = start_thread(control, error);
	if (status < 0)
		pd_control_close(control);
	else
		*control_out = control;
	return status;
}

static void close_both(const int fds[2])
{
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void pd_control_close(struct pd_control *control)
{
	ssize_t done;

	if (!control)
		return;
	if (control->thread.started) {
		done = write(control->end[1], "", 1);
		(void)done;
		pd_worker_join(&control->thread);
	}
	close_both(control->end);
	if (control->owns)
		close_both((const int[]){ control->in, control->out });
	pd_free(control);
}
