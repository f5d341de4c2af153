/* SPDX-License-Identifier: MIT */
/*
 * A table of what runs now, from the first stream to the last: everything known of processes is forgotten between two streams of a
 * recorder, the sum of samples stays.
 */
#include <perfdata/top.h>

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

enum {
	/* Records of processes that came and went, after which what is known of them is forgotten. */
	GROWN_MOST = 100000,
	STRING_BYTES = 128,
	USUAL_DELAY_NS = 2000000000
};

static const char usual_sort[] = "dso,sym";

struct pd_top_session {
	struct pd_top_session_options options;
	struct pd_top_settings settings;
	struct pd_recorder *recorder; /* NULL: a file is read */
	/* Of the present stream. */
	struct pd_file *file;
	struct pd_live *live;
	struct pd_symbols *symbols;
	uint32_t by;
	/* What is shown. */
	struct pd_sum *sum;
	struct pd_top_totals totals;
	char sort[STRING_BYTES], filter[STRING_BYTES], whom[STRING_BYTES], rate[PD_TOP_RATE_BYTES];
	uint64_t last_ns;  /* when the last table was due */
	bool begins_again; /* the stream will end, another one begins */
	volatile sig_atomic_t over;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t delay_ns(const struct pd_top_session *session)
{
	return session->settings.delay_ns ? session->settings.delay_ns : USUAL_DELAY_NS;
}

static void take_step(struct pd_top_session *session, enum pd_top_step step)
{
	if (session->options.step && !session->options.step(session->options.self, step, session))
		session->over = 1;
}

// ---- settings ----

// What the keys need of samples.
static enum pd_status ask(const struct pd_top_session *session, const char *sort, uint32_t *by_out,
			  struct pd_error *error)
{
	struct pd_top_form form = session->settings.form;
	struct pd_profile_options options = { .by = 0 };
	enum pd_status status;

	form.sort = sort;
	status = pd_top_ask(&form, &options, error);
	if (status >= 0)
		*by_out = options.by;
	return status;
}

static enum pd_status copy_string(char copy[STRING_BYTES], const char *string, struct pd_error *error)
{
	if (strlen(string) >= STRING_BYTES)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "longer than %d bytes: %s", STRING_BYTES - 1,
			       string);
	strcpy(copy, string);
	return PD_OK;
}

struct pd_top_settings *pd_top_session_settings(struct pd_top_session *session)
{
	return &session->settings;
}

// The recorder starts again: it describes what runs by then.
static void begin_again(struct pd_top_session *session)
{
	if (!session->recorder)
		return;
	session->begins_again = true;
	pd_recorder_switch(session->recorder);
}

enum pd_status pd_top_session_sort(struct pd_top_session *session, const char *keys, struct pd_error *error)
{
	uint32_t by;
	enum pd_status status = ask(session, keys, &by, error);

	if (status >= 0)
		status = copy_string(session->sort, keys, error);
	if (status < 0 || !session->live || !(by & ~session->by))
		return status;
	pd_top_session_reset(session);
	begin_again(session);
	return PD_OK;
}

enum pd_status pd_top_session_filter(struct pd_top_session *session, const char *text, struct pd_error *error)
{
	return copy_string(session->filter, text, error);
}

void pd_top_session_reset(struct pd_top_session *session)
{
	pd_sum_fade(session->sum, 0, 1, NULL);
}

// ---- begin and end ----

enum pd_status pd_top_session_new(const struct pd_top_session_options *options, struct pd_top_session **session_out,
				  struct pd_error *error)
{
	struct pd_top_session *session;
	struct pd_top_form *form;
	enum pd_status status;

	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_top_session_options.size is 0");
	session = pd_alloc(sizeof(*session));
	if (!session)
		return pd_fail_memory(error);
	memcpy(&session->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	session->settings = session->options.settings;
	form = &session->settings.form;
	status = pd_sum_new(&session->sum, error);
	if (status >= 0)
		status = pd_top_session_sort(session, form->sort ? form->sort : form->fields ? "" : usual_sort, error);
	if (status >= 0)
		status = pd_top_session_filter(session, form->filter ? form->filter : "", error);
	if (status >= 0)
		status = copy_string(session->whom, session->options.whom ? session->options.whom : "all", error);
	if (status < 0) {
		pd_top_session_free(session);
		return status;
	}
	form->sort = session->sort;
	form->filter = session->filter;
	session->totals.whom = session->whom;
	session->totals.rate = session->rate;
	session->totals.cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	*session_out = session;
	return PD_OK;
}

static void end_stream(struct pd_top_session *session)
{
	pd_symbols_free(session->symbols);
	pd_live_free(session->live);
	if (session->recorder)
		pd_file_close(session->file);
	session->symbols = NULL;
	session->live = NULL;
	session->file = NULL;
}

void pd_top_session_free(struct pd_top_session *session)
{
	if (!session)
		return;
	end_stream(session);
	pd_sum_free(session->sum);
	pd_free(session);
}

static enum pd_choice choose_sample(const void *self, const struct pd_candidate *candidate)
{
	const struct pd_top_session *session = self;
	const struct pd_top_settings *settings = &session->settings;
	unsigned mode = candidate->brief->cpumode;

	if ((settings->hide_kernel && mode == PD_CPUMODE_KERNEL) || (settings->hide_user && mode == PD_CPUMODE_USER))
		return PD_CHOICE_LEAVE;
	return settings->form.select ? pd_select_choose(settings->form.select, candidate) : PD_CHOICE_TAKE;
}

static struct pd_symbols *symbols_of(void *self, const struct pd_state *state)
{
	const struct pd_top_session *session = self;

	(void)state;
	return session->symbols;
}

static enum pd_status open_symbols(struct pd_top_session *session, struct pd_error *error)
{
	const struct pd_state *state = pd_live_state(session->live);
	const struct pd_top_session_options *options = &session->options;

	if (!options->symbols)
		return pd_symbols_new(session->file, state, NULL, &session->symbols, error);
	session->symbols = options->symbols(options->self, session->file, state);
	return session->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "stopped by the caller");
}

static enum pd_status begin_stream(struct pd_top_session *session, struct pd_error *error)
{
	const struct pd_top_form *form = &session->settings.form;
	struct pd_live_options how = {
		.size = sizeof(how),
		.max_stack = form->children ? 0 : (unsigned)form->max_stack,
		.choose = choose_sample,
		.self = session,
		.symbols = symbols_of,
		.stitch_lbr = session->options.stitch_lbr,
	};
	enum pd_status status = PD_OK;

	if (session->recorder)
		status = pd_recorder_open_file(session->recorder, NULL, &session->file, error);
	if (status == PD_OK)
		status = ask(session, session->sort, &session->by, error);
	if (status != PD_OK)
		return status;
	session->by |= session->settings.by;
	how.by = session->by;
	status = pd_live_new(session->file, &how, &session->live, error);
	return status >= 0 ? open_symbols(session, error) : status;
}

// ---- reading ----

static void describe_rate(struct pd_top_session *session)
{
	size_t event = session->settings.form.event == PD_TOP_ALL_EVENTS ? 0 : session->settings.form.event;

	if (event < pd_file_event_count(session->file))
		pd_top_describe_rate(pd_file_event(session->file, event), session->rate);
}

// What came since the last time goes into the sum.
static enum pd_status add_samples(struct pd_top_session *session, struct pd_error *error)
{
	const struct pd_top_settings *settings = &session->settings;
	unsigned part = settings->zero ? 0 : 7, whole = settings->zero ? 1 : 8;
	uint64_t now = now_ns();
	enum pd_status status = pd_top_take(session->live, session->symbols, part, settings->paused ? 0 : whole,
					    session->sum, &session->totals, error);

	if (status < 0)
		return status;
	describe_rate(session);
	session->totals.seconds = (double)(now - session->last_ns) / 1e9;
	session->last_ns = now;
	return PD_OK;
}

// What came and went since the beginning need not be remembered: a new beginning describes what runs by then.
static void forget_ended(struct pd_top_session *session)
{
	uint64_t first, all;

	pd_live_grown(session->live, &first, &all);
	if (all - first > GROWN_MOST && all > 2 * first)
		begin_again(session);
}

static enum pd_status make_table(struct pd_top_session *session, struct pd_error *error)
{
	enum pd_status status = add_samples(session, error);

	if (status < 0)
		return status;
	if (!session->settings.paused)
		take_step(session, PD_TOP_STEP_TABLE);
	forget_ended(session);
	return PD_OK;
}

static enum pd_status read_stream(struct pd_top_session *session, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (!session->over && status >= 0) {
		status = pd_live_read(session->live, error);
		if (status != PD_OK)
			break;
		take_step(session, PD_TOP_STEP_READ);
		if (!session->over && now_ns() - session->last_ns >= delay_ns(session))
			status = make_table(session, error);
	}
	return status;
}

// The end of the recording is shown; a new beginning only goes on.
static enum pd_status take_end(struct pd_top_session *session, struct pd_error *error)
{
	enum pd_status status = add_samples(session, error);

	if (status >= 0 && !session->begins_again)
		take_step(session, PD_TOP_STEP_TABLE);
	if (!session->begins_again)
		session->over = 1;
	session->begins_again = false;
	return status;
}

enum pd_status pd_top_session_run(struct pd_top_session *session, struct pd_recorder *recorder, struct pd_file *file,
				  struct pd_error *error)
{
	enum pd_status status = PD_OK;

	session->recorder = recorder;
	session->file = recorder ? NULL : file;
	session->last_ns = now_ns();
	while (!session->over && status >= 0) {
		status = begin_stream(session, error);
		if (status != PD_OK)
			break;
		status = read_stream(session, error);
		if (status == PD_END && !session->over)
			status = take_end(session, error);
		end_stream(session);
	}
	end_stream(session);
	return status < 0 ? status : PD_OK;
}

void pd_top_session_stop(struct pd_top_session *session)
{
	session->over = 1;
	if (session->recorder)
		pd_recorder_stop(session->recorder);
}

// ---- what is shown ----

static struct pd_top_source source_of(struct pd_top_session *session)
{
	return (struct pd_top_source){ session->file,
				       pd_sum_profile(session->sum, session->file, pd_live_state(session->live)),
				       session->symbols };
}

void pd_top_session_next_event(struct pd_top_session *session)
{
	struct pd_top_form *form = &session->settings.form;

	form->event = pd_top_next_event(source_of(session).profile, form->event, pd_file_event_count(session->file));
	describe_rate(session);
}

enum pd_status pd_top_session_text(struct pd_top_session *session, size_t lines, const char *notice,
				   struct pd_text *text, struct pd_error *error)
{
	const struct pd_top_source source = source_of(session);

	session->totals.notice = notice;
	return pd_top_text(&session->settings.form, &session->totals, &source, lines, text, error);
}

enum pd_status pd_top_session_json(struct pd_top_session *session, struct pd_text *text, struct pd_error *error)
{
	const struct pd_top_source source = source_of(session);

	return pd_top_json(&session->settings.form, &session->totals, &source, text, error);
}
