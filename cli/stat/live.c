/* SPDX-License-Identifier: MIT */
/* perfdata stat while it counts: what is shown and done at each step of the library, until the end. */
#include "stat/live.h"

#include "front/signals.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct live {
	struct stat_setup setup;
	struct pd_control *control;
	int code; /* of what failed here */
};

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

	ends_itself = live->setup.session.only_command && !live->setup.session.interval_ns;
	signals_end_counting(&action);
}

/* ---- steps ---- */

static void show(struct live *live)
{
	if (live->setup.values->quiet)
		pd_text_clear(live->setup.out.text);
	output_finish(&live->setup.out);
}

static void print_raw(const struct pd_recorder *recorder)
{
	struct pd_text *text = pd_text_new();

	if (text) {
		pd_counter_text(recorder, text);
		fprintf(stderr, "%.*s", (int)pd_text_bytes(text).size, (const char *)pd_text_bytes(text).data);
	}
	pd_text_free(text);
}

static bool run_hook(const char *line)
{
	return !line || system(line) == 0 || print_error("'%s' failed", line);
}

static bool open_control(struct live *live, struct pd_recorder *recorder)
{
	const struct stat_values *values = live->setup.values;

	if (!record_open_control(values->control, recorder, &live->control)) {
		live->code = CODE_USAGE;
		return false;
	}
	if (live->setup.session.recorder.session.delay_ms && !values->quiet)
		fputs("Events disabled\n", stderr);
	return true;
}

static void close_control(struct live *live)
{
	pd_control_close(live->control);
	live->control = NULL;
}

static void report_signal(const struct live *live, const struct pd_recorded *recorded)
{
	if (live->setup.call->word_count && WIFSIGNALED(recorded->command_status))
		fprintf(stderr, "%s: %s\n", live->setup.call->words[0], strsignal(WTERMSIG(recorded->command_status)));
}

static bool on_step(void *self, enum pd_stat_step step, struct pd_stat_session *session)
{
	struct live *live = self;
	const struct stat_values *values = live->setup.values;

	switch (step) {
	case PD_STAT_STEP_BEFORE:
		if (values->sync)
			sync();
		if (run_hook(values->pre))
			break;
		live->code = CODE_NO_COMMAND;
		return false;
	case PD_STAT_STEP_OPENED:
		running = pd_stat_session_recorder(session);
		break;
	case PD_STAT_STEP_STARTS:
		return open_control(live, pd_stat_session_recorder(session));
	case PD_STAT_STEP_ENABLED:
		if (!values->quiet)
			fputs("Events enabled\n", stderr);
		break;
	case PD_STAT_STEP_READ:
		if (values->verbose)
			print_raw(pd_stat_session_recorder(session));
		break;
	case PD_STAT_STEP_INTERVAL:
		if (values->session.repeat_heading)
			pd_text_add(live->setup.out.text, "\033[H\033[2J\033[3J");
		break;
	case PD_STAT_STEP_PRINTED:
		show(live);
		break;
	case PD_STAT_STEP_STOPS:
		close_control(live);
		break;
	case PD_STAT_STEP_ENDED:
		report_signal(live, pd_stat_session_recorded(session));
		break;
	case PD_STAT_STEP_AFTER:
		running = NULL;
		run_hook(values->post);
		return !stopped_by;
	}
	return true;
}

/* ---- all of it ---- */

static int code_of_failure(const struct live *live, const struct pd_stat_session *session, const struct pd_error *error)
{
	if (live->code != CODE_OK)
		return live->code;
	print_error("%s", error->message);
	if (pd_stat_session_opened(session))
		return CODE_OUTPUT;
	return error->status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_UNREADABLE;
}

static int run_session(struct live *live, struct pd_stat_session *session)
{
	const struct pd_recorded *recorded = pd_stat_session_recorded(session);
	struct pd_error error;

	if (pd_stat_session_run(session, &error) < 0)
		return code_of_failure(live, session, &error);
	if (!recorded->command_errno && stopped_by)
		return CODE_SIGNAL + stopped_by;
	return record_code(recorded, live->setup.call->word_count ? live->setup.call->words[0] : "");
}

static void print_started(struct live *live)
{
	time_t now = time(NULL);
	struct tm local;
	char text[64];

	// a line of another kind is none of JSON; perf 7.2 leaves it out, too
	if (!live->setup.values->output || live->setup.file || live->setup.session.printing.json)
		return;
	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local);
	pd_text_printf(live->setup.out.text, "# started on %s\n\n", text);
}

static int count_all(struct live *live)
{
	struct pd_stat_session_options *options = &live->setup.session;
	struct pd_stat_session *session;
	struct pd_error error;
	int code;

	options->step = on_step;
	options->self = live;
	if (pd_stat_session_new(options, live->setup.out.text, &session, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	print_started(live);
	catch_signals(live);
	code = run_session(live, session);
	running = NULL;
	pd_stat_session_free(session);
	return code;
}

int stat_live(const struct stat_values *values, const struct call *call, const char *file)
{
	struct live live = { 0 };
	int code = CODE_USAGE;

	if (stat_setup_take(&live.setup, values, call, file))
		code = count_all(&live);
	return stat_setup_fini(&live.setup, code);
}
