/* SPDX-License-Identifier: MIT */
// From a record to the numbers of a tracepoint.
#include "interval/tracepoints.h"

#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "stream/read/stream.h"
#include "trace/trace.h"

// An event of the file, as the table has it.
struct pd_tracepoint_event {
	bool read, wanted;
	uint8_t which, count;
	struct field {
		struct pd_raw_number number;
		bool is_signed;
	} fields[PD_TRACEPOINT_FIELDS];
	// Of the word at the place of a field: the bits that are its, and its sign; of others 0.
	uint64_t masks[PD_TRACEPOINT_FIELDS], signs[PD_TRACEPOINT_FIELDS];
	size_t words_end; // raw data with so many bytes has a word at each place; SIZE_MAX: they cannot be read so
};

enum pd_status pd_tracepoints_init(struct pd_tracepoints *tracepoints, struct pd_file *file,
				   const struct pd_tracepoint *table, size_t count, struct pd_error *error)
{
	*tracepoints = (struct pd_tracepoints){ .file = file, .table = table, .table_count = count };
	return pd_trace_new(file, NULL, &tracepoints->trace, error);
}

void pd_tracepoints_fini(struct pd_tracepoints *tracepoints)
{
	pd_trace_free(tracepoints->trace);
	pd_free(tracepoints->events);
	*tracepoints = (struct pd_tracepoints){ 0 };
}

bool pd_file_has_tracepoint(struct pd_file *file, const char *name)
{
	const struct pd_event *event;

	for (size_t i = 0; (event = pd_file_event(file, i)) != NULL; i++)
		if (pd_event_is(event, name))
			return true;
	return false;
}

static bool find_field(struct pd_trace *trace, const struct pd_event *event, const char *name,
		       struct pd_trace_field *field_out)
{
	for (size_t i = 0; pd_trace_field_at(trace, event, i, field_out); i++)
		if (!strcmp(field_out->name, name))
			return true;
	return false;
}

// ---- events ----

// Numbers of the byte order of this machine are the low bytes of words.
static void find_words(struct pd_tracepoint_event *found)
{
	found->words_end = 0;
	for (unsigned i = 0; i < found->count; i++) {
		struct field *field = &found->fields[i];

		if (PD_HOST_BIG || field->number.big || !field->number.size) {
			found->words_end = SIZE_MAX;
			return;
		}
		found->masks[i] = UINT64_MAX >> (64 - 8 * field->number.size);
		found->signs[i] = field->is_signed ? found->masks[i] / 2 + 1 : 0;
		if ((size_t)field->number.offset + 8 > found->words_end)
			found->words_end = (size_t)field->number.offset + 8;
	}
}

static enum pd_status read_fields(struct pd_tracepoints *tracepoints, const struct pd_event *event,
				  struct pd_tracepoint_event *found, struct pd_error *error)
{
	const char *const *names = tracepoints->table[found->which].fields;
	struct pd_trace_field field;
	enum pd_status status = PD_OK;

	for (unsigned i = 0; status == PD_OK && i < PD_TRACEPOINT_FIELDS && names[i]; i++) {
		const char *name = names[i] + (names[i][0] == '?');
		bool there = find_field(tracepoints->trace, event, name, &field);

		found->count = (uint8_t)(i + 1);
		if (!there && name != names[i])
			continue;
		found->fields[i].is_signed = there && field.is_signed;
		status = pd_raw_number_find(tracepoints->trace, event, name, &found->fields[i].number, error);
	}
	find_words(found);
	return status;
}

static bool matches(const struct pd_event *event, const char *name)
{
	size_t length = strlen(name);

	if (name[length - 1] == '*')
		return event->name && !strncmp(event->name, name, length - 1);
	return pd_event_is(event, name);
}

bool pd_tracepoints_wants(const struct pd_tracepoints *tracepoints, const struct pd_event *event)
{
	for (size_t i = 0; i < tracepoints->table_count; i++)
		if (matches(event, tracepoints->table[i].name))
			return true;
	return false;
}

static enum pd_status read_event(struct pd_tracepoints *tracepoints, const struct pd_event *event,
				 struct pd_tracepoint_event *found, struct pd_error *error)
{
	struct pd_tracepoint_event is = { .read = true };
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < tracepoints->table_count && !is.wanted; i++) {
		is.which = (uint8_t)i;
		is.wanted = matches(event, tracepoints->table[i].name);
	}
	if (is.wanted) {
		tracepoints->found |= UINT64_C(1) << is.which;
		status = read_fields(tracepoints, event, &is, error);
	}
	if (pd_trace_lacks_memory(tracepoints->trace))
		return pd_fail_memory(error);
	if (status == PD_OK)
		*found = is;
	return status;
}

// NULL: an error.
static const struct pd_tracepoint_event *event_of(struct pd_tracepoints *tracepoints, const struct pd_event *event,
						  struct pd_error *error)
{
	size_t count = tracepoints->event_count, capacity = tracepoints->event_capacity;
	struct pd_tracepoint_event *found;

	if (event->index >= count) {
		if (!PD_GROW(tracepoints->events, capacity, event->index + 1)) {
			pd_fail_memory(error);
			return NULL;
		}
		memset(tracepoints->events + count, 0, (capacity - count) * sizeof(*tracepoints->events));
		tracepoints->event_count = tracepoints->event_capacity = capacity;
	}
	found = &tracepoints->events[event->index];
	return found->read || read_event(tracepoints, event, found, error) == PD_OK ? found : NULL;
}

bool pd_tracepoints_has(const struct pd_tracepoints *tracepoints, const struct pd_event *event, unsigned field)
{
	return event->index < tracepoints->event_count && tracepoints->events[event->index].fields[field].number.size;
}

// ---- samples ----

static uint64_t extended(uint64_t value, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

static bool read_numbers(const struct pd_tracepoint_event *found, struct pd_tracepoint_sample *sample)
{
	for (unsigned i = 0; i < found->count; i++) {
		const struct pd_raw_number *number = &found->fields[i].number;

		sample->values[i] = 0;
		if (number->size && !pd_raw_number_read(sample->raw, number, &sample->values[i]))
			return false;
		if (found->fields[i].is_signed)
			sample->values[i] = extended(sample->values[i], number->size);
	}
	return true;
}

// The number of a field in the word at its place. What is not negative has no branch of its own: that cannot be foreseen.
static inline uint64_t number_in(const struct pd_tracepoint_event *found, unsigned field, uint64_t word)
{
	return ((word & found->masks[field]) ^ found->signs[field]) - found->signs[field];
}

static inline bool read_values(const struct pd_tracepoint_event *found, struct pd_tracepoint_sample *sample)
{
	if (PD_UNLIKELY(sample->raw.size < found->words_end))
		return read_numbers(found, sample);
	for (unsigned i = 0; i < found->count; i++)
		sample->values[i] =
			number_in(found, i, pd_load_u64(sample->raw.data + found->fields[i].number.offset, false));
	return true;
}

static bool decode_raw(const struct pd_record *record, struct pd_raw_brief *brief_out, struct pd_bytes *raw_out)
{
	const struct pd_sample *decoded;
	struct pd_brief brief;

	if (!pd_record_brief(record, &brief))
		return false;
	decoded = pd_as_sample(record);
	*brief_out = (struct pd_raw_brief){ brief.ip, brief.time_ns, brief.pid, brief.tid, brief.cpu, brief.callchain };
	*raw_out = decoded ? decoded->raw : (struct pd_bytes){ 0 };
	return raw_out->data != NULL;
}

bool pd_sample_raw(const struct pd_record *record, struct pd_raw_brief *brief_out, struct pd_bytes *raw_out)
{
	return pd_record_raw_brief(record, brief_out, raw_out) || decode_raw(record, brief_out, raw_out);
}

enum pd_status pd_tracepoints_take(struct pd_tracepoints *tracepoints, const struct pd_record *record,
				   struct pd_tracepoint_sample *sample_out, struct pd_error *error)
{
	const struct pd_tracepoint_event *found;
	enum pd_status status;

	if (record->type != PD_RECORD_SAMPLE) {
		status = pd_trace_take(tracepoints->trace, record, error);
		return status < 0 ? status : PD_END;
	}
	if (!record->event)
		return PD_END;
	found = record->event->index < tracepoints->event_count ? &tracepoints->events[record->event->index] : NULL;
	if (PD_UNLIKELY(!found || !found->read) && !(found = event_of(tracepoints, record->event, error)))
		return error->status;
	if (!found->wanted)
		return PD_END;
	if (record->time_ns == PD_NO_TIME ||
	    (!pd_record_raw_brief(record, &sample_out->brief, &sample_out->raw) &&
	     !decode_raw(record, &sample_out->brief, &sample_out->raw)) ||
	    !read_values(found, sample_out)) {
		tracepoints->unreadable++;
		return PD_END;
	}
	sample_out->which = found->which;
	sample_out->event = record->event;
	return PD_OK;
}

bool pd_tracepoints_take_sample(struct pd_tracepoints *tracepoints, const struct pd_event_full *event,
				struct pd_bytes bytes, uint64_t time_ns, struct pd_tracepoint_sample *sample_out)
{
	const struct pd_tracepoint_event *found;

	if (PD_UNLIKELY(event->event.index >= tracepoints->event_count))
		return false;
	found = &tracepoints->events[event->event.index];
	sample_out->which = found->wanted ? found->which : PD_TRACEPOINT_UNWANTED;
	sample_out->event = &event->event;
	if (!found->wanted)
		return found->read;
	return pd_raw_brief_read(event, bytes, time_ns, &sample_out->brief, &sample_out->raw) &&
	       sample_out->raw.size >= found->words_end && read_values(found, sample_out);
}

bool pd_tracepoints_pack(struct pd_tracepoints *tracepoints, const struct pd_event *event, struct pd_pack *pack)
{
	struct pd_tracepoint_event found = { 0 };
	uint64_t found_before = tracepoints->found;
	struct pd_error unwanted;
	enum pd_status status = read_event(tracepoints, event, &found, &unwanted);

	// what is found is said by samples
	tracepoints->found = found_before;
	if (status < 0 || !found.wanted || found.words_end > UINT16_MAX || pack->count + found.count > PD_PACKED_WORDS)
		return false;
	for (unsigned i = 0; i < found.count; i++)
		pack->at[pack->count++] = (uint16_t)found.fields[i].number.offset;
	return true;
}

// Always as many words as there may be fields, several at once; those of no field are 0.
static inline void read_words(const struct pd_tracepoint_event *found, const uint64_t *restrict words,
			      uint64_t *restrict values)
{
	for (unsigned i = 0; i < PD_TRACEPOINT_FIELDS; i++)
		values[i] = number_in(found, i, words[i]);
}

enum pd_status pd_tracepoints_unpack(struct pd_tracepoints *tracepoints, const struct pd_event *event,
				     const uint64_t *words, struct pd_tracepoint_sample *sample_out,
				     struct pd_error *error)
{
	const struct pd_tracepoint_event *found =
		event->index < tracepoints->event_count ? &tracepoints->events[event->index] : NULL;

	if (PD_UNLIKELY(!found || !found->read) && !(found = event_of(tracepoints, event, error)))
		return error->status;
	sample_out->which = found->which;
	sample_out->event = event;
	read_words(found, words, sample_out->values);
	return PD_OK;
}

struct pd_bytes pd_tracepoint_string(struct pd_tracepoints *tracepoints, const struct pd_tracepoint_sample *sample,
				     const char *field)
{
	struct pd_bytes raw = sample->raw;
	struct pd_trace_field found;
	uint64_t offset, size;

	if (!find_field(tracepoints->trace, sample->event, field, &found) || !found.is_string)
		return (struct pd_bytes){ 0 };
	offset = found.offset;
	size = found.size;
	// how long and where stands in the raw data
	if (!strncmp(found.type, "__data_loc", 10) || !strncmp(found.type, "__rel_loc", 9)) {
		struct pd_raw_number where = { found.offset, 4, pd_trace_is_big(tracepoints->trace) };
		uint64_t place = 0;

		pd_raw_number_read(raw, &where, &place);
		offset = (place & 0xffff) + (found.type[2] == 'r' ? found.offset + 4 : 0);
		size = place >> 16;
	}
	if (offset >= raw.size)
		return (struct pd_bytes){ 0 };
	size = size < raw.size - offset ? size : raw.size - offset;
	return (struct pd_bytes){ raw.data + offset, strnlen((const char *)raw.data + offset, (size_t)size) };
}
