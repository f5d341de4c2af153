/* SPDX-License-Identifier: MIT */
// Records for latency and map, and perf's counts of what did not fit.
#include <string.h>

#include <perfdata/run.h>

#include "sched/sched.h"
#include "stream/parallel/restart.h"

#include <inttypes.h>

#include "base/text/text.h"

enum {
	ARENA_LIMIT = 2047 << 20
};

static const struct pd_tracepoint points[PD_SCHED_POINTS] = {
	[PD_SCHED_POINT_SWITCH] = { "sched:sched_switch", { "prev_pid", "next_pid", "prev_state" } },
	[PD_SCHED_POINT_RUNTIME] = { "sched:sched_stat_runtime", { "pid", "runtime" } },
	[PD_SCHED_POINT_WAKING] = { "sched:sched_waking", { "pid" } },
	[PD_SCHED_POINT_WAKEUP_NEW] = { "sched:sched_wakeup_new", { "pid" } },
	[PD_SCHED_POINT_MIGRATE] = { "sched:sched_migrate_task", { "pid" } },
	[PD_SCHED_POINT_WAKEUP] = { "sched:sched_wakeup", { "pid" } },
};

static void count_record(struct pd_sched_pass *pass, const struct pd_record *record)
{
	const struct pd_lost *lost = record->type == PD_RECORD_LOST ? pd_as_lost(record) : NULL;

	pass->records++;
	pass->lost_chunks += record->type == PD_RECORD_LOST;
	pass->lost += lost ? lost->lost : 0;
}

static enum pd_status take_point(struct pd_sched_pass *pass, struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	enum pd_status status;

	if (sample->brief.cpu == UINT32_MAX)
		sample->brief.cpu = 0;
	if (sample->brief.cpu >= PD_SCHED_CPUS)
		return PD_OK;
	status = pass->point(pass, sample, error);
	if (status >= 0 && sample->which == PD_SCHED_POINT_SWITCH) {
		uint32_t *pid = &pass->cpus[sample->brief.cpu].pid;

		pass->bugs += *pid != UINT32_MAX && *pid != (uint32_t)sample->values[0];
		*pid = (uint32_t)sample->values[1];
	}
	return status;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_sched_pass *pass = self;
	struct pd_tracepoint_sample sample;
	enum pd_status status;

	(void)stream;
	count_record(pass, record);
	status = pd_tracepoints_take(&pass->points, record, &sample, error);
	if (status == PD_END)
		return pd_sched_take_task(&pass->sched, record, error);
	return status < 0 ? status : take_point(pass, &sample, error);
}

static enum pd_status take_sample(void *self, const struct pd_event_full *event, struct pd_bytes bytes,
				  uint64_t time_ns, struct pd_error *error)
{
	struct pd_sched_pass *pass = self;
	struct pd_tracepoint_sample sample;

	if (!pd_tracepoints_take_sample(&pass->points, event, bytes, time_ns, &sample))
		return PD_END;
	pass->records++;
	return sample.which == PD_TRACEPOINT_UNWANTED ? PD_OK : take_point(pass, &sample, error);
}

// The CPU, and the numbers of the event.
static void choose_words(void *self, const struct pd_event_full *full, struct pd_pack *pack_out)
{
	struct pd_sched_pass *pass = self;
	struct pd_pack pack = { .before = 1, .count = 1 };

	if (full->brief.cpu == PD_FIELD_MISSING)
		return;
	pack.at[0] = PD_RECORD_HEADER_SIZE + full->brief.cpu;
	if (pd_tracepoints_pack(&pass->points, &full->event, &pack))
		*pack_out = pack;
}

static enum pd_status take_packed(void *self, const struct pd_event_full *full, uint64_t time_ns, const uint64_t *words,
				  struct pd_error *error)
{
	struct pd_sched_pass *pass = self;
	struct pd_tracepoint_sample sample;
	enum pd_status status;

	sample.raw = (struct pd_bytes){ 0 };
	sample.brief = (struct pd_raw_brief){ .time_ns = time_ns, .cpu = (uint32_t)words[0] };
	status = pd_tracepoints_unpack(&pass->points, &full->event, words + 1, &sample, error);
	pass->records++;
	return status < 0 ? status : take_point(pass, &sample, error);
}

static bool is_unordered(void *self, const struct pd_event *event)
{
	struct pd_sched_pass *pass = self;

	return !pd_tracepoints_wants(&pass->points, event);
}

// With sched_wakeup, sched_waking is not needed. What is not wanted has a name that no event has.
static enum pd_status init_points(struct pd_sched_pass *pass, struct pd_file *file, struct pd_error *error)
{
	static const char unwanted[] = "-";

	memcpy(pass->table, points, sizeof(points));
	if (!pass->migrations)
		pass->table[PD_SCHED_POINT_MIGRATE].name = unwanted;
	if (pd_file_has_tracepoint(file, "sched:sched_wakeup"))
		pass->table[PD_SCHED_POINT_WAKING].name = unwanted;
	return pd_tracepoints_init(&pass->points, file, pass->table, PD_SCHED_POINTS, error);
}

static bool begin(struct pd_sched_pass *pass)
{
	struct pd_error unwanted;

	for (size_t i = 0; i < PD_SCHED_CPUS; i++) {
		memset(&pass->cpus[i], 0, sizeof(pass->cpus[i]));
		pass->cpus[i].pid = UINT32_MAX;
	}
	return pd_sched_find(&pass->sched, 0, 0, &unwanted);
}

static bool restart(void *self)
{
	struct pd_sched_pass *pass = self;

	pass->forget(pass);
	pd_sched_forget(&pass->sched);
	pass->points.unreadable = 0;
	pass->records = pass->lost = pass->lost_chunks = pass->wakeups = pass->unordered = pass->bugs = 0;
	return begin(pass);
}

enum pd_status pd_sched_pass_run(struct pd_sched_pass *pass, struct pd_file *file, struct pd_text *text,
				 size_t thread_limit, struct pd_error *error)
{
	const struct pd_run_options run = { .size = sizeof(run), .threads = 1, .order = PD_ORDER_TIME };
	const struct pd_sink sink = { .size = sizeof(sink), .self = pass, .record = take_record };
	const struct pd_order_taker taker = { .record = take_record,
					      .sample = take_sample,
					      .self = pass,
					      .unordered = is_unordered,
					      .no_rounds = true,
					      .pack = choose_words,
					      .packed = take_packed,
					      .passed = &pass->records };
	struct pd_sched *sched = &pass->sched;
	enum pd_status status;

	sched->file = file;
	sched->text = text;
	sched->options = &pass->none;
	sched->arena.limit = ARENA_LIMIT;
	sched->map.seed = pd_hash_secret();
	pass->none.thread_limit = thread_limit;
	if (pd_file_header(file)->mode != PD_MODE_PIPE && !pd_file_has_tracepoint(file, points[0].name))
		return pd_sched_fail_without_switches(error);
	status = init_points(pass, file, error);
	if (status >= 0 && !begin(pass))
		status = pd_fail_memory(error);
	if (status >= 0)
		status = pass->forget ? pd_run_restarting(file, &taker, restart, error) :
					pd_run(file, &run, &sink, error);
	if (status >= 0 && !(pass->points.found & 1 << PD_SCHED_POINT_SWITCH))
		status = pd_sched_fail_without_switches(error);
	return status;
}

void pd_sched_pass_fini(struct pd_sched_pass *pass)
{
	pd_tracepoints_fini(&pass->points);
	pd_free(pass->sched.threads);
	pd_u64_map_fini(&pass->sched.map);
	pd_arena_fini(&pass->sched.arena);
}

static double percent(uint64_t part, uint64_t whole)
{
	return (double)part / (double)whole * 100.0;
}

void pd_sched_json_bad(struct pd_sched_pass *pass, struct pd_json *json)
{
	pd_json_number(json, "unordered", pass->unordered);
	pd_json_number(json, "lost", pass->lost);
	pd_json_number(json, "context_switch_bugs", pass->bugs);
}

void pd_sched_print_bad(struct pd_sched_pass *pass)
{
	struct pd_text *text = pass->sched.text;

	if (pass->unordered && pass->wakeups)
		pd_text_printf(text, "  INFO: %.3f%% unordered timestamps (%" PRIu64 " out of %" PRIu64 ")\n",
			       percent(pass->unordered, pass->wakeups), pass->unordered, pass->wakeups);
	if (pass->lost && pass->records)
		pd_text_printf(text,
			       "  INFO: %.3f%% lost events (%" PRIu64 " out of %" PRIu64 ", in %" PRIu64 " chunks)\n",
			       percent(pass->lost, pass->records), pass->lost, pass->records, pass->lost_chunks);
	if (pass->bugs && pass->wakeups)
		pd_text_printf(text, "  INFO: %.3f%% context switch bugs (%" PRIu64 " out of %" PRIu64 ")%s\n",
			       percent(pass->bugs, pass->wakeups), pass->bugs, pass->wakeups,
			       pass->lost ? " (due to lost events?)" : "");
}
