/* SPDX-License-Identifier: MIT */
/*
 * Prints functions and lines of addresses in the form of addr2line -a -i -f; addresses come as hex lines.
 *
 * usage: lines-dump OBJECT [INDEX [quiet|sorted]] <ADDRESSES
 *
 * INDEX is a directory, "" for none. quiet only looks them up, and tells how many frames there were and the processor
 * time; sorted does so in the order of addresses, having sorted them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "object/dwarf/lines.h"

static const char *path;
static struct pd_elf *object;

static void bring(void *self, struct pd_elf **object_out, struct pd_elf **debug_out)
{
	(void)self;
	if (!object)
		pd_elf_open(&object, path, 0, NULL);
	*object_out = object;
	*debug_out = NULL;
}

static void print(uint64_t addr, const struct pd_lines_frame *frames, size_t count)
{
	printf("0x%016llx\n", (unsigned long long)addr);
	if (!count)
		printf("??\n??:0\n");
	for (size_t i = 0; i < count; i++) {
		printf("%s\n%s:", frames[i].name ? frames[i].name : "??", frames[i].file ? frames[i].file : "??");
		if (frames[i].line)
			printf("%u\n", frames[i].line);
		else
			printf("?\n");
	}
}

// What a reader of the index has to know before: the kernel's records say it.
static struct pd_object_id id_of(void)
{
	struct pd_object_id id = { .size = 0 };

	if (pd_elf_open(&object, path, 0, NULL) == PD_OK)
		pd_elf_id(object, &id);
	return id;
}

struct addresses {
	uint64_t *items;
	size_t count;
};

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? (unsigned)c - 'a' + 10 : 16;
}

// One hex number a line, with or without 0x. The text ends with a 0.
static void parse(const char *at, struct addresses *read)
{
	while (*at && *at != '\n') {
		uint64_t value = 0;

		at += at[0] == '0' && at[1] == 'x' ? 2 : 0;
		for (unsigned digit; (digit = digit_of(*at)) < 16; at++)
			value = value << 4 | digit;
		read->items[read->count++] = value;
		while (*at && *at != '\n')
			at++;
		at += *at == '\n';
	}
}

static struct addresses read_addresses(void)
{
	struct addresses read = { NULL, 0 };
	size_t capacity = 0, size = 0, got;
	char *text = NULL;

	do {
		if (capacity - size < 65536) {
			capacity = 2 * capacity + 131072;
			text = realloc(text, capacity);
		}
		got = text ? fread(text + size, 1, capacity - size - 1, stdin) : 0;
		size += got;
	} while (got);
	read.items = text ? malloc((size / 2 + 1) * sizeof(*read.items)) : NULL;
	if (read.items) {
		text[size] = 0;
		parse(text, &read);
	}
	free(text);
	return read;
}

static void radix_pass(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
	size_t at[2048] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[from[i] >> shift & 2047]++;
	for (size_t i = 0; i < 2048; i++) {
		size_t here = at[i];

		at[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i] >> shift & 2047]++] = from[i];
}

static void sort(struct addresses *addresses)
{
	uint64_t *other = malloc((addresses->count + 1) * sizeof(*other)), *moved, all = 0;

	for (size_t i = 0; i < addresses->count; i++)
		all |= addresses->items[i];
	for (unsigned shift = 0; other && shift < 64 && all >> shift; shift += 11) {
		radix_pass(addresses->items, other, addresses->count, shift);
		moved = addresses->items;
		addresses->items = other;
		other = moved;
	}
	free(other);
}

static size_t find_all(struct pd_lines *lines, const struct addresses *addresses, bool quiet)
{
	struct pd_lines_frame frames[1024];
	size_t total = 0;

	for (size_t i = 0; i < addresses->count; i++) {
		size_t count = pd_lines_find(lines, addresses->items[i], frames, 1024);

		total += count;
		if (!quiet)
			print(addresses->items[i], frames, count < 1024 ? count : 1024);
	}
	return total;
}

int main(int argc, char **argv)
{
	struct pd_lines_source source = { .files = bring };
	bool quiet = argc > 3;
	struct addresses addresses;
	struct pd_lines *lines;
	size_t total;

	if (argc < 2)
		return 2;
	path = argv[1];
	source.index = argc > 2 && argv[2][0] ? argv[2] : NULL;
	source.id = id_of();
	if (!object || pd_lines_open(&lines, &source, NULL))
		return 1;
	addresses = read_addresses();
	if (quiet && strcmp(argv[3], "sorted") == 0)
		sort(&addresses);
	total = find_all(lines, &addresses, quiet);
	if (quiet)
		printf("%zu %.3f\n", total, (double)clock() / CLOCKS_PER_SEC);
	free(addresses.items);
	pd_lines_close(lines);
	pd_elf_close(object);
	return 0;
}
