/* SPDX-License-Identifier: MIT */
/* A recorder that counts: reads what the kernel counted, and waits meanwhile. */
#include <perfdata/counter.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/inside.h"

enum {
	POLL_MS = 100,      // between two looks whether those who are counted still run
	CHILD_POLL_MS = 5,  // where the kernel cannot say that the command ended
	LAST_WAIT_MS = 1000 // for a command that was asked to end
};

bool pd_counter_event(const struct pd_recorder *recorder, size_t index, struct pd_counted *event_out)
{
	const struct pd_rec_event *event;

	if (index >= recorder->config.event_count)
		return false;
	event = &recorder->config.events[index];
	*event_out = (struct pd_counted){ .name = event->name,
					  .wanted = event->wanted,
					  .attr = &event->attr,
					  .supported = !event->refused,
					  .counts = event->counts };
	return true;
}

void pd_counter_places(const struct pd_recorder *recorder, struct pd_counter_places *places_out)
{
	*places_out = (struct pd_counter_places){ .threads = recorder->threads.items,
						  .thread_count = recorder->threads.count,
						  .cpus = recorder->cpus.items,
						  .cpu_count = recorder->cpus.count };
}

// ---- begin ----

enum pd_status pd_counter_start(struct pd_recorder *recorder, struct pd_recorded *recorded_out, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	recorder->counted_ns = pd_now_ns();
	if (!recorder->config.command_execs && !recorder->options.session.delay_ms)
		pd_recorder_enable_all(recorder, true, NULL);
	if (recorder->command.pid) {
		status = pd_command_start(&recorder->command, error);
		recorder->recorded.command_errno = recorder->command.failure;
		recorder->recorded.command_ran = !recorder->command.failure;
	}
	*recorded_out = recorder->recorded;
	return status;
}

void pd_counter_restart_time(struct pd_recorder *recorder)
{
	recorder->counted_ns = pd_now_ns();
}

// ---- wait ----

// Whether one of those who are counted still runs. Without any, there is always something.
static bool is_one_left(const struct pd_recorder *recorder)
{
	char path[64];

	if (!recorder->threads.count || recorder->threads.items[0] < 0 || recorder->options.targets.all)
		return true;
	for (size_t i = 0; i < recorder->threads.count; i++) {
		snprintf(path, sizeof(path), "/proc/%d", (int)recorder->threads.items[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static bool has_ended(struct pd_recorder *recorder)
{
	if (recorder->command.pid)
		return pd_command_has_ended(&recorder->command);
	return !is_one_left(recorder);
}

// Until the time, but not longer than until the next look.
static struct timespec time_left(const struct pd_recorder *recorder, uint64_t until_ns, int child)
{
	uint64_t now = pd_now_ns(), left = until_ns > now ? until_ns - now : 0;
	uint64_t most = UINT64_C(3600) * 1000000000;

	if (recorder->command.pid && child < 0)
		most = CHILD_POLL_MS * UINT64_C(1000000);
	else if (!recorder->command.pid && recorder->threads.count && recorder->threads.items[0] >= 0)
		most = POLL_MS * UINT64_C(1000000);
	left = left < most ? left : most;
	return (struct timespec){ .tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000) };
}

static enum pd_status wait_once(struct pd_recorder *recorder, uint64_t until_ns, int child, struct pd_error *error)
{
	struct pollfd fds[2] = { { .fd = recorder->wake, .events = POLLIN }, { .fd = child, .events = POLLIN } };
	struct timespec left = time_left(recorder, until_ns, child);
	uint64_t number;
	ssize_t got;

	if (ppoll(fds, 2, &left, NULL) < 0)
		return errno == EINTR ? PD_OK : pd_fail_system(error, errno, "cannot wait for the end");
	if (fds[0].revents) {
		got = read(recorder->wake, &number, sizeof(number));
		(void)got;
	}
	return PD_OK;
}

enum pd_status pd_counter_wait(struct pd_recorder *recorder, uint64_t until_ns, enum pd_counter_state *state_out,
			       struct pd_error *error)
{
	int child = -1;
	enum pd_status status = PD_OK;

	if (recorder->command.pid && !recorder->command.ended)
		child = (int)syscall(SYS_pidfd_open, recorder->command.pid, 0);
	*state_out = PD_COUNTER_RUNS;
	while (status >= 0) {
		if (has_ended(recorder))
			*state_out = PD_COUNTER_ENDED;
		else if (recorder->stop)
			*state_out = PD_COUNTER_STOPPED;
		if (*state_out != PD_COUNTER_RUNS || pd_now_ns() >= until_ns)
			break;
		status = wait_once(recorder, until_ns, child, error);
	}
	if (child >= 0)
		close(child);
	return status;
}

// ---- read ----

// A thread that ended keeps its counts; what cannot be read stays what it was.
static void read_one(int fd, struct pd_counter_value *count)
{
	uint64_t words[3];

	if (read(fd, words, sizeof(words)) == (ssize_t)sizeof(words))
		*count = (struct pd_counter_value){
			.value = words[0], .enabled_ns = words[1], .running_ns = words[2], .there = true
		};
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

// What no kernel counts. The times of the command are known when it has ended; nothing is a count, too.
static void measure(const struct pd_recorder *recorder, const struct pd_rec_event *event)
{
	const struct pd_command *command = &recorder->command;
	struct pd_counter_value *count = &event->counts[0];
	uint64_t ns = recorder->elapsed_ns;

	if (event->wanted->tool != PD_TOOL_DURATION_TIME) {
		if (!command->ended)
			return;
		ns = ns_of(event->wanted->tool == PD_TOOL_USER_TIME ? &command->usage.ru_utime :
								      &command->usage.ru_stime);
	}
	count->value = ns;
	count->enabled_ns = count->running_ns = ns ? ns : 1;
}

uint64_t pd_counter_elapsed_ns(const struct pd_recorder *recorder)
{
	return recorder->elapsed_ns;
}

static void read_event(const struct pd_recorder *recorder, struct pd_rec_event *event)
{
	bool is_tool = event->wanted && event->wanted->tool;

	for (size_t at = 0; at < event->fd_count; at++) {
		if (event->fds[at] < 0)
			continue;
		event->counts[at].there = true;
		if (is_tool)
			measure(recorder, event);
		else
			read_one(event->fds[at], &event->counts[at]);
	}
}

enum pd_status pd_counter_read(struct pd_recorder *recorder, struct pd_error *error)
{
	size_t places = recorder->threads.count * recorder->cpus.count;

	recorder->elapsed_ns = pd_now_ns() - recorder->counted_ns;
	for (size_t i = 0; i < recorder->config.event_count; i++) {
		struct pd_rec_event *event = &recorder->config.events[i];

		if (!event->counts)
			event->counts = pd_alloc(places * sizeof(*event->counts));
		if (!event->counts)
			return pd_fail_memory(error);
		read_event(recorder, event);
	}
	return PD_OK;
}

// ---- end ----

void pd_counter_end(struct pd_recorder *recorder, struct pd_recorded *recorded_out)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct pd_command *command = &recorder->command;

	// what is not the command's counts on, and groups are to be read as they are
	if (!recorder->config.command_execs)
		pd_recorder_enable_all(recorder, false, NULL);
	if (command->pid) {
		recorder->recorded.command_ended = pd_command_has_ended(command);
		pd_command_end(command);
		for (int i = 0; i < LAST_WAIT_MS && command->started && !pd_command_has_ended(command); i++)
			nanosleep(&moment, NULL);
		recorder->recorded.command_status = command->status;
	}
	*recorded_out = recorder->recorded;
}

void pd_counter_text(const struct pd_recorder *recorder, struct pd_text *text)
{
	struct pd_counter_places places;
	struct pd_counted counted;

	pd_counter_places(recorder, &places);
	for (size_t i = 0; pd_counter_event(recorder, i, &counted); i++)
		for (size_t at = 0; counted.counts && at < places.thread_count * places.cpu_count; at++)
			if (counted.counts[at].there)
				pd_text_printf(text, "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counted.name,
					       counted.counts[at].value, counted.counts[at].enabled_ns,
					       counted.counts[at].running_ns);
}
