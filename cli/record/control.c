/* SPDX-License-Identifier: MIT */
#include "record/control.h"

#include "front/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LINE_CAPACITY = 256
};

static void answer(const struct record_control *control, const char *text)
{
	size_t size = strlen(text);

	while (control->out >= 0 && size) {
		struct pollfd fds[2] = { { .fd = control->out, .events = POLLOUT },
					 { .fd = control->end[0], .events = POLLIN } };
		ssize_t done;

		/* whoever reads no answers must not keep the recording from ending */
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		/* but what can be reported is reported: the recording may be over before "stop" is answered */
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

static void list_events(const struct record_control *control)
{
	const char *name;

	for (size_t i = 0; (name = pd_recorder_event_name(control->recorder, i)) != NULL; i++) {
		answer(control, name);
		answer(control, "\n");
	}
}

static bool has_event(const struct record_control *control, const char *wanted)
{
	const char *name;

	for (size_t i = 0; (name = pd_recorder_event_name(control->recorder, i)) != NULL; i++)
		if (!strcmp(name, wanted))
			return true;
	return false;
}

static void obey(const struct record_control *control, char *line)
{
	char *name = strchr(line, ' ');

	if (name)
		*name++ = 0;
	if (!strcmp(line, "enable") || !strcmp(line, "disable")) {
		if (name && *name && !has_event(control, name))
			print_error("control: no event '%.100s'; evlist lists the events", name);
		pd_recorder_enable(control->recorder, line[0] == 'e', name);
	} else if (!strcmp(line, "evlist")) {
		list_events(control);
	} else if (!strcmp(line, "snapshot")) {
		pd_recorder_switch(control->recorder);
	} else if (!strcmp(line, "stop")) {
		pd_recorder_stop(control->recorder);
	} else if (strcmp(line, "ping") != 0) {
		print_error("control: unknown command '%.100s'", line);
		return;
	}
	answer(control, "ack\n");
}

/* Lines out of what comes; a line that is too long is none. */
static void take_bytes(const struct record_control *control, char *line, size_t *used, const char *bytes, size_t size)
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

static void *serve(void *self)
{
	const struct record_control *control = self;
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
			fds[0].fd = -1; /* whoever spoke is gone */
	}
	return NULL;
}

/* Two numbers of descriptors, or two paths. */
static bool open_both(struct record_control *control, const char *where)
{
	char *text = strdup(where), *second;
	bool fd = !strncmp(where, "fd:", 3), fifo = !strncmp(where, "fifo:", 5);
	char *first = text ? text + (fd ? 3 : 5) : NULL;
	uint64_t number = 0;

	if (!text || (!fd && !fifo)) {
		print_error("option --control: expected fd:IN[,OUT] or fifo:IN[,OUT]");
		free(text);
		return false;
	}
	second = strchr(first, ',');
	if (second)
		*second++ = 0;
	control->owns = fifo;
	if (fifo) {
		/* for reading and writing, so that a speaker may come and go */
		control->in = open(first, O_RDWR | O_CLOEXEC);
		control->out = second ? open(second, O_RDWR | O_CLOEXEC) : -1;
	} else {
		errno = EBADF;
		control->in = number_parse(first, &number) ? (int)number : -1;
		control->out = second && number_parse(second, &number) ? (int)number : -1;
	}
	if (control->in < 0 || fcntl(control->in, F_GETFD) < 0 || (second && fcntl(control->out, F_GETFD) < 0)) {
		print_error("option --control: cannot open '%s': %s", where, strerror(errno));
		control->in = -1;
	}
	free(text);
	return control->in >= 0;
}

bool record_control_start(struct record_control *control, const char *where, struct pd_recorder *recorder)
{
	*control = (struct record_control){ .recorder = recorder, .in = -1, .out = -1 };
	if (!where)
		return true;
	if (!open_both(control, where))
		return false;
	if (pipe2(control->end, O_CLOEXEC) < 0)
		return print_error("option --control: %s", strerror(errno));
	control->runs = pthread_create(&control->thread, NULL, serve, control) == 0;
	if (!control->runs)
		print_error("option --control: cannot start a thread");
	return control->runs;
}

void record_control_stop(struct record_control *control)
{
	ssize_t done;

	if (!control->runs)
		return;
	done = write(control->end[1], "", 1);
	(void)done;
	pthread_join(control->thread, NULL);
	close(control->end[0]);
	close(control->end[1]);
	if (control->owns) {
		close(control->in);
		if (control->out >= 0)
			close(control->out);
	}
}
