/* SPDX-License-Identifier: MIT */
/*
 * Prints the symbols of an object as the library sees them: "start end bind kind name" in hex, for compare.py.
 * usage: symbol-dump [--speed] OBJECT [DEBUG-FILE]
 * --speed prints how long loading and looking up took instead.
 */
#include "object/elf/elf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void print_all(const struct pd_symtab *table)
{
	for (size_t i = 0; i < pd_symtab_count(table); i++) {
		struct pd_symbol s = pd_symtab_at(table, i);

		printf("%" PRIx64 " %" PRIx64 " %u %u %s\n", s.start, s.end, s.bind, s.kind, s.name);
	}
}

static void print_speed(const struct pd_symtab *table, double loaded_ms)
{
	enum {
		LOOKUPS = 1000000
	};
	static uint64_t addresses[LOOKUPS];
	size_t count = pd_symtab_count(table), found = 0;
	struct pd_symbol symbol;
	uint64_t seed = 1;
	double start;

	for (size_t i = 0; count && i < LOOKUPS; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		addresses[i] = pd_symtab_at(table, (size_t)(seed >> 33) % count).start;
	}
	start = now_ms();
	for (size_t i = 0; i < LOOKUPS; i++)
		found += pd_symtab_find(table, addresses[i], &symbol);
	printf("%zu symbols, %zu bytes, loaded in %.1f ms, lookup %.1f ns, %zu found\n", count, pd_symtab_bytes(table),
	       loaded_ms, (now_ms() - start) * 1e6 / LOOKUPS, found);
}

int main(int argc, char **argv)
{
	bool speed = argc > 1 && strcmp(argv[1], "--speed") == 0;
	struct pd_elf *object = NULL, *debug = NULL;
	struct pd_symtab *table = NULL;
	struct pd_error error;
	double start = now_ms();

	argv += speed;
	argc -= speed;
	if (argc < 2)
		return 2;
	if (pd_elf_open(&object, argv[1], 0, &error) || (argc > 2 && pd_elf_open(&debug, argv[2], 0, &error)) ||
	    pd_elf_symtab(object, debug, NULL, &table, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	if (speed)
		print_speed(table, now_ms() - start);
	else
		print_all(table);
	pd_symtab_free(table);
	pd_elf_close(debug);
	pd_elf_close(object);
	return 0;
}
