/* SPDX-License-Identifier: MIT */
/* Who may ask a server of views: a page of its own, of a browser on this machine. */
#include <perfdata/viewer.h>

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool pd_viewer_guard_init(struct pd_viewer_guard *guard)
{
	unsigned char bytes[PD_VIEWER_TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (size_t i = 0; i < PD_VIEWER_TOKEN_BYTES; i++)
		snprintf(guard->token + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

// This machine by a name that no other can have.
static bool is_here(const struct pd_viewer_guard *guard, const char *name, const char *before)
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

// In the same time wherever they differ.
static bool has_token(const struct pd_viewer_guard *guard, const char *url)
{
	unsigned char differs = 0;

	if (strnlen(url, PD_VIEWER_TOKEN_CHARS + 2) < PD_VIEWER_TOKEN_CHARS + 2 || url[0] != '/' ||
	    url[PD_VIEWER_TOKEN_CHARS + 1] != '/')
		return false;
	for (size_t i = 0; i < PD_VIEWER_TOKEN_CHARS; i++)
		differs |= (unsigned char)(url[i + 1] ^ guard->token[i]);
	return !differs;
}

// A browser says where a request is from; only the page itself may be reached by a link.
static bool is_from_page(const struct pd_viewer_caller *caller, const char *path)
{
	if (!caller->site || !strcmp(caller->site, "same-origin") || !strcmp(caller->site, "none"))
		return true;
	return !*path && caller->mode && !strcmp(caller->mode, "navigate");
}

const char *pd_viewer_admit(const struct pd_viewer_guard *guard, const struct pd_viewer_caller *caller,
			    unsigned *code_out)
{
	const char *path;

	*code_out = 403;
	if (caller->hosts != 1 || !caller->host || !is_here(guard, caller->host, ""))
		return NULL;
	if (caller->origin && !is_here(guard, caller->origin, "http://"))
		return NULL;
	*code_out = 405;
	if (strcmp(caller->method, "GET") != 0 && strcmp(caller->method, "HEAD") != 0)
		return NULL;
	*code_out = 404;
	if (!has_token(guard, caller->url))
		return NULL;
	path = caller->url + PD_VIEWER_TOKEN_CHARS + 2;
	*code_out = 403;
	return is_from_page(caller, path) ? path : NULL;
}
