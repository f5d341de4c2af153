/* SPDX-License-Identifier: MIT */
/*
 * The rings of a recorder: one for each CPU, or for each thread where CPUs do not matter. Events of one CPU share a ring.
 * Where the user may not lock so much memory, all rings are made smaller, and the recorder says so.
 */
#include "record/inside.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "file/file.h"

enum {
	LEAST_RING = 32 << 10, // bytes
	USUAL_RING = 16 << 20,
	SMALL_RING = 512 << 10, // perf's own
	SIDE_BAND = 1 << 20,    // bytes a second, of what begins, ends and maps files
	KERNEL_STACK = 127,     // kernel.perf_event_max_stack, unless it was changed
	CONTEXTS = 8,           // marks between the parts of a chain
};

// Parts of a sample of which the largest size is known: 8 bytes each, and a chain.
#define PD_PLAIN_PARTS                                                                                             \
	(PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_TIME) |                 \
	 PD_MASK(PD_SAMPLE_TYPE_ADDR) | PD_MASK(PD_SAMPLE_TYPE_ID) | PD_MASK(PD_SAMPLE_TYPE_CPU) |                 \
	 PD_MASK(PD_SAMPLE_TYPE_PERIOD) | PD_MASK(PD_SAMPLE_TYPE_STREAM_ID) | PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER) | \
	 PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN))

// Bytes of its samples in a second. Only clocks tick evenly: of other events, and of samples of any size, it is USUAL_RING.
static uint64_t bytes_a_second(const struct pd_attr *attr)
{
	const uint64_t second_ns = 1000000000;
	uint64_t stack = attr->sample_max_stack ? attr->sample_max_stack : KERNEL_STACK, size = 8, rate;

	if (attr->type == PD_TYPE_SOFTWARE && attr->config == PD_SW_DUMMY &&
	    !PD_BITS(attr->flags, PD_ATTR_CONTEXT_SWITCH))
		return 0;
	if (!pd_attr_is_clock(attr) || !attr->sample_period || attr->sample_type & ~PD_PLAIN_PARTS ||
	    PD_BITS(attr->flags, PD_ATTR_CONTEXT_SWITCH) || PD_BITS(attr->flags, PD_ATTR_WRITE_BACKWARD))
		return USUAL_RING;
	rate = PD_BITS(attr->flags, PD_ATTR_FREQ) ? attr->sample_period : second_ns / attr->sample_period;
	size += 8 * (uint64_t)__builtin_popcountll(attr->sample_type);
	if (attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN))
		size += 8 * (stack + CONTEXTS);
	return rate < USUAL_RING / size ? rate * size : USUAL_RING;
}

// It is emptied once a second or when it is half full: what comes in two seconds fits. Making memory of what is never filled
// is most of the time in which a recorder starts.
static size_t needed_ring(const struct pd_config *config)
{
	uint64_t bytes = SIDE_BAND;
	size_t size = SMALL_RING;

	for (size_t i = 0; i < config->event_count && bytes < USUAL_RING; i++)
		bytes += bytes_a_second(&config->events[i].attr);
	while (size < USUAL_RING && size < 2 * bytes)
		size *= 2;
	return size;
}

// As much as helps, without taking more than a part of the memory.
static size_t usual_ring(const struct pd_recorder *recorder, size_t count)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t most = pages * page / 64 / (count ? count : 1);
	size_t size = needed_ring(&recorder->config);

	if (recorder->options.session.ring_bytes)
		return (size_t)recorder->options.session.ring_bytes;
	while (size > SMALL_RING && size > most)
		size /= 2;
	return size;
}

static struct pd_ring *find_ring(const struct pd_recorder *recorder, size_t thread, int32_t cpu,
				 const struct pd_rec_event *event)
{
	bool backward = event->attr.flags & PD_MASK(PD_ATTR_WRITE_BACKWARD);

	for (size_t i = 0; i < recorder->ring_count; i++) {
		struct pd_ring *ring = &recorder->rings[i];

		if (ring->cpu == cpu && ring->backward == backward && ring->offcpu == event->offcpu &&
		    (cpu >= 0 || ring->thread == thread))
			return ring;
	}
	return NULL;
}

static enum pd_status attach(struct pd_recorder *recorder, struct pd_rec_event *event, size_t at,
			     struct pd_error *error)
{
	int32_t cpu = recorder->cpus.items[at % recorder->cpus.count];
	size_t thread = at / recorder->cpus.count;
	bool backward = event->attr.flags & PD_MASK(PD_ATTR_WRITE_BACKWARD);
	struct pd_ring *ring = find_ring(recorder, thread, cpu, event);

	if (ring) {
		if (ioctl(event->fds[at], PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
			return pd_fail_system(error, errno, "%s: cannot share a ring", event->name);
		return PD_OK;
	}
	ring = &recorder->rings[recorder->ring_count];
	*ring = (struct pd_ring){ .fd = event->fds[at],
				  .cpu = cpu,
				  .thread = thread,
				  .backward = backward,
				  .offcpu = event->offcpu,
				  .alive = event->fds[at],
				  .place = (size_t)(event - recorder->config.events) * event->fd_count + at };
	if (pd_ring_map(ring, recorder->ring_bytes, error) < 0)
		return PD_ERROR_SYSTEM;
	recorder->ring_count++;
	return PD_OK;
}

bool pd_recorder_next_alive(const struct pd_recorder *recorder, struct pd_ring *ring)
{
	const struct pd_config *config = &recorder->config;
	size_t cpus = recorder->cpus.count, each = recorder->threads.count * cpus;

	while (++ring->place < config->event_count * each) {
		const struct pd_rec_event *event = &config->events[ring->place / each];
		size_t at = ring->place % each;

		ring->alive = event->fds[at];
		if (ring->alive >= 0 && find_ring(recorder, at / cpus, recorder->cpus.items[at % cpus], event) == ring)
			return true;
	}
	return false;
}

static enum pd_status attach_all(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_config *config = &recorder->config;

	for (size_t i = 0; i < config->event_count; i++)
		for (size_t at = 0; at < config->events[i].fd_count; at++)
			if (config->events[i].fds[at] >= 0 && attach(recorder, &config->events[i], at, error) < 0)
				return PD_ERROR_SYSTEM;
	return PD_OK;
}

static void unmap_rings(struct pd_recorder *recorder)
{
	while (recorder->ring_count)
		pd_ring_fini(&recorder->rings[--recorder->ring_count]);
}

// Without the right to lock so much memory, less will do, for all rings alike.
static enum pd_status map_rings(struct pd_recorder *recorder, struct pd_error *error)
{
	bool asked = recorder->options.session.ring_bytes != 0;
	size_t first = recorder->ring_bytes;
	enum pd_status status;
	int failure = 0;

	while ((status = attach_all(recorder, error)) < 0) {
		failure = errno;
		if ((failure != EPERM && failure != ENOMEM) || asked || recorder->ring_bytes / 2 < LEAST_RING)
			break;
		unmap_rings(recorder);
		recorder->ring_bytes /= 2;
	}
	if (status < 0 && failure == EPERM)
		return pd_fail_system(
			error, EPERM,
			"ring buffers of %zu KiB exceed the limit of locked memory: %s raise kernel.perf_event_mlock_kb or "
			"ulimit -l",
			recorder->ring_bytes >> 10, asked ? "use a smaller -m, or" : "");
	if (status >= 0 && recorder->ring_bytes < first && recorder->ring_bytes < SMALL_RING)
		pd_recorder_report(recorder, PD_WARNING, "mlock", "raise kernel.perf_event_mlock_kb or ulimit -l",
				   "ring buffers are reduced to %zu KiB by the limit of locked memory",
				   recorder->ring_bytes >> 10);
	return status;
}

enum pd_status pd_recorder_make_rings(struct pd_recorder *recorder, struct pd_error *error)
{
	size_t most = recorder->threads.count * recorder->cpus.count;
	size_t per_cpu = recorder->cpus.items[0] >= 0 ? recorder->cpus.count : most;

	// of each direction, and of those that wait
	recorder->rings = pd_alloc(3 * most * sizeof(*recorder->rings));
	if (!recorder->rings)
		return pd_fail_memory(error);
	recorder->ring_bytes = usual_ring(recorder, per_cpu);
	if (map_rings(recorder, error) < 0)
		return PD_ERROR_SYSTEM;
	return recorder->ring_count ? PD_OK :
				      pd_fail_system(error, ESRCH, "the process or thread to be recorded has exited");
}
