/* SPDX-License-Identifier: MIT */
/* A build without libmicrohttpd. */
#include "front/cli.h"
#include "serve/server.h"

int server_check(void)
{
	return print_failure(CODE_USAGE,
			     "this build has no server (libmicrohttpd); use -o FILE for a page that needs none");
}

int serve_views(const struct server_options *options)
{
	(void)options;
	return server_check();
}
