/* SPDX-License-Identifier: MIT */
/* Reports through the public header: keys, tables, rows, texts, refusals, and lack of memory. */
#include "recording.h"

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|PERIOD|IDENTIFIER|CALLCHAIN, flags: sample_id_all}\n"
	"COMM pid: 5, tid: 5, comm: \"one\"\n"
	"COMM pid: 6, tid: 6, comm: \"two\"\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 5, time_ns: 100, period: 30, "
	"callchain: [USER 0x1000 0x2000 0x3000]\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1100, pid: 5, tid: 5, time_ns: 200, period: 50, "
	"callchain: [USER 0x1100 0x2000 0x3000]\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 6, tid: 6, time_ns: 300, period: 20, "
	"callchain: [USER 0x1000 0x3000]\n";

static struct pd_error error;

struct source {
	struct pd_file *file;
	struct pd_profile *profile;
	struct pd_symbols *symbols;
};

static bool open_source(struct source *source)
{
	const struct pd_profile_options options = { .size = sizeof(options),
						    .by = PD_BY_COMM | PD_BY_TID | PD_BY_CHAIN };

	*source = (struct source){ .file = open_text(recording) };
	return source->file && pd_profile_read(source->file, &options, &source->profile, &error) == PD_OK &&
	       pd_symbols_new(source->file, pd_profile_state(source->profile), NULL, &source->symbols, &error) ==
		       PD_OK &&
	       pd_profile_name(source->profile, source->symbols, &error) == PD_OK;
}

static void close_source(struct source *source)
{
	pd_symbols_free(source->symbols);
	pd_profile_free(source->profile);
	pd_file_close(source->file);
}

static enum pd_status report_of(const struct source *source, const char *sort, bool children,
				struct pd_report **report_out)
{
	const struct pd_report_options options = {
		.size = sizeof(options),
		.sort = sort,
		.no_children = !children,
		.graph = { .kind = PD_REPORT_GRAPH_TREE },
		.threads = 1,
	};
	enum pd_status status = pd_report_new(source->file, &options, report_out, &error);

	if (status == PD_OK)
		status = pd_report_build(*report_out, source->file, source->profile, source->symbols, &error);
	return status;
}

TEST(keys)
{
	const struct pd_report_key *key;
	size_t count = 0;

	for (; (key = pd_report_key_at(count)) != NULL; count++) {
		CHECK(key->name && key->header && key->json && key->help);
		CHECK(pd_report_key_by_name(key->name, strlen(key->name)) == key);
	}
	CHECK(count > 20);
	CHECK(pd_report_key_by_name("symbol,dso", 6) == pd_report_key_by_name("sym", 3));
	CHECK(!pd_report_key_by_name("symbols", 7));
}

TEST(rows)
{
	const struct pd_report_table *table;
	struct pd_report_quality quality;
	struct pd_report *report = NULL;
	char cell[PD_REPORT_CELL_BYTES];
	struct source source;

	CHECK(open_source(&source));
	CHECK(report_of(&source, "comm", false, &report) == PD_OK);
	CHECK_STR(pd_report_sort_key(report, 0)->name, "comm");
	CHECK(!pd_report_sort_key(report, 1));
	CHECK(!pd_report_shows_branches(report));
	table = pd_report_table(report, 0);
	CHECK(table && !pd_report_table(report, 1));
	CHECK_STR(table->name, "cpu-clock");
	CHECK(table->row_count == 2 && table->event_count == 1 && table->totals[0] == 100 && table->samples[0] == 3);
	CHECK_STR(pd_report_cell(report, 0, 0, 0, cell), "one");
	CHECK(pd_report_row(report, 0, 0)->period == 80 && pd_report_row(report, 0, 0)->samples == 2);
	CHECK_STR(pd_report_cell(report, 0, 1, 0, cell), "two");
	pd_report_quality(report, &quality);
	CHECK(quality.samples == 3 && quality.unresolved == 3 && quality.lost == 0);
	pd_report_narrow(report, "TW", 0);
	CHECK(table->row_count == 1);
	CHECK_STR(pd_report_cell(report, 0, 0, 0, cell), "two");
	pd_report_free(report);
	close_source(&source);
}

TEST(callers)
{
	struct pd_report *report = NULL;
	struct source source;

	CHECK(open_source(&source));
	CHECK(report_of(&source, "sym", true, &report) == PD_OK);
	CHECK(pd_report_table(report, 0)->row_count == 4);
	/* 0x3000, which calls everything */
	CHECK(pd_report_row(report, 0, 0)->children_period == 100 && pd_report_row(report, 0, 0)->period == 0);
	pd_report_free(report);
	close_source(&source);
}

static enum pd_status print_all(const struct source *source, struct pd_text *text)
{
	const struct pd_report_text_options options = { .size = sizeof(options), .escape = true };
	struct pd_report *report = NULL;
	enum pd_status status = report_of(source, "comm,sym", true, &report);

	if (status == PD_OK)
		status = pd_report_text_top(report, NULL, text, &error);
	if (status == PD_OK)
		status = pd_report_text(report, &options, text, &error);
	if (status == PD_OK)
		status = pd_report_text_graph(report, 0, 0, NULL, text, &error);
	if (status == PD_OK)
		status = pd_report_text_table(report, 0, 20, &options, text, &error);
	if (status == PD_OK)
		status = pd_report_json(report, text, &error);
	if (status == PD_OK)
		status = pd_report_csv(report, &options, text, &error);
	pd_report_free(report);
	return status;
}

TEST(texts)
{
	struct pd_text *text = pd_text_new();
	struct source source;
	const char *got;

	CHECK(text && open_source(&source));
	CHECK(print_all(&source, text) == PD_OK);
	pd_text_printf(text, "%c", 0);
	got = (const char *)pd_text_bytes(text).data;
	CHECK(strstr(got, "# Profile quality: poor (3 samples, 0 lost"));
	CHECK(strstr(got, "# Children      Self  Command  Symbol"));
	CHECK(strstr(got, "    80.00%     0.00%  one      [.] 0x0000000000003000"));
	CHECK(strstr(got, "---0x3000"));
	CHECK(strstr(got, "\"thread_comm\"") == NULL && strstr(got, "\"comm\":\"one\",\"level\":\".\""));
	CHECK(strstr(got, "event,children,overhead,samples,period,comm,symbol\r\n"));
	pd_text_free(text);
	close_source(&source);
}

/* Names of threads as the rows of all events in one table have them. */
static bool rows_are(struct pd_file *file, size_t sort_event, const char *first, const char *second, const char *third)
{
	const struct pd_report_options options = {
		.size = sizeof(options), .sort = "comm", .all_in_one_table = true, .sort_event = sort_event
	};
	const char *const wanted[] = { first, second, third };
	struct pd_report *report = NULL;
	char cell[PD_REPORT_CELL_BYTES];
	bool right = pd_report_read(file, &options, NULL, &report, &error) == PD_OK;

	for (size_t i = 0; right && i < 3; i++)
		right = pd_report_row(report, 0, i) && !strcmp(pd_report_cell(report, 0, i, 0, cell), wanted[i]);
	pd_report_free(report);
	return right;
}

/* By the first event, by another one and then all but the first, and by one that there is not: by the first one alone. */
TEST(sorted_by_an_event)
{
#define EVENT(id, name)                                                           \
	"event {name: \"" name "\", ids: [" #id "], type: software, config: " #id \
	", sample_type: IP|TID|PERIOD|IDENTIFIER}\n"
#define SAMPLE(id, tid, period) \
	"SAMPLE event: " #id ", misc: user, identifier: " #id ", pid: " #tid ", tid: " #tid ", period: " #period "\n"
	struct pd_file *file = open_text(EVENT(0, "a") EVENT(1, "b") EVENT(2, "c") SAMPLE(0, 1, 30) SAMPLE(0, 2, 20)
						 SAMPLE(0, 3, 30) SAMPLE(1, 1, 5) SAMPLE(1, 2, 6) SAMPLE(1, 3, 7)
							 SAMPLE(2, 1, 9));

	CHECK(file);
	CHECK(rows_are(file, 0, ":3", ":1", ":2"));
	CHECK(rows_are(file, 1, ":3", ":2", ":1"));
	CHECK(rows_are(file, 2, ":1", ":3", ":2"));
	CHECK(rows_are(file, 3, ":1", ":3", ":2"));
	pd_file_close(file);
}

TEST(in_one_call)
{
	const struct pd_report_options options = { .size = sizeof(options), .sort = "comm,sym" };
	const struct pd_symbols_options names = { .size = sizeof(names), .flags = PD_SYMBOLS_NO_FILES };
	struct pd_file *file = open_text(recording);
	struct pd_report *report = NULL;
	struct pd_text *text = pd_text_new(), *other = pd_text_new();
	char cell[PD_REPORT_CELL_BYTES];
	struct source source;

	CHECK(file && text && other && open_source(&source));
	CHECK(pd_report_read(file, &options, &names, &report, &error) == PD_OK);
	CHECK_STR(pd_report_cell(report, 0, 0, 0, cell), "one");
	CHECK(pd_report_row(report, 0, 0)->children_period == 80 && pd_report_row(report, 0, 0)->period == 0);
	CHECK(pd_report_text(report, NULL, text, &error) == PD_OK);
	pd_report_free(report);
	/* the same as step by step */
	CHECK(pd_report_new(source.file, &options, &report, &error) == PD_OK);
	CHECK(pd_report_build(report, source.file, source.profile, source.symbols, &error) == PD_OK);
	CHECK(pd_report_text(report, NULL, other, &error) == PD_OK);
	CHECK(pd_text_bytes(text).size == pd_text_bytes(other).size &&
	      !memcmp(pd_text_bytes(text).data, pd_text_bytes(other).data, pd_text_bytes(text).size));
	pd_report_free(report);
	CHECK(pd_report_read(file, &(struct pd_report_options){ 0 }, NULL, &report, &error) == PD_ERROR_ARGUMENT);
	pd_text_free(other);
	pd_text_free(text);
	pd_file_close(file);
	close_source(&source);
}

TEST(past_the_end)
{
	struct pd_report *report = NULL;
	struct pd_profile_entry entry;
	char cell[PD_REPORT_CELL_BYTES];
	struct source source;
	size_t count = 1;

	CHECK(open_source(&source));
	CHECK(report_of(&source, "comm", false, &report) == PD_OK);
	CHECK(!pd_report_table(report, 1) && !pd_report_row(report, 1, 0) && !pd_report_row(report, 0, 2));
	CHECK(!pd_report_cell(report, 0, 2, 0, cell) && !pd_report_cell(report, 0, 0, 1, cell));
	CHECK(!pd_report_cell(report, 1, 0, 0, cell));
	CHECK(!pd_profile_entry(source.profile, SIZE_MAX, &entry) && !pd_profile_total(source.profile, 1));
	CHECK(pd_profile_stack(source.profile, pd_profile_stack_count(source.profile) - 1));
	CHECK(!pd_profile_stack(source.profile, pd_profile_stack_count(source.profile)));
	CHECK(pd_profile_frame(source.profile, (uint32_t)pd_profile_frame_count(source.profile) - 1));
	CHECK(!pd_profile_frame(source.profile, (uint32_t)pd_profile_frame_count(source.profile)));
	CHECK(!pd_profile_slices(source.profile, 0, &count) && count == 0);
	CHECK(!pd_symbols_dso(source.symbols, SIZE_MAX) && !pd_symbols_function(source.symbols, SIZE_MAX));
	CHECK(!pd_state_thread(pd_profile_state(source.profile), SIZE_MAX));
	CHECK(!pd_state_object(pd_profile_state(source.profile), SIZE_MAX));
	CHECK(!pd_state_mapping(pd_profile_state(source.profile), SIZE_MAX));
	CHECK(!pd_state_code_change(pd_profile_state(source.profile), SIZE_MAX));
	CHECK(!pd_file_event(source.file, 1) && !pd_file_part_name(source.file, SIZE_MAX));
	CHECK(!pd_report_key_at(SIZE_MAX) && !pd_filter_word(SIZE_MAX, NULL) && !pd_consumer_at(SIZE_MAX));
	CHECK(!pd_layout_at(SIZE_MAX) && !pd_names_at(SIZE_MAX));
	pd_report_free(report);
	close_source(&source);
}

TEST(place_names)
{
	const struct pd_dso dso = { .name = "libc.so.6" };
	const struct pd_function function = { .dso = &dso, .name = "read", .start = 0x1000, .end = 0x1020 };
	const struct pd_function inlined = { .dso = &dso, .name = "check" };
	struct pd_place place = { .dso = &dso, .function = &function, .addr = 0x101f, .recorded = 0x7f101f };
	char name[64], small[8];

	CHECK(pd_place_name(&place, name, sizeof(name)) == 21);
	CHECK_STR(name, "read+0x1f (libc.so.6)");
	CHECK(pd_place_name(&place, small, sizeof(small)) == 21);
	CHECK_STR(small, "read+0x");
	CHECK(pd_place_name(&place, NULL, 0) == 21);
	place.function = &inlined;
	pd_place_name(&place, name, sizeof(name));
	CHECK_STR(name, "check (libc.so.6)");
	place.function = NULL;
	pd_place_name(&place, name, sizeof(name));
	CHECK_STR(name, "0x101f (libc.so.6)");
	place.dso = NULL;
	pd_place_name(&place, name, sizeof(name));
	CHECK_STR(name, "0x7f101f");
}

static bool refuse(void *self, struct pd_text *text)
{
	(void)self;
	(void)text;
	return false;
}

TEST(refused)
{
	struct pd_report_options options = { .size = sizeof(options), .sort = "comm,bogus" };
	struct pd_report_graph graph = { 0 };
	struct pd_report *report = NULL;
	struct pd_text *text = pd_text_new();
	struct source source;

	CHECK(text && open_source(&source));
	CHECK(pd_report_new(source.file, &options, &report, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "unknown sort key 'bogus'; perfdata report --help lists them");
	options.sort = "dso_from";
	CHECK(pd_report_new(source.file, &options, &report, NULL) == PD_ERROR_ARGUMENT);
	options = (struct pd_report_options){ .size = sizeof(options), .view = PD_REPORT_BRANCHES };
	CHECK(pd_report_new(source.file, &options, &report, &error) == PD_ERROR_NO_MATCH);
	options = (struct pd_report_options){ .size = sizeof(options), .hierarchy = true, .fields = "p50,comm" };
	CHECK(pd_report_new(source.file, &options, &report, &error) == PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "--hierarchy"));
	options.size = 0;
	CHECK(pd_report_new(source.file, &options, &report, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_report_graph_parse("flat,2,caller", &graph, &error) == PD_OK);
	CHECK(graph.kind == PD_REPORT_GRAPH_FLAT && graph.least_percent == 2 && graph.caller && graph.order_given);
	CHECK(pd_report_graph_parse("round", &graph, &error) == PD_ERROR_ARGUMENT);
	/* an output that cannot be written */
	for (size_t i = 0; i < 1 << 15; i++)
		pd_text_add(text, "0123456789");
	pd_text_set_sink(text, refuse, NULL);
	CHECK(report_of(&source, "comm", false, &report) == PD_OK);
	CHECK(pd_report_text(report, NULL, text, &error) == PD_ERROR_OUTPUT);
	pd_report_free(report);
	pd_text_free(text);
	close_source(&source);
}

TEST(no_memory)
{
	struct source source;
	unsigned failures = 0;

	CHECK(open_source(&source));
	for (long n = 0;; n++) {
		struct pd_text *text = pd_text_new();
		struct pd_report *report = NULL;
		enum pd_status status;

		left = n;
		has_failed = false;
		status = print_all(&source, text);
		if (status == PD_OK)
			status = pd_report_read(source.file, NULL, NULL, &report, &error);
		left = -1;
		pd_report_free(report);
		pd_text_free(text);
		if (!has_failed) {
			CHECK(status == PD_OK);
			break;
		}
		failures += status == PD_ERROR_MEMORY;
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
	close_source(&source);
}

// ---- percentiles ----

enum {
	PERIOD_SAMPLES = 6000, // more than one part of entries
	PERIOD_THREADS = 3
};

// Not in order; from 1 to some billions.
static uint64_t some_period(unsigned thread, unsigned index)
{
	uint64_t at = (uint64_t)index * 7919 % PERIOD_SAMPLES;

	return thread ? (at + 1) * (at + 1) * (at + 1) / (50 * thread) + 1 : 1 + at % 4;
}

// As many samples for each thread, of which all have another address.
static struct pd_file *open_periods(void)
{
	struct pd_text *made = pd_text_new();
	struct pd_file *file;

	pd_text_add(made,
		    "header form: file, byte_order: little\n"
		    "event {name: \"a\", ids: [7], type: software, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER}\n"
		    "event {name: \"b\", ids: [8], type: software, sample_type: IP|TID|TIME|PERIOD|IDENTIFIER}\n");
	for (unsigned i = 0; i < PERIOD_SAMPLES; i++)
		for (unsigned k = 0; k < PERIOD_THREADS; k++)
			pd_text_printf(
				made,
				"SAMPLE misc: user, identifier: %u, ip: %u, pid: %u, tid: %u, time_ns: %u, period: %llu\n",
				k == 2 ? 8 : 7, 0x1000 + i % 97 * 16, k + 1, k + 1, 1 + i,
				(unsigned long long)some_period(k, i));
	pd_text_printf(made, "%c", 0);
	file = open_text((const char *)pd_text_bytes(made).data);
	pd_text_free(made);
	return file;
}

static int compare_periods(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

// Whether a line of CSV has the numbers of a thread, as nearly as they are kept.
static bool has_percentiles(const char *line, unsigned thread)
{
	static const unsigned percents[] = { 50, 95, 99, 100 };
	static uint64_t periods[PERIOD_SAMPLES];
	unsigned long long samples, total, mean, found[4], sum = 0;
	bool right;

	for (unsigned i = 0; i < PERIOD_SAMPLES; i++)
		sum += periods[i] = some_period(thread, i);
	qsort(periods, PERIOD_SAMPLES, sizeof(*periods), compare_periods);
	right = sscanf(line, "%*[^,],%*[^,],%llu,%llu,%llu,%llu,%llu,%llu,%llu", &samples, &total, &mean, &found[0],
		       &found[1], &found[2], &found[3]) == 7 &&
		samples == PERIOD_SAMPLES && total == sum && mean == sum / PERIOD_SAMPLES;
	for (unsigned i = 0; right && i < 4; i++) {
		uint64_t wanted = periods[(PERIOD_SAMPLES * percents[i] + 99) / 100 - 1];
		uint64_t off = found[i] > wanted ? found[i] - wanted : wanted - found[i];

		right &= off <= wanted / 64;
	}
	return right;
}

static enum pd_status print_percentiles(struct pd_file *file, const char *fields, bool children, unsigned threads,
					struct pd_text *text)
{
	const struct pd_report_options options = { .size = sizeof(options),
						   .sort = "tgid",
						   .fields = fields,
						   .no_children = !children,
						   .graph = { .kind = PD_REPORT_GRAPH_TREE },
						   .threads = threads };
	struct pd_report *report = NULL;
	enum pd_status status = pd_report_read(file, &options, NULL, &report, &error);

	if (status == PD_OK)
		status = pd_report_csv(report, NULL, text, &error);
	if (status == PD_OK)
		status = pd_report_text(report, NULL, text, &error);
	if (status == PD_OK)
		status = pd_report_json(report, text, &error);
	pd_report_free(report);
	return status;
}

TEST(percentiles)
{
	struct pd_file *file = open_periods();
	struct pd_text *text = pd_text_new();
	unsigned found = 0;

	CHECK(file && print_percentiles(file, "+count,total,mean,p50,p95,p99,max", false, 2, text) == PD_OK);
	pd_text_printf(text, "%c", 0);
	for (const char *line = (const char *)pd_text_bytes(text).data; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		for (unsigned k = 0; k < PERIOD_THREADS; k++)
			found += *line == (k == 2 ? 'b' : 'a') && line[1] == ',' && has_percentiles(line, k);
	}
	CHECK(found == PERIOD_THREADS);
	CHECK(strstr((const char *)pd_text_bytes(text).data,
		     "Mean           p50           p95           p99           Max"));
	CHECK(strstr((const char *)pd_text_bytes(text).data, "\"mean\":2"));
	pd_text_free(text);
	// callers have rows, too
	text = pd_text_new();
	CHECK(print_percentiles(file, "p50,max,sample", true, 1, text) == PD_OK);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(percentiles_without_memory)
{
	struct pd_file *file = open_text(recording);
	unsigned failures = 0;
	enum pd_status status;

	has_failed = true;
	for (long n = 0; has_failed; n++) {
		struct pd_text *text = pd_text_new();

		left = n;
		has_failed = false;
		status = print_percentiles(file, "+max,p50", true, 1, text);
		left = -1;
		pd_text_free(text);
		failures += status == PD_ERROR_MEMORY;
		CHECK(has_failed || status == PD_OK);
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
	pd_file_close(file);
}

// All of top's functions on a profile.
static enum pd_status print_top(const struct source *source, struct pd_text *text)
{
	const struct pd_top_form form = { .sort = "sym", .filter = "", .event = PD_TOP_ALL_EVENTS };
	const struct pd_top_source shown = { source->file, source->profile, source->symbols };
	struct pd_top_totals totals = { .seconds = 2, .whom = "all", .cpus = 1 };
	struct pd_profile_options asked = { 0 };
	char rate[PD_TOP_RATE_BYTES];
	enum pd_status status = pd_top_ask(&form, &asked, &error);

	pd_top_describe_rate(pd_file_event(source->file, 0), rate);
	totals.rate = rate;
	pd_top_count(&totals, source->profile, pd_profile_state(source->profile));
	if (status == PD_OK)
		status = pd_top_text(&form, &totals, &shown, 0, text, &error);
	if (status == PD_OK)
		status = pd_top_json(&form, &totals, &shown, text, &error);
	return status;
}

TEST(top)
{
	const struct pd_top_form wrong = { .sort = "srcline", .filter = "" };
	struct pd_text *text = pd_text_new();
	struct pd_profile_options asked;
	struct source source;

	CHECK(text && open_source(&source));
	CHECK(print_top(&source, text) == PD_OK);
	pd_text_printf(text, "%c", 0);
	CHECK(strstr(
		(const char *)pd_text_bytes(text).data,
		"perfdata top: 2 samples/s, kernel 0.0%, lost 0 (0.00%), [period 1000 cpu-clock], all, 1 CPU, 2 threads\n"));
	CHECK(strstr((const char *)pd_text_bytes(text).data, "\"seconds\":2.000000,\"samples\":3,") ||
	      strstr((const char *)pd_text_bytes(text).data, "\"seconds\":2,\"samples\":3,"));
	CHECK(pd_top_ask(&wrong, &asked, &error) == PD_ERROR_ARGUMENT);
	CHECK(strcmp(error.message, "sort key 'srcline' is not supported by top") == 0);
	pd_text_free(text);
	close_source(&source);
}

TEST(top_without_memory)
{
	struct source source;
	unsigned failures = 0;

	CHECK(open_source(&source));
	for (long n = 0;; n++) {
		struct pd_text *text = pd_text_new();
		enum pd_status status;

		left = n;
		has_failed = false;
		status = print_top(&source, text);
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY);
		failures += status == PD_ERROR_MEMORY || pd_text_failed(text);
		pd_text_free(text);
		if (!has_failed)
			break;
		CHECK(n < 10000);
	}
	CHECK(failures > 10);
	close_source(&source);
}

TEST(clean)
{
	clean_folder();
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(keys), TEST_CASE(rows), TEST_CASE(callers), TEST_CASE(texts), TEST_CASE(refused),
    TEST_CASE(sorted_by_an_event), TEST_CASE(in_one_call), TEST_CASE(past_the_end), TEST_CASE(place_names),
    TEST_CASE(no_memory), TEST_CASE(percentiles), TEST_CASE(percentiles_without_memory), TEST_CASE(top),
    TEST_CASE(top_without_memory), TEST_CASE(clean))
