/* SPDX-License-Identifier: MIT */
/* Objects, lists of symbols and recordings for the tests of places, in a directory of their own. */
#ifndef PD_TEST_PLACES_H
#define PD_TEST_PLACES_H

#include "../test.h"
#include "elf_image.h"
#include "unit/state/make.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	PID = 100,
	KERNEL_TEXT = 0x81000000
};

static char top[64];
static const uint8_t id_a[20] = { 0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };
static const uint8_t id_b[20] = { 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };

static inline const char *under(const char *path)
{
	static char texts[8][512];
	static unsigned turn;
	char *text = texts[turn++ % 8];

	if (snprintf(text, sizeof(texts[0]), "%s/%s", top, path) >= (int)sizeof(texts[0]))
		abort();
	return text;
}

static inline void make_folders(const char *path)
{
	char part[256] = { 0 };

	for (size_t i = 0; path[i] && i + 1 < sizeof(part); i++) {
		if (path[i] == '/')
			mkdir(under(part), 0700);
		part[i] = path[i];
	}
}

static inline void put_file(const char *path, const void *data, size_t size)
{
	FILE *file;

	make_folders(path);
	file = fopen(under(path), "wb");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static inline void put_text(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

// Objects that were made just now are not kept in an index: another change might bear the same time.
static inline void finalize(void)
{
	const struct timespec wait = { .tv_nsec = 100000000 };

	nanosleep(&wait, NULL);
}

// Code at file offset 0x40, as addresses from `addr`: first [0, 16), _ZN4shop4workEi [16, 48), and more behind. In zeroed memory
// after it: counter [0x4008, 0x4010).
// A stripped one has one symbol: exported [0, 0x1000).
static inline void put_elf(const char *path, const uint8_t *id, uint64_t addr, bool stripped)
{
	struct made_elf elf = { .wide = true, .type = 3, .machine = 62, .segment_count = 1 };
	size_t text = elf_section(&elf, ".text", 1, 6, addr);
	size_t names = elf_section(&elf, stripped ? ".dynstr" : ".strtab", 3, 0, 0);
	size_t table = elf_section(&elf, stripped ? ".dynsym" : ".symtab", stripped ? 11 : 2, 0, 0), note;
	size_t bss = elf_section(&elf, ".bss", 8, 3, addr + 0x4000);
	struct image image;

	elf.segments[0] = (struct made_segment){
		.type = 1, .flags = 5, .offset = 0x40, .addr = addr, .file_size = 0x4000, .zeroed = 0x100
	};
	elf.sections[bss].size = 0x100;
	image_zeros(&elf.sections[text].content, 0x4000);
	if (id) {
		note = elf_section(&elf, ".note.gnu.build-id", 7, 2, 0);
		image_u32(&elf.sections[note].content, 4);
		image_u32(&elf.sections[note].content, 20);
		image_u32(&elf.sections[note].content, 3);
		image_bytes(&elf.sections[note].content, "GNU", 4);
		image_bytes(&elf.sections[note].content, id, 20);
	}
	if (stripped) {
		elf_symbol(&elf, table, names, "exported", 0x12, (unsigned)text, addr, 0x1000);
	} else {
		elf_symbol(&elf, table, names, "first", 0x12, (unsigned)text, addr, 16);
		elf_symbol(&elf, table, names, "_ZN4shop4workEi", 0x02, (unsigned)text, addr + 16, 32);
		elf_symbol(&elf, table, names, "_text", 0x10, (unsigned)text, addr + 64, 0);
		elf_symbol(&elf, table, names, "counter", 0x11, (unsigned)bss, addr + 0x4008, 8);
	}
	for (uint32_t i = 0; !stripped && i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "many%u", i);
		elf_symbol(&elf, table, names, name, 0x22, (unsigned)text, addr + 0x100 + 8 * i, 8);
	}
	image = elf_make(&elf);
	put_file(path, image.data, image.size);
	image_free(&image);
}

static inline void put_object(const char *path, const uint8_t *id, uint64_t addr)
{
	put_elf(path, id, addr, false);
}

static inline void map(struct made *made, uint64_t addr, const char *path, const uint8_t *id)
{
	make_mmap2(made, &(struct made_mmap2){ .misc = MAKE_USER | (id ? MAKE_BUILD_ID : 0),
					       .pid = PID,
					       .tid = PID,
					       .addr = addr,
					       .len = 0x8000,
					       .prot = 5,
					       .build_id = id,
					       .path = path,
					       .time = 1 });
}

static inline struct pd_symbols *open_symbols(struct made *made, struct pd_symbols_options options)
{
	struct pd_symbols *symbols = NULL;
	struct pd_error error;

	options.size = sizeof(options);
	if (!options.symfs)
		options.symfs = under("sys");
	if (pd_symbols_new(made->file, made->state, &options, &symbols, &error)) {
		printf("# %s\n", error.message);
		return NULL;
	}
	return symbols;
}

static inline void put_code(struct image *out, uint64_t time, uint64_t addr, uint64_t index, const char *name)
{
	size_t start = out->size;

	image_u32(out, 0);
	image_u32(out, 0);
	image_u64(out, time);
	image_u32(out, PID);
	image_u32(out, PID);
	image_u64(out, addr);
	image_u64(out, addr);
	image_u64(out, 2);
	image_u64(out, index);
	image_text(out, name, strlen(name) + 1);
	image_bytes(out, "\xcc\xcc", 2);
	image_set(out, start + 4, out->size - start, 4);
}

// Two codes at one place, one after the other.
static inline void put_jitdump(const char *path)
{
	struct image dump = { .big = false };

	image_bytes(&dump, "DTiJ", 4);
	image_u32(&dump, 1);
	image_u32(&dump, 40);
	image_u32(&dump, 62);
	image_u32(&dump, 0);
	image_u32(&dump, PID);
	image_u64(&dump, 5);
	image_u64(&dump, 0);
	put_code(&dump, 10, 0x10100, 1, "before");
	put_code(&dump, 20, 0x10100, 2, "after");
	put_file(path, dump.data, dump.size);
	image_free(&dump);
}

static inline int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
	(void)about;
	(void)type;
	(void)place;
	return remove(path);
}

static inline void remove_all(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline bool make_top(void)
{
	snprintf(top, sizeof(top), "/tmp/perfdata-places-XXXXXX");
	if (mkdtemp(top))
		return true;
	perror(top);
	return false;
}

static inline struct pd_symbols *open_default(struct made *made)
{
	return open_symbols(made, (struct pd_symbols_options){ .size = 0 });
}

static inline struct pd_place user_at(struct pd_symbols *symbols, uint64_t addr)
{
	return pd_symbols_place(symbols, PID, PD_CPUMODE_USER, at(5), addr);
}

static inline struct pd_place kernel_at(struct pd_symbols *symbols, uint64_t addr)
{
	return pd_symbols_place(symbols, PID, PD_CPUMODE_KERNEL, at(5), addr);
}

static inline int run_places(const struct test_case *cases, size_t count)
{
	int result;

	if (!make_top())
		return 1;
	result = test_run(cases, count);
	remove_all(top);
	return result;
}

#endif
