/* SPDX-License-Identifier: MIT */
/* Finding objects: the order of places, build ids that do not fit, links that lead out of a root. */
#include "object/find/find.h"
#include "../test.h"
#include "elf_image.h"

#include <sys/stat.h>
#include <unistd.h>

static char top[64];

static const struct pd_object_id id_a = { .bytes = { 0xab, 0xcd, 0xef, 0x01 }, .size = 4 };
static const struct pd_object_id id_b = { .bytes = { 0x12, 0x34, 0x56, 0x78 }, .size = 4 };

static const char *under(const char *path)
{
	static char texts[4][8192];
	static unsigned turn;
	char *text = texts[turn++ % 4];

	if (snprintf(text, sizeof(texts[0]), "%s/%s", top, path) >= (int)sizeof(texts[0]))
		abort();
	return text;
}

static void make_folders(const char *path)
{
	char part[256] = { 0 };

	for (size_t i = 0; path[i] && i + 1 < sizeof(part); i++) {
		if (path[i] == '/')
			mkdir(under(part), 0700);
		part[i] = path[i];
	}
}

static void put_file(const char *path, const void *data, size_t size)
{
	FILE *file;

	make_folders(path);
	file = fopen(under(path), "wb");
	if (!file || fwrite(data, 1, size, file) != size) {
		perror(path);
		exit(1);
	}
	fclose(file);
}

static void put_link(const char *target, const char *path)
{
	make_folders(path);
	if (symlink(target, under(path)) < 0) {
		perror(path);
		exit(1);
	}
}

// An object with a build id, a symbol if it is full, and a link if it has one. Returns its checksum.
static uint32_t put_object(const char *path, const struct pd_object_id *id, bool full, const char *link, uint32_t crc)
{
	struct made_elf elf = { .wide = true, .type = 3, .machine = 62 };
	size_t text = elf_section(&elf, ".text", 1, 6, 0x1000);
	size_t names = elf_section(&elf, ".strtab", 3, 0, 0);
	struct image image;
	size_t at;

	image_zeros(&elf.sections[text].content, 64);
	if (id) {
		at = elf_section(&elf, ".note.gnu.build-id", 7, 2, 0);
		image_u32(&elf.sections[at].content, 4);
		image_u32(&elf.sections[at].content, id->size);
		image_u32(&elf.sections[at].content, 3);
		image_bytes(&elf.sections[at].content, "GNU", 4);
		image_bytes(&elf.sections[at].content, id->bytes, id->size);
	}
	if (full)
		elf_symbol(&elf, elf_section(&elf, ".symtab", 2, 0, 0), names, "function", 0x12, (unsigned)text, 0x1000,
			   16);
	if (link) {
		at = elf_section(&elf, ".gnu_debuglink", 1, 0, 0);
		image_text(&elf.sections[at].content, link, (strlen(link) + 4) / 4 * 4);
		image_u32(&elf.sections[at].content, crc);
	}
	image = elf_make(&elf);
	put_file(path, image.data, image.size);
	crc = pd_crc32(0, image.data, image.size);
	image_free(&image);
	return crc;
}

static const struct pd_find_try *try_of(const struct pd_found *found, const char *path)
{
	for (size_t i = 0; i < found->try_count; i++)
		if (strcmp(found->tries[i].path, path) == 0)
			return &found->tries[i];
	return NULL;
}

static struct pd_found find(const char *path, const struct pd_object_id *id, const char *symfs)
{
	const char *debug[] = { under("debug") };
	struct pd_find_places places = { .symfs = symfs ? under(symfs) : NULL, .debug = debug, .debug_count = 1 };
	struct pd_find_wanted wanted = { .path = path };
	struct pd_found found = { .out_of_memory = true };

	places.cache = under("cache");
	if (id)
		wanted.id = *id;
	pd_find(&places, &wanted, &found, NULL);
	return found;
}

TEST(test_find__by_path)
{
	struct pd_found found;

	put_object("sys/bin/full", &id_a, true, NULL, 0);
	found = find("/bin/full", &id_a, "sys");
	CHECK(found.object && !found.debug && found.try_count == 1);
	CHECK(found.tries[0].action == PD_FIND_USED && !found.tries[0].reason[0]);
	pd_found_close(&found);
	found = find("/bin/full", NULL, "sys");
	CHECK(found.object);
	CHECK_STR(found.tries[0].reason, "no build id to verify it");
	pd_found_close(&found);
	found = find("/bin/full (deleted)", &id_a, "sys");
	CHECK(found.object);
	pd_found_close(&found);
	found = find("/bin/full (deleted)", NULL, "sys");
	CHECK(!found.object);
	pd_found_close(&found);
}

TEST(test_find__other_build_id)
{
	struct pd_found found;

	put_object("sys/bin/new", &id_b, true, NULL, 0);
	put_object("sys/bin/bare", NULL, true, NULL, 0);
	found = find("/bin/new", &id_a, "sys");
	CHECK(!found.object && try_of(&found, "/bin/new")->action == PD_FIND_REFUSED);
	CHECK_STR(try_of(&found, "/bin/new")->reason, "build id is 12345678, expected abcdef01");
	CHECK(try_of(&found, ".build-id/ab/cdef01/elf")->action == PD_FIND_MISSING);
	pd_found_close(&found);
	found = find("/bin/bare", &id_a, "sys");
	CHECK(!found.object);
	CHECK_STR(try_of(&found, "/bin/bare")->reason, "has no build id, expected abcdef01");
	pd_found_close(&found);
}

TEST(test_find__in_the_cache)
{
	static const char list[] = "ffffffff81000000 T _text\n";
	struct pd_found found;

	put_object("cache/usr/bin/x/12345678/elf", &id_b, true, NULL, 0);
	put_link("../../usr/bin/x/12345678", "cache/.build-id/12/345678");
	found = find("/bin/new", &id_b, NULL);
	CHECK(found.object && found.kallsyms.fd < 0);
	pd_found_close(&found);
	put_file("cache/[kernel.kallsyms]/abcdef01/kallsyms", list, sizeof(list) - 1);
	put_link("../../[kernel.kallsyms]/abcdef01", "cache/.build-id/ab/cdef01");
	found = find("[kernel.kallsyms]_text", &id_a, "sys");
	CHECK(!found.object && found.kallsyms.fd >= 0 && found.kallsyms.size == sizeof(list) - 1);
	pd_found_close(&found);
	unlink(under("cache/.build-id/ab/cdef01"));
}

TEST(test_find__debug_by_id)
{
	struct pd_found found;

	put_object("sys/bin/stripped", &id_a, false, NULL, 0);
	put_object("debug/.build-id/ab/cdef01.debug", &id_a, true, NULL, 0);
	found = find("/bin/stripped", &id_a, "sys");
	CHECK(found.object && found.debug);
	CHECK(found.tries[found.try_count - 1].kind == PD_FIND_DEBUG);
	pd_found_close(&found);
	// the object itself says its id, and the debug file is of another build
	put_object("debug/.build-id/ab/cdef01.debug", &id_b, true, NULL, 0);
	found = find("/bin/stripped", NULL, "sys");
	CHECK(found.object && !found.debug);
	CHECK(try_of(&found, ".build-id/ab/cdef01.debug")->action == PD_FIND_REFUSED);
	pd_found_close(&found);
	unlink(under("debug/.build-id/ab/cdef01.debug"));
}

TEST(test_find__debug_by_link)
{
	uint32_t crc = put_object("debug/lib/linked.debug", NULL, true, NULL, 0);
	struct pd_found found;

	put_object("sys/lib/linked", NULL, false, "linked.debug", crc);
	put_file("sys/lib/.debug/linked.debug", "no object", 9);
	put_object("sys/lib/linked.debug", NULL, true, "other bytes", 1);
	found = find("/lib/linked", NULL, "sys");
	CHECK(found.object && found.debug);
	CHECK(strncmp(try_of(&found, "/lib/linked.debug")->reason, "checksum is ", 12) == 0);
	CHECK_STR(try_of(&found, "/lib/.debug/linked.debug")->reason, "not an ELF file");
	CHECK_STR(found.tries[found.try_count - 1].reason, "checksum matches");
	pd_found_close(&found);
	put_object("sys/lib/outside", NULL, false, "../../secret", crc);
	found = find("/lib/outside", NULL, "sys");
	CHECK(found.object && !found.debug && found.try_count == 1);
	pd_found_close(&found);
}

TEST(test_find__stays_inside)
{
	static const char *const paths[] = { "/bin/absolute", "/bin/upward", "/../../secret", "/bin/folder/secret",
					     "/loop" };
	struct pd_found found;

	put_object("secret", NULL, true, NULL, 0);
	put_link(under("secret"), "sys/bin/absolute");
	put_link("../../secret", "sys/bin/upward");
	put_link("../..", "sys/bin/folder");
	put_link("loop", "sys/loop");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		found = find(paths[i], NULL, "sys");
		CHECK(!found.object && found.tries[0].action == PD_FIND_MISSING);
		pd_found_close(&found);
	}
	// links that stay inside lead where they say
	put_link("/bin/full", "sys/bin/inside");
	put_link("../../../bin/inside", "sys/usr/bin/far");
	found = find("/usr/bin/far", &id_a, "sys");
	CHECK(found.object);
	pd_found_close(&found);
}

TEST(test_find__no_regular_file)
{
	struct pd_found found;

	make_folders("sys/run/");
	CHECK(mkfifo(under("sys/run/fifo"), 0600) == 0);
	found = find("/run/fifo", NULL, "sys");
	CHECK(!found.object);
	CHECK_STR(found.tries[0].reason, "not a regular file");
	pd_found_close(&found);
	found = find("/run", NULL, "sys");
	CHECK(!found.object && found.tries[0].action == PD_FIND_REFUSED);
	pd_found_close(&found);
	found = find("[heap]", NULL, "sys");
	CHECK(!found.object && !found.try_count);
	pd_found_close(&found);
	found = find("//anon", NULL, "sys");
	CHECK(!found.try_count);
	pd_found_close(&found);
}

// The place of a list of symbols in the cache says its build id; it may be anything.
TEST(test_find__traps_in_the_cache)
{
	static const char *const targets[] = { NULL,        "../../../../list", "kallsyms",
					       "/dev/zero", "/proc/self/mem",   "folder",
					       "fifo" };
	struct pd_object_id id = { .size = 4, .bytes = { 0x10, 2, 3, 4 } };
	struct pd_found found;
	char path[64];

	put_file("list", "0000000000001000 T secret\n", 26);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++, id.bytes[0]++) {
		snprintf(path, sizeof(path), "cache/.build-id/%02x/020304/kallsyms", id.bytes[0]);
		if (targets[i] && strcmp(targets[i], "folder") != 0 && strcmp(targets[i], "fifo") != 0)
			put_link(targets[i], path);
		make_folders(path);
		if (targets[i] && strcmp(targets[i], "folder") == 0)
			CHECK(mkdir(under(path), 0700) == 0);
		if (targets[i] && strcmp(targets[i], "fifo") == 0)
			CHECK(mkfifo(under(path), 0600) == 0);
		// where nothing is set there is the absolute path of what stands outside
		if (!targets[i])
			put_link(under("list"), path);
		found = find("[kernel.kallsyms]_text", &id, "sys");
		CHECK(!found.object && !pd_image_is_open(&found.kallsyms) && found.try_count);
		for (size_t k = 0; k < found.try_count; k++)
			CHECK(found.tries[k].action != PD_FIND_USED);
		pd_found_close(&found);
	}
}

// An object names its debug file; a name with a slash is none.
TEST(test_find__debug_link_upward)
{
	uint32_t crc = put_object("secret-debug", NULL, true, NULL, 0);
	struct pd_found found;

	put_object("sys/bin/upward-link", NULL, false, "../../secret-debug", crc);
	put_object("sys/bin/linked-out", NULL, false, "linked-out.debug", crc);
	put_link("../../secret-debug", "sys/bin/linked-out.debug");
	found = find("/bin/upward-link", NULL, "sys");
	CHECK(found.object && !found.debug);
	pd_found_close(&found);
	found = find("/bin/linked-out", NULL, "sys");
	CHECK(found.object && !found.debug);
	pd_found_close(&found);
}

TEST(test_find__checksum)
{
	CHECK(pd_crc32(0, (const uint8_t *)"123456789", 9) == 0xcbf43926);
	CHECK(pd_crc32(pd_crc32(0, (const uint8_t *)"1234", 4), (const uint8_t *)"56789", 5) == 0xcbf43926);
}

static int run_all(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(test_find__by_path),           TEST_CASE(test_find__other_build_id),
		TEST_CASE(test_find__in_the_cache),      TEST_CASE(test_find__debug_by_id),
		TEST_CASE(test_find__debug_by_link),     TEST_CASE(test_find__stays_inside),
		TEST_CASE(test_find__no_regular_file),   TEST_CASE(test_find__traps_in_the_cache),
		TEST_CASE(test_find__debug_link_upward), TEST_CASE(test_find__checksum),
	};

	return test_run(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	char command[128];
	int result;

	snprintf(top, sizeof(top), "/tmp/perfdata-find-XXXXXX");
	if (!mkdtemp(top)) {
		perror("mkdtemp");
		return 1;
	}
	result = run_all();
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command) ? 1 : result;
}
