/* SPDX-License-Identifier: MIT */
/*
 * The server, by libmicrohttpd: one thread, on the loopback address. Each page holds a stream of events open, by which
 * the server knows that it is there. Connections that say nothing, or say it too slowly, are ended.
 */
#include "server/server.h"

#include "server/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/follow.h"

enum {
	CONNECTIONS_MOST = 64,
	CONNECTIONS_SPARE = 16, /* for those who come next */
	CONNECTION_BYTES = 32 << 10,
	IDLE_SECONDS = 15,
	REQUEST_SECONDS = 10, /* until a request is complete */
	ANSWER_SECONDS = 120, /* until an answer is sent */
	GRACE_SECONDS = 3,    /* from the last page on: it may be loaded again */
	TICK_MS = 250,
	PARAMETERS_MOST = 16,
	PING_SECONDS = 1
};

struct connection {
	struct MHD_Connection *http; /* NULL: free */
	bool asked;                  /* the request is complete, and not answered yet */
	bool streams, asleep;
	bool has_news;
	bool ended;
	time_t since;
	uint64_t turn; /* the smaller, the longer it has been idle */
};

struct server {
	struct server_options options;
	struct pd_viewer_guard guard;
	struct MHD_Daemon *daemon;
	struct connection connections[CONNECTIONS_MOST];
	size_t pages;
	bool had_page;
	time_t left; /* when the last page was closed */
	time_t ticked;
	uint64_t turns;
	volatile sig_atomic_t stopped;
	char address[128];
};

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* ---- connections ---- */

static void note_connection(void *self, struct MHD_Connection *http, void **context,
			    enum MHD_ConnectionNotificationCode what)
{
	struct server *server = self;
	struct connection *connection = *context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (connection && connection->streams && !--server->pages)
			server->left = now();
		if (connection)
			memset(connection, 0, sizeof(*connection));
		return;
	}
	for (size_t i = 0; i < CONNECTIONS_MOST && !*context; i++)
		if (!server->connections[i].http)
			*context = &server->connections[i];
	if (*context)
		*(struct connection *)*context =
			(struct connection){ .http = http, .since = now(), .turn = ++server->turns };
}

static struct connection *connection_of(struct MHD_Connection *http)
{
	const union MHD_ConnectionInfo *info = httpd.get_connection_info(http, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void note_done(void *self, struct MHD_Connection *http, void **context, enum MHD_RequestTerminationCode why)
{
	struct connection *connection = connection_of(http);
	struct server *server = self;

	(void)context;
	(void)why;
	if (!connection)
		return;
	connection->asked = false;
	connection->since = now();
	connection->turn = ++server->turns;
}

static void end_connection(struct connection *connection)
{
	const union MHD_ConnectionInfo *info =
		httpd.get_connection_info(connection->http, MHD_CONNECTION_INFO_CONNECTION_FD);

	connection->ended = true;
	if (info)
		shutdown(info->connect_fd, SHUT_RDWR);
}

/* A client that sends a byte now and then is never idle. */
static void end_slow(struct server *server)
{
	for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->http && !connection->streams &&
		    now() - connection->since > (connection->asked ? ANSWER_SECONDS : REQUEST_SECONDS))
			end_connection(connection);
	}
}

/* The connection that has been idle longest, or NULL. Counts those that are free or will be. */
static struct connection *find_idle(struct server *server, size_t *free_out)
{
	struct connection *oldest = NULL;

	*free_out = 0;
	for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
		struct connection *connection = &server->connections[i];

		if (!connection->http || connection->ended)
			++*free_out;
		else if (!connection->asked && !connection->streams && (!oldest || connection->turn < oldest->turn))
			oldest = connection;
	}
	return oldest;
}

/* Clients that connect and say nothing do not keep others out. */
static void end_idle(struct server *server)
{
	struct connection *idle;
	size_t spare;

	while ((idle = find_idle(server, &spare)) != NULL && spare < CONNECTIONS_SPARE)
		end_connection(idle);
}

/* ---- the stream of events ---- */

/* Sleeps until there is something to say, or the connection is to be tried. */
static ssize_t read_events(void *self, uint64_t at, char *buffer, size_t size)
{
	static const char ping[] = ":\n\n", news[] = "event: data\ndata: \n\n";
	struct connection *connection = self;
	const char *text = connection->has_news ? news : ping;

	if (size < sizeof(news))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (at && connection->asleep) {
		httpd.suspend_connection(connection->http);
		return 0;
	}
	connection->asleep = true;
	connection->has_news = false;
	memcpy(buffer, text, strlen(text));
	return (ssize_t)strlen(text);
}

static void wake_streams(struct server *server, bool has_news)
{
	for (size_t i = 0; i < CONNECTIONS_MOST; i++) {
		struct connection *connection = &server->connections[i];

		if (!connection->streams)
			continue;
		connection->has_news |= has_news;
		if (connection->asleep) {
			connection->asleep = false;
			httpd.resume_connection(connection->http);
		}
	}
}

/* ---- answers ---- */

static void add_headers(struct MHD_Response *response, const char *type, bool is_page)
{
	static const char *const headers[][2] = {
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Embedder-Policy", "require-corp" },
		{ "Cache-Control", "no-store" },
	};
	struct pd_str policy = is_page ? pd_viewer_policy() : (struct pd_str){ "default-src 'none'", 18 };
	char text[1024];

	snprintf(text, sizeof(text), "%.*s; frame-ancestors 'none'", (int)policy.length, policy.data);
	httpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	httpd.add_response_header(response, "Content-Security-Policy", text);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		httpd.add_response_header(response, headers[i][0], headers[i][1]);
}

/* Takes the response. */
static enum MHD_Result send_response(struct MHD_Connection *http, unsigned code, const char *type, bool is_page,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(response, type, is_page);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		httpd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = httpd.queue_response(http, code, response);
	httpd.destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *http, unsigned code)
{
	static char text[] = "no\n";

	return send_response(http, code, "text/plain", false,
			     httpd.create_response_from_buffer(sizeof(text) - 1, text, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_events(struct server *server, struct MHD_Connection *http)
{
	struct connection *connection = connection_of(http);

	if (!connection)
		return MHD_NO;
	if (!connection->streams)
		server->pages++;
	connection->streams = true;
	connection->asleep = false;
	server->had_page = true;
	return send_response(http, MHD_HTTP_OK, "text/event-stream", false,
			     httpd.create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_events, connection,
								 NULL));
}

static enum MHD_Result send_no_events(struct MHD_Connection *http)
{
	static char nothing[] = "";

	return send_response(http, MHD_HTTP_OK, "text/event-stream", false,
			     httpd.create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT));
}

struct parameters {
	struct pd_viewer_parameter items[PARAMETERS_MOST];
	size_t count;
};

static enum MHD_Result take_parameter(void *self, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct parameters *parameters = self;

	(void)kind;
	if (parameters->count == PARAMETERS_MOST)
		return MHD_NO;
	parameters->items[parameters->count++] = (struct pd_viewer_parameter){ name, value ? value : "" };
	return MHD_YES;
}

/* Of two recordings the second one has paths that end in /1. */
static struct pd_viewer *view_of(const struct server *server, char *path)
{
	const struct server_options *options = &server->options;
	size_t length = strlen(path), index = 0;

	if (length >= 2 && strcmp(path + length - 2, "/1") == 0) {
		path[length - 2] = 0;
		index = 1;
	}
	if (options->follow)
		return index ? NULL : options->follow->view;
	return index < options->count ? options->views[index] : NULL;
}

static enum MHD_Result send_answer(struct server *server, struct MHD_Connection *http, const char *url)
{
	struct parameters parameters = { .count = 0 };
	struct pd_viewer_answer answer;
	struct MHD_Response *response;
	struct pd_viewer *view;
	char path[32], name[64];

	if (snprintf(path, sizeof(path), "%s", url) >= (int)sizeof(path))
		return refuse(http, MHD_HTTP_NOT_FOUND);
	view = view_of(server, path);
	if (!view)
		return refuse(http, MHD_HTTP_NOT_FOUND);
	httpd.get_connection_values(http, MHD_GET_ARGUMENT_KIND, take_parameter, &parameters);
	if (pd_viewer_answer(view, path, parameters.items, parameters.count, &answer, NULL) < 0)
		return refuse(http, MHD_HTTP_INTERNAL_SERVER_ERROR);
	response = httpd.create_response_from_buffer(answer.body.size, (void *)(uintptr_t)answer.body.data,
						     MHD_RESPMEM_MUST_COPY);
	if (response && answer.file_name) {
		snprintf(name, sizeof(name), "attachment; filename=\"%s\"", answer.file_name);
		httpd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, name);
	}
	return send_response(http, answer.code, answer.type, !*path, response);
}

/* ---- requests ---- */

static enum MHD_Result count_host(void *self, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct pd_viewer_caller *caller = self;

	(void)kind;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST) != 0)
		return MHD_YES;
	caller->host = value;
	caller->hosts++;
	return MHD_YES;
}

/* Nothing that is asked here has one. */
static bool has_body(struct MHD_Connection *http)
{
	const char *length = httpd.lookup_connection_value(http, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       httpd.lookup_connection_value(http, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result take_request(void *self, struct MHD_Connection *http, const char *url, const char *method,
				    const char *version, const char *data, size_t *size, void **context)
{
	struct server *server = self;
	struct connection *connection = connection_of(http);
	struct pd_viewer_caller caller = {
		.method = method,
		.url = url,
		.origin = httpd.lookup_connection_value(http, MHD_HEADER_KIND, "Origin"),
		.site = httpd.lookup_connection_value(http, MHD_HEADER_KIND, "Sec-Fetch-Site"),
		.mode = httpd.lookup_connection_value(http, MHD_HEADER_KIND, "Sec-Fetch-Mode"),
	};
	const char *path;
	unsigned code;

	(void)version;
	(void)data;
	(void)size;
	if (connection) {
		connection->asked = true;
		connection->since = now();
	}
	httpd.get_connection_values(http, MHD_HEADER_KIND, count_host, &caller);
	path = pd_viewer_admit(&server->guard, &caller, &code);
	if (!path || has_body(http))
		return refuse(http, path ? MHD_HTTP_CONTENT_TOO_LARGE : code);
	/* Who is answered at once must not ask again. */
	if (!*context) {
		*context = server;
		return MHD_YES;
	}
	if (strcmp(path, "alive") != 0)
		return send_answer(server, http, path);
	/* no stream follows, so it is no page */
	return strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 ? send_no_events(http) : send_events(server, http);
}

/* ---- the loop ---- */

/* A socket of this machine only. */
static enum pd_status listen_here(struct server *server, int *fd_out, struct pd_error *error)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)server->options.port),
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	enum pd_status status;
	char what[64];

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, CONNECTIONS_MOST) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		server->guard.port = ntohs(address.sin_port);
		*fd_out = fd;
		return PD_OK;
	}
	snprintf(what, sizeof(what), "cannot listen at 127.0.0.1:%u", server->options.port);
	status = server_fail(error, PD_ERROR_SYSTEM, what);
	if (fd >= 0)
		close(fd);
	return status;
}

static enum pd_status start_daemon(struct server *server, struct pd_error *error)
{
	enum pd_status status;
	int fd = -1;

	if (!pd_viewer_guard_init(&server->guard))
		return server_fail(error, PD_ERROR_SYSTEM, "no random numbers");
	status = listen_here(server, &fd, error);
	if (status < 0)
		return status;
	server->daemon = httpd.start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, take_request,
					    server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_STRICT_FOR_CLIENT, 1,
					    MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
					    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
					    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
					    MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
					    MHD_OPTION_NOTIFY_COMPLETED, note_done, server, MHD_OPTION_END);
	if (server->daemon)
		return PD_OK;
	status = server_fail(error, PD_ERROR_SYSTEM, "the server cannot be started");
	close(fd);
	return status;
}

bool server_is_built(void)
{
	return true;
}

enum pd_status server_open(const struct server_options *options, struct server **server_out, struct pd_error *error)
{
	enum pd_status status = httpd_load(error);
	struct server *server;

	if (status < 0)
		return status;
	server = calloc(1, sizeof(*server));
	if (!server)
		return server_fail(error, PD_ERROR_SYSTEM, "the server cannot be started");
	server->options = *options;
	server->ticked = now();
	status = start_daemon(server, error);
	if (status < 0) {
		free(server);
		return status;
	}
	snprintf(server->address, sizeof(server->address), "http://127.0.0.1:%u/%s/", server->guard.port,
		 server->guard.token);
	*server_out = server;
	return PD_OK;
}

const char *server_address(const struct server *server)
{
	return server->address;
}

static bool is_over(const struct server *server)
{
	return server->stopped || (server->had_page && !server->pages && now() - server->left > GRACE_SECONDS);
}

void server_run(struct server *server)
{
	while (!is_over(server)) {
		if (httpd.run_wait(server->daemon, TICK_MS) != MHD_YES)
			return;
		end_slow(server);
		end_idle(server);
		if (now() - server->ticked < PING_SECONDS)
			continue;
		wake_streams(server, server->options.follow && follow_refresh(server->options.follow));
		server->ticked = now();
	}
}

void server_stop(struct server *server)
{
	server->stopped = 1;
}

void server_close(struct server *server)
{
	if (!server)
		return;
	wake_streams(server, false);
	httpd.stop_daemon(server->daemon);
	free(server);
}
