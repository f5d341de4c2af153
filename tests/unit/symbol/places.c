/* SPDX-License-Identifier: MIT */
/* From addresses of processes to functions: objects in a directory of their own, and files that set traps. */
#include "places.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "symbol/lookup.h"

static struct pd_symbols *open_default(struct made *made)
{
	return open_symbols(made, (struct pd_symbols_options){ .size = 0 });
}

static struct pd_place user_at(struct pd_symbols *symbols, uint64_t addr)
{
	return pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(5), addr);
}

static struct pd_place kernel_at(struct pd_symbols *symbols, uint64_t addr)
{
	return pd_symbols_place(symbols, PID, PD_CPUMODE_KERNEL, at(5), addr);
}

TEST(test_places__in_a_file)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;
	struct pd_place a, b, c;
	struct pd_line lines[2];

	put_object("sys/bin/tool", id_a, 0x401000);
	map(&made, 0x10000, "/bin/tool", id_a);
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols && !pd_symbols_dso(symbols, 0) && !pd_symbols_function(symbols, 0));
	a = user_at(symbols, 0x10040);
	b = user_at(symbols, 0x1004f);
	c = user_at(symbols, 0x10052);
	CHECK(a.dso && a.function && a.function == b.function && c.function && c.function != a.function);
	CHECK_STR(a.dso->name, "tool");
	CHECK_STR(a.dso->long_name, "/bin/tool");
	CHECK(a.dso->state == PD_DSO_SYMBOLS && strstr(a.dso->detail, "sys/bin/tool") && !a.dso->kernel);
	CHECK(a.addr == 0x401000 && a.recorded == 0x10040 && b.addr == 0x40100f && c.addr == 0x401012);
	CHECK(a.function->start == 0x401000 && a.function->end == 0x401010 && a.function->bind == 'g');
	CHECK(a.function->dso == a.dso && a.function->index == 0 && c.function->index == 1);
	CHECK(pd_symbols_function(symbols, 1) == c.function && !pd_symbols_function(symbols, 2));
	CHECK(pd_symbols_dso(symbols, 0) == a.dso && !pd_symbols_dso(symbols, 1));
	CHECK_STR(c.function->linker_name, "_ZN4shop4workEi");
	CHECK(c.function->bind == 'l');
	// nothing is known of lines but the function
	CHECK(pd_symbols_lines(symbols, &a, lines, 2) == 1 && lines[0].function == a.function && !lines[0].file &&
	      !lines[0].inlined);
	// asked again
	CHECK(user_at(symbols, 0x10040).function == a.function && user_at(symbols, 0x1004f).addr == 0x40100f);
	// what follows there in the file is not in memory
	CHECK(user_at(symbols, 0x10040 + 0x400f).function && user_at(symbols, 0x10040 + 0x400f).addr == 0x40500f);
	CHECK_STR(user_at(symbols, 0x10040 + 0x400f).function->name, "counter");
	CHECK(!user_at(symbols, 0x10040 + 0x4010).function);
	// nothing is mapped there, and no symbol is there
	CHECK(!user_at(symbols, 0x90000).dso && user_at(symbols, 0x90000).addr == 0x90000);
	CHECK(user_at(symbols, 0x10030).dso == a.dso && !user_at(symbols, 0x10030).function);
	CHECK(!pd_symbols_failed(symbols));
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__many)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;

	put_object("sys/bin/tool", NULL, 0x401000);
	map(&made, 0x10000, "/bin/tool", NULL);
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	for (unsigned round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 8000; i++) {
			struct pd_place place = user_at(symbols, 0x10140 + i);
			char name[16];

			snprintf(name, sizeof(name), "many%u", (unsigned)i / 8);
			CHECK(place.function);
			CHECK_STR(place.function->name, name);
			CHECK(place.function->bind == 'w' && place.addr - place.function->start == i % 8);
		}
	}
	CHECK(pd_symbols_function(symbols, 999) && !pd_symbols_function(symbols, 1000));
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__names)
{
	struct made made = make_begin();
	struct pd_symbols *readable, *raw, *none;
	struct pd_place place;

	put_object("sys/bin/tool", id_a, 0x401000);
	map(&made, 0x10000, "/bin/tool", id_a);
	CHECK(make_state(&made, NULL));
	readable = open_default(&made);
	raw = open_symbols(&made, (struct pd_symbols_options){ .flags = PD_SYMBOLS_RAW_NAMES });
	none = open_symbols(&made, (struct pd_symbols_options){ .flags = PD_SYMBOLS_NO_FILES });
	CHECK(readable && raw && none);
	place = user_at(readable, 0x10050);
	// without a library for C++ the name stays
	CHECK(place.function && (strcmp(place.function->name, "shop::work") == 0 ||
				 strcmp(place.function->name, "_ZN4shop4workEi") == 0));
	CHECK_STR(user_at(raw, 0x10050).function->name, "_ZN4shop4workEi");
	place = user_at(none, 0x10050);
	CHECK(place.dso && !place.function && place.addr == 0x50 && place.dso->state == PD_DSO_MISSING);
	pd_symbols_free(readable);
	pd_symbols_free(raw);
	pd_symbols_free(none);
	make_free(&made);
}

TEST(test_places__other_build_id)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;
	struct pd_place place;

	put_object("sys/bin/other", id_b, 0x401000);
	put_object("sys/bin/cached", id_b, 0x401000);
	put_object("cache/.build-id/aa/0102030405060708090a0b0c0d0e0f10111213/elf", id_a, 0x501000);
	map(&made, 0x10000, "/bin/other", id_b);
	map(&made, 0x20000, "/bin/absent", id_b);
	CHECK(make_state(&made, NULL));
	put_object("sys/bin/other", id_a, 0x401000);
	symbols = open_default(&made);
	CHECK(symbols);
	place = user_at(symbols, 0x10050);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISMATCH && place.addr == 0x50);
	CHECK(strstr(place.dso->detail, "sys/bin/other: build id is aa01"));
	place = user_at(symbols, 0x20050);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING);
	CHECK(strstr(place.dso->detail, "sys/bin/absent: No such file"));
	pd_symbols_free(symbols);
	make_free(&made);

	made = make_begin();
	map(&made, 0x10000, "/bin/cached", id_a);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .build_id_cache = under("cache") });
	CHECK(symbols);
	place = user_at(symbols, 0x10040);
	CHECK(place.function && place.addr == 0x501000 && place.dso->state == PD_DSO_SYMBOLS);
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__one_name_two_objects)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;

	put_object("sys/bin/tool", id_a, 0x401000);
	map(&made, 0x10000, "/bin/tool", id_a);
	map(&made, 0x20000, "/bin/tool", id_b);
	map(&made, 0x30000, "/bin/tool", id_a);
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	CHECK(user_at(symbols, 0x10040).function && !user_at(symbols, 0x20040).function);
	CHECK(user_at(symbols, 0x10040).function == user_at(symbols, 0x30040).function);
	CHECK(user_at(symbols, 0x10040).dso != user_at(symbols, 0x20040).dso);
	pd_symbols_free(symbols);
	make_free(&made);
}

// ---- kernels ----

static const char list[] = "0000000081000000 T _text\n"
			   "0000000081000000 T _stext\n"
			   "0000000081000100 T start_kernel\n"
			   "0000000081000200 t do_idle\n"
			   "00000000c0000000 t ext_a\t[ext]\n"
			   "00000000c0000100 t ext_b\t[ext]\n";

static struct made make_kernel(uint64_t text, const char *module)
{
	struct made made = make_begin();

	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, text, 0x10000000, text, "[kernel.kallsyms]_text", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xc0000000, 0x4000, 0, module, 0);
	make_ksymbol(&made, 0xd0000000, 0x100, false, "bpf_prog_0123456789abcdef_watch", 2);
	return made;
}

TEST(test_places__kernel)
{
	struct made made = make_kernel(KERNEL_TEXT, "/lib/modules/6/kernel/ext.ko");
	struct pd_symbols *symbols;
	struct pd_place place;

	put_text("kallsyms", list);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	place = kernel_at(symbols, KERNEL_TEXT + 0x204);
	CHECK(place.dso && place.function && place.dso->kernel);
	CHECK_STR(place.dso->name, "[kernel.kallsyms]");
	CHECK_STR(place.dso->long_name, "[kernel.kallsyms]");
	CHECK_STR(place.function->name, "do_idle");
	CHECK(place.addr == KERNEL_TEXT + 0x204 && place.addr - place.function->start == 4);
	CHECK_STR(place.dso->detail, under("kallsyms"));
	place = kernel_at(symbols, 0xc0000108);
	CHECK(place.dso && place.function && place.dso->kernel);
	CHECK_STR(place.dso->name, "[ext]");
	CHECK_STR(place.function->name, "ext_b");
	place = kernel_at(symbols, 0xd0000010);
	CHECK(place.dso && place.function && place.addr - place.function->start == 16);
	CHECK_STR(place.dso->name, "bpf_prog_0123456789abcdef_watch");
	CHECK_STR(place.function->name, "bpf_prog_0123456789abcdef_watch");
	pd_symbols_free(symbols);
	make_free(&made);
}

// Where nothing was recorded the list says how far the kernel goes.
TEST(test_places__kernel_after_its_mapping)
{
	struct made made = make_kernel(KERNEL_TEXT, "/lib/modules/6/kernel/ext.ko");
	struct pd_symbols *symbols;
	struct pd_place place, text;
	char both[sizeof(list) + 80];

	// the mapping ends at 0x91000000
	snprintf(both, sizeof(both), "%s0000000091000040 T init_late\n0000000091002000 b _end\n", list);
	put_text("kallsyms", both);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	place = kernel_at(symbols, 0x91000048);
	text = kernel_at(symbols, KERNEL_TEXT + 0x104);
	CHECK(place.function && place.dso == text.dso && place.addr - place.function->start == 8);
	CHECK_STR(place.function->name, "init_late");
	CHECK(!kernel_at(symbols, 0x91004000).dso && !kernel_at(symbols, KERNEL_TEXT - 1).dso);
	CHECK_STR(kernel_at(symbols, 0xc0000108).dso->name, "[ext]");
	CHECK(!user_at(symbols, 0x91000048).dso);
	pd_symbols_free(symbols);
	// without symbols the kernel is what was recorded of it
	put_text("kallsyms", "");
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	CHECK(!kernel_at(symbols, 0x91000048).dso);
	text = kernel_at(symbols, KERNEL_TEXT + 0x104);
	CHECK(text.dso && !text.function && text.dso->state == PD_DSO_NO_SYMBOLS);
	pd_symbols_free(symbols);
	symbols = open_symbols(&made, (struct pd_symbols_options){ .flags = PD_SYMBOLS_NO_FILES });
	CHECK(symbols && !kernel_at(symbols, 0x91000048).dso);
	pd_symbols_free(symbols);
	make_free(&made);
}

// Names of all sorts of places, one after the other, from before the kernel to after it.
static char *name_places(struct made *made, const struct pd_kallsyms *list_of_all, const char *index)
{
	struct pd_symbols *symbols = open_symbols(made, (struct pd_symbols_options){ .symfs = "/", .index = index });
	size_t count = pd_symtab_count(list_of_all->table), step = count / 500 + 1, size;
	char *names = NULL;
	FILE *out = open_memstream(&names, &size);

	for (size_t i = 0; symbols && out && i < count;
	     i += i + step < count || i + 1 == count ? step : count - 1 - i) {
		struct pd_symbol symbol = pd_symtab_at(list_of_all->table, i);
		struct pd_place place = kernel_at(symbols, symbol.start + (symbol.end - symbol.start) / 2);

		fprintf(out, "%s+%llx\n", place.function ? place.function->name : "-",
			place.function ? (unsigned long long)(place.addr - place.function->start) : 0);
	}
	pd_symbols_free(symbols);
	if (out)
		fclose(out);
	return names;
}

// With an index that is empty, and then with what was put there, places have the names that they have without one.
TEST(test_places__kernel_that_runs)
{
	struct pd_object_id id = { .size = 0 };
	struct made made = make_begin();
	struct pd_kallsyms k;
	char *names[3];

	if (!pd_lookup_running_id(&id) || id.size != 20 || pd_kallsyms_open(&k, "/proc/kallsyms", 0, NULL)) {
		make_free(&made);
		return;
	}
	make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_KERNEL | MAKE_BUILD_ID,
						.pid = MAKE_NOBODY,
						.addr = k.text_addr,
						.len = UINT64_MAX - k.text_addr,
						.prot = 5,
						.build_id = id.bytes,
						.path = "[kernel.kallsyms]_text" });
	CHECK(make_state(&made, NULL));
	make_folders("index/");
	names[0] = name_places(&made, &k, NULL);
	names[1] = name_places(&made, &k, under("index"));
	names[2] = name_places(&made, &k, under("index"));
	for (size_t i = 0; i < 3; i++) {
		CHECK(names[i]);
		CHECK_STR(names[i], names[0]);
	}
	CHECK(k.hidden || strlen(names[0]) > 100);
	for (size_t i = 0; i < 3; i++)
		free(names[i]);
	pd_kallsyms_close(&k);
	make_free(&made);
}

TEST(test_places__kernel_of_another_boot)
{
	struct made made = make_kernel(KERNEL_TEXT + 0x6000000, "[ext]");
	struct pd_symbols *symbols;
	struct pd_place place;

	put_text("kallsyms", list);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	place = kernel_at(symbols, KERNEL_TEXT + 0x6000104);
	CHECK(place.function && place.addr == KERNEL_TEXT + 0x104 && place.recorded == KERNEL_TEXT + 0x6000104);
	CHECK_STR(place.function->name, "start_kernel");
	// where modules stand then is not known
	place = kernel_at(symbols, 0xc0000108);
	CHECK(place.dso && !place.function && place.addr == 0x108);
	CHECK_STR(place.dso->name, "[ext]");
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__vmlinux)
{
	struct made made = make_kernel(KERNEL_TEXT, "[ext]");
	struct pd_symbols *symbols = NULL;
	struct pd_symbols_options options = { .size = sizeof(options), .vmlinux = under("nothing") };
	struct pd_place place;

	put_object("vmlinux", id_a, 0x1000);
	CHECK(make_state(&made, NULL));
	CHECK(pd_symbols_new(made.file, made.state, &options, &symbols, NULL) == PD_ERROR_SYSTEM && !symbols);
	symbols = open_symbols(&made, (struct pd_symbols_options){ .vmlinux = under("vmlinux") });
	CHECK(symbols);
	// its _text stands at 0x1040
	place = kernel_at(symbols, KERNEL_TEXT - 0x40 + 0x112);
	CHECK(!place.dso || !place.function || strcmp(place.function->name, "first") != 0);
	place = kernel_at(symbols, KERNEL_TEXT + 0x102 - 0x40);
	CHECK(place.function && place.addr == 0x1102);
	CHECK_STR(place.function->name, "many0");
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__no_kernel)
{
	struct made made = make_kernel(KERNEL_TEXT, "/lib/modules/6/kernel/ext-a.ko.xz");
	struct pd_symbols *symbols;
	struct pd_place place;

	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	place = kernel_at(symbols, KERNEL_TEXT + 0x204);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING && place.addr == KERNEL_TEXT + 0x204);
	CHECK_STR(kernel_at(symbols, 0xc0000100).dso->name, "[ext_a]");
	pd_symbols_free(symbols);
	make_free(&made);
}

// ---- memory files ----

TEST(test_places__memory_file)
{
	static const char *const paths[] = { "/memfd:name (deleted)", "//anon", "/dev/zero (deleted)" };
	struct made made = make_begin();
	struct pd_symbols *symbols;

	for (size_t i = 0; i < 3; i++)
		make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_USER,
							.pid = PID,
							.tid = PID,
							.addr = 0x10000 * (i + 1),
							.len = 0x8000,
							.pgoff = 0x3000,
							.prot = 5,
							.path = paths[i],
							.time = 1 });
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	CHECK(user_at(symbols, 0x10007).addr == 0x3007 && user_at(symbols, 0x10007).recorded == 0x10007);
	CHECK_STR(user_at(symbols, 0x10007).dso->long_name, "/memfd:name (deleted)");
	CHECK(user_at(symbols, 0x20007).addr == 0x20007 && user_at(symbols, 0x30007).addr == 0x30007);
	pd_symbols_free(symbols);
	make_free(&made);
}

// ---- code that programs made ----

static struct made make_jit(void)
{
	struct made made = make_begin();

	map(&made, 0x10000, "//anon", NULL);
	map(&made, 0x90000, "/tmp/jit-100.dump", NULL);
	return made;
}

TEST(test_places__perf_map)
{
	struct made made = make_jit();
	struct pd_symbols *symbols;
	struct pd_place place;

	put_text("sys/tmp/perf-100.map", "10000 40 old\n10000 40 young one\n10040 40 other\n");
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	place = user_at(symbols, 0x10008);
	CHECK(place.dso && place.function && !place.dso->object && place.addr == 0x10008);
	CHECK_STR(place.dso->long_name, "/tmp/perf-100.map");
	CHECK_STR(place.dso->name, "[JIT] tid 100");
	CHECK_STR(place.function->name, "young one");
	CHECK_STR(user_at(symbols, 0x10040).function->name, "other");
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__perf_map_of_others)
{
	struct made made = make_jit();
	struct pd_symbols *symbols;
	struct pd_place place;

	put_text("sys/tmp/real.map", "10000 40 name\n");
	unlink(under("sys/tmp/perf-100.map"));
	CHECK(symlink("real.map", under("sys/tmp/perf-100.map")) == 0);
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	place = user_at(symbols, 0x10008);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING);
	pd_symbols_free(symbols);
	unlink(under("sys/tmp/perf-100.map"));
	put_text("sys/tmp/perf-100.map", "10000 40 name\n");
	if (chown(under("sys/tmp/perf-100.map"), 12345, 12345) == 0 && geteuid() != 12345) {
		symbols = open_default(&made);
		CHECK(symbols);
		place = user_at(symbols, 0x10008);
		CHECK(place.dso && !place.function && strstr(place.dso->detail, "is owned neither by root nor by you"));
		pd_symbols_free(symbols);
	} else {
		printf("# files of others cannot be made here\n");
	}
	make_free(&made);
}

TEST(test_places__jitdump)
{
	struct made made = make_jit();
	struct pd_symbols *symbols;
	struct pd_place early, late;
	struct pd_line lines[2];

	put_jitdump("sys/tmp/jit-100.dump");
	unlink(under("sys/tmp/perf-100.map"));
	put_text("sys/tmp/perf-100.map", "10100 2 map\n10200 8 map alone\n10300 0 empty\n");
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	early = pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(15), 0x10101);
	late = pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(25), 0x10101);
	CHECK(early.function && late.function && early.function != late.function && early.dso == late.dso);
	CHECK_STR(early.function->name, "before");
	CHECK_STR(late.function->name, "after");
	CHECK(late.function->start == 0x10100 && late.function->end == 0x10102);
	CHECK(pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(16), 0x10100).function == early.function);
	// what the dump lacks is in the map
	early = user_at(symbols, 0x10201);
	CHECK(early.function && early.dso == late.dso && !user_at(symbols, 0x10301).function);
	CHECK_STR(early.function->name, "map alone");
	CHECK(pd_symbols_lines(symbols, &early, lines, 2) == 1 && lines[0].function == early.function &&
	      !lines[0].file);
	CHECK(strstr(early.dso->detail, "jit-100.dump; /tmp/perf-100.map"));
	pd_symbols_free(symbols);
	symbols = open_symbols(&made, (struct pd_symbols_options){ .flags = PD_SYMBOLS_NO_JITDUMP });
	CHECK(symbols);
	CHECK_STR(user_at(symbols, 0x10101).function->name, "map");
	pd_symbols_free(symbols);
	unlink(under("sys/tmp/jit-100.dump"));
	make_free(&made);
}

// ---- kept, fetched ----

TEST(test_places__index)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;

	put_object("sys/bin/kept", id_a, 0x401000);
	map(&made, 0x10000, "/bin/kept", id_a);
	CHECK(make_state(&made, NULL));
	finalize();
	for (unsigned round = 0; round < 2; round++) {
		struct pd_place place;

		symbols = open_symbols(&made, (struct pd_symbols_options){ .index = under("index") });
		CHECK(symbols);
		place = user_at(symbols, 0x10041);
		CHECK(place.function && place.addr == 0x401001);
		CHECK_STR(place.function->name, "first");
		pd_symbols_free(symbols);
		// the second time it is there no more
		unlink(under("sys/bin/kept"));
	}
	symbols = open_default(&made);
	CHECK(symbols && !user_at(symbols, 0x10041).function);
	pd_symbols_free(symbols);
	make_free(&made);
}

// The only file of an index, or NULL.
static const char *only_file(const char *index)
{
	DIR *folder = opendir(under(index));
	struct dirent *entry;
	char path[300];
	size_t count = 0;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && snprintf(path, sizeof(path), "%s/%s", index, entry->d_name) > 0)
			count++;
	if (folder)
		closedir(folder);
	return count == 1 ? under(path) : NULL;
}

static bool stat_kept(struct stat *stat_out)
{
	const char *path = only_file("plain-index");

	return path && stat(path, stat_out) == 0;
}

static void change_last_byte(const char *path)
{
	FILE *file = path ? fopen(path, "r+b") : NULL;
	int last;

	CHECK(file && fseek(file, -2, SEEK_END) == 0 && (last = fgetc(file)) != EOF && fseek(file, -2, SEEK_END) == 0);
	CHECK(fputc(last ^ 1, file) != EOF && fclose(file) == 0);
}

// Of a table in pages those that are damaged are read from the object again, as long as it is there, and then kept anew.
TEST(test_places__index_is_damaged)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;

	put_object("sys/bin/damaged", id_a, 0x401000);
	map(&made, 0x10000, "/bin/damaged", id_a);
	CHECK(make_state(&made, NULL));
	finalize();
	for (unsigned round = 0; round < 5; round++) {
		symbols = open_symbols(&made, (struct pd_symbols_options){ .index = under("damaged-index") });
		CHECK(symbols && user_at(symbols, 0x10140).function);
		CHECK_STR(user_at(symbols, 0x10140).function->name, "many0");
		CHECK((user_at(symbols, 0x14048).function != NULL) == (round < 4));
		if (round < 4)
			CHECK_STR(user_at(symbols, 0x14048).function->name, "counter");
		CHECK(!pd_symbols_failed(symbols));
		pd_symbols_free(symbols);
		// in the third round it is as it was
		if (round == 0 || round == 3)
			change_last_byte(only_file("damaged-index"));
		if (round == 3)
			unlink(under("sys/bin/damaged"));
	}
	make_free(&made);
}

static const char *first_name(struct made *made)
{
	struct pd_symbols *symbols = open_symbols(made, (struct pd_symbols_options){ .index = under("plain-index") });
	struct pd_place place = symbols ? user_at(symbols, 0x10041) : (struct pd_place){ 0 };
	static char name[64];

	snprintf(name, sizeof(name), "%s at %x", place.function ? place.function->name : "nothing",
		 (unsigned)place.addr);
	pd_symbols_free(symbols);
	return name;
}

// A file without a build id is known by its place, as long as it is there and the same.
TEST(test_places__index_without_build_id)
{
	struct made made = make_begin();
	struct stat first, second;

	put_object("sys/bin/plain", NULL, 0x401000);
	map(&made, 0x10000, "/bin/plain", NULL);
	CHECK(make_state(&made, NULL));
	finalize();
	CHECK_STR(first_name(&made), "first at 401001");
	CHECK(stat_kept(&first));
	CHECK_STR(first_name(&made), "first at 401001");
	// it was used, and not written again
	CHECK(stat_kept(&second) && first.st_ino == second.st_ino);
	CHECK(first.st_mtim.tv_sec != second.st_mtim.tv_sec || first.st_mtim.tv_nsec != second.st_mtim.tv_nsec);
	put_object("sys/bin/plain", NULL, 0x501000);
	CHECK_STR(first_name(&made), "first at 501001");
	unlink(under("sys/bin/plain"));
	CHECK_STR(first_name(&made), "nothing at 41");
	make_free(&made);
}

// What is kept of a stripped object is used again, and not any more when there is a debug file.
TEST(test_places__index_of_stripped)
{
	const char *wanted[] = { "exported", "exported", "first" };
	struct made made = make_begin();
	struct pd_symbols *symbols;
	struct pd_place place;

	put_elf("sys/bin/stripped", id_b, 0x401000, true);
	map(&made, 0x10000, "/bin/stripped", id_b);
	CHECK(make_state(&made, NULL));
	finalize();
	for (unsigned round = 0; round < 3; round++) {
		const char *debug = under("debug");

		symbols = open_symbols(&made, (struct pd_symbols_options){ .index = under("index"),
									   .debug_paths = &debug,
									   .debug_path_count = 1 });
		CHECK(symbols);
		place = user_at(symbols, 0x10041);
		CHECK(place.function && place.addr == 0x401001);
		CHECK_STR(place.function->name, wanted[round]);
		CHECK(place.dso->state == PD_DSO_SYMBOLS);
		pd_symbols_free(symbols);
		if (round == 1)
			put_object("debug/.build-id/bb/0102030405060708090a0b0c0d0e0f10111213.debug", id_b, 0x401000);
	}
	make_free(&made);
}

static const char *fetch(void *self, const uint8_t *id, size_t size, bool debug)
{
	unsigned *asked = self;

	++*asked;
	return !debug && size == 20 && id[0] == 0xaa ? under("fetched") : under("sys/bin/wrong");
}

TEST(test_places__fetch)
{
	struct made made = make_begin();
	unsigned asked = 0;
	struct pd_symbols *symbols;

	put_object("fetched", id_a, 0x701000);
	put_object("sys/bin/wrong", NULL, 0x1000);
	put_object("sys/bin/here", id_b, 0x1000);
	map(&made, 0x10000, "/bin/far", id_a);
	map(&made, 0x20000, "/bin/here", id_b);
	map(&made, 0x30000, "/bin/unknown", NULL);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .fetch = fetch, .fetch_self = &asked });
	CHECK(symbols);
	CHECK(user_at(symbols, 0x20040).function && !user_at(symbols, 0x30040).function && !asked);
	CHECK(user_at(symbols, 0x10040).addr == 0x701000 && user_at(symbols, 0x10040).function && asked == 1);
	pd_symbols_free(symbols);
	make_free(&made);
}

// ---- traps ----

static void put_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", under(path));
	unlink(under(path));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		perror(path);
	close(fd);
}

// What stands outside of the root is an object that would fit; nothing of it may be seen.
TEST(test_places__traps)
{
	static const char *const paths[] = {
		"/../secret",
		"/../../../../../../../../../../tmp/x/../secret",
		"/bin/../../secret",
		"/bin/link_out",
		"/bin/link_up",
		"/bin/loop",
		"/bin/fifo",
		"/bin/socket",
		"/bin/folder",
		"/bin/device",
		"/bin/to_device",
		"//../secret",
		"secret",
		"../secret",
		"/proc/self/mem",
		"/bin/empty",
	};
	struct made made = make_begin();
	struct pd_symbols *symbols;

	put_object("secret", NULL, 0x401000);
	make_folders("sys/bin/folder/x");
	symlink(under("secret"), under("sys/bin/link_out"));
	symlink("../../secret", under("sys/bin/link_up"));
	symlink("loop", under("sys/bin/loop"));
	symlink("/dev/zero", under("sys/bin/to_device"));
	mkfifo(under("sys/bin/fifo"), 0600);
	put_socket("sys/bin/socket");
	put_text("sys/bin/empty", "");
	if (mknod(under("sys/bin/device"), S_IFCHR | 0600, 1 << 8 | 5) < 0)
		printf("# devices cannot be made here\n");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		map(&made, 0x10000 * (i + 1), paths[i], NULL);
	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct pd_place place = user_at(symbols, 0x10000 * (i + 1) + 0x40);

		CHECK(place.dso && !place.function);
		CHECK_STR(place.dso->long_name, paths[i]);
		CHECK(place.dso->state == PD_DSO_MISSING && place.dso->detail[0]);
	}
	CHECK(!pd_symbols_failed(symbols));
	pd_symbols_free(symbols);
	make_free(&made);
}

// What makes something at a path. What it leads to stands outside of the root.
static void put_fifo(const char *path)
{
	CHECK(mkfifo(under(path), 0600) == 0);
}

static void put_folder(const char *path)
{
	CHECK(mkdir(under(path), 0700) == 0);
}

static void put_device(const char *path)
{
	if (mknod(under(path), S_IFCHR | 0600, 1 << 8 | 5) < 0)
		printf("# devices cannot be made here\n");
}

static void put_loop(const char *path)
{
	CHECK(symlink(strrchr(path, '/') + 1, under(path)) == 0);
}

static void put_link_to_memory(const char *path)
{
	CHECK(symlink("/proc/self/mem", under(path)) == 0);
}

static void put_link_out(const char *path)
{
	char target[64];

	snprintf(target, sizeof(target), "outside/%s", strrchr(path, '/') + 1);
	CHECK(symlink(under(target), under(path)) == 0);
}

static void put_link_up(const char *path)
{
	char target[64];

	snprintf(target, sizeof(target), "../../../outside/%s", strrchr(path, '/') + 1);
	CHECK(symlink(target, under(path)) == 0);
}

static void (*const traps[])(const char *path) = {
	put_fifo, put_socket, put_folder, put_device, put_loop, put_link_to_memory, put_link_out, put_link_up,
};

// The map of a process is none of these, wherever its folder is.
TEST(test_places__traps_for_maps)
{
	struct made made = make_begin();

	map(&made, 0x10000, "//anon", NULL);
	CHECK(make_state(&made, NULL));
	put_text("outside/perf-100.map", "10000 40 secret\n");
	for (size_t i = 0; i <= sizeof(traps) / sizeof(traps[0]); i++) {
		struct pd_symbols *symbols;
		struct pd_place place;
		char root[16], path[64];

		snprintf(root, sizeof(root), "map%zu", i);
		snprintf(path, sizeof(path), "%s/tmp/perf-100.map", root);
		make_folders(path);
		if (i < sizeof(traps) / sizeof(traps[0])) {
			traps[i](path);
		} else {
			// the folder leads out
			CHECK(rmdir(under("map8/tmp")) == 0 && symlink(under("outside"), under("map8/tmp")) == 0);
		}
		symbols = open_symbols(&made, (struct pd_symbols_options){ .symfs = under(root) });
		CHECK(symbols);
		place = user_at(symbols, 0x10008);
		CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING);
		CHECK(strstr(place.dso->detail, "/tmp/perf-100.map: "));
		CHECK(!pd_symbols_failed(symbols));
		pd_symbols_free(symbols);
	}
	make_free(&made);
}

// A recording names jitdumps by what was mapped, at any path.
TEST(test_places__traps_for_jitdumps)
{
	enum {
		COUNT = sizeof(traps) / sizeof(traps[0])
	};
	static const char *const upward[] = {
		"/../outside/jit-100.dump", "/dumps/../../outside/jit-100.dump", "/dumps/out/jit-100.dump",
		"../outside/jit-100.dump",  "//../outside/jit-100.dump",
	};
	struct made made = make_begin();
	struct pd_symbols *symbols;
	struct pd_place place;
	char path[64];

	put_jitdump("outside/jit-100.dump");
	map(&made, 0x10000, "//anon", NULL);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "dump/dumps/%zu/jit-100.dump", i);
		make_folders(path);
		traps[i](path);
		map(&made, 0x90000 + 0x10000 * i, strchr(path, '/'), NULL);
	}
	CHECK(symlink(under("outside"), under("dump/dumps/out")) == 0);
	for (size_t i = 0; i < sizeof(upward) / sizeof(upward[0]); i++)
		map(&made, 0x290000 + 0x10000 * i, upward[i], NULL);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .symfs = under("dump") });
	CHECK(symbols);
	place = pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(25), 0x10101);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING);
	// each was tried, and refused
	CHECK(strstr(place.dso->detail, "/dumps/0/jit-100.dump: ") &&
	      strstr(place.dso->detail, "/dumps/7/jit-100.dump: "));
	CHECK(strstr(place.dso->detail, "/dumps/out/jit-100.dump: "));
	CHECK(!pd_symbols_failed(symbols));
	pd_symbols_free(symbols);
	// it is one where it may be read
	symbols = open_symbols(&made, (struct pd_symbols_options){ .symfs = under("outside/..") });
	CHECK(symbols);
	place = pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(25), 0x10101);
	CHECK(place.function);
	CHECK_STR(place.function->name, "after");
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__options)
{
	struct made made = make_begin();
	struct pd_symbols_options options = { .size = 0 };
	struct pd_symbols *symbols = NULL;

	CHECK(make_state(&made, NULL));
	CHECK(pd_symbols_new(made.file, made.state, &options, &symbols, NULL) == PD_ERROR_ARGUMENT && !symbols);
	CHECK(pd_symbols_new(made.file, made.state, NULL, &symbols, NULL) == PD_OK);
	CHECK(!user_at(symbols, 5).dso);
	pd_symbols_free(symbols);
	pd_symbols_free(NULL);
	make_free(&made);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(test_places__in_a_file),
		TEST_CASE(test_places__many),
		TEST_CASE(test_places__names),
		TEST_CASE(test_places__other_build_id),
		TEST_CASE(test_places__one_name_two_objects),
		TEST_CASE(test_places__kernel),
		TEST_CASE(test_places__kernel_after_its_mapping),
		TEST_CASE(test_places__kernel_that_runs),
		TEST_CASE(test_places__kernel_of_another_boot),
		TEST_CASE(test_places__vmlinux),
		TEST_CASE(test_places__no_kernel),
		TEST_CASE(test_places__memory_file),
		TEST_CASE(test_places__perf_map),
		TEST_CASE(test_places__perf_map_of_others),
		TEST_CASE(test_places__jitdump),
		TEST_CASE(test_places__index),
		TEST_CASE(test_places__index_is_damaged),
		TEST_CASE(test_places__index_without_build_id),
		TEST_CASE(test_places__index_of_stripped),
		TEST_CASE(test_places__fetch),
		TEST_CASE(test_places__traps),
		TEST_CASE(test_places__traps_for_maps),
		TEST_CASE(test_places__traps_for_jitdumps),
		TEST_CASE(test_places__options),
	};
	int result;

	if (!make_top())
		return 1;
	result = test_run(cases, sizeof(cases) / sizeof(cases[0]));
	remove_all(top);
	return result;
}
