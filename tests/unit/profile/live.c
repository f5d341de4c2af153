/* SPDX-License-Identifier: MIT */
/*
 * Live profiles of call chains in two parts: a sample waits for one more profile where the record with the rest has not come, then it
 * is shown as truncated. Whatever fails for want of memory, the rest is freed.
 */
#include "recording.h"

#define ROUND "FINISHED_ROUND\n"
#define SAMPLE(tid, time, cookie)                                                                                      \
	"SAMPLE misc: kernel, ip: 0xffffffff81000010, pid: 5, tid: " tid ", time_ns: " time ", period: 1, callchain: " \
	"[KERNEL 0xffffffff81000010 USER_DEFERRED " cookie "]\n"
#define REST(tid, time, cookie)                          \
	"CALLCHAIN_DEFERRED misc: user, cookie: " cookie \
	", callchain: [USER 0x1500 0x1510], sample_id: {pid: 5, tid: " tid ", time_ns: " time "}\n"

static const char head[] =
	"header form: pipe, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, size: 144, sample_period: 1, "
	"sample_type: IP|TID|TIME|CALLCHAIN|PERIOD, flags: sample_id_all|defer_callchain|defer_output}\n"
	"COMM pid: 5, tid: 5, comm: \"five\", sample_id: {pid: 5, tid: 5, time_ns: 1}\n";

struct live {
	struct pd_file *file;
	struct pd_live *live;
	struct pd_symbols *symbols;
};

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct live *live = self;
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };

	pd_symbols_free(live->symbols);
	live->symbols = NULL;
	pd_symbols_new(live->file, state, &options, &live->symbols, NULL);
	return live->symbols;
}

static bool begin(struct live *live, const char *rounds)
{
	const struct pd_live_options options = {
		.size = sizeof(options), .by = PD_BY_CHAIN, .symbols = open_symbols, .self = live
	};
	char text[8192];

	snprintf(text, sizeof(text), "%s%s", head, rounds);
	live->file = open_text(text);
	return live->file && pd_live_new(live->file, &options, &live->live, NULL) == PD_OK;
}

static void end(struct live *live)
{
	pd_symbols_free(live->symbols);
	pd_live_free(live->live);
	pd_file_close(live->file);
	*live = (struct live){ 0 };
}

struct counts {
	uint64_t samples, whole, truncated;
};

static void count(const struct pd_profile *profile, struct counts *counts)
{
	struct pd_profile_entry entry;

	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry.stack);

		counts->samples += entry.samples;
		counts->whole += stack->caller_count == 3 && !stack->unfinished ? entry.samples : 0;
		counts->truncated += stack->caller_count == 1 && stack->unfinished ? entry.samples : 0;
	}
}

// Reads rounds, then takes a profile.
static enum pd_status take(struct live *live, unsigned rounds, struct counts *counts)
{
	struct pd_profile *profile = NULL;
	enum pd_status status = PD_OK;

	*counts = (struct counts){ 0 };
	while (rounds-- && status == PD_OK)
		status = pd_live_read(live->live, NULL);
	if (status >= 0)
		status = pd_live_take(live->live, &profile, NULL);
	if (status < 0)
		return status;
	count(profile, counts);
	pd_profile_free(profile);
	return PD_OK;
}

TEST(test_live__rest_comes_later)
{
	struct live live = { 0 };
	struct counts counts;

	CHECK(begin(&live, SAMPLE("5", "10", "0x100000001") ROUND ROUND REST("5", "20", "0x100000001")
				   ROUND SAMPLE("5", "30", "0x100000002") REST("5", "31", "0x100000002") ROUND ROUND));
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 0);
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 1 && counts.whole == 1);
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 1 && counts.whole == 1);
	end(&live);
}

// Of other threads or numbers is not its own.
TEST(test_live__rest_never_comes)
{
	struct live live = { 0 };
	struct counts counts;

	CHECK(begin(&live, SAMPLE("5", "10", "0x100000001") ROUND ROUND REST("6", "20", "0x100000001")
				   REST("5", "21", "0x100000003") ROUND ROUND SAMPLE("5", "30", "0x100000004")
					   ROUND ROUND SAMPLE("5", "40", "0x100000005") ROUND));
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 0);
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 1 && counts.truncated == 1);
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 0);
	// nothing comes after the end
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 2 && counts.truncated == 2);
	end(&live);
}

// What was said of samples that are long gone is not kept, what came before its sample is.
TEST(test_live__parts_are_forgotten)
{
	struct live live = { 0 };
	struct counts counts;

	CHECK(begin(&live,
		    REST("5", "20", "0x100000001") REST("5", "21", "0x100000002") ROUND SAMPLE("5", "10", "0x100000002")
			    ROUND ROUND ROUND ROUND SAMPLE("5", "10", "0x100000001") ROUND ROUND));
	CHECK(take(&live, 3, &counts) == PD_OK && counts.samples == 1 && counts.whole == 1);
	CHECK(take(&live, 2, &counts) == PD_OK && counts.samples == 0);
	CHECK(take(&live, 9, &counts) == PD_OK && counts.samples == 1 && counts.truncated == 1);
	end(&live);
}

TEST(test_live__memory)
{
	struct live live = { 0 };
	struct counts counts;
	long n = 0;

	do {
		enum pd_status status = PD_OK;

		if (!begin(&live,
			   SAMPLE("5", "10", "0x100000001") ROUND ROUND REST("5", "20", "0x100000001") ROUND ROUND)) {
			CHECK(false);
			break;
		}
		has_failed = false;
		left = n++;
		for (int i = 0; i < 3 && status >= 0; i++)
			status = take(&live, 2, &counts);
		left = -1;
		CHECK(status == PD_OK || (has_failed && status == PD_ERROR_MEMORY) ||
		      (has_failed && status == PD_ERROR_LIMIT));
		end(&live);
	} while (has_failed && n < 5000);
	CHECK(n > 5 && n < 5000);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

RUN(TEST_CASE(start), TEST_CASE(test_live__rest_comes_later), TEST_CASE(test_live__rest_never_comes),
    TEST_CASE(test_live__parts_are_forgotten), TEST_CASE(test_live__memory), TEST_CASE(clean))
