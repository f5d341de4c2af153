/* SPDX-License-Identifier: MIT */
/* The side of those who ask a daemon: the words of a request are written to its socket, and its answer is read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/text.h"
#include "daemon/parts.h"

enum {
	PATIENCE_S = 60,      // of the longest answer: sessions end
	MOST_BYTES = 16 << 20 // of an answer
};

static enum pd_status find_base(const struct pd_daemon_options *options, char path[PD_DAEMON_PATH],
				struct pd_error *error)
{
	struct pd_config *config = NULL;
	enum pd_status status = options->base ? PD_OK : pd_daemon_config_load(options, &config, error);

	if (status >= 0)
		status = pd_daemon_base_path(options, config, path, error);
	pd_config_free(config);
	return status;
}

// ---- the request ----

static bool is_word(const char *word)
{
	return !word || !strchr(word, '\n');
}

static enum pd_status request_text(const struct pd_daemon_request *request, char text[PD_DAEMON_REQUEST],
				   struct pd_error *error)
{
	static const char *const commands[] = { "list", "ping", "signal", "stop" };
	bool known = false;
	const char *session = request->session ? request->session : "";
	const char *separator = !request->separator ? "" : *request->separator ? request->separator : ",";
	int length = snprintf(text, PD_DAEMON_REQUEST, "%s\n%s\n%s\n%s\n", request->command, session, separator,
			      request->verbose ? "verbose" : "");

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		known |= !strcmp(request->command, commands[i]);
	if (!known)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "unknown command '%s'; expected start, stop, signal, ping or list", request->command);
	if (length >= PD_DAEMON_REQUEST || !is_word(session) || !is_word(separator))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "the name of a session, or a separator, is too long or has a line end");
	return PD_OK;
}

static enum pd_status connect_to(int fd, const char *base, struct pd_error *error)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un address;
	enum pd_status status = pd_daemon_address(base, &address, error);

	if (status < 0)
		return status;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return PD_OK;
	if (errno == ENOENT || errno == ECONNREFUSED)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no daemon runs in %s", base);
	return pd_fail_system(error, errno, "%s/control", base);
}

// ---- the answer ----

static bool read_answer(int fd, struct pd_text *bytes)
{
	char part[4096];
	ssize_t got;

	while ((got = recv(fd, part, sizeof(part), 0)) > 0 && pd_text_bytes(bytes).size < MOST_BYTES)
		pd_text_put(bytes, part, (size_t)got);
	return got == 0;
}

static enum pd_status take_answer(struct pd_bytes bytes, struct pd_text *answer, struct pd_error *error)
{
	const char *at = (const char *)bytes.data, *end = at + bytes.size;
	char kind = bytes.size ? *at : 0;

	if (kind == PD_DAEMON_FAILED)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%.*s", (int)(end - at - 1), at + 1);
	if (kind != PD_DAEMON_YES && kind != PD_DAEMON_NO)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "the daemon ended without an answer");
	pd_text_escaped_lines(answer, (struct pd_bytes){ bytes.data + 1, bytes.size - 1 });
	if (pd_text_failed(answer))
		return pd_fail_memory(error);
	return kind == PD_DAEMON_NO ?
		       pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "not all sessions are there and answer") :
		       PD_OK;
}

static enum pd_status ask_through(int fd, const char *text, struct pd_text *answer, struct pd_error *error)
{
	struct pd_text *bytes = pd_text_new();
	enum pd_status status;

	if (!bytes)
		return pd_fail_memory(error);
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0 || shutdown(fd, SHUT_WR) < 0 || !read_answer(fd, bytes))
		status = pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "the daemon does not answer: %s",
				 strerror(errno));
	else
		status = take_answer(pd_text_bytes(bytes), answer, error);
	pd_text_free(bytes);
	return status;
}

enum pd_status pd_daemon_ask(const struct pd_daemon_options *options, const struct pd_daemon_request *request,
			     struct pd_text *answer, struct pd_error *error)
{
	char base[PD_DAEMON_PATH], text[PD_DAEMON_REQUEST];
	struct pd_daemon_options all = { 0 };
	struct pd_daemon_request wanted = { 0 };
	enum pd_status status;
	int fd;

	if (!options || !options->size || !request || !request->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size of options or request is not set");
	memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	memcpy(&wanted, request, request->size < sizeof(wanted) ? request->size : sizeof(wanted));
	status = request_text(&wanted, text, error);
	if (status >= 0)
		status = find_base(&all, base, error);
	if (status < 0)
		return status;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return pd_fail_system(error, errno, "cannot ask the daemon");
	status = connect_to(fd, base, error);
	if (status >= 0)
		status = ask_through(fd, text, answer, error);
	close(fd);
	return status;
}
