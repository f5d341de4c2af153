/* SPDX-License-Identifier: MIT */
/*
 * An injection from its start to its end: the pass over the records, and what happens to each.
 */
#include "edit/inject/inject.h"
#include "format/traits.h"

#include <string.h>

enum {
	RECORDS_PER_ROUND = 65536 // in the order of time, so that readers need not keep all of it
};

// The pass that writes.
struct pass {
	struct pd_inject *inject;
	uint64_t passed; // since the last round
	bool sorted, late;
};

// Samples of a thread are compared with those before them.
static bool is_sorted(const struct pd_inject_options *options)
{
	return options->sched_stat || (options->unwind && options->stitch_lbr);
}

static enum pd_inject_action choose_action(struct pd_inject *inject, struct pd_stream *stream,
					   const struct pd_record *record)
{
	enum pd_inject_action action = PD_INJECT_PASS;

	if (inject->options.drop_aux && pd_record_is(record->type, PD_TRAIT_AUX))
		return PD_INJECT_DROP;
	if (inject->jit)
		action = pd_inject_jit_record(inject, record);
	if (inject->ids && action == PD_INJECT_PASS)
		action = pd_inject_ids_record(inject, stream, record);
	if (inject->sched && action == PD_INJECT_PASS)
		action = pd_inject_sched_record(inject, stream, record);
	if (inject->unwind && action == PD_INJECT_PASS)
		action = pd_inject_unwind_record(inject, stream, record);
	return action;
}

// What is compressed is counted as what it holds.
static bool is_counted(const struct pd_record *record)
{
	return record->type != PD_RECORD_COMPRESSED && record->type != PD_RECORD_COMPRESSED2;
}

static void count(struct pd_inject *inject, uint32_t type, uint64_t records, bool kept)
{
	struct pd_inject_result *result = &inject->result;
	bool sample = type == PD_RECORD_SAMPLE;

	*(sample ? &result->sample_count : &result->other_count) += records;
	*(sample ? &result->kept_sample_count : &result->kept_other_count) += kept ? records : 0;
}

static bool end_round(struct pass *pass)
{
	const struct pd_finished_round round = { 0 };
	struct pd_inject *inject = pass->inject;

	pass->passed = 0;
	return pass->late || pd_inject_keep(inject, pd_writer_add(inject->writer, PD_RECORD_FINISHED_ROUND, 0, &round,
								  0, &inject->error));
}

static bool pass_unchanged(struct pd_inject *inject, struct pd_stream *stream, const struct pd_record *record)
{
	if (!pd_inject_keep(inject, pd_writer_pass(inject->writer, stream, record, &inject->error)))
		return false;
	if (!inject->sched && !inject->unwind && !pd_inject_ids_marks_hits(inject) &&
	    !(inject->jit && pd_inject_jit_waits(inject)))
		count(inject, PD_RECORD_SAMPLE, pd_writer_pass_following(inject->writer, stream), true);
	return true;
}

static bool pass_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct pass *pass = self;
	struct pd_inject *inject = pass->inject;
	enum pd_inject_action action;
	uint32_t type = record->type;

	if (pass->sorted) {
		pass->late |= record->flags & PD_RECORD_LATE;
		// rounds say how far the order of the input was from that of time
		if (type == PD_RECORD_FINISHED_ROUND)
			return true;
		if (++pass->passed > RECORDS_PER_ROUND && !end_round(pass))
			return false;
	}
	action = choose_action(inject, stream, record);
	if (is_counted(record))
		count(inject, type, 1, action == PD_INJECT_PASS || action == PD_INJECT_PASSED);
	if (action == PD_INJECT_PASS)
		return pass_unchanged(inject, stream, record);
	return action != PD_INJECT_FAILED;
}

static enum pd_status change_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				   struct pd_error *error)
{
	const struct pd_inject *inject = self;

	(void)event;
	(void)name;
	(void)error;
	if (inject->unwind)
		pd_inject_unwind_attr(inject, attr);
	return PD_OK;
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	const struct pd_inject *inject = self;

	(void)file;
	(void)decoded_out;
	(void)error;
	if (inject->options.drop_aux && feature == PD_FEATURE_AUXTRACE)
		*keep = false;
	return PD_OK;
}

static enum pd_status write_all(struct pd_inject *inject, struct pd_error *error)
{
	const struct pd_changes changes = { .size = sizeof(changes),
					    .self = inject,
					    .event = inject->unwind ? change_event : NULL,
					    .feature = change_feature };
	struct pass pass = { .inject = inject, .sorted = is_sorted(&inject->options) };
	enum pd_order order = pass.sorted ? PD_ORDER_TIME : PD_ORDER_FILE;

	if (pd_inject_keep(inject, pd_writer_change(inject->writer, &changes, &inject->error)) &&
	    pd_inject_keep(inject, pd_writer_copy_metadata(inject->writer, inject->file, &inject->error))) {
		enum pd_status status = inject->unwind && inject->options.once ?
						pd_inject_each_late(inject, pass_record, &pass, error) :
						pd_inject_each_record(inject, order, pass_record, &pass, error);

		if (status < 0)
			return status;
	}
	if (inject->status >= 0 && inject->jit)
		pd_inject_jit_write(inject, UINT64_MAX);
	if (inject->status >= 0 && inject->ids)
		pd_inject_ids_finish(inject);
	if (inject->status >= 0)
		return PD_OK;
	if (error)
		*error = inject->error;
	return pd_writer_output_status(inject->status, error);
}

enum pd_status pd_inject_write(struct pd_inject *inject, struct pd_writer *writer, struct pd_inject_result *result_out,
			       struct pd_error *error)
{
	enum pd_status status;

	inject->writer = writer;
	status = write_all(inject, error);
	if (status >= 0 && result_out)
		*result_out = inject->result;
	return status;
}

// ---- start and end ----

static enum pd_status open_parts(struct pd_inject *inject, struct pd_error *error)
{
	enum pd_status status = pd_inject_ids_open(inject, error);

	if (status >= 0 && inject->options.jit)
		status = pd_inject_jit_open(inject, error);
	if (status >= 0 && inject->options.sched_stat)
		status = pd_inject_sched_open(inject, error);
	if (status >= 0 && inject->options.unwind)
		status = pd_inject_unwind_open(inject, error);
	return status;
}

bool pd_inject_is_once(const struct pd_inject_options *options)
{
	return options->unwind && (!options->build_ids || options->build_ids == PD_INJECT_LIST_ALL) && !options->jit &&
	       !is_sorted(options);
}

bool pd_inject_keeps_records(const struct pd_inject_options *options)
{
	return options->build_ids < PD_INJECT_MAPS && !options->jit && !options->sched_stat && !options->unwind &&
	       !options->drop_aux;
}

enum pd_status pd_inject_new(struct pd_file *file, const struct pd_inject_options *options,
			     struct pd_inject **inject_out, struct pd_error *error)
{
	struct pd_inject *inject;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	inject = pd_alloc(sizeof(*inject));
	if (!inject)
		return pd_fail_memory(error);
	if (options)
		memcpy(&inject->options, options,
		       options->size < sizeof(inject->options) ? options->size : sizeof(inject->options));
	inject->file = file;
	if (inject->options.once && (!inject->options.unwind || inject->options.jit || is_sorted(&inject->options) ||
				     pd_inject_needs_samples(inject)))
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				 "only unwinding is done while the file is read once");
	else
		status = open_parts(inject, error);
	if (status < 0)
		pd_inject_free(inject);
	else
		*inject_out = inject;
	return status;
}

void pd_inject_free(struct pd_inject *inject)
{
	if (!inject)
		return;
	pd_inject_unwind_close(inject);
	pd_inject_sched_close(inject);
	pd_inject_jit_close(inject);
	pd_inject_ids_close(inject);
	pd_free(inject);
}
