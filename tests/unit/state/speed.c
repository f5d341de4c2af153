/* SPDX-License-Identifier: MIT */
/*
 * How long feeding, settling and looking up take, for shapes that could be slow. Prints processor time; with
 * an argument the shapes are this many times smaller.
 */
#include <time.h>

#include "unit/state/make.h"

static unsigned smaller = 1;
static uint64_t random_state = 88172645463325252;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % below;
}

static double now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void map(struct made *made, uint32_t pid, uint64_t addr, uint64_t len, unsigned path, uint64_t time)
{
	char text[40];

	snprintf(text, sizeof(text), "/usr/lib/libsomething-%u.so", path);
	make_mmap2(made, &(struct made_mmap2){ .misc = MAKE_USER,
					       .pid = pid,
					       .tid = pid,
					       .addr = addr,
					       .len = len,
					       .ino = path,
					       .prot = 5,
					       .flags = 2,
					       .path = text,
					       .time = time * 1000 });
}

// Many processes, each forked and with maps of its own.
static void many_processes(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t pid = 100 + i / 20;

		if (i % 20 == 0) {
			make_fork(made, pid, pid, 1, 1, (i + 1) * 1000);
			make_comm(made, MAKE_EXEC, pid, pid, "program", (i + 1) * 1000);
		}
		map(made, pid, 0x7f0000000000 + (uint64_t)draw(1 << 20) * 4096, 0x20000, i % 200, i + 1);
	}
}

// One process with 5,000 places that are mapped again and again.
static void one_process(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		map(made, 100, 0x7f0000000000 + (uint64_t)draw(5000) * 0x10000, 0x8000 + draw(2) * 0x7000, i % 5000,
		    i + 1);
}

// Ranges of all sizes over each other.
static void overlapping(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		map(made, 100, (uint64_t)draw(1 << 30) << 8, (uint64_t)draw(1 << 30) << draw(16), i % 100, i + 1);
}

// Each process is forked by the last one, and maps something.
static void fork_chain(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		make_fork(made, 101 + i, 101 + i, 100 + i, 100 + i, (2 * (uint64_t)i + 1) * 1000);
		map(made, 101 + i, (uint64_t)i << 16, 0x10000, i % 100, 2 * i + 2);
	}
}

// One with many mappings forks many, each of which hides all that it has.
static void fork_all_hidden(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++)
		map(made, 100, (uint64_t)i << 16, 0x8000, i % 100, i + 1);
	for (uint32_t i = 0; i < count / 4; i++) {
		make_fork(made, 101 + i, 101 + i, 100, 100, (count + 2 * (uint64_t)i) * 1000);
		map(made, 101 + i, 0, UINT64_MAX, i % 100, count + 2 * i + 1);
	}
}

// Nanoseconds for each lookup. in_order: the moments go on, as those of samples do; else they are drawn.
static double look(const struct made *made, uint32_t pids, uint64_t addrs, uint64_t times, uint32_t count,
		   bool in_order, double *found_out)
{
	struct pd_location location;
	uint64_t found = 0;
	double begin = now();

	for (uint32_t i = 0; i < count; i++) {
		uint64_t addr = addrs + ((uint64_t)draw(5000) << 16) + draw(0x8000);
		struct pd_moment when = { in_order ? times * i / count : (uint64_t)draw(1 << 30) * times >> 30, 0 };

		found += pd_state_locate(made->state, 100 + draw(pids), PD_CPUMODE_USER, when, addr, &location);
	}
	*found_out = 100.0 * (double)found / count;
	return (now() - begin) * 1e9 / count;
}

static bool measure(const char *name, void (*shape)(struct made *, uint32_t), uint32_t records, uint32_t pids,
		    uint64_t addrs)
{
	struct made made = make_begin();
	struct pd_stream *stream = NULL;
	const struct pd_record *record;
	uint32_t lookups = 2000000 / smaller;
	double begin, read, fed, finalized, in_order, drawn, found;

	records /= smaller;
	shape(&made, records);
	image_file_end(&made.image);
	if (pd_file_open_memory(made.image.data, made.image.size, NULL, &made.file, NULL) < 0 ||
	    pd_state_new(NULL, &made.state, NULL) < 0)
		return false;
	begin = now();
	pd_stream_open(made.file, NULL, &stream, NULL);
	while (pd_stream_next(stream, &record, NULL) == PD_OK)
		;
	pd_stream_close(stream);
	read = now();
	pd_stream_open(made.file, NULL, &stream, NULL);
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		if (pd_state_take(made.state, record, NULL) < 0)
			return false;
	}
	pd_stream_close(stream);
	fed = now();
	if (pd_state_finalize(made.state, NULL) < 0)
		return false;
	finalized = now();
	in_order = look(&made, pids, addrs, 2000 * (uint64_t)records, lookups, true, &found);
	drawn = look(&made, pids, addrs, 2000 * (uint64_t)records, lookups, false, &found);
	printf("%-15s %8u records: %5.3f s to read, %5.3f s to read and feed, %5.3f s to settle; a lookup takes %4.0f ns in "
	       "order of time, %4.0f ns in any order; %2.0f%% found\n",
	       name, (unsigned)records, read - begin, fed - read, finalized - fed, in_order, drawn, found);
	make_free(&made);
	return true;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		smaller = (unsigned)atoi(argv[1]) ? (unsigned)atoi(argv[1]) : 1;
	return !(measure("many processes", many_processes, 1000000, 50000 / smaller, 0x7f0000000000) &&
		 measure("one process", one_process, 1000000, 1, 0x7f0000000000) &&
		 measure("small history", one_process, 50000, 1, 0x7f0000000000) &&
		 measure("no history", one_process, 5000, 1, 0x7f0000000000) &&
		 measure("overlapping", overlapping, 1000000, 1, 0) &&
		 measure("fork chain", fork_chain, 1000000, 500000 / smaller, 0) &&
		 measure("all hidden", fork_all_hidden, 1000000, 250000 / smaller, 0));
}
