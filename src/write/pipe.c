/* SPDX-License-Identifier: MIT */
// Records of a pipe that hold events and features: what header.c and large.c send with.
#include "write/inside.h"

enum pd_status pd_writer_send_bytes(struct pd_writer *writer, const void *data, size_t size, struct pd_error *error)
{
	enum pd_status status = pd_pack_flush_waiting(writer, &writer->parts[0], error);

	return status < 0 ? status : pd_output_write(&writer->parts[0].out, data, size, error);
}

enum pd_status pd_writer_send_record(struct pd_writer *writer, uint32_t type, uint16_t misc, struct pd_bytes body,
				     struct pd_error *error)
{
	uint8_t head[8];
	struct pd_buffer buffer = pd_buffer(head, sizeof(head), writer->big);
	enum pd_status status;

	pd_buffer_u32(&buffer, type);
	pd_buffer_u16(&buffer, misc);
	pd_buffer_u16(&buffer, (uint16_t)(sizeof(head) + body.size));
	status = pd_writer_send_bytes(writer, head, sizeof(head), error);
	return status < 0 ? status : pd_writer_send_bytes(writer, body.data, body.size, error);
}

enum pd_status pd_writer_send_feature_bytes(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
					    struct pd_error *error)
{
	struct pd_write_bytes body = { 0 };
	enum pd_status status;

	if (pd_write_u64(writer, &body, feature) && pd_write_put(&body, bytes.data, bytes.size))
		status = pd_writer_send_record(writer, PD_RECORD_HEADER_FEATURE, 0,
					       (struct pd_bytes){ body.data, body.size }, error);
	else
		status = pd_fail_memory(error);
	pd_free(body.data);
	return status;
}

void pd_writer_report_too_large(struct pd_writer *writer, unsigned feature, size_t size)
{
	struct pd_file *from = writer->features[feature].from ? writer->features[feature].from : writer->source;

	// what was made of several files is reported of the first of them that gave anything
	for (unsigned i = 0; i < PD_FEATURE_LIMIT && !from; i++)
		from = writer->features[i].from;
	if (from)
		pd_file_report(from, PD_PROBLEM_NOT_CARRIED, PD_NO_OFFSET, pd_feature_name(feature),
			       "%zu bytes, more than fit in a record of a pipe", size);
}
