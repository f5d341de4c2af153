/* SPDX-License-Identifier: MIT */
/*
 * A file as text. What is printed of events and features is what a writer would copy: one gathers it, but writes
 * nothing. So text that is assembled gives what a conversion gives.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <perfdata/assemble.h>

#include "base/error.h"
#include "format/decode.h"
#include "format/text/parse.h"
#include "format/text/print.h"
#include "format/text/emit.h"
#include "format/traits.h"
#include "stream/read/stream.h"
#include "write/write.h"

enum {
	TAIL_LINE = 64,      // bytes
	SHORT_FEATURE = 128, // bytes
	SHORT_LINE = 100     // characters
};

struct pd_disassembler {
	struct pd_file *file;
	struct pd_stream *stream;
	struct pd_writer *metadata; // collects what is printed of the file
	struct pd_arena arena;
	bool packed;
	// what was printed so far
	bool begun;
	size_t events_printed;
	bool features_printed[PD_FEATURE_LIMIT];
	uint64_t quirks_printed;
	size_t part;
	// bytes after a record
	uint64_t tail_size; // of the record that was printed last
	uint8_t tail[TAIL_LINE];
	size_t tail_used;
	bool ended;
	uint8_t *encoded;
	size_t encoded_capacity;
};

static struct pd_emitter emitter_of(struct pd_disassembler *d, struct pd_text *text)
{
	struct pd_emitter emitter = { .text = text, .arch = pd_file_machine(d->file), .big = pd_file_is_big(d->file) };

	emitter.scope.arena = &d->arena;
	emitter.scope.words[PD_WORD_QUIRKS] = pd_file_quirks(d->file);
	return emitter;
}

static struct pd_parser parser_of(struct pd_disassembler *d, const struct pd_text *text, size_t from)
{
	struct pd_parser p = pd_parser(text->data + from, text->size - from, &d->arena);

	p.arch = pd_file_machine(d->file);
	p.big = pd_file_is_big(d->file);
	p.scope.words[PD_WORD_QUIRKS] = pd_file_quirks(d->file);
	return p;
}

// ---- what stands before records ----

static void print_header(struct pd_disassembler *d, struct pd_text *text)
{
	static const char *const forms[] = {
		[PD_MODE_FILE] = "file", [PD_MODE_PIPE] = "pipe", [PD_MODE_DIRECTORY] = "dir"
	};
	const struct pd_compression *compression = pd_file_compressed(d->file);

	pd_text_printf(text, "header form: %s, byte_order: %s", forms[pd_file_mode(d->file)],
		       pd_file_is_big(d->file) ? "big" : "little");
	if (!d->packed && compression && compression->type == PD_COMPRESSION_ZSTD)
		pd_text_printf(text, ", compression: zstd, level: %" PRIu32, compression->level);
	if (pd_writer_end_marker(d->metadata))
		pd_text_printf(text, ", end_marker: %" PRIu64, pd_writer_end_marker(d->metadata));
	pd_text_char(text, '\n');
}

static enum pd_status print_event(struct pd_disassembler *d, const struct pd_write_event *event, struct pd_text *text,
				  struct pd_error *error)
{
	struct pd_emitter emitter = emitter_of(d, text);
	struct pd_cursor c = pd_cursor(event->attr, event->attr_size, pd_writer_is_big(d->metadata));
	struct pd_attr attr = { .rest = { NULL, 0 } };

	pd_decode_attr(&c, &emitter.scope, &attr);
	if (c.failed)
		return c.status == PD_ERROR_MEMORY ? pd_fail_memory(error) :
						     pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: attr: %s",
							     pd_file_name(d->file), c.reason);
	PD_TEXT_LITERAL(text, "event {\n\t");
	if (event->name) {
		PD_TEXT_LITERAL(text, "name: ");
		pd_emit_text(text, event->name, strlen(event->name));
		PD_TEXT_LITERAL(text, "\n\t");
	}
	PD_TEXT_LITERAL(text, "ids: [");
	for (size_t i = 0; i < event->id_count; i++) {
		pd_text_put(text, " ", i ? 1 : 0);
		pd_text_u64(text, event->ids[i]);
	}
	pd_text_char(text, ']');
	pd_emit_block(&emitter, &pd_layouts[PD_LAYOUT_attr], &attr);
	PD_TEXT_LITERAL(text, "\n}\n");
	return PD_OK;
}

// What takes much memory stands there as bytes; if there is little of it, the text fails.
static bool fail_memory(struct pd_disassembler *d, struct pd_text *text)
{
	text->failed |= !d->arena.limit || d->arena.used < d->arena.limit / 8;
	return false;
}

// Whether the text that was written gives the same bytes again.
static bool gives_feature(struct pd_disassembler *d, struct pd_text *text, size_t from, unsigned feature,
			  struct pd_bytes wanted)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_parser p = parser_of(d, text, from);
	void *decoded = pd_arena_alloc(&d->arena, layout->struct_size);
	struct pd_bytes bytes;
	enum pd_status status;

	if (decoded)
		pd_parse_struct(&p, layout, decoded);
	if (!decoded || (p.failed_at && p.status == PD_ERROR_MEMORY))
		return fail_memory(d, text);
	status = p.failed_at ? p.status : pd_writer_feature_bytes(d->metadata, layout, decoded, &bytes, NULL);
	if (status == PD_ERROR_MEMORY)
		return fail_memory(d, text);
	return status == PD_OK && bytes.size == wanted.size &&
	       (!bytes.size || !memcmp(bytes.data, wanted.data, bytes.size));
}

// On one line, if it is not too long for that.
static bool emit_short(struct pd_emitter *emitter, const struct pd_layout *layout, const void *decoded, size_t size)
{
	size_t before = emitter->text->size;

	if (size > SHORT_FEATURE)
		return false;
	pd_emit_struct(emitter, layout, decoded);
	if (emitter->text->size - before <= SHORT_LINE)
		return true;
	emitter->text->size = before;
	return false;
}

static bool emit_feature(struct pd_disassembler *d, unsigned feature, struct pd_bytes bytes, struct pd_text *text)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	struct pd_emitter emitter = emitter_of(d, text);
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, pd_writer_is_big(d->metadata));
	const struct pd_nrcpus *nrcpus = feature == PD_FEATURE_CPU_TOPOLOGY ? pd_file_nrcpus(d->file) : NULL;
	size_t before = text->size, from;
	void *decoded;
	bool is_long;

	pd_arena_reset(&d->arena);
	if (!layout)
		return false;
	decoded = pd_arena_alloc(&d->arena, layout->struct_size);
	if (!decoded)
		return fail_memory(d, text);
	emitter.scope.words[PD_WORD_NRCPUS] = nrcpus ? nrcpus->available : 0;
	layout->decode(&c, &emitter.scope, decoded);
	if (c.failed)
		return c.status == PD_ERROR_MEMORY && fail_memory(d, text);
	emitter.scope.words[PD_WORD_QUIRKS] = pd_file_quirks(d->file);
	PD_TEXT_LITERAL(text, "feature ");
	pd_text_add(text, pd_feature_name(feature));
	PD_TEXT_LITERAL(text, " {");
	from = text->size;
	is_long = !emit_short(&emitter, layout, decoded, bytes.size);
	if (is_long)
		pd_emit_block(&emitter, layout, decoded);
	if (text->failed || !gives_feature(d, text, from, feature, bytes)) {
		text->size = before;
		return false;
	}
	pd_text_put(text, is_long ? "\n}\n" : "}\n", 2u + is_long);
	return true;
}

// Features that the writer makes anew. Of the index of AUX data only that it is there.
static bool is_made(struct pd_disassembler *d, unsigned feature)
{
	const struct pd_compression *compression;

	if (feature == PD_FEATURE_DIR_FORMAT ||
	    (feature == PD_FEATURE_AUXTRACE && pd_file_mode(d->file) == PD_MODE_PIPE))
		return true;
	if (feature == PD_FEATURE_EVENT_DESC)
		return pd_writer_makes_event_desc(d->metadata);
	compression = feature == PD_FEATURE_COMPRESSED ? pd_file_compressed(d->file) : NULL;
	return compression && compression->type == PD_COMPRESSION_ZSTD && !d->packed;
}

static void print_feature(struct pd_disassembler *d, unsigned feature, struct pd_bytes bytes, struct pd_text *text)
{
	if (is_made(d, feature))
		return;
	if (feature == PD_FEATURE_AUXTRACE) {
		PD_TEXT_LITERAL(text, "feature AUXTRACE {}\n");
		return;
	}
	if (emit_feature(d, feature, bytes, text))
		return;
	PD_TEXT_LITERAL(text, "feature ");
	if (pd_feature_name(feature))
		pd_text_add(text, pd_feature_name(feature));
	else
		pd_text_u64(text, feature);
	PD_TEXT_LITERAL(text, " raw {");
	for (size_t at = 0; at < bytes.size; at += TAIL_LINE) {
		size_t left = bytes.size - at;

		PD_TEXT_LITERAL(text, "\n\t");
		pd_emit_bytes(text, (struct pd_bytes){ bytes.data + at, left < TAIL_LINE ? left : TAIL_LINE });
	}
	pd_text_put(text, "\n}\n", 3);
}

static void print_event_types(struct pd_disassembler *d, struct pd_text *text)
{
	const struct pd_layout *layout = &pd_layouts[PD_LAYOUT_header_event_type];
	struct pd_bytes types = pd_writer_event_types(d->metadata);

	for (size_t at = 0; at + PD_TYPE_ENTRY_SIZE <= types.size; at += PD_TYPE_ENTRY_SIZE) {
		struct pd_emitter emitter = emitter_of(d, text);
		struct pd_cursor c = pd_cursor(types.data + at, PD_TYPE_ENTRY_SIZE, pd_writer_is_big(d->metadata));
		struct pd_header_event_type decoded = { .rest = { NULL, 0 } };

		layout->decode(&c, &emitter.scope, &decoded);
		PD_TEXT_LITERAL(text, "event_type ");
		pd_emit_struct(&emitter, layout, &decoded);
		pd_text_char(text, '\n');
	}
}

// Events and features that were not printed so far.
static enum pd_status print_news(struct pd_disassembler *d, struct pd_text *text, struct pd_error *error)
{
	const struct pd_write_event *event;
	enum pd_status status = PD_OK;
	struct pd_bytes bytes;

	if (d->quirks_printed != pd_file_quirks(d->file)) {
		PD_TEXT_LITERAL(text, "quirks ");
		pd_emit_bits(text, &pd_names_quirks, pd_file_quirks(d->file));
		pd_text_char(text, '\n');
		d->quirks_printed = pd_file_quirks(d->file);
	}
	for (; status >= 0 && (event = pd_writer_event(d->metadata, d->events_printed)) != NULL; d->events_printed++)
		status = print_event(d, event, text, error);
	for (unsigned i = 1; i < PD_FEATURE_LIMIT; i++) {
		if (d->features_printed[i] || !pd_writer_has_feature(d->metadata, i, &bytes))
			continue;
		d->features_printed[i] = true;
		print_feature(d, i, bytes, text);
	}
	return status;
}

static enum pd_status begin(struct pd_disassembler *d, struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = pd_writer_collect(d->metadata, error);

	if (status < 0)
		return status;
	d->begun = true;
	PD_TEXT_LITERAL(text, "# perf.data as text; perfdata assemble turns it back into a perf.data file\n");
	if (pd_file_header(d->file)->version == 1)
		PD_TEXT_LITERAL(text, "# format version 1; assemble writes version 2\n");
	print_header(d, text);
	status = print_news(d, text, error);
	print_event_types(d, text);
	return status;
}

// ---- records ----

// Parts that nothing was in are printed too.
static void print_part(struct pd_disassembler *d, size_t part, struct pd_text *text)
{
	while (d->part < part && d->part + 1 < pd_file_part_count(d->file)) {
		const char *name = pd_file_part_name(d->file, ++d->part);

		PD_TEXT_LITERAL(text, "part ");
		pd_emit_text(text, name, strlen(name));
		pd_text_char(text, '\n');
	}
}

// Whether encoding what was decoded gives the record again.
static bool gives_record(struct pd_disassembler *d, const struct pd_record *record, const struct pd_scope *words,
			 const void *decoded, struct pd_text *text)
{
	const struct pd_record_head head = pd_record_head(record->bytes.data, pd_file_is_swapped(d->file));
	struct pd_scope scope = *words;
	struct pd_buffer buffer;

	if (!PD_GROW(d->encoded, d->encoded_capacity, record->bytes.size))
		return fail_memory(d, text);
	buffer = pd_buffer(d->encoded, d->encoded_capacity, pd_file_is_big(d->file));
	pd_record_put(&buffer, &head, pd_record_layout(record->type), pd_record_group(record->type), &scope, decoded);
	return !buffer.failed && buffer.need == record->bytes.size &&
	       !memcmp(d->encoded, record->bytes.data, buffer.need);
}

// The number of the event whose fields a record has; SIZE_MAX if there is none.
static size_t event_of(struct pd_disassembler *d, const struct pd_record *record)
{
	const struct pd_event_full *full = pd_record_full_event(record);
	enum pd_record_group group = pd_record_group(record->type);

	if ((group != PD_GROUP_SAMPLE && group != PD_GROUP_KERNEL) || !full)
		return SIZE_MAX;
	return full->event.index < pd_writer_event_count(d->metadata) ? full->event.index : SIZE_MAX;
}

// What stands in front of the fields: "SAMPLE event: 1, misc: user". True if there is anything but the name.
static bool print_start(struct pd_disassembler *d, const struct pd_record *record, size_t event, struct pd_text *text)
{
	enum pd_record_group group = pd_record_group(record->type);
	bool numbered = group == PD_GROUP_SAMPLE || group == PD_GROUP_KERNEL;

	// the first event is meant if none is named
	numbered = numbered && event != 0 && (event != SIZE_MAX || pd_writer_event_count(d->metadata));
	pd_text_add(text, pd_record_name(record->type));
	if (numbered && event == SIZE_MAX)
		PD_TEXT_LITERAL(text, " event: none");
	else if (numbered)
		pd_text_printf(text, " event: %zu", event);
	if (record->misc) {
		pd_text_add(text, numbered ? ", misc: " : " misc: ");
		pd_emit_misc(text, record->type, record->misc);
	}
	return numbered || record->misc;
}

static bool print_decoded(struct pd_disassembler *d, const struct pd_record *record, struct pd_text *text)
{
	enum pd_record_group group = pd_record_group(record->type);
	size_t event = event_of(d, record), before, from;
	const struct pd_body_head *decoded;
	const void *any;
	struct pd_emitter emitter = emitter_of(d, text);
	bool lacks_trailer = false, more;

	// what cannot be decoded is reported to the problem function too
	any = pd_record_as(record, record->type);
	if (!any)
		return false;
	decoded = any;
	emitter.scope.arena = pd_record_arena(record);
	if (event != SIZE_MAX)
		memcpy(emitter.scope.words, pd_writer_event(d->metadata, event)->words, sizeof(emitter.scope.words));
	emitter.scope.words[PD_WORD_MISC] = record->misc;
	emitter.scope.words[PD_WORD_QUIRKS] = pd_file_quirks(d->file);
	if (group != PD_GROUP_KERNEL || !decoded->sample_id) {
		lacks_trailer = group == PD_GROUP_KERNEL && emitter.scope.words[PD_WORD_TRAILER];
		emitter.scope.words[PD_WORD_TRAILER] = 0;
	}
	if (!gives_record(d, record, &emitter.scope, decoded, text))
		return false;
	emitter.body = (struct pd_bytes){ record->bytes.data + PD_RECORD_HEADER_SIZE,
					  record->bytes.size - PD_RECORD_HEADER_SIZE };
	more = print_start(d, record, event, text);
	before = text->size;
	pd_text_add(text, more ? ", " : " ");
	from = text->size;
	pd_emit_struct(&emitter, pd_record_layout(record->type), decoded);
	if (text->size == from)
		text->size = before;
	if (lacks_trailer)
		pd_text_add(text, more || text->size != before ? ", sample_id: none" : " sample_id: none");
	pd_text_char(text, '\n');
	return true;
}

static void print_raw(const struct pd_record *record, struct pd_text *text)
{
	PD_TEXT_LITERAL(text, "raw type: ");
	pd_text_u64(text, record->type);
	if (record->misc) {
		PD_TEXT_LITERAL(text, ", misc: ");
		pd_text_hex(text, record->misc);
	}
	PD_TEXT_LITERAL(text, ", body: ");
	pd_emit_bytes(text, (struct pd_bytes){ record->bytes.data + PD_RECORD_HEADER_SIZE,
					       record->bytes.size - PD_RECORD_HEADER_SIZE });
	pd_text_char(text, '\n');
}

static void print_tail_line(struct pd_text *text, const uint8_t *data, size_t size)
{
	PD_TEXT_LITERAL(text, "tail x\"");
	pd_text_hex_bytes(text, data, size);
	PD_TEXT_LITERAL(text, "\"\n");
}

// Lines do not depend on how the bytes are read.
static void print_tail(struct pd_disassembler *d, struct pd_bytes piece, struct pd_text *text)
{
	while (piece.size) {
		size_t size = TAIL_LINE - d->tail_used;

		size = piece.size < size ? piece.size : size;
		memcpy(d->tail + d->tail_used, piece.data, size);
		d->tail_used += size;
		piece.data += size;
		piece.size -= size;
		if (d->tail_used < TAIL_LINE)
			return;
		print_tail_line(text, d->tail, TAIL_LINE);
		d->tail_used = 0;
	}
}

// Whether a record is there in another shape: compressed, or in pieces.
static bool is_other_shape(struct pd_disassembler *d, const struct pd_record *record)
{
	bool inside = record->flags & PD_RECORD_INFLATED;
	bool compressed = pd_record_is(record->type, PD_TRAIT_COMPRESSED);

	return pd_writer_is_whole(d->metadata, record) || (d->packed ? inside : compressed && !inside);
}

static enum pd_status print_record(struct pd_disassembler *d, const struct pd_record *record, struct pd_text *text,
				   struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (pd_file_mode(d->file) == PD_MODE_PIPE && pd_writer_takes_pipe_record(d->metadata, record, &status, error))
		return status < 0 || !d->begun ? status : print_news(d, text, error);
	if (is_other_shape(d, record))
		return PD_OK;
	if (!d->begun)
		status = begin(d, text, error);
	if (status < 0)
		return status;
	print_part(d, record->part, text);
	// quirks may show while it is decoded
	if (d->quirks_printed != pd_file_quirks(d->file))
		status = print_news(d, text, error);
	if (!print_decoded(d, record, text))
		print_raw(record, text);
	d->tail_size = record->tail_size;
	return status;
}

// ---- all ----

enum pd_status pd_disassembler_open(struct pd_file *file, const struct pd_disassembler_options *options,
				    struct pd_disassembler **disassembler_out, struct pd_error *error)
{
	struct pd_disassembler *d = pd_alloc(sizeof(*d));
	enum pd_status status;

	if (!d)
		return pd_fail_memory(error);
	d->file = file;
	d->arena.limit = pd_file_memory_limit(file);
	d->packed = options && options->size >= sizeof(*options) && options->packed;
	status = pd_stream_open(file, NULL, &d->stream, error);
	if (status >= 0)
		status = pd_writer_open_metadata(file, &d->metadata, error);
	if (status >= 0)
		status = pd_writer_copy_metadata(d->metadata, file, error);
	if (status < 0)
		pd_disassembler_close(d);
	else
		*disassembler_out = d;
	return status;
}

void pd_disassembler_close(struct pd_disassembler *d)
{
	if (!d)
		return;
	pd_stream_close(d->stream);
	pd_writer_abort(d->metadata);
	pd_arena_fini(&d->arena);
	pd_free(d->encoded);
	pd_free(d);
}

static enum pd_status finish(struct pd_disassembler *d, struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = d->begun ? PD_OK : begin(d, text, error);

	if (status < 0)
		return status;
	print_part(d, pd_file_part_count(d->file), text);
	d->ended = true;
	return PD_END;
}

static enum pd_status next(struct pd_disassembler *d, struct pd_text *text, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_bytes piece;
	enum pd_status status;

	if (d->ended)
		return PD_END;
	if (d->tail_size) {
		status = pd_stream_tail_piece(d->stream, &piece, error);
		if (status == PD_OK)
			print_tail(d, piece, text);
		if (status != PD_END)
			return status;
		if (d->tail_used)
			print_tail_line(text, d->tail, d->tail_used);
		d->tail_used = 0;
		d->tail_size = 0;
	}
	status = pd_stream_next(d->stream, &record, error);
	if (status == PD_OK)
		return print_record(d, record, text, error);
	return status == PD_END ? finish(d, text, error) : status;
}

enum pd_status pd_disassembler_next(struct pd_disassembler *d, struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = next(d, text, error);

	return text->failed ? pd_fail_memory(error) : status;
}

const struct pd_stream *pd_disassembler_stream(const struct pd_disassembler *d)
{
	return d->stream;
}

// ---- all of a file ----

enum {
	PIECES_PER_STEP = 16384 // between two calls of the progress function
};

static enum pd_status print_all(struct pd_disassembler *d, const struct pd_disassembler_options *options,
				struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	uint64_t pieces = 0, done, total;

	while (status == PD_OK && pd_text_flush_large(text)) {
		status = pd_disassembler_next(d, text, error);
		if (!options || !options->progress || ++pieces % PIECES_PER_STEP != 0)
			continue;
		pd_stream_progress(d->stream, &done, &total);
		options->progress(options->self, done, total);
	}
	if (status == PD_OK)
		return text->failed ? pd_fail_memory(error) :
				      pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_disassemble(struct pd_text *text, struct pd_file *file, const struct pd_disassembler_options *options,
			      struct pd_error *error)
{
	struct pd_disassembler *d;
	enum pd_status status = pd_disassembler_open(file, options, &d, error);

	if (status < 0)
		return status;
	status = print_all(d, options, text, error);
	pd_disassembler_close(d);
	return status;
}
