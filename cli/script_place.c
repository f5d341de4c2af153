/* SPDX-License-Identifier: MIT */
/*
 * Addresses: the instruction pointer, the call chain, the data address, and the object at each.
 * Symbols are not looked up, so each is [unknown].
 */
#include "script.h"

#include <stdio.h>

#define STARTS(text, prefix) (strncmp((text), "" prefix, sizeof(prefix) - 1) == 0)

static bool is_kernel(const struct pd_object *object)
{
	return object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE ||
	       object->kind == PD_OBJECT_KSYMBOL;
}

/* Memory without a file: an address in it has no offset. */
static bool is_nameless(const struct pd_location *location)
{
	const char *path = location->object->path;

	if (is_kernel(location->object))
		return false;
	if (location->mapping->flags & PD_MASK(PD_MAP_HUGETLB))
		return true;
	return location->object->kind == PD_OBJECT_ANON &&
	       (STARTS(path, "//anon") || STARTS(path, "/dev/zero") || STARTS(path, "/anon_hugepage") ||
		STARTS(path, "[stack") || STARTS(path, "/SYSV") || STARTS(path, "[heap]"));
}

/* What user code is called when it was found among the kernel's and the other way round. */
static unsigned other_mode(uint64_t addr, unsigned cpumode)
{
	if (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)
		return cpumode;
	return addr >> 63 ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

static bool locate(const struct script *script, const struct shot *shot, unsigned cpumode,
		   uint64_t addr, bool anywhere, struct pd_location *location)
{
	unsigned other = other_mode(addr, cpumode);
	bool found;

	if (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)
		return false;
	found = pd_world_locate(script->world, shot->pid, cpumode, shot->when, addr, location);
	if (!found && anywhere && other != cpumode)
		found = pd_world_locate(script->world, shot->pid, other, shot->when, addr, location);
	return found;
}

static void print_name(struct script *script, const struct pd_location *location)
{
	struct line *line = &script->line;

	if (location && (location->object->kind == PD_OBJECT_MODULE ||
			 location->object->kind == PD_OBJECT_KERNEL)) {
		line_foreign(line, script_kernel_name(script, location->object), 0);
	} else if (location && is_nameless(location) && location->mapping->executable) {
		line_word(line, "/tmp/perf-");
		line_signed(line, (int32_t)location->mapping->pid, 0, ' ');
		line_word(line, ".map");
	} else {
		line_foreign(line, location ? location->object->path : "[unknown]", 0);
	}
}

void script_dso(struct script *script, const struct shot *shot, unsigned cpumode, uint64_t addr,
		bool anywhere)
{
	struct pd_location location;
	bool found = locate(script, shot, cpumode, addr, anywhere, &location);

	line_char(&script->line, '(');
	print_name(script, found ? &location : NULL);
	line_char(&script->line, ')');
}

void script_ip(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;

	line_hex(line, shot->sample->ip, 16, ' ');
	if (shot->shown & FIELD_SYM)
		line_word(line, " [unknown]");
	if (shot->shown & FIELD_DSO) {
		line_char(line, ' ');
		script_dso(script, shot, shot->cpumode, shot->sample->ip, false);
	}
}

static void print_entry(struct script *script, const struct shot *shot, unsigned cpumode,
			uint64_t addr)
{
	struct line *line = &script->line;
	struct pd_location location;
	bool found = locate(script, shot, cpumode, addr, false, &location);
	uint64_t shown = addr;

	/* User code is shown by its place in the file. */
	if (found && !is_kernel(location.object) && !is_nameless(&location))
		shown = addr - location.mapping->start + location.mapping->pgoff;
	line_char(line, '\t');
	line_hex(line, shown, 16, ' ');
	if (shot->shown & FIELD_SYM)
		line_word(line, " [unknown]");
	if (shot->shown & FIELD_DSO) {
		line_word(line, " (");
		print_name(script, found ? &location : NULL);
		line_char(line, ')');
	}
	line_char(line, '\n');
}

/* False for a marker that ends the chain. */
static bool follow_marker(uint64_t marker, unsigned *cpumode)
{
	switch ((int64_t)marker) {
	case PD_CONTEXT_HV:
		*cpumode = PD_CPUMODE_HYPERVISOR;
		return true;
	case PD_CONTEXT_KERNEL:
		*cpumode = PD_CPUMODE_KERNEL;
		return true;
	case PD_CONTEXT_USER:
		*cpumode = PD_CPUMODE_USER;
		return true;
	}
	return false;
}

/* A chain with a marker that nobody knows is damaged: perf shows nothing of it. */
static size_t good_entries(struct pd_u64s chain, uint64_t most)
{
	unsigned cpumode;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < chain.count && count < most; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX)
			count++;
		else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED)
			return i;
		else if (!follow_marker(chain.items[i], &cpumode))
			return 0;
	}
	return i;
}

void script_chain(struct script *script, const struct shot *shot)
{
	struct pd_u64s chain = shot->sample->callchain;
	size_t count = good_entries(chain, script->max_stack);
	unsigned cpumode = PD_CPUMODE_USER;

	for (size_t i = 0; i < count; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX)
			print_entry(script, shot, cpumode, chain.items[i]);
		else
			follow_marker(chain.items[i], &cpumode);
	}
}

/* True if addr is an address that the event is about. */
static bool has_place(const struct pd_attr *attr)
{
	switch (attr->type) {
	case PD_TYPE_SOFTWARE:
		return attr->config == PD_SW_PAGE_FAULTS || attr->config == PD_SW_PAGE_FAULTS_MIN ||
		       attr->config == PD_SW_PAGE_FAULTS_MAJ;
	case PD_TYPE_HARDWARE:
		return (attr->config & PD_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
	}
	return false;
}

void script_addr(struct script *script, const struct shot *shot)
{
	struct line *line = &script->line;
	uint64_t addr = shot->sample->addr;

	line_hex(line, addr, 16, ' ');
	if (!has_place(shot->event->attr))
		return;
	if (shot->shown & FIELD_SYM)
		line_word(line, " [unknown]");
	if (shot->shown & FIELD_DSO) {
		line_char(line, ' ');
		script_dso(script, shot, shot->cpumode, addr, true);
	}
}
