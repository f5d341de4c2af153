/* SPDX-License-Identifier: MIT */
// What the output has: one event, the features of the input that are not about events, and records of threads and mappings.
#include "edit/waiting/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "format/traits.h"
#include "write/write.h"

enum {
	FIRST_OF_TOOLS = 64,
	RECORDS_PER_ROUND = 65536,
	CHAIN_MOST = 7000 // a record has at most 64 KiB
};

// ---- events ----

static int compare_changes(const void *a, const void *b)
{
	const struct pd_number_change *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static size_t count_ids(struct pd_file *file)
{
	const struct pd_event *event;
	size_t count = 0;

	for (size_t i = 0; (event = pd_file_event(file, i)) != NULL; i++)
		count += event->ids.count;
	return count;
}

// Whatever event a record is of in the input, it is of the first one in the output.
static enum pd_status make_join(struct pd_waiting *waiting, struct pd_error *error)
{
	struct pd_number_change *changes = pd_alloc((count_ids(waiting->file) + 1) * sizeof(*changes));
	const struct pd_event *event;
	size_t count = 0, events = 0;

	waiting->join = (struct pd_join){ .size = sizeof(waiting->join), .ids = changes };
	waiting->id = 1;
	while (pd_file_event(waiting->file, events))
		events++;
	waiting->events = pd_alloc((events + 1) * sizeof(*waiting->events));
	if (!changes || !waiting->events)
		return pd_fail_memory(error);
	for (size_t i = 0; (event = pd_file_event(waiting->file, i)) != NULL; i++)
		for (size_t j = 0; j < event->ids.count; j++)
			changes[count++] = (struct pd_number_change){ event->ids.items[j], waiting->id };
	qsort(changes, count, sizeof(*changes), compare_changes);
	waiting->join.id_count = count;
	waiting->join.events = waiting->events;
	waiting->join.event_count = events;
	return PD_OK;
}

static enum pd_status add_event(struct pd_waiting *waiting, struct pd_error *error)
{
	const struct pd_attr attr = { .type = PD_TYPE_SOFTWARE,
				      .config = PD_SW_BPF_OUTPUT,
				      .sample_period = 1,
				      .sample_type = PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) |
						     PD_MASK(PD_SAMPLE_TYPE_TIME) | PD_MASK(PD_SAMPLE_TYPE_CPU) |
						     PD_MASK(PD_SAMPLE_TYPE_PERIOD) |
						     PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN) |
						     PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER),
				      .flags = PD_MASK(PD_ATTR_SAMPLE_ID_ALL) | PD_MASK(PD_ATTR_MMAP) |
					       PD_MASK(PD_ATTR_COMM) | PD_MASK(PD_ATTR_TASK) | PD_MASK(PD_ATTR_MMAP2) |
					       PD_MASK(PD_ATTR_COMM_EXEC) | PD_MASK(PD_ATTR_KSYMBOL) };

	return pd_writer_add_event(waiting->writer, &attr, (struct pd_u64s){ &waiting->id, 1 }, "offcpu-time", error);
}

// Formats and descriptions of events that are gone, and how the input is stored.
static bool is_left_out(unsigned feature)
{
	static const unsigned all[] = { PD_FEATURE_TRACING_DATA, PD_FEATURE_EVENT_DESC,  PD_FEATURE_AUXTRACE,
					PD_FEATURE_COMPRESSED,   PD_FEATURE_DIR_FORMAT,  PD_FEATURE_GROUP_DESC,
					PD_FEATURE_BRANCH_STACK, PD_FEATURE_PMU_MAPPINGS };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] == feature)
			return true;
	return false;
}

enum pd_status pd_waiting_begin(struct pd_waiting *waiting, struct pd_error *error)
{
	enum pd_status status = make_join(waiting, error);

	if (status >= 0)
		status = add_event(waiting, error);
	for (unsigned feature = 1; feature < PD_FEATURE_LIMIT && status >= 0; feature++)
		if (!is_left_out(feature) && pd_file_feature(waiting->file, feature))
			status = pd_writer_join_feature(waiting->writer, waiting->file, feature, error);
	return pd_writer_output_status(status, error);
}

// ---- records ----

static enum pd_status count_record(struct pd_waiting *waiting, struct pd_error *error)
{
	const struct pd_finished_round round = { 0 };

	if (++waiting->since_round < RECORDS_PER_ROUND || waiting->late)
		return PD_OK;
	waiting->since_round = 0;
	return pd_writer_output_status(pd_writer_add(waiting->writer, PD_RECORD_FINISHED_ROUND, 0, &round, 0, error),
				       error);
}

enum pd_status pd_waiting_pass(struct pd_waiting *waiting, struct pd_stream *stream, const struct pd_record *record,
			       struct pd_error *error)
{
	enum pd_status status;

	waiting->late |= record->flags & PD_RECORD_LATE;
	if (record->type >= FIRST_OF_TOOLS || record->type == PD_RECORD_SWITCH ||
	    record->type == PD_RECORD_SWITCH_CPU_WIDE || pd_record_is(record->type, PD_TRAIT_AUX))
		return PD_OK;
	status = pd_writer_pass_joined(waiting->writer, stream, record, &waiting->join, error);
	// what is damaged was reported
	if (status == PD_ERROR_FORMAT || status == PD_ERROR_UNSUPPORTED)
		return PD_OK;
	return status < 0 ? pd_writer_output_status(status, error) : count_record(waiting, error);
}

enum pd_status pd_waiting_add(struct pd_waiting *waiting, const struct pd_interval *interval, uint32_t pid,
			      struct pd_error *error)
{
	size_t count = waiting->chain_count < CHAIN_MOST ? waiting->chain_count : CHAIN_MOST;
	const struct pd_sample sample = { .identifier = waiting->id,
					  .ip = waiting->chain[1],
					  .pid = pid,
					  .tid = interval->tid,
					  .time_ns = interval->end_ns,
					  .cpu = interval->cpu,
					  .period = interval->end_ns - interval->begin_ns,
					  .callchain = { waiting->chain, count } };
	enum pd_status status = pd_writer_add(waiting->writer, PD_RECORD_SAMPLE, PD_CPUMODE_KERNEL, &sample, 0, error);

	waiting->result.sample_count++;
	waiting->result.total_ns += sample.period;
	return status < 0 ? pd_writer_output_status(status, error) : count_record(waiting, error);
}
