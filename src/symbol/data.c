/* SPDX-License-Identifier: MIT */
// Places of data, and lines of the cache.
#include "symbol/data.h"

#include "symbol/lookup.h"

static struct pd_location location_of(const struct pd_mapping *mapping, uint64_t addr)
{
	return (struct pd_location){
		.mapping = mapping,
		.object = mapping->object,
		.offset = mapping->by_offset ? addr - mapping->start + mapping->pgoff : addr,
		.begin = mapping->start,
		.end = mapping->end,
	};
}

struct pd_place pd_symbols_data(struct pd_symbols *symbols, const struct pd_mapping *mapping, unsigned cpumode,
				uint64_t addr)
{
	const struct pd_moment end = { PD_NEVER - 1, UINT64_MAX };
	struct pd_location location;

	if (mapping && mapping->object) {
		location = location_of(mapping, addr);
		return pd_symbols_at(symbols, &location, end, addr);
	}
	// variables of the kernel may be behind what was recorded of it
	if (cpumode == PD_CPUMODE_KERNEL)
		return pd_symbols_place(symbols, UINT32_MAX, cpumode, end, addr);
	return (struct pd_place){ .addr = addr, .recorded = addr };
}

static bool is_kernel(const struct pd_object *object)
{
	return object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_KSYMBOL;
}

uint64_t pd_data_offset(const struct pd_mapping *mapping, uint64_t addr)
{
	struct pd_location location;

	if (!mapping || !mapping->object || is_kernel(mapping->object))
		return addr;
	location = location_of(mapping, addr);
	return pd_lookup_has_no_file(&location) ? addr : addr - mapping->start + mapping->pgoff;
}

static bool has_identity(const struct pd_object *object)
{
	return object->maj || object->min || object->ino || object->ino_generation;
}

enum {
	ORDER_MODE = 61,
	ORDER_NO_MAP = 60, // after what is mapped
	ORDER_FILE = 59    // after memory without a file
};

// As perf: memory of the kernel, and what processes share, has one address for all; private memory without a file is of a process.
static uint64_t group_of(const struct pd_mapping *mapping, unsigned cpumode, uint32_t pid)
{
	const struct pd_object *object = mapping->object;

	if (has_identity(object))
		return UINT64_C(1) << ORDER_FILE | object->index;
	return cpumode != PD_CPUMODE_KERNEL && !(mapping->flags & PD_MASK(PD_MAP_SHARED)) ? pid : 0;
}

static uint64_t order_of(const struct pd_mapping *mapping, uint64_t group)
{
	const struct pd_object *object = mapping->object;

	if (!has_identity(object))
		return group;
	return UINT64_C(1) << ORDER_FILE | (uint64_t)(object->maj & 0xff) << 51 |
	       (uint64_t)(object->min & 0xfff) << 39 | (object->ino & ((UINT64_C(1) << 39) - 1));
}

struct pd_cache_line pd_cache_line_of(const struct pd_mapping *mapping, unsigned cpumode, uint32_t pid, uint64_t addr)
{
	const uint64_t mode = (uint64_t)(cpumode & 7) << ORDER_MODE;
	struct pd_cache_line line = { .addr = pd_data_offset(mapping, addr) & ~(uint64_t)(PD_CACHE_LINE_BYTES - 1) };

	if (mapping && mapping->object) {
		line.group = group_of(mapping, cpumode, pid);
		line.order = order_of(mapping, line.group) | mode;
		line.group |= mode;
	} else {
		line.group = line.order = UINT64_C(1) << ORDER_NO_MAP | mode;
	}
	return line;
}
