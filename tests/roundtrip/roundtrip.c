/* SPDX-License-Identifier: MIT */
/*
 * Everything in a file, there and back: each record (also those inside compressed ones), each
 * feature and each attr is decoded and encoded, which must give the same bytes; then encoded in the
 * other byte order, decoded from there, which must give the same values, and encoded back, which
 * must give the same bytes again.
 *
 * usage: roundtrip FILE...
 * Prints a line for each file, and in front of it what differs and what could not be decoded. Exit
 * status: 0 all is equal; 1 something differs, or was not decoded without a problem being told; 3 a
 * file was refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/record.h"
#include "stream/read/stream.h"
#include "table/deep.h"

enum {
	MOST_TOLD = 20,     // differences of a file that are printed
	MOST_UNDECODED = 64 // kinds of things that could not be decoded
};

// Things of one kind that could not be decoded.
struct undecoded {
	char name[40];
	const char *code; // of the problem that was told, or NULL
	uint64_t count;
	uint64_t offset; // of the first
	char reason[240];
};

struct trip {
	const char *path;
	struct pd_file *file;
	struct pd_arena arena; // of what was decoded from the other order
	uint8_t *own, *other;  // room for encoded bytes
	size_t capacity;
	struct pd_text *where;
	struct undecoded undecoded[MOST_UNDECODED];
	size_t undecoded_kinds;
	uint64_t undecoded_count, unnamed, differences;
	uint64_t left_over; // things with 8 bytes or more that nothing in the tables stands for
	uint64_t records, features, attrs;
	// what was told last, and at all
	const char *code;
	char message[240];
	bool told_unknown_record, told_bad_feature;
};

// One thing that goes there and back.
struct thing {
	const struct pd_layout *layout;
	const char *name;
	uint64_t offset; // in the file
	bool is_record;
	struct pd_record_head head;
	enum pd_record_group group;
	struct pd_scope scope;
	const void *decoded;
	struct pd_bytes bytes;
};

static bool note_problem(void *self, const struct pd_problem *problem)
{
	struct trip *trip = self;

	trip->code = problem->code;
	trip->told_unknown_record |= strcmp(problem->code, "unknown-record") == 0;
	trip->told_bad_feature |= strcmp(problem->code, "bad-feature") == 0;
	snprintf(trip->message, sizeof(trip->message), "%s", problem->message);
	return true;
}

static void differ(struct trip *trip, const struct thing *thing, const char *what, const char *detail)
{
	if (trip->differences++ < MOST_TOLD)
		printf("%s: offset %" PRIu64 ": %s: %s%s%s\n", trip->path, thing->offset, thing->name, what,
		       *detail ? ": " : "", detail);
}

static void note_undecoded(struct trip *trip, const char *name, uint64_t offset, const char *code, const char *reason)
{
	struct undecoded *kind = trip->undecoded;

	trip->undecoded_count++;
	trip->unnamed += !code;
	while (kind < trip->undecoded + trip->undecoded_kinds &&
	       (strcmp(kind->name, name) != 0 || !kind->code != !code || (code && strcmp(kind->code, code) != 0)))
		kind++;
	if (kind == trip->undecoded + MOST_UNDECODED)
		kind--; // the last one stands for the rest
	else if (kind == trip->undecoded + trip->undecoded_kinds)
		trip->undecoded_kinds++;
	if (!kind->count++) {
		snprintf(kind->name, sizeof(kind->name), "%s", name);
		kind->code = code;
		kind->offset = offset;
		snprintf(kind->reason, sizeof(kind->reason), "%s", reason);
	}
}

static const char *where_text(struct trip *trip)
{
	pd_text_char(trip->where, '\0');
	return trip->where->data ? trip->where->data : "";
}

static void *or_exit(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "no memory\n");
	exit(1);
}

static struct pd_buffer encode(const struct thing *thing, const void *decoded, bool big, uint8_t *data, size_t capacity)
{
	struct pd_buffer buffer = pd_buffer(data, capacity, big);
	struct pd_scope scope = thing->scope;

	if (thing->is_record)
		pd_record_put(&buffer, &thing->head, thing->layout, thing->group, &scope, decoded);
	else
		thing->layout->encode(&buffer, &scope, decoded);
	return buffer;
}

static void *decode(struct trip *trip, const struct thing *thing, struct pd_bytes bytes, bool big,
		    struct pd_cursor *cursor)
{
	struct pd_scope scope = thing->scope;
	void *out;

	scope.arena = &trip->arena;
	*cursor = pd_cursor(bytes.data, bytes.size, big);
	if (thing->is_record)
		return pd_record_take(thing->layout, thing->group, bytes, &scope, cursor);
	out = or_exit(pd_arena_alloc(&trip->arena, thing->layout->struct_size));
	thing->layout->decode(cursor, &scope, out);
	return cursor->failed ? NULL : out;
}

// Whether the buffer wrote just these bytes.
static bool same_bytes(struct trip *trip, const struct thing *thing, const struct pd_buffer *buffer, const char *what)
{
	char detail[120];
	size_t at = 0;

	if (buffer->failed) {
		snprintf(detail, sizeof(detail), "%s.%s %s", buffer->layout ? buffer->layout : "record",
			 buffer->field ? buffer->field : "body", buffer->reason);
		differ(trip, thing, what, detail);
		return false;
	}
	if (buffer->need == thing->bytes.size &&
	    (!buffer->need || memcmp(buffer->data, thing->bytes.data, thing->bytes.size) == 0))
		return true;
	while (at < buffer->need && at < thing->bytes.size && at < buffer->capacity &&
	       buffer->data[at] == thing->bytes.data[at])
		at++;
	snprintf(detail, sizeof(detail), "%zu bytes instead of %zu, the first other one at %zu", buffer->need,
		 thing->bytes.size, at);
	differ(trip, thing, what, detail);
	return false;
}

static void there_and_back(struct trip *trip, const struct thing *thing)
{
	bool big = pd_file_is_big(trip->file);
	size_t size = thing->bytes.size;
	const struct pd_bytes *rest = deep_rest(thing->layout, thing->decoded);
	struct pd_cursor cursor;
	struct pd_buffer buffer;
	void *again;

	trip->left_over += rest && rest->size >= 8;
	if (size > trip->capacity) {
		trip->own = or_exit(realloc(trip->own, size));
		trip->other = or_exit(realloc(trip->other, size));
		trip->capacity = size;
	}
	pd_arena_reset(&trip->arena);
	buffer = encode(thing, thing->decoded, big, trip->own, size);
	if (!same_bytes(trip, thing, &buffer, "encodes into other bytes"))
		return;
	buffer = encode(thing, thing->decoded, !big, trip->other, size);
	if (buffer.failed || buffer.need != size) {
		differ(trip, thing, "cannot be encoded in the other byte order", buffer.failed ? buffer.reason : "");
		return;
	}
	again = decode(trip, thing, (struct pd_bytes){ trip->other, size }, !big, &cursor);
	if (!again) {
		differ(trip, thing, "cannot be decoded from the other byte order", cursor.reason);
		return;
	}
	pd_text_clear(trip->where);
	if (!deep_equal(thing->layout, thing->decoded, again, trip->where)) {
		differ(trip, thing, "has other values after the other byte order", where_text(trip));
		return;
	}
	buffer = encode(thing, again, big, trip->own, size);
	same_bytes(trip, thing, &buffer, "encodes into other bytes after the other byte order");
}

// ---- records ----

static void try_record(struct trip *trip, const struct pd_record *record)
{
	struct thing thing = { .name = pd_record_name(record->type), .offset = record->offset, .is_record = true };
	char number[40];

	trip->records++;
	if (!thing.name) {
		snprintf(number, sizeof(number), "type %" PRIu32, record->type);
		// told once for each type, by the stream
		note_undecoded(trip, number, record->offset, trip->told_unknown_record ? "unknown-record" : NULL,
			       "unknown type");
		return;
	}
	thing.decoded = pd_record_as(record, record->type);
	if (!thing.decoded) {
		note_undecoded(trip, thing.name, record->offset, trip->code,
			       trip->code ? trip->message : "nothing was told");
		return;
	}
	thing.layout = pd_record_layout(record->type);
	thing.group = pd_record_group(record->type);
	// the type as stored, which is another one in old pipes
	thing.head = pd_record_head(record->bytes.data, pd_file_is_swapped(trip->file));
	thing.scope = *pd_record_scope(record);
	thing.bytes = record->bytes;
	there_and_back(trip, &thing);
	trip->attrs += record->type == PD_RECORD_HEADER_ATTR;
}

static void try_records(struct trip *trip)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	struct pd_error error;
	enum pd_status status = pd_stream_open(trip->file, NULL, &stream, &error);

	if (status == PD_OK) {
		// damage may be told before the record is here
		while (trip->code = NULL, (status = pd_stream_next(stream, &record, &error)) == PD_OK)
			try_record(trip, record);
		pd_stream_close(stream);
	}
	if (status < 0)
		note_undecoded(trip, "stream", error.offset, pd_status_name(status), error.message);
}

// ---- features and attrs ----

// Whole records inside a feature, which have the type of the line whatever they say.
static void try_inner_records(struct trip *trip, const struct thing *outer, const struct pd_field *field)
{
	const struct pd_body_head *decoded = outer->decoded;
	struct pd_bytes left = pd_array_of(decoded, field);
	struct thing thing = {
		.layout = pd_record_layout(field->count.value),
		.name = pd_record_name(field->count.value),
		.is_record = true,
		.group = pd_record_group(field->count.value),
		.scope = outer->scope,
	};

	thing.scope.words[PD_WORD_TRAILER] = 0;
	while (left.size >= PD_RECORD_HEADER_SIZE) {
		struct pd_cursor cursor;

		thing.head = pd_record_head(left.data, pd_file_is_swapped(trip->file));
		thing.offset = outer->offset + (outer->bytes.size - left.size);
		if (thing.head.size < PD_RECORD_HEADER_SIZE || thing.head.size > left.size)
			break;
		thing.bytes = (struct pd_bytes){ left.data, (size_t)thing.head.size };
		left.data += thing.bytes.size;
		left.size -= thing.bytes.size;
		pd_arena_reset(&trip->arena);
		thing.decoded = decode(trip, &thing, thing.bytes, pd_file_is_big(trip->file), &cursor);
		trip->records++;
		if (thing.decoded) {
			// the arena is used again for the way back
			struct pd_arena kept = trip->arena;

			trip->arena = (struct pd_arena){ 0 };
			there_and_back(trip, &thing);
			pd_arena_fini(&trip->arena);
			trip->arena = kept;
		} else {
			note_undecoded(trip, thing.name, thing.offset, NULL, cursor.reason);
		}
	}
	if (left.size)
		note_undecoded(trip, thing.name, outer->offset, NULL, "bytes are left behind the last record");
}

static void try_feature(struct trip *trip, const struct pd_feature_section *section)
{
	const struct pd_nrcpus *nrcpus = pd_file_nrcpus(trip->file);
	struct thing thing = { .layout = pd_feature_layout(section->number), .offset = section->offset };
	const struct pd_field *field;
	struct pd_error error;
	char number[40];

	trip->features++;
	thing.name = pd_feature_name(section->number);
	if (!thing.name) {
		snprintf(number, sizeof(number), "feature %u", section->number);
		note_undecoded(trip, number, section->offset, "unknown-feature", "unknown feature");
		return;
	}
	trip->code = NULL;
	thing.decoded = pd_file_feature(trip->file, section->number);
	if (!thing.decoded || pd_file_feature_bytes(trip->file, section->number, &thing.bytes, &error) < 0) {
		// it may have been told when the file was opened
		note_undecoded(trip, thing.name, section->offset, trip->told_bad_feature ? "bad-feature" : NULL,
			       trip->code ? trip->message : "bad-feature was told before");
		return;
	}
	thing.scope.words[PD_WORD_NRCPUS] = nrcpus ? nrcpus->available : 0;
	thing.scope.words[PD_WORD_QUIRKS] = pd_file_quirks(trip->file);
	there_and_back(trip, &thing);
	for (size_t i = 0; (field = pd_layout_field(thing.layout, i)) != NULL; i++)
		if (field->line == PD_LINE_RECORDS)
			try_inner_records(trip, &thing, field);
}

// Attrs of the table; those of pipes are in records.
static void try_attrs(struct trip *trip)
{
	const struct pd_header *header = pd_file_header(trip->file);
	size_t size = (size_t)header->attr_size - 16; // {offset, size} of the ids follows
	struct pd_error error;
	uint8_t *bytes;
	size_t got;

	if (header->mode == PD_MODE_PIPE || !pd_file_event_count(trip->file))
		return;
	bytes = or_exit(malloc(size));
	for (size_t i = 0; i < pd_file_event_count(trip->file); i++) {
		const struct pd_event *event = pd_file_event(trip->file, i);
		struct thing thing = {
			.layout = &pd_layouts[PD_LAYOUT_attr],
			.name = "attr",
			.offset = event->attr_offset,
			.decoded = event->attr,
			.bytes = { bytes, size },
		};

		trip->attrs++;
		if (pd_source_read(pd_file_main_source(trip->file), event->attr_offset, bytes, size, &got, &error) <
			    0 ||
		    got != size)
			differ(trip, &thing, "cannot be read again", "");
		else
			there_and_back(trip, &thing);
	}
	free(bytes);
}

// ---- files ----

static void print_result(const struct trip *trip)
{
	for (size_t i = 0; i < trip->undecoded_kinds; i++) {
		const struct undecoded *kind = &trip->undecoded[i];

		printf("%s: %" PRIu64 " %s not decoded, %s: offset %" PRIu64 ": %s\n", trip->path, kind->count,
		       kind->name, kind->code ? kind->code : "WITHOUT A PROBLEM", kind->offset, kind->reason);
	}
	printf("%s: %" PRIu64 " records, %" PRIu64 " features, %" PRIu64 " attrs: ", trip->path, trip->records,
	       trip->features, trip->attrs);
	if (trip->differences)
		printf("%" PRIu64 " differ", trip->differences);
	else
		printf("equal");
	if (trip->left_over)
		printf(", %" PRIu64 " with bytes left over", trip->left_over);
	if (trip->undecoded_count)
		printf(", %" PRIu64 " not decoded", trip->undecoded_count);
	printf("\n");
}

static int try_file(const char *path)
{
	struct trip trip = { .path = path };
	struct pd_open_options options = { .size = sizeof(options), .problem = note_problem, .self = &trip };
	struct pd_feature_section section;
	struct pd_error error;

	if (pd_file_open(path, &options, &trip.file, &error) < 0) {
		printf("%s: refused: %s\n", path, error.message);
		return 3;
	}
	trip.where = or_exit(pd_text_new());
	try_records(&trip);
	for (size_t i = 0; pd_file_feature_at(trip.file, i, &section); i++)
		try_feature(&trip, &section);
	try_attrs(&trip);
	print_result(&trip);
	pd_file_close(trip.file);
	pd_arena_fini(&trip.arena);
	pd_text_free(trip.where);
	free(trip.own);
	free(trip.other);
	return trip.differences || trip.unnamed ? 1 : 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: roundtrip FILE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		int one = try_file(argv[i]);

		// a difference is worse than a refusal
		if (one && status != 1)
			status = one;
	}
	return status;
}
