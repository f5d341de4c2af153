/* SPDX-License-Identifier: MIT */
/*
 * perfdata report: where the time went, as a table by sort keys with call graphs, for every event of the
 * file; and the header and the counts of records, as perf report prints them.
 */
#include "analysis.h"
#include "report.h"
#include "stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_KEYS "comm,dso,sym"
#define BRANCH_KEYS "comm,dso_from,symbol_from,symbol_to,cycles"

static const double FOLDED_BELOW = 0.5; /* percent */

enum {
	WIDTH_MOST = 1000,
	STACK_MOST = 127 /* entries of a call chain that perf takes */
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
	bool stats, stdio, json, csv;
};

#define FLAG(name, letter, member, help)                                               \
	{                                                                              \
		name, letter, OPTION_FLAG, NULL, offsetof(struct values, member), help \
	}
#define STRING(name, letter, argument, member, help)                                         \
	{                                                                                    \
		name, letter, OPTION_STRING, argument, offsetof(struct values, member), help \
	}

static const struct option options[] = {
	INPUT_OPTIONS(struct values, analysis.input),
	STRING("sort", 's', "KEYS", sort,
	       "group and sort by these keys; +KEY adds one (default: " DEFAULT_KEYS
	       "; trace if all events are tracepoints)"),
	STRING("fields", 'F', "LIST", fields,
	       "columns: overhead, overhead_children, overhead_sys, overhead_us, sample, period, and keys; +KEY adds one"),
	{ "call-graph", 'g', OPTION_MAYBE, "HOW", offsetof(struct values, call_graph),
	  "graph, fractal, flat, folded or none; minimum percentage; caller or callee; function or address; percent, "
	  "period or count" },
	FLAG("inverted", 'G', inverted, "call graphs from the outermost caller down"),
	FLAG("branch-stack", 'b', branches,
	     "count branches of branch stacks instead of samples (default where they were recorded; keys: " BRANCH_KEYS
	     ")"),
	FLAG("no-branch-stack", 0, no_branches, "count samples even if branches were recorded"),
	FLAG("children", 0, children, "include callees in the overhead of callers (default with call chains)"),
	FLAG("no-children", 0, no_children, "count only samples in the function itself"),
	{ "max-stack", 0, OPTION_NUMBER, "N", offsetof(struct values, max_stack),
	  "maximum depth of call chains (default: 127)" },
	STRING("percent-limit", 0, "PERCENT", percent_limit, "omit rows and call graph branches below this"),
	STRING("percentage", 0, "HOW", percentage,
	       "percentages of all samples (absolute) or of those that match the filters (relative)"),
	FLAG("show-nr-samples", 'n', samples, "add a column with the number of samples"),
	FLAG("show-total-period", 0, period, "add a column with the total period"),
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
	FLAG("header", 0, header, "print the header first"),
	FLAG("header-only", 0, header_only, "print only the header: host, command, events"),
	FLAG("show-info", 'I', show_info, "include topology, caches and memory in the header"),
	FLAG("stats", 0, stats, "count the records by type and the samples by event"),
	FLAG("stdio", 0, stdio, "has no effect: this is the only interface"),
	SELECT_SAMPLE_OPTIONS(struct values, analysis.select),
	SELECT_PLACE_OPTIONS(struct values, analysis.select, 'd'),
	SYMBOL_OPTIONS(struct values, analysis.symbols),
	ANALYSIS_OPTIONS(struct values, analysis),
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
	{ 0 },
};

/* ---- columns ---- */

/* As perf: rows are not sorted by these. */
static void add_levels(struct report *report)
{
	struct column kernel = { .kind = COLUMN_KERNEL }, user = { .kind = COLUMN_USER };

	columns_append(report->columns, &report->column_count, &kernel);
	columns_append(report->columns, &report->column_count, &user);
}

/* What they recorded says more than where they are. */
static bool only_tracepoints(struct pd_file *file)
{
	size_t count = pd_file_event_count(file);

	for (size_t i = 0; i < count; i++)
		if (pd_file_event(file, i)->attr->type != PD_TYPE_TRACEPOINT)
			return false;
	return count > 0;
}

/* The keys of -s; those with a + in front come behind the usual ones. */
static bool sort_keys(struct report *report, const struct values *values, struct column *keys, size_t *count)
{
	const char *sort = values->sort;
	const char *usual = report->by_branch                    ? BRANCH_KEYS :
			    only_tracepoints(report->input.file) ? "trace" :
								   DEFAULT_KEYS;

	if (!sort || *sort == '+') {
		if (!columns_parse(report, usual, keys, count))
			return false;
		sort = sort ? sort + 1 : "";
	}
	if (!columns_parse(report, sort, keys, count))
		return false;
	/* perf has a column more where this word is written, not where it is the usual key. */
	return report->by_branch || values->json || values->csv || !strstr(sort, "symbol") ||
	       columns_parse(report, "ipc_null", keys, count);
}

/* The usual columns: shares, then what was asked for, then the keys; rows are sorted by them in this order. Columns of
 * -F +LIST stand in front of the keys, and count last. */
static bool set_usual_columns(struct report *report, const struct values *values)
{
	struct column keys[COLUMNS_MOST], more[COLUMNS_MOST];
	size_t count = 0, more_count = 0;

	if (report->children)
		columns_add_number(report, COLUMN_CHILDREN);
	columns_add_number(report, COLUMN_OVERHEAD);
	if (values->utilization)
		add_levels(report);
	if (values->samples)
		columns_add_number(report, COLUMN_SAMPLES);
	if (values->period)
		columns_add_number(report, COLUMN_PERIOD);
	if ((values->fields && !columns_parse(report, values->fields + 1, more, &more_count)) ||
	    !sort_keys(report, values, keys, &count))
		return false;
	/* As perf: shares that are among the keys have their place in the order there. */
	if (values->sort && strstr(values->sort, "overhead") && !report->children)
		report->order_count = 0;
	return columns_append_all(report->columns, &report->column_count, more, more_count) &&
	       columns_append_all(report->columns, &report->column_count, keys, count) &&
	       columns_append_all(report->order, &report->order_count, keys, count) &&
	       columns_append_all(report->order, &report->order_count, more, more_count);
}

/* As perf: rows go by -s if both are given, and the columns of -F come first. */
static bool set_columns(struct report *report, const struct values *values)
{
	if (!values->fields || *values->fields == '+')
		return set_usual_columns(report, values);
	if (!columns_parse(report, values->fields, report->columns, &report->column_count) ||
	    (values->sort && !sort_keys(report, values, report->order, &report->order_count)))
		return false;
	if (!values->sort) {
		memcpy(report->order, report->columns, sizeof(report->order));
		report->order_count = report->column_count;
	}
	return columns_append_all(report->columns, &report->column_count, report->order, report->order_count);
}

/* ---- other options ---- */

static bool parse_percent(const char *option, const char *text, double *percent_out)
{
	char *end;

	*percent_out = strtod(text, &end);
	if (end != text && !*end && *percent_out >= 0 && *percent_out <= 100)
		return true;
	complain("option --%s: '%s' is not a percentage", option, text);
	return false;
}

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
	complain("option --time-quantum: '%s' is not a duration such as 10ms", text);
	return false;
}

static bool parse_widths(struct report *report, const char *list)
{
	for (size_t i = 0; *list; i++) {
		size_t length = strcspn(list, ",");
		char *end;
		unsigned long width = strtoul(list, &end, 10);

		if (i == COLUMNS_MOST || end != list + length || *list == '-' || width > WIDTH_MOST) {
			complain("option --column-widths: '%s' is not a list of at most %d widths up to %d", list,
				 COLUMNS_MOST, WIDTH_MOST);
			return false;
		}
		report->widths[i] = width;
		list += length + (list[length] == ',');
	}
	return true;
}

static bool take_graph(struct report *report, const struct values *values)
{
	report->graph = (struct graph_options){ .kind = GRAPH_TREE, .least = 0.5 };
	report->threads = values->analysis.threads.given ? (size_t)values->analysis.threads.value : 0;
	if (values->call_graph && !graph_parse(&report->graph, values->call_graph))
		return false;
	if (values->inverted) {
		report->graph.caller = true;
		report->graph.order_given = true;
	}
	return true;
}

static bool take_options(struct report *report, const struct values *values)
{
	if (!take_graph(report, values) || (values->widths && !parse_widths(report, values->widths)))
		return false;
	if (values->percent_limit) {
		if (!parse_percent("percent-limit", values->percent_limit, &report->least))
			return false;
		report->graph.least = report->least;
	}
	if (values->percentage && strcmp(values->percentage, "relative") != 0 &&
	    strcmp(values->percentage, "absolute") != 0) {
		complain("option --percentage: '%s' is neither relative nor absolute", values->percentage);
		return false;
	}
	if (values->json && values->csv) {
		complain("--json and --csv cannot be combined");
		return false;
	}
	if (values->separator && (strlen(values->separator) != 1 || *values->separator == '.')) {
		complain("option --field-separator: '%s' is not a single character other than '.'", values->separator);
		return false;
	}
	report->relative = values->percentage && strcmp(values->percentage, "relative") == 0;
	report->separator = values->separator;
	report->hide_unresolved = values->hide_unresolved;
	report->quiet = values->analysis.input.quiet;
	report->time = values->analysis.select.time;
	report->symbol_first = values->sort && strncmp(values->sort, "sym", 3) == 0;
	return true;
}

/* ---- what depends on the file ---- */

/* A column that can only have one value stands on top. */
static void elide(struct report *report)
{
	const struct {
		const char *key;
		const struct name_list *list;
	} lists[] = { { "comm", &report->select.comms },
		      { "dso", &report->select.dsos },
		      { "sym", &report->select.symbols } };
	size_t keys = 0, left = 0;

	for (size_t i = 0; i < report->column_count; i++) {
		struct column *column = &report->columns[i];

		for (size_t k = 0; column->kind == COLUMN_KEY && k < sizeof(lists) / sizeof(lists[0]); k++)
			if (strcmp(report->keys[column->key]->name, lists[k].key) == 0 && lists[k].list->count == 1) {
				column->elided = true;
				report->elided[column->key] = lists[k].list->names[0];
			}
		keys += column->kind == COLUMN_KEY;
		left += column->kind == COLUMN_KEY && !column->elided;
	}
	/* As perf: rather all of them than none. */
	for (size_t i = 0; keys && !left && i < report->column_count; i++)
		report->columns[i].elided = false;
}

/* ---- the command ---- */

static int print_report(struct report *report, const struct values *values)
{
	bool done;

	report->scratch = pd_text_new();
	done = report->scratch && tables_make(report, values->group, values->no_group) && rows_build(report);
	if (done && values->json)
		done = report_json(report);
	else if (done && values->csv)
		done = report_csv(report);
	else if (done)
		done = report_text(report);
	if (!done)
		complain("out of memory");
	return done ? CODE_FINE : CODE_UNREADABLE;
}

static bool is_pipe(struct pd_file *file)
{
	return pd_file_header(file)->mode == PD_MODE_PIPE;
}

static int check_branches(const struct report *report, const struct values *values)
{
	if (!values->branches || branches_recorded(report->input.file))
		return CODE_FINE;
	complain("%s: no branch stacks were recorded (perfdata record -b)", report->input.name);
	return CODE_NOTHING;
}

static int choose_view(struct report *report, const struct values *values)
{
	struct pd_file *file = report->input.file;

	if (values->branches && values->no_branches) {
		complain("--branch-stack and --no-branch-stack cannot be combined");
		return CODE_USAGE;
	}
	report->by_branch = values->branches || (!values->no_branches && branches_are_usual(file));
	return is_pipe(file) ? CODE_FINE : check_branches(report, values);
}

/* A pipe says only while it is read what its events have. As perf: nothing is added up there but what was asked for. */
static void choose_chains(struct report *report, const struct values *values)
{
	bool pipe = is_pipe(report->input.file);
	bool chains = !report->by_branch && (pipe || report_has_chains(report->input.file));

	report->children = chains && !pipe && !values->no_children;
	if (!chains)
		report->graph.kind = GRAPH_NONE;
	/* As perf: with callees' shares the chains go the other way. */
	if (!report->graph.order_given)
		report->graph.caller = chains && !values->no_children;
}

/* All events are known. */
static int check_view(struct report *report, const struct values *values)
{
	if (!report_has_chains(report->input.file))
		report->graph.kind = GRAPH_NONE;
	return check_branches(report, values);
}

/* Whether callers count is known only with the file, and what is read depends on it. */
static int open_and_print(struct report *report, const struct values *values, const struct call *call)
{
	struct analysis analysis;
	struct pd_profile_options how = { 0 };
	int code = analysis_begin(&analysis, &values->analysis, call);

	if (code == CODE_FINE) {
		report->input = analysis.input;
		code = choose_view(report, values);
		choose_chains(report, values);
		report->max_stack = values->max_stack.given ? (size_t)values->max_stack.value : STACK_MOST;
		/* The innermost ones can be left out while reading. */
		how.max_stack = report->graph.caller ? 0 : (unsigned)report->max_stack;
		if (code == CODE_FINE)
			code = set_columns(report, values) ? CODE_FINE : CODE_USAGE;
	}
	if (code == CODE_FINE) {
		how.by = report->by_branch ? 0 : report_by(report);
		how.slice_ns = 100000000;
		if (values->time_quantum && !parse_quantum(values->time_quantum, &how.slice_ns))
			code = CODE_USAGE;
		report->slice_ns = how.slice_ns;
	}
	if (code == CODE_FINE && values->header)
		code = input_print_header(&analysis.input, values->show_info);
	if (code == CODE_FINE)
		code = analysis_read(&analysis, &values->analysis, &how);
	if (code == CODE_FINE) {
		report->input = analysis.input;
		report->profile = analysis.profile;
		report->symbols = analysis.symbols;
		report->select = analysis.select;
		elide(report);
		code = check_view(report, values);
	}
	if (code == CODE_FINE)
		code = print_report(report, values);
	return analysis_close(&analysis, code);
}

static bool count(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)stream;
	stats_count(self, record);
	return true;
}

static int print_stats(struct input *input)
{
	struct stats stats;
	int code;

	stats_init(&stats, input->file);
	code = input_walk(input, count, &stats);
	stats_print(&stats, input->out->text);
	stats_fini(&stats);
	return code;
}

static int print_without_samples(const struct values *values, const struct call *call)
{
	struct input input;
	int code = input_open(&input, &values->analysis.input, call, NULL, NULL);

	if (code != CODE_FINE)
		return code;
	/* As perf: the header alone is printed if both are asked for. */
	if (values->header_only)
		code = input_print_header(&input, values->show_info);
	else
		code = print_stats(&input);
	return input_close(&input, code);
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct report *report;
	int code;

	if (values->header_only || values->stats)
		return print_without_samples(values, call);
	report = calloc(1, sizeof(*report));
	if (!report) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	report->out = call->out->text;
	report->escape = call->out->terminal;
	report->color = call->out->color && !values->separator;
	if (call->out->terminal && !values->percent_limit && !values->separator)
		report->fold = FOLDED_BELOW;
	code = take_options(report, values) ? open_and_print(report, values, call) : CODE_USAGE;
	report_fini(report);
	free(report);
	return code;
}

const struct command cmd_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print a profile of FILE: a table per event, grouped by sort keys, with the percentages, sample counts and call "
		"graphs of perf report --stdio (6.1). The first line is the profile quality: lost samples, throttling, "
		"truncated stacks, unresolved functions; perfdata doctor explains it.\n"
		"\n"
		"Sort keys: comm, pid (the thread, as in perf; same as tid), tgid (the process), dso, "
		"sym or symbol, cpu, socket, trace, srcline, srcfile, cgroup, cgroup_id, weight, local_weight, time and "
		"symbol_size; for branches also dso_from, dso_to, symbol_from, symbol_to, srcline_from, srcline_to, "
		"mispredict, in_tx, abort and cycles.\n"
		"\n"
		"Where branch stacks were recorded (record -b), branches are counted instead of samples, unless "
		"--no-branch-stack is given.\n"
		"\n"
		"Filters remove samples from the table. Samples of other times, CPUs and events are ignored; those of other "
		"threads, objects and functions still count in the total that percentages refer to, unless --percentage is "
		"relative.\n"
		"\n"
		"--header-only and --stats print what perf report prints, without a profile.\n"
		"\n"
		"On a terminal, lines are cut at its right edge, percentages are coloured (red from 5 %, green from 0.5 %), and "
		"rows below 0.5 % are only counted, unless --percent-limit is given. None of this applies to pipes and files.",
	.options = options,
	.examples = examples,
	.usual = "input sort call-graph no-children percent-limit time comms dsos symbols json",
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
