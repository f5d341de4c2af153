/* SPDX-License-Identifier: MIT */
/* perfdata stat while it counts: run after run, round after round, until the end. */
#include "stat/live.h"

#include "front/signals.h"

#include <errno.h>
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
	NS_OF_MS = 1000000
};

struct live {
	struct stat_setup setup;
	struct pd_stat_counts *stat;
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

/* ---- rounds ---- */

static void show(struct live *live)
{
	if (live->setup.values->quiet)
		pd_text_clear(live->setup.out.text);
	output_finish(&live->setup.out);
}

static void print_raw(const struct live *live)
{
	struct pd_counter_places places;
	struct pd_counted counted;

	pd_counter_places(live->recorder, &places);
	for (size_t i = 0; pd_counter_event(live->recorder, i, &counted); i++)
		for (size_t at = 0; counted.counts && at < places.thread_count * places.cpu_count; at++)
			if (counted.counts[at].there)
				fprintf(stderr, "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counted.name,
					counted.counts[at].value, counted.counts[at].enabled_ns,
					counted.counts[at].running_ns);
}

static bool read_counts(struct live *live, bool is_last)
{
	struct pd_error error;
	enum pd_status status = pd_counter_read(live->recorder, &error);

	if (live->setup.values->verbose)
		print_raw(live);
	if (status >= 0)
		status = pd_counter_round(live->recorder, is_last, pd_counter_elapsed_ns(live->recorder), &error);
	if (status < 0)
		print_error("%s", error.message);
	return status >= 0;
}

static bool end_interval(struct live *live)
{
	if (!read_counts(live, false))
		return false;
	if (live->setup.values->interval_clear) {
		pd_text_add(live->setup.out.text, "\033[H\033[2J\033[3J");
		pd_stat_repeat_heading(live->stat);
	}
	/* as perf has it: the time that was asked for, not that which passed */
	pd_stat_print_interval(live->stat, live->recorder, live->setup.interval_ns);
	show(live);
	live->rounds++;
	return true;
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
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO };

	ends_itself = live->setup.only_command && !live->setup.interval_ns;
	signals_end_counting(&action);
}

/* ---- a run ---- */

/* The earliest of what is to be done. */
static uint64_t next_time(const struct live *live, bool delayed)
{
	const struct stat_values *values = live->setup.values;
	uint64_t next = UINT64_MAX;

	if (delayed)
		next = live->start_ns + (uint64_t)live->setup.delay_ms * NS_OF_MS;
	if (values->timeout_ms.given && live->start_ns + values->timeout_ms.value * NS_OF_MS < next)
		next = live->start_ns + values->timeout_ms.value * NS_OF_MS;
	if (live->setup.interval_ns && (!values->interval_count.given || live->rounds < values->interval_count.value)) {
		uint64_t passed = now_ns() - live->start_ns;
		uint64_t due = live->start_ns + (passed / live->setup.interval_ns + 1) * live->setup.interval_ns;

		next = due < next ? due : next;
	}
	return next;
}

/* Whether all intervals that were asked for are over, with nobody to wait for. */
static bool is_done(const struct live *live)
{
	const struct stat_values *values = live->setup.values;

	return values->interval_count.given && live->rounds >= values->interval_count.value &&
	       !live->setup.call->word_count;
}

static bool count_until_end(struct live *live)
{
	const struct stat_values *values = live->setup.values;
	enum pd_counter_state state = PD_COUNTER_RUNS;
	bool delayed = live->setup.delay_ms > 0;
	struct pd_error error;

	while (!is_done(live)) {
		uint64_t next = next_time(live, delayed);

		if (pd_counter_wait(live->recorder, next, &state, &error) < 0)
			return print_error("%s", error.message);
		if (state != PD_COUNTER_RUNS)
			return true;
		if (values->timeout_ms.given && now_ns() >= live->start_ns + values->timeout_ms.value * NS_OF_MS)
			return true;
		if (delayed && now_ns() >= live->start_ns + (uint64_t)live->setup.delay_ms * NS_OF_MS) {
			delayed = false;
			pd_recorder_enable(live->recorder, true, NULL);
			if (!values->quiet)
				fputs("Events enabled\n", stderr);
		} else if (live->setup.interval_ns && !end_interval(live)) {
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
	const struct stat_values *values = live->setup.values;
	struct rusage after;
	bool last = !live->setup.interval_ns;

	pd_counter_end(live->recorder, &live->recorded);
	if (live->setup.call->word_count && WIFSIGNALED(live->recorded.command_status))
		fprintf(stderr, "%s: %s\n", live->setup.call->words[0],
			strsignal(WTERMSIG(live->recorded.command_status)));
	getrusage(RUSAGE_CHILDREN, &after);
	if (live->setup.only_command && values->repeat.value < 2)
		pd_stat_set_usage(live->stat, seconds_between(&before->ru_utime, &after.ru_utime),
				  seconds_between(&before->ru_stime, &after.ru_stime));
	if (!last) {
		bool wanted = !values->interval_count.given || live->rounds < values->interval_count.value;

		if (wanted && !end_interval(live))
			return false;
		if (values->summary) {
			pd_stat_print_summary(live->stat, live->recorder);
			show(live);
		}
		return true;
	}
	if (!read_counts(live, true))
		return false;
	pd_stat_end_run(live->stat, live->recorder);
	return true;
}

static void run_hook(const char *line)
{
	if (line && system(line) != 0)
		print_error("'%s' failed", line);
}

/* From the first event to the last count. */
static int count_once(struct live *live)
{
	struct pd_counter_settings settings = { .aggregation = live->setup.by,
						.interval_ms = live->setup.interval_ns / NS_OF_MS,
						.scale = !live->setup.values->no_scale };
	struct pd_control *control = NULL;
	struct rusage before;
	struct pd_error error;
	bool ok;

	if (live->setup.file && pd_counter_open_file(live->recorder, &settings, &error) < 0)
		return print_failure(CODE_OUTPUT, "%s", error.message);
	if (!record_open_control(live->setup.values->control, live->recorder, &control))
		return CODE_USAGE;
	if (live->setup.delay_ms && !live->setup.values->quiet)
		fputs("Events disabled\n", stderr);
	getrusage(RUSAGE_CHILDREN, &before);
	live->start_ns = now_ns();
	ok = pd_counter_start(live->recorder, &live->recorded, &error) >= 0;
	if (!ok)
		print_error("%s", error.message);
	ok = ok && (live->recorded.command_errno || count_until_end(live));
	pd_control_close(control);
	if (live->recorded.command_errno)
		return print_failure(CODE_NO_COMMAND, "%s: %s", live->setup.call->words[0],
				     strerror(live->recorded.command_errno));
	ok = ok && finish(live, &before);
	if (ok && live->setup.file && pd_counter_close_file(live->recorder, &error) < 0)
		return print_failure(CODE_OUTPUT, "%s", error.message);
	return ok ? CODE_OK : CODE_OUTPUT;
}

static int run_once(struct live *live)
{
	struct pd_error error;
	int code;

	if (live->setup.values->sync)
		sync();
	run_hook(live->setup.values->pre);
	if (pd_recorder_open(&live->setup.options, &live->recorder, &error) < 0) {
		print_error("%s", error.message);
		return error.status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_UNREADABLE;
	}
	code = CODE_UNREADABLE;
	running = live->recorder;
	if (pd_stat_begin_run(live->stat, live->recorder, &error) >= 0)
		code = count_once(live);
	else
		print_error("%s", error.message);
	running = NULL;
	if (code != CODE_OK)
		live->stop = true;
	run_hook(code == CODE_OK ? live->setup.values->post : NULL);
	return code;
}

/* That of the command; shells tell signals so, too. */
static int exit_code_of(const struct live *live)
{
	const struct pd_recorded *recorded = &live->recorded;

	if (stopped_by)
		return CODE_SIGNAL + stopped_by;
	if (!recorded->command_ran || !recorded->command_ended)
		return CODE_OK;
	if (WIFSIGNALED(recorded->command_status))
		return CODE_SIGNAL + WTERMSIG(recorded->command_status);
	return WEXITSTATUS(recorded->command_status);
}

static void print_end(struct live *live)
{
	const struct stat_values *values = live->setup.values;

	if (live->setup.interval_ns)
		return;
	if (!values->null || !(values->form.json || values->form.json_output || values->form.separator))
		pd_stat_print(live->stat);
	show(live);
}

/* Means of a number of runs, or one run after another without end. */
static int run_all(struct live *live)
{
	const struct option_number *repeat = &live->setup.values->repeat;
	bool endless = repeat->given && !repeat->value;
	uint64_t runs = repeat->value > 1 ? repeat->value : 1;
	int code = CODE_OK;

	for (uint64_t i = 0; (endless || i < runs) && !live->stop && code == CODE_OK; i++) {
		if (i)
			pd_recorder_close(live->recorder);
		live->recorder = NULL;
		code = run_once(live);
		live->stop |= stopped_by != 0;
		if (code != CODE_OK || (!endless && i + 1 < runs && !live->stop))
			continue;
		print_end(live);
		pd_stat_restart(live->stat);
	}
	return code == CODE_OK ? exit_code_of(live) : code;
}

static void print_started(struct live *live)
{
	time_t now = time(NULL);
	struct tm local;
	char text[64];

	if (!live->setup.values->output || live->setup.file)
		return;
	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	pd_text_printf(live->setup.out.text, "# started on %s\n\n", text);
}

static int count_all(struct live *live)
{
	struct pd_stat_options printing = stat_setup_printing(&live->setup);
	struct pd_error error;
	int code;

	printing.warn = print_warning;
	if (pd_stat_new(&printing, live->setup.out.text, &live->stat, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	print_started(live);
	catch_signals(live);
	code = run_all(live);
	pd_stat_free(live->stat);
	return code;
}

int stat_live(const struct stat_values *values, const struct call *call, const char *file)
{
	struct live live = { 0 };
	int code = CODE_USAGE;

	if (stat_setup_take(&live.setup, values, call, file))
		code = count_all(&live);
	pd_recorder_close(live.recorder);
	return stat_setup_fini(&live.setup, code);
}
