/* SPDX-License-Identifier: MIT */
// The pass over a file that all have in common.
#include "pairs/pairs.h"

#include <inttypes.h>
#include <string.h>

#include <perfdata/run.h>

#include "file/file.h"
#include "format/traits.h"

#include "stream/each.h"
#include "stream/parallel/restart.h"

enum {
	ARENA_LIMIT = 2047 << 20
};

bool pd_pairs_has_time(const struct pd_pairs *pairs, uint64_t time_ns)
{
	return !pairs->select || pd_select_has_time(pairs->select, time_ns);
}

static void count_record(struct pd_pairs *pairs, const struct pd_record *record)
{
	const struct pd_lost *lost = record->type == PD_RECORD_LOST ? pd_as_lost(record) : NULL;

	pairs->records++;
	pairs->lost_chunks += record->type == PD_RECORD_LOST;
	pairs->lost += lost ? lost->lost : 0;
}

// Whether functions of the kernel depend on it.
static bool is_of_kernel(const struct pd_record *record)
{
	unsigned cpumode = (unsigned)PD_BITS(record->misc, PD_MISC_CPUMODE);

	if (record->type == PD_RECORD_MMAP || record->type == PD_RECORD_MMAP2)
		return cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_GUEST_KERNEL;
	return !pd_record_is(record->type, PD_TRAIT_STATE) || pd_record_is(record->type, PD_TRAIT_KERNEL_STATE);
}

static enum pd_status take_state(struct pd_pairs *pairs, const struct pd_record *record, struct pd_error *error)
{
	if (!pairs->of_programs && !is_of_kernel(record))
		return PD_OK;
	// of what was looked up so far some may be wrong then
	if (pairs->early && pairs->symbols && pd_record_is(record->type, PD_TRAIT_STATE))
		return pd_fail(error, PD_ERROR_STOPPED, record->offset, "the kernel has changed");
	return pd_state_take(pairs->state, record, error);
}

static enum pd_status new_symbols(struct pd_pairs *pairs, struct pd_error *error)
{
	if (!pairs->open)
		return pd_symbols_new(pairs->sched.file, pairs->state, NULL, &pairs->symbols, error);
	// in brackets: builds without files have a macro of that name
	pairs->symbols = (pairs->open)(pairs->open_self, pairs->state);
	return pairs->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "there are no symbols");
}

static enum pd_status open_symbols(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_pairs *pairs = self;
	enum pd_status status = pairs->resolves ? pd_state_finalize(pairs->state, error) : PD_OK;
	// all is read, so that it is known which events there are
	struct pd_window unused = { 0 };

	(void)window;
	if (status >= 0 && pairs->select)
		status = pd_select_ready(pairs->select, pairs->sched.file, &unused, error);
	return status < 0 || !pairs->resolves ? status : new_symbols(pairs, error);
}

static enum pd_status take_event(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	if (PD_UNLIKELY(pairs->early && !pairs->symbols)) {
		pairs->unopened = open_symbols(pairs, NULL, error) < 0;
		if (pairs->unopened)
			return error->status;
	}
	return pairs->take(pairs, sample, error);
}

// To change the state and to query it by turns is expensive: samples do not change the answers.
static bool follows(struct pd_pairs *pairs, const struct pd_record *record)
{
	const bool changes = pairs->live && pairs->resolves && record->type != PD_RECORD_SAMPLE &&
			     record->type != PD_RECORD_FINISHED_ROUND;

	pairs->state_changed |= changes;
	return changes;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_pairs *pairs = self;
	struct pd_tracepoint_sample sample;
	enum pd_status status = pd_tracepoints_take(&pairs->points, record, &sample, error);

	(void)stream;
	count_record(pairs, record);
	if (status == PD_OK && !pairs->takes_all && !pd_pairs_has_time(pairs, sample.brief.time_ns))
		return PD_OK;
	if (status == PD_OK)
		return take_event(pairs, &sample, error);
	if (status == PD_END)
		status = pairs->names_only && record->type != PD_RECORD_COMM ?
				 PD_OK :
				 pd_sched_take_task(&pairs->sched, record, error);
	if (status == PD_OK && (pairs->late || pairs->early || follows(pairs, record)))
		status = take_state(pairs, record, error);
	if (status == PD_OK && pairs->other)
		status = pairs->other(pairs, record, error);
	return status;
}

static enum pd_status take_sample(void *self, const struct pd_event_full *event, struct pd_bytes bytes,
				  uint64_t time_ns, struct pd_error *error)
{
	struct pd_pairs *pairs = self;
	struct pd_tracepoint_sample sample;

	if (pairs->other || !pd_tracepoints_take_sample(&pairs->points, event, bytes, time_ns, &sample))
		return PD_END;
	pairs->records++;
	return sample.which == PD_TRACEPOINT_UNWANTED ? PD_OK : take_event(pairs, &sample, error);
}

enum {
	WORD_CPU,
	WORD_IDS, // of process and thread
	WORD_NUMBERS
};

static void choose_words(void *self, const struct pd_event_full *full, struct pd_pack *pack_out)
{
	const struct pd_brief_places *brief = &full->brief;
	struct pd_pairs *pairs = self;
	struct pd_pack pack = { .before = WORD_NUMBERS, .count = WORD_NUMBERS };

	if (brief->cpu == PD_FIELD_MISSING || brief->pid == PD_FIELD_MISSING || brief->tid != brief->pid + 4)
		return;
	pack.at[WORD_CPU] = PD_RECORD_HEADER_SIZE + brief->cpu;
	pack.at[WORD_IDS] = PD_RECORD_HEADER_SIZE + brief->pid;
	if (pd_tracepoints_pack(&pairs->points, &full->event, &pack))
		*pack_out = pack;
}

static enum pd_status take_packed(void *self, const struct pd_event_full *full, uint64_t time_ns, const uint64_t *words,
				  struct pd_error *error)
{
	struct pd_pairs *pairs = self;
	struct pd_tracepoint_sample sample;
	enum pd_status status;

	sample.raw = (struct pd_bytes){ 0 };
	sample.brief = (struct pd_raw_brief){ .time_ns = time_ns,
					      .pid = (uint32_t)words[WORD_IDS],
					      .tid = (uint32_t)(words[WORD_IDS] >> 32),
					      .cpu = (uint32_t)words[WORD_CPU] };
	status = pd_tracepoints_unpack(&pairs->points, &full->event, words + WORD_NUMBERS, &sample, error);
	pairs->records++;
	return status < 0 ? status : take_event(pairs, &sample, error);
}

static bool is_unordered(void *self, const struct pd_event *event)
{
	struct pd_pairs *pairs = self;

	return !pd_tracepoints_wants(&pairs->points, event);
}

// Mappings are known before the samples come.
static enum pd_status take_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct pd_pairs *pairs = self;

	(void)stream;
	return pairs->resolves ? take_state(pairs, record, error) : PD_OK;
}

enum pd_status pd_pairs_follow_state(struct pd_pairs *pairs, struct pd_error *error)
{
	enum pd_status status;

	if (!pairs->state_changed)
		return PD_OK;
	pairs->state_changed = false;
	status = pd_state_finalize(pairs->state, error);
	return status < 0 || pairs->symbols ? status : new_symbols(pairs, error);
}

static enum pd_status select_time(struct pd_pairs *pairs, struct pd_error *error)
{
	const struct pd_select_options options = { .size = sizeof(options), .time = pairs->time };

	return pd_select_new(&options, &pairs->select, error);
}

static enum pd_status open_state(struct pd_pairs *pairs, struct pd_error *error)
{
	enum pd_status status = pd_state_new(NULL, &pairs->state, error);

	return status < 0 ? status : pd_state_take_features(pairs->state, pairs->sched.file, error);
}

static bool restart(void *self)
{
	struct pd_pairs *pairs = self;
	struct pd_error unwanted;

	pairs->forget(pairs);
	pd_symbols_free(pairs->symbols);
	pairs->symbols = NULL;
	pairs->sections_known = false;
	pd_u64_map_fini(&pairs->places);
	memset(pairs->recent, 0, sizeof(pairs->recent)); // NOLINT: of pointers
	pd_state_free(pairs->state);
	pairs->state = NULL;
	if (pairs->resolves && open_state(pairs, &unwanted) < 0)
		return false;
	pd_sched_forget(&pairs->sched);
	pairs->points.unreadable = pairs->records = pairs->lost = pairs->lost_chunks = 0;
	pairs->early = false;
	return pd_sched_find(&pairs->sched, 0, 0, &unwanted);
}

// One pass where functions are known before there are events; else two.
static enum pd_status run_early(struct pd_pairs *pairs, struct pd_file *file, const struct pd_order_taker *taker,
				const struct pd_run_options *run, const struct pd_sink *sink, struct pd_error *error)
{
	enum pd_status status = pd_order_try_rounds(file, taker, error);

	if (status != PD_END)
		return status;
	if (pairs->unopened)
		return error->status;
	return restart(pairs) ? pd_run(file, run, sink, error) : pd_fail_memory(error);
}

static void report_lost(const struct pd_pairs *pairs, struct pd_file *file)
{
	if (pairs->lost)
		pd_file_report(file, PD_PROBLEM_LOST_RECORDS, PD_NO_OFFSET, NULL, "%" PRIu64 " events were lost",
			       pairs->lost);
}

// What happens is printed when it is known to be in order.
static enum pd_status follow(struct pd_pairs *pairs, struct pd_file *file, struct pd_error *error)
{
	const struct pd_each each = { .order = PD_ORDER_TIME, .trusts = true, .live = pairs->sched.text };

	return pd_each_record(file, &each, take_record, pairs, error);
}

enum pd_status pd_pairs_run(struct pd_pairs *pairs, struct pd_file *file, struct pd_text *text,
			    const struct pd_tracepoint *table, size_t count, size_t thread_limit, const char *missing,
			    struct pd_error *error)
{
	const struct pd_run_options run = { .size = sizeof(run),
					    .threads = 1,
					    .order = PD_ORDER_TIME,
					    .first = take_first,
					    .ready = open_symbols,
					    .self = pairs };
	const struct pd_sink sink = { .size = sizeof(sink), .self = pairs, .record = take_record };
	const struct pd_order_taker taker = { .record = take_record,
					      .sample = take_sample,
					      .self = pairs,
					      .unordered = is_unordered,
					      .no_rounds = true,
					      .pack = pairs->numbers_only && !pairs->other ? choose_words : NULL,
					      .packed = take_packed,
					      .passed = &pairs->records };
	struct pd_sched *sched = &pairs->sched;
	enum pd_status status = pd_tracepoints_init(&pairs->points, file, table, count, error);

	sched->file = file;
	sched->text = text;
	sched->options = &pairs->limits;
	sched->arena.limit = ARENA_LIMIT;
	sched->map.seed = pd_hash_secret();
	pairs->limits.thread_limit = thread_limit;
	if (status >= 0 && !pd_sched_find(sched, 0, 0, error))
		status = error->status;
	pairs->late &= pairs->forget && pairs->resolves && !pairs->time;
	pairs->early &= pairs->forget && pairs->resolves && !pairs->time && !pairs->late && !pairs->live;
	if (status >= 0 && pairs->resolves)
		status = open_state(pairs, error);
	if (status >= 0 && pairs->time)
		status = select_time(pairs, error);
	if (status >= 0 && pairs->live)
		status = follow(pairs, file, error);
	else if (status >= 0 && pairs->early)
		status = run_early(pairs, file, &taker, &run, &sink, error);
	else if (status >= 0)
		status = pairs->forget && (pairs->late || !pairs->resolves) && !pairs->select ?
				 pd_run_restarting(file, &taker, restart, error) :
				 pd_run(file, &run, &sink, error);
	if (status >= 0 && pairs->late)
		status = open_symbols(pairs, NULL, error);
	report_lost(pairs, file);
	if (status >= 0 && !pairs->live && !pairs->points.found)
		status = pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "%s", missing);
	return status;
}

const char *pd_pairs_name(struct pd_pairs *pairs, const char *name, size_t length)
{
	struct pd_text text = { 0 };
	const char *kept;

	pd_text_escaped(&text, name, length);
	kept = text.failed ? NULL : pd_arena_text(&pairs->sched.arena, text.data ? text.data : "", text.size);
	pd_free(text.data);
	return kept;
}

void pd_pairs_fini(struct pd_pairs *pairs)
{
	pd_tracepoints_fini(&pairs->points);
	pd_symbols_free(pairs->symbols);
	pd_select_free(pairs->select);
	pd_state_free(pairs->state);
	pd_u64_map_fini(&pairs->places);
	pd_free(pairs->sched.threads);
	pd_u64_map_fini(&pairs->sched.map);
	pd_arena_fini(&pairs->sched.arena);
}
