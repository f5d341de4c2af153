/* SPDX-License-Identifier: MIT */
/*
 * Who may ask the server: a page of its own, of a browser on this machine. Other programs here do not know the token; other
 * pages, also those whose name was made to lead here, have another host, origin or site.
 */
#ifndef CLI_SERVE_GUARD_H
#define CLI_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TOKEN_BYTES = 16,
	TOKEN_CHARS = 2 * TOKEN_BYTES
};

struct guard {
	char token[TOKEN_CHARS + 1];
	unsigned port;
};

/* What a request says of itself; NULL: nothing. */
struct request_facts {
	const char *method, *url;
	const char *host;
	size_t hosts; /* how many headers of this name */
	const char *origin, *site, *mode;
};

/* False if there is no randomness. */
bool guard_init(struct guard *guard);
/* The path below the token, or NULL and the code to refuse with. */
const char *guard_admit(const struct guard *guard, const struct request_facts *facts, unsigned *code_out);

#endif
