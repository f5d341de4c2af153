/* SPDX-License-Identifier: MIT */
/* Damaged recordings rewritten through the public header: what is kept, what is told of it, and lack of memory. */
#include "recording.h"

#define SAMPLE(time) "SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 6, time_ns: " time "\n"

static const char recording[] = "header form: file, byte_order: little\n"
				"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
				"sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all}\n"
				"feature HOSTNAME {value: \"one\"}\n" SAMPLE("100") SAMPLE("200") SAMPLE("300");

static struct pd_error error;

static enum pd_status repair_to(const char *path, struct pd_file *file, struct pd_repair_result *result)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_writer *writer = NULL;
	enum pd_status status = pd_writer_open(path, &form, &writer, &error);

	if (status >= 0)
		status = pd_repair(file, writer, NULL, result, &error);
	if (writer && status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, &error);
	return status;
}

// The recording with the size of its second sample set to 3, which no record has.
static bool write_damaged(const char *path)
{
	struct pd_file *file = open_text(recording);
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_writer *writer;
	uint64_t offset = 0, count = 0;
	const uint16_t size = 3;
	bool written;
	FILE *out;

	if (!file || pd_writer_open(path, &form, &writer, &error) < 0 ||
	    pd_writer_copy_metadata(writer, file, &error) < 0 || pd_convert(file, writer, NULL, &error) < 0 ||
	    pd_writer_finish(writer, &error) < 0)
		return false;
	pd_file_close(file);
	if (pd_file_open(path, NULL, &file, &error) < 0 || pd_stream_open(file, NULL, &stream, &error) < 0)
		return false;
	while (pd_stream_next(stream, &record, &error) == PD_OK) {
		if (record->type == PD_RECORD_SAMPLE && ++count == 2)
			offset = record->offset;
	}
	pd_stream_close(stream);
	pd_file_close(file);
	out = fopen(path, "r+e");
	// the size of a record is its last two bytes of eight
	written = out && offset && !fseek(out, (long)offset + 6, SEEK_SET) && fwrite(&size, sizeof(size), 1, out) == 1;
	return out && !fclose(out) && written;
}

TEST(gap)
{
	const struct pd_open_options recover = { .size = sizeof(recover), .recover = true };
	struct pd_text *text = pd_text_new();
	struct pd_json json = { text };
	struct pd_repair_result result;
	struct pd_file *file;

	CHECK(write_damaged(path_of("damaged")));
	CHECK(pd_file_open(path_of("damaged"), &recover, &file, &error) == PD_OK);
	CHECK(repair_to(path_of("repaired"), file, &result) == PD_OK);
	CHECK(result.sample_count == 2 && result.losses.places == 1 && result.losses.bytes > 8);
	pd_repair_text(&result, true, 2, text);
	CHECK(text_has(text, "kept 2 records (2 samples) and "));
	CHECK(text_has(text, "; dropped 1 gap, ") && text_has(text, " bytes in them"));
	CHECK(text_has(text, "; corrected 2 invalid values\n"));
	pd_text_clear(text);
	pd_repair_text(&result, false, 0, text);
	CHECK(text_has(text, "would keep 2 records") && !text_has(text, "corrected"));
	pd_text_clear(text);
	pd_json_open(&json, NULL, '{');
	pd_repair_json(&result, &json);
	pd_json_open(&json, "problems", '[');
	pd_repair_problem_json(&(struct pd_problem){ .offset = 8, .severity = PD_DAMAGE, .code = "c", .message = "m" },
			       &json);
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	CHECK(text_has(text, "\"severity\":\"damage\",\"code\":\"c\",\"offset\":8,\"field\":null,\"message\":\"m\"}]"));
	CHECK(text_has(text, "\"samples\":2,") && text_has(text, "\"gaps\":1,") && text_has(text, "\"HOSTNAME\""));
	pd_file_close(file);
	CHECK(pd_file_open(path_of("repaired"), NULL, &file, &error) == PD_OK);
	CHECK(count_records(file, PD_RECORD_SAMPLE) == 2);
	// without a writer nothing is written, but all is counted
	CHECK(pd_repair(file, NULL, NULL, &result, &error) == PD_OK && result.sample_count == 2);
	CHECK(!result.losses.places && !result.losses.records);
	pd_file_close(file);
	pd_text_free(text);
}

TEST(no_memory)
{
	const struct pd_open_options recover = { .size = sizeof(recover), .recover = true };
	struct pd_repair_result result;
	unsigned failures = 0;

	CHECK(write_damaged(path_of("damaged")));
	for (long n = 0;; n++) {
		struct pd_file *file = NULL;
		enum pd_status status;

		CHECK(pd_file_open(path_of("damaged"), &recover, &file, &error) == PD_OK);
		left = n;
		has_failed = false;
		status = repair_to(path_of("memory"), file, &result);
		left = -1;
		pd_file_close(file);
		if (!has_failed) {
			CHECK(status == PD_OK && result.sample_count == 2);
			break;
		}
		failures += status < 0;
		CHECK(n < 10000);
	}
	CHECK(failures > 10);
}

TEST(clean)
{
	clean_folder();
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(gap), TEST_CASE(no_memory), TEST_CASE(clean))
