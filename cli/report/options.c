/* SPDX-License-Identifier: MIT */
#include "report/options.h"

#include <string.h>

#define DEFAULT_KEYS "comm,dso,sym"
#define HISTORY_KEYS "srcline,symbol,dso"
#define BRANCH_KEYS "comm,dso_from,symbol_from,symbol_to,cycles"

static const double FOLDED_BELOW = 0.5; /* percent */

#undef VALUES
#define VALUES struct report_values

static const struct option lines[] = {
	GROUP(waiting_group, analysis.input),
	GROUP(input_group, analysis.input),
	STRING("sort", 's', "KEYS", options.sort,
	       "group and sort by these keys; +KEY adds one (default: " DEFAULT_KEYS
	       "; trace if all events are tracepoints)"),
	STRING("fields", 'F', "LIST", options.fields,
	       "columns: overhead, overhead_children, overhead_sys, overhead_us, latency, latency_children, sample (or count), period (or total), of periods mean, p50, p95, p99, max (percentiles within 1.6 %), weight1, weight2, weight3 (means), shares by access op, cache, memory, snoop, dtlb, and keys; +KEY adds one"),
	OPTION("call-graph", 'g', MAYBE, "HOW", call_graph,
	       "graph, fractal, flat, folded or none; minimum percentage; caller or callee; function or address; percent, "
	       "period or count"),
	FLAG("inverted", 'G', inverted, "call graphs from the outermost caller down"),
	SET("branch-stack", 'b', options.view, PD_REPORT_BRANCHES,
	    "count branches of branch stacks instead of samples (default where they were recorded; keys: " BRANCH_KEYS
	    ")"),
	SET("no-branch-stack", 0, options.view, PD_REPORT_SAMPLES, "count samples even if branches were recorded"),
	GROUP(children_option, children),
	GROUP(no_children_option, options.no_children),
	GROUP(max_stack_option, options.max_stack),
	GROUP(unwind_option, analysis.no_unwind),
	GROUP(stitch_option, analysis.stitch_lbr),
	FLAG("latency", 0, options.latency,
	     "shares of wall time first: of each sample, divided by the threads that ran then (record --latency)"),
	GROUP(percent_limit_option, percent_limit),
	CHOICE("percentage", 0, "HOW", options.relative, "absolute|relative",
	       "percentages of all samples (absolute) or of those that match the filters (relative)"),
	GROUP(show_samples_option, options.show_samples),
	GROUP(show_period_option, options.show_period),
	FLAG("show-cpu-utilization", 0, options.show_levels, "add columns for kernel and user shares"),
	FLAG("showcpuutilization", 0, options.show_levels, "the same, as perf's manual page spells it"),
	STRING("column-widths", 'w', "LIST", widths, "column widths; 0: as wide as needed"),
	FLAG("hide-unresolved", 'U', options.hide_unresolved, "omit samples in unresolved functions"),
	FLAG("group", 0, options.all_in_one_table, "print all events in one table"),
	FLAG("no-group", 0, options.no_groups, "print a table per event even for event groups"),
	INTEGER("group-sort-idx", 0, "N", options.sort_event,
		"sort the rows of event groups by the N-th event, from 0"),
	STRING("time-quantum", 0, "TIME", time_quantum, "time slice of the sort key time (default: 100ms)"),
	STRING("symbol-filter", 0, "TEXT", options.symbol_part, "only rows of functions whose name has this part"),
	STRING("ignore-callees", 0, "REGEX", options.ignored_callees,
	       "samples in what these functions called are their own"),
	FLAG("total-cycles", 0, options.total_cycles,
	     "of branches with cycles: a row for each basic block, by its cycles"),
	FLAG("mem-mode", 0, options.mem_mode, "memory accesses: add up weights, by the keys of perf mem report"),
	FLAG("hierarchy", 'H', options.hierarchy,
	     "rows as a tree, a level for each sort key, or for several in braces: -s {comm,dso},sym"),
	FLAG("ns", 0, options.nanoseconds, "show the sort key time in nanoseconds"),
	FLAG("full-source-path", 0, options.source_paths, "show the paths of source files, not only their names"),
	FLAG("no-skip-empty", 0, options.empty_tables, "print a table even for events without samples"),
	FLAG("modules", 'm', modules, "has no effect: kernel modules are always resolved"),
	FLAG("disable-order", 0, ignored, "has no effect: records are always in the order of time"),
	CHOICE("percent-type", 0, "TYPE", ignored_choice, "local-period|global-period|local-hits|global-hits",
	       "has no effect: it is for instructions, see perfdata annotate"),
	INTEGER("samples", 0, "N", ignored_number, "has no effect: it is for the terminal interface of perf"),
	FLAG("raw-trace", 0, options.raw_trace,
	     "show fields of tracepoints as numbers, one after another, not as their formats print them"),
	CHOICE("stdio-color", 0, "WHEN", stdio_color, "auto|always|never", "colour the table: as --color"),
	FLAG("json", 0, json, "print JSON"),
	FLAG("csv", 0, csv,
	     "print CSV, one line per row and event; text that spreadsheets would run as a formula is prefixed with '"),
	GROUP(header_option, header),
	GROUP(header_only_option, header_only),
	GROUP(show_info_option, show_info),
	OPTION("stats", 0, ATTACHED, "WHAT", stats,
	       "records: count the records by type and the samples by event (the default); profile: count stacks, functions and "
	       "names, and the memory of each table; unwind: count what unwinding took"),
	FLAG("tasks", 0, tasks, "print the threads of the recording as a tree"),
	FLAG("mmaps", 0, mmaps, "the same with what was mapped"),
	GROUP(stdio_option, stdio),
	GROUP(select_group_d, analysis.select),
	GROUP(socket_filter_option, analysis.select.socket),
	GROUP(parallelism_option, analysis.select.parallelism),
	GROUP(switch_group, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	{ 0 },
};

const struct option_group report_group = { HEADING_OWN, lines };

const struct option report_options[] = {
	GROUP_HERE(report_group),
	STRING("parent", 'p', "REGEX", options.parent,
	       "add the sort key parent: the first function of the call chain that matches"),
	FLAG("branch-history", 0, options.branch_history,
	     "call chains by address that begin with the branches of branch stacks (default keys: " HISTORY_KEYS ")"),
	FLAG("exclude-other", 'x', options.only_parents, "only samples that have a parent"),
	STRING("field-separator", 't', "CHAR", separator, "column separator instead of blanks"),
	FLAG("thread-counts", 'T', thread_counts,
	     "also print what each thread counted until it ended (record -s); as perf's --threads"),
	CHOICE("pretty", 0, "FORM", pretty, "normal|raw",
	       "with --thread-counts: a row for each thread, or each event with its number"),
	FLAG("dump-raw-trace", 'D', dump,
	     "print every record in the order of time, its bytes and what is in it, and counts; filters do not matter"),
	{ 0 },
};

static bool parse_graph(struct pd_report_graph *graph, const struct report_values *values)
{
	struct pd_error error;

	*graph = (struct pd_report_graph){ .kind = PD_REPORT_GRAPH_TREE, .least_percent = 0.5 };
	if (values->call_graph && pd_report_graph_parse(values->call_graph, graph, &error) < 0)
		return print_error("%s", error.message);
	if (values->inverted)
		graph->caller = graph->order_given = true;
	return true;
}

/* Rows of a tree are no lines of a table. */
static bool check_hierarchy(const struct report_values *values)
{
	const char *other = values->options.fields ? "fields" :
			    values->separator      ? "field-separator" :
			    values->json           ? "json" :
			    values->csv            ? "csv" :
						     NULL;

	return !values->options.hierarchy || !other || print_error("--hierarchy and --%s cannot be combined", other);
}

static bool check_options(const struct report_values *values)
{
	if (values->thread_counts && (values->json || values->csv))
		return print_error("--thread-counts has no %s; use perfdata dump --json --type READ",
				   values->json ? "JSON" : "CSV");
	if (values->csv && (values->json || values->stats))
		return print_error("--%s and --csv cannot be combined", values->json ? "json" : "stats");
	if (values->separator && (strlen(values->separator) != 1 || *values->separator == '.'))
		return print_error("option --field-separator: '%s' is not a single character other than '.'",
				   values->separator);
	return check_hierarchy(values);
}

static void fill_text_options(struct report_run *run)
{
	const struct report_values *values = run->values;
	const struct output *out = run->call->out;
	struct pd_report_text_options *text = &run->text;

	text->size = sizeof(*text);
	text->quiet = values->analysis.input.quiet;
	text->escape = out->terminal;
	text->color = (values->stdio_color ? values->stdio_color == COLOR_ALWAYS : out->color) && !values->separator;
	text->separator = values->separator ? *values->separator : 0;
	text->time = values->analysis.select.time;
	if (out->terminal && values->percent_limit < 0 && !values->separator)
		text->fold_percent = FOLDED_BELOW;
}

static void fill_options(struct report_run *run)
{
	const struct report_values *values = run->values;
	struct pd_report_options *options = &run->options;

	options->no_empty_columns = values->json || values->csv;
	options->socket = values->analysis.select.socket;
	options->threads = values->analysis.threads;
	run->is_quantum_valid = !values->time_quantum ||
				pd_report_slice_parse(values->time_quantum, &options->slice_ns);
}

bool report_options_parse(struct report_run *run)
{
	const struct report_values *values = run->values;
	struct pd_report_options *options = &run->options;
	struct pd_error error;

	*options = values->options;
	if (!parse_graph(&options->graph, values))
		return false;
	if (values->widths && pd_report_widths_parse(values->widths, &run->text, &error) < 0)
		return print_error("option --column-widths: %s", error.message);
	if (values->percent_limit >= 0)
		options->graph.least_percent = options->least_percent = values->percent_limit;
	if (!check_options(values))
		return false;
	fill_options(run);
	fill_text_options(run);
	return true;
}
