/* SPDX-License-Identifier: MIT */
/*
 * Events of the slab allocator. There are as many addresses as memory that was allocated, so what is known of one is rarely in the
 * processor's cache: events are kept until there are some dozens, and all that they need is asked for before it is used.
 */
#include "kmem/kmem.h"

static void count_bytes(struct pd_kmem_row *row, uint64_t requested, uint64_t allocated)
{
	row->count++;
	row->requested += requested;
	row->allocated += allocated;
}

static enum pd_status take_caller(struct pd_kmem *kmem, const struct pd_kmem_slab_event *event, struct pd_kmem_row *row,
				  struct pd_error *error)
{
	struct pd_kmem_row *caller =
		pd_kmem_add(kmem, &kmem->slab_callers, &(struct pd_kmem_key){ .caller = event->caller }, error);

	if (!caller)
		return error->status;
	count_bytes(caller, event->requested, event->allocated);
	row->last_caller = caller;
	return PD_OK;
}

static enum pd_status take_alloc(struct pd_kmem *kmem, const struct pd_kmem_slab_event *event, struct pd_error *error)
{
	struct pd_kmem_row *row = event->row;

	if (!row)
		row = pd_kmem_add(kmem, &kmem->slabs, &(struct pd_kmem_key){ .addr = event->addr }, error);
	if (!row || (kmem->options.callers && take_caller(kmem, event, row, error) < 0))
		return error->status;
	count_bytes(row, event->requested, event->allocated);
	row->last_bytes = event->allocated;
	row->cpu = event->cpu;
	kmem->requested += event->requested;
	kmem->allocated += event->allocated;
	kmem->allocations++;
	return PD_OK;
}

static void take_free(struct pd_kmem *kmem, const struct pd_kmem_slab_event *event)
{
	struct pd_kmem_row *row = event->row;

	// it may have been allocated shortly before
	if (!row)
		row = pd_kmem_find(kmem, &kmem->slabs, &(struct pd_kmem_key){ .addr = event->addr });
	if (!row)
		return;
	kmem->freed += row->last_bytes;
	if (event->cpu != row->cpu) {
		row->pingpong++;
		if (row->last_caller)
			row->last_caller->pingpong++;
	}
	row->cpu = -1;
}

enum pd_status pd_kmem_slab_flush(struct pd_kmem *kmem, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < kmem->event_count; i++) {
		struct pd_kmem_slab_event *event = &kmem->slab_events[i];

		// rows stay where they are
		event->row = (struct pd_kmem_row *)(uintptr_t)pd_u64_map_find(&kmem->slabs.map,
									      event->addr); // NOLINT: a pointer
		__builtin_prefetch(event->row, 1);
	}
	for (size_t i = 0; i < kmem->event_count && status >= 0; i++) {
		const struct pd_kmem_slab_event *event = &kmem->slab_events[i];

		if (event->frees)
			take_free(kmem, event);
		else
			status = take_alloc(kmem, event, error);
	}
	kmem->event_count = 0;
	return status;
}

enum pd_status pd_kmem_slab_take(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	const uint64_t *values = sample->values; // as in the table of kmem.c
	struct pd_kmem_slab_event *event = &kmem->slab_events[kmem->event_count++];

	event->frees = sample->which >= PD_KMEM_KFREE;
	event->cpu = (int16_t)sample->brief.cpu;
	event->caller = values[0];
	event->addr = values[1];
	event->requested = event->frees ? 0 : values[2];
	event->allocated = event->frees ? 0 : values[3];
	pd_u64_map_prefetch(&kmem->slabs.map, event->addr);
	return kmem->event_count == PD_KMEM_EVENTS ? pd_kmem_slab_flush(kmem, error) : PD_OK;
}
