/* SPDX-License-Identifier: MIT */
/*
 * perfdata evlist: the events of a file, as perf evlist prints them, or as JSON.
 */
#include "header_attr.h"
#include "header_feature.h"
#include "front/input.h"
#include "json.h"

#include <perfdata/trace.h>

#include <inttypes.h>
#include <string.h>

struct values {
	struct input_options input;
	bool details;
	bool frequency;
	bool group;
	bool trace_fields;
	bool json;
};

#define FLAG(name, letter, member, help)                                               \
	{                                                                              \
		name, letter, OPTION_FLAG, NULL, offsetof(struct values, member), help \
	}

/* Not INPUT_OPTIONS: -v is what perf means by it here. */
static const struct option options[] = {
	{ "input", 'i', OPTION_STRING, "FILE", offsetof(struct values, input.path),
	  "perf.data file or directory to read; - is standard input" },
	FLAG("force", 'f', input.force, "ignored, for compatibility with perf: files of other users are read anyway"),
	FLAG("quiet", 'q', input.quiet, "suppress warnings about the file"),
	FLAG("verbose", 'v', details, "print all non-zero fields of the perf_event_attr of each event"),
	FLAG("freq", 'F', frequency, "print the sampling frequency or period of each event"),
	FLAG("group", 'g', group, "print event groups"),
	FLAG("trace-fields", 0, trace_fields, "print the fields of tracepoints"),
	FLAG("json", 'j', json, "print one JSON object per event, with all of this"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata evlist -i perf.data", "list the events" },
	{ "perfdata evlist -v perf.data", "list their attributes" },
	{ "perfdata evlist --json perf.data | jq .attr.sample_type", "process them as JSON" },
	{ 0 },
};

/* A group of events: they stand side by side, the leader first. */
struct group {
	size_t first, count;
	struct pd_str name; /* data is NULL if it has none */
};

struct evlist {
	const struct values *values;
	struct pd_file *file;
	struct pd_text *text;
	struct pd_trace *trace;
};

/* The group of an event, which may be alone in it. What overlaps the group before counts for nothing. */
static struct group group_of(const struct evlist *evlist, size_t index)
{
	const struct pd_group_desc *desc = pd_file_group_desc(evlist->file);
	struct group alone = { index, 1, { 0 } };
	size_t count = pd_file_event_count(evlist->file), next = 0;

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

static void add_name(const struct evlist *evlist, size_t index)
{
	const char *name = pd_file_event(evlist->file, index)->name;

	pd_text_escaped(evlist->text, name, strlen(name));
}

/* ---- text ---- */

static void print_group(const struct evlist *evlist, const struct group *group)
{
	if (group->count > 1) {
		if (group->name.data)
			header_str(evlist->text, group->name);
		pd_text_add(evlist->text, "{");
	}
	for (size_t i = 0; i < group->count; i++) {
		pd_text_add(evlist->text, i ? "," : "");
		add_name(evlist, group->first + i);
	}
	pd_text_add(evlist->text, group->count > 1 ? "}\n" : "\n");
}

static void print_fields(const struct evlist *evlist, const struct pd_event *event, const char *before)
{
	struct pd_trace_field field;
	bool any = false;

	pd_text_add(evlist->text, before);
	if (event->attr->type != PD_TYPE_TRACEPOINT) {
		pd_text_add(evlist->text, " (not a tracepoint)");
		return;
	}
	for (size_t i = 0; pd_trace_field_at(evlist->trace, event, i, &field); i++) {
		if (field.is_common)
			continue;
		pd_text_add(evlist->text, any ? "," : " trace_fields: ");
		pd_text_escaped(evlist->text, field.name, strlen(field.name));
		any = true;
	}
	if (!any)
		pd_text_add(evlist->text, " (no trace field)");
}

static void print_event(const struct evlist *evlist, const struct pd_event *event)
{
	static const struct attr_words words = { ": ", ", ", ": " };
	const struct values *values = evlist->values;
	bool any = false;

	add_name(evlist, event->index);
	if (values->details) {
		any = header_attr(evlist->text, event->attr, &words);
	} else if (values->frequency) {
		pd_text_printf(evlist->text, ": %s=%" PRIu64,
			       PD_BITS(event->attr->flags, PD_ATTR_FREQ) ? "sample_freq" : "sample_period",
			       event->attr->sample_period);
		any = true;
	}
	if (values->trace_fields)
		print_fields(evlist, event, any ? "," : ":");
	pd_text_add(evlist->text, "\n");
}

static void print_all(const struct evlist *evlist)
{
	const struct values *values = evlist->values;
	bool tracepoints = false;

	for (size_t i = 0; i < pd_file_event_count(evlist->file); i++) {
		const struct pd_event *event = pd_file_event(evlist->file, i);
		struct group group = group_of(evlist, i);

		tracepoints |= event->attr->type == PD_TYPE_TRACEPOINT;
		if (!values->group)
			print_event(evlist, event);
		else if (group.first == i)
			print_group(evlist, &group);
	}
	if (tracepoints && !values->trace_fields)
		pd_text_add(evlist->text,
			    "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
}

/* ---- JSON ---- */

static void json_fields(const struct evlist *evlist, struct json *json, const struct pd_event *event)
{
	struct pd_trace_field field;

	json_open(json, "trace_fields", '[');
	for (size_t i = 0; pd_trace_field_at(evlist->trace, event, i, &field); i++) {
		if (!field.is_common)
			json_string(json, NULL, field.name);
	}
	json_close(json, ']');
}

static void json_event(const struct evlist *evlist, const struct pd_event *event)
{
	struct json json = { .text = evlist->text };
	struct group group = group_of(evlist, event->index);

	json_open(&json, NULL, '{');
	json_number(&json, "index", event->index);
	json_string(&json, "name", event->name);
	if (group.count > 1) {
		json_open(&json, "group", '{');
		json_number(&json, "leader", group.first);
		json_number(&json, "members", group.count);
		json_pd_str(&json, "name", group.name.data ? group.name : (struct pd_str){ .data = "" });
		json_close(&json, '}');
	}
	json_string(&json, "unit", event->unit);
	json_double(&json, "scale", event->scale);
	if (event->attr->type == PD_TYPE_TRACEPOINT)
		json_fields(evlist, &json, event);
	json_name(&json, "attr");
	pd_json_layout(evlist->text, pd_layout_by_name("attr"), event->attr, evlist->file);
	json_open(&json, "ids", '[');
	for (size_t i = 0; i < event->ids.count; i++)
		json_number(&json, NULL, event->ids.items[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	pd_text_add(evlist->text, "\n");
}

/* ---- the command ---- */

static bool pass(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct evlist *evlist = self;

	if (record->type == PD_RECORD_SAMPLE)
		pd_stream_pass(stream);
	return pd_trace_take(evlist->trace, record, NULL) == PD_OK;
}

static int list(struct evlist *evlist, struct input *input)
{
	struct pd_error error;
	int code = CODE_FINE;

	evlist->file = input->file;
	if (pd_trace_new(input->file, NULL, &evlist->trace, &error) != PD_OK) {
		complain("%s", error.message);
		return CODE_UNREADABLE;
	}
	/* The events of a pipe are records, and so are the tracing data of simpleperf. */
	if (pd_file_header(input->file)->mode == PD_MODE_PIPE || evlist->values->trace_fields)
		code = input_walk(input, pass, evlist);
	if (code == CODE_FINE && !pd_file_event_count(input->file)) {
		complain("%s: no events in the file", input->name);
		code = CODE_NOTHING;
	}
	if (code == CODE_FINE && !evlist->values->json)
		print_all(evlist);
	for (size_t i = 0; code == CODE_FINE && evlist->values->json && i < pd_file_event_count(input->file); i++)
		json_event(evlist, pd_file_event(input->file, i));
	pd_trace_free(evlist->trace);
	return code;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct evlist evlist = { .values = values, .text = call->out->text };
	struct input input;
	int code;

	if (values->group && (values->details || values->frequency || values->trace_fields)) {
		complain("--group cannot be combined with --verbose, --freq or --trace-fields");
		return CODE_USAGE;
	}
	code = input_open(&input, &values->input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	return input_close(&input, list(&evlist, &input));
}

const struct command cmd_evlist = {
	.usage = "[-v | -F | -g] [--trace-fields] [OPTION]... [FILE]",
	.text = "List the events of FILE, one per line, byte for byte as perf evlist (6.1).\n"
		"\n"
		"With --json each line is an object: index, name, group (leader, members and name, if any), "
		"unit, scale, trace_fields (of tracepoints), attr with all fields, and ids.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
