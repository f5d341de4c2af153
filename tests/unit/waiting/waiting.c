/* SPDX-License-Identifier: MIT */
/* Recordings of waiting: samples with how long a thread waited, and call chains with why and by whom it was woken. */
#include <perfdata/waiting.h>

#include "unit/interval/story.h"

static struct pd_error error;

static enum pd_status write_waiting(struct pd_file *file, const char *path, const struct pd_waiting_options *options,
				    struct pd_waiting_result *result)
{
	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
	struct pd_writer *writer;
	enum pd_status status = file ? pd_writer_open(path, &form, &writer, &error) : PD_ERROR_ARGUMENT;

	if (status < 0)
		return status;
	status = pd_waiting_write(file, writer, options, result, &error);
	if (status >= 0)
		return pd_writer_finish(writer, &error);
	pd_writer_abort(writer);
	return status;
}

// A recording of the waiting in another one, which is closed.
static struct pd_file *make_waiting(struct pd_file *file, const struct pd_waiting_options *options,
				    struct pd_waiting_result *result)
{
	struct pd_file *waiting = NULL;

	memset(result, 0, sizeof(*result));
	if (write_waiting(file, path_of("waiting"), options, result) < 0 ||
	    pd_file_open(path_of("waiting"), NULL, &waiting, &error) < 0)
		printf("# %s\n", error.message);
	pd_file_close(file);
	unlink(path_of("waiting"));
	return waiting;
}

// How often, and how long in all, a thread waited with a label in its call chain; 0: any thread.
struct waits {
	uint64_t count, total_ns, chain_entries;
};

static struct waits waits_of(struct pd_file *file, uint32_t tid, const char *label)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	struct waits waits = { 0 };
	uint64_t addr = 0;

	if (!file || pd_stream_open(file, NULL, &stream, NULL) < 0)
		return waits;
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		const struct pd_ksymbol *symbol = pd_as_ksymbol(record);
		const struct pd_sample *sample = pd_as_sample(record);
		bool found = !label;

		if (symbol && label && !strcmp(symbol->name.data, label))
			addr = symbol->addr;
		for (size_t i = 0; sample && i < sample->callchain.count; i++)
			found |= addr && sample->callchain.items[i] == addr;
		if (!sample || !found || (tid && sample->tid != tid))
			continue;
		waits.count++;
		waits.total_ns += sample->period;
		waits.chain_entries += sample->callchain.count;
	}
	pd_stream_close(stream);
	return waits;
}

static bool waits_are(struct waits waits, uint64_t count, uint64_t total_ns)
{
	if (waits.count == count && waits.total_ns == total_ns)
		return true;
	printf("# %llu with %llu ns, wanted %llu with %llu\n", (unsigned long long)waits.count,
	       (unsigned long long)waits.total_ns, (unsigned long long)count, (unsigned long long)total_ns);
	return false;
}

TEST(samples)
{
	struct pd_waiting_result result;
	struct pd_file *file = make_waiting(make(&now, STORY), NULL, &result);
	const struct pd_event *event = file ? pd_file_event(file, 0) : NULL;

	CHECK(event && !strcmp(event->name, "offcpu-time") && pd_event_unit(event) == PD_UNIT_NS);
	CHECK(!pd_file_event(file, 1));
	CHECK(waits_are(waits_of(file, THREAD, "[sleeping]"), 2, 300 + 1000));
	CHECK(waits_are(waits_of(file, THREAD, "[uninterruptible]"), 1, 600));
	CHECK(waits_are(waits_of(file, THREAD, "[runnable]"), 2, 50 + 100));
	CHECK(waits_are(waits_of(file, THREAD, "[preempted]"), 1, 100));
	CHECK(waits_are(waits_of(file, THREAD, "[woken by ?]"), 2, 300 + 600));
	CHECK(waits_are(waits_of(file, OTHER, "[runnable]"), 2, 50 + 500));
	CHECK(waits_are(waits_of(file, 0, NULL), result.sample_count, result.total_ns));
	CHECK(!result.uncertain_ns && !result.left_out_count && result.what.switches);
	pd_file_close(file);
}

TEST(options)
{
	struct pd_waiting_options options = { .size = sizeof(options), .min_ns = 300, .max_ns = 600 };
	struct pd_waiting_result result;
	struct pd_file *file = make_waiting(make(&now, STORY), &options, &result);

	CHECK(waits_are(waits_of(file, THREAD, NULL), 2, 300 + 600));
	CHECK(result.left_out_count);
	pd_file_close(file);
	options = (struct pd_waiting_options){ .size = sizeof(options), .no_runnable = true, .no_wakers = true };
	file = make_waiting(make(&now, STORY), &options, &result);
	CHECK(waits_are(waits_of(file, 0, "[runnable]"), 0, 0));
	CHECK(waits_are(waits_of(file, 0, "[preempted]"), 0, 0));
	CHECK(waits_are(waits_of(file, 0, "[woken by ?]"), 0, 0));
	CHECK(waits_are(waits_of(file, THREAD, NULL), 3, 300 + 600 + 1000));
	pd_file_close(file);
	options.size = 0;
	file = make(&now, STORY);
	CHECK(write_waiting(file, path_of("waiting"), &options, NULL) == PD_ERROR_ARGUMENT);
	pd_file_close(file);
}

// SWITCH records alone do not say why.
TEST(switches)
{
	struct pd_waiting_result result;
	struct pd_file *file = make_waiting(make(NULL, STORY), NULL, &result);

	CHECK(waits_are(waits_of(file, THREAD, "[off-cpu]"), 3, 350 + 700 + 1000));
	CHECK(waits_are(waits_of(file, THREAD, "[preempted]"), 1, 100));
	CHECK(count_records(file, PD_RECORD_SWITCH_CPU_WIDE) == 0 && count_records(file, PD_RECORD_FORK) == 2);
	pd_file_close(file);
	file = open_text(
		"header form: file, byte_order: little\nevent {name: \"cycles\", sample_type: IP|TID|TIME, flags: sample_id_all}\n");
	CHECK(write_waiting(file, path_of("waiting"), NULL, NULL) == PD_ERROR_NO_SAMPLES);
	pd_file_close(file);
}

// The chain of a software event that was recorded at each switch; that of the one who wakes is of no use without wakeups.
TEST(chains)
{
	struct pd_waiting_result result;
	struct pd_file *file;

	length = 0;
	put("header form: file, byte_order: little\n"
	    "event {name: \"context-switches\", ids: [1], type: software, config: 3, sample_period: 1, "
	    "sample_type: IP|TID|TIME|CPU|CALLCHAIN|IDENTIFIER, flags: sample_id_all|context_switch}\n"
	    "COMM pid: 100, tid: 100, comm: \"maker\", sample_id: {pid: 100, tid: 100, time_ns: 5, cpu: 0, identifier: 1}\n"
	    "SAMPLE event: 0, identifier: 1, ip: 0x500, pid: 100, tid: 100, time_ns: 1000, cpu: 0, callchain: [0xffffffffffffff80, "
	    "0xffffffff81000000, 0xfffffffffffffe00, 0x500, 0x600]\n");
	put_switch(&(struct happened){ 1001, 0, SWITCHES, THREAD, 'S', 0 });
	put_switch(&(struct happened){ 3001, 0, SWITCHES, 0, 'S', THREAD });
	file = make_waiting(open_text(text), NULL, &result);
	CHECK(waits_are(waits_of(file, THREAD, "[off-cpu]"), 1, 2000));
	CHECK(waits_of(file, THREAD, "[off-cpu]").chain_entries == 2 + 5 && !result.unchained_count);
	CHECK(count_records(file, PD_RECORD_COMM) == 1);
	pd_file_close(file);
}

// ---- pairs ----

#define WAKE_TO_RUN "begin=sched:sched_waking,end=sched:sched_switch,key=pid:next_pid,owner=pid,name=latency"

// A wakeup of 1500 until 1550, and of 2600 until 2700; that of 1850 is followed by nothing until 2600.
TEST(pairs)
{
	struct pd_waiting_options options = { .size = sizeof(options), .pair = WAKE_TO_RUN };
	struct pd_waiting_result result;
	struct pd_file *file = make_waiting(make(&now, STORY), &options, &result);
	char said[PD_WAITING_TEXT];

	CHECK(waits_are(waits_of(file, THREAD, "[latency]"), 2, 50 + 100));
	CHECK(waits_are(waits_of(file, 0, NULL), result.sample_count, result.total_ns));
	CHECK(waits_of(file, THREAD, "[ended by idle]").count == 1 &&
	      waits_of(file, THREAD, "[ended by ?]").count == 1);
	// eight switches have no wakeup, one wakeup is followed by another
	CHECK(result.what.intervals == 2 && result.what.mismatched == 1 && !result.what.not_ended &&
	      result.what.began_before == 8);
	CHECK(pd_waiting_describe(&options, &result, said) && strstr(said, "2 pairs; 8 ended without a begin") &&
	      strstr(said, ", 1 began again before they ended"));
	pd_file_close(file);
	options.min_ns = 60;
	file = make_waiting(make(&now, STORY), &options, &result);
	CHECK(waits_are(waits_of(file, THREAD, NULL), 1, 100) && result.left_out_count == 1);
	pd_file_close(file);
}

// One event ends what the one before it has begun: a thread is off the CPU from one switch to another.
TEST(pairs_of_one_event)
{
	struct pd_waiting_options options = {
		.size = sizeof(options), .pair = "begin=sched:sched_switch,end=sched:sched_switch,key=prev_pid:next_pid"
	};
	struct pd_waiting_result result;
	struct pd_file *file = make_waiting(make(&now, STORY), &options, &result);

	CHECK(waits_are(waits_of(file, THREAD, "[sched_switch]"), 3, 350 + 100 + 700));
	pd_file_close(file);
	options.pair = "begin=sched:sched_s*,end=sched:sched_waking,key=cpu,owner=end,name=x";
	file = make_waiting(make(&now, STORY), &options, &result);
	// 1150 to 1500 and 2000 to 2600 by the other one on its CPU, 1800 to 1850 by the thread itself
	CHECK(waits_are(waits_of(file, OTHER, "[x]"), 1, 350));
	CHECK(waits_are(waits_of(file, THREAD, "[x]"), 1, 50));
	CHECK(waits_of(file, OTHER, NULL).count == 1 && result.what.began_before == 1);
	pd_file_close(file);
}

// Records that are lost make what is open then uncertain, and of ends without a begin nobody knows.
TEST(pairs_with_losses)
{
	static const struct happened lossy[] = {
		{ 1000, 0, WAKES, OTHER, 0, THREAD },  { 1100, 0, LOSES, 5, 0, 0 },
		{ 1200, 0, SWITCHES, 0, 'R', THREAD }, { 1300, 1, SWITCHES, 0, 'R', OTHER },
		{ 1400, 0, WAKES, THREAD, 0, 300 },
	};
	struct pd_waiting_options options = { .size = sizeof(options), .pair = WAKE_TO_RUN };
	struct pd_waiting_result result;
	struct pd_file *file = make_waiting(make(&now, lossy, 5), &options, &result);

	CHECK(waits_are(waits_of(file, THREAD, "[latency]"), 1, 200));
	CHECK(result.what.lost == 1 && result.what.unwoken == 1 && result.what.not_ended == 1 &&
	      !result.what.began_before && result.what.lost_records == 5);
	pd_file_close(file);
	options.thread_limit = 1;
	file = make_waiting(make(&now, (struct happened[]){ { 1, 0, WAKES, 1, 0, 2 }, { 2, 0, WAKES, 1, 0, 3 } }, 2),
			    &options, &result);
	CHECK(!file && error.status == PD_ERROR_LIMIT);
}

static enum pd_status status_of(const char *pair)
{
	const struct pd_waiting_options options = { .size = sizeof(options), .pair = pair };
	struct pd_file *file = make(&now, STORY);
	enum pd_status status = write_waiting(file, path_of("waiting"), &options, NULL);

	pd_file_close(file);
	return status;
}

TEST(pairs_that_are_wrong)
{
	static const struct {
		const char *pair, *said;
		enum pd_status status;
	} wrong[] = {
		{ "", "character 1: ''", PD_ERROR_ARGUMENT },
		{ "begin=a,end=b", "key= is missing", PD_ERROR_ARGUMENT },
		{ "end=a,key=b", "begin= is missing", PD_ERROR_ARGUMENT },
		{ "begin=a,end=b,", "character 15: ''", PD_ERROR_ARGUMENT },
		{ "begin=a,begin=b,key=c", "character 9: 'begin=b': is there twice", PD_ERROR_ARGUMENT },
		{ "begin=a,end=,key=c", "character 9: 'end=': nothing", PD_ERROR_ARGUMENT },
		{ "begin=a,of=b,key=c", "character 9: 'of=b': write", PD_ERROR_ARGUMENT },
		{ "begin=a,end=b,key=a+", "has no name", PD_ERROR_ARGUMENT },
		{ "begin=a,end=b,key=:a", "has no name", PD_ERROR_ARGUMENT },
		{ "begin=a,end=b,key=a+b+c+d+e", "more than 4", PD_ERROR_ARGUMENT },
		{ "begin=a,end=a,key=a:b+c:d+e:f+g:h", "more than 6", PD_ERROR_ARGUMENT },
		{ "begin=sched:sched_waking,end=sched:sched_switch,key=pid", "no field pid", PD_ERROR_FORMAT },
		{ "begin=sched:sched_waking,end=a:b,key=pid", "no samples of 'a:b'", PD_ERROR_NO_SAMPLES },
	};
	struct pd_waiting_options options = { .size = sizeof(options) };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		enum pd_status status = status_of(wrong[i].pair);

		if (status != wrong[i].status || !strstr(error.message, wrong[i].said))
			printf("# %s: %d, %s\n", wrong[i].pair, status, error.message);
		CHECK(status == wrong[i].status && strstr(error.message, wrong[i].said));
	}
	CHECK(pd_waiting_range_parse("1ms-2s", &options, &error) == PD_OK && options.min_ns == 1000000 &&
	      options.max_ns == 2000000000);
	CHECK(pd_waiting_range_parse("5ms-1ms", &options, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_waiting_range_parse("5x", &options, &error) == PD_ERROR_ARGUMENT);
}

// Each allocation fails in turn: an error, or the same samples.
static void fail_each(const struct pd_waiting_options *options)
{
	struct pd_waiting_result right, result;
	struct pd_file *file = make(&now, STORY);
	long at = 0;

	CHECK(write_waiting(file, path_of("waiting"), options, &right) == PD_OK);
	for (bool more = true; more; at++) {
		enum pd_status status;

		has_failed = false;
		left = at;
		status = write_waiting(file, path_of("waiting"), options, &result);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT ||
		      status == PD_ERROR_OUTPUT);
		if (status == PD_OK)
			CHECK(result.sample_count == right.sample_count && result.total_ns == right.total_ns);
	}
	CHECK(at > 20);
	pd_file_close(file);
	unlink(path_of("waiting"));
}

TEST(memory)
{
	fail_each(NULL);
}

TEST(memory_of_pairs)
{
	fail_each(&(struct pd_waiting_options){ .size = sizeof(struct pd_waiting_options), .pair = WAKE_TO_RUN });
}

static enum pd_status open_waiting(struct pd_file *file, struct pd_file **file_out)
{
	struct pd_waiting_result result;

	return pd_waiting_open(file, NULL, NULL, file_out, &result, &error);
}

// The same samples as in a file that is written; each allocation fails in turn.
TEST(opens)
{
	struct pd_waiting_result result;
	struct pd_file *file = make(&now, STORY), *waiting = NULL;
	struct pd_file *written = make_waiting(make(&now, STORY), NULL, &result);
	long at = 0;

	CHECK(open_waiting(file, &waiting) == PD_OK && written);
	CHECK(count_records(waiting, PD_RECORD_SAMPLE) == count_records(written, PD_RECORD_SAMPLE));
	pd_file_close(waiting);
	pd_file_close(written);
	for (bool more = true; more; at++) {
		enum pd_status status;

		waiting = NULL;
		has_failed = false;
		left = at;
		status = open_waiting(file, &waiting);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK ?
			      waiting != NULL :
			      status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT || status == PD_ERROR_OUTPUT);
		pd_file_close(waiting);
	}
	CHECK(at > 20);
	pd_file_close(file);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(samples), TEST_CASE(options), TEST_CASE(switches), TEST_CASE(chains), TEST_CASE(pairs),
    TEST_CASE(pairs_of_one_event), TEST_CASE(pairs_with_losses), TEST_CASE(pairs_that_are_wrong), TEST_CASE(memory),
    TEST_CASE(memory_of_pairs), TEST_CASE(opens), TEST_CASE(clean))
