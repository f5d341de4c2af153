/* SPDX-License-Identifier: MIT */
/* From addresses of processes to functions: objects in a directory of their own. */
#include "places.h"

#include <dirent.h>

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
		TEST_CASE(test_places__memory_file),
		TEST_CASE(test_places__perf_map),
		TEST_CASE(test_places__perf_map_of_others),
		TEST_CASE(test_places__jitdump),
		TEST_CASE(test_places__index),
		TEST_CASE(test_places__index_is_damaged),
		TEST_CASE(test_places__index_without_build_id),
		TEST_CASE(test_places__index_of_stripped),
		TEST_CASE(test_places__fetch),
		TEST_CASE(test_places__options),
	};

	return run_places(cases, sizeof(cases) / sizeof(cases[0]));
}
