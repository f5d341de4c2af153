// SPDX-License-Identifier: MIT
/*
 * A program to be recorded: it makes code at run time and writes what it made to FOLDER/jit-PID.dump, as jitdump has it:
 * functions with lines, one with information for unwinding, one that is moved, one that takes the place of another.
 *
 * usage: program FOLDER
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	LOAD,
	MOVE,
	DEBUG_INFO,
	CLOSE,
	UNWINDING
};
enum {
	DISTANCE = 4096,
	PLACES = 6,
	ROUNDS = 12000000,
	HEAD = 16
};

#if defined(__x86_64__)
/* mov %rdi,%rax; 1: dec %rax; jne 1b; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
enum {
	MACHINE = 62
};
/* call *%rsi with a frame of its own, so that there is a caller that was made at run time */
static const unsigned char caller[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
#elif defined(__aarch64__)
static const unsigned char code[] = { 0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
enum {
	MACHINE = 183
};
static const unsigned char caller[] = { 0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x20, 0x00,
					0x3f, 0xd6, 0xfd, 0x7b, 0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6 };
#endif

/* A CIE and an FDE that say nothing but where code is, and the table of one entry that finds it: eh_frame_hdr. Offsets
 * are as they will be loaded: code, then the header behind it, then the frames. */
static unsigned char frames[64];
static size_t frames_size, frames_header_size;

static FILE *dump;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void put(const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, dump) != 1)
		abort();
}

static void put32(uint32_t value)
{
	put(&value, 4);
}

static void put64(uint64_t value)
{
	put(&value, 8);
}

static void begin(uint32_t id, size_t size)
{
	put32(id);
	put32((uint32_t)(HEAD + size));
	put64(now());
}

static void put_ids(void)
{
	put32((uint32_t)getpid());
	put32((uint32_t)syscall(SYS_gettid));
}

static void load(const char *name, const unsigned char *at, size_t size, uint64_t index)
{
	begin(LOAD, 40 + strlen(name) + 1 + size);
	put_ids();
	put64((uintptr_t)at);
	put64((uintptr_t)at);
	put64(size);
	put64(index);
	put(name, strlen(name) + 1);
	put(at, size);
}

static void move(const unsigned char *from, const unsigned char *to, size_t size, uint64_t index)
{
	begin(MOVE, 48);
	put_ids();
	put64((uintptr_t)to);
	put64((uintptr_t)from);
	put64((uintptr_t)to);
	put64(size);
	put64(index);
}

static void lines(const unsigned char *at, const char *file, unsigned first)
{
	begin(DEBUG_INFO, 16 + 16 + strlen(file) + 1 + 16 + 2);
	put64((uintptr_t)at);
	put64(2);
	put64((uintptr_t)at);
	put32(first);
	put32(0);
	put(file, strlen(file) + 1);
	put64((uintptr_t)at + 3);
	put32(first + 1);
	put32(0);
	put("\xff", 2); /* the same file again */
}

static void unwinding(void)
{
	size_t whole = 24 + frames_size, pad = (8 - whole % 8) % 8;

	begin(UNWINDING, whole + pad);
	put64(frames_size);
	put64(frames_header_size);
	put64(frames_size);
	put(frames, frames_size);
	put("\0\0\0\0\0\0\0", pad);
}

/* The least that is well formed: one CIE, one FDE for size bytes of code, a terminator; then the table. */
static void make_frames(size_t size)
{
	uint32_t words[16] = { 0 };
	unsigned char *bytes = (unsigned char *)words;
	uint32_t table[5];
	int32_t code_offset;

	words[0] = 16;                                               /* CIE */
	memcpy(bytes + 8, "\1zR\0\1\x78\x10\1\x1b\x0c\x07\x08", 12); /* pcrel, sdata4; CFA is r7 + 8 */
	words[5] = 16;                                               /* FDE */
	words[6] = 24;                                               /* back to the CIE */
	code_offset = -(int32_t)(((size + 7) & ~(size_t)7) + 28); /* as perf loads it: frames right behind the code */
	memcpy(&words[7], &code_offset, 4);
	words[8] = (uint32_t)size;
	words[9] = 0;
	memcpy(frames, words, 40);
	memset(frames + 40, 0, 4);
	table[0] = 0x3b031b01; /* version 1, pcrel sdata4, udata4, datarel sdata4 */
	table[1] = (uint32_t) - (44 + 4);
	table[2] = 1;
	table[3] = (uint32_t) - (int32_t)(((size + 7) & ~(size_t)7) + 44);
	table[4] = (uint32_t) - (44 - 20);
	memcpy(frames + 44, table, sizeof(table));
	frames_size = 64;
	frames_header_size = sizeof(table);
}

static void *open_dump(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump = fopen(path, "w+");
	if (!dump)
		return MAP_FAILED;
	put32(0x4a695444);
	put32(1);
	put32(40);
	put32(MACHINE);
	put32(0);
	put32((uint32_t)getpid());
	put64(now());
	put64(0);
	fflush(dump);
	/* the mark that a recorder notes */
	return mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
}

static void spin(unsigned char *at)
{
	((long (*)(long))(uintptr_t)at)(ROUNDS);
}

static void spin_from(unsigned char *outer, unsigned char *at)
{
	((long (*)(long, void *))(uintptr_t)outer)(ROUNDS, at);
}

int main(int argc, char **argv)
{
	unsigned char *memory, *place[PLACES];

	if (argc != 2 || open_dump(argv[1]) == MAP_FAILED)
		return 1;
	memory = mmap(NULL, PLACES * DISTANCE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	for (int i = 0; i < PLACES; i++) {
		place[i] = memory + i * DISTANCE;
		memcpy(place[i], i == 3 ? caller : code, i == 3 ? sizeof(caller) : sizeof(code));
	}
	__builtin___clear_cache((char *)memory, (char *)memory + PLACES * DISTANCE);
	lines(place[0], "first.src", 10);
	load("made_first", place[0], sizeof(code), 0);
	load("made second(int)", place[1], sizeof(code), 1);
	make_frames(sizeof(code));
	unwinding();
	load("made_with_frames", place[2], sizeof(code), 2);
	load("made_caller", place[3], sizeof(caller), 3);
	spin(place[0]);
	spin(place[1]);
	spin(place[2]);
	spin_from(place[3], place[0]);
	move(place[1], place[4], sizeof(code), 1);
	spin(place[4]);
	lines(place[0], "other.src", 20);
	load("made_in_place", place[0], sizeof(code), 4);
	spin(place[0]);
	begin(CLOSE, 0);
	return fclose(dump) != 0;
}
