/* SPDX-License-Identifier: MIT */
/* Who is admitted by a server of views: tokens, hosts, origins, sites. */
#include <perfdata/viewer.h>

#include "test.h"

static struct pd_viewer_guard guard;
static char url[128];
static unsigned code;

static const char *admit(const struct pd_viewer_caller *caller)
{
	code = 0;
	return pd_viewer_admit(&guard, caller, &code);
}

static struct pd_viewer_caller page(void)
{
	return (struct pd_viewer_caller){ .method = "GET", .url = url, .host = "127.0.0.1:81", .hosts = 1 };
}

TEST(test_guard__token)
{
	struct pd_viewer_guard other = { .port = 81 };
	struct pd_viewer_caller caller = page();

	CHECK(pd_viewer_guard_init(&guard) && pd_viewer_guard_init(&other));
	guard.port = 81;
	CHECK(strlen(guard.token) == PD_VIEWER_TOKEN_CHARS && strcmp(guard.token, other.token) != 0);
	snprintf(url, sizeof(url), "/%s/data", guard.token);
	CHECK(admit(&caller) == url + PD_VIEWER_TOKEN_CHARS + 2);
	snprintf(url, sizeof(url), "/%s/data", other.token);
	CHECK(!admit(&caller) && code == 404);
	snprintf(url, sizeof(url), "/%s", guard.token);
	CHECK(!admit(&caller) && code == 404);
	snprintf(url, sizeof(url), "/%s/", guard.token);
	CHECK(admit(&caller));
}

TEST(test_guard__host)
{
	struct pd_viewer_caller caller = page();

	caller.host = "localhost:81";
	CHECK(admit(&caller));
	caller.host = "localhost:82";
	CHECK(!admit(&caller) && code == 403);
	caller.host = "evil.example:81";
	CHECK(!admit(&caller) && code == 403);
	caller.host = NULL;
	CHECK(!admit(&caller) && code == 403);
	caller = page();
	caller.hosts = 2;
	CHECK(!admit(&caller) && code == 403);
}

TEST(test_guard__site)
{
	struct pd_viewer_caller caller = page();

	caller.origin = "http://127.0.0.1:81";
	CHECK(admit(&caller));
	caller.origin = "http://evil.example";
	CHECK(!admit(&caller) && code == 403);
	caller = page();
	caller.site = "cross-site";
	CHECK(!admit(&caller) && code == 403);
	// by a link to the page, but not to its data
	caller.mode = "navigate";
	CHECK(admit(&caller));
	snprintf(url, sizeof(url), "/%s/data", guard.token);
	CHECK(!admit(&caller) && code == 403);
	caller.site = "same-origin";
	CHECK(admit(&caller));
}

TEST(test_guard__method)
{
	struct pd_viewer_caller caller = page();

	caller.method = "HEAD";
	CHECK(admit(&caller));
	caller.method = "POST";
	CHECK(!admit(&caller) && code == 405);
}

RUN(TEST_CASE(test_guard__token), TEST_CASE(test_guard__host), TEST_CASE(test_guard__site),
    TEST_CASE(test_guard__method))
