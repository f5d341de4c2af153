/* SPDX-License-Identifier: MIT */
/* A recording from its begin to its end: who waits for what, and what ends it. */
#include "record/inside.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/threads.h"
#include "record/ring/backlog.h"
#include "record/ring/workers.h"

enum {
	FILE_WAIT_MS = 400, // most time between two looks at the rings: what a kill takes along is less than a second
	PIPE_WAIT_MS = 200,
	LIVE_WAIT_MS = 100,
	CHILD_WAIT_MS = 50, // where the kernel cannot say that the command ended
	MOST_EVENTS = 64,
	BACKLOG_MOST = 256 << 20 // bytes that were recorded and not read, before rings have to wait, too
};

// What epoll says it is about. Rings have their index.
enum {
	ABOUT_WAKE = -1,
	ABOUT_CHILD = -2
};

struct loop {
	struct pd_recorder *recorder;
	int epoll;
	int child;   // pidfd, or -1
	size_t live; // rings that were not hung up
	uint64_t start_ns;
	uint64_t enable_ns; // when events are to be enabled; 0: they are
};

// What is recorded while it is read.
struct pd_pulled {
	struct loop loop;
	struct pd_backlog backlog;
	struct pd_worker worker; // not started: who reads also records
	bool ended;              // the recording
	bool paused;             // the stream has ended, another one may begin
	enum pd_status status;   // of the worker
	struct pd_error error;
	int usual_policy; // of the thread that reads, before it took a priority
	struct sched_param usual;
};

static void fini_pulled(struct pd_recorder *recorder);

// ---- open and close ----

static enum pd_status check(const struct pd_recorder_options *options, struct pd_error *error)
{
	const struct pd_targets *targets = &options->targets;
	unsigned whom = targets->all + (targets->pids.count != 0) + (targets->tids.count != 0) + targets->by_user;

	if (!options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size of the options is 0");
	if (whom > 1)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "system-wide, processes, threads and a user are mutually exclusive");
	if (options->session.threads && (options->sampling.off_cpu || options->live))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s cannot be combined with several threads",
			       options->live ? "a live view" : "off-CPU sampling");
	if (!whom && !targets->command && !targets->cpus)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no target to record");
	return PD_OK;
}

static enum pd_status find_targets(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_targets *targets = &recorder->options.targets;
	bool by_command = targets->command && !targets->all && !targets->cpus && !targets->pids.count &&
			  !targets->tids.count && !targets->by_user;
	enum pd_status status = PD_OK;

	if (targets->command)
		status = pd_command_prepare(&recorder->command, targets->command,
					    recorder->options.path || recorder->options.fd != STDOUT_FILENO, error);
	if (status >= 0)
		status = pd_threads_find(&recorder->threads, targets, "/proc", error);
	if (status >= 0 && by_command)
		recorder->threads.items[0] = (int32_t)recorder->command.pid;
	return status < 0 ? status : pd_cpus_find(&recorder->cpus, targets, "/sys", error);
}

enum pd_status pd_recorder_open(const struct pd_recorder_options *options, struct pd_recorder **recorder_out,
				struct pd_error *error)
{
	struct pd_recorder *recorder;
	enum pd_status status = check(options, error);

	if (status < 0)
		return status;
	recorder = pd_alloc(sizeof(*recorder));
	if (!recorder)
		return pd_fail_memory(error);
	memcpy(&recorder->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	recorder->fd = -1;
	recorder->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	status = recorder->wake < 0 ? pd_fail_system(error, errno, "no event descriptor") : PD_OK;
	if (status >= 0)
		status = find_targets(recorder, error);
	if (status >= 0)
		status = pd_config_make(&recorder->config, &recorder->options, error);
	if (status >= 0)
		status = pd_recorder_open_events(recorder, error);
	if (status >= 0 && recorder->options.session.threads)
		status = pd_workers_start(recorder, error);
	if (status >= 0 && options->sampling.off_cpu)
		status = pd_offcpu_new(&recorder->options, &recorder->offcpu, error);
	if (status < 0)
		pd_recorder_close(recorder);
	else
		*recorder_out = recorder;
	return status;
}

void pd_recorder_close(struct pd_recorder *recorder)
{
	if (!recorder)
		return;
	fini_pulled(recorder);
	pd_store_feed_free(recorder->feed);
	pd_workers_end(recorder);
	pd_session_abort(recorder);
	pd_recorder_close_cgroups(recorder);
	pd_command_fini(&recorder->command, false);
	for (size_t i = 0; i < recorder->ring_count; i++)
		pd_ring_fini(&recorder->rings[i]);
	pd_free(recorder->rings);
	pd_config_fini(&recorder->config);
	pd_threads_fini(&recorder->threads);
	pd_cpus_fini(&recorder->cpus);
	pd_ring_counts_fini(&recorder->counts);
	pd_offcpu_free(recorder->offcpu);
	if (recorder->wake >= 0)
		close(recorder->wake);
	for (size_t i = 0; i < recorder->kept_count; i++)
		free(recorder->kept[i]);
	pd_free(recorder->kept);
	free(recorder->path);
	pd_free(recorder);
}

// ---- from other threads ----

static void wake(struct pd_recorder *recorder)
{
	uint64_t one = 1;
	ssize_t done = write(recorder->wake, &one, sizeof(one));

	(void)done; // full: it is awake
}

void pd_recorder_stop(struct pd_recorder *recorder)
{
	int saved = errno;

	recorder->stop = true;
	wake(recorder);
	errno = saved;
}

void pd_recorder_switch(struct pd_recorder *recorder)
{
	int saved = errno;

	recorder->switch_now = true;
	wake(recorder);
	errno = saved;
}

void pd_recorder_enable(struct pd_recorder *recorder, bool enable, const char *name)
{
	pd_recorder_enable_all(recorder, enable, name);
}

void pd_recorder_set_store(struct pd_recorder *recorder, const char *store, const struct pd_store_profile *profile)
{
	recorder->store = store;
	recorder->store_profile = profile;
}

const char *pd_recorder_event_name(const struct pd_recorder *recorder, size_t index)
{
	return index < recorder->config.event_count ? recorder->config.events[index].name : NULL;
}

// ---- the loop ----

static enum pd_status add_to_epoll(struct loop *loop, int fd, int about, struct pd_error *error)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = about };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return PD_OK;
	return pd_fail_system(error, errno, "cannot wait for events");
}

static enum pd_status begin_loop(struct loop *loop, struct pd_error *error)
{
	struct pd_recorder *recorder = loop->recorder;
	enum pd_status status;

	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0)
		return pd_fail_system(error, errno, "cannot wait for events");
	status = add_to_epoll(loop, recorder->wake, ABOUT_WAKE, error);
	for (size_t i = 0; i < recorder->ring_count && status >= 0; i++, loop->live++)
		status = add_to_epoll(loop, recorder->rings[i].alive, (int)i, error);
	if (recorder->command.pid)
		loop->child = (int)syscall(SYS_pidfd_open, recorder->command.pid, 0);
	if (status >= 0 && loop->child >= 0)
		status = add_to_epoll(loop, loop->child, ABOUT_CHILD, error);
	return status;
}

static void end_loop(struct loop *loop)
{
	if (loop->child >= 0)
		close(loop->child);
	if (loop->epoll >= 0)
		close(loop->epoll);
}

static int earlier(int wait_ms, uint64_t now, uint64_t when)
{
	uint64_t left = when > now ? (when - now + 999999) / 1000000 : 0;

	return when && left < (uint64_t)wait_ms ? (int)left : wait_ms;
}

static uint64_t end_of(const struct loop *loop)
{
	uint64_t most = loop->recorder->options.session.max_ns;

	return most ? loop->start_ns + most : 0;
}

static int wait_ms(const struct loop *loop)
{
	const struct pd_recorder *recorder = loop->recorder;
	const struct pd_session *session = &recorder->options.session;
	uint64_t now = pd_now_ns();
	int most = recorder->options.live                        ? LIVE_WAIT_MS :
		   recorder->options.output.mode == PD_MODE_PIPE ? PIPE_WAIT_MS :
								   FILE_WAIT_MS;

	if (recorder->command.pid && loop->child < 0)
		most = CHILD_WAIT_MS;
	most = earlier(earlier(most, now, end_of(loop)), now, loop->enable_ns);
	return session->switch_ns ? earlier(most, now, recorder->begin_ns + session->switch_ns) : most;
}

// A thread that ended hangs up, and would never stop saying so; its ring may be that of others, too.
static enum pd_status hang_up(struct loop *loop, int index, struct pd_error *error)
{
	struct pd_ring *ring = &loop->recorder->rings[index];

	if (epoll_ctl(loop->epoll, EPOLL_CTL_DEL, ring->alive, NULL) < 0)
		return pd_fail_system(error, errno, "cannot wait for events");
	if (pd_recorder_next_alive(loop->recorder, ring))
		return add_to_epoll(loop, ring->alive, index, error);
	loop->live--;
	return PD_OK;
}

static enum pd_status wait_for(struct loop *loop, struct pd_error *error)
{
	struct epoll_event events[MOST_EVENTS];
	enum pd_status status = PD_OK;
	int count = epoll_wait(loop->epoll, events, MOST_EVENTS, wait_ms(loop));
	uint64_t number;

	if (count < 0 && errno != EINTR)
		return pd_fail_system(error, errno, "cannot wait for events");
	loop->recorder->recorded.wakeups++;
	for (int i = 0; i < count && status >= 0; i++) {
		int about = events[i].data.fd;

		if (about == ABOUT_WAKE) {
			ssize_t got = read(loop->recorder->wake, &number, sizeof(number));

			(void)got;
		} else if (about >= 0 && events[i].events & (EPOLLHUP | EPOLLERR)) {
			status = hang_up(loop, about, error);
		}
	}
	return status;
}

static bool is_over(struct loop *loop)
{
	struct pd_recorder *recorder = loop->recorder;
	const struct pd_session *session = &recorder->options.session;

	if (recorder->stop || (recorder->command.pid && pd_command_has_ended(&recorder->command)))
		return true;
	if (session->max_size && pd_session_size(recorder) >= session->max_size)
		return true;
	if (session->max_ns && pd_now_ns() >= end_of(loop))
		return true;
	// a command tells its end itself
	return !loop->live && !recorder->command.pid;
}

static void enable_if_due(struct loop *loop)
{
	if (!loop->enable_ns || pd_now_ns() < loop->enable_ns)
		return;
	pd_recorder_enable_all(loop->recorder, true, NULL);
	loop->enable_ns = 0;
}

static bool switches(const struct pd_session *session)
{
	return session->switch_size || session->switch_ns || session->switch_on_call;
}

static bool is_switch_due(struct pd_recorder *recorder)
{
	const struct pd_session *session = &recorder->options.session;

	if (!switches(session) || !recorder->path)
		return false;
	if (session->switch_on_call && atomic_exchange(&recorder->switch_now, false))
		return true;
	if (session->switch_size && pd_session_size(recorder) >= session->switch_size)
		return true;
	return session->switch_ns && pd_now_ns() - recorder->begin_ns >= session->switch_ns;
}

// The next file begins where this one ends; what runs by then is described anew.
static enum pd_status switch_file(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = pd_session_keep(recorder, error);

	return status < 0 ? status : pd_session_begin(recorder, error);
}

static enum pd_status go_on(struct loop *loop, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (status >= 0 && !is_over(loop)) {
		status = wait_for(loop, error);
		enable_if_due(loop);
		if (status >= 0)
			status = pd_session_drain(loop->recorder, false, error);
		if (status >= 0 && is_switch_due(loop->recorder))
			status = switch_file(loop->recorder, error);
	}
	return status;
}

// With switching every file gets a name of its own, the last one too.
static enum pd_status end_session(struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_session *session = &recorder->options.session;
	enum pd_status status;

	if (switches(session) || session->timestamp_filename)
		return pd_session_keep(recorder, error);
	status = pd_session_end(recorder, error);
	// what is pulled may go on in the same file
	if (status >= 0 && recorder->path && !recorder->pulled)
		pd_session_feed(recorder, recorder->path);
	return status;
}

// Lets the command begin, and enables what its exec does not.
static enum pd_status start(struct loop *loop, struct pd_error *error)
{
	struct pd_recorder *recorder = loop->recorder;
	int64_t delay = recorder->options.session.delay_ms;
	enum pd_status status = PD_OK;

	loop->start_ns = pd_now_ns();
	if (!delay && !recorder->config.command_execs)
		pd_recorder_enable_all(recorder, true, NULL);
	if (delay > 0)
		loop->enable_ns = loop->start_ns + (uint64_t)delay * 1000000;
	if (recorder->command.pid) {
		status = pd_command_start(&recorder->command, error);
		recorder->recorded.command_errno = recorder->command.failure;
		recorder->recorded.command_ran = !recorder->command.failure;
	}
	return status;
}

// Of this thread: the command is none of it, it was forked before.
static enum pd_status take_priority(const struct pd_recorder *recorder, struct pd_error *error)
{
	struct sched_param parameter = { .sched_priority = recorder->options.session.priority };

	if (!parameter.sched_priority || sched_setscheduler(0, SCHED_FIFO, &parameter) == 0)
		return PD_OK;
	return pd_fail_system(error, errno, "cannot set the priority %d", parameter.sched_priority);
}

static void note_command(struct pd_recorder *recorder)
{
	if (!recorder->command.pid)
		return;
	// as perf does it: what was started for the recording ends with it
	recorder->recorded.command_ended = pd_command_has_ended(&recorder->command);
	recorder->recorded.command_status = recorder->command.status;
	pd_command_end(&recorder->command);
}

static enum pd_status begin(struct loop *loop, struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = take_priority(recorder, error);

	*loop = (struct loop){ .recorder = recorder, .epoll = -1, .child = -1 };
	if (status >= 0)
		status = pd_session_begin(recorder, error);
	if (status >= 0)
		status = begin_loop(loop, error);
	return status < 0 ? status : start(loop, error);
}

// Also after an error: what there is stays.
static enum pd_status end(struct loop *loop, enum pd_status status, struct pd_error *error)
{
	struct pd_recorder *recorder = loop->recorder;
	struct pd_error own;

	pd_recorder_enable_all(recorder, false, NULL);
	if (recorder->writer || recorder->live) {
		enum pd_status ended = end_session(recorder, status >= 0 ? error : &own);

		status = status >= 0 ? ended : status;
	}
	end_loop(loop);
	note_command(recorder);
	return status;
}

void pd_recorder_state(const struct pd_recorder *recorder, struct pd_recorded *recorded_out)
{
	*recorded_out = recorder->recorded;
	recorded_out->samples = recorder->counts.samples + (recorder->offcpu ? pd_offcpu_samples(recorder->offcpu) : 0);
	if (!recorded_out->lost)
		recorded_out->lost = recorder->counts.lost + recorder->counts.lost_samples;
}

enum pd_status pd_recorder_run(struct pd_recorder *recorder, struct pd_recorded *recorded_out, struct pd_error *error)
{
	struct loop loop;
	enum pd_status status = begin(&loop, recorder, error);

	if (status >= 0)
		status = go_on(&loop, error);
	status = end(&loop, status, error);
	pd_session_end_feed(recorder);
	pd_recorder_state(recorder, recorded_out);
	return status;
}

// ---- read while it is made ----

static enum pd_status keep_bytes(void *self, const void *data, size_t size, struct pd_error *error)
{
	struct pd_pulled *pulled = self;

	return pd_backlog_put(&pulled->backlog, data, size) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status step(struct pd_pulled *pulled, struct pd_error *error)
{
	struct pd_recorder *recorder = pulled->loop.recorder;
	enum pd_status status = wait_for(&pulled->loop, error);

	enable_if_due(&pulled->loop);
	if (status >= 0)
		status = pd_session_drain(recorder, false, error);
	if (status < 0 || is_over(&pulled->loop)) {
		pulled->ended = true;
		return end(&pulled->loop, status, error);
	}
	if (!atomic_exchange(&recorder->switch_now, false))
		return PD_OK;
	pulled->paused = true;
	return end_session(recorder, error);
}

static enum pd_status step_and_flush(struct pd_pulled *pulled, struct pd_error *error)
{
	enum pd_status status = step(pulled, error);

	pd_backlog_flush(&pulled->backlog);
	return status;
}

static enum pd_status pull(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error)
{
	struct pd_pulled *pulled = self;
	enum pd_status status = PD_OK;
	bool wait = pulled->worker.started;

	while (!(*got_out = pd_backlog_take(&pulled->backlog, data, size, wait)) && !wait && !pulled->paused &&
	       !pulled->ended && status >= 0)
		status = step_and_flush(pulled, error);
	if (*got_out || !wait)
		return status;
	pd_worker_join(&pulled->worker);
	if (pulled->status < 0 && error)
		*error = pulled->error;
	return pulled->status;
}

// ---- on a thread of its own ----

static void run_drainer(void *self)
{
	struct pd_pulled *pulled = self;

	pulled->status = take_priority(pulled->loop.recorder, &pulled->error);
	while (pulled->status >= 0 && !pulled->paused && !pulled->ended && !pd_backlog_is_left(&pulled->backlog))
		pulled->status = step_and_flush(pulled, &pulled->error);
	pd_backlog_end(&pulled->backlog);
}

// The priority is for emptying rings. Who reads may take a CPU for long, which would not be left to another thread of the same priority.
static void give_priority_back(const struct pd_recorder *recorder)
{
	if (recorder->options.session.priority)
		sched_setscheduler(0, recorder->pulled->usual_policy, &recorder->pulled->usual);
}

// Without another thread who reads goes on to record.
static void start_drainer(struct pd_recorder *recorder)
{
	struct pd_pulled *pulled = recorder->pulled;

	if (!recorder->has_drainer || pulled->ended || pulled->worker.started)
		return;
	// what there is before anybody reads does not wait
	pulled->backlog.most = BACKLOG_MOST;
	if (pd_worker_start(&pulled->worker, run_drainer, pulled) == 0)
		give_priority_back(recorder);
	else
		pulled->backlog.most = 0;
}

void pd_recorder_end_drainer(struct pd_recorder *recorder)
{
	if (!recorder->pulled || !recorder->pulled->worker.started)
		return;
	pd_backlog_leave(&recorder->pulled->backlog);
	pd_recorder_stop(recorder);
	pd_worker_join(&recorder->pulled->worker);
}

static enum pd_status begin_pulled(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_pulled *pulled = pd_alloc(sizeof(*pulled));
	enum pd_status status;

	if (!pulled)
		return pd_fail_memory(error);
	pd_backlog_init(&pulled->backlog);
	pulled->usual_policy = sched_getscheduler(0);
	sched_getparam(0, &pulled->usual);
	recorder->pulled = pulled;
	recorder->options.live = keep_bytes;
	recorder->options.live_self = pulled;
	status = begin(&pulled->loop, recorder, error);
	pd_backlog_flush(&pulled->backlog);
	if (status < 0) {
		pulled->ended = true;
		end(&pulled->loop, status, error);
	}
	return status;
}

static void fini_pulled(struct pd_recorder *recorder)
{
	struct pd_pulled *pulled = recorder->pulled;
	struct pd_error unwanted;

	if (!pulled)
		return;
	// nobody reads the rest
	pd_recorder_end_drainer(recorder);
	if (!pulled->ended)
		end(&pulled->loop, PD_OK, &unwanted);
	pd_backlog_fini(&pulled->backlog);
	pd_free(pulled);
	recorder->pulled = NULL;
}

enum pd_status pd_recorder_open_file(struct pd_recorder *recorder, const struct pd_open_options *options,
				     struct pd_file **file_out, struct pd_error *error)
{
	struct pd_pulled *pulled = recorder->pulled;
	enum pd_status status = PD_OK;

	if (!pulled && recorder->options.live)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the recording is taken by a function already");
	if (!pulled) {
		status = begin_pulled(recorder, error);
	} else if (pulled->ended) {
		return PD_END;
	} else if (pulled->paused) {
		pulled->paused = false;
		pd_backlog_restart(&pulled->backlog);
		status = pd_session_begin(recorder, error);
		pd_backlog_flush(&pulled->backlog);
	}
	if (status >= 0)
		start_drainer(recorder);
	return status < 0 ? status : pd_file_open_pull(pull, recorder->pulled, "live", options, file_out, error);
}
