/* SPDX-License-Identifier: MIT */
/*
 * perfdata flame: a flame graph of the samples, or of folded stacks, as one page or as a picture.
 */
#include "cli.h"
#include "flame.h"
#include "outfile.h"
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

#define FLAG(name, member, help) { name, 0, OPTION_FLAG, NULL, offsetof(struct values, member), help }
#define STRING(name, letter, argument, member, help)                                               \
	{ name, letter, OPTION_STRING, argument, offsetof(struct values, member), help }
#define NUMBER(name, member, help) { name, 0, OPTION_NUMBER, "N", offsetof(struct values, member), help }

static const struct option options[] = {
	INPUT_OPTIONS(struct values, analysis.input),
	STRING("output", 'o', "FILE", output, "write FILE in place of standard output"),
	STRING("format", 0, "FORMAT", format, "html (the default) or svg"),
	STRING("title", 0, "TEXT", title, "what stands above the graph"),
	STRING("by", 0, "WHAT", by, "the lowest frames: comm (the default), pid, tid, cpu or none"),
	STRING("weight", 0, "WHAT", weight, "how wide frames are: samples (the default) or period"),
	FLAG("reverse", reverse, "begin with the functions that were sampled, their callers above them"),
	FLAG("inverted", inverted, "draw from the top down"),
	FLAG("no-time", no_time, "leave the time out of the page, which makes it smaller"),
	STRING("percent-limit", 0, "PERCENT", percent_limit, "leave out frames below that"),
	STRING("min-width", 0, "PIXELS", min_width, "svg: draw no narrower frames; 0.5 if not given"),
	NUMBER("width", width, "svg: width of the picture in pixels; 1200 if not given"),
	STRING("folded", 0, "FILE", folded, "read folded stacks, lines of a;b;c 12, and no perf data; - is standard input"),
	SELECT_SAMPLE_OPTIONS(struct values, analysis.select),
	SELECT_PLACE_OPTIONS(struct values, analysis.select, 0),
	SYMBOL_OPTIONS(struct values, analysis.symbols),
	ANALYSIS_OPTIONS(struct values, analysis),
	NUMBER("max-stack", max_stack, "most frames of a stack"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata flame -o flame.html perf.data", "a page for any browser" },
	{ "perfdata flame --format svg --comm make -o make.svg", "a picture, of one program" },
	{ "perfdata flame --reverse --inverted -o leaves.html", "who calls the functions that take the time" },
	{ "perfdata flame --time 10%/2 --by tid -o part.html", "the second tenth of the time, by thread" },
	{ "perfdata flame --folded stacks.txt -o flame.html", "from what any stackcollapse script printed" },
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
	if (losses->last_ns > losses->first_ns)
		flame_fact(graph, false, "%.*f s", losses->last_ns - losses->first_ns < 10000000 ? 6 : 2,
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
	bool period;

	flame->request.root = ROOT_COMM;
	flame->drawing = (struct flame_drawing){ values->width.given ? (double)values->width.value : WIDTH, 0.5 };
	if (!parse_choice("format", values->format, "html", "svg", &flame->svg) ||
	    !parse_choice("weight", values->weight, "samples", "period", &period) ||
	    !parse_double("min-width", values->min_width, 10000, &flame->drawing.min_width) ||
	    !parse_double("percent-limit", values->percent_limit, 100, &flame->percent_limit) ||
	    (values->by && !stack_root_parse(values->by, &flame->request.root)))
		return false;
	if (flame->drawing.width < 200 || flame->drawing.width > 100000) {
		complain("option --width: a picture is 200 to 100000 pixels wide");
		return false;
	}
	if (values->folded && (values->analysis.input.path || flame->call->word_count)) {
		complain("--folded takes the place of perf data: only one file can be read");
		return false;
	}
	if ((!values->output || !strcmp(values->output, "-")) && flame->call->out->terminal) {
		complain("refusing to write %s to a terminal; use -o FILE", flame->svg ? "SVG" : "HTML");
		return false;
	}
	flame->request.event_frame = flame->svg;
	flame->request.period = period;
	flame->request.reverse = values->reverse;
	flame->request.slices = !flame->svg && !values->no_time;
	flame->request.max_stack = (unsigned)values->max_stack.value;
	flame->request.threads = values->analysis.threads.given ? (size_t)values->analysis.threads.value : 0;
	flame->graph.unit = period ? "period" : "samples";
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
	char number[32];
	int code;

	if (!tree_finish(&graph->tree, &flame->lines, &flame->result.values, &limits)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	graph->slice_count = (graph->slice_count + graph->tree.joined - 1) / graph->tree.joined;
	graph->slice_ns *= graph->tree.joined;
	/* The page counts anew for each event and time. */
	if (flame->svg) {
		memmove(graph->facts + 1, graph->facts, sizeof(graph->facts) - sizeof(graph->facts[0]));
		snprintf(graph->facts[0].text, sizeof(graph->facts[0].text), "%s %s",
			 flame_number(number, graph->tree.nodes[0].total), graph->unit);
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

	set_title(flame, strcmp(path, "-") != 0 ? path : "standard input");
	if (code == CODE_UNREADABLE)
		return code;
	if (!flame->lines.failed && !flame->graph.tree.failed && !has_values(&flame->lines)) {
		complain("%s: there are no stacks", flame->title);
		return CODE_NO_SAMPLES;
	}
	written = write_graph(flame, path);
	return written != CODE_FINE ? written : code;
}

static int run_file(struct flame *flame)
{
	const struct analysis_options *options = &flame->values->analysis;
	struct flame_graph *graph = &flame->graph;
	struct analysis analysis;
	int code = analysis_begin(&analysis, options, flame->call);

	if (code == CODE_FINE)
		code = stacks_read(&analysis, options, &flame->request, &graph->tree, &flame->lines, &flame->result);
	if (code == CODE_FINE) {
		set_title(flame, analysis.input.name);
		graph->events = flame->result.events;
		graph->event_count = flame->result.event_count;
		graph->slice_count = flame->result.slice_count;
		graph->slice_ns = flame->result.slice_ns;
		graph->first_ns = flame->result.first_ns;
		tell_facts(flame);
		code = write_graph(flame, analysis.input.name);
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
	.text = "Draws the samples of FILE as a flame graph: a frame is a function, as wide as the share of samples that were "
		"taken in it and in what it called, and stands on the function that called it.\n"
		"\n"
		"The page needs nothing but a browser: it has the event and the time to choose, zoom (click; Escape goes back), "
		"search by regular expression with the share of what matches, arrow keys, and colours by kind, object or name. "
		"Above the graph it says what the numbers rest on: samples, losses, cut stacks, unknown functions. It loads "
		"nothing and sends nothing. The picture (--format svg) has no script; where the file has several events, it "
		"begins with them.\n"
		"\n"
		"A file that is written is there when it is whole, and perf data is never replaced.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
