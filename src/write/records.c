/* SPDX-License-Identifier: MIT */
/*
 * Records on their way to a part of the output, compressed or not, and records from structs. Events that come while
 * records are written are sent to a pipe at once.
 */
#include "write/inside.h"

#include <inttypes.h>
#include <string.h>

#include "format/encode.h"

// Before a record: all that was written is whole.
static enum pd_status save_if_due(struct pd_writer *writer, size_t part, struct pd_error *error)
{
	uint64_t end = pd_output_end(&writer->parts[part].out);

	if (writer->mode == PD_MODE_PIPE || part != 0 || end < writer->saved_end ||
	    end - writer->saved_end < writer->save_bytes)
		return PD_OK;
	return pd_writer_save(writer, false, error);
}

enum pd_status pd_writer_put_outside(struct pd_writer *writer, size_t part, const void *data, size_t size,
				     struct pd_error *error)
{
	struct pd_write_part *to = &writer->parts[part];
	enum pd_status status = pd_pack_flush_waiting(writer, to, error);

	if (status >= 0)
		status = save_if_due(writer, part, error);
	return status < 0 ? status : pd_output_write(&to->out, data, size, error);
}

enum pd_status pd_writer_put(struct pd_writer *writer, size_t part, uint32_t type, const void *data, size_t size,
			     struct pd_error *error)
{
	// as perf: what comes from the kernel is compressed
	if (writer->pack_type && type < 64 && size <= PD_PACK_PIECE) {
		enum pd_status status = pd_pack_put(writer, &writer->parts[part], data, size, error);

		return status < 0 ? status : save_if_due(writer, part, error);
	}
	return pd_writer_put_outside(writer, part, data, size, error);
}

enum pd_status pd_writer_put_records(struct pd_writer *writer, size_t part, struct pd_bytes records,
				     struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (!writer->pack_type)
		return pd_writer_put_outside(writer, part, records.data, records.size, error);
	while (records.size && status >= 0) {
		size_t size = records.size < PD_PACK_PIECE ? records.size : PD_PACK_PIECE;

		status = pd_pack_put(writer, &writer->parts[part], records.data, size, error);
		records.data += size;
		records.size -= size;
	}
	return status;
}

enum pd_status pd_writer_note_aux(struct pd_writer *writer, size_t part, struct pd_error *error)
{
	uint8_t entry[16];
	struct pd_buffer buffer = pd_buffer(entry, sizeof(entry), writer->big);
	enum pd_status status;

	if (writer->mode == PD_MODE_PIPE || part != 0)
		return PD_OK;
	status = pd_pack_flush(writer, &writer->parts[part], error);
	if (status < 0)
		return status;
	pd_buffer_u64(&buffer, pd_output_end(&writer->parts[part].out));
	pd_buffer_u64(&buffer, 48);
	return pd_write_put(&writer->aux_index, entry, sizeof(entry)) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status put_encoded(struct pd_writer *writer, size_t part, uint32_t type, struct pd_bytes bytes,
				  struct pd_error *error)
{
	enum pd_status status = pd_writer_start(writer, error);

	if (status >= 0 && type == PD_RECORD_AUXTRACE)
		status = pd_writer_note_aux(writer, part, error);
	return status < 0 ? status : pd_writer_put(writer, part, type, bytes.data, bytes.size, error);
}

enum pd_status pd_writer_put_encoded(struct pd_writer *writer, size_t part, uint32_t type, struct pd_bytes bytes,
				     struct pd_error *error)
{
	return pd_writer_fail(writer, put_encoded(writer, part, type, bytes, error), error);
}

static enum pd_status add_record(struct pd_writer *writer, uint32_t type, uint16_t misc, const void *decoded,
				 size_t event, struct pd_error *error)
{
	const struct pd_layout *layout = pd_record_layout(type);
	enum pd_record_group group = pd_record_group(type);
	const struct pd_record_head head = { .type = type, .misc = misc };
	struct pd_scope scope = { .arena = NULL };
	struct pd_buffer buffer;

	if (group == PD_GROUP_SAMPLE || (group == PD_GROUP_KERNEL && event < writer->event_count))
		memcpy(scope.words, writer->events[event].words, sizeof(scope.words));
	scope.words[PD_WORD_MISC] = misc;
	if (!pd_write_scratch(writer, UINT16_MAX + 1))
		return pd_fail_memory(error);
	buffer = pd_buffer(writer->scratch.data, writer->scratch.capacity, writer->big);
	pd_record_put(&buffer, &head, layout, group, &scope, decoded);
	if (buffer.failed || pd_buffer_full(&buffer))
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: %s.%s: %s", writer->name,
			       buffer.layout ? buffer.layout : layout->name, buffer.field ? buffer.field : "body",
			       buffer.failed ? buffer.reason : "record is too large");
	// see cpu_split.c
	if (type == PD_RECORD_FINISHED_ROUND && pd_writer_splits_by_cpu(writer))
		return PD_OK;
	return put_encoded(writer, 0, type, (struct pd_bytes){ buffer.data, buffer.need }, error);
}

enum pd_status pd_writer_add(struct pd_writer *writer, uint32_t type, uint16_t misc, const void *decoded, size_t event,
			     struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0)
		return pd_writer_failed_before(writer, error);
	if (!pd_record_layout(type))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%" PRIu32 ": unknown record type", type);
	if (type == PD_RECORD_SAMPLE && event >= writer->event_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%zu: no such event", event);
	status = add_record(writer, type, misc, decoded, event, error ? error : &own);
	// a value that does not fit is the fault of the caller, who may go on
	return status == PD_ERROR_FORMAT ? status : pd_writer_fail(writer, status, error ? error : &own);
}

enum pd_status pd_writer_put_tail(struct pd_writer *writer, size_t part, struct pd_bytes bytes, struct pd_error *error)
{
	return pd_writer_fail(writer, pd_output_write(&writer->parts[part].out, bytes.data, bytes.size, error), error);
}

enum pd_status pd_writer_add_tail(struct pd_writer *writer, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_error own;

	if (writer->status < 0)
		return pd_writer_failed_before(writer, error);
	return pd_writer_put_tail(writer, 0, bytes, error ? error : &own);
}

enum pd_status pd_writer_add_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
				   const char *name, struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0)
		return pd_writer_failed_before(writer, error);
	status = pd_writer_keep_event(writer, attr, ids, name, error ? error : &own);
	if (status >= 0 && writer->started && writer->mode == PD_MODE_PIPE)
		status = pd_writer_send(writer, error ? error : &own);
	return pd_writer_fail(writer, status, error ? error : &own);
}

enum pd_status pd_writer_put_feature(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				     struct pd_error *error)
{
	enum pd_status status;

	if (!writer->started || writer->mode != PD_MODE_PIPE)
		return pd_writer_set_feature_bytes(writer, feature, bytes, error);
	status = pd_writer_keep_feature(writer, feature, bytes, error);
	return pd_writer_fail(writer, status < 0 ? status : pd_writer_send(writer, error), error);
}
