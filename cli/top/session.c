/* SPDX-License-Identifier: MIT */
/*
 * What perfdata top reads, from one start of the recorder to the next: everything known of processes is forgotten between
 * them, the sum of samples stays.
 */
#include "top/top.h"

#include <time.h>

double top_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum pd_choice filter_sample(const void *self, const struct pd_candidate *candidate)
{
	const struct top *top = self;
	unsigned mode = candidate->brief->cpumode;

	if ((top->hide_kernel && mode == PD_CPUMODE_KERNEL) || (top->hide_user && mode == PD_CPUMODE_USER))
		return PD_CHOICE_LEAVE;
	return pd_select_choose(top->select, candidate);
}

static enum pd_status open_file(struct top *top, struct pd_error *error)
{
	struct input_options from = { .path = top->values->input };
	struct call none = *top->call;

	if (top->recorder)
		return pd_recorder_open_file(top->recorder, NULL, &top->input.file, error);
	none.word_count = 0;
	top->code = input_open(&top->input, &from, &none, NULL, NULL);
	top->over = top->code != CODE_OK;
	return top->over ? PD_END : PD_OK;
}

static struct pd_symbols *symbols_of(void *self, const struct pd_state *state)
{
	const struct top *top = self;

	(void)state;
	return top->symbols;
}

bool top_by(const struct top *top, uint32_t *by_out)
{
	struct pd_profile_options options = { 0 };
	struct pd_error error;

	if (pd_top_ask(&top->form, &options, &error) < 0)
		return print_error("%s", error.message);
	*by_out = options.by;
	return true;
}

enum pd_status top_begin(struct top *top, struct pd_error *error)
{
	struct pd_live_options how = {
		.size = sizeof(how), .choose = filter_sample, .self = top, .symbols = symbols_of
	};
	enum pd_status status = open_file(top, error);

	if (status != PD_OK)
		return status;
	if (!top_by(top, &top->by)) {
		top->code = CODE_USAGE;
		return PD_END;
	}
	/* keys that may be asked for later */
	if (top->screen.on)
		top->by |= PD_BY_COMM | PD_BY_PID | PD_BY_TID;
	how.by = top->by;
	how.max_stack = top->form.children ? 0 : (unsigned)top->form.max_stack;
	status = pd_live_new(top->input.file, &how, &top->live, error);
	if (status < 0)
		return status;
	top->symbols = symbols_open(&top->values->symbols, top->input.file, pd_live_state(top->live), true);
	if (!top->symbols)
		top->code = CODE_UNREADABLE;
	return top->symbols ? PD_OK : PD_END;
}

void top_end(struct top *top)
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

void top_begin_anew(struct top *top)
{
	if (!top->recorder)
		return;
	top->begins_anew = true;
	pd_recorder_switch(top->recorder);
}

/* ---- the sum ---- */

void top_describe_rate(struct top *top)
{
	size_t event = top->form.event == PD_TOP_ALL_EVENTS ? 0 : top->form.event;

	if (event < pd_file_event_count(top->input.file))
		pd_top_describe_rate(pd_file_event(top->input.file, event), top->rate);
}

/* What came since the last time goes into the sum. */
bool top_take(struct top *top)
{
	const bool zero = top->values->zero;
	struct pd_error error;
	double now = top_seconds();

	if (pd_top_take(top->live, top->symbols, zero ? 0 : 7,
			top->paused ? 0 :
			zero        ? 1 :
				      8,
			top->sum, &top->totals, &error) >= 0) {
		top_describe_rate(top);
		top->totals.seconds = now - top->last;
		top->last = now;
		return true;
	}
	print_error("%s", error.message);
	top->code = CODE_UNREADABLE;
	top->over = true;
	return false;
}
