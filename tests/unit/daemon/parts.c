/* SPDX-License-Identifier: MIT */
/* What a configuration says of sessions, and what the directory of a daemon may be. */
#include "daemon/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "../test.h"
#include "folder.h"

static struct pd_error error;

static bool splits(const char *line, const char *wanted)
{
	char text[256], got[256] = "", **words = NULL;
	size_t capacity = 0, count = 0;

	snprintf(text, sizeof(text), "%s", line);
	if (!pd_daemon_split(text, &words, &capacity, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "<%s>", words[i]);
	pd_free(words);
	if (strcmp(got, wanted) != 0)
		fprintf(stderr, "# %s\n", got);
	return !strcmp(got, wanted);
}

TEST(made)
{
	CHECK(folder_make());
}

TEST(words)
{
	CHECK(splits("", ""));
	CHECK(splits(" \t ", ""));
	CHECK(splits("-e cpu-clock  -a", "<-e><cpu-clock><-a>"));
	CHECK(splits(" -e 'sched:* x' \"a 'b'\" ", "<-e><sched:* x><a 'b'>"));
	CHECK(splits("a\\ b '\\' \"\\\"\" c\\", "<a b><\\><\"><c\\>"));
	CHECK(splits("'' x\"\"y", "<><xy>"));
	CHECK(splits("'open end", "<open end>"));
}

TEST(names)
{
	const char *name;
	size_t length;

	CHECK(pd_daemon_session_of("session-a.run", &name, &length) && length == 1 && *name == 'a');
	CHECK(pd_daemon_session_of("session-a.b.run", &name, &length) && length == 3 && !memcmp(name, "a.b", 3));
	CHECK(!pd_daemon_session_of("session-.run", &name, &length));
	CHECK(!pd_daemon_session_of("session-a.ran", &name, &length));
	CHECK(!pd_daemon_session_of("session-a", &name, &length));
	CHECK(!pd_daemon_session_of("xsession-a.run", &name, &length));
	CHECK(!pd_daemon_session_of("", &name, &length));
}

/* What opening a daemon says; "" if it can be opened. */
static const char *opening(const struct pd_daemon_options *options)
{
	struct pd_daemon *daemon;

	if (pd_daemon_open(options, &daemon, &error) < 0)
		return error.message;
	pd_daemon_close(daemon);
	return "";
}

static const char *opening_with(const char *text)
{
	const struct pd_daemon_options options = daemon_options();

	return write_file(folder.config, text) ? opening(&options) : "cannot write";
}

TEST(configurations)
{
	struct pd_daemon_options options = daemon_options();
	char long_path[200];

	CHECK(strstr(opening(&options), "config: No such file"));
	CHECK(strstr(opening_with(""), "no base: the key daemon.base is not set"));
	CHECK(strstr(opening_with("[daemon]\nbase\n"), "base true: No such file"));
	CHECK(strstr(opening_with("[daemon\n"), "config:1: "));
	CHECK(strstr(opening_with("[daemon]\nbase=/no/such\n"), "base /no/such: No such file"));
	CHECK(configure("[session-a \"/b\"]\nrun=x\n"));
	CHECK(strstr(opening(&options), "session 'a./b': the name is no name of a directory"));
	CHECK(configure(""));
	CHECK_STR(opening(&options), "");
	options.base = folder.config;
	CHECK(strstr(opening(&options), "Not a directory"));
	snprintf(long_path, sizeof(long_path), "%s/%0*d", folder.path, 120, 0);
	CHECK(mkdir(long_path, 0755) == 0);
	options.base = long_path;
	CHECK(strstr(opening(&options), "would have a path of more than 107 bytes"));
	options.size = 0;
	CHECK(strstr(opening(&options), "size is not set"));
	CHECK(strstr(opening(NULL), "size is not set"));
	options = (struct pd_daemon_options){ .size = sizeof(options), .config = "" };
	CHECK(strstr(opening(&options), "no base"));
}

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder.base, name);
	return access(path, F_OK) == 0;
}

TEST(sockets)
{
	const struct pd_daemon_options options = daemon_options();
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char control[128];

	/* one that a daemon left behind which was killed */
	CHECK(configure("") && pd_daemon_address(folder.base, &address, &error) == PD_OK);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && close(fd) == 0);
	CHECK_STR(opening(&options), "");
	CHECK(!is_there("control"));
	/* something else is not removed */
	snprintf(control, sizeof(control), "%s/control", folder.base);
	CHECK(write_file(control, "mine"));
	CHECK(strstr(opening(&options), "/control: File exists"));
	CHECK(is_there("control") && unlink(control) == 0);
}

TEST(links)
{
	const struct pd_daemon_options options = daemon_options();
	char lock[128], other[128], wanted[128];

	snprintf(lock, sizeof(lock), "%s/lock", folder.base);
	snprintf(other, sizeof(other), "%s/other", folder.path);
	unlink(lock);
	CHECK(write_file(other, "mine") && symlink(other, lock) == 0);
	snprintf(wanted, sizeof(wanted), "/lock: %s", strerror(ELOOP));
	CHECK(strstr(opening(&options), wanted));
	CHECK(unlink(lock) == 0 && mkfifo(lock, 0600) == 0);
	CHECK(*opening(&options));
	CHECK(unlink(lock) == 0);
}

TEST(owners)
{
	struct pd_daemon_options options = daemon_options();
	char wanted[200];
	struct pd_daemon *daemon;

	CHECK(pd_daemon_open(&options, &daemon, &error) == PD_OK);
	/* a lock is that of a process */
	options.background = true;
	snprintf(wanted, sizeof(wanted), "another perf daemon (pid %d) owns %s", (int)getpid(), folder.base);
	CHECK_STR(opening(&options), wanted);
	CHECK(error.status == PD_ERROR_OUTPUT);
	pd_daemon_close(daemon);
}

TEST(asked_without_a_daemon)
{
	struct pd_daemon_options options = daemon_options();
	struct pd_daemon_request request = { .size = sizeof(request), .command = "list" };
	struct pd_text *text = pd_text_new();

	CHECK(pd_daemon_ask(&options, &request, text, &error) == PD_ERROR_NO_MATCH);
	CHECK(strstr(error.message, "no daemon runs in "));
	request.command = "start";
	CHECK(pd_daemon_ask(&options, &request, text, &error) == PD_ERROR_ARGUMENT);
	request.command = "ping";
	request.session = "a\nb";
	CHECK(pd_daemon_ask(&options, &request, text, &error) == PD_ERROR_ARGUMENT);
	request.session = NULL;
	options.base = "/no/such";
	CHECK(pd_daemon_ask(&options, &request, text, &error) == PD_ERROR_OUTPUT);
	options.base = folder.config;
	CHECK(pd_daemon_ask(&options, &request, text, &error) == PD_ERROR_SYSTEM);
	CHECK(!pd_text_bytes(text).size);
	pd_text_free(text);
}

TEST(removed)
{
	folder_remove();
	CHECK(access(folder.path, F_OK) < 0);
}

RUN(TEST_CASE(made), TEST_CASE(words), TEST_CASE(names), TEST_CASE(configurations), TEST_CASE(sockets),
    TEST_CASE(links), TEST_CASE(owners), TEST_CASE(asked_without_a_daemon), TEST_CASE(removed))
