/* SPDX-License-Identifier: MIT */
/*
 * Formats of a file by the number of their tracepoint. Only the numbers are read at first; a format is parsed when
 * a sample of it comes.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/text/text.h"
#include "file/event_name.h"
#include "format/decode.h"

enum {
	MEMORY_LIMIT = 256 << 20
};

enum pd_status pd_trace_new(struct pd_file *file, const struct pd_trace_options *options, struct pd_trace **trace_out,
			    struct pd_error *error)
{
	struct pd_trace *trace;

	if (options && options->size != sizeof(*options))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "options of an unsupported size");
	trace = pd_alloc(sizeof(*trace));
	if (!trace)
		return pd_fail_memory(error);
	trace->file = file;
	if (options)
		trace->options = *options;
	trace->arena.limit = trace->options.memory_limit ? (size_t)trace->options.memory_limit : MEMORY_LIMIT;
	*trace_out = trace;
	return PD_OK;
}

void pd_trace_free(struct pd_trace *trace)
{
	if (!trace)
		return;
	pd_arena_fini(&trace->arena);
	pd_free(trace);
}

// ---- numbers of formats ----

// The number in the line "ID:" in front of the fields.
static bool read_id(struct pd_bytes text, uint64_t *id_out)
{
	const char *at = text.size ? memmem(text.data, text.size, "ID:", 3) : NULL,
		   *end = (const char *)text.data + text.size;
	uint64_t id = 0;

	if (!at)
		return false;
	at = pd_trace_skip_space(at + 3, end);
	if (at >= end || !isdigit((unsigned char)*at))
		return false;
	while (at < end && isdigit((unsigned char)*at) && id < UINT32_MAX)
		id = id * 10 + (uint64_t)(*at++ - '0');
	*id_out = id;
	return true;
}

static int compare_formats(const void *a, const void *b)
{
	const struct pd_format *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void add_formats(struct pd_trace *trace, const struct pd_list *list, const char *system)
{
	for (size_t i = 0; i < list->count; i++) {
		struct pd_format *format = &trace->formats[trace->format_count];

		format->text = PD_ITEM(pd_sized_text, *list, i)->data;
		format->system = system;
		trace->format_count += read_id(format->text, &format->id);
	}
}

static bool learn(struct pd_trace *trace, const struct pd_tracing_data *data)
{
	size_t count = data->ftrace_formats.count + 1;

	for (size_t i = 0; i < data->systems.count; i++)
		count += PD_ITEM(pd_tracing_system, data->systems, i)->formats.count;
	trace->formats = pd_arena_alloc(&trace->arena, count * sizeof(*trace->formats));
	if (!trace->formats)
		return false;
	trace->data = data;
	trace->big = data->big_endian;
	trace->long_size = data->long_size;
	add_formats(trace, &data->ftrace_formats, "ftrace");
	for (size_t i = 0; i < data->systems.count; i++) {
		const struct pd_tracing_system *system = PD_ITEM(pd_tracing_system, data->systems, i);

		add_formats(trace, &system->formats, system->name.data);
	}
	qsort(trace->formats, trace->format_count, sizeof(*trace->formats), compare_formats);
	return true;
}

enum pd_status pd_trace_take(struct pd_trace *trace, const struct pd_record *record, struct pd_error *error)
{
	struct pd_scope scope = { .arena = &trace->arena };
	const struct pd_simpleperf_tracing_data *body;
	struct pd_tracing_data *data;
	struct pd_cursor c;
	void *copy;

	if (record->type != PD_RECORD_SIMPLEPERF_TRACING_DATA || trace->data)
		return PD_OK;
	body = pd_as_simpleperf_tracing_data(record);
	if (!body)
		return PD_OK;
	copy = pd_arena_copy(&trace->arena, body->data.data, body->data.size);
	data = pd_arena_alloc(&trace->arena, sizeof(*data));
	if (!copy || !data)
		return pd_fail_memory(error);
	c = pd_cursor(copy, body->data.size, pd_file_header(trace->file)->big_endian);
	pd_decode_tracing_data(&c, &scope, data);
	if (c.failed && c.status == PD_ERROR_MEMORY)
		return pd_fail_memory(error);
	return c.failed || learn(trace, data) ? PD_OK : pd_fail_memory(error);
}

struct pd_format *pd_trace_format_of(struct pd_trace *trace, const struct pd_event *event)
{
	struct pd_found_format *found = &trace->found[event->index % PD_TRACE_FOUND];
	struct pd_format key = { .id = event->attr->config }, *format;

	if (event->attr->type != PD_TYPE_TRACEPOINT)
		return NULL;
	if (found->event == event)
		return found->format;
	if (!trace->data) {
		const struct pd_tracing_data *data = pd_file_tracing_data(trace->file);

		if (!data || !learn(trace, data))
			return NULL;
	}
	format = bsearch(&key, trace->formats, trace->format_count, sizeof(key), compare_formats);
	if (format && !format->read)
		pd_trace_read_format(trace, format);
	if (!format || !format->usable)
		return NULL;
	*found = (struct pd_found_format){ event, format };
	return format;
}

bool pd_trace_name(struct pd_trace *trace, const struct pd_event *event, const char **system_out,
		   struct pd_bytes *name_out)
{
	const struct pd_format *format = pd_trace_format_of(trace, event);
	uint64_t id;

	if (!format || !pd_tracepoint_name(format->text, &id, name_out))
		return false;
	*system_out = format->system;
	return true;
}

// ---- printing ----

static bool print_by(void (*print)(struct pd_trace *, struct pd_format *, struct pd_bytes, struct pd_text *),
		     struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw, struct pd_text *text)
{
	struct pd_format *format = pd_trace_format_of(trace, event);

	if (!format)
		return false;
	if (!raw.data)
		raw.data = (const uint8_t *)"";
	print(trace, format, raw, text);
	return true;
}

bool pd_trace_print(struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw, struct pd_text *text)
{
	return print_by(pd_trace_print_format, trace, event, raw, text);
}

bool pd_trace_print_fields(struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw,
			   struct pd_text *text)
{
	return print_by(pd_trace_print_members, trace, event, raw, text);
}

const struct pd_member *pd_trace_member_at(struct pd_trace *trace, const struct pd_event *event, size_t index)
{
	const struct pd_format *format = pd_trace_format_of(trace, event);

	return format && index < format->member_count ? &format->members[index] : NULL;
}

bool pd_trace_field_at(struct pd_trace *trace, const struct pd_event *event, size_t index,
		       struct pd_trace_field *field_out)
{
	const struct pd_member *member = pd_trace_member_at(trace, event, index);

	if (member)
		*field_out = member->field;
	return member != NULL;
}

// Expressions have a greatest size.
static bool has_field(const struct pd_node *node, const char *field)
{
	if (!node)
		return false;
	if (node->kind == PD_NODE_FIELD && node->member && !strcmp(node->member->field.name, field))
		return true;
	return has_field(node->a, field) || has_field(node->b, field) || has_field(node->c, field);
}

static const struct pd_choice_of_value *find_flags(const struct pd_node *node, const char *field)
{
	const struct pd_choice_of_value *found;

	if (!node)
		return NULL;
	if (node->kind == PD_NODE_FLAGS && has_field(node->a, field))
		return node->choices;
	found = find_flags(node->a, field);
	if (!found)
		found = find_flags(node->b, field);
	return found ? found : find_flags(node->c, field);
}

bool pd_trace_is_big(const struct pd_trace *trace)
{
	return trace->big;
}

bool pd_trace_lacks_memory(const struct pd_trace *trace)
{
	return trace->lacks_memory || trace->arena.failed;
}

const struct pd_choice_of_value *pd_trace_flags(struct pd_trace *trace, const struct pd_event *event, const char *field)
{
	const struct pd_format *format = pd_trace_format_of(trace, event);
	const struct pd_choice_of_value *found = NULL;

	for (size_t i = 0; format && !found && i < format->piece_count; i++)
		found = find_flags(format->pieces[i].arg, field);
	return found;
}

bool pd_trace_print_field(struct pd_trace *trace, const struct pd_event *event, struct pd_bytes raw, const char *name,
			  struct pd_text *text)
{
	struct pd_format *format = pd_trace_format_of(trace, event);
	struct pd_member *member = format ? pd_trace_find_member(format, name, strlen(name)) : NULL;

	if (!member)
		return false;
	if (!raw.data)
		raw.data = (const uint8_t *)"";
	pd_trace_print_member(trace, member, raw, text);
	return true;
}
