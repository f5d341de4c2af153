/* SPDX-License-Identifier: MIT */
/* A profile that is named again, by symbols that may lie where earlier ones lay. */
#include <perfdata/perfdata.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../image.h"
#include "../test.h"

enum {
	HEADER = 104,
	ATTR = 112,
	DATA = HEADER + ATTR + 16,
	MMAP_SIZE = 40 + 24,
	SAMPLE_SIZE = 32
};

#define KERNEL UINT64_C(0xffffffff81000000)

static void put_attr(struct image *image)
{
	image_u32(image, 1);
	image_u32(image, ATTR);
	image_u64(image, 0);
	image_u64(image, 1000);
	image_u64(image, PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_TIME));
	image_zeros(image, ATTR + 16 - 32);
}

static void put_kernel(struct image *image)
{
	char name[24] = "[kernel.kallsyms]_text";

	image_u32(image, PD_RECORD_MMAP);
	image_u16(image, PD_CPUMODE_KERNEL);
	image_u16(image, MMAP_SIZE);
	image_u32(image, UINT32_MAX);
	image_u32(image, 0);
	image_u64(image, KERNEL);
	image_u64(image, 0x1000000);
	image_u64(image, KERNEL);
	image_bytes(image, name, sizeof(name));
}

static void make(struct image *image)
{
	image_bytes(image, "PERFILE2", 8);
	for (size_t i = 0; i < 8; i++)
		image_u64(image, (const uint64_t[]){ HEADER, ATTR + 16, HEADER, ATTR + 16, DATA,
						     MMAP_SIZE + SAMPLE_SIZE, 0, 0 }[i]);
	image_zeros(image, HEADER - image->size);
	put_attr(image);
	put_kernel(image);
	image_u32(image, PD_RECORD_SAMPLE);
	image_u16(image, PD_CPUMODE_KERNEL);
	image_u16(image, SAMPLE_SIZE);
	image_u64(image, KERNEL + 0x10);
	image_u32(image, 100);
	image_u32(image, 100);
	image_u64(image, 1000);
}

// A list of symbols with one function.
static void make_list(char *path, const char *name)
{
	int fd = mkstemp(path);
	FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;

	CHECK(stream);
	fprintf(stream, "ffffffff81000000 T _text\nffffffff81000000 T %s\nffffffff81001000 T _etext\n", name);
	CHECK(fclose(stream) == 0);
}

static void check_named(struct pd_file *file, struct pd_profile *profile, const char *list, const char *name)
{
	struct pd_symbols_options options = { .size = sizeof(options), .kallsyms = list };
	const struct pd_function *function;
	struct pd_symbols *symbols;
	struct pd_error error;

	CHECK(pd_symbols_new(file, pd_profile_state(profile), &options, &symbols, &error) >= 0);
	CHECK(pd_profile_name(profile, symbols, &error) >= 0);
	// by who named last, whatever there was before
	CHECK(pd_profile_name(profile, symbols, &error) >= 0);
	function = pd_profile_frame(profile, 0)->place.function;
	CHECK(function && strcmp(function->name, name) == 0);
	pd_symbols_free(symbols);
}

TEST(test_names__are_those_of_the_last_symbols)
{
	struct pd_profile_options options = { .size = sizeof(options), .threads = 1 };
	char first[] = "/tmp/perfdata-names-XXXXXX", second[] = "/tmp/perfdata-names-XXXXXX";
	struct pd_profile *profile;
	struct image image = { 0 };
	struct pd_error error;
	struct pd_file *file;
	FILE *stream = tmpfile();

	CHECK(stream);
	make_list(first, "one");
	make_list(second, "two");
	make(&image);
	CHECK(fwrite(image.data, 1, image.size, stream) == image.size && fflush(stream) == 0);
	rewind(stream);
	CHECK(pd_file_open_fd(fileno(stream), NULL, &file, &error) >= 0);
	CHECK(pd_profile_read(file, &options, &profile, &error) >= 0);
	for (int i = 0; i < 8; i++) {
		check_named(file, profile, first, "one");
		check_named(file, profile, second, "two");
	}
	pd_profile_free(profile);
	pd_file_close(file);
	fclose(stream);
	free(image.data);
	unlink(first);
	unlink(second);
}

RUN(TEST_CASE(test_names__are_those_of_the_last_symbols))
