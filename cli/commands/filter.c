/* SPDX-License-Identifier: MIT */
/*
 * perfdata filter: a recording with the samples that were asked for, and what is needed to understand them.
 *
 * What is asked decides how often the input is read. Once, if a sample answers by itself; before that once more for
 * names of threads and places, which need all that was mapped and named, and for parts of the time; and once more to
 * find the processes whose records --prune may leave out.
 */
#include "keep.h"
#include "front/select_options.h"
#include "front/symbol_options.h"

#include <stdlib.h>
#include <string.h>

struct values {
	struct keep_options keep;
	struct pd_select_options select;
	bool records;
	bool prune;
	struct symbol_options symbols;
};

#define FLAG(name, letter, member, help)                                               \
	{                                                                              \
		name, letter, OPTION_FLAG, NULL, offsetof(struct values, member), help \
	}

static const struct option options[] = {
	KEEP_OPTIONS(struct values, keep),
	SELECT_SAMPLE_OPTIONS(struct values, select),
	SELECT_PLACE_OPTIONS(struct values, select, 'd'),
	FLAG("records", 0, records, "apply --where to every record, not only to samples"),
	FLAG("prune", 0, prune, "drop records of processes without a kept sample"),
	SYMBOL_OPTIONS(struct values, symbols),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata filter --comm gcc --prune -o gcc.data", "keep one program only" },
	{ "perfdata filter --where 'period > 1000 && cpu in (0, 2)' -o part.data", "filter by sample fields" },
	{ "perfdata filter --where 'sched:sched_switch.prev_pid == 5' -o 5.data", "filter by a tracepoint field" },
	{ "perfdata filter --where 'type != SWITCH' -o small.data", "drop a record type" },
	{ "perf record -o - -a -- sleep 5 | perfdata filter --pid 42 -o 42.data", "filter while recording" },
	{ 0 },
};

struct filter {
	const struct values *values;
	struct keep keep;
	struct pd_select *select;
	struct pd_world *world;     /* NULL: nothing has to be known but the sample */
	struct pd_symbols *symbols; /* NULL: no places have to be known */
	struct pd_window window;    /* of all samples */
	bool records;
	size_t events_known;
	uint32_t *pids; /* with kept samples, sorted; NULL: all records are kept */
	size_t pid_count, pid_capacity;
	uint32_t last_pid;
	char unknown[PD_THREAD_NAME_BYTES];
};

/* ---- names ---- */

static const char *comm_of(struct filter *filter, uint32_t tid, struct pd_moment when)
{
	return pd_world_comm(filter->world, tid, when, filter->unknown);
}

/* As script has it: guests need to be known by more than the file. */
static struct pd_place place_of(struct filter *filter, const struct pd_record *record, const struct pd_brief *brief)
{
	if (brief->cpumode != PD_CPUMODE_USER && brief->cpumode != PD_CPUMODE_KERNEL)
		return (struct pd_place){ .addr = brief->ip, .recorded = brief->ip };
	return pd_symbols_place(filter->symbols, brief->pid, brief->cpumode, pd_record_moment(record), brief->ip);
}

static const char *name_of(void *self, const struct pd_record *record, enum pd_filter_ask what)
{
	struct filter *filter = self;
	struct pd_thread_id thread;
	struct pd_brief brief;
	struct pd_place place;

	if (what == PD_FILTER_COMM) {
		pd_record_thread(record, &thread);
		return thread.known ? comm_of(filter, thread.tid, pd_record_moment(record)) : NULL;
	}
	if (!pd_record_brief(record, &brief))
		return NULL;
	place = place_of(filter, record, &brief);
	if (what == PD_FILTER_DSO)
		return place.dso ? place.dso->name : NULL;
	return place.function ? place.function->name : NULL;
}

/* ---- questions ---- */

/* The members of a group that is read as a whole have samples in those of its leader. */
static bool has_event(const struct filter *filter, const struct pd_record *record)
{
	struct pd_file *file = filter->keep.input.file;
	const struct pd_event *event = record->event;
	const struct pd_sample *sample;

	if (!pd_select_by_event(filter->select) || !event)
		return !pd_select_by_event(filter->select);
	if (!(event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ)) || !(sample = pd_as_sample(record)) ||
	    !sample->read)
		return pd_select_has_event(filter->select, event);
	if (!PD_BITS(event->attr->read_format, PD_READ_FORMAT_GROUP))
		return pd_select_has_event(filter->select, pd_file_event_by_id(file, sample->read->id));
	for (size_t i = 0; i < sample->read->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, sample->read->members, i);

		if (pd_select_has_event(filter->select, pd_file_event_by_id(file, member->id)))
			return true;
	}
	return false;
}

static bool has_thread(struct filter *filter, const struct pd_record *record, const struct pd_brief *brief)
{
	const char *comm = NULL;

	if (pd_select_has_list(filter->select, PD_SELECT_COMMS))
		comm = comm_of(filter, brief->tid, pd_record_moment(record));
	return pd_select_has_thread(filter->select, brief->pid, brief->tid, comm);
}

static bool has_where(struct filter *filter, const struct pd_record *record)
{
	const struct pd_filter_names names = { filter, name_of };

	return pd_select_has_where(filter->select, record, filter->world ? &names : NULL);
}

static bool takes_sample(struct filter *filter, const struct pd_record *record)
{
	const struct pd_select *select = filter->select;
	struct pd_place place;
	struct pd_brief brief;

	if (!pd_record_brief(record, &brief))
		return false;
	if (!pd_select_has_time(select, brief.time_ns) || !pd_select_has_cpu(select, brief.cpu) ||
	    !has_event(filter, record) || !has_thread(filter, record, &brief) || !has_where(filter, record))
		return false;
	if (!pd_select_by_place(select))
		return true;
	place = place_of(filter, record, &brief);
	return pd_select_has_place(select, &place);
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static bool has_pid(const struct filter *filter, uint32_t pid)
{
	return filter->pid_count && bsearch(&pid, filter->pids, filter->pid_count, sizeof(pid), compare_pids) != NULL;
}

/* What is of a process is of use if it has samples; what is of the kernel or of nobody always is. */
static bool is_useful(const struct filter *filter, const struct pd_record *record)
{
	bool by_thread = keep_is_state(record->type) || record->type == PD_RECORD_SWITCH ||
			 record->type == PD_RECORD_SWITCH_CPU_WIDE || record->type == PD_RECORD_READ;
	struct pd_thread_id thread;

	if (!by_thread || record->type == PD_RECORD_KSYMBOL || record->type == PD_RECORD_BPF_EVENT ||
	    record->type == PD_RECORD_TEXT_POKE || record->type == PD_RECORD_CGROUP)
		return true;
	pd_record_thread(record, &thread);
	return !thread.known || thread.pid == UINT32_MAX || has_pid(filter, thread.pid);
}

/* Events of a pipe come one after another. */
static bool learn(struct filter *filter)
{
	struct keep *keep = &filter->keep;
	size_t count = pd_file_event_count(keep->input.file);

	if (filter->events_known == count)
		return true;
	filter->events_known = count;
	return keep_status(keep, pd_select_learn(filter->select, keep->input.file, &keep->error));
}

static enum verdict choose(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct filter *filter = self;
	bool wanted;

	(void)stream;
	if (!learn(filter))
		return VERDICT_FAILED;
	if (record->type == PD_RECORD_SAMPLE)
		wanted = takes_sample(filter, record);
	else
		wanted = (!filter->records || has_where(filter, record)) &&
			 (!filter->values->prune || is_useful(filter, record));
	return wanted ? VERDICT_PASS : VERDICT_DROP;
}

/* ---- what has to be known before ---- */

static bool feed(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct filter *filter = self;
	struct keep *keep = &filter->keep;
	struct pd_window *window = &filter->window;

	if (record->type != PD_RECORD_SAMPLE)
		return !filter->world || keep_status(keep, pd_world_take(filter->world, record, &keep->error));
	if (!pd_select_waits(filter->select)) {
		pd_stream_pass(stream);
		return true;
	}
	if (record->time_ns == PD_NO_TIME)
		return true;
	if (!window->first_ns || record->time_ns < window->first_ns)
		window->first_ns = record->time_ns;
	if (record->time_ns > window->last_ns)
		window->last_ns = record->time_ns;
	return true;
}

static bool asks(const struct filter *filter, uint32_t what)
{
	const struct pd_filter *where = pd_select_where(filter->select);

	return where && (pd_filter_asks(where) & what);
}

static bool needs_places(const struct filter *filter)
{
	return pd_select_by_place(filter->select) || asks(filter, PD_FILTER_DSO | PD_FILTER_SYMBOL);
}

static bool needs_world(const struct filter *filter)
{
	return pd_select_has_list(filter->select, PD_SELECT_COMMS) || needs_places(filter) ||
	       asks(filter, PD_FILTER_COMM);
}

static int failed(const struct filter *filter)
{
	complain("%s", filter->keep.error.message);
	return CODE_UNREADABLE;
}

static int settle(struct filter *filter)
{
	struct keep *keep = &filter->keep;

	if (!filter->world)
		return CODE_FINE;
	if (!keep_status(keep, pd_world_take_features(filter->world, keep->input.file, &keep->error)) ||
	    !keep_status(keep, pd_world_settle(filter->world, &keep->error)))
		return failed(filter);
	if (!needs_places(filter))
		return CODE_FINE;
	filter->symbols = symbols_open(&filter->values->symbols, keep->input.file, filter->world, false);
	return filter->symbols ? CODE_FINE : CODE_UNREADABLE;
}

/* What the options mean in this file. Of a pipe that was not read before, events are not known yet. */
static int resolve(struct filter *filter, bool looked)
{
	struct keep *keep = &filter->keep;
	struct pd_window wanted = { .first_ns = filter->window.first_ns, .last_ns = filter->window.last_ns };

	if (!looked && pd_file_header(keep->input.file)->mode == PD_MODE_PIPE)
		return CODE_FINE;
	if (!keep_status(keep, pd_select_ready(filter->select, keep->input.file, &wanted, &keep->error))) {
		complain("%s: %s", keep->input.name, keep->error.message);
		return keep->error.status == PD_ERROR_NO_MATCH ? CODE_NOTHING : CODE_UNREADABLE;
	}
	filter->events_known = pd_file_event_count(keep->input.file);
	keep->from_ns = wanted.from_ns;
	keep->to_ns = wanted.to_ns;
	return CODE_FINE;
}

/* ---- the processes of kept samples ---- */

static bool add_pid(struct filter *filter, uint32_t pid)
{
	uint32_t *pids;

	if (filter->pid_count && filter->last_pid == pid)
		return true;
	if (filter->pid_count == filter->pid_capacity) {
		size_t capacity = filter->pid_capacity ? 2 * filter->pid_capacity : 64;

		/* Most come again and again: what is there is made a set first. */
		pids = realloc(filter->pids, capacity * sizeof(*pids));
		if (!pids) {
			filter->keep.error.status = PD_ERROR_MEMORY;
			strcpy(filter->keep.error.message, "out of memory");
			return keep_status(&filter->keep, PD_ERROR_MEMORY);
		}
		filter->pids = pids;
		filter->pid_capacity = capacity;
	}
	filter->last_pid = pid;
	filter->pids[filter->pid_count++] = pid;
	return true;
}

static void make_set(struct filter *filter)
{
	size_t kept = 0;

	if (filter->pid_count)
		qsort(filter->pids, filter->pid_count, sizeof(*filter->pids), compare_pids);
	for (size_t i = 0; i < filter->pid_count; i++) {
		if (!i || filter->pids[i] != filter->pids[kept - 1])
			filter->pids[kept++] = filter->pids[i];
	}
	filter->pid_count = kept;
}

struct prune {
	struct filter *filter;
	struct pd_world *forks; /* who forked whom */
	size_t limit;           /* of pids before they are made a set */
};

static bool find_pids(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct prune *prune = self;
	struct filter *filter = prune->filter;
	struct keep *keep = &filter->keep;
	struct pd_thread_id thread;

	(void)stream;
	if (record->type == PD_RECORD_FORK)
		return keep_status(keep, pd_world_take(prune->forks, record, &keep->error));
	if (!learn(filter))
		return false;
	if (record->type != PD_RECORD_SAMPLE || !takes_sample(filter, record))
		return true;
	pd_record_thread(record, &thread);
	if (!thread.known || !add_pid(filter, thread.pid))
		return !thread.known;
	if (filter->pid_count < prune->limit)
		return true;
	make_set(filter);
	prune->limit = 2 * filter->pid_count + 1024;
	return true;
}

/* A process has maps and names of the one that forked it. */
static bool add_parents(struct prune *prune)
{
	struct filter *filter = prune->filter;
	const struct pd_thread *thread;
	size_t before;

	do {
		make_set(filter);
		before = filter->pid_count;
		for (size_t i = 0; (thread = pd_world_thread(prune->forks, i)) != NULL; i++) {
			/* Only the first part is sorted. */
			size_t count = filter->pid_count;
			bool wanted, there;

			filter->pid_count = before;
			wanted = thread->ppid != UINT32_MAX && has_pid(filter, thread->pid);
			there = wanted && has_pid(filter, thread->ppid);
			filter->pid_count = count;
			if (wanted && !there && !add_pid(filter, thread->ppid))
				return false;
		}
		make_set(filter);
	} while (filter->pid_count > before);
	return true;
}

static int find_processes(struct filter *filter)
{
	struct keep *keep = &filter->keep;
	struct prune prune = { .filter = filter, .limit = 1024 };
	int code;

	if (!keep_status(keep, pd_world_new(NULL, &prune.forks, &keep->error)))
		return failed(filter);
	code = keep_look(keep, find_pids, &prune);
	if (code == CODE_FINE &&
	    (!keep_status(keep, pd_world_settle(prune.forks, &keep->error)) || !add_parents(&prune)))
		code = failed(filter);
	pd_world_free(prune.forks);
	return code;
}

/* ---- the command ---- */

static int filter_opened(struct filter *filter)
{
	struct keep *keep = &filter->keep;
	bool looks = needs_world(filter) || pd_select_waits(filter->select);
	int code = CODE_FINE;

	if (needs_world(filter) && !keep_status(keep, pd_world_new(NULL, &filter->world, &keep->error)))
		return failed(filter);
	if (looks)
		code = keep_look(keep, feed, filter);
	if (code == CODE_FINE)
		code = settle(filter);
	if (code == CODE_FINE)
		code = resolve(filter, looks);
	if (code == CODE_FINE && filter->values->prune)
		code = find_processes(filter);
	return code == CODE_FINE ? keep_write(keep) : code;
}

static bool take_options(struct filter *filter, const struct values *values)
{
	if (!select_take(&filter->select, &values->select))
		return false;
	if (values->records && !pd_select_where(filter->select)) {
		complain("--records requires --where");
		return false;
	}
	filter->records = values->records || asks(filter, PD_FILTER_RECORDS);
	return true;
}

static int run(const struct call *call)
{
	struct filter *filter = calloc(1, sizeof(*filter));
	const struct values *values = call->values;
	int code = CODE_USAGE;

	if (!filter) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	filter->values = values;
	filter->keep.choose = choose;
	filter->keep.self = filter;
	if (take_options(filter, values)) {
		filter->keep.select = filter->select;
		filter->keep.any_record = filter->records;
		code = keep_open(&filter->keep, &values->keep, call,
				 needs_world(filter) || pd_select_waits(filter->select) || values->prune);
		if (code == CODE_FINE)
			code = filter_opened(filter);
		code = keep_close(&filter->keep, code);
	}
	pd_symbols_free(filter->symbols);
	pd_world_free(filter->world);
	pd_select_free(filter->select);
	free(filter->pids);
	free(filter);
	return code;
}

const struct command cmd_filter = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Keep only the samples that match the filters, which are the same as those of report and script. With several "
		"filters, samples have to match all. docs/selecting.md describes the conditions of --where.\n\n"
		"All other records are kept, because samples depend on them; --prune keeps only those of processes that have "
		"samples, and of their ancestors. A condition on the record type, or on a field that samples do not have, is "
		"applied to every record, as with --records.\n\n"
		"A pipe is filtered as it is read, with little memory. Filters by thread name, object, function or part of "
		"the time, and --prune, need the whole input first: it is buffered in a temporary file.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
