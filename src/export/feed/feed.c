/* SPDX-License-Identifier: MIT */
/*
 * A file is read twice: for who ran and what was mapped, then for the samples, in time order. What a sample counts is what
 * pd_profile counts.
 */
#include "export/feed/feed.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/text/text.h"
#include "file/file.h"
#include "unwind/unwinder.h"

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

// ---- samples ----

// Out of memory, if nothing else was wrong.
static enum pd_status state_of(const struct pd_export *self, struct pd_error *error)
{
	if (self->wrong < 0) {
		if (error)
			*error = self->wrong_why;
		return self->wrong;
	}
	if (self->failed || self->tables.failed || (pd_text_failed(self->text) && !self->text->sink_failed))
		return pd_fail_memory(error);
	if (self->text->sink_failed)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return PD_OK;
}

static bool is_chosen(const struct pd_export *self, const struct pd_export_sample *sample, const char *comm)
{
	const struct pd_candidate candidate = { sample->record, sample->event, sample->brief, comm };

	return !self->options.choose || self->options.choose(self->options.self, &candidate) == PD_CHOICE_TAKE;
}

static void begin(struct pd_export *self)
{
	if (!self->begun && self->format->begin)
		self->format->begin(self);
	self->begun = true;
}

static void note_time(struct pd_export *self, uint64_t time_ns)
{
	if (time_ns == PD_NO_TIME)
		return;
	if (!self->first_ns || time_ns < self->first_ns)
		self->first_ns = time_ns;
	if (time_ns > self->last_ns)
		self->last_ns = time_ns;
}

static bool needs_frames(const struct pd_export *self)
{
	return !self->format->no_frames || self->options.choose_place;
}

// Readers add the values of an event up in 63 bits: the last ones are cut so that they can.
static uint64_t value_of(struct pd_export *self, const struct pd_export_sample *sample)
{
	uint64_t value = pd_event_unit(sample->event) == PD_UNIT_SAMPLES ? 1 : sample->brief->period;
	uint64_t left = (uint64_t)INT64_MAX - self->sums[sample->event->index].value;

	if (self->format->value_most && self->format->value_most < left)
		left = self->format->value_most;
	if (PD_LIKELY(value <= left) || self->format->each_value)
		return value;
	self->dropped[PD_SUPPORT_VALUES]++;
	return left;
}

static void give(struct pd_export *self, struct pd_export_sample *sample, const struct pd_thread_view *view)
{
	struct pd_moment when = pd_record_moment(sample->record);

	if (!is_chosen(self, sample, view->view.comm))
		return;
	sample->chain = NULL;
	if (needs_frames(self) &&
	    !pd_places_stack(&self->places, sample->brief, view->view.maps, when, self->options.max_stack,
			     sample->is_truncated, &sample->ip, &sample->stack)) {
		self->failed = true;
		return;
	}
	if (self->places.no_stacks)
		sample->chain = self->places.chain;
	if (self->options.choose_place &&
	    !self->options.choose_place(self->options.self, &self->tables.frames[sample->ip].place))
		return;
	sample->maps = view->view.maps;
	sample->thread = view->owner;
	sample->time_ns = sample->brief->time_ns;
	sample->value = value_of(self, sample);
	self->events_used += !self->sums[sample->event->index].samples++;
	self->sums[sample->event->index].value += sample->value;
	self->result.samples++;
	note_time(self, sample->time_ns);
	begin(self);
	if (!self->failed)
		self->format->sample(self, sample);
}

// ---- counter values ----

// What a counter had at its last sample. NULL if there is no memory.
static uint64_t *last_value(struct pd_export *self, uint64_t id)
{
	uint64_t known = pd_u64_map_find(&self->value_of, id);

	if (known)
		return &self->last_values[known - 1];
	if (!PD_GROW(self->last_values, self->value_capacity, self->value_count + 1) ||
	    !pd_u64_map_add(&self->value_of, id, self->value_count + 1)) {
		self->failed = true;
		return NULL;
	}
	self->last_values[self->value_count] = 0;
	return &self->last_values[self->value_count++];
}

static void give_value(struct pd_export *self, struct pd_export_sample *sample, struct pd_brief *brief,
		       const struct pd_thread_view *view, const struct pd_count *count)
{
	const struct pd_event *event = pd_file_event_by_id(self->file, count->id);
	uint64_t *last = event ? last_value(self, count->id) : NULL;

	if (!last)
		return;
	brief->period = count->value - *last;
	*last = count->value;
	sample->event = event;
	sample->id = count->id;
	if (brief->period)
		give(self, sample, view);
}

static void give_values(struct pd_export *self, struct pd_export_sample *sample, struct pd_brief *brief,
			const struct pd_thread_view *view, const struct pd_counts *counts)
{
	if (!PD_BITS(sample->event->attr->read_format, PD_READ_FORMAT_GROUP)) {
		give_value(self, sample, brief, view, &(struct pd_count){ .value = counts->value, .id = counts->id });
		return;
	}
	for (size_t i = 0; i < counts->members.count && !self->failed; i++)
		give_value(self, sample, brief, view, PD_ITEM(pd_count, counts->members, i));
}

static struct pd_u64s chain_of(struct pd_export *self, const struct pd_record *record, const struct pd_sample *sample,
			       bool *is_truncated_out)
{
	struct pd_unwound unwound;

	if (!self->unwinder || !pd_unwinder_decoded(self->unwinder, record, sample, &unwound))
		return sample->callchain;
	*is_truncated_out = unwound.end != PD_UNWIND_OUTERMOST;
	return unwound.chain;
}

static void take_sample(struct pd_export *self, const struct pd_record *record)
{
	struct pd_brief brief;
	struct pd_export_sample sample = { .record = record, .event = record->event, .brief = &brief };
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_READ) | PD_MASK(PD_SAMPLE_TYPE_STACK_USER);
	const struct pd_thread_view *view;
	const struct pd_sample *full = NULL;
	uint64_t before = self->result.samples;

	self->result.samples_read++;
	if (!record->event || !pd_record_brief(record, &brief)) {
		self->result.damaged++;
		return;
	}
	view = pd_places_view(&self->places, brief.pid, brief.tid, pd_record_moment(record));
	if (!view) {
		self->failed = true;
		return;
	}
	if (record->event->attr->sample_type & parts || pd_unwinder_wants(record->event->attr)) {
		full = pd_as_sample(record);
		if (!full) {
			self->result.damaged++;
			return;
		}
		brief.callchain = chain_of(self, record, full, &sample.is_truncated);
	}
	if (full && HAS(record->event->attr, READ) && full->read)
		give_values(self, &sample, &brief, view, full->read);
	else
		give(self, &sample, view);
	if (full && self->result.samples > before)
		self->result.copied_stacks += !self->unwinder && pd_sample_needs_unwinding(full);
}

// ---- the walk ----

static enum pd_status take_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct pd_export *all = self;
	enum pd_status status = all->format->first ? all->format->first(all, record, error) : PD_OK;

	(void)stream;
	if (status < 0 || record->type == PD_RECORD_SAMPLE)
		return status;
	pd_export_note_records(all, record->type, 1);
	return pd_state_take(all->state, record, error);
}

static enum pd_status open_symbols(struct pd_export *self, struct pd_error *error)
{
	if (!self->options.symbols) {
		enum pd_status status = pd_symbols_new(self->file, self->state, NULL, &self->own_symbols, error);

		self->symbols = self->own_symbols;
		return status;
	}
	self->symbols = self->options.symbols(self->options.self, self->state);
	return self->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "the symbols cannot be opened");
}

static bool has_counters(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (HAS(pd_file_event(file, i)->attr, READ))
			return true;
	return false;
}

// As profiles do.
static bool wants_unwinding(const struct pd_export *self)
{
	if (self->options.no_unwind || self->format->as_recorded)
		return false;
	for (size_t i = 0; i < pd_file_event_count(self->file); i++) {
		const struct pd_event *event = pd_file_event(self->file, i);

		if (pd_unwinder_wants(event->attr) && HAS(event->attr, CALLCHAIN))
			return true;
	}
	return false;
}

static enum pd_status begin_unwinding(struct pd_export *self, struct pd_error *error)
{
	const struct pd_unwind_options options = { .size = sizeof(options), .max_stack = self->options.max_stack };

	if (!wants_unwinding(self))
		return PD_OK;
	return pd_unwinder_new(self->file, self->state, self->symbols, &options, &self->unwinder, error);
}

// Who chooses by places may ask for the address of each.
static bool choose_frames(struct pd_export *self)
{
	enum pd_export_frames frames = self->format->frames;
	struct pd_places *places = &self->places;

	places->no_stacks = self->format->no_stacks;
	places->as_recorded = self->format->as_recorded;
	places->frames.unnamed_as_one = frames != PD_FRAMES_ADDRESSES;
	self->tables.no_lines = frames == PD_FRAMES_FUNCTIONS;
	self->tables.whole_stacks = self->format->whole_stacks;
	if (frames >= PD_FRAMES_LINES && !self->options.choose_place &&
	    !pd_places_name_functions(places, frames == PD_FRAMES_LINES))
		return false;
	return !self->unwinder || pd_places_mark_truncated(places);
}

static enum pd_status get_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_export *all = self;
	uint64_t seed = pd_file_secret(all->file);
	struct pd_window wanted = *window;
	enum pd_status status = pd_state_take_features(all->state, all->file, error);

	if (status >= 0)
		status = pd_state_finalize(all->state, error);
	if (status >= 0 && all->options.ready)
		status = all->options.ready(all->options.self, &wanted, error);
	if (status >= 0)
		status = open_symbols(all, error);
	if (status >= 0)
		status = begin_unwinding(all, error);
	if (status < 0)
		return status;
	all->from_ns = wanted.from_ns;
	all->to_ns = wanted.to_ns;
	// counters need every sample, and records are wanted whenever they were
	if (!has_counters(all->file) && !all->format->record && !all->format->every)
		*window = wanted;
	all->event_count = pd_file_event_count(all->file);
	all->sums = pd_alloc((all->event_count + 1) * sizeof(*all->sums));
	all->value_of.seed = seed;
	pd_tables_init(&all->tables, seed);
	all->tables.symbols = all->symbols;
	all->tables.state = all->state;
	all->has_places = true;
	if (!pd_places_init(&all->places, &all->tables, all->state, all->symbols, seed) || !all->sums)
		return pd_fail_memory(error);
	if (!choose_frames(all))
		return pd_fail_memory(error);
	return all->tables.failed ? pd_fail_memory(error) : PD_OK;
}

static bool is_in_time(const struct pd_export *self, uint64_t time_ns)
{
	return time_ns == PD_NO_TIME || (time_ns >= self->from_ns && (!self->to_ns || time_ns <= self->to_ns));
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_export *all = self;
	enum pd_status status = all->format->every ? all->format->every(all, record, error) : PD_OK;

	(void)stream;
	if (status < 0)
		return status;
	if (record->type == PD_RECORD_SAMPLE)
		take_sample(all, record);
	else if (all->format->record && is_in_time(all, record->time_ns))
		all->format->record(all, record);
	return state_of(all, error);
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_export *all = self;

	return !all->options.progress || all->options.progress(all->options.self, done, total);
}

enum pd_status pd_export_feed(struct pd_export *self, struct pd_file *file, struct pd_error *error)
{
	const struct pd_run_options options = { .size = sizeof(options),
						.threads = 1,
						.order = PD_ORDER_TIME,
						.first = take_first,
						.ready = get_ready,
						.self = self,
						.progress = show_progress,
						.first_samples = self->format->first != NULL };
	const struct pd_sink sink = { .size = sizeof(sink), .self = self, .record = take_record };
	enum pd_status status = pd_state_new(NULL, &self->state, error);

	self->file = file;
	if (status >= 0)
		status = pd_run_first(file, &options, &sink, &self->pieces, error);
	if (status < 0)
		return status;
	if (!self->result.samples)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no samples to export");
	for (size_t i = 0; i < self->event_count; i++)
		pd_export_note_parts(self, pd_file_event(file, i), self->sums[i].samples);
	self->format->end(self);
	status = state_of(self, error);
	// then functions may lack their names
	if (status >= 0 && (pd_symbols_failed(self->symbols) || (self->unwinder && pd_unwinder_failed(self->unwinder))))
		return pd_fail_memory(error);
	return status;
}
