/* SPDX-License-Identifier: MIT */
/*
 * perfdata flame: a flame graph of the samples, or of folded stacks, as one page or as a picture.
 */
#include "front/cli.h"
#include "flame.h"
#include "front/outfile.h"
#include "stacks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	VALUES_MOST = 400 * 1000, /* in a page; slices of time are joined until there are not more */
	WIDTH = 1200,
	UNKNOWN_BAD = 10 /* percent of samples */
};

struct values {
	struct analysis_options analysis;
	const char *output, *format, *title, *by, *weight, *folded;
	const char *min_width, *percent_limit;
	bool reverse, inverted, no_time;
	struct option_number width, max_stack;
};

#define FLAG(name, member, help)                                                  \
	{                                                                         \
		name, 0, OPTION_FLAG, NULL, offsetof(struct values, member), help \
	}
#define STRING(name, letter, argument, member, help)                                         \
	{                                                                                    \
		name, letter, OPTION_STRING, argument, offsetof(struct values, member), help \
	}
#define NUMBER(name, member, help)                                                 \
	{                                                                          \
		name, 0, OPTION_NUMBER, "N", offsetof(struct values, member), help \
	}

static const struct option options[] = {
	INPUT_OPTIONS(struct values, analysis.input),
	STRING("output", 'o', "FILE", output, "write to FILE instead of standard output"),
	STRING("format", 0, "FORMAT", format, "html (default) or svg"),
	STRING("title", 0, "TEXT", title, "title above the graph"),
	STRING("by", 0, "WHAT", by, "root frames: comm (default), pid, tid, cpu or none"),
	STRING("weight", 0, "WHAT", weight,
	       "width of frames: samples or period, whatever the event; default: by event"),
	FLAG("reverse", reverse, "start from the sampled functions, with their callers above"),
	FLAG("inverted", inverted, "draw top-down (icicle graph)"),
	FLAG("no-time", no_time, "no time selection in the page, which makes it smaller"),
	STRING("percent-limit", 0, "PERCENT", percent_limit, "omit frames below this share"),
	STRING("min-width", 0, "PIXELS", min_width, "svg: omit narrower frames (default: 0.5)"),
	NUMBER("width", width, "svg: width of the image (default: 1200)"),
	STRING("folded", 0, "FILE", folded,
	       "read folded stacks (lines of a;b;c 12) instead of perf.data; - is standard input"),
	SELECT_SAMPLE_OPTIONS(struct values, analysis.select),
	SELECT_PLACE_OPTIONS(struct values, analysis.select, 0),
	SYMBOL_OPTIONS(struct values, analysis.symbols),
	ANALYSIS_OPTIONS(struct values, analysis),
	NUMBER("max-stack", max_stack, "maximum frames per stack"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata flame -o flame.html perf.data", "an HTML page" },
	{ "perfdata flame --format svg --comm make -o make.svg", "an SVG image of one program" },
	{ "perfdata flame --reverse --inverted -o leaves.html", "who calls the hottest functions" },
	{ "perfdata flame --time 10%/2 --by tid -o part.html", "the second tenth of the recording, by thread" },
	{ "perfdata flame --folded stacks.txt -o flame.html", "from the output of a stackcollapse script" },
	{ 0 },
};

struct flame {
	const struct values *values;
	const struct call *call;
	struct flame_graph graph;
	struct flame_drawing drawing;
	struct stack_lines lines;
	struct stack_request request;
	struct stack_result result;
	double percent_limit;
	bool svg;
	char title[512];
};

/* ---- facts ---- */

const char *flame_number(char buffer[32], uint64_t value)
{
	char digits[24];
	int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value), used = 0;

	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}

const char *flame_unit(enum pd_unit unit)
{
	static const char *const names[] = { "samples", "events", "ns" };

	return names[unit];
}

const char *flame_amount(char buffer[64], uint64_t value, const char *unit)
{
	static const struct {
		uint64_t least;
		double size;
		const char *name;
	} times[] = { { 1000000000, 1e9, "s" }, { 1000000, 1e6, "ms" }, { 1000, 1e3, "us" } };
	char number[32];

	for (size_t i = 0; !strcmp(unit, "ns") && i < sizeof(times) / sizeof(times[0]); i++) {
		if (value >= times[i].least) {
			snprintf(buffer, 64, "%.3f %s", (double)value / times[i].size, times[i].name);
			return buffer;
		}
	}
	snprintf(buffer, 64, "%s %s", flame_number(number, value), unit);
	return buffer;
}

void flame_fact(struct flame_graph *graph, bool bad, const char *format, ...)
{
	struct flame_fact *fact = &graph->facts[graph->fact_count];
	va_list arguments;

	if (graph->fact_count == sizeof(graph->facts) / sizeof(graph->facts[0]))
		return;
	va_start(arguments, format);
	vsnprintf(fact->text, sizeof(fact->text), format, arguments);
	va_end(arguments);
	fact->bad = bad;
	graph->fact_count++;
}

/* A fact that is told only if there is something to tell. */
static void bad_count(struct flame_graph *graph, uint64_t count, const char *text)
{
	char number[32];

	if (count)
		flame_fact(graph, true, "%s %s", flame_number(number, count), text);
}

static void share_fact(struct flame_graph *graph, uint64_t count, uint64_t samples, double bad, const char *text)
{
	double share = samples ? 100.0 * (double)count / (double)samples : 0;

	if (count)
		flame_fact(graph, share >= bad, "%.*f %% of samples %s", share < 1 ? 2 : 1, share, text);
}

static void tell_facts(struct flame *flame)
{
	const struct stack_result *result = &flame->result;
	const struct pd_profile_losses *losses = &result->losses;
	uint64_t lost = losses->lost + losses->lost_samples;
	struct flame_graph *graph = &flame->graph;
	char number[32];

	if (result->samples_in_file > result->samples)
		flame_fact(graph, false, "chosen from %s samples", flame_number(number, result->samples_in_file));
	if (!graph->unit || strcmp(graph->unit, "samples") != 0)
		flame_fact(graph, false, "%s samples", flame_number(number, result->samples));
	if (losses->last_ns > losses->first_ns)
		flame_fact(graph, false, "over %.*f s", losses->last_ns - losses->first_ns < 10000000 ? 6 : 2,
			   (double)(losses->last_ns - losses->first_ns) / 1e9);
	if (lost)
		flame_fact(graph, true, "%s lost", flame_number(number, lost));
	else
		flame_fact(graph, false, "none lost");
	share_fact(graph, result->unknown, result->samples, UNKNOWN_BAD, "in unknown functions");
	share_fact(graph, result->copied, result->samples, 0, "with a copied stack that is not unwound");
	share_fact(graph, result->cut, result->samples, 0, "with a truncated stack");
	share_fact(graph, result->damaged, result->samples, 0, "with a damaged stack");
	bad_count(graph, losses->throttles, losses->throttles == 1 ? "time throttled" : "times throttled");
	bad_count(graph, losses->damaged, "samples damaged");
	bad_count(graph, losses->unknown_event, "samples of no known event");
}

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
	complain("option --%s: '%s' is not a number from 0 to %g", option, text, most);
	return false;
}

/* Which of two words a text is; the first one if it is not given. */
static bool parse_choice(const char *option, const char *text, const char *usual, const char *other, bool *other_out)
{
	*other_out = text && !strcmp(text, other);
	if (!text || *other_out || !strcmp(text, usual))
		return true;
	complain("option --%s: '%s' is neither %s nor %s", option, text, usual, other);
	return false;
}

static bool take_options(struct flame *flame)
{
	const struct values *values = flame->values;
	flame->request.root = ROOT_COMM;
	flame->drawing = (struct flame_drawing){ values->width.given ? (double)values->width.value : WIDTH, 0.5 };
	if (!parse_choice("format", values->format, "html", "svg", &flame->svg) ||
	    !stack_weight_parse(values->weight, &flame->request.weight) ||
	    !parse_double("min-width", values->min_width, 10000, &flame->drawing.min_width) ||
	    !parse_double("percent-limit", values->percent_limit, 100, &flame->percent_limit) ||
	    (values->by && !stack_root_parse(values->by, &flame->request.root)))
		return false;
	if (flame->drawing.width < 200 || flame->drawing.width > 100000) {
		complain("option --width: the image must be 200 to 100000 pixels wide");
		return false;
	}
	if (values->folded && (values->analysis.input.path || flame->call->word_count)) {
		complain("--folded and a perf.data file cannot be combined");
		return false;
	}
	if ((!values->output || !strcmp(values->output, "-")) && flame->call->out->terminal) {
		complain("refusing to write %s to a terminal; use -o FILE", flame->svg ? "SVG" : "HTML");
		return false;
	}
	flame->request.event_frame = flame->svg;
	flame->request.reverse = values->reverse;
	flame->request.slices = !flame->svg && !values->no_time;
	flame->request.max_stack = (unsigned)values->max_stack.value;
	flame->request.threads = values->analysis.threads.given ? (size_t)values->analysis.threads.value : 0;
	flame->graph.reverse = values->reverse;
	flame->graph.inverted = values->inverted;
	return true;
}

/* ---- the graph ---- */

static int write_graph(struct flame *flame, const char *input)
{
	struct flame_graph *graph = &flame->graph;
	const char *path = flame->values->output;
	struct tree_options limits = {
		.least = flame->percent_limit,
		.values = graph->slice_count ? VALUES_MOST : 0,
		.threads = flame->request.threads,
	};
	struct outfile file;
	char amount[64];
	int code;

	if (!tree_finish(&graph->tree, &flame->lines, &flame->result.values, &limits)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	graph->slice_count = (graph->slice_count + graph->tree.joined - 1) / graph->tree.joined;
	graph->slice_ns *= graph->tree.joined;
	/* The page counts anew for each event and time. */
	if (flame->svg && graph->unit) {
		memmove(graph->facts + 1, graph->facts, sizeof(graph->facts) - sizeof(graph->facts[0]));
		snprintf(graph->facts[0].text, sizeof(graph->facts[0].text), "%s",
			 flame_amount(amount, graph->tree.nodes[0].total, graph->unit));
		graph->facts[0].bad = false;
		graph->fact_count += graph->fact_count < sizeof(graph->facts) / sizeof(graph->facts[0]);
	}
	code = outfile_open(&file, path, flame->call->out, input);
	if (code != CODE_FINE)
		return code;
	if (!(flame->svg ? flame_write_svg(graph, &flame->drawing, file.out) :
			   flame_write_html(graph, limits.threads, file.out)))
		code = file.out->failure ? CODE_FINE : CODE_UNREADABLE;
	return outfile_close(&file, code);
}

static void set_title(struct flame *flame, const char *name)
{
	const char *slash = strrchr(name, '/');

	snprintf(flame->title, sizeof(flame->title), "%s", slash && slash[1] ? slash + 1 : name);
	flame->graph.title = flame->values->title ? flame->values->title : flame->title;
}

static bool has_values(const struct stack_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->items[i].value)
			return true;
	return false;
}

static int run_folded(struct flame *flame)
{
	const char *path = flame->values->folded;
	int code = flame_read_folded(&flame->graph, &flame->lines, path), written;

	flame->graph.unit = "counts";
	set_title(flame, strcmp(path, "-") != 0 ? path : "standard input");
	if (code == CODE_UNREADABLE)
		return code;
	if (!flame->lines.failed && !flame->graph.tree.failed && !has_values(&flame->lines)) {
		complain("%s: no stacks found", flame->title);
		return CODE_NO_SAMPLES;
	}
	written = write_graph(flame, path);
	return written != CODE_FINE ? written : code;
}

static int refuse_limit(void)
{
	complain(
		"option --percent-limit: the events have different units; choose one with --event, or use --weight samples");
	return CODE_USAGE;
}

static int run_file(struct flame *flame)
{
	const struct analysis_options *options = &flame->values->analysis;
	struct flame_graph *graph = &flame->graph;
	struct analysis analysis;
	int code = analysis_begin(&analysis, options, flame->call);

	analysis.short_names = true;
	if (code == CODE_FINE)
		code = stacks_read(&analysis, options, &flame->request, &graph->tree, &flame->lines, &flame->result);
	if (code == CODE_FINE) {
		set_title(flame, analysis.input.name);
		graph->events = flame->result.events;
		graph->event_count = flame->result.event_count;
		graph->units = flame->result.units;
		graph->unit = stacks_add_up(&flame->result) ? flame_unit(graph->units[0]) : NULL;
		graph->slice_count = flame->result.slice_count;
		graph->slice_ns = flame->result.slice_ns;
		graph->first_ns = flame->result.first_ns;
		tell_facts(flame);
		code = flame->percent_limit > 0 && !graph->unit ? refuse_limit() :
								  write_graph(flame, analysis.input.name);
	}
	stacks_fini(&flame->result);
	return analysis_close(&analysis, code);
}

static int run(const struct call *call)
{
	struct flame *flame = calloc(1, sizeof(*flame));
	int code = CODE_USAGE;

	if (!flame) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	flame->values = call->values;
	flame->call = call;
	tree_init(&flame->graph.tree);
	if (take_options(flame))
		code = flame->values->folded ? run_folded(flame) : run_file(flame);
	tree_fini(&flame->graph.tree);
	lines_fini(&flame->lines);
	free(flame);
	return code;
}

const struct command cmd_flame = {
	.usage = "[OPTION]... [FILE]",
	.text = "Draw a flame graph of FILE: each frame is a function, as wide as its share including what it called, and stands "
		"on its caller.\n"
		"\n"
		"The width of a frame is in the unit of its event, as in perfdata report: time for clocks of the CPU, off-CPU time and "
		"sched:sched_stat_*; events (cycles, page faults ...) where the recording has periods; else samples. --weight overrides "
		"this. Events of different units are never added up: the page shows one event at a time, SVG draws one graph per event "
		"side by side.\n"
		"\n"
		"The page needs only a browser: select event and time range, zoom (click; Escape goes back), search by regular expression "
		"with the matching share, arrow keys, colours by kind, object or name. The line above the graph shows the "
		"profile quality: samples, lost samples, truncated stacks, unresolved functions. The page loads and sends nothing. SVG "
		"has no script.\n"
		"\n"
		"The output file appears when it is complete. A perf.data file is never overwritten, and a terminal is never written to.",
	.options = options,
	.examples = examples,
	.usual = "output input format title time comms",
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
