/* SPDX-License-Identifier: MIT */
/*
 * A ring that the kernel fills. Its first page says how far the kernel came (data_head) and how far it was read
 * (data_tail); the data follow. See perf_event_open(2), "MMAP layout".
 */
#include "record/inside.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "format/record.h"

enum pd_status pd_ring_map(struct pd_ring *ring, size_t size, struct pd_error *error)
{
	int protection = ring->backward ? PROT_READ : PROT_READ | PROT_WRITE;
	void *base;

	ring->page_size = (size_t)sysconf(_SC_PAGESIZE);
	base = mmap(NULL, ring->page_size + size, protection, MAP_SHARED, ring->fd, 0);
	if (base == MAP_FAILED)
		return pd_fail_system(error, errno, "cannot map a ring buffer of %zu bytes", size);
	ring->base = base;
	ring->size = size;
	return PD_OK;
}

void pd_ring_fini(struct pd_ring *ring)
{
	if (ring->base)
		munmap(ring->base, ring->page_size + ring->size);
	ring->base = NULL;
}

static struct perf_event_mmap_page *page_of(const struct pd_ring *ring)
{
	return ring->base;
}

static const uint8_t *data_of(const struct pd_ring *ring)
{
	return (const uint8_t *)ring->base + ring->page_size;
}

static void set_pieces(const struct pd_ring *ring, struct pd_ring_view *view, uint64_t from, uint64_t size)
{
	size_t at = (size_t)(from & (ring->size - 1));
	size_t first = ring->size - at;

	if (first > size)
		first = (size_t)size;
	view->pieces[0] = (struct pd_bytes){ data_of(ring) + at, first };
	view->pieces[1] = (struct pd_bytes){ data_of(ring), (size_t)size - first };
}

// Backward rings grow downwards: the newest record is at the head, what was read before begins at the tail. A record that
// was overwritten in part ends the view.
static uint64_t size_of_backward(const struct pd_ring *ring, uint64_t head)
{
	uint64_t written = ring->tail - head;
	uint64_t at = head, end = head + (written < ring->size ? written : ring->size);

	while (at != end) {
		const uint8_t *record = data_of(ring) + (at & (ring->size - 1));
		uint16_t size = pd_load_u16(record + 6, false);

		if (size < PD_RECORD_HEADER_SIZE || size > end - at)
			break;
		at += size;
	}
	return at - head;
}

bool pd_ring_peek(struct pd_ring *ring, struct pd_ring_view *view)
{
	uint64_t head = __atomic_load_n(&page_of(ring)->data_head, __ATOMIC_ACQUIRE);

	view->head = head;
	if (head == ring->tail)
		return false;
	if (ring->backward)
		set_pieces(ring, view, head, size_of_backward(ring, head));
	else
		set_pieces(ring, view, ring->tail, head - ring->tail);
	return true;
}

uint64_t pd_ring_holds(const struct pd_ring *ring)
{
	return ring->backward ? 0 : __atomic_load_n(&page_of(ring)->data_head, __ATOMIC_ACQUIRE) - ring->tail;
}

void pd_ring_pause(const struct pd_ring *ring, bool pause)
{
	if (ring->backward)
		ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause ? 1 : 0);
}

void pd_ring_release(struct pd_ring *ring, const struct pd_ring_view *view)
{
	ring->tail = view->head;
	if (!ring->backward)
		__atomic_store_n(&page_of(ring)->data_tail, view->head, __ATOMIC_RELEASE);
}
