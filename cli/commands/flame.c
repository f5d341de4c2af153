/* SPDX-License-Identifier: MIT */
/* perfdata flame: a flame graph of the samples, or of folded stacks, as one page or as a picture. */
#include "front/cli.h"
#include "options/flame_options.h"
#include "files/outfile.h"

#include <stdlib.h>
#include <string.h>

#include <perfdata/viewer.h>

struct values {
	struct analysis_options analysis;
	struct pd_flame_options how;
	const char *output, *folded, *old;
	const char *min_width, *percent_limit;
	bool svg, no_time;
	unsigned width;
};

static const struct option options[] = {
	GROUP(waiting_group, analysis.input),
	GROUP(input_group, analysis.input),
	STRING("output", 'o', "FILE", output, "write to FILE instead of standard output"),
	CHOICE("format", 0, "FORMAT", svg, "html|svg", "html (default) or svg"),
	STRING("title", 0, "TEXT", how.title, "title above the graph"),
	CHOICE("by", 0, "WHAT", how.root, "none|comm|pid|tid|cpu",
	       "root frames: comm (default), pid, tid, cpu or none"),
	CHOICE("weight", 0, "WHAT", how.weight, "|samples|period|latency",
	       "width of frames: samples or period, whatever the event; latency: shares of wall time; default: by event"),
	FLAG("reverse", 0, how.reverse, "start from the sampled functions, with their callers above"),
	FLAG("inverted", 0, how.inverted, "draw top-down (icicle graph)"),
	FLAG("no-time", 0, no_time, "no time selection in the page, which makes it smaller"),
	STRING("percent-limit", 0, "PERCENT", percent_limit, "omit frames below this share"),
	STRING("min-width", 0, "PIXELS", min_width, "svg: omit narrower frames (default: 0.5)"),
	INTEGER("width", 0, "N", width, "svg: width of the image (default: 1200)"),
	STRING("folded", 0, "FILE", folded,
	       "read folded stacks (lines of a;b;c 12) instead of perf.data; - is standard input"),
	STRING("diff", 0, "OLD", old,
	       "what changed since the recording OLD: graphs as wide as each, coloured by change"),
	GROUP(select_group, analysis.select),
	GROUP(parallelism_option, analysis.select.parallelism),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	GROUP(flame_max_stack_option, how.max_stack),
	GROUP(unwind_option, analysis.no_unwind),
	{ 0 },
};

struct flame {
	const struct values *values;
	const struct call *call;
	struct pd_flame_options options;
	double min_width;
};

/* ---- options ---- */

static bool parse_double(const char *option, const char *text, double most, double *value)
{
	char *rest;

	if (!text)
		return true;
	*value = strtod(text, &rest);
	if (*rest == '%')
		rest++;
	if (rest != text && !*rest && *value >= 0 && *value <= most)
		return true;
	return print_error("option --%s: '%s' is not a number from 0 to %g", option, text, most);
}

static bool read_options(struct flame *flame)
{
	const struct values *values = flame->values;

	flame->options = values->how;
	flame->min_width = 0.5;
	if (!parse_double("min-width", values->min_width, 10000, &flame->min_width) ||
	    !parse_double("percent-limit", values->percent_limit, 100, &flame->options.percent_limit))
		return false;
	if (values->width < 200 || values->width > 100000)
		return print_error("option --width: the image must be 200 to 100000 pixels wide");
	if (values->folded && (values->analysis.input.path || flame->call->word_count))
		return print_error("--folded and a perf.data file cannot be combined");
	if (values->old && (values->folded || values->svg))
		return print_error("--diff cannot be combined with --folded or --format svg");
	if (values->old && values->output && !strcmp(values->old, values->output))
		return print_error("refusing to overwrite %s", values->old);
	if ((!values->output || !strcmp(values->output, "-")) && flame->call->out->terminal)
		return print_error("refusing to write %s to a terminal; use -o FILE", values->svg ? "SVG" : "HTML");
	flame->options.event_frame = values->svg;
	flame->options.slices = !values->svg && !values->no_time && !values->old;
	flame->options.threads = values->analysis.threads;
	return true;
}

/* ---- the graph ---- */

static int write_graphs(const struct flame *flame, struct pd_flame *const *graphs, size_t count, const char *input)
{
	struct outfile file;
	struct pd_error error;
	enum pd_status status;
	int code = outfile_open(&file, flame->values->output, flame->call->out, input);

	if (code != CODE_OK)
		return code;
	status = flame->values->svg ?
			 pd_flame_print_svg(*graphs, flame->values->width, flame->min_width, file.out->text, &error) :
			 pd_viewer_flame_page(file.out->text, graphs, count, &error);
	return outfile_close(&file, code_of_print(status, &error));
}

static int run_folded(struct flame *flame)
{
	const char *path = flame->values->folded;
	struct pd_flame_summary summary;
	struct pd_flame *graph = NULL;
	struct pd_error error;
	int code = code_with_error(pd_flame_read_folded(path, &flame->options, print_warning, NULL, &graph, &error),
				   &error);

	if (code != CODE_OK)
		return code;
	pd_flame_summary(graph, &summary);
	code = write_graphs(flame, &graph, 1, path);
	pd_flame_free(graph);
	return code != CODE_OK ? code : summary.wrong_lines ? CODE_DAMAGED : CODE_OK;
}

static int refuse_limit(void)
{
	return print_failure(
		CODE_USAGE,
		"option --percent-limit: the events have different units; choose one with --event, or use --weight samples");
}

/* Of two recordings the earlier one was read before. */
static int write_file(struct flame *flame, struct pd_flame *old, const char *name, struct pd_flame *graph)
{
	struct pd_flame *const graphs[] = { old ? old : graph, graph };
	struct pd_flame_summary summary;
	bool has_unit;

	pd_flame_summary(graph, &summary);
	has_unit = summary.unit != NULL;
	if (old) {
		pd_flame_summary(old, &summary);
		has_unit &= summary.unit != NULL;
	}
	if (flame->options.percent_limit > 0 && !has_unit)
		return refuse_limit();
	return write_graphs(flame, graphs, old ? 2 : 1, name);
}

/* Reads a recording and draws it. Beside the earlier one, whose path is given first, the one that the call is of is read, too. */
static int run_file(struct flame *flame, const char *path, struct pd_flame *old)
{
	const struct call alone = { .values = flame->call->values, .out = flame->call->out };
	struct analysis_options options = flame->values->analysis;
	struct pd_flame_options how = flame->options;
	struct pd_flame *graph = NULL;
	struct analysis analysis;
	int code;

	if (path)
		options.input.path = path;
	how.title = path ? NULL : how.title;
	code = analysis_begin(&analysis, &options, path ? &alone : flame->call);
	analysis.short_names = true;
	if (code == CODE_OK)
		code = flame_read_file(&analysis, &options, &how, &graph);
	if (code == CODE_OK)
		code = path ? run_file(flame, NULL, graph) : write_file(flame, old, analysis.input.name, graph);
	pd_flame_free(graph);
	return analysis_close(&analysis, code);
}

static int run_flame(const struct call *call)
{
	struct flame flame = { .values = call->values, .call = call };

	if (!read_options(&flame))
		return CODE_USAGE;
	return flame.values->folded ? run_folded(&flame) : run_file(&flame, flame.values->old, NULL);
}

const struct command cmd_flame = {
	.usage = "[OPTION]... [FILE | STORE [CONDITION]...]",
	.text = "Draw a flame graph of FILE: each frame is a function, as wide as its share including what it called, and stands "
		"on its caller.\n"
		"\n"
		"The width of a frame is in the unit of its event, as in perfdata report: time for clocks of the CPU, off-CPU time and "
		"sched:sched_stat_*; events (cycles, page faults ...) where the recording has periods; else samples. --weight overrides "
		"this. Events of different units are never added up: the page shows one event at a time, SVG draws one graph per event "
		"side by side.\n"
		"\n"
		"The page is that of perfdata view, which opens with the graph, and needs only a browser: select event and time range, "
		"zoom (double click; Escape goes back), search with the matching share, colours by kind, object or name, call tree, functions, callers "
		"and callees (? shows keys). The line above the graph shows the profile quality: samples, lost samples, truncated "
		"stacks, unresolved functions. Stacks have sums in it; perfdata view has each sample. The page loads and sends nothing. "
		"SVG has no script.\n"
		"\n"
		"The output file appears when it is complete. A perf.data file is never overwritten, and a terminal is never written to.",
	OPTIONS(options),
	HOW(how),
	DEFAULTS(.how.root = PD_FLAME_ROOT_COMM, .width = 1200),
	EXAMPLES({ "perfdata flame -o flame.html perf.data", "an HTML page" },
		 { "perfdata flame --format svg --comm make -o make.svg", "an SVG image of one program" },
		 { "perfdata flame --reverse --inverted -o leaves.html", "who calls the hottest functions" },
		 { "perfdata flame --time 10%/2 --by tid -o part.html",
		   "the second tenth of the recording, by thread" },
		 { "perfdata flame --diff old.data new.data -o diff.html", "what changed, by colour" },
		 { "perfdata flame --folded stacks.txt -o flame.html", "from the output of a stackcollapse script" }),
	.usual = "output input format title time comms",
	.max_words = SIZE_MAX,
	.run = run_flame,
};
