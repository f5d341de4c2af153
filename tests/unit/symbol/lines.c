/* SPDX-License-Identifier: MIT */
/* Lines and inlined functions of a small program, compiled in several ways, and what the index keeps of them. */
#include "object/dwarf/lines.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/index/index_file.h"
#include "unit/test.h"

// One for each way to compile; the first is the plain one. PERFDATA_SAMPLES comes from the build.
static const char *const samples[] = { PERFDATA_SAMPLES };

enum {
	SAMPLES = sizeof(samples) / sizeof(samples[0])
};

struct opened {
	const char *path;
	struct pd_elf *elf;
	int count; // of calls
};

static void bring(void *self, struct pd_elf **object_out, struct pd_elf **debug_out)
{
	struct opened *opened = self;

	opened->count++;
	pd_elf_open(&opened->elf, opened->path, 0, NULL);
	*object_out = opened->elf;
	*debug_out = NULL;
}

static uint64_t addr_of(const char *path, const char *name)
{
	struct pd_elf *elf = NULL;
	uint64_t addr = 0;

	if (pd_elf_open(&elf, path, 0, NULL) == PD_OK)
		pd_elf_symbol_addr(elf, name, &addr);
	pd_elf_close(elf);
	return addr;
}

static struct pd_object_id id_of(const char *path)
{
	struct pd_object_id id = { .size = 0 };
	struct pd_elf *elf = NULL;

	if (pd_elf_open(&elf, path, 0, NULL) == PD_OK)
		pd_elf_id(elf, &id);
	pd_elf_close(elf);
	return id;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = text ? strlen(text) : 0;

	return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static bool is_frame(const struct pd_lines_frame *frame, const char *name, uint32_t line, bool inlined)
{
	bool ok = frame->name && strcmp(frame->name, name) == 0 && frame->line == line && frame->inlined == inlined &&
		  ends_with(frame->file, "lines_sample.c");

	if (!ok)
		printf("# %s %s:%u, wanted %s :%u\n", frame->name ? frame->name : "-", frame->file ? frame->file : "-",
		       frame->line, name, line);
	return ok;
}

// True if the lines of a sample are what its source says.
static bool is_right(struct pd_lines *lines, const char *path)
{
	struct pd_lines_frame frames[8];
	bool ok = pd_lines_find(lines, addr_of(path, "mark_inner"), frames, 8) == 3;

	ok = ok && is_frame(&frames[0], "inner", 102, true) && is_frame(&frames[1], "middle", 109, true) &&
	     is_frame(&frames[2], "outer", 202, false);
	ok = ok && pd_lines_find(lines, addr_of(path, "mark_outer"), frames, 8) == 1 &&
	     is_frame(&frames[0], "outer", 203, false);
	return ok && pd_lines_find(lines, addr_of(path, "mark_plain"), frames, 8) == 1 &&
	       is_frame(&frames[0], "plain", 302, false);
}

static struct pd_lines *open_lines(struct opened *opened, const char *index)
{
	struct pd_lines_source source = { .id = id_of(opened->path), .files = bring, .self = opened, .index = index };
	struct pd_lines *lines = NULL;

	pd_lines_open(&lines, &source, NULL);
	return lines;
}

static void close_lines(struct pd_lines *lines, struct opened *opened)
{
	pd_lines_close(lines);
	pd_elf_close(opened->elf);
	opened->elf = NULL;
}

TEST(test_lines__chains)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		struct opened opened = { samples[i] };
		struct pd_lines *lines = open_lines(&opened, NULL);
		bool ok = is_right(lines, samples[i]);

		if (!ok)
			printf("# %s\n", samples[i]);
		close_lines(lines, &opened);
		CHECK(ok);
		CHECK(opened.count == 1);
	}
}

TEST(test_lines__capacity)
{
	struct opened opened = { samples[0] };
	struct pd_lines *lines = open_lines(&opened, NULL);
	struct pd_lines_frame frames[2] = { { .name = NULL }, { .name = "kept" } };
	size_t none = pd_lines_find(lines, addr_of(samples[0], "mark_inner"), NULL, 0);
	size_t one = pd_lines_find(lines, addr_of(samples[0], "mark_inner"), frames, 1);

	CHECK(none == 3 && one == 3);
	CHECK_STR(frames[0].name, "inner");
	CHECK_STR(frames[1].name, "kept");
	CHECK(pd_lines_find(lines, 1, frames, 2) == 0);
	CHECK(pd_lines_find(lines, UINT64_MAX, frames, 2) == 0);
	CHECK(!pd_lines_failed(lines));
	close_lines(lines, &opened);
}

TEST(test_lines__limit)
{
	struct opened opened = { samples[0] };
	struct pd_lines_source source = { .files = bring, .self = &opened, .limit = 100 };
	struct pd_lines *lines = NULL;

	CHECK(pd_lines_open(&lines, &source, NULL) == PD_OK);
	CHECK(pd_lines_find(lines, addr_of(samples[0], "mark_inner"), NULL, 0) == 0);
	CHECK(pd_lines_failed(lines));
	close_lines(lines, &opened);
}

// ---- the index ----

static char folder[128];

static const char *new_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/perfdata-lines-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder);
}

// The paths of its files are left in names.
static size_t list(const char *path, char names[][1024], size_t capacity)
{
	DIR *directory = opendir(path);
	size_t count = 0;

	for (struct dirent *e = directory ? readdir(directory) : NULL; e; e = readdir(directory)) {
		if (e->d_name[0] == '.')
			continue;
		if (count < capacity)
			snprintf(names[count], sizeof(names[count]), "%s/%s", path, e->d_name);
		count++;
	}
	if (directory)
		closedir(directory);
	return count;
}

static void remove_folder(const char *path)
{
	char names[16][1024];
	size_t count = list(path, names, 16);

	for (size_t i = 0; i < count && i < 16; i++)
		unlink(names[i]);
	rmdir(path);
}

TEST(test_index__second_run_opens_nothing)
{
	char index[300], names[2][1024];
	struct opened first = { samples[0] }, second = { samples[0] };
	struct pd_lines *lines;
	struct stat about;

	CHECK(new_folder());
	snprintf(index, sizeof(index), "%s/a/b", folder);
	lines = open_lines(&first, index);
	CHECK(is_right(lines, samples[0]));
	close_lines(lines, &first);
	CHECK(list(index, names, 2) == 1);
	CHECK(ends_with(names[0], ".lines"));
	CHECK(stat(index, &about) == 0 && (about.st_mode & 0777) == 0700);

	lines = open_lines(&second, index);
	CHECK(is_right(lines, samples[0]));
	CHECK(second.count == 0);
	close_lines(lines, &second);
	remove_folder(index);
	snprintf(index, sizeof(index), "%s/a", folder);
	rmdir(index);
	rmdir(folder);
}

static bool flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	uint8_t byte = 0;
	bool ok = fd >= 0 && pread(fd, &byte, 1, at) == 1;

	byte ^= 0x11;
	ok = ok && pwrite(fd, &byte, 1, at) == 1;
	if (fd >= 0)
		close(fd);
	return ok;
}

// Whatever byte is damaged, the answers are right.
TEST(test_index__damage)
{
	char names[2][1024];
	struct opened opened = { samples[0] };
	struct pd_lines *lines;
	struct stat about;
	int reads = 0;

	CHECK(new_folder());
	lines = open_lines(&opened, folder);
	CHECK(is_right(lines, samples[0]));
	close_lines(lines, &opened);
	CHECK(list(folder, names, 2) == 1 && stat(names[0], &about) == 0);
	for (off_t at = 0; at < about.st_size; at += 1 + about.st_size / 150) {
		struct opened again = { samples[0] };
		bool ok;

		CHECK(flip(names[0], at));
		lines = open_lines(&again, folder);
		ok = is_right(lines, samples[0]);
		close_lines(lines, &again);
		CHECK(ok);
		reads += again.count;
		// it was written anew, or is as it was
		if (!again.count)
			CHECK(flip(names[0], at));
	}
	CHECK(reads > 100);
	// cut off
	CHECK(truncate(names[0], about.st_size / 2) == 0);
	opened = (struct opened){ samples[0] };
	lines = open_lines(&opened, folder);
	CHECK(is_right(lines, samples[0]) && opened.count == 1);
	close_lines(lines, &opened);
	remove_folder(folder);
}

TEST(test_index__other_object)
{
	char names[2][1024], other[2048];
	struct opened opened = { samples[0] };
	struct pd_lines_source source = { .files = NULL };
	struct pd_lines *lines = NULL;

	CHECK(new_folder());
	lines = open_lines(&opened, folder);
	CHECK(is_right(lines, samples[0]));
	close_lines(lines, &opened);
	CHECK(list(folder, names, 2) == 1);
	// under the name of another build id it is not believed
	source.id = id_of(samples[0]);
	source.id.bytes[0] ^= 1;
	source.index = folder;
	snprintf(other, sizeof(other), "%s/%02x%s", folder, source.id.bytes[0], names[0] + strlen(folder) + 3);
	CHECK(rename(names[0], other) == 0);
	CHECK(pd_lines_open(&lines, &source, NULL) == PD_OK);
	CHECK(pd_lines_find(lines, addr_of(samples[0], "mark_inner"), NULL, 0) == 0);
	pd_lines_close(lines);
	remove_folder(folder);
}

TEST(test_index__nowhere_to_write)
{
	char names[2][1024], index[512];
	struct opened opened = { samples[0] };
	struct pd_lines_source source = { .files = bring, .self = &opened };
	struct pd_lines *lines;

	// below a file
	snprintf(index, sizeof(index), "%s/index", samples[0]);
	lines = open_lines(&opened, index);
	CHECK(is_right(lines, samples[0]));
	close_lines(lines, &opened);
	// an id that is too short to be one
	CHECK(new_folder());
	source.id = id_of(samples[0]);
	source.id.size = 7;
	source.index = folder;
	CHECK(pd_lines_open(&lines, &source, NULL) == PD_OK);
	CHECK(is_right(lines, samples[0]));
	close_lines(lines, &opened);
	CHECK(list(folder, names, 2) == 0);
	remove_folder(folder);
}

TEST(test_index__symbols)
{
	struct pd_object_id id = id_of(samples[0]);
	struct pd_elf *elf = NULL, *shape = NULL;
	struct pd_symtab *table = NULL, *again = NULL;
	struct pd_elf_symbol_options options = { .limit = 0 };
	uint64_t addr, offset;

	CHECK(new_folder());
	CHECK(pd_elf_open(&elf, samples[0], 0, NULL) == PD_OK);
	CHECK(pd_elf_symtab(elf, NULL, &options, &table, NULL) == PD_OK);
	CHECK(!pd_index_load_symbols(folder, &id, NULL, 3, 0, &shape, &again));
	pd_index_save_symbols(folder, &id, NULL, 3, elf, table);
	CHECK(!pd_index_load_symbols(folder, &id, NULL, 2, 0, &shape, &again));
	CHECK(!pd_index_load_symbols(folder, &id, NULL, 3, 10, &shape, &again));
	CHECK(pd_index_load_symbols(folder, &id, NULL, 3, 0, &shape, &again));
	CHECK(shape->type == elf->type && shape->machine == elf->machine && shape->wide == elf->wide);
	CHECK(pd_symtab_count(again) == pd_symtab_count(table) && pd_symtab_count(table) > 3);
	for (size_t i = 0; i < pd_symtab_count(table); i++) {
		struct pd_symbol wanted = pd_symtab_at(table, i), got;

		CHECK(pd_symtab_find(again, wanted.start, &got));
		CHECK(got.start == wanted.start && got.end == wanted.end && got.bind == wanted.bind);
		CHECK_STR(got.name, wanted.name);
	}
	CHECK(pd_elf_offset(elf, addr_of(samples[0], "mark_plain"), &offset));
	CHECK(pd_elf_addr(shape, offset, &addr) && addr == addr_of(samples[0], "mark_plain"));
	pd_symtab_free(table);
	pd_symtab_free(again);
	pd_elf_close(elf);
	pd_elf_close(shape);
	remove_folder(folder);
}

// So many symbols of 16 bytes, which are a table in pages from some hundred on.
static struct pd_symtab *many_symbols(unsigned count, uint64_t apart)
{
	struct pd_symtab_maker maker = { .rule = PD_SYMTAB_INNER };
	struct pd_symtab *table = NULL;

	for (unsigned i = 0; i < count; i++) {
		char name[32];
		struct pd_symbol symbol = { .start = 0x1000 + apart * i, .end = 0x1010 + apart * i };

		symbol.name_length = (uint32_t)snprintf(name, sizeof(name), "function-%u", i);
		symbol.name = pd_arena_text(&maker.names, name, symbol.name_length);
		pd_symtab_add(&maker, &symbol, 0);
	}
	return pd_symtab_make(&maker, &table, NULL) == PD_OK ? table : NULL;
}

static void check_kept(const struct pd_symtab *table, const struct pd_symtab *kept, uint64_t apart)
{
	CHECK(pd_symtab_count(kept) == pd_symtab_count(table));
	for (size_t i = pd_symtab_count(table); i-- > 0;) {
		struct pd_symbol wanted = pd_symtab_at(table, i), got;

		CHECK(pd_symtab_find(kept, wanted.end - 1, &got) && got.start == wanted.start && got.end == wanted.end);
		CHECK_STR(got.name, wanted.name);
		CHECK((pd_symtab_find_index(kept, wanted.end) == PD_NO_SYMBOL) ==
		      (apart > 16 || !pd_symtab_find(table, wanted.end, &got)));
	}
	CHECK(!pd_symtab_find(kept, 0xfff, &(struct pd_symbol){ 0 }));
}

TEST(test_index__symbols_in_pages)
{
	static const uint64_t distances[] = { 16, 32, UINT64_C(1) << 33 };
	const unsigned counts[] = { 1, 900, 1023, 1024, 1025, 5000 };
	struct pd_object_id id = id_of(samples[0]);
	struct pd_symtab *table, *kept;
	struct pd_elf *elf = NULL, *shape;

	CHECK(new_folder());
	CHECK(pd_elf_open(&elf, samples[0], 0, NULL) == PD_OK);
	for (unsigned round = 0; round < 3 * 6 * 2; round++) {
		const uint64_t apart = distances[round % 3];
		const unsigned count = counts[round / 3 % 6];

		table = many_symbols(count, apart);
		CHECK(table);
		pd_index_save_symbols(folder, &id, NULL, 1, elf, table);
		CHECK(pd_index_load_symbols(folder, &id, NULL, 1, 0, &shape, &kept));
		CHECK(pd_symtab_is_in_pages(kept) == (count >= 800));
		if (pd_symtab_is_in_pages(kept) && round >= 18)
			pd_symtab_read_pages(kept);
		CHECK((pd_symtab_bytes(kept) < pd_symtab_bytes(table)) == (pd_symtab_is_in_pages(kept) && round < 18));
		check_kept(table, kept, apart);
		pd_symtab_free(table);
		pd_symtab_free(kept);
		pd_elf_close(shape);
	}
	pd_elf_close(elf);
	remove_folder(folder);
}

static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static unsigned open_descriptors(int first, int count)
{
	unsigned open = 0;

	for (int fd = first; fd < first + count; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

// Where a process may have few files open, those of the index do not take them away from others.
TEST(test_index__pages_leave_descriptors)
{
	struct pd_object_id id = id_of(samples[0]);
	struct rlimit before, few;
	struct pd_symtab *table, *kept;
	struct pd_elf *elf = NULL, *shape;
	int next;

	CHECK(new_folder());
	CHECK(pd_elf_open(&elf, samples[0], 0, NULL) == PD_OK);
	table = many_symbols(5000, 16);
	CHECK(table);
	pd_index_save_symbols(folder, &id, NULL, 1, elf, table);
	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	next = next_descriptor();
	for (int round = 0; round < 2; round++) {
		few = before;
		few.rlim_cur = (rlim_t)next + 3;
		CHECK(setrlimit(RLIMIT_NOFILE, round ? &few : &before) == 0);
		CHECK(pd_index_load_symbols(folder, &id, NULL, 1, 0, &shape, &kept));
		CHECK(pd_symtab_is_in_pages(kept) && open_descriptors(next, 3) == !round);
		check_kept(table, kept, 16);
		pd_symtab_free(kept);
		pd_elf_close(shape);
		CHECK(open_descriptors(next, 3) == 0);
	}
	CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
	pd_symtab_free(table);
	pd_elf_close(elf);
	remove_folder(folder);
}

RUN(TEST_CASE(test_lines__chains), TEST_CASE(test_lines__capacity), TEST_CASE(test_lines__limit),
    TEST_CASE(test_index__second_run_opens_nothing), TEST_CASE(test_index__damage), TEST_CASE(test_index__other_object),
    TEST_CASE(test_index__nowhere_to_write), TEST_CASE(test_index__symbols), TEST_CASE(test_index__symbols_in_pages),
    TEST_CASE(test_index__pages_leave_descriptors))
