/* SPDX-License-Identifier: MIT */
/*
 * perfdata dump: the records of a file as they are, one after another, or its header, events,
 * features or counts. The library does it (perfdata/dump.h).
 */
#include "files/input.h"
#include "options/select_options.h"

#include <perfdata/dump.h>

enum {
	TYPES_MOST = 256 /* of --type */
};

struct values {
	struct input_options input;
	struct pd_dump_options how;
	struct option_number record, offset;
	struct option_list types;
	const char *where;
};

static const struct option options[] = {
	GROUP(input_group, input),
	GROUP(json_lines_option, how.json),
	FLAG("stats", 's', how.stats, "only count records by type and samples by event"),
	NUMBER("record", 'n', "N", record, "only the N-th record; the first is 0"),
	NUMBER("offset", 'o', "OFFSET", offset,
	       "only the record at this file offset, and the records compressed in it"),
	OPTION("type", 't', LIST, "TYPE", types, "only records of these types, by name or number, separated by commas"),
	STRING("where", 0, "CONDITION", where,
	       "only records that match: 'mmap2.filename =~ \"*.so\" || sample.cpu == 1'"),
	FLAG("sort", 'S', how.by_time, "sort by time, as perf script does, instead of file order"),
	FLAG("hex", 'x', how.hex, "also print the bytes"),
	FLAG("header", 0, how.header, "print the file header and events instead of records"),
	FLAG("features", 0, how.features, "print the header features instead of records"),
	{ 0 },
};

static bool parse_types(const struct values *values, uint32_t types[TYPES_MOST], size_t *count)
{
	struct pd_error error;

	for (size_t i = 0; i < values->types.count; i++)
		if (pd_record_types_parse(values->types.items[i], types, TYPES_MOST, count, &error) < 0)
			return print_error("%s", error.message);
	return true;
}

static bool parse_where(const char *where, struct pd_filter **filter_out)
{
	if (!where)
		return true;
	*filter_out = select_condition("where", where);
	if (!*filter_out || !(pd_filter_asks(*filter_out) & (PD_FILTER_COMM | PD_FILTER_DSO | PD_FILTER_SYMBOL)))
		return *filter_out != NULL;
	return print_error(
		"option --where: comm, dso and symbol are not available for single records; use script or filter");
}

static bool check_options(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_dump_options *how = &values->how;
	bool selects = values->record.given || values->offset.given || values->types.count || values->where;

	return !(how->header || how->features) || !(selects || how->stats) ||
	       print_error("--header and --features cannot be combined with record filters or --stats");
}

static int print_dump(struct input *input, const struct pd_dump_options *how)
{
	struct pd_error error;
	enum pd_status status = pd_dump(input->out->text, input->file, how, &error);

	progress_clear(&input->progress);
	if (status == PD_ERROR_NO_MATCH)
		return print_failure(CODE_NOTHING, "%s: %s", input->name, error.message);
	if (status == PD_ERROR_ARGUMENT)
		return print_failure(CODE_NOTHING, "option --where: %s", error.message);
	return code_of_print(status, &error);
}

static int run_dump(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_dump_options how = values->how;
	uint32_t types[TYPES_MOST];
	struct input input;
	int code = CODE_USAGE;

	how.one_record = values->record.given;
	how.record = values->record.value;
	how.one_offset = values->offset.given;
	how.offset = values->offset.value;
	how.types = types;
	how.progress = input_progress;
	how.self = &input;
	if (parse_types(values, types, &how.type_count) && parse_where(values->where, &how.where))
		code = input_open(&input, &values->input, call, NULL, NULL);
	if (code == CODE_OK)
		code = input_close(&input, print_dump(&input, &how));
	pd_filter_free(how.where);
	return code;
}

const struct command cmd_dump = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print every record of FILE in file order: offset, type and all fields. Compressed records are followed by their "
		"contents. Nothing else is printed, so that two dumps can be compared with diff.\n\n"
		"With --json each record is one object on a line. --stats only counts records, as perf report --stats.",
	OPTIONS(options),
	HOW(how),
	EXAMPLES({ "perfdata dump --stats perf.data", "count records and samples" },
		 { "perfdata dump --type MMAP2,COMM perf.data", "print mappings and thread names" },
		 { "perfdata dump --where 'type == MMAP2 && mmap2.prot & EXEC'", "select by record fields" },
		 { "perfdata dump --offset 0x1a8 --hex perf.data", "print one record and its bytes" },
		 { "perfdata dump --json perf.data | jq .type", "process records as JSON" },
		 { "perf record -o - true | perfdata dump -", "read from a pipe" }),
	.usual = "type where features stats json",
	.max_words = 1,
	.check = check_options,
	.run = run_dump,
};
