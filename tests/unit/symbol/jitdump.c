/* SPDX-License-Identifier: MIT */
/* Jitdumps made by hand in both byte orders, and recorded ones where they are at hand. */
#include "object/elf/elf.h"
#include "object/runtime/jitdump.h"
#include "../image.h"
#include "../test.h"

#include <glob.h>

static void put_head(struct image *out, uint32_t size)
{
	image_bytes(out, out->big ? "JiTD" : "DTiJ", 4);
	image_u32(out, 1);
	image_u32(out, size);
	image_u32(out, 62);
	image_u32(out, 0);
	image_u32(out, 100);
	image_u64(out, 5);
	image_u64(out, 0);
	image_zeros(out, size - 40);
}

static size_t begin(struct image *out, uint32_t id, uint64_t time)
{
	size_t at = out->size;

	image_u32(out, id);
	image_u32(out, 0);
	image_u64(out, time);
	return at;
}

static void end(struct image *out, size_t at)
{
	image_set(out, at + 4, out->size - at, 4);
}

static void put_load(struct image *out, uint64_t time, uint64_t addr, uint64_t size, uint64_t index, const char *name)
{
	size_t at = begin(out, 0, time);

	image_u32(out, 100);
	image_u32(out, 101);
	image_u64(out, addr);
	image_u64(out, addr);
	image_u64(out, size);
	image_u64(out, index);
	image_text(out, name, strlen(name) + 1);
	image_bytes(out, "\xcc\xcc", 2);
	end(out, at);
}

static void put_move(struct image *out, uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	size_t at = begin(out, 1, time);

	image_u32(out, 100);
	image_u32(out, 101);
	image_u64(out, to);
	image_u64(out, from);
	image_u64(out, to);
	image_u64(out, size);
	image_u64(out, index);
	end(out, at);
}

static void put_line(struct image *out, uint64_t addr, uint32_t line, const char *file)
{
	image_u64(out, addr);
	image_u32(out, line);
	image_u32(out, 3);
	image_text(out, file, strlen(file) + 1);
}

static struct image make(bool big)
{
	struct image out = { .big = big };
	size_t at;

	put_head(&out, 48);
	at = begin(&out, 2, 9);
	image_u64(&out, 0x1000);
	image_u64(&out, 3);
	put_line(&out, 0x1008, 11, "b.js");
	put_line(&out, 0x1000, 10, "a.js");
	put_line(&out, 0x1010, 12, "\xff");
	end(&out, at);
	at = begin(&out, 4, 10);
	image_zeros(&out, 40);
	end(&out, at);
	put_load(&out, 10, 0x1000, 0x100, 1, "first");
	put_load(&out, 20, 0x1080, 0x100, 2, "second");
	put_load(&out, 30, 0x1000, 0x40, 3, "third");
	put_move(&out, 40, 0x1080, 0x5000, 0x100, 2);
	put_move(&out, 50, 0x1000, 0x6000, 0x40, 77);
	put_move(&out, 60, 0x1000, 0x7000, 0x100, 1);
	at = begin(&out, 3, 70);
	end(&out, at);
	return out;
}

static struct pd_jitdump *open_image(const struct image *image)
{
	struct pd_jitdump *jit = NULL;
	struct pd_image bytes;

	pd_image_open_memory(&bytes, image->data, image->size);
	return pd_jitdump_open_image(&jit, &bytes, 0, false, NULL) == PD_OK ? jit : NULL;
}

static const char *name_at(const struct pd_jitdump *jit, int64_t pid, uint64_t addr, uint64_t time)
{
	struct pd_jit_code code;

	return pd_jitdump_find(jit, pid, addr, time, &code) ? code.name : "-";
}

static void check_history(bool big)
{
	struct image image = make(big);
	struct pd_jitdump *jit = open_image(&image);
	struct pd_jitdump_about about;
	struct pd_jit_code code;
	struct pd_jit_line line;

	CHECK(jit);
	about = pd_jitdump_about(jit);
	CHECK(about.big == big && about.closed && !about.damage && about.machine == 62 && about.pid == 100);
	CHECK(about.code_count == 5 && about.line_count == 3 && about.start_time == 5);
	CHECK_STR(name_at(jit, 100, 0x1000, 9), "-");
	CHECK_STR(name_at(jit, 100, 0x1000, 10), "first");
	CHECK_STR(name_at(jit, 100, 0x1080, 15), "first");
	CHECK_STR(name_at(jit, 100, 0x1080, 20), "second");
	CHECK_STR(name_at(jit, 100, 0x1000, 30), "third");
	CHECK_STR(name_at(jit, 100, 0x1040, 30), "first");
	// what was moved away shows what was there before
	CHECK_STR(name_at(jit, 100, 0x1080, 40), "first");
	CHECK_STR(name_at(jit, 100, 0x1100, 40), "-");
	CHECK_STR(name_at(jit, 100, 0x5000, 40), "second");
	CHECK_STR(name_at(jit, 100, 0x6000, 60), "-");
	CHECK_STR(name_at(jit, 100, 0x1000, PD_NO_TIME), "third");
	CHECK_STR(name_at(jit, 100, 0x1050, PD_NO_TIME), "-");
	CHECK_STR(name_at(jit, 7, 0x5000, PD_NO_TIME), "-");
	CHECK_STR(name_at(jit, PD_JIT_ANY_PID, 0x5000, PD_NO_TIME), "second");
	CHECK(pd_jitdump_find(jit, 100, 0x1009, 10, &code));
	CHECK(code.line_count == 3 && code.tid == 101 && code.end_time == 60 && code.size == 0x100);
	CHECK(image.data[code.code_offset] == 0xcc && image.data[code.code_offset - 1] == 0);
	CHECK(pd_jitdump_line(jit, &code, 0x1009, &line) && line.line == 11 && line.addr == 0x1008 && line.column == 3);
	CHECK_STR(line.file, "b.js");
	CHECK(pd_jitdump_find(jit, 100, 0x7011, 60, &code));
	CHECK(pd_jitdump_line(jit, &code, 0x7011, &line) && line.line == 12 && line.addr == 0x7010);
	CHECK_STR(line.file, "a.js");
	CHECK(pd_jitdump_find(jit, 100, 0x1000, 30, &code) && !pd_jitdump_line(jit, &code, 0x1000, &line));
	pd_jitdump_close(jit);
	image_free(&image);
}

TEST(test_jitdump__history)
{
	check_history(false);
	if (!test_failed)
		check_history(true);
}

TEST(test_jitdump__cut_anywhere)
{
	struct image image = make(false);

	for (size_t size = 0; size < image.size; size++) {
		struct image part = { 0 };
		struct pd_jitdump *jit;

		image_bytes(&part, image.data, size);
		jit = open_image(&part);
		CHECK((size >= 40) == (jit != NULL));
		if (jit && size > 48)
			CHECK(pd_jitdump_about(jit).code_count < 5 || pd_jitdump_about(jit).damage ||
			      size == image.size - 16);
		if (jit)
			name_at(jit, 100, 0x1080, PD_NO_TIME);
		pd_jitdump_close(jit);
		image_free(&part);
	}
	image_free(&image);
}

TEST(test_jitdump__something_else)
{
	struct pd_jitdump *jit = NULL;
	struct pd_image bytes;
	struct pd_error error;

	pd_image_open_memory(&bytes, "PERFILE2", 8);
	CHECK(pd_jitdump_open_image(&jit, &bytes, 0, false, &error) == PD_ERROR_FORMAT);
	CHECK(pd_jitdump_open(NULL, "/dev/zero", 0, &jit, &error) == PD_ERROR_UNSUPPORTED);
}

// The newest up to a time, as a plain search says.
TEST(test_jitdump__as_plain_search)
{
	enum {
		COUNT = 300
	};
	struct image image = { 0 };
	struct pd_jitdump *jit;

	srand(3);
	put_head(&image, 40);
	for (unsigned i = 0; i < COUNT; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		put_load(&image, i * 10, (uint64_t)rand() % 2000, (uint64_t)rand() % 200, i, name);
	}
	jit = open_image(&image);
	CHECK(jit && pd_jitdump_about(jit).code_count == COUNT);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t addr = (uint64_t)rand() % 2300, time = (uint64_t)rand() % (COUNT * 10);
		char wanted[16] = "-";

		for (unsigned j = 0; j < COUNT; j++) {
			struct pd_jit_code code = pd_jitdump_code(jit, j);

			if (code.time <= time && addr >= code.addr && addr - code.addr < code.size)
				snprintf(wanted, sizeof(wanted), "%s", code.name);
		}
		CHECK_STR(name_at(jit, PD_JIT_ANY_PID, addr, time), wanted);
	}
	pd_jitdump_close(jit);
	image_free(&image);
}

// ---- objects ----

static void put_frames(struct image *out, uint64_t size, uint64_t header, uint64_t mapped)
{
	size_t at = begin(out, 4, 9);

	image_u64(out, size);
	image_u64(out, header);
	image_u64(out, mapped);
	for (uint64_t i = 0; i < size; i++)
		image_bytes(out, "\x5a", 1);
	end(out, at);
}

static void put_code(struct image *out, const char *name, uint64_t addr, uint64_t size)
{
	size_t at = begin(out, 0, 20);

	image_u32(out, 100);
	image_u32(out, 101);
	image_u64(out, addr);
	image_u64(out, addr);
	image_u64(out, size);
	image_u64(out, 7);
	image_text(out, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		image_bytes(out, "\xc3", 1);
	end(out, at);
}

static void check_object(bool big, uint32_t machine, bool wide)
{
	struct image out = { .big = big };
	struct pd_jit_object object = { .text_offset = 0 }, other;
	const struct pd_elf_section *section;
	struct pd_jitdump *jit = NULL;
	struct pd_object_id id;
	struct pd_image bytes;
	struct pd_elf *elf = NULL;
	struct pd_error error;
	uint64_t addr = 0;
	size_t at;

	put_head(&out, 40);
	image_set(&out, 12, machine, 4);
	at = begin(&out, 2, 9);
	image_u64(&out, 0x1000);
	image_u64(&out, 3);
	put_line(&out, 0x1000, 10, "a.js");
	put_line(&out, 0x1004, 11, "a.js");
	put_line(&out, 0x9000, 12, "b.js");
	end(&out, at);
	put_frames(&out, 40, 12, 0);
	put_code(&out, "named", 0x1000, 9);
	put_code(&out, "other", 0x2000, 9);
	pd_image_open_memory(&bytes, out.data, out.size);
	CHECK(pd_jitdump_open_image(&jit, &bytes, 0, true, NULL) == PD_OK);
	CHECK(pd_jitdump_code_at(jit, 0)->frames_size == 40 && pd_jitdump_code_at(jit, 1)->frames_size == 0);
	CHECK(!pd_jitdump_code_at(jit, 2));
	CHECK(pd_jitdump_object(jit, pd_jitdump_code_at(jit, 1), &other, &error) == PD_OK);
	memcpy(id.bytes, other.build_id, sizeof(other.build_id));
	CHECK(pd_jitdump_object(jit, pd_jitdump_code_at(jit, 0), &object, &error) == PD_OK);
	CHECK(memcmp(id.bytes, object.build_id, sizeof(object.build_id)) != 0);

	pd_image_open_memory(&bytes, object.elf.data, object.elf.size);
	CHECK(pd_elf_open_image(&elf, &bytes, "", 0, NULL) == PD_OK);
	CHECK(elf->big == big && elf->wide == wide && elf->machine == machine);
	CHECK(pd_elf_symbol_addr(elf, "named", &addr) && addr == object.text_offset);
	CHECK(pd_elf_addr(elf, object.text_offset + 3, &addr) && addr == object.text_offset + 3);
	CHECK(pd_elf_id(elf, &id) && !memcmp(id.bytes, object.build_id, sizeof(object.build_id)));
	section = pd_elf_section_by_name(elf, ".text");
	CHECK(section && section->size == 9 && pd_elf_section_bytes(elf, section).data[8] == 0xc3);
	section = pd_elf_section_by_name(elf, ".eh_frame");
	CHECK(section && section->size == 28 && section->addr == object.text_offset + 16);
	section = pd_elf_section_by_name(elf, ".eh_frame_hdr");
	CHECK(section && section->size == 12 && section->addr == object.text_offset + 16 + 28);
	CHECK(pd_elf_section_by_name(elf, ".debug_line") && pd_elf_section_by_name(elf, ".debug_info"));
	pd_elf_close(elf);
	pd_jitdump_close(jit);

	// the last code is cut
	pd_image_open_memory(&bytes, out.data, out.size - 1);
	CHECK(pd_jitdump_open_image(&jit, &bytes, 0, true, NULL) == PD_OK);
	CHECK(pd_jitdump_object(jit, pd_jitdump_code_at(jit, 1), &object, &error) == PD_ERROR_FORMAT);
	pd_jitdump_close(jit);
	image_free(&out);
}

TEST(test_jitdump__objects)
{
	check_object(false, 62, true);
	check_object(true, 22, true);
	check_object(false, 40, false);
	check_object(true, 20, false);
}

TEST(test_jitdump__recorded)
{
	const char *corpus = getenv("PERFDATA_CORPUS");
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/recorded/*jit*.dump", corpus ? corpus : "/nowhere");
	if (glob(pattern, 0, NULL, &found) != 0) {
		printf("# no recorded jitdumps here: set PERFDATA_CORPUS\n");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct pd_jitdump *jit = NULL;
		struct pd_jit_code code, again;
		struct pd_jit_line line;

		CHECK(pd_jitdump_open(NULL, found.gl_pathv[i], 0, &jit, NULL) == PD_OK);
		CHECK(!pd_jitdump_about(jit).damage && pd_jitdump_about(jit).code_count >= 10);
		CHECK(pd_jitdump_about(jit).big == !!strstr(found.gl_pathv[i], "s390x"));
		code = pd_jitdump_code(jit, 0);
		CHECK_STR(code.name, "jitted_function_0");
		CHECK(pd_jitdump_find(jit, code.pid, code.addr + 5, code.time, &again) && again.index == code.index);
		CHECK(pd_jitdump_line(jit, &code, code.addr + 6, &line) && line.line == 11);
		CHECK_STR(line.file, "source.js");
		pd_jitdump_close(jit);
	}
	globfree(&found);
}

RUN(TEST_CASE(test_jitdump__history), TEST_CASE(test_jitdump__cut_anywhere), TEST_CASE(test_jitdump__something_else),
    TEST_CASE(test_jitdump__as_plain_search), TEST_CASE(test_jitdump__objects), TEST_CASE(test_jitdump__recorded))
