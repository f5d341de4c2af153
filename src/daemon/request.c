/* SPDX-License-Identifier: MIT */
/*
 * Questions to a daemon, one connection after another: the words of a request, each on a line, up to the end of what comes; then an
 * answer. Nobody may keep the daemon busy for longer than a second, or be anybody but its user.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/text.h"
#include "daemon/parts.h"

enum {
	ANSWER_MS = 2 * PD_DAEMON_SECOND_MS, // of sessions, all together
	SIGNAL = SIGUSR2
};

// A request as it came: strings in its bytes.
struct request {
	char bytes[PD_DAEMON_REQUEST];
	const char *command, *session, *separator, *verbose; // "" for none
};

// ---- reading it ----

static bool is_allowed(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (!peer.uid || peer.uid == geteuid());
}

static bool read_bytes(int fd, char bytes[PD_DAEMON_REQUEST])
{
	uint64_t end = pd_daemon_now_ms() + PD_DAEMON_SECOND_MS;
	size_t used = 0;
	ssize_t got = 1;

	while (got != 0 && used < PD_DAEMON_REQUEST - 1) {
		struct pollfd poller = { .fd = fd, .events = POLLIN };
		uint64_t now = pd_daemon_now_ms();

		if (now >= end || poll(&poller, 1, (int)(end - now)) == 0)
			return false;
		got = recv(fd, bytes + used, PD_DAEMON_REQUEST - 1 - used, MSG_DONTWAIT);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		used += got > 0 ? (size_t)got : 0;
	}
	bytes[used] = '\0';
	return got == 0;
}

static bool read_request(int fd, struct request *request)
{
	const char **words[] = { &request->command, &request->session, &request->separator, &request->verbose };
	char *at = request->bytes;

	if (!read_bytes(fd, request->bytes))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char *end = strchr(at, '\n');

		if (!end)
			return false;
		*end = '\0';
		*words[i] = at;
		at = end + 1;
	}
	return !*at;
}

// ---- list ----

// Fields of a list: their names as a text has them, with the separator instead.
struct list {
	struct pd_text *text;
	const char *separator; // NULL: as a text
	bool verbose;
};

static void add_field(const struct list *list, const char *name, const char *path, const char *leaf)
{
	if (list->separator)
		pd_text_printf(list->text, "%s%s%s", list->separator, path, leaf);
	else if (list->verbose)
		pd_text_printf(list->text, "  %-8s %s%s\n", name, path, leaf);
}

static void add_minutes(const struct list *list, uint64_t started_ms)
{
	unsigned long long minutes = (pd_daemon_now_ms() - started_ms) / (60ull * PD_DAEMON_SECOND_MS);

	if (list->separator)
		pd_text_printf(list->text, "%s%llu\n", list->separator, minutes);
	else if (list->verbose)
		pd_text_printf(list->text, "  %-8s %llu minutes\n", "up:", minutes);
}

static void list_session(const struct list *list, const struct pd_daemon *daemon,
			 const struct pd_daemon_session *session)
{
	char path[2 * PD_DAEMON_PATH];

	if (list->separator)
		pd_text_printf(list->text, "%d%s%s%s%s", (int)session->pid, list->separator, session->name,
			       list->separator, session->run);
	else
		pd_text_printf(list->text, "[%d:%s] perfdata record %s\n", (int)session->pid, session->name,
			       session->run);
	snprintf(path, sizeof(path), "%s/session-%s", daemon->base.path, session->name);
	add_field(list, "base:", path, "");
	add_field(list, "output:", path, "/output");
	add_field(list, "control:", path, "/control");
	add_field(list, "ack:", path, "/ack");
	add_minutes(list, session->started_ms);
}

static bool answer_list(struct pd_daemon *daemon, const struct request *request)
{
	const struct list list = { daemon->answer, *request->separator ? request->separator : NULL, *request->verbose };

	if (list.separator)
		pd_text_printf(list.text, "%d%sdaemon%s%s", (int)getpid(), list.separator, list.separator,
			       daemon->base.path);
	else
		pd_text_printf(list.text, "[%d:daemon] base: %s\n", (int)getpid(), daemon->base.path);
	add_field(&list, "output:", daemon->base.path, "/output");
	add_field(&list, "lock:", daemon->base.path, "/lock");
	add_minutes(&list, daemon->started_ms);
	for (size_t i = 0; i < daemon->sessions.count; i++)
		if (daemon->sessions.items[i].pid)
			list_session(&list, daemon, &daemon->sessions.items[i]);
	return true;
}

// ---- sessions that answer ----

// A session that was asked: its answer is waited for at fd, which is -1 without one.
struct asked {
	const struct pd_daemon_session *session;
	int fd;
	bool answered;
};

static size_t ask_sessions(const struct pd_daemon *daemon, const char *only, struct asked *asked)
{
	size_t count = 0;

	for (size_t i = 0; i < daemon->sessions.count; i++) {
		const struct pd_daemon_session *session = &daemon->sessions.items[i];

		if (!session->pid || (*only && strcmp(session->name, only) != 0))
			continue;
		asked[count] = (struct asked){ .session = session, .fd = -1 };
		if (!pd_daemon_session_ask(session, &asked[count].fd))
			asked[count].fd = -1;
		count++;
	}
	return count;
}

static void take_answer(struct asked *asked, struct pollfd *poller)
{
	char bytes[64];
	ssize_t got;

	if (!poller->revents)
		return;
	got = read(asked->fd, bytes, sizeof(bytes));
	asked->answered = got >= 4 && !memcmp(bytes, "ack\n", 4);
	if (got >= 0 || errno != EAGAIN)
		poller->fd = -1;
}

// Waits for all of them together.
static void await_answers(struct asked *asked, struct pollfd *polls, size_t count)
{
	uint64_t end = pd_daemon_now_ms() + ANSWER_MS, now;
	bool waiting = true;

	for (size_t i = 0; i < count; i++)
		polls[i] = (struct pollfd){ .fd = asked[i].fd, .events = POLLIN };
	while (waiting && (now = pd_daemon_now_ms()) < end) {
		waiting = false;
		for (size_t i = 0; i < count; i++)
			waiting |= polls[i].fd >= 0;
		if (waiting && poll(polls, count, (int)(end - now)) > 0)
			for (size_t i = 0; i < count; i++)
				take_answer(&asked[i], &polls[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (asked[i].fd >= 0)
			close(asked[i].fd);
}

// What is done with each; false if it cannot be.
typedef bool report_fn(struct pd_text *text, const struct asked *asked);

static bool report_ping(struct pd_text *text, const struct asked *asked)
{
	pd_text_printf(text, "%-4s %s\n", asked->answered ? "OK" : "FAIL", asked->session->name);
	return asked->answered;
}

// One that does not answer yet would die of it.
static bool report_signal(struct pd_text *text, const struct asked *asked)
{
	const struct pd_daemon_session *session = asked->session;

	if (!asked->answered || kill(session->pid, SIGNAL) < 0) {
		pd_text_printf(text, "session '%s [%d]' does not answer: no signal was sent\n", session->name,
			       (int)session->pid);
		return false;
	}
	pd_text_printf(text, "signal %d sent to session '%s [%d]'\n", SIGNAL, session->name, (int)session->pid);
	return true;
}

static bool answer_asked(struct pd_daemon *daemon, const char *only, report_fn *report)
{
	size_t capacity = daemon->sessions.count + 1, count;
	struct asked *asked = pd_alloc(capacity * sizeof(*asked));
	struct pollfd *polls = pd_alloc(capacity * sizeof(*polls));
	bool ok = asked && polls;

	count = ok ? ask_sessions(daemon, only, asked) : 0;
	await_answers(asked, polls, count);
	for (size_t i = 0; i < count; i++)
		ok &= report(daemon->answer, &asked[i]);
	if (!count && *only && report == report_ping)
		pd_text_printf(daemon->answer, "FAIL %s (not found)\n", only);
	pd_free(polls);
	pd_free(asked);
	return ok && (count || !*only);
}

static bool answer_ping(struct pd_daemon *daemon, const struct request *request)
{
	return answer_asked(daemon, request->session, report_ping);
}

static bool answer_signal(struct pd_daemon *daemon, const struct request *request)
{
	return answer_asked(daemon, request->session, report_signal);
}

static bool answer_stop(struct pd_daemon *daemon, const struct request *request)
{
	(void)request;
	daemon->stopping = true;
	return true;
}

// ---- answers ----

static const struct {
	const char *name;
	bool (*answer)(struct pd_daemon *daemon, const struct request *request); // false: a session did not do it
} commands[] = {
	{ "list", answer_list },
	{ "ping", answer_ping },
	{ "signal", answer_signal },
	{ "stop", answer_stop },
};

void pd_daemon_answer(int fd, char kind, struct pd_bytes text)
{
	const char *at = (const char *)text.data;
	size_t left = text.size;
	ssize_t done = send(fd, &kind, 1, MSG_NOSIGNAL);

	while (done > 0 && left) {
		done = send(fd, at, left, MSG_NOSIGNAL);
		at += done > 0 ? done : 0;
		left -= done > 0 ? (size_t)done : 0;
	}
	close(fd);
}

static char answer_request(struct pd_daemon *daemon, int fd)
{
	struct request request;

	if (!is_allowed(fd)) {
		pd_text_add(daemon->answer, "the daemon belongs to another user");
		return PD_DAEMON_FAILED;
	}
	if (!read_request(fd, &request))
		request.command = "";
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(request.command, commands[i].name))
			return commands[i].answer(daemon, &request) ? PD_DAEMON_YES : PD_DAEMON_NO;
	pd_text_add(daemon->answer, "not a request to a daemon of perfdata");
	return PD_DAEMON_FAILED;
}

// Who asks to stop gets the answer when it is done.
static void serve_connection(struct pd_daemon *daemon, int fd)
{
	const struct timeval second = { .tv_sec = 1 };
	bool before = daemon->stopping;
	char kind;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	pd_text_clear(daemon->answer);
	kind = answer_request(daemon, fd);
	if (daemon->stopping != before)
		daemon->stopper = fd;
	else
		pd_daemon_answer(fd, kind, pd_text_bytes(daemon->answer));
}

void pd_daemon_serve(struct pd_daemon *daemon)
{
	int fd = accept4(daemon->base.listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		serve_connection(daemon, fd);
}
