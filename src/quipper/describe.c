/* SPDX-License-Identifier: MIT */
/* What a file says of its events and of the machine, as fields of PerfDataProto. */
#include "base/md5.h"
#include "file/file.h"
#include "quipper/metadata.h"
#include "quipper/text.h"
#include "quipper/write.h"

// ---- fields of PerfDataProto ----

void pd_quipper_begin(struct pd_quipper_writing *self)
{
	pd_text_clear(self->message);
}

void pd_quipper_end(struct pd_quipper_writing *self, unsigned number)
{
	const struct pd_quipper_line *line = pd_quipper_by_number(PD_QUIPPER_PerfDataProto, number);

	if (pd_text_failed(self->message))
		self->failed = true;
	else if (!self->options.text)
		pd_proto_bytes(self->out, number, self->message->data, self->message->size);
	else if (!pd_quipper_print(self->out, line,
				   (struct pd_bytes){ (const uint8_t *)self->message->data, self->message->size }))
		self->failed = true;
	self->failed |= pd_text_failed(self->out) || !pd_text_flush_large(self->out);
}

void pd_quipper_number(struct pd_quipper_writing *self, unsigned number, uint64_t value)
{
	if (!self->options.text) {
		pd_proto_given(self->out, number, value);
		return;
	}
	pd_text_add(self->out, pd_quipper_by_number(PD_QUIPPER_PerfDataProto, number)->name);
	PD_TEXT_LITERAL(self->out, ": ");
	pd_text_u64(self->out, value);
	pd_text_char(self->out, '\n');
}

// ---- events ----

void pd_quipper_attrs(struct pd_quipper_writing *self)
{
	const struct pd_event *event;

	for (; (event = pd_file_event(self->file, self->events)) != NULL; self->events++) {
		// quipper has all members, whatever the size of the recorded attr
		struct pd_attr attr = *event->attr;

		attr.wire_size = 0;
		pd_quipper_begin(self);
		pd_quipper_encode_in(&self->encoder, 1, PD_QUIPPER_PerfEventAttr, &attr);
		for (size_t i = 0; i < event->ids.count; i++)
			pd_proto_given(self->message, 2, event->ids.items[i]);
		pd_quipper_end(self, 1);
	}
}

static void put_checked(struct pd_text *text, unsigned number, const char *string, size_t size)
{
	pd_proto_bytes(text, number, string, size);
	pd_proto_given(text, number + 1, pd_md5_prefix(string, size));
}

static void put_names(struct pd_quipper_writing *self)
{
	const struct pd_event *event;

	for (size_t i = 0; self->has_names && (event = pd_file_event(self->file, i)) != NULL; i++) {
		pd_quipper_begin(self);
		pd_proto_given(self->message, 1, event->attr->config);
		put_checked(self->message, 2, event->name ? event->name : "", event->name ? strlen(event->name) : 0);
		pd_quipper_end(self, 10);
	}
}

// ---- build ids ----

static void encode_build_id(struct pd_quipper_writing *self, const struct pd_build_id_entry *entry)
{
	size_t size = PD_BUILD_ID_SIZE;

	// zeros at the end are not part of it, in words
	while (size && entry->id.bytes[size - 1] == 0)
		size--;
	size = (size + 3) & ~(size_t)3;
	pd_quipper_begin(self);
	pd_proto_given(self->message, 1, entry->misc);
	pd_proto_given(self->message, 2, entry->pid);
	pd_proto_bytes(self->message, 3, entry->id.bytes, size);
	put_checked(self->message, 4, entry->name, strlen(entry->name));
	if (entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE))
		pd_proto_given(self->message, 6, entry->id.size);
}

void pd_quipper_keep_build_id(struct pd_quipper_writing *self, const struct pd_build_id_entry *entry)
{
	encode_build_id(self, entry);
	pd_proto_bytes(self->late, 7, self->message->data, self->message->size);
	self->failed |= pd_text_failed(self->late);
}

static void put_late_build_ids(struct pd_quipper_writing *self)
{
	struct pd_cursor c = pd_cursor(self->late->data, self->late->size, false);
	struct pd_proto_field field;

	while (pd_proto_next(&c, &field)) {
		pd_quipper_begin(self);
		pd_text_put(self->message, (const char *)field.bytes.data, field.bytes.size);
		pd_quipper_end(self, 7);
	}
}

static void put_build_ids(struct pd_quipper_writing *self)
{
	const struct pd_build_ids *ids = pd_file_build_id(self->file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_is_big(self->file) };
	struct pd_build_id_entry entry;

	put_late_build_ids(self);
	if (!ids || self->late->size)
		return;
	walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		encode_build_id(self, &entry);
		pd_quipper_end(self, 7);
	}
}

// ---- numbers and strings ----

static void put_numbers(struct pd_quipper_writing *self, unsigned feature, unsigned number)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	const void *decoded = pd_file_feature(self->file, feature);
	const struct pd_field *fields;
	size_t count;

	if (!decoded)
		return;
	fields = layout->fields(&count);
	pd_quipper_begin(self);
	pd_proto_given(self->message, 1, feature);
	for (size_t i = 0; i < count; i++)
		pd_proto_given(self->message, 2, pd_member(decoded, fields[i].offset, fields[i].size));
	pd_quipper_end(self, number);
}

static void put_whole_command(struct pd_quipper_writing *self, const struct pd_cmdline *command)
{
	struct pd_text *whole = pd_text_new();
	size_t opened;

	for (size_t i = 0; whole && i < command->arguments.count; i++) {
		const struct pd_argument *argument = PD_ITEM(pd_argument, command->arguments, i);

		if (whole->size)
			pd_text_char(whole, ' ');
		pd_text_put(whole, argument->value.data, argument->value.length);
	}
	if (!whole || pd_text_failed(whole)) {
		self->failed = true;
	} else {
		opened = pd_proto_open(self->message, PD_QUIPPER_WHOLE);
		put_checked(self->message, 1, whole->data, whole->size);
		pd_proto_close(self->message, opened);
	}
	pd_text_free(whole);
}

static void put_strings(struct pd_quipper_writing *self)
{
	const struct pd_cmdline *command = pd_file_cmdline(self->file);
	bool any = command != NULL;

	pd_quipper_begin(self);
	for (size_t i = 0; i < PD_QUIPPER_STRINGS; i++) {
		const void *decoded = pd_file_feature(self->file, pd_quipper_strings[i].feature);

		if (decoded)
			pd_quipper_encode_in(&self->encoder, pd_quipper_strings[i].number,
					     PD_QUIPPER_StringAndMd5sumPrefix, decoded);
		any |= decoded != NULL;
	}
	for (size_t i = 0; command && i < command->arguments.count; i++)
		pd_quipper_encode_in(&self->encoder, PD_QUIPPER_TOKEN, PD_QUIPPER_Argument,
				     PD_ITEM(pd_argument, command->arguments, i));
	if (command)
		put_whole_command(self, command);
	if (any)
		pd_quipper_end(self, 13);
}

// ---- everything ----

static void put_feature(struct pd_quipper_writing *self, const struct pd_quipper_feature *feature)
{
	const void *decoded = pd_file_feature(self->file, feature->feature);
	const struct pd_list *list;

	if (!decoded)
		return;
	list = (const void *)((const char *)decoded + feature->list);
	for (size_t i = 0; i < (feature->is_list ? list->count : 1); i++) {
		pd_quipper_begin(self);
		pd_quipper_encode(&self->encoder, feature->message,
				  feature->is_list ? (const char *)list->items + i * list->stride : decoded);
		pd_quipper_end(self, feature->number);
	}
}

static void put_tracing_data(struct pd_quipper_writing *self)
{
	struct pd_bytes bytes;

	if (!pd_file_has_feature(self->file, PD_FEATURE_TRACING_DATA) ||
	    pd_file_feature_bytes(self->file, PD_FEATURE_TRACING_DATA, &bytes, NULL) < 0 || !bytes.size)
		return;
	pd_quipper_begin(self);
	pd_proto_bytes(self->message, 1, bytes.data, bytes.size);
	pd_quipper_end(self, 14);
}

static void put_stats(struct pd_quipper_writing *self)
{
	pd_quipper_begin(self);
	pd_proto_given(self->message, 2, self->result.samples);
	pd_proto_given(self->message, 3, self->mappings);
	pd_proto_given(self->message, 4, self->forks);
	pd_proto_given(self->message, 5, self->exits);
	if (self->remap)
		pd_proto_given(self->message, 6, self->result.samples - self->result.unmapped);
	pd_proto_given(self->message, 7, self->remap != NULL);
	pd_quipper_end(self, 4);
}

static uint64_t mask_of(struct pd_quipper_writing *self)
{
	bool is_pipe = pd_file_mode(self->file) == PD_MODE_PIPE;
	uint64_t mask = is_pipe ? 0 : pd_file_header(self->file)->feature_bits[0];

	for (unsigned i = 0; is_pipe && i < 64; i++)
		mask |= (uint64_t)pd_file_has_feature(self->file, i) << i;
	if (self->late->size)
		mask |= UINT64_C(1) << PD_FEATURE_BUILD_ID;
	if (self->has_names)
		mask |= UINT64_C(1) << PD_FEATURE_EVENT_DESC;
	return mask;
}

void pd_quipper_metadata(struct pd_quipper_writing *self)
{
	self->has_names |= pd_file_has_feature(self->file, PD_FEATURE_EVENT_DESC) ||
			   pd_file_header(self->file)->event_types_size;
	put_stats(self);
	pd_quipper_number(self, 5, mask_of(self));
	put_build_ids(self);
	put_numbers(self, PD_FEATURE_NRCPUS, 8);
	put_numbers(self, PD_FEATURE_TOTAL_MEM, 9);
	put_names(self);
	for (size_t i = 0; i < PD_QUIPPER_FEATURES; i++) {
		if (pd_quipper_features[i].number > 13)
			continue;
		put_feature(self, &pd_quipper_features[i]);
	}
	put_strings(self);
	put_tracing_data(self);
	for (size_t i = 0; i < PD_QUIPPER_FEATURES; i++)
		if (pd_quipper_features[i].number > 13)
			put_feature(self, &pd_quipper_features[i]);
}
