/* SPDX-License-Identifier: MIT */
/*
 * Parses and applies the options that select samples.
 */
#include "select.h"

#include "front/cli.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

static bool add_name(struct name_list *list, const char *name, size_t length)
{
	char **names = realloc(list->names, (list->count + 1) * sizeof(*names));

	if (names)
		list->names = names;
	if (!names || !(names[list->count] = strndup(name, length))) {
		complain("out of memory");
		return false;
	}
	list->count++;
	return true;
}

/* A name on each line. */
static bool add_file(struct name_list *list, const char *option, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	bool fine = true;

	if (!file) {
		complain("option --%s: %s: %m", option, path);
		return false;
	}
	while (fine && (length = getline(&line, &room, file)) >= 0) {
		if (length && line[length - 1] == '\n')
			length--;
		fine = add_name(list, line, (size_t)length);
	}
	free(line);
	fclose(file);
	return fine;
}

static bool add_item(struct name_list *list, const char *option, const char *item, size_t length)
{
	static const char scheme[] = "file://";
	size_t front = sizeof(scheme) - 1;
	char *path;
	bool fine;

	if (length < front || memcmp(item, scheme, front) != 0)
		return add_name(list, item, length);
	path = strndup(item + front, length - front);
	if (!path) {
		complain("out of memory");
		return false;
	}
	fine = add_file(list, option, path);
	free(path);
	return fine;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool take_names(struct name_list *list, const char *option, const char *argument)
{
	if (!argument)
		return true;
	list->given = true;
	while (*argument) {
		size_t length = strcspn(argument, ",");

		if (!add_item(list, option, argument, length))
			return false;
		argument += length + (argument[length] == ',');
	}
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names), compare_names);
	return true;
}

static bool has_name(const struct name_list *list, const char *name)
{
	return list->count && bsearch(&name, list->names, list->count, sizeof(*list->names), compare_names);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static bool take_numbers(struct number_list *list, const char *option, const char *argument)
{
	const char *at = argument;
	char *rest;

	if (!argument)
		return true;
	list->given = true;
	list->numbers = calloc(strlen(argument) + 1, sizeof(*list->numbers));
	if (!list->numbers) {
		complain("out of memory");
		return false;
	}
	for (; *at; at = rest + (*rest == ',')) {
		long long number = strtoll(at, &rest, 10);

		/* -1 is the number of the kernel's own threads. */
		if (rest == at || (*rest && *rest != ',') || number < -1 || number > UINT32_MAX)
			break;
		list->numbers[list->count++] = (uint32_t)number;
	}
	if (*at || !list->count) {
		complain("option --%s: invalid list of numbers '%s'", option, argument);
		return false;
	}
	qsort(list->numbers, list->count, sizeof(*list->numbers), compare_numbers);
	return true;
}

static bool has_number(const struct number_list *list, uint32_t number)
{
	return bsearch(&number, list->numbers, list->count, sizeof(*list->numbers), compare_numbers);
}

static bool take_cpus(struct select *select, const char *argument)
{
	const char *at = argument;
	char *rest;

	if (!argument)
		return true;
	select->by_cpu = true;
	do {
		unsigned long first = strtoul(at, &rest, 10), last = first;

		if (rest != at && *rest == '-') {
			at = rest + 1;
			last = strtoul(at, &rest, 10);
		}
		if (rest == at || last < first || last >= CPU_WORDS * 64 || (*rest && *rest != ',')) {
			complain("option --cpu: invalid list of CPUs '%s'", argument);
			return false;
		}
		for (; first <= last; first++)
			select->cpus[first / 64] |= UINT64_C(1) << first % 64;
		at = rest + (*rest == ',');
	} while (*at);
	return true;
}

/* ---- conditions ---- */

struct pd_filter *select_condition(const char *option, const char *text)
{
	struct pd_filter *filter;
	struct pd_error error;

	if (pd_filter_new(text, &filter, &error) >= 0)
		return filter;
	complain("option --%s: %s", option, error.message);
	if (error.offset != PD_NO_OFFSET && !strchr(text, '\n')) {
		complain("  %s", text);
		complain("  %*s^", (int)error.offset, "");
	}
	return NULL;
}

static bool take_condition(struct select *select, const char *text)
{
	if (text)
		select->where = select_condition("where", text);
	return !text || select->where;
}

bool select_take(struct select *select, const struct select_options *options)
{
	select->events = options->event;
	return take_condition(select, options->where) && (!options->time || select_times(select, options->time)) &&
	       take_names(&select->comms, "comms", options->comms) &&
	       take_names(&select->comms, "comm", options->comm) && take_numbers(&select->pids, "pid", options->pid) &&
	       take_numbers(&select->tids, "tid", options->tid) && take_cpus(select, options->cpu) &&
	       take_names(&select->dsos, "dsos", options->dsos) && take_names(&select->dsos, "dso", options->dso) &&
	       take_names(&select->symbols, "symbols", options->symbols) &&
	       take_names(&select->symbols, "symbol", options->symbol);
}

static void free_names(struct name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
}

void select_fini(struct select *select)
{
	free_names(&select->comms);
	free_names(&select->dsos);
	free_names(&select->symbols);
	free(select->pids.numbers);
	free(select->tids.numbers);
	free(select->event_chosen);
	pd_filter_free(select->where);
	memset(select, 0, sizeof(*select));
}

/* ---- what depends on the file ---- */

/* Modifiers ("cycles:u") may be left out; the second half of a tracepoint's name may not. */
static bool is_called(const struct pd_event *event, const char *pattern)
{
	const char *colon = strrchr(event->name, ':');
	char bare[256];

	if (!strcmp(event->name, pattern) || !fnmatch(pattern, event->name, 0))
		return true;
	if (!colon || event->attr->type == PD_TYPE_TRACEPOINT ||
	    snprintf(bare, sizeof(bare), "%.*s", (int)(colon - event->name), event->name) >= (int)sizeof(bare))
		return false;
	return !fnmatch(pattern, bare, 0);
}

/* Names with commas in them ("cpu/event=0x3c,umask=0x1/") are found when they are the whole list. */
static bool is_listed(const char *list, const struct pd_event *event)
{
	char pattern[256];

	if (!strcmp(event->name, list))
		return true;
	while (*list) {
		size_t length = strcspn(list, ",");

		if (length < sizeof(pattern)) {
			snprintf(pattern, sizeof(pattern), "%.*s", (int)length, list);
			if (is_called(event, pattern))
				return true;
		}
		list += length + (list[length] == ',');
	}
	return false;
}

static enum pd_status refuse(struct select *select, struct pd_error *error, const char *format, const char *what)
{
	select->refused = true;
	if (error) {
		*error = (struct pd_error){ .status = PD_ERROR_ARGUMENT, .offset = PD_NO_OFFSET };
		snprintf(error->message, sizeof(error->message), format, what);
	}
	return PD_ERROR_ARGUMENT;
}

static enum pd_status choose_events(struct select *select, struct pd_file *file, struct pd_error *error)
{
	size_t count = pd_file_event_count(file), chosen = 0;

	if (!select->events)
		return PD_OK;
	free(select->event_chosen);
	select->event_count = 0;
	select->event_chosen = calloc(count + 1, sizeof(*select->event_chosen));
	if (!select->event_chosen) {
		refuse(select, error, "%s", "out of memory");
		select->refused = false;
		return PD_ERROR_MEMORY;
	}
	for (; select->event_count < count; select->event_count++) {
		bool listed = is_listed(select->events, pd_file_event(file, select->event_count));

		select->event_chosen[select->event_count] = listed;
		chosen += listed;
	}
	return chosen ? PD_OK : refuse(select, error, "option --event: no event is named '%s'", select->events);
}

static const char lacks_cpu[] = "no event records the CPU (record with -a or --sample-cpu)";

static void look_for_cpus(struct select *select, struct pd_file *file)
{
	select->lacks_cpu = select->by_cpu;
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CPU))
			select->lacks_cpu = false;
}

static enum pd_status check_cpus(struct select *select, struct pd_file *file, struct pd_error *error)
{
	look_for_cpus(select, file);
	return select->lacks_cpu ? refuse(select, error, "option --cpu: %s", lacks_cpu) : PD_OK;
}

static enum pd_status bind_condition(struct select *select, struct pd_file *file, struct pd_error *error)
{
	struct pd_error why;
	enum pd_status status = select->where ? pd_filter_bind(select->where, file, true, &why) : PD_OK;

	if (status == PD_ERROR_ARGUMENT)
		return refuse(select, error, "option --where: %.200s", why.message);
	if (status < 0 && error)
		*error = why;
	return status;
}

static void narrow(const struct select *select, struct pd_window *window)
{
	uint64_t from = UINT64_MAX, to = 0;
	bool open = !select->range_count;

	for (size_t i = 0; i < select->range_count; i++) {
		const struct time_range *range = &select->ranges[i];

		from = range->start < from ? range->start : from;
		to = range->end > to ? range->end : to;
		open |= !range->end;
	}
	if (select->range_count && from > window->from_ns)
		window->from_ns = from;
	if (!open && (!window->to_ns || to < window->to_ns))
		window->to_ns = to;
}

enum pd_status select_ready(struct select *select, struct pd_file *file, struct pd_window *window,
			    struct pd_error *error)
{
	enum pd_status status = choose_events(select, file, error);

	if (status == PD_OK)
		status = check_cpus(select, file, error);
	if (status == PD_OK)
		status = bind_condition(select, file, error);
	if (status == PD_OK)
		status = select_resolve_times(select, file, window, error);
	if (status == PD_OK)
		narrow(select, window);
	return status;
}

enum pd_status select_learn(struct select *select, struct pd_file *file, struct pd_error *error)
{
	look_for_cpus(select, file);
	return select->where ? pd_filter_bind(select->where, file, false, error) : PD_OK;
}

void select_tell_lack(const struct select *select, struct pd_file *file)
{
	struct pd_str lack = select->where ? pd_filter_lacks(select->where, file) : (struct pd_str){ 0 };

	if (lack.data)
		complain("option --where: no event records '%.*s'", (int)lack.length, lack.data);
	if (select->lacks_cpu)
		complain("option --cpu: %s", lacks_cpu);
}

/* ---- questions ---- */

/* As perf does it: one range takes samples without a time, which it has as 0 or as the end of all time. */
bool select_has_time(const struct select *select, uint64_t time_ns)
{
	if (!select->range_count || (select->range_count == 1 && !time_ns))
		return true;
	for (size_t i = 0; i < select->range_count; i++) {
		const struct time_range *range = &select->ranges[i];

		if (time_ns >= range->start && (!range->end || time_ns <= range->end))
			return true;
	}
	return false;
}

bool select_has_cpu(const struct select *select, uint32_t cpu)
{
	if (!select->by_cpu || cpu == UINT32_MAX)
		return !select->lacks_cpu;
	return cpu < CPU_WORDS * 64 && (select->cpus[cpu / 64] >> cpu % 64 & 1);
}

bool select_has_event(const struct select *select, const struct pd_event *event)
{
	if (!select->events)
		return true;
	if (!event)
		return false;
	return event->index < select->event_count ? select->event_chosen[event->index] :
						    is_listed(select->events, event);
}

bool select_has_thread(const struct select *select, uint32_t pid, uint32_t tid, const char *comm)
{
	char unknown[PD_THREAD_NAME_BYTES];

	if ((select->pids.given && !has_number(&select->pids, pid)) ||
	    (select->tids.given && !has_number(&select->tids, tid)))
		return false;
	if (!select->comms.given)
		return true;
	if (!comm)
		snprintf(unknown, sizeof(unknown), ":%" PRId32, (int32_t)tid);
	return has_name(&select->comms, comm ? comm : unknown);
}

bool select_has_where(const struct select *select, const struct pd_record *record, const struct pd_filter_names *names)
{
	return !select->where || pd_filter_takes(select->where, record, names);
}

static const char *candidate_name(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	const struct pd_candidate *candidate = self;

	(void)record;
	return what == PD_FILTER_COMM ? candidate->comm : NULL;
}

enum pd_choice select_choose(const struct select *select, const struct pd_candidate *candidate)
{
	struct pd_candidate own = *candidate;
	const struct pd_filter_names names = { &own, candidate_name };
	const struct pd_brief *brief = candidate->brief;

	if (!select_has_time(select, brief->time_ns) || !select_has_cpu(select, brief->cpu) ||
	    !select_has_event(select, candidate->event) || !select_has_where(select, candidate->record, &names))
		return PD_CHOICE_LEAVE;
	return select_has_thread(select, brief->pid, brief->tid, candidate->comm) ? PD_CHOICE_TAKE : PD_CHOICE_COUNT;
}

bool select_by_place(const struct select *select)
{
	return select->dsos.given || select->symbols.given;
}

static bool has_dso(const struct select *select, const struct pd_dso *dso)
{
	return dso && (has_name(&select->dsos, dso->name) || has_name(&select->dsos, dso->long_name));
}

/* Functions also go by the address of their start, as it was mapped. */
static bool has_function(const struct select *select, const struct pd_place *place)
{
	const struct pd_function *function = place->function;
	char start[24];

	if (!function)
		return false;
	snprintf(start, sizeof(start), "0x%" PRIx64, place->recorded - (place->addr - function->start));
	return has_name(&select->symbols, function->name) || has_name(&select->symbols, function->linker_name) ||
	       has_name(&select->symbols, start);
}

bool select_has_place(const struct select *select, const struct pd_place *place)
{
	return (!select->dsos.given || has_dso(select, place->dso)) &&
	       (!select->symbols.given || has_function(select, place));
}
