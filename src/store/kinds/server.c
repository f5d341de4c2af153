/* SPDX-License-Identifier: MIT */
/* clickhouse://host:port/database, by HTTP; clickhouses:// by HTTPS. */
#include "store/kinds/server.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "store/kinds/http.h"

enum {
	HEADER_SIZE = 512,
	SHOWN = 200, // bytes of what a server answers
	TRIES = 4,
	HTTP_OK = 200,
	TOO_MANY = 429,
	SERVER_FAILS = 500,
	MS = 1000000,
	FIRST_WAIT_MS = 100, // four times as long each time
	FACTOR = 4
};

struct pd_store_server {
	char *base; // URL up to the settings and the statement
	char *name;
	char user[HEADER_SIZE], key[HEADER_SIZE]; // headers; empty without credentials
	void *http;
	bool is_gone, may_recover; // after the last statement
};

// ---- where it is ----

static const char *skip_scheme(const char *url, bool *is_secret_out)
{
	static const char plain[] = "clickhouse://", secret[] = "clickhouses://";

	*is_secret_out = !strncmp(url, secret, strlen(secret));
	if (*is_secret_out)
		return url + strlen(secret);
	return strncmp(url, plain, strlen(plain)) ? NULL : url + strlen(plain);
}

static bool all_are(const char *text, size_t size, const char *others)
{
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(others, text[i]))
			return false;
	return size;
}

static enum pd_status take_url(struct pd_store_server *server, const char *url, struct pd_error *error)
{
	bool is_secret;
	const char *host = skip_scheme(url, &is_secret), *slash = host ? strchr(host, '/') : NULL;
	size_t size = slash ? (size_t)(slash - host) : 0;
	struct pd_text text = { 0 };

	// the text is not shown: there may be a password in it
	if (slash && memchr(host, '@', size))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "credentials are no part of clickhouse://HOST:PORT/DATABASE (see docs/store.md)");
	if (!slash || !all_are(host, size, ".-_:[]") || !all_are(slash + 1, strlen(slash + 1), "_"))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "a server is clickhouse://HOST:PORT/DATABASE, with letters, digits and _ in DATABASE");
	pd_text_printf(&text, "http%s://%.*s/?database=%s%c", is_secret ? "s" : "", (int)size, host, slash + 1, 0);
	server->base = text.failed ? NULL : text.data;
	if (text.failed)
		pd_free(text.data);
	text = (struct pd_text){ 0 };
	pd_text_printf(&text, "%.*s-%s%c", (int)size, host, slash + 1, 0);
	server->name = text.failed ? NULL : text.data;
	if (text.failed)
		pd_free(text.data);
	return server->base && server->name ? PD_OK : pd_fail_memory(error);
}

// ---- who asks ----

// The first line of a file, without its end.
static enum pd_status read_line(const char *path, char *line, size_t size, struct pd_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, size - 1);
	int failure = errno;

	if (fd >= 0)
		close(fd);
	if (got < 0)
		return pd_fail_system(error, failure, "%s: credentials cannot be read", path);
	line[got] = 0;
	line[strcspn(line, "\r\n")] = 0;
	return PD_OK;
}

static void forget(void *memory, size_t size)
{
	volatile uint8_t *at = memory;

	while (size--)
		*at++ = 0;
}

static enum pd_status take_pair(struct pd_store_server *server, const char *pair, struct pd_error *error)
{
	const char *colon = strchr(pair, ':');

	if (!colon || colon == pair || strlen(pair) > HEADER_SIZE / 2 || pair[strcspn(pair, "\r\n")])
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "credentials are USER:PASSWORD, or @FILE with that as its first line");
	snprintf(server->user, sizeof(server->user), "X-ClickHouse-User: %.*s", (int)(colon - pair), pair);
	snprintf(server->key, sizeof(server->key), "X-ClickHouse-Key: %s", colon + 1);
	return PD_OK;
}

static enum pd_status take_credentials(struct pd_store_server *server, const char *credentials, struct pd_error *error)
{
	char line[HEADER_SIZE];
	enum pd_status status;

	if (!credentials || !*credentials)
		return PD_OK;
	if (*credentials != '@')
		return take_pair(server, credentials, error);
	status = read_line(credentials + 1, line, sizeof(line), error);
	if (status >= 0)
		status = take_pair(server, line, error);
	forget(line, sizeof(line));
	return status;
}

enum pd_status pd_store_server_open(const char *url, const struct pd_store_profile *profile,
				    struct pd_store_server **server_out, struct pd_error *error)
{
	struct pd_store_server *server = pd_alloc(sizeof(*server));
	enum pd_status status = server ? take_url(server, url, error) : pd_fail_memory(error);

	if (status >= 0)
		status = take_credentials(server, profile ? profile->credentials : NULL, error);
	if (status >= 0 && !pd_http_curl.open)
		status = pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
				 "this build has no libcurl (see docs/dependencies.md)");
	if (status >= 0)
		status = pd_http_curl.open(&server->http, error);
	if (status < 0)
		pd_store_server_close(server);
	else
		*server_out = server;
	return status;
}

void pd_store_server_close(struct pd_store_server *server)
{
	if (!server)
		return;
	if (server->http)
		pd_http_curl.close(server->http);
	pd_free(server->base);
	pd_free(server->name);
	forget(server->user, sizeof(server->user));
	forget(server->key, sizeof(server->key));
	pd_free(server);
}

const char *pd_store_server_name(const struct pd_store_server *server)
{
	return server->name;
}

// ---- what it answers ----

static void put_encoded(struct pd_text *text, const char *statement)
{
	for (; *statement; statement++)
		if (isalnum((unsigned char)*statement))
			pd_text_char(text, *statement);
		else
			pd_text_printf(text, "%%%02X", (unsigned char)*statement);
}

static void wait_for_turn(unsigned turn)
{
	struct timespec pause = { .tv_nsec = FIRST_WAIT_MS * MS };

	for (; turn > 1; turn--) {
		pause.tv_nsec *= FACTOR;
		pause.tv_sec = pause.tv_sec * FACTOR + pause.tv_nsec / (1000L * MS);
		pause.tv_nsec %= 1000L * MS;
	}
	while (nanosleep(&pause, &pause) < 0 && errno == EINTR)
		;
}

static bool is_exception(const struct pd_text *answer)
{
	static const char code[] = "Code: ";

	return answer->size >= strlen(code) && !memcmp(answer->data, code, strlen(code));
}

static enum pd_status fail_refused(const struct pd_store_server *server, long code, struct pd_text *answer,
				   struct pd_error *error)
{
	struct pd_text shown = { 0 };
	enum pd_status status;

	pd_text_escaped(&shown, answer->data ? answer->data : "", answer->size < SHOWN ? answer->size : SHOWN);
	pd_text_char(&shown, 0);
	status = shown.failed ? pd_fail_memory(error) :
				pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s answers %ld: %s", server->name, code,
					shown.data);
	pd_free(shown.data);
	return status;
}

static enum pd_status fail_gone(const struct pd_store_server *server, struct pd_error *error)
{
	char why[sizeof(error->message)];

	if (!error)
		return PD_ERROR_OUTPUT;
	memcpy(why, error->message, sizeof(why));
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %.900s", server->name, why);
}

enum pd_status pd_store_server_run(struct pd_store_server *server, const char *settings, const char *statement,
				   struct pd_bytes body, struct pd_text *answer, struct pd_error *error)
{
	const char *headers[] = { "Expect:", "Content-Type: application/octet-stream",
				  *server->user ? server->user : NULL, *server->user ? server->key : NULL, NULL };
	struct pd_http_request request = { .headers = headers,
					   .body = body.size ? (const void *)body.data : "",
					   .size = body.size,
					   .limit = PD_STORE_ANSWER_BYTES };
	struct pd_text url = { 0 };
	enum pd_status status;
	long code = 0;

	pd_text_printf(&url, "%s%s&query=", server->base, settings);
	put_encoded(&url, statement);
	pd_text_char(&url, 0);
	request.url = url.data;
	status = url.failed ? pd_fail_memory(error) : pd_http_curl.post(server->http, &request, answer, &code, error);
	pd_free(url.data);
	server->is_gone = status == PD_ERROR_OUTPUT || code == TOO_MANY || code > SERVER_FAILS;
	server->may_recover = server->is_gone || code == SERVER_FAILS || (code == HTTP_OK && is_exception(answer));
	if (status < 0)
		return status == PD_ERROR_OUTPUT ? fail_gone(server, error) : status;
	return code == HTTP_OK && !is_exception(answer) ? PD_OK : fail_refused(server, code, answer, error);
}

bool pd_store_server_is_gone(const struct pd_store_server *server)
{
	return server->is_gone;
}

bool pd_store_server_wait(const struct pd_store_server *server, unsigned turn)
{
	if (!server->may_recover || turn >= TRIES)
		return false;
	wait_for_turn(turn);
	return true;
}
