/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <string.h>

#define PRIME UINT64_C(0x100000001b3)

struct place {
	uint64_t next;    // where the next outer record has to begin
	uint64_t inner;   // where the next inflated one has to begin
	uint64_t damage;  // told before the last record
	uint64_t time_ns; // of the last record that has one
	uint32_t part;
	bool begun;
};

// A sanitizer sees it if bytes are not there.
static void touch(struct pd_bytes bytes)
{
	volatile uint8_t sum = 0;

	for (size_t i = 0; i < bytes.size; i++)
		sum = sum ^ bytes.data[i];
}

static bool count_problem(void *self, const struct pd_problem *problem)
{
	struct walk *walk = self;
	bool known = false;
	const char *code;

	for (size_t i = 0; !known && (code = pd_problem_at(i, NULL, NULL, NULL)); i++)
		known = strcmp(code, problem->code) == 0;
	REQUIRE(known);
	REQUIRE(problem->severity >= PD_INFO && problem->severity <= PD_DAMAGE);
	REQUIRE(problem->message[0] && strlen(problem->message) < 240 && !strchr(problem->message, '\n'));
	walk->told[problem->severity]++;
	walk->told_digest = (walk->told_digest ^ problem->offset) * PRIME;
	for (const char *c = problem->message; *c; c++)
		walk->told_digest = (walk->told_digest ^ (uint8_t)*c) * PRIME;
	return true;
}

struct pd_open_options walk_options(struct walk *walk)
{
	return (struct pd_open_options){
		.size = sizeof(struct pd_open_options),
		.problem = count_problem,
		.self = walk,
		.memory_limit = 64 << 20,
		.inflate_limit = 16 << 20,
	};
}

void walk_require_error(enum pd_status status, const struct pd_error *error)
{
	REQUIRE(status < 0 && status >= PD_ERROR_STOPPED);
	REQUIRE(error->status == status);
	REQUIRE(error->message[0] && strlen(error->message) < sizeof(error->message));
	REQUIRE(!strchr(error->message, '\n'));
}

// Nothing is left out in silence: a record begins where the one before it ended, or damage was told.
static void look_at_place(struct walk *walk, struct place *place, const struct pd_record *record)
{
	bool told = walk->told[PD_DAMAGE] > place->damage;

	REQUIRE(record->index == walk->records);
	REQUIRE(record->bytes.size >= 8);
	REQUIRE(!(record->flags & PD_RECORD_INFLATED) == (record->inner_offset == PD_NO_OFFSET));
	if (record->part != place->part)
		place->begun = false;
	if (record->inner_offset == PD_NO_OFFSET) {
		REQUIRE(!place->begun || told || record->offset == place->next);
		place->next = record->offset + record->bytes.size + record->tail_size;
		place->begun = true;
	} else if (record->inner_offset) {
		REQUIRE(record->inner_offset == place->inner);
	}
	if (record->inner_offset != PD_NO_OFFSET)
		place->inner = record->inner_offset + record->bytes.size;
	place->part = record->part;
	place->damage = walk->told[PD_DAMAGE];
}

// Times rise, but for records that are marked.
static void look_at_time(struct place *place, const struct pd_record *record)
{
	if (record->time_ns == PD_NO_TIME)
		return;
	REQUIRE(record->time_ns >= place->time_ns || record->flags & PD_RECORD_LATE);
	if (record->time_ns > place->time_ns)
		place->time_ns = record->time_ns;
}

static void digest(struct walk *walk, struct pd_bytes bytes, size_t from)
{
	for (size_t i = from; walk->with_digest && i < bytes.size; i++)
		walk->digest = (walk->digest ^ bytes.data[i]) * PRIME;
}

static void print(struct walk *walk, struct pd_text *text, const struct pd_record *record)
{
	size_t limit = walk->text_limit ? walk->text_limit : 1 << 20;
	struct pd_bytes bytes = pd_text_bytes(text);
	size_t from = bytes.size;

	if (from > limit)
		return;
	pd_print_record(text, record);
	pd_json_record(text, record);
	bytes = pd_text_bytes(text);
	digest(walk, bytes, from);
	// a record that cannot be printed is shown with the reason
	walk->memory_failed |= pd_text_failed(text) || (walk->memory_may_fail && bytes.size > from &&
							memmem(bytes.data + from, bytes.size - from, "no memory", 9));
	REQUIRE(pd_text_failed(text) ? walk->memory_may_fail : bytes.data[bytes.size - 1] == '}');
}

static void look_at_record(struct walk *walk, const struct pd_record *record)
{
	struct pd_error error;
	const void *decoded = NULL;
	enum pd_status status = pd_record_decode(record, &decoded, &error);

	if (status == PD_OK) {
		REQUIRE(pd_record_layout(record->type));
		REQUIRE(pd_record_as(record, record->type) || walk->memory_may_fail);
		return;
	}
	walk_require_error(status, &error);
	walk->memory_failed |= status == PD_ERROR_MEMORY;
	REQUIRE(status == PD_ERROR_FORMAT || status == PD_ERROR_UNSUPPORTED || walk->memory_may_fail);
	REQUIRE((status == PD_ERROR_UNSUPPORTED) == !pd_record_layout(record->type));
	REQUIRE(!pd_record_as(record, record->type) || walk->memory_may_fail);
	// a type that is not known is no damage, but it is told
	REQUIRE(walk->told[status == PD_ERROR_UNSUPPORTED ? PD_INFO : PD_DAMAGE] || walk->memory_may_fail);
}

static enum pd_status look_at_tail(struct walk *walk, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	uint64_t damage = walk->told[PD_DAMAGE];
	struct pd_bytes tail;
	enum pd_status status = pd_stream_tail(stream, &tail, error);

	if (status == PD_ERROR_LIMIT)
		return PD_OK;
	if (status < 0)
		return status;
	touch(tail);
	REQUIRE(tail.size == record->tail_size || walk->told[PD_DAMAGE]);
	REQUIRE(tail.size <= record->tail_size && walk->told[PD_DAMAGE] <= damage + 1);
	return PD_OK;
}

static enum pd_status walk_stream(struct pd_stream *stream, struct walk *walk, struct pd_text *text,
				  struct pd_error *error)
{
	const struct pd_record *record;
	struct place place = { 0 };
	enum pd_status status;
	uint64_t done, total;

	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		if (walk->order == PD_ORDER_FILE)
			look_at_place(walk, &place, record);
		else
			look_at_time(&place, record);
		touch(record->bytes);
		look_at_record(walk, record);
		walk->records++;
		if (walk->records % 8 == 1)
			print(walk, text, record);
		if (record->tail_size && walk->records % 2) {
			status = look_at_tail(walk, stream, record, error);
			if (status < 0)
				return status;
			REQUIRE(record->bytes.size >= 8);
		}
	}
	if (status < 0)
		return status;
	REQUIRE(pd_stream_next(stream, &record, error) == PD_END);
	pd_stream_progress(stream, &done, &total);
	REQUIRE(!total || done <= total);
	REQUIRE(!total || done == total || walk->told[PD_DAMAGE] || walk->order == PD_ORDER_TIME);
	return PD_OK;
}

static void walk_features(struct pd_file *file, struct walk *walk, struct pd_text *text)
{
	struct pd_feature_section section;
	struct pd_error error;
	struct pd_bytes bytes;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++) {
		const struct pd_layout *layout = pd_feature_layout(section.number);
		const void *feature = pd_file_feature(file, section.number);
		enum pd_status status = pd_file_feature_bytes(file, section.number, &bytes, &error);

		walk->memory_failed |= status == PD_ERROR_MEMORY;
		if (status < 0)
			walk_require_error(status, &error);
		else
			touch(bytes);
		REQUIRE(status < 0 || bytes.size == section.size);
		if (!feature || pd_text_bytes(text).size > (4 << 20))
			continue;
		pd_print_layout(text, layout, feature, 1, file);
		pd_json_layout(text, layout, feature, file);
	}
	pd_file_machine(file);
	digest(walk, pd_text_bytes(text), 0);
	walk->memory_failed |= pd_text_failed(text);
	REQUIRE(!pd_text_failed(text) || walk->memory_may_fail);
}

static void walk_events(struct pd_file *file, struct walk *walk)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		const struct pd_event *event = pd_file_event(file, i);

		REQUIRE(event->index == i && event->attr && event->name);
		digest(walk, (struct pd_bytes){ (const uint8_t *)event->name, strlen(event->name) }, 0);
		if (event->ids.count)
			REQUIRE(pd_file_event_by_id(file, event->ids.items[0]));
	}
	REQUIRE(pd_file_part_count(file) >= 1 && pd_file_part_name(file, 0) && pd_file_name(file));
}

static enum pd_status pass(struct pd_file *file, struct walk *walk, struct pd_text *text, struct pd_error *error)
{
	struct pd_stream_options options = { .size = sizeof(options), .order = walk->order };
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_stream_open(file, &options, &stream, error);

	if (status == PD_OK)
		status = walk_stream(stream, walk, text, error);
	pd_stream_close(stream);
	return status;
}

// The same records come in the order of time, if they can be had again.
static enum pd_status pass_by_time(struct pd_file *file, struct walk *walk, struct pd_text *text,
				   struct pd_error *error)
{
	uint64_t records = walk->records;
	enum pd_status status;

	walk->order = PD_ORDER_TIME;
	walk->records = 0;
	status = pass(file, walk, text, error);
	if (status == PD_OK)
		REQUIRE(walk->records == records || walk->memory_may_fail);
	walk->order = PD_ORDER_FILE;
	walk->records = records;
	return status == PD_ERROR_ARGUMENT ? PD_OK : status;
}

enum pd_status walk_file(struct pd_file *file, struct walk *walk, struct pd_error *error)
{
	struct pd_text *text = pd_text_new();
	enum pd_status status;

	if (!text) {
		*error = (struct pd_error){ .status = PD_ERROR_MEMORY, .message = "no memory" };
		return PD_ERROR_MEMORY;
	}
	walk_features(file, walk, text);
	walk_events(file, walk);
	pd_text_clear(text);
	status = pass(file, walk, text, error);
	if (status == PD_OK && walk->order == PD_ORDER_FILE && !walk->once)
		status = pass_by_time(file, walk, text, error);
	if (status >= 0 && pd_file_header(file)->mode == PD_MODE_PIPE) {
		walk_features(file, walk, text);
		walk_events(file, walk);
	}
	pd_text_free(text);
	for (unsigned i = PD_INFO; i <= PD_DAMAGE; i++)
		REQUIRE(pd_file_problem_count(file, (enum pd_severity)i) == walk->told[i]);
	return status;
}

enum pd_status walk_memory(const void *data, size_t size, const struct pd_open_options *options, struct walk *walk,
			   struct pd_error *error)
{
	struct pd_file *file = NULL;
	enum pd_status status = pd_file_open_memory(data, size, options, &file, error);

	if (status == PD_OK)
		status = walk_file(file, walk, error);
	if (status < 0)
		walk_require_error(status, error);
	pd_file_close(file);
	return status;
}
