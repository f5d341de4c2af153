/* SPDX-License-Identifier: MIT */
/*
 * Events that are no system calls: a line for each, with the fields of its raw data as perf trace prints them. As there, what is 0
 * is left out, unless it is a text or a word; events of system calls (syscalls:sys_enter_NAME) have the arguments of lines of calls.
 */
#include <string.h>

#include "header/btf.h"
#include "pairs/lines/lines.h"
#include "trace/trace.h"

static const char enter_prefix[] = "syscalls:sys_enter_";

// ---- fields ----

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), least = strlen(end);

	return length >= least && !strcmp(name + length - least, end);
}

static bool is_fd(const struct pd_trace_field *field)
{
	return ends_with(field->name, "fd") &&
	       (!strcmp(field->type, "int") || !strcmp(field->type, "unsigned int") || !strcmp(field->type, "long"));
}

// The word of an enum; empty: the type is none, or it has none for the value.
static struct pd_bytes word_of(struct pd_points *points, const struct pd_trace_field *field, uint64_t value)
{
	struct pd_point_enum *known = &points->enums[((uintptr_t)field->type >> 4) % PD_POINTS];

	if (!points->types.size || strncmp(field->type, "enum ", 5) != 0)
		return (struct pd_bytes){ NULL, 0 };
	if (known->type != field->type) {
		known->type = field->type;
		known->place = pd_btf_enum_find(points->types, points->is_big, field->type + 5);
	}
	if (!known->place)
		return (struct pd_bytes){ NULL, 0 };
	return pd_btf_enum_word(points->types, points->is_big, known->place, value);
}

static bool is_text(const struct pd_member *member)
{
	return member->is_array && strstr(member->field.type, "char");
}

static void print_number(struct pd_lines *lines, const struct pd_member *member, uint64_t value)
{
	static const char modes[] = "MODE";
	const struct pd_call_values all = { .sched = lines->sched, .is_arm = lines->is_arm };
	const struct pd_trace_field *field = &member->field;
	struct pd_text *text = lines->sched->text;

	if (member->is_pointer || strstr(field->name, "addr"))
		pd_put_hex(text, value);
	else if (!strcmp(field->type, "pid_t"))
		pd_kind_pid(text, &all, value);
	else if (!strcmp(field->type, "umode_t"))
		pd_words_print(text, pd_words_find(modes, strlen(modes)), value);
	else if (is_fd(field))
		pd_text_s64(text, (int32_t)value);
	else
		pd_text_s64(text, (int64_t)value);
}

// Elements, or what has no usual size.
static void print_bytes(struct pd_text *text, const struct pd_trace_field *field, struct pd_bytes raw)
{
	struct pd_bytes bytes = { NULL, 0 };

	if (field->offset < raw.size)
		bytes = (struct pd_bytes){ raw.data + field->offset, raw.size - field->offset };
	if (bytes.size > field->size)
		bytes.size = field->size;
	for (size_t i = 0; i < bytes.size; i++)
		pd_text_printf(text, "%02x", bytes.data[i]);
}

static bool is_number(const struct pd_member *member)
{
	uint32_t size = member->field.size;

	return !member->is_array && !member->is_dynamic && (size == 1 || size == 2 || size == 4 || size == 8);
}

// A value of a point, ready to be printed; false: it is left out.
struct value {
	const struct pd_member *member;
	uint64_t number;
	struct pd_bytes word;
};

static bool read_value(struct pd_points *points, const struct pd_point *point, const struct pd_member *member,
		       struct value *value_out)
{
	const struct pd_raw_number number = { member->field.offset, member->field.size,
					      pd_trace_is_big(points->tracepoints->trace) };

	*value_out = (struct value){ .member = member };
	if (!is_number(member))
		return true;
	pd_raw_number_read(point->raw, &number, &value_out->number);
	value_out->word = word_of(points, &member->field, value_out->number);
	return value_out->number || value_out->word.size;
}

// Of a text: what is between its quotes.
static void print_value(struct pd_lines *lines, struct pd_points *points, const struct pd_point *point,
			const struct value *value)
{
	const struct pd_tracepoint_sample sample = { .event = point->event, .raw = point->raw };
	const struct pd_trace_field *field = &value->member->field;
	struct pd_text *text = lines->sched->text;
	struct pd_bytes string = value->word;

	if (is_text(value->member))
		string = pd_tracepoint_string(points->tracepoints, &sample, field->name);
	if (is_text(value->member) || string.size)
		pd_text_escaped(text, (const char *)string.data, string.size);
	else if (is_number(value->member))
		print_number(lines, value->member, value->number);
	else
		print_bytes(text, field, point->raw);
}

static void print_fields(struct pd_lines *lines, struct pd_points *points, const struct pd_point *point)
{
	struct pd_text *text = lines->sched->text;
	const struct pd_member *member;
	struct value value;
	bool first = true;

	for (size_t i = 0; (member = pd_trace_member_at(points->tracepoints->trace, point->event, i)) != NULL; i++) {
		if (member->field.is_common || !read_value(points, point, member, &value))
			continue;
		pd_text_add(text, first ? "" : ", ");
		pd_text_add(text, member->field.name);
		pd_text_add(text, is_text(member) ? ": \"" : ": ");
		print_value(lines, points, point, &value);
		pd_text_add(text, is_text(member) ? "\"" : "");
		first = false;
	}
}

// ---- lines ----

// The call that an event is the begin of. False: no memory. *call_out is NULL if it is none.
static bool call_of(struct pd_lines *lines, struct pd_points *points, const struct pd_event *event,
		    const struct pd_call **call_out)
{
	struct pd_point_call *known = &points->calls[event->index % PD_POINTS];
	size_t prefix = sizeof(enter_prefix) - 1;

	*call_out = NULL;
	if (!event->name || strncmp(event->name, enter_prefix, prefix) != 0)
		return true;
	if (known->event != event)
		*known = (struct pd_point_call){ event, pd_call_new(&lines->sched->arena, event->name + prefix) };
	*call_out = known->call;
	return known->call;
}

static void print_arguments(struct pd_lines *lines, struct pd_points *points, const struct pd_point *point,
			    const struct pd_call *call)
{
	const struct pd_tracepoint_sample sample = { .event = point->event, .raw = point->raw };
	uint64_t values[PD_CALL_ARGUMENTS];
	const struct pd_call_values all = { call, values, lines->sched, lines->is_arm, NULL };

	pd_call_read_values(&points->shapes, points->tracepoints->trace, &sample, values);
	pd_call_print(lines->sched->text, &all);
}

static void json_point(struct pd_lines *lines, struct pd_points *points, const struct pd_point *point)
{
	struct pd_json *json = &lines->json;
	struct pd_text *text = lines->sched->text;
	const struct pd_member *member;

	pd_lines_json_begin(lines);
	pd_json_open(json, NULL, '{');
	pd_json_offset(json, "time_ns", point->time_ns);
	pd_sched_json_thread(json, "thread", point->thread);
	pd_json_string(json, "event", point->event->name ? point->event->name : "");
	pd_json_open(json, "fields", '{');
	lines->sched->text = &lines->scratch;
	for (size_t i = 0; (member = pd_trace_member_at(points->tracepoints->trace, point->event, i)) != NULL; i++) {
		struct value value;

		if (member->field.is_common)
			continue;
		pd_text_clear(&lines->scratch);
		read_value(points, point, member, &value);
		print_value(lines, points, point, &value);
		pd_text_char(&lines->scratch, 0);
		if (!lines->scratch.failed)
			pd_json_string(json, member->field.name, lines->scratch.data);
	}
	lines->sched->text = text;
	text->failed |= lines->scratch.failed;
	pd_json_close(json, '}');
	pd_lines_json_chain(lines, &point->chain);
	pd_json_close(json, '}');
}

enum pd_status pd_lines_point(struct pd_lines *lines, struct pd_points *points, const struct pd_point *point,
			      struct pd_error *error)
{
	struct pd_text *text = lines->sched->text;
	const struct pd_call *call;

	lines->printed++;
	if (!call_of(lines, points, point->event, &call))
		return pd_fail_memory(error);
	if (lines->options->json) {
		json_point(lines, points, point);
		return pd_text_flush_or_fail(text, error);
	}
	pd_lines_point_head(lines, point, pd_file_has_tracepoint(lines->sched->file, "raw_syscalls:sys_enter"));
	pd_text_add(text, point->event->name ? point->event->name : "");
	pd_text_char(text, '(');
	if (call)
		print_arguments(lines, points, point, call);
	else
		print_fields(lines, points, point);
	PD_TEXT_LITERAL(text, ")\n");
	pd_lines_print_chain(lines, &point->chain);
	return pd_text_flush_or_fail(text, error);
}
