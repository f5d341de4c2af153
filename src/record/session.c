/* SPDX-License-Identifier: MIT */
/*
 * The file that a recorder makes. What was already there is described first; then rings are emptied all at once, so
 * that after each pass stands a round that readers can rely on; the header is saved twice a second.
 */
#include "record/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/ring/workers.h"
#include "write/write.h"

enum {
	SAVE_NS = 300000000 // between two headers
};

// ---- both outputs ----

static enum pd_status put_outside(struct pd_recorder *recorder, struct pd_bytes records, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (recorder->writer)
		status = pd_writer_put_outside(recorder->writer, 0, records.data, records.size, error);
	return status < 0 ? status : pd_session_put_live(recorder, records, error);
}

static enum pd_status flush_live(struct pd_recorder *recorder, struct pd_error *error)
{
	return recorder->live ? pd_writer_flush(recorder->live, error) : PD_OK;
}

// ---- records that are made ----

static enum pd_status put_made(void *self, struct pd_bytes records, struct pd_error *error)
{
	struct pd_recorder *recorder = self;

	return put_outside(recorder, records, error);
}

static enum pd_status add_id_index(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error)
{
	enum {
		PER_RECORD = 2000
	};
	struct pd_id_entry *entries = pd_realloc(NULL, PER_RECORD * sizeof(*entries)); // few are used as a rule
	enum pd_status status = entries ? PD_OK : pd_fail_memory(error);
	size_t count = 0;

	for (size_t i = 0; i < recorder->config.event_count && status >= 0; i++) {
		const struct pd_rec_event *event = &recorder->config.events[i];

		for (size_t at = 0; at < event->fd_count && status >= 0; at++) {
			bool last = i + 1 == recorder->config.event_count && at + 1 == event->fd_count;
			size_t thread = at / recorder->cpus.count, cpu = at % recorder->cpus.count;

			if (event->fds[at] >= 0)
				entries[count++] = (struct pd_id_entry){
					.id = event->ids[at],
					.idx = recorder->cpus.items[0] >= 0 ? cpu : thread,
					.cpu = (uint64_t)(int64_t)recorder->cpus.items[cpu],
					.tid = (uint64_t)(int64_t)recorder->threads.items[thread]
				};
			if (count && (count == PER_RECORD || last)) {
				struct pd_id_index index = { .nr = count,
							     .entries = { entries, count, sizeof(*entries) } };

				status = pd_made_add(made, PD_RECORD_ID_INDEX, 0, &index, error);
				count = 0;
			}
		}
	}
	pd_free(entries);
	return status;
}

// One record, which holds 2729 threads: perf says that it leaves out a second one. Nobody needs the rest, the names and
// forks of all threads come in records of their own.
static enum pd_status add_thread_map(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error)
{
	enum {
		MOST = (UINT16_MAX - 16) / 24
	};
	static const char no_name[16];
	size_t count = recorder->threads.count < MOST ? recorder->threads.count : MOST;
	struct pd_thread_map_entry *entries = pd_alloc(count * sizeof(*entries));
	struct pd_thread_map map = { .entries = { entries, count, sizeof(*entries) } };
	enum pd_status status;

	if (!entries)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++)
		entries[i] = (struct pd_thread_map_entry){ .pid = (uint64_t)(int64_t)recorder->threads.items[i],
							   .comm = { no_name, 0, sizeof(no_name) } };
	status = pd_made_add(made, PD_RECORD_THREAD_MAP, 0, &map, error);
	pd_free(entries);
	return status;
}

// The command before its exec, as perf has it.
static enum pd_status add_command(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error)
{
	uint32_t pid = (uint32_t)recorder->command.pid;
	struct pd_comm comm = { .pid = pid, .tid = pid, .comm = { "perf-exec", 9, 0 } };

	return pd_made_add(made, PD_RECORD_COMM, 0, &comm, error);
}

static enum pd_status add_tasks(struct pd_recorder *recorder, struct pd_made *made,
				const struct pd_existing_options *options, struct pd_error *error)
{
	struct pd_existing_notes notes = { 0 };
	enum pd_status status = pd_existing_tasks(made, options, &notes, error);

	if (notes.maps_cut)
		pd_recorder_report(recorder, PD_WARNING, "maps", NULL,
				   "%" PRIu64 " processes have too many mappings to read all of them", notes.maps_cut);
	return status;
}

static enum pd_status add_kernel(struct pd_recorder *recorder, struct pd_made *made,
				 const struct pd_existing_options *options, struct pd_error *error)
{
	struct pd_existing_notes notes = { 0 };
	enum pd_status status = pd_existing_kernel(made, options, &notes, error);

	if (notes.kernel_addresses_hidden && !recorder->user_only && !recorder->options.sampling.all_user)
		pd_recorder_report(recorder, PD_WARNING, "kptr-restrict",
				   "sysctl kernel.kptr_restrict=0, or become root",
				   "kernel functions will be unresolved: addresses are hidden by kernel.kptr_restrict");
	return status;
}

static struct pd_existing_options existing_options(const struct pd_recorder *recorder)
{
	const struct pd_recorder_options *options = &recorder->options;
	const struct pd_targets *targets = &options->targets;
	unsigned synth = options->session.no_synth ? 0 : options->session.synth ? options->session.synth : PD_SYNTH_ALL;
	// what a command started by now is known by the whole only
	bool everything = targets->all || targets->cpus || recorder->command.started;

	return (struct pd_existing_options){
		.all = everything,
		.pids = targets->pids,
		.tids = targets->by_user ?
				(struct pd_u32s){ (const uint32_t *)recorder->threads.items, recorder->threads.count } :
				targets->tids,
		.data_maps = options->sampling.addr || options->sampling.data_mmap ||
			     options->sampling.call_graph == PD_CALL_GRAPH_DWARF,
		.build_ids = options->sampling.build_id_mmap,
		.namespaces = options->sampling.namespaces,
		.cgroups = options->sampling.all_cgroups && synth & PD_SYNTH_CGROUP,
		.bpf = !options->sampling.no_bpf_event,
		.tasks = synth & PD_SYNTH_TASK,
		.maps = synth & PD_SYNTH_MMAP,
		.kernel = true,
	};
}

// What runs already. Threads of a command are not among it: they come while it is recorded.
static enum pd_status synthesize(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_existing_options options = existing_options(recorder);
	const struct pd_attr *first = &recorder->config.events[0].attr;
	struct pd_made made = { .take = put_made, .self = recorder };
	struct pd_finished_init init = { .rest = { 0 } };
	enum pd_status status = PD_OK;

	if (first->flags & PD_MASK(PD_ATTR_SAMPLE_ID_ALL))
		made.trailer_bits = first->sample_type;
	if (recorder->config.uses_ids || recorder->config.events[0].fd_count > 1)
		status = add_id_index(recorder, &made, error);
	if (status >= 0)
		status = add_kernel(recorder, &made, &options, error);
	if (status >= 0)
		status = add_thread_map(recorder, &made, error);
	if (status >= 0)
		status = pd_recorder_add_cpus(recorder, &made, error);
	if (status >= 0)
		status = add_tasks(recorder, &made, &options, error);
	if (status >= 0 && recorder->command.pid && !recorder->command.started)
		status = add_command(recorder, &made, error);
	if (status >= 0 && options.cgroups)
		status = pd_existing_cgroups(&made, &options, error);
	if (status >= 0 && options.bpf)
		status = pd_existing_bpf(&made, &options, error);
	if (status >= 0)
		status = pd_made_add(&made, PD_RECORD_FINISHED_INIT, 0, &init, error);
	if (status >= 0)
		status = pd_made_flush(&made, error);
	pd_made_fini(&made);
	return status;
}

// ---- begin ----

// What has the name is kept under another one, as perf does it.
static enum pd_status move_away(const char *path, struct pd_error *error)
{
	struct stat there;
	char *old;
	enum pd_status result;

	if (stat(path, &there) < 0 || !(S_ISREG(there.st_mode) ? there.st_size > 0 : pd_workers_made(path)))
		return PD_OK;
	if (asprintf(&old, "%s.old", path) < 0)
		return pd_fail_memory(error);
	result = pd_workers_move_away(path, old);
	if (result < 0)
		pd_fail_system(error, errno, "%s: cannot rename to %s", path, old);
	free(old);
	return result;
}

static enum pd_status open_file(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status;

	recorder->fd = -1;
	if (!recorder->options.path)
		return PD_OK;
	free(recorder->path);
	recorder->path = strdup(recorder->options.path);
	if (!recorder->path)
		return pd_fail_memory(error);
	status = move_away(recorder->path, error);
	if (status < 0 || recorder->workers)
		return status;
	recorder->fd = open(recorder->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return recorder->fd < 0 ? pd_fail_system(error, errno, "%s: cannot create", recorder->path) : PD_OK;
}

static enum pd_status add_events(struct pd_recorder *recorder, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < recorder->config.event_count && status >= 0; i++) {
		const struct pd_rec_event *event = &recorder->config.events[i];
		uint64_t *ids = pd_alloc(event->fd_count * sizeof(*ids));
		struct pd_attr attr = event->attr;
		size_t count = 0;

		if (!ids)
			return pd_fail_memory(error);
		for (size_t at = 0; at < event->fd_count; at++)
			if (event->fds[at] >= 0)
				ids[count++] = event->ids[at];
		if (event->offcpu)
			pd_offcpu_file_attr(&attr);
		status = pd_writer_add_event(writer, &attr, (struct pd_u64s){ ids, count }, event->name, error);
		pd_free(ids);
	}
	return status;
}

static bool has_tracepoints(const struct pd_config *config)
{
	for (size_t i = 0; i < config->event_count; i++)
		if (config->events[i].attr.type == PD_TYPE_TRACEPOINT)
			return true;
	return false;
}

static enum pd_status add_features(struct pd_recorder *recorder, struct pd_writer *writer, struct pd_error *error)
{
	const struct pd_config *config = &recorder->config;
	struct pd_attr *attrs = pd_alloc(config->event_count * sizeof(*attrs));
	const char **names = pd_alloc(config->event_count * sizeof(*names));
	size_t *leaders = pd_alloc(config->event_count * sizeof(*leaders));
	struct pd_machine_options options = {
		.command_line = recorder->options.command_line,
		.attrs = attrs,
		.names = names,
		.leaders = leaders,
		.use_clock = recorder->options.sampling.use_clock,
		.clock = recorder->options.sampling.clock,
		.event_count = config->event_count,
		.branches = config->events[0].attr.sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK),
		.tracing = has_tracepoints(config),
		.bpf = !recorder->options.sampling.no_bpf_event,
	};
	enum pd_status status = attrs && names && leaders ? PD_OK : pd_fail_memory(error);

	for (size_t i = 0; i < config->event_count && status >= 0; i++) {
		attrs[i] = config->events[i].attr;
		names[i] = config->events[i].name;
		leaders[i] = config->events[i].leader;
	}
	if (status >= 0)
		status = pd_machine_features(writer, &options, error);
	pd_free(attrs);
	pd_free(names);
	pd_free(leaders);
	return status;
}

// Where samples have their time, if all have it at one place.
static size_t time_place(const struct pd_config *config)
{
	const uint64_t before = PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER) | PD_MASK(PD_SAMPLE_TYPE_IP) |
				PD_MASK(PD_SAMPLE_TYPE_TID);
	uint64_t all = config->events[0].attr.sample_type;

	for (size_t i = 0; i < config->event_count; i++)
		if (!(config->events[i].attr.sample_type & PD_MASK(PD_SAMPLE_TYPE_TIME)) ||
		    (config->events[i].attr.sample_type & before) != (all & before))
			return 0;
	return 8 + 8 * (size_t)__builtin_popcountll(all & before);
}

static enum pd_status start_writer(struct pd_recorder *recorder, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = add_events(recorder, writer, error);

	if (status >= 0)
		status = add_features(recorder, writer, error);
	return status < 0 ? status : pd_writer_start(writer, error);
}

enum pd_status pd_session_open_output(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_writer_options options = recorder->options.output;
	enum pd_status status = open_file(recorder, error);
	int fd = recorder->fd >= 0 ? recorder->fd : recorder->options.fd;

	if (status < 0 || (fd < 0 && !recorder->workers))
		return status;
	options.size = sizeof(options);
	options.save_bytes = UINT64_MAX; // by time
	if (recorder->workers)
		status = pd_workers_open_output(recorder, &options, error);
	else
		status = pd_writer_open_fd(fd, recorder->path ? recorder->path : "standard output", &options,
					   &recorder->writer, error);
	if (status < 0)
		return status;
	// who asks for no level wants to spend little
	pd_writer_pack_frames(recorder->writer, !options.level);
	return start_writer(recorder, recorder->writer, error);
}

static enum pd_status open_live(struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_recorder_options *options = &recorder->options;
	enum pd_status status = PD_OK;

	if (!options->live)
		return PD_OK;
	status = pd_writer_open_put(options->live, options->live_self, "live", NULL, &recorder->live, error);
	return status < 0 ? status : start_writer(recorder, recorder->live, error);
}

enum pd_status pd_session_begin(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = pd_session_open_output(recorder, error);

	if (status >= 0)
		status = open_live(recorder, error);
	recorder->counts.first_ns = recorder->counts.last_ns = 0;
	recorder->counts.time_at = time_place(&recorder->config);
	recorder->begin_ns = recorder->saved_ns = pd_now_ns();
	if (status >= 0 && !recorder->options.session.tail_synthesize)
		status = synthesize(recorder, error);
	return status < 0 ? status : pd_session_save(recorder, error);
}

// ---- while it goes on ----

static enum pd_status put_made_live(void *self, struct pd_bytes records, struct pd_error *error)
{
	return pd_session_put_live(self, records, error);
}

// Whoever reads live is informed that nothing happened, too.
static enum pd_status put_round(struct pd_recorder *recorder, bool any, struct pd_error *error)
{
	static const struct pd_finished_round round;
	struct pd_made made = { .take = any ? put_made : put_made_live, .self = recorder };
	struct pd_finished_round one = round;
	enum pd_status status = pd_made_add(&made, PD_RECORD_FINISHED_ROUND, 0, &one, error);

	if (status >= 0)
		status = pd_made_flush(&made, error);
	pd_made_fini(&made);
	return status;
}

static enum pd_status put_offcpu(struct pd_recorder *recorder, bool last, struct pd_error *error)
{
	struct pd_bytes records;
	enum pd_status status = last ? pd_offcpu_end(recorder->offcpu, &records, error) :
				       pd_offcpu_flush(recorder->offcpu, &records, error);

	return status >= 0 && records.size ? pd_session_put_piece(recorder, 0, records, error) : status;
}

// In a pipe what came last is shown when a round says that nothing older follows: two more, then silence.
static bool is_round_due(struct pd_recorder *recorder, bool any)
{
	bool pipe = recorder->writer && pd_writer_mode(recorder->writer) == PD_MODE_PIPE;

	// each file of a directory is in order
	if (recorder->options.session.overwrite || recorder->workers)
		return false;
	recorder->rounds_due = any && pipe ? 2 : recorder->rounds_due - (recorder->rounds_due > 0);
	return any || recorder->live || recorder->rounds_due;
}

// Of all rings or of none, for the sake of the round after them. What is more than a quarter of a ring would wait until it is full.
static bool is_worth_a_pass(const struct pd_recorder *recorder)
{
	uint64_t least = recorder->options.session.flush_bytes;

	if (!least)
		return true;
	least = least < recorder->ring_bytes / 4 ? least : recorder->ring_bytes / 4;
	for (size_t i = 0; i < recorder->ring_count; i++)
		if (pd_ring_holds(&recorder->rings[i]) >= least)
			return true;
	return false;
}

enum pd_status pd_session_drain(struct pd_recorder *recorder, bool newest, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	bool any = false;

	if (!newest && !is_worth_a_pass(recorder))
		return PD_OK;
	if (recorder->workers)
		status = pd_workers_drain(recorder, newest, error);
	for (size_t i = 0; i < recorder->ring_count && status >= 0 && !recorder->workers; i++)
		status =
			pd_session_drain_ring(recorder, &recorder->rings[i], 0, &recorder->counts, newest, &any, error);
	if (status >= 0 && recorder->offcpu)
		status = put_offcpu(recorder, false, error);
	// what keeps the newest hands over old records late
	if (status >= 0 && is_round_due(recorder, any))
		status = put_round(recorder, any || recorder->rounds_due, error);
	if (status >= 0)
		status = flush_live(recorder, error);
	if (!recorder->writer)
		return status;
	if (status >= 0 &&
	    (pd_writer_mode(recorder->writer) == PD_MODE_PIPE || pd_now_ns() - recorder->saved_ns >= SAVE_NS))
		status = pd_session_save(recorder, error);
	return pd_writer_fail(recorder->writer, status, error);
}

enum pd_status pd_session_save(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = flush_live(recorder, error);

	recorder->saved_ns = pd_now_ns();
	return status < 0 || !recorder->writer ? status : pd_writer_flush(recorder->writer, error);
}

// ---- end ----

// Losses that no record tells: those after the last one that found room.
static enum pd_status add_lost(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_made made = { .take = put_made, .self = recorder };
	uint64_t reported = recorder->counts.lost + recorder->counts.lost_samples;
	uint64_t counted = 0;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < recorder->config.event_count; i++)
		for (size_t at = 0; at < recorder->config.events[i].fd_count; at++)
			counted += pd_recorder_lost_of(recorder, i, at);
	recorder->recorded.lost = counted > reported ? counted : reported;
	recorder->recorded.lost_samples = counted;
	// a file before may have reported some
	reported += recorder->reported_lost;
	if (counted > reported) {
		struct pd_lost_samples lost = { .lost = counted - reported };
		const struct pd_attr *first = &recorder->config.events[0].attr;

		if (first->flags & PD_MASK(PD_ATTR_SAMPLE_ID_ALL))
			made.trailer_bits = first->sample_type;
		status = pd_made_add(&made, PD_RECORD_LOST_SAMPLES, 0, &lost, error);
		recorder->reported_lost += lost.lost;
	}
	if (status >= 0)
		status = pd_made_flush(&made, error);
	pd_made_fini(&made);
	return status;
}

static enum pd_status add_times(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_sample_time times = { .first_ns = recorder->counts.first_ns, .last_ns = recorder->counts.last_ns };

	if (!times.first_ns || !recorder->writer || pd_writer_mode(recorder->writer) == PD_MODE_PIPE)
		return PD_OK;
	return pd_writer_set_feature(recorder->writer, PD_FEATURE_SAMPLE_TIME, &times, error);
}

uint64_t pd_session_size(const struct pd_recorder *recorder)
{
	const struct pd_writer *writer = recorder->writer ? recorder->writer : recorder->live;

	return writer ? pd_writer_size(writer) : 0;
}

static enum pd_status finish(struct pd_writer **writer, enum pd_status status, struct pd_error *error)
{
	struct pd_error unwanted;
	enum pd_status ended = *writer ? pd_writer_finish(*writer, status >= 0 ? error : &unwanted) : PD_OK;

	*writer = NULL;
	return status < 0 ? status : ended;
}

enum pd_status pd_session_end(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = pd_session_drain(recorder, true, error);

	if (status >= 0 && recorder->offcpu)
		status = put_offcpu(recorder, true, error);
	if (status >= 0 && recorder->options.session.tail_synthesize)
		status = synthesize(recorder, error);
	if (status >= 0)
		status = add_lost(recorder, error);
	if (status >= 0)
		status = add_times(recorder, error);
	if (status >= 0 && recorder->workers)
		status = pd_workers_paths(recorder, error);
	if (status >= 0 && recorder->writer)
		status = pd_recorder_add_build_ids(recorder, error);
	if (status < 0) {
		pd_session_abort(recorder);
		return status;
	}
	recorder->recorded.bytes += pd_session_size(recorder);
	status = finish(&recorder->live, finish(&recorder->writer, status, error), error);
	recorder->recorded.files++;
	if (recorder->fd >= 0 && close(recorder->fd) < 0 && status >= 0)
		status = pd_fail_system(error, errno, "%s: cannot write", recorder->path);
	recorder->fd = -1;
	return status;
}

// ---- files with a name of their own ----

static char *stamped(const char *path)
{
	struct timespec now;
	struct tm local;
	char stamp[32], *name;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &local);
	return asprintf(&name, "%s.%s%02ld", path, stamp, now.tv_nsec / 10000000) < 0 ? NULL : name;
}

// A name that nothing has: times have hundredths of seconds only.
static char *free_name(const char *path)
{
	const struct timespec hundredth = { .tv_nsec = 10000000 };
	char *name = stamped(path);

	while (name && access(name, F_OK) == 0) {
		free(name);
		nanosleep(&hundredth, NULL);
		name = stamped(path);
	}
	return name;
}

// Takes the oldest away if there are too many.
static enum pd_status note_kept(struct pd_recorder *recorder, char *name, struct pd_error *error)
{
	uint32_t most = recorder->options.session.switch_max_files;

	if (!PD_GROW(recorder->kept, recorder->kept_capacity, recorder->kept_count + 1)) {
		free(name);
		return pd_fail_memory(error);
	}
	recorder->kept[recorder->kept_count++] = name;
	if (!most || recorder->kept_count <= most)
		return PD_OK;
	unlink(recorder->kept[0]);
	free(recorder->kept[0]);
	memmove(recorder->kept, recorder->kept + 1, --recorder->kept_count * sizeof(*recorder->kept));
	return PD_OK;
}

static void report_not_stored(struct pd_recorder *recorder, const char *path, const char *why)
{
	recorder->recorded.not_stored++;
	pd_recorder_report(recorder, PD_DAMAGE, "store", "add it later: perfdata store add STORE FILE",
			   "%s is kept, but not in the store: %s", path, why);
}

// Only what is in the store may be removed.
static void take_fed(struct pd_recorder *recorder, bool wait)
{
	struct pd_store_fed *fed;
	struct pd_error ignored;
	char *name;

	while ((fed = pd_store_feed_take(recorder->feed, wait)) != NULL) {
		if (fed->status < 0)
			report_not_stored(recorder, fed->path, fed->why.message);
		else if (recorder->options.session.switch_max_files && (name = strdup(fed->path)) != NULL)
			note_kept(recorder, name, &ignored);
		pd_free(fed);
	}
}

void pd_session_feed(struct pd_recorder *recorder, const char *path)
{
	if (!recorder->store)
		return;
	if (!recorder->feed)
		recorder->feed = pd_store_feed_new(recorder->store, recorder->store_profile);
	if (!recorder->feed || !pd_store_feed_add(recorder->feed, path))
		report_not_stored(recorder, path, "out of memory");
	if (recorder->feed)
		take_fed(recorder, false);
}

void pd_session_end_feed(struct pd_recorder *recorder)
{
	if (recorder->feed)
		take_fed(recorder, true);
	pd_store_feed_free(recorder->feed);
	recorder->feed = NULL;
}

enum pd_status pd_session_keep(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = pd_session_end(recorder, error);
	char *name = status >= 0 && recorder->path ? free_name(recorder->path) : NULL;

	if (status < 0 || !recorder->path)
		return status;
	if (!name)
		return pd_fail_memory(error);
	if (rename(recorder->path, name) < 0) {
		status = pd_fail_system(error, errno, "%s: cannot rename to %s", recorder->path, name);
		free(name);
		return status;
	}
	pd_recorder_report(recorder, PD_INFO, "switched", NULL, "%s is complete", name);
	if (!recorder->store)
		return note_kept(recorder, name, error);
	pd_session_feed(recorder, name);
	free(name);
	return PD_OK;
}

void pd_session_abort(struct pd_recorder *recorder)
{
	struct pd_error ignored;

	// what was recorded so far stays, as far as it is known
	if (recorder->writer && !pd_writer_has_failed(recorder->writer))
		pd_session_save(recorder, &ignored);
	pd_writer_abort(recorder->writer);
	pd_writer_abort(recorder->live);
	recorder->writer = recorder->live = NULL;
	if (recorder->fd >= 0)
		close(recorder->fd);
	recorder->fd = -1;
}
