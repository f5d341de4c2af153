/* SPDX-License-Identifier: MIT */
// perf sched map: which thread runs on which CPU, with two characters for each thread, a line for each switch.
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"

#include <inttypes.h>

#include "base/text/text.h"

enum {
	CPU_WORDS = PD_SCHED_CPUS / 64,
	SHORT_NAME = 3,
	UNKNOWN_CPUS = 4
};

struct cpu_set {
	bool given;
	uint64_t words[CPU_WORDS];
};

struct map {
	struct pd_sched_pass pass;
	bool compact;
	struct cpu_set shown, colored;
	const char *pids;
	uint32_t cpu_count;
	uint16_t columns[PD_SCHED_CPUS]; // with compact, in the order of their first switches
	struct cpu_set placed;
	char next[2]; // abbreviation
	bool as_json, begun;
	struct pd_json json;
};

static bool has_cpu(const struct cpu_set *set, uint32_t cpu)
{
	return set->words[cpu / 64] >> cpu % 64 & 1;
}

static void add_cpu(struct cpu_set *set, uint32_t cpu)
{
	set->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

// "0-3,7"
static enum pd_status read_cpus(struct cpu_set *set, const char *list, struct pd_error *error)
{
	const char *at = list;

	for (set->given = list != NULL; at && *at;) {
		char *end;
		unsigned long from = strtoul(at, &end, 10), to = from;

		if (end != at && *end == '-') {
			at = end + 1;
			to = strtoul(at, &end, 10);
		}
		if (end == at || to < from || to >= PD_SCHED_CPUS || (*end && *end != ','))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is no list of CPUs, such as 0-3,7",
				       list);
		for (; from <= to; from++)
			add_cpu(set, (uint32_t)from);
		at = *end ? end + 1 : end;
	}
	return PD_OK;
}

// "1,2"
static enum pd_status check_pids(const char *list, struct pd_error *error)
{
	for (const char *at = list; at && *at;) {
		size_t digits = strspn(at, "0123456789");

		if (!digits || (at[digits] && at[digits] != ','))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "'%s' is no list of threads, such as 1,2", list);
		at += digits + (at[digits] == ',');
	}
	return PD_OK;
}

static bool is_colored(const struct map *map, const struct pd_sched_thread *thread)
{
	const char *at = map->pids;

	while (at && *at) {
		char *end;
		unsigned long pid = strtoul(at, &end, 10);

		if (end != at && pid == (unsigned long)thread->tid)
			return true;
		at = *end ? end + 1 : end;
	}
	return false;
}

// A0, B0, ... Z0, A1: the idle thread is a dot.
static char *name_thread(struct map *map, struct pd_sched_thread *thread)
{
	char *name = pd_arena_alloc(&map->pass.sched.arena, SHORT_NAME);

	if (!name)
		return NULL;
	thread->own = name;
	if (!strcmp(thread->comm, "swapper")) {
		name[0] = '.';
		name[1] = ' ';
		return name;
	}
	memcpy(name, map->next, sizeof(map->next));
	if (map->next[0] < 'Z') {
		map->next[0]++;
		return name;
	}
	map->next[0] = 'A';
	map->next[1] = (char)(map->next[1] < '9' ? map->next[1] + 1 : '0');
	return name;
}

static void print_colored(struct pd_text *text, const char *color, const char *string)
{
	pd_text_add(text, color ? color : "");
	pd_text_add(text, string);
	pd_text_add(text, color ? "\033[m" : "");
}

static const char *color_of(const struct map *map, const struct pd_sched_thread *thread)
{
	return thread && map->pids && is_colored(map, thread) ? "\033[34m" : NULL;
}

static void print_column(struct map *map, uint32_t cpu, uint32_t this_cpu)
{
	struct pd_text *text = map->pass.sched.text;
	const struct pd_sched_thread *thread = map->pass.cpus[cpu].thread;

	if (map->shown.given && !has_cpu(&map->shown, cpu))
		return;
	print_colored(text, cpu == this_cpu && has_cpu(&map->colored, cpu) ? "\033[41m" : NULL,
		      cpu == this_cpu ? "*" : " ");
	if (!thread) {
		pd_text_add(text, "   ");
		return;
	}
	print_colored(text, color_of(map, thread), thread->own);
	pd_text_char(text, ' ');
}

// The number of columns, of which compact has one more when a CPU switches for the first time.
static uint32_t count_columns(struct map *map, uint32_t cpu, bool *new_out)
{
	if (!map->compact)
		return map->pass.sched.max_cpu;
	*new_out = !has_cpu(&map->placed, cpu);
	if (*new_out) {
		add_cpu(&map->placed, cpu);
		map->columns[map->cpu_count++] = (uint16_t)cpu;
	}
	return map->cpu_count;
}

static void print_switch(struct map *map, uint32_t this_cpu, uint64_t time_ns, struct pd_sched_thread *thread,
			 bool new_name)
{
	struct pd_text *text = map->pass.sched.text;
	bool new_cpu = false;
	uint32_t columns = count_columns(map, this_cpu, &new_cpu);

	pd_text_add(text, "  ");
	for (uint32_t i = 0; i < columns; i++)
		print_column(map, map->compact ? map->columns[i] : i, this_cpu);
	if (!map->shown.given || has_cpu(&map->shown, this_cpu)) {
		pd_text_printf(text, "  %5" PRIu64 ".%06u secs ", time_ns / 1000000000,
			       (unsigned)(time_ns % 1000000000 / 1000));
		if (new_name || thread->renamed) {
			const char *color = color_of(map, thread);

			pd_text_printf(text, "%s%s => %s:%d%s", color ? color : "", (char *)thread->own, thread->comm,
				       thread->tid, color ? "\033[m" : "");
			thread->renamed = false;
		}
		if (new_cpu)
			pd_text_printf(text, " (CPU %u)", this_cpu);
	}
	pd_text_char(text, '\n');
}

static void begin_json(struct map *map)
{
	if (map->begun)
		return;
	map->begun = true;
	pd_json_open(&map->json, NULL, '{');
	pd_json_open(&map->json, "switches", '[');
}

static void json_switch(struct map *map, uint32_t cpu, uint64_t time_ns, const struct pd_sched_thread *thread)
{
	if (map->shown.given && !has_cpu(&map->shown, cpu))
		return;
	begin_json(map);
	pd_json_open(&map->json, NULL, '{');
	pd_json_number(&map->json, "time_ns", time_ns);
	pd_json_number(&map->json, "cpu", cpu);
	pd_json_string(&map->json, "name", thread->own);
	pd_sched_json_thread(&map->json, "thread", thread);
	pd_json_close(&map->json, '}');
}

// In a pipe it is known by the first switch.
static void set_cpu_count(struct pd_sched *sched)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(sched->file);
	bool known = cpus && cpus->available && cpus->available < PD_SCHED_CPUS;

	if (!sched->max_cpu)
		sched->max_cpu = known ? cpus->available : UNKNOWN_CPUS;
}

static enum pd_status take_point(struct pd_sched_pass *pass, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	struct map *map = (struct map *)pass;
	uint32_t cpu = sample->brief.cpu;
	struct pd_sched_thread *thread;
	bool new_name;

	if (sample->which != PD_SCHED_POINT_SWITCH)
		return PD_OK;
	set_cpu_count(&pass->sched);
	thread = pd_sched_find(&pass->sched, -1, (int32_t)sample->values[1], error);
	if (!thread)
		return error->status;
	if (cpu > pass->sched.max_cpu)
		pass->sched.max_cpu = cpu;
	new_name = !thread->own;
	if (new_name && !name_thread(map, thread))
		return pd_fail_memory(error);
	pass->cpus[cpu].thread = thread;
	if (map->as_json)
		json_switch(map, cpu, sample->brief.time_ns, thread);
	else
		print_switch(map, cpu, sample->brief.time_ns, thread, new_name);
	if (!pd_text_flush_large(pass->sched.text))
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return PD_OK;
}

static void end_json(struct map *map)
{
	begin_json(map);
	pd_json_close(&map->json, ']');
	pd_sched_json_bad(&map->pass, &map->json);
	pd_json_close(&map->json, '}');
	pd_text_char(map->json.text, '\n');
}

static enum pd_status print_map(struct map *map, struct pd_file *file, struct pd_text *text,
				const struct pd_sched_map_options *options, struct pd_error *error)
{
	enum pd_status status = read_cpus(&map->shown, options->cpus, error);

	if (status >= 0)
		status = read_cpus(&map->colored, options->color_cpus, error);
	if (status >= 0)
		status = check_pids(options->color_pids, error);
	if (status < 0)
		return status;
	map->compact = options->compact;
	map->pids = options->no_color ? NULL : options->color_pids;
	if (options->no_color)
		map->colored = (struct cpu_set){ 0 };
	map->pass.point = take_point;
	memcpy(map->next, "A0", 2);
	map->as_json = options->json;
	map->json.text = text;
	status = pd_sched_pass_run(&map->pass, file, text, options->thread_limit, error);
	if (status < 0)
		return status;
	if (map->as_json)
		end_json(map);
	else
		pd_sched_print_bad(&map->pass);
	return pd_text_failed(text) ? pd_fail_memory(error) : PD_OK;
}

enum pd_status pd_print_sched_map(struct pd_text *text, struct pd_file *file,
				  const struct pd_sched_map_options *options, struct pd_error *error)
{
	struct pd_sched_map_options all = { 0 };
	struct pd_error own;
	enum pd_status status;
	struct map *map;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_sched_map_options.size is 0");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	map = pd_alloc(sizeof(*map));
	if (!map)
		return pd_fail_memory(error);
	status = print_map(map, file, text, &all, error);
	pd_sched_pass_fini(&map->pass);
	pd_free(map);
	return status < 0 ? status : PD_OK;
}
