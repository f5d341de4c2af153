/* SPDX-License-Identifier: MIT */
/* Serves the page of views to browsers on this machine, read-only. */
#ifndef CLI_SERVE_SERVER_H
#define CLI_SERVE_SERVER_H

#include "front/output.h"

struct server_options {
	struct pd_viewer **views; /* the first one is the page's; may be replaced by `refresh` */
	size_t count;
	unsigned port;      /* 0: any */
	bool browser;       /* is started, if there may be one */
	struct output *out; /* gets the address */
	/* Called every second: true if a view was replaced. May be NULL. */
	bool (*refresh)(void *self);
	void *self;
};

/* Whether a server is built in; else says so and returns another code than CODE_OK. */
int server_check(void);
/* Until the last page is closed, or a signal comes. Says what is wrong and returns another code than CODE_OK then. */
int serve_views(const struct server_options *options);

#endif
