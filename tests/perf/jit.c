// SPDX-License-Identifier: MIT
/*
 * A program to be recorded: it makes code at run time and tells the names in /tmp/perf-PID.map, but not all of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	FUNCTIONS = 4,
	DISTANCE = 256
};

/* counts its argument down to zero: the same bytes for each function */
#if defined(__x86_64__)
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
#elif defined(__aarch64__)
static const unsigned char code[] = { 0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
#endif

static void tell(const unsigned char *memory)
{
	char name[64];
	FILE *map;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	if (!map)
		return;
	for (int i = 0; i < FUNCTIONS - 1; i++)
		fprintf(map, "%lx %x made function %d\n", (unsigned long)(memory + i * DISTANCE), 64, i);
	fclose(map);
}

int main(void)
{
	unsigned char *memory =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	for (int i = 0; i < FUNCTIONS; i++)
		memcpy(memory + i * DISTANCE, code, sizeof(code));
	__builtin___clear_cache((char *)memory, (char *)memory + 8192);
	tell(memory);
	for (int i = 0; i < 60; i++)
		((long (*)(long))(uintptr_t)(memory + i % FUNCTIONS * DISTANCE))(3000000);
	return 0;
}
