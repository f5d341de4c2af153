/* SPDX-License-Identifier: MIT */
/*
 * Which time of day the kernel's own clock of events has: no function tells it. So an event on this thread has the kernel write a
 * record with a time, of a name that is set to what it was, and the time of day is looked at before and after that.
 */
#include "record/inside.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Records of names come with their time after them.
static int open_names(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.sample_type = PERF_SAMPLE_TIME,
					.comm = 1,
					.sample_id_all = 1,
					.exclude_kernel = 1,
					.exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// The time of the only record, its last word; 0 if there is none.
static uint64_t time_in(struct pd_ring *ring)
{
	struct pd_ring_view view;
	uint64_t time = 0;

	if (pd_ring_peek(ring, &view) && view.pieces[0].size > sizeof(time)) {
		memcpy(&time, view.pieces[0].data + view.pieces[0].size - sizeof(time), sizeof(time));
		pd_ring_release(ring, &view);
	}
	return time;
}

bool pd_clock_compare(uint64_t *wall_ns_out, uint64_t *event_ns_out)
{
	struct pd_ring ring = { .fd = open_names() };
	char name[16];
	uint64_t before;

	*event_ns_out = 0;
	if (ring.fd < 0)
		return false;
	if (pd_ring_map(&ring, (size_t)sysconf(_SC_PAGESIZE), NULL) >= 0 && prctl(PR_GET_NAME, name) == 0) {
		before = time_of_day();
		prctl(PR_SET_NAME, name);
		*wall_ns_out = before + (time_of_day() - before) / 2;
		*event_ns_out = time_in(&ring);
	}
	pd_ring_fini(&ring);
	close(ring.fd);
	return *event_ns_out != 0;
}

uint64_t pd_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
