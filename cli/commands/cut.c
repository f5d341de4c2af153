/* SPDX-License-Identifier: MIT */
/*
 * perfdata cut: the part of a recording that is of some time, with what is needed to understand it.
 */
#include "keep.h"
#include "front/select_options.h"

#include <string.h>

struct values {
	struct keep_options keep;
	const char *time;
};

static const struct option options[] = {
	KEEP_OPTIONS(struct values, keep),
	{ "time", 0, OPTION_STRING, "RANGE", offsetof(struct values, time),
	  "time range to keep: START,STOP or 10%/2 or 0%-10% or 12:00:01,12:00:05" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata cut --time 10%/2 -o part.data", "keep the second tenth" },
	{ "perfdata cut --time 1234.5,1236 -o part.data", "keep 1.5 seconds, both ends included" },
	{ "perfdata cut --time 1234.5, -o - | perf report -i -", "everything from that time on, as a pipe" },
	{ "perfdata cut --time 12:00:01,12:00:05 -o part.data", "by wall-clock time" },
	{ 0 },
};

/* User parts of call chains come later than the samples that they belong to, and may be behind the end. */
enum {
	COOKIES = 4096 /* samples of one moment that may wait; older ones are forgotten */
};

struct cut {
	struct keep keep;
	struct pd_select *select;
	struct pd_window window;
	uint64_t to_ns; /* of the last range; 0: open */
	uint64_t cookies[COOKIES];
};

/* ---- what is kept ---- */

/* The number behind USER_DEFERRED, at the end of a chain; 0 if there is none. */
static uint64_t cookie_of(const struct pd_brief *brief)
{
	struct pd_u64s chain = brief->callchain;

	return chain.count >= 2 && chain.items[chain.count - 2] == (uint64_t)PD_CONTEXT_USER_DEFERRED ?
		       chain.items[chain.count - 1] :
		       0;
}

static void note_cookie(struct cut *cut, const struct pd_record *record)
{
	struct pd_brief brief;
	uint64_t cookie;

	if (!record->event || !PD_BITS(record->event->attr->flags, PD_ATTR_DEFER_CALLCHAIN) ||
	    !pd_record_brief(record, &brief) || !(cookie = cookie_of(&brief)))
		return;
	cut->cookies[cookie % COOKIES] = cookie;
}

static bool is_awaited(const struct cut *cut, const struct pd_record *record)
{
	const struct pd_callchain_deferred *chain = pd_as_callchain_deferred(record);

	return chain && chain->cookie && cut->cookies[chain->cookie % COOKIES] == chain->cookie;
}

/* Samples and what happened are of their moment; what later moments depend on is of all moments up to the end; what has no
 * time is of the whole recording. */
static enum verdict choose(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct cut *cut = self;
	uint64_t time_ns = record->time_ns;
	bool sample = record->type == PD_RECORD_SAMPLE;
	bool inside = pd_select_has_time(cut->select, time_ns);

	(void)stream;
	if (sample && inside)
		note_cookie(cut, record);
	if (!sample && time_ns == PD_NO_TIME)
		inside = true;
	else if (keep_is_state(record->type))
		inside = !cut->to_ns || time_ns <= cut->to_ns;
	else if (!inside && record->type == PD_RECORD_CALLCHAIN_DEFERRED)
		inside = is_awaited(cut, record);
	return inside ? VERDICT_PASS : VERDICT_DROP;
}

/* ---- the range ---- */

static bool look(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct cut *cut = self;
	struct pd_window *window = &cut->window;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE || record->time_ns == PD_NO_TIME)
		return true;
	if (!window->first_ns || record->time_ns < window->first_ns)
		window->first_ns = record->time_ns;
	if (record->time_ns > window->last_ns)
		window->last_ns = record->time_ns;
	return true;
}

/* What the recorder noted saves a walk. In a pipe it is known only when it has come. */
static bool must_look(const struct cut *cut)
{
	struct pd_file *file = cut->keep.input.file;

	return pd_select_waits(cut->select) &&
	       (pd_file_header(file)->mode == PD_MODE_PIPE || !pd_select_noted_time(file));
}

static int resolve(struct cut *cut)
{
	struct keep *keep = &cut->keep;
	struct pd_window wanted;
	int code = must_look(cut) ? keep_look(keep, look, cut) : CODE_FINE;

	if (code != CODE_FINE)
		return code;
	wanted = (struct pd_window){ .first_ns = cut->window.first_ns, .last_ns = cut->window.last_ns };
	if (!keep_status(keep, pd_select_ready(cut->select, keep->input.file, &wanted, &keep->error))) {
		complain("%s: %s", keep->input.name, keep->error.message);
		return keep->error.status == PD_ERROR_NO_MATCH ? CODE_NOTHING : CODE_UNREADABLE;
	}
	keep->from_ns = wanted.from_ns;
	keep->to_ns = cut->to_ns = wanted.to_ns;
	return CODE_FINE;
}

/* ---- the command ---- */

static int run(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_select_options selection = { .time = values->time };
	struct cut cut = { .keep.choose = choose };
	int code;

	cut.keep.self = &cut;
	if (!values->time) {
		complain("no time range given; use --time RANGE");
		return CODE_USAGE;
	}
	if (!select_take(&cut.select, &selection))
		return CODE_USAGE;
	code = keep_open(&cut.keep, &values->keep, call, pd_select_waits(cut.select));
	if (code == CODE_FINE)
		code = resolve(&cut);
	if (code == CODE_FINE)
		code = keep_write(&cut.keep);
	code = keep_close(&cut.keep, code);
	pd_select_free(cut.select);
	return code;
}

const struct command cmd_cut = {
	.usage = "[OPTION]... --time RANGE -o OUTPUT [FILE]",
	.text = "Extract a time range of FILE: its samples, lost, throttle and context-switch records, and everything needed "
		"to interpret them: thread names, mappings, forks and kernel text changes up to the end of the range, events "
		"and header features. Data without a timestamp, such as AUX data, is kept whole.\n\n"
		"START,STOP includes both ends. Parts such as 10%/2 or 10%-20% exclude the end, so adjacent parts never "
		"contain the same sample twice. docs/selecting.md lists all forms of RANGE.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
