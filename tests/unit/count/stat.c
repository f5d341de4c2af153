/* SPDX-License-Identifier: MIT */
/* Counts out of a file through the public header: text, CSV, JSON, metrics, what is refused; and lack of memory. */
#include "../edit/recording.h"

#define EVENT(name, id, config)                                                                                  \
	"event {name: \"" name "\", ids: [" id "], type: hardware, size: 128, config: " config ", sample_type: " \
	"IDENTIFIER, read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING}\n"
#define COUNT(id, cpu, value) \
	"STAT id: " id ", cpu: " cpu ", thread: 0, value: " value ", time_enabled_ns: 200, time_running_ns: 200\n"

static const char counts[] = "header form: file, byte_order: little\n" EVENT("cycles", "1", "0x0")
	EVENT("instructions", "2",
	      "0x1") "STAT_CONFIG entries: [{tag: aggr_mode, value: 1}]\n"
		     "THREAD_MAP entries: [{pid: 4455, comm: \"\"}]\n"
		     "CPU_MAP cpus: {kind: cpus, cpus: [0, 1]}\n" COUNT("1", "0", "1000") COUNT("1", "1", "3000")
			     COUNT("2", "0", "1500")
				     COUNT("2", "1", "4500") "STAT_ROUND type: final, time_ns: 0.001000000\n";
static const char no_counts[] = "header form: file, byte_order: little\n" EVENT("cycles", "1", "0x0");

static struct pd_error error;

static bool has(const struct pd_text *text, const char *what)
{
	struct pd_bytes bytes = pd_text_bytes(text);

	return bytes.size && memmem(bytes.data, bytes.size, what, strlen(what));
}

static enum pd_status report(const char *recording, const struct pd_stat_options *options, struct pd_text *text)
{
	struct pd_file *file = open_text(recording);
	enum pd_status status = file ? pd_stat_report(file, options, text, &error) : PD_ERROR_ARGUMENT;

	pd_file_close(file);
	return status;
}

TEST(text)
{
	const struct pd_stat_options options = { .size = sizeof(options), .big_numbers = true };
	struct pd_text *text = pd_text_new();

	CHECK(text && report(counts, &options, text) == PD_OK);
	CHECK(has(text, "4000      cycles") && has(text, "6000      instructions"));
	CHECK(has(text, "1.50  insn per cycle") && has(text, "0.001000000 seconds time elapsed"));
	pd_text_free(text);
}

TEST(csv_by_cpu)
{
	const struct pd_stat_options options = {
		.size = sizeof(options), .by = PD_STAT_BY_CPU, .by_given = true, .separator = ","
	};
	struct pd_text *text = pd_text_new();

	CHECK(text && report(counts, &options, text) == PD_OK);
	CHECK(has(text, "CPU1,3000,,cycles") && has(text, "CPU0,1500,,instructions"));
	pd_text_free(text);
}

TEST(json_and_metrics)
{
	const struct pd_stat_options json = { .size = sizeof(json), .json = true };
	const struct pd_stat_options only = { .size = sizeof(only), .metric_only = true };
	struct pd_text *text = pd_text_new();

	CHECK(text && report(counts, &json, text) == PD_OK);
	CHECK(has(text, "\"counter-value\" : \"6000.000000\"") && has(text, "\"metric-value\" : 1.500000"));
	pd_text_clear(text);
	CHECK(report(counts, &only, text) == PD_OK);
	CHECK(has(text, "insn per cycle") && has(text, "1.50") && !has(text, "6000"));
	pd_text_free(text);
}

TEST(refused)
{
	const struct pd_stat_options no_size = { 0 };
	struct pd_text *text = pd_text_new();

	CHECK(text && report(no_counts, NULL, text) == PD_ERROR_NO_MATCH);
	CHECK(report(counts, &no_size, text) == PD_ERROR_ARGUMENT);
	CHECK_STR(pd_stat_metric_name(0), "IPC");
	CHECK(!pd_stat_metric_name(99));
	pd_stat_free(NULL);
	pd_text_free(text);
}

TEST(no_memory)
{
	struct pd_file *file = open_text(counts);
	unsigned failures = 0;

	CHECK(file);
	for (long n = 0;; n++) {
		struct pd_text *text = pd_text_new();
		enum pd_status status;

		left = n;
		has_failed = false;
		status = pd_stat_report(file, NULL, text, &error);
		left = -1;
		failures += status < 0 || pd_text_failed(text);
		pd_text_free(text);
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
		CHECK(n < 10000);
	}
	CHECK(failures > 10);
	pd_file_close(file);
}

TEST(clean)
{
	clean_folder();
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(text), TEST_CASE(csv_by_cpu), TEST_CASE(json_and_metrics), TEST_CASE(refused),
    TEST_CASE(no_memory), TEST_CASE(clean))
