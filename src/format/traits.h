/* SPDX-License-Identifier: MIT */
/* What a type of record is, see traits.def: asked for instead of lists of types. */
#ifndef PD_FORMAT_TRAITS_H
#define PD_FORMAT_TRAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <perfdata/format.h>

enum pd_trait {
	PD_TRAIT_NONE = 0,
	PD_TRAIT_STATE = 1 << 0,
	PD_TRAIT_KERNEL_STATE = 1 << 1,
	PD_TRAIT_OF_THREAD = 1 << 2,
	PD_TRAIT_OF_EVENT = 1 << 3,
	PD_TRAIT_AUX = 1 << 4,
	PD_TRAIT_HEADER = 1 << 5,
	PD_TRAIT_SECTION = 1 << 6,
	PD_TRAIT_DESCRIBES = 1 << 7,
	PD_TRAIT_COMPRESSED = 1 << 8,
	PD_TRAIT_CHUNK = 1 << 9,
	PD_TRAIT_UNALIGNED = 1 << 10,
	PD_TRAIT_SIZED_BY_HEADER = 1 << 11,
	PD_TRAIT_MISC_UNSET = 1 << 12,
	PD_TRAIT_LOSS = 1 << 13,
	PD_TRAIT_TASK = 1 << 14 // pid and tid say which
};

struct pd_traits {
	uint16_t set;     // PD_TRAIT_...
	uint8_t text;     // offset in the record, or 0
	uint8_t pid, tid; // offsets in the decoded struct, for PD_TRAIT_TASK
};

// Of types that are not known: none of them. Never NULL.
const struct pd_traits *pd_record_traits(uint32_t type);

static inline bool pd_record_is(uint32_t type, enum pd_trait trait)
{
	return pd_record_traits(type)->set & trait;
}

// The task that a decoded record is about. False if its type is about none.
static inline bool pd_record_task(uint32_t type, const void *decoded, uint32_t *pid_out, uint32_t *tid_out)
{
	const struct pd_traits *traits = pd_record_traits(type);

	if (!(traits->set & PD_TRAIT_TASK))
		return false;
	*pid_out = *(const uint32_t *)(const void *)((const char *)decoded + traits->pid);
	*tid_out = *(const uint32_t *)(const void *)((const char *)decoded + traits->tid);
	return true;
}

#endif
