/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a file whose context switches become intervals: none is negative, and those of a thread add up to its life. Then the
 * same as perf prints them.
 */
#include <perfdata/interval.h>
#include <perfdata/sched.h>

#include "mutate.h"
#include "walk.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

static enum pd_status look_at(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	uint64_t *count = self;

	(void)error;
	REQUIRE(interval->begin_ns <= interval->end_ns && interval->kind);
	REQUIRE((interval->kind->of == PD_INTERVAL_IDLE) <= (interval->tid == 0));
	++*count;
	return PD_OK;
}

static void look_at_threads(const struct pd_intervals *intervals, uint64_t told)
{
	const struct pd_interval_thread *thread;
	struct pd_interval_counts counts;
	uint64_t count = 0;

	for (size_t i = 0; (thread = pd_intervals_thread(intervals, i)) != NULL; i++) {
		uint64_t total_ns = 0;

		for (size_t kind = 0; kind < thread->sums.count; kind++) {
			total_ns += PD_ITEM(pd_interval_sum, thread->sums, kind)->total_ns;
			count += PD_ITEM(pd_interval_sum, thread->sums, kind)->count;
		}
		REQUIRE(thread->tid ? total_ns == thread->end_ns - thread->begin_ns :
				      total_ns <= thread->end_ns - thread->begin_ns);
		REQUIRE(thread->uncertain_ns <= total_ns);
	}
	pd_intervals_counts(intervals, &counts);
	REQUIRE(count == told && counts.intervals == told && counts.mismatched <= told);
}

static void print_timehist(struct pd_file *file)
{
	struct pd_timehist_options how = { .size = sizeof(how),
					   .summary = true,
					   .wakeups = true,
					   .next = true,
					   .migrations = true,
					   .cpu_visual = true,
					   .state = true };
	struct pd_text *text = pd_text_new();
	struct pd_error error;
	enum pd_status status;

	REQUIRE(text);
	status = pd_print_timehist(text, file, &how, &error);
	if (status < 0 && status != PD_ERROR_NO_SAMPLES)
		walk_require_error(status, &error);
	how.idle = true;
	pd_print_timehist(text, file, &how, &error);
	pd_text_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t told = 0;
	const struct pd_intervals_options how = { .size = sizeof(how), .interval = look_at, .self = &told };
	struct walk walk = { 0 };
	struct pd_open_options options = walk_options(&walk);
	struct pd_intervals *intervals;
	struct pd_file *file = NULL;
	struct pd_error error;
	enum pd_status status;

	if (pd_file_open_memory(data, size, &options, &file, &error) < 0)
		return 0;
	status = pd_intervals_read(file, &how, &intervals, &error);
	if (status >= 0) {
		look_at_threads(intervals, told);
		pd_intervals_free(intervals);
	} else if (status != PD_ERROR_NO_SAMPLES) {
		walk_require_error(status, &error);
	}
	if (pd_file_header(file)->mode != PD_MODE_PIPE)
		print_timehist(file);
	pd_file_close(file);
	return 0;
}
