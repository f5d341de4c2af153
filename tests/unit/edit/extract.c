/* SPDX-License-Identifier: MIT */
/* Parts of a recording through the public header: which samples and which other records, refusals, and lack of memory. */
#include "recording.h"

#define SAMPLE(pid, time, period) \
	"SAMPLE misc: user, ip: 0x1000, pid: " pid ", tid: " pid ", time_ns: " time ", period: " period "\n"
#define FORK(pid, ppid, time)                                                                                       \
	"FORK pid: " pid ", ppid: " ppid ", tid: " pid ", ptid: " ppid ", time_ns: " time ", sample_id: {pid: " pid \
	", tid: " pid ", time_ns: " time "}\n"
#define COMM(pid, name, time)                                                                                         \
	"COMM pid: " pid ", tid: " pid ", comm: \"" name "\", sample_id: {pid: " pid ", tid: " pid ", time_ns: " time \
	"}\n"

// 1 forks 5, 5 forks 6; 7 is of nobody; samples of 5, 6 and 7 are not in the order of their times.
static const char recording[] = "header form: file, byte_order: little\n"
				"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
				"sample_type: IP|TID|TIME|PERIOD, flags: sample_id_all}\n"
				"feature SAMPLE_TIME {first_ns: 100, last_ns: 900}\n" COMM("1", "init", "1")
					FORK("5", "1", "2") FORK("6", "5", "3") COMM("6", "six", "4")
						COMM("7", "seven", "5") SAMPLE("5", "300", "10")
							SAMPLE("6", "100", "20") SAMPLE("7", "900", "30")
								SAMPLE("6", "200", "40") COMM("7", "late", "950");

static struct pd_error error;

static enum pd_status extract_to(const char *path, struct pd_file *file, struct pd_extract_options *options,
				 struct pd_extract_result *result)
{
	struct pd_extract *extract = NULL;
	struct pd_writer *writer = NULL;
	enum pd_status status;

	options->size = sizeof(*options);
	status = pd_extract_new(file, options, &extract, &error);
	if (status >= 0)
		status = pd_writer_open(path, NULL, &writer, &error);
	if (status >= 0)
		status = pd_extract_write(extract, writer, result, &error);
	if (writer && status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, &error);
	pd_extract_free(extract);
	return status;
}

static struct pd_extract_result result;

// Whether the part has these samples and other records; their number is in result.
static bool has(struct pd_extract_options *options, uint64_t samples, uint64_t others)
{
	struct pd_file *file = open_text(recording), *part = NULL;
	enum pd_status status = file ? extract_to(path_of("part"), file, options, &result) : PD_ERROR_MEMORY;
	bool fine = status == PD_OK && pd_file_open(path_of("part"), NULL, &part, &error) == PD_OK;

	pd_file_close(file);
	if (!fine) {
		printf("# %s\n", error.message);
		return false;
	}
	fine = result.kept_sample_count == samples && count_records(part, PD_RECORD_SAMPLE) == samples &&
	       result.kept_other_count == others && result.sample_count == 4 && result.other_count == 6;
	if (!fine)
		printf("# %d samples, %d others\n", (int)result.kept_sample_count, (int)result.kept_other_count);
	pd_file_close(part);
	return fine;
}

static bool has_selected(enum pd_extract_by by, struct pd_select_options selection, bool prune, uint64_t samples,
			 uint64_t others)
{
	struct pd_extract_options options = { .by = by, .prune = prune };
	bool fine;

	selection.size = sizeof(selection);
	if (pd_select_new(&selection, &options.select, &error) < 0)
		return false;
	fine = has(&options, samples, others);
	pd_select_free(options.select);
	return fine;
}

TEST(conditions)
{
	const struct pd_select_options none = { .pid = "8" }, two = { .where = "sample.period > 15 && pid == 6" };

	CHECK(has_selected(PD_EXTRACT_MATCHING, two, false, 2, 6));
	CHECK(result.first_ns == 100 && result.last_ns == 200 && !result.records && !result.ended);
	CHECK(has_selected(PD_EXTRACT_MATCHING, none, false, 0, 6));
	CHECK(has_selected(PD_EXTRACT_MATCHING, (struct pd_select_options){ .comm = "late" }, false, 0, 6));
	CHECK(has_selected(PD_EXTRACT_MATCHING, (struct pd_select_options){ .comm = "six" }, false, 2, 6));
	// a condition on the type is one on all records
	CHECK(has_selected(PD_EXTRACT_MATCHING, (struct pd_select_options){ .where = "type != COMM" }, false, 4, 2));
	CHECK(result.records);
}

TEST(processes)
{
	// 6, and 5 and 1 that forked it
	CHECK(has_selected(PD_EXTRACT_MATCHING, (struct pd_select_options){ .pid = "6" }, true, 2, 4));
	CHECK(has_selected(PD_EXTRACT_MATCHING, (struct pd_select_options){ .pid = "7" }, true, 1, 2));
}

TEST(ranges)
{
	// what is known up to its end
	CHECK(has_selected(PD_EXTRACT_TIME, (struct pd_select_options){ .time = "0.000000150,0.000000300" }, false, 2,
			   5));
	CHECK(has_selected(PD_EXTRACT_TIME, (struct pd_select_options){ .time = "50%-100%" }, false, 1, 5));
	CHECK(result.first_ns == 900);
}

TEST(rates)
{
	struct pd_extract_options half = { .by = PD_EXTRACT_RATE, .rate = 2 };
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_file *part;
	uint64_t sum = 0;

	CHECK(has(&half, 2, 6));
	CHECK(!result.unscaled_count && !result.overflow_count);
	CHECK(pd_file_open(path_of("part"), NULL, &part, &error) == PD_OK);
	CHECK(pd_stream_open(part, NULL, &stream, &error) == PD_OK);
	while (pd_stream_next(stream, &record, &error) == PD_OK) {
		const struct pd_sample *sample = pd_as_sample(record);

		sum += sample ? sample->period : 0;
	}
	CHECK(sum == 2 * (20 + 40));
	pd_stream_close(stream);
	pd_file_close(part);
	half.rate = 1;
	CHECK(has(&half, 4, 6));
	// at random, but the same for the same seed
	half = (struct pd_extract_options){ .by = PD_EXTRACT_RATE, .rate = 2, .random = true, .seed = 7 };
	CHECK(has(&half, 2, 6) && has(&half, 2, 6));
	half.seed = 2;
	CHECK(has(&half, 3, 6));
}

TEST(ends)
{
	struct pd_extract_options first = { .by = PD_EXTRACT_FIRST, .sample_count = 2 };
	struct pd_extract_options last = { .by = PD_EXTRACT_LAST, .sample_count = 1 };

	CHECK(has(&first, 2, 5));
	CHECK(result.first_ns == 100 && result.last_ns == 200);
	CHECK(has(&last, 1, 6));
	CHECK(result.first_ns == 900);
	first.span_ns = 200;
	CHECK(has(&first, 3, 5));
	first.span_ns = first.sample_count = 0;
	CHECK(has(&first, 0, 0));
}

TEST(refused)
{
	struct pd_extract_options options = { .size = sizeof(options), .by = (enum pd_extract_by)77 };
	struct pd_file *file = open_text(recording);
	struct pd_extract *extract;

	CHECK(file);
	CHECK(pd_extract_new(file, NULL, &extract, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_extract_new(file, &options, &extract, &error) == PD_ERROR_ARGUMENT);
	CHECK(!pd_extract_reads_twice(&options));
	options.by = PD_EXTRACT_TIME;
	CHECK(pd_extract_new(file, &options, &extract, &error) == PD_ERROR_ARGUMENT);
	options.by = PD_EXTRACT_RATE;
	CHECK(pd_extract_new(file, &options, &extract, &error) == PD_ERROR_ARGUMENT);
	options.by = PD_EXTRACT_LAST;
	CHECK(pd_extract_reads_twice(&options));
	CHECK(extract_to("/nowhere/part", file, &options, NULL) < 0);
	CHECK(extract_to("/dev/full", file, &options, NULL) < 0);
	pd_extract_free(NULL);
	pd_file_close(file);
}

static bool stands_lack_of_memory(struct pd_extract_options *options)
{
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;
	bool fine = false;

	for (long n = 0; file && n < 10000 && !fine; n++) {
		enum pd_status status;

		left = n;
		has_failed = false;
		status = extract_to(path_of("part"), file, options, NULL);
		left = -1;
		failures += status < 0;
		if (!has_failed && status != PD_OK)
			break;
		fine = !has_failed;
	}
	pd_file_close(file);
	return fine && failures > 5;
}

TEST(no_memory)
{
	struct pd_select_options selection = { .size = sizeof(selection), .comm = "six" };
	struct pd_extract_options by_name = { .by = PD_EXTRACT_MATCHING, .prune = true };
	struct pd_extract_options last = { .by = PD_EXTRACT_LAST, .sample_count = 2 };
	struct pd_extract_options half = { .by = PD_EXTRACT_RATE, .rate = 2 };

	CHECK(pd_select_new(&selection, &by_name.select, &error) == PD_OK);
	CHECK(stands_lack_of_memory(&by_name));
	CHECK(stands_lack_of_memory(&last));
	CHECK(stands_lack_of_memory(&half));
	pd_select_free(by_name.select);
}

TEST(clean)
{
	clean_folder();
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(conditions), TEST_CASE(processes), TEST_CASE(ranges), TEST_CASE(rates), TEST_CASE(ends),
    TEST_CASE(refused), TEST_CASE(no_memory), TEST_CASE(clean))
