/* SPDX-License-Identifier: MIT */
/*
 * Callers without a name that are too rare to be shown are one frame while samples are read. A report must print the same as if
 * each had its own: whatever was met first, however many threads, and if what is frequent was not foreseen.
 */
#include "recording.h"

enum {
	SAMPLES = 7000,       // more addresses than have frames of their own
	MANY_SAMPLES = 50000, // some are looked at before all others are
	REPEATED = 3000,      // distinct stacks, where they come again
	FIRST = 5000,         // so many addresses have frames of their own at most
	AGAIN = 70000         // samples of a few stacks: more than a collector counts before it adds them up
};

static struct pd_error error;

static const char head[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|PERIOD|IDENTIFIER|CALLCHAIN, flags: sample_id_all}\n"
	"COMM pid: 5, tid: 5, comm: \"one\", sample_id: {pid: 5, tid: 5, time_ns: 1, identifier: 7}\n"
	"MMAP pid: 5, tid: 5, addr: 0x10000, len: 0x100000, pgoff: 0x0, filename: \"/no/program\", "
	"sample_id: {pid: 5, tid: 5, time_ns: 2, identifier: 7}\n";

// An address that seldom comes again, where nothing is mapped.
static uint64_t garbage(unsigned sample, unsigned depth)
{
	uint64_t hash = (sample * UINT64_C(8) + depth + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return 0x100000000 + (hash >> 30);
}

static void add_sample_of(struct pd_text *text, unsigned i, unsigned period, const char *chain)
{
	pd_text_printf(text,
		       "SAMPLE misc: user, identifier: 7, ip: 0x%x, pid: 5, tid: 5, time_ns: %u, period: %u, "
		       "callchain: [USER 0x%x %s]\n",
		       0x10100 + i % 3 * 16, 100 + i, period, 0x10100 + i % 3 * 16, chain);
}

static void add_sample(struct pd_text *text, unsigned i, const char *chain)
{
	add_sample_of(text, i, 10 + i % 5, chain);
}

static struct pd_file *end_text(struct pd_text *text)
{
	struct pd_file *file = pd_text_failed(text) ? NULL : open_text((const char *)pd_text_bytes(text).data);

	pd_text_free(text);
	return file;
}

// Chains that end in garbage, often with the same address twice; from a sample on, a tenth of them in one address that did not come
// before, and some of them have taken samples there.
static struct pd_file *make(unsigned samples, unsigned late, unsigned distinct)
{
	struct pd_text *text = pd_text_new();
	char chain[256];

	if (!text)
		return NULL;
	pd_text_add(text, head);
	for (unsigned i = 0; i < samples; i++) {
		unsigned long long first = garbage(i % distinct, 0);
		unsigned long long second = i % 4 ? garbage(i % distinct, 1) : first;

		if (i > late && i % 10 == 1)
			snprintf(chain, sizeof(chain), "0x%x 0x7777000 0x%llx", 0x20000 + i % 2, second);
		else if (i > late && i % 10 == 2)
			snprintf(chain, sizeof(chain), "0x%x 0x%llx 0x7777000", 0x20000 + i % 2, first);
		else if (i % 50 == 3)
			snprintf(chain, sizeof(chain), "0x6");
		else
			snprintf(chain, sizeof(chain), "0x%x 0x%llx 0x%llx", 0x20000 + i % 2, first, second);
		add_sample(text, i, chain);
	}
	pd_text_printf(text,
		       "SAMPLE misc: user, identifier: 7, ip: 0x7777000, pid: 5, tid: 5, time_ns: %u, "
		       "period: 300, callchain: [USER 0x7777000 0x6]\n",
		       101 + samples);
	return end_text(text);
}

// As many chains with different garbage as may have frames of their own.
static struct pd_text *begin_text(void)
{
	struct pd_text *text = pd_text_new();
	char chain[64];

	if (!text)
		return NULL;
	pd_text_add(text, head);
	for (unsigned i = 0; i < FIRST; i++) {
		snprintf(chain, sizeof(chain), "0x%x 0x%llx", 0x20000 + i % 2, (unsigned long long)garbage(i, 0));
		add_sample(text, i, chain);
	}
	return text;
}

// A stack with garbage that is too rare to be foreseen, and has most of the period once its raw key is known.
static struct pd_file *make_heavy(void)
{
	struct pd_text *text = begin_text();
	char chain[64];

	for (unsigned i = FIRST; text && i < MANY_SAMPLES; i++) {
		snprintf(chain, sizeof(chain), "0x%x 0x%llx", 0x20000 + i % 2,
			 (unsigned long long)garbage(i % REPEATED, 0));
		if (i % 500 == 0)
			add_sample_of(text, i, i == FIRST ? 10 : 50000, "0x20000 0x7777000");
		else
			add_sample(text, i, chain);
	}
	return text ? end_text(text) : NULL;
}

// A few stacks with garbage that come again, of two callers, and enough others for the table of raw keys to grow meanwhile.
static struct pd_file *make_few_stacks(void)
{
	struct pd_text *text = begin_text();
	char chain[64];

	for (unsigned i = FIRST; text && i < FIRST + AGAIN; i++) {
		snprintf(chain, sizeof(chain), "0x%x 0x%llx", 0x20000 + (i % 20 == 0),
			 (unsigned long long)garbage(i % 10 == 5 ? i : FIRST + i % 20, 0));
		// all were taken at one place
		add_sample(text, i * 3, chain);
	}
	return text ? end_text(text) : NULL;
}

struct wanted {
	bool caller, children;
	bool rows; // for each caller
	size_t max_stack;
	double least;
	unsigned threads;
	bool each;     // address is a frame
	bool is_shown; // what is frequent
};

// What a report prints, and how many frames there were.
static bool print(struct pd_file *file, const struct wanted *wanted, struct pd_text *text, size_t *frames_out)
{
	const struct pd_report_options options = {
		.size = sizeof(options),
		.sort = wanted->rows ? "comm,dso,sym" : "comm",
		.max_stack = wanted->max_stack,
		.no_children = !wanted->children,
		.graph = { .kind = PD_REPORT_GRAPH_TREE,
			   .least_percent = wanted->least,
			   .caller = wanted->caller,
			   .order_given = true },
		.threads = wanted->threads,
	};
	struct pd_profile_options how = { .size = sizeof(how), .threads = wanted->threads };
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	struct pd_report *report = NULL;
	bool done = pd_report_new(file, &options, &report, &error) == PD_OK;

	if (done) {
		pd_report_ask(report, &how);
		how.merge_below = wanted->each ? 0 : how.merge_below;
	}
	done = done && pd_profile_read(file, &how, &profile, &error) == PD_OK &&
	       pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error) == PD_OK &&
	       pd_profile_name(profile, symbols, &error) == PD_OK &&
	       pd_report_build(report, file, profile, symbols, &error) == PD_OK &&
	       pd_report_text(report, NULL, text, &error) == PD_OK;
	*frames_out = done ? pd_profile_frame_count(profile) : 0;
	pd_report_free(report);
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	return done;
}

// The same text, out of far fewer frames.
static void compare(struct pd_file *file, struct wanted wanted)
{
	struct pd_text *merged = pd_text_new(), *each = pd_text_new();
	size_t merged_frames, each_frames;

	CHECK(print(file, &wanted, merged, &merged_frames));
	wanted.each = true;
	CHECK(print(file, &wanted, each, &each_frames));
	CHECK(merged_frames * (wanted.max_stack ? 1 : 2) < each_frames);
	CHECK((wanted.least > 1 && !wanted.is_shown) || wanted.rows ||
	      text_has(each, wanted.caller ? "0x7777000" : "0x6"));
	CHECK(pd_text_bytes(each).size == pd_text_bytes(merged).size);
	CHECK(memcmp(pd_text_bytes(each).data, pd_text_bytes(merged).data, pd_text_bytes(each).size) == 0);
	pd_text_free(merged);
	pd_text_free(each);
}

static void compare_all(unsigned samples, unsigned late, unsigned distinct)
{
	struct pd_file *file = make(samples, late, distinct);

	CHECK(file);
	for (unsigned threads = 1; file && threads <= 4; threads *= 2)
		for (int caller = 0; caller <= 1; caller++) {
			compare(file, (struct wanted){ .caller = caller, .least = 0.5, .threads = threads });
			compare(file, (struct wanted){ .caller = caller, .least = 3, .threads = threads });
		}
	pd_file_close(file);
}

TEST(what_is_frequent_is_among_the_first)
{
	compare_all(SAMPLES, 0, SAMPLES);
}

TEST(what_is_frequent_comes_late)
{
	// what is frequent has to be found out by reading twice
	compare_all(SAMPLES, SAMPLES * 9 / 10, SAMPLES);
}

TEST(what_is_frequent_is_foreseen)
{
	compare_all(MANY_SAMPLES, MANY_SAMPLES / 2, MANY_SAMPLES);
}

TEST(stacks_come_again)
{
	// they are looked up by their raw keys then, with what was merged
	compare_all(MANY_SAMPLES, MANY_SAMPLES / 2, REPEATED);
}

TEST(what_is_heavy_was_merged_in_stacks_that_come_again)
{
	struct pd_file *file = make_heavy();

	CHECK(file);
	for (unsigned threads = 1; file && threads <= 4; threads *= 2) {
		compare(file, (struct wanted){ .caller = true, .least = 0.5, .threads = threads });
		compare(file, (struct wanted){ .caller = true, .least = 5, .threads = threads, .is_shown = true });
	}
	pd_file_close(file);
}

// How many samples the entry of one caller has of what comes again, from a time up to another.
static uint64_t count_again(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t count = 0;

	for (uint64_t i = FIRST; i < FIRST + AGAIN; i++)
		count += 100 + 3 * i >= from_ns && 100 + 3 * i < to_ns && i % 20;
	return count;
}

// Those of an entry have all of it, and each has what was of its time.
static void check_slices(const struct pd_profile *profile, size_t at)
{
	struct pd_profile_entry entry = { 0 };
	uint64_t first_ns, slice_ns = pd_profile_slicing(profile, &first_ns), samples = 0, period = 0;
	size_t count;
	const struct pd_slice *items = pd_profile_slices(profile, at, &count);

	CHECK(pd_profile_entry(profile, at, &entry) && count > 10);
	for (size_t i = 0; i < count; i++) {
		uint64_t from_ns = first_ns + items[i].index * slice_ns;

		samples += items[i].samples;
		period += items[i].period;
		// the others are of what came first
		if (from_ns > 100 + FIRST)
			CHECK(items[i].samples == count_again(from_ns, from_ns + slice_ns));
	}
	CHECK(samples == entry.samples && period == entry.period);
}

// The largest entry.
static void check_largest(struct pd_file *file, unsigned threads, bool slices)
{
	const struct pd_profile_options options = {
		.size = sizeof(options),
		.by = PD_BY_CHAIN,
		.merge_below = 60, // so that none of the stacks is foreseen
		.threads = threads,
		.slices = slices,
	};
	struct pd_profile *profile = NULL;
	struct pd_profile_entry entry, largest = { 0 };
	size_t at = 0;

	CHECK(pd_profile_read(file, &options, &profile, &error) == PD_OK);
	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++) {
		if (entry.samples > largest.samples) {
			largest = entry;
			at = i;
		}
	}
	// one in six of the first has the same place and caller
	CHECK(largest.samples == AGAIN - AGAIN / 20 + (FIRST + 5) / 6);
	if (slices)
		check_slices(profile, at);
	pd_profile_free(profile);
}

TEST(what_is_counted_of_stacks_with_something_merged_is_added_up)
{
	struct pd_file *file = make_few_stacks();

	CHECK(file);
	for (unsigned threads = 1; file && threads <= 2; threads++)
		for (int slices = 0; slices <= 1; slices++)
			check_largest(file, threads, slices);
	pd_file_close(file);
}

TEST(rows_without_places_have_no_rows_of_callers)
{
	struct pd_file *file = make(SAMPLES, 0, SAMPLES);

	CHECK(file);
	compare(file, (struct wanted){ .children = true, .least = 0.5, .threads = 1 });
	compare(file, (struct wanted){ .children = true, .caller = true, .least = 3, .threads = 2 });
	pd_file_close(file);
}

// Rows of callers are the same, in the same order, though their stacks are not told apart.
static void compare_rows(unsigned samples, unsigned late, unsigned distinct)
{
	struct pd_file *file = make(samples, late, distinct);

	CHECK(file);
	for (int kind = 0; file && kind < 8; kind++)
		compare(file, (struct wanted){ .children = true,
					       .rows = true,
					       .caller = kind & 1,
					       .threads = kind & 2 ? 1 : 3,
					       .max_stack = kind & 4 ? 3 : 0,
					       .least = kind & 4 ? 3 : 0.5 });
	pd_file_close(file);
}

TEST(callers_that_are_merged_have_rows)
{
	compare_rows(SAMPLES, 0, SAMPLES);
	compare_rows(SAMPLES, SAMPLES * 9 / 10, SAMPLES);
	compare_rows(MANY_SAMPLES, MANY_SAMPLES / 2, MANY_SAMPLES);
	compare_rows(MANY_SAMPLES, MANY_SAMPLES / 2, REPEATED);
}

TEST(small_shares_are_not_proved)
{
	struct pd_file *file = make(SAMPLES, 0, SAMPLES);
	struct pd_text *merged = pd_text_new(), *each = pd_text_new();
	size_t frames;

	// all sums are too large, so each address has a frame in the end
	CHECK(file && print(file, &(struct wanted){ .least = 0.0001, .threads = 1 }, merged, &frames));
	CHECK(frames > SAMPLES);
	CHECK(print(file, &(struct wanted){ .least = 0.0001, .threads = 1, .each = true }, each, &frames));
	CHECK(pd_text_bytes(each).size == pd_text_bytes(merged).size);
	CHECK(memcmp(pd_text_bytes(each).data, pd_text_bytes(merged).data, pd_text_bytes(each).size) == 0);
	pd_text_free(merged);
	pd_text_free(each);
	pd_file_close(file);
}

static void run_out_of_memory(struct wanted wanted)
{
	struct pd_file *file = make(SAMPLES, SAMPLES * 9 / 10, SAMPLES);
	bool done = false;
	long failures = 0;

	// the later ones of a run that takes some hundred
	for (long turn = 0; file && !done; turn += 1 + turn / 40) {
		struct pd_text *text = pd_text_new();
		size_t frames;

		has_failed = false;
		left = turn;
		done = print(file, &wanted, text, &frames);
		left = -1;
		CHECK(done || error.status == PD_ERROR_MEMORY);
		failures += !done;
		done = done && !has_failed;
		pd_text_free(text);
	}
	CHECK(failures > 20);
	pd_file_close(file);
}

TEST(memory_that_runs_out)
{
	run_out_of_memory((struct wanted){ .least = 0.5, .threads = 1 });
	run_out_of_memory((struct wanted){ .least = 0.5, .threads = 1, .children = true, .rows = true });
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

TEST(end)
{
	CHECK(rmdir(folder) == 0);
}

RUN(TEST_CASE(start), TEST_CASE(what_is_frequent_is_among_the_first), TEST_CASE(what_is_frequent_comes_late),
    TEST_CASE(what_is_frequent_is_foreseen), TEST_CASE(stacks_come_again),
    TEST_CASE(what_is_heavy_was_merged_in_stacks_that_come_again),
    TEST_CASE(what_is_counted_of_stacks_with_something_merged_is_added_up),
    TEST_CASE(rows_without_places_have_no_rows_of_callers), TEST_CASE(callers_that_are_merged_have_rows),
    TEST_CASE(small_shares_are_not_proved), TEST_CASE(memory_that_runs_out), TEST_CASE(end))
