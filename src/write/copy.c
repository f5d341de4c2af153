/* SPDX-License-Identifier: MIT */
/*
 * Events and features of another file. Those of a file are there from the begin; those of a pipe come with its
 * records and are taken when they are known.
 */
#include "write/inside.h"

#include <stdlib.h>

#include "format/decode.h"

// Pipes pad tracing data after their end. Only zeros are taken for padding.
static size_t without_padding(struct pd_writer *writer, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_scope scope = { .arena = &writer->arena };
	struct pd_tracing_data decoded = { .rest = { 0 } };

	pd_arena_reset(&writer->arena);
	pd_decode_tracing_data(&c, &scope, &decoded);
	if (c.failed || decoded.rest.size >= 8)
		return bytes.size;
	for (size_t i = 0; i < decoded.rest.size; i++)
		if (decoded.rest.data[i])
			return bytes.size;
	return bytes.size - decoded.rest.size;
}

// An empty name of the host was put there for the byte order only.
static bool is_order_mark(unsigned feature, struct pd_bytes bytes)
{
	static const uint8_t empty[4];

	return feature == PD_FEATURE_HOSTNAME && bytes.size == sizeof(empty) &&
	       !memcmp(bytes.data, empty, sizeof(empty));
}

static enum pd_status take_changed_feature(struct pd_writer *writer, unsigned feature, bool *done_out,
					   struct pd_error *error)
{
	const void *decoded = NULL;
	enum pd_status status = PD_OK;
	bool keep = true;

	if (writer->changes.feature)
		status = writer->changes.feature(writer->changes.self, writer->source, feature, &decoded, &keep, error);
	*done_out = decoded || !keep;
	return status < 0 || !decoded || !keep ? status : pd_writer_encode_feature(writer, feature, decoded, error);
}

enum pd_status pd_writer_feature_of(struct pd_writer *writer, struct pd_file *file, unsigned feature,
				    struct pd_bytes *bytes_out, struct pd_error *error)
{
	enum pd_status status = pd_file_feature_bytes(file, feature, bytes_out, error);

	if (status < 0)
		return status;
	if (feature == PD_FEATURE_TRACING_DATA && pd_file_mode(file) == PD_MODE_PIPE)
		bytes_out->size = without_padding(writer, *bytes_out);
	if (pd_file_is_big(file) != writer->big)
		status = pd_convert_feature(writer, file, feature, *bytes_out, bytes_out, error);
	return status;
}

static enum pd_status take_feature(struct pd_writer *writer, unsigned feature, struct pd_error *error)
{
	struct pd_bytes bytes;
	enum pd_status status;
	bool done;

	if (feature == PD_FEATURE_EVENT_DESC && pd_writer_changes_events(writer))
		return PD_OK;
	status = take_changed_feature(writer, feature, &done, error);
	if (status < 0 || done)
		return status;
	status = pd_writer_feature_of(writer, writer->source, feature, &bytes, error);
	return status < 0 || is_order_mark(feature, bytes) ? status :
							     pd_writer_keep_feature(writer, feature, bytes, error);
}

// Features that a pipe has as records may come both ways.
static enum pd_status take_build_ids(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_write_feature *slot = &writer->features[PD_FEATURE_BUILD_ID];
	struct pd_write_bytes all = { 0 };
	enum pd_status status;

	if (!writer->build_ids.size)
		return PD_OK;
	if (pd_write_put(&all, slot->data, slot->size) &&
	    pd_write_put(&all, writer->build_ids.data, writer->build_ids.size))
		status = pd_writer_keep_feature(writer, PD_FEATURE_BUILD_ID, (struct pd_bytes){ all.data, all.size },
						error);
	else
		status = pd_fail_memory(error);
	writer->build_ids.size = 0;
	pd_free(all.data);
	return status;
}

static enum pd_status update_name(struct pd_write_event *event, const char *name, struct pd_error *error)
{
	free(event->update);
	event->update = strdup(name);
	return event->update ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_writer_take_name(struct pd_writer *writer, uint64_t id, const char *name, struct pd_error *error)
{
	const struct pd_event *event;
	struct pd_write_event *to;
	enum pd_status status = pd_writer_learn(writer, error);

	if (status < 0)
		return status;
	event = pd_file_event_by_id(writer->source, id);
	if (!event && (id || !writer->event_count))
		return PD_OK; // it names nothing
	event = event ? event : pd_file_event(writer->source, 0);
	to = &writer->events[event->index];
	if (writer->changes.event) {
		struct pd_attr attr = *event->attr;

		status = writer->changes.event(writer->changes.self, event, &attr, &name, error);
	}
	if (status < 0 || !name)
		return status;
	free(to->name);
	to->name = strdup(name);
	return to->name ? update_name(to, name, error) : pd_fail_memory(error);
}

static void change_ids(struct pd_writer *writer, const struct pd_write_event *event)
{
	for (size_t i = 0; writer->changes.id && i < event->id_count; i++)
		event->ids[i] = writer->changes.id(writer->changes.self, event->ids[i]);
}

static enum pd_status take_event(struct pd_writer *writer, const struct pd_event_full *full, struct pd_error *error)
{
	const char *name = pd_writer_changes_events(writer) && full->named ? full->event.name : NULL;
	struct pd_attr attr = *full->event.attr;
	enum pd_status status = PD_OK;

	if (writer->changes.event)
		status = writer->changes.event(writer->changes.self, &full->event, &attr, &name, error);
	if (status >= 0)
		status = pd_writer_keep_event(writer, &attr, full->event.ids, name, error);
	if (status >= 0)
		change_ids(writer, &writer->events[writer->event_count - 1]);
	return status;
}

enum pd_status pd_writer_learn(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_file *file = writer->source;
	struct pd_feature_section section;
	enum pd_status status = PD_OK;

	// of a file all is known from the begin; what its records say is still in its records
	if (writer->started_learning && pd_file_mode(file) != PD_MODE_PIPE)
		return PD_OK;
	writer->started_learning = true;
	for (; writer->source_events < pd_file_event_count(file) && status >= 0; writer->source_events++) {
		const struct pd_event_full *full = pd_file_full_event(file, writer->source_events);

		status = take_event(writer, full, error);
		// a pipe says its names itself; other names than those of EVENT_DESC are found again
		if (status >= 0 && !pd_writer_changes_events(writer) && full->named &&
		    pd_file_mode(file) != PD_MODE_PIPE && writer->mode == PD_MODE_PIPE &&
		    pd_file_has_feature(file, PD_FEATURE_EVENT_DESC))
			status = update_name(&writer->events[writer->event_count - 1], full->event.name, error);
	}
	for (size_t i = 0; status >= 0 && pd_file_feature_at(file, i, &section); i++) {
		if (!section.number || writer->source_features[section.number])
			continue;
		writer->source_features[section.number] = true;
		status = take_feature(writer, section.number, error);
	}
	return status < 0 ? status : take_build_ids(writer, error);
}

// Names of tracepoints in files from before EVENT_DESC. Newer files may have anything there.
static enum pd_status take_event_types(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_file *file = writer->source;
	uint64_t offset = pd_file_header(file)->event_types_offset, size = pd_file_header(file)->event_types_size;
	enum pd_status status;
	size_t got;

	if (pd_file_mode(file) == PD_MODE_PIPE || pd_writer_changes_events(writer) || !size ||
	    size % PD_TYPE_ENTRY_SIZE || offset > pd_file_main_source(file)->size ||
	    size > pd_file_main_source(file)->size - offset || size > (uint64_t)PD_TYPE_ENTRY_SIZE * 65536)
		return PD_OK;
	if (!PD_GROW(writer->event_types.data, writer->event_types.capacity, (size_t)size))
		return pd_fail_memory(error);
	status = pd_source_read(pd_file_main_source(file), offset, writer->event_types.data, (size_t)size, &got, error);
	if (status < 0)
		return status;
	writer->event_types.size = got / PD_TYPE_ENTRY_SIZE * PD_TYPE_ENTRY_SIZE;
	for (size_t at = 0; at < writer->event_types.size; at += PD_TYPE_ENTRY_SIZE) {
		struct pd_buffer buffer = pd_buffer(writer->event_types.data + at, 8, writer->big);

		pd_buffer_u64(&buffer, pd_load_u64(writer->event_types.data + at, pd_file_is_swapped(file)));
	}
	return PD_OK;
}

enum pd_status pd_writer_change(struct pd_writer *writer, const struct pd_changes *changes, struct pd_error *error)
{
	if (!changes->size || writer->source)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: %s", writer->name,
			       writer->source ? "another file was attached already" :
						"the size member of the changes is 0");
	memcpy(&writer->changes, changes, changes->size < sizeof(*changes) ? changes->size : sizeof(*changes));
	return PD_OK;
}

enum pd_status pd_writer_copy_metadata(struct pd_writer *writer, struct pd_file *file, struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0) {
		if (error)
			*error = writer->error;
		return writer->status;
	}
	if (writer->source || writer->started)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: %s", writer->name,
			       writer->source ? "another file was attached already" :
						"records have been written already");
	writer->source = file;
	// one stream of compressed data in each file, in the order that it was made in
	writer->repack = writer->packing == PD_PACK_KEEP &&
			 (pd_file_is_big(file) != writer->big || writer->part_count != pd_file_part_count(file) ||
			  writer->by_cpu);
	if (writer->repack && pd_file_has_compressed(file))
		writer->pack_type = PD_RECORD_COMPRESSED;
	status = pd_writer_copy_sidecars(writer, file, error ? error : &own);
	if (status >= 0)
		status = take_event_types(writer, error ? error : &own);
	if (status >= 0 && pd_file_mode(file) != PD_MODE_PIPE)
		status = pd_writer_learn(writer, error ? error : &own);
	return pd_writer_fail(writer, status, error ? error : &own);
}

// Files have the names of their events in a feature.
static enum pd_status take_file_names(struct pd_writer *writer, struct pd_error *error)
{
	const struct pd_file *file = writer->source;

	if (pd_file_mode(file) == PD_MODE_PIPE || !writer->features[PD_FEATURE_EVENT_DESC].present)
		return PD_OK;
	for (size_t i = 0; i < writer->event_count && i < pd_file_event_count(file); i++) {
		const struct pd_event_full *full = pd_file_full_event(file, i);
		struct pd_write_event *event = &writer->events[i];

		if (!full->named || event->name)
			continue;
		event->name = strdup(full->event.name);
		if (!event->name)
			return pd_fail_memory(error);
	}
	return PD_OK;
}

enum pd_status pd_writer_collect(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = pd_writer_learn(writer, error);

	if (status >= 0)
		status = take_file_names(writer, error);
	writer->started = status >= 0;
	return status;
}
