/* SPDX-License-Identifier: MIT */
/* What is in the packets, in the Trace Stream Description Language. */
#include "export/ctf/ctf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

struct integer {
	unsigned size, align;
	bool is_signed, is_hex;
	const char *more; // what follows inside of its braces, or NULL
};

static void put_integer(struct pd_text *text, const struct integer *integer, const char *name, const char *suffix)
{
	pd_text_printf(
		text,
		"\t\tinteger { size = %u; align = %u; signed = %s; encoding = none; base = %s; byte_order = le;%s } %s%s;\n",
		integer->size * 8, integer->align, integer->is_signed ? "true" : "false",
		integer->is_hex ? "hexadecimal" : "decimal", integer->more ? integer->more : "", name, suffix);
}

static void put_unsigned(struct pd_text *text, unsigned size, const char *name)
{
	put_integer(text, &(struct integer){ .size = size, .align = 1 }, name, "");
}

static void put_hex(struct pd_text *text, const char *name, const char *suffix)
{
	put_integer(text, &(struct integer){ .size = 8, .align = 1, .is_hex = true }, name, suffix);
}

static void put_string_field(struct pd_text *text, const char *name)
{
	pd_text_printf(text, "\t\tstring { encoding = UTF8; } %s;\n", name);
}

// Of the file, with quotes.
static void put_quoted(struct pd_export *self, struct pd_text *text, struct pd_str value)
{
	// which may move the others
	uint32_t string = pd_tables_string(&self->tables, value.data ? value.data : "", value.length);
	const struct pd_table_string *clean = &self->tables.strings[string];

	pd_text_char(text, '"');
	for (size_t i = 0; i < clean->size; i++) {
		if (clean->text[i] == '"' || clean->text[i] == '\\')
			pd_text_char(text, '\\');
		pd_text_char(text, clean->text[i]);
	}
	pd_text_char(text, '"');
}

// ---- the trace ----

static void put_trace(const struct pd_ctf *ctf, struct pd_text *text)
{
	static const struct integer word = { .size = 4, .align = 8 }, byte = { .size = 1, .align = 8 };

	PD_TEXT_LITERAL(text, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	for (size_t i = 0; i < PD_CTF_UUID; i++)
		pd_text_printf(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", ctf->uuid[i]);
	PD_TEXT_LITERAL(text, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n");
	put_integer(text, &word, "magic", "");
	put_integer(text, &byte, "uuid", "[16]");
	put_integer(text, &word, "stream_id", "");
	PD_TEXT_LITERAL(text, "\t} align(8);\n};\n\n");
}

static void put_env(struct pd_export *self, struct pd_text *text)
{
	const struct {
		const char *name;
		const struct pd_string *value;
	} lines[] = {
		{ "host", pd_file_hostname(self->file) },
		{ "release", pd_file_osrelease(self->file) },
		{ "version", pd_file_version(self->file) },
		{ "machine", pd_file_arch(self->file) },
	};

	PD_TEXT_LITERAL(text, "env {\n\tsysname = \"Linux\";\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!lines[i].value)
			continue;
		pd_text_printf(text, "\t%s = ", lines[i].name);
		put_quoted(self, text, lines[i].value->value);
		PD_TEXT_LITERAL(text, ";\n");
	}
	PD_TEXT_LITERAL(text, "\tdomain = \"kernel\";\n\ttracer_name = \"perf\";\n};\n\n");
}

static void put_clock(const struct pd_export *self, struct pd_text *text)
{
	uint64_t wall_ns = self->options.wall_clock && self->first_ns ? pd_export_wall_clock(self) : 0;
	uint64_t offset_ns = wall_ns > self->first_ns ? wall_ns - self->first_ns : 0;

	pd_text_printf(text,
		       "clock {\n\tname = perf_clock;\n\tdescription = \"perf clock\";\n\tfreq = 1000000000;\n"
		       "\tprecision = 10;\n\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64
		       ";\n\tabsolute = FALSE;\n};\n\n",
		       offset_ns / 1000000000, offset_ns % 1000000000);
}

static void put_stream(struct pd_text *text)
{
	static const char *const context[] = { "timestamp_begin", "timestamp_end", "content_size", "packet_size",
					       "events_discarded" };

	PD_TEXT_LITERAL(text, "stream {\n\tid = 0;\n\tevent.header := struct {\n");
	put_integer(text, &(struct integer){ .size = 4, .align = 8 }, "id", "");
	put_integer(text, &(struct integer){ .size = 8, .align = 8, .more = " map = clock.perf_clock.value;" },
		    "timestamp", "");
	PD_TEXT_LITERAL(text, "\t} align(8);\n\n\tpacket.context := struct {\n");
	for (size_t i = 0; i < sizeof(context) / sizeof(context[0]); i++)
		put_integer(text,
			    &(struct integer){
				    .size = 8, .align = 8, .more = i < 2 ? " map = clock.perf_clock.value;" : NULL },
			    context[i], "");
	put_unsigned(text, 4, "cpu_id");
	PD_TEXT_LITERAL(text, "\t} align(8);\n};\n\n");
}

// ---- events ----

static void begin_event(struct pd_text *text, size_t id)
{
	pd_text_printf(text, "event {\n\tid = %zu;\n\tname = ", id);
}

static void begin_fields(struct pd_text *text)
{
	PD_TEXT_LITERAL(text, ";\n\tstream_id = 0;\n\tfields := struct {\n");
}

static void end_event(struct pd_text *text)
{
	PD_TEXT_LITERAL(text, "\t} align(8);\n};\n\n");
}

static void put_parts(const struct pd_event *event, struct pd_text *text)
{
	uint64_t parts = event->attr->sample_type;

	for (size_t i = 0; i < PD_CTF_PARTS; i++) {
		const struct pd_ctf_part *part = &pd_ctf_parts[i];
		const struct integer integer = { part->size, 1, part->is_signed, part->is_hex, NULL };

		if (parts & part->mask)
			put_integer(text, &integer, part->name, "");
	}
	if (parts & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)) {
		put_unsigned(text, 4, "perf_callchain_size");
		put_hex(text, "perf_callchain", "[perf_callchain_size]");
	}
}

// As perf, which shows these in hexadecimal.
static bool is_address(const struct pd_ctf_field *field)
{
	return !field->member->field.is_signed && (field->member->is_pointer || field->member->is_long);
}

static void put_field(const struct pd_ctf_field *field, struct pd_text *text)
{
	const struct integer integer = { field->item_size, 1, field->member->field.is_signed, is_address(field), NULL };
	char suffix[32];

	switch (field->kind) {
	case PD_CTF_STRING:
		put_string_field(text, field->name);
		return;
	case PD_CTF_NUMBER:
		put_integer(text, &integer, field->name, "");
		return;
	case PD_CTF_ARRAY:
		snprintf(suffix, sizeof(suffix), "[%" PRIu32 "]", field->count);
		put_integer(text, &integer, field->name, suffix);
		return;
	case PD_CTF_SEQUENCE:
		// one _ is taken away by readers
		pd_text_printf(text,
			       "\t\tinteger { size = 32; align = 1; signed = false; byte_order = le; } __%s_length;\n",
			       field->name);
		pd_text_printf(text,
			       "\t\tinteger { size = %u; align = 1; signed = %s; byte_order = le; } %s[__%s_length];\n",
			       field->item_size * 8, field->member->field.is_signed ? "true" : "false", field->name,
			       field->name);
		return;
	}
}

static void put_raw(const struct pd_ctf_event *known, struct pd_text *text)
{
	if (!known->has_fields) {
		put_unsigned(text, 4, "raw_len");
		put_integer(text, &(struct integer){ .size = 4, .align = 1, .is_hex = true }, "raw_data", "[raw_len]");
	}
	for (size_t i = 0; i < known->field_count; i++)
		put_field(&known->fields[i], text);
}

static void put_event(struct pd_export *self, struct pd_ctf *ctf, const struct pd_event *event, struct pd_text *text)
{
	const struct pd_ctf_event *known = pd_ctf_event(ctf, event);

	if (!known) {
		self->failed = true;
		return;
	}
	begin_event(text, PD_CTF_RECORDS + event->index);
	put_quoted(self, text, (struct pd_str){ .data = event->name, .length = (uint32_t)strlen(event->name) });
	begin_fields(text);
	put_parts(event, text);
	if (event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_RAW))
		put_raw(known, text);
	end_event(text);
}

static void put_task_fields(struct pd_text *text)
{
	put_unsigned(text, 4, "pid");
	put_unsigned(text, 4, "ppid");
	put_unsigned(text, 4, "tid");
	put_unsigned(text, 4, "ptid");
	put_unsigned(text, 8, "time");
}

static void put_record_events(struct pd_text *text)
{
	static const char *const names[PD_CTF_RECORDS] = {
		[PD_CTF_COMM] = "perf_comm", [PD_CTF_EXIT] = "perf_exit",   [PD_CTF_FORK] = "perf_fork",
		[PD_CTF_MMAP] = "perf_mmap", [PD_CTF_MMAP2] = "perf_mmap2",
	};

	for (size_t i = 0; i < PD_CTF_RECORDS; i++) {
		begin_event(text, i);
		pd_text_printf(text, "\"%s\"", names[i]);
		begin_fields(text);
		if (i == PD_CTF_EXIT || i == PD_CTF_FORK) {
			put_task_fields(text);
		} else {
			put_unsigned(text, 4, "pid");
			put_unsigned(text, 4, "tid");
			if (i != PD_CTF_COMM)
				put_hex(text, "start", "");
			put_string_field(text, i == PD_CTF_COMM ? "comm" : "filename");
		}
		end_event(text);
	}
}

void pd_ctf_put_metadata(struct pd_export *self, struct pd_ctf *ctf, struct pd_text *text)
{
	put_trace(ctf, text);
	put_env(self, text);
	put_clock(self, text);
	put_stream(text);
	if (self->options.tasks_and_maps)
		put_record_events(text);
	for (size_t i = 0; i < pd_file_event_count(self->file); i++)
		put_event(self, ctf, pd_file_event(self->file, i), text);
}
