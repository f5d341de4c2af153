/* SPDX-License-Identifier: MIT */
/*
 * Shows what is around the records: the header with its sections, the events and the features.
 */
#include <inttypes.h>
#include <string.h>

#include <perfdata/header.h>
#include <perfdata/json.h>
#include <perfdata/print.h>

const char *pd_mode_name(enum pd_mode mode)
{
	static const char *const names[] = { "file", "pipe", "directory" };

	return names[mode];
}

static bool has_feature(const struct pd_header *header, unsigned feature)
{
	return header->feature_bits[feature / 64] >> (feature % 64) & 1;
}

static void print_section(struct pd_text *text, const char *name, uint64_t offset, uint64_t size)
{
	pd_text_printf(text, "  %-12s offset 0x%" PRIx64 ", %" PRIu64 " bytes\n", name, offset, size);
}

static void print_feature_bits(struct pd_text *text, const struct pd_header *header)
{
	pd_text_add(text, "  features    ");
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		const char *name = pd_feature_name(feature);

		if (!has_feature(header, feature))
			continue;
		if (name)
			pd_text_printf(text, " %s", name);
		else
			pd_text_printf(text, " %u", feature);
	}
	pd_text_add(text, "\n");
}

static void print_event(struct pd_text *text, struct pd_file *file, const struct pd_event *event)
{
	pd_text_printf(text, "event %zu ", event->index);
	pd_text_escaped(text, event->name, strlen(event->name));
	pd_text_printf(text, ", offset 0x%" PRIx64 "\n  ids", event->attr_offset);
	for (size_t i = 0; i < event->ids.count; i++)
		pd_text_printf(text, " %" PRIu64, event->ids.items[i]);
	pd_text_add(text, "\n");
	pd_print_layout(text, pd_layout_by_name("attr"), event->attr, 1, file);
}

void pd_print_header(struct pd_text *text, struct pd_file *file)
{
	const struct pd_header *header = pd_file_header(file);

	pd_text_printf(text, "header: %s, version %u, %s-endian%s%s, %" PRIu64 " bytes\n", pd_mode_name(header->mode),
		       header->version, header->big_endian ? "big" : "little", header->unfinished ? ", unfinished" : "",
		       header->truncated ? ", truncated" : "", header->size);
	if (header->mode != PD_MODE_PIPE) {
		pd_text_printf(text, "  %-12s %" PRIu64 " bytes\n", "attr entry", header->attr_size);
		print_section(text, "attrs", header->attrs_offset, header->attrs_size);
		print_section(text, "data", header->data_offset, header->data_size);
		print_section(text, "event types", header->event_types_offset, header->event_types_size);
		print_feature_bits(text, header);
	}
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		print_event(text, file, pd_file_event(file, i));
}

static void json_section(struct pd_json *json, const char *name, uint64_t offset, uint64_t size)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "offset", offset);
	pd_json_number(json, "size", size);
	pd_json_close(json, '}');
}

static void header_json(struct pd_text *text, struct pd_file *file)
{
	const struct pd_header *header = pd_file_header(file);
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "header", '{');
	pd_json_string(&json, "mode", pd_mode_name(header->mode));
	pd_json_number(&json, "version", header->version);
	pd_json_string(&json, "byte_order", header->big_endian ? "big" : "little");
	pd_json_bool(&json, "unfinished", header->unfinished);
	pd_json_bool(&json, "truncated", header->truncated);
	pd_json_string(&json, "compression", header->compression);
	pd_json_number(&json, "size", header->size);
	pd_json_number(&json, "attr_size", header->attr_size);
	json_section(&json, "attrs", header->attrs_offset, header->attrs_size);
	json_section(&json, "data", header->data_offset, header->data_size);
	json_section(&json, "event_types", header->event_types_offset, header->event_types_size);
	pd_json_open(&json, "features", '[');
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		if (has_feature(header, feature))
			pd_json_number(&json, NULL, feature);
	}
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

static void event_json(struct pd_text *text, struct pd_file *file, const struct pd_event *event)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "event", '{');
	pd_json_number(&json, "index", event->index);
	pd_json_string(&json, "name", event->name);
	pd_json_number(&json, "offset", event->attr_offset);
	pd_json_open(&json, "ids", '[');
	for (size_t i = 0; i < event->ids.count; i++)
		pd_json_number(&json, NULL, event->ids.items[i]);
	pd_json_close(&json, ']');
	pd_json_string(&json, "unit", event->unit);
	pd_json_double(&json, "scale", event->scale);
	pd_json_name(&json, "attr");
	pd_json_layout(text, pd_layout_by_name("attr"), event->attr, file);
	pd_json_close(&json, '}');
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

void pd_json_header(struct pd_text *text, struct pd_file *file)
{
	header_json(text, file);
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		event_json(text, file, pd_file_event(file, i));
}

void pd_print_feature(struct pd_text *text, struct pd_file *file, const struct pd_feature_section *section, bool hex)
{
	const struct pd_layout *layout = pd_feature_layout(section->number);
	const void *decoded = layout ? pd_file_feature(file, section->number) : NULL;
	const char *name = pd_feature_name(section->number);
	struct pd_bytes bytes;

	pd_text_printf(text, "feature %u %s, offset 0x%" PRIx64 ", %" PRIu64 " bytes%s\n", section->number,
		       name ? name : "unknown", section->offset, section->size, decoded ? "" : ", not decoded");
	if (decoded)
		pd_print_layout(text, layout, decoded, 1, file);
	if (hex && pd_file_feature_bytes(file, section->number, &bytes, NULL) == PD_OK)
		pd_print_hex(text, bytes, section->offset);
}

void pd_json_feature(struct pd_text *text, struct pd_file *file, const struct pd_feature_section *section, bool hex)
{
	const struct pd_layout *layout = pd_feature_layout(section->number);
	const void *decoded = layout ? pd_file_feature(file, section->number) : NULL;
	struct pd_json json = { .text = text };
	struct pd_bytes bytes;

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "feature", '{');
	pd_json_number(&json, "number", section->number);
	pd_json_string(&json, "name", pd_feature_name(section->number));
	pd_json_number(&json, "offset", section->offset);
	pd_json_number(&json, "size", section->size);
	pd_json_name(&json, "decoded");
	if (decoded)
		pd_json_layout(text, layout, decoded, file);
	else
		pd_text_add(text, "null");
	if (hex && pd_file_feature_bytes(file, section->number, &bytes, NULL) == PD_OK)
		pd_json_hex(&json, "bytes", bytes);
	pd_json_close(&json, '}');
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}
