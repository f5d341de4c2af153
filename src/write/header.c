/* SPDX-License-Identifier: MIT */
/*
 * What stands around records. In a file: header, ids and attrs in front, the table of features and the features
 * after them; in a pipe: records for each of them, in the order of perf.
 *
 * A header can be saved while records still come. The features then stand after the records so far, and what is to
 * take their place waits in memory until the next header is saved: whoever opens the file in between finds both.
 */
#include "write/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/decode.h"

enum {
	ID_ENTRY_SIZE = 16,
	FEATURE_ENTRY_SIZE = 16,
	TRACING_RECORD_SIZE = 16,
	USUAL_END_MARKER = 32, // features of perf 5.13 to 6.18
	NEWER_END_MARKER = 35,
	USUAL_ATTR_SIZE = 128, // perf 5.13 to 6.2
};

static bool put_zeros(struct pd_write_bytes *bytes, size_t size)
{
	static const uint8_t zeros[64];
	bool done = true;

	for (; size && done; size -= size < sizeof(zeros) ? size : sizeof(zeros))
		done = pd_write_put(bytes, zeros, size < sizeof(zeros) ? size : sizeof(zeros));
	return done;
}

static bool put_ids(struct pd_writer *writer, struct pd_write_bytes *bytes, const struct pd_write_event *event)
{
	for (size_t i = 0; i < event->id_count; i++)
		if (!pd_write_u64(writer, bytes, event->ids[i]))
			return false;
	return true;
}

// perf reads an attr of any size in a pipe, but no file with an attr that is larger than those it knows: the zeros at
// the end of newer ones stay behind where a pipe becomes a file.
static size_t attr_size_in_table(const struct pd_writer *writer, const struct pd_write_event *event)
{
	size_t size = event->attr_size;

	if (writer->mode == PD_MODE_PIPE || !writer->source || pd_file_mode(writer->source) != PD_MODE_PIPE)
		return size;
	while (size > USUAL_ATTR_SIZE && !event->attr[size - 1])
		size--;
	return size;
}

// Readers step through a table of attrs by the size of one: all get that of the largest.
static size_t common_attr_size(const struct pd_writer *writer)
{
	size_t size = PD_MIN_attr;

	for (size_t i = 0; i < writer->event_count; i++) {
		size_t wanted = attr_size_in_table(writer, &writer->events[i]);

		size = wanted > size ? wanted : size;
	}
	return (size + 7) & ~(size_t)7;
}

static bool put_attr(struct pd_writer *writer, struct pd_write_bytes *bytes, const struct pd_write_event *event,
		     size_t size)
{
	size_t at = bytes->size, used = event->attr_size < size ? event->attr_size : size;
	struct pd_buffer buffer;

	if (!pd_write_put(bytes, event->attr, used) || !put_zeros(bytes, size - used))
		return false;
	if (event->attr_size != size) {
		buffer = pd_buffer(bytes->data + at + 4, 4, writer->big);
		pd_buffer_u32(&buffer, (uint32_t)size);
	}
	return true;
}

// ---- features that the writer makes itself ----

static bool put_event_desc(struct pd_writer *writer, struct pd_write_bytes *bytes)
{
	size_t size = common_attr_size(writer);
	bool done = pd_write_u32(writer, bytes, (uint32_t)writer->event_count) &&
		    pd_write_u32(writer, bytes, (uint32_t)size);

	for (size_t i = 0; i < writer->event_count && done; i++) {
		const struct pd_write_event *event = &writer->events[i];
		const char *name = event->name ? event->name : "";
		size_t padded = (strlen(name) + 64) & ~(size_t)63;

		done = put_attr(writer, bytes, event, size) && pd_write_u32(writer, bytes, (uint32_t)event->id_count) &&
		       pd_write_u32(writer, bytes, (uint32_t)padded) && pd_write_put(bytes, name, strlen(name)) &&
		       put_zeros(bytes, padded - strlen(name)) && put_ids(writer, bytes, event);
	}
	return done;
}

static bool has_names(const struct pd_writer *writer)
{
	for (size_t i = 0; i < writer->event_count; i++)
		if (writer->events[i].name)
			return true;
	return false;
}

bool pd_writer_makes_event_desc(struct pd_writer *writer)
{
	const struct pd_write_feature *slot = &writer->features[PD_FEATURE_EVENT_DESC];
	struct pd_write_bytes made = { 0 };
	bool same = slot->present && has_names(writer) && put_event_desc(writer, &made) && made.size == slot->size &&
		    !memcmp(made.data, slot->data, made.size);

	pd_free(made.data);
	return same;
}

static bool put_compression(struct pd_writer *writer, struct pd_write_bytes *bytes)
{
	uint64_t plain = 0, packed = 0;

	for (size_t i = 0; i < writer->part_count; i++) {
		plain += writer->parts[i].pack.plain_total;
		packed += writer->parts[i].pack.packed_total;
	}
	return pd_write_u32(writer, bytes, 0) && pd_write_u32(writer, bytes, PD_COMPRESSION_ZSTD) &&
	       pd_write_u32(writer, bytes, (uint32_t)writer->level) &&
	       pd_write_u32(writer, bytes, packed ? (uint32_t)((plain + packed / 2) / packed) : 0) &&
	       pd_write_u32(writer, bytes, PD_PACK_MMAP_LEN);
}

static bool put_aux_index(struct pd_writer *writer, struct pd_write_bytes *bytes)
{
	const struct pd_write_bytes *index = &writer->aux_index;

	return pd_write_u64(writer, bytes, index->size / 16) && pd_write_put(bytes, index->data, index->size);
}

static bool put_dir_format(struct pd_writer *writer, struct pd_write_bytes *bytes)
{
	return pd_write_u64(writer, bytes, 1);
}

static enum pd_status make_feature(struct pd_writer *writer, unsigned feature,
				   bool (*put)(struct pd_writer *writer, struct pd_write_bytes *bytes),
				   struct pd_error *error)
{
	struct pd_write_bytes bytes = { 0 };
	enum pd_status status = PD_ERROR_MEMORY;

	if (put(writer, &bytes))
		status = pd_writer_keep_feature(writer, feature, (struct pd_bytes){ bytes.data, bytes.size }, error);
	else
		pd_fail_memory(error);
	pd_free(bytes.data);
	return status;
}

static void drop_feature(struct pd_writer *writer, unsigned feature)
{
	pd_free(writer->features[feature].data);
	writer->features[feature] = (struct pd_write_feature){ 0 };
}

// Whether the feature says that records are compressed; perf stat writes one that says nothing.
static bool describes_compression(const struct pd_writer *writer)
{
	const struct pd_write_feature *slot = &writer->features[PD_FEATURE_COMPRESSED];

	return slot->present && slot->size >= 8 && pd_load_u32(slot->data + 4, writer->swap);
}

static bool has_features(const struct pd_writer *writer)
{
	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++)
		if (writer->features[i].present)
			return true;
	return false;
}

// Readers find the byte order of the bitmap of a big-endian file by this feature.
static enum pd_status mark_order(struct pd_writer *writer, struct pd_error *error)
{
	static const uint8_t empty[4];

	if (!writer->big || writer->mode == PD_MODE_PIPE || writer->features[PD_FEATURE_HOSTNAME].present ||
	    !has_features(writer))
		return PD_OK;
	return pd_writer_keep_feature(writer, PD_FEATURE_HOSTNAME, (struct pd_bytes){ empty, sizeof(empty) }, error);
}

// Features that say how the rest is written.
static enum pd_status make_features(struct pd_writer *writer, struct pd_error *error)
{
	bool index = writer->mode != PD_MODE_PIPE &&
		     (writer->aux_index.size || writer->features[PD_FEATURE_AUXTRACE].present);
	enum pd_status status = PD_OK;

	if (writer->pack_type)
		status = make_feature(writer, PD_FEATURE_COMPRESSED, put_compression, error);
	else if (writer->packing == PD_PACK_NONE && describes_compression(writer))
		drop_feature(writer, PD_FEATURE_COMPRESSED);
	if (status >= 0 && index)
		status = make_feature(writer, PD_FEATURE_AUXTRACE, put_aux_index, error);
	else if (!index)
		drop_feature(writer, PD_FEATURE_AUXTRACE);
	if (status >= 0 && writer->mode == PD_MODE_DIRECTORY && writer->part_count > 1)
		status = make_feature(writer, PD_FEATURE_DIR_FORMAT, put_dir_format, error);
	else
		drop_feature(writer, PD_FEATURE_DIR_FORMAT);
	if (status >= 0 && has_names(writer) && !writer->features[PD_FEATURE_EVENT_DESC].present)
		status = make_feature(writer, PD_FEATURE_EVENT_DESC, put_event_desc, error);
	return status < 0 ? status : mark_order(writer, error);
}

// ---- files ----

// ids of all events, then their attrs, for a place in the file.
static bool put_attrs(struct pd_writer *writer, struct pd_write_bytes *bytes, uint64_t offset)
{
	size_t size = common_attr_size(writer);
	uint64_t ids = offset;
	bool done = true;

	for (size_t i = 0; i < writer->event_count && done; i++)
		done = put_ids(writer, bytes, &writer->events[i]);
	writer->attrs_offset = offset + bytes->size;
	writer->attr_entry_size = size + ID_ENTRY_SIZE;
	writer->attrs_size = writer->event_count * writer->attr_entry_size;
	for (size_t i = 0; i < writer->event_count && done; i++) {
		uint64_t id_size = writer->events[i].id_count * 8;

		done = put_attr(writer, bytes, &writer->events[i], size) &&
		       pd_write_u64(writer, bytes, id_size ? ids : 0) && pd_write_u64(writer, bytes, id_size);
		ids += id_size;
	}
	return done;
}

static void encode_header(const struct pd_writer *writer, uint64_t data_size, uint8_t *at)
{
	struct pd_buffer buffer = pd_buffer(at, PD_FILE_HEADER_SIZE, writer->big);
	uint64_t bits[PD_FEATURE_LIMIT / 64] = { 0 };

	for (unsigned i = 0; i < PD_FEATURE_LIMIT && data_size; i++)
		bits[i / 64] |= (uint64_t)writer->features[i].present << i % 64;
	pd_buffer_bytes(&buffer, writer->big ? "2ELIFREP" : "PERFILE2", 8);
	pd_buffer_u64(&buffer, PD_FILE_HEADER_SIZE);
	pd_buffer_u64(&buffer, writer->attr_entry_size);
	pd_buffer_u64(&buffer, writer->attrs_offset);
	pd_buffer_u64(&buffer, writer->attrs_size);
	pd_buffer_u64(&buffer, writer->data_offset);
	pd_buffer_u64(&buffer, data_size);
	pd_buffer_u64(&buffer, writer->event_types.size ? writer->types_offset : 0);
	pd_buffer_u64(&buffer, writer->event_types.size);
	for (size_t i = 0; i < PD_FEATURE_LIMIT / 64; i++)
		pd_buffer_u64(&buffer, bits[i]);
}

static enum pd_status start_file(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_output *out = &writer->parts[0].out;
	struct pd_write_bytes bytes = { 0 };
	enum pd_status status = PD_ERROR_MEMORY;

	if (put_zeros(&bytes, PD_FILE_HEADER_SIZE)) {
		struct pd_write_bytes attrs = { 0 };

		if (put_attrs(writer, &attrs, PD_FILE_HEADER_SIZE) && pd_write_put(&bytes, attrs.data, attrs.size)) {
			writer->types_offset = bytes.size;
			if (pd_write_put(&bytes, writer->event_types.data, writer->event_types.size))
				status = PD_OK;
		}
		pd_free(attrs.data);
	}
	if (status < 0) {
		pd_free(bytes.data);
		return pd_fail_memory(error);
	}
	writer->data_offset = writer->saved_end = bytes.size;
	encode_header(writer, 0, bytes.data);
	status = pd_output_write(out, bytes.data, bytes.size, error);
	pd_free(bytes.data);
	// from now on the file says what it is
	return status < 0 ? status : pd_output_flush(out, error);
}

// Table of features and features, for a place in the file.
static bool put_features(struct pd_writer *writer, struct pd_write_bytes *bytes, uint64_t offset)
{
	uint64_t at = offset;
	bool done = true;

	for (unsigned i = 0; i < PD_FEATURE_LIMIT; i++)
		at += writer->features[i].present ? FEATURE_ENTRY_SIZE : 0;
	for (unsigned i = 0; i < PD_FEATURE_LIMIT && done; i++) {
		if (!writer->features[i].present)
			continue;
		done = pd_write_u64(writer, bytes, at) && pd_write_u64(writer, bytes, writer->features[i].size);
		at += writer->features[i].size;
	}
	for (unsigned i = 0; i < PD_FEATURE_LIMIT && done; i++)
		if (writer->features[i].present)
			done = pd_write_put(bytes, writer->features[i].data, writer->features[i].size);
	return done;
}

// An earlier save may have written past the end.
static enum pd_status cut(struct pd_output *out, uint64_t end, struct pd_error *error)
{
	struct stat stat_of;

	if (fstat(out->fd, &stat_of) < 0 || !S_ISREG(stat_of.st_mode) || (uint64_t)stat_of.st_size <= end)
		return PD_OK;
	if (ftruncate(out->fd, (off_t)end) < 0)
		return pd_fail_system(error, errno, "%s: cannot write", out->name);
	return PD_OK;
}

// Data of no size would be taken for a recording that was killed; a round that ends says nothing else.
static enum pd_status fill_empty(struct pd_writer *writer, struct pd_error *error)
{
	uint8_t at[8];
	struct pd_buffer buffer = pd_buffer(at, sizeof(at), writer->big);

	if (pd_output_end(&writer->parts[0].out) > writer->data_offset)
		return PD_OK;
	pd_buffer_u32(&buffer, PD_RECORD_FINISHED_ROUND);
	pd_buffer_u16(&buffer, 0);
	pd_buffer_u16(&buffer, sizeof(at));
	return pd_output_write(&writer->parts[0].out, at, sizeof(at), error);
}

static enum pd_status write_around(struct pd_writer *writer, struct pd_write_bytes *after, bool last,
				   struct pd_error *error)
{
	struct pd_output *out = &writer->parts[0].out;
	uint64_t end = pd_output_end(out);
	uint8_t header[PD_FILE_HEADER_SIZE];
	enum pd_status status;

	if (!put_features(writer, after, end))
		return pd_fail_memory(error);
	if (last && writer->header_dirty) {
		struct pd_write_bytes attrs = { 0 };
		bool done = put_zeros(after, -(end + after->size) & 7) &&
			    put_attrs(writer, &attrs, end + after->size) && pd_write_put(after, attrs.data, attrs.size);

		pd_free(attrs.data);
		if (!done)
			return pd_fail_memory(error);
	}
	status = pd_output_write_at(out, end, after->data, after->size, error);
	if (status >= 0)
		status = pd_output_hold(out, end, last ? 0 : after->size, error);
	encode_header(writer, end - writer->data_offset, header);
	if (status >= 0)
		status = pd_output_write_at(out, 0, header, sizeof(header), error);
	if (status >= 0 && last)
		status = cut(out, end + after->size, error);
	// features that are long are not written again soon
	writer->saved_end = end + 4 * (uint64_t)after->size;
	return status;
}

enum pd_status pd_writer_save(struct pd_writer *writer, bool last, struct pd_error *error)
{
	struct pd_write_bytes after = { 0 };
	enum pd_status status = make_features(writer, error);

	if (status >= 0 && last)
		status = fill_empty(writer, error);
	if (status >= 0)
		status = pd_output_flush(&writer->parts[0].out, error);
	if (status >= 0)
		status = write_around(writer, &after, last, error);
	pd_free(after.data);
	return status;
}

// ---- pipes ----

// An id of 0 is that of the first event for perf, so that a name without an id can be sent for a single event only.
static enum pd_status send_name(struct pd_writer *writer, const struct pd_write_event *event, struct pd_error *error)
{
	struct pd_write_bytes body = { 0 };
	const char *name = event->update ? event->update : event->name;
	size_t length = name ? strlen(name) : 0;
	enum pd_status status = PD_OK;

	if (!length || length > 4096 || (!event->id_count && writer->event_count > 1))
		return PD_OK;
	if (pd_write_u64(writer, &body, PD_EVENT_UPDATE_NAME) &&
	    pd_write_u64(writer, &body, event->id_count ? event->ids[0] : 0) && pd_write_put(&body, name, length) &&
	    put_zeros(&body, 8 - length % 8))
		status = pd_writer_send_record(writer, PD_RECORD_EVENT_UPDATE, 0,
					       (struct pd_bytes){ body.data, body.size }, error);
	else
		status = pd_fail_memory(error);
	pd_free(body.data);
	return status;
}

static enum pd_status send_event(struct pd_writer *writer, const struct pd_write_event *event, struct pd_error *error)
{
	struct pd_write_bytes body = { 0 };
	enum pd_status status;

	if (!put_attr(writer, &body, event, (event->attr_size + 7) & ~(size_t)7) || !put_ids(writer, &body, event))
		status = pd_fail_memory(error);
	else if (body.size > PD_MOST_PADDED - 8)
		status = pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
				 "%s: an event has %zu ids, more than fit in a record of a pipe", writer->name,
				 event->id_count);
	else
		status = pd_writer_send_record(writer, PD_RECORD_HEADER_ATTR, 0,
					       (struct pd_bytes){ body.data, body.size }, error);
	pd_free(body.data);
	return status;
}

static enum pd_status send_feature(struct pd_writer *writer, unsigned feature, struct pd_error *error)
{
	const struct pd_write_feature *slot = &writer->features[feature];
	struct pd_bytes bytes = { slot->data, slot->size };

	if (bytes.size > PD_MOST_FEATURE)
		return pd_writer_send_large(writer, feature, bytes, error);
	return pd_writer_send_feature_bytes(writer, feature, bytes, error);
}

static enum pd_status send_tracing_data(struct pd_writer *writer, struct pd_error *error)
{
	static const uint8_t zeros[8];
	const struct pd_write_feature *feature = &writer->features[PD_FEATURE_TRACING_DATA];
	size_t pad = -feature->size & 7;
	uint8_t body[TRACING_RECORD_SIZE - 8];
	struct pd_buffer buffer = pd_buffer(body, sizeof(body), writer->big);
	enum pd_status status;

	if (feature->size > UINT32_MAX - 8) {
		pd_writer_report_too_large(writer, PD_FEATURE_TRACING_DATA, feature->size);
		return PD_OK;
	}
	pd_buffer_u32(&buffer, (uint32_t)(feature->size + pad));
	pd_buffer_u32(&buffer, 0);
	status = pd_writer_send_record(writer, PD_RECORD_HEADER_TRACING_DATA, 0,
				       (struct pd_bytes){ body, sizeof(body) }, error);
	if (status >= 0)
		status = pd_writer_send_bytes(writer, feature->data, feature->size, error);
	return status < 0 ? status : pd_writer_send_bytes(writer, zeros, pad, error);
}

// Records of the feature have type 0 there, and sizes that need not be aligned.
static enum pd_status send_build_ids(struct pd_writer *writer, struct pd_error *error)
{
	const struct pd_write_feature *feature = &writer->features[PD_FEATURE_BUILD_ID];
	struct pd_write_bytes body = { 0 };
	enum pd_status status = PD_OK;
	size_t at = 0;

	while (status >= 0 && feature->size - at >= PD_RECORD_HEADER_SIZE) {
		struct pd_record_head head = pd_record_head(feature->data + at, writer->swap);

		if (head.size < PD_RECORD_HEADER_SIZE || head.size > feature->size - at || head.size > PD_MOST_PADDED)
			break;
		body.size = 0;
		if (!pd_write_put(&body, feature->data + at + 8, (size_t)head.size - 8) ||
		    !put_zeros(&body, -head.size & 7))
			status = pd_fail_memory(error);
		else
			status = pd_writer_send_record(writer, PD_RECORD_HEADER_BUILD_ID, head.misc,
						       (struct pd_bytes){ body.data, body.size }, error);
		at += (size_t)head.size;
	}
	pd_free(body.data);
	return status;
}

static enum pd_status send_event_types(struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t at = 0; at < writer->event_types.size && status >= 0; at += PD_TYPE_ENTRY_SIZE)
		status = pd_writer_send_record(writer, PD_RECORD_HEADER_EVENT_TYPE, 0,
					       (struct pd_bytes){ writer->event_types.data + at, PD_TYPE_ENTRY_SIZE },
					       error);
	writer->event_types.size = 0;
	return status;
}

// The number that perf takes for the end of the list is that of its own features.
static unsigned end_marker(const struct pd_writer *writer)
{
	if (writer->reader)
		return writer->reader->last_feature + 1;
	if (writer->end_marker && writer->end_marker < PD_FEATURE_LIMIT)
		return (unsigned)writer->end_marker;
	for (unsigned i = USUAL_END_MARKER; i < NEWER_END_MARKER; i++)
		if (writer->features[i].present)
			return NEWER_END_MARKER;
	return USUAL_END_MARKER;
}

static bool has_own_record(unsigned feature)
{
	return feature == PD_FEATURE_TRACING_DATA || feature == PD_FEATURE_BUILD_ID;
}

// Features with content, or those without.
static enum pd_status send_features_of(struct pd_writer *writer, bool with_content, bool *any, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (unsigned i = 1; i < PD_FEATURE_LIMIT && status >= 0; i++) {
		const struct pd_write_feature *slot = &writer->features[i];

		if (!slot->present || writer->sent[i] || has_own_record(i) || (slot->size > 0) != with_content)
			continue;
		status = send_feature(writer, i, error);
		writer->sent[i] = *any = true;
	}
	return status;
}

static enum pd_status send_features(struct pd_writer *writer, bool first, struct pd_error *error)
{
	bool any = false;
	enum pd_status status = send_features_of(writer, true, &any, error);

	// perf 7 reads no feature after one without content
	if (status >= 0)
		status = send_features_of(writer, false, &any, error);
	if (status >= 0 && first && (any || writer->end_marker))
		status = pd_writer_send_feature_bytes(writer, end_marker(writer), (struct pd_bytes){ NULL, 0 }, error);
	for (unsigned i = PD_FEATURE_TRACING_DATA; i <= PD_FEATURE_BUILD_ID && status >= 0; i++) {
		if (!writer->features[i].present || writer->sent[i])
			continue;
		status = i == PD_FEATURE_BUILD_ID ? send_build_ids(writer, error) : send_tracing_data(writer, error);
		writer->sent[i] = true;
	}
	return status;
}

static enum pd_status send(struct pd_writer *writer, bool first, struct pd_error *error)
{
	enum pd_status status = make_features(writer, error);
	size_t from = writer->events_sent;

	for (; writer->events_sent < writer->event_count && status >= 0; writer->events_sent++)
		status = send_event(writer, &writer->events[writer->events_sent], error);
	if (status >= 0)
		status = send_features(writer, first, error);
	if (status >= 0)
		status = send_event_types(writer, error);
	for (; from < writer->events_sent && status >= 0; from++)
		status = send_name(writer, &writer->events[from], error);
	return status;
}

enum pd_status pd_writer_send(struct pd_writer *writer, struct pd_error *error)
{
	return send(writer, false, error);
}

static enum pd_status start_pipe(struct pd_writer *writer, struct pd_error *error)
{
	uint8_t head[16];
	struct pd_buffer buffer = pd_buffer(head, sizeof(head), writer->big);
	enum pd_status status;

	pd_buffer_bytes(&buffer, writer->big ? "2ELIFREP" : "PERFILE2", 8);
	pd_buffer_u64(&buffer, sizeof(head));
	status = pd_output_write(&writer->parts[0].out, head, sizeof(head), error);
	return status < 0 ? status : send(writer, true, error);
}

enum pd_status pd_writer_start(struct pd_writer *writer, struct pd_error *error)
{
	if (writer->started)
		return PD_OK;
	writer->started = true;
	return writer->mode == PD_MODE_PIPE ? start_pipe(writer, error) : start_file(writer, error);
}
