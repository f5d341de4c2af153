/* SPDX-License-Identifier: MIT */
#include "format/traits.h"

enum {
#define TRAITS(NAME, traits, text, task) TRAITS_##NAME,
#include "format/traits.def"
#undef TRAITS
};

enum {
	STATE = PD_TRAIT_STATE,
	KERNEL_STATE = PD_TRAIT_KERNEL_STATE,
	OF_THREAD = PD_TRAIT_OF_THREAD,
	OF_EVENT = PD_TRAIT_OF_EVENT,
	LOSS = PD_TRAIT_LOSS,
	AUX = PD_TRAIT_AUX,
	HEADER = PD_TRAIT_HEADER,
	SECTION = PD_TRAIT_SECTION,
	DESCRIBES = PD_TRAIT_DESCRIBES,
	COMPRESSED = PD_TRAIT_COMPRESSED,
	CHUNK = PD_TRAIT_CHUNK,
	UNALIGNED = PD_TRAIT_UNALIGNED,
	SIZED_BY_HEADER = PD_TRAIT_SIZED_BY_HEADER,
	MISC_UNSET = PD_TRAIT_MISC_UNSET
};

#define TASK_none 0, 0
#define TASK_OF(layout) offsetof(struct pd_##layout, pid), offsetof(struct pd_##layout, tid)
#define TASK_comm TASK_OF(comm)
#define TASK_task TASK_OF(task)
#define TASK_mmap TASK_OF(mmap)
#define TASK_mmap2 TASK_OF(mmap2)
#define TASK_namespaces TASK_OF(namespaces)
#define HAS_none PD_TRAIT_NONE
#define HAS_comm PD_TRAIT_TASK
#define HAS_task PD_TRAIT_TASK
#define HAS_mmap PD_TRAIT_TASK
#define HAS_mmap2 PD_TRAIT_TASK
#define HAS_namespaces PD_TRAIT_TASK

static const struct pd_traits all[] = {
#define TRAITS(NAME, traits, text, task) { (uint16_t)((traits) | HAS_##task), text, TASK_##task },
#include "format/traits.def"
#undef TRAITS
};

static const struct pd_traits none;

// A switch that the compiler turns into a table.
const struct pd_traits *pd_record_traits(uint32_t type)
{
	switch (type) {
#define TRAITS(NAME, traits, text, task) \
	case PD_RECORD_##NAME:           \
		return &all[TRAITS_##NAME];
#include "format/traits.def"
#undef TRAITS
	default:
		return &none;
	}
}
