/* SPDX-License-Identifier: MIT */
/* Symbols of kernels: code, modules, ends, and addresses that the kernel hides. */
#include "object/index/index_file.h"
#include "object/index/index_pages.h"
#include "../test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *name_at(const struct pd_kallsyms *k, uint64_t addr)
{
	struct pd_symbol symbol;

	return pd_symtab_find(k->table, addr, &symbol) ? symbol.name : "-";
}

static const char *module_at(const struct pd_kallsyms *k, uint64_t addr)
{
	struct pd_symbol symbol;
	const char *module = NULL;

	if (pd_symtab_find(k->table, addr, &symbol))
		module = pd_kallsyms_module(k, symbol.owner);
	return module ? module : "-";
}

static const char list[] = "0000000000000000 A __per_cpu_start\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 T first\n"
			   "ffffffff81000100 t alias\n"
			   "ffffffff81008000 W weak_one\n"
			   "garbage\n"
			   "ffffffff81008100 t last\n"
			   "ffffffff81200000 D data\n"
			   "ffffffffc0004000 t two_a\t[two]\n"
			   "ffffffffc0000000 t one_a\t[one]\n"
			   "ffffffffc0000100 t one_b\t[one]\n"
			   "ffffffffc0004100 T two_b\t[two]\n"
			   "ffffffffc0009000 t prog\t[bpf]";

// Of the kernel itself, and the first of each.
TEST(test_kallsyms__sections)
{
	static const char lines[] = "ffffffff80000000 T __sched_text_start\t[one]\n"
				    "ffffffff81000000 T _text\nffffffff81000100 T __sched_text_start\n"
				    "ffffffff81000200 T __sched_text_end\nffffffff81000300 T __sched_text_start\n"
				    "ffffffff81000400 T __lock_text_end\nffffffff81000500 T __lock_text_ends\n"
				    "ffffffff81200000 T _etext\n";
	struct pd_kallsyms k;

	CHECK(pd_kallsyms_read(&k, lines, sizeof(lines) - 1, 0, NULL) == PD_OK);
	CHECK(k.sections[PD_KERNEL_SCHED] == UINT64_C(0xffffffff81000100));
	CHECK(k.sections[PD_KERNEL_SCHED_END] == UINT64_C(0xffffffff81000200));
	CHECK(!k.sections[PD_KERNEL_LOCK] && k.sections[PD_KERNEL_LOCK_END] == UINT64_C(0xffffffff81000400));
	pd_kallsyms_close(&k);
}

TEST(test_kallsyms__modules)
{
	struct pd_kallsyms k;

	CHECK(pd_kallsyms_read(&k, list, sizeof(list) - 1, 0, NULL) == PD_OK);
	CHECK(!k.hidden && k.text_addr == UINT64_C(0xffffffff81000000));
	CHECK(k.module_count == 3 && k.bad_lines == 1);
	CHECK(pd_symtab_count(k.table) == 9);
	CHECK_STR(name_at(&k, UINT64_C(0xffffffff81000000)), "_stext");
	// the last one of an address, since those before it end where they begin
	CHECK_STR(name_at(&k, UINT64_C(0xffffffff81007fff)), "alias");
	CHECK_STR(name_at(&k, UINT64_C(0xffffffff810080ff)), "weak_one");
	CHECK_STR(name_at(&k, UINT64_C(0xffffffff811fffff)), "last");
	CHECK_STR(name_at(&k, UINT64_C(0xffffffff81200000)), "-");
	CHECK_STR(module_at(&k, UINT64_C(0xffffffff81000100)), "-");
	CHECK_STR(name_at(&k, UINT64_C(0xffffffffc0000000)), "one_a");
	CHECK_STR(module_at(&k, UINT64_C(0xffffffffc0000000)), "one");
	// not up to the next module
	CHECK_STR(name_at(&k, UINT64_C(0xffffffffc0001fff)), "one_b");
	CHECK_STR(name_at(&k, UINT64_C(0xffffffffc0002000)), "-");
	CHECK_STR(name_at(&k, UINT64_C(0xffffffffc00040ff)), "two_a");
	CHECK_STR(module_at(&k, UINT64_C(0xffffffffc0004100)), "two");
	CHECK_STR(module_at(&k, UINT64_C(0xffffffffc0009000)), "bpf");
	pd_kallsyms_close(&k);
}

TEST(test_kallsyms__hidden)
{
	static const char zeros[] = "0000000000000000 T _text\n0000000000000000 T start_kernel\n";
	struct pd_kallsyms k;

	CHECK(pd_kallsyms_read(&k, zeros, sizeof(zeros) - 1, 0, NULL) == PD_OK);
	CHECK(k.hidden && k.text_addr == 0);
	CHECK(pd_symtab_count(k.table) == 0);
	pd_kallsyms_close(&k);
}

TEST(test_kallsyms__something_else)
{
	struct pd_kallsyms k;
	struct pd_error error;

	CHECK(pd_kallsyms_read(&k, "\177ELF\n\n", 6, 0, &error) == PD_ERROR_FORMAT);
	CHECK(pd_kallsyms_open(&k, "/dev/null", 0, &error) == PD_ERROR_UNSUPPORTED);
	CHECK(pd_kallsyms_open(&k, "/nowhere/at/all", 0, &error) == PD_ERROR_SYSTEM);
}

TEST(test_kallsyms__empty)
{
	struct pd_kallsyms k;

	CHECK(pd_kallsyms_read(&k, "", 0, 0, NULL) == PD_OK);
	CHECK(k.hidden && !k.first && !k.end && pd_symtab_count(k.table) == 0);
	pd_kallsyms_close(&k);
}

// From the first to the last of what is no module's and not read only; the last one may go to the end of the next page.
TEST(test_kallsyms__range)
{
	static const char lines[] = "0 D per_cpu\n81000000 T _text\n81002008 b last\n81009000 R constant\n"
				    "c0000000 t other\t[mod]\n80000000 r before\n";
	static const char top[] = "ffffffffffffffff t top\n";
	struct pd_kallsyms k;

	CHECK(pd_kallsyms_read(&k, lines, sizeof(lines) - 1, 0, NULL) == PD_OK);
	CHECK(k.first == 0x81000000 && k.end == 0x81004000);
	pd_kallsyms_close(&k);
	CHECK(pd_kallsyms_read(&k, top, sizeof(top) - 1, 0, NULL) == PD_OK);
	CHECK(k.first == UINT64_MAX && k.end == UINT64_MAX);
	pd_kallsyms_close(&k);
}

TEST(test_kallsyms__cut_anywhere)
{
	for (size_t size = 1; size < sizeof(list); size++) {
		struct pd_kallsyms k;

		if (pd_kallsyms_read(&k, list, size, 0, NULL) == PD_OK)
			pd_kallsyms_close(&k);
		else
			CHECK(size < 20);
	}
}

TEST(test_kallsyms__many_modules)
{
	static char text[10000 * 40];
	struct pd_kallsyms k;
	struct pd_error error;
	size_t size = 0;

	for (unsigned i = 0; i < 8000; i++)
		size += (size_t)sprintf(text + size, "%x t f%u\t[m%u]\n", 0x1000000 + i * 16, i, i * 7 % 8000);
	CHECK(pd_kallsyms_read(&k, text, size, 0, NULL) == PD_OK);
	CHECK(k.module_count == 8000);
	CHECK_STR(module_at(&k, 0x1000000 + 7777 * 16), "m6439");
	pd_kallsyms_close(&k);
	for (unsigned i = 8000; i < 9000; i++)
		size += (size_t)sprintf(text + size, "%x t f%u\t[m%u]\n", 0x1000000 + i * 16, i, i);
	CHECK(pd_kallsyms_read(&k, text, size, 0, &error) == PD_ERROR_LIMIT);
}

// ---- the image of a kernel, kept ----

static const struct pd_object_id id = { .bytes = { 1, 2, 3, 4, 5, 6, 7, 8 }, .size = 8 };

static const char with_end[] = "ffffffff80000000 t before\t[one]\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T first\n"
			       "ffffffff81200000 T _etext\n"
			       "ffffffff81300000 D data\n"
			       "ffffffff81400000 T init\n"
			       "ffffffff81400100 T _einittext\n"
			       "ffffffff81500000 B more\n"
			       "ffffffffc0000000 t one_a\t[one]\n";

static void remove_index(const char *folder)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/0102030405060708.kernel", folder);
	unlink(path);
	rmdir(folder);
}

static bool find_in_pages(struct pd_index_pages *pages, uint64_t addr, struct pd_symbol *symbol_out)
{
	uint64_t number;
	const struct pd_symtab *table = pd_index_pages_find(pages, addr, &number);

	return table && pd_symtab_find(table, addr, symbol_out);
}

// All of the list that is in the image has the same name in what was kept.
static void check_image(const struct pd_kallsyms *list_of_all, const struct pd_kallsyms *kept)
{
	const struct pd_symtab *table = list_of_all->table;

	for (size_t i = 0; i < pd_symtab_count(table); i++) {
		struct pd_symbol wanted = pd_symtab_at(table, i), got;
		bool inside = wanted.start >= kept->image_from && wanted.start < kept->image_to;

		CHECK(find_in_pages(kept->image, wanted.start, &got) == inside);
		if (inside) {
			CHECK(got.start == wanted.start && got.end == wanted.end && got.bind == wanted.bind &&
			      !got.owner);
			CHECK_STR(got.name, wanted.name);
			CHECK(find_in_pages(kept->image, wanted.end - 1, &got) && got.start == wanted.start);
		}
	}
}

static void check_kept(const struct pd_kallsyms *k, uint8_t head[PD_KALLSYMS_HEAD])
{
	char folder[] = "/tmp/perfdata-kallsyms-XXXXXX";
	struct pd_kallsyms kept = { 0 };

	CHECK(mkdtemp(folder));
	CHECK(!pd_index_load_kernel(folder, &id, head, 0, &kept));
	pd_index_save_kernel(folder, &id, head, k);
	CHECK(!pd_index_load_kernel(folder, &id, head, 100, &kept));
	CHECK(pd_index_load_kernel(folder, &id, head, 0, &kept));
	CHECK(!kept.table && !kept.hidden && !kept.module_count);
	CHECK(kept.first == k->first && kept.end == k->end && kept.text_addr == k->text_addr &&
	      kept.stext_addr == k->stext_addr && kept.image_from == k->image_from && kept.image_to == k->image_to);
	CHECK(!memcmp(kept.sections, k->sections, sizeof(k->sections)));
	check_image(k, &kept);
	pd_kallsyms_close(&kept);
	// another boot
	head[PD_KALLSYMS_HEAD - 1] ^= 1;
	CHECK(!pd_index_load_kernel(folder, &id, head, 0, &kept));
	remove_index(folder);
}

TEST(test_kallsyms__image_is_kept)
{
	uint8_t head[PD_KALLSYMS_HEAD] = "ffffffff80000000";
	struct pd_kallsyms k;

	CHECK(pd_kallsyms_read(&k, with_end, sizeof(with_end) - 1, 0, NULL) == PD_OK);
	CHECK(k.image_from == UINT64_C(0xffffffff81000000) && k.image_to == UINT64_C(0xffffffff81400100));
	check_kept(&k, head);
	pd_kallsyms_close(&k);
}

// Reads the list of a kernel with so many functions of 16 bytes.
static void read_many(struct pd_kallsyms *k, unsigned count)
{
	char *text = malloc((count + 4) * (size_t)64);
	size_t size;

	CHECK(text);
	size = (size_t)sprintf(text, "ffffffff81000000 T _text\n");
	for (unsigned i = 0; i < count; i++)
		size += (size_t)sprintf(text + size, "%" PRIx64 " t f%u\n", UINT64_C(0xffffffff81000000) + 16 * i, i);
	size += (size_t)sprintf(text + size, "ffffffff81200000 T _etext\n");
	CHECK(pd_kallsyms_read(k, text, size, 0, NULL) == PD_OK);
	free(text);
}

TEST(test_kallsyms__pages)
{
	uint8_t head[PD_KALLSYMS_HEAD] = "ffffffff81000000";
	struct pd_kallsyms k;

	for (unsigned count = 254; count < 260; count++) {
		read_many(&k, count);
		check_kept(&k, head);
		pd_kallsyms_close(&k);
	}
	read_many(&k, 5000);
	check_kept(&k, head);
	pd_kallsyms_close(&k);
}

static void change_last_byte(const char *folder)
{
	char path[64];
	FILE *file;
	int last;

	snprintf(path, sizeof(path), "%s/0102030405060708.kernel", folder);
	file = fopen(path, "r+b");
	CHECK(file && fseek(file, -1, SEEK_END) == 0 && (last = fgetc(file)) != EOF && fseek(file, -1, SEEK_END) == 0);
	CHECK(fputc(last ^ 1, file) != EOF && fclose(file) == 0);
}

// The others are not.
TEST(test_kallsyms__page_is_damaged)
{
	const uint8_t head[PD_KALLSYMS_HEAD] = { 0 };
	char folder[] = "/tmp/perfdata-kallsyms-XXXXXX";
	struct pd_kallsyms k, kept;
	struct pd_symbol symbol;

	CHECK(mkdtemp(folder));
	read_many(&k, 1000);
	pd_index_save_kernel(folder, &id, head, &k);
	change_last_byte(folder);
	CHECK(pd_index_load_kernel(folder, &id, head, 0, &kept));
	CHECK(find_in_pages(kept.image, k.text_addr + 8, &symbol) && !pd_index_pages_failed(kept.image));
	CHECK(!find_in_pages(kept.image, k.text_addr - 8, &symbol) && !pd_index_pages_failed(kept.image));
	CHECK(!find_in_pages(kept.image, k.text_addr + 16 * 1000 - 8, &symbol) && pd_index_pages_failed(kept.image));
	CHECK(find_in_pages(kept.image, k.text_addr + 24, &symbol));
	CHECK_STR(symbol.name, "f1");
	pd_kallsyms_close(&kept);
	pd_kallsyms_close(&k);
	remove_index(folder);
}

TEST(test_kallsyms__image_of_this_kernel)
{
	uint8_t head[PD_KALLSYMS_HEAD];
	struct pd_kallsyms k;

	if (!pd_kallsyms_head("/proc/kallsyms", head) || pd_kallsyms_open(&k, "/proc/kallsyms", 0, NULL))
		return;
	if (k.image_to && !k.hidden)
		check_kept(&k, head);
	pd_kallsyms_close(&k);
}

// Lists that hide addresses, do not say where the image ends, or have others inside of it.
TEST(test_kallsyms__not_kept)
{
	static const char inside[] =
		"ffffffff81000000 T _text\nffffffff81000100 t a\t[one]\nffffffff81200000 T _etext\n";
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T _etext\n";
	const struct pd_bytes lists[] = { { (const uint8_t *)list, sizeof(list) - 1 },
					  { (const uint8_t *)inside, sizeof(inside) - 1 },
					  { (const uint8_t *)hidden, sizeof(hidden) - 1 } };
	const uint8_t head[PD_KALLSYMS_HEAD] = { 0 };
	char folder[] = "/tmp/perfdata-kallsyms-XXXXXX";

	CHECK(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct pd_kallsyms k, kept;

		CHECK(pd_kallsyms_read(&k, (const char *)lists[i].data, lists[i].size, 0, NULL) == PD_OK);
		pd_index_save_kernel(folder, &id, head, &k);
		CHECK(!pd_index_load_kernel(folder, &id, head, 0, &kept));
		pd_kallsyms_close(&k);
	}
	CHECK(!pd_kallsyms_head("/nowhere/at/all", (uint8_t[PD_KALLSYMS_HEAD]){ 0 }));
	remove_index(folder);
}

// In a file with this text.
static uint64_t find_in(const char *text, const char *symbol)
{
	char path[32];
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	uint64_t addr = 1;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return addr;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	addr = pd_kallsyms_find(path, symbol);
	close(fd);
	return addr;
}

// One function, without a table of all.
TEST(test_kallsyms__find)
{
	static const char moved[] =
		"ffffffff80fff000 D _text\nbad\nffffffff81000040 t _stext\nffffffff81000000 T _text";

	CHECK(find_in(list, "_text") == UINT64_C(0xffffffff81000000));
	CHECK(find_in(list, "last") == UINT64_C(0xffffffff81008100));
	CHECK(find_in(list, "two_b") == UINT64_C(0xffffffffc0004100));
	CHECK(find_in(list, "data") == 0 && find_in(list, "tex") == 0 && find_in("", "_text") == 0);
	CHECK(find_in(moved, "_text") == UINT64_C(0xffffffff81000000));
	CHECK(find_in(moved, "_stext") == UINT64_C(0xffffffff81000040));
	CHECK(find_in("ffffffff81000040 T _stext\n", "_text") == UINT64_C(0xffffffff81000040));
	CHECK(find_in("0000000000000000 T _text\nffffffff81000040 T last\n", "_text") == 0);
	CHECK(pd_kallsyms_find("/nowhere/at/all", "_text") == 0);
}

RUN(TEST_CASE(test_kallsyms__sections), TEST_CASE(test_kallsyms__modules), TEST_CASE(test_kallsyms__hidden),
    TEST_CASE(test_kallsyms__something_else), TEST_CASE(test_kallsyms__empty), TEST_CASE(test_kallsyms__range),
    TEST_CASE(test_kallsyms__cut_anywhere), TEST_CASE(test_kallsyms__many_modules),
    TEST_CASE(test_kallsyms__image_is_kept), TEST_CASE(test_kallsyms__pages), TEST_CASE(test_kallsyms__page_is_damaged),
    TEST_CASE(test_kallsyms__image_of_this_kernel), TEST_CASE(test_kallsyms__not_kept), TEST_CASE(test_kallsyms__find))
