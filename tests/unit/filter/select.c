/* SPDX-License-Identifier: MIT */
/* Selections through the public header: what of options is refused, and how, and what they select without a file. */
#include <perfdata/select.h>

#include "../test.h"

#include <string.h>

#define SIZED .size = sizeof(struct pd_select_options)

static bool fails(const struct pd_select_options *options, enum pd_status status, const char *message)
{
	struct pd_select *select = NULL;
	struct pd_error error;
	bool fine = pd_select_new(options, &select, &error) == status && !select && !strcmp(error.message, message);

	if (!fine)
		printf("# %s\n", error.message);
	return fine;
}

TEST(test_select__wrong_options_are_told)
{
	struct pd_select_options pid = { SIZED, .pid = "1,x" }, cpu = { SIZED, .cpu = "9-1" },
				 time = { SIZED, .time = "bad" };
	struct pd_select_options first = { SIZED, .comms = "file:///nonexistent/names", .pid = "x" };

	CHECK(fails(&pid, PD_ERROR_ARGUMENT, "option --pid: invalid list of numbers '1,x'"));
	CHECK(fails(&cpu, PD_ERROR_ARGUMENT, "option --cpu: invalid list of CPUs '9-1'"));
	CHECK(fails(&time, PD_ERROR_ARGUMENT, "option --time: invalid time range 'bad'"));
	CHECK(fails(&first, PD_ERROR_SYSTEM, "option --comms: /nonexistent/names: No such file or directory"));
}

TEST(test_select__wrong_condition_has_its_position)
{
	struct pd_select_options options = { SIZED, .where = "cpu == == 1" };
	struct pd_select *select;
	struct pd_error error;

	CHECK(pd_select_new(&options, &select, &error) == PD_ERROR_ARGUMENT);
	CHECK(error.offset == 7);
	CHECK(!strncmp(error.message, "option --where: ", 16));
}

TEST(test_select__nothing_given_takes_all)
{
	struct pd_select_options options = { SIZED }, unsized = { 0 };
	struct pd_select *select;

	CHECK(pd_select_new(&options, &select, NULL) == PD_OK);
	CHECK(pd_select_has_time(select, 5) && pd_select_has_cpu(select, 3) && pd_select_has_event(select, NULL));
	CHECK(pd_select_has_thread(select, 1, 2, NULL) && !pd_select_by_place(select) && !pd_select_waits(select));
	CHECK(!pd_select_where(select) && !pd_select_by_event(select));
	pd_select_free(select);
	CHECK(pd_select_new(NULL, &select, NULL) == PD_OK && pd_select_has_time(select, 5));
	pd_select_free(select);
	CHECK(pd_select_new(&unsized, &select, NULL) == PD_ERROR_ARGUMENT);
	pd_select_free(NULL);
}

TEST(test_select__lists)
{
	struct pd_select_options options = { SIZED,           .comms = "gcc,cc1", .comm = ":7",
					     .tid = "7,8,-1", .cpu = "0,2-3",     .dso = "vmlinux" };
	struct pd_select *select;

	CHECK(pd_select_new(&options, &select, NULL) == PD_OK);
	CHECK(pd_select_has_thread(select, 1, 8, "gcc") && !pd_select_has_thread(select, 1, 9, "gcc"));
	CHECK(pd_select_has_thread(select, 1, 7, NULL) && !pd_select_has_thread(select, 1, 8, NULL));
	CHECK(pd_select_has_thread(select, 1, UINT32_MAX, "cc1") && !pd_select_has_thread(select, 1, 7, "ld"));
	CHECK(pd_select_has_cpu(select, 2) && !pd_select_has_cpu(select, 1) && pd_select_has_cpu(select, UINT32_MAX));
	CHECK(pd_select_by_place(select) && pd_select_has_list(select, PD_SELECT_COMMS));
	CHECK(!pd_select_has_list(select, PD_SELECT_SYMBOLS) && !pd_select_only(select, PD_SELECT_COMMS));
	CHECK_STR(pd_select_only(select, PD_SELECT_DSOS), "vmlinux");
	pd_select_free(select);
}

TEST(test_select__times)
{
	struct pd_select_options clock = { SIZED, .time = "1.5,2 4," }, part = { SIZED, .time = "10%/2" };
	struct pd_select *select;

	CHECK(pd_select_new(&clock, &select, NULL) == PD_OK);
	CHECK(!pd_select_waits(select));
	CHECK(pd_select_has_time(select, 1500000000) && pd_select_has_time(select, 2000000000));
	CHECK(!pd_select_has_time(select, 2000000001) && pd_select_has_time(select, 9000000000));
	pd_select_free(select);
	CHECK(pd_select_new(&part, &select, NULL) == PD_OK);
	CHECK(pd_select_waits(select));
	pd_select_free(select);
}

RUN(TEST_CASE(test_select__wrong_options_are_told), TEST_CASE(test_select__wrong_condition_has_its_position),
    TEST_CASE(test_select__nothing_given_takes_all), TEST_CASE(test_select__lists), TEST_CASE(test_select__times))
