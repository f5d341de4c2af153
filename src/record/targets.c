/* SPDX-License-Identifier: MIT */
/* Whom to record: threads by their process or user, and CPUs. */
#include "record/config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum {
	MOST_CPU = 1 << 16
};

// ---- threads ----

static enum pd_status add_thread(struct pd_threads *threads, int32_t tid, struct pd_error *error)
{
	if (!PD_GROW(threads->items, threads->capacity, threads->count + 1))
		return pd_fail_memory(error);
	threads->items[threads->count++] = tid;
	return PD_OK;
}

static bool is_number(const char *name)
{
	return isdigit((unsigned char)name[0]);
}

// Threads of a process; none if it went meanwhile.
static enum pd_status add_process(struct pd_threads *threads, const char *proc, const char *pid, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	struct dirent *entry;
	char path[512];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s/task", proc, pid);
	dir = opendir(path);
	while (dir && status >= 0 && (entry = readdir(dir)) != NULL)
		if (is_number(entry->d_name))
			status = add_thread(threads, (int32_t)strtol(entry->d_name, NULL, 10), error);
	if (dir)
		closedir(dir);
	return status;
}

// Whether a number stands further in front, too: what is named twice is recorded once.
static bool is_again(const struct pd_u32s *numbers, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (numbers->items[i] == numbers->items[index])
			return true;
	return false;
}

static enum pd_status add_processes(struct pd_threads *threads, const struct pd_u32s *pids, const char *proc,
				    struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < pids->count && status >= 0; i++) {
		size_t before = threads->count;
		char pid[16];

		if (is_again(pids, i))
			continue;
		snprintf(pid, sizeof(pid), "%" PRIu32, pids->items[i]);
		status = add_process(threads, proc, pid, error);
		if (status >= 0 && threads->count == before)
			status = pd_fail_system(error, ESRCH, "process %s", pid);
	}
	return status;
}

// Of one user, or of all if uid is NULL.
static enum pd_status add_running(struct pd_threads *threads, const uint32_t *uid, const char *proc,
				  struct pd_error *error)
{
	DIR *dir = opendir(proc);
	enum pd_status status = dir ? PD_OK : pd_fail_system(error, errno, "%s", proc);
	struct dirent *entry;
	struct stat owner;

	while (dir && status >= 0 && (entry = readdir(dir)) != NULL)
		if (is_number(entry->d_name) &&
		    (!uid || (fstatat(dirfd(dir), entry->d_name, &owner, 0) == 0 && owner.st_uid == *uid)))
			status = add_process(threads, proc, entry->d_name, error);
	if (dir)
		closedir(dir);
	if (status >= 0 && !threads->count && uid)
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "user %" PRIu32 " has no processes", *uid);
	return status;
}

static enum pd_status add_given(struct pd_threads *threads, const struct pd_u32s *tids, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < tids->count && status >= 0; i++)
		if (!is_again(tids, i))
			status = add_thread(threads, (int32_t)tids->items[i], error);
	return status;
}

enum pd_status pd_threads_find(struct pd_threads *threads, const struct pd_targets *targets, const char *proc,
			       struct pd_error *error)
{
	enum pd_status status;

	*threads = (struct pd_threads){ 0 };
	if (targets->pids.count)
		status = add_processes(threads, &targets->pids, proc, error);
	else if (targets->tids.count)
		status = add_given(threads, &targets->tids, error);
	else if (targets->by_user)
		status = add_running(threads, &targets->uid, proc, error);
	else if (targets->all && targets->per_thread)
		status = add_running(threads, NULL, proc, error);
	else
		status = add_thread(threads, -1, error);
	return status;
}

void pd_threads_fini(struct pd_threads *threads)
{
	pd_free(threads->items);
	*threads = (struct pd_threads){ 0 };
}

// ---- CPUs ----

static enum pd_status add_cpu(struct pd_cpus *cpus, int32_t cpu, struct pd_error *error)
{
	if (!PD_GROW(cpus->items, cpus->capacity, cpus->count + 1))
		return pd_fail_memory(error);
	cpus->items[cpus->count++] = cpu;
	return PD_OK;
}

static enum pd_status bad_cpus(const char *text, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%.100s' is not a list of CPUs such as 0,2-3", text);
}

enum pd_status pd_cpus_parse(struct pd_cpus *cpus, const char *text, struct pd_error *error)
{
	const char *at = text;
	enum pd_status status = PD_OK;

	*cpus = (struct pd_cpus){ 0 };
	while (status >= 0 && *at && *at != '\n') {
		unsigned long first, last;
		char *end;

		if (!is_number(at))
			return bad_cpus(text, error);
		first = last = strtoul(at, &end, 10);
		if (*end == '-' && is_number(end + 1))
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= MOST_CPU || (*end && *end != ',' && *end != '\n'))
			return bad_cpus(text, error);
		for (unsigned long cpu = first; cpu <= last && status >= 0; cpu++)
			status = add_cpu(cpus, (int32_t)cpu, error);
		at = *end == ',' ? end + 1 : end;
	}
	return status;
}

static bool has_cpu(const struct pd_cpus *cpus, int32_t cpu)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->items[i] == cpu)
			return true;
	return false;
}

bool pd_cpus_text_has(const char *text, int32_t cpu)
{
	struct pd_cpus cpus;
	bool has = pd_cpus_parse(&cpus, text, NULL) < 0 || has_cpu(&cpus, cpu);

	pd_cpus_fini(&cpus);
	return has;
}

// What is named twice is recorded once.
static void drop_again(struct pd_cpus *cpus)
{
	size_t count = cpus->count;

	cpus->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!has_cpu(cpus, cpus->items[i]))
			cpus->items[cpus->count++] = cpus->items[i];
}

static enum pd_status online(struct pd_cpus *cpus, const char *sysfs, struct pd_error *error)
{
	char path[512], text[4096] = "0";
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/online", sysfs);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (size > 0)
		text[size] = 0;
	return pd_cpus_parse(cpus, text, error);
}

enum pd_status pd_cpus_find(struct pd_cpus *cpus, const struct pd_targets *targets, const char *sysfs,
			    struct pd_error *error)
{
	struct pd_cpus all = { 0 };
	enum pd_status status;

	*cpus = (struct pd_cpus){ 0 };
	if (targets->per_thread)
		return add_cpu(cpus, -1, error);
	if (!targets->cpus)
		return online(cpus, sysfs, error);
	status = pd_cpus_parse(cpus, targets->cpus, error);
	if (status >= 0 && !cpus->count)
		status = bad_cpus(targets->cpus, error);
	if (status >= 0)
		status = online(&all, sysfs, error);
	for (size_t i = 0; i < cpus->count && status >= 0; i++)
		if (!has_cpu(&all, cpus->items[i]))
			status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
					 "CPU %" PRId32 " does not exist or is offline", cpus->items[i]);
	if (status >= 0)
		drop_again(cpus);
	pd_cpus_fini(&all);
	return status;
}

void pd_cpus_fini(struct pd_cpus *cpus)
{
	pd_free(cpus->items);
	*cpus = (struct pd_cpus){ 0 };
}
