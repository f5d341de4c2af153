/* SPDX-License-Identifier: MIT */
/* A build without libmicrohttpd. */
#include "server/server.h"

#include <stdio.h>

bool server_is_built(void)
{
	return false;
}

enum pd_status server_open(const struct server_options *options, struct server **server_out, struct pd_error *error)
{
	(void)options;
	(void)server_out;
	if (error) {
		*error = (struct pd_error){ .status = PD_ERROR_UNSUPPORTED };
		snprintf(error->message, sizeof(error->message), "this build has no server (libmicrohttpd)");
	}
	return PD_ERROR_UNSUPPORTED;
}

const char *server_address(const struct server *server)
{
	(void)server;
	return "";
}

void server_run(struct server *server)
{
	(void)server;
}

void server_stop(struct server *server)
{
	(void)server;
}

void server_close(struct server *server)
{
	(void)server;
}
