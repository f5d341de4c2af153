/* SPDX-License-Identifier: MIT */
/*
 * Prints functions and lines of addresses in the form of addr2line -a -i -f; addresses come as hex lines.
 *
 * usage: lines-dump OBJECT [INDEX [quiet]] <ADDRESSES
 *
 * INDEX is a directory, "" for none. quiet only looks them up, and tells how many frames there were and the processor
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbol/lines.h"

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

int main(int argc, char **argv)
{
	struct pd_lines_source source = { .files = bring };
	bool quiet = argc > 3;
	struct pd_lines *lines;
	size_t total = 0;
	char line[64];

	if (argc < 2)
		return 2;
	path = argv[1];
	source.index = argc > 2 && argv[2][0] ? argv[2] : NULL;
	source.id = id_of();
	if (!object || pd_lines_open(&lines, &source, NULL))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t addr = strtoull(line, NULL, 16);
		struct pd_lines_frame frames[1024];
		size_t count = pd_lines_find(lines, addr, frames, 1024);

		total += count;
		if (!quiet)
			print(addr, frames, count < 1024 ? count : 1024);
	}
	if (quiet)
		printf("%zu %.3f\n", total, (double)clock() / CLOCKS_PER_SEC);
	pd_lines_close(lines);
	pd_elf_close(object);
	return 0;
}
