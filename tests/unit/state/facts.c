/* SPDX-License-Identifier: MIT */
/* What records of threads and mappings say about the state, one fact after another. */
#include "unit/test.h"
#include "unit/state/ask.h"

static const char *comm(const struct made *made, uint32_t tid, uint64_t time)
{
	static char unknown[PD_THREAD_NAME_BYTES];

	return pd_state_comm(made->state, tid, at(time), unknown);
}

// ---- names ----

TEST(test_comm__is_inherited_until_the_thread_gets_its_own)
{
	struct made made = make_begin();

	make_comm(&made, 0, 5, 5, "shell", 10);
	make_fork(&made, 6, 6, 5, 5, 20);
	make_comm(&made, MAKE_EXEC, 6, 6, "ls", 30);
	make_comm(&made, 0, 5, 5, "renamed", 40);
	STATE(made);
	CHECK_STR(comm(&made, 5, 9), ":5");
	CHECK_STR(comm(&made, 5, 10), "shell");
	CHECK_STR(comm(&made, 6, 19), ":6");
	CHECK_STR(comm(&made, 6, 20), "shell");
	CHECK_STR(comm(&made, 6, 30), "ls");
	CHECK_STR(comm(&made, 5, 100), "renamed");
	make_free(&made);
}

TEST(test_comm__of_a_thread_is_that_of_the_thread_that_made_it)
{
	struct made made = make_begin();

	make_comm(&made, 0, 5, 5, "main", 10);
	make_fork(&made, 5, 6, 5, 5, 11);
	make_comm(&made, 0, 5, 6, "worker", 12);
	make_fork(&made, 5, 7, 5, 6, 13);
	STATE(made);
	CHECK_STR(comm(&made, 6, 11), "main");
	CHECK_STR(comm(&made, 7, 13), "worker");
	make_free(&made);
}

TEST(test_comm__unknown_threads_have_their_number)
{
	struct made made = make_begin();

	STATE(made);
	CHECK_STR(comm(&made, 0, 1), "swapper");
	CHECK_STR(comm(&made, 77, 1), ":77");
	CHECK_STR(comm(&made, MAKE_NOBODY, 1), ":-1");
	CHECK(!pd_state_comm(made.state, 77, at(1), NULL));
	make_free(&made);
}

TEST(test_comm__goes_on_after_the_end_and_changes_with_the_next_life)
{
	struct made made = make_begin();
	const struct pd_thread *thread;

	make_comm(&made, 0, 1, 1, "init", 5);
	make_fork(&made, 9, 9, 1, 1, 10);
	make_comm(&made, MAKE_EXEC, 9, 9, "first", 11);
	make_exit(&made, 9, 9, 20);
	make_fork(&made, 9, 9, 1, 1, 30);
	STATE(made);
	CHECK_STR(comm(&made, 9, 25), "first");
	CHECK_STR(comm(&made, 9, 30), "init");
	thread = pd_state_find_thread(made.state, 9, at(25));
	CHECK(thread && thread->begin.time_ns == 10 && thread->end.time_ns == 20 && thread->ppid == 1);
	thread = pd_state_find_thread(made.state, 9, at(31));
	CHECK(thread && thread->begin.time_ns == 30 && thread->end.time_ns == PD_NEVER);
	CHECK(!pd_state_find_thread(made.state, 9, at(9)));
	make_free(&made);
}

TEST(test_threads__are_listed_with_their_names)
{
	struct made made = make_begin();
	const struct pd_thread *thread;
	struct pd_list names;

	make_comm(&made, 0, 4, 4, "a", 10);
	make_comm(&made, MAKE_EXEC, 4, 4, "b", 20);
	STATE(made);
	thread = pd_state_thread(made.state, 0);
	CHECK(thread && thread->tid == 0);
	thread = pd_state_thread(made.state, 1);
	CHECK(thread && thread->tid == 4 && thread->ppid == UINT32_MAX && thread->index == 1);
	names = pd_state_thread_names(made.state, thread);
	CHECK(names.count == 2);
	CHECK_STR(PD_ITEM(pd_thread_name, names, 1)->comm, "b");
	CHECK(PD_ITEM(pd_thread_name, names, 1)->exec && !PD_ITEM(pd_thread_name, names, 0)->exec);
	CHECK(PD_ITEM(pd_thread_name, names, 1)->from.time_ns == 20);
	CHECK(!pd_state_thread(made.state, 2));
	make_free(&made);
}

// ---- mappings ----

TEST(test_mmap__hides_what_it_covers_from_then_on)
{
	struct made made = make_begin();
	struct pd_location location;

	user_map(&made, 5, 0x1000, 0x9000, "/old", 10);
	user_map(&made, 5, 0x3000, 0x2000, "/new", 20);
	STATE(made);
	CHECK_STR(where(&made, 5, 10, 0x3000), "/old");
	CHECK_STR(where(&made, 5, 20, 0x2fff), "/old");
	CHECK_STR(where(&made, 5, 20, 0x3000), "/new");
	CHECK_STR(where(&made, 5, 20, 0x4fff), "/new");
	CHECK_STR(where(&made, 5, 20, 0x5000), "/old");
	CHECK_STR(where(&made, 5, 20, 0xa000), "");
	CHECK_STR(where(&made, 5, 9, 0x3000), "");
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(20), 0x5123, &location));
	CHECK(location.offset == 0x4123 && location.mapping->start == 0x1000 && !location.before_exec);
	make_free(&made);
}

TEST(test_mmap__pgoff_makes_the_offset)
{
	struct made made = make_begin();
	struct pd_location location;

	make_mmap(&made, MAKE_USER, 5, 0x40000, 0x1000, 0x2000, "/lib", 1);
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x40010, &location));
	CHECK(location.offset == 0x2010 && location.object->kind == PD_OBJECT_FILE && location.mapping->executable);
	make_free(&made);
}

TEST(test_mmap__of_equal_times_is_in_the_order_of_the_file)
{
	struct made made = make_begin();
	struct pd_location location;

	user_map(&made, 5, 0x1000, 0x1000, "/first", 10);
	user_map(&made, 5, 0x1000, 0x1000, "/second", 10);
	user_map(&made, 5, 0x1000, 0x1000, "/third", 10);
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, (struct pd_moment){ 10, 1 }, 0x1000, &location));
	CHECK_STR(location.object->path, "/second");
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, (struct pd_moment){ 10, 0 }, 0x1000, &location));
	CHECK_STR(location.object->path, "/first");
	CHECK_STR(where(&made, 5, 10, 0x1000), "/third");
	make_free(&made);
}

TEST(test_mmap__before_any_name_or_fork_is_kept)
{
	struct made made = make_begin();

	user_map(&made, 5, 0x1000, 0x1000, "/early", 10);
	make_comm(&made, 0, 5, 5, "late", 20);
	STATE(made);
	CHECK_STR(where(&made, 5, 15, 0x1000), "/early");
	make_free(&made);
}

TEST(test_mmap__that_the_recorder_wrote_was_there_before)
{
	struct made made = make_begin();

	user_map(&made, 5, 0x1000, 0x1000, "/timed", 10);
	// stands after it, as with --tail-synthesize, but has no time
	user_map(&made, 5, 0x1000, 0x3000, "/before", 0);
	STATE(made);
	CHECK_STR(where(&made, 5, 5, 0x1000), "/before");
	CHECK_STR(where(&made, 5, 10, 0x1000), "/timed");
	CHECK_STR(where(&made, 5, 10, 0x2000), "/before");
	make_free(&made);
}

TEST(test_mmap__without_times_the_place_in_the_file_counts)
{
	struct made made = make_begin_untimed();
	struct pd_location location;

	user_map(&made, 5, 0x1000, 0x1000, "/first", 0);
	user_map(&made, 5, 0x1000, 0x1000, "/second", 0);
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, (struct pd_moment){ 0, 0 }, 0x1000, &location));
	CHECK_STR(location.object->path, "/first");
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, (struct pd_moment){ 0, 5 }, 0x1000, &location));
	CHECK_STR(location.object->path, "/second");
	make_free(&made);
}

TEST(test_mmap__data_is_found_and_is_no_code)
{
	struct made made = make_begin();
	struct pd_location location;

	make_mmap(&made, MAKE_USER | MAKE_DATA, 5, 0x1000, 0x1000, 0, "/data", 1);
	make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_USER | MAKE_DATA,
						.pid = 5,
						.tid = 5,
						.addr = 0x5000,
						.len = 0x1000,
						.prot = DATA,
						.flags = 2,
						.path = "/data2",
						.time = 1 });
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x1000, &location) &&
	      !location.mapping->executable);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x5000, &location) &&
	      !location.mapping->executable);
	make_free(&made);
}

TEST(test_mmap__odd_ranges_do_no_harm)
{
	struct made made = make_begin();

	user_map(&made, 5, 0x1000, 0, "/empty", 1);
	user_map(&made, 5, 0xffffffffffff0000, 0x100000, "/round", 1);
	user_map(&made, 5, 0x5000, 0x1000, "", 1);
	STATE(made);
	CHECK_STR(where(&made, 5, 1, 0x1000), "");
	CHECK_STR(where(&made, 5, 1, 0xfffffffffffffffe), "/round");
	CHECK_STR(where(&made, 5, 1, 0), "");
	CHECK_STR(where(&made, 5, 1, 0x5000), "");
	make_free(&made);
}

// ---- processes ----

TEST(test_fork__takes_the_mappings_along_and_parts_ways)
{
	struct made made = make_begin();

	user_map(&made, 5, 0x1000, 0x1000, "/shared", 10);
	make_fork(&made, 6, 6, 5, 5, 20);
	user_map(&made, 5, 0x1000, 0x1000, "/of-parent", 30);
	user_map(&made, 6, 0x8000, 0x1000, "/of-child", 30);
	make_fork(&made, 7, 7, 6, 6, 40);
	STATE(made);
	CHECK_STR(where(&made, 6, 19, 0x1000), "");
	CHECK_STR(where(&made, 6, 50, 0x1000), "/shared");
	CHECK_STR(where(&made, 5, 50, 0x1000), "/of-parent");
	CHECK_STR(where(&made, 5, 50, 0x8000), "");
	CHECK_STR(where(&made, 6, 50, 0x8000), "/of-child");
	CHECK_STR(where(&made, 7, 50, 0x8000), "/of-child");
	CHECK_STR(where(&made, 7, 50, 0x1000), "/shared");
	make_free(&made);
}

TEST(test_fork__of_a_thread_shares)
{
	struct made made = make_begin();

	user_map(&made, 5, 0x1000, 0x1000, "/main", 10);
	make_fork(&made, 5, 6, 5, 5, 20);
	make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_USER,
						.pid = 5,
						.tid = 6,
						.addr = 0x3000,
						.len = 0x1000,
						.prot = CODE,
						.path = "/by-thread",
						.time = 30 });
	// forked by the thread, with the mappings of its process
	make_fork(&made, 8, 8, 5, 6, 40);
	STATE(made);
	CHECK_STR(where(&made, 5, 30, 0x3000), "/by-thread");
	CHECK_STR(where(&made, 8, 40, 0x3000), "/by-thread");
	CHECK_STR(where(&made, 8, 40, 0x1000), "/main");
	make_free(&made);
}

TEST(test_fork__that_the_recorder_wrote_takes_nothing_along)
{
	struct made made = make_begin();

	user_map(&made, 5, 0x1000, 0x1000, "/parent", 0);
	make_task(&made, PD_RECORD_FORK, MAKE_EXEC, 6, 6, 5, 5, 0);
	make_fork(&made, 7, 7, 5, 5, 0);
	make_task(&made, PD_RECORD_FORK, MAKE_EXEC, 8, 8, 5, 5, 10);
	STATE(made);
	CHECK_STR(where(&made, 6, 1, 0x1000), "");
	CHECK_STR(where(&made, 7, 1, 0x1000), "");
	CHECK_STR(where(&made, 8, 11, 0x1000), "");
	make_free(&made);
}

TEST(test_fork__uses_a_number_again)
{
	struct made made = make_begin();

	user_map(&made, 1, 0x9000, 0x1000, "/init", 1);
	make_fork(&made, 6, 6, 1, 1, 10);
	user_map(&made, 6, 0x1000, 0x1000, "/first-life", 11);
	make_exit(&made, 6, 6, 20);
	make_fork(&made, 6, 6, 1, 1, 30);
	STATE(made);
	CHECK_STR(where(&made, 6, 29, 0x1000), "/first-life");
	CHECK_STR(where(&made, 6, 30, 0x1000), "");
	CHECK_STR(where(&made, 6, 30, 0x9000), "/init");
	make_free(&made);
}

TEST(test_fork__from_oneself_is_a_new_beginning)
{
	struct made made = make_begin();

	user_map(&made, 6, 0x1000, 0x1000, "/self", 1);
	make_fork(&made, 6, 6, 6, 6, 10);
	STATE(made);
	CHECK_STR(where(&made, 6, 9, 0x1000), "/self");
	CHECK_STR(where(&made, 6, 10, 0x1000), "");
	make_free(&made);
}

TEST(test_exec__ends_the_old_mappings)
{
	struct made made = make_begin();
	struct pd_location location;

	user_map(&made, 5, 0x1000, 0x1000, "/shell", 10);
	user_map(&made, 5, 0x3000, 0x1000, "/shell", 10);
	make_comm(&made, 0, 5, 5, "renamed", 15);
	make_comm(&made, MAKE_EXEC, 5, 5, "ls", 20);
	user_map(&made, 5, 0x1000, 0x1000, "/ls", 30);
	make_fork(&made, 6, 6, 5, 5, 40);
	STATE(made);
	CHECK_STR(where(&made, 5, 15, 0x3000), "/shell");
	CHECK_STR(where(&made, 5, 30, 0x1000), "/ls");
	// the caller of exec is still told, and said to be so
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(30), 0x3000, &location));
	CHECK(location.before_exec);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(30), 0x1000, &location));
	CHECK(!location.before_exec);
	CHECK_STR(where(&made, 6, 40, 0x3000), "");
	CHECK_STR(where(&made, 6, 40, 0x1000), "/ls");
	make_free(&made);
}

RUN(TEST_CASE(test_comm__is_inherited_until_the_thread_gets_its_own),
    TEST_CASE(test_comm__of_a_thread_is_that_of_the_thread_that_made_it),
    TEST_CASE(test_comm__unknown_threads_have_their_number),
    TEST_CASE(test_comm__goes_on_after_the_end_and_changes_with_the_next_life),
    TEST_CASE(test_threads__are_listed_with_their_names), TEST_CASE(test_mmap__hides_what_it_covers_from_then_on),
    TEST_CASE(test_mmap__pgoff_makes_the_offset), TEST_CASE(test_mmap__of_equal_times_is_in_the_order_of_the_file),
    TEST_CASE(test_mmap__before_any_name_or_fork_is_kept),
    TEST_CASE(test_mmap__that_the_recorder_wrote_was_there_before),
    TEST_CASE(test_mmap__without_times_the_place_in_the_file_counts),
    TEST_CASE(test_mmap__data_is_found_and_is_no_code), TEST_CASE(test_mmap__odd_ranges_do_no_harm),
    TEST_CASE(test_fork__takes_the_mappings_along_and_parts_ways), TEST_CASE(test_fork__of_a_thread_shares),
    TEST_CASE(test_fork__that_the_recorder_wrote_takes_nothing_along), TEST_CASE(test_fork__uses_a_number_again),
    TEST_CASE(test_fork__from_oneself_is_a_new_beginning), TEST_CASE(test_exec__ends_the_old_mappings))
