/* SPDX-License-Identifier: MIT */
/* perfdata export: the samples of a recording as a file of another program. */
#include "files/export.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#undef VALUES
#define VALUES struct export_values

static const struct option options[] = {
	STRING("to", 't', "FORMAT", how.format, "what to write, by name"),
	STRING("output", 'o', "FILE", output, "write to FILE instead of standard output"),
	STRING("table", 0, "TABLE", how.table,
	       "of tables: this one only, to a file or standard output (see perfdata sql --manual)"),
	GROUP(waiting_group, analysis.input),
	GROUP(input_group, analysis.input),
	GROUP(select_group, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	STRING("binary", 0, "OBJECT", how.object,
	       "for compilers: object by name or path (default: the one with the most branches)"),
	FLAG("remap", 0, how.remap,
	     "quipper: replace addresses by those of a space without gaps, which hides where objects were mapped"),
	GROUP(unwind_option, analysis.no_unwind),
	GROUP(flame_max_stack_option, how.max_stack),
	{ 0 },
};

/* ---- several files ---- */

static const char *leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool may_be_several(const struct export_values *values, const struct call *call)
{
	if (!values->output || values->analysis.input.path)
		return print_error("several files are written to a directory; use -o DIR, and no --input");
	for (size_t i = 0; i < call->word_count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(leaf_of(call->words[i]), leaf_of(call->words[k])) == 0)
				return print_error("%s and %s would be one file in %s", call->words[k], call->words[i],
						   values->output);
	if (mkdir(values->output, 0777) == 0 || errno == EEXIST)
		return true;
	return print_error("%s: cannot create a directory: %s", values->output, strerror(errno));
}

/* One into the directory, by its own name with the suffix of the format. */
static int export_one(const struct export_values *values, const struct call *call, size_t word, const char *suffix)
{
	struct export_values one = *values;
	struct call part = *call;
	struct pd_text *path = pd_text_new();
	int code = CODE_OUTPUT;

	part.words += word;
	part.word_count = 1;
	if (path)
		pd_text_printf(path, "%s/%s%s%c", values->output, leaf_of(call->words[word]), suffix, 0);
	if (path && !pd_text_failed(path)) {
		one.output = (const char *)pd_text_bytes(path).data;
		code = export_samples(&one, &part);
	} else {
		print_error("out of memory");
	}
	pd_text_free(path);
	return code;
}

/* What goes wrong with one does not keep the others from being written; the first such code is the result. */
static int export_several(const struct export_values *values, const struct call *call)
{
	struct pd_export_format format;
	int result = CODE_OK;

	/* which says what is wrong with the format */
	if (!pd_export_format_find(values->how.format, &format))
		return export_samples(values, call);
	if (!may_be_several(values, call))
		return CODE_USAGE;
	for (size_t i = 0; i < call->word_count; i++) {
		int code = export_one(values, call, i, format.suffix);

		if (code == CODE_USAGE)
			return code;
		result = result == CODE_OK ? code : result;
	}
	return result;
}

static int run_export(const struct call *call)
{
	const struct export_values *values = call->values;

	return call->word_count > 1 ? export_several(values, call) : export_samples(values, call);
}

const struct command cmd_export = {
	.usage = "--to FORMAT [OPTION]... [FILE]...",
	.text = "Write the samples of FILE as a file of another program: {export formats}. Functions, source lines, inlined functions and "
		"build ids are included as far as the format has fields for them.\n"
		"\n"
		"The value of a sample is in the unit of its event, as in perfdata report: nanoseconds for clocks of the CPU, off-CPU time and "
		"sched:sched_stat_*; events (cycles, page faults ...) where the recording has periods; else samples.\n"
		"\n"
		"What the format has no field for is counted on standard error. Strings of the file are written as valid UTF-8 without "
		"control characters. Two exports of a file are equal byte for byte.\n"
		"\n"
		"The output file appears when it is complete. A perf.data file is never overwritten, and a terminal never gets binary data. "
		"Several FILEs are written to a directory (-o DIR), each as its name with the suffix of the format.",
	OPTIONS(options),
	DEFAULTS(.how.tasks_and_maps = true),
	EXAMPLES(
		{ "perfdata export --to pprof -o cpu.pb.gz perf.data",
		  "for go tool pprof and services that store profiles" },
		{ "perfdata export --to csv --time 10%-20% --comm make -o make.csv",
		  "the samples of one program as a table" },
		{ "perfdata export --to speedscope -o profiles *.data", "each of several files, into a directory" },
		{ "perfdata export --to jsonl perf.data | jq .comm", "one JSON object per line" },
		{ "perfdata export --to parquet -o tables perf.data", "all tables, for DuckDB, Spark and others" },
		{ "perfdata export --to rowbinary --table samples perf.data | curl --data-binary @- 'http://host:8123/?query=...'",
		  "into ClickHouse" }),
	.usual = "to output input time comms event",
	.max_words = (size_t)-1,
	.run = run_export,
};
