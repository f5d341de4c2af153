/* SPDX-License-Identifier: MIT */
/*
 * By time: samples and what happened are of their moment; what later moments depend on is of all moments up to the end;
 * what has no time is of the whole recording.
 */
#include "edit/extract/extract.h"

#include "format/traits.h"

// User parts of call chains come later than the samples that they belong to, and may be after the end.
enum {
	COOKIES = 4096 // samples of one moment that may wait; older ones are forgotten
};

struct range {
	uint64_t cookies[COOKIES];
};

// ---- call chains that come later ----

// The number after USER_DEFERRED, at the end of a chain; 0 if there is none.
static uint64_t cookie_of(const struct pd_brief *brief)
{
	struct pd_u64s chain = brief->callchain;

	return chain.count >= 2 && chain.items[chain.count - 2] == (uint64_t)PD_CONTEXT_USER_DEFERRED ?
		       chain.items[chain.count - 1] :
		       0;
}

static void note_cookie(struct range *range, const struct pd_record *record)
{
	struct pd_brief brief;
	uint64_t cookie;

	if (!record->event || !PD_BITS(record->event->attr->flags, PD_ATTR_DEFER_CALLCHAIN) ||
	    !pd_record_brief(record, &brief) || !(cookie = cookie_of(&brief)))
		return;
	range->cookies[cookie % COOKIES] = cookie;
}

static bool is_awaited(const struct range *range, const struct pd_record *record)
{
	const struct pd_callchain_deferred *chain = pd_as_callchain_deferred(record);

	return chain && chain->cookie && range->cookies[chain->cookie % COOKIES] == chain->cookie;
}

// ---- what is copied ----

static enum pd_status choose_in_range(struct pd_extract *extract, struct pd_stream *stream,
				      const struct pd_record *record, enum pd_extract_action *action_out,
				      struct pd_error *error)
{
	struct range *range = extract->context;
	uint64_t time_ns = record->time_ns;
	bool sample = record->type == PD_RECORD_SAMPLE;
	bool inside = pd_select_has_time(extract->options.select, time_ns);

	(void)stream;
	(void)error;
	if (sample && inside)
		note_cookie(range, record);
	if (!sample && time_ns == PD_NO_TIME)
		inside = true;
	else if (pd_record_is(record->type, PD_TRAIT_STATE))
		inside = !extract->to_ns || time_ns <= extract->to_ns;
	else if (!inside && record->type == PD_RECORD_CALLCHAIN_DEFERRED)
		inside = is_awaited(range, record);
	*action_out = inside ? PD_EXTRACT_PASS : PD_EXTRACT_DROP;
	return PD_OK;
}

// ---- the range ----

static bool reads_twice(const struct pd_extract_options *options)
{
	return pd_select_waits(options->select);
}

static enum pd_status note_sample(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	(void)stream;
	(void)error;
	if (record->type == PD_RECORD_SAMPLE)
		pd_extract_note_time(self, record);
	return PD_OK;
}

// What the recorder noted saves a pass. In a pipe it is known only when it has come.
static bool needs_times(const struct pd_extract *extract)
{
	return pd_select_waits(extract->options.select) &&
	       (pd_file_header(extract->file)->mode == PD_MODE_PIPE || !pd_select_noted_time(extract->file));
}

static enum pd_status prepare_range(struct pd_extract *extract, struct pd_error *error)
{
	struct pd_window window = { 0 };
	enum pd_status status = PD_OK;

	extract->context = pd_alloc(sizeof(struct range));
	if (!extract->context)
		return pd_fail_memory(error);
	if (needs_times(extract))
		status = pd_extract_scan(extract, note_sample, &window, error);
	return status < 0 ? status : pd_extract_ready(extract, &window, error);
}

const struct pd_extract_way pd_extract_range = {
	.reads_twice = reads_twice, .prepare = prepare_range, .choose = choose_in_range, .free = pd_free
};
