/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a state fails once, each in turn: what was asked for then fails with PD_ERROR_MEMORY, or
 * gives what it gives with all memory. Allocations are wrapped by the linker (--wrap).
 */
#define FAILING_COUNTS_LIVE
#include "unit/failing.h"
#include "unit/test.h"
#include "unit/state/make.h"

static void write_records(struct made *made)
{
	static const char *const paths[] = { "/bin/a", "/lib/b", "//anon" };

	make_mmap(made, MAKE_KERNEL, MAKE_NOBODY, 0xffff0000, 0x10000, 0xffff0000, "[kernel.kallsyms]_text", 0);
	for (uint32_t i = 0; i < 200; i++) {
		char path[32];

		make_fork(made, 10 + i, 10 + i, 9 + i / 2, 9 + i / 2, 10 * i + 10);
		make_comm(made, i % 3 ? 0 : MAKE_EXEC, 10 + i, 10 + i, paths[i % 3], 10 * i + 11);
		snprintf(path, sizeof(path), "%s-%u", paths[i % 3], i % 50);
		make_mmap(made, MAKE_USER, 10 + i, 0x1000 * (i % 20), 0x3000, 0, path, 10 * i + 12);
		make_ksymbol(made, 0x10000 + 0x100 * i, 0x100, i % 7 == 6, "bpf_prog", 10 * i + 13);
	}
}

// The first failure, or PD_OK.
static enum pd_status feed(struct pd_file *file, struct pd_state **state_out)
{
	struct pd_stream *stream;
	const struct pd_record *record;
	enum pd_status status, taken;

	status = pd_stream_open(file, NULL, &stream, NULL);
	if (status < 0)
		return status;
	status = pd_state_new(NULL, state_out, NULL);
	while (status >= 0 && (status = pd_stream_next(stream, &record, NULL)) == PD_OK) {
		taken = pd_state_take(*state_out, record, NULL);
		if (taken < 0)
			status = taken;
	}
	pd_stream_close(stream);
	return status < 0 ? status : pd_state_finalize(*state_out, NULL);
}

// What the state says about all of it, as one number.
static uint64_t ask(const struct pd_state *state)
{
	struct pd_location location;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 210; i++) {
		const char *comm = pd_state_comm(state, i, at(10 * i + 40), NULL);

		sum = sum * 31 + (comm ? (uint64_t)comm[1] : 0);
		for (uint64_t addr = 0; addr < 0x18000; addr += 0x1000) {
			bool found = pd_state_locate(state, i, PD_CPUMODE_UNKNOWN, at(10 * i + 40), addr, &location);

			sum = sum * 31 + (found ? location.object->index + 1 : 0);
		}
	}
	return sum;
}

TEST(test_state__says_so_when_memory_runs_out)
{
	struct made made = make_begin();
	struct pd_state *state = NULL;
	uint64_t wanted;
	long failures = 0;

	write_records(&made);
	image_file_end(&made.image);
	CHECK(pd_file_open_memory(made.image.data, made.image.size, NULL, &made.file, NULL) == PD_OK);
	CHECK(feed(made.file, &state) == PD_OK);
	wanted = ask(state);
	CHECK(wanted != 0);
	pd_state_free(state);
	for (long turn = 0;; turn++) {
		long before = live;
		enum pd_status status;

		state = NULL;
		has_failed = false;
		left = turn;
		status = feed(made.file, &state);
		left = -1;
		CHECK(status == PD_OK ? ask(state) == wanted : has_failed && status == PD_ERROR_MEMORY);
		failures += status < 0;
		pd_state_free(state);
		CHECK(live == before);
		if (!has_failed)
			break;
	}
	CHECK(failures > 20);
	make_free(&made);
}

RUN(TEST_CASE(test_state__says_so_when_memory_runs_out))
