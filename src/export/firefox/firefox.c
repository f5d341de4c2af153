/* SPDX-License-Identifier: MIT */
/*
 * The Firefox Profiler, in its processed form of version 66, which all its front ends since then read. Tables are column by
 * column. Each thread and event is a thread there, with what happened to the thread as markers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "export/firefox/firefox.h"

enum {
	GECKO_VERSION = 24, // of another form, and without a meaning here
	PROCESSED_VERSION = 66
};

// ---- tables ----

static void open_table(struct pd_export *self, const char *key, size_t count)
{
	pd_firefox_key(self, key);
	pd_text_printf(self->text, "{\"length\":%zu", count);
}

static void close_table(struct pd_export *self)
{
	PD_TEXT_LITERAL(self->text, "}\n");
}

// ---- libraries ----

// The first 16 bytes of a build id as the number of Windows that it is taken for, and an age of 0.
static void put_breakpad_id(struct pd_export *self, const struct pd_build_id *id)
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	pd_firefox_key(self, "breakpadId");
	pd_text_char(self->text, '"');
	for (size_t i = 0; i < sizeof(order); i++)
		pd_text_printf(self->text, "%02X", order[i] < id->size ? id->bytes[order[i]] : 0);
	PD_TEXT_LITERAL(self->text, "0\"");
}

static void put_lib(struct pd_export *self, size_t number)
{
	const struct pd_table_object *object = &self->tables.objects[number];
	const struct pd_string *arch = pd_file_arch(self->file);
	uint32_t arch_string = arch ? pd_tables_string(&self->tables, arch->value.data, arch->value.length) : 0;
	static const char *const paths[] = { "path", "debugPath" }, *const names[] = { "name", "debugName" };

	object = &self->tables.objects[number];
	PD_TEXT_LITERAL(self->text, "{\"arch\":");
	pd_firefox_string(self, arch_string);
	for (size_t i = 0; i < 2; i++) {
		pd_firefox_key(self, names[i]);
		pd_firefox_string(self, object->name);
		pd_firefox_key(self, paths[i]);
		pd_firefox_string(self, object->path);
	}
	put_breakpad_id(self, &object->id);
	pd_firefox_key(self, "codeId");
	if (object->build_id)
		pd_firefox_string(self, object->build_id);
	else
		PD_TEXT_LITERAL(self->text, "null");
	pd_text_char(self->text, '}');
}

// Objects begin with none.
static void put_libs(struct pd_export *self)
{
	PD_TEXT_LITERAL(self->text, ",\n\"libs\":[");
	for (size_t i = 1; i < self->tables.object_count; i++) {
		if (i > 1)
			pd_text_char(self->text, ',');
		put_lib(self, i);
	}
	pd_text_char(self->text, ']');
}

// ---- shared tables ----

static void put_row_columns(struct pd_export *self, const struct pd_rows *rows, bool prefixes)
{
	struct pd_row_walk walk;
	struct pd_row row;

	pd_firefox_key(self, prefixes ? "prefixOffset" : "frame");
	pd_text_char(self->text, '[');
	pd_rows_walk(rows, &walk);
	for (uint32_t i = 0; pd_rows_next(&walk, &row) && !self->text->sink_failed; i++) {
		if (i)
			pd_text_char(self->text, ',');
		pd_text_u64(self->text, !prefixes ? row.line : row.parent == PD_NO_ROW ? 0 : i - row.parent);
		pd_export_flush(self);
	}
	pd_text_char(self->text, ']');
}

// Frames are lines; each belongs to one frame of the tables.
static const struct pd_table_frame *frame_of(const struct pd_export *self, size_t line)
{
	const struct pd_firefox *firefox = self->sink;

	return &self->tables.frames[firefox->frame_of[line]];
}

// In the object; addresses of the kernel have more bits than numbers of JSON, so they are relative to its mapping.
static void put_address(struct pd_export *self, size_t line)
{
	const struct pd_table_frame *frame = frame_of(self, line);
	uint64_t addr = frame->place.addr;

	if (self->tables.objects[frame->object].kernel)
		addr -= self->tables.mappings[frame->mapping].start;
	if (!frame->object || addr >> 53)
		PD_TEXT_LITERAL(self->text, "-1");
	else
		pd_text_u64(self->text, addr);
}

static void put_depth(struct pd_export *self, size_t line)
{
	const struct pd_table_frame *frame = frame_of(self, line);

	pd_text_u64(self->text, frame->first_line + frame->line_count - 1 - line);
}

static void put_category(struct pd_export *self, size_t line)
{
	const struct pd_table_frame *frame = frame_of(self, line);
	const struct pd_table_object *object = &self->tables.objects[frame->object];
	bool known = self->tables.functions[self->tables.lines[line].function].known;

	// as in the list of categories
	pd_text_u64(self->text, object->kernel ? 1 : !known ? 3 : frame->object && !object->dso->object ? 2 : 0);
}

static void put_func(struct pd_export *self, size_t line)
{
	pd_text_u64(self->text, self->tables.lines[line].function);
}

static void put_line(struct pd_export *self, size_t line)
{
	if (self->tables.lines[line].line)
		pd_text_u64(self->text, self->tables.lines[line].line);
	else
		PD_TEXT_LITERAL(self->text, "null");
}

static void put_frames(struct pd_export *self)
{
	size_t count = self->tables.line_count;

	open_table(self, "frameTable", count);
	pd_firefox_column(self, "address", count, put_address);
	pd_firefox_column(self, "inlineDepth", count, put_depth);
	pd_firefox_column(self, "category", count, put_category);
	pd_firefox_same(self, "subcategory", count, "0");
	pd_firefox_column(self, "func", count, put_func);
	pd_firefox_same(self, "nativeSymbol", count, "null");
	pd_firefox_same(self, "innerWindowID", count, "0");
	pd_firefox_column(self, "line", count, put_line);
	pd_firefox_same(self, "column", count, "null");
	pd_firefox_same(self, "originalLocation", count, "null");
	close_table(self);
}

static void put_func_name(struct pd_export *self, size_t function)
{
	pd_text_u64(self->text, self->tables.functions[function].name);
}

static void put_func_resource(struct pd_export *self, size_t function)
{
	pd_text_s64(self->text, (int64_t)self->tables.functions[function].object - 1);
}

static void put_func_source(struct pd_export *self, size_t function)
{
	const struct pd_firefox *firefox = self->sink;
	uint32_t file = self->tables.functions[function].file;

	if (file)
		pd_text_u64(self->text, firefox->source_of[file] - 1);
	else
		PD_TEXT_LITERAL(self->text, "null");
}

static void put_funcs(struct pd_export *self)
{
	size_t count = self->tables.function_count;

	open_table(self, "funcTable", count);
	pd_firefox_column(self, "name", count, put_func_name);
	pd_firefox_same(self, "isJS", count, "false");
	pd_firefox_same(self, "relevantForJS", count, "false");
	pd_firefox_column(self, "resource", count, put_func_resource);
	pd_firefox_column(self, "source", count, put_func_source);
	pd_firefox_same(self, "lineNumber", count, "null");
	pd_firefox_same(self, "columnNumber", count, "null");
	pd_firefox_same(self, "originalLocation", count, "null");
	close_table(self);
}

static void put_resource_lib(struct pd_export *self, size_t object)
{
	pd_text_u64(self->text, object);
}

static void put_resource_name(struct pd_export *self, size_t object)
{
	pd_text_u64(self->text, self->tables.objects[object + 1].name);
}

static void put_resources(struct pd_export *self)
{
	size_t count = self->tables.object_count - 1;

	open_table(self, "resourceTable", count);
	pd_firefox_column(self, "lib", count, put_resource_lib);
	pd_firefox_column(self, "name", count, put_resource_name);
	pd_firefox_same(self, "host", count, "null");
	pd_firefox_same(self, "type", count, "1");
	close_table(self);
}

static void put_source_name(struct pd_export *self, size_t source)
{
	const struct pd_firefox *firefox = self->sink;

	pd_text_u64(self->text, firefox->sources[source]);
}

static void put_sources(struct pd_export *self)
{
	const struct pd_firefox *firefox = self->sink;
	size_t count = firefox->source_count;

	open_table(self, "sources", count);
	pd_firefox_same(self, "id", count, "null");
	pd_firefox_column(self, "filename", count, put_source_name);
	pd_firefox_same(self, "startLine", count, "1");
	pd_firefox_same(self, "startColumn", count, "1");
	pd_firefox_same(self, "sourceMapURL", count, "null");
	pd_firefox_same(self, "content", count, "null");
	close_table(self);
}

static void put_table_string(struct pd_export *self, size_t string)
{
	pd_firefox_string(self, (uint32_t)string);
}

static void put_shared(struct pd_export *self, const struct pd_rows *rows)
{
	PD_TEXT_LITERAL(self->text,
			",\n\"shared\":{\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
			"\"functionSize\":[]},\"sourceLocationTable\":{\"length\":0,\"source\":[],\"line\":[],"
			"\"column\":[]}");
	open_table(self, "stackTable", rows->count);
	put_row_columns(self, rows, false);
	put_row_columns(self, rows, true);
	close_table(self);
	put_frames(self);
	put_funcs(self);
	put_resources(self);
	put_sources(self);
	// last, as names of markers and threads are among them
	pd_firefox_column(self, "stringArray", self->tables.string_count, put_table_string);
	pd_text_char(self->text, '}');
}

// ---- what is said of the whole ----

static double interval_of(const struct pd_event *event)
{
	const struct pd_attr *attr = event->attr;

	if (PD_BITS(attr->flags, PD_ATTR_FREQ))
		return attr->sample_period ? 1000.0 / (double)attr->sample_period : 1;
	return pd_event_unit(event) == PD_UNIT_NS && attr->sample_period ? (double)attr->sample_period / 1e6 : 1;
}

static void put_feature(struct pd_export *self, const char *key, const struct pd_string *feature)
{
	if (!feature)
		return;
	pd_firefox_key(self, key);
	pd_firefox_string(self, pd_tables_string(&self->tables, feature->value.data, feature->value.length));
}

// Where it was recorded.
static void put_machine(struct pd_export *self)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(self->file);

	put_feature(self, "CPUName", pd_file_cpudesc(self->file));
	put_feature(self, "oscpu", pd_file_osrelease(self->file));
	if (cpus) {
		pd_firefox_key(self, "logicalCPUs");
		pd_text_u64(self->text, cpus->available);
	}
}

static void put_meta(struct pd_export *self)
{
	const struct pd_firefox *firefox = self->sink;
	struct pd_text *text = self->text;
	uint64_t wall_ns = pd_export_wall_clock(self);
	uint32_t name = pd_tables_text(&self->tables, pd_path_name(pd_export_name(self)));

	pd_text_printf(text,
		       "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"interval\":%.6f,\"startTime\":",
		       GECKO_VERSION, PROCESSED_VERSION,
		       interval_of(pd_file_event(self->file, firefox->tracks.items[0].event)));
	pd_firefox_milliseconds(
		self, wall_ns > self->first_ns - firefox->base_ns ? wall_ns - (self->first_ns - firefox->base_ns) : 0);
	PD_TEXT_LITERAL(text, ",\"processType\":0,\"product\":");
	pd_firefox_string(self, name);
	PD_TEXT_LITERAL(text, ",\"stackwalk\":1,\"importedFrom\":\"perfdata\",\"symbolicated\":true,"
			      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
			      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
			      "\"categories\":[");
	PD_TEXT_LITERAL(text, "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
			      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
			      "{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
			      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]");
	put_machine(self);
	pd_firefox_put_schemas(self);
	pd_text_char(text, '}');
}

// ---- numbers of frames and sources ----

static bool number_lines(struct pd_export *self)
{
	struct pd_firefox *firefox = self->sink;

	firefox->frame_of = pd_tables_frames_of_lines(&self->tables);
	return firefox->frame_of;
}

static bool number_sources(struct pd_export *self)
{
	const struct pd_tables *tables = &self->tables;
	struct pd_firefox *firefox = self->sink;

	firefox->source_of = pd_alloc((tables->string_count + 1) * sizeof(*firefox->source_of));
	firefox->sources = pd_alloc((tables->string_count + 1) * sizeof(*firefox->sources));
	if (!firefox->source_of || !firefox->sources)
		return false;
	for (size_t i = 0; i < tables->function_count; i++) {
		uint32_t file = tables->functions[i].file;

		if (!file || firefox->source_of[file])
			continue;
		firefox->sources[firefox->source_count++] = file;
		firefox->source_of[file] = (uint32_t)firefox->source_count;
	}
	return true;
}

// ---- samples ----

static void begin(struct pd_export *self)
{
	pd_firefox_prepare(self);
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_firefox *firefox = self->sink;
	const struct pd_track *track = pd_tracks_add(&firefox->tracks, self, sample);

	if (!track)
		return;
	if (!firefox->has_base || track->last_ns < firefox->base_ns)
		firefox->base_ns = track->last_ns;
	firefox->has_base = true;
	pd_firefox_count(self, sample, track);
}

static void end(struct pd_export *self)
{
	struct pd_firefox *firefox = self->sink;
	struct pd_rows rows = { 0 };

	if (number_lines(self) && number_sources(self) && pd_rows_init(&rows, &self->tables)) {
		put_meta(self);
		put_libs(self);
		pd_firefox_put_threads(self, &rows);
		pd_firefox_put_counters(self);
		put_shared(self, &rows);
		PD_TEXT_LITERAL(self->text, "}\n");
	} else {
		self->failed = true;
	}
	pd_rows_fini(&rows);
	pd_tracks_check(&firefox->tracks, self);
}

static void fini(struct pd_export *self)
{
	struct pd_firefox *firefox = self->sink;

	pd_firefox_fini_markers(self);
	pd_firefox_fini_counters(self);
	pd_tracks_fini(&firefox->tracks);
	pd_free(firefox->frame_of);
	pd_free(firefox->source_of);
	pd_free(firefox->sources);
}

const struct pd_export_sink pd_export_sink_firefox = {
	.size = sizeof(struct pd_firefox),
	.begin = begin,
	.frames = PD_FRAMES_MAPPED,
	.sample = take_sample,
	.record = pd_firefox_record,
	.end = end,
	.fini = fini,
};
