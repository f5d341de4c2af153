/* SPDX-License-Identifier: MIT */
/* Profiles: reading a file into one, and what users ask of it. */
#include "profile/profile.h"

#include <string.h>

#include <perfdata/jitdump.h>

#include "base/error.h"
#include "file/file.h"
#include "profile/known.h"
#include "stream/parallel/known.h"
#include "stream/read/stream.h"
#include "symbol/lookup.h"

enum {
	WORTH_A_THREAD = 64 << 20
}; // bytes of a file

// ---- reading ----

void pd_profile_note_losses(struct pd_profile_losses *losses, const struct pd_record *record)
{
	const uint64_t gaps = PD_MASK(PD_AUX_TRUNCATED) | PD_MASK(PD_AUX_PARTIAL) | PD_MASK(PD_AUX_COLLISION);
	const struct pd_lost *lost = pd_as_lost(record);
	const struct pd_lost_samples *lost_samples = pd_as_lost_samples(record);
	const struct pd_aux *aux = pd_as_aux(record);

	losses->throttles += record->type == PD_RECORD_THROTTLE;
	losses->unthrottles += record->type == PD_RECORD_UNTHROTTLE;
	if (lost) {
		losses->lost += lost->lost;
		losses->lost_records++;
	}
	if (lost_samples)
		losses->lost_samples += lost_samples->lost;
	if (aux)
		losses->aux_lost += (aux->flags & gaps) != 0;
}

static enum pd_status learn(void *self, struct pd_stream *stream, const struct pd_record *record,
			    struct pd_error *error)
{
	struct pd_profile *profile = self;

	(void)stream;
	pd_profile_note_losses(&profile->losses, record);
	return pd_state_take(profile->state, record, error);
}

// A hundredth of the time that is taken, rounded up.
static uint64_t slice_of_window(const struct pd_window *window)
{
	uint64_t first = window->first_ns > window->from_ns ? window->first_ns : window->from_ns;
	uint64_t last = window->to_ns && window->to_ns < window->last_ns ? window->to_ns : window->last_ns;

	return last > first ? (last - first) / 100 + 1 : 1;
}

static void set_slices(struct pd_profile *profile, const struct pd_window *window)
{
	struct pd_collector *collector = &profile->collector;
	uint64_t first = window->first_ns > window->from_ns ? window->first_ns : window->from_ns;

	if (!profile->options.slices)
		return;
	collector->slice_ns = profile->options.slice_ns;
	while (window->last_ns > first && (window->last_ns - first) / collector->slice_ns >= PD_TIME_BINS_MOST - 1)
		collector->slice_ns *= 2;
	collector->first_slice = first / collector->slice_ns;
}

static bool has_jitdumps(const struct pd_state *state)
{
	const struct pd_object *object;

	for (size_t i = 0; (object = pd_state_object(state, i)); i++)
		if (pd_jitdump_is(object->path))
			return true;
	return false;
}

static void use_codes(struct pd_profile *profile, struct pd_symbols *symbols)
{
	struct pd_common *common = profile->collector.common;

	common->frames.codes = common->owners.codes = pd_codes_of(symbols);
}

static void prepare(void *symbols)
{
	pd_lookup_prepare(symbols);
}

// Whether loading names while samples are counted is worth a thread: for small files it may be all that costs.
static bool can_prepare(const struct pd_profile *profile)
{
	const struct pd_file *file = profile->file;
	uint64_t size = 0;

	for (size_t i = 0; i < pd_file_part_count(file); i++) {
		const struct pd_part *part = pd_file_part(file, i);

		if (part->end != UINT64_MAX && part->end > part->begin)
			size += part->end - part->begin;
	}
	return profile->options.threads != 1 && size >= WORTH_A_THREAD;
}

// ---- unwinding ----

bool pd_unwinding_is_wanted(const struct pd_file *file, const struct pd_profile_options *options)
{
	const struct pd_event *event;

	if (options->no_unwind || !options->symbols || !(options->by & PD_BY_CHAIN))
		return false;
	for (size_t i = 0; (event = pd_file_event(file, i)); i++)
		if (pd_unwinder_wants(event->attr) && event->attr->sample_type & MASK_SAMPLE_TYPE(CALLCHAIN))
			return true;
	return false;
}

// Who unwinds loads objects while samples are read, as those do who ask for functions: with the same symbols and lock.
static enum pd_status begin_unwinding(struct pd_profile *profile, struct pd_symbols *symbols, struct pd_error *error)
{
	struct pd_functions *functions = &profile->collector.common->functions;
	const struct pd_unwind_options options = { .size = sizeof(options),
						   .max_stack = profile->options.max_stack,
						   .stitch_lbr = profile->options.stitch_lbr };
	enum pd_status status =
		pd_unwinder_new(profile->file, profile->state, symbols, &options, &profile->unwinder, error);

	if (status < 0)
		return status;
	pd_unwinder_set_lock(profile->unwinder, &functions->lock);
	profile->collector.unwinder = profile->unwinder;
	profile->symbols = symbols;
	profile->first_dso = symbols->dso_count;
	if (pd_functions_wanted(&profile->options))
		pd_functions_use(functions, symbols);
	return PD_OK;
}

// ---- symbols ----

static enum pd_status use_symbols_to_unwind(struct pd_profile *profile, bool has_code, struct pd_error *error)
{
	struct pd_symbols *symbols = profile->options.symbols(profile->options.self, profile->state);

	if (!symbols)
		return PD_OK;
	profile->codes_of = has_code ? symbols : NULL;
	if (has_code)
		use_codes(profile, symbols);
	return begin_unwinding(profile, symbols, error);
}

static void use_symbols(struct pd_profile *profile, bool has_code)
{
	struct pd_symbols *symbols = NULL;

	if (profile->options.symbols && (has_code || (!pd_functions_wanted(&profile->options) && can_prepare(profile))))
		symbols = profile->options.symbols(profile->options.self, profile->state);
	profile->codes_of = has_code ? symbols : NULL;
	if (symbols && has_code)
		use_codes(profile, symbols);
	else if (symbols)
		pd_worker_start(&profile->preparer, prepare, symbols);
	profile->symbols = profile->preparer.started ? symbols : NULL;
}

static bool needs_running(const struct pd_profile_options *options)
{
	return options->latency || options->parallelism || (options->by & PD_BY_PARALLELISM);
}

static enum pd_status get_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_profile *profile = self;
	enum pd_status status = pd_state_take_features(profile->state, profile->file, error);

	profile->losses.first_ns = window->first_ns;
	profile->losses.last_ns = window->last_ns;
	if (status >= 0)
		status = pd_state_finalize(profile->state, error);
	if (status >= 0 && profile->options.ready)
		status = profile->options.ready(profile->options.self, window, error);
	profile->options.from_ns = window->from_ns;
	profile->options.to_ns = window->to_ns;
	if (!profile->options.slice_ns)
		profile->options.slice_ns = slice_of_window(window);
	set_slices(profile, window);
	if (status >= 0 && needs_running(&profile->options))
		status = pd_running_read(profile->file, &profile->running, error);
	profile->collector.running = profile->running;
	// only now all events are known
	if (status >= 0)
		status = pd_collector_init(&profile->collector, error);
	if (status >= 0 && pd_unwinding_is_wanted(profile->file, &profile->options))
		return use_symbols_to_unwind(profile, has_jitdumps(profile->state), error);
	if (status >= 0)
		use_symbols(profile, has_jitdumps(profile->state));
	return status;
}

// The state has what the file says, and nobody asks for functions.
static enum pd_status get_known_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_profile *profile = self;

	profile->losses.first_ns = window->first_ns;
	profile->losses.last_ns = window->last_ns;
	if (!profile->options.slice_ns)
		profile->options.slice_ns = slice_of_window(window);
	set_slices(profile, window);
	return pd_collector_init(&profile->collector, error);
}

static bool report_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_profile *profile = self;

	return !profile->options.progress || profile->options.progress(profile->options.self, done, total);
}

static void peek(void *self, const struct pd_record *record)
{
	struct pd_profile *profile = self;

	if (record)
		pd_merge_peek(&profile->collector.common->frames.merge, record);
	else
		pd_merge_end_peek(&profile->collector.common->frames.merge, profile->options.merge_below);
}

// ---- the sink: a collector and its clones ----

static enum pd_status collect_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				     struct pd_error *error)
{
	enum pd_status status = pd_collector_take(self, record, error);

	return status < 0 || record->type != PD_RECORD_SAMPLE ? status : pd_collector_take_more(self, stream, error);
}

static enum pd_status make_clone(void *self, void **clone_out, struct pd_error *error)
{
	const struct pd_collector *collector = self;
	struct pd_collector *clone = pd_alloc_padded(sizeof(*clone));
	enum pd_status status;

	if (!clone)
		return pd_fail_memory(error);
	*clone = (struct pd_collector){
		.options = collector->options,
		.state = collector->state,
		.file = collector->file,
		.seed = collector->seed,
		.period_shift = collector->period_shift,
		.slice_ns = collector->slice_ns,
		.first_slice = collector->first_slice,
		.common = collector->common,
		.running = collector->running,
	};
	collector->common->locks = true;
	status = pd_collector_init(clone, error);
	if (status >= 0 && collector->unwinder) {
		status = pd_unwinder_clone(collector->unwinder, &clone->unwinder, error);
		if (status < 0)
			pd_collector_fini(clone);
	}
	if (status < 0)
		pd_free(clone);
	else
		*clone_out = clone;
	return status;
}

static enum pd_status join_clone(void *self, void *clone, struct pd_error *error)
{
	bool joined;

	pd_collector_finish(clone);
	joined = pd_collector_join(self, clone);
	pd_collector_fini(clone);
	pd_free(clone);
	return joined ? PD_OK : pd_fail_memory(error);
}

// On the thread that counted: this is worth doing at the same time.
static void finish(void *self)
{
	pd_collector_finish(self);
}

// Whether samples stand for what counters gained, which needs the order of time. The events of a pipe come in front of
// its samples.
static enum pd_status needs_order(struct pd_file *file, bool *needs_out, struct pd_error *error)
{
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = PD_OK;

	if (pd_file_mode(file) == PD_MODE_PIPE) {
		status = pd_stream_open(file, NULL, &stream, error);
		if (status < 0)
			return status;
		pd_stream_be_quiet(stream); // the run reports what is wrong
		while ((status = pd_stream_next(stream, &record, error)) == PD_OK)
			if (record->type == PD_RECORD_SAMPLE)
				break;
		pd_stream_close(stream);
	}
	*needs_out = false;
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & MASK_SAMPLE_TYPE(READ))
			*needs_out = true;
	return status < 0 ? status : PD_OK;
}

// Those that were asked for functions have loaded most of what names need.
static void take_symbols(struct pd_profile *profile)
{
	const struct pd_common *common = profile->collector.common;

	if (!common || !common->functions.symbols)
		return;
	profile->symbols = common->functions.symbols;
	profile->first_dso = common->functions.first_dso;
}

static void begin_collector(struct pd_profile *profile)
{
	profile->collector = (struct pd_collector){
		.options = &profile->options,
		.state = profile->state,
		.file = profile->file,
		.seed = pd_file_secret(profile->file),
		.running = profile->running,
	};
}

// Processes and mappings are known, and the time range is chosen.
static enum pd_status get_ready_again(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_profile *profile = self;
	struct pd_collector *collector = &profile->collector;
	const struct pd_functions *functions = &collector->common->functions;
	struct pd_symbols *symbols = functions->symbols;
	size_t first_dso = functions->first_dso;
	bool asked = functions->asked;
	bool *heavy = collector->heavy;
	unsigned shift = collector->period_shift;
	enum pd_status status;

	collector->heavy = NULL;
	pd_collector_fini(collector);
	begin_collector(profile);
	collector->heavy = heavy;
	collector->period_shift = shift;
	set_slices(profile, window);
	status = pd_collector_init(collector, error);
	if (status >= 0)
		pd_functions_know(&collector->common->functions, asked, symbols, first_dso);
	if (status >= 0 && profile->codes_of)
		use_codes(profile, profile->codes_of);
	if (status >= 0 && profile->unwinder) {
		pd_unwinder_forget_counts(profile->unwinder);
		pd_unwinder_set_lock(profile->unwinder, &collector->common->functions.lock);
		collector->unwinder = profile->unwinder;
	}
	return status;
}

// One pass over the file for each run of its options.
static enum pd_status run_samples(struct pd_profile *profile, struct pd_run_options *options, struct pd_error *error)
{
	struct pd_sink sink = { sizeof(sink), &profile->collector, collect_record, make_clone, join_clone, finish };

	if (options->order == PD_ORDER_TIME)
		sink.fork = NULL;
	if (!options->first && profile->pieces && !options->quiet)
		return pd_run_next(profile->file, options, &sink, profile->pieces, error);
	return pd_run(profile->file, options, &sink, error);
}

// Once what is known of the first run is better.
static enum pd_status run_again(struct pd_profile *profile, struct pd_run_options *options, struct pd_error *error)
{
	options->first = NULL;
	options->peek = NULL;
	options->ready = get_ready_again;
	options->from_ns = profile->options.from_ns;
	options->to_ns = profile->options.to_ns;
	options->quiet = true;
	return run_samples(profile, options, error);
}

// Shares stay right, where sums would pass 64 bits.
static void divide_periods(struct pd_profile *profile)
{
	unsigned shift = pd_collector_excess(&profile->collector);

	profile->collector.period_shift = shift;
	pd_file_report(profile->file, PD_PROBLEM_LARGE_PERIODS, PD_NO_OFFSET, NULL,
		       "the periods add up to more than 2^64: all are divided by 2^%u", shift);
}

static enum pd_status read_samples(struct pd_profile *profile, struct pd_error *error)
{
	struct pd_run_options options = {
		.size = sizeof(options),
		.threads = profile->options.threads,
		.first = profile->pieces ? NULL : learn,
		.ready = profile->pieces ? get_known_ready : get_ready,
		.self = profile,
		.from_ns = profile->options.from_ns,
		.to_ns = profile->options.to_ns,
		.progress = report_progress,
		.peek = profile->options.merge_below > 0 ? peek : NULL,
	};
	bool ordered;
	enum pd_status status = needs_order(profile->file, &ordered, error);

	if (status < 0)
		return status;
	ordered |= profile->options.stitch_lbr;
	options.order = ordered ? PD_ORDER_TIME : PD_ORDER_FILE;
	status = run_samples(profile, &options, error);
	pd_worker_join(&profile->preparer);
	if (status >= 0 && pd_collector_excess(&profile->collector)) {
		divide_periods(profile);
		status = run_again(profile, &options, error);
	}
	if (status >= 0 && pd_collector_merged_too_much(&profile->collector, profile->options.merge_below,
							&profile->collector.heavy)) {
		if (!profile->collector.heavy)
			return pd_fail_memory(error);
		status = run_again(profile, &options, error);
	}
	take_symbols(profile);
	return status;
}

// What entries and stacks point to.
static void take_memory(struct pd_profile *profile, struct pd_common *common)
{
	for (size_t i = 0; i < PD_SHARDS && (profile->options.by & PD_BY_CHAIN); i++) {
		profile->callers[i] = common->shards[i].arena;
		common->shards[i].arena = (struct pd_arena){ 0 };
	}
	profile->raws = common->raws.bytes;
	common->raws.bytes = (struct pd_arena){ 0 };
	profile->raw_items = common->raws.items;
	common->raws.items = NULL;
	profile->owners = common->owners.items;
	common->owners.items = NULL;
	profile->details = common->details.items;
	common->details.items = NULL;
}

enum pd_status pd_profile_finish(struct pd_profile *profile, enum pd_status status, struct pd_error *error)
{
	pd_collector_finish(&profile->collector);
	pd_profile_note_tables(profile);
	if (status >= 0)
		status = pd_profile_arrange(profile, error);
	pd_profile_end_names(profile);
	profile->losses.unknown_event = profile->collector.unknown_event;
	profile->losses.damaged = profile->collector.damaged;
	profile->losses.had_samples = profile->losses.last_ns || profile->collector.sample_count;
	profile->totals = profile->collector.totals;
	profile->event_count = profile->collector.event_count;
	for (size_t i = 0; i < profile->event_count; i++)
		profile->totals[i].period_shift = profile->collector.period_shift;
	profile->collector.totals = NULL;
	if (profile->collector.common)
		take_memory(profile, profile->collector.common);
	pd_collector_fini(&profile->collector);
	return status;
}

static enum pd_status fill(struct pd_profile *profile, struct pd_error *error)
{
	enum pd_status status = profile->state ? PD_OK : pd_state_new(NULL, &profile->state, error);

	begin_collector(profile);
	if (status >= 0)
		status = read_samples(profile, error);
	return pd_profile_finish(profile, status, error);
}

static enum pd_status read_profile(struct pd_profile *profile, const struct pd_profile_options *options,
				   struct pd_profile **profile_out, struct pd_error *error)
{
	enum pd_status status;

	if (options)
		memcpy(&profile->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (profile->pieces)
		profile->options.symbols = NULL;
	status = fill(profile, error);
	if (status < 0)
		pd_profile_free(profile);
	else
		*profile_out = profile;
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_profile_read(struct pd_file *file, const struct pd_profile_options *options,
			       struct pd_profile **profile_out, struct pd_error *error)
{
	struct pd_profile *profile = pd_alloc(sizeof(*profile));

	if (!profile)
		return pd_fail_memory(error);
	profile->file = file;
	return read_profile(profile, options, profile_out, error);
}

enum pd_status pd_profile_read_known(struct pd_file *file, struct pd_state *state, struct pd_pieces *pieces,
				     const struct pd_profile_options *options, struct pd_profile **profile_out,
				     struct pd_error *error)
{
	struct pd_profile *profile = pd_alloc(sizeof(*profile));

	if (!profile)
		return pd_fail_memory(error);
	profile->file = file;
	profile->state = state;
	profile->foreign_state = true;
	profile->pieces = pieces;
	return read_profile(profile, options, profile_out, error);
}

void pd_profile_free(struct pd_profile *profile)
{
	if (!profile)
		return;
	pd_collector_fini(&profile->collector);
	if (!profile->foreign_state)
		pd_state_free(profile->state);
	pd_unwinder_free(profile->unwinder);
	pd_running_free(profile->running);
	pd_free(profile->totals);
	pd_free(profile->counted);
	pd_free(profile->weights);
	pd_free(profile->owners);
	pd_free(profile->details);
	pd_free(profile->raw_items);
	pd_free(profile->entries);
	pd_free(profile->slices);
	pd_free(profile->slice_ranges);
	pd_free(profile->stacks);
	pd_free(profile->rare);
	pd_free(profile->frames);
	pd_free(profile->origins);
	pd_arena_fini(&profile->arena);
	for (size_t i = 0; i < PD_SHARDS; i++)
		pd_arena_fini(&profile->callers[i]);
	pd_arena_fini(&profile->raws);
	pd_free(profile->measured);
	pd_free(profile);
}

// ---- what users ask ----

const struct pd_state *pd_profile_state(const struct pd_profile *profile)
{
	return profile->state;
}

const struct pd_slice *pd_profile_slices(const struct pd_profile *profile, size_t index, size_t *count_out)
{
	bool has_slices = profile->slice_ranges && index < profile->entry_count;

	*count_out = has_slices ? profile->slice_ranges[index].count : 0;
	return has_slices ? profile->slices + profile->slice_ranges[index].start : NULL;
}

uint64_t pd_profile_slicing(const struct pd_profile *profile, uint64_t *first_ns_out)
{
	*first_ns_out = profile->first_slice_ns;
	return profile->slice_ns;
}

size_t pd_profile_stack_count(const struct pd_profile *profile)
{
	return profile->stack_count;
}

const struct pd_stack *pd_profile_stack(const struct pd_profile *profile, size_t index)
{
	return index < profile->stack_count ? &profile->stacks[index] : NULL;
}

size_t pd_profile_frame_count(const struct pd_profile *profile)
{
	return profile->frame_count;
}

const struct pd_frame *pd_profile_frame(const struct pd_profile *profile, uint32_t index)
{
	return index < profile->frame_count ? &profile->frames[index] : NULL;
}

bool pd_profile_merged_caller(const struct pd_profile *profile, size_t index, struct pd_merged_caller *caller_out)
{
	const struct pd_rare_caller *rare = index < profile->rare_count ? &profile->rare[index] : NULL;

	if (rare)
		*caller_out = (struct pd_merged_caller){
			.addr = rare->addr,
			.samples = rare->samples,
			.period = rare->period,
			.order = rare->order,
			.entry = rare->bucket,
			.inner = rare->inner,
			.outer = rare->outer,
			.below = rare->below,
			.above = rare->above,
		};
	return rare;
}

const struct pd_profile_total *pd_profile_total(const struct pd_profile *profile, size_t event)
{
	return event < profile->event_count ? &profile->totals[event] : NULL;
}

uint32_t pd_profile_parallelism(const struct pd_profile *profile, const struct pd_record *record, size_t *hint)
{
	return profile->running ? pd_running_at(profile->running, record->time_ns, record->place, hint) : 0;
}

const struct pd_unwinder *pd_profile_unwinder(const struct pd_profile *profile)
{
	return profile->unwinder;
}

const struct pd_profile_losses *pd_profile_losses(const struct pd_profile *profile)
{
	return &profile->losses;
}
