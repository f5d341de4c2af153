/* SPDX-License-Identifier: MIT */
/* What a doctor finds, and what a summary and counts say, of recordings from text; and lack of memory. */
#include "../edit/recording.h"

#define EVENT                                                                         \
	"header form: file, byte_order: little\n"                                     \
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, " \
	"sample_type: IP|TID|TIME|CPU|IDENTIFIER, flags: sample_id_all}\n"
#define ID "sample_id: {pid: 5, tid: 5, time_ns: 50, cpu: 0, identifier: 7}\n"
#define SAMPLE(time) "SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 5, time_ns: " time ", cpu: 0\n"

static const char lossy[] = EVENT "feature HOSTNAME {value: \"here\"}\n"
				  "LOST id: 7, lost: 90, " ID SAMPLE("1000000000") SAMPLE("3500000000");
static const char backwards[] = EVENT SAMPLE("5000000000") SAMPLE("1000000000");
static const char empty[] = EVENT;

static struct pd_error error;

static const struct pd_finding *find(const struct pd_doctor *doctor, const char *code)
{
	const struct pd_finding *finding;

	for (size_t i = 0; (finding = pd_doctor_finding(doctor, i)) != NULL; i++)
		if (!strcmp(finding->code, code))
			return finding;
	return NULL;
}

// Examines a file with all that there is. What was found is in the doctor, and as text and JSON.
static enum pd_status examine(struct pd_file *file, struct pd_doctor **doctor_out, struct pd_text *text)
{
	const struct pd_profile_options by = { .size = sizeof(by), .by = PD_BY_CHAIN | PD_BY_COMM, .threads = 1 };
	struct pd_profile *profile = NULL;
	struct pd_symbols *symbols = NULL;
	enum pd_status status = pd_doctor_new(file, NULL, doctor_out, &error);

	if (status >= 0 && pd_doctor_has_samples(*doctor_out)) {
		status = pd_profile_read(file, &by, &profile, &error);
		if (status >= 0)
			status = pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error);
		if (status >= 0)
			status = pd_profile_name(profile, symbols, &error);
		if (status >= 0)
			status = pd_doctor_take_profile(*doctor_out, profile, symbols, &error);
	}
	if (status >= 0 && text) {
		pd_print_doctor(text, *doctor_out, "file");
		pd_json_doctor(text, *doctor_out, "file");
	}
	pd_symbols_free(symbols);
	pd_profile_free(profile);
	return status;
}

TEST(losses)
{
	struct pd_file *file = open_text(lossy);
	struct pd_text *text = pd_text_new();
	struct pd_doctor *doctor = NULL;
	const struct pd_finding *finding;
	struct pd_bytes bytes;

	CHECK(file && text && examine(file, &doctor, text) == PD_OK);
	finding = find(doctor, "lost-records");
	CHECK(finding && finding->severity == PD_FINDING_BAD && finding->count == 90 && finding->total == 93);
	CHECK(strstr(finding->text, "90 of 93 records") && finding->command && finding->meaning);
	// nothing is mapped anywhere
	finding = find(doctor, "unknown-addresses");
	CHECK(finding && finding->count == 2 && finding->severity == PD_FINDING_BAD);
	CHECK(find(doctor, "few-samples") && find(doctor, "no-stacks") && !find(doctor, "time-backwards"));
	// worst first
	CHECK(pd_doctor_finding(doctor, 0)->severity == PD_FINDING_BAD && !pd_doctor_finding(doctor, 99));
	pd_text_add(text, "");
	bytes = pd_text_bytes(text);
	CHECK(bytes.size && memmem(bytes.data, bytes.size, "profile quality: poor", 21));
	CHECK(memmem(bytes.data, bytes.size, "\"code\":\"lost-records\"", 21));
	pd_doctor_free(doctor);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(times)
{
	struct pd_file *file = open_text(backwards);
	const struct pd_finding *finding;
	struct pd_doctor *doctor = NULL;

	CHECK(file && examine(file, &doctor, NULL) == PD_OK);
	finding = find(doctor, "time-backwards");
	CHECK(finding && finding->count == 1 && strstr(finding->text, "4000.000 ms"));
	pd_doctor_free(doctor);
	pd_file_close(file);
}

TEST(nothing)
{
	const struct pd_doctor_options no_size = { 0 };
	struct pd_file *file = open_text(empty);
	struct pd_doctor *doctor = NULL;

	CHECK(file && examine(file, &doctor, NULL) == PD_OK);
	CHECK(!pd_doctor_has_samples(doctor) && !pd_doctor_sample_count(doctor));
	CHECK(find(doctor, "no-samples") && find(doctor, "no-samples")->severity == PD_FINDING_BAD);
	CHECK(pd_doctor_new(file, &no_size, &doctor, &error) == PD_ERROR_ARGUMENT);
	pd_doctor_free(NULL);
	pd_doctor_free(doctor);
	pd_file_close(file);
}

TEST(codes)
{
	const char *doc = NULL;
	size_t count = 0;

	while (pd_finding_code(count, &doc)) {
		CHECK(*doc);
		for (size_t i = 0; i < count; i++)
			CHECK(strcmp(pd_finding_code(i, NULL), pd_finding_code(count, NULL)) != 0);
		count++;
	}
	CHECK(count > 30);
}

TEST(summary)
{
	const struct pd_summary_options no_size = { 0 };
	struct pd_file *file = open_text(lossy);
	struct pd_text *text = pd_text_new();
	const struct pd_summary_numbers *numbers;
	struct pd_summary *summary;
	struct pd_bytes bytes;
	char string[32];

	CHECK(file && text && pd_summary_read(file, NULL, &summary, &error) == PD_OK);
	numbers = pd_summary_numbers(summary);
	CHECK(numbers->first_ns == 1000000000 && numbers->last_ns == 3500000000 && numbers->lost_records == 90);
	CHECK(pd_stats_total(pd_summary_stats(summary)) == 3);
	CHECK(pd_stats_of_type(pd_summary_stats(summary), PD_RECORD_SAMPLE) == 2);
	CHECK(pd_stats_samples(pd_summary_stats(summary), 0) == 2 && !pd_stats_samples(pd_summary_stats(summary), 9));
	CHECK(pd_summary_missing(summary, 0) && !pd_summary_missing(summary, 99));
	pd_print_summary(text, summary, "file");
	pd_json_summary(text, summary, "file");
	bytes = pd_text_bytes(text);
	CHECK(memmem(bytes.data, bytes.size, "2.500 s, from 1.000000", 22));
	CHECK(memmem(bytes.data, bytes.size, "\"first_ns\":1000000000", 21));
	CHECK_STR(pd_stats_type_name(200, string, sizeof(string)), "UNKNOWN(200)");
	CHECK_STR(pd_size_string(1, string), "1 byte");
	CHECK_STR(pd_size_string(10240, string), "10.0 KiB");
	pd_summary_free(summary);
	CHECK(pd_summary_read(file, &no_size, &summary, &error) == PD_ERROR_ARGUMENT && !summary);
	pd_summary_free(NULL);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(no_memory)
{
	struct pd_file *file = open_text(lossy);
	unsigned failures = 0;

	CHECK(file);
	for (long n = 0;; n++) {
		struct pd_doctor *doctor = NULL;
		struct pd_summary *summary = NULL;
		enum pd_status status, read;

		left = n;
		has_failed = false;
		status = examine(file, &doctor, NULL);
		read = pd_summary_read(file, NULL, &summary, &error);
		left = -1;
		pd_doctor_free(doctor);
		pd_summary_free(summary);
		if (!has_failed) {
			CHECK(status == PD_OK && read == PD_OK);
			break;
		}
		failures += status < 0 || read < 0;
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

RUN(TEST_CASE(start), TEST_CASE(losses), TEST_CASE(times), TEST_CASE(nothing), TEST_CASE(codes), TEST_CASE(summary),
    TEST_CASE(no_memory), TEST_CASE(clean))
