/* SPDX-License-Identifier: MIT */
/* perfdata stat while it counts: what is wanted, run after run, round after round, until the end. */
#include "stat_live.h"

#include "record_control.h"
#include "record_values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_RUNS = 100,
	LEAST_TIMEOUT_MS = 10,
	NS_OF_MS = 1000000
};

static const char *const default_events = "context-switches,cpu-migrations,page-faults,cycles,instructions,branches,"
					  "branch-misses";
static const char *const detailed_events[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

/* What needs no more than events that every kernel names. */
static const struct {
	const char *name, *events;
} metrics[] = {
	{ "IPC", "cycles,instructions" },
	{ "branch-misses", "branches,branch-misses" },
	{ "cache-misses", "cache-references,cache-misses" },
	{ "CPUs-utilized", "task-clock" },
	{ "frequency", "task-clock,cycles" },
	{ "L1-misses", "L1-dcache-loads,L1-dcache-load-misses" },
	{ "LLC-misses", "LLC-loads,LLC-load-misses" },
	{ "page-fault-rate", "task-clock,page-faults" },
	{ "stalls", "cycles,instructions,stalled-cycles-frontend,stalled-cycles-backend" },
	{ "switch-rate", "task-clock,context-switches" },
	{ "TLB-misses", "dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses" },
};

struct live {
	const struct stat_values *values;
	const struct call *call;
	struct pd_recorder_options options;
	struct record_setup setup;
	char *cgroup_text;
	const char **cgroups; /* of each event of --for-each-cgroup */
	bool only_command, file;
	int64_t delay_ms;
	uint64_t interval_ns;
	enum stat_by by;
	struct stat_table table;
	char **names; /* of the events, as they were opened */
	struct stat_printer printer;
	struct output out;
	bool has_out, unwritable;
	struct pd_recorder *recorder;
	struct pd_recorded recorded;
	uint64_t start_ns;
	unsigned rounds;
	bool stop; /* no more runs */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- what is wanted ---- */

static bool add_text(struct live *live, const char *text)
{
	struct pd_error error;

	if (pd_events_add(live->setup.events, text, &error) >= 0)
		return true;
	complain("%s", error.message);
	return false;
}

static bool add_metrics(struct live *live, const char *names)
{
	for (const char *at = names; *at;) {
		size_t length = strcspn(at, ","), i = 0, count = sizeof(metrics) / sizeof(metrics[0]);

		while (i < count &&
		       (strlen(metrics[i].name) != length || strncasecmp(metrics[i].name, at, length) != 0))
			i++;
		if (i == count) {
			complain(
				"option --metrics: unknown metric '%.*s'; available: IPC, "
				"branch-misses, cache-misses, CPUs-utilized, frequency, L1-misses, LLC-misses, page-fault-rate, "
				"stalls, switch-rate, TLB-misses",
				(int)length, at);
			return false;
		}
		if (!add_text(live, metrics[i].events))
			return false;
		at += length + (at[length] == ',');
	}
	return true;
}

static bool is_system_wide(const struct live *live)
{
	return live->options.targets.all || live->options.targets.cpus;
}

/* The first of these lists of which the machine has all events; NULL at the end. */
static const char *add_first(struct live *live, const char *const *lists)
{
	while (*lists && pd_events_add(live->setup.events, *lists, NULL) < 0)
		lists++;
	return *lists;
}

static bool add_transactions(struct live *live)
{
	static const char *const lists[] = {
		"task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,cpu/el-start/,cpu/cycles-ct/}",
		"task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/}", NULL
	};

	if (add_first(live, lists))
		return true;
	complain(
		"option --transaction: no event cpu/tx-start/: the CPU lacks TSX, it is disabled, or no hardware counters are "
		"available (virtual machine?)");
	return false;
}

/* What the CPU works out is of each thread; counters of slots are those of a whole core. */
static bool add_topdown(struct live *live)
{
	static const char *const lists[] = {
		"{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}",
		"{topdown-total-slots,topdown-slots-retired,topdown-recovery-bubbles,topdown-fetch-bubbles,topdown-slots-issued}",
		NULL
	};
	const char *found = add_first(live, lists);

	if (!found)
		complain(
			"option --topdown: no events slots, topdown-retiring ... or topdown-total-slots ...: they need an Intel CPU with "
			"hardware counters (virtual machine?)");
	if (found != lists[1])
		return found;
	if (!is_system_wide(live)) {
		complain("option --topdown: slots are counted per core on this machine; use -a");
		return false;
	}
	live->by = STAT_BY_CORE;
	return true;
}

/* Those that are counted when nothing was said. */
static bool add_missing_events(struct live *live)
{
	const struct stat_values *values = live->values;

	if (values->null)
		return true;
	if (values->metrics && !add_metrics(live, values->metrics))
		return false;
	if (values->transaction)
		return add_transactions(live);
	if (values->topdown)
		return add_topdown(live);
	if (!record_has_events(&values->targets) && !values->metrics &&
	    (!add_text(live, is_system_wide(live) ? "cpu-clock" : "task-clock") || !add_text(live, default_events)))
		return false;
	for (size_t i = 0; i < values->detailed.count && i < 3; i++)
		if (!add_text(live, detailed_events[i]))
			return false;
	return true;
}

/* Exactly one target: what names it most closely. */
static bool take_targets(struct live *live)
{
	const struct stat_values *values = live->values;
	struct pd_targets *targets = &live->options.targets;
	bool tasks = targets->pids.count || targets->tids.count || targets->by_user;
	struct pd_error error;

	if (tasks && (targets->all || targets->cpus)) {
		complain("-%c has no effect: processes and threads are counted on all CPUs", targets->all ? 'a' : 'C');
		targets->all = false;
		targets->cpus = NULL;
	}
	if (targets->pids.count)
		targets->tids = (struct pd_u32s){ 0 };
	if (!tasks && !targets->cpus && !targets->command)
		targets->all = true;
	live->only_command = targets->command && !is_system_wide(live) && !tasks;
	targets->per_thread = values->per_thread || !is_system_wide(live);
	if (targets->cpus && !values->per_thread)
		targets->all = true;
	if (values->null) {
		pd_events_free(live->setup.events);
		live->setup.events = NULL;
		live->options.events = NULL;
		return pd_events_new(NULL, &live->setup.events, &error) >= 0;
	}
	return true;
}

static bool take_by(struct live *live)
{
	const struct stat_values *values = live->values;
	bool some = stat_by_given(&values->by, &live->by);

	if (some && values->per_thread) {
		complain("--per-thread, --per-core, --no-aggr ... are mutually exclusive");
		return false;
	}
	if (values->per_thread)
		live->by = STAT_BY_THREAD;
	if ((some || live->options.targets.cgroup_count || values->for_each_cgroup) && !is_system_wide(live)) {
		complain("counting per CPU or cgroup is system-wide; use -a");
		return false;
	}
	if (values->per_thread && live->only_command) {
		complain("option --per-thread needs -p, -t or -a");
		return false;
	}
	return true;
}

/* Names with commas between them, each once; returns how many. */
static size_t split_names(char *text, const char **names)
{
	size_t count = 0, i;
	const char *name;

	while ((name = strsep(&text, ",")) != NULL) {
		for (i = 0; i < count && strcmp(names[i], name) != 0;)
			i++;
		if (i == count)
			names[count++] = name;
	}
	return count;
}

/* All events once more for each cgroup. */
static bool take_each_cgroup(struct live *live)
{
	size_t count = 1, each = pd_events_count(live->setup.events);
	const char **names;

	if (!live->values->for_each_cgroup)
		return true;
	if (live->options.targets.cgroup_count) {
		complain("--for-each-cgroup and --cgroup are mutually exclusive");
		return false;
	}
	for (const char *c = live->values->for_each_cgroup; *c; c++)
		count += *c == ',';
	live->cgroup_text = strdup(live->values->for_each_cgroup);
	live->cgroups = calloc(count * (each + 1) + 1, sizeof(*live->cgroups));
	if (!live->cgroup_text || !live->cgroups) {
		complain("out of memory");
		return false;
	}
	/* behind those of the events */
	names = live->cgroups + count * each;
	count = split_names(live->cgroup_text, names);
	for (size_t i = 0; i < count; i++) {
		if (i && !record_add_events(&live->setup, &live->values->targets))
			return false;
		if (i && !add_missing_events(live))
			return false;
		for (size_t j = 0; j < each; j++)
			live->cgroups[i * each + j] = names[i];
	}
	live->options.targets.cgroups = live->cgroups;
	live->options.targets.cgroup_count = count * each;
	return pd_events_count(live->setup.events) == count * each;
}

static bool take_times(struct live *live)
{
	const struct stat_values *values = live->values;
	char *end;

	if (values->delay) {
		live->delay_ms = strtoll(values->delay, &end, 10);
		if (*end || end == values->delay || live->delay_ms < -1) {
			complain("option --delay: '%s' is not a number of milliseconds", values->delay);
			return false;
		}
	}
	live->options.session.delay_ms = live->delay_ms;
	if (values->interval_ms.value > UINT64_MAX / NS_OF_MS || values->timeout_ms.value > UINT64_MAX / NS_OF_MS / 2) {
		complain("options --interval-print and --timeout: the value is too large");
		return false;
	}
	live->interval_ns = values->interval_ms.value * NS_OF_MS;
	if (values->timeout_ms.given && values->timeout_ms.value < LEAST_TIMEOUT_MS) {
		complain("option --timeout: must be at least %d ms", LEAST_TIMEOUT_MS);
		return false;
	}
	if (values->timeout_ms.given && live->interval_ns) {
		complain("--timeout cannot be combined with --interval-print; use --interval-count");
		return false;
	}
	if (values->interval_count.given && !live->interval_ns) {
		complain("option --interval-count needs --interval-print");
		return false;
	}
	return true;
}

static bool take_runs(struct live *live)
{
	const struct stat_values *values = live->values;

	if (values->repeat.value > MOST_RUNS) {
		complain("option --repeat: at most %d runs; 0 repeats forever", MOST_RUNS);
		return false;
	}
	if (values->repeat.given && values->repeat.value != 1 && live->file) {
		complain("--repeat cannot be combined with stat record: a file holds one run");
		return false;
	}
	if (values->table && values->repeat.value < 2) {
		complain("option --table needs --repeat");
		return false;
	}
	if (values->repeat.given && live->interval_ns) {
		complain("--repeat cannot be combined with --interval-print");
		return false;
	}
	return true;
}

static bool take_output(struct live *live)
{
	const struct stat_values *values = live->values;
	int fd = STDERR_FILENO;

	if (values->separator && (values->json || values->json_output)) {
		complain("--field-separator and --json are mutually exclusive");
		return false;
	}
	if (values->big_num && values->separator) {
		complain("--big-num cannot be combined with --field-separator");
		return false;
	}
	if (values->output && values->log_fd.given && !live->file) {
		complain("--output and --log-fd are mutually exclusive");
		return false;
	}
	if (values->log_fd.given)
		fd = values->log_fd.value < 1 << 20 ? (int)values->log_fd.value : -1;
	if (fd < 0 || fcntl(fd, F_GETFD) < 0) {
		complain("option --log-fd: descriptor %" PRIu64 " is not open", values->log_fd.value);
		return false;
	}
	if (values->output && !live->file) {
		fd = open(values->output, O_WRONLY | O_CREAT | O_CLOEXEC | (values->append ? O_APPEND : O_TRUNC), 0666);
		if (fd < 0) {
			complain("%s: cannot write: %s", values->output, strerror(errno));
			live->unwritable = true;
			return false;
		}
	}
	live->has_out = output_init(&live->out, fd);
	live->out.name = values->output && !live->file ? values->output : "the output";
	return live->has_out;
}

static void add_escaped(struct pd_text *text, const char *words)
{
	pd_text_escaped(text, words, strlen(words));
}

static void make_title(const struct live *live)
{
	const struct pd_targets *targets = &live->options.targets;
	struct pd_text *title = live->printer.title;

	if (live->values->targets.all && targets->all) {
		pd_text_add(title, "'system wide");
	} else if (targets->cpus) {
		pd_text_add(title, "'CPU(s) ");
		add_escaped(title, targets->cpus);
	} else if (targets->all) {
		pd_text_add(title, "'system wide");
	} else if (targets->pids.count || targets->tids.count) {
		pd_text_add(title, targets->pids.count ? "process id '" : "thread id '");
		add_escaped(title, targets->pids.count ? live->values->targets.pids : live->values->targets.tids);
	} else if (targets->by_user) {
		pd_text_add(title, "user '");
		add_escaped(title, live->values->targets.user);
	} else {
		pd_text_add(title, "'");
		for (size_t i = 0; i < live->call->word_count; i++) {
			pd_text_add(title, i ? " " : "");
			add_escaped(title, live->call->words[i]);
		}
	}
	pd_text_add(title, "'");
}

static bool take_printer(struct live *live)
{
	const struct stat_values *values = live->values;
	const char *separator = values->separator;

	if (separator && !strcmp(separator, "\\t"))
		separator = "\t";
	live->printer = (struct stat_printer){ .text = live->out.text,
					       .separator = separator,
					       .json = values->json || values->json_output,
					       .big_numbers = !values->no_big_num,
					       .table = values->table,
					       .metric_only = values->metric_only || values->topdown,
					       .summary_word = live->interval_ns && !values->no_csv_summary,
					       .title = pd_text_new() };
	if (!live->printer.title)
		return false;
	make_title(live);
	return true;
}

static void tell_note(void *self, const struct pd_recorder_note *note)
{
	const struct live *live = self;

	if (note->severity == PD_INFO && !live->values->verbose)
		return;
	if (!live->values->quiet || note->severity >= PD_DAMAGE)
		complain("%s%s%s", note->message, note->advice ? "; try: " : "", note->advice ? note->advice : "");
}

static bool take_values(struct live *live, const char *file)
{
	const struct stat_values *values = live->values;
	struct target_values targets = values->targets;
	struct pd_recorder_options *wanted = &live->options;

	wanted->size = sizeof(*wanted);
	wanted->counts = true;
	wanted->command_line = live->call->line;
	wanted->note = tell_note;
	wanted->self = live;
	wanted->fd = -1;
	targets.group |= values->g;
	if (!record_take_targets(&live->setup, &targets, live->call, wanted))
		return false;
	wanted->sampling.all_user = values->all_user;
	wanted->sampling.all_kernel = values->all_kernel;
	if (file && !strcmp(file, "-")) {
		wanted->fd = STDOUT_FILENO;
		wanted->output.mode = PD_MODE_PIPE;
		if (isatty(STDOUT_FILENO)) {
			complain("refusing to write binary data to a terminal; use -o FILE");
			return false;
		}
	} else {
		wanted->path = file;
	}
	if (!take_targets(live) || !add_missing_events(live) || !take_each_cgroup(live) || !take_times(live) ||
	    !take_by(live) || !take_runs(live) || !take_output(live))
		return false;
	wanted->events = live->setup.events;
	return take_printer(live);
}

/* ---- the table ---- */

static void read_name(struct stat_thread *thread)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/comm", thread->tid);
	file = fopen(path, "re");
	if (file && fgets(thread->name, sizeof(thread->name), file))
		thread->name[strcspn(thread->name, "\n")] = 0;
	if (file)
		fclose(file);
}

static bool make_threads(struct live *live, const struct pd_counter_places *places)
{
	struct stat_table *table = &live->table;

	free(table->threads);
	table->threads = calloc(places->thread_count + 1, sizeof(*table->threads));
	table->thread_count = places->thread_count;
	for (size_t i = 0; table->threads && i < places->thread_count; i++) {
		table->threads[i].tid = places->threads[i];
		if (live->by == STAT_BY_THREAD)
			read_name(&table->threads[i]);
	}
	return table->threads;
}

static const char *cgroup_of(const struct live *live, size_t index)
{
	const struct pd_targets *targets = &live->options.targets;
	const char *name;

	if (!targets->cgroup_count)
		return NULL;
	name = targets->cgroups[targets->cgroup_count == 1    ? 0 :
				index < targets->cgroup_count ? index :
								targets->cgroup_count - 1];
	return *name ? name : NULL;
}

static bool take_event(struct live *live, size_t index, const struct pd_counter_places *places)
{
	struct stat_event *event = &live->table.events[index];
	struct stat_mean sums[3];
	struct pd_counted counted;

	memcpy(sums, event->sums, sizeof(sums));
	free(event->cells);
	free(live->names[index]);
	pd_counter_event(live->recorder, index, &counted);
	live->names[index] = strdup(counted.name);
	*event = (struct stat_event){ .name = live->names[index],
				      .unit = counted.wanted->unit,
				      .attr = *counted.attr,
				      .cgroup = cgroup_of(live, index),
				      .scale = counted.wanted->scale,
				      .supported = counted.supported,
				      .snapshot = counted.wanted->snapshot,
				      .cpus = places->cpus,
				      .cpu_count = places->cpu_count };
	memcpy(event->sums, sums, sizeof(sums));
	return event->name && stat_event_fit(&live->table, event);
}

static bool make_table(struct live *live)
{
	struct stat_table *table = &live->table;
	struct pd_counter_places places;
	struct pd_counted counted;
	size_t count = 0;

	while (pd_counter_event(live->recorder, count, &counted))
		count++;
	pd_counter_places(live->recorder, &places);
	if (!table->events) {
		table->by = live->by;
		table->scale = !live->values->no_scale;
		table->all_threads = live->options.targets.all;
		table->runs = live->values->repeat.value > 1 ? (unsigned)live->values->repeat.value : 1;
		table->events = calloc(count + 1, sizeof(*table->events));
		live->names = calloc(count + 1, sizeof(*live->names));
		if (!table->events || !live->names || !stat_places_of_machine(&table->places))
			return false;
	}
	table->event_count = count;
	if (!make_threads(live, &places))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_event(live, i, &places))
			return false;
	return true;
}

static void take_counts(struct live *live)
{
	for (size_t i = 0; i < live->table.event_count; i++) {
		struct stat_event *event = &live->table.events[i];
		struct pd_counted counted;

		pd_counter_event(live->recorder, i, &counted);
		for (size_t at = 0; counted.counts && at < live->table.thread_count * event->cpu_count; at++) {
			const struct pd_counter_value *value = &counted.counts[at];
			const uint64_t all[3] = { value->value, value->enabled_ns, value->running_ns };

			memcpy(event->cells[at].all, all, sizeof(all));
			event->cells[at].absent = event->supported && !value->there;
			if (live->values->verbose && value->there)
				fprintf(stderr, "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", event->name, all[0],
					all[1], all[2]);
		}
	}
}

/* ---- rounds ---- */

static void show(struct live *live)
{
	if (live->values->quiet)
		pd_text_clear(live->out.text);
	output_finish(&live->out);
}

static bool read_counts(struct live *live, bool is_last)
{
	struct pd_error error;
	enum pd_status status = pd_counter_read(live->recorder, &error);

	take_counts(live);
	if (status >= 0)
		status = pd_counter_round(live->recorder, is_last, pd_counter_elapsed_ns(live->recorder), &error);
	if (status < 0)
		complain("%s", error.message);
	return status >= 0;
}

static bool end_interval(struct live *live)
{
	if (!read_counts(live, false))
		return false;
	stat_metrics_forget(&live->table);
	live->table.interval = true;
	/* as perf has it: the time that was asked for, not that which passed */
	live->table.wall_ns = (struct stat_mean){ .count = 1, .mean = (double)live->interval_ns };
	stat_table_round(&live->table, false);
	if (live->values->interval_clear)
		pd_text_add(live->out.text, "\033[H\033[2J\033[3J");
	if (live->values->interval_clear)
		live->printer.rounds = 0;
	stat_print_round(&live->printer, &live->table, pd_counter_elapsed_ns(live->recorder));
	show(live);
	live->rounds++;
	return true;
}

static void print_summary(struct live *live)
{
	stat_metrics_forget(&live->table);
	live->table.interval = false;
	for (size_t i = 0; i < live->table.event_count; i++)
		memset(live->table.events[i].sums, 0, sizeof(live->table.events[i].sums));
	live->table.wall_ns = (struct stat_mean){ .count = 1, .mean = (double)pd_counter_elapsed_ns(live->recorder) };
	stat_table_round(&live->table, true);
	stat_print_all(&live->printer, &live->table);
	show(live);
}

/* ---- signals ---- */

static struct pd_recorder *running;
static volatile sig_atomic_t stopped_by, ends_itself;

/* ^C at the terminal reaches the command, too: that ends, or has reasons not to. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	bool again = stopped_by != 0;

	(void)context;
	stopped_by = number;
	if (running && (again || !ends_itself || info->si_code <= 0))
		pd_recorder_stop(running);
}

static void catch_signals(const struct live *live)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO }, before;

	ends_itself = live->only_command && !live->interval_ns;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup means it */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/* ---- a run ---- */

/* The earliest of what is to be done. */
static uint64_t next_time(const struct live *live, bool delayed)
{
	const struct stat_values *values = live->values;
	uint64_t next = UINT64_MAX;

	if (delayed)
		next = live->start_ns + (uint64_t)live->delay_ms * NS_OF_MS;
	if (values->timeout_ms.given && live->start_ns + values->timeout_ms.value * NS_OF_MS < next)
		next = live->start_ns + values->timeout_ms.value * NS_OF_MS;
	if (live->interval_ns && (!values->interval_count.given || live->rounds < values->interval_count.value)) {
		uint64_t passed = now_ns() - live->start_ns;
		uint64_t due = live->start_ns + (passed / live->interval_ns + 1) * live->interval_ns;

		next = due < next ? due : next;
	}
	return next;
}

/* Whether all intervals that were asked for are over, with nobody to wait for. */
static bool is_done(const struct live *live)
{
	const struct stat_values *values = live->values;

	return values->interval_count.given && live->rounds >= values->interval_count.value && !live->call->word_count;
}

static bool watch(struct live *live)
{
	const struct stat_values *values = live->values;
	enum pd_counter_state state = PD_COUNTER_RUNS;
	bool delayed = live->delay_ms > 0;
	struct pd_error error;

	while (!is_done(live)) {
		uint64_t next = next_time(live, delayed);

		if (pd_counter_wait(live->recorder, next, &state, &error) < 0) {
			complain("%s", error.message);
			return false;
		}
		if (state != PD_COUNTER_RUNS)
			return true;
		if (values->timeout_ms.given && now_ns() >= live->start_ns + values->timeout_ms.value * NS_OF_MS)
			return true;
		if (delayed && now_ns() >= live->start_ns + (uint64_t)live->delay_ms * NS_OF_MS) {
			delayed = false;
			pd_recorder_enable(live->recorder, true, NULL);
			if (!values->quiet)
				fputs("Events enabled\n", stderr);
		} else if (live->interval_ns && !end_interval(live)) {
			return false;
		}
	}
	return true;
}

static double seconds_between(const struct timeval *from, const struct timeval *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_usec - from->tv_usec) / 1e6;
}

static bool finish(struct live *live, const struct rusage *before)
{
	const struct stat_values *values = live->values;
	struct rusage after;
	double wall_ns;
	bool last = !live->interval_ns;

	pd_counter_end(live->recorder, &live->recorded);
	if (live->call->word_count && WIFSIGNALED(live->recorded.command_status))
		fprintf(stderr, "%s: %s\n", live->call->words[0], strsignal(WTERMSIG(live->recorded.command_status)));
	getrusage(RUSAGE_CHILDREN, &after);
	live->printer.has_usage = live->only_command && live->table.runs < 2;
	live->printer.user_seconds = seconds_between(&before->ru_utime, &after.ru_utime);
	live->printer.system_seconds = seconds_between(&before->ru_stime, &after.ru_stime);
	if (!last) {
		bool wanted = !values->interval_count.given || live->rounds < values->interval_count.value;

		if (wanted && !end_interval(live))
			return false;
		if (values->summary)
			print_summary(live);
		return true;
	}
	if (!read_counts(live, true))
		return false;
	wall_ns = (double)pd_counter_elapsed_ns(live->recorder);
	stat_mean_add(&live->table.wall_ns, wall_ns);
	if (live->printer.run_seconds)
		live->printer.run_seconds[live->printer.run_count++] = wall_ns / 1e9;
	stat_table_round(&live->table, false);
	return true;
}

static void run_hook(const char *line)
{
	if (line && system(line) != 0)
		complain("'%s' failed", line);
}

/* From the first event to the last count. */
static int count_once(struct live *live)
{
	struct pd_counter_settings settings = { .aggregation = live->by,
						.interval_ms = live->interval_ns / NS_OF_MS,
						.scale = !live->values->no_scale };
	struct record_control control;
	struct rusage before;
	struct pd_error error;
	bool fine;

	if (live->file && pd_counter_open_file(live->recorder, &settings, &error) < 0) {
		complain("%s", error.message);
		return CODE_OUTPUT;
	}
	if (!record_control_start(&control, live->values->control, live->recorder))
		return CODE_USAGE;
	if (live->delay_ms && !live->values->quiet)
		fputs("Events disabled\n", stderr);
	getrusage(RUSAGE_CHILDREN, &before);
	live->start_ns = now_ns();
	fine = pd_counter_start(live->recorder, &live->recorded, &error) >= 0;
	if (!fine)
		complain("%s", error.message);
	fine = fine && (live->recorded.command_errno || watch(live));
	record_control_stop(&control);
	if (live->recorded.command_errno) {
		complain("%s: %s", live->call->words[0], strerror(live->recorded.command_errno));
		return CODE_NO_COMMAND;
	}
	fine = fine && finish(live, &before);
	if (fine && live->file && pd_counter_close_file(live->recorder, &error) < 0) {
		complain("%s", error.message);
		return CODE_OUTPUT;
	}
	return fine ? CODE_FINE : CODE_OUTPUT;
}

static int run_once(struct live *live)
{
	struct pd_error error;
	int code;

	if (live->values->sync)
		sync();
	run_hook(live->values->pre);
	if (pd_recorder_open(&live->options, &live->recorder, &error) < 0) {
		complain("%s", error.message);
		return error.status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_UNREADABLE;
	}
	code = CODE_UNREADABLE;
	running = live->recorder;
	if (make_table(live))
		code = count_once(live);
	else
		complain("out of memory");
	running = NULL;
	if (code != CODE_FINE)
		live->stop = true;
	run_hook(code == CODE_FINE ? live->values->post : NULL);
	return code;
}

/* That of the command; shells tell signals so, too. */
static int exit_code_of(const struct live *live)
{
	const struct pd_recorded *recorded = &live->recorded;

	if (stopped_by)
		return CODE_SIGNAL + stopped_by;
	if (!recorded->command_ran || !recorded->command_ended)
		return CODE_FINE;
	if (WIFSIGNALED(recorded->command_status))
		return CODE_SIGNAL + WTERMSIG(recorded->command_status);
	return WEXITSTATUS(recorded->command_status);
}

static void print_end(struct live *live)
{
	if (live->interval_ns)
		return;
	if (!live->values->null || !(live->printer.json || live->printer.separator))
		stat_print_all(&live->printer, &live->table);
	show(live);
}

/* Means of a number of runs, or one run after another without end. */
static int run_all(struct live *live)
{
	bool endless = live->values->repeat.given && !live->values->repeat.value;
	int code = CODE_FINE;

	for (unsigned i = 0; (endless || i < live->table.runs || !i) && !live->stop && code == CODE_FINE; i++) {
		if (i)
			pd_recorder_close(live->recorder);
		live->recorder = NULL;
		code = run_once(live);
		live->stop |= stopped_by != 0;
		if (code != CODE_FINE || (!endless && i + 1 < live->table.runs && !live->stop))
			continue;
		print_end(live);
		live->table.wall_ns = (struct stat_mean){ 0 };
		stat_metrics_forget(&live->table);
		for (size_t j = 0; j < live->table.event_count; j++)
			memset(live->table.events[j].sums, 0, sizeof(live->table.events[j].sums));
	}
	return code == CODE_FINE ? exit_code_of(live) : code;
}

static void print_started(struct live *live)
{
	time_t now = time(NULL);
	struct tm local;
	char text[64];

	if (!live->values->output || live->file)
		return;
	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	pd_text_printf(live->out.text, "# started on %s\n\n", text);
}

int stat_live(const struct stat_values *values, const struct call *call, const char *file)
{
	struct live live = { .values = values, .call = call, .by = STAT_GLOBAL, .file = file != NULL };
	int code = CODE_USAGE;

	if (take_values(&live, file)) {
		print_started(&live);
		live.printer.run_seconds = values->repeat.value > 1 ? calloc(values->repeat.value, sizeof(double)) :
								      NULL;
		catch_signals(&live);
		code = run_all(&live);
	}
	if (live.unwritable)
		code = CODE_OUTPUT;
	stat_printer_fini(&live.printer);
	for (size_t i = 0; live.names && i < live.table.event_count; i++)
		free(live.names[i]);
	free(live.names);
	stat_table_fini(&live.table);
	pd_recorder_close(live.recorder);
	if (live.has_out) {
		int written = output_finish(&live.out);

		code = code == CODE_FINE ? written : code;
		if (live.out.fd != STDERR_FILENO && values->output && !file)
			close(live.out.fd);
		output_fini(&live.out);
	}
	free(live.cgroups);
	free(live.cgroup_text);
	record_fini(&live.setup);
	return code;
}
