/* SPDX-License-Identifier: MIT */
/* Tables of what is recorded: steps, settings that change between them, refusals, and lack of memory. */
#include "recording.h"

#include <perfdata/top.h>

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cpu-clock\", ids: [7], type: software, sample_period: 1000, "
	"sample_type: IP|TID|TIME|PERIOD|IDENTIFIER, flags: sample_id_all}\n"
	"COMM pid: 5, tid: 5, comm: \"one\"\n"
	"COMM pid: 6, tid: 6, comm: \"two\"\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 5, tid: 5, time_ns: 100, period: 30\n"
	"SAMPLE misc: kernel, identifier: 7, ip: 0xffffffff81000000, pid: 5, tid: 5, time_ns: 200, period: 50\n"
	"FINISHED_ROUND\n"
	"SAMPLE misc: user, identifier: 7, ip: 0x1000, pid: 6, tid: 6, time_ns: 300, period: 20\n"
	"FINISHED_ROUND\n";

static struct pd_error error;

/* What is done at the steps. */
struct watch {
	unsigned reads, tables;
	enum pd_top_step ends_at; /* if ends */
	bool ends;
	bool no_symbols;
	void (*change)(struct pd_top_session *session); /* at the first part that was read */
	struct pd_text *text, *json;
};

static bool on_step(void *self, enum pd_top_step step, struct pd_top_session *session)
{
	struct watch *watch = self;

	if (step == PD_TOP_STEP_READ && !watch->reads++ && watch->change)
		watch->change(session);
	if (step == PD_TOP_STEP_TABLE) {
		watch->tables++;
		if (pd_top_session_text(session, 0, "a notice", watch->text, NULL) < 0 ||
		    pd_top_session_json(session, watch->json, NULL) < 0)
			return false;
	}
	return !watch->ends || step != watch->ends_at;
}

static struct pd_symbols *open_symbols(void *self, struct pd_file *file, const struct pd_state *state)
{
	const struct watch *watch = self;
	struct pd_symbols *symbols = NULL;

	if (!watch->no_symbols)
		pd_symbols_new(file, state, NULL, &symbols, NULL);
	return symbols;
}

static enum pd_status run(struct watch *watch, const struct pd_top_settings *settings, struct pd_file *file)
{
	const struct pd_top_session_options options = { .size = sizeof(options),
							.settings = *settings,
							.whom = "pid 5",
							.symbols = open_symbols,
							.step = on_step,
							.self = watch };
	struct pd_top_session *session = NULL;
	enum pd_status status = pd_top_session_new(&options, &session, &error);

	if (status == PD_OK)
		status = pd_top_session_run(session, NULL, file, &error);
	pd_top_session_free(session);
	return status;
}

/* The allocation after so many fails, -1: none. What is made before a session has all it needs. */
static enum pd_status watch_until(struct watch *watch, const struct pd_top_settings *settings, long allocations)
{
	struct pd_file *file = open_text(recording);
	enum pd_status status = PD_ERROR_MEMORY;

	watch->text = pd_text_new();
	watch->json = pd_text_new();
	if (file && watch->text && watch->json) {
		left = allocations;
		status = run(watch, settings, file);
		left = -1;
	}
	pd_file_close(file);
	return status;
}

static enum pd_status watch_all(struct watch *watch, const struct pd_top_settings *settings)
{
	return watch_until(watch, settings, -1);
}

static void forget(struct watch *watch)
{
	pd_text_free(watch->text);
	pd_text_free(watch->json);
}

static bool holds(struct pd_text *text, const char *string)
{
	pd_text_printf(text, "%c", 0);
	return strstr((const char *)pd_text_bytes(text).data, string) != NULL;
}

static const struct pd_top_settings by_comm = { .form = { .sort = "comm", .event = PD_TOP_ALL_EVENTS } };

TEST(table_at_the_end)
{
	struct watch watch = { .reads = 0 };

	CHECK(watch_all(&watch, &by_comm) == PD_OK);
	CHECK(watch.reads == 2 && watch.tables == 1);
	CHECK(holds(watch.text, "[period 1000 cpu-clock], pid 5, "));
	CHECK(holds(watch.text, "\na notice\n"));
	CHECK(holds(watch.text, "80.00%") && holds(watch.text, "20.00%"));
	CHECK(holds(watch.json, "\"samples\":3,\"kernel_samples\":1,"));
	forget(&watch);
}

static void hide_user(struct pd_top_session *session)
{
	pd_top_session_settings(session)->hide_user = true;
}

static void hide_kernel(struct pd_top_session *session)
{
	pd_top_session_settings(session)->hide_kernel = true;
}

TEST(hidden_samples)
{
	struct pd_top_settings settings = by_comm;
	struct watch all = { .reads = 0 }, later = { .change = hide_user }, kernel = { .change = hide_kernel };

	settings.hide_user = true;
	CHECK(watch_all(&all, &settings) == PD_OK);
	CHECK(holds(all.json, "\"samples\":1,\"kernel_samples\":1,"));
	CHECK(watch_all(&later, &by_comm) == PD_OK);
	CHECK(holds(later.json, "\"samples\":1,\"kernel_samples\":1,"));
	CHECK(watch_all(&kernel, &by_comm) == PD_OK);
	CHECK(holds(kernel.json, "\"samples\":2,\"kernel_samples\":0,"));
	forget(&all);
	forget(&later);
	forget(&kernel);
}

static bool sorted, refused;

static void sort_again(struct pd_top_session *session)
{
	sorted = pd_top_session_sort(session, "pid", &error) == PD_OK;
	refused = pd_top_session_sort(session, "srcline", &error) == PD_ERROR_ARGUMENT;
}

TEST(other_keys)
{
	struct pd_top_settings settings = by_comm;
	struct watch watch = { .change = sort_again };

	settings.by = PD_BY_COMM | PD_BY_PID | PD_BY_TID;
	CHECK(watch_all(&watch, &settings) == PD_OK);
	CHECK(sorted && refused);
	CHECK_STR(error.message, "sort key 'srcline' is not supported by top");
	CHECK(holds(watch.text, "5:one") && holds(watch.text, "6:two"));
	forget(&watch);
}

static void only_two(struct pd_top_session *session)
{
	pd_top_session_filter(session, "tw", NULL);
	pd_top_session_next_event(session);
}

TEST(filter_and_event)
{
	struct watch watch = { .change = only_two };

	CHECK(watch_all(&watch, &by_comm) == PD_OK);
	CHECK(holds(watch.text, "two") && !holds(watch.text, "one"));
	forget(&watch);
}

TEST(ends_by_a_step)
{
	struct watch read = { .ends = true, .ends_at = PD_TOP_STEP_READ };
	struct watch symbols = { .no_symbols = true }, stopped = { .change = pd_top_session_stop };

	CHECK(watch_all(&read, &by_comm) == PD_OK);
	CHECK(read.reads == 1 && !read.tables);
	CHECK(watch_all(&stopped, &by_comm) == PD_OK);
	CHECK(stopped.reads == 1 && !stopped.tables);
	CHECK(watch_all(&symbols, &by_comm) == PD_ERROR_STOPPED);
	CHECK(!symbols.reads && !symbols.tables);
	forget(&read);
	forget(&stopped);
	forget(&symbols);
}

/* Each part is due: what was read before it fades, or is forgotten. */
TEST(tables_in_between)
{
	struct pd_top_settings settings = by_comm;
	struct watch fading = { .reads = 0 }, zero = { .reads = 0 }, paused = { .reads = 0 };

	settings.delay_ns = 1;
	CHECK(watch_all(&fading, &settings) == PD_OK);
	CHECK(fading.reads == 2 && fading.tables == 3);
	settings.zero = true;
	CHECK(watch_all(&zero, &settings) == PD_OK);
	CHECK(zero.tables == 3);
	settings.paused = true;
	CHECK(watch_all(&paused, &settings) == PD_OK);
	CHECK(paused.tables == 1);
	CHECK(holds(paused.text, "80.00%"));
	forget(&fading);
	forget(&zero);
	forget(&paused);
}

TEST(refusals)
{
	struct pd_top_session_options options = { .size = 0 };
	struct pd_top_session *session = NULL;
	char keys[200];

	CHECK(pd_top_session_new(NULL, &session, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_top_session_new(&options, &session, &error) == PD_ERROR_ARGUMENT);
	options.size = sizeof(options);
	options.settings.form.sort = "nonsense";
	CHECK(pd_top_session_new(&options, &session, &error) == PD_ERROR_ARGUMENT);
	memset(keys, 'x', sizeof(keys) - 1);
	keys[sizeof(keys) - 1] = 0;
	options.settings.form.sort = NULL;
	options.settings.form.filter = keys;
	CHECK(pd_top_session_new(&options, &session, &error) == PD_ERROR_ARGUMENT);
	CHECK(!session);
	pd_top_session_free(NULL);
}

TEST(no_memory)
{
	unsigned failures = 0;

	for (long n = 0;; n++) {
		struct watch watch = { .change = sort_again };
		enum pd_status status;

		has_failed = false;
		status = watch_until(&watch, &by_comm, n);
		failures += status == PD_ERROR_MEMORY || !watch.tables || pd_text_failed(watch.text) ||
			    pd_text_failed(watch.json);
		forget(&watch);
		if (!has_failed) {
			CHECK(status == PD_OK && watch.tables == 1);
			break;
		}
		CHECK(n < 10000);
	}
	CHECK(failures > 20);
}

TEST(clean)
{
	clean_folder();
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(table_at_the_end), TEST_CASE(hidden_samples), TEST_CASE(other_keys),
    TEST_CASE(filter_and_event), TEST_CASE(ends_by_a_step), TEST_CASE(tables_in_between), TEST_CASE(refusals),
    TEST_CASE(no_memory), TEST_CASE(clean))
