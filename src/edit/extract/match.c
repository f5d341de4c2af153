/* SPDX-License-Identifier: MIT */
/*
 * By conditions. What they ask decides how often the file is read. Once, if a sample answers by itself; before that once more
 * for names of threads and places, which need all that was mapped and named, and for parts of the time; and once more to
 * find the processes whose records are kept (prune.c).
 */
#include "edit/extract/match.h"

// ---- what is asked ----

static bool asks(const struct pd_extract_options *options, uint32_t what)
{
	const struct pd_filter *where = pd_select_where(options->select);

	return where && (pd_filter_asks(where) & what);
}

static bool needs_places(const struct pd_extract_options *options)
{
	return pd_select_by_place(options->select) || asks(options, PD_FILTER_DSO | PD_FILTER_SYMBOL);
}

static bool needs_state(const struct pd_extract_options *options)
{
	return pd_select_has_list(options->select, PD_SELECT_COMMS) || needs_places(options) ||
	       asks(options, PD_FILTER_COMM);
}

static bool needs_scan(const struct pd_extract_options *options)
{
	return needs_state(options) || pd_select_waits(options->select);
}

static bool reads_twice(const struct pd_extract_options *options)
{
	return needs_scan(options) || options->prune;
}

static enum pd_status choose_matching(struct pd_extract *extract, struct pd_stream *stream,
				      const struct pd_record *record, enum pd_extract_action *action_out,
				      struct pd_error *error)
{
	const struct pd_extract_match *match = extract->context;
	bool wanted = false;
	enum pd_status status = pd_extract_matches(extract, record, &wanted, error);

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE)
		wanted = (!extract->result.records || pd_extract_has_where(extract, record)) &&
			 (!extract->options.prune || pd_extract_is_useful(&match->pids, record));
	*action_out = wanted ? PD_EXTRACT_PASS : PD_EXTRACT_DROP;
	return status;
}

// ---- what has to be known before ----

static enum pd_status scan_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_extract *extract = self;
	struct pd_extract_match *match = extract->context;

	if (record->type != PD_RECORD_SAMPLE)
		return match->state ? pd_state_take(match->state, record, error) : PD_OK;
	if (pd_select_waits(extract->options.select))
		pd_extract_note_time(&match->window, record);
	else
		pd_stream_pass(stream);
	return PD_OK;
}

static enum pd_status open_symbols(struct pd_extract *extract, struct pd_error *error)
{
	const struct pd_extract_options *options = &extract->options;
	struct pd_extract_match *match = extract->context;

	match->owns_symbols = !options->symbols;
	if (options->symbols)
		return options->symbols(options->self, extract->file, match->state, &match->symbols, error);
	return pd_symbols_new(extract->file, match->state, NULL, &match->symbols, error);
}

static enum pd_status finish_state(struct pd_extract *extract, struct pd_error *error)
{
	struct pd_extract_match *match = extract->context;
	enum pd_status status = pd_state_take_features(match->state, extract->file, error);

	if (status >= 0)
		status = pd_state_finalize(match->state, error);
	return status >= 0 && needs_places(&extract->options) ? open_symbols(extract, error) : status;
}

// Of a pipe that was not read before, events are not known yet.
static enum pd_status make_ready(struct pd_extract *extract, bool scanned, struct pd_error *error)
{
	struct pd_extract_match *match = extract->context;
	enum pd_status status;

	if (!scanned && pd_file_header(extract->file)->mode == PD_MODE_PIPE)
		return PD_OK;
	status = pd_extract_ready(extract, &match->window, error);
	if (status >= 0)
		match->known_event_count = pd_file_event_count(extract->file);
	return status;
}

static enum pd_status prepare_match(struct pd_extract *extract, struct pd_error *error)
{
	const struct pd_extract_options *options = &extract->options;
	struct pd_extract_match *match = pd_alloc(sizeof(*match));
	bool scans = needs_scan(options);
	enum pd_status status = PD_OK;

	if (!match)
		return pd_fail_memory(error);
	extract->context = match;
	extract->result.records = options->records || asks(options, PD_FILTER_RECORDS);
	if (needs_state(options))
		status = pd_state_new(NULL, &match->state, error);
	if (status >= 0 && scans)
		status = pd_extract_scan(extract, scan_record, extract, error);
	if (status >= 0 && match->state)
		status = finish_state(extract, error);
	if (status >= 0)
		status = make_ready(extract, scans, error);
	if (status >= 0 && options->prune)
		status = pd_extract_find_processes(extract, error);
	return status;
}

static void free_match(void *context)
{
	struct pd_extract_match *match = context;

	if (!match)
		return;
	if (match->owns_symbols)
		pd_symbols_free(match->symbols);
	pd_state_free(match->state);
	pd_u64_map_fini(&match->pids);
	pd_free(match);
}

const struct pd_extract_way pd_extract_match = {
	.reads_twice = reads_twice, .prepare = prepare_match, .choose = choose_matching, .free = free_match
};
