/* SPDX-License-Identifier: MIT */
#include "serve/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool guard_init(struct guard *guard)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(guard->token + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

/* This machine by a name that no other can have. */
static bool is_here(const struct guard *guard, const char *name, const char *before)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost" };
	char expected[64];

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(expected, sizeof(expected), "%s%s:%u", before, hosts[i], guard->port);
		if (strcmp(name, expected) == 0)
			return true;
	}
	return false;
}

/* In the same time wherever they differ. */
static bool has_token(const struct guard *guard, const char *url)
{
	unsigned char differs = 0;

	if (strnlen(url, TOKEN_CHARS + 2) < TOKEN_CHARS + 2 || url[0] != '/' || url[TOKEN_CHARS + 1] != '/')
		return false;
	for (size_t i = 0; i < TOKEN_CHARS; i++)
		differs |= (unsigned char)(url[i + 1] ^ guard->token[i]);
	return !differs;
}

/* A browser says where a request is from; only the page itself may be reached by a link. */
static bool is_from_page(const struct request_facts *facts, const char *path)
{
	if (!facts->site || !strcmp(facts->site, "same-origin") || !strcmp(facts->site, "none"))
		return true;
	return !*path && facts->mode && !strcmp(facts->mode, "navigate");
}

const char *guard_admit(const struct guard *guard, const struct request_facts *facts, unsigned *code_out)
{
	const char *path;

	*code_out = 403;
	if (facts->hosts != 1 || !facts->host || !is_here(guard, facts->host, ""))
		return NULL;
	if (facts->origin && !is_here(guard, facts->origin, "http://"))
		return NULL;
	*code_out = 405;
	if (strcmp(facts->method, "GET") != 0 && strcmp(facts->method, "HEAD") != 0)
		return NULL;
	*code_out = 404;
	if (!has_token(guard, facts->url))
		return NULL;
	path = facts->url + TOKEN_CHARS + 2;
	*code_out = 403;
	return is_from_page(facts, path) ? path : NULL;
}
