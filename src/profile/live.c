/* SPDX-License-Identifier: MIT */
/*
 * Live profiles. What is no sample goes into the state at once; samples wait, as copies, until the state is finalized.
 * Those of the last round wait longer: rings are read one after another, so a map that is older than a sample may come
 * one round after it, but never two. Samples whose call chain goes on in a record that has not come, as their thread is still in the
 * kernel, wait for one more profile.
 */
#include <perfdata/live.h>

#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "profile/profile.h"
#include "state/state.h"
#include "stream/read/batch.h"
#include "stream/read/stream.h"

static const uint64_t default_limit = UINT64_C(256) << 20;

struct pd_live {
	struct pd_file *file;
	struct pd_profile_options options;
	uint64_t limit;
	struct pd_state *state;
	struct pd_unwinder *unwinder; // or NULL
	struct pd_stream *stream;
	struct pd_stream *shown; // samples that waited
	struct pd_batch waiting;
	size_t last_round;         // where it begins in waiting
	struct pd_batch postponed; // from the last profile to the next one
	size_t chains;             // parts of chains that the state had when they were forgotten last
	size_t rounds;             // since then
	uint64_t first, records;   // that the state knows
	bool began, ended;
	struct pd_profile_losses losses; // since the last profile
	struct pd_last_values values;    // of counters, from profile to profile
};

static void take_options(struct pd_live *live, const struct pd_live_options *o)
{
	live->options = (struct pd_profile_options){
		.size = sizeof(live->options),
		.by = o->by & ~(uint32_t)(PD_BY_TIME | PD_BY_PARALLELISM),
		.max_stack = o->max_stack,
		.choose = o->choose,
		.symbols = o->symbols,
		.stitch_lbr = o->stitch_lbr,
		.self = o->self,
	};
	live->limit = o->memory_limit ? o->memory_limit : default_limit;
}

enum pd_status pd_live_new(struct pd_file *file, const struct pd_live_options *options, struct pd_live **live_out,
			   struct pd_error *error)
{
	struct pd_live_options all = { .size = sizeof(all) };
	struct pd_live *live;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size of the options is 0");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	live = pd_alloc(sizeof(*live));
	if (!live)
		return pd_fail_memory(error);
	live->file = file;
	live->values.places.seed = pd_file_secret(file);
	take_options(live, &all);
	status = pd_state_new(NULL, &live->state, error);
	if (status >= 0)
		status = pd_stream_new(file, &live->shown, error); // reads nothing, so the pipe has not begun
	if (status >= 0)
		status = pd_stream_open(file, NULL, &live->stream, error);
	if (status < 0)
		pd_live_free(live);
	else
		*live_out = live;
	return status;
}

void pd_live_free(struct pd_live *live)
{
	if (!live)
		return;
	pd_unwinder_free(live->unwinder);
	pd_stream_close(live->shown);
	pd_stream_close(live->stream);
	pd_batch_fini(&live->waiting);
	pd_batch_fini(&live->postponed);
	pd_state_free(live->state);
	pd_last_values_fini(&live->values);
	pd_free(live);
}

// ---- reading ----

static enum pd_status take_sample(struct pd_live *live, const struct pd_record *record, struct pd_error *error)
{
	if (live->waiting.size + record->bytes.size > live->limit) {
		live->losses.lost_samples++;
		return PD_OK;
	}
	live->losses.had_samples = true;
	return pd_batch_add(&live->waiting, record, (struct pd_bytes){ 0 }) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status take_other(struct pd_live *live, const struct pd_record *record, struct pd_error *error)
{
	live->records++;
	if (record->type == PD_RECORD_FINISHED_INIT)
		live->first = live->records;
	pd_profile_note_losses(&live->losses, record);
	return pd_state_take(live->state, record, error);
}

enum pd_status pd_live_read(struct pd_live *live, struct pd_error *error)
{
	const struct pd_record *record;
	enum pd_status status;

	if (live->ended)
		return PD_END;
	live->last_round = live->waiting.size;
	live->rounds++;
	while ((status = pd_stream_next(live->stream, &record, error)) == PD_OK) {
		if (record->type == PD_RECORD_FINISHED_ROUND)
			return PD_OK;
		status = record->type == PD_RECORD_SAMPLE ? take_sample(live, record, error) :
							    take_other(live, record, error);
		if (status < 0)
			return status;
	}
	// nothing follows that could be older
	live->last_round = live->waiting.size;
	live->ended = status == PD_END;
	return status;
}

// ---- a profile of what waits ----

struct live_collect {
	struct pd_live *live;
	struct pd_collector *collector;
	bool again; // of what was postponed
};

static bool is_postponed(const struct live_collect *collect, const struct pd_record *record)
{
	const struct pd_live *live = collect->live;

	return live->unwinder && !collect->again && !live->ended && live->postponed.size < live->limit &&
	       pd_unwinder_waits(live->state, record);
}

static enum pd_status collect_records(struct live_collect *collect, const struct pd_batch *batch, size_t end,
				      struct pd_error *error)
{
	struct pd_live *live = collect->live;
	enum pd_status status = PD_OK;

	for (size_t at = 0; at < end && status >= 0; at += pd_kept_step(pd_kept_at(batch, at))) {
		const struct pd_record *record = pd_stream_replay(live->shown, pd_kept_at(batch, at));

		if (is_postponed(collect, record)) {
			if (!pd_batch_add(&live->postponed, record, (struct pd_bytes){ 0 }))
				status = pd_fail_memory(error);
			continue;
		}
		status = pd_collector_take(collect->collector, record, error);
		if (status >= 0)
			status = pd_collector_flush(collect->collector, error);
	}
	pd_stream_end_replay(live->shown);
	return status;
}

// Samples that have parts of chains come one round later than these at most.
static void forget_chains(struct pd_live *live)
{
	if (live->rounds < 2)
		return;
	pd_state_forget_deferred(live->state, live->chains);
	live->chains = live->state->deferred_count;
	live->rounds = 0;
}

static enum pd_status collect(struct pd_live *live, struct pd_collector *collector, struct pd_error *error)
{
	struct live_collect collect = { .live = live, .collector = collector, .again = true };
	enum pd_status status = pd_collector_init(collector, error);

	if (status < 0)
		return status;
	collector->last_values = live->values;
	collector->unwinder = live->unwinder;
	status = collect_records(&collect, &live->postponed, live->postponed.size, error);
	pd_batch_fini(&live->postponed);
	collect.again = false;
	if (status >= 0)
		status = collect_records(&collect, &live->waiting, live->last_round, error);
	forget_chains(live);
	live->values = collector->last_values;
	collector->last_values = (struct pd_last_values){ 0 };
	return status;
}

static void drop_taken(struct pd_live *live)
{
	size_t left = live->waiting.size - live->last_round;

	if (left && live->last_round)
		memmove(live->waiting.data, live->waiting.data + live->last_round, left);
	live->waiting.size = left;
	live->last_round = 0;
	// what a burst needed is not kept
	if (!left && live->waiting.capacity > live->limit / 16)
		pd_batch_fini(&live->waiting);
}

// What the head of a pipe says is known with the first round.
static enum pd_status bind_first_round(struct pd_live *live, struct pd_error *error)
{
	enum pd_status status = live->began ? PD_OK : pd_state_take_features(live->state, live->file, error);

	live->began = true;
	return status < 0 ? status : pd_state_finalize(live->state, error);
}

// Objects come with the processes that map them, and events with a pipe.
static enum pd_status follow_state(struct pd_live *live, struct pd_error *error)
{
	const struct pd_unwind_options options = { .size = sizeof(options),
						   .max_stack = live->options.max_stack,
						   .stitch_lbr = live->options.stitch_lbr };
	struct pd_symbols *symbols;

	if (live->unwinder)
		return pd_unwinder_follow(live->unwinder) ? PD_OK : pd_fail_memory(error);
	if (!pd_unwinding_is_wanted(live->file, &live->options))
		return PD_OK;
	symbols = live->options.symbols(live->options.self, live->state);
	return symbols ? pd_unwinder_new(live->file, live->state, symbols, &options, &live->unwinder, error) : PD_OK;
}

enum pd_status pd_live_take(struct pd_live *live, struct pd_profile **profile_out, struct pd_error *error)
{
	struct pd_profile *profile = pd_alloc(sizeof(*profile));
	enum pd_status status;

	if (!profile)
		return pd_fail_memory(error);
	profile->options = live->options;
	profile->options.symbols = NULL; // frames are addresses
	profile->file = live->file;
	profile->state = live->state;
	profile->foreign_state = true;
	profile->losses = live->losses;
	profile->collector = (struct pd_collector){
		.options = &profile->options,
		.state = live->state,
		.file = live->file,
		.seed = pd_file_secret(live->file),
	};
	live->losses = (struct pd_profile_losses){ 0 };
	status = bind_first_round(live, error);
	if (status >= 0)
		status = follow_state(live, error);
	if (status >= 0)
		status = collect(live, &profile->collector, error);
	status = pd_profile_finish(profile, status, error);
	drop_taken(live);
	if (status < 0)
		pd_profile_free(profile);
	else
		*profile_out = profile;
	return status;
}

const struct pd_state *pd_live_state(const struct pd_live *live)
{
	return live->state;
}

void pd_live_grown(const struct pd_live *live, uint64_t *first_out, uint64_t *all_out)
{
	*first_out = live->first;
	*all_out = live->records;
}
