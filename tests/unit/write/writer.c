/* SPDX-License-Identifier: MIT */
/* What is written, read again: records from structs in each form and order, and outputs that were cut off. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/writer.h>

#include "opened.h"
#include "test.h"

static char folder[] = "/tmp/perfdata-writer-XXXXXX";
static char path[64];

static struct pd_str name_of(const char *text)
{
	return (struct pd_str){ .data = text, .length = (uint32_t)strlen(text) };
}

enum {
	SAMPLES = 5000
};

static const uint64_t ids[2][2] = { { 7, 8 }, { 9, 10 } };

static void add_events(struct pd_writer *writer)
{
	struct pd_attr attr = {
		.type = PD_TYPE_SOFTWARE,
		.sample_period = 1,
		.sample_type = PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER) | PD_MASK(PD_SAMPLE_TYPE_IP) |
			       PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_TIME) |
			       PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN),
		.flags = PD_MASK(PD_ATTR_SAMPLE_ID_ALL),
	};

	pd_writer_add_event(writer, &attr, (struct pd_u64s){ ids[0], 2 }, "first", NULL);
	attr.config = 1;
	attr.config3 = 5; // wants an attr of 136 bytes
	pd_writer_add_event(writer, &attr, (struct pd_u64s){ ids[1], 2 }, "second", NULL);
}

static void add_records(struct pd_writer *writer)
{
	static const uint64_t chain[] = { PD_CONTEXT_USER, 0x1000, 0x2000 };
	const struct pd_sample_id trailer = { .pid = 5, .tid = 5, .time_ns = 10, .identifier = 7 };
	const struct pd_comm comm = { .sample_id = &trailer, .pid = 5, .tid = 6, .comm = name_of("worker") };

	pd_writer_add(writer, PD_RECORD_COMM, 0, &comm, 0, NULL);
	for (unsigned i = 0; i < SAMPLES; i++) {
		const struct pd_sample sample = { .identifier = ids[i % 2][0],
						  .ip = 0x1000 + i,
						  .pid = 5,
						  .tid = 6,
						  .time_ns = 100 + i,
						  .callchain = { chain, i % 4 } };

		pd_writer_add(writer, PD_RECORD_SAMPLE, PD_CPUMODE_USER, &sample, i % 2, NULL);
	}
}

static void write_all(const struct pd_writer_options *options, enum pd_status *status)
{
	const struct pd_string host = { .value = name_of("a host") };
	struct pd_writer *writer;

	*status = pd_writer_open(path, options, &writer, NULL);
	if (*status < 0)
		return;
	add_events(writer);
	pd_writer_set_feature(writer, PD_FEATURE_HOSTNAME, &host, NULL);
	add_records(writer);
	*status = pd_writer_finish(writer, NULL);
}

// Samples that are as they were written; events and features must be there.
static unsigned good_samples(const char *from, uint64_t *damage)
{
	struct pd_file *file;
	struct pd_stream *stream;
	const struct pd_record *record;
	unsigned count = 0;

	if (pd_file_open(from, NULL, &file, NULL) < 0)
		return 0;
	if (pd_stream_open(file, NULL, &stream, NULL) == PD_OK) {
		while (pd_stream_next(stream, &record, NULL) == PD_OK) {
			const struct pd_sample *sample = pd_as_sample(record);

			if (record->type == PD_RECORD_COMM && pd_as_comm(record) &&
			    (pd_as_comm(record)->sample_id->time_ns != 10 ||
			     strcmp(pd_as_comm(record)->comm.data, "worker")))
				count += 1000000;
			if (!sample)
				continue;
			count += sample->ip == 0x1000 + count && sample->time_ns == 100 + count &&
				 sample->callchain.count == count % 4 && record->event &&
				 record->event->index == count % 2 && record->misc == PD_CPUMODE_USER;
		}
		if (pd_file_event_count(file) != 2 || strcmp(pd_file_event(file, 0)->name, "first") ||
		    strcmp(pd_file_event(file, 1)->name, "second") || pd_file_event(file, 1)->attr->config3 != 5 ||
		    pd_file_event(file, 1)->ids.count != 2 || !pd_file_hostname(file) ||
		    strcmp(pd_file_hostname(file)->value.data, "a host"))
			count = 0;
		pd_stream_close(stream);
	}
	*damage = pd_file_problem_count(file, PD_DAMAGE) + pd_file_problem_count(file, PD_WARNING);
	pd_file_close(file);
	return count;
}

static bool has_zstd(void)
{
	for (size_t i = 0; pd_build_part(i, NULL, NULL); i++) {
		bool built_in;

		if (strncmp(pd_build_part(i, &built_in, NULL), "zstd", 4) == 0 && built_in)
			return true;
	}
	return false;
}

static void remove_output(void)
{
	char inner[80];

	snprintf(inner, sizeof(inner), "%s/data", path);
	unlink(inner);
	rmdir(path);
	unlink(path);
}

TEST(writer__every_form_order_and_compression)
{
	for (unsigned form = PD_MODE_FILE; form <= PD_MODE_DIRECTORY; form++) {
		for (unsigned order = PD_ENDIAN_LITTLE; order <= PD_ENDIAN_BIG; order++) {
			for (unsigned packing = PD_PACK_NONE; packing <= PD_PACK_ZSTD2; packing++) {
				const struct pd_writer_options options = { .size = sizeof(options),
									   .mode = (enum pd_mode)form,
									   .endian = (enum pd_endian)order,
									   .packing = (enum pd_packing)packing };
				enum pd_status status;
				uint64_t damage;

				write_all(&options, &status);
				if (packing != PD_PACK_NONE && !has_zstd()) {
					CHECK(status == PD_ERROR_UNSUPPORTED);
					continue;
				}
				CHECK(status == PD_OK);
				CHECK(good_samples(path, &damage) == SAMPLES);
				CHECK(damage == 0);
				remove_output();
			}
		}
	}
}

// Whatever was written when the program died opens, with all up to the last saved header.
TEST(writer__cut_off)
{
	const struct pd_writer_options options = { .size = sizeof(options), .mode = PD_MODE_FILE, .save_bytes = 4096 };
	static const uint64_t chain[] = { PD_CONTEXT_USER, 0x1000, 0x2000 };
	struct pd_writer *writer;
	struct pd_sample sample = { .identifier = 7, .pid = 5, .tid = 6 };
	const struct pd_string host = { .value = name_of("a host") };
	char beside[128];
	uint64_t damage, written = 0;
	unsigned got;

	CHECK(pd_writer_open(path, &options, &writer, NULL) == PD_OK);
	snprintf(beside, sizeof(beside), "%s.new-%ld-0", path, (long)getpid());
	add_events(writer);
	pd_writer_set_feature(writer, PD_FEATURE_HOSTNAME, &host, NULL);
	for (unsigned i = 0; i < 200000; i++) {
		sample.identifier = ids[i % 2][0];
		sample.ip = 0x1000 + i;
		sample.time_ns = 100 + i;
		sample.callchain = (struct pd_u64s){ chain, i % 4 };
		CHECK(pd_writer_add(writer, PD_RECORD_SAMPLE, PD_CPUMODE_USER, &sample, i % 2, NULL) == PD_OK);
		written++;
		if (i % 20000 != 19999)
			continue;
		got = good_samples(beside, &damage);
		// what waits in the buffer is not there
		CHECK(got > 0 && got <= written && written - got < (512 << 10) / 48);
		CHECK(damage == 0);
	}
	CHECK(pd_writer_finish(writer, NULL) == PD_OK);
	CHECK(access(beside, F_OK) < 0);
	CHECK(good_samples(path, &damage) == 200000);
	CHECK(damage == 0);
	remove_output();
}

TEST(writer__an_input_is_not_written)
{
	const struct pd_writer_options plain = { .size = sizeof(plain), .mode = PD_MODE_FILE };
	struct pd_writer_options options = plain;
	enum pd_status status;
	struct pd_writer *writer;
	struct pd_file *file;
	struct pd_error error;
	char other[80];
	int fd;

	write_all(&plain, &status);
	CHECK(status == PD_OK);
	CHECK(pd_file_open(path, NULL, &file, NULL) == PD_OK);
	options.inputs = &file;
	options.input_count = 1;
	CHECK(pd_writer_open(path, &options, &writer, &error) == PD_ERROR_ARGUMENT);
	snprintf(other, sizeof(other), "%s/other", folder);
	CHECK(link(path, other) == 0);
	CHECK(pd_writer_open(other, &options, &writer, &error) == PD_ERROR_ARGUMENT);
	fd = open(path, O_WRONLY | O_APPEND);
	options.mode = PD_MODE_PIPE;
	CHECK(pd_writer_open_fd(fd, "fd", &options, &writer, &error) == PD_ERROR_ARGUMENT);
	close(fd);
	unlink(other);
	pd_file_close(file);
	remove_output();
}

static enum pd_status count_bytes(void *self, const void *data, size_t size, struct pd_error *error)
{
	(void)data;
	(void)error;
	*(size_t *)self += size;
	return PD_OK;
}

TEST(writer__places)
{
	size_t size = 0;
	const struct pd_writer_place function = { .size = sizeof(function), .put = count_bytes, .self = &size };
	const struct pd_writer_place file = { .size = sizeof(file), .path = path, .put = count_bytes };
	const struct pd_writer_place closed = { .size = sizeof(closed), .fd = -1, .name = "nothing" };
	const struct pd_writer_place none = { .size = 0 };
	struct pd_error error;
	struct pd_writer *writer;

	CHECK(pd_writer_open_at(&function, NULL, &writer, &error) == PD_OK);
	CHECK(!pd_writer_unfinished(writer) && pd_writer_finish(writer, &error) == PD_OK && size >= 16);
	CHECK(pd_writer_open_at(&file, NULL, &writer, &error) == PD_OK && pd_writer_unfinished(writer));
	CHECK(pd_writer_finish(writer, &error) == PD_OK && access(path, F_OK) == 0);
	CHECK(pd_writer_open_at(&closed, NULL, &writer, &error) < 0 && strstr(error.message, "nothing"));
	CHECK(pd_writer_open_at(&none, NULL, &writer, &error) == PD_ERROR_ARGUMENT);
	remove_output();
}

TEST(writer__wrong_calls)
{
	const struct pd_writer_options none = { .size = 0 };
	const struct pd_comm comm = { .comm = name_of("x") };
	struct pd_error error;
	struct pd_writer *writer;
	int ends[2];

	CHECK(pd_writer_open(path, &none, &writer, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_writer_open("/nowhere/at/all", NULL, &writer, &error) == PD_ERROR_SYSTEM);
	CHECK(pipe(ends) == 0);
	CHECK(pd_writer_open_fd(ends[1], "pipe", NULL, &writer, &error) == PD_ERROR_ARGUMENT);
	close(ends[0]);
	close(ends[1]);
	CHECK(pd_writer_open(path, NULL, &writer, &error) == PD_OK);
	CHECK(pd_writer_add(writer, 60000, 0, &comm, 0, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_writer_add(writer, PD_RECORD_SAMPLE, 0, &comm, 3, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_writer_set_feature_bytes(writer, 0, (struct pd_bytes){ 0 }, &error) == PD_ERROR_ARGUMENT);
	pd_writer_abort(writer);
	CHECK(access(path, F_OK) < 0);
	pd_writer_abort(NULL);
}

// A text that does not fit into a record is refused, and the writer goes on.
TEST(writer__too_large)
{
	char *text = malloc(70000);
	struct pd_comm comm = { .comm = { .data = text, .length = 69999 } };
	struct pd_writer *writer;
	struct pd_error error;
	struct pd_file *file;

	CHECK(text != NULL);
	memset(text, 'x', 69999);
	text[69999] = '\0';
	CHECK(pd_writer_open(path, NULL, &writer, &error) == PD_OK);
	add_events(writer);
	CHECK(pd_writer_add(writer, PD_RECORD_COMM, 0, &comm, 5, &error) == PD_ERROR_FORMAT);
	comm.comm.length = 3;
	CHECK(pd_writer_add(writer, PD_RECORD_COMM, 0, &comm, 5, &error) == PD_OK);
	CHECK(pd_writer_finish(writer, &error) == PD_OK);
	CHECK(pd_file_open(path, NULL, &file, &error) == PD_OK);
	CHECK(pd_file_header(file)->data_size == 24);
	pd_file_close(file);
	free(text);
	remove_output();
}

// Writes an event with an attr of 144 bytes, converts it, and looks at the size that the attr has then.
static void convert_attr(enum pd_mode from, uint64_t config3, uint32_t wanted)
{
	struct pd_attr attr = { .size = 144,
				.type = PD_TYPE_SOFTWARE,
				.sample_period = 1,
				.config3 = config3,
				.sample_type = PD_MASK(PD_SAMPLE_TYPE_IP) };
	struct pd_writer_options options = { .size = sizeof(options), .mode = from };
	const struct pd_record *record;
	const struct pd_event *event;
	struct pd_stream *stream;
	struct pd_writer *writer;
	struct pd_file *file;
	char first[80];

	snprintf(first, sizeof(first), "%s/first", folder);
	CHECK(pd_writer_open(first, &options, &writer, NULL) == PD_OK);
	CHECK(pd_writer_add_event(writer, &attr, (struct pd_u64s){ ids[0], 2 }, "first", NULL) == PD_OK);
	CHECK(pd_writer_finish(writer, NULL) == PD_OK);
	CHECK(pd_file_open(first, NULL, &file, NULL) == PD_OK);
	options = (struct pd_writer_options){ .size = sizeof(options), .inputs = &file, .input_count = 1 };
	options.mode = PD_MODE_FILE;
	CHECK(pd_writer_open(path, &options, &writer, NULL) == PD_OK);
	CHECK(pd_writer_copy_metadata(writer, file, NULL) == PD_OK);
	CHECK(pd_stream_open(file, NULL, &stream, NULL) == PD_OK);
	while (pd_stream_next(stream, &record, NULL) == PD_OK)
		CHECK(pd_writer_pass(writer, stream, record, NULL) == PD_OK);
	pd_stream_close(stream);
	CHECK(pd_writer_finish(writer, NULL) == PD_OK);
	pd_file_close(file);
	unlink(first);
	CHECK(pd_file_open(path, NULL, &file, NULL) == PD_OK);
	CHECK(pd_file_event_count(file) == 1 && pd_file_header(file)->attr_size == wanted + 16);
	event = pd_file_event(file, 0);
	CHECK(event->attr->size == wanted && event->attr->config3 == config3);
	CHECK(event->ids.count == 2 && event->ids.items[1] == 8);
	pd_file_close(file);
	remove_output();
}

// Readers refuse a file with attrs that are larger than they know, and take a pipe with such.
TEST(writer__attrs_of_a_pipe_are_no_larger_than_they_must_be)
{
	convert_attr(PD_MODE_PIPE, 0, 128);
	convert_attr(PD_MODE_PIPE, 5, 136);
	convert_attr(PD_MODE_FILE, 0, 144);
}

// A recorder that was killed leaves data of size 0; what was finished has not, even if it holds nothing.
TEST(writer__nothing_is_finished)
{
	struct pd_writer *writer;
	struct pd_file *file;

	CHECK(pd_writer_open(path, NULL, &writer, NULL) == PD_OK);
	add_events(writer);
	CHECK(pd_writer_finish(writer, NULL) == PD_OK);
	CHECK(pd_file_open(path, NULL, &file, NULL) == PD_OK);
	CHECK(!pd_file_header(file)->unfinished);
	pd_file_close(file);
	CHECK(pd_writer_open(path, NULL, &writer, NULL) == PD_OK);
	CHECK(pd_writer_finish(writer, NULL) == PD_OK);
	CHECK(pd_file_open(path, NULL, &file, NULL) == PD_OK);
	CHECK(!pd_file_header(file)->unfinished);
	pd_file_close(file);
	remove_output();
}

TEST(writer__setup)
{
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/out", folder);
}

TEST(writer__nothing_is_left)
{
	CHECK(rmdir(folder) == 0);
}

RUN(TEST_CASE(writer__setup), TEST_CASE(writer__every_form_order_and_compression), TEST_CASE(writer__cut_off),
    TEST_CASE(writer__an_input_is_not_written), TEST_CASE(writer__places), TEST_CASE(writer__wrong_calls),
    TEST_CASE(writer__too_large), TEST_CASE(writer__attrs_of_a_pipe_are_no_larger_than_they_must_be),
    TEST_CASE(writer__nothing_is_finished), TEST_CASE(writer__nothing_is_left))
