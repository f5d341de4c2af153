/* SPDX-License-Identifier: MIT */
/* A daemon that is opened, asked and run while each allocation fails in turn. */
#include "../failing.h"
#include "../test.h"
#include "folder.h"

static struct pd_error error;

/* Whether it could do all without the allocation that fails. */
static bool run_once(const struct pd_daemon_options *options)
{
	struct pd_daemon *daemon;

	if (pd_daemon_open(options, &daemon, &error) < 0)
		return false;
	pd_daemon_stop(daemon);
	if (pd_daemon_run(daemon, &error) < 0) {
		pd_daemon_close(daemon);
		return false;
	}
	pd_daemon_close(daemon);
	return true;
}

TEST(all_of_it)
{
	const struct pd_daemon_options options = daemon_options();
	bool done = false;

	CHECK(folder_make() && configure("[session-one]\nrun = a b c d e f g h i j\n[session-two]\nrun = a\n"));
	for (long i = 0; !done; i++) {
		left = i;
		has_failed = false;
		run_once(&options);
		left = -1;
		done = !has_failed;
	}
	CHECK(run_once(&options));
}

TEST(asking)
{
	const struct pd_daemon_options options = daemon_options();
	const struct pd_daemon_request request = { .size = sizeof(request), .command = "list" };
	struct pd_text *text = pd_text_new();
	bool done = false;

	for (long i = 0; !done; i++) {
		enum pd_status status;

		left = i;
		has_failed = false;
		status = pd_daemon_ask(&options, &request, text, &error);
		left = -1;
		done = !has_failed;
		CHECK(status == PD_ERROR_NO_MATCH || !done);
	}
	pd_text_free(text);
	folder_remove();
}

RUN(TEST_CASE(all_of_it), TEST_CASE(asking))
