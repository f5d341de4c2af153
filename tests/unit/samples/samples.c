/* SPDX-License-Identifier: MIT */
/* Samples, headers and objects as text through the public headers, refusals, and lack of memory. */
#include "recording.h"

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|PERIOD|IDENTIFIER|CALLCHAIN, flags: sample_id_all}\n"
	"COMM pid: 5, tid: 5, comm: \"one\"\n"
	"COMM pid: 6, tid: 6, comm: \"two\"\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 5, time_ns: 100000, period: 30, "
	"callchain: [USER 0x1000 0x2000 0x3000]\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 6, tid: 6, time_ns: 300000, period: 20, "
	"callchain: [USER 0x1000 0x3000]\n";

static struct pd_error error;

struct caller {
	struct pd_symbols *symbols;
	uint32_t pid; /* 0: all */
};

static enum pd_status open_symbols(void *self, struct pd_file *file, const struct pd_state *state,
				   struct pd_symbols **symbols_out, struct pd_error *why)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };
	struct caller *caller = self;
	enum pd_status status = pd_symbols_new(file, state, &options, &caller->symbols, why);

	*symbols_out = caller->symbols;
	return status;
}

static bool choose(const void *self, const struct pd_samples_candidate *candidate)
{
	const struct caller *caller = self;

	return !caller->pid || candidate->brief->pid == caller->pid;
}

static struct pd_samples_options options_for(struct caller *caller)
{
	return (struct pd_samples_options){ .size = sizeof(struct pd_samples_options),
					    .max_stack = PD_SAMPLES_STACK,
					    .threads = 1,
					    .choose = choose,
					    .symbols = open_symbols,
					    .self = caller };
}

static enum pd_status print_file(struct pd_file *file, const struct pd_samples_options *options, struct pd_text *text,
				 struct pd_samples_result *result_out)
{
	struct pd_samples *samples = NULL;
	enum pd_status status = pd_samples_new(options, text, &samples, &error);

	if (status == PD_OK)
		status = pd_samples_run(samples, file, &error);
	if (samples && result_out)
		*result_out = pd_samples_result(samples);
	pd_symbols_free(((struct caller *)options->self)->symbols);
	((struct caller *)options->self)->symbols = NULL;
	pd_samples_free(samples);
	return status;
}

static const char *string_of(struct pd_text *text)
{
	pd_text_printf(text, "%c", 0);
	return (const char *)pd_text_bytes(text).data;
}

TEST(lines)
{
	struct caller caller = { 0 };
	struct pd_samples_options options = options_for(&caller);
	struct pd_samples_result result = { 0 };
	struct pd_text *text = pd_text_new();
	struct pd_file *file = open_text(recording);
	const char *fields = "comm,tid,ip";

	CHECK(text && file);
	CHECK(print_file(file, &options, text, &result) == PD_OK);
	CHECK(result.sample_count && result.printed_count == 2 && result.copied_count == 0);
	CHECK_STR(string_of(text), "one     5     0.000100:         30 cpu-clock: \n"
				   "\t            1000 [unknown] ([unknown])\n"
				   "\t            2000 [unknown] ([unknown])\n"
				   "\t            3000 [unknown] ([unknown])\n\n"
				   "two     6     0.000300:         20 cpu-clock: \n"
				   "\t            1000 [unknown] ([unknown])\n"
				   "\t            3000 [unknown] ([unknown])\n\n");
	pd_text_clear(text);
	caller.pid = 6;
	options.fields = &fields;
	options.field_count = 1;
	options.no_chains = true;
	CHECK(print_file(file, &options, text, &result) == PD_OK);
	CHECK(result.printed_count == 1);
	CHECK_STR(string_of(text), "             two     6              1000\n");
	pd_text_free(text);
	pd_file_close(file);
}

static const char mapped[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|IDENTIFIER|CALLCHAIN, flags: sample_id_all}\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x1000, len: 0x1000, prot: READ|EXEC, filename: \"/nowhere/a\"\n"
	"MMAP2 misc: user, pid: 5, tid: 5, addr: 0x2000, len: 0x1000, prot: READ|EXEC, filename: \"/nowhere/b\"\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 5, time_ns: 300000, callchain: [USER 0x1000 0x2000]\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 6, tid: 6, time_ns: 400000, callchain: [USER 0x1000]\n";

// What a selection takes, by what a sample says and by where it is, and chains that end.
static bool prints(const struct pd_select_options *wanted, const struct pd_select_options *stop, const char *lines)
{
	struct caller caller = { 0 };
	struct pd_samples_options options = options_for(&caller);
	struct pd_text *text = pd_text_new();
	struct pd_file *file = open_text(mapped);
	struct pd_select *select = NULL, *stops = NULL;
	struct pd_samples *samples = NULL;
	bool same = text && file && pd_select_new(wanted, &select, &error) == PD_OK &&
		    (!stop || pd_select_new(stop, &stops, &error) == PD_OK) &&
		    pd_samples_new(&options, text, &samples, &error) == PD_OK;

	if (same) {
		pd_samples_select(samples, select, stops);
		same = pd_samples_run(samples, file, &error) == PD_OK && !strcmp(string_of(text), lines);
		if (!same)
			printf("# %s\n", (const char *)pd_text_bytes(text).data);
	}
	pd_symbols_free(caller.symbols);
	pd_samples_free(samples);
	pd_select_free(select);
	pd_select_free(stops);
	pd_file_close(file);
	pd_text_free(text);
	return same;
}

TEST(selected)
{
	static const char first[] =
		":5     5     0.000300:       1000 cpu-clock: \n\t               0 [unknown] (/nowhere/a)\n";
	struct pd_select_options wanted = { .size = sizeof(wanted), .pid = "5" };
	struct pd_select_options stop = { .size = sizeof(stop), .dso = "a" };
	char whole[200], ended[200];

	snprintf(whole, sizeof(whole), "%s\t               0 [unknown] (/nowhere/b)\n\n", first);
	snprintf(ended, sizeof(ended), "%s\n", first);
	CHECK(prints(&wanted, NULL, whole));
	CHECK(prints(&wanted, &stop, ended));
	wanted.dso = "a";
	CHECK(prints(&wanted, NULL, whole));
	wanted.dso = "b";
	CHECK(prints(&wanted, NULL, ""));
	wanted = (struct pd_select_options){ .size = sizeof(wanted), .pid = "5", .where = "ip == 1" };
	CHECK(prints(&wanted, NULL, ""));
}

TEST(record_by_record)
{
	struct caller caller = { 0 };
	struct pd_samples_options options = options_for(&caller);
	const struct pd_stream_options order = { .size = sizeof(order), .order = PD_ORDER_TIME };
	struct pd_file *file = open_text(recording);
	struct pd_text *text = pd_text_new(), *whole = pd_text_new();
	struct pd_samples *samples = NULL;
	struct pd_stream *stream = NULL;
	const struct pd_record *record;

	CHECK(file && text && whole);
	CHECK(print_file(file, &options, whole, NULL) == PD_OK);
	CHECK(pd_samples_new(&options, text, &samples, &error) == PD_OK);
	CHECK(pd_samples_begin(samples, file, &error) == PD_OK);
	CHECK(pd_stream_open(file, &order, &stream, &error) == PD_OK);
	while (pd_stream_next(stream, &record, &error) == PD_OK)
		CHECK(pd_samples_take(samples, record, &error) == PD_OK);
	pd_samples_flush(samples);
	CHECK_STR(string_of(text), string_of(whole));
	pd_stream_close(stream);
	pd_symbols_free(caller.symbols);
	pd_samples_free(samples);
	pd_text_free(text);
	pd_text_free(whole);
	pd_file_close(file);
}

static bool refuse(void *self, struct pd_text *text)
{
	(void)self;
	(void)text;
	return false;
}

TEST(refused)
{
	struct caller caller = { 0 };
	struct pd_samples_options options = options_for(&caller);
	struct pd_file *file = open_text(recording);
	struct pd_text *text = pd_text_new();
	const char *fields = "comm,bogus";

	CHECK(file && text);
	options.fields = &fields;
	options.field_count = 1;
	CHECK(print_file(file, &options, text, NULL) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "unknown field 'bogus'; perfdata help script lists them");
	fields = "comm,+ip";
	CHECK(print_file(file, &options, text, NULL) == PD_ERROR_ARGUMENT);
	fields = "phys_addr";
	CHECK(print_file(file, &options, text, NULL) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "Samples for 'cpu-clock' event do not have PHYS_ADDR attribute set. "
				 "Cannot print 'phys_addr' field.");
	/* an output that cannot be written */
	options.field_count = 0;
	for (size_t i = 0; i < 1 << 15; i++)
		pd_text_add(text, "0123456789");
	pd_text_set_sink(text, refuse, NULL);
	CHECK(print_file(file, &options, text, NULL) == PD_ERROR_OUTPUT);
	pd_text_free(text);
	pd_file_close(file);
}

static enum pd_status print_about(struct pd_file *file, struct pd_text *text)
{
	const struct pd_objects_options wanted = { .size = sizeof(wanted), .only_hits = true };
	const struct pd_print_events_options shown = { .size = sizeof(shown), .details = true, .trace_fields = true };
	const struct pd_print_events_options json = { .size = sizeof(json), .json = true };
	struct pd_objects *objects = NULL;
	struct pd_trace *trace = NULL;
	enum pd_status status = pd_print_perf_header(text, file, true, &error);

	if (status == PD_OK)
		status = pd_trace_new(file, NULL, &trace, &error);
	if (status == PD_OK) {
		pd_print_events(text, file, trace, &shown);
		pd_print_events(text, file, trace, &json);
		pd_print_header(text, file);
		pd_json_header(text, file);
		status = pd_objects_read(file, &wanted, &objects, &error);
	}
	if (status == PD_OK) {
		pd_print_objects(text, objects, true);
		pd_json_objects(text, objects);
	}
	pd_objects_free(objects);
	pd_trace_free(trace);
	return status == PD_OK && pd_text_failed(text) ? PD_ERROR_MEMORY : status;
}

TEST(headers)
{
	struct pd_file *file = open_text(recording);
	struct pd_text *text = pd_text_new();
	const char *got;

	CHECK(file && text);
	CHECK(print_about(file, text) == PD_OK);
	got = string_of(text);
	CHECK(strstr(got, "# header version : 1\n"));
	CHECK(strstr(got, "cpu-clock: type: 1 (PERF_TYPE_SOFTWARE), size: "));
	CHECK(strstr(got, " (not a tracepoint)\n"));
	CHECK(strstr(got, "header: file, version 2, little-endian"));
	CHECK(strstr(got, "{\"header\":{\"mode\":\"file\",\"version\":2,"));
	CHECK(strstr(got, "{\"event\":{\"index\":0,\"name\":\"cpu-clock\""));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(no_memory)
{
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;

	CHECK(file);
	for (long n = 0;; n++) {
		struct caller caller = { 0 };
		struct pd_samples_options options = options_for(&caller);
		struct pd_text *text = pd_text_new();
		enum pd_status status;

		left = n;
		has_failed = false;
		status = print_file(file, &options, text, NULL);
		if (status == PD_OK)
			status = print_about(file, text);
		left = -1;
		pd_text_free(text);
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
		failures += status == PD_ERROR_MEMORY;
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
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

RUN(TEST_CASE(start), TEST_CASE(lines), TEST_CASE(selected), TEST_CASE(record_by_record), TEST_CASE(refused),
    TEST_CASE(headers), TEST_CASE(no_memory), TEST_CASE(clean))
