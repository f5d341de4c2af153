/* SPDX-License-Identifier: MIT */
/*
 * perfdata top: where the time goes at this moment. A recorder is read while it records; every few seconds what came is
 * added to a sum that fades, and the sum is shown.
 */
#include "top/top.h"

#include "front/signals.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_SORT "dso,sym"

enum {
	RING_BYTES = 4 << 20,
	BATCH_ENTRIES = 25,
	STACK_MOST = 127,
	NOT_GIVEN = -1
};

#undef VALUES
#define VALUES struct top_values

static const struct option options[] = {
	GROUP(record_target_group, recording),
	GROUP(freq_option, recording.wanted),
	GROUP(count_option, recording.wanted),
	FLAG("g", 'g', recording.chains, "record call chains, to show callers and callees"),
	RECORDER("call-graph", 0, "HOW", recording.wanted, "record call chains: fp, dwarf or lbr"),
	GROUP(record_max_stack_option, recording.wanted),
	GROUP(stitch_option, stitch_lbr),
	GROUP(children_option, children),
	GROUP(no_children_option, no_children),
	GROUP(mmap_pages_option, recording.wanted),
	GROUP(realtime_option, recording.wanted),
	FLAG("all-cgroups", 0, recording.wanted.sampling.all_cgroups, "record cgroups, for the sort key cgroup"),
	STRING("delay", 'd', "SECONDS", delay, "time between refreshes (default: 2)"),
	INTEGER("entries", 'E', "N", settings.form.entries,
		"maximum number of rows (default: as many as fit the screen)"),
	STRING("sort", 's', "KEYS", settings.form.sort, "sort keys, as in perfdata report (default: " DEFAULT_SORT ")"),
	STRING("fields", 0, "LIST", settings.form.fields, "columns, as in perfdata report -F"),
	STRING("column-widths", 'w', "LIST", settings.form.widths, "column widths; 0: as wide as needed"),
	GROUP(show_samples_option, settings.form.samples),
	GROUP(show_period_option, settings.form.period),
	GROUP(percent_limit_option, settings.form.least_percent),
	CHOICE("percentage", 0, "HOW", settings.form.relative, "absolute|relative",
	       "percentages of all samples (absolute) or of those that match the filters (relative)"),
	STRING("ignore-callees", 0, "REGEX", settings.form.ignored_callees,
	       "samples in what these functions called are their own"),
	FLAG("raw-trace", 0, settings.form.raw_trace,
	     "show fields of tracepoints as numbers, one after another, not as their formats print them"),
	FLAG("zero", 'z', settings.zero, "reset counts at each refresh instead of decaying them"),
	FLAG("hide_kernel_symbols", 'K', settings.hide_kernel, "hide kernel symbols"),
	FLAG("hide_user_symbols", 'U', settings.hide_user, "hide user-space symbols"),
	STRING("comms", 0, "LIST", select.comms, "show only threads with these names"),
	STRING("dsos", 0, "LIST", select.dsos, "show only these objects"),
	STRING("symbols", 0, "LIST", select.symbols, "show only these functions"),
	FLAG("batch", 0, batch, "print one table after another (default if the output is not a terminal)"),
	NUMBER("iterations", 0, "N", iterations, "exit after N tables"),
	FLAG("json", 0, json, "print a JSON object per table, one per line"),
	STRING("input", 0, "FILE", input, "show a recording in progress instead of recording; - is standard input"),
	FLAG("force", 0, force, "ignored, for compatibility with perf: files of other users are read anyway"),
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

/* ---- what is asked for ---- */

/* "+KEYS" come after the usual ones. Who chooses columns has no others. */
static bool take_sort(const struct pd_top_form *form, char sort[PROMPT_MOST])
{
	const char *keys = form->sort;
	bool more = keys && *keys == '+';
	const char *own = keys ? keys + more : form->fields ? "" : DEFAULT_SORT;

	return snprintf(sort, PROMPT_MOST, "%s%s", more ? DEFAULT_SORT "," : "", own) < PROMPT_MOST ||
	       print_error("option --sort: longer than %d bytes", PROMPT_MOST - 1);
}

static void take_form(const struct top_values *values, struct pd_top_form *form)
{
	const struct pd_sampling *sampling = &values->recording.wanted.sampling;
	bool chains = sampling->call_graph ? sampling->call_graph > PD_CALL_GRAPH_NONE : values->recording.chains;

	form->children = chains && !values->no_children;
	form->graph = (struct pd_report_graph){ .kind = chains ? PD_REPORT_GRAPH_TREE : PD_REPORT_GRAPH_NONE,
						.least_percent = form->least_percent < 0 ? 0.5 : form->least_percent,
						.caller = form->children };
	form->least_percent = form->least_percent < 0 ? 0 : form->least_percent;
	form->max_stack = sampling->max_stack ? sampling->max_stack : STACK_MOST;
	form->event = PD_TOP_ALL_EVENTS;
}

static void describe_targets(const struct top_values *values, char whom[PROMPT_MOST])
{
	const struct record_values *targets = &values->recording;
	const struct {
		const char *before, *what;
	} kinds[] = { { "", values->input },
		      { "pid ", targets->pids },
		      { "tid ", targets->tids },
		      { "user ", targets->user },
		      { "on CPU ", targets->wanted.targets.cpus },
		      { "", "all" } };
	size_t i = 0;

	while (!kinds[i].what)
		i++;
	snprintf(whom, PROMPT_MOST, "%s%s", kinds[i].before, kinds[i].what);
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

static bool take_recorder(struct top *top, const struct call *call)
{
	const struct record_values *values = &top->values->recording;
	struct pd_recorder_options *wanted = &top->setup.options;

	if (!record_take(&top->setup, values, call) || !record_take_samples(&top->setup, values))
		return false;
	wanted->targets.all |= !pd_targets_are_given(&wanted->targets);
	wanted->sampling.time = true;
	wanted->session.build_ids = PD_BUILD_IDS_NONE;
	if (!wanted->session.ring_bytes)
		wanted->session.ring_bytes = RING_BYTES;
	wanted->note = report_note;
	wanted->self = top;
	return true;
}

/* ---- a table ---- */

static const char help_text[] =
	"\n  q  quit\n  d  delay between two tables\n  E  rows of a table\n  f  show only rows with a text in them\n"
	"  s  sort keys, such as comm,dso,sym     S  the next of the usual ones\n  e  next event\n  n  column of samples\n"
	"  z  begin at zero\n  p  pause: the table stays, recording goes on\n  K  without the kernel\n"
	"  U  without programs\n  h  this help\n\nAny key goes back.\n";

static bool draw_screen(struct top *top)
{
	struct pd_text *text = top->frame.text;
	bool done = true;

	pd_text_clear(text);
	top->frame.terminal = true;
	if (top->question)
		top_notice(top, "%s: %s_", top->question, top->answer);
	if (top->help)
		pd_text_add(text, help_text);
	else
		done = pd_top_session_text(top->session, top->screen.lines, top->notice, text, NULL) >= 0;
	if (!done || pd_text_failed(text))
		return false;
	screen_show(&top->screen, pd_text_bytes(text), top->out);
	return true;
}

static void draw(struct top *top)
{
	struct pd_text *text = top->out->text;
	bool done = top->screen.on    ? draw_screen(top) :
		    top->values->json ? pd_top_session_json(top->session, text, NULL) >= 0 :
					pd_top_session_text(top->session, 0, NULL, text, NULL) >= 0;

	top->drawn = true;
	if (!done)
		top->code = print_failure(CODE_UNREADABLE, "out of memory");
	if (!output_flush(top->out) || !done)
		top->over = true;
}

static bool on_step(void *self, enum pd_top_step step, struct pd_top_session *session)
{
	struct top *top = self;
	const struct option_number *most = &top->values->iterations;

	(void)session;
	if (step == PD_TOP_STEP_READ) {
		if (top_take_keys(top) && !top->over && top->drawn)
			draw(top);
		return !top->over;
	}
	draw(top);
	top->tables++;
	return !top->over && !(most->given && top->tables >= most->value);
}

/* ---- signals ---- */

static struct pd_top_session *running;

static void on_signal(int number)
{
	/* who reads a pipe may wait long */
	if (running)
		pd_top_session_stop(running);
	else
		screen_die(number);
}

static void catch_signals(struct top *top)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	running = top->recorder ? top->session : NULL;
	/* of a pipe see input_open */
	if (running || top->screen.on)
		signals_handle((const int[]){ SIGINT, 0 }, &action, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGTERM, SIGHUP, 0 }, &action, SIGNAL_ALWAYS);
	signals_handle((const int[]){ SIGPIPE, 0 }, &ignore, SIGNAL_ALWAYS);
}

/* ---- the session ---- */

static struct pd_symbols *open_symbols(void *self, struct pd_file *file, const struct pd_state *state)
{
	const struct top *top = self;

	return symbols_open(&top->values->symbols, file, state, true);
}

static void prepare_screen(struct top *top)
{
	const struct top_values *values = top->values;
	struct pd_top_settings *settings = top->settings;

	if (!values->batch && !values->json && !(values->input && !strcmp(values->input, "-")))
		screen_open(&top->screen);
	if (top->screen.on) {
		settings->form.event = 0;
		/* keys that may be asked for later */
		settings->by = PD_BY_COMM | PD_BY_PID | PD_BY_TID;
	}
	if (settings->form.entries == (size_t)NOT_GIVEN)
		settings->form.entries = top->screen.on || values->json ? 0 : BATCH_ENTRIES;
}

/* Until the end, a key or a signal. */
static void show(struct top *top)
{
	struct pd_error error;
	enum pd_status status;

	prepare_screen(top);
	catch_signals(top);
	status = pd_top_session_run(top->session, top->recorder, top->input.file, &error);
	screen_close(&top->screen);
	running = NULL;
	if (status == PD_ERROR_STOPPED)
		top->code = CODE_UNREADABLE; /* open_symbols said why */
	else if (status < 0)
		top->code = print_failure(CODE_UNREADABLE, "%s", error.message);
}

static int show_file(struct top *top, const struct call *call)
{
	const struct input_options from = { .path = top->values->input };
	struct call none = *call;
	int code;

	none.word_count = 0;
	code = input_open(&top->input, &from, &none, NULL, NULL);
	if (code != CODE_OK)
		return code;
	show(top);
	return input_close(&top->input, top->code);
}

static int show_recorded(struct top *top, const struct call *call)
{
	struct pd_recorded recorded;
	struct pd_error error;

	if (!take_recorder(top, call))
		return CODE_USAGE;
	if (pd_recorder_open(&top->setup.options, &top->recorder, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	show(top);
	pd_recorder_state(top->recorder, &recorded);
	pd_recorder_close(top->recorder);
	if (recorded.lost)
		print_error("%" PRIu64 " records lost; try larger ring buffers (-m 16M) or a lower frequency (-F)",
			    recorded.lost);
	return top->code;
}

static bool has_targets(const struct record_values *values)
{
	return pd_targets_are_given(&values->wanted.targets) || values->pids || values->tids || values->user ||
	       values->events.count;
}

/* Checks all options but those of the recorder. */
static bool open_session(struct top *top, struct pd_select *select)
{
	const struct top_values *values = top->values;
	char sort[PROMPT_MOST], whom[PROMPT_MOST];
	struct pd_top_session_options how = { .size = sizeof(how),
					      .settings = values->settings,
					      .whom = whom,
					      .symbols = open_symbols,
					      .step = on_step,
					      .stitch_lbr = values->stitch_lbr,
					      .self = top };
	struct pd_error error;

	if (!take_sort(&values->settings.form, sort))
		return false;
	if (values->settings.form.widths &&
	    pd_report_widths_parse(values->settings.form.widths, &(struct pd_report_text_options){ 0 }, &error) < 0)
		return print_error("option --column-widths: %s", error.message);
	if (values->delay && !top_parse_delay(values->delay, &how.settings.delay_ns))
		return print_error("option --delay: '%s' is not a number of seconds of at least 0.1", values->delay);
	describe_targets(values, whom);
	take_form(values, &how.settings.form);
	how.settings.form.sort = sort;
	how.settings.form.select = select;
	if (pd_top_session_new(&how, &top->session, &error) < 0)
		return print_error("%s", error.message);
	top->settings = pd_top_session_settings(top->session);
	return true;
}

static int run_top(const struct call *call)
{
	const struct top_values *values = call->values;
	struct top top = { .values = values, .out = call->out };
	struct pd_select *select = NULL;
	int code = CODE_USAGE;

	if (values->input && has_targets(&values->recording))
		print_error("--input cannot be combined with recording options");
	else if (!output_init(&top.frame, -1))
		code = print_failure(CODE_UNREADABLE, "out of memory");
	else if (select_take(&select, &values->select) && open_session(&top, select))
		code = values->input ? show_file(&top, call) : show_recorded(&top, call);
	pd_top_session_free(top.session);
	output_fini(&top.frame);
	pd_select_free(select);
	record_fini(&top.setup);
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
	DEFAULTS(.settings.form = { .entries = (size_t)NOT_GIVEN, .least_percent = NOT_GIVEN }),
	.usual = "event freq call-graph all-cpus pid sort delay",
	.max_words = 0,
	.live = true,
	.run = run_top,
};
