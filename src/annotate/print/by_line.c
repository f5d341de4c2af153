/* SPDX-License-Identifier: MIT */
/* Samples of all functions by line of the source, and source files listed with them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <perfdata/json.h>

#include "annotate/print/text.h"
#include "object/dwarf/lines.h"
#include "symbol/sources.h"

enum {
	NEAR = 3 // lines around one with samples
};

struct source_line {
	struct pd_source_file *file;
	uint32_t line;
	uint32_t event;
	struct pd_annotate_sum sum;
};

struct listed_file {
	struct pd_source_file *file;
	size_t first, count; // lines, by number and event
	struct pd_annotate_sum *sums;
};

struct by_line {
	struct pd_annotate *annotate;
	const struct pd_annotate_part *part;
	struct source_line *lines;
	size_t line_count, line_capacity;
	struct listed_file *files;
	size_t file_count, file_capacity;
	struct pd_annotate_sum *sums;
	struct pd_annotate_sum *unknown; // by event: without a line
};

static void add_sum(struct pd_annotate_sum *sum, const struct pd_annotate_sum *more)
{
	sum->period += more->period;
	sum->samples += more->samples;
}

// ---- adding up ----

static bool add_hit(struct by_line *by, const struct pd_dso *dso, const struct pd_annotate_hit *hit)
{
	uint32_t event = hit->event - (uint32_t)by->part->head.first_event;
	struct pd_lines_frame frame = { 0 };
	struct pd_source_file *file;

	if (hit->event < by->part->head.first_event || event >= by->part->head.event_count)
		return true;
	if (!pd_lookup_innermost(by->annotate->symbols, dso, hit->addr, &frame) || !frame.file || !frame.line) {
		add_sum(&by->unknown[event], &hit->sum);
		return true;
	}
	file = pd_source_file(by->annotate->sources, frame.file);
	if (!file || !PD_GROW(by->lines, by->line_capacity, by->line_count + 1))
		return false;
	by->lines[by->line_count++] = (struct source_line){ file, frame.line, event, hit->sum };
	return true;
}

static int compare_lines(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;

	if (a->file != b->file)
		return strcmp(a->file->path, b->file->path);
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

// Equal ones become one.
static void merge_lines(struct by_line *by)
{
	size_t out = 0;

	if (by->line_count)
		qsort(by->lines, by->line_count, sizeof(*by->lines), compare_lines);
	for (size_t i = 0; i < by->line_count; i++) {
		if (out && !compare_lines(&by->lines[out - 1], &by->lines[i]))
			add_sum(&by->lines[out - 1].sum, &by->lines[i].sum);
		else
			by->lines[out++] = by->lines[i];
	}
	by->line_count = out;
}

static int compare_files(const void *left, const void *right)
{
	const struct listed_file *a = left, *b = right;

	if (a->sums[0].period != b->sums[0].period)
		return a->sums[0].period > b->sums[0].period ? -1 : 1;
	return strcmp(a->file->path, b->file->path);
}

static bool find_files(struct by_line *by)
{
	size_t events = by->part->head.event_count;

	for (size_t i = 0; i < by->line_count; i++) {
		if (i && by->lines[i].file == by->lines[i - 1].file) {
			by->files[by->file_count - 1].count++;
			continue;
		}
		if (!PD_GROW(by->files, by->file_capacity, by->file_count + 1))
			return false;
		by->files[by->file_count++] = (struct listed_file){ .file = by->lines[i].file, .first = i, .count = 1 };
	}
	by->sums = pd_alloc((by->file_count * events + 1) * sizeof(*by->sums));
	if (!by->sums)
		return false;
	for (size_t i = 0; i < by->file_count; i++) {
		by->files[i].sums = by->sums + i * events;
		for (size_t k = by->files[i].first; k < by->files[i].first + by->files[i].count; k++)
			add_sum(&by->files[i].sums[by->lines[k].event], &by->lines[k].sum);
	}
	if (by->file_count)
		qsort(by->files, by->file_count, sizeof(*by->files), compare_files);
	return true;
}

static bool collect_lines(struct by_line *by)
{
	const struct pd_annotate *annotate = by->annotate;

	by->unknown = pd_alloc(by->part->head.event_count * sizeof(*by->unknown));
	if (!by->unknown)
		return false;
	for (size_t i = 0; i < by->part->head.function_count; i++) {
		const struct pd_annotate_hits *hits = &annotate->functions[by->part->entries[i].hits];

		for (size_t k = hits->first; k < hits->first + hits->count; k++)
			if (!add_hit(by, hits->function->dso, &annotate->hits[k]))
				return false;
	}
	merge_lines(by);
	return find_files(by);
}

static void free_lines(struct by_line *by)
{
	pd_free(by->lines);
	pd_free(by->files);
	pd_free(by->sums);
	pd_free(by->unknown);
}

// The sums of a line that begins at index; returns the index after it.
static size_t take_line(const struct by_line *by, size_t index, size_t end, struct pd_annotate_sum *sums)
{
	uint32_t line = by->lines[index].line;

	memset(sums, 0, by->part->head.event_count * sizeof(*sums));
	for (; index < end && by->lines[index].line == line; index++)
		add_sum(&sums[by->lines[index].event], &by->lines[index].sum);
	return index;
}

// ---- as text ----

static void put_line(struct pd_annotate_printing *p, const struct pd_source_file *file, uint32_t line,
		     const struct pd_annotate_sum *sums)
{
	const char *text;
	size_t length;

	if (sums)
		pd_annotate_put_columns(p, sums);
	else
		pd_text_printf(p->out, " %*s", (int)pd_annotate_width(p) - 1, "");
	pd_text_printf(p->out, " : %6" PRIu32, line);
	if (file->text && pd_source_line(file, line, &text, &length) && length) {
		pd_text_add(p->out, "  ");
		pd_annotate_put_indented(p, text, length);
	}
	pd_text_char(p->out, '\n');
}

// Lines from one on, which have no samples, up to the next with samples: those near to either.
static uint32_t put_between(struct pd_annotate_printing *p, const struct pd_source_file *file, uint32_t from,
			    uint32_t to)
{
	for (uint32_t i = from; i < to && i <= file->line_count; i++) {
		bool shown = !p->options.hot_only || (from > 1 && i < from + NEAR) || to - i <= NEAR;

		if (shown) {
			put_line(p, file, i, NULL);
			continue;
		}
		pd_text_printf(p->out, " %*s : ...\n", (int)pd_annotate_width(p) - 1, "");
		i = to - NEAR - 1;
	}
	return to + 1;
}

static bool put_file(struct pd_annotate_printing *p, const struct by_line *by, const struct listed_file *listed)
{
	struct pd_annotate_sum *sums = pd_alloc(p->events * sizeof(*sums));
	size_t begin = p->out->size, end = listed->first + listed->count;
	uint32_t next = 1;

	if (!sums)
		return false;
	p->local = listed->sums;
	pd_text_printf(p->out, " %-*s|\tSource lines of ", (int)pd_annotate_width(p),
		       pd_annotate_column_word(p->options.show));
	pd_annotate_put_name(p, listed->file->path, strlen(listed->file->path));
	pd_text_add(p->out, " for ");
	pd_annotate_put_name(p, p->part->name, strlen(p->part->name));
	pd_text_printf(p->out, " (%.2f%%, %" PRIu64 " samples, percent: %s)\n",
		       pd_annotate_share(p->part, listed->sums, &listed->sums[0], 0, PD_ANNOTATE_GLOBAL_PERIOD),
		       listed->sums[0].samples, pd_annotate_percent_word(p));
	pd_annotate_put_rule(p, begin);
	for (size_t i = listed->first; i < end;) {
		uint32_t line = by->lines[i].line;

		i = take_line(by, i, end, sums);
		next = put_between(p, listed->file, next, line);
		put_line(p, listed->file, line, sums);
	}
	put_between(p, listed->file, next, (uint32_t)listed->file->line_count + 1);
	pd_text_char(p->out, '\n');
	pd_free(sums);
	return true;
}

static bool put_files(struct pd_annotate_printing *p, const struct by_line *by, bool *written_out)
{
	p->part = by->part;
	p->events = by->part->head.event_count;
	*written_out = true;
	for (size_t i = 0; i < by->file_count && *written_out; i++) {
		if (!put_file(p, by, &by->files[i]))
			return false;
		*written_out = pd_text_flush_large(p->out);
	}
	p->local = by->unknown;
	if (!by->unknown[0].samples)
		return true;
	pd_annotate_put_columns(p, by->unknown);
	pd_text_printf(p->out, " : in code whose lines are not known\n\n");
	return true;
}

enum pd_status pd_annotate_source_text(struct pd_annotate *annotate, const struct pd_annotate_text_options *options,
				       struct pd_text *text, struct pd_error *error)
{
	struct pd_annotate_printing p = { .out = text };
	bool done = true, written = true;

	if (options)
		memcpy(&p.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	for (size_t i = 0; done && written && i < annotate->part_count; i++) {
		struct by_line by = { .annotate = annotate, .part = &annotate->parts[i] };

		done = collect_lines(&by) && put_files(&p, &by, &written);
		free_lines(&by);
	}
	if (!done || text->failed)
		return pd_fail_memory(error);
	return written ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output failed");
}

// ---- as JSON ----

static bool add_file(struct pd_json *json, const struct by_line *by, const struct listed_file *listed)
{
	size_t events = by->part->head.event_count, end = listed->first + listed->count;
	struct pd_annotate_sum *sums = pd_alloc(events * sizeof(*sums));

	if (!sums)
		return false;
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "path", listed->file->path);
	pd_annotate_json_sums(json, "sums", listed->sums, events);
	pd_json_open(json, "lines", '[');
	for (size_t i = listed->first; i < end;) {
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "line", by->lines[i].line);
		i = take_line(by, i, end, sums);
		pd_annotate_json_sums(json, "sums", sums, events);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	pd_json_close(json, '}');
	pd_free(sums);
	return true;
}

static bool add_part(struct pd_json *json, struct pd_annotate *annotate, size_t index)
{
	struct by_line by = { .annotate = annotate, .part = &annotate->parts[index] };
	size_t events = by.part->head.event_count;
	bool done = collect_lines(&by);

	pd_json_open(json, NULL, '{');
	pd_annotate_json_head(json, annotate, by.part);
	pd_json_open(json, "files", '[');
	for (size_t i = 0; done && i < by.file_count; i++)
		done = add_file(json, &by, &by.files[i]);
	pd_json_close(json, ']');
	if (done)
		pd_annotate_json_sums(json, "unknown", by.unknown, events);
	pd_json_close(json, '}');
	free_lines(&by);
	return done;
}

enum pd_status pd_annotate_source_json(struct pd_annotate *annotate, struct pd_text *text, struct pd_error *error)
{
	struct pd_json json = { .text = text };
	bool done = true, written = true;

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "tables", '[');
	for (size_t i = 0; done && written && i < annotate->part_count; i++) {
		done = add_part(&json, annotate, i);
		written = pd_text_flush_large(text);
	}
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_text_char(text, '\n');
	if (!done || text->failed)
		return pd_fail_memory(error);
	return written ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output failed");
}
