/* SPDX-License-Identifier: MIT */
/*
 * perfdata dump: the records of a file as they are, one after another, or its header, events,
 * features or counts. Everything comes from the format's table; this file only selects.
 */
#include "files/input.h"
#include "options/select_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	TYPES_MOST = 256 /* of --type */
};

struct values {
	struct input_options input;
	bool json;
	bool stats;
	bool hex;
	bool sort;
	bool header;
	bool features;
	struct option_number record;
	struct option_number offset;
	struct option_list types;
	const char *where;
};

static const struct option options[] = {
	GROUP(input_group, input),
	GROUP(json_lines_option, json),
	FLAG("stats", 's', stats, "only count records by type and samples by event"),
	NUMBER("record", 'n', "N", record, "only the N-th record; the first is 0"),
	NUMBER("offset", 'o', "OFFSET", offset,
	       "only the record at this file offset, and the records compressed in it"),
	OPTION("type", 't', LIST, "TYPE", types, "only records of these types, by name or number, separated by commas"),
	STRING("where", 0, "CONDITION", where,
	       "only records that match: 'mmap2.filename =~ \"*.so\" || sample.cpu == 1'"),
	FLAG("sort", 'S', sort, "sort by time, as perf script does, instead of file order"),
	FLAG("hex", 'x', hex, "also print the bytes"),
	FLAG("header", 0, header, "print the file header and events instead of records"),
	FLAG("features", 0, features, "print the header features instead of records"),
	{ 0 },
};

struct dump {
	const struct values *values;
	struct pd_text *text;
	struct input input;
	struct pd_stats *stats;
	uint32_t types[TYPES_MOST];
	size_t type_count;
	struct pd_filter *where; /* or NULL */
	size_t events_known;
	int code; /* of a failure of the condition */
	uint64_t found;
	uint64_t before, before_end; /* the last record before the wanted offset */
};

/* ---- selection ---- */

static bool is_selected(const struct dump *dump, const struct pd_record *record)
{
	const struct values *values = dump->values;
	bool fits = dump->type_count == 0;

	for (size_t i = 0; i < dump->type_count && !fits; i++)
		fits = dump->types[i] == record->type;
	return fits && (!values->record.given || record->index == values->record.value) &&
	       (!values->offset.given || record->offset == values->offset.value) &&
	       (!dump->where || pd_filter_takes(dump->where, record, NULL));
}

/* True if no later record can be selected. */
static bool is_last(const struct dump *dump, const struct pd_record *record)
{
	const struct values *values = dump->values;

	if (values->record.given && record->index >= values->record.value)
		return true;
	return values->offset.given && !values->sort && record->offset > values->offset.value &&
	       pd_file_part_count(dump->input.file) == 1;
}

/* ---- records ---- */

static void print_record(struct dump *dump, struct pd_stream *stream, const struct pd_record *record)
{
	const struct values *values = dump->values;

	if (values->hex)
		(values->json ? pd_json_record_bytes : pd_print_record_bytes)(dump->text, stream, record);
	else
		(values->json ? pd_json_record : pd_print_record)(dump->text, record);
	if (values->json)
		pd_text_add(dump->text, "\n");
}

/* Fields of tracepoints are those of the events so far; in a pipe there may be more. */
static bool learn_events(struct dump *dump)
{
	size_t count = pd_file_event_count(dump->input.file);
	bool pipe = pd_file_header(dump->input.file)->mode == PD_MODE_PIPE;
	struct pd_error error;
	enum pd_status status;

	if (!dump->where || dump->events_known == count)
		return true;
	dump->events_known = count;
	status = pd_filter_bind(dump->where, dump->input.file, !pipe, &error);
	if (status >= 0)
		return true;
	print_error("option --where: %s", error.message);
	dump->code = status == PD_ERROR_ARGUMENT ? CODE_NOTHING : CODE_UNREADABLE;
	return false;
}

static bool dump_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct dump *dump = self;
	bool last = is_last(dump, record);

	if (!learn_events(dump))
		return false;
	if (record->offset < dump->values->offset.value) {
		dump->before = record->offset;
		dump->before_end = record->offset + record->bytes.size + record->tail_size;
	}
	if (is_selected(dump, record)) {
		dump->found++;
		if (dump->values->stats)
			pd_stats_count(dump->stats, record);
		else
			print_record(dump, stream, record);
		if (!output_flush_large(dump->input.out))
			return false;
	}
	return !last;
}

static bool count_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct dump *dump = self;

	pd_stats_count(dump->stats, record);
	pd_stats_count_following(dump->stats, stream, record);
	return true;
}

static bool pass_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)self;
	(void)stream;
	(void)record;
	return true;
}

static int dump_stats(struct dump *dump, bool filtered)
{
	struct pd_error error;
	enum pd_status status = pd_stats_new(dump->input.file, &dump->stats, &error);
	int code;

	if (status < 0)
		return code_with_error(status, &error);
	code = filtered ? input_visit(&dump->input, dump_record, dump) : input_visit(&dump->input, count_record, dump);
	if (dump->values->json) {
		pd_json_stats(dump->text, dump->stats);
		pd_text_add(dump->text, "\n");
	} else {
		pd_print_stats(dump->text, dump->stats);
	}
	if (pd_stats_failed(dump->stats)) {
		print_error("out of memory: the counts are too low");
		code = CODE_UNREADABLE;
	}
	pd_stats_free(dump->stats);
	return code;
}

/* ---- header and features ---- */

static int dump_parts(struct dump *dump)
{
	const struct values *values = dump->values;
	struct pd_file *file = dump->input.file;
	struct pd_feature_section section;
	int code = CODE_OK;

	/* In a pipe events and features are records: all of it must have passed. */
	if (pd_file_header(file)->mode == PD_MODE_PIPE)
		code = input_visit(&dump->input, pass_record, NULL);
	if (values->header)
		(values->json ? pd_json_header : pd_print_header)(dump->text, file);
	if (!values->features)
		return code;
	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++) {
		if (values->json)
			pd_json_feature(dump->text, file, &section, values->hex);
		else
			pd_print_feature(dump->text, file, &section, values->hex);
		if (!output_flush_large(dump->input.out))
			break;
	}
	return code;
}

/* ---- the command ---- */

static bool check_values(struct dump *dump)
{
	const struct values *values = dump->values;
	bool selects = values->record.given || values->offset.given || values->types.count || values->where;
	struct pd_error error;

	if ((values->header || values->features) && (selects || values->stats))
		return print_error("--header and --features cannot be combined with record filters or --stats");
	for (size_t i = 0; i < values->types.count; i++)
		if (pd_record_types_parse(values->types.items[i], dump->types, TYPES_MOST, &dump->type_count, &error) <
		    0)
			return print_error("%s", error.message);
	if (values->where && !(dump->where = select_condition("where", values->where)))
		return false;
	if (dump->where && (pd_filter_asks(dump->where) & (PD_FILTER_COMM | PD_FILTER_DSO | PD_FILTER_SYMBOL)))
		return print_error(
			"option --where: comm, dso and symbol are not available for single records; use script or filter");
	return true;
}

static int nothing_found(const struct dump *dump)
{
	uint64_t wanted = dump->values->offset.value;

	if (dump->values->offset.given && wanted < dump->before_end)
		print_error("%s: no record begins at 0x%" PRIx64 ": it is inside the record at 0x%" PRIx64,
			    dump->input.name, wanted, dump->before);
	else
		print_error("%s: no such record", dump->input.name);
	return CODE_NOTHING;
}

static int dump_opened(struct dump *dump)
{
	const struct values *values = dump->values;
	bool filtered = values->record.given || values->offset.given || dump->type_count || dump->where;
	int code;

	if (values->header || values->features)
		return dump_parts(dump);
	if (values->stats)
		return dump_stats(dump, filtered);
	code = input_visit(&dump->input, dump_record, dump);
	if (code == CODE_OK && filtered && !dump->found && !dump->input.out->failure && !dump->code)
		code = nothing_found(dump);
	return dump->code ? dump->code : code;
}

static int run_dump(const struct call *call)
{
	struct dump dump = { .values = call->values, .text = call->out->text };
	int code = CODE_USAGE;

	if (check_values(&dump))
		code = input_open(&dump.input, &dump.values->input, call, NULL, NULL);
	if (code != CODE_OK) {
		pd_filter_free(dump.where);
		return code;
	}
	dump.input.order = dump.values->sort ? PD_ORDER_TIME : PD_ORDER_FILE;
	code = dump_opened(&dump);
	pd_filter_free(dump.where);
	return input_close(&dump.input, code);
}

const struct command cmd_dump = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print every record of FILE in file order: offset, type and all fields. Compressed records are followed by their "
		"contents. Nothing else is printed, so that two dumps can be compared with diff.\n\n"
		"With --json each record is one object on a line. --stats only counts records, as perf report --stats.",
	OPTIONS(options),
	EXAMPLES({ "perfdata dump --stats perf.data", "count records and samples" },
		 { "perfdata dump --type MMAP2,COMM perf.data", "print mappings and thread names" },
		 { "perfdata dump --where 'type == MMAP2 && mmap2.prot & EXEC'", "select by record fields" },
		 { "perfdata dump --offset 0x1a8 --hex perf.data", "print one record and its bytes" },
		 { "perfdata dump --json perf.data | jq .type", "process records as JSON" },
		 { "perf record -o - true | perfdata dump -", "read from a pipe" }),
	.usual = "type where features stats json",
	.max_words = 1,
	.run = run_dump,
};
