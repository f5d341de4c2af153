/* SPDX-License-Identifier: MIT */
/* Records as they are: what is selected, counts, what stands in front, the list of events, pipes, text and back, and memory that fails. */
#include "unit/edit/recording.h"

static struct pd_error error;

#define HEADER(form)                                  \
	"header form: " form ", byte_order: little\n" \
	"event {name: \"cycles\", ids: [1], sample_period: 1, sample_type: IP|TID|TIME|IDENTIFIER, flags: sample_id_all}\n"
#define SAMPLE(time) "SAMPLE event: 0, identifier: 1, ip: 0x1000, pid: 7, tid: 7, time_ns: " #time "\n"
#define RECORDS                                                                                                   \
	"COMM pid: 7, tid: 7, comm: \"one\", sample_id: {pid: 7, tid: 7, time_ns: 5, identifier: 1}\n" SAMPLE(30) \
		SAMPLE(10) "FINISHED_ROUND\n"

static enum pd_status dump(struct pd_file *file, const struct pd_dump_options *options, struct pd_text *out)
{
	pd_text_clear(out);
	return pd_dump(out, file, options, &error);
}

TEST(selects)
{
	static const uint32_t comm[] = { PD_RECORD_COMM };
	struct pd_dump_options options = { .size = sizeof(options) };
	struct pd_file *file = open_text(HEADER("file") RECORDS);
	struct pd_text *out = pd_text_new();
	struct pd_filter *where;

	CHECK(dump(file, NULL, out) == PD_OK && text_has(out, "COMM") && text_has(out, "SAMPLE") &&
	      text_has(out, "FINISHED_ROUND"));
	options.types = comm;
	options.type_count = 1;
	CHECK(dump(file, &options, out) == PD_OK && text_has(out, "one") && !text_has(out, "SAMPLE"));
	options = (struct pd_dump_options){ .size = sizeof(options), .one_record = true, .record = 1, .json = true };
	CHECK(dump(file, &options, out) == PD_OK && text_has(out, "\"time_ns\":30") &&
	      !text_has(out, "\"time_ns\":10"));
	options.record = 9;
	CHECK(dump(file, &options, out) == PD_ERROR_NO_MATCH && strstr(error.message, "no such record"));
	options = (struct pd_dump_options){ .size = sizeof(options), .one_offset = true, .offset = 1 };
	CHECK(dump(file, &options, out) == PD_ERROR_NO_MATCH);
	CHECK(pd_filter_new("sample.time_ns == 10", &where, &error) == PD_OK);
	options = (struct pd_dump_options){ .size = sizeof(options), .where = where, .hex = true };
	CHECK(dump(file, &options, out) == PD_OK && text_has(out, "time 0.000000010") &&
	      !text_has(out, "time 0.000000030"));
	pd_filter_free(where);
	options.size = 0;
	CHECK(dump(file, &options, out) == PD_ERROR_ARGUMENT);
	pd_text_free(out);
	pd_file_close(file);
}

TEST(order_and_counts)
{
	struct pd_dump_options options = { .size = sizeof(options), .by_time = true };
	struct pd_file *file = open_text(HEADER("file") RECORDS);
	struct pd_text *out = pd_text_new();
	const char *first, *second;

	CHECK(dump(file, &options, out) == PD_OK);
	pd_text_printf(out, "%c", 0);
	first = strstr((const char *)pd_text_bytes(out).data, "time 0.000000010");
	second = strstr((const char *)pd_text_bytes(out).data, "time 0.000000030");
	CHECK(first && second && first < second);
	options = (struct pd_dump_options){ .size = sizeof(options), .stats = true };
	CHECK(dump(file, &options, out) == PD_OK && text_has(out, "SAMPLE events:          2"));
	options.json = true;
	CHECK(dump(file, &options, out) == PD_OK && text_has(out, "\"SAMPLE\""));
	options = (struct pd_dump_options){ .size = sizeof(options), .header = true, .features = true };
	CHECK(dump(file, &options, out) == PD_OK && text_has(out, "cycles") && !text_has(out, "COMM"));
	pd_text_free(out);
	pd_file_close(file);
}

// ---- pipes ----

static int ends[2];

static enum pd_status open_pipe_writer(void *self, const struct pd_writer_options *said, struct pd_writer **writer_out,
				       struct pd_error *e)
{
	const struct pd_writer_place place = { .size = sizeof(place), .fd = ends[1] };
	enum pd_status status = pd_writer_open_at(&place, said, writer_out, e);

	*(struct pd_writer **)self = status < 0 ? NULL : *writer_out;
	return status;
}

// A text comes through a pipe, too.
static enum pd_status pull_text(struct pd_assembler *assembler, const char *text)
{
	struct pd_descriptor descriptor = { .name = "text" };
	enum pd_status status;
	int text_ends[2];

	if (pipe(text_ends) < 0 || write(text_ends[1], text, strlen(text)) < 0)
		return PD_ERROR_SYSTEM;
	close(text_ends[1]);
	descriptor.fd = text_ends[0];
	status = pd_assembler_pull(assembler, pd_pull_descriptor, &descriptor, &error);
	close(text_ends[0]);
	return descriptor.failed ? PD_ERROR_SYSTEM : status;
}

// What comes through a pipe, which is small enough to wait in it.
static struct pd_file *open_pipe(const char *text)
{
	struct pd_writer *writer = NULL;
	const struct pd_assembler_options options = { .size = sizeof(options),
						      .open = open_pipe_writer,
						      .self = &writer };
	struct pd_assembler *assembler;
	struct pd_file *file = NULL;

	if (pipe(ends) < 0 || pd_assembler_new(&options, &assembler, &error) < 0)
		return NULL;
	if (pull_text(assembler, text) < 0)
		printf("# %s\n", error.message);
	pd_assembler_free(assembler);
	pd_writer_finish(writer, &error);
	close(ends[1]);
	pd_file_open_fd(ends[0], NULL, &file, &error);
	return file;
}

static void close_pipe(struct pd_file *file)
{
	pd_file_close(file);
	close(ends[0]);
}

static bool count_flushes(void *self, struct pd_text *text)
{
	int *count = self;

	pd_text_clear(text);
	return ++*count < 3;
}

static enum pd_status print_samples(struct pd_file *file, struct pd_text *out)
{
	const struct pd_samples_options options = { .size = sizeof(options), .max_stack = PD_SAMPLES_STACK };
	struct pd_samples *samples = NULL;
	enum pd_status status = pd_samples_new(&options, out, &samples, &error);

	if (status >= 0)
		status = pd_samples_run_once(samples, file, &error);
	if (status >= 0 && pd_samples_result(samples).printed_count != 2)
		status = PD_ERROR_FORMAT;
	pd_samples_free(samples);
	return status;
}

static enum pd_status print_evlist(struct pd_file *file, struct pd_text *out)
{
	return pd_print_evlist(out, file, NULL, &error);
}

TEST(pipes)
{
	struct pd_text *out = pd_text_new();
	struct pd_file *file;
	int flushes = 0;

	pd_text_set_sink(out, count_flushes, &flushes);
	file = open_pipe(HEADER("pipe") RECORDS);
	CHECK(dump(file, NULL, out) == PD_OK && flushes == 1);
	close_pipe(file);
	// the third one fails
	file = open_pipe(HEADER("pipe") RECORDS RECORDS RECORDS);
	CHECK(dump(file, NULL, out) == PD_ERROR_OUTPUT && flushes == 3);
	close_pipe(file);
	pd_text_free(out);
	out = pd_text_new();
	file = open_pipe(HEADER("pipe") RECORDS);
	CHECK(print_samples(file, out) == PD_OK && text_has(out, "one"));
	close_pipe(file);
	pd_text_free(out);
}

TEST(events)
{
	struct pd_print_events_options options = { .size = sizeof(options), .details = true };
	struct pd_file *file = open_text(HEADER("pipe") RECORDS);
	struct pd_text *out = pd_text_new();

	CHECK(pd_print_evlist(out, file, NULL, &error) == PD_OK);
	CHECK(text_has(out, "cycles\n"));
	pd_file_close(file);
	file = open_text(HEADER("file") RECORDS);
	CHECK(pd_print_evlist(out, file, &options, &error) == PD_OK && text_has(out, "sample_type: IP|TID|TIME"));
	options.size = 0;
	CHECK(pd_print_evlist(out, file, &options, &error) == PD_ERROR_ARGUMENT);
	pd_file_close(file);
	file = open_text("header form: pipe, byte_order: little\n");
	CHECK(pd_print_evlist(out, file, NULL, &error) == PD_ERROR_NO_MATCH);
	pd_file_close(file);
	pd_text_free(out);
}

// ---- all of a file as text ----

static enum pd_status disassemble(struct pd_file *file, struct pd_text *out)
{
	return pd_disassemble(out, file, NULL, &error);
}

TEST(text_and_back)
{
	struct pd_file *file = open_text(HEADER("file") RECORDS);
	struct pd_text *out = pd_text_new(), *again = pd_text_new();
	int flushes = 2;

	CHECK(disassemble(file, out) == PD_OK && text_has(out, "comm: \"one\""));
	pd_file_close(file);
	pd_text_printf(out, "%c", 0);
	file = open_text((const char *)pd_text_bytes(out).data);
	CHECK(disassemble(file, again) == PD_OK && pd_text_bytes(again).size == pd_text_bytes(out).size - 1);
	CHECK(!memcmp(pd_text_bytes(again).data, pd_text_bytes(out).data, pd_text_bytes(again).size));
	pd_text_clear(again);
	for (int i = 0; i < 20000; i++)
		pd_text_add(again, "# a line\n");
	pd_text_set_sink(again, count_flushes, &flushes);
	CHECK(disassemble(file, again) == PD_ERROR_OUTPUT);
	pd_file_close(file);
	pd_text_free(out);
	pd_text_free(again);
}

TEST(descriptors)
{
	struct pd_descriptor descriptor = { .fd = -1, .name = "nothing" };
	size_t got;
	char byte;

	CHECK(pd_pull_descriptor(&descriptor, &byte, 1, &got, &error) == PD_ERROR_SYSTEM && descriptor.failed);
	CHECK(strstr(error.message, "nothing: "));
}

static enum pd_status assemble(struct pd_file *file, struct pd_text *out)
{
	struct pd_writer *writer = NULL;
	const struct pd_assembler_options options = { .size = sizeof(options), .open = open_writer, .self = &writer };
	struct pd_assembler *assembler;
	enum pd_status status = pd_assembler_new(&options, &assembler, &error);

	(void)file;
	(void)out;
	if (status < 0)
		return status;
	status = pull_text(assembler, HEADER("file") RECORDS);
	pd_assembler_free(assembler);
	pd_writer_abort(writer);
	return status;
}

// ---- memory ----

static enum pd_status dump_stats(struct pd_file *file, struct pd_text *out)
{
	const struct pd_dump_options options = { .size = sizeof(options), .stats = true };

	return pd_dump(out, file, &options, &error);
}

static enum pd_status dump_sorted(struct pd_file *file, struct pd_text *out)
{
	const struct pd_dump_options options = { .size = sizeof(options), .by_time = true };

	return pd_dump(out, file, &options, &error);
}

// Each allocation fails in turn: an error, or the same text, or one that says which record could not be
// decoded, or, of all of a file, other text for the same.
static void check_memory(const char *recording, enum pd_status print(struct pd_file *file, struct pd_text *out))
{
	struct pd_file *file = open_text(recording);
	struct pd_text *right = pd_text_new();
	long at = 0;

	CHECK(right && print(file, right) == PD_OK);
	pd_file_close(file);
	for (bool more = true; more; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		file = open_text(recording);
		has_failed = false;
		left = at;
		status = print(file, out);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY);
		if (status == PD_OK && print != disassemble && !text_has(out, "! no memory"))
			CHECK(pd_text_bytes(out).size == pd_text_bytes(right).size &&
			      (!pd_text_bytes(out).size ||
			       !memcmp(pd_text_bytes(out).data, pd_text_bytes(right).data, pd_text_bytes(out).size)));
		pd_text_free(out);
		pd_file_close(file);
	}
	CHECK(at > 3);
	pd_text_free(right);
}

TEST(memory)
{
	check_memory(HEADER("file") RECORDS, dump_stats);
	check_memory(HEADER("file") RECORDS, dump_sorted);
	check_memory(HEADER("pipe") RECORDS, print_evlist);
	check_memory(HEADER("file") RECORDS, print_samples);
	check_memory(HEADER("file") RECORDS, disassemble);
	check_memory(HEADER("file") RECORDS, assemble);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(selects), TEST_CASE(order_and_counts), TEST_CASE(pipes), TEST_CASE(events),
    TEST_CASE(text_and_back), TEST_CASE(descriptors), TEST_CASE(memory), TEST_CASE(clean))
