/* SPDX-License-Identifier: MIT */
/*
 * Records and features of several files in one output. What differs between recordings (ids of events, clocks, numbers
 * of tasks, ids of tracepoints, where the kernel was) is made one: in samples whose fields stay the same by changing a few
 * words, else by decoding the record and encoding it for the event that it has in the output.
 */
#include "write/inside.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/lookup/search.h"
#include "format/text/print.h"

// What is done with the records of a file, in one place.
struct changing {
	struct pd_writer *writer;
	const struct pd_join *join;
	struct pd_arena *arena; // for copies of what stands in the input
	bool failed;            // no memory
};

// ---- numbers ----

static uint64_t change_number(const struct pd_number_change *changes, size_t count, uint64_t number)
{
	size_t from;

	PD_SEARCH(from, 0, count, i, changes[i].from < number);
	return from < count && changes[from].from == number ? changes[from].to : number;
}

static uint64_t change_id(const struct pd_join *join, uint64_t id)
{
	return join->id_count ? change_number(join->ids, join->id_count, id) : id;
}

// 0 and the largest number say that there is no time. A time never becomes one of these.
static uint64_t change_time(const struct pd_join *join, uint64_t time_ns)
{
	uint64_t by = join->time_ns < 0 ? -(uint64_t)join->time_ns : (uint64_t)join->time_ns;

	if (!by || !time_ns || time_ns == PD_NO_TIME)
		return time_ns;
	if (join->time_ns < 0)
		return time_ns > by ? time_ns - by : 1;
	return time_ns < PD_NO_TIME - by ? time_ns + by : PD_NO_TIME - 1;
}

static uint64_t change_task(const struct pd_join *join, uint64_t task, size_t size)
{
	uint64_t none = size == 4 ? UINT32_MAX : UINT64_MAX;

	return !task || task == none ? task : (task + join->tasks) & none;
}

static uint64_t change_address(const struct pd_join *join, uint64_t address)
{
	size_t from;

	PD_SEARCH(from, 0, join->address_count, i, join->addresses[i].end <= address);
	if (from == join->address_count || address < join->addresses[from].start)
		return address;
	return address - join->addresses[from].start + join->addresses[from].to;
}

// ---- what was decoded ----

static void set_member(void *it, const struct pd_field *field, uint64_t value)
{
	uint8_t *at = (uint8_t *)it + field->offset;
	uint32_t half = (uint32_t)value;

	if (field->size == 4)
		memcpy(at, &half, sizeof(half));
	else
		memcpy(at, &value, sizeof(value));
}

static void change_field(const struct changing *c, const struct pd_field *field, void *it)
{
	const struct pd_join *join = c->join;
	uint64_t value = pd_member(it, field->offset, field->size);

	if (field->role == PD_ROLE_ID)
		set_member(it, field, change_id(join, value));
	else if (field->role == PD_ROLE_TASK && join->tasks)
		set_member(it, field, change_task(join, value, field->size));
	else if (field->show == PD_SHOW_TIME && field->size == 8)
		set_member(it, field, change_time(join, value));
	else if (field->show == PD_SHOW_ADDR && field->size == 8 && join->address_count)
		set_member(it, field, change_address(join, value));
}

// Addresses in call chains. The array may stand in the input.
static void change_array(struct changing *c, const struct pd_field *field, void *it)
{
	struct pd_u64s array;
	uint64_t *items;

	if (field->kind != PD_KIND_U64 || (field->show != PD_SHOW_CHAIN && field->show != PD_SHOW_ADDR) ||
	    !c->join->address_count)
		return;
	memcpy(&array, (uint8_t *)it + field->offset, sizeof(array));
	if (!array.count)
		return;
	items = pd_arena_copy(c->arena, array.items, array.count * sizeof(*items));
	if (!items) {
		c->failed = true;
		return;
	}
	for (size_t i = 0; i < array.count; i++)
		if (items[i] < PD_CONTEXT_MAX)
			items[i] = change_address(c->join, items[i]);
	array.items = items;
	memcpy((uint8_t *)it + field->offset, &array, sizeof(array));
}

static void change_all(struct changing *c, const struct pd_layout *layout, void *it);

static void change_list(struct changing *c, const struct pd_field *field, void *it)
{
	struct pd_list list;
	uint8_t *items;

	memcpy(&list, (uint8_t *)it + field->offset, sizeof(list));
	if (!list.count)
		return;
	items = pd_arena_copy(c->arena, list.items, list.count * list.stride);
	if (!items) {
		c->failed = true;
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		change_all(c, field->part, items + i * list.stride);
	list.items = items;
	memcpy((uint8_t *)it + field->offset, &list, sizeof(list));
}

// Parts belong to the arena of the record and may be changed.
static void change_part(struct changing *c, const struct pd_field *field, void *it)
{
	void *part;

	memcpy(&part, (uint8_t *)it + field->offset, sizeof(part));
	if (part)
		change_all(c, field->part, part);
}

// As deep as the tables. What a record does not have is 0, which stays 0.
static void change_all(struct changing *c, const struct pd_layout *layout, void *it)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pd_field *field = &fields[i];

		if (field->line == PD_LINE_FIELD)
			change_field(c, field, it);
		else if (field->line == PD_LINE_ARRAY)
			change_array(c, field, it);
		else if (field->line == PD_LINE_ONE || field->line == PD_LINE_BOXED)
			change_part(c, field, it);
		else if (field->line == PD_LINE_LIST)
			change_list(c, field, it);
	}
}

// ---- events ----

// Whether a join leaves everything but the fields of events as it is.
static bool keeps_values(const struct pd_join *join)
{
	return !join->id_count && !join->tracepoint_count && !join->time_ns && !join->tasks && !join->address_count &&
	       !join->untimed_ns;
}

static const struct pd_write_event *event_of(const struct changing *c, const struct pd_event_full *full)
{
	size_t index = full->event.index;

	if (c->join->events)
		index = index < c->join->event_count ? c->join->events[index] : SIZE_MAX;
	return index < c->writer->event_count ? &c->writer->events[index] : NULL;
}

static bool has_same_fields(const struct pd_event_full *full, const struct pd_write_event *event)
{
	return memcmp(full->words, event->words, sizeof(event->words)) == 0;
}

// An id for a record that has none.
static uint64_t id_for(const struct changing *c, const struct pd_event_full *full, const struct pd_write_event *event)
{
	if (full->event.ids.count)
		return change_id(c->join, full->event.ids.items[0]);
	return event->id_count ? event->ids[0] : 0;
}

static enum pd_status fail_event(const struct changing *c, const struct pd_record *record, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, record->offset, "%s: an event has no index in the output",
		       c->writer->name);
}

// Whether an id is one of the event that a record is read as. Where a recording has one event, ids are not looked at;
// where a damaged one keeps them at several places, its samples are read by that of the first event.
static bool is_id_of(const struct pd_record *record, const struct pd_event_full *full, uint64_t id)
{
	return pd_file_find_event(pd_record_file(record), id) == full;
}

// ---- samples ----

// Whether readers of the output take a sample that stays as it is for one of its event.
static bool identifies_event(const struct changing *c, const struct pd_record *record, const struct pd_event_full *full,
			     const struct pd_write_event *event)
{
	size_t words = (record->bytes.size - PD_RECORD_HEADER_SIZE) / 8;
	uint64_t id;

	if (c->writer->event_count == 1 || full->sample_id == PD_NO_WORD)
		return true;
	if (full->sample_id >= words)
		return false;
	id = pd_load_u64(record->bytes.data + PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_id,
			 pd_record_is_swapped(record));
	return id ? is_id_of(record, full, id) : event == c->writer->events;
}

static bool changes_tracepoint(const struct pd_join *join, const struct pd_event_full *full)
{
	uint64_t config = full->event.attr->config;

	return join->tracepoint_count && full->event.attr->type == PD_TYPE_TRACEPOINT &&
	       full->event.attr->sample_type & MASK_SAMPLE_TYPE(RAW) &&
	       change_number(join->tracepoints, join->tracepoint_count, config) != config;
}

// Raw data begin with the id of the tracepoint.
static void change_raw(struct changing *c, struct pd_sample *sample)
{
	uint8_t *data;
	struct pd_buffer buffer;

	if (sample->raw.size < 2)
		return;
	data = pd_arena_copy(c->arena, sample->raw.data, sample->raw.size);
	if (!data) {
		c->failed = true;
		return;
	}
	buffer = pd_buffer(data, 2, c->join->raw_big_endian);
	pd_buffer_u16(&buffer, (uint16_t)change_number(c->join->tracepoints, c->join->tracepoint_count,
						       pd_load_u16(data, c->join->raw_big_endian != PD_HOST_BIG)));
	sample->raw.data = data;
}

// A sample with the largest copy of the stack has no room for an id. The end of the copy is what is missed least.
static bool shorten_stack(struct changing *c, struct pd_sample *sample)
{
	struct pd_user_stack *stack;

	if (!sample->user_stack || sample->user_stack->size < 8)
		return false;
	stack = pd_arena_copy(c->arena, sample->user_stack, sizeof(*stack));
	if (!stack)
		return false;
	stack->size -= 8;
	stack->data.size -= 8;
	if (stack->dyn_size > stack->size)
		stack->dyn_size = stack->size;
	sample->user_stack = stack;
	return true;
}

static enum pd_status pass_decoded_sample(struct changing *c, struct pd_stream *stream, const struct pd_record *record,
					  const struct pd_event_full *full, const struct pd_write_event *event,
					  struct pd_error *error)
{
	const void *decoded;
	enum pd_status status = pd_record_decode(record, &decoded, error);
	// it lies in the scratch of the stream, where nobody else looks for it
	struct pd_sample *sample = (struct pd_sample *)decoded;

	if (status < 0)
		return status;
	if (c->writer->event_count > 1 && !is_id_of(record, full, sample->identifier ? sample->identifier : sample->id))
		sample->identifier = sample->id = 0;
	change_all(c, &pd_layouts[PD_LAYOUT_sample], sample);
	if (!sample->identifier)
		sample->identifier = sample->id ? sample->id : id_for(c, full, event);
	if (!sample->id)
		sample->id = sample->identifier;
	if (changes_tracepoint(c->join, full))
		change_raw(c, sample);
	if (c->failed)
		return pd_fail_memory(error);
	status = pd_writer_encode_changed(c->writer, record, record->misc, sample, event->words, error);
	if (status == PD_ERROR_FORMAT && shorten_stack(c, sample))
		status = pd_writer_encode_changed(c->writer, record, record->misc, sample, event->words, error);
	return status < 0 ? status : pd_writer_pass_instead(c->writer, stream, record, sample, error);
}

// Whether no more changes in samples of an event than words at known places.
static bool can_patch(const struct changing *c, const struct pd_event_full *full, const struct pd_record *record)
{
	uint64_t type = full->event.attr->sample_type;
	bool many_ids = (type & MASK_SAMPLE_TYPE(READ) && full->event.attr->read_format & MASK_READ_FORMAT(ID)) ||
			type & MASK_SAMPLE_TYPE(STREAM_ID) ||
			(type & MASK_SAMPLE_TYPE(ID) && type & MASK_SAMPLE_TYPE(IDENTIFIER));

	return pd_record_is_big(record) == c->writer->big && !(c->join->id_count && many_ids) &&
	       !c->join->address_count && !changes_tracepoint(c->join, full);
}

static void patch_u64(uint8_t *at, uint64_t value, bool swap)
{
	value = swap ? __builtin_bswap64(value) : value;
	memcpy(at, &value, sizeof(value));
}

static void patch_task(const struct changing *c, uint8_t *body, size_t size, uint8_t place)
{
	bool swap = c->writer->swap;
	uint32_t value;

	if (place == PD_FIELD_MISSING || place + 4u > size)
		return;
	value = (uint32_t)change_task(c->join, pd_load_u32(body + place, swap), 4);
	value = swap ? __builtin_bswap32(value) : value;
	memcpy(body + place, &value, sizeof(value));
}

static enum pd_status pass_sample_patched(struct changing *c, struct pd_stream *stream, const struct pd_record *record,
					  const struct pd_event_full *full, struct pd_error *error)
{
	struct pd_write_bytes *to = &c->writer->changed_bytes;
	size_t words = (record->bytes.size - PD_RECORD_HEADER_SIZE) / 8;
	bool swap = c->writer->swap;
	uint8_t *body;

	to->size = 0;
	if (!pd_write_put(to, record->bytes.data, record->bytes.size))
		return pd_fail_memory(error);
	body = to->data + PD_RECORD_HEADER_SIZE;
	if (c->join->id_count && full->sample_id < words)
		patch_u64(body + 8 * (size_t)full->sample_id,
			  change_id(c->join, pd_load_u64(body + 8 * (size_t)full->sample_id, swap)), swap);
	if (full->sample_time < words)
		patch_u64(body + 8 * (size_t)full->sample_time,
			  change_time(c->join, pd_load_u64(body + 8 * (size_t)full->sample_time, swap)), swap);
	if (c->join->tasks) {
		patch_task(c, body, 8 * words, full->brief.pid);
		patch_task(c, body, 8 * words, full->brief.tid);
	}
	return pd_writer_pass_instead(c->writer, stream, record, record, error);
}

static enum pd_status pass_sample(struct changing *c, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	const struct pd_event_full *full = pd_record_full_event(record);
	const struct pd_write_event *event;

	if (!record->event || !full)
		return pd_fail(error, PD_ERROR_FORMAT, record->offset, "%s: offset %" PRIu64 ": sample: unknown event",
			       pd_file_name(pd_record_file(record)), record->offset);
	event = event_of(c, full);
	if (!event)
		return fail_event(c, record, error);
	if (!has_same_fields(full, event) || !identifies_event(c, record, full, event))
		return pass_decoded_sample(c, stream, record, full, event, error);
	if (keeps_values(c->join) && pd_record_is_big(record) == c->writer->big)
		return pd_writer_pass(c->writer, stream, record, error);
	if (can_patch(c, full, record))
		return pass_sample_patched(c, stream, record, full, error);
	return pass_decoded_sample(c, stream, record, full, event, error);
}

// ---- other records of the kernel ----

static uint64_t trailer_id(const struct pd_sample_id *sample_id)
{
	return sample_id->identifier ? sample_id->identifier : sample_id->id;
}

// Recorders fill the trailers of records that they make themselves with zeros.
static bool is_empty(const struct pd_sample_id *sample_id)
{
	return !trailer_id(sample_id) && !sample_id->time_ns && !sample_id->pid && !sample_id->tid;
}

// The trailer that a record gets in the output: a copy, empty where it had none.
static struct pd_sample_id *new_trailer(struct changing *c, const struct pd_record *record,
					const struct pd_event_full *full, const struct pd_write_event *event,
					const struct pd_sample_id *old)
{
	struct pd_sample_id *trailer = pd_arena_alloc(c->arena, sizeof(*trailer));

	if (trailer && old) {
		*trailer = *old;
		if (c->writer->event_count > 1 && !is_id_of(record, full, trailer_id(old)))
			trailer->identifier = trailer->id = 0;
		change_all(c, &pd_layouts[PD_LAYOUT_sample_id], trailer);
		if (!trailer_id(trailer) && !is_empty(old))
			trailer->identifier = trailer->id = id_for(c, full, event);
		if (!trailer->identifier)
			trailer->identifier = trailer->id;
	}
	if (trailer && !trailer->time_ns)
		trailer->time_ns = c->join->untimed_ns;
	return trailer;
}

static enum pd_status pass_kernel(struct changing *c, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	const struct pd_event_full *full = pd_record_full_event(record);
	const struct pd_write_event *event = full ? event_of(c, full) : NULL;
	uint64_t words[PD_WORD_COUNT];
	struct pd_sample_id *trailer;
	struct pd_body_head *body;
	const void *decoded;
	enum pd_status status;

	if (!full)
		return pd_writer_pass(c->writer, stream, record, error);
	if (!event)
		return fail_event(c, record, error);
	status = pd_record_decode(record, &decoded, error);
	if (status < 0)
		return status;
	body = (struct pd_body_head *)decoded;
	change_all(c, pd_record_layout(record->type), body);
	trailer = new_trailer(c, record, full, event, body->sample_id);
	if (!trailer || c->failed)
		return pd_fail_memory(error);
	body->sample_id = trailer;
	memcpy(words, event->words, sizeof(words));
	// what has no id belongs to the first event, as readers see it
	if (!trailer_id(trailer))
		words[PD_WORD_TRAILER] = c->writer->events[0].words[PD_WORD_TRAILER];
	status = pd_writer_encode_changed(c->writer, record, record->misc, body, words, error);
	return status < 0 ? status : pd_writer_pass_instead(c->writer, stream, record, body, error);
}

// ---- all records ----

// Whether records of the file and of the output have the same trailers, wherever they come from.
static bool keeps_trailers(const struct changing *c, const struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_write_event *event = event_of(c, pd_file_full_event(file, i));

		if (event && event->words[PD_WORD_TRAILER] != pd_file_full_event(file, i)->words[PD_WORD_TRAILER])
			return false;
	}
	return !pd_file_event_count(file) || !c->writer->event_count ||
	       c->writer->events[0].words[PD_WORD_TRAILER] == pd_file_full_event(file, 0)->words[PD_WORD_TRAILER];
}

// Whether readers of the output find the event at the end of a record that stays as it is. With one event in the file that was
// not looked at.
static bool end_identifies_event(const struct changing *c, const struct pd_record *record)
{
	const struct pd_file *file = pd_record_file(record);

	if (c->writer->event_count == 1 || pd_file_event_count(file) != 1 ||
	    pd_file_full_event(file, 0)->trailer_id == PD_FIELD_MISSING)
		return true;
	return pd_file_has_ids(file) && pd_stream_knows_end(file, record);
}

static bool keeps_trailer(const struct changing *c, const struct pd_record *record)
{
	return keeps_trailers(c, pd_record_file(record)) && end_identifies_event(c, record);
}

static enum pd_status pass_tool(struct changing *c, struct pd_stream *stream, const struct pd_record *record,
				struct pd_error *error)
{
	const struct pd_layout *layout = pd_record_layout(record->type);
	const void *decoded;
	enum pd_status status;

	// larger than a record can be: the join of pieces
	if (record->bytes.size > UINT16_MAX)
		return pd_writer_pass(c->writer, stream, record, error);
	status = pd_record_decode(record, &decoded, error);
	if (status < 0)
		return status;
	change_all(c, layout, (void *)decoded);
	if (c->failed)
		return pd_fail_memory(error);
	status = pd_writer_encode_changed(c->writer, record, record->misc, decoded, NULL, error);
	return status < 0 ? status : pd_writer_pass_instead(c->writer, stream, record, decoded, error);
}

static enum pd_status pass_joined(struct changing *c, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	enum pd_record_group group = pd_record_group(record->type);

	if (group == PD_GROUP_SAMPLE)
		return pass_sample(c, stream, record, error);
	if (group == PD_GROUP_UNKNOWN || !pd_record_layout(record->type) ||
	    (keeps_values(c->join) && (group != PD_GROUP_KERNEL || keeps_trailer(c, record))))
		return pd_writer_pass(c->writer, stream, record, error);
	if (group == PD_GROUP_KERNEL)
		return pass_kernel(c, stream, record, error);
	return pass_tool(c, stream, record, error);
}

enum pd_status pd_writer_pass_joined(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
				     const struct pd_join *join, struct pd_error *error)
{
	struct changing c = { .writer = writer, .join = join, .arena = pd_record_arena(record) };
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0) {
		if (error)
			*error = writer->error;
		return writer->status;
	}
	if (join->size != sizeof(*join))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the join is 0");
	status = pass_joined(&c, stream, record, error ? error : &own);
	return status == PD_ERROR_MEMORY ? pd_writer_fail(writer, status, error ? error : &own) : status;
}

// ---- features ----

// Cuts the feature into its records; how many there are, and which, if there is room for them.
static size_t cut_records(const struct pd_writer *writer, struct pd_bytes bytes, struct pd_bytes *records)
{
	size_t count = 0;

	while (bytes.size >= PD_RECORD_HEADER_SIZE) {
		uint64_t size = pd_record_head(bytes.data, writer->swap).size;

		if (size < PD_RECORD_HEADER_SIZE || size > bytes.size)
			break;
		if (records)
			records[count] = (struct pd_bytes){ bytes.data, (size_t)size };
		count++;
		bytes.data += size;
		bytes.size -= (size_t)size;
	}
	return count;
}

// Machine and name of the object: what readers find a build id by.
static int compare_names(const void *a, const void *b)
{
	enum {
		PID = 8,
		NAME = 36
	};
	const struct pd_bytes *left = a, *right = b;
	size_t left_size = left->size > NAME ? strnlen((const char *)left->data + NAME, left->size - NAME) : 0;
	size_t right_size = right->size > NAME ? strnlen((const char *)right->data + NAME, right->size - NAME) : 0;

	if (left->size < NAME || right->size < NAME || left_size != right_size)
		return left->size < NAME || right->size < NAME ?
			       left->size < right->size ? -1 : left->size > right->size :
		       left_size < right_size ? -1 :
						1;
	if (memcmp(left->data + PID, right->data + PID, 4) != 0)
		return memcmp(left->data + PID, right->data + PID, 4);
	return memcmp(left->data + NAME, right->data + NAME, left_size);
}

static bool has_same_id(struct pd_bytes a, struct pd_bytes b)
{
	enum {
		ID = 12,
		BYTES = 20
	};

	return a.size >= ID + BYTES && b.size >= ID + BYTES && !memcmp(a.data + ID, b.data + ID, BYTES);
}

// Adds the records of more whose objects are not among those of old. Returns how many are, with another build id.
static size_t add_new_records(const struct pd_writer *writer, struct pd_bytes old, struct pd_bytes more,
			      struct pd_write_bytes *all, bool *done)
{
	size_t old_count = cut_records(writer, old, NULL), count = cut_records(writer, more, NULL), others = 0;
	struct pd_bytes *records = pd_alloc((old_count + count + 1) * sizeof(*records));
	struct pd_bytes *added = records ? records + old_count : NULL;

	*done = records != NULL;
	if (*done) {
		cut_records(writer, old, records);
		cut_records(writer, more, added);
		if (old_count)
			qsort(records, old_count, sizeof(*records), compare_names);
	}
	for (size_t i = 0; i < count && *done; i++) {
		const struct pd_bytes *there = bsearch(&added[i], records, old_count, sizeof(*records), compare_names);

		if (!there)
			*done = pd_write_put(all, added[i].data, added[i].size);
		others += there && !has_same_id(*there, added[i]);
	}
	pd_free(records);
	return others;
}

static enum pd_status join_build_ids(struct pd_writer *writer, struct pd_file *file, struct pd_bytes bytes,
				     struct pd_error *error)
{
	const struct pd_write_feature *slot = &writer->features[PD_FEATURE_BUILD_ID];
	struct pd_bytes old = { slot->data, slot->size };
	struct pd_write_bytes all = { 0 };
	enum pd_status status;
	size_t others = 0;
	bool done = pd_write_put(&all, old.data, old.size);

	if (done)
		others = add_new_records(writer, old, bytes, &all, &done);
	if (done)
		status = pd_writer_keep_feature(writer, PD_FEATURE_BUILD_ID, (struct pd_bytes){ all.data, all.size },
						error);
	else
		status = pd_fail_memory(error);
	pd_free(all.data);
	if (status >= 0 && others)
		pd_file_report(file, PD_PROBLEM_NOT_CARRIED, PD_NO_OFFSET, "BUILD_ID",
			       "%zu objects have a different build id in an earlier input, which is kept", others);
	return status;
}

enum pd_status pd_writer_join_feature(struct pd_writer *writer, struct pd_file *file, unsigned feature,
				      struct pd_error *error)
{
	struct pd_bytes bytes;
	enum pd_status status;

	if (writer->status < 0) {
		if (error)
			*error = writer->error;
		return writer->status;
	}
	status = pd_writer_feature_of(writer, file, feature, &bytes, error);
	if (status < 0)
		return status;
	if (feature == PD_FEATURE_BUILD_ID && writer->features[feature].present && !writer->started)
		return join_build_ids(writer, file, bytes, error);
	status = pd_writer_set_feature_bytes(writer, feature, bytes, error);
	if (status >= 0)
		writer->features[feature].from = file;
	return status;
}
