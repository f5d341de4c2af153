/* SPDX-License-Identifier: MIT */
/*
 * A recorder of system calls and other events, whose file is printed while it is recorded. Of the lists of events this file
 * makes one list of calls, which the kernel filters where it can, and one of events.
 */
#include <perfdata/tracer.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "record/machine/procfile.h"

enum {
	FAULTS_MAJOR = 1,
	FAULTS_MINOR = 2,
	KNOWN = 1024,      // numbers of calls
	FILTER_MOST = 3072 // bytes: the kernel takes a page of them
};

struct pd_tracer {
	struct pd_events *events; // those that are named
	bool has_events;
	struct pd_text calls; // those that are named, with commas between
	bool except;          // these are the ones that are not wanted
	struct pd_recorder_options
		targets; // processes, threads and the user that are named; how call chains are recorded
	unsigned faults; // FAULTS_...
	enum pd_arch arch;
	_Atomic(struct pd_recorder *) recorder; // while it runs
	atomic_bool stopped;
	atomic_uint stopping; // calls of pd_tracer_stop that may use the recorder
};

enum pd_status pd_tracer_new(struct pd_tracer **tracer_out, struct pd_error *error)
{
	struct pd_tracer *tracer = pd_alloc(sizeof(*tracer));
	struct utsname name;
	enum pd_status status;

	if (!tracer)
		return pd_fail_memory(error);
	status = pd_events_new(NULL, &tracer->events, error);
	if (status < 0) {
		pd_free(tracer);
		return status;
	}
	tracer->arch = uname(&name) == 0 ? pd_arch_by_name(name.machine) : PD_ARCH_UNKNOWN;
	*tracer_out = tracer;
	return PD_OK;
}

void pd_tracer_free(struct pd_tracer *tracer)
{
	if (!tracer)
		return;
	pd_events_free(tracer->events);
	pd_recorder_options_fini(&tracer->targets);
	pd_free(tracer->calls.data);
	pd_free(tracer);
}

void pd_tracer_stop(struct pd_tracer *tracer)
{
	struct pd_recorder *recorder;

	tracer->stopping++;
	tracer->stopped = true;
	recorder = tracer->recorder;
	if (recorder)
		pd_recorder_stop(recorder);
	tracer->stopping--;
}

// ---- lists of calls and events ----

static const char *name_of(const struct pd_tracer *tracer, uint64_t number)
{
	return pd_syscall_name(tracer->arch, sizeof(long) == 8, number);
}

static enum pd_status add_item(struct pd_tracer *tracer, const char *item, bool except, struct pd_error *error)
{
	enum pd_status status;

	if (pd_call_is_known(tracer->arch, sizeof(long) == 8, item)) {
		if (tracer->calls.size && tracer->except != except)
			return pd_fail(
				error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				"system calls that are wanted and those that are not ('!') are mutually exclusive");
		tracer->except = except;
		if (tracer->calls.size)
			pd_text_char(&tracer->calls, ',');
		pd_text_add(&tracer->calls, item);
		return tracer->calls.failed ? pd_fail_memory(error) : PD_OK;
	}
	if (except)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is no system call of this machine", item);
	status = pd_events_add(tracer->events, item, error);
	tracer->has_events |= status >= 0;
	return status;
}

// Up to a comma, or the end: those in braces and slashes belong to one event.
static size_t item_length(const char *at)
{
	unsigned depth = 0;
	bool in_event = false;
	size_t length = 0;

	for (; at[length] && (at[length] != ',' || depth || in_event); length++) {
		depth += at[length] == '{';
		depth -= at[length] == '}' && depth;
		in_event ^= at[length] == '/';
	}
	return length;
}

static enum pd_status add_list(struct pd_tracer *tracer, const char *list, struct pd_error *error)
{
	bool except = *list == '!';
	enum pd_status status = PD_OK;

	for (const char *at = list + except; status >= 0 && *at;) {
		size_t length = item_length(at);
		struct pd_text item = { 0 };

		pd_text_put(&item, at, length);
		pd_text_char(&item, 0);
		status = item.failed ? pd_fail_memory(error) :
			 length      ? add_item(tracer, item.data, except, error) :
				       PD_OK;
		pd_free(item.data);
		at += length + (at[length] == ',');
	}
	return status;
}

static enum pd_status set_faults(struct pd_tracer *tracer, const char *value, struct pd_error *error)
{
	static const struct {
		const char *name;
		unsigned faults;
	} kinds[] = { { "all", FAULTS_MAJOR | FAULTS_MINOR }, { "maj", FAULTS_MAJOR }, { "min", FAULTS_MINOR } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, value)) {
			tracer->faults |= kinds[i].faults;
			return PD_OK;
		}
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is none of all, maj and min", value);
}

static enum pd_status set_call_graph(struct pd_tracer *tracer, const char *value, struct pd_error *error)
{
	enum pd_status status = pd_recorder_options_set(&tracer->targets, "call-graph", value, error);

	if (status >= 0 && tracer->targets.sampling.call_graph == PD_CALL_GRAPH_DWARF)
		status = pd_fail(
			error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			"copied stacks are not unwound while tracing; use fp or lbr, or perfdata record --call-graph dwarf");
	return status;
}

enum pd_status pd_tracer_set(struct pd_tracer *tracer, const char *name, const char *value, struct pd_error *error)
{
	if (!strcmp(name, "pf"))
		return set_faults(tracer, value, error);
	if (!strcmp(name, "call-graph"))
		return set_call_graph(tracer, value, error);
	if (!strcmp(name, "event") || !strcmp(name, "expr"))
		return add_list(tracer, value, error);
	if (!strcmp(name, "pid") || !strcmp(name, "tid") || !strcmp(name, "uid"))
		return pd_recorder_options_set(&tracer->targets, name, value, error);
	return pd_events_set(tracer->events, name, value, tracer->has_events, error);
}

// ---- calls ----

// What the kernel leaves out need not be read. Without a filter, or with one that is too long, others are left out when they are read.
static enum pd_status filter_calls(struct pd_tracer *tracer, const char *list, struct pd_error *error)
{
	const char *compare = tracer->except ? "!=" : "==", *join = tracer->except ? " && " : " || ";
	struct pd_text filter = { 0 };
	enum pd_status status = PD_OK;

	for (uint64_t number = 0; list && number < KNOWN; number++) {
		const char *name = name_of(tracer, number);

		if (!name || pd_call_is_wanted(list, name) == tracer->except)
			continue;
		pd_text_add(&filter, filter.size ? join : "");
		pd_text_printf(&filter, "id %s %" PRIu64, compare, number);
	}
	pd_text_char(&filter, 0);
	if (filter.failed)
		status = pd_fail_memory(error);
	else if (filter.size > 1 && filter.size <= FILTER_MOST)
		status = pd_events_filter(tracer->events, filter.data, error);
	pd_free(filter.data);
	return status;
}

// Who shows what is printed makes system calls to do so, each of which would be printed: as perf, what shows a terminal is not traced.
static long find_terminal(void)
{
	static const char *const names[] = { "sshd", "gnome-terminal" };
	struct pd_procfile status = { 0 };
	long pid = (long)getppid(), found = 0;
	char path[64];

	while (pid > 1 && !found) {
		const char *name, *parent;

		snprintf(path, sizeof(path), "/proc/%ld/status", pid);
		name = pd_procfile_read(&status, path) ? pd_procfile_value(&status, "Name") : NULL;
		parent = pd_procfile_value(&status, "PPid");
		for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(name, names[i], strlen(names[i])))
				found = pid;
		pid = name && parent ? strtol(parent, NULL, 10) : 0;
	}
	pd_procfile_fini(&status);
	return found;
}

static enum pd_status exclude_printing(struct pd_tracer *tracer, struct pd_error *error)
{
	long terminal = find_terminal();
	char filter[64];
	enum pd_status status = pd_events_exclude_self(tracer->events, error);

	snprintf(filter, sizeof(filter), "common_pid != %ld", terminal);
	return status >= 0 && terminal ? pd_events_filter(tracer->events, filter, error) : status;
}

static enum pd_status add_calls(struct pd_tracer *tracer, const char *list, bool all, struct pd_error *error)
{
	enum pd_status status = pd_events_add(tracer->events, "raw_syscalls:sys_enter,raw_syscalls:sys_exit", error);

	if (status >= 0)
		status = filter_calls(tracer, list, error);
	return status >= 0 && all ? exclude_printing(tracer, error) : status;
}

// ---- tracing ----

int pd_tracer_output(const char *path)
{
	struct pd_text before = { 0 };
	struct stat found;
	bool kept = true;

	if (!stat(path, &found) && S_ISREG(found.st_mode) && found.st_size) {
		pd_text_add(&before, path);
		pd_text_put(&before, ".old", sizeof(".old"));
		errno = ENOMEM;
		kept = !before.failed && rename(path, before.data) == 0;
		pd_free(before.data);
	}
	return !kept ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

// How many threads will be traced; 0: it cannot be said.
static uint64_t count_threads(const struct pd_targets *targets)
{
	struct pd_procfile status = { 0 };
	uint64_t count = targets->tids.count;
	char path[64];

	for (size_t i = 0; i < targets->pids.count; i++) {
		const char *threads;

		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", targets->pids.items[i]);
		threads = pd_procfile_read(&status, path) ? pd_procfile_value(&status, "Threads") : NULL;
		count += threads ? strtoull(threads, NULL, 10) : 0;
	}
	pd_procfile_fini(&status);
	return count;
}

// What is mapped is needed for the names in call chains, and of page faults.
static void take_places(const struct pd_tracer *tracer, struct pd_recorder_options *wanted)
{
	const struct pd_sampling *sampling = &tracer->targets.sampling;

	if (sampling->call_graph != PD_CALL_GRAPH_UNSET) {
		wanted->sampling.call_graph = sampling->call_graph;
		wanted->session.synth = PD_SYNTH_TASK | PD_SYNTH_MMAP;
	}
	if (!tracer->faults)
		return;
	wanted->sampling.period = 1;
	wanted->sampling.addr = wanted->sampling.data_mmap = true;
	wanted->session.synth = PD_SYNTH_TASK | PD_SYNTH_MMAP;
}

static void take_recording(const struct pd_tracer *tracer, const struct pd_tracer_options *options,
			   struct pd_recorder_options *wanted)
{
	size_t size = options->recording.size < sizeof(*wanted) ? options->recording.size : sizeof(*wanted);

	memcpy(wanted, &options->recording, size);
	wanted->size = sizeof(*wanted);
	wanted->path = NULL;
	wanted->fd = -1;
	if (tracer->targets.targets.pids.count)
		wanted->targets.pids = tracer->targets.targets.pids;
	if (tracer->targets.targets.tids.count)
		wanted->targets.tids = tracer->targets.targets.tids;
	if (tracer->targets.targets.by_user) {
		wanted->targets.by_user = true;
		wanted->targets.uid = tracer->targets.targets.uid;
	}
	wanted->events = tracer->events;
	wanted->sampling.time = wanted->sampling.raw = true;
	wanted->session.synth = PD_SYNTH_TASK;
	take_places(tracer, wanted);
	wanted->session.build_ids = PD_BUILD_IDS_NONE;
	wanted->sampling.no_inherit |= (wanted->targets.pids.count || wanted->targets.tids.count) && !options->follow;
	wanted->targets.all |= !wanted->targets.command && !pd_targets_are_given(&wanted->targets);
}

static enum pd_status open_recorder(struct pd_tracer *tracer, const struct pd_tracer_options *options,
				    struct pd_syscalls_options *calls, struct pd_error *error)
{
	const char *list = calls->calls;
	bool with_calls = options->with_calls || list || (!tracer->has_events && !tracer->faults);
	struct pd_recorder_options wanted = { 0 };
	struct pd_recorder *recorder;
	enum pd_status status = PD_OK;

	take_recording(tracer, options, &wanted);
	calls->without_threads = wanted.sampling.no_inherit && count_threads(&wanted.targets) == 1;
	if (with_calls)
		status = add_calls(tracer, list, wanted.targets.all || wanted.targets.cpus, error);
	if (status >= 0 && tracer->faults & FAULTS_MAJOR)
		status = pd_events_add(tracer->events, "major-faults", error);
	if (status >= 0 && tracer->faults & FAULTS_MINOR)
		status = pd_events_add(tracer->events, "minor-faults", error);
	if (status >= 0 && calls->runtimes)
		status = pd_events_add(tracer->events, "sched:sched_stat_runtime", error);
	if (status >= 0)
		status = pd_recorder_open(&wanted, &recorder, error);
	if (status < 0)
		return status;
	tracer->recorder = recorder;
	if (tracer->stopped)
		pd_recorder_stop(recorder);
	return PD_OK;
}

static enum pd_status print_all(struct pd_tracer *tracer, struct pd_syscalls_options *calls, struct pd_text *text,
				struct pd_error *error)
{
	struct pd_procfile types = { 0 };
	struct pd_file *file = NULL;
	enum pd_status status = pd_recorder_open_file(tracer->recorder, NULL, &file, error);

	if (status == PD_OK && tracer->has_events && pd_procfile_read(&types, "/sys/kernel/btf/vmlinux"))
		calls->kernel_types = (struct pd_bytes){ (const uint8_t *)types.data, types.size };
	if (status == PD_OK)
		status = pd_print_syscalls(text, file, calls, error);
	pd_file_close(file);
	pd_procfile_fini(&types);
	return status;
}

enum pd_status pd_tracer_run(struct pd_tracer *tracer, const struct pd_tracer_options *options, struct pd_text *text,
			     struct pd_recorded *recorded_out, struct pd_error *error)
{
	struct pd_syscalls_options calls = { 0 };
	struct pd_text list = { 0 };
	struct pd_recorder *recorder;
	enum pd_status status;

	if (!options || !options->size || !options->recording.size || !options->calls.size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_tracer_options.%ssize is 0",
			       !options || !options->size ? "" :
			       options->calls.size        ? "recording." :
							    "calls.");
	memcpy(&calls, &options->calls, options->calls.size < sizeof(calls) ? options->calls.size : sizeof(calls));
	calls.size = sizeof(calls);
	calls.live = true;
	calls.live_names = tracer->faults || tracer->targets.sampling.call_graph != PD_CALL_GRAPH_UNSET;
	pd_text_add(&list, tracer->except ? "!" : "");
	pd_text_put(&list, tracer->calls.data, tracer->calls.size);
	pd_text_char(&list, 0);
	calls.calls = tracer->calls.size ? list.data : NULL;
	status = list.failed ? pd_fail_memory(error) : open_recorder(tracer, options, &calls, error);
	if (status >= 0)
		status = print_all(tracer, &calls, text, error);
	recorder = atomic_exchange(&tracer->recorder, NULL);
	while (tracer->stopping) // by other threads
		sched_yield();
	if (recorder)
		pd_recorder_state(recorder, recorded_out);
	pd_recorder_close(recorder);
	pd_free(list.data);
	return status;
}
