/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of symbols fails once, each in turn: opening then fails with PD_ERROR_MEMORY, or places are
 * those that there are with all memory, or the symbols say that some are missing. Allocations are wrapped by the
 * linker (--wrap).
 */
#define FAILING_COUNTS_LIVE
#include "unit/failing.h"
#include "places.h"

// What the symbols say, as one number.
static uint64_t ask(struct pd_symbols *symbols)
{
	static const struct {
		uint64_t addr;
		unsigned cpumode;
		uint64_t time;
	} places[] = {
		{ 0x10041, PD_CPUMODE_USER, 5 },      { 0x10055, PD_CPUMODE_USER, 5 },
		{ 0x10148, PD_CPUMODE_USER, 5 },      { 0x20041, PD_CPUMODE_USER, 5 },
		{ 0x30100, PD_CPUMODE_USER, 5 },      { 0x81000104, PD_CPUMODE_KERNEL, 5 },
		{ 0xc0000104, PD_CPUMODE_KERNEL, 5 },
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct pd_place place =
			pd_symbols_place(symbols, PID, places[i].cpumode, at(places[i].time), places[i].addr);
		struct pd_line lines[4];
		size_t count = pd_symbols_lines(symbols, &place, lines, 4);

		sum = sum * 31 + place.addr + count + (place.dso ? strlen(place.dso->name) : 0);
		if (place.function)
			sum = sum * 31 + strlen(place.function->name);
	}
	return sum;
}

static struct pd_symbols *try_open(struct made *made, enum pd_status *status_out)
{
	struct pd_symbols_options options = { .size = sizeof(options) };
	struct pd_symbols *symbols = NULL;

	options.flags = PD_SYMBOLS_RAW_NAMES; // foreign libraries do not say why they fail
	options.symfs = under("sys");
	options.kallsyms = under("kallsyms");
	options.build_id_cache = under("cache");
	options.index = under("index");
	*status_out = pd_symbols_new(made->file, made->state, &options, &symbols, NULL);
	return symbols;
}

TEST(test_places__say_so_when_memory_runs_out)
{
	struct made made = make_begin();
	struct pd_symbols *symbols;
	enum pd_status status;
	long failures = 0, turns = 0;
	uint64_t wanted = 0;

	put_object("sys/bin/tool", id_a, 0x401000);
	put_text("kallsyms",
		 "0000000081000000 T _text\n0000000081000100 T start_kernel\n00000000c0000100 t ext\t[ext]\n");
	put_text("sys/tmp/perf-100.map", "30100 2 map\n");
	map(&made, 0x10000, "/bin/tool", id_a);
	map(&made, 0x20000, "/bin/absent", id_b);
	map(&made, 0x30000, "//anon", NULL);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0x81000000, 0x1000000, 0x81000000, "[kernel.kallsyms]_text", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xc0000000, 0x4000, 0, "[ext]", 0);
	CHECK(make_state(&made, NULL));
	finalize();
	// with all memory first
	for (; turns < 2 || has_failed; turns++) {
		long before = live;

		has_failed = false;
		left = turns - 1;
		symbols = try_open(&made, &status);
		if (symbols) {
			uint64_t sum = ask(symbols);

			wanted = turns ? wanted : sum;
			CHECK(sum == wanted || pd_symbols_failed(symbols));
			failures += pd_symbols_failed(symbols);
		} else {
			CHECK(has_failed && status == PD_ERROR_MEMORY);
			failures++;
		}
		left = -1;
		pd_symbols_free(symbols);
		CHECK(live == before);
	}
	CHECK(wanted && failures > 20);
	make_free(&made);
}

int main(void)
{
	static const struct test_case cases[] = { TEST_CASE(test_places__say_so_when_memory_runs_out) };

	return run_places(cases, 1);
}
