/* SPDX-License-Identifier: MIT */
/* Shares of wall time: how many threads ran when, in reports, folded stacks and filters; and memory that fails. */
#include <perfdata/perfdata.h>

#include "unit/interval/story.h"

#define EVENT(flags)                                                                                               \
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 12, flags: comm|sample_id_all" flags \
	", sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER}\n"                                                      \
	"feature NRCPUS {available: 3, online: 3}\n"                                                               \
	"COMM pid: 1, tid: 1, comm: \"one\", sample_id: {pid: 1, tid: 1, time_ns: 1, identifier: 7}\n"
#define SAMPLE(time, thread)                                                                                   \
	"SAMPLE misc: user, ip: 0x1" #thread "00, pid: 1, tid: " #thread ", time_ns: " #time ", cpu: " #thread \
	", period: 12, identifier: 7\n"
#define SWITCH(kind, time, thread, place)                                            \
	"SWITCH" kind ", sample_id: {pid: 1, tid: " #thread ", time_ns: " #time ", " \
	"cpu: " #place ", identifier: 7}\n"
#define IN(time, thread) SWITCH(" misc: 0", time, thread, 0)
#define OUT(time, thread) SWITCH(" misc: SWITCH_OUT", time, thread, 0)
#define EXIT(time, thread)                                                                                       \
	"EXIT pid: 1, ppid: 1, tid: " #thread ", ptid: 1, time_ns: " #time ", sample_id: {pid: 1, tid: " #thread \
	", time_ns: " #time ", identifier: 7}\n"
#define CPU_IN(time, thread, cpu) SWITCH("_CPU_WIDE misc: 0", time, thread, cpu)
#define CPU_OUT(time, thread, cpu) SWITCH("_CPU_WIDE misc: SWITCH_OUT", time, thread, cpu)

// One thread, then two, three and more than there are CPUs, and two again, as one exits without being switched out.
static const char by_thread[] = EVENT("|context_switch") SAMPLE(10, 1) IN(20, 2) SAMPLE(20, 1) SAMPLE(21, 2) IN(30, 3)
	SAMPLE(31, 3) IN(40, 4) SAMPLE(41, 4) OUT(50, 4) EXIT(51, 3) SAMPLE(60, 2) OUT(70, 2) OUT(71, 1) SAMPLE(80, 1);

// What ran before the first switch of a CPU counts, idle CPUs do not.
static const char by_cpu[] = EVENT("|context_switch") SAMPLE(10, 1) CPU_OUT(20, 0, 1) CPU_IN(20, 5, 1) SAMPLE(21, 1)
	CPU_OUT(30, 6, 0) CPU_IN(30, 0, 0) SAMPLE(31, 1) EXIT(32, 5) SAMPLE(33, 1);

static const char without[] = EVENT("") SAMPLE(10, 1);

static struct pd_error error;

// The report of a file by its number of threads; NULL if there is none.
static struct pd_report *report_of(struct pd_file *file, const char *sort, unsigned threads)
{
	const struct pd_report_options options = {
		.size = sizeof(options), .sort = sort, .latency = true, .threads = threads
	};
	struct pd_report *report = NULL;

	return file && pd_report_read(file, &options, NULL, &report, &error) >= 0 ? report : NULL;
}

// The row with a cell: its period and latency.
static struct pd_report_amounts row_of(const struct pd_report *report, const char *value)
{
	const struct pd_report_amounts *amounts;

	for (size_t i = 0; report && (amounts = pd_report_row(report, 0, i)) != NULL; i++) {
		char cell[PD_REPORT_CELL_BYTES];

		if (!strcmp(pd_report_cell(report, 0, i, 0, cell), value))
			return *amounts;
	}
	return (struct pd_report_amounts){ 0 };
}

TEST(test_running__threads_are_counted_as_they_come_and_go)
{
	static const struct {
		const char *level;
		uint64_t period, latency;
	} wanted[] = { { "1", 24, 24000 }, { "2", 36, 18000 }, { "3", 24, 8000 }, { "4", 0, 0 } };

	for (unsigned threads = 1; threads <= 2; threads++) {
		struct pd_file *file = open_text(by_thread);
		struct pd_report *report = report_of(file, "parallelism", threads);

		CHECK(report);
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			CHECK_U64(row_of(report, wanted[i].level).period, wanted[i].period);
			CHECK_U64(row_of(report, wanted[i].level).latency, wanted[i].latency);
		}
		CHECK_U64(pd_report_table(report, 0)->latencies[0], 50000);
		// the largest share of wall time comes first
		CHECK_U64(pd_report_row(report, 0, 0)->latency, 24000);
		CHECK(!pd_report_row(report, 0, 3));
		pd_report_free(report);
		pd_file_close(file);
	}
}

TEST(test_running__cpus_that_are_not_idle_are_counted)
{
	struct pd_file *file = open_text(by_cpu);
	struct pd_report *report = report_of(file, "parallelism", 1);

	CHECK(report);
	CHECK_U64(row_of(report, "1").period, 36);
	CHECK_U64(row_of(report, "2").period, 12);
	CHECK_U64(row_of(report, "2").latency, 6000);
	pd_report_free(report);
	pd_file_close(file);
}

TEST(test_running__files_without_switches_say_so)
{
	struct pd_file *file = open_text(without);
	const struct pd_report_options options = { .size = sizeof(options), .sort = "comm", .latency = true };
	struct pd_report *report;

	CHECK(file);
	CHECK(pd_report_read(file, &options, NULL, &report, &error) == PD_ERROR_NO_MATCH);
	CHECK(strstr(error.message, "record --latency"));
	pd_file_close(file);
}

static enum pd_choice choose(const void *self, const struct pd_candidate *candidate)
{
	return pd_select_choose(self, candidate);
}

TEST(test_running__samples_are_selected_by_it)
{
	const struct pd_select_options wanted = { .size = sizeof(wanted), .parallelism = "2-3" };
	struct pd_select_options wrong = { .size = sizeof(wrong), .parallelism = "3-2" };
	struct pd_profile_options options = { .size = sizeof(options), .parallelism = true, .by = PD_BY_PARALLELISM };
	struct pd_file *file = open_text(by_thread);
	struct pd_profile *profile = NULL;
	struct pd_select *select = NULL;

	CHECK(file && pd_select_new(&wanted, &select, &error) == PD_OK);
	options.choose = choose;
	options.self = select;
	CHECK(pd_profile_read(file, &options, &profile, &error) == PD_OK);
	CHECK_U64(pd_profile_total(profile, 0)->samples, 5);
	CHECK_U64(pd_profile_total(profile, 0)->left_samples, 2);
	CHECK_U64(pd_profile_total(profile, 0)->latency, 26000);
	CHECK_U64(pd_profile_total(profile, 0)->left_latency, 24000);
	pd_profile_free(profile);
	pd_select_free(select);
	CHECK(pd_select_new(&wrong, &select, &error) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "--parallelism"));
	wrong.parallelism = "";
	CHECK(pd_select_new(&wrong, &select, &error) == PD_ERROR_ARGUMENT);
	pd_file_close(file);
}

// The period of all samples of a file, as its share of the wall time.
static uint64_t wall_time(const char *text)
{
	const struct pd_profile_options options = { .size = sizeof(options), .latency = true };
	struct pd_file *file = open_text(text);
	struct pd_profile *profile = NULL;
	uint64_t period = 0;

	if (file && pd_profile_read(file, &options, &profile, &error) == PD_OK) {
		period = pd_profile_total(profile, 0)->period;
		pd_profile_free(profile);
	}
	pd_file_close(file);
	return period;
}

TEST(test_running__periods_become_wall_time)
{
	CHECK_U64(wall_time(by_thread), 50);
	CHECK_U64(wall_time(by_cpu), 42);
}

// Periods whose thousandths pass 64 bits are divided.
TEST(test_running__large_periods_do_not_overflow)
{
	static char large[2 * sizeof(by_thread)];
	char *at;
	struct pd_report *report;
	struct pd_file *file;

	strcpy(large, by_thread);
	at = strstr(large, "period: 12, identifier");
	CHECK(at);
	snprintf(at, sizeof(large) - (size_t)(at - large), "period: 0x7fffffffffffffff, identifier: 7\n%s",
		 strstr(by_thread, "SWITCH"));
	file = open_text(large);
	report = report_of(file, "parallelism", 1);
	CHECK(report);
	CHECK(row_of(report, "1").period < UINT64_MAX / PD_LATENCY_UNIT);
	CHECK_U64(row_of(report, "1").latency / PD_LATENCY_UNIT, row_of(report, "1").period);
	pd_report_free(report);
	pd_file_close(file);
}

TEST(test_running__each_allocation_may_fail)
{
	struct pd_file *file = open_text(by_thread);
	bool done = false;

	CHECK(file);
	for (long i = 0; !done && i < 5000; i++) {
		struct pd_report *report;

		has_failed = false;
		left = i;
		report = report_of(file, "latency,parallelism", 1);
		left = -1;
		done = !has_failed;
		CHECK(report || error.status == PD_ERROR_MEMORY);
		CHECK(!done || report);
		pd_report_free(report);
	}
	CHECK(done);
	pd_file_close(file);
}

// Switches by tracepoint: of all CPUs, and of one thread, which do not fit together.
static struct pd_report *report_of_tracepoints(const struct happened *events, size_t count, struct pd_file **file_out)
{
	put_head(&now);
	for (size_t i = 0; i < count; i++)
		put_tracepoint(&now, &events[i]);
	*file_out = open_text(text);
	return report_of(*file_out, "parallelism", 1);
}

TEST(test_running__tracepoints_of_all_cpus_count)
{
	static const struct happened events[] = { { 10, 0, SWITCHES, 5, 'S', 6 },
						  { 20, 1, SWITCHES, 0, 0, 7 },
						  { 30, 0, SWITCHES, 6, 'S', 0 },
						  { 40, 1, SWITCHES, 7, 'S', 0 } };
	struct pd_file *file;
	struct pd_report *report = report_of_tracepoints(events, 4, &file);

	CHECK(report);
	CHECK_U64(row_of(report, "1").samples, 3);
	CHECK_U64(row_of(report, "2").samples, 1);
	pd_report_free(report);
	pd_file_close(file);
}

TEST(test_running__tracepoints_of_one_thread_do_not)
{
	static const struct happened events[] = { { 10, 0, SWITCHES, 5, 'S', 6 },
						  { 20, 0, SWITCHES, 5, 'S', 7 },
						  { 30, 0, SWITCHES, 5, 'S', 8 } };
	struct pd_file *file;

	CHECK(!report_of_tracepoints(events, 3, &file));
	CHECK(error.status == PD_ERROR_NO_MATCH && strstr(error.message, "record -a"));
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

RUN(TEST_CASE(start), TEST_CASE(test_running__threads_are_counted_as_they_come_and_go),
    TEST_CASE(test_running__cpus_that_are_not_idle_are_counted), TEST_CASE(test_running__files_without_switches_say_so),
    TEST_CASE(test_running__samples_are_selected_by_it), TEST_CASE(test_running__periods_become_wall_time),
    TEST_CASE(test_running__large_periods_do_not_overflow), TEST_CASE(test_running__tracepoints_of_all_cpus_count),
    TEST_CASE(test_running__tracepoints_of_one_thread_do_not), TEST_CASE(test_running__each_allocation_may_fail),
    TEST_CASE(clean))
