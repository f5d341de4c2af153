/* SPDX-License-Identifier: MIT */
/*
 * Intervals of recordings from text: what threads did is written down once, as a list of switches and wakeups, and made into
 * tracepoints of an old or a new kernel, or into SWITCH records. Then parts of it are taken out; and memory fails.
 */
#include <perfdata/interval.h>

#include "unit/interval/story.h"

static struct pd_error error;

// ---- what is made of it ----

static const struct pd_interval_thread *find(const struct pd_intervals *intervals, uint32_t tid, unsigned life)
{
	const struct pd_interval_thread *thread;

	for (size_t i = 0; (thread = pd_intervals_thread(intervals, i)) != NULL; i++)
		if (thread->tid == tid && !life--)
			return thread;
	return NULL;
}

static struct pd_interval_sum sum_of(const struct pd_interval_thread *thread, const char *name)
{
	for (size_t i = 0; thread && pd_interval_kind(i); i++)
		if (!strcmp(pd_interval_kind(i)->name, name))
			return *PD_ITEM(pd_interval_sum, thread->sums, i);
	return (struct pd_interval_sum){ 999, 999, 999 };
}

// Whether the sums of each thread are its life, and no interval is longer than that.
static bool adds_up(const struct pd_intervals *intervals)
{
	const struct pd_interval_thread *thread;
	bool right = true;

	for (size_t i = 0; (thread = pd_intervals_thread(intervals, i)) != NULL; i++) {
		uint64_t total_ns = 0, life_ns = thread->end_ns - thread->begin_ns;

		right &= thread->end_ns >= thread->begin_ns;
		for (size_t k = 0; pd_interval_kind(k); k++) {
			const struct pd_interval_sum *sum = PD_ITEM(pd_interval_sum, thread->sums, k);

			total_ns += sum->total_ns;
			right &= sum->max_ns <= sum->total_ns && sum->max_ns <= life_ns;
		}
		right &= thread->tid ? total_ns == life_ns : total_ns <= life_ns;
		right &= thread->uncertain_ns <= total_ns;
	}
	return right;
}

static void check_story(const struct kernel *kernel)
{
	struct pd_file *file = make(kernel, STORY);
	struct pd_intervals *intervals = NULL;
	const struct pd_interval_thread *thread, *other;
	struct pd_interval_counts counts;

	CHECK(file && pd_intervals_read(file, NULL, &intervals, &error) == PD_OK);
	CHECK(adds_up(intervals));
	thread = find(intervals, THREAD, 0);
	CHECK(thread && thread->begin_ns == 1000 && thread->end_ns == 4000 && !thread->exited && !thread->uncertain_ns);
	CHECK_U64(sum_of(thread, "on-cpu").total_ns, 200 + 150 + 200 + 300);
	CHECK_U64(sum_of(thread, "on-cpu").count, 4);
	CHECK_U64(sum_of(thread, "on-cpu").max_ns, 300);
	CHECK_U64(sum_of(thread, "preempted").total_ns, 100);
	CHECK_U64(sum_of(thread, "runnable").total_ns, kernel ? 50 + 100 : 0);
	CHECK_U64(sum_of(thread, "sleeping").total_ns, kernel ? 300 + 1000 : 0);
	CHECK_U64(sum_of(thread, "uninterruptible").total_ns, kernel ? 600 : 0);
	CHECK_U64(sum_of(thread, "off-cpu").total_ns, kernel ? 0 : 300 + 50 + 600 + 100 + 1000);
	other = find(intervals, OTHER, 0);
	CHECK(other && other->exited && other->begin_ns == 1100 && other->end_ns == 2700);
	CHECK_U64(sum_of(other, "runnable").total_ns, 50);
	CHECK_U64(sum_of(other, "on-cpu").total_ns, 1550);
	other = find(intervals, OTHER, 1);
	CHECK(other && !other->exited && other->begin_ns == 3500);
	CHECK_U64(sum_of(other, "runnable").total_ns, 500);
	pd_intervals_counts(intervals, &counts);
	CHECK_U64(counts.mismatched + counts.lost + counts.out_of_order + counts.unreadable, 0);
	CHECK_U64(counts.unwoken, kernel ? 0 : 2);
	CHECK_U64(counts.began_before, 4); // two threads and two CPUs
	CHECK_U64(counts.not_ended, 4);
	pd_intervals_free(intervals);
	pd_file_close(file);
}

TEST(story_of_current_kernels)
{
	check_story(&now);
}

TEST(story_of_old_kernels)
{
	check_story(&old);
}

TEST(story_without_codes)
{
	check_story(&silent);
}

TEST(story_of_switch_records)
{
	check_story(NULL);
}

// ---- what is missing ----

static uint64_t seed = 1;

static unsigned chance(unsigned below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % below;
}

// Threads 1 to 12 on two CPUs, as a scheduler would have them.
static size_t make_up(struct happened *events, size_t most)
{
	unsigned running[2] = { 0, 0 }, time_ns = 1000;
	char state[13];
	size_t count = 0;

	memset(state, 'S', sizeof(state));
	while (count < most) {
		unsigned cpu = chance(2), tid = 1 + chance(12), was = running[cpu];

		time_ns += chance(50);
		if (state[tid] != 'R' && state[tid] != 'c' && chance(2)) {
			state[tid] = 'R';
			events[count++] = (struct happened){ time_ns, cpu, WAKES, was, 0, tid };
		} else if (state[tid] == 'R') {
			char code = was ? "SDR"[chance(3)] : 'R';

			state[was] = code;
			state[tid] = 'c';
			running[cpu] = tid;
			events[count++] = (struct happened){ time_ns, cpu, SWITCHES, was, code, tid };
		} else if (state[tid] == 'c' && running[cpu] == tid) {
			state[tid] = "SD"[chance(2)];
			running[cpu] = 0;
			events[count++] = (struct happened){ time_ns, cpu, SWITCHES, tid, state[tid], 0 };
		}
	}
	return count;
}

// Whether what can be read of it adds up.
static bool read_counts(const struct kernel *kernel, const struct happened *events, size_t count,
			struct pd_interval_counts *counts_out)
{
	struct pd_file *file = make(kernel, events, count);
	struct pd_intervals *intervals = NULL;
	bool right = file && pd_intervals_read(file, NULL, &intervals, &error) == PD_OK && adds_up(intervals);

	if (intervals)
		pd_intervals_counts(intervals, counts_out);
	pd_intervals_free(intervals);
	pd_file_close(file);
	return right;
}

// Both are recorded, but some kernels record nothing in the context of some threads: here of the idle ones and of 300.
static struct pd_file *make_both(bool hides)
{
	put_head(&now);
	for (size_t i = 0; i < sizeof(story) / sizeof(story[0]); i++) {
		const struct happened *e = &story[i];
		bool hidden = hides && (!e->a || e->a == 300);
		struct happened later = *e;

		if (!hidden)
			put_event(&now, e);
		later.time_ns += hidden ? 0 : 2;
		if (e->what == SWITCHES && !hidden)
			put_switch_out(&later);
		if (e->what == SWITCHES && !(hides && (!e->b || e->b == 300)))
			put_switch_in(&later);
	}
	return open_text(text);
}

TEST(switch_records_beside_tracepoints)
{
	for (unsigned hides = 0; hides < 2; hides++) {
		struct pd_file *file = make_both(hides);
		struct pd_intervals *intervals = NULL;
		const struct pd_interval_thread *thread;

		CHECK(file && pd_intervals_read(file, NULL, &intervals, &error) == PD_OK);
		CHECK(adds_up(intervals));
		thread = find(intervals, THREAD, 0);
		CHECK(thread && thread->begin_ns == 1000 && !thread->uncertain_ns);
		CHECK_U64(sum_of(thread, "on-cpu").total_ns, 200 + 150 + 200 + 300);
		CHECK_U64(sum_of(thread, "preempted").total_ns, 100);
		CHECK_U64(sum_of(thread, "runnable").total_ns, 50 + 100);
		CHECK_U64(sum_of(thread, "uninterruptible").total_ns, 600);
		pd_intervals_free(intervals);
		pd_file_close(file);
	}
}

TEST(removed)
{
	static struct happened events[EVENTS_MOST];
	static const unsigned one_of[] = { 100, 10, 2 };
	struct pd_interval_counts counts;
	size_t count = make_up(events, 1500);

	CHECK(read_counts(&now, events, count, &counts));
	CHECK_U64(counts.mismatched, 0);
	CHECK(read_counts(NULL, events, count, &counts));
	CHECK_U64(counts.mismatched, 0);
	for (size_t i = 0; i < 3; i++) {
		static struct happened kept[EVENTS_MOST];
		size_t left_over = 0;

		for (size_t e = 0; e < count; e++)
			if (chance(one_of[i]))
				kept[left_over++] = events[e];
		CHECK(left_over < count);
		CHECK(read_counts(&now, kept, left_over, &counts) && (counts.mismatched || counts.unwoken));
		CHECK(read_counts(NULL, kept, left_over, &counts) && counts.mismatched);
	}
}

// A thread whose first event is that it is switched out ran from the beginning only if nothing was on its CPU before.
TEST(first_is_out)
{
	static const struct happened events[] = {
		{ 1000, 0, SWITCHES, 101, 'S', 102 },
		{ 2000, 0, SWITCHES, 103, 'S', 0 },
		{ 2500, 1, SWITCHES, 105, 'S', 0 },
		{ 3000, 0, SWITCHES, 0, 'R', 101 },
	};
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_intervals *intervals = NULL;

	CHECK(file && pd_intervals_read(file, NULL, &intervals, &error) == PD_OK && adds_up(intervals));
	CHECK_U64(sum_of(find(intervals, 103, 0), "on-cpu").total_ns, 0);
	CHECK_U64(sum_of(find(intervals, 103, 0), "unknown").total_ns, 1000);
	CHECK_U64(sum_of(find(intervals, 102, 0), "unknown").total_ns, 2000);
	CHECK_U64(sum_of(find(intervals, 105, 0), "on-cpu").total_ns, 1500);
	CHECK_U64(sum_of(find(intervals, 0, 0), "idle").total_ns, 1000);
	pd_intervals_free(intervals);
	pd_file_close(file);
}

TEST(lost)
{
	static const struct happened events[] = {
		{ 1000, 0, SWITCHES, THREAD, 'S', 0 }, { 1100, 0, LOSES, 5, 0, 0 },
		{ 1200, 0, SWITCHES, 0, 'R', THREAD }, { 1300, 0, SWITCHES, THREAD, 'S', 0 },
		{ 1400, 1, SWITCHES, THREAD, 'S', 0 },
	};
	struct pd_file *file = make(&now, events, 5);
	struct pd_intervals *intervals = NULL;
	struct pd_interval_counts counts;

	CHECK(file && pd_intervals_read(file, NULL, &intervals, &error) == PD_OK && adds_up(intervals));
	pd_intervals_counts(intervals, &counts);
	CHECK_U64(counts.lost_records, 5);
	CHECK_U64(counts.lost, 2); // the thread's sleep, and the idle time until it ran
	CHECK_U64(counts.mismatched, 1);
	CHECK_U64(find(intervals, THREAD, 0)->uncertain_ns, 300);
	pd_intervals_free(intervals);
	pd_file_close(file);
}

// ---- what is wrong ----

static enum pd_status read_status(struct pd_file *file)
{
	struct pd_intervals *intervals = NULL;
	enum pd_status status = file ? pd_intervals_read(file, NULL, &intervals, &error) : PD_ERROR_ARGUMENT;

	pd_intervals_free(intervals);
	pd_file_close(file);
	return status;
}

TEST(formats)
{
	static const struct kernel odd = { "SD", 8, 3, "prev_pid", true }, huge = { "SD", 8, 1000, "prev_pid", true };
	static const struct kernel unnamed = { "SD", 8, 4, "prev_tid", true };

	CHECK(read_status(make(&odd, STORY)) == PD_ERROR_FORMAT);
	CHECK(strstr(error.message, "sched:sched_switch: the field prev_pid has 3 bytes"));
	put_head(&huge);
	put_event(&now, &story[0]);
	CHECK(read_status(open_text(text)) == PD_ERROR_FORMAT);
	CHECK(read_status(make(&unnamed, STORY)) == PD_ERROR_FORMAT);
	CHECK(strstr(error.message, "has no field prev_pid"));
	put_head(&now);
	put("SAMPLE event: 0, identifier: 1, pid: 5, tid: 5, time_ns: 900, cpu: 0, raw: x\"0700\"\n");
	CHECK(read_status(open_text(text)) == PD_ERROR_NO_SAMPLES);
}

TEST(limits)
{
	struct pd_intervals_options options = { .size = sizeof(options), .thread_limit = 2 };
	struct pd_file *file = make(&now, STORY);
	struct pd_intervals *intervals = NULL;

	CHECK(file && pd_intervals_read(file, &options, &intervals, &error) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(pd_intervals_new(file, &options, &intervals, &error) == PD_ERROR_ARGUMENT);
	CHECK(!pd_interval_kind(1000));
	pd_intervals_free(NULL);
	pd_file_close(file);
}

// Each allocation fails in turn: an error, or the same numbers.
TEST(memory)
{
	struct pd_interval_counts right, counts;
	struct pd_file *file;
	long at = 0;

	CHECK(read_counts(&now, STORY, &right));
	file = make(&now, STORY);
	CHECK(file);
	for (bool more = true; more; at++) {
		struct pd_intervals *intervals = NULL;
		enum pd_status status;

		has_failed = false;
		left = at;
		status = pd_intervals_read(file, NULL, &intervals, &error);
		more = has_failed;
		left = -1;
		if (status >= 0) {
			pd_intervals_counts(intervals, &counts);
			CHECK(adds_up(intervals) && !memcmp(&right, &counts, sizeof(right)));
		}
		CHECK(status == PD_ERROR_MEMORY || status == PD_OK || status == PD_ERROR_FORMAT);
		pd_intervals_free(intervals);
	}
	CHECK(at > 5);
	pd_file_close(file);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(story_of_current_kernels), TEST_CASE(story_of_old_kernels),
    TEST_CASE(story_without_codes), TEST_CASE(story_of_switch_records), TEST_CASE(switch_records_beside_tracepoints),
    TEST_CASE(removed), TEST_CASE(first_is_out), TEST_CASE(lost), TEST_CASE(formats), TEST_CASE(limits),
    TEST_CASE(memory), TEST_CASE(clean))
