/* SPDX-License-Identifier: MIT */
/* A whole daemon on a thread, asked by another one: its sessions are started, asked, ended and started again. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "../test.h"
#include "folder.h"

static struct pd_daemon *server;
static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char warnings[4096];
static struct pd_text *answer;
static struct pd_error error;
static enum pd_status ended;

static void keep_warning(void *self, const char *sentence)
{
	(void)self;
	pthread_mutex_lock(&mutex);
	snprintf(warnings + strlen(warnings), sizeof(warnings) - strlen(warnings), "%s\n", sentence);
	pthread_mutex_unlock(&mutex);
}

static bool was_warned(const char *part)
{
	bool found;

	pthread_mutex_lock(&mutex);
	found = strstr(warnings, part) != NULL;
	pthread_mutex_unlock(&mutex);
	return found;
}

static void *serve(void *self)
{
	struct pd_error own;

	ended = pd_daemon_run(self, &own);
	pd_daemon_close(self);
	return NULL;
}

static bool start(const char *lines)
{
	struct pd_daemon_options options = daemon_options();

	options.warn = keep_warning;
	*warnings = '\0';
	if (!answer)
		answer = pd_text_new();
	return answer && configure(lines) && pd_daemon_open(&options, &server, &error) == PD_OK &&
	       pthread_create(&thread, NULL, serve, server) == 0;
}

/* The answer to a command; the error if there is one. */
static const char *ask(struct pd_daemon_request request)
{
	// the configuration may be damaged
	const struct pd_daemon_options options = { .size = sizeof(options), .base = folder.base };

	request.size = sizeof(request);
	error.status = PD_OK;
	pd_text_clear(answer);
	if (pd_daemon_ask(&options, &request, answer, &error) < 0 && error.status != PD_ERROR_NO_MATCH)
		return error.message;
	if (!pd_text_bytes(answer).size && error.status == PD_ERROR_NO_MATCH)
		return error.message;
	pd_text_printf(answer, "%c", 0);
	return (const char *)pd_text_bytes(answer).data;
}

static const char *ask_for(const char *command, const char *session)
{
	return ask((struct pd_daemon_request){ .command = command, .session = session });
}

static void rest(void)
{
	nanosleep(&(const struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* Until a session answers, or is not there. */
static void await(const char *session, const char *word)
{
	while (strncmp(ask_for("ping", session), word, strlen(word)) != 0)
		rest();
}

static bool stop(void)
{
	bool ok = !*ask_for("stop", NULL);

	return pthread_join(thread, NULL) == 0 && ok && ended == PD_OK;
}

static int pid_of(const char *session)
{
	char wanted[64];
	const char *list = ask((struct pd_daemon_request){ .command = "list", .separator = "|" }), *found;

	snprintf(wanted, sizeof(wanted), "|%s|", session);
	found = strstr(list, wanted);
	while (found && found > list && found[-1] != '\n')
		found--;
	return found ? atoi(found) : 0;
}

/* What a file of a session has, as soon as it is there. */
static const char *content(const char *session, const char *name)
{
	static char text[1024];
	char path[256];
	size_t got = 0;

	snprintf(path, sizeof(path), "%s/session-%s/%s", folder.base, session, name);
	while (!got) {
		FILE *file = fopen(path, "r");

		if (file) {
			got = fread(text, 1, sizeof(text) - 1, file);
			fclose(file);
		}
		if (!got)
			rest();
	}
	text[got] = '\0';
	return text;
}

TEST(listed)
{
	char wanted[1024];

	CHECK(folder_make() && start("[session-one]\nrun = -e 'a b' -a\n[session-two]\nrun = deaf\n"));
	await("one", "OK");
	CHECK_STR(content("one", "words"), "record --control=fifo:control,ack -e a b -a\n");
	snprintf(wanted, sizeof(wanted),
		 "[%d:daemon] base: %s\n[%d:one] perfdata record -e 'a b' -a\n[%d:two] perfdata record deaf\n",
		 (int)getpid(), folder.base, pid_of("one"), pid_of("two"));
	CHECK_STR(ask_for("list", NULL), wanted);
	snprintf(wanted, sizeof(wanted),
		 "%d|daemon|%s|%s/output|%s/lock|0\n%d|one|-e 'a b' -a|%s/session-one|%s/session-one/output|"
		 "%s/session-one/control|%s/session-one/ack|0\n",
		 (int)getpid(), folder.base, folder.base, folder.base, pid_of("one"), folder.base, folder.base,
		 folder.base, folder.base);
	CHECK(strstr(ask((struct pd_daemon_request){ .command = "list", .separator = "|" }), wanted));
	snprintf(wanted, sizeof(wanted), "  base:    %s/session-one\n  output:  %s/session-one/output\n", folder.base,
		 folder.base);
	CHECK(strstr(ask((struct pd_daemon_request){ .command = "list", .verbose = true }), wanted));
	CHECK(strstr(ask((struct pd_daemon_request){ .command = "list", .verbose = true }), "  up:      0 minutes\n"));
}

TEST(asked)
{
	char wanted[256];

	CHECK_STR(ask_for("ping", NULL), "OK   one\nFAIL two\n");
	CHECK(error.status == PD_ERROR_NO_MATCH);
	CHECK_STR(ask_for("ping", "three"), "FAIL three (not found)\n");
	snprintf(wanted, sizeof(wanted), "signal 12 sent to session 'one [%d]'\n", pid_of("one"));
	CHECK_STR(ask_for("signal", "one"), wanted);
	CHECK_STR(content("one", "signals"), "signal\n");
	/* it is alive, but nobody knows whether it could take it */
	snprintf(wanted, sizeof(wanted), "session 'two [%d]' does not answer: no signal was sent\n", pid_of("two"));
	CHECK_STR(ask_for("signal", "two"), wanted);
	CHECK(kill(pid_of("two"), 0) == 0);
}

/* Connects, sends, and returns what comes back. */
static const char *speak(const char *bytes, size_t size, bool end)
{
	static char text[256];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ssize_t got;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/control", folder.base);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return "";
	if (size && send(fd, bytes, size, MSG_NOSIGNAL) < 0)
		return "";
	if (end)
		shutdown(fd, SHUT_WR);
	got = recv(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

TEST(others)
{
	static char large[100000];
	static const char refusal[] = "!";

	memset(large, 'x', sizeof(large));
	CHECK(!strncmp(speak("", 0, true), refusal, 1));
	CHECK(!strncmp(speak("list", 4, true), refusal, 1));
	CHECK(!strncmp(speak("list\n\n\n\n\n", 9, true), refusal, 1));
	CHECK(!strncmp(speak("fly\n\n\n\n", 7, true), refusal, 1));
	CHECK(!strncmp(speak("\0\0\0\0\n\n\n\n", 8, true), refusal, 1));
	/* one who keeps the connection, and one who sends too much; either may be cut off before the answer comes */
	CHECK(!strncmp(speak("list\n", 5, false), refusal, 1));
	speak(large, sizeof(large), false);
	CHECK(!strncmp(ask_for("ping", "one"), "OK", 2));
}

TEST(changed)
{
	int one = pid_of("one"), two = pid_of("two");

	CHECK(one > 0 && two > 0);
	CHECK(configure("[session-one]\nrun = -e 'a b' -a\n[session-two]\nrun = other\n[session-new]\nrun = x\n"));
	await("two", "OK");
	await("new", "OK");
	CHECK(pid_of("one") == one && pid_of("two") != two && kill(two, 0) < 0 && errno == ESRCH);
	/* what is damaged changes nothing */
	CHECK(configure("[session-one\n"));
	while (!was_warned("the sessions stay as they are"))
		rest();
	CHECK(!strncmp(ask_for("ping", "one"), "OK", 2) && pid_of("one") == one);
	CHECK(configure(""));
	await("one", "FAIL");
	await("two", "FAIL");
	await("new", "FAIL");
	CHECK(kill(one, 0) < 0 && errno == ESRCH);
	/* the same name again */
	CHECK(configure("[session-one]\nrun = ends\n"));
	while (!was_warned("session 'one' [") || !was_warned("has ended: exit code 3"))
		rest();
	CHECK(!pid_of("one"));
	CHECK(stop());
	CHECK_STR(ask_for("list", NULL) + strlen("no daemon runs in "), folder.base);
}

TEST(stopped_by_a_handler)
{
	CHECK(start("[session-one]\nrun = a\n"));
	await("one", "OK");
	pd_daemon_stop(server);
	CHECK(pthread_join(thread, NULL) == 0 && ended == PD_OK);
}

/* A link to the configuration is followed, and a new file in its place is noticed. */
TEST(replaced)
{
	char other[128];

	CHECK(start(""));
	snprintf(other, sizeof(other), "%s.new", folder.config);
	CHECK(configure("[session-one]\nrun = a\n") && rename(folder.config, other) == 0);
	CHECK(rename(other, folder.config) == 0);
	await("one", "OK");
	CHECK(stop());
}

TEST(stubborn)
{
	CHECK(start("[session-one]\nrun = stubborn\n"));
	await("one", "OK");
	CHECK(stop());
}

TEST(no_program)
{
	CHECK(unlink(folder.program) == 0 && start("[session-one]\nrun = a\n"));
	while (!was_warned("has ended: exit code 127"))
		rest();
	CHECK(strstr(content("one", "output"), "program: cannot be run\n"));
	CHECK(stop());
	folder_remove();
	pd_text_free(answer);
}

RUN(TEST_CASE(listed), TEST_CASE(asked), TEST_CASE(others), TEST_CASE(changed), TEST_CASE(stopped_by_a_handler),
    TEST_CASE(replaced), TEST_CASE(stubborn), TEST_CASE(no_program))
