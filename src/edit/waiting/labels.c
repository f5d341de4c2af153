/* SPDX-License-Identifier: MIT */
/*
 * A call chain consists of addresses. Words in it are addresses too, where no kernel has code: between it and the markers of call
 * chains. KSYMBOL records give them names, as they do for code that the kernel makes while it runs.
 */
#include "edit/waiting/waiting.h"

#include <string.h>

#include "base/lookup/hash.h"
#include "write/write.h"

enum {
	LABEL_BYTES = 16,
	LABELS_MOST = 60000
};

static const uint64_t first_addr = UINT64_C(0xfffffffffff00000);

static enum pd_status write_label(struct pd_waiting *waiting, const struct pd_label *label, uint64_t time_ns,
				  struct pd_error *error)
{
	const struct pd_sample_id id = {
		.pid = UINT32_MAX, .tid = UINT32_MAX, .time_ns = time_ns, .id = waiting->id, .identifier = waiting->id
	};
	size_t length = strlen(label->name);
	const struct pd_ksymbol symbol = { .addr = label->addr,
					   .len = LABEL_BYTES,
					   .name = { label->name, (uint32_t)length, (uint32_t)((length + 8) & ~7u) },
					   .sample_id = &id };

	return pd_writer_output_status(pd_writer_add(waiting->writer, PD_RECORD_KSYMBOL, 0, &symbol, 0, error), error);
}

static bool add_label(struct pd_labels *labels, const char *name, uint64_t key)
{
	size_t size = strlen(name) + 1;
	// padded, as records have it
	char *copy = pd_arena_alloc(&labels->arena, (size + 7) & ~(size_t)7);

	if (!copy || !PD_GROW(labels->all, labels->capacity, labels->count + 1) ||
	    !pd_u64_map_set(&labels->map, key, labels->count + 1))
		return false;
	memcpy(copy, name, size);
	labels->all[labels->count] = (struct pd_label){ copy, first_addr + labels->count * LABEL_BYTES };
	labels->count++;
	return true;
}

bool pd_label_addr(struct pd_waiting *waiting, const char *name, uint64_t time_ns, uint64_t *addr_out,
		   struct pd_error *error)
{
	struct pd_labels *labels = &waiting->labels;
	uint64_t key = pd_hash(labels->map.seed, name, strlen(name));
	uint64_t number = pd_u64_map_find(&labels->map, key);

	if (!number && labels->count < LABELS_MOST) {
		if (!add_label(labels, name, key))
			return pd_fail_memory(error) >= 0;
		number = labels->count;
		if (write_label(waiting, &labels->all[number - 1], time_ns, error) < 0)
			return false;
	}
	// too many names: the last one stands for all others
	*addr_out = labels->all[number ? number - 1 : LABELS_MOST - 1].addr;
	return true;
}

void pd_labels_fini(struct pd_labels *labels)
{
	pd_free(labels->all);
	pd_u64_map_fini(&labels->map);
	pd_arena_fini(&labels->arena);
}
