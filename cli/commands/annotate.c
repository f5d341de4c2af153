/* SPDX-License-Identifier: MIT */
/* perfdata annotate: the code of functions with the samples of each instruction. The library does it (perfdata/annotate.h). */
#include "files/analysis.h"

#include <perfdata/annotate.h>

#include <string.h>

struct values {
	struct analysis_options analysis;
	struct pd_annotate_options how;
	struct pd_annotate_text_options text;
	struct pd_annotate_types_options types;
	const char *percent_type;
	bool stdio, skip_missing, json, html, all, source;
};

static const struct option options[] = {
	STRING("symbol", 's', "NAME", how.symbol, "only this function"),
	FLAG("print-line", 'l', text.lines, "sum up source lines first, and print them after instructions"),
	SET("show-nr-samples", 'n', text.show, PD_ANNOTATE_SHOW_SAMPLES, "show numbers of samples, not percentages"),
	SET("show-total-period", 0, text.show, PD_ANNOTATE_SHOW_PERIOD, "show sums of periods, not percentages"),
	STRING("percent-type", 0, "TYPE", percent_type,
	       "percentages of the function or of all: local-period (default), global-period, local-hits, global-hits"),
	PERCENT("percent-limit", 0, "PERCENT", how.least_percent, "omit functions below this share"),
	FLAG("no-source", 0, text.no_source, "only instructions"),
	FLAG("source", 0, source, "sum up by source line instead: source files with the share of each line"),
	FLAG("asm-raw", 0, text.raw, "also print the bytes of instructions"),
	CHOICE("disassembler-style", 'M', "STYLE", how.intel, "att|intel", "of x86: att (default) or intel"),
	FLAG("full-paths", 'P', text.full_paths, "print paths in full"),
	FLAG("group", 0, how.all_in_one_table, "all events side by side"),
	OPTION("data-type", 0, ATTACHED, "TYPE", types.type,
	       "types of data that samples access, or TYPE, with the share of each member; needs debug information"),
	FLAG("type-stat", 0, types.answers,
	     "before --data-type, how many addresses have a type, and why others have none"),
	FLAG("insn-stat", 0, types.words, "before --data-type, how many instructions of each name have a type"),
	FLAG("skip-empty", 0, types.skip_empty, "with --data-type, no columns of events without samples"),
	FLAG("skip-missing", 0, skip_missing, "do not report functions whose code is not found"),
	FLAG("all", 0, all, "on a terminal, all of the code, not only what is hot"),
	FLAG("stdio", 0, stdio, "as --all, and without code that has no symbol: the text of perf annotate --stdio"),
	FLAG("html", 0, html, "a page for browsers: functions that can be opened, loops, jumps as links"),
	GROUP(json_option, json),
	GROUP(input_group, analysis.input),
	GROUP(select_group_annotate, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	{ 0 },
};

struct run {
	const struct values *values;
	const struct call *call;
	struct analysis analysis;
	struct pd_annotate_options wanted;
	struct pd_annotate_text_options text;
	struct pd_annotate_types_options types;
	struct pd_annotate *annotate;
};

static bool has_place(const void *filter, const struct pd_place *place)
{
	return pd_select_has_place(filter, place);
}

static enum pd_choice choose_sample(const void *filter, const struct pd_candidate *candidate)
{
	return pd_select_choose(filter, candidate);
}

static void report_missing(void *self, const char *message)
{
	const struct run *run = self;

	if (!run->values->skip_missing)
		print_error("%s", message);
}

static bool parse_options(struct run *run)
{
	const struct values *values = run->values;
	struct pd_error error;

	run->wanted = values->how;
	if (run->call->word_count)
		run->wanted.symbol = run->call->words[0];
	run->wanted.nameless = !values->stdio;
	run->text = values->text;
	run->text.escape = run->call->out->terminal;
	run->text.color = run->call->out->color;
	run->text.hot_only = (run->call->out->terminal || values->source) && !values->all && !values->stdio;
	run->text.cycles = !values->stdio;
	run->text.warn = report_missing;
	run->text.self = run;
	if (values->source && !values->percent_type)
		run->text.percent = PD_ANNOTATE_GLOBAL_PERIOD;
	if (values->html && (values->source || values->json))
		return print_error("--html cannot be combined with --source or --json");
	if (!values->types.type && (values->types.answers || values->types.words))
		return print_error("--type-stat and --insn-stat need --data-type");
	if (values->types.type && (values->html || values->source))
		return print_error("--data-type cannot be combined with --html or --source");
	run->types = values->types;
	if (values->types.type && !*values->types.type)
		run->types.type = NULL;
	if (values->percent_type && pd_annotate_percent_parse(values->percent_type, &run->text.percent, &error) < 0)
		return print_error("option --percent-type: %s", error.message);
	return true;
}

static enum pd_status print(const struct run *run, struct pd_error *error)
{
	const struct values *values = run->values;
	struct pd_text *text = run->call->out->text;

	if (values->types.type)
		return values->json ? pd_annotate_types_json(run->annotate, &run->types, text, error) :
				      pd_annotate_types_text(run->annotate, &run->types, &run->text, text, error);
	if (values->html)
		return pd_annotate_html(run->annotate, text, error);
	if (values->source)
		return values->json ? pd_annotate_source_json(run->annotate, text, error) :
				      pd_annotate_source_text(run->annotate, &run->text, text, error);
	return values->json ? pd_annotate_json(run->annotate, text, error) :
			      pd_annotate_text(run->annotate, &run->text, text, error);
}

static int annotate(struct run *run)
{
	const struct pd_select *select = run->analysis.select;
	struct pd_profile_options how = { 0 };
	struct pd_error error;
	enum pd_status status;
	int code;

	run->wanted.filter = select;
	if (pd_select_by_place(select))
		run->wanted.has_place = has_place;
	if (!analysis_takes_all(&run->values->analysis.select))
		run->wanted.choose = choose_sample;
	code = code_with_error(pd_annotate_new(&run->wanted, &run->annotate, &error), &error);
	if (code != CODE_OK)
		return code;
	pd_annotate_ask(run->annotate, &how);
	code = analysis_read(&run->analysis, &run->values->analysis, &how);
	if (code != CODE_OK)
		return code;
	status = pd_annotate_build(run->annotate, run->analysis.input.file, run->analysis.profile,
				   run->analysis.symbols, &error);
	if (status == PD_OK && run->wanted.symbol && !pd_annotate_function(run->annotate, 0, 0))
		return print_failure(CODE_NOTHING, "no samples in a function '%s'", run->wanted.symbol);
	if (status == PD_OK)
		status = print(run, &error);
	return code_of_print(status, &error);
}

static int run_annotate(const struct call *call)
{
	struct run run = { .values = call->values, .call = call };
	/* The word is that of a function, not of the input. */
	const struct call alone = { .values = call->values, .out = call->out };
	int code;

	if (!parse_options(&run))
		return CODE_USAGE;
	code = analysis_begin(&run.analysis, &run.values->analysis, &alone);
	if (code == CODE_OK)
		code = annotate(&run);
	pd_annotate_free(run.annotate);
	return analysis_close(&run.analysis, code);
}

const struct command cmd_annotate = {
	.usage = "[OPTION]... [SYMBOL]",
	.text = "Print the code of each function with samples, or of SYMBOL: its instructions with their share of the samples, and the lines "
		"of the source that they come from. The hottest function comes first.\n"
		"\n"
		"Only the function of a sample counts, not its callers. Percentages are of the function's period, unless --percent-type says "
		"otherwise. Where the event is not precise, the instruction that took the time is often the one before.\n"
		"\n"
		"On a terminal only instructions with a share of at least 0.5 % are printed, and what is near them, unless --all is given; loops are "
		"marked with their share, and jumps drawn beside the code.\n"
		"\n"
		"Branch stacks (record -b) give columns with instructions per cycle (IPC) and the cycles of the block that a branch ends, and behind "
		"the code, of its executions, which share came there by a jump (+), or took the branch (-) and was predicted (p). The blocks with "
		"most cycles are listed before each function; --stdio leaves out what perf annotate --stdio does not print.\n"
		"\n"
		"--source adds up by line of the source over all functions, inlined code where it was written; --all lists whole files.\n"
		"\n"
		"Objects are found as in report. Code is disassembled by capstone, which the build may lack (that of loongarch64 by libLLVM, if it is installed), and spelled as by objdump; source "
		"files are read from where the compiler found them.",
	OPTIONS(options),
	HOW(how),
	DEFAULTS(.text.size = sizeof(struct pd_annotate_text_options),
		 .types.size = sizeof(struct pd_annotate_types_options)),
	EXAMPLES({ "perfdata annotate", "the code of all functions with samples, the hottest first" },
		 { "perfdata annotate --no-source main", "one function, only its instructions" },
		 { "perfdata annotate --source", "the lines of the source with their shares, file by file" },
		 { "perfdata annotate --html > annotate.html", "a page for a browser" },
		 { "perfdata annotate -l -d app --percent-type global-period",
		   "one object, with shares of the event; hot source lines first" }),
	.usual = "symbol print-line show-nr-samples percent-type no-source disassembler-style dsos",
	.max_words = 1,
	.run = run_annotate,
};
