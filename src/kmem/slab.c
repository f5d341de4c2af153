/* SPDX-License-Identifier: MIT */
// Events of the slab allocator.
#include "kmem/kmem.h"

static void count_bytes(struct pd_kmem_row *row, uint64_t requested, uint64_t allocated)
{
	row->count++;
	row->requested += requested;
	row->allocated += allocated;
}

enum pd_status pd_kmem_slab_alloc(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample,
				  struct pd_error *error)
{
	const uint64_t *values = sample->values; // as in the table of kmem.c
	struct pd_kmem_row *row = pd_kmem_add(kmem, &kmem->slabs, &(struct pd_kmem_key){ .addr = values[1] }, error);
	struct pd_kmem_row *caller;

	if (!row)
		return error->status;
	caller = pd_kmem_add(kmem, &kmem->slab_callers, &(struct pd_kmem_key){ .caller = values[0] }, error);
	if (!caller)
		return error->status;
	count_bytes(row, values[2], values[3]);
	count_bytes(caller, values[2], values[3]);
	row->last_bytes = values[3];
	row->cpu = (int16_t)sample->brief.cpu;
	row->last_caller = caller;
	kmem->requested += values[2];
	kmem->allocated += values[3];
	kmem->allocations++;
	return PD_OK;
}

void pd_kmem_slab_free(struct pd_kmem *kmem, const struct pd_tracepoint_sample *sample)
{
	struct pd_kmem_row *row = pd_kmem_find(kmem, &kmem->slabs, &(struct pd_kmem_key){ .addr = sample->values[1] });

	if (!row)
		return;
	kmem->freed += row->last_bytes;
	if ((int16_t)sample->brief.cpu != row->cpu) {
		row->pingpong++;
		row->last_caller->pingpong++;
	}
	row->cpu = -1;
}
