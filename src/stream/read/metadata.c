/* SPDX-License-Identifier: MIT */
/*
 * Records that say something about the file: in pipe mode events, features and tracing data; everywhere updates
 * of events. They are taken once, however often the file is read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/decode.h"
#include "stream/read/inside.h"

// The event keeps the attr, so it is decoded from a copy that lives as long as the file.
static enum pd_status learn_attr(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_file *file = stream->file;
	const struct pd_record *record = &stream->record;
	struct pd_arena *arena = pd_file_arena(file);
	struct pd_header_attr *decoded = pd_arena_alloc(arena, sizeof(*decoded));
	uint8_t *copy = pd_arena_copy(arena, record->bytes.data, record->bytes.size);
	struct pd_scope scope = { .arena = arena };
	struct pd_cursor c;

	if (!decoded || !copy)
		return pd_fail_memory(error);
	c = pd_cursor(copy, record->bytes.size, pd_file_is_big(file));
	c.at += PD_RECORD_HEADER_SIZE;
	pd_decode_header_attr(&c, &scope, decoded);
	if (c.failed) {
		pd_file_report_cursor(file, PD_PROBLEM_BAD_ATTRS, record->offset, "", &c);
		return PD_OK;
	}
	stream->last_event = NULL;
	stream->only_event = false;
	return pd_file_add_event(file, decoded->attr, record->offset + PD_RECORD_HEADER_SIZE, decoded->ids, error);
}

// Keeps a feature, unless it is there already. Those that name events do so once.
static enum pd_status put_feature(struct pd_stream *stream, unsigned feature, uint64_t offset, struct pd_bytes bytes,
				  struct pd_error *error)
{
	struct pd_file *file = stream->file;
	bool is_new = feature < PD_FEATURE_LIMIT && !pd_file_has_feature(file, feature);
	enum pd_status status = pd_file_put_feature(file, feature, offset, bytes, error);

	if (status >= 0 && is_new &&
	    (feature == PD_FEATURE_EVENT_DESC || feature == PD_FEATURE_TRACING_DATA ||
	     feature == PD_FEATURE_SIMPLEPERF_META_INFO))
		return pd_file_name_events(file, error);
	return status;
}

static enum pd_status learn_feature(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_header_feature *feature = pd_as_header_feature(&stream->record);

	// the end marker has a number after the last feature and no payload
	if (!feature || feature->feat_id >= PD_FEATURE_LIMIT ||
	    (!feature->payload.size && !pd_feature_layout((unsigned)feature->feat_id)))
		return PD_OK;
	if (!feature->payload.size && pd_feature_layout((unsigned)feature->feat_id)->min_size)
		return PD_OK;
	return put_feature(stream, (unsigned)feature->feat_id, stream->record.offset + 16, feature->payload, error);
}

static enum pd_status learn_old_feature(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_old_feature *feature = pd_as_old_feature(&stream->record);
	uint32_t type = pd_load_u32(stream->record.bytes.data, stream->swap);

	if (!feature)
		return PD_OK;
	return put_feature(stream, type - PD_OLD_FEATURE_BASE, stream->record.offset + PD_RECORD_HEADER_SIZE,
			   feature->payload, error);
}

static enum pd_status learn_tracing_data(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_bytes tail;
	enum pd_status status;
	uint64_t offset = stream->record.offset + stream->record.bytes.size;

	if (stream->record.tail_size > stream->memory_limit) {
		// names of tracepoints are not worth more; the stream goes on after it
		pd_stream_report(stream, PD_PROBLEM_TRACING_DATA, offset, NULL,
				 "%" PRIu64 " bytes of tracing data, the limit is %" PRIu64, stream->record.tail_size,
				 stream->memory_limit);
		return PD_OK;
	}
	if (stream->record.tail_size) {
		status = pd_stream_tail(stream, &tail, error);
		if (status < 0)
			return status;
	} else if (stream->record.bytes.size > 12) {
		tail = (struct pd_bytes){ stream->record.bytes.data + 12, stream->record.bytes.size - 12 };
		offset = stream->record.offset + 12;
	} else {
		return PD_OK;
	}
	return put_feature(stream, PD_FEATURE_TRACING_DATA, offset, tail, error);
}

static enum pd_status learn_event_type(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_header_event_type *type = pd_as_header_event_type(&stream->record);
	struct pd_event_full *full;

	if (!type || !type->name.length)
		return PD_OK;
	while ((full = pd_file_take_unnamed(stream->file, PD_TYPE_TRACEPOINT, type->event_id)) != NULL)
		if (!pd_file_set_name(stream->file, full, type->name.data, type->name.length))
			return pd_fail_memory(error);
	return PD_OK;
}

static enum pd_status learn_update(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_event_update *update = pd_as_event_update(&stream->record);
	struct pd_event_full *full = update ? pd_file_find_event(stream->file, update->id) : NULL;
	const struct pd_str *text;
	char *copy;

	if (!full)
		return PD_OK;
	if (update->type == PD_EVENT_UPDATE_SCALE)
		full->event.scale = update->scale;
	if (update->type != PD_EVENT_UPDATE_UNIT && update->type != PD_EVENT_UPDATE_NAME)
		return PD_OK;
	text = update->type == PD_EVENT_UPDATE_UNIT ? &update->unit : &update->name;
	copy = pd_arena_text(pd_file_arena(stream->file), text->data, text->length);
	if (!copy)
		return pd_fail_memory(error);
	if (update->type == PD_EVENT_UPDATE_UNIT) {
		full->event.unit = copy;
	} else if (text->length) {
		full->event.name = copy;
		full->named = true;
	}
	return PD_OK;
}

// Ids of simpleperf come here instead of in the header.
static enum pd_status learn_event_id(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_simpleperf_event_id *ids = pd_as_simpleperf_event_id(&stream->record);

	for (size_t i = 0; ids && i < ids->entries.count; i++) {
		const struct pd_simpleperf_event_id_entry *entry =
			PD_ITEM(pd_simpleperf_event_id_entry, ids->entries, i);
		enum pd_status status;

		if (entry->attr_index >= pd_file_event_count(stream->file))
			continue;
		status = pd_file_add_id(stream->file, (size_t)entry->attr_index, entry->event_id, error);
		if (status < 0)
			return status;
	}
	stream->last_event = NULL;
	return PD_OK;
}

static const struct lesson {
	uint32_t type;
	bool in_pipes; // only there
	enum pd_status (*learn)(struct pd_stream *stream, struct pd_error *error);
} lessons[] = {
	{ PD_RECORD_HEADER_ATTR, true, learn_attr },
	{ PD_RECORD_HEADER_FEATURE, true, learn_feature },
	{ PD_RECORD_HEADER_TRACING_DATA, false, learn_tracing_data },
	{ PD_RECORD_OLD_FEATURE, false, learn_old_feature },
	{ PD_RECORD_HEADER_EVENT_TYPE, false, learn_event_type },
	{ PD_RECORD_EVENT_UPDATE, false, learn_update },
	{ PD_RECORD_SIMPLEPERF_EVENT_ID, false, learn_event_id },
};

enum pd_status pd_stream_learn(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_file *file = stream->file;
	const struct pd_record *record = &stream->record;
	bool pipe = pd_file_mode(file) == PD_MODE_PIPE;

	if (stream->finalized || record->part != 0 || record->inner_offset != PD_NO_OFFSET || stream->seeked ||
	    !pd_file_take_metadata(file, record->offset))
		return PD_OK;
	for (size_t i = 0; i < sizeof(lessons) / sizeof(lessons[0]); i++)
		if (lessons[i].type == record->type)
			return pipe || !lessons[i].in_pipes ? lessons[i].learn(stream, error) : PD_OK;
	return PD_OK;
}
