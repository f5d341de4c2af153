/* SPDX-License-Identifier: MIT */
/*
 * perfdata top: where the time goes at this moment. A recorder is read while it records; every few seconds what came is
 * added to a sum that fades, and the sum is shown.
 */
#include "top/top.h"

#include "front/signals.h"
#include "record/options.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SORT "dso,sym"

enum {
	/* Records of processes that came and went, after which what is known of them is forgotten. */
	GROWN_MOST = 100000,
	RING_BYTES = 4 << 20,
	BATCH_ENTRIES = 25,
	STACK_MOST = 127
};

#undef VALUES
#define VALUES struct top_values

static const struct option options[] = {
	GROUP(record_target_group, targets),
	GROUP(freq_option, samples.freq),
	GROUP(count_option, samples.period),
	FLAG("g", 'g', samples.g, "record call chains, to show callers and callees"),
	STRING("call-graph", 0, "HOW", samples.call_graph, "record call chains: fp or lbr"),
	GROUP(record_max_stack_option, samples.max_stack),
	GROUP(children_option, children),
	GROUP(no_children_option, no_children),
	GROUP(mmap_pages_option, samples.ring),
	GROUP(realtime_option, priority),
	FLAG("all-cgroups", 0, samples.sampling.all_cgroups, "record cgroups, for the sort key cgroup"),
	STRING("delay", 'd', "SECONDS", delay, "time between refreshes (default: 2)"),
	NUMBER("entries", 'E', "N", entries, "maximum number of rows (default: as many as fit the screen)"),
	STRING("sort", 's', "KEYS", sort, "sort keys, as in perfdata report (default: " DEFAULT_SORT ")"),
	GROUP(show_samples_option, show_samples),
	GROUP(show_period_option, show_period),
	GROUP(percent_limit_option, percent_limit),
	FLAG("zero", 'z', zero, "reset counts at each refresh instead of decaying them"),
	FLAG("hide_kernel_symbols", 'K', hide_kernel, "hide kernel symbols"),
	FLAG("hide_user_symbols", 'U', hide_user, "hide user-space symbols"),
	STRING("comms", 0, "LIST", select.comms, "show only threads with these names"),
	STRING("dsos", 0, "LIST", select.dsos, "show only these objects"),
	STRING("symbols", 0, "LIST", select.symbols, "show only these functions"),
	FLAG("batch", 0, batch, "print one table after another (default if the output is not a terminal)"),
	NUMBER("iterations", 0, "N", iterations, "exit after N tables"),
	FLAG("json", 0, json, "print a JSON object per table, one per line"),
	STRING("input", 0, "FILE", input, "show a recording in progress instead of recording; - is standard input"),
	GROUP(stdio_option, stdio),
	FLAG("verbose", 'v', verbose, "print more diagnostics"),
	GROUP(symbol_group, symbols),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata top", "hottest functions of the system" },
	{ "perfdata top -p 4711 -g", "one process, with callers" },
	{ "perfdata top -e page-faults -c 1 -s comm,dso,sym", "which code causes page faults" },
	{ "perfdata top --batch --iterations 3 -E 10", "print three tables, for a log" },
	{ "perfdata top --json | jq -c '.tables[0].rows[0]'", "machine-readable output" },
	{ "ssh host perfdata record -a -o - | perfdata top --input -", "profile another machine" },
	{ 0 },
};

static bool out_of_memory(struct top *top)
{
	print_error("out of memory");
	top->code = CODE_UNREADABLE;
	top->over = true;
	return false;
}

/* ---- what is asked for ---- */

static bool take_form(struct top *top)
{
	const struct top_values *values = top->values;
	bool chains = values->samples.g || values->samples.call_graph;
	const char *sort = values->sort ? values->sort : DEFAULT_SORT;

	snprintf(top->sort, sizeof(top->sort), "%s%s", *sort == '+' ? DEFAULT_SORT "," : "", sort + (*sort == '+'));
	top->form = (struct pd_top_form){
		.sort = top->sort,
		.filter = top->filter,
		.entries = (size_t)values->entries.value,
		.samples = values->show_samples,
		.period = values->show_period,
		.children = chains && !values->no_children,
		.graph = { .kind = chains ? PD_REPORT_GRAPH_TREE : PD_REPORT_GRAPH_NONE,
			   .least_percent = 0.5,
			   .caller = chains && !values->no_children },
		.max_stack = values->samples.max_stack.given ? (size_t)values->samples.max_stack.value : STACK_MOST,
		.event = PD_TOP_ALL_EVENTS,
	};
	top->hide_kernel = values->hide_kernel;
	top->hide_user = values->hide_user;
	top->delay = 2;
	if (values->delay && !top_parse_seconds(values->delay, &top->delay))
		return print_error("option --delay: '%s' is not a number of seconds of at least 0.1", values->delay);
	if (values->percent_limit >= 0)
		top->form.graph.least_percent = top->form.least_percent = values->percent_limit;
	if (!select_take(&top->select, &values->select))
		return false;
	top->form.select = top->select;
	return top_by(top, &top->by);
}

static void describe_targets(struct top *top)
{
	const struct target_values *values = &top->values->targets;

	if (top->values->input)
		snprintf(top->whom, sizeof(top->whom), "%s", top->values->input);
	else if (values->pids)
		snprintf(top->whom, sizeof(top->whom), "pid %s", values->pids);
	else if (values->tids)
		snprintf(top->whom, sizeof(top->whom), "tid %s", values->tids);
	else if (values->user)
		snprintf(top->whom, sizeof(top->whom), "user %s", values->user);
	else if (values->cpus)
		snprintf(top->whom, sizeof(top->whom), "on CPU %s", values->cpus);
	else
		snprintf(top->whom, sizeof(top->whom), "all");
}

static bool take_recorder(struct top *top)
{
	const struct top_values *values = top->values;
	struct pd_recorder_options *wanted = &top->wanted;
	struct pd_targets *targets = &wanted->targets;

	*wanted = (struct pd_recorder_options){ .size = sizeof(*wanted), .fd = -1 };
	if (!record_take_targets(&top->setup, &values->targets, top->call, wanted) ||
	    !record_take_samples(&values->samples, wanted))
		return false;
	if (!targets->cpus && !targets->pids.count && !targets->tids.count && !targets->by_user)
		targets->all = true;
	wanted->sampling.time = true;
	wanted->session.build_ids = PD_BUILD_IDS_NONE;
	wanted->session.priority = (int)values->priority.value;
	if (!wanted->session.ring_bytes)
		wanted->session.ring_bytes = RING_BYTES;
	return true;
}

static void report_note(void *self, const struct pd_recorder_note *note)
{
	struct top *top = self;

	if (top->screen.on)
		top_notice(top, "%s%s%s", note->message, note->advice ? "; try: " : "",
			   note->advice ? note->advice : "");
	else if (note->severity > PD_INFO || top->values->verbose)
		record_print_note(note);
}

/* ---- a table ---- */

static const char help_text[] =
	"\n  q  quit\n  d  delay between two tables\n  E  rows of a table\n  f  show only rows with a text in them\n"
	"  s  sort keys, such as comm,dso,sym     S  the next of the usual ones\n  e  next event\n  n  column of samples\n"
	"  z  begin at zero\n  p  pause: the table stays, recording goes on\n  K  without the kernel\n"
	"  U  without programs\n  h  this help\n\nAny key goes back.\n";

static void draw_screen(struct top *top, const struct pd_top_source *shown)
{
	struct pd_text *text = top->frame.text;
	bool done = true;

	pd_text_clear(text);
	top->frame.terminal = true;
	top->totals.notice = top->notice;
	if (top->question)
		top_notice(top, "%s: %s_", top->question, top->answer);
	if (top->help)
		pd_text_add(text, help_text);
	else
		done = pd_top_text(&top->form, &top->totals, shown, top->screen.lines, text, NULL) >= 0;
	if (!done || pd_text_failed(text))
		out_of_memory(top);
	else
		screen_show(&top->screen, pd_text_bytes(text), top->out);
}

static void draw(struct top *top)
{
	const struct pd_top_source shown = { top->input.file,
					     pd_sum_profile(top->sum, top->input.file, pd_live_state(top->live)),
					     top->symbols };
	struct pd_text *text = top->out->text;
	enum pd_status status;

	top->drawn = true;
	if (top->screen.on) {
		draw_screen(top, &shown);
	} else {
		status = top->values->json ? pd_top_json(&top->form, &top->totals, &shown, text, NULL) :
					     pd_top_text(&top->form, &top->totals, &shown, 0, text, NULL);
		if (status < 0)
			out_of_memory(top);
	}
	if (!output_flush(top->out))
		top->over = true;
}

static void refresh(struct top *top)
{
	if (!top_take(top))
		return;
	if (!top->paused)
		draw(top);
	top->tables++;
	if (top->values->iterations.given && top->tables >= top->values->iterations.value)
		top->over = true;
}

/* ---- signals ---- */

static struct pd_recorder *running;
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	/* who reads a pipe may wait long */
	stopped = number;
	if (running)
		pd_recorder_stop(running);
	else
		screen_die(number);
}

static void catch_signals(struct top *top)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	running = top->recorder;
	/* of a pipe see input_open */
	if (running || top->screen.on)
		signals_handle((const int[]){ SIGINT, 0 }, &action, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGTERM, SIGHUP, 0 }, &action, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGPIPE, 0 }, &ignore, SIGNAL_ALWAYS);
}

/* ---- the loop ---- */

/* What came and went since the beginning need not be remembered: a new beginning describes what runs by then. */
static void forget(struct top *top)
{
	uint64_t first, all;

	pd_live_grown(top->live, &first, &all);
	if (all - first > GROWN_MOST && all > 2 * first)
		top_begin_anew(top);
}

static enum pd_status read_until_end(struct top *top, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (!top->over && !stopped && (status = pd_live_read(top->live, error)) == PD_OK) {
		if (top_take_keys(top) && !top->over && top->drawn)
			draw(top);
		if (top->over || top_seconds() - top->last < top->delay)
			continue;
		refresh(top);
		forget(top);
	}
	return status;
}

/* The end of the recording is shown; a new beginning only goes on. */
static void end_stream(struct top *top)
{
	if (top_take(top) && !top->begins_anew)
		draw(top);
	top->over |= !top->begins_anew;
	top->begins_anew = false;
}

static enum pd_status read_streams(struct top *top, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	top->last = top_seconds();
	while (!top->over && !stopped && (status = top_begin(top, error)) == PD_OK) {
		status = read_until_end(top, error);
		if (status == PD_END && !top->over && !stopped)
			end_stream(top);
		top_end(top);
		if (!top->recorder)
			break;
	}
	top_end(top);
	return status;
}

static int show(struct top *top)
{
	struct pd_error error;
	enum pd_status status;

	if (pd_sum_new(&top->sum, &error) < 0 || !output_init(&top->frame, -1))
		return print_failure(CODE_UNREADABLE, "out of memory");
	if (!top->values->batch && !top->values->json && !(top->values->input && !strcmp(top->values->input, "-")))
		screen_open(&top->screen);
	catch_signals(top);
	top->form.event = top->screen.on ? 0 : PD_TOP_ALL_EVENTS;
	if (!top->screen.on && !top->values->entries.given && !top->values->json)
		top->form.entries = BATCH_ENTRIES;
	status = read_streams(top, &error);
	screen_close(&top->screen);
	if (status < 0) {
		print_error("%s", error.message);
		top->code = CODE_UNREADABLE;
	}
	return top->code;
}

static int show_recorded(struct top *top)
{
	struct pd_recorded recorded;
	struct pd_error error;
	int code;

	if (!take_recorder(top))
		return CODE_USAGE;
	top->wanted.note = report_note;
	top->wanted.self = top;
	if (pd_recorder_open(&top->wanted, &top->recorder, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	code = show(top);
	running = NULL;
	pd_recorder_state(top->recorder, &recorded);
	pd_recorder_close(top->recorder);
	if (recorded.lost)
		print_error("%" PRIu64 " records lost; try larger ring buffers (-m 16M) or a lower frequency (-F)",
			    recorded.lost);
	return code;
}

static bool has_targets(const struct target_values *values)
{
	return values->all || values->pids || values->tids || values->user || values->cpus || values->events.count;
}

static int run_top(const struct call *call)
{
	struct top *top = calloc(1, sizeof(*top));
	int code = CODE_USAGE;

	if (!top)
		return print_failure(CODE_UNREADABLE, "out of memory");
	top->values = call->values;
	top->call = call;
	top->out = call->out;
	describe_targets(top);
	top->totals = (struct pd_top_totals){ .whom = top->whom,
					      .rate = top->rate,
					      .cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN) };
	if (top->values->input && has_targets(&top->values->targets))
		print_error("--input cannot be combined with recording options");
	else if (take_form(top))
		code = top->values->input ? show(top) : show_recorded(top);
	pd_sum_free(top->sum);
	output_fini(&top->frame);
	pd_select_free(top->select);
	record_fini(&top->setup);
	free(top);
	return code;
}

const struct command cmd_top = {
	.usage = "[OPTION]...",
	.text = "Live view of the hottest functions of the system or of some processes (like perf top), refreshed every two seconds. "
		"The options are those of perf top, sort keys and columns those of perfdata report. Old samples decay: counts are "
		"multiplied by 7/8 at each refresh.\n"
		"\n"
		"The first line shows the sample rate, the share of kernel samples, and losses since the start. Keys: q quit, d delay, f "
		"filter rows by text, s and S sort keys, e next event, n number of samples, z reset counts, p pause, K and U hide kernel "
		"or user symbols, h help. If standard output is not a terminal, tables are printed one after another.\n"
		"\n"
		"After 100,000 records about processes and mappings, state of exited processes is dropped and running processes are "
		"synthesized again.",
	TABLES(options, examples, struct top_values),
	DEFAULTS(.percent_limit = -1),
	.usual = "event freq call-graph all-cpus pid sort delay",
	.max_words = 0,
	.live = true,
	.run = run_top,
};
