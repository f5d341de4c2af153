/* SPDX-License-Identifier: MIT */
/*
 * Counting from the start to the end: run after run, interval after interval. The caller learns of each step, and shows what was
 * printed. What must hold: after PD_STAT_STEP_STARTS comes PD_STAT_STEP_STOPS, whatever fails between them.
 */
#include "base/error.h"
#include "base/memory.h"

#include <perfdata/stat.h>

#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
	NS_OF_MS = 1000000
};

struct pd_stat_session {
	struct pd_stat_session_options options;
	struct pd_text *text;
	struct pd_stat_counts *stat;
	struct pd_recorder *recorder;
	struct pd_recorded recorded;
	uint64_t start_ns;
	uint64_t intervals; /* so far */
	bool delayed;       /* events are not enabled yet */
	bool opened;
	bool last; /* no more runs */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool step(struct pd_stat_session *session, enum pd_stat_step step)
{
	return !session->options.step || session->options.step(session->options.self, step, session);
}

// ---- begin and end ----

enum pd_status pd_stat_session_new(const struct pd_stat_session_options *options, struct pd_text *text,
				   struct pd_stat_session **session_out, struct pd_error *error)
{
	struct pd_stat_session *session;
	enum pd_status status;

	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_stat_session_options.size is 0");
	session = pd_alloc(sizeof(*session));
	if (!session)
		return pd_fail_memory(error);
	memcpy(&session->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	session->options.recorder.counts = true;
	session->text = text;
	status = pd_stat_new(&session->options.printing, text, &session->stat, error);
	if (status < 0) {
		pd_stat_session_free(session);
		return status;
	}
	*session_out = session;
	return PD_OK;
}

void pd_stat_session_free(struct pd_stat_session *session)
{
	if (!session)
		return;
	pd_stat_free(session->stat);
	pd_recorder_close(session->recorder);
	pd_free(session);
}

struct pd_recorder *pd_stat_session_recorder(const struct pd_stat_session *session)
{
	return session->recorder;
}

const struct pd_recorded *pd_stat_session_recorded(const struct pd_stat_session *session)
{
	return &session->recorded;
}

bool pd_stat_session_opened(const struct pd_stat_session *session)
{
	return session->opened;
}

// ---- intervals ----

static bool wants_interval(const struct pd_stat_session *session)
{
	return !session->options.limited || session->intervals < session->options.interval_count;
}

static enum pd_status read_counts(struct pd_stat_session *session, bool is_last, struct pd_error *error)
{
	enum pd_status status = pd_counter_read(session->recorder, error);

	step(session, PD_STAT_STEP_READ);
	if (status < 0)
		return status;
	return pd_counter_round(session->recorder, is_last, pd_counter_elapsed_ns(session->recorder), error);
}

static enum pd_status end_interval(struct pd_stat_session *session, struct pd_error *error)
{
	enum pd_status status = read_counts(session, false, error);

	if (status < 0)
		return status;
	step(session, PD_STAT_STEP_INTERVAL);
	if (session->options.repeat_heading)
		pd_stat_repeat_heading(session->stat);
	/* as perf has it: the time that was asked for, not that which passed */
	pd_stat_print_interval(session->stat, session->recorder, session->options.interval_ns);
	step(session, PD_STAT_STEP_PRINTED);
	session->intervals++;
	return PD_OK;
}

// ---- times ----

static uint64_t end_of_delay(const struct pd_stat_session *session)
{
	return session->start_ns + (uint64_t)session->options.recorder.session.delay_ms * NS_OF_MS;
}

static bool is_timed_out(const struct pd_stat_session *session)
{
	return session->options.timeout_ns && !session->delayed &&
	       now_ns() >= session->start_ns + session->options.timeout_ns;
}

/* The earliest of what is to be done. */
static uint64_t next_time(const struct pd_stat_session *session)
{
	uint64_t interval = session->options.interval_ns, timeout = session->options.timeout_ns;
	uint64_t next = UINT64_MAX;

	// nothing else begins before the events are enabled
	if (session->delayed)
		return end_of_delay(session);
	if (timeout && session->start_ns + timeout < next)
		next = session->start_ns + timeout;
	if (interval && wants_interval(session)) {
		uint64_t due = session->start_ns + ((now_ns() - session->start_ns) / interval + 1) * interval;

		next = due < next ? due : next;
	}
	return next;
}

/* Whether all intervals that were asked for are over, with nobody to wait for. */
static bool is_done(const struct pd_stat_session *session)
{
	const char *const *command = (const char *const *)session->options.recorder.targets.command;

	return !wants_interval(session) && !(command && *command);
}

static enum pd_status do_what_is_due(struct pd_stat_session *session, struct pd_error *error)
{
	if (session->delayed && now_ns() < end_of_delay(session))
		return PD_OK;
	if (session->delayed) {
		session->delayed = false;
		pd_recorder_enable(session->recorder, true, NULL);
		// as perf: what was waited for is no part of what is counted
		pd_counter_restart_time(session->recorder);
		session->start_ns = now_ns();
		step(session, PD_STAT_STEP_ENABLED);
		return PD_OK;
	}
	return session->options.interval_ns ? end_interval(session, error) : PD_OK;
}

static enum pd_status count_until_end(struct pd_stat_session *session, struct pd_error *error)
{
	enum pd_counter_state state = PD_COUNTER_RUNS;
	enum pd_status status = PD_OK;

	session->delayed = session->options.recorder.session.delay_ms > 0;
	while (status >= 0 && !is_done(session)) {
		status = pd_counter_wait(session->recorder, next_time(session), &state, error);
		if (status < 0 || state != PD_COUNTER_RUNS || is_timed_out(session))
			break;
		status = do_what_is_due(session, error);
	}
	if (session->delayed)
		pd_counter_restart_time(session->recorder);
	return status;
}

// ---- a run ----

static double seconds_between(const struct timeval *from, const struct timeval *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_usec - from->tv_usec) / 1e6;
}

static void end_command(struct pd_stat_session *session, const struct rusage *before)
{
	struct rusage after;

	pd_counter_end(session->recorder, &session->recorded);
	step(session, PD_STAT_STEP_ENDED);
	getrusage(RUSAGE_CHILDREN, &after);
	if (session->options.only_command && session->options.printing.runs < 2)
		pd_stat_set_usage(session->stat, seconds_between(&before->ru_utime, &after.ru_utime),
				  seconds_between(&before->ru_stime, &after.ru_stime));
}

static enum pd_status read_last(struct pd_stat_session *session, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (!session->options.interval_ns) {
		status = read_counts(session, true, error);
		if (status >= 0)
			pd_stat_end_run(session->stat, session->recorder);
		return status;
	}
	if (wants_interval(session))
		status = end_interval(session, error);
	if (status >= 0 && session->options.summary) {
		pd_stat_print_summary(session->stat, session->recorder);
		step(session, PD_STAT_STEP_PRINTED);
	}
	return status;
}

static bool has_file(const struct pd_stat_session *session)
{
	return session->options.recorder.path || session->options.recorder.fd >= 0;
}

static enum pd_status open_file(struct pd_stat_session *session, struct pd_error *error)
{
	const struct pd_stat_options *printing = &session->options.printing;
	struct pd_counter_settings settings = { .aggregation = printing->by,
						.interval_ms = session->options.interval_ns / NS_OF_MS,
						.scale = !printing->no_scale };

	// with a level the numbers are those of perf 6.9; one more than there are is the last
	if (printing->by == PD_STAT_BY_CLUSTER || printing->by == PD_STAT_BY_CACHE) {
		settings.aggregation = printing->by == PD_STAT_BY_CLUSTER ? 4 : 5;
		settings.level = printing->cache_level ? printing->cache_level : PD_STAT_CACHE_LEVELS + 1;
	}
	return has_file(session) ? pd_counter_open_file(session->recorder, &settings, error) : PD_OK;
}

/* From the first event to the last count. */
static enum pd_status count_once(struct pd_stat_session *session, struct pd_error *error)
{
	enum pd_status status = open_file(session, error);
	struct rusage before;

	if (status < 0)
		return status;
	if (!step(session, PD_STAT_STEP_STARTS))
		status = pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "stopped by the caller");
	getrusage(RUSAGE_CHILDREN, &before);
	session->start_ns = now_ns();
	if (status >= 0)
		status = pd_counter_start(session->recorder, &session->recorded, error);
	if (status >= 0 && !session->recorded.command_errno)
		status = count_until_end(session, error);
	step(session, PD_STAT_STEP_STOPS);
	if (status < 0 || session->recorded.command_errno)
		return status;
	end_command(session, &before);
	status = read_last(session, error);
	return status >= 0 && has_file(session) ? pd_counter_close_file(session->recorder, error) : status;
}

static enum pd_status run_once(struct pd_stat_session *session, struct pd_error *error)
{
	enum pd_status status;

	if (!step(session, PD_STAT_STEP_BEFORE))
		return pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "stopped by the caller");
	status = pd_recorder_open(&session->options.recorder, &session->recorder, error);
	if (status < 0)
		return status;
	step(session, PD_STAT_STEP_OPENED);
	status = pd_stat_begin_run(session->stat, session->recorder, error);
	if (status < 0)
		return status;
	session->opened = true;
	status = count_once(session, error);
	session->last |= session->recorded.command_errno != 0;
	if (status >= 0 && !session->last)
		session->last = !step(session, PD_STAT_STEP_AFTER);
	return status;
}

/* Only a table has something to say where nothing is counted. */
static void print_runs(struct pd_stat_session *session)
{
	const struct pd_stat_session_options *options = &session->options;
	bool is_table = !options->printing.json && !options->printing.separator;

	if (options->interval_ns)
		return;
	if (is_table || pd_events_count(options->recorder.events))
		pd_stat_print(session->stat);
	step(session, PD_STAT_STEP_PRINTED);
}

enum pd_status pd_stat_session_run(struct pd_stat_session *session, struct pd_error *error)
{
	bool endless = session->options.endless;
	uint64_t runs = session->options.printing.runs > 1 ? session->options.printing.runs : 1;
	enum pd_status status = PD_OK;

	for (uint64_t i = 0; (endless || i < runs) && !session->last && status >= 0; i++) {
		pd_recorder_close(session->recorder);
		session->recorder = NULL;
		status = run_once(session, error);
		if (status < 0 || session->recorded.command_errno || (!endless && i + 1 < runs && !session->last))
			continue;
		print_runs(session);
		pd_stat_restart(session->stat);
	}
	return status;
}
