/* SPDX-License-Identifier: MIT */
/* Trees of threads, as perf report prints them and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <perfdata/json.h>
#include <perfdata/format.h>

#include "state/tasks.h"

enum {
	MAP_NAME_BYTES = 40,
	LEVEL_MOST = 256 /* that is shown: a damaged file could have as many levels as threads */
};

static bool is_memory(const char *path)
{
	static const char *const names[] = { "//anon", "/dev/zero", "/anon_hugepage", "[stack", "/SYSV", "[heap]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* As perf, code without a file is called by the list of its functions. */
static const char *name_of(const struct pd_mapping *mapping, char map_name[MAP_NAME_BYTES])
{
	if (mapping->object && is_memory(mapping->object->path) && mapping->prot & PD_MASK(PD_PROT_EXEC)) {
		snprintf(map_name, MAP_NAME_BYTES, "/tmp/perf-%" PRIu32 ".map", mapping->pid);
		return map_name;
	}
	return mapping->object ? mapping->object->path : mapping->symbol ? mapping->symbol : "";
}

static void print_string(struct pd_text *text, const char *string, bool escape)
{
	if (escape)
		pd_text_escaped(text, string, strlen(string));
	else
		pd_text_add(text, string);
}

static uint64_t offset_of(const struct pd_mapped_range *range)
{
	return range->mapping->pgoff + (range->start - range->mapping->start);
}

static void fill_rights(const struct pd_mapping *mapping, char rights[5])
{
	rights[0] = mapping->prot & PD_MASK(PD_PROT_READ) ? 'r' : '-';
	rights[1] = mapping->prot & PD_MASK(PD_PROT_WRITE) ? 'w' : '-';
	rights[2] = mapping->prot & PD_MASK(PD_PROT_EXEC) ? 'x' : '-';
	rights[3] = mapping->flags & PD_MASK(PD_MAP_SHARED) ? 's' : 'p';
	rights[4] = 0;
}

static void print_ranges(struct pd_text *text, const struct pd_tasks *tasks, const struct pd_listed_task *task,
			 int indent, bool escape)
{
	struct pd_mapped_range range;
	char rights[5], map_name[MAP_NAME_BYTES];

	for (uint64_t addr = 0; pd_tasks_next_range(tasks, (uint32_t)task->pid, &addr, &range);) {
		fill_rights(range.mapping, rights);
		pd_text_printf(text, "%*s  %" PRIx64 "-%" PRIx64 " %s %08" PRIx64 " %" PRIu64 " ", indent, "",
			       range.start, range.end, rights, offset_of(&range),
			       range.mapping->object ? range.mapping->object->ino : 0);
		print_string(text, name_of(range.mapping, map_name), escape);
		pd_text_add(text, "\n");
	}
}

void pd_print_tasks(struct pd_text *text, const struct pd_tasks *tasks, bool mmaps, bool escape)
{
	const struct pd_listed_task *task;

	pd_text_printf(text, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (size_t i = 0; (task = pd_tasks_at(tasks, i)) != NULL; i++) {
		char numbers[64];
		int level = task->level < LEVEL_MOST ? (int)task->level : LEVEL_MOST;
		int indent = snprintf(numbers, sizeof(numbers), "  %8" PRId32 " %8" PRId32 " %8" PRId32 " |", task->pid,
				      task->tid, task->parent) +
			     level;

		pd_text_printf(text, "%s%*s", numbers, level, "");
		print_string(text, task->comm, escape);
		pd_text_add(text, "\n");
		if (mmaps)
			print_ranges(text, tasks, task, indent, escape);
	}
}

static void put_number(struct pd_json *json, const char *name, int32_t number)
{
	pd_json_name(json, name);
	pd_text_printf(json->text, "%" PRId32, number);
}

static void put_ranges(struct pd_json *json, const struct pd_tasks *tasks, const struct pd_listed_task *task)
{
	struct pd_mapped_range range;
	char rights[5], map_name[MAP_NAME_BYTES];

	pd_json_open(json, "mmaps", '[');
	for (uint64_t addr = 0; pd_tasks_next_range(tasks, (uint32_t)task->pid, &addr, &range);) {
		fill_rights(range.mapping, rights);
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "start", range.start);
		pd_json_number(json, "end", range.end);
		pd_json_string(json, "rights", rights);
		pd_json_number(json, "offset", offset_of(&range));
		pd_json_number(json, "inode", range.mapping->object ? range.mapping->object->ino : 0);
		pd_json_string(json, "path", name_of(range.mapping, map_name));
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

void pd_json_tasks(struct pd_text *text, const struct pd_tasks *tasks, bool mmaps)
{
	const struct pd_listed_task *task;

	for (size_t i = 0; (task = pd_tasks_at(tasks, i)) != NULL; i++) {
		struct pd_json json = { .text = text };

		pd_json_open(&json, NULL, '{');
		put_number(&json, "pid", task->pid);
		put_number(&json, "tid", task->tid);
		put_number(&json, "parent", task->parent);
		pd_json_number(&json, "level", task->level);
		pd_json_string(&json, "comm", task->comm);
		if (mmaps)
			put_ranges(&json, tasks, task);
		pd_json_close(&json, '}');
		pd_text_add(text, "\n");
	}
}
