/* SPDX-License-Identifier: MIT */
/*
 * Events and features as the writer keeps them until they are written: encoded in its byte order.
 */
#include "write/inside.h"

#include <string.h>

#include "format/encode.h"
#include "format/record.h"

enum {
	OLDEST_USUAL_ATTR = 112, // perf 4.1: no reader in use wants less
};

// ---- events ----

// The smallest attr that perf has had and that holds all that is not zero.
static size_t attr_size_of(const uint8_t *attr, size_t size)
{
	static const size_t sizes[] = { OLDEST_USUAL_ATTR, 120, 128, 136, 144 };
	size_t used = size;

	while (used && !attr[used - 1])
		used--;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (used <= sizes[i])
			return sizes[i];
	return size;
}

static enum pd_status encode_attr(struct pd_writer *writer, const struct pd_attr *attr, struct pd_write_event *event,
				  struct pd_error *error)
{
	struct pd_scope scope = { .arena = NULL };
	struct pd_buffer buffer = pd_buffer(NULL, 0, writer->big);

	pd_encode_attr(&buffer, &scope, attr);
	event->attr = pd_alloc(buffer.need);
	if (!event->attr)
		return pd_fail_memory(error);
	buffer = pd_buffer(event->attr, buffer.need, writer->big);
	pd_encode_attr(&buffer, &scope, attr);
	event->attr_size = buffer.need;
	// one that was made by hand says no size
	if (!attr->wire_size && !attr->size)
		event->attr_size = attr_size_of(event->attr, buffer.need);
	else if (!attr->wire_size && attr->size < buffer.need && attr->size >= PD_MIN_attr)
		event->attr_size = attr->size;
	if (event->attr_size != PD_MIN_attr || attr->size) {
		struct pd_buffer size = pd_buffer(event->attr + 4, 4, writer->big);

		pd_buffer_u32(&size, (uint32_t)event->attr_size);
	}
	return PD_OK;
}

enum pd_status pd_writer_keep_event(struct pd_writer *writer, const struct pd_attr *attr, struct pd_u64s ids,
				    const char *name, struct pd_error *error)
{
	struct pd_write_event event = { .id_count = ids.count };
	struct pd_attr fitting = *attr;
	enum pd_status status;

	if (!PD_GROW(writer->events, writer->event_capacity, writer->event_count + 1))
		return pd_fail_memory(error);
	pd_consumer_fit_attr(writer, &fitting);
	status = encode_attr(writer, &fitting, &event, error);
	if (status < 0)
		return status;
	pd_consumer_cut_attr(writer, &event);
	pd_attr_words(attr, event.words);
	event.ids = pd_alloc(ids.count * sizeof(*event.ids));
	event.name = name ? strdup(name) : NULL;
	if (event.ids && ids.count)
		memcpy(event.ids, ids.items, ids.count * sizeof(*event.ids));
	writer->events[writer->event_count++] = event;
	writer->header_dirty = writer->started;
	return event.ids && (event.name || !name) ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_writer_add_event_type(struct pd_writer *writer, struct pd_bytes entry, struct pd_error *error)
{
	uint8_t padded[PD_TYPE_ENTRY_SIZE] = { 0 };

	if (entry.size)
		memcpy(padded, entry.data, entry.size < sizeof(padded) ? entry.size : sizeof(padded));
	return pd_write_put(&writer->event_types, padded, sizeof(padded)) ? PD_OK : pd_fail_memory(error);
}

// ---- features ----

enum pd_status pd_writer_keep_feature(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
				      struct pd_error *error)
{
	struct pd_write_feature *slot = &writer->features[feature];
	uint8_t *copy;

	if (!pd_consumer_takes_feature(writer, feature))
		return PD_OK;
	copy = pd_alloc(bytes.size ? bytes.size : 1);
	if (!copy)
		return pd_fail_memory(error);
	if (bytes.size)
		memcpy(copy, bytes.data, bytes.size);
	pd_free(slot->data);
	*slot = (struct pd_write_feature){ true, copy, bytes.size };
	return PD_OK;
}

// Without a file there are no quirks; topology wants the number of CPUs, which it says itself.
enum pd_status pd_writer_feature_bytes(struct pd_writer *writer, const struct pd_layout *layout, const void *decoded,
				       struct pd_bytes *bytes_out, struct pd_error *error)
{
	struct pd_scope scope = { .arena = NULL };
	struct pd_buffer buffer = pd_buffer(NULL, 0, writer->big);
	struct pd_scope start;
	uint8_t *scratch;

	if (layout == &pd_layouts[PD_LAYOUT_cpu_topology])
		scope.words[PD_WORD_NRCPUS] = ((const struct pd_cpu_topology *)decoded)->places.count;
	start = scope;
	layout->encode(&buffer, &scope, decoded);
	scratch = pd_write_scratch(writer, buffer.need + 1);
	if (!scratch)
		return pd_fail_memory(error);
	if (!buffer.failed) {
		buffer = pd_buffer(scratch, buffer.need, writer->big);
		layout->encode(&buffer, &start, decoded);
	}
	if (buffer.failed)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: %s.%s: %s", writer->name,
			       buffer.layout ? buffer.layout : layout->name, buffer.field ? buffer.field : "body",
			       buffer.reason);
	*bytes_out = (struct pd_bytes){ scratch, buffer.need };
	return PD_OK;
}

enum pd_status pd_writer_encode_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
					struct pd_error *error)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_bytes bytes;
	enum pd_status status;

	if (!layout)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%u: unknown feature", feature);
	status = pd_writer_feature_bytes(writer, layout, decoded, &bytes, error);
	return status < 0 ? status : pd_writer_keep_feature(writer, feature, bytes, error);
}

enum pd_status pd_writer_set_feature_bytes(struct pd_writer *writer, unsigned feature, struct pd_bytes bytes,
					   struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0)
		return pd_writer_failed_before(writer, error);
	if (!feature || feature >= PD_FEATURE_LIMIT)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%u: invalid feature number", feature);
	if (writer->started && writer->mode == PD_MODE_PIPE)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: records have been written already, in a pipe features come first",
			       pd_feature_name(feature) ? pd_feature_name(feature) : writer->name);
	status = pd_writer_keep_feature(writer, feature, bytes, error ? error : &own);
	return pd_writer_fail(writer, status, error ? error : &own);
}

enum pd_status pd_writer_set_feature(struct pd_writer *writer, unsigned feature, const void *decoded,
				     struct pd_error *error)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_bytes bytes;
	enum pd_status status;

	if (writer->status < 0)
		return pd_writer_failed_before(writer, error);
	if (!layout)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%u: unknown feature", feature);
	if (!decoded) {
		pd_free(writer->features[feature].data);
		writer->features[feature] = (struct pd_write_feature){ 0 };
		writer->source_features[feature] = true;
		return PD_OK;
	}
	status = pd_writer_feature_bytes(writer, layout, decoded, &bytes, error);
	return status < 0 ? status : pd_writer_set_feature_bytes(writer, feature, bytes, error);
}
