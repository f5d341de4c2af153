/* SPDX-License-Identifier: MIT */
// The events of a file, as perf evlist prints them and as JSON.
#include <inttypes.h>
#include <string.h>

#include <perfdata/header.h>
#include <perfdata/json.h>
#include <perfdata/print.h>

#include "base/error.h"
#include "header/attr/attr.h"
#include "stream/each.h"

// Events that follow each other, the leader first.
struct group {
	size_t first, count;
	struct pd_str name; // data is NULL if it has none
};

struct list {
	struct pd_file *file;
	struct pd_text *text;
	struct pd_trace *trace;
	const struct pd_print_events_options *options;
};

// The group of an event, which may be its only member. A group that overlaps the one before is ignored.
static struct group group_of(const struct list *list, size_t index)
{
	const struct pd_group_desc *desc = pd_file_group_desc(list->file);
	struct group alone = { index, 1, { 0 } };
	size_t count = pd_file_event_count(list->file), next = 0;

	for (size_t i = 0; desc && i < desc->groups.count; i++) {
		const struct pd_group *group = PD_ITEM(pd_group, desc->groups, i);
		struct group found = { group->leader_index, group->nr_members, group->name };

		if (found.count < 2 || found.first < next || found.first >= count)
			continue;
		if (found.count > count - found.first)
			found.count = count - found.first;
		next = found.first + found.count;
		if (index >= found.first && index < next) {
			if (found.name.data && !strcmp(found.name.data, "{anon_group}"))
				found.name.data = NULL;
			return found;
		}
	}
	return alone;
}

static void add_name(const struct list *list, size_t index)
{
	const char *name = pd_file_event(list->file, index)->name;

	pd_text_escaped(list->text, name, strlen(name));
}

// ---- text ----

static void print_group(const struct list *list, const struct group *group)
{
	if (group->count > 1) {
		if (group->name.data)
			pd_header_str(list->text, group->name);
		pd_text_add(list->text, "{");
	}
	for (size_t i = 0; i < group->count; i++) {
		pd_text_add(list->text, i ? "," : "");
		add_name(list, group->first + i);
	}
	pd_text_add(list->text, group->count > 1 ? "}\n" : "\n");
}

static void print_fields(const struct list *list, const struct pd_event *event, const char *before)
{
	struct pd_trace_field field;
	bool any = false;

	pd_text_add(list->text, before);
	if (event->attr->type != PD_TYPE_TRACEPOINT) {
		pd_text_add(list->text, " (not a tracepoint)");
		return;
	}
	for (size_t i = 0; pd_trace_field_at(list->trace, event, i, &field); i++) {
		if (field.is_common)
			continue;
		pd_text_add(list->text, any ? "," : " trace_fields: ");
		pd_text_escaped(list->text, field.name, strlen(field.name));
		any = true;
	}
	if (!any)
		pd_text_add(list->text, " (no trace field)");
}

static void print_event(const struct list *list, const struct pd_event *event)
{
	static const struct pd_attr_words words = { ": ", ", ", ": " };
	const struct pd_print_events_options *options = list->options;
	bool any = false;

	add_name(list, event->index);
	if (options->details) {
		pd_print_perf_event(list->text, list->file, event, list->trace, &words);
		any = true;
	} else if (options->frequency) {
		pd_text_printf(list->text, ": %s=%" PRIu64,
			       PD_BITS(event->attr->flags, PD_ATTR_FREQ) ? "sample_freq" : "sample_period",
			       event->attr->sample_period);
		any = true;
	}
	if (options->trace_fields)
		print_fields(list, event, any ? "," : ":");
	pd_text_add(list->text, "\n");
}

static void print_all(const struct list *list)
{
	const struct pd_print_events_options *options = list->options;
	bool tracepoints = false;

	for (size_t i = 0; i < pd_file_event_count(list->file); i++) {
		const struct pd_event *event = pd_file_event(list->file, i);
		struct group group = group_of(list, i);

		tracepoints |= event->attr->type == PD_TYPE_TRACEPOINT;
		if (!options->groups)
			print_event(list, event);
		else if (group.first == i)
			print_group(list, &group);
	}
	if (tracepoints && !options->trace_fields)
		pd_text_add(list->text,
			    "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
}

// ---- JSON ----

static void put_fields(const struct list *list, struct pd_json *json, const struct pd_event *event)
{
	struct pd_trace_field field;

	pd_json_open(json, "trace_fields", '[');
	for (size_t i = 0; pd_trace_field_at(list->trace, event, i, &field); i++) {
		if (!field.is_common)
			pd_json_string(json, NULL, field.name);
	}
	pd_json_close(json, ']');
}

static void put_event(const struct list *list, const struct pd_event *event)
{
	struct pd_json json = { .text = list->text };
	struct group group = group_of(list, event->index);

	pd_json_open(&json, NULL, '{');
	pd_json_number(&json, "index", event->index);
	pd_json_string(&json, "name", event->name);
	if (group.count > 1) {
		pd_json_open(&json, "group", '{');
		pd_json_number(&json, "leader", group.first);
		pd_json_number(&json, "members", group.count);
		pd_json_str(&json, "name", group.name.data ? group.name : (struct pd_str){ .data = "" });
		pd_json_close(&json, '}');
	}
	pd_json_string(&json, "unit", event->unit);
	pd_json_double(&json, "scale", event->scale);
	if (event->attr->type == PD_TYPE_TRACEPOINT)
		put_fields(list, &json, event);
	pd_json_name(&json, "attr");
	pd_json_layout(list->text, pd_layout_by_name("attr"), event->attr, list->file);
	pd_json_open(&json, "ids", '[');
	for (size_t i = 0; i < event->ids.count; i++)
		pd_json_number(&json, NULL, event->ids.items[i]);
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_text_add(list->text, "\n");
}

// ---- all of them ----

void pd_print_events(struct pd_text *text, struct pd_file *file, struct pd_trace *trace,
		     const struct pd_print_events_options *options)
{
	const struct list list = { .file = file, .text = text, .trace = trace, .options = options };

	if (!options->json) {
		print_all(&list);
		return;
	}
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		put_event(&list, pd_file_event(file, i));
}

// ---- with the records that describe them ----

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	if (record->type == PD_RECORD_SAMPLE)
		pd_stream_pass(stream);
	return pd_trace_take(self, record, error);
}

static enum pd_status print_events_of(struct pd_text *text, struct pd_file *file, struct pd_trace *trace,
				      const struct pd_print_events_options *options, struct pd_error *error)
{
	const struct pd_each each = { .trusts = true, .progress = options->progress, .progress_self = options->self };
	enum pd_status status = PD_OK;

	// the events of a pipe are records, and so are the tracing data of simpleperf
	if (pd_file_header(file)->mode == PD_MODE_PIPE || options->trace_fields)
		status = pd_each_record(file, &each, take_record, trace, error);
	if (status < 0)
		return status;
	if (!pd_file_event_count(file))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no events in the file");
	pd_print_events(text, file, trace, options);
	return pd_text_failed(text) ? pd_fail_memory(error) : PD_OK;
}

enum pd_status pd_print_evlist(struct pd_text *text, struct pd_file *file,
			       const struct pd_print_events_options *options, struct pd_error *error)
{
	struct pd_print_events_options all = { 0 };
	struct pd_trace *trace;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_print_events_options.size is 0");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	status = pd_trace_new(file, NULL, &trace, error);
	if (status < 0)
		return status;
	status = print_events_of(text, file, trace, &all, error);
	pd_trace_free(trace);
	return status;
}
