/* SPDX-License-Identifier: MIT */
/*
 * Findings as text, worst first, and as JSON.
 */
#include "doctor/doctor.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/json.h"
#include "base/text/text.h"

enum {
	WIDTH = 96
};

static const char *const severity_words[] = { "note", "warning", "bad" };
static const char *const state_words[] = { "unused", "symbols", "no-symbols", "missing", "mismatch" };

static size_t count_of(const struct pd_doctor *doctor, enum pd_severity_of_finding severity)
{
	size_t count = 0;

	for (size_t i = 0; i < doctor->finding_count; i++)
		count += doctor->findings[i].shown.severity == severity;
	return count;
}

/* As in the first line of perfdata report. */
static const char *quality_of(const struct pd_doctor *doctor)
{
	return count_of(doctor, PD_FINDING_BAD) ? "poor" : count_of(doctor, PD_FINDING_WARNING) ? "fair" : "good";
}

static double seconds(const struct pd_doctor *doctor)
{
	return (double)(doctor->counts.last_ns - doctor->counts.first_ns) / 1e9;
}

/* ---- text ---- */

/* Text in lines of at most WIDTH characters, each with front before it. */
static void print_wrapped(struct pd_text *text, const char *front, const char *words)
{
	size_t width = WIDTH - strlen(front);

	while (*words) {
		size_t length = strlen(words), end = length;

		if (length > width) {
			for (end = width; end > 0 && words[end] != ' '; end--)
				;
			if (!end)
				end = strcspn(words, " ");
		}
		pd_text_add(text, front);
		pd_text_escaped(text, words, end);
		pd_text_add(text, "\n");
		words += end + (words[end] == ' ');
	}
}

/* On one line, so that it can be taken from the screen. */
static void print_command(struct pd_text *text, const char *front, const char *command)
{
	if (command)
		pd_text_printf(text, "%s%s\n", front, command);
}

/* The first reason is enough here; JSON has all of them. It need not say again where it looked. */
struct pd_str pd_finding_reason(const struct pd_finding_object *object)
{
	const struct pd_dso *dso = object->dso;
	const char *reason = dso->detail ? dso->detail : "";
	size_t name = strlen(dso->long_name);

	if (!strncmp(reason, dso->long_name, name) && reason[name] == ':')
		reason += name + 1 + (reason[name + 1] == ' ');
	if (dso->state == PD_DSO_SYMBOLS)
		reason = "its symbols do not cover these addresses";
	else if (!*reason)
		reason = "no information";
	return (struct pd_str){ .data = reason, .length = (uint32_t)strcspn(reason, ";") };
}

static void print_object(const struct pd_finding_object *object, uint64_t total, struct pd_text *text)
{
	const char *name = object->dso->long_name;
	struct pd_str reason = pd_finding_reason(object);

	pd_text_printf(text, "  %6.2f%%  ", pd_percent(object->samples, total));
	pd_text_escaped(text, name, strlen(name));
	pd_text_add(text, ": ");
	pd_text_escaped(text, reason.data, reason.length);
	pd_text_add(text, "\n");
	print_command(text, "           > ", object->command);
}

static void print_finding(const struct pd_finding *finding, struct pd_text *text)
{
	pd_text_printf(text, "\n%s: %s: ", severity_words[finding->severity], finding->code);
	pd_text_escaped(text, finding->text, strlen(finding->text));
	pd_text_add(text, "\n");
	print_wrapped(text, "  ", finding->meaning);
	for (size_t i = 0; i < finding->object_count; i++)
		print_object(&finding->objects[i], finding->total, text);
	if (finding->more_object_count)
		pd_text_printf(text, "           and %zu more\n", finding->more_object_count);
	print_command(text, "  > ", finding->command);
}

void pd_print_doctor(struct pd_text *text, const struct pd_doctor *doctor, const char *name)
{
	size_t events = pd_file_event_count(doctor->file);

	pd_text_escaped(text, name, strlen(name));
	pd_text_printf(text,
		       ": profile quality: %s; %" PRIu64
		       " sample%s of %zu event%s in %.3f s; %zu bad, %zu warning%s, %zu note%s\n",
		       quality_of(doctor), doctor->counts.samples, pd_plural(doctor->counts.samples), events,
		       events == 1 ? "" : "s", seconds(doctor), count_of(doctor, PD_FINDING_BAD),
		       count_of(doctor, PD_FINDING_WARNING), pd_plural(count_of(doctor, PD_FINDING_WARNING)),
		       count_of(doctor, PD_FINDING_NOTE), pd_plural(count_of(doctor, PD_FINDING_NOTE)));
	for (size_t i = 0; i < doctor->finding_count; i++)
		print_finding(&doctor->findings[i].shown, text);
}

/* ---- JSON ---- */

static void add_object(struct pd_json *json, const struct pd_finding_object *object, uint64_t total)
{
	const struct pd_dso *dso = object->dso;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", dso->long_name);
	if (dso->object && dso->object->build_id_size)
		pd_json_hex(json, "build_id", (struct pd_bytes){ dso->object->build_id, dso->object->build_id_size });
	else
		pd_json_string(json, "build_id", NULL);
	pd_json_number(json, "samples", object->samples);
	pd_json_double(json, "percent", pd_percent(object->samples, total));
	pd_json_string(json, "state", state_words[dso->state]);
	pd_json_string(json, "detail", dso->detail);
	pd_json_string(json, "command", object->command);
	pd_json_close(json, '}');
}

static void add_finding(struct pd_json *json, const struct pd_finding *finding)
{
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "code", finding->code);
	pd_json_string(json, "severity", severity_words[finding->severity]);
	pd_json_number(json, "count", finding->count);
	pd_json_number(json, "total", finding->total);
	pd_json_double(json, "percent", pd_percent(finding->count, finding->total));
	pd_json_string(json, "text", finding->text);
	pd_json_string(json, "meaning", finding->meaning);
	pd_json_string(json, "command", finding->command);
	pd_json_open(json, "objects", '[');
	for (size_t i = 0; i < finding->object_count; i++)
		add_object(json, &finding->objects[i], finding->total);
	pd_json_close(json, ']');
	pd_json_number(json, "more_objects", finding->more_object_count);
	pd_json_close(json, '}');
}

void pd_json_doctor(struct pd_text *text, const struct pd_doctor *doctor, const char *name)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "file", name);
	pd_json_string(&json, "trust", quality_of(doctor));
	pd_json_number(&json, "samples", doctor->counts.samples);
	pd_json_number(&json, "events", pd_file_event_count(doctor->file));
	pd_json_number(&json, "duration_ns", doctor->counts.last_ns - doctor->counts.first_ns);
	pd_json_open(&json, "findings", '[');
	for (size_t i = 0; i < doctor->finding_count; i++)
		add_finding(&json, &doctor->findings[i].shown);
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
}
