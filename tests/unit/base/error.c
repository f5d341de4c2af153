/* SPDX-License-Identifier: MIT */
/* Errors: what they hold, and that NULL is allowed. */
#include "base/error.h"
#include "../test.h"

#include <errno.h>

TEST(test_error__holds_all)
{
	struct pd_error error;

	CHECK(pd_fail(&error, PD_ERROR_FORMAT, 42, "%s: %d", "file", 7) == PD_ERROR_FORMAT);
	CHECK(error.status == PD_ERROR_FORMAT && error.offset == 42 && error.os_errno == 0);
	CHECK_STR(error.message, "file: 7");
	CHECK(pd_fail_system(&error, ENOENT, "x: cannot open") == PD_ERROR_SYSTEM);
	CHECK(error.os_errno == ENOENT && error.offset == PD_NO_OFFSET);
	CHECK(strncmp(error.message, "x: cannot open: ", 16) == 0);
	CHECK(pd_fail_memory(&error) == PD_ERROR_MEMORY);
	CHECK_STR(error.message, "no memory");
}

TEST(test_error__takes_null)
{
	CHECK(pd_fail(NULL, PD_ERROR_LIMIT, 0, "x") == PD_ERROR_LIMIT);
	CHECK(pd_fail_system(NULL, ENOENT, "x") == PD_ERROR_SYSTEM);
	CHECK(pd_fail_memory(NULL) == PD_ERROR_MEMORY);
}

TEST(test_error__long_messages_are_cut)
{
	struct pd_error error;
	char name[1000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	pd_fail(&error, PD_ERROR_FORMAT, 0, "%s", name);
	CHECK(strlen(error.message) == sizeof(error.message) - 1);
	pd_fail_system(&error, ENOENT, "%s", name);
	CHECK(strlen(error.message) == sizeof(error.message) - 1);
}

TEST(test_error__names)
{
	CHECK_STR(pd_status_name(PD_OK), "ok");
	CHECK_STR(pd_status_name(PD_ERROR_STOPPED), "stopped");
	CHECK_STR(pd_status_name((enum pd_status) - 99), "unknown");
	CHECK_STR(pd_version(), "0.1.0");
}

RUN(TEST_CASE(test_error__holds_all), TEST_CASE(test_error__takes_null), TEST_CASE(test_error__long_messages_are_cut),
    TEST_CASE(test_error__names))
