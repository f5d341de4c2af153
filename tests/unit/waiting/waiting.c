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

// Each allocation fails in turn: an error, or the same samples.
TEST(memory)
{
	struct pd_waiting_result right, result;
	struct pd_file *file = make(&now, STORY);
	long at = 0;

	CHECK(write_waiting(file, path_of("waiting"), NULL, &right) == PD_OK);
	for (bool more = true; more; at++) {
		enum pd_status status;

		has_failed = false;
		left = at;
		status = write_waiting(file, path_of("waiting"), NULL, &result);
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

RUN(TEST_CASE(start), TEST_CASE(samples), TEST_CASE(options), TEST_CASE(switches), TEST_CASE(chains), TEST_CASE(memory),
    TEST_CASE(opens), TEST_CASE(clean))
