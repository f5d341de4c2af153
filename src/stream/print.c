/* SPDX-License-Identifier: MIT */
/* A record as text and as JSON: its header here, its body by the walkers of the table. */
#include "format/text/print.h"

#include <inttypes.h>

#include <perfdata/json.h>
#include <perfdata/print.h>

#include "stream/read/inside.h"

static struct pd_printer printer_of(struct pd_text *text, struct pd_file *file)
{
	return (struct pd_printer){
		.text = text,
		.scope.words[PD_WORD_QUIRKS] = file ? pd_file_quirks(file) : 0,
		.arch = file ? pd_file_machine(file) : PD_ARCH_UNKNOWN,
	};
}

static void print_misc(struct pd_text *text, const struct pd_record *record)
{
	const char *mode = pd_names_text(&pd_names_cpumode, record->misc & 7);

	PD_TEXT_LITERAL(text, " misc ");
	pd_text_hex(text, record->misc);
	if (!record->misc)
		return;
	PD_TEXT_LITERAL(text, " (");
	pd_text_add(text, mode ? mode : "?");
	for (unsigned bit = 12; bit < 16; bit++) {
		const char *name = bit == 12 ? "PROC_MAP_PARSE_TIMEOUT" : pd_misc_bit_name(record->type, bit);

		if (!(record->misc >> bit & 1))
			continue;
		pd_text_char(text, '|');
		if (name)
			pd_text_add(text, name);
		else
			pd_text_printf(text, "bit%u", bit);
	}
	pd_text_char(text, ')');
}

static void print_name(struct pd_text *text, uint32_t type)
{
	const char *name = pd_record_name(type);

	if (name)
		pd_text_add(text, name);
	else
		pd_text_printf(text, "UNKNOWN(%" PRIu32 ")", type);
}

static void print_head(struct pd_text *text, const struct pd_record *record)
{
	pd_text_hex(text, record->offset);
	if (record->inner_offset != PD_NO_OFFSET) {
		pd_text_char(text, '+');
		pd_text_hex(text, record->inner_offset);
	}
	if (record->part) {
		pd_text_char(text, '@');
		pd_text_add(text, pd_file_part_name(record->scratch->context.file, record->part));
	}
	pd_text_char(text, ' ');
	print_name(text, record->type);
	PD_TEXT_LITERAL(text, " size ");
	pd_text_u64(text, record->bytes.size);
	print_misc(text, record);
	if (record->time_ns != PD_NO_TIME) {
		PD_TEXT_LITERAL(text, " time ");
		pd_text_time(text, record->time_ns);
	}
	if (record->event) {
		PD_TEXT_LITERAL(text, " event ");
		pd_text_escaped(text, record->event->name, strlen(record->event->name));
	}
	if (record->tail_size) {
		PD_TEXT_LITERAL(text, " followed by ");
		pd_text_u64(text, record->tail_size);
	}
	pd_text_char(text, '\n');
}

void pd_print_record(struct pd_text *text, const struct pd_record *record)
{
	struct pd_error error;
	const void *decoded;

	print_head(text, record);
	if (pd_record_decode(record, &decoded, &error) == PD_OK) {
		struct pd_printer printer = printer_of(text, record->scratch->context.file);

		printer.scope = record->scratch->context.scope;
		pd_print_struct(&printer, pd_record_layout(record->type), decoded, 1);
		return;
	}
	// the problem function is reported as well
	pd_record_as(record, record->type);
	PD_TEXT_LITERAL(text, "  ! ");
	pd_text_escaped(text, error.message, strlen(error.message));
	pd_text_char(text, '\n');
	pd_print_hex(text, record->bytes, record->offset);
}

// ---- bytes ----

enum {
	TAIL_MAX_BYTES = 4096 // longer ones are only counted
};

// False if what follows the record is not printed: there is nothing, or it is long, or it cannot be read.
static bool small_tail(struct pd_stream *stream, uint64_t size, struct pd_bytes *bytes_out)
{
	return size && size <= TAIL_MAX_BYTES && pd_stream_tail(stream, bytes_out, NULL) == PD_OK;
}

void pd_print_record_bytes(struct pd_text *text, struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t offset = record->flags & PD_RECORD_INFLATED ? record->inner_offset : record->offset;
	uint64_t tail_size = record->tail_size;
	struct pd_bytes tail;

	pd_print_record(text, record);
	pd_print_hex(text, record->bytes, offset);
	if (small_tail(stream, tail_size, &tail))
		pd_print_hex(text, tail, offset + record->bytes.size);
	else if (tail_size)
		pd_text_printf(text, "%" PRIu64 " more bytes follow\n", tail_size);
}

// ---- JSON ----

static void json_head(struct pd_text *text, const struct pd_record *record)
{
	const char *name = pd_record_name(record->type);
	const char *mode = pd_names_text(&pd_names_cpumode, record->misc & 7);

	PD_TEXT_LITERAL(text, "{\"offset\":");
	pd_text_u64(text, record->offset);
	if (record->inner_offset != PD_NO_OFFSET) {
		PD_TEXT_LITERAL(text, ",\"inner_offset\":");
		pd_text_u64(text, record->inner_offset);
	}
	if (record->part) {
		PD_TEXT_LITERAL(text, ",\"part\":");
		pd_text_u64(text, record->part);
	}
	PD_TEXT_LITERAL(text, ",\"index\":");
	pd_text_u64(text, record->index);
	PD_TEXT_LITERAL(text, ",\"type\":");
	if (name) {
		pd_text_char(text, '"');
		pd_text_add(text, name);
		pd_text_char(text, '"');
	} else {
		pd_text_u64(text, record->type);
	}
	PD_TEXT_LITERAL(text, ",\"size\":");
	pd_text_u64(text, record->bytes.size);
	PD_TEXT_LITERAL(text, ",\"misc\":");
	pd_text_u64(text, record->misc);
	if (mode && record->misc & 7) {
		PD_TEXT_LITERAL(text, ",\"cpumode\":\"");
		pd_text_add(text, mode);
		pd_text_char(text, '"');
	}
	if (record->time_ns != PD_NO_TIME) {
		PD_TEXT_LITERAL(text, ",\"time_ns\":");
		pd_text_u64(text, record->time_ns);
	}
	if (record->event) {
		PD_TEXT_LITERAL(text, ",\"event\":");
		pd_text_json_string(text, record->event->name, strlen(record->event->name));
	}
	if (record->tail_size) {
		PD_TEXT_LITERAL(text, ",\"tail_size\":");
		pd_text_u64(text, record->tail_size);
	}
	if (record->inner_offset != PD_NO_OFFSET)
		PD_TEXT_LITERAL(text, ",\"inflated\":true");
}

// Without its last bracket.
static void json_members(struct pd_text *text, const struct pd_record *record)
{
	struct pd_error error;
	const void *decoded;

	json_head(text, record);
	if (pd_record_decode(record, &decoded, &error) == PD_OK) {
		struct pd_printer printer = printer_of(text, record->scratch->context.file);

		printer.scope = record->scratch->context.scope;
		PD_TEXT_LITERAL(text, ",\"fields\":");
		pd_json_struct(&printer, pd_record_layout(record->type), decoded);
	} else {
		pd_record_as(record, record->type);
		PD_TEXT_LITERAL(text, ",\"error\":");
		pd_text_json_string(text, error.message, strlen(error.message));
		PD_TEXT_LITERAL(text, ",\"bytes\":\"");
		pd_text_hex_bytes(text, record->bytes.data, record->bytes.size);
		pd_text_char(text, '"');
	}
}

void pd_json_record(struct pd_text *text, const struct pd_record *record)
{
	json_members(text, record);
	pd_text_char(text, '}');
}

void pd_json_record_bytes(struct pd_text *text, struct pd_stream *stream, const struct pd_record *record)
{
	struct pd_json json = { .text = text, .comma = true };
	struct pd_bytes tail;

	json_members(text, record);
	pd_json_hex(&json, "bytes", record->bytes);
	if (small_tail(stream, record->tail_size, &tail))
		pd_json_hex(&json, "tail", tail);
	pd_json_close(&json, '}');
}

void pd_print_layout(struct pd_text *text, const struct pd_layout *layout, const void *decoded, unsigned indent,
		     struct pd_file *file)
{
	struct pd_printer printer = printer_of(text, file);

	pd_print_struct(&printer, layout, decoded, indent);
}

void pd_json_layout(struct pd_text *text, const struct pd_layout *layout, const void *decoded, struct pd_file *file)
{
	struct pd_printer printer = printer_of(text, file);

	pd_json_struct(&printer, layout, decoded);
}
