/* SPDX-License-Identifier: MIT */
/*
 * Several threads that read rings, as perf record --threads has them. Each ring has a file of its own in a directory; a
 * thread empties those of its CPUs, and runs there. All begin together and are waited for, so that whatever is about the
 * whole is done by one thread.
 */
#include "record/ring/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>

#include "base/error.h"
#include "base/threads.h"
#include "write/write.h"

struct worker {
	struct pd_recorder *recorder;
	struct pd_cpus rings;   // CPUs whose rings it empties
	struct pd_cpus runs_on; // CPUs that it runs on
	struct pd_worker thread;
	sem_t go, done;
	struct pd_ring_counts counts;
	bool newest, any, ends;
	enum pd_status status;
	struct pd_error error;
};

struct pd_workers {
	struct worker *items;
	size_t count, capacity;
};

// ---- who does what ----

static bool has_cpu(const struct pd_cpus *cpus, int32_t cpu)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->items[i] == cpu)
			return true;
	return false;
}

static struct worker *worker_of(const struct pd_workers *workers, int32_t cpu)
{
	for (size_t i = 0; i < workers->count; i++)
		if (has_cpu(&workers->items[i].rings, cpu))
			return &workers->items[i];
	return NULL;
}

static enum pd_status add_worker(struct pd_recorder *recorder, const char *rings, const char *runs_on,
				 struct pd_error *error)
{
	struct pd_workers *workers = recorder->workers;
	enum pd_status status;
	struct worker *worker;

	if (!PD_GROW(workers->items, workers->capacity, workers->count + 1))
		return pd_fail_memory(error);
	worker = &workers->items[workers->count++];
	*worker = (struct worker){ .recorder = recorder };
	status = pd_cpus_parse(&worker->rings, rings, error);
	return status < 0 ? status : pd_cpus_parse(&worker->runs_on, runs_on, error);
}

// A list of CPUs below /sys/devices/system; "" if there is none.
static void read_list(const char *name, char *text, size_t capacity)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/%s", name);
	file = fopen(path, "re");
	if (!file || !fgets(text, (int)capacity, file))
		text[0] = 0;
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = 0;
}

// One for each group of CPUs that a file of their topology names; of itself alone without such a file.
static enum pd_status add_by_topology(struct pd_recorder *recorder, const char *file, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < recorder->cpus.count && status >= 0; i++) {
		int32_t cpu = recorder->cpus.items[i];
		char name[64], list[4096] = "";

		if (worker_of(recorder->workers, cpu))
			continue;
		if (file) {
			snprintf(name, sizeof(name), "cpu/cpu%" PRId32 "/topology/%s", cpu, file);
			read_list(name, list, sizeof(list));
		}
		if (!*list)
			snprintf(list, sizeof(list), "%" PRId32, cpu);
		status = add_worker(recorder, list, list, error);
	}
	return status;
}

static enum pd_status add_by_node(struct pd_recorder *recorder, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	struct pd_cpus nodes = { 0 };
	char list[4096];

	read_list("node/online", list, sizeof(list));
	status = pd_cpus_parse(&nodes, list, error);
	for (size_t i = 0; i < nodes.count && status >= 0; i++) {
		char name[64];

		snprintf(name, sizeof(name), "node/node%" PRId32 "/cpulist", nodes.items[i]);
		read_list(name, list, sizeof(list));
		if (*list)
			status = add_worker(recorder, list, list, error);
	}
	pd_cpus_fini(&nodes);
	// what is in no node stands alone
	return status < 0 ? status : add_by_topology(recorder, NULL, error);
}

static enum pd_status bad_spec(const char *spec, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
		       "'%.100s' is not cpu, core, package, numa or RINGS/CPUS:RINGS/CPUS, such as 0-1/0:2-3/2", spec);
}

static enum pd_status add_by_spec(struct pd_recorder *recorder, const char *spec, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	char *text = strdup(spec), *rest = text, *one;

	if (!text)
		return pd_fail_memory(error);
	while (status >= 0 && (one = strsep(&rest, ":")) != NULL) {
		char *runs_on = strchr(one, '/');

		if (runs_on)
			*runs_on++ = 0;
		status = runs_on && *one && *runs_on ? add_worker(recorder, one, runs_on, error) :
						       bad_spec(spec, error);
	}
	free(text);
	return status;
}

static enum pd_status check_spec(const struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_workers *workers = recorder->workers;

	for (size_t i = 0; i < workers->count; i++)
		for (size_t j = 0; j < workers->items[i].rings.count; j++)
			if (worker_of(workers, workers->items[i].rings.items[j]) != &workers->items[i])
				return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
					       "the rings of CPU %" PRId32 " cannot be read by two threads",
					       workers->items[i].rings.items[j]);
	for (size_t i = 0; i < recorder->cpus.count; i++)
		if (!worker_of(workers, recorder->cpus.items[i]))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "no thread reads the rings of CPU %" PRId32, recorder->cpus.items[i]);
	return PD_OK;
}

static enum pd_status choose_workers(struct pd_recorder *recorder, struct pd_error *error)
{
	static const struct {
		const char *name, *file;
	} kinds[] = { { "cpu", NULL }, { "core", "core_cpus_list" }, { "package", "package_cpus_list" } };
	const char *spec = recorder->options.session.threads;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(spec, kinds[i].name) == 0)
			return add_by_topology(recorder, kinds[i].file, error);
	if (strcmp(spec, "numa") == 0)
		return add_by_node(recorder, error);
	return add_by_spec(recorder, spec, error);
}

// ---- the directory ----

// Takes away what a recording of before left, and nothing else: a directory with other files stays.
static void remove_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, "data") == 0 || strncmp(entry->d_name, "data.", 5) == 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(path);
}

bool pd_workers_made(const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s/data", path);
	return access(name, F_OK) == 0;
}

enum pd_status pd_workers_move_away(const char *path, const char *old)
{
	struct stat there;

	// neither takes the place of the other
	if (stat(old, &there) == 0 && S_ISDIR(there.st_mode))
		remove_recording(old);
	else if (pd_workers_made(path))
		unlink(old);
	return rename(path, old) < 0 ? PD_ERROR_SYSTEM : PD_OK;
}

enum pd_status pd_workers_open_output(struct pd_recorder *recorder, const struct pd_writer_options *options,
				      struct pd_error *error)
{
	struct pd_writer *writer;
	enum pd_status status;

	if (mkdir(recorder->path, 0700) < 0)
		return pd_fail_system(error, errno, "%s: cannot be made", recorder->path);
	status = pd_writer_open_in(recorder->path, options, &recorder->writer, error);
	writer = recorder->writer;
	for (size_t i = 0; i < recorder->ring_count && status >= 0; i++) {
		char name[32];

		snprintf(name, sizeof(name), "data.%zu", i);
		status = pd_writer_add_part(writer, name, error);
	}
	return status;
}

// ---- threads ----

static void empty_rings(struct worker *worker)
{
	struct pd_recorder *recorder = worker->recorder;

	worker->status = PD_OK;
	worker->any = false;
	for (size_t i = 0; i < recorder->ring_count && worker->status >= 0; i++)
		if (has_cpu(&worker->rings, recorder->rings[i].cpu))
			worker->status = pd_session_drain_ring(recorder, &recorder->rings[i], i + 1, &worker->counts,
							       worker->newest, &worker->any, &worker->error);
}

static void work(void *self)
{
	struct worker *worker = self;

	for (;;) {
		while (sem_wait(&worker->go) < 0)
			continue;
		if (worker->ends)
			return;
		empty_rings(worker);
		sem_post(&worker->done);
	}
}

static enum pd_status start(struct worker *worker, struct pd_error *error)
{
	sigset_t all, before;
	cpu_set_t cpus;
	int failure;

	CPU_ZERO(&cpus);
	for (size_t i = 0; i < worker->runs_on.count; i++)
		if (worker->runs_on.items[i] < CPU_SETSIZE)
			CPU_SET((size_t)worker->runs_on.items[i], &cpus);
	sem_init(&worker->go, 0, 0);
	sem_init(&worker->done, 0, 0);
	// signals are for the thread that runs the recorder
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	failure = pd_worker_start(&worker->thread, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failure)
		return pd_fail_system(error, failure, "no thread can be started");
	if (pthread_setaffinity_np(worker->thread.id, sizeof(cpus), &cpus) != 0)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "a thread cannot run where it is to: CPU %" PRId32
			       " is offline, or not for this process",
			       worker->runs_on.items[0]);
	return PD_OK;
}

enum pd_status pd_workers_start(struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_recorder_options *options = &recorder->options;
	enum pd_status status;

	if (!options->path || options->live || options->sampling.off_cpu || options->targets.per_thread ||
	    options->session.overwrite || options->session.switch_size || options->session.switch_ns ||
	    options->session.switch_on_call)
		return pd_fail(
			error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			"several threads write a directory from rings of CPUs: not a pipe, not of threads (--per-thread), "
			"not --overwrite or --switch-output");
	recorder->workers = pd_alloc(sizeof(*recorder->workers));
	if (!recorder->workers)
		return pd_fail_memory(error);
	status = choose_workers(recorder, error);
	if (status >= 0)
		status = check_spec(recorder, error);
	for (size_t i = 0; i < recorder->workers->count && status >= 0; i++)
		status = start(&recorder->workers->items[i], error);
	return status;
}

enum pd_status pd_workers_drain(struct pd_recorder *recorder, bool newest, struct pd_error *error)
{
	struct pd_workers *workers = recorder->workers;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < workers->count; i++) {
		workers->items[i].newest = newest;
		workers->items[i].counts.time_at = recorder->counts.time_at;
		sem_post(&workers->items[i].go);
	}
	for (size_t i = 0; i < workers->count; i++) {
		struct worker *worker = &workers->items[i];

		while (sem_wait(&worker->done) < 0)
			continue;
		if (worker->status < 0 && status >= 0) {
			status = worker->status;
			if (error)
				*error = worker->error;
		}
		pd_ring_counts_move_counts(&recorder->counts, &worker->counts);
	}
	return status;
}

enum pd_status pd_workers_paths(struct pd_recorder *recorder, struct pd_error *error)
{
	struct pd_workers *workers = recorder->workers;
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < workers->count; i++) {
		const struct pd_ring_counts *counts = &workers->items[i].counts;

		for (size_t j = 0; j < counts->paths.count && status >= 0; j++)
			status = pd_ring_counts_path(&recorder->counts, counts->paths.items[j],
						     strlen(counts->paths.items[j]), error);
	}
	return status;
}

void pd_workers_end(struct pd_recorder *recorder)
{
	struct pd_workers *workers = recorder->workers;

	for (size_t i = 0; workers && i < workers->count; i++) {
		struct worker *worker = &workers->items[i];

		if (worker->thread.started) {
			worker->ends = true;
			sem_post(&worker->go);
			pd_worker_join(&worker->thread);
			sem_destroy(&worker->go);
			sem_destroy(&worker->done);
		}
		pd_ring_counts_fini(&worker->counts);
		pd_cpus_fini(&worker->rings);
		pd_cpus_fini(&worker->runs_on);
	}
	if (workers)
		pd_free(workers->items);
	pd_free(workers);
	recorder->workers = NULL;
}
