/* SPDX-License-Identifier: MIT */
/* The header of the page's data: what was recorded, and whether it can be relied on. */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata/annotate.h>
#include <perfdata/format.h>
#include <perfdata/interval.h>

#include "base/sha256.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "export/page/page.h"

// Strings of the file are made harmless, as in the tables.
static void put_clean(struct pd_export *self, struct pd_json *json, const char *name, const char *text, size_t size)
{
	uint32_t string = pd_tables_string(&self->tables, text, size);

	pd_json_string(json, name, pd_tables_text_of(&self->tables, string));
}

static void put_text(struct pd_export *self, struct pd_json *json, const char *name, const char *text)
{
	if (text)
		put_clean(self, json, name, text, strlen(text));
	else
		pd_json_string(json, name, NULL);
}

static void put_feature(struct pd_export *self, struct pd_json *json, const char *name, const struct pd_string *feature)
{
	if (feature)
		put_clean(self, json, name, feature->value.data, feature->value.length);
	else
		pd_json_string(json, name, NULL);
}

void pd_page_put_amount(struct pd_json *json, const char *name, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	pd_json_string(json, name, digits);
}

static void put_command(struct pd_export *self, struct pd_json *json)
{
	const struct pd_cmdline *command = pd_file_cmdline(self->file);
	struct pd_text *text = command ? pd_text_new() : NULL;

	if (!text) {
		self->failed |= command != NULL;
		pd_json_string(json, "command", NULL);
		return;
	}
	for (size_t i = 0; i < command->arguments.count; i++) {
		const struct pd_str *word = &PD_ITEM(pd_argument, command->arguments, i)->value;

		if (i)
			pd_text_char(text, ' ');
		pd_text_put(text, word->data, word->length);
	}
	self->failed |= text->failed;
	if (!text->failed)
		put_clean(self, json, "command", text->data, text->size);
	pd_text_free(text);
}

static void put_recording(struct pd_export *self, struct pd_json *json)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(self->file);

	pd_json_open(json, "recording", '{');
	put_command(self, json);
	put_feature(self, json, "host", pd_file_hostname(self->file));
	put_feature(self, json, "os", pd_file_osrelease(self->file));
	put_feature(self, json, "arch", pd_file_arch(self->file));
	put_feature(self, json, "cpu", pd_file_cpudesc(self->file));
	put_feature(self, json, "version", pd_file_version(self->file));
	pd_json_offset(json, "cpus", cpus ? cpus->available : PD_NO_OFFSET);
	pd_json_close(json, '}');
}

// Of what does not change when the file is compressed or shown in part.
static void put_fingerprint(struct pd_export *self, struct pd_json *json)
{
	const struct pd_string *host = pd_file_hostname(self->file);
	struct pd_sha256 sha;
	uint8_t digest[PD_SHA256_BYTES];

	pd_sha256_begin(&sha);
	if (host)
		pd_sha256_add(&sha, host->value.data, host->value.length);
	for (size_t i = 0; i < self->event_count; i++) {
		const struct pd_event *event = pd_file_event(self->file, i);

		pd_sha256_add(&sha, event->name, strlen(event->name) + 1);
		pd_sha256_add(&sha, event->ids.items, event->ids.count * sizeof(*event->ids.items));
	}
	pd_sha256_add(&sha, &self->result.samples_read, sizeof(self->result.samples_read));
	pd_sha256_end(&sha, digest);
	pd_json_hex(json, "fingerprint", (struct pd_bytes){ digest, 8 });
}

static void put_time(struct pd_export *self, struct pd_json *json)
{
	const struct pd_page *page = self->sink;
	uint64_t wall_ns = pd_export_wall_clock(self), start = page->base_ns == UINT64_MAX ? 0 : page->base_ns;

	pd_json_open(json, "time", '{');
	pd_json_bool(json, "known", self->first_ns != 0);
	pd_json_number(json, "unit_ns", page->unit_ns);
	pd_page_put_amount(json, "start", start);
	pd_page_put_amount(json, "end", self->last_ns > start ? self->last_ns : start);
	if (wall_ns)
		pd_page_put_amount(json, "wall", wall_ns - (self->first_ns - start));
	else
		pd_json_string(json, "wall", NULL);
	pd_json_close(json, '}');
}

static void put_events(struct pd_export *self, struct pd_json *json)
{
	static const char *const units[] = { "samples", "events", "ns" };

	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < self->event_count; i++) {
		const struct pd_event *event = pd_file_event(self->file, i);

		pd_json_open(json, NULL, '{');
		put_text(self, json, "name", event->name);
		pd_json_string(json, "unit", units[pd_event_unit(event)]);
		if (event->attr->type == PD_TYPE_TRACEPOINT)
			pd_json_bool(json, "tracepoint", true);
		pd_json_number(json, "samples", self->sums[i].samples);
		pd_page_put_amount(json, "sum", self->sums[i].value);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void put_truth(struct pd_export *self, struct pd_json *json)
{
	const struct pd_page_truth *truth = &((const struct pd_page *)self->sink)->truth;

	pd_json_open(json, "truth", '{');
	pd_json_number(json, "samples", self->result.samples);
	pd_json_number(json, "read", self->result.samples_read);
	pd_json_number(json, "lost", truth->lost);
	pd_json_number(json, "lost_samples", truth->lost_samples);
	pd_json_number(json, "throttled", truth->throttled);
	pd_json_number(json, "truncated", truth->truncated);
	pd_json_number(json, "unknown", truth->unknown);
	pd_json_number(json, "damaged", self->result.damaged);
	pd_json_number(json, "copied", self->result.copied_stacks);
	pd_json_close(json, '}');
}

// A list of objects with a name and one more member.
static void put_names(struct pd_json *json, const char *list, const char *member, const char *const (*items)[2],
		      size_t count)
{
	pd_json_open(json, list, '[');
	for (size_t i = 0; i < count; i++) {
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "name", items[i][0]);
		pd_json_string(json, member, items[i][1]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

void pd_page_put_kinds(struct pd_json *json)
{
	static const char *const kinds[][2] = {
#define KIND(NAME, name, code) { name, code },
#include "export/page/function_kind.def"
	};

	put_names(json, "kinds", "letter", kinds, sizeof(kinds) / sizeof(kinds[0]));
}

static void put_marker_kinds(struct pd_json *json)
{
	static const char *const markers[][2] = {
#define MARKER(NAME, name, value) { name, value },
#include "export/page/marker.def"
	};

	put_names(json, "markers", "value", markers, sizeof(markers) / sizeof(markers[0]));
}

static void put_interval_kinds(struct pd_json *json)
{
	static const char *const classes[] = {
		[PD_INTERVAL_ON_CPU] = "on-cpu",   [PD_INTERVAL_RUNNABLE] = "runnable",
		[PD_INTERVAL_BLOCKED] = "blocked", [PD_INTERVAL_UNKNOWN] = "unknown",
		[PD_INTERVAL_IDLE] = "idle",
	};
	const struct pd_interval_kind *kind;

	pd_json_open(json, "intervals", '[');
	for (size_t i = 0; (kind = pd_interval_kind(i)) != NULL; i++) {
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "name", kind->name);
		pd_json_string(json, "class", classes[kind->of]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void put_line_kinds(struct pd_json *json)
{
	static const char *const lines[] = {
#define LINE(NAME, name) [PD_ANNOTATE_##NAME] = name,
#include "export/page/line.def"
	};
	static const char *const flows[] = {
		[PD_FLOW_NEXT] = "next", [PD_FLOW_BRANCH] = "branch", [PD_FLOW_JUMP] = "jump",
		[PD_FLOW_CALL] = "call", [PD_FLOW_RETURN] = "return",
	};

	pd_json_open(json, "lines", '[');
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		pd_json_string(json, NULL, lines[i]);
	pd_json_close(json, ']');
	pd_json_open(json, "flows", '[');
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		pd_json_string(json, NULL, flows[i]);
	pd_json_close(json, ']');
}

static void put_omitted(const struct pd_page *page, uint64_t samples, struct pd_json *json)
{
	pd_json_open(json, "omitted", '{');
	pd_json_bool(json, "addresses", samples > PD_PAGE_ADDRESS_SAMPLES);
	pd_json_number(json, "intervals", page->intervals.cut);
	pd_json_number(json, "markers", page->markers.cut);
	pd_json_close(json, '}');
}

void pd_page_put_format(struct pd_json *json)
{
	char version[32];

	snprintf(version, sizeof(version), "%d.%d.%d", PD_VERSION_MAJOR, PD_VERSION_MINOR, PD_VERSION_PATCH);
	pd_json_string(json, "format", "perfdata-page");
	pd_json_number(json, "version", PD_PAGE_VERSION);
	pd_json_string(json, "perfdata", version);
}

static void put_members(struct pd_export *self, struct pd_json *json)
{
	pd_page_put_format(json);
	// without its folders, which are nobody else's business
	put_text(self, json, "name", pd_path_name(pd_export_name(self)));
	put_fingerprint(self, json);
	put_recording(self, json);
	put_time(self, json);
	put_events(self, json);
	put_truth(self, json);
	pd_page_put_findings(self, json);
	pd_page_put_kinds(json);
	put_marker_kinds(json);
	put_interval_kinds(json);
	put_line_kinds(json);
	put_omitted(self->sink, self->result.samples, json);
}

static void put_size(struct pd_text *text, size_t size)
{
	for (unsigned i = 0; i < 4; i++)
		pd_text_char(text, (char)(size >> 8 * i));
}

bool pd_page_put_container(struct pd_text *text, struct pd_json *header, const struct pd_page_blocks *blocks)
{
	struct pd_text *json = header->text;

	pd_json_name(header, "columns");
	pd_text_char(json, '{');
	pd_text_put(json, blocks->columns.text->data, blocks->columns.text->size);
	pd_text_add(json, "}}");
	if (json->failed || pd_page_blocks_failed(blocks))
		return false;
	PD_TEXT_LITERAL(text, "PDPAGE1\n");
	put_size(text, json->size);
	pd_text_put(text, json->data, json->size);
	pd_text_put(text, blocks->blocks->data, blocks->blocks->size);
	return true;
}

void pd_page_put_header(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	struct pd_json json = { .text = pd_text_new() };

	if (!json.text) {
		self->failed = true;
		return;
	}
	pd_json_open(&json, NULL, '{');
	put_members(self, &json);
	self->failed = self->failed || !pd_page_put_container(self->text, &json, &page->blocks);
	pd_text_free(json.text);
}
