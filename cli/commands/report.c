/* SPDX-License-Identifier: MIT */
/*
 * perfdata report: where the time went, as a table by sort keys with call graphs, for every event of the
 * file; and the header and the counts of records, as perf report prints them.
 */
#include "files/analysis.h"
#include "files/profile_sizes.h"

#include <perfdata/report.h>

#include <stdlib.h>
#include <string.h>

#define DEFAULT_KEYS "comm,dso,sym"
#define BRANCH_KEYS "comm,dso_from,symbol_from,symbol_to,cycles"

static const double FOLDED_BELOW = 0.5; /* percent */

enum {
	WIDTH_MAX = 1000,
	STACK_MAX = 127 /* entries of a call chain that perf takes */
};

struct values {
	struct analysis_options analysis;
	const char *sort, *fields;
	const char *call_graph;
	bool inverted;
	bool children, no_children;
	struct option_number max_stack;
	const char *percent_limit, *percentage;
	const char *separator;
	const char *time_quantum;
	const char *widths;
	bool samples, period, utilization, group, no_group, hide_unresolved;
	bool branches, no_branches;
	bool header, header_only, show_info;
	const char *stats; /* "" without a value */
	bool stdio, json, csv;
};

static const struct option options[] = {
	GROUP(input_group, analysis.input),
	STRING("sort", 's', "KEYS", sort,
	       "group and sort by these keys; +KEY adds one (default: " DEFAULT_KEYS
	       "; trace if all events are tracepoints)"),
	STRING("fields", 'F', "LIST", fields,
	       "columns: overhead, overhead_children, overhead_sys, overhead_us, sample, period, and keys; +KEY adds one"),
	OPTION("call-graph", 'g', MAYBE, "HOW", call_graph,
	       "graph, fractal, flat, folded or none; minimum percentage; caller or callee; function or address; percent, "
	       "period or count"),
	FLAG("inverted", 'G', inverted, "call graphs from the outermost caller down"),
	FLAG("branch-stack", 'b', branches,
	     "count branches of branch stacks instead of samples (default where they were recorded; keys: " BRANCH_KEYS
	     ")"),
	FLAG("no-branch-stack", 0, no_branches, "count samples even if branches were recorded"),
	GROUP(children_option, children),
	GROUP(no_children_option, no_children),
	GROUP(max_stack_option, max_stack),
	GROUP(unwind_option, analysis.unwind),
	GROUP(percent_limit_option, percent_limit),
	STRING("percentage", 0, "HOW", percentage,
	       "percentages of all samples (absolute) or of those that match the filters (relative)"),
	GROUP(show_samples_option, samples),
	GROUP(show_period_option, period),
	FLAG("show-cpu-utilization", 0, utilization, "add columns for kernel and user shares"),
	STRING("column-widths", 'w', "LIST", widths, "column widths; 0: as wide as needed"),
	FLAG("hide-unresolved", 'U', hide_unresolved, "omit samples in unresolved functions"),
	FLAG("group", 0, group, "print all events in one table"),
	FLAG("no-group", 0, no_group, "print a table per event even for event groups"),
	STRING("time-quantum", 0, "TIME", time_quantum, "time slice of the sort key time (default: 100ms)"),
	STRING("field-separator", 't', "CHAR", separator, "column separator instead of blanks"),
	FLAG("json", 0, json, "print JSON"),
	FLAG("csv", 0, csv,
	     "print CSV, one line per row and event; text that spreadsheets would run as a formula is prefixed with '"),
	GROUP(header_option, header),
	GROUP(header_only_option, header_only),
	GROUP(show_info_option, show_info),
	OPTION("stats", 0, ATTACHED, "WHAT", stats,
	       "records: count the records by type and the samples by event (the default); profile: count stacks, functions and "
	       "names, and the memory of each table"),
	GROUP(stdio_option, stdio),
	GROUP(select_group_d, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata report -i perf.data", "where time is spent" },
	{ "perfdata report --no-children -s dso,sym --percent-limit 1", "by function, without callers" },
	{ "perfdata report -G -s comm", "call graphs from main down, by program" },
	{ "perfdata report --time 10%-20% --comm make --json", "a time range of one program, as JSON" },
	{ "perfdata report -b -s symbol_from,symbol_to,mispredict", "taken branches, and which were mispredicted" },
	{ "perfdata report --header-only -I", "the whole header" },
	{ "perfdata report --stats", "count the records by type" },
	{ "perfdata report --stats=profile", "how many stacks there are, and what they cost" },
	{ 0 },
};

/* ---- options ---- */

struct run {
	const struct values *values;
	const struct call *call;
	struct analysis analysis;
	struct pd_report_options options;
	struct pd_report_text_options text;
	bool is_quantum_valid;
	struct pd_report *report;
};

static bool parse_quantum(const char *text, uint64_t *ns_out)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; end != text && number > 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && number * units[i].ns >= 1 && number * units[i].ns < 1e18) {
			*ns_out = (uint64_t)(number * units[i].ns);
			return true;
		}
	return false;
}

static bool parse_widths(struct pd_report_text_options *text, const char *list)
{
	for (size_t i = 0; *list; i++) {
		size_t length = strcspn(list, ",");
		char *end;
		unsigned long width = strtoul(list, &end, 10);

		if (i == PD_REPORT_COLUMNS_MAX || end != list + length || *list == '-' || width > WIDTH_MAX) {
			print_error("option --column-widths: '%s' is not a list of at most %d widths up to %d", list,
				    PD_REPORT_COLUMNS_MAX, WIDTH_MAX);
			return false;
		}
		text->widths[i] = width;
		list += length + (list[length] == ',');
	}
	return true;
}

static bool parse_graph(struct pd_report_graph *graph, const struct values *values)
{
	struct pd_error error;

	*graph = (struct pd_report_graph){ .kind = PD_REPORT_GRAPH_TREE, .least_percent = 0.5 };
	if (values->call_graph && pd_report_graph_parse(values->call_graph, graph, &error) < 0) {
		print_error("%s", error.message);
		return false;
	}
	if (values->inverted)
		graph->caller = graph->order_given = true;
	return true;
}

static bool check_options(const struct values *values)
{
	if (values->percentage && strcmp(values->percentage, "relative") != 0 &&
	    strcmp(values->percentage, "absolute") != 0) {
		print_error("option --percentage: '%s' is neither relative nor absolute", values->percentage);
		return false;
	}
	if (values->csv && (values->json || values->stats)) {
		print_error("--%s and --csv cannot be combined", values->json ? "json" : "stats");
		return false;
	}
	if (values->separator && (strlen(values->separator) != 1 || *values->separator == '.')) {
		print_error("option --field-separator: '%s' is not a single character other than '.'",
			    values->separator);
		return false;
	}
	return true;
}

static void fill_text_options(struct run *run)
{
	const struct values *values = run->values;
	const struct output *out = run->call->out;
	struct pd_report_text_options *text = &run->text;

	text->size = sizeof(*text);
	text->quiet = values->analysis.input.quiet;
	text->escape = out->terminal;
	text->color = out->color && !values->separator;
	text->separator = values->separator ? *values->separator : 0;
	text->time = values->analysis.select.time;
	if (out->terminal && !values->percent_limit && !values->separator)
		text->fold_percent = FOLDED_BELOW;
}

static void fill_options(struct run *run)
{
	const struct values *values = run->values;
	struct pd_report_options *options = &run->options;

	options->size = sizeof(*options);
	options->view = values->branches    ? PD_REPORT_BRANCHES :
			values->no_branches ? PD_REPORT_SAMPLES :
					      PD_REPORT_AUTO;
	options->sort = values->sort;
	options->fields = values->fields;
	options->no_children = values->no_children;
	options->show_samples = values->samples;
	options->show_period = values->period;
	options->show_levels = values->utilization;
	options->no_empty_columns = values->json || values->csv;
	options->all_in_one_table = values->group;
	options->no_groups = values->no_group;
	options->relative = values->percentage && strcmp(values->percentage, "relative") == 0;
	options->hide_unresolved = values->hide_unresolved;
	options->max_stack = values->max_stack.given ? (size_t)values->max_stack.value : STACK_MAX;
	options->threads = values->analysis.threads.given ? (unsigned)values->analysis.threads.value : 0;
	run->is_quantum_valid = !values->time_quantum || parse_quantum(values->time_quantum, &options->slice_ns);
}

static bool parse_options(struct run *run)
{
	const struct values *values = run->values;
	struct pd_report_options *options = &run->options;

	if (!parse_graph(&options->graph, values) || (values->widths && !parse_widths(&run->text, values->widths)))
		return false;
	if (values->percent_limit) {
		if (!percent_parse("percent-limit", values->percent_limit, &options->least_percent))
			return false;
		options->graph.least_percent = options->least_percent;
	}
	if (!check_options(values))
		return false;
	fill_options(run);
	fill_text_options(run);
	return true;
}

/* ---- filters ---- */

static enum pd_choice filter_sample(const void *filter, const struct pd_candidate *candidate)
{
	return pd_select_choose(filter, candidate);
}

static bool has_place(const void *filter, const struct pd_place *place)
{
	return pd_select_has_place(filter, place);
}

static void show_progress(void *self, uint64_t done, uint64_t total)
{
	struct run *run = self;

	progress_show(&run->analysis.input.progress, done, total);
}

static void warn(void *self, const char *sentence)
{
	struct run *run = self;

	progress_clear(&run->analysis.input.progress);
	print_error("%s", sentence);
}

static void fill_filters(struct run *run)
{
	const struct pd_select *select = run->analysis.select;
	struct pd_report_options *options = &run->options;

	options->choose = filter_sample;
	options->has_place = pd_select_by_place(select) ? has_place : NULL;
	options->filter = select;
	options->by_dso = pd_select_has_list(select, PD_SELECT_DSOS);
	options->only_comm = pd_select_only(select, PD_SELECT_COMMS);
	options->only_dso = pd_select_only(select, PD_SELECT_DSOS);
	options->only_symbol = pd_select_only(select, PD_SELECT_SYMBOLS);
	options->progress = show_progress;
	options->warn = warn;
	options->self = run;
}

/* ---- the command ---- */

static int code_of_report(const struct run *run, enum pd_status status, const struct pd_error *error)
{
	if (status != PD_ERROR_NO_MATCH)
		return code_with_error(status, error);
	print_error("%s: %s", run->analysis.input.name, error->message);
	return CODE_NOTHING;
}

static int print(struct run *run)
{
	const struct values *values = run->values;
	struct output *out = run->call->out;
	struct pd_error error;
	enum pd_status status;

	if (values->json) {
		status = pd_report_json(run->report, out->text, &error);
	} else if (values->csv) {
		status = pd_report_csv(run->report, &run->text, out->text, &error);
	} else {
		status = pd_report_text_top(run->report, &run->text, out->text, &error);
		if (!values->separator)
			output_clip(out);
		if (status == PD_OK)
			status = pd_report_text(run->report, &run->text, out->text, &error);
	}
	/* What could not be written is reported at the end. */
	if (status == PD_ERROR_OUTPUT || pd_text_failed(out->text))
		return CODE_OK;
	return code_with_error(status, &error);
}

static int plan(struct run *run)
{
	struct pd_error error;
	int code;

	if (run->values->branches && run->values->no_branches) {
		print_error("--branch-stack and --no-branch-stack cannot be combined");
		return CODE_USAGE;
	}
	fill_filters(run);
	code = code_of_report(run, pd_report_new(run->analysis.input.file, &run->options, &run->report, &error),
			      &error);
	if (code == CODE_OK && !run->is_quantum_valid) {
		print_error("option --time-quantum: '%s' is not a duration such as 10ms", run->values->time_quantum);
		return CODE_USAGE;
	}
	return code;
}

static int build(struct run *run)
{
	struct analysis *analysis = &run->analysis;
	struct pd_error error;
	enum pd_status status =
		pd_report_build(run->report, analysis->input.file, analysis->profile, analysis->symbols, &error);

	progress_clear(&analysis->input.progress);
	return code_of_report(run, status, &error);
}

static int read_and_print(struct run *run, const struct pd_profile_options *how)
{
	int code = analysis_read(&run->analysis, &run->values->analysis, how);

	if (code == CODE_OK)
		code = build(run);
	return code == CODE_OK ? print(run) : code;
}

/* What is read depends on the plan, and that on the file. */
static int open_and_print(struct run *run)
{
	const struct values *values = run->values;
	struct pd_profile_options how = { 0 };
	int code = analysis_begin(&run->analysis, &values->analysis, run->call);

	if (code == CODE_OK)
		code = plan(run);
	if (code == CODE_OK && values->header)
		code = input_print_header(&run->analysis.input, values->show_info);
	if (code == CODE_OK) {
		pd_report_ask(run->report, &how);
		code = values->stats ? profile_sizes_print(&run->analysis, &values->analysis, &how, values->json) :
				       read_and_print(run, &how);
	}
	pd_report_free(run->report);
	return analysis_close(&run->analysis, code);
}

static bool count(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)stream;
	pd_stats_count(self, record);
	return true;
}

static int print_stats(struct input *input)
{
	struct pd_stats *stats;
	struct pd_error error;
	enum pd_status status = pd_stats_new(input->file, &stats, &error);
	int code;

	if (status < 0)
		return code_with_error(status, &error);
	code = input_visit(input, count, stats);
	pd_print_stats(input->out->text, stats);
	pd_stats_free(stats);
	return code;
}

static int print_without_samples(const struct values *values, const struct call *call)
{
	struct input input;
	int code = input_open(&input, &values->analysis.input, call, NULL, NULL);

	if (code != CODE_OK)
		return code;
	/* As perf: the header alone is printed if both are asked for. */
	if (values->header_only)
		code = input_print_header(&input, values->show_info);
	else
		code = print_stats(&input);
	return input_close(&input, code);
}

static bool is_of_profile(const struct values *values)
{
	return values->stats && strcmp(values->stats, "profile") == 0;
}

static int run_report(const struct call *call)
{
	const struct values *values = call->values;
	struct run *run;
	int code;

	if (values->stats && *values->stats && strcmp(values->stats, "records") != 0 && !is_of_profile(values)) {
		print_error("option --stats: '%s' is neither records nor profile", values->stats);
		return CODE_USAGE;
	}
	if (values->header_only || (values->stats && !is_of_profile(values)))
		return print_without_samples(values, call);
	run = calloc(1, sizeof(*run));
	if (!run) {
		print_error("out of memory");
		return CODE_UNREADABLE;
	}
	run->values = values;
	run->call = call;
	code = parse_options(run) ? open_and_print(run) : CODE_USAGE;
	free(run);
	return code;
}

const struct command cmd_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print a profile of FILE: a table per event, grouped by sort keys, with the percentages, sample counts and call "
		"graphs of perf report --stdio (6.1). The first line is the profile quality: lost samples, throttling, "
		"truncated stacks, unresolved functions; perfdata doctor explains it.\n"
		"\n"
		"Sort keys: {sort keys}; for branches also {branch sort keys}.\n"
		"\n"
		"Where branch stacks were recorded (record -b), branches are counted instead of samples, unless "
		"--no-branch-stack is given.\n"
		"\n"
		"Filters remove samples from the table. Samples of other times, CPUs and events are ignored; those of other "
		"threads, objects and functions still count in the total that percentages refer to, unless --percentage is "
		"relative.\n"
		"\n"
		"--header-only and --stats print what perf report prints, without a profile. --stats=profile reads the samples "
		"three times, as the other options say: with a frame for each address, with a frame for each function, and with "
		"one frame for all addresses of an object without a function; and prints how many stacks there are, how many "
		"nodes a tree of them has, and how much memory each table takes, as text or JSON.\n"
		"\n"
		"On a terminal, lines are cut at its right edge, percentages are coloured (red from 5 %, green from 0.5 %), and "
		"rows below 0.5 % are only counted, unless --percent-limit is given. None of this applies to pipes and files.",
	.options = options,
	.examples = examples,
	.usual = "input sort call-graph no-children percent-limit time comms dsos symbols json",
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run_report,
};
