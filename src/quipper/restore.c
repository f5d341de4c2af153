/* SPDX-License-Identifier: MIT */
/* Events and header features out of PerfDataProto. */
#include "quipper/read.h"

#include <inttypes.h>

#include "base/error.h"
#include "format/encode.h"
#include "format/record.h"
#include "write/write.h"

enum {
	DEFAULT_ATTR = 96,     // bytes that quipper knows
	MOST_EVENTS = 1 << 20, // of a file
};

enum pd_status pd_quipper_fail(struct pd_quipper_reading *self, const char *why, struct pd_error *error)
{
	if (self->record.failed || self->lasting.failed)
		return pd_fail_memory(error);
	why = why ? why : "damaged";
	if (self->at == PD_NO_OFFSET)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: no PerfDataProto: %s", self->name, why);
	return pd_fail(error, PD_ERROR_FORMAT, self->at, "%s: offset 0x%" PRIx64 ": no PerfDataProto: %s", self->name,
		       self->at, why);
}

// In a pipe, where they come after records, they are sent at once.
static enum pd_status set_bytes(struct pd_quipper_reading *self, unsigned feature, struct pd_bytes bytes,
				struct pd_error *error)
{
	return pd_writer_put_feature(self->writer, feature, bytes, error);
}

static enum pd_status set_feature(struct pd_quipper_reading *self, unsigned feature, const void *decoded,
				  struct pd_error *error)
{
	struct pd_bytes bytes;
	enum pd_status status =
		pd_writer_feature_bytes(self->writer, pd_feature_layout(feature), decoded, &bytes, error);

	return status < 0 ? status : set_bytes(self, feature, bytes, error);
}

// ---- events ----

static uint32_t attr_size_of(uint32_t said)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (said == sizes[i])
			return said;
	return DEFAULT_ATTR;
}

static bool keep_ids(struct pd_quipper_reading *self, struct pd_quipper_attr *event, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;
	uint64_t *ids = pd_arena_alloc(&self->lasting, (bytes.size / 2 + 1) * sizeof(*ids));
	size_t count = 0;

	while (ids && pd_proto_next(&c, &field)) {
		if (field.number != 2 || field.wire != PD_PROTO_VARINT)
			continue;
		ids[count++] = field.value;
		if (!pd_u64_map_set(&self->attr_of, field.value, self->attr_count + 1))
			return false;
	}
	event->ids = (struct pd_u64s){ ids, count };
	return ids != NULL;
}

static enum pd_status take_attr(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;
	struct pd_quipper_attr *event;

	if (self->attr_count >= MOST_EVENTS)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: too many events", self->name);
	if (!PD_GROW(self->attrs, self->attr_capacity, self->attr_count + 1))
		return pd_fail_memory(error);
	event = &self->attrs[self->attr_count];
	*event = (struct pd_quipper_attr){ .name = NULL };
	while (pd_proto_next(&c, &field))
		if (field.number == 1 && field.wire == PD_PROTO_SIZED &&
		    !pd_quipper_decode(&self->decoder, PD_QUIPPER_PerfEventAttr, field.bytes, &event->attr))
			return pd_quipper_fail(self, self->decoder.wrong, error);
	if (c.failed)
		return pd_quipper_fail(self, c.reason, error);
	event->attr.size = event->attr.wire_size = attr_size_of(event->attr.size);
	pd_attr_words(&event->attr, event->words);
	if (!keep_ids(self, event, bytes))
		return pd_fail_memory(error);
	self->attr_count++;
	return pd_writer_add_event(self->writer, &event->attr, event->ids, NULL, error);
}

static enum pd_status take_name(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;

	if (self->name_count >= self->attr_count)
		return PD_OK;
	while (pd_proto_next(&c, &field))
		if (field.number == 2 && field.wire == PD_PROTO_SIZED) {
			self->attrs[self->name_count].name =
				pd_arena_text(&self->lasting, field.bytes.data,
					      strnlen((const char *)field.bytes.data, field.bytes.size));
			if (!self->attrs[self->name_count].name)
				return pd_fail_memory(error);
		}
	self->name_count++;
	return PD_OK;
}

// As perf does: all events have attrs of one size.
static enum pd_status restore_names(struct pd_quipper_reading *self, struct pd_error *error)
{
	struct pd_event_desc_entry *entries = pd_arena_alloc(&self->lasting, self->attr_count * sizeof(*entries) + 1);
	struct pd_event_desc desc = { .nr = (uint32_t)self->attr_count };

	if (!self->name_count)
		return PD_OK;
	if (!entries)
		return pd_fail_memory(error);
	for (size_t i = 0; i < self->attr_count; i++)
		if (self->attrs[i].attr.size > desc.attr_size)
			desc.attr_size = self->attrs[i].attr.size;
	for (size_t i = 0; i < self->attr_count; i++) {
		struct pd_quipper_attr *event = &self->attrs[i];
		const char *name = event->name ? event->name : "";

		event->attr.wire_size = desc.attr_size;
		entries[i] = (struct pd_event_desc_entry){ .attr = &event->attr,
							   .nr_ids = (uint32_t)event->ids.count,
							   .name = { name, (uint32_t)strlen(name), 0 },
							   .ids = event->ids };
	}
	desc.events = (struct pd_list){ entries, self->attr_count, sizeof(*entries) };
	return set_feature(self, PD_FEATURE_EVENT_DESC, &desc, error);
}

// ---- build ids ----

static enum pd_status take_build_id(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	uint8_t id[PD_BUILD_ID_SIZE] = { 0 };
	struct pd_header_build_id record = { .pid = -1, .build_id = { id, sizeof(id) }, .filename = { "", 0, 0 } };
	struct pd_record_head head = { .type = 0 };
	struct pd_scope scope = { .arena = NULL };
	struct pd_proto_field field;
	struct pd_buffer buffer = pd_buffer(NULL, 0, pd_writer_is_big(self->writer));
	uint64_t size = 0;

	while (pd_proto_next(&c, &field)) {
		if (field.number == 1)
			head.misc = (uint16_t)field.value;
		else if (field.number == 2)
			record.pid = (int32_t)field.value;
		else if (field.number == 3 && field.wire == PD_PROTO_SIZED)
			memcpy(id, field.bytes.data, field.bytes.size < sizeof(id) ? field.bytes.size : sizeof(id));
		else if (field.number == 6)
			size = field.value;
		else if (field.number == 4 && field.wire == PD_PROTO_SIZED)
			record.filename.length = (uint32_t)strnlen((const char *)field.bytes.data, field.bytes.size),
			record.filename.data = (const char *)field.bytes.data;
	}
	if (head.misc & PD_MASK(PD_MISC_BUILD_ID_SIZE))
		record.size = (uint8_t)size;
	pd_record_put(&buffer, &head, &pd_layouts[PD_LAYOUT_header_build_id], PD_GROUP_TOOL, &scope, &record);
	if (c.failed || buffer.failed)
		return pd_quipper_fail(self, c.failed ? c.reason : "a build id does not fit in a record", error);
	if (!pd_text_reserve(self->build_ids, buffer.need))
		return pd_fail_memory(error);
	buffer = pd_buffer(self->build_ids->data + self->build_ids->size, buffer.need, pd_writer_is_big(self->writer));
	pd_record_put(&buffer, &head, &pd_layouts[PD_LAYOUT_header_build_id], PD_GROUP_TOOL, &scope, &record);
	self->build_ids->size += buffer.need;
	return PD_OK;
}

// ---- features ----

static enum pd_status take_numbers(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;
	struct pd_nrcpus cpus = { .available = 0 };
	struct pd_total_mem memory = { .kib = 0 };
	uint64_t feature = 0;
	size_t at = 0;

	while (pd_proto_next(&c, &field)) {
		if (field.number == 1)
			feature = field.value;
		if (field.number != 2 || field.wire == PD_PROTO_SIZED)
			continue;
		memory.kib = field.value;
		if (at++ == 0)
			cpus.available = (uint32_t)field.value;
		else
			cpus.online = (uint32_t)field.value;
	}
	if (feature == PD_FEATURE_NRCPUS && at == 2)
		return set_feature(self, PD_FEATURE_NRCPUS, &cpus, error);
	if (feature == PD_FEATURE_TOTAL_MEM && at == 1)
		return set_feature(self, PD_FEATURE_TOTAL_MEM, &memory, error);
	self->result.features++;
	return PD_OK;
}

// The next item of a list that lasts.
static void *new_item(struct pd_quipper_items *items, size_t size)
{
	void *item;

	if (!pd_grow(&items->items, &items->capacity, items->count + 1, size))
		return NULL;
	item = (char *)items->items + items->count * size;
	memset(item, 0, size);
	items->count++;
	return item;
}

static enum pd_status take_item(struct pd_quipper_reading *self, struct pd_quipper_items *items,
				enum pd_quipper_message_id message, struct pd_bytes bytes, struct pd_error *error)
{
	void *item = new_item(items, pd_quipper_message(message).layout->struct_size);

	if (!item)
		return pd_fail_memory(error);
	return pd_quipper_decode(&self->decoder, message, bytes, item) ?
		       PD_OK :
		       pd_quipper_fail(self, self->decoder.wrong, error);
}

static enum pd_status take_string(struct pd_quipper_reading *self, const struct pd_quipper_string *to,
				  struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_string string = { .value = { NULL, 0, 0 } };

	if (!pd_quipper_decode(&self->decoder, PD_QUIPPER_StringAndMd5sumPrefix, bytes, &string))
		return pd_quipper_fail(self, self->decoder.wrong, error);
	return set_feature(self, to->feature, &string, error);
}

static enum pd_status take_strings(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;
	enum pd_status status = PD_OK;

	while (status >= 0 && pd_proto_next(&c, &field)) {
		if (field.wire != PD_PROTO_SIZED)
			continue;
		for (size_t i = 0; i < PD_QUIPPER_STRINGS && status >= 0; i++)
			if (pd_quipper_strings[i].number == field.number)
				status = take_string(self, &pd_quipper_strings[i], field.bytes, error);
		if (field.number == PD_QUIPPER_TOKEN && status >= 0)
			status = take_item(self, &self->arguments, PD_QUIPPER_Argument, field.bytes, error);
	}
	return c.failed ? pd_quipper_fail(self, c.reason, error) : status;
}

static enum pd_status take_topology(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	self->topology = pd_arena_alloc(&self->lasting, sizeof(*self->topology));
	if (!self->topology)
		return pd_fail_memory(error);
	if (!pd_quipper_decode(&self->decoder, PD_QUIPPER_PerfCPUTopologyMetadata, bytes, self->topology))
		return pd_quipper_fail(self, self->decoder.wrong, error);
	self->topology->has_places = self->topology->places.count != 0;
	return PD_OK;
}

static enum pd_status take_tracing_data(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;
	enum pd_status status = PD_OK;

	while (status >= 0 && pd_proto_next(&c, &field))
		if (field.number == 1 && field.wire == PD_PROTO_SIZED)
			status = set_bytes(self, PD_FEATURE_TRACING_DATA, field.bytes, error);
	return c.failed ? pd_quipper_fail(self, c.reason, error) : status;
}

static enum pd_status take_feature(struct pd_quipper_reading *self, const struct pd_proto_field *field,
				   struct pd_error *error)
{
	for (size_t i = 0; i < PD_QUIPPER_FEATURES; i++)
		if (pd_quipper_features[i].number == field->number && pd_quipper_features[i].is_list)
			return take_item(self, &self->lists[i], pd_quipper_features[i].message, field->bytes, error);
	return PD_OK;
}

enum pd_status pd_quipper_take_metadata(struct pd_quipper_reading *self, const struct pd_proto_field *field,
					struct pd_error *error)
{
	self->decoder.scope.arena = &self->lasting;
	if (field->number == 5 && field->wire == PD_PROTO_VARINT)
		self->mask |= field->value;
	if (field->wire != PD_PROTO_SIZED)
		return PD_OK;
	switch (field->number) {
	case 1:
		return take_attr(self, field->bytes, error);
	case 7:
		return take_build_id(self, field->bytes, error);
	case 8:
	case 9:
		return take_numbers(self, field->bytes, error);
	case 10:
		return take_name(self, field->bytes, error);
	case 11:
		return take_topology(self, field->bytes, error);
	case 13:
		return take_strings(self, field->bytes, error);
	case 14:
		return take_tracing_data(self, field->bytes, error);
	default:
		return take_feature(self, field, error);
	}
}

static enum pd_status restore_lists(struct pd_quipper_reading *self, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < PD_QUIPPER_FEATURES && status >= 0; i++) {
		const struct pd_quipper_feature *feature = &pd_quipper_features[i];
		const struct pd_layout *layout = pd_feature_layout(feature->feature);
		void *decoded = pd_arena_alloc(&self->lasting, layout->struct_size);

		if (!decoded)
			return pd_fail_memory(error);
		if (!self->lists[i].count)
			continue;
		*(struct pd_list *)(void *)((char *)decoded + feature->list) =
			(struct pd_list){ self->lists[i].items, self->lists[i].count,
					  pd_quipper_message(feature->message).layout->struct_size };
		status = set_feature(self, feature->feature, decoded, error);
	}
	return status;
}

enum pd_status pd_quipper_restore(struct pd_quipper_reading *self, struct pd_error *error)
{
	const struct pd_cmdline command = { .arguments = { self->arguments.items, self->arguments.count,
							   sizeof(struct pd_argument) } };
	const struct pd_bytes ids = { (const uint8_t *)self->build_ids->data, self->build_ids->size };
	enum pd_status status = restore_names(self, error);

	if (status >= 0 && (ids.size || self->mask >> PD_FEATURE_BUILD_ID & 1))
		status = set_bytes(self, PD_FEATURE_BUILD_ID, ids, error);
	if (status >= 0 && self->arguments.count)
		status = set_feature(self, PD_FEATURE_CMDLINE, &command, error);
	if (status >= 0 && self->topology)
		status = set_feature(self, PD_FEATURE_CPU_TOPOLOGY, self->topology, error);
	if (status >= 0 && self->mask >> PD_FEATURE_BRANCH_STACK & 1)
		status = set_bytes(self, PD_FEATURE_BRANCH_STACK, (struct pd_bytes){ 0 }, error);
	return status >= 0 ? restore_lists(self, error) : status;
}
