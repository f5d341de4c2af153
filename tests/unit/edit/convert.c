/* SPDX-License-Identifier: MIT */
/* Records copied through the public header: in the order of the file and of time, and lack of memory. */
#include "recording.h"

static const char recording[] = "header form: file, byte_order: little\n"
				"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
				"sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all}\n"
				"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 5, time_ns: 300\n"
				"SAMPLE misc: user, identifier: 7, ip: 0x2000, pid: 5, tid: 5, time_ns: 100\n"
				"FINISHED_ROUND\n";

static struct pd_error error;

static enum pd_status convert_to(const char *path, struct pd_file *file, const struct pd_convert_options *options)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_writer *writer = NULL;
	enum pd_status status = pd_writer_open(path, &form, &writer, &error);

	if (status >= 0)
		status = pd_writer_copy_metadata(writer, file, &error);
	if (status >= 0)
		status = pd_convert(file, writer, options, &error);
	if (writer && status < 0)
		pd_writer_abort(writer);
	else if (writer)
		status = pd_writer_finish(writer, &error);
	return status;
}

static uint64_t first_time(const char *path)
{
	struct pd_file *file;
	struct pd_stream *stream;
	const struct pd_record *record;
	uint64_t time_ns = 0;

	if (pd_file_open(path, NULL, &file, NULL) < 0 || pd_stream_open(file, NULL, &stream, NULL) < 0)
		return 0;
	while (!time_ns && pd_stream_next(stream, &record, NULL) == PD_OK)
		time_ns = record->type == PD_RECORD_SAMPLE ? record->time_ns : 0;
	pd_stream_close(stream);
	pd_file_close(file);
	return time_ns;
}

TEST(order)
{
	const struct pd_convert_options sorted = { .size = sizeof(sorted), .sort = true };
	struct pd_file *file = open_text(recording);

	CHECK(file);
	CHECK(convert_to(path_of("converted"), file, NULL) == PD_OK);
	CHECK(first_time(path_of("converted")) == 300);
	CHECK(convert_to(path_of("converted"), file, &sorted) == PD_OK);
	CHECK(first_time(path_of("converted")) == 100);
	CHECK(pd_convert(file, NULL, &(const struct pd_convert_options){ 0 }, NULL) == PD_ERROR_ARGUMENT);
	pd_file_close(file);
}

TEST(no_memory)
{
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;

	CHECK(file);
	for (long n = 0; n < 10000; n++) {
		enum pd_status status;

		left = n;
		has_failed = false;
		status = convert_to(path_of("converted"), file, NULL);
		left = -1;
		failures += status < 0;
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
	}
	CHECK(failures > 5);
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

RUN(TEST_CASE(start), TEST_CASE(order), TEST_CASE(no_memory), TEST_CASE(clean))
