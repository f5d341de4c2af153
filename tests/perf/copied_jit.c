// SPDX-License-Identifier: MIT
/*
 * A program that makes code without frame pointers, and writes a jitdump with its unwind rules into the present folder. Function N is
 * jitted_N, has a frame of its own size and calls N + 1; the last one calls spin().
 * usage: jit MILLISECONDS
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	FUNCTIONS = 8,
	ROOM = 64,
	X86_64 = 62,
	CODE_LOAD = 0,
	UNWINDING = 4
};

volatile uint64_t sink;
static FILE *dump;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void spin(void)
{
	for (uint64_t i = 0; i < 300000; i++)
		sink += i * i;
}

static void put(const void *data, size_t size)
{
	fwrite(data, size, 1, dump);
}

static void put_head(uint32_t id, size_t size)
{
	struct {
		uint32_t id, size;
		uint64_t time;
	} head = { id, (uint32_t)(sizeof(head) + size), now_ns() };

	put(&head, sizeof(head));
}

// sub $frame, %rsp; movabs $target, %rax; call *%rax; add $frame, %rsp; ret
static size_t make_code(uint8_t *at, uint8_t frame, const void *target)
{
	uint8_t code[] = { 0x48, 0x83, 0xec, frame, 0x48, 0xb8, 0,    0,    0,     0,   0,
			   0,    0,    0,    0xff,  0xd0, 0x48, 0x83, 0xc4, frame, 0xc3 };

	memcpy(code + 6, &target, sizeof(target));
	memcpy(at, code, sizeof(code));
	return sizeof(code);
}

// .eh_frame of a function, as if it followed the code.
static void put_rules(uint8_t frame, size_t size)
{
	uint8_t common[] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	uint8_t function[] = {
		24,   0,    0, 0, 28, 0, 0, 0, 0, 0, 0, 0, (uint8_t)size, 0, 0, 0, 0, 0x44, 0x0e, (uint8_t)(frame + 8),
		0x50, 0x0e, 8, 0, 0,  0, 0, 0
	};
	int32_t start = -(int32_t)(((size + 15) & ~(size_t)15) + sizeof(common) + 8);
	uint64_t sizes[] = { sizeof(common) + sizeof(function), 0, 0 };
	uint8_t padding[8] = { 0 };
	size_t pad = (8 - sizes[0] % 8) % 8;

	memcpy(function + 8, &start, sizeof(start));
	put_head(UNWINDING, sizeof(sizes) + sizes[0] + pad);
	put(sizes, sizeof(sizes));
	put(common, sizeof(common));
	put(function, sizeof(function));
	put(padding, pad);
}

static void put_code(int index, const void *code, size_t size)
{
	struct {
		uint32_t pid, tid;
		uint64_t vma, addr, size, index;
	} load = { (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)code, (uintptr_t)code, size, (uint64_t)index };
	char name[32];
	int length = snprintf(name, sizeof(name), "jitted_%d", index) + 1;

	put_head(CODE_LOAD, sizeof(load) + (size_t)length + size);
	put(&load, sizeof(load));
	put(name, (size_t)length);
	put(code, size);
}

static void begin_dump(void)
{
	struct {
		uint32_t magic, version, size, machine, padding, pid;
		uint64_t time, flags;
	} head = { 0x4a695444, 1, sizeof(head), X86_64, 0, (uint32_t)getpid(), now_ns(), 0 };
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump = fopen(path, "w+");
	if (!dump || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(1);
	put(&head, sizeof(head));
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (uint64_t)(argc > 1 ? atoi(argv[1]) : 200) * 1000000;
	uint8_t *memory =
		mmap(NULL, FUNCTIONS * ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const void *target = (const void *)spin;
	void (*first)(void);

	if (memory == MAP_FAILED)
		return 1;
	begin_dump();
	for (int i = FUNCTIONS - 1; i >= 0; i--) {
		uint8_t frame = (uint8_t)(24 + 16 * (i % 4));
		size_t size = make_code(memory + i * ROOM, frame, target);

		put_rules(frame, size);
		put_code(i, memory + i * ROOM, size);
		target = memory + i * ROOM;
	}
	fflush(dump);
	memcpy(&first, &target, sizeof(first));
	while (now_ns() < end)
		first();
	return 0;
}
