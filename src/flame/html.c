/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as one page: the page that is made from web/, with the tree as JSON in it.
 *
 * The tree is a few arrays of small numbers: names once, frames once, and for each node its frame and how
 * many levels to go up before it (0: it is below the node before). Texts of the file cannot end the script
 * element that holds them, because < is written as \u003c.
 */
#include "flame/graph.h"

#include "base/pipeline.h"
#include "base/text/text.h"

#include <perfdata/print.h>

#include <stdio.h>
#include <string.h>

/* Numbers come by the million: printf would be most of the time. */
struct writer {
	struct pd_text *text;
	bool flushes; /* the text goes on to its sink; else it stays */
	char buffer[8192];
	size_t used;
	bool comma;
};

static void flush(struct writer *writer)
{
	writer->buffer[writer->used] = '\0';
	pd_text_add(writer->text, writer->buffer);
	writer->used = 0;
	if (writer->flushes)
		pd_text_flush_large(writer->text);
}

static void write_string(struct writer *writer, const char *text)
{
	flush(writer);
	pd_text_add(writer->text, text);
}

static void put_number(struct writer *writer, uint64_t value)
{
	char digits[24];
	size_t count = 0;

	if (writer->used > sizeof(writer->buffer) - 32)
		flush(writer);
	if (writer->comma)
		writer->buffer[writer->used++] = ',';
	writer->comma = true;
	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (count)
		writer->buffer[writer->used++] = digits[--count];
}

static void open_array(struct writer *writer, const char *name)
{
	write_string(writer, name);
	writer->comma = false;
}

/* A JSON string that is harmless inside of a script element. */
static void put_string(struct writer *writer, const char *text)
{
	size_t length = strlen(text);

	flush(writer);
	if (!memchr(text, '<', length)) {
		pd_text_json_string(writer->text, text, length);
		return;
	}
	pd_text_add(writer->text, "\"");
	while (length) {
		const char *end = memchr(text, '<', length);
		size_t part = end ? (size_t)(end - text) : length;
		struct pd_text *quoted = pd_text_new();

		if (quoted) {
			struct pd_bytes bytes;

			pd_text_json_string(quoted, text, part);
			bytes = pd_text_bytes(quoted);
			if (bytes.size >= 2)
				pd_text_printf(writer->text, "%.*s", (int)(bytes.size - 2),
					       (const char *)bytes.data + 1);
		}
		pd_text_free(quoted);
		if (end)
			pd_text_add(writer->text, "\\u003c");
		text += part + !!end;
		length -= part + !!end;
	}
	pd_text_add(writer->text, "\"");
}

static void put_names(struct writer *writer, const struct tree *tree)
{
	write_string(writer, ",\n\"names\":[");
	for (size_t i = 0; i < tree->texts.count; i++) {
		if (i)
			write_string(writer, ",");
		put_string(writer, tree->texts.items[i]);
	}
}

static void put_frames(struct writer *writer, const struct tree *tree)
{
	static const char codes[] = {
#define KIND(NAME, code, name, label, hue, saturation) code,
#include "flame/kind.def"
#undef KIND
	};

	open_array(writer, "],\n\"frameName\":[");
	for (size_t i = 0; i < tree->frame_count; i++)
		put_number(writer, tree->frames[i].name);
	open_array(writer, "],\n\"frameObject\":[");
	for (size_t i = 0; i < tree->frame_count; i++)
		put_number(writer, tree->frames[i].dso);
	write_string(writer, "],\n\"frameKind\":\"");
	for (size_t i = 0; i < tree->frame_count; i++) {
		if (writer->used > sizeof(writer->buffer) - 32)
			flush(writer);
		writer->buffer[writer->used++] = codes[tree->frames[i].kind];
	}
	write_string(writer, "\"");
}

/* ---- what there is for each node and value ---- */

enum {
	COLUMNS = 6,
	NUMBERS_TOGETHER = 1 << 16
};

struct column {
	const char *begin;
	size_t count;
	uint64_t (*number)(const struct tree *tree, size_t index);
};

struct table {
	const struct tree *tree;
	struct column columns[COLUMNS];
};

static uint64_t node_frame(const struct tree *tree, size_t index)
{
	return tree->nodes[index + 1].frame;
}

static uint64_t node_up(const struct tree *tree, size_t index)
{
	return tree->nodes[index].depth + 1 - tree->nodes[index + 1].depth;
}

static uint64_t value_step(const struct tree *tree, size_t index)
{
	return tree->values[index].node - (index ? tree->values[index - 1].node : 0);
}

static uint64_t value(const struct tree *tree, size_t index)
{
	return tree->values[index].value;
}

static uint64_t value_event(const struct tree *tree, size_t index)
{
	return tree->values[index].event;
}

static uint64_t value_slice(const struct tree *tree, size_t index)
{
	return tree->values[index].slice;
}

/* Even a column without numbers begins. */
static size_t chunks_of(const struct column *column)
{
	return column->count / NUMBERS_TOGETHER + 1;
}

static bool make_chunk(void *self, void *scratch, size_t chunk, struct pd_text *text)
{
	const struct table *table = self;
	const struct column *column = table->columns;
	struct writer writer = { .text = text };
	size_t begin, end;

	(void)scratch;
	while (chunk >= chunks_of(column))
		chunk -= chunks_of(column++);
	begin = chunk * NUMBERS_TOGETHER;
	end = column->count - begin < NUMBERS_TOGETHER ? column->count : begin + NUMBERS_TOGETHER;
	if (!begin)
		open_array(&writer, column->begin);
	writer.comma = begin != 0;
	for (size_t i = begin; i < end; i++)
		put_number(&writer, column->number(table->tree, i));
	flush(&writer);
	return true;
}

static void *begin_nothing(void *self)
{
	return self;
}

static void end_nothing(void *scratch)
{
	(void)scratch;
}

/* False if there is no memory. */
static bool put_table(struct writer *writer, const struct flame_graph *graph, size_t threads)
{
	const struct tree *tree = &graph->tree;
	size_t nodes = tree->node_count - 1, values = tree->value_count;
	struct table table = { tree,
			       {
				       { ",\n\"nodeFrame\":[", nodes, node_frame },
				       { "],\n\"nodeUp\":[", nodes, node_up },
				       { "],\n\"valueStep\":[", values, value_step },
				       { "],\n\"value\":[", values, value },
				       { "],\n\"valueEvent\":[", graph->event_count > 1 ? values : 0, value_event },
				       { "],\n\"valueSlice\":[", graph->slice_count > 1 ? values : 0, value_slice },
			       } };
	struct pd_pipeline_job job = {
		.threads = threads,
		.self = &table,
		.begin = begin_nothing,
		.end = end_nothing,
		.make = make_chunk,
	};
	const struct pd_text *text;
	struct pd_pipeline *pipeline;
	bool done;

	for (size_t i = 0; i < COLUMNS; i++)
		job.count += chunks_of(&table.columns[i]);
	flush(writer);
	pipeline = pd_pipeline_start(&job);
	done = pipeline != NULL;
	for (size_t i = 0; done && i < job.count && pd_text_flush_large(writer->text); i++) {
		text = pd_pipeline_next(pipeline);
		done = text != NULL;
		if (done)
			pd_text_put(writer->text, text->data, text->size);
	}
	pd_pipeline_end(pipeline);
	write_string(writer, "]}");
	return done;
}

/* ---- the page ---- */

static void put_head(struct writer *writer, const struct flame_graph *graph)
{
	char line[160];

	write_string(writer, "{\"title\":");
	put_string(writer, graph->title);
	write_string(writer, ",\"unit\":");
	put_string(writer, graph->unit ? graph->unit : "");
	write_string(writer, ",\"units\":[");
	for (size_t i = 0; i < graph->event_count; i++) {
		write_string(writer, i ? "," : "");
		put_string(writer, pd_flame_unit(graph->units[i]));
	}
	write_string(writer, "]");
	/* Times may need more than 53 bits. */
	snprintf(line, sizeof(line),
		 ",\"reverse\":%s,\"inverted\":%s,\"leftOut\":%zu,\n\"sliceCount\":%zu,\"sliceSeconds\":%.9f,"
		 "\"start\":\"%llu.%09llu\"",
		 graph->reverse ? "true" : "false", graph->inverted ? "true" : "false", graph->tree.left_out,
		 graph->slice_count, (double)graph->slice_ns / 1e9, (unsigned long long)(graph->first_ns / 1000000000),
		 (unsigned long long)(graph->first_ns % 1000000000));
	write_string(writer, line);
	write_string(writer, ",\n\"events\":[");
	for (size_t i = 0; i < graph->event_count; i++) {
		write_string(writer, i ? "," : "");
		put_string(writer, graph->events[i]);
	}
	write_string(writer, "],\n\"facts\":[");
	for (size_t i = 0; i < graph->info_count; i++) {
		write_string(writer, i ? ",{\"text\":" : "{\"text\":");
		put_string(writer, graph->infos[i].text);
		write_string(writer, graph->infos[i].bad ? ",\"bad\":true}" : ",\"bad\":false}");
	}
	write_string(writer, "]");
}

/* Prints the page up to a mark and returns what is after it. */
static const char *put_page_until(struct writer *writer, const char *page, const char *mark)
{
	const char *end = strstr(page, mark);
	size_t length = end ? (size_t)(end - page) : strlen(page);

	flush(writer);
	while (length) {
		char part[4096];
		size_t size = length < sizeof(part) - 1 ? length : sizeof(part) - 1;

		memcpy(part, page, size);
		part[size] = '\0';
		pd_text_add(writer->text, part);
		page += size;
		length -= size;
	}
	return end ? end + strlen(mark) : page;
}

bool pd_flame_write_html(const struct flame_graph *graph, size_t threads, struct pd_text *out)
{
	struct writer writer = { .text = out, .flushes = true };
	const char *page = put_page_until(&writer, pd_flame_page, "@@TITLE@@");

	flush(&writer);
	pd_text_html(writer.text, graph->title, strlen(graph->title));
	page = put_page_until(&writer, page, "@@DATA@@");
	put_head(&writer, graph);
	put_names(&writer, &graph->tree);
	put_frames(&writer, &graph->tree);
	if (!put_table(&writer, graph, threads)) {
		return false;
	}
	put_page_until(&writer, page, "@@END@@");
	pd_text_flush_large(out);
	return !out->failed;
}
