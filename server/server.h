/* SPDX-License-Identifier: MIT */
/*
 * Serves the page of views (perfdata/viewer.h) by HTTP to browsers on this machine, read-only. A front end of its own: it uses the
 * public headers only, prints nothing and handles no signals.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <perfdata/viewer.h>

struct follow;

/* What is pointed to must outlive the server. */
struct server_options {
	struct pd_viewer *const *views; /* the first one is the page's */
	size_t count;
	struct follow *follow; /* instead of views: a recording that is being made, of which there is a view */
	unsigned port;         /* 0: any */
};

struct server;

/* Whether this build has a server: libmicrohttpd was there. */
bool server_is_built(void);
/* Listens. Errors: PD_ERROR_SYSTEM; PD_ERROR_MEMORY; PD_ERROR_UNSUPPORTED without libmicrohttpd. */
enum pd_status server_open(const struct server_options *options, struct server **server_out, struct pd_error *error);
/* Where the page is: who knows this is admitted. Valid until server_close. */
const char *server_address(const struct server *server);
/* Serves until the last page is closed, or server_stop is called. */
void server_run(struct server *server);
/* Ends server_run; may be called by a signal handler. */
void server_stop(struct server *server);
/* Ends what is still being answered. NULL is ignored. */
void server_close(struct server *server);

#endif
