/* SPDX-License-Identifier: MIT */
/*
 * perfdata top: where the time goes at this moment. A recorder is read while it records; every few seconds what came is
 * added to a sum that fades, and the sum is shown.
 */
#include "top.h"

#include "record_options.h"
#include "record_values.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SORT "dso,sym"

enum {
	/* Records of processes that came and went, after which what is known of them is forgotten. */
	GROWN_MOST = 100000,
	RING_BYTES = 4 << 20,
	BATCH_ENTRIES = 25,
	STACK_MOST = 127
};

struct values {
	struct target_values targets;
	struct sample_values samples;
	struct symbol_options symbols;
	struct select_options select;
	const char *input;
	const char *delay;
	struct option_number entries, iterations, priority;
	const char *sort;
	const char *percent_limit;
	bool batch, json, stdio;
	bool zero, show_samples, show_period;
	bool hide_kernel, hide_user;
	bool children, no_children;
	bool verbose;
};

static const struct option options[] = {
	RECORD_TARGET_OPTIONS(struct values, targets),
	{ "freq", 'F', OPTION_STRING, "N", offsetof(struct values, samples.freq),
	  "sampling frequency in Hz, or max (default: 4000)" },
	{ "count", 'c', OPTION_NUMBER, "N", offsetof(struct values, samples.period),
	  "sample every N-th event (sampling period)" },
	{ "g", 'g', OPTION_FLAG, NULL, offsetof(struct values, samples.g),
	  "record call chains, to show callers and callees" },
	{ "call-graph", 0, OPTION_STRING, "HOW", offsetof(struct values, samples.call_graph),
	  "record call chains: fp or lbr" },
	{ "max-stack", 0, OPTION_NUMBER, "N", offsetof(struct values, samples.max_stack),
	  "maximum depth of call chains" },
	{ "children", 0, OPTION_FLAG, NULL, offsetof(struct values, children),
	  "add the cost of callees to their callers (default with call chains)" },
	{ "no-children", 0, OPTION_FLAG, NULL, offsetof(struct values, no_children), "show self cost only" },
	{ "mmap-pages", 'm', OPTION_STRING, "PAGES", offsetof(struct values, samples.ring),
	  "ring buffer size per CPU: pages, or 512K, 16M" },
	{ "realtime", 'r', OPTION_NUMBER, "PRIORITY", offsetof(struct values, priority),
	  "run with this SCHED_FIFO priority" },
	{ "all-cgroups", 0, OPTION_FLAG, NULL, offsetof(struct values, samples.all_cgroups),
	  "record cgroups, for the sort key cgroup" },
	{ "delay", 'd', OPTION_STRING, "SECONDS", offsetof(struct values, delay),
	  "time between refreshes (default: 2)" },
	{ "entries", 'E', OPTION_NUMBER, "N", offsetof(struct values, entries),
	  "maximum number of rows (default: as many as fit the screen)" },
	{ "sort", 's', OPTION_STRING, "KEYS", offsetof(struct values, sort),
	  "sort keys, as in perfdata report (default: " DEFAULT_SORT ")" },
	{ "show-nr-samples", 'n', OPTION_FLAG, NULL, offsetof(struct values, show_samples),
	  "show the number of samples" },
	{ "show-total-period", 0, OPTION_FLAG, NULL, offsetof(struct values, show_period), "show the sum of periods" },
	{ "percent-limit", 0, OPTION_STRING, "PERCENT", offsetof(struct values, percent_limit),
	  "hide rows below this percentage" },
	{ "zero", 'z', OPTION_FLAG, NULL, offsetof(struct values, zero),
	  "reset counts at each refresh instead of decaying them" },
	{ "hide_kernel_symbols", 'K', OPTION_FLAG, NULL, offsetof(struct values, hide_kernel), "hide kernel symbols" },
	{ "hide_user_symbols", 'U', OPTION_FLAG, NULL, offsetof(struct values, hide_user), "hide user-space symbols" },
	{ "comms", 0, OPTION_STRING, "LIST", offsetof(struct values, select.comms),
	  "show only threads with these names" },
	{ "dsos", 0, OPTION_STRING, "LIST", offsetof(struct values, select.dsos), "show only these objects" },
	{ "symbols", 0, OPTION_STRING, "LIST", offsetof(struct values, select.symbols), "show only these functions" },
	{ "batch", 0, OPTION_FLAG, NULL, offsetof(struct values, batch),
	  "print one table after another (default if the output is not a terminal)" },
	{ "iterations", 0, OPTION_NUMBER, "N", offsetof(struct values, iterations), "exit after N tables" },
	{ "json", 0, OPTION_FLAG, NULL, offsetof(struct values, json), "print a JSON object per table, one per line" },
	{ "input", 0, OPTION_STRING, "FILE", offsetof(struct values, input),
	  "show a recording in progress instead of recording; - is standard input" },
	{ "stdio", 0, OPTION_FLAG, NULL, offsetof(struct values, stdio), "no effect: there is no other interface" },
	{ "verbose", 'v', OPTION_FLAG, NULL, offsetof(struct values, verbose), "print more diagnostics" },
	SYMBOL_OPTIONS(struct values, symbols),
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

struct top {
	const struct values *values;
	struct output *out;
	const struct call *call;
	struct record_setup setup;
	struct pd_recorder_options wanted;
	struct pd_recorder *recorder; /* NULL: a file is read */
	/* from one beginning to the next */
	struct input input;
	struct pd_live *live;
	struct pd_symbols *symbols;
	uint32_t by; /* of live */
	/* what is shown */
	struct pd_sum *sum;
	struct select select;
	struct look look;
	struct state state;
	char sort[PROMPT_MOST], filter[PROMPT_MOST], whom[PROMPT_MOST], rate[64], notice[2 * PROMPT_MOST];
	bool hide_kernel, hide_user;
	double delay, last; /* seconds */
	uint64_t tables;
	/* the terminal */
	struct screen screen;
	struct output frame;
	bool paused, help, drawn;
	const char *question; /* that is being answered, or NULL */
	char answer[PROMPT_MOST];
	size_t answer_length;
	int question_key;
	bool begins_anew; /* the stream will end, another one begins */
	bool over;
	int code;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool out_of_memory(struct top *top)
{
	complain("out of memory");
	top->code = CODE_UNREADABLE;
	top->over = true;
	return false;
}

static void set_notice(struct top *top, const char *format, ...) PD_PRINTF(2, 3);

static void set_notice(struct top *top, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(top->notice, sizeof(top->notice), format, arguments);
	va_end(arguments);
}

/* ---- what is asked for ---- */

static bool parse_seconds(const char *text, double *seconds_out)
{
	char *end;

	*seconds_out = strtod(text, &end);
	return end != text && !*end && *seconds_out >= 0.1 && *seconds_out <= 86400;
}

static bool parse_percent(const char *text, double *percent_out)
{
	char *end;

	*percent_out = strtod(text, &end);
	return end != text && !*end && *percent_out >= 0 && *percent_out <= 100;
}

static bool take_look(struct top *top)
{
	const struct values *values = top->values;
	bool chains = values->samples.g || values->samples.call_graph;
	const char *sort = values->sort ? values->sort : DEFAULT_SORT;

	snprintf(top->sort, sizeof(top->sort), "%s%s", *sort == '+' ? DEFAULT_SORT "," : "", sort + (*sort == '+'));
	top->look = (struct look){
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
		.select = &top->select,
		.event = ALL_EVENTS,
	};
	top->hide_kernel = values->hide_kernel;
	top->hide_user = values->hide_user;
	top->delay = 2;
	if (values->delay && !parse_seconds(values->delay, &top->delay)) {
		complain("option --delay: '%s' is not a number of seconds of at least 0.1", values->delay);
		return false;
	}
	if (values->percent_limit && !parse_percent(values->percent_limit, &top->look.least)) {
		complain("option --percent-limit: '%s' is not a percentage", values->percent_limit);
		return false;
	}
	if (values->percent_limit)
		top->look.graph.least_percent = top->look.least;
	return select_take(&top->select, &values->select) && table_by(&top->look, &top->by);
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
	const struct values *values = top->values;
	struct pd_recorder_options *wanted = &top->wanted;
	struct pd_targets *targets = &wanted->targets;

	*wanted = (struct pd_recorder_options){ .size = sizeof(*wanted), .fd = -1 };
	if (!record_take_targets(&top->setup, &values->targets, top->call, wanted) ||
	    !record_take_samples(&values->samples, wanted))
		return false;
	if (wanted->sampling.call_graph == PD_CALL_GRAPH_DWARF) {
		complain("option --call-graph: top supports only fp and lbr");
		return false;
	}
	if (!targets->cpus && !targets->pids.count && !targets->tids.count && !targets->by_user)
		targets->all = true;
	wanted->sampling.time = true;
	wanted->session.build_ids = PD_BUILD_IDS_NONE;
	wanted->session.priority = (int)values->priority.value;
	if (!wanted->session.ring_bytes)
		wanted->session.ring_bytes = RING_BYTES;
	return true;
}

static void tell_note(void *self, const struct pd_recorder_note *note)
{
	struct top *top = self;

	if (top->screen.on)
		set_notice(top, "%s%s%s", note->message, note->advice ? "; try: " : "",
			   note->advice ? note->advice : "");
	else if (note->severity > PD_INFO || top->values->verbose)
		complain("%s%s%s", note->message, note->advice ? "; try: " : "", note->advice ? note->advice : "");
}

/* ---- from a beginning to the next ---- */

static enum pd_choice choose(const void *self, const struct pd_candidate *candidate)
{
	const struct top *top = self;
	unsigned mode = candidate->brief->cpumode;

	if ((top->hide_kernel && mode == PD_CPUMODE_KERNEL) || (top->hide_user && mode == PD_CPUMODE_USER))
		return PD_CHOICE_LEAVE;
	return select_choose(&top->select, candidate);
}

static enum pd_status open_file(struct top *top, struct pd_error *error)
{
	struct input_options from = { .path = top->values->input };
	struct call none = *top->call;

	if (top->recorder)
		return pd_recorder_open_file(top->recorder, NULL, &top->input.file, error);
	none.word_count = 0;
	top->code = input_open(&top->input, &from, &none, NULL, NULL);
	top->over = top->code != CODE_FINE;
	return top->over ? PD_END : PD_OK;
}

static enum pd_status begin(struct top *top, struct pd_error *error)
{
	struct pd_live_options how = { .size = sizeof(how), .choose = choose, .self = top };
	enum pd_status status = open_file(top, error);

	if (status != PD_OK)
		return status;
	if (!table_by(&top->look, &top->by)) {
		top->code = CODE_USAGE;
		return PD_END;
	}
	/* keys that may be asked for later */
	if (top->screen.on)
		top->by |= PD_BY_COMM | PD_BY_PID | PD_BY_TID;
	how.by = top->by;
	how.max_stack = top->look.children ? 0 : (unsigned)top->look.max_stack;
	status = pd_live_new(top->input.file, &how, &top->live, error);
	if (status < 0)
		return status;
	top->symbols = symbols_open(&top->values->symbols, top->input.file, pd_live_world(top->live), true);
	if (!top->symbols)
		top->code = CODE_UNREADABLE;
	return top->symbols ? PD_OK : PD_END;
}

static void end(struct top *top)
{
	pd_symbols_free(top->symbols);
	pd_live_free(top->live);
	if (top->recorder)
		pd_file_close(top->input.file);
	else if (top->input.file)
		top->code = input_close(&top->input, top->code);
	top->symbols = NULL;
	top->live = NULL;
	top->input.file = NULL;
}

/* ---- a table ---- */

static void count_samples(struct top *top, const struct pd_profile *profile)
{
	const struct pd_profile_losses *losses = pd_profile_losses(profile);
	const struct pd_profile_entry *entry;
	struct state *state = &top->state;

	state->samples = state->kernel_samples = 0;
	for (size_t i = 0; (entry = pd_profile_entry(profile, i)) != NULL; i++) {
		const struct pd_stack *stack = pd_profile_stack(profile, entry->stack);

		state->samples += entry->samples;
		if (pd_profile_frame(profile, stack->ip)->cpumode == PD_CPUMODE_KERNEL)
			state->kernel_samples += entry->samples;
	}
	state->all_samples += state->samples;
	state->lost += losses->lost + losses->lost_samples;
}

static void count_threads(struct top *top)
{
	const struct pd_world *world = pd_live_world(top->live);
	const struct pd_thread *thread;

	top->state.threads = 0;
	for (size_t i = 0; (thread = pd_world_thread(world, i)) != NULL; i++)
		top->state.threads += thread->tid && thread->end.time_ns == PD_NEVER;
}

static void describe_rate(struct top *top)
{
	size_t event = top->look.event == ALL_EVENTS ? 0 : top->look.event;
	const struct pd_attr *attr;

	if (event >= pd_file_event_count(top->input.file))
		return;
	attr = pd_file_event(top->input.file, event)->attr;
	if (attr->flags & PD_MASK(PD_ATTR_FREQ))
		snprintf(top->rate, sizeof(top->rate), "%" PRIu64 " Hz", attr->sample_period);
	else
		snprintf(top->rate, sizeof(top->rate), "period %" PRIu64, attr->sample_period);
}

/* What came since the last time goes into the sum. */
static bool take(struct top *top)
{
	struct pd_profile *profile = NULL;
	struct pd_error error;
	double now = seconds();
	enum pd_status status = pd_live_take(top->live, &profile, &error);

	if (status >= 0)
		status = pd_profile_name(profile, top->symbols, &error);
	if (status >= 0 && !top->paused)
		status = pd_sum_fade(top->sum, top->values->zero ? 0 : 7, top->values->zero ? 1 : 8, &error);
	if (status >= 0)
		status = pd_sum_add(top->sum, profile, &error);
	if (status >= 0) {
		count_samples(top, profile);
		count_threads(top);
		describe_rate(top);
		top->state.seconds = now - top->last;
		top->last = now;
	}
	pd_profile_free(profile);
	if (status >= 0)
		return true;
	complain("%s", error.message);
	top->code = CODE_UNREADABLE;
	top->over = true;
	return false;
}

static const char help_text[] =
	"\n  q  quit\n  d  delay between two tables\n  E  rows of a table\n  f  show only rows with a text in them\n"
	"  s  sort keys, such as comm,dso,sym     S  the next of the usual ones\n  e  next event\n  n  column of samples\n"
	"  z  begin at zero\n  p  pause: the table stays, recording goes on\n  K  without the kernel\n"
	"  U  without programs\n  h  this help\n\nAny key goes back.\n";

static void draw_screen(struct top *top, const struct shown *shown)
{
	struct pd_text *text = top->frame.text;
	bool done = true;

	pd_text_clear(text);
	top->frame.terminal = true;
	top->state.notice = top->notice;
	if (top->question)
		set_notice(top, "%s: %s_", top->question, top->answer);
	if (top->help)
		pd_text_add(text, help_text);
	else
		done = table_text(&top->look, &top->state, shown, top->screen.lines, &top->frame);
	if (!done || pd_text_failed(text))
		out_of_memory(top);
	else
		screen_show(&top->screen, pd_text_bytes(text), top->out);
}

static void draw(struct top *top)
{
	struct shown shown = { top->input.file, pd_sum_profile(top->sum, top->input.file, pd_live_world(top->live)),
			       top->symbols };
	bool done = true;

	top->drawn = true;
	if (top->screen.on) {
		draw_screen(top, &shown);
	} else {
		done = top->values->json ? table_json(&top->look, &top->state, &shown, top->out) :
					   table_text(&top->look, &top->state, &shown, 0, top->out);
		if (!done)
			out_of_memory(top);
	}
	if (!output_flush(top->out))
		top->over = true;
}

static void refresh(struct top *top)
{
	if (!take(top))
		return;
	if (!top->paused)
		draw(top);
	top->tables++;
	if (top->values->iterations.given && top->tables >= top->values->iterations.value)
		top->over = true;
}

static void begin_anew(struct top *top)
{
	if (!top->recorder)
		return;
	top->begins_anew = true;
	pd_recorder_switch(top->recorder);
}

/* ---- keys ---- */

static void next_sort(struct top *top)
{
	static const char *const usual[] = { "dso,sym", "comm,dso,sym", "sym", "dso", "comm", "pid", "comm,dso" };
	enum {
		COUNT = sizeof(usual) / sizeof(usual[0])
	};
	size_t at = 0;

	while (at < COUNT && strcmp(usual[at], top->sort) != 0)
		at++;
	snprintf(top->sort, sizeof(top->sort), "%s", usual[(at + 1) % COUNT]);
	set_notice(top, "sorted by %s", top->sort);
}

/* The next that has samples. */
static void next_event(struct top *top)
{
	size_t count = pd_file_event_count(top->input.file);
	const struct pd_profile *profile = pd_sum_profile(top->sum, top->input.file, pd_live_world(top->live));

	for (size_t i = 0; i < count; i++) {
		const struct pd_profile_total *total;

		top->look.event = top->look.event == ALL_EVENTS ? 1 : top->look.event + 1;
		top->look.event = top->look.event < count ? top->look.event : 0;
		total = pd_profile_total(profile, top->look.event);
		if (total && total->period)
			break;
	}
	describe_rate(top);
}

static void take_sort(struct top *top, const char *keys)
{
	char before[PROMPT_MOST];
	uint32_t by;

	memcpy(before, top->sort, sizeof(before));
	snprintf(top->sort, sizeof(top->sort), "%s", keys);
	/* what is wrong would be told on the screen */
	for (const char *at = keys; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		if (!pd_report_key_by_name(at, strcspn(at, ",")) || !strncmp(at, "src", 3) || !strncmp(at, "time", 4)) {
			memcpy(top->sort, before, sizeof(before));
			set_notice(top, "sort key '%.*s' is not supported by top", (int)strcspn(at, ","), at);
			return;
		}
	if (!table_by(&top->look, &by) || !(by & ~top->by))
		return;
	/* samples so far were not told apart by that */
	pd_sum_fade(top->sum, 0, 1, NULL);
	begin_anew(top);
}

static void take_answer(struct top *top)
{
	const char *answer = top->answer;
	uint64_t number;

	top->question = NULL;
	set_notice(top, "%s", "");
	if (top->question_key == 'f')
		snprintf(top->filter, sizeof(top->filter), "%s", answer);
	else if (top->question_key == 's' && *answer)
		take_sort(top, answer);
	else if (top->question_key == 'E' && number_parse(answer, &number))
		top->look.entries = (size_t)number;
	else if (top->question_key == 'd' && !parse_seconds(answer, &top->delay))
		set_notice(top, "'%s' is not a number of seconds of at least 0.1", answer);
	if (top->delay < 0.1)
		top->delay = 2;
	if (*top->filter && top->question_key == 'f')
		set_notice(top, "only rows with '%s'", top->filter);
}

static void ask(struct top *top, int key, const char *question)
{
	top->question = question;
	top->question_key = key;
	top->answer_length = 0;
	top->answer[0] = 0;
}

static void type(struct top *top, int key)
{
	enum {
		ESCAPE = 27,
		DELETE = 127
	};

	if (key == '\n' || key == '\r') {
		take_answer(top);
	} else if (key == ESCAPE) {
		top->question = NULL;
		set_notice(top, "%s", "");
	} else if (key == DELETE || key == '\b') {
		top->answer[top->answer_length -= top->answer_length > 0] = 0;
	} else if (key >= ' ' && top->answer_length + 1 < sizeof(top->answer)) {
		top->answer[top->answer_length++] = (char)key;
		top->answer[top->answer_length] = 0;
	}
}

static void press(struct top *top, int key)
{
	switch (key) {
	case 'q':
		top->over = true;
		break;
	case 'd':
		ask(top, key, "seconds between two tables");
		break;
	case 'E':
		ask(top, key, "rows (0: as many as fit)");
		break;
	case 'f':
		ask(top, key, "only rows with this text (empty: all)");
		break;
	case 's':
		ask(top, key, "sort keys");
		break;
	case 'S':
		next_sort(top);
		break;
	case 'e':
		next_event(top);
		break;
	case 'n':
		top->look.samples = !top->look.samples;
		break;
	case 'z':
		pd_sum_fade(top->sum, 0, 1, NULL);
		break;
	case 'p':
		top->paused = !top->paused;
		set_notice(top, "%s", top->paused ? "paused" : "");
		break;
	case 'K':
		top->hide_kernel = !top->hide_kernel;
		set_notice(top, "%s the kernel", top->hide_kernel ? "without" : "with");
		break;
	case 'U':
		top->hide_user = !top->hide_user;
		set_notice(top, "%s programs", top->hide_user ? "without" : "with");
		break;
	case 'h':
	case '?':
		top->help = true;
		break;
	default:
		break;
	}
}

static void take_keys(struct top *top)
{
	bool any = screen_changed(&top->screen);
	int key;

	while (!top->over && (key = screen_key(&top->screen)) != 0) {
		any = true;
		if (top->help)
			top->help = false;
		else if (top->question)
			type(top, key);
		else
			press(top, key);
	}
	if (any && !top->over && top->drawn)
		draw(top);
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
		sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

/* ---- the loop ---- */

/* What came and went since the beginning need not be remembered: a new beginning describes what runs by then. */
static void forget(struct top *top)
{
	uint64_t first, all;

	pd_live_grown(top->live, &first, &all);
	if (all - first > GROWN_MOST && all > 2 * first)
		begin_anew(top);
}

static enum pd_status watch(struct top *top, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (!top->over && !stopped && (status = pd_live_read(top->live, error)) == PD_OK) {
		take_keys(top);
		if (top->over || seconds() - top->last < top->delay)
			continue;
		refresh(top);
		forget(top);
	}
	return status;
}

/* The end of the recording is shown; a new beginning only goes on. */
static void end_stream(struct top *top)
{
	if (take(top) && !top->begins_anew)
		draw(top);
	top->over |= !top->begins_anew;
	top->begins_anew = false;
}

static enum pd_status watch_all(struct top *top, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	top->last = seconds();
	while (!top->over && !stopped && (status = begin(top, error)) == PD_OK) {
		status = watch(top, error);
		if (status == PD_END && !top->over && !stopped)
			end_stream(top);
		end(top);
		if (!top->recorder)
			break;
	}
	end(top);
	return status;
}

static int show(struct top *top)
{
	struct pd_error error;
	enum pd_status status;

	if (pd_sum_new(&top->sum, &error) < 0 || !output_init(&top->frame, -1)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	if (!top->values->batch && !top->values->json && !(top->values->input && !strcmp(top->values->input, "-")))
		screen_open(&top->screen);
	catch_signals(top);
	top->look.event = top->screen.on ? 0 : ALL_EVENTS;
	if (!top->screen.on && !top->values->entries.given && !top->values->json)
		top->look.entries = BATCH_ENTRIES;
	status = watch_all(top, &error);
	screen_close(&top->screen);
	if (status < 0) {
		complain("%s", error.message);
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
	top->wanted.note = tell_note;
	top->wanted.self = top;
	if (pd_recorder_open(&top->wanted, &top->recorder, &error) < 0) {
		complain("%s", error.message);
		return CODE_UNREADABLE;
	}
	code = show(top);
	running = NULL;
	pd_recorder_state(top->recorder, &recorded);
	pd_recorder_close(top->recorder);
	if (recorded.lost)
		complain("%" PRIu64 " records lost; try larger ring buffers (-m 16M) or a lower frequency (-F)",
			 recorded.lost);
	return code;
}

static bool has_targets(const struct target_values *values)
{
	return values->all || values->pids || values->tids || values->user || values->cpus || values->events.count;
}

static int run(const struct call *call)
{
	struct top *top = calloc(1, sizeof(*top));
	int code = CODE_USAGE;

	if (!top) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	top->values = call->values;
	top->call = call;
	top->out = call->out;
	describe_targets(top);
	top->state =
		(struct state){ .whom = top->whom, .rate = top->rate, .cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN) };
	if (top->values->input && has_targets(&top->values->targets))
		complain("--input cannot be combined with recording options");
	else if (take_look(top))
		code = top->values->input ? show(top) : show_recorded(top);
	pd_sum_free(top->sum);
	output_fini(&top->frame);
	select_fini(&top->select);
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
	.options = options,
	.examples = examples,
	.usual = "event freq call-graph all-cpus pid sort delay",
	.values_size = sizeof(struct values),
	.max_words = 0,
	.live = true,
	.run = run,
};
