/* SPDX-License-Identifier: MIT */
#include "quipper/write.h"

#include "base/error.h"
#include "file/file.h"
#include "format/record.h"
#include "format/traits.h"
#include "stream/read/stream.h"

enum {
	PROGRESS_EVERY = 4096 // records
};

// What the proto has no fields for in samples.
#define DROPPED_PARTS                                                                               \
	(MASK_SAMPLE_TYPE(REGS_USER) | MASK_SAMPLE_TYPE(STACK_USER) | MASK_SAMPLE_TYPE(REGS_INTR) | \
	 MASK_SAMPLE_TYPE(AUX))

// ---- records ----

static void set_scope(struct pd_quipper_writing *self, const struct pd_record *record, uint16_t misc,
		      const void *decoded)
{
	uint64_t *words = self->encoder.scope.words;
	const struct pd_body_head *head = decoded;

	if (record->event)
		memcpy(words, pd_file_full_event(self->file, record->event->index)->words,
		       PD_WORD_COUNT * sizeof(*words));
	else
		memset(words, 0, PD_WORD_COUNT * sizeof(*words));
	if (pd_record_group(record->type) != PD_GROUP_SAMPLE)
		words[PD_WORD_SAMPLE_TYPE] = 0;
	if (pd_record_group(record->type) != PD_GROUP_KERNEL || !head->sample_id)
		words[PD_WORD_TRAILER] = 0;
	words[PD_WORD_MISC] = misc;
	words[PD_WORD_QUIRKS] = pd_file_quirks(self->file);
}

// Bytes of the record as it can be made from the proto.
static uint64_t size_of(struct pd_quipper_writing *self, const struct pd_record *record, const void *decoded)
{
	static const struct pd_user_regs no_user_regs;
	static const struct pd_intr_regs no_intr_regs;
	static const struct pd_user_stack no_stack;
	struct pd_buffer counted = { .capacity = 0 };
	struct pd_sample sample;

	if (record->type != PD_RECORD_SAMPLE || !record->event || !(record->event->attr->sample_type & DROPPED_PARTS))
		return record->bytes.size;
	self->result.parts++;
	sample = *(const struct pd_sample *)decoded;
	sample.user_regs = &no_user_regs;
	sample.intr_regs = &no_intr_regs;
	sample.user_stack = &no_stack;
	sample.aux = (struct pd_bytes){ 0 };
	pd_record_put(&counted, &(struct pd_record_head){ .type = record->type }, pd_record_layout(record->type),
		      PD_GROUP_SAMPLE, &self->encoder.scope, &sample);
	return counted.failed ? record->bytes.size : counted.need;
}

// Of the sample, or of the trailer.
static uint64_t time_of(const struct pd_record *record, const void *decoded)
{
	const struct pd_body_head *head = decoded;

	if (record->type == PD_RECORD_SAMPLE)
		return ((const struct pd_sample *)decoded)->time_ns;
	return pd_record_group(record->type) == PD_GROUP_KERNEL && head->sample_id ? head->sample_id->time_ns : 0;
}

static void count(struct pd_quipper_writing *self, uint32_t type)
{
	self->result.records++;
	self->result.samples += type == PD_RECORD_SAMPLE;
	self->mappings += type == PD_RECORD_MMAP || type == PD_RECORD_MMAP2;
	self->forks += type == PD_RECORD_FORK;
	self->exits += type == PD_RECORD_EXIT;
}

static void put_event(struct pd_quipper_writing *self, const struct pd_record *record, uint16_t misc,
		      const void *decoded, const struct pd_quipper_line *line)
{
	struct pd_text *text = self->message;
	size_t opened;

	set_scope(self, record, misc, decoded);
	pd_quipper_begin(self);
	opened = pd_proto_open(text, 1);
	pd_proto_given(text, 1, record->type);
	pd_proto_given(text, 2, misc);
	pd_proto_given(text, 3, size_of(self, record, decoded));
	pd_proto_close(text, opened);
	if (line && line->number < 10)
		pd_quipper_encode_in(&self->encoder, line->number, line->part, decoded);
	pd_proto_given(text, 10, time_of(record, decoded));
	if (line && line->number > 10)
		pd_quipper_encode_in(&self->encoder, line->number, line->part, decoded);
	pd_quipper_end(self, 2);
	count(self, record->type);
}

static void put_build_id(struct pd_quipper_writing *self, const struct pd_record *record)
{
	const struct pd_header_build_id *id = pd_as_header_build_id(record);
	struct pd_build_id_entry entry;

	if (!id || id->build_id.size != PD_BUILD_ID_SIZE || !id->filename.data)
		return;
	entry = (struct pd_build_id_entry){ record->misc, (uint32_t)id->pid, { .size = id->size }, id->filename.data };
	memcpy(entry.id.bytes, id->build_id.data, PD_BUILD_ID_SIZE);
	pd_quipper_keep_build_id(self, &entry);
}

static enum pd_status take_record(struct pd_quipper_writing *self, struct pd_stream *stream,
				  const struct pd_record *record, struct pd_error *error)
{
	const struct pd_quipper_line *line = pd_quipper_event(record->type);
	uint16_t misc = record->misc;
	struct pd_mmap2 mended;
	const void *decoded;
	enum pd_status status;

	self->has_names |= record->type == PD_RECORD_HEADER_EVENT_TYPE;
	if (pd_record_is(record->type, PD_TRAIT_HEADER) || pd_record_is(record->type, PD_TRAIT_COMPRESSED))
		return PD_OK;
	pd_quipper_attrs(self);
	if (record->type == PD_RECORD_HEADER_BUILD_ID) {
		// in a file they repeat what the feature says
		if (pd_file_mode(self->file) == PD_MODE_PIPE || !pd_file_has_feature(self->file, PD_FEATURE_BUILD_ID))
			put_build_id(self, record);
		return PD_OK;
	}
	if (!line && record->type != PD_RECORD_FINISHED_ROUND) {
		self->result.left_out++;
		return PD_OK;
	}
	status = pd_record_decode(record, &decoded, error);
	if (status == PD_ERROR_FORMAT || status == PD_ERROR_UNSUPPORTED) {
		self->result.damaged++;
		return PD_OK;
	}
	if (status < 0)
		return status;
	self->encoder.tail = (struct pd_bytes){ 0 };
	if (record->tail_size) {
		status = pd_stream_tail(stream, &self->encoder.tail, error);
		if (status < 0)
			return status;
	}
	decoded = pd_record_unmark(record, decoded, &misc, &mended);
	if (self->remap) {
		bool is_mapped;

		decoded = pd_quipper_remap_record(self->remap, record, decoded, &is_mapped);
		if (!decoded)
			return pd_fail_memory(error);
		self->result.unmapped += !is_mapped;
	}
	put_event(self, record, misc, decoded, line);
	return PD_OK;
}

static enum pd_status put_records(struct pd_quipper_writing *self, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	// what is mapped depends on what was before
	const struct pd_stream_options order = { .size = sizeof(order),
						 .order = self->remap ? PD_ORDER_TIME : PD_ORDER_FILE };
	enum pd_status status = pd_stream_open(self->file, &order, &stream, error);
	uint64_t done, total;

	if (status < 0)
		return status;
	while (!self->failed && (status = pd_stream_next(stream, &record, error)) == PD_OK) {
		uint64_t index = record->index;

		status = take_record(self, stream, record, error);
		if (status < 0)
			break;
		if (self->options.progress && index % PROGRESS_EVERY == 0) {
			pd_stream_progress(stream, &done, &total);
			if (!self->options.progress(self->options.self, done, total)) {
				status = pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "stopped");
				break;
			}
		}
	}
	pd_stream_close(stream);
	return status == PD_END ? PD_OK : status;
}

static enum pd_status write_all(struct pd_quipper_writing *self, struct pd_error *error)
{
	enum pd_status status;

	pd_quipper_attrs(self);
	status = put_records(self, error);
	if (status < 0)
		return status;
	pd_quipper_attrs(self);
	pd_quipper_metadata(self);
	if (self->out->sink_failed)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return self->failed || pd_text_failed(self->out) ? pd_fail_memory(error) : PD_OK;
}

enum pd_status pd_quipper_write(struct pd_file *file, const struct pd_quipper_options *options, struct pd_text *text,
				struct pd_quipper_result *result_out, struct pd_error *error)
{
	struct pd_quipper_writing *self = pd_alloc(sizeof(*self));
	enum pd_status status;

	if (!self)
		return pd_fail_memory(error);
	if (options)
		memcpy(&self->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	self->file = file;
	self->out = text;
	self->message = pd_text_new();
	self->late = pd_text_new();
	if (self->options.remap)
		self->remap = pd_quipper_remap_new();
	self->encoder.plan = &self->plan;
	self->encoder.text = self->message;
	pd_quipper_plan_init(&self->plan);
	status = self->message && self->late && (self->remap || !self->options.remap) ? write_all(self, error) :
											pd_fail_memory(error);
	if (status >= 0 && result_out)
		*result_out = self->result;
	pd_text_free(self->message);
	pd_text_free(self->late);
	pd_quipper_remap_free(self->remap);
	pd_free(self);
	return status;
}
