/* SPDX-License-Identifier: MIT */
/* Records in time order, from switches and wakeups to lines and sums. */
#include <stddef.h>
#include <string.h>

#include <perfdata/run.h>

#include "base/text/text.h"
#include "sched/sched.h"
#include "stream/parallel/restart.h"

enum {
	NAME_WIDTH = 30,
	UNKNOWN_CPUS = 4,  // that perf assumes
	STATE_BITS = 0xff, // none of them: it can run; a higher one: it was preempted
	ARENA_LIMIT = 2047 << 20
};

// ---- events ----

static bool wants_prio(const struct pd_timehist_options *options)
{
	return options->prios || options->show_prio;
}

static enum pd_status find_fields(struct pd_sched *sched, const struct pd_event *event, struct pd_sched_event *found,
				  struct pd_error *error)
{
	struct pd_trace *trace = sched->trace;
	struct pd_trace_field field;
	enum pd_status status = pd_raw_number_find(trace, event, found->role == PD_SCHED_SWITCH ? "prev_pid" : "pid",
						   &found->pid, error);

	if (status == PD_OK && found->role == PD_SCHED_MIGRATE) {
		status = pd_raw_number_find(trace, event, "orig_cpu", &found->from_cpu, error);
		if (status == PD_OK)
			status = pd_raw_number_find(trace, event, "dest_cpu", &found->to_cpu, error);
	}
	if (status != PD_OK || found->role != PD_SCHED_SWITCH)
		return status;
	status = pd_raw_number_find(trace, event, "next_pid", &found->next_pid, error);
	if (status == PD_OK)
		status = pd_raw_number_find(trace, event, "prev_state", &found->state, error);
	if (status == PD_OK && wants_prio(sched->options))
		status = pd_raw_number_find(trace, event, "prev_prio", &found->prev_prio, error);
	if (status == PD_OK && wants_prio(sched->options))
		status = pd_raw_number_find(trace, event, "next_prio", &found->next_prio, error);
	for (size_t i = 0; pd_trace_field_at(trace, event, i, &field); i++)
		if (!strcmp(field.name, "next_comm"))
			found->next_comm = (struct pd_raw_number){ .offset = field.offset, .size = field.size };
	return status;
}

static enum pd_sched_role role_of(const struct pd_sched *sched, const struct pd_event *event)
{
	if (pd_event_is(event, "sched:sched_switch"))
		return PD_SCHED_SWITCH;
	if (pd_event_is(event, "sched:sched_waking") || pd_event_is(event, "sched:sched_wakeup_new") ||
	    (!sched->ignores_wakeups && pd_event_is(event, "sched:sched_wakeup")))
		return PD_SCHED_WAKEUP;
	if ((sched->options->migrations || sched->options->pre_migrations) &&
	    pd_event_is(event, "sched:sched_migrate_task"))
		return PD_SCHED_MIGRATE;
	return PD_SCHED_OTHER;
}

// What an event of the file is here; NULL: an error.
static __attribute__((noinline)) struct pd_sched_event *event_of(struct pd_sched *sched, const struct pd_event *event,
								 struct pd_error *error)
{
	size_t capacity = sched->event_count;
	struct pd_sched_event *found;

	if (event->index >= capacity) {
		if (!PD_GROW(sched->events, capacity, event->index + 1)) {
			pd_fail_memory(error);
			return NULL;
		}
		memset(sched->events + sched->event_count, 0, (capacity - sched->event_count) * sizeof(*sched->events));
		sched->event_count = capacity;
	}
	found = &sched->events[event->index];
	if (found->role == PD_SCHED_UNREAD) {
		sched->ignores_wakeups = pd_file_has_tracepoint(sched->file, "sched:sched_waking");
		found->role = role_of(sched, event);
		if (found->role != PD_SCHED_OTHER && find_fields(sched, event, found, error) < 0) {
			found->role = PD_SCHED_UNREAD;
			return NULL;
		}
	}
	return found;
}

static inline struct pd_sched_event *find_event(struct pd_sched *sched, const struct pd_event *event,
						struct pd_error *error)
{
	struct pd_sched_event *found = event->index < sched->event_count ? &sched->events[event->index] : NULL;

	return PD_LIKELY(found && found->role != PD_SCHED_UNREAD) ? found : event_of(sched, event, error);
}

// The last switch on a CPU; NULL: an error.
static uint64_t *last_on(struct pd_sched_event *event, uint32_t cpu, struct pd_error *error)
{
	size_t capacity = event->cpu_count;

	if (cpu >= capacity) {
		if (!PD_GROW(event->last_ns, capacity, cpu + 1)) {
			pd_fail_memory(error);
			return NULL;
		}
		memset(event->last_ns + event->cpu_count, 0, (capacity - event->cpu_count) * sizeof(*event->last_ns));
		event->cpu_count = capacity;
	}
	return &event->last_ns[cpu];
}

// ---- switches ----

// In the raw data of an event.
struct numbers {
	uint64_t pid, next_pid, state; // the last two of switches
	bool whole;                    // all are there
};

// False if there is no pid. Who comes next is only wanted where idle times are summed up.
static inline bool read_numbers(const struct pd_sched *sched, const struct pd_sched_event *event, struct pd_bytes raw,
				struct numbers *numbers_out)
{
	numbers_out->next_pid = numbers_out->state = 0;
	numbers_out->whole =
		event->role != PD_SCHED_SWITCH ||
		((!sched->options->idle || pd_raw_number_read(raw, &event->next_pid, &numbers_out->next_pid)) &&
		 pd_raw_number_read(raw, &event->state, &numbers_out->state));
	return pd_raw_number_read(raw, &event->pid, &numbers_out->pid);
}

static struct pd_sched_thread *thread_of(struct pd_sched *sched, const struct pd_sched_sample *sample,
					 uint32_t prev_pid, struct pd_error *error)
{
	struct pd_sched_thread *thread, *idle;

	if (!prev_pid)
		return pd_sched_find_idle(sched, sample->cpu, error);
	thread = pd_sched_find(sched, sample->pid, sample->tid ? sample->tid : sample->pid, error);
	if (!thread || !sched->options->idle)
		return thread;
	idle = pd_sched_find_idle(sched, sample->cpu, error);
	if (!idle)
		return NULL;
	idle->before_idle = thread;
	return thread;
}

// False if there is nothing to print.
static bool add_idle(struct pd_sched_thread *idle, uint64_t time_ns, uint64_t before_ns)
{
	struct pd_sched_thread *before = idle->before_idle;

	if (!before)
		return false;
	pd_sched_add_run(before, time_ns, before_ns);
	before->run_ns = before->delay_ns = before->sleep_ns = before->disk_ns = before->preempt_ns = 0;
	idle->before_idle = NULL;
	return true;
}

// Adds up and prints a switch of a thread.
static void count_switch(struct pd_sched *sched, const struct pd_sched_event *event,
			 const struct pd_sched_sample *sample, struct pd_sched_thread *thread, uint64_t before_ns,
			 int64_t state)
{
	bool on_cpu = !sched->chooses || pd_sched_has_cpu(sched, sample->cpu),
	     shown = !sched->options->summary_only && on_cpu;

	if (!sched->options->idle || thread->idle) {
		if (on_cpu)
			pd_sched_add_run(thread, sample->time_ns, before_ns);
		// perf counts the idle time after a thread on all CPUs
		if (sched->options->idle)
			shown &= add_idle(thread, sample->time_ns, before_ns);
	}
	if (shown)
		sched->form->add_switch(sched, event, sample, thread, state);
}

// The priorities of who is switched out and in: that of a thread may change until it is switched out.
static enum pd_status take_prios(struct pd_sched *sched, const struct pd_sched_event *event,
				 const struct pd_sched_sample *sample, int32_t *prio_out, struct pd_error *error)
{
	uint64_t next = 0, prev_prio = 0, next_prio = 0;
	struct pd_sched_thread *thread;

	*prio_out = PD_SCHED_NO_PRIO;
	if (!wants_prio(sched->options) || !pd_raw_number_read(sample->raw, &event->prev_prio, &prev_prio) ||
	    !pd_raw_number_read(sample->raw, &event->next_prio, &next_prio) ||
	    !pd_raw_number_read(sample->raw, &event->next_pid, &next))
		return PD_OK;
	*prio_out = (int32_t)prev_prio;
	thread = (uint32_t)next ? pd_sched_find(sched, -1, (int32_t)next, error) :
				  pd_sched_find_idle(sched, sample->cpu, error);
	if (!thread)
		return error->status;
	thread->prio = (int32_t)next_prio;
	thread->has_prio = thread->prio != PD_SCHED_NO_PRIO;
	return PD_OK;
}

// From the first switch of what is chosen to the last one.
static void count_time(struct pd_sched *sched, uint64_t time_ns)
{
	if (!sched->start_ns && time_ns >= sched->window.from_ns)
		sched->start_ns = time_ns;
	if (!sched->window.to_ns || time_ns <= sched->window.to_ns)
		sched->end_ns = time_ns;
}

static enum pd_status take_switch(struct pd_sched *sched, struct pd_sched_event *event,
				  const struct pd_sched_sample *sample, const struct numbers *numbers,
				  struct pd_error *error)
{
	uint64_t *last_ns = last_on(event, sample->cpu, error), prev_pid = numbers->pid, next = numbers->next_pid,
		 before_ns;
	struct pd_sched_thread *thread = last_ns ? thread_of(sched, sample, (uint32_t)prev_pid, error) : NULL;
	int64_t state = (int32_t)numbers->state;
	struct pd_sched_sample cut;
	const struct pd_sched_sample *shown = sample;
	enum pd_status status;
	int32_t prio;
	bool wanted;

	if (!thread)
		return error->status;
	if (!numbers->whole)
		return PD_OK;
	status = take_prios(sched, event, sample, &prio, error);
	if (status < 0)
		return status;
	// between two threads no CPU was idle
	wanted = (!sched->chooses || pd_sched_has_thread(sched, thread, prio)) &&
		 (!sched->options->idle || !(uint32_t)prev_pid || !(uint32_t)next);
	before_ns = *last_ns;
	if (wanted && sched->chooses) {
		cut = *sample;
		shown = &cut;
	}
	if (wanted && (!sched->chooses || pd_sched_cut_time(sched, &before_ns, &cut.time_ns)))
		count_switch(sched, event, shown, thread, before_ns, state);
	if (wanted) {
		thread->last_ns = sample->time_ns;
		thread->last_state = state;
		thread->ready_ns = thread->migrated_ns = 0;
		thread->queued_ns = state & STATE_BITS ? 0 : sample->time_ns;
	}
	count_time(sched, shown->time_ns);
	*last_ns = sample->time_ns;
	return PD_OK;
}

static enum pd_status take_other(struct pd_sched *sched, const struct pd_sched_event *event,
				 const struct pd_sched_sample *sample, uint64_t pid, struct pd_error *error)
{
	bool shown = !sched->options->summary_only && !sched->options->idle;
	struct pd_sched_thread *thread = pd_sched_find(sched, 0, (int32_t)pid, error), *by;

	if (!thread)
		return error->status;
	if (event->role == PD_SCHED_MIGRATE) {
		thread->migrations++;
		thread->migrated_ns = sample->time_ns;
		shown &= sched->options->migrations;
	} else if (!thread->ready_ns) {
		thread->ready_ns = sample->time_ns;
		thread->queued_ns = thread->queued_ns ? thread->queued_ns : sample->time_ns;
	}
	if (!shown || (event->role == PD_SCHED_WAKEUP &&
		       (!sched->options->wakeups || !pd_sched_has_time(sched, sample->time_ns))))
		return PD_OK;
	by = pd_sched_find(sched, sample->pid, sample->tid, error);
	if (!by)
		return error->status;
	if (!pd_sched_has_thread(sched, by, PD_SCHED_NO_PRIO) && !pd_sched_has_thread(sched, thread, PD_SCHED_NO_PRIO))
		return PD_OK;
	if (event->role == PD_SCHED_MIGRATE)
		sched->form->add_migration(sched, event, sample, by, thread);
	else
		sched->form->add_wakeup(sched, sample, by, thread);
	return PD_OK;
}

// ---- records ----

static inline bool knows_threads(const struct pd_event *event)
{
	return event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_TID);
}

// What is not recorded is 0; a thread that is gone is recorded as -1.
static inline bool use_brief(struct pd_sched *sched, bool known, const struct pd_raw_brief *brief,
			     struct pd_sched_sample *sample)
{
	sample->time_ns = brief->time_ns;
	sample->pid = known ? (int32_t)brief->pid : 0;
	sample->tid = known ? (int32_t)brief->tid : 0;
	sample->cpu = brief->cpu == UINT32_MAX ? 0 : brief->cpu;
	sample->chain = brief->callchain;
	if (brief->callchain.count)
		sched->options->has_chains = true;
	return sample->cpu < PD_SCHED_CPUS;
}

static __attribute__((noinline)) bool decode_sample(struct pd_sched *sched, const struct pd_record *record,
						    struct pd_sched_sample *sample)
{
	struct pd_raw_brief brief;

	return pd_sample_raw(record, &brief, &sample->raw) &&
	       use_brief(sched, knows_threads(record->event), &brief, sample);
}

// The brief form stays in registers: nobody else has its address.
static inline bool read_sample(struct pd_sched *sched, const struct pd_record *record, struct pd_sched_sample *sample)
{
	struct pd_raw_brief brief;

	return pd_record_raw_brief(record, &brief, &sample->raw) ?
		       use_brief(sched, knows_threads(record->event), &brief, sample) :
		       decode_sample(sched, record, sample);
}

static inline void note_cpu(struct pd_sched *sched, uint32_t cpu)
{
	if (PD_LIKELY(cpu <= sched->met_cpu) || cpu >= PD_SCHED_CPUS)
		return;
	sched->met_cpu = cpu;
	if (cpu > sched->max_cpu)
		sched->max_cpu = cpu;
}

static inline enum pd_status use_numbers(struct pd_sched *sched, struct pd_sched_event *event,
					 const struct pd_sched_sample *sample, const struct numbers *numbers,
					 struct pd_error *error)
{
	if (event->role != PD_SCHED_SWITCH)
		return take_other(sched, event, sample, numbers->pid, error);
	return take_switch(sched, event, sample, numbers, error);
}

static inline enum pd_status use_sample(struct pd_sched *sched, struct pd_sched_event *event,
					const struct pd_sched_sample *sample, struct pd_error *error)
{
	struct numbers numbers;

	note_cpu(sched, sample->cpu);
	if (event->role == PD_SCHED_OTHER || sample->time_ns == PD_NO_TIME ||
	    !read_numbers(sched, event, sample->raw, &numbers))
		return PD_OK;
	return use_numbers(sched, event, sample, &numbers, error);
}

static enum pd_status take_sample(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error)
{
	struct pd_sched_event *event = record->event ? find_event(sched, record->event, error) : NULL;
	struct pd_sched_sample sample;

	if (!event)
		return record->event ? error->status : PD_OK;
	return read_sample(sched, record, &sample) ? use_sample(sched, event, &sample, error) : PD_OK;
}

static enum pd_status take_plain_sample(void *self, const struct pd_event_full *full, struct pd_bytes bytes,
					uint64_t time_ns, struct pd_error *error)
{
	struct pd_sched *sched = self;
	struct pd_sched_event *event = find_event(sched, &full->event, error);
	struct pd_sched_sample sample;
	struct pd_raw_brief brief;

	if (!event)
		return error->status;
	if (event->role == PD_SCHED_OTHER && pd_sample_cpu(full, bytes, &sample.cpu)) {
		note_cpu(sched, sample.cpu);
		return PD_OK;
	}
	if (!pd_raw_brief_read(full, bytes, time_ns, &brief, &sample.raw))
		return PD_END;
	return use_brief(sched, full->brief.pid != PD_FIELD_MISSING, &brief, &sample) ?
		       use_sample(sched, event, &sample, error) :
		       PD_OK;
}

// ---- samples that wait for their turn ----

enum {
	WORD_CPU,
	WORD_IDS,  // of process and thread
	WORD_CHAIN // how many addresses its call chain has, where it has one; then come numbers of the raw data
};

enum {
	NUMBER_PID,
	NUMBER_STATE, // of switches
	NUMBER_NEXT   // of these where idle times are summed up
};

static bool add_number(struct pd_pack *pack, const struct pd_raw_number *number)
{
	pack->at[pack->count++] = (uint16_t)number->offset;
	return !PD_HOST_BIG && !number->big && number->size >= 4 && number->offset < UINT16_MAX;
}

// What is kept of a sample.
static void choose_words(void *self, const struct pd_event_full *full, struct pd_pack *pack_out)
{
	const struct pd_brief_places *brief = &full->brief;
	struct pd_sched *sched = self;
	struct pd_error unwanted;
	const struct pd_sched_event *event = find_event(sched, &full->event, &unwanted);
	struct pd_pack pack = { .before = WORD_CHAIN, .count = WORD_CHAIN };

	if (!event || wants_prio(sched->options) || brief->cpu == PD_FIELD_MISSING || brief->pid == PD_FIELD_MISSING ||
	    brief->tid != brief->pid + 4)
		return;
	pack.at[WORD_CPU] = PD_RECORD_HEADER_SIZE + brief->cpu;
	pack.at[WORD_IDS] = PD_RECORD_HEADER_SIZE + brief->pid;
	if (brief->callchain != PD_FIELD_MISSING) {
		pack.at[WORD_CHAIN] = PD_RECORD_HEADER_SIZE + brief->callchain;
		pack.before = pack.count = WORD_CHAIN + 1;
	}
	if (add_number(&pack, &event->pid) && (event->role != PD_SCHED_SWITCH || add_number(&pack, &event->state)) &&
	    (event->role != PD_SCHED_SWITCH || !sched->options->idle || add_number(&pack, &event->next_pid)))
		*pack_out = pack;
}

static enum pd_status take_packed(void *self, const struct pd_event_full *full, uint64_t time_ns, const uint64_t *words,
				  struct pd_error *error)
{
	struct pd_sched *sched = self;
	struct pd_sched_event *event = &sched->events[full->event.index];
	bool has_chain = full->brief.callchain != PD_FIELD_MISSING;
	const uint64_t *of_raw = words + WORD_CHAIN + has_chain;
	struct pd_sched_sample sample = { .time_ns = time_ns,
					  .pid = (int32_t)words[WORD_IDS],
					  .tid = (int32_t)(words[WORD_IDS] >> 32),
					  .cpu = (uint32_t)words[WORD_CPU] };
	struct numbers numbers = { (uint32_t)of_raw[NUMBER_PID], 0, 0, true };

	if (has_chain && words[WORD_CHAIN])
		sched->options->has_chains = true;
	if (PD_UNLIKELY(sample.cpu >= PD_SCHED_CPUS)) {
		if (sample.cpu != UINT32_MAX)
			return PD_OK;
		sample.cpu = 0;
	}
	note_cpu(sched, sample.cpu);
	if (event->role != PD_SCHED_SWITCH)
		return take_other(sched, event, &sample, numbers.pid, error);
	numbers.state = of_raw[NUMBER_STATE];
	if (sched->options->idle)
		numbers.next_pid = (uint32_t)of_raw[NUMBER_NEXT];
	return take_switch(sched, event, &sample, &numbers, error);
}

// Of others, the CPU alone is of interest.
static bool is_unordered(void *self, const struct pd_event *event)
{
	struct pd_sched *sched = self;

	sched->ignores_wakeups = pd_file_has_tracepoint(sched->file, "sched:sched_waking");
	return role_of(sched, event) == PD_SCHED_OTHER;
}

// What other records than samples say.
static enum pd_status take_other_record(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error)
{
	enum pd_status status = pd_sched_take_task(sched, record, error);

	return status == PD_OK ? pd_trace_take(sched->trace, record, error) : status;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_sched *sched = self;
	enum pd_status status = record->type == PD_RECORD_SAMPLE ? take_sample(sched, record, error) :
								   take_other_record(sched, record, error);

	(void)stream;
	if (status >= 0 && !sched->options->summary_only && !pd_text_flush_large(sched->text))
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return status;
}

// Of a pipe this is known once it is read.
static void set_cpus(struct pd_sched *sched)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(sched->file);

	sched->max_cpu = cpus && cpus->online && cpus->online < PD_SCHED_CPUS ? cpus->online : UNKNOWN_CPUS;
	sched->cpus_at_first = sched->max_cpu;
	if (sched->met_cpu > sched->max_cpu)
		sched->max_cpu = sched->met_cpu;
}

static bool restart(void *self)
{
	struct pd_sched *sched = self;

	pd_sched_forget(sched);
	// events are read again: what is wrong with one is told again
	for (size_t i = 0; i < sched->event_count; i++) {
		pd_free(sched->events[i].last_ns);
		sched->events[i] = (struct pd_sched_event){ 0 };
	}
	sched->start_ns = sched->end_ns = 0;
	sched->name_width = NAME_WIDTH;
	sched->options->has_chains = sched->skipped = false;
	sched->met_cpu = 0;
	set_cpus(sched);
	return true;
}

static void free_all(struct pd_sched *sched)
{
	for (size_t i = 0; i < sched->event_count; i++)
		pd_free(sched->events[i].last_ns);
	pd_free(sched->events);
	pd_free(sched->threads);
	pd_free(sched->idle);
	pd_u64_map_fini(&sched->map);
	pd_arena_fini(&sched->arena);
	pd_trace_free(sched->trace);
	pd_sched_close_symbols(sched);
}

enum pd_status pd_sched_fail_without_switches(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "no sched_switch events (perfdata sched record)");
}

static bool end_output(struct pd_sched *sched)
{
	if (sched->form->end)
		return sched->form->end(sched);
	return (!sched->options->summary && !sched->options->summary_only) || pd_sched_print_summary(sched);
}

// Where functions are named, what was mapped is read first.
static enum pd_status read_lines(struct pd_sched *sched, bool named, struct pd_error *error)
{
	const struct pd_run_options run = { .size = sizeof(run),
					    .threads = 1,
					    .order = PD_ORDER_TIME,
					    .first = named ? pd_sched_take_mapping : NULL,
					    .ready = named ? pd_sched_open_symbols : NULL,
					    .self = sched };
	const struct pd_sink sink = { .size = sizeof(sink), .self = sched, .record = take_record };
	enum pd_status status = named ? pd_sched_open_state(sched, error) : PD_OK;

	return status < 0 ? status : pd_run(sched->file, &run, &sink, error);
}

static enum pd_status read_all(struct pd_sched *sched, struct pd_error *error)
{
	const struct pd_order_taker taker = { .record = take_record,
					      .sample = take_plain_sample,
					      .self = sched,
					      .unordered = is_unordered,
					      .no_rounds = true,
					      .pack = choose_words,
					      .packed = take_packed };
	bool is_pipe = pd_file_header(sched->file)->mode == PD_MODE_PIPE;
	enum pd_status status;

	sched->shows_chains = pd_sched_has_chains(sched);
	if (!sched->options->summary_only)
		return read_lines(sched, sched->shows_chains || (is_pipe && !sched->options->no_chains), error);
	status = pd_run_restarting(sched->file, &taker, restart, error);
	sched->shows_chains = pd_sched_has_chains(sched);
	return status;
}

static enum pd_status print_all(struct pd_sched *sched, struct pd_error *error)
{
	const bool is_pipe = pd_file_header(sched->file)->mode == PD_MODE_PIPE;
	enum pd_status status;

	set_cpus(sched);
	// the events of a pipe are records
	if (!is_pipe && !pd_file_has_tracepoint(sched->file, "sched:sched_switch"))
		return pd_sched_fail_without_switches(error);
	if (!sched->options->summary_only)
		sched->form->begin(sched);
	status = read_all(sched, error);
	if (is_pipe)
		set_cpus(sched);
	if (status >= 0 && !pd_file_has_tracepoint(sched->file, "sched:sched_switch"))
		status = pd_sched_fail_without_switches(error);
	if (status >= 0 && !end_output(sched))
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return status;
}

enum pd_status pd_print_timehist(struct pd_text *text, struct pd_file *file, struct pd_timehist_options *options,
				 struct pd_error *error)
{
	struct pd_timehist_options all = { 0 };
	struct pd_sched sched = {
		.file = file, .options = &all, .text = text, .name_width = NAME_WIDTH, .arena.limit = ARENA_LIMIT
	};
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_timehist_options.size is 0");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	sched.form = all.json ? &pd_sched_as_json : &pd_sched_as_text;
	sched.json.text = text;
	sched.map.seed = pd_hash_secret();
	status = pd_sched_choose(&sched, error);
	if (status >= 0)
		status = pd_trace_new(file, NULL, &sched.trace, error);
	if (status >= 0)
		status = print_all(&sched, error);
	if (options && options->size > offsetof(struct pd_timehist_options, has_chains))
		options->has_chains = all.has_chains;
	free_all(&sched);
	if (status >= 0 && pd_text_failed(text))
		status = pd_fail_memory(error);
	return status < 0 ? status : PD_OK;
}
