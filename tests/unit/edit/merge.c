/* SPDX-License-Identifier: MIT */
/* Recordings merged through the public header: events, times and processes of the output, refusals, and lack of memory. */
#include "recording.h"
#include "edit/merge/merge.h"

#define EVENT(id)                                                                          \
	"header form: file, byte_order: little\n"                                          \
	"event {name: \"cpu-clock\", ids: [" id "], type: software, sample_period: 1000, " \
	"sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all}\n"
#define SAMPLE(id, time) "SAMPLE misc: user, identifier: " id ", ip: 0x1000, pid: 5, tid: 6, time_ns: " time "\n"

static const char first[] = EVENT("7") "feature HOSTNAME {value: \"one\"}\n"
				       "feature TOTAL_MEM {kib: 4}\n" SAMPLE("7", "100") SAMPLE("7", "300");
static const char other_host[] = EVENT("7") "feature HOSTNAME {value: \"two\"}\n"
					    "feature TOTAL_MEM {kib: 8}\n" SAMPLE("7", "200");
static const char counts[] = "header form: file, byte_order: little\n"
			     "event {name: \"cycles\", ids: [9], type: hardware}\n"
			     "feature STAT {}\n";

static char warnings[4][256];
static size_t warning_count;

static void warn(void *self, const char *message)
{
	(void)self;
	if (warning_count < 4)
		snprintf(warnings[warning_count], sizeof(warnings[0]), "%s", message);
	warning_count++;
}

static struct pd_error error;
static struct pd_text *summary; // or NULL

static enum pd_status merge_to(const char *path, struct pd_file **files, size_t count,
			       const struct pd_merge_options *options, struct pd_merge_result *result)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = files, .input_count = count };
	struct pd_merge *merge = NULL;
	struct pd_writer *writer = NULL;
	enum pd_status status = pd_merge_new(options, &merge, &error);

	for (size_t i = 0; i < count && status >= 0; i++)
		status = pd_merge_add(merge, files[i], &error);
	if (status >= 0)
		status = pd_merge_compare(merge, &error);
	if (status >= 0)
		status = pd_merge_plan(merge, &error);
	if (status >= 0)
		status = pd_writer_open(path, &form, &writer, &error);
	if (status >= 0)
		status = pd_merge_write(merge, writer, result, &error);
	if (status >= 0 && summary)
		pd_merge_result_text(merge, result, summary);
	if (writer && status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, &error);
	pd_merge_free(merge);
	return status;
}

TEST(two_machines)
{
	struct pd_file *files[] = { open_text(first), open_text(other_host) }, *merged;
	const struct pd_merge_options options = { .size = sizeof(options), .warn = warn };
	struct pd_merge_result result;
	const struct pd_record *record;
	struct pd_stream *stream;
	uint64_t times[3] = { 0 };
	uint32_t pids[3] = { 0 };

	warning_count = 0;
	CHECK(files[0] && files[1]);
	summary = pd_text_new();
	CHECK(merge_to(path_of("merged"), files, 2, &options, &result) == PD_OK);
	CHECK(result.sample_count == 3 && result.event_count == 1 && !result.undecoded_count);
	CHECK(text_has(summary, "2 files merged: 3 samples of 1 event and ") && !text_has(summary, "dropped"));
	pd_text_free(summary);
	summary = NULL;
	CHECK(pd_file_open(path_of("merged"), NULL, &merged, &error) == PD_OK);
	CHECK(pd_file_event_count(merged) == 1);
	// the same id in another boot is another one
	CHECK(pd_file_event(merged, 0)->ids.count == 2);
	CHECK(pd_stream_open(merged, NULL, &stream, &error) == PD_OK);
	for (size_t i = 0; i < 3 && pd_stream_next(stream, &record, &error) == PD_OK;) {
		const struct pd_sample *sample = pd_as_sample(record);

		if (!sample)
			continue;
		pids[i] = (uint32_t)sample->pid;
		times[i++] = sample->time_ns;
	}
	CHECK(times[0] == 100 && times[1] == 200 && times[2] == 300);
	CHECK(pids[0] == 5 && pids[1] == 10000005 && pids[2] == 5);
	// clocks, processes and memory
	CHECK(warning_count >= 3);
	pd_stream_close(stream);
	pd_file_close(merged);
	pd_file_close(files[0]);
	pd_file_close(files[1]);
}

// Clocks that are moved by names of files, which both have here.
TEST(shifted)
{
	struct pd_file *files[] = { open_text(first), open_text(first) };
	struct pd_merge *merge = NULL;
	char text[160];

	CHECK(files[0] && files[1] && pd_merge_new(NULL, &merge, &error) == PD_OK);
	CHECK(pd_merge_add(merge, files[0], &error) == PD_OK && pd_merge_add(merge, files[1], &error) == PD_OK);
	CHECK(pd_merge_compare(merge, &error) == PD_OK);
	CHECK(pd_merge_shift_parse(merge, "other=1", &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "'other' is not one of the input files");
	CHECK(pd_merge_shift_parse(merge, "other", &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_merge_shift_parse(merge, "other=", &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_merge_shift_parse(merge, "other=nan", &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "'nan' is not a number of seconds");
	snprintf(text, sizeof(text), "%s=-1.5", pd_file_name(files[1]));
	CHECK(pd_merge_shift_parse(merge, text, &error) == PD_OK);
	pd_merge_free(merge);
	pd_file_close(files[0]);
	pd_file_close(files[1]);
}

TEST(pieces_of_a_recording)
{
	struct pd_file *files[] = { open_text(first), open_text(first) };
	struct pd_merge_result result;

	CHECK(files[0] && files[1]);
	CHECK(merge_to(path_of("merged"), files, 2, NULL, &result) == PD_OK);
	CHECK(result.sample_count == 4 && result.event_count == 1);
	pd_file_close(files[0]);
	pd_file_close(files[1]);
}

TEST(refused)
{
	struct pd_file *files[] = { open_text(first), open_text(counts) };
	const struct pd_merge_options wall = { .size = sizeof(wall),
					       .machines = PD_MERGE_MACHINES_DIFFERENT,
					       .clocks = PD_MERGE_CLOCKS_WALL };
	struct pd_file *same[] = { files[0], files[0] };

	CHECK(files[0] && files[1]);
	CHECK(merge_to(path_of("merged"), files, 2, NULL, NULL) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "counts of perf stat and samples"));
	CHECK(merge_to(path_of("merged"), same, 2, &wall, NULL) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "CLOCK_DATA"));
	CHECK(merge_to(path_of("merged"), files, 0, NULL, NULL) == PD_ERROR_ARGUMENT);
	CHECK(merge_to("/dev/full", files, 1, NULL, NULL) < 0);
	CHECK(merge_to("/nowhere/merged", files, 1, NULL, NULL) < 0);
	CHECK(pd_merge_new(&(const struct pd_merge_options){ 0 }, &(struct pd_merge *){ NULL }, NULL) ==
	      PD_ERROR_ARGUMENT);
	pd_file_close(files[0]);
	pd_file_close(files[1]);
}

TEST(no_memory)
{
	struct pd_file *files[] = { open_text(first), open_text(other_host) };
	unsigned failures = 0;

	CHECK(files[0] && files[1]);
	for (long n = 0;; n++) {
		enum pd_status status;

		left = n;
		has_failed = false;
		status = merge_to(path_of("merged"), files, 2, NULL, NULL);
		left = -1;
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
		failures += status < 0;
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
	pd_file_close(files[0]);
	pd_file_close(files[1]);
}

TEST(header_of_a_piece)
{
	struct pd_file *file =
		open_text(EVENT("7") "event {name: \"second\", ids: [8], type: software, sample_period: 1000, "
				     "sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all}\n");
	const bool is_kept[] = { false, true };
	struct pd_writer *writer;
	struct pd_file *piece;

	CHECK(file);
	CHECK(pd_writer_open(path_of("piece"), NULL, &writer, &error) == PD_OK);
	CHECK(pd_merge_piece_header(file, is_kept, 1, 2, writer, &error) == PD_OK);
	CHECK(pd_writer_finish(writer, &error) == PD_OK);
	CHECK(pd_file_open(path_of("piece"), NULL, &piece, &error) == PD_OK);
	CHECK(pd_file_event_count(piece) == 1);
	CHECK_STR(pd_file_event(piece, 0)->name, "second");
	pd_file_close(piece);
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

RUN(TEST_CASE(start), TEST_CASE(two_machines), TEST_CASE(shifted), TEST_CASE(pieces_of_a_recording), TEST_CASE(refused),
    TEST_CASE(no_memory), TEST_CASE(header_of_a_piece), TEST_CASE(clean))
