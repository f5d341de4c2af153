/* SPDX-License-Identifier: MIT */
/*
 * Samples as text, in time order. A file that can be read twice is: first for who ran and what was mapped, then for the
 * samples, on several threads where a line does not depend on those before it. A pipe is read once, record by record, and what
 * it says is known from there on.
 */
#include <string.h>
#include <sys/utsname.h>

#include <perfdata/run.h>

#include "file/file.h"
#include "header/stats.h"
#include "samples/raw/raw.h"
#include "stream/each.h"

static enum pd_status keep(struct pd_samples *samples, enum pd_status status)
{
	if (status < 0)
		samples->status = status;
	return status;
}

static bool succeeds(struct pd_samples *samples, enum pd_status status)
{
	return keep(samples, status) >= 0;
}

// ---- which records ----

#define TYPE(NAME) (UINT64_C(1) << PD_RECORD_##NAME)

// Stands for FINISHED_ROUND, whose number is too large.
#define ROUNDS UINT64_C(1)

static bool is_shown(const struct pd_samples *samples, uint32_t type)
{
	if (type == PD_RECORD_FINISHED_ROUND)
		return samples->options.types & ROUNDS;
	return type && type < 64 && (samples->options.types >> type & 1);
}

// To change the state and to query it by turns is expensive, so it gets only what may change the answers.
static bool changes_state(uint32_t type)
{
	const uint64_t types = TYPE(COMM) | TYPE(FORK) | TYPE(EXIT) | TYPE(MMAP) | TYPE(MMAP2) | TYPE(NAMESPACES) |
			       TYPE(KSYMBOL) | TYPE(BPF_EVENT) | TYPE(CGROUP) | TYPE(TEXT_POKE);

	return type < 64 ? types >> type & 1 : type == PD_RECORD_HEADER_BUILD_ID;
}

// ---- events ----

#define ADD_PLACE (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)

static bool has_chain(const struct pd_event *event)
{
	return event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN);
}

// Tracepoints show an address only where one of them has a call chain.
static void add_tracepoint_place(struct pd_samples *samples)
{
	struct pd_sample_fields *fields = &samples->fields[KIND_TRACE];

	for (size_t i = 0; i < pd_file_event_count(samples->file) && !fields->by_user; i++) {
		const struct pd_event *event = pd_file_event(samples->file, i);

		if (!samples->options.no_chains && pd_event_kind(event) == KIND_TRACE && has_chain(event))
			fields->shown |= ADD_PLACE;
	}
}

// In a pipe whatever can have a call chain shows addresses.
static void add_pipe_place(struct pd_samples *samples, const struct pd_event *event)
{
	struct pd_sample_fields *fields = &samples->fields[pd_event_kind(event)];
	const uint64_t user = PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_STACK_USER);
	uint64_t all = samples->pipe_types |= event->attr->sample_type;

	if (!samples->options.no_chains && ((all & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)) ||
					    (all & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK)) || (all & user) == user))
		fields->shown |= (FIELD_IP | FIELD_SYM) & ~fields->unset;
}

// Groups that are read as a whole.
static bool has_groups(const struct pd_samples *samples)
{
	for (size_t i = 0; i < pd_file_event_count(samples->file); i++) {
		if (pd_file_event(samples->file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ))
			return true;
	}
	return false;
}

// Events of a pipe come one after another.
static bool check_events(struct pd_samples *samples)
{
	struct pd_file *file = samples->file;
	bool pipe = pd_file_header(file)->mode == PD_MODE_PIPE;

	while (samples->events_checked < pd_file_event_count(file)) {
		const struct pd_event *event = pd_file_event(file, samples->events_checked++);

		if (!succeeds(samples,
			      pd_sample_fields_check(samples->fields, event, pd_file_header(file), &samples->error)))
			return false;
		if (pipe)
			add_pipe_place(samples, event);
	}
	pd_samples_forget_styles(samples);
	// a file is known as a whole by now; a pipe may have new ones
	if (pipe && samples->select && !succeeds(samples, pd_select_learn(samples->select, file, &samples->error)))
		return false;
	return !pipe || !samples->options.learn ||
	       succeeds(samples, samples->options.learn(samples->options.self, file, &samples->error));
}

// ---- a record ----

static bool open_symbols(struct pd_samples *samples)
{
	if (samples->symbols)
		return true;
	samples->owns_symbols = !samples->options.symbols;
	if (samples->owns_symbols)
		return succeeds(samples, pd_symbols_new(samples->file, samples->state, NULL, &samples->symbols,
							&samples->error));
	return succeeds(samples, samples->options.symbols(samples->options.self, samples->file, samples->state,
							  &samples->symbols, &samples->error));
}

static bool has_copied_stacks(const struct pd_samples *samples)
{
	for (size_t i = 0; i < pd_file_event_count(samples->file); i++) {
		const struct pd_event *event = pd_file_event(samples->file, i);

		if (has_chain(event) && pd_unwinder_wants(event->attr))
			return true;
	}
	return false;
}

// Events of a pipe may come later.
static bool open_unwinder(struct pd_samples *samples)
{
	const struct pd_unwind_options options = { .size = sizeof(options),
						   .max_stack = samples->options.max_stack < UINT16_MAX ?
									(unsigned)samples->options.max_stack :
									UINT16_MAX,
						   .stitch_lbr = samples->options.stitch_lbr };

	if (samples->unwinder || samples->options.no_unwind || samples->options.no_chains ||
	    !has_copied_stacks(samples))
		return true;
	return succeeds(samples, pd_unwinder_new(samples->file, samples->state, samples->symbols, &options,
						 &samples->unwinder, &samples->error));
}

static bool finalize_state(struct pd_samples *samples)
{
	if (!samples->finalized && !succeeds(samples, pd_state_finalize(samples->state, &samples->error)))
		return false;
	if (!samples->finalized) {
		pd_samples_forget(samples);
		if (samples->unwinder && !pd_unwinder_follow(samples->unwinder))
			return succeeds(samples, pd_fail_memory(&samples->error));
	}
	samples->finalized = true;
	return open_symbols(samples) && open_unwinder(samples);
}

// A file that does not say its machine is taken to be of this one.
static enum pd_arch machine_of(struct pd_file *file)
{
	enum pd_arch machine = pd_file_machine(file);
	struct utsname here;

	return machine == PD_ARCH_UNKNOWN && uname(&here) == 0 ? pd_arch_by_name(here.machine) : machine;
}

static void find_machine(struct pd_samples *samples)
{
	if (!samples->machine_known)
		samples->machine = machine_of(samples->file);
	samples->machine_known = true;
}

static bool flush_large(struct pd_samples *samples)
{
	struct pd_text *text = samples->line.text;

	if (samples->worker ? pd_sample_worker_wait(samples->worker) : pd_text_flush_large(text))
		return true;
	pd_samples_text_failed(samples);
	return false;
}

// Before the first record, and after each that brought an event or changed the state.
static __attribute__((noinline)) bool get_ready_to_print(struct pd_samples *samples)
{
	size_t count = pd_file_event_count(samples->file);

	if (samples->events_checked < count && !check_events(samples))
		return false;
	if (!finalize_state(samples))
		return false;
	find_machine(samples);
	samples->events_ready = count;
	return true;
}

static bool is_ready(const struct pd_samples *samples)
{
	return samples->finalized && samples->events_ready >= pd_file_event_count(samples->file);
}

static bool print_raw(struct pd_samples *samples, const struct pd_record *record)
{
	// registers and places ask for what is known of the file
	if (record->type == PD_RECORD_SAMPLE && !is_ready(samples) && !get_ready_to_print(samples))
		return false;
	if (samples->stats)
		pd_stats_count(samples->stats, record);
	aim_at(samples, samples->text);
	pd_samples_raw(samples, record);
	return true;
}

static bool print_record(struct pd_samples *samples, const struct pd_record *record)
{
	bool sample = record->type == PD_RECORD_SAMPLE;

	if (samples->options.raw && !print_raw(samples, record))
		return false;
	if (samples->options.raw == PD_RAW_REPORT && !sample)
		return flush_large(samples);
	if (!sample && !pd_samples_counts(samples, record))
		return succeeds(samples, pd_fail_memory(&samples->error));
	if (!sample && !is_shown(samples, record->type))
		return flush_large(samples);
	if (!is_ready(samples) && !get_ready_to_print(samples))
		return false;
	if (!sample) {
		aim_at(samples, samples->text);
		pd_samples_record(samples, record);
		return flush_large(samples);
	}
	if (!pd_samples_sample(samples, record))
		return succeeds(samples, pd_fail_memory(&samples->error));
	return flush_large(samples);
}

static enum pd_status fail(const struct pd_samples *samples, struct pd_error *error)
{
	if (error)
		*error = samples->error;
	return samples->status < 0 ? samples->status : PD_ERROR_STOPPED;
}

// ---- a whole file ----

static enum pd_status take_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct pd_samples *samples = self;

	(void)stream;
	samples->counted |= record->type == PD_RECORD_STAT_CONFIG || record->type == PD_RECORD_STAT ||
			    record->type == PD_RECORD_STAT_ROUND;
	pd_samples_trace_take(samples, record);
	return pd_state_take(samples->state, record, error);
}

// Whether the text of a sample depends on it alone, and not on what was printed before.
static bool stands_alone(const struct pd_samples *samples)
{
	const struct pd_samples_options *options = &samples->options;

	if ((samples->select && pd_select_by_switch(samples->select)) || options->types || options->relative ||
	    options->delta || options->escape || options->raw || options->stitch_lbr || options->text_of ||
	    samples->counted || has_groups(samples) || pd_file_header(samples->file)->mode == PD_MODE_PIPE)
		return false;
	for (size_t i = 0; i < pd_file_event_count(samples->file); i++)
		if (samples->fields[pd_event_kind(pd_file_event(samples->file, i))].shown & FIELD_TRACE)
			return false;
	return true;
}

// Other records are shown whatever their time is, and counters of groups need every sample.
static enum pd_status get_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_samples *samples = self;
	struct pd_window wanted = *window;
	enum pd_status status = PD_OK;

	samples->sample_count += window->last_ns != 0;
	if (samples->select)
		status = pd_select_ready(samples->select, samples->file, &wanted, error);
	if (status >= 0 && samples->options.ready)
		status = samples->options.ready(samples->options.self, &wanted, error);
	if (status < 0)
		return status;
	if (!samples->options.types && !samples->options.raw && !has_groups(samples))
		*window = wanted;
	if (!finalize_state(samples))
		return fail(samples, error);
	find_machine(samples);
	window->whole = !stands_alone(samples);
	if (!window->whole)
		pd_sample_workers_share(samples->workers);
	return PD_OK;
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_samples *samples = self;

	return !samples->options.progress || samples->options.progress(samples->options.self, done, total);
}

// After all records.
static enum pd_status print_stats(struct pd_samples *samples, struct pd_error *error)
{
	if (!samples->stats)
		return PD_OK;
	pd_stats_print(samples->text, samples->stats, false);
	return pd_stats_failed(samples->stats) ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status run_file(struct pd_samples *samples, struct pd_error *error)
{
	struct pd_run_options options = { .size = sizeof(options),
					  .threads = stands_alone(samples) ? samples->options.threads : 1,
					  .order = PD_ORDER_TIME,
					  .first = take_first,
					  .ready = get_ready,
					  .self = samples,
					  .progress = show_progress,
					  .first_threads = samples->options.first_threads };
	struct pd_sink sink;
	enum pd_status status;

	samples->workers = pd_sample_workers_new(samples, print_record, &sink);
	status = samples->workers ? pd_run(samples->file, &options, &sink, error) : pd_fail_memory(error);
	pd_sample_workers_free(samples->workers);
	samples->workers = NULL;
	pd_line_flush(&samples->line);
	if (status >= 0)
		status = print_stats(samples, error);
	// then functions may lack their names
	if (status >= 0 && samples->symbols && pd_symbols_failed(samples->symbols))
		return pd_fail_memory(error);
	return status;
}

enum pd_status pd_samples_run(struct pd_samples *samples, struct pd_file *file, struct pd_error *error)
{
	enum pd_status status = pd_samples_begin(samples, file, error);

	if (status != PD_OK)
		return status;
	if (pd_file_header(file)->mode != PD_MODE_PIPE) {
		if (!check_events(samples))
			return fail(samples, error);
		if (samples->options.warn)
			pd_sample_fields_warn_unmet(samples->fields, samples->options.warn, samples->options.self);
		add_tracepoint_place(samples);
	}
	status = pd_state_take_features(samples->state, file, error);
	return status < 0 ? status : run_file(samples, error);
}

// ---- record by record ----

enum pd_status pd_samples_begin(struct pd_samples *samples, struct pd_file *file, struct pd_error *error)
{
	samples->file = file;
	samples->last_values.places.seed = pd_file_secret(file);
	if (samples->options.raw == PD_RAW_REPORT && pd_stats_new(file, &samples->stats, error) < 0)
		return PD_ERROR_MEMORY;
	return pd_state_new(NULL, &samples->state, error);
}

enum pd_status pd_samples_take(struct pd_samples *samples, const struct pd_record *record, struct pd_error *error)
{
	bool done;

	if (record->type == PD_RECORD_SAMPLE) {
		samples->sample_count++;
	} else if (changes_state(record->type) || record->type == PD_RECORD_CALLCHAIN_DEFERRED) {
		if (!succeeds(samples, pd_state_take(samples->state, record, &samples->error)))
			return fail(samples, error);
		samples->finalized &= !changes_state(record->type);
	} else if (record->type == PD_RECORD_FINISHED_ROUND) {
		// who reads what is being recorded waits for it
		pd_line_flush(&samples->line);
	}
	if (pd_samples_waits(samples, record))
		done = pd_samples_hold(samples, record, print_record);
	else
		done = print_record(samples, record);
	if (done && (record->type == PD_RECORD_CALLCHAIN_DEFERRED || record->type == PD_RECORD_EXIT))
		done = pd_samples_release(samples, record, print_record);
	return done ? PD_OK : fail(samples, error);
}

void pd_samples_flush(struct pd_samples *samples)
{
	// what failed is reported by the text, or as what lacks memory
	pd_samples_release_all(samples, print_record);
	pd_line_flush(&samples->line);
}

static enum pd_status print_next(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	(void)stream;
	return pd_samples_take(self, record, error);
}

static void show_progress_once(void *self, uint64_t done, uint64_t total)
{
	const struct pd_samples *samples = self;

	if (samples->options.progress)
		samples->options.progress(samples->options.self, done, total);
}

enum pd_status pd_samples_run_once(struct pd_samples *samples, struct pd_file *file, struct pd_error *error)
{
	const struct pd_each each = { .order = PD_ORDER_TIME,
				      .trusts = true,
				      .progress = show_progress_once,
				      .progress_self = samples,
				      .live = samples->line.text };
	enum pd_status status = pd_samples_begin(samples, file, error);

	if (status >= 0)
		status = pd_samples_held_init(samples, error);
	if (status >= 0)
		status = pd_each_record(file, &each, print_next, samples, error);
	if (status >= 0 && !pd_samples_release_all(samples, print_record))
		status = fail(samples, error);
	pd_samples_flush(samples);
	if (status >= 0)
		status = print_stats(samples, error);
	// then functions may lack their names
	if (status >= 0 &&
	    (pd_text_failed(samples->line.text) || (samples->symbols && pd_symbols_failed(samples->symbols))))
		return pd_fail_memory(error);
	return status;
}

// ---- all of it ----

enum pd_status pd_samples_new(const struct pd_samples_options *options, struct pd_text *text,
			      struct pd_samples **samples_out, struct pd_error *error)
{
	struct pd_samples *samples = pd_alloc(sizeof(*samples));
	size_t size = options->size < sizeof(*options) ? options->size : sizeof(*options);
	enum pd_status status = PD_OK;

	if (!samples)
		return pd_fail_memory(error);
	memcpy(&samples->options, options, size);
	samples->line.text = samples->text = text;
	if (!pd_line_init(&samples->line)) {
		pd_free(samples);
		return pd_fail_memory(error);
	}
	samples->line.escape = options->escape;
	pd_sample_fields_init(samples->fields);
	for (size_t i = 0; i < options->field_count && status == PD_OK; i++)
		status = pd_sample_fields_parse(samples->fields, options->fields[i], error);
	if (status != PD_OK) {
		pd_line_fini(&samples->line);
		pd_free(samples);
		return status;
	}
	*samples_out = samples;
	return PD_OK;
}

void pd_samples_select(struct pd_samples *samples, struct pd_select *select, const struct pd_select *stops)
{
	samples->select = select;
	samples->selects_place = select && pd_select_by_place(select);
	if (select) {
		select->in_order = true;
		samples->toggle = select->toggle;
		pd_toggle_begin(&samples->toggle);
	}
	samples->stops = stops;
}

void pd_samples_free(struct pd_samples *samples)
{
	if (!samples)
		return;
	pd_unwinder_free(samples->unwinder);
	if (samples->owns_symbols)
		pd_symbols_free(samples->symbols);
	pd_state_free(samples->state);
	pd_stats_free(samples->stats);
	pd_samples_counts_fini(samples);
	pd_samples_trace_close(samples);
	pd_samples_held_fini(samples);
	pd_samples_sample_fini(samples);
	pd_line_fini(&samples->line);
	pd_free(samples);
}

struct pd_samples_result pd_samples_result(const struct pd_samples *samples)
{
	return (struct pd_samples_result){ .sample_count = samples->sample_count,
					   .printed_count = samples->printed,
					   .copied_count = samples->copied,
					   .unwinder = samples->unwinder };
}
