/* SPDX-License-Identifier: MIT */
/*
 * Makes a large perf.data from a recording of real work: all of its records again and again, those of processes and mappings
 * included, with times and the numbers of processes moved on, so that every process is a new one. What describes the
 * machine (the kernel's own mappings and symbols, ids of events) is written once.
 */
#include <perfdata/perfdata.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GAP_NS 1000000u // between two repetitions

enum {
	PIDS_ROUND = 10000,  // the numbers of a repetition begin at a multiple of this
	PIDS_MOST = 1 << 30, // perf's are signed
	EVENTS_MOST = 4096,
};

// What a recording has, by its first pass.
struct extent {
	uint64_t first_ns, last_ns;
	uint64_t again_bytes, once_bytes;
	uint32_t pid_most;
};

static void die(const struct pd_error *error)
{
	fprintf(stderr, "forks: %s\n", error->message);
	exit(1);
}

static void check(enum pd_status status, const struct pd_error *error)
{
	if (status < 0)
		die(error);
}

static void refuse(const char *reason)
{
	fprintf(stderr, "forks: %s\n", reason);
	exit(1);
}

static bool is_kernel_wide(const struct pd_record *record)
{
	const struct pd_mmap *mmap = pd_as_mmap(record);
	const struct pd_mmap2 *mmap2 = pd_as_mmap2(record);

	return record->type == PD_RECORD_KSYMBOL || record->type == PD_RECORD_BPF_EVENT ||
	       (mmap && mmap->pid == UINT32_MAX) || (mmap2 && mmap2->pid == UINT32_MAX);
}

// Records of the kernel, and the marks after which nothing older comes.
static bool is_repeated(const struct pd_record *record)
{
	enum pd_record_group group = pd_record_group(record->type);

	if (record->type == PD_RECORD_FINISHED_ROUND || group == PD_GROUP_SAMPLE)
		return true;
	return group == PD_GROUP_KERNEL && !is_kernel_wide(record);
}

static uint32_t greater_pid(uint32_t a, uint32_t b)
{
	return b != UINT32_MAX && b > a ? b : a;
}

static void note_pids(struct extent *extent, const struct pd_record *record)
{
	const struct pd_task *fork = pd_as_fork(record);
	const struct pd_comm *comm = pd_as_comm(record);
	const struct pd_sample *sample = pd_as_sample(record);

	if (fork)
		extent->pid_most = greater_pid(greater_pid(extent->pid_most, fork->pid), fork->tid);
	if (comm)
		extent->pid_most = greater_pid(greater_pid(extent->pid_most, comm->pid), comm->tid);
	if (sample)
		extent->pid_most = greater_pid(greater_pid(extent->pid_most, sample->pid), sample->tid);
}

static struct extent measure(struct pd_file *file)
{
	struct extent extent = { .first_ns = UINT64_MAX };
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_error error;
	enum pd_status status;

	check(pd_stream_open(file, NULL, &stream, &error), &error);
	while ((status = pd_stream_next(stream, &record, &error)) == PD_OK) {
		*(is_repeated(record) ? &extent.again_bytes : &extent.once_bytes) += record->bytes.size;
		note_pids(&extent, record);
		if (record->time_ns == PD_NO_TIME || !record->time_ns)
			continue;
		if (record->time_ns < extent.first_ns)
			extent.first_ns = record->time_ns;
		if (record->time_ns > extent.last_ns)
			extent.last_ns = record->time_ns;
	}
	check(status, &error);
	pd_stream_close(stream);
	if (!extent.last_ns)
		refuse("the records have no times");
	return extent;
}

static size_t add_events(struct pd_file *file, struct pd_writer *writer, size_t *numbers)
{
	size_t count = pd_file_event_count(file);
	struct pd_error error;

	if (count > EVENTS_MOST)
		refuse("too many events");
	for (size_t i = 0; i < count; i++) {
		const struct pd_event *event = pd_file_event(file, i);

		numbers[i] = i;
		check(pd_writer_add_event(writer, event->attr, event->ids, event->name, &error), &error);
	}
	return count;
}

static void add_features(struct pd_file *file, struct pd_writer *writer, const struct extent *extent, uint64_t later_ns)
{
	struct pd_sample_time times = { .first_ns = extent->first_ns, .last_ns = extent->last_ns + later_ns };
	struct pd_feature_section section;
	struct pd_error error;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++)
		check(pd_writer_join_feature(writer, file, section.number, &error), &error);
	check(pd_writer_set_feature(writer, PD_FEATURE_SAMPLE_TIME, &times, &error), &error);
}

static uint64_t repeat(struct pd_file *file, struct pd_writer *writer, const struct pd_join *join, bool first)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_error error;
	enum pd_status status;
	uint64_t written = 0;

	check(pd_stream_open(file, NULL, &stream, &error), &error);
	while ((status = pd_stream_next(stream, &record, &error)) == PD_OK) {
		if (!first && !is_repeated(record))
			continue;
		check(pd_writer_pass_joined(writer, stream, record, join, &error), &error);
		written++;
	}
	check(status, &error);
	pd_stream_close(stream);
	return written;
}

static void write_all(struct pd_file *file, struct pd_writer *writer, uint64_t bytes)
{
	struct extent extent = measure(file);
	size_t numbers[EVENTS_MOST];
	struct pd_join join = { .size = sizeof(join), .events = numbers };
	uint64_t times = 1, step_ns = extent.last_ns - extent.first_ns + GAP_NS, records = 0;
	uint32_t step_pids = (extent.pid_most / PIDS_ROUND + 1) * PIDS_ROUND;

	if (extent.again_bytes && bytes > extent.once_bytes + extent.again_bytes)
		times = (bytes - extent.once_bytes + extent.again_bytes / 2) / extent.again_bytes;
	if (times > PIDS_MOST / step_pids)
		refuse("there are not enough numbers of processes: record more, or ask for less");
	join.event_count = add_events(file, writer, numbers);
	add_features(file, writer, &extent, (times - 1) * step_ns);
	for (uint64_t i = 0; i < times; i++) {
		join.time_ns = (int64_t)(i * step_ns);
		join.tasks = (uint32_t)i * step_pids;
		// processes that ran before the recorder are there from the start of the repetition
		join.untimed_ns = i ? extent.first_ns + i * step_ns : 0;
		records += repeat(file, writer, &join, !i);
	}
	printf("%" PRIu64 " times %" PRIu64 " bytes, %" PRIu64 " records\n", times, extent.again_bytes, records);
}

int main(int argc, char **argv)
{
	struct pd_writer_options form = { .size = sizeof(form), .packing = PD_PACK_NONE };
	struct pd_writer *writer;
	struct pd_file *file;
	struct pd_error error;

	if (argc != 4) {
		fprintf(stderr, "usage: forks REAL LARGE BYTES\n");
		return 2;
	}
	check(pd_file_open(argv[1], NULL, &file, &error), &error);
	form.inputs = &file;
	form.input_count = 1;
	check(pd_writer_open(argv[2], &form, &writer, &error), &error);
	write_all(file, writer, strtoull(argv[3], NULL, 0));
	check(pd_writer_finish(writer, &error), &error);
	pd_file_close(file);
	return 0;
}
