/* SPDX-License-Identifier: MIT */
/*
 * Parses and applies the options that select samples.
 */
#include "filter/select.h"

#include "base/error.h"
#include "base/memory.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

static enum pd_status fail_memory(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory");
}

static enum pd_status add_name(struct pd_name_list *list, const char *name, size_t length, struct pd_error *error)
{
	char *copy;

	if (!PD_GROW(list->names, list->capacity, list->count + 1) || !(copy = pd_alloc(length + 1)))
		return fail_memory(error);
	memcpy(copy, name, length);
	list->names[list->count++] = copy;
	return PD_OK;
}

/* A name on each line. */
static enum pd_status add_file(struct pd_name_list *list, const char *option, const char *path, struct pd_error *error)
{
	FILE *file = fopen(path, "re");
	enum pd_status status = PD_OK;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;

	if (!file)
		return pd_fail_system(error, errno, "option --%s: %s", option, path);
	while (status >= 0 && (length = getline(&line, &capacity, file)) >= 0) {
		if (length && line[length - 1] == '\n')
			length--;
		status = add_name(list, line, (size_t)length, error);
	}
	free(line);
	fclose(file);
	return status;
}

static enum pd_status add_item(struct pd_name_list *list, const char *option, const char *item, size_t length,
			       struct pd_error *error)
{
	static const char scheme[] = "file://";
	size_t front = sizeof(scheme) - 1;
	enum pd_status status;
	char *path;

	if (length < front || memcmp(item, scheme, front) != 0)
		return add_name(list, item, length, error);
	path = pd_alloc(length - front + 1);
	if (!path)
		return fail_memory(error);
	memcpy(path, item + front, length - front);
	status = add_file(list, option, path, error);
	pd_free(path);
	return status;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum pd_status parse_names(struct pd_name_list *list, const char *option, const char *argument,
				  struct pd_error *error)
{
	if (!argument)
		return PD_OK;
	list->given = true;
	while (*argument) {
		size_t length = strcspn(argument, ",");
		enum pd_status status = add_item(list, option, argument, length, error);

		if (status < 0)
			return status;
		argument += length + (argument[length] == ',');
	}
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names), compare_names);
	return PD_OK;
}

static bool has_name(const struct pd_name_list *list, const char *name)
{
	return list->count && bsearch(&name, list->names, list->count, sizeof(*list->names), compare_names);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static enum pd_status parse_numbers(struct pd_number_list *list, const char *option, const char *argument,
				    struct pd_error *error)
{
	const char *at = argument;
	char *rest;

	if (!argument)
		return PD_OK;
	list->given = true;
	list->numbers = pd_alloc((strlen(argument) + 1) * sizeof(*list->numbers));
	if (!list->numbers)
		return fail_memory(error);
	for (; *at; at = rest + (*rest == ',')) {
		long long number = strtoll(at, &rest, 10);

		/* -1 is the number of the kernel's own threads. */
		if (rest == at || (*rest && *rest != ',') || number < -1 || number > UINT32_MAX)
			break;
		list->numbers[list->count++] = (uint32_t)number;
	}
	if (*at || !list->count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "option --%s: invalid list of numbers '%s'",
			       option, argument);
	qsort(list->numbers, list->count, sizeof(*list->numbers), compare_numbers);
	return PD_OK;
}

static bool has_number(const struct pd_number_list *list, uint32_t number)
{
	return bsearch(&number, list->numbers, list->count, sizeof(*list->numbers), compare_numbers);
}

/* 0,2-3 as bits. False if it is none, or a number is too large. */
static bool parse_set(const char *argument, uint64_t *bits)
{
	const char *at = argument;
	char *rest;

	do {
		unsigned long first = strtoul(at, &rest, 10), last = first;

		if (rest != at && *rest == '-') {
			at = rest + 1;
			last = strtoul(at, &rest, 10);
		}
		if (rest == at || last < first || last >= PD_SELECT_CPU_WORDS * 64 || (*rest && *rest != ','))
			return false;
		for (; first <= last; first++)
			bits[first / 64] |= UINT64_C(1) << first % 64;
		at = rest + (*rest == ',');
	} while (*at);
	return true;
}

static bool has_bit(const uint64_t *bits, uint32_t number)
{
	return number < PD_SELECT_CPU_WORDS * 64 && (bits[number / 64] >> number % 64 & 1);
}

static enum pd_status parse_cpus(struct pd_select *select, const char *argument, struct pd_error *error)
{
	if (!argument)
		return PD_OK;
	select->by_cpu = true;
	return parse_set(argument, select->cpus) ? PD_OK :
						   pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
							   "option --cpu: invalid list of CPUs '%s'", argument);
}

static enum pd_status parse_levels(struct pd_select *select, const char *argument, struct pd_error *error)
{
	if (!argument)
		return PD_OK;
	select->levels = pd_alloc(PD_SELECT_CPU_WORDS * sizeof(*select->levels));
	if (!select->levels)
		return fail_memory(error);
	return parse_set(argument, select->levels) ?
		       PD_OK :
		       pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "option --parallelism: invalid list of numbers of threads '%s'", argument);
}

/* ---- options ---- */

static enum pd_status parse_condition(struct pd_select *select, const char *text, struct pd_error *error)
{
	struct pd_error why;
	enum pd_status status = text ? pd_filter_new(text, &select->where, &why) : PD_OK;

	return status < 0 ? pd_fail(error, status, why.offset, "option --where: %s", why.message) : PD_OK;
}

static enum pd_status parse_socket(struct pd_select *select, const char *argument, struct pd_error *error)
{
	unsigned long number;
	char *rest;

	if (!argument)
		return PD_OK;
	number = strtoul(argument, &rest, 10);
	if (rest == argument || *rest || *argument == '-' || number >= UINT32_MAX)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "option --socket-filter: '%s' is not the number of a socket", argument);
	select->by_socket = true;
	select->socket = (uint32_t)number;
	return PD_OK;
}

static enum pd_status parse_range(struct pd_select *select, const struct pd_select_options *options,
				  struct pd_error *error)
{
	const char *argument = options->addr_range;
	char *rest;

	if (!argument)
		return PD_OK;
	select->addr_range = strtoull(argument, &rest, 0);
	if (rest == argument || *rest || *argument == '-' || !select->addr_range)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "option --addr-range: '%s' is not a number of bytes", argument);
	if (!options->symbols && !options->symbol)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "option --addr-range needs --symbols with the addresses where it begins");
	return PD_OK;
}

static enum pd_status parse_options(struct pd_select *select, const struct pd_select_options *options,
				    struct pd_error *error)
{
	const struct {
		struct pd_name_list *list;
		const char *option, *argument;
	} names[] = {
		{ &select->comms, "comms", options->comms },       { &select->comms, "comm", options->comm },
		{ &select->dsos, "dsos", options->dsos },          { &select->dsos, "dso", options->dso },
		{ &select->symbols, "symbols", options->symbols }, { &select->symbols, "symbol", options->symbol },
	};
	const size_t before_numbers = 2; // the first mistake is reported
	enum pd_status status = parse_condition(select, options->where, error);

	if (status >= 0 && options->time)
		status = pd_select_times(select, options->time, error);
	if (status >= 0)
		status = parse_socket(select, options->socket, error);
	if (status >= 0)
		status = parse_range(select, options, error);
	if (status >= 0)
		status = parse_levels(select, options->parallelism, error);
	for (size_t i = 0; status >= 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		if (i == before_numbers && ((status = parse_numbers(&select->pids, "pid", options->pid, error)) < 0 ||
					    (status = parse_numbers(&select->tids, "tid", options->tid, error)) < 0 ||
					    (status = parse_cpus(select, options->cpu, error)) < 0))
			break;
		status = parse_names(names[i].list, names[i].option, names[i].argument, error);
	}
	return status;
}

enum pd_status pd_select_new(const struct pd_select_options *options, struct pd_select **select_out,
			     struct pd_error *error)
{
	struct pd_select_options own = { 0 };
	struct pd_select *select;
	enum pd_status status;

	*select_out = NULL;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
	select = pd_alloc(sizeof(*select));
	if (!select)
		return fail_memory(error);
	select->events = own.event;
	select->toggle = (struct pd_toggle){ .on = own.switch_on, .off = own.switch_off, .shown = own.show_switches };
	status = parse_options(select, &own, error);
	if (status < 0) {
		pd_select_free(select);
		return status;
	}
	*select_out = select;
	return PD_OK;
}

static void free_names(struct pd_name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		pd_free(list->names[i]);
	pd_free(list->names);
}

void pd_select_free(struct pd_select *select)
{
	if (!select)
		return;
	free_names(&select->comms);
	free_names(&select->dsos);
	free_names(&select->symbols);
	pd_free(select->pids.numbers);
	pd_free(select->tids.numbers);
	pd_free(select->event_chosen);
	pd_free(select->points);
	pd_free(select->levels);
	pd_filter_free(select->where);
	pd_free(select);
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

static enum pd_status choose_events(struct pd_select *select, struct pd_file *file, struct pd_error *error)
{
	size_t count = pd_file_event_count(file), chosen = 0;

	if (!select->events)
		return PD_OK;
	pd_free(select->event_chosen);
	select->event_count = 0;
	select->event_chosen = pd_alloc((count + 1) * sizeof(*select->event_chosen));
	if (!select->event_chosen)
		return fail_memory(error);
	for (; select->event_count < count; select->event_count++) {
		bool listed = is_listed(select->events, pd_file_event(file, select->event_count));

		select->event_chosen[select->event_count] = listed;
		chosen += listed;
	}
	return chosen ? PD_OK :
			pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "option --event: no event is named '%s'",
				select->events);
}

static void find_cpus(struct pd_select *select, struct pd_file *file)
{
	select->lacks_cpu = select->by_cpu;
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CPU))
			select->lacks_cpu = false;
}

static enum pd_status check_cpus(struct pd_select *select, struct pd_file *file, struct pd_error *error)
{
	find_cpus(select, file);
	return select->lacks_cpu ? pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
					   "option --cpu: no event records the CPU (record with -a or --sample-cpu)") :
				   PD_OK;
}

/* Recordings of other machines, and most pipes, do not say it. */
static enum pd_status check_sockets(struct pd_select *select, struct pd_file *file, struct pd_error *error)
{
	select->topology = select->by_socket ? pd_file_cpu_topology(file) : NULL;
	return !select->by_socket || select->topology ?
		       PD_OK :
		       pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "option --socket-filter: the file does not say which CPUs a socket has");
}

static enum pd_status bind_condition(struct pd_select *select, struct pd_file *file, struct pd_error *error)
{
	struct pd_error why;
	enum pd_status status = select->where ? pd_filter_bind(select->where, file, true, &why) : PD_OK;

	if (status == PD_ERROR_ARGUMENT)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "option --where: %.200s", why.message);
	if (status < 0 && error)
		*error = why;
	return status;
}

static void narrow(const struct pd_select *select, struct pd_window *window)
{
	uint64_t from = UINT64_MAX, to = 0;
	bool open = !select->range_count;

	for (size_t i = 0; i < select->range_count; i++) {
		const struct pd_time_range *range = &select->ranges[i];

		from = range->start < from ? range->start : from;
		to = range->end > to ? range->end : to;
		open |= !range->end;
	}
	if (select->range_count && from > window->from_ns)
		window->from_ns = from;
	if (!open && (!window->to_ns || to < window->to_ns))
		window->to_ns = to;
}

enum pd_status pd_select_ready(struct pd_select *select, struct pd_file *file, struct pd_window *window,
			       struct pd_error *error)
{
	enum pd_status status = choose_events(select, file, error);

	if (status == PD_OK)
		status = check_cpus(select, file, error);
	if (status == PD_OK)
		status = check_sockets(select, file, error);
	if (status == PD_OK)
		status = bind_condition(select, file, error);
	if (status == PD_OK)
		status = pd_select_resolve_times(select, file, window, error);
	if (status == PD_OK)
		status = pd_select_note_switches(select, file, error);
	if (status == PD_OK)
		narrow(select, window);
	return status;
}

enum pd_status pd_select_learn(struct pd_select *select, struct pd_file *file, struct pd_error *error)
{
	find_cpus(select, file);
	if (select->by_socket)
		select->topology = pd_file_cpu_topology(file);
	return select->where ? pd_filter_bind(select->where, file, false, error) : PD_OK;
}

/* ---- questions ---- */

bool pd_select_has_cpu(const struct pd_select *select, uint32_t cpu)
{
	if (!select->by_cpu || cpu == UINT32_MAX)
		return !select->lacks_cpu;
	return has_bit(select->cpus, cpu);
}

/* As perf: samples without a CPU are of no socket. */
static bool has_socket(const struct pd_select *select, uint32_t cpu)
{
	if (!select->by_socket)
		return true;
	return select->topology && cpu < select->topology->places.count &&
	       PD_ITEM(pd_cpu_place, select->topology->places, cpu)->package_id == select->socket;
}

bool pd_select_has_event(const struct pd_select *select, const struct pd_event *event)
{
	if (!select->events)
		return true;
	if (!event)
		return false;
	return event->index < select->event_count ? select->event_chosen[event->index] :
						    is_listed(select->events, event);
}

bool pd_select_has_thread(const struct pd_select *select, uint32_t pid, uint32_t tid, const char *comm)
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

bool pd_select_has_where(const struct pd_select *select, const struct pd_record *record,
			 const struct pd_filter_names *names)
{
	return !select->where || pd_filter_takes(select->where, record, names);
}

static const char *candidate_name(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	const struct pd_candidate *candidate = self;

	(void)record;
	return what == PD_FILTER_COMM ? candidate->comm : NULL;
}

enum pd_choice pd_select_choose(const struct pd_select *select, const struct pd_candidate *candidate)
{
	struct pd_candidate own = *candidate;
	const struct pd_filter_names names = { &own, candidate_name };
	const struct pd_brief *brief = candidate->brief;

	if (!pd_select_has_time(select, brief->time_ns) || !pd_select_is_switched_on(select, candidate->record) ||
	    !pd_select_has_cpu(select, brief->cpu) || !pd_select_has_event(select, candidate->event) ||
	    !pd_select_has_where(select, candidate->record, &names))
		return PD_CHOICE_LEAVE;
	return has_socket(select, brief->cpu) && (!select->levels || has_bit(select->levels, candidate->parallelism)) &&
			       pd_select_has_thread(select, brief->pid, brief->tid, candidate->comm) ?
		       PD_CHOICE_TAKE :
		       PD_CHOICE_COUNT;
}

bool pd_select_by_place(const struct pd_select *select)
{
	return select->dsos.given || select->symbols.given;
}

static bool has_dso(const struct pd_select *select, const struct pd_dso *dso)
{
	return dso && (has_name(&select->dsos, dso->name) || has_name(&select->dsos, dso->long_name));
}

/* Functions also go by the address of their start, as it was mapped. */
static bool has_function(const struct pd_select *select, const struct pd_place *place)
{
	const struct pd_function *function = place->function;
	char start[24];

	if (!function)
		return false;
	snprintf(start, sizeof(start), "0x%" PRIx64, place->recorded - (place->addr - function->start));
	return has_name(&select->symbols, function->name) || has_name(&select->symbols, function->linker_name) ||
	       has_name(&select->symbols, start);
}

/* As perf: addresses as they were recorded. */
static bool is_in_range(const struct pd_select *select, const struct pd_place *place)
{
	for (size_t i = 0; select->addr_range && i < select->symbols.count; i++) {
		const char *name = select->symbols.names[i];
		char *rest;
		uint64_t start = strtoull(name, &rest, 16);

		if (strncmp(name, "0x", 2) == 0 && !*rest && place->dso && place->recorded - start < select->addr_range)
			return true;
	}
	return false;
}

bool pd_select_has_place(const struct pd_select *select, const struct pd_place *place)
{
	return (!select->dsos.given || has_dso(select, place->dso)) &&
	       (!select->symbols.given || has_function(select, place) || is_in_range(select, place));
}

const struct pd_filter *pd_select_where(const struct pd_select *select)
{
	return select->where;
}

static const struct pd_name_list *list_of(const struct pd_select *select, enum pd_select_list list)
{
	switch (list) {
	case PD_SELECT_COMMS:
		return &select->comms;
	case PD_SELECT_DSOS:
		return &select->dsos;
	case PD_SELECT_SYMBOLS:
		break;
	}
	return &select->symbols;
}

bool pd_select_has_list(const struct pd_select *select, enum pd_select_list list)
{
	return list_of(select, list)->given;
}

const char *pd_select_only(const struct pd_select *select, enum pd_select_list list)
{
	const struct pd_name_list *names = list_of(select, list);

	return names->count == 1 ? names->names[0] : NULL;
}

bool pd_select_by_event(const struct pd_select *select)
{
	return select->events != NULL;
}

bool pd_select_lacks_cpu(const struct pd_select *select)
{
	return select->lacks_cpu;
}
