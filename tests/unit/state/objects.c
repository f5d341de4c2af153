/* SPDX-License-Identifier: MIT */
/* What the state says of kernels, objects, build ids, namespaces and code that is loaded while a system runs. */
#include "unit/test.h"
#include "unit/state/ask.h"

static const uint8_t id_a[20] = { 0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0xa0 };
static const uint8_t id_short[20] = { 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xb0 };

static const char *in_kernel(const struct made *made, uint64_t time, uint64_t addr)
{
	struct pd_location location;

	return pd_state_locate(made->state, 0, PD_CPUMODE_KERNEL, at(time), addr, &location) ? location.object->path :
											       "";
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

RUN(TEST_CASE(test_kernel__has_its_symbol_and_modules), TEST_CASE(test_kernel__old_names_and_hidden_addresses),
    TEST_CASE(test_kernel__of_guests), TEST_CASE(test_ksymbol__comes_and_goes), TEST_CASE(test_object__kinds_by_path),
    TEST_CASE(test_object__huge_pages_are_anonymous), TEST_CASE(test_object__code_that_was_copied_into_huge_pages),
    TEST_CASE(test_object__is_one_for_each_file), TEST_CASE(test_build_id__by_the_mapping_or_by_the_path),
    TEST_CASE(test_build_id__of_kernel_and_modules_by_any_of_their_names),
    TEST_CASE(test_namespaces__of_a_thread_at_a_moment), TEST_CASE(test_cgroup__by_id_the_last_path),
    TEST_CASE(test_bpf__from_load_to_unload), TEST_CASE(test_code__changes_are_in_order))
