/* SPDX-License-Identifier: MIT */
/* What each kind of record says about the state, one fact after another. */
#include "unit/test.h"
#include "unit/state/make.h"

enum {
	CODE = 4 | 1,
	DATA = 1 | 2
};

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0xa0 };
static const uint8_t id_short[20] = { 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xb0 };

static void user_map(struct made *made, uint32_t pid, uint64_t addr, uint64_t len, const char *path, uint64_t time)
{
	make_mmap2(made, &(struct made_mmap2){ .misc = MAKE_USER,
					       .pid = pid,
					       .tid = pid,
					       .addr = addr,
					       .len = len,
					       .ino = 7,
					       .prot = CODE,
					       .flags = 2,
					       .path = path,
					       .time = time });
}

// Path of what code of a process stands on, or "".
static const char *where(const struct made *made, uint32_t pid, uint64_t time, uint64_t addr)
{
	struct pd_location location;

	return pd_state_locate(made->state, pid, PD_CPUMODE_USER, at(time), addr, &location) ? location.object->path :
											       "";
}

static const char *in_kernel(const struct made *made, uint64_t time, uint64_t addr)
{
	struct pd_location location;

	return pd_state_locate(made->state, 0, PD_CPUMODE_KERNEL, at(time), addr, &location) ? location.object->path :
											       "";
}

static const char *comm(const struct made *made, uint32_t tid, uint64_t time)
{
	static char unknown[PD_THREAD_NAME_BYTES];

	return pd_state_comm(made->state, tid, at(time), unknown);
}

// Each test makes records, then the state; then it looks, and at the end the state goes.
#define STATE(made) CHECK(make_state(&(made), NULL))

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

// ---- kernels ----

TEST(test_kernel__has_its_symbol_and_modules)
{
	struct made made = make_begin();
	struct pd_location location;

	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		  "[kernel.kallsyms]_text", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xffffffffc0000000, 0x4000, 0, "/lib/modules/a/x.ko", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xffffffffc0003000, 0x4000, 0, "[y]", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xfffffe0000006000, 0x1000, 0xffffffff81c02000,
		  "__entry_SYSCALL_64_trampoline", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xffffffff90000000, 0x1000, 0, "nothing", 0);
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_KERNEL, at(1), 0xffffffff81000123, &location));
	CHECK_STR(location.object->path, "[kernel.kallsyms]");
	CHECK_STR(location.mapping->symbol, "_text");
	CHECK(location.object->kind == PD_OBJECT_KERNEL && location.offset == 0xffffffff81000123);
	CHECK(location.mapping->pgoff == 0xffffffff81000000 && location.object->machine == 0);
	CHECK_STR(in_kernel(&made, 1, 0xfffffe0000006000), "[kernel.kallsyms]");
	CHECK_STR(in_kernel(&made, 1, 0xffffffff90000000), "");
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_KERNEL, at(1), 0xffffffffc0000040, &location));
	CHECK(location.object->kind == PD_OBJECT_MODULE && location.offset == 0x40 && !location.mapping->symbol);
	// modules over each other: the later one
	CHECK_STR(in_kernel(&made, 1, 0xffffffffc0002fff), "/lib/modules/a/x.ko");
	CHECK_STR(in_kernel(&made, 1, 0xffffffffc0003000), "[y]");
	CHECK_STR(where(&made, 5, 1, 0xffffffff81000123), "");
	make_free(&made);
}

TEST(test_kernel__old_names_and_hidden_addresses)
{
	struct made made = make_begin();
	struct pd_location location;

	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0, 0, 0, "[kernel.kallsyms._stext]", 0);
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_KERNEL, at(1), 0xffffffff81000123, &location));
	CHECK_STR(location.object->path, "[kernel.kallsyms]");
	CHECK_STR(location.mapping->symbol, "_stext");
	CHECK(!pd_state_locate(made.state, 5, PD_CPUMODE_HYPERVISOR, at(1), 0xffffffff81000123, &location));
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_UNKNOWN, at(1), 0xffffffff81000123, &location));
	make_free(&made);
}

TEST(test_kernel__of_guests)
{
	struct made made = make_begin();
	struct pd_location location;

	make_mmap(&made, MAKE_GUEST_KERNEL, 0, 0x1000, 0x1000, 0x1000, "[guest.kernel.kallsyms]_text", 0);
	make_mmap(&made, MAKE_GUEST_KERNEL, 77, 0x1000, 0x1000, 0x1000, "[guest.kernel.kallsyms.77]_stext", 0);
	make_mmap(&made, MAKE_GUEST_USER, 5, 0x1000, 0x1000, 0x1000, "/in-guest", 0);
	STATE(made);
	CHECK(pd_state_locate(made.state, 77, PD_CPUMODE_GUEST_KERNEL, at(1), 0x1800, &location));
	CHECK_STR(location.object->path, "[guest.kernel.kallsyms.77]");
	CHECK_STR(location.mapping->symbol, "_stext");
	CHECK(location.object->machine == 77);
	CHECK(pd_state_locate(made.state, 78, PD_CPUMODE_GUEST_KERNEL, at(1), 0x1800, &location));
	CHECK_STR(location.object->path, "[guest.kernel.kallsyms]");
	CHECK(location.object->machine == PD_GUEST_DEFAULT);
	CHECK_STR(in_kernel(&made, 1, 0x1800), "");
	CHECK_STR(where(&made, 5, 1, 0x1800), "");
	make_free(&made);
}

TEST(test_ksymbol__comes_and_goes)
{
	struct made made = make_begin();
	struct pd_location location;

	make_ksymbol(&made, 0xffffffffc0100000, 0x100, false, "bpf_prog_1", 10);
	make_ksymbol(&made, 0xffffffffc0100000, 0x100, true, "bpf_prog_1", 20);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xffffffff81000000, 0x1000, 1, "[kernel.kallsyms]_text", 0);
	make_ksymbol(&made, 0xffffffff81000100, 0x100, false, "slot", 10);
	STATE(made);
	CHECK_STR(in_kernel(&made, 9, 0xffffffffc0100040), "");
	CHECK_STR(in_kernel(&made, 10, 0xffffffffc0100040), "bpf_prog_1");
	CHECK_STR(in_kernel(&made, 20, 0xffffffffc0100040), "");
	// inside of what is mapped, both are told
	CHECK(pd_state_locate(made.state, 0, PD_CPUMODE_KERNEL, at(11), 0xffffffff81000140, &location));
	CHECK_STR(location.object->path, "[kernel.kallsyms]");
	CHECK(location.ksymbol && location.ksymbol->object->kind == PD_OBJECT_KSYMBOL);
	CHECK_STR(location.ksymbol->object->path, "slot");
	make_free(&made);
}

// ---- objects ----

TEST(test_object__kinds_by_path)
{
	static const struct {
		const char *path;
		enum pd_object_kind kind;
	} paths[] = {
		{ "//anon", PD_OBJECT_ANON },
		{ "[heap]", PD_OBJECT_ANON },
		{ "[stack]", PD_OBJECT_ANON },
		{ "[stack:12]", PD_OBJECT_ANON },
		{ "/memfd:jit (deleted)", PD_OBJECT_ANON },
		{ "/dev/zero (deleted)", PD_OBJECT_ANON },
		{ "/SYSV00000000 (deleted)", PD_OBJECT_ANON },
		{ "anon_inode:[perf_event]", PD_OBJECT_ANON },
		{ "/anon_hugepage (deleted)", PD_OBJECT_ANON },
		{ "[vdso]", PD_OBJECT_VDSO },
		{ "[vsyscall]", PD_OBJECT_VSYSCALL },
		{ "/usr/bin/ls", PD_OBJECT_FILE },
	};
	struct made made = make_begin();
	struct pd_location location;
	size_t count = sizeof(paths) / sizeof(paths[0]);

	for (size_t i = 0; i < count; i++)
		user_map(&made, 5, 0x1000 * (i + 1), 0x1000, paths[i].path, 1);
	STATE(made);
	for (size_t i = 0; i < count; i++) {
		CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x1000 * (i + 1) + 8, &location));
		CHECK_STR(location.object->path, paths[i].path);
		CHECK(location.object->kind == paths[i].kind);
		CHECK(location.mapping->anonymous == (paths[i].kind == PD_OBJECT_ANON));
		CHECK(location.offset == (location.mapping->anonymous ? 0x1000 * (i + 1) + 8 : 8));
	}
	make_free(&made);
}

TEST(test_object__huge_pages_are_anonymous)
{
	struct made made = make_begin();
	struct pd_location location;

	make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_USER,
						.pid = 5,
						.tid = 5,
						.addr = 0x200000,
						.len = 0x200000,
						.prot = CODE,
						.flags = 0x40002,
						.path = "/hugepages/x",
						.time = 1 });
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x200010, &location));
	CHECK(location.mapping->anonymous && location.offset == 0x200010);
	make_free(&made);
}

static void file_piece(struct made *made, uint64_t addr, uint64_t len, uint64_t pgoff, const char *path)
{
	make_mmap2(made, &(struct made_mmap2){ .misc = MAKE_USER,
					       .pid = 5,
					       .tid = 5,
					       .addr = addr,
					       .len = len,
					       .pgoff = pgoff,
					       .ino = path[1] != '/',
					       .prot = CODE,
					       .flags = 2,
					       .path = path,
					       .time = 1 });
}

TEST(test_object__code_that_was_copied_into_huge_pages)
{
	struct made made = make_begin();
	struct pd_location location;

	file_piece(&made, 0x10000, 0x8000, 0x1000, "/chrome");
	file_piece(&made, 0x12000, 0x2000, 0, "//anon");
	// the file goes on, but somewhere else
	file_piece(&made, 0x18000, 0x1000, 0, "//anon");
	file_piece(&made, 0x19000, 0x1000, 0xf000, "/chrome");
	STATE(made);
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x12345, &location));
	CHECK_STR(location.object->path, "//anon");
	CHECK(pd_state_locate_copied(made.state, 5, at(1), 0x12345, &location));
	CHECK_STR(location.object->path, "/chrome");
	CHECK(location.offset == 0x3345);
	CHECK(!pd_state_locate_copied(made.state, 5, at(1), 0x12345, &location));
	CHECK(pd_state_locate(made.state, 5, PD_CPUMODE_USER, at(1), 0x18345, &location));
	CHECK(!pd_state_locate_copied(made.state, 5, at(1), 0x18345, &location));
	CHECK_STR(location.object->path, "//anon");
	make_free(&made);
}

TEST(test_object__is_one_for_each_file)
{
	struct made made = make_begin();

	for (uint32_t i = 0; i < 4; i++)
		make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_USER,
							.pid = 5 + i,
							.tid = 5,
							.addr = 0x1000,
							.len = 0x1000,
							.ino = i / 2,
							.prot = CODE,
							.path = "/lib",
							.time = 1 });
	STATE(made);
	CHECK(pd_state_object(made.state, 1) && !pd_state_object(made.state, 2));
	CHECK(pd_state_object(made.state, 0)->ino == 0 && pd_state_object(made.state, 1)->ino == 1);
	CHECK(pd_state_object(made.state, 1)->index == 1 && pd_state_object(made.state, 1)->maj == 8);
	CHECK(pd_state_mapping(made.state, 3) && !pd_state_mapping(made.state, 4));
	CHECK(pd_state_mapping(made.state, 3)->pid == 8);
	make_free(&made);
}

static void write_build_id(struct made *made, uint16_t misc, uint32_t pid, const uint8_t *id, const char *path)
{
	size_t record = image_record(&made->image, PD_RECORD_HEADER_BUILD_ID, misc);

	image_u32(&made->image, pid);
	image_bytes(&made->image, id, 20);
	image_zeros(&made->image, 4);
	make_text(made, path);
	image_end(&made->image, record);
}

TEST(test_build_id__by_the_mapping_or_by_the_path)
{
	struct made made = make_begin();
	const struct pd_object *object;

	make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_USER | MAKE_BUILD_ID,
						.pid = 5,
						.tid = 5,
						.addr = 0x1000,
						.len = 0x1000,
						.prot = CODE,
						.build_id = id_a,
						.path = "/a",
						.time = 1 });
	user_map(&made, 5, 0x2000, 0x1000, "/b", 1);
	user_map(&made, 5, 0x3000, 0x1000, "/c", 1);
	write_build_id(&made, MAKE_USER, MAKE_NOBODY, id_short, "/a");
	write_build_id(&made, MAKE_USER, MAKE_NOBODY, id_short, "/b");
	write_build_id(&made, MAKE_GUEST_USER, 9, id_short, "/c");
	STATE(made);
	object = pd_state_object(made.state, 0);
	CHECK(object->build_id_size == 20 && memcmp(object->build_id, id_a, 20) == 0);
	object = pd_state_object(made.state, 1);
	CHECK(object->build_id_size == 16 && memcmp(object->build_id, id_short, 20) == 0);
	CHECK(pd_state_object(made.state, 2)->build_id_size == 0);
	make_free(&made);
}

TEST(test_build_id__of_kernel_and_modules_by_any_of_their_names)
{
	struct made made = make_begin();

	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0x1000, 0x1000, 1, "[kernel.kallsyms]_text", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0x2000, 0x1000, 0, "/lib/modules/6/kernel/net/a-b.ko.xz", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0x3000, 0x1000, 0, "[c]", 0);
	make_mmap(&made, MAKE_GUEST_KERNEL, 9, 0x3000, 0x1000, 0, "[guest.kernel.kallsyms.9]_text", 0);
	user_map(&made, 5, 0x4000, 0x1000, "/boot/vmlinux-6", 1);
	write_build_id(&made, MAKE_KERNEL, MAKE_NOBODY, id_a, "/boot/vmlinux-6");
	write_build_id(&made, MAKE_KERNEL, MAKE_NOBODY, id_short, "[a_b]");
	write_build_id(&made, MAKE_KERNEL, MAKE_NOBODY, id_a, "/lib/modules/6/extra/c.ko");
	write_build_id(&made, MAKE_GUEST_KERNEL, 9, id_short, "[guest.kernel.kallsyms.9]");
	STATE(made);
	CHECK(memcmp(pd_state_object(made.state, 0)->build_id, id_a, 20) == 0);
	CHECK(memcmp(pd_state_object(made.state, 1)->build_id, id_short, 20) == 0);
	CHECK(memcmp(pd_state_object(made.state, 2)->build_id, id_a, 20) == 0);
	CHECK(memcmp(pd_state_object(made.state, 3)->build_id, id_short, 20) == 0);
	CHECK(pd_state_object(made.state, 4)->build_id_size == 0);
	make_free(&made);
}

// ---- the rest ----

TEST(test_namespaces__of_a_thread_at_a_moment)
{
	struct made made = make_begin();
	struct pd_list links;

	for (uint64_t time = 10; time <= 20; time += 10) {
		size_t record = image_record(&made.image, PD_RECORD_NAMESPACES, 0);

		image_u32(&made.image, 5);
		image_u32(&made.image, 5);
		image_u64(&made.image, 1);
		image_u64(&made.image, 4);
		image_u64(&made.image, 0xf0000000 + time);
		make_end(&made, record, 5, 5, time);
	}
	STATE(made);
	CHECK(pd_state_namespaces(made.state, 5, at(9)).count == 0);
	links = pd_state_namespaces(made.state, 5, at(15));
	CHECK(links.count == 1 && PD_ITEM(pd_namespace, links, 0)->inode == 0xf000000a);
	links = pd_state_namespaces(made.state, 5, at(25));
	CHECK(links.count == 1 && PD_ITEM(pd_namespace, links, 0)->inode == 0xf0000014);
	CHECK(pd_state_namespaces(made.state, 6, at(25)).count == 0);
	make_free(&made);
}

TEST(test_cgroup__by_id_the_last_path)
{
	struct made made = make_begin();

	for (uint64_t time = 30; time >= 10; time -= 10) {
		size_t record = image_record(&made.image, PD_RECORD_CGROUP, 0);

		image_u64(&made.image, 99);
		make_text(&made, time == 30 ? "/last" : "/earlier");
		make_end(&made, record, 0, 0, time);
	}
	STATE(made);
	CHECK_STR(pd_state_cgroup(made.state, 99), "/last");
	CHECK(!pd_state_cgroup(made.state, 98));
	make_free(&made);
}

static void write_bpf(struct made *made, uint16_t type, uint32_t id, uint8_t tag, uint64_t time)
{
	size_t record = image_record(&made->image, PD_RECORD_BPF_EVENT, 0);

	image_u16(&made->image, type);
	image_u16(&made->image, 0);
	image_u32(&made->image, id);
	image_u8(&made->image, tag);
	image_zeros(&made->image, 7);
	make_end(made, record, 0, 0, time);
}

TEST(test_bpf__from_load_to_unload)
{
	struct made made = make_begin();
	const struct pd_bpf *bpf;

	write_bpf(&made, PD_BPF_EVENT_PROG_LOAD, 7, 1, 10);
	write_bpf(&made, PD_BPF_EVENT_PROG_UNLOAD, 7, 1, 20);
	write_bpf(&made, PD_BPF_EVENT_PROG_LOAD, 7, 2, 30);
	write_bpf(&made, PD_BPF_EVENT_PROG_UNLOAD, 8, 3, 15);
	STATE(made);
	CHECK(!pd_state_bpf(made.state, 7, at(9)));
	bpf = pd_state_bpf(made.state, 7, at(10));
	CHECK(bpf && bpf->tag[0] == 1 && bpf->until.time_ns == 20);
	CHECK(!pd_state_bpf(made.state, 7, at(25)));
	bpf = pd_state_bpf(made.state, 7, at(30));
	CHECK(bpf && bpf->tag[0] == 2 && bpf->until.time_ns == PD_NEVER);
	CHECK(pd_state_bpf(made.state, 8, at(1)) && !pd_state_bpf(made.state, 8, at(15)));
	make_free(&made);
}

TEST(test_code__changes_are_in_order)
{
	struct made made = make_begin();
	const struct pd_code_change *change;

	for (uint64_t time = 20; time >= 10; time -= 10) {
		size_t record = image_record(&made.image, PD_RECORD_TEXT_POKE, 0);

		image_u64(&made.image, 0xffffffff81000000 + time);
		image_u16(&made.image, 2);
		image_u16(&made.image, 1);
		image_hex(&made.image, "0f 1f cc 00");
		make_end(&made, record, 0, 0, time);
	}
	STATE(made);
	change = pd_state_code_change(made.state, 0);
	CHECK(change && change->when.time_ns == 10 && change->addr == 0xffffffff8100000a);
	CHECK(change->before.size == 2 && change->before.data[1] == 0x1f);
	CHECK(change->after.size == 1 && change->after.data[0] == 0xcc);
	CHECK(pd_state_code_change(made.state, 1)->when.time_ns == 20 && !pd_state_code_change(made.state, 2));
	make_free(&made);
}

// ---- feeding ----

TEST(test_state__can_be_fed_and_finalized_again)
{
	struct made made = make_begin();
	struct pd_stream *stream;
	const struct pd_record *record;
	struct pd_location location;

	user_map(&made, 5, 0x1000, 0x1000, "/a", 10);
	make_fork(&made, 6, 6, 5, 5, 20);
	STATE(made);
	CHECK_STR(where(&made, 6, 20, 0x1000), "/a");
	CHECK(pd_stream_open(made.file, NULL, &stream, NULL) == PD_OK);
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		CHECK(pd_state_take(made.state, record, NULL) == PD_OK);
		CHECK(!pd_state_locate(made.state, 6, PD_CPUMODE_USER, at(20), 0x1000, &location));
	}
	pd_stream_close(stream);
	CHECK(pd_state_finalize(made.state, NULL) == PD_OK);
	CHECK_STR(where(&made, 6, 20, 0x1000), "/a");
	CHECK(pd_state_object(made.state, 0) && !pd_state_object(made.state, 1));
	CHECK(pd_state_mapping(made.state, 1) && !pd_state_mapping(made.state, 2));
	make_free(&made);
}

static struct made_mmap2 library(uint32_t pid, uint64_t addr, uint64_t time)
{
	return (struct made_mmap2){ .misc = MAKE_USER,
				    .pid = pid,
				    .tid = pid + 1,
				    .addr = addr,
				    .len = 0x3000,
				    .pgoff = 0x1000,
				    .ino = 7,
				    .prot = 5,
				    .flags = 2,
				    .path = "/lib/a",
				    .time = time };
}

TEST(test_mapping__the_same_in_many_processes)
{
	struct made made = make_begin();
	struct made_mmap2 data = library(5, 0x50000, 60), larger = library(6, 0x60000, 60);
	struct pd_location location;
	const struct pd_mapping *mapping;

	for (uint32_t i = 0; i < 5; i++) {
		struct made_mmap2 map = library(i, 0x10000 * (i + 1), 10 + i);

		make_mmap2(&made, &map);
	}
	data.misc |= MAKE_DATA;
	data.prot = 0;
	larger.len = 0x4000;
	make_mmap2(&made, &data);
	make_mmap2(&made, &larger);
	CHECK(make_state(&made, NULL));
	for (uint32_t i = 0; i < 5; i++) {
		CHECK(pd_state_locate(made.state, i, PD_CPUMODE_USER, at(100), 0x10000 * (i + 1) + 0x2fff, &location));
		mapping = location.mapping;
		CHECK(mapping == pd_state_mapping(made.state, i) && location.object == pd_state_object(made.state, 0));
		CHECK(mapping->start == 0x10000 * (i + 1) && mapping->end == mapping->start + 0x3000);
		CHECK(mapping->pid == i && mapping->tid == i + 1 && mapping->prot == 5 && mapping->executable);
		CHECK(mapping->from.time_ns == 10 + i && mapping->from.order == i && location.offset == 0x3fff);
		CHECK(!pd_state_locate(made.state, i, PD_CPUMODE_USER, at(9 + i), mapping->start, &location));
	}
	CHECK(!pd_state_mapping(made.state, 5)->executable && pd_state_mapping(made.state, 5)->prot == 0);
	CHECK(pd_state_mapping(made.state, 6)->end == 0x64000 && !pd_state_mapping(made.state, 7));
	make_free(&made);
}

TEST(test_mapping__alike_but_for_the_path)
{
	struct made made = make_begin();
	char path[32];

	for (uint32_t i = 0; i < 60; i++) {
		struct made_mmap2 map = library(1 + i / 30, 0x10000 * i, 10 + i);

		snprintf(path, sizeof(path), "/lib/%02u", (unsigned)(i % 30));
		map.path = path;
		make_mmap2(&made, &map);
	}
	CHECK(make_state(&made, NULL));
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(path, sizeof(path), "/lib/%02u", (unsigned)(i % 30));
		CHECK(strcmp(pd_state_mapping(made.state, i)->object->path, path) == 0);
		CHECK(pd_state_mapping(made.state, i)->pid == 1 + i / 30);
	}
	make_free(&made);
}

TEST(test_mapping__the_same_but_for_where_it_ends)
{
	struct made made = make_begin();
	struct made_mmap2 last = library(3, UINT64_MAX - 0xfff, 12), first = library(2, 0x1000, 11);

	make_mmap2(&made, &last);
	make_mmap2(&made, &first);
	make_mmap2(&made, &last);
	CHECK(make_state(&made, NULL));
	CHECK(pd_state_mapping(made.state, 0)->end == UINT64_MAX && pd_state_mapping(made.state, 1)->end == 0x4000);
	CHECK(pd_state_mapping(made.state, 2)->end == UINT64_MAX);
	make_free(&made);
}

TEST(test_mapping__can_be_asked_for_before_finalizing)
{
	struct made made = make_begin();
	struct made_mmap2 map = library(3, 0x1000, 12);
	struct pd_stream *stream;
	const struct pd_record *record;

	for (uint32_t i = 0; i < 600; i++, map.addr += 0x3000)
		make_mmap2(&made, &map);
	image_file_end(&made.image);
	CHECK(pd_file_open_memory(made.image.data, made.image.size, NULL, &made.file, NULL) == PD_OK);
	CHECK(pd_state_new(NULL, &made.state, NULL) == PD_OK && !pd_state_mapping(made.state, 0));
	CHECK(pd_stream_open(made.file, NULL, &stream, NULL) == PD_OK);
	for (size_t i = 0; pd_stream_next(stream, &record, NULL) == PD_OK; i++) {
		CHECK(pd_state_take(made.state, record, NULL) == PD_OK);
		CHECK(pd_state_mapping(made.state, i)->start == 0x1000 + 0x3000 * i);
		CHECK(pd_state_mapping(made.state, i / 2)->start == 0x1000 + 0x3000 * (i / 2));
		CHECK(!pd_state_mapping(made.state, i + 1));
	}
	pd_stream_close(stream);
	make_free(&made);
}

TEST(test_state__has_a_limit)
{
	struct pd_state_options options = { .size = sizeof(options), .memory_limit = 200000 };
	struct made made = make_begin();
	struct pd_stream *stream;
	const struct pd_record *record;
	struct pd_error error = { 0 };
	enum pd_status status = PD_OK;

	for (uint64_t i = 0; i < 10000; i++)
		user_map(&made, 5, 0x1000 * i, 0x1000, "/a", 10 + i);
	image_file_end(&made.image);
	CHECK(pd_file_open_memory(made.image.data, made.image.size, NULL, &made.file, NULL) == PD_OK);
	CHECK(pd_state_new(&options, &made.state, NULL) == PD_OK);
	CHECK(pd_stream_open(made.file, NULL, &stream, NULL) == PD_OK);
	while (status == PD_OK && pd_stream_next(stream, &record, NULL) == PD_OK)
		status = pd_state_take(made.state, record, &error);
	pd_stream_close(stream);
	CHECK(status == PD_ERROR_LIMIT);
	CHECK(strstr(error.message, "200000"));
	make_free(&made);
}

TEST(test_state__limit_of_settling)
{
	struct pd_state_options options = { .size = sizeof(options), .memory_limit = 3000000 };
	struct made made = make_begin();
	struct pd_location location;

	// forked again and again: little to keep, more to work out
	for (uint32_t i = 0; i < 12000; i++)
		make_fork(&made, 2 + i, 2 + i, 1, 1, 1 + i);
	CHECK(!make_state(&made, &options));
	CHECK(made.state && !pd_state_locate(made.state, 2, PD_CPUMODE_USER, at(1), 0, &location));
	make_free(&made);
}

TEST(test_state__a_long_chain_of_forks)
{
	struct made made = make_begin();
	enum {
		LENGTH = 100000
	};

	user_map(&made, 1, 0x1000, 0x1000, "/first", 1);
	for (uint32_t i = 1; i < LENGTH; i++) {
		make_fork(&made, i + 1, i + 1, i, i, 2 * i);
		if (i % 1000 == 0)
			user_map(&made, i + 1, 0x2000, 0x1000, "/later", 2 * i + 1);
	}
	STATE(made);
	CHECK_STR(where(&made, LENGTH, 2 * LENGTH, 0x1800), "/first");
	CHECK_STR(where(&made, LENGTH, 2 * LENGTH, 0x2800), "/later");
	CHECK_STR(where(&made, 900, 2 * LENGTH, 0x2800), "");
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
    TEST_CASE(test_fork__from_oneself_is_a_new_beginning), TEST_CASE(test_exec__ends_the_old_mappings),
    TEST_CASE(test_kernel__has_its_symbol_and_modules), TEST_CASE(test_kernel__old_names_and_hidden_addresses),
    TEST_CASE(test_kernel__of_guests), TEST_CASE(test_ksymbol__comes_and_goes), TEST_CASE(test_object__kinds_by_path),
    TEST_CASE(test_object__huge_pages_are_anonymous), TEST_CASE(test_object__code_that_was_copied_into_huge_pages),
    TEST_CASE(test_object__is_one_for_each_file), TEST_CASE(test_build_id__by_the_mapping_or_by_the_path),
    TEST_CASE(test_build_id__of_kernel_and_modules_by_any_of_their_names),
    TEST_CASE(test_namespaces__of_a_thread_at_a_moment), TEST_CASE(test_cgroup__by_id_the_last_path),
    TEST_CASE(test_bpf__from_load_to_unload), TEST_CASE(test_code__changes_are_in_order),
    TEST_CASE(test_mapping__the_same_in_many_processes), TEST_CASE(test_mapping__alike_but_for_the_path),
    TEST_CASE(test_mapping__the_same_but_for_where_it_ends),
    TEST_CASE(test_mapping__can_be_asked_for_before_finalizing), TEST_CASE(test_state__can_be_fed_and_finalized_again),
    TEST_CASE(test_state__has_a_limit), TEST_CASE(test_state__limit_of_settling),
    TEST_CASE(test_state__a_long_chain_of_forks))
