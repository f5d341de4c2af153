/* SPDX-License-Identifier: MIT */
/*
 * What runs already: for each process FORK, NAMESPACES, COMM and its maps, for each further thread FORK and COMM, as if
 * they had come from the kernel at time 0. A process that ends meanwhile is passed over.
 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/error.h"
#include "record/synthesize/maps.h"
#include "record/record.h"

enum {
	COMM_CAPACITY = 16,
	NAMESPACES = 7
};

struct scan {
	struct pd_made *made;
	const struct pd_existing_options *options;
	const char *proc;
	struct pd_procfile status;
	struct pd_maps maps;
};

// ---- threads ----

static uint32_t number_of(const struct pd_procfile *file, const char *name)
{
	const char *value = pd_procfile_value(file, name);

	return value ? (uint32_t)strtoul(value, NULL, 10) : 0;
}

static enum pd_status add_comm(struct scan *scan, uint32_t pid, uint32_t tid, struct pd_error *error)
{
	const char *value = pd_procfile_value(&scan->status, "Name");
	char name[COMM_CAPACITY] = "";
	struct pd_comm comm = { .pid = pid, .tid = tid };
	size_t length = value ? strcspn(value, "\n") : 0;

	memcpy(name, value ? value : "", length < COMM_CAPACITY ? length : COMM_CAPACITY - 1);
	comm.comm = (struct pd_str){ name, (uint32_t)strlen(name), 0 };
	return pd_made_add(scan->made, PD_RECORD_COMM, 0, &comm, error);
}

static enum pd_status add_fork(struct scan *scan, uint32_t pid, uint32_t tid, struct pd_error *error)
{
	bool main = pid == tid;
	uint32_t parent = main ? number_of(&scan->status, "PPid") : pid;
	struct pd_task fork = { .pid = pid, .tid = tid, .ppid = parent, .ptid = parent };

	return pd_made_add(scan->made, PD_RECORD_FORK, PD_MASK(PD_MISC_FORK_EXEC), &fork, error);
}

static enum pd_status add_namespaces(struct scan *scan, uint32_t pid, uint32_t tid, struct pd_error *error)
{
	static const char *const names[NAMESPACES] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	struct pd_namespace links[NAMESPACES] = { { 0 } };
	struct pd_namespaces record = { .pid = pid, .tid = tid, .links = { links, NAMESPACES, sizeof(links[0]) } };

	for (unsigned i = 0; i < NAMESPACES; i++) {
		struct stat link;
		char path[512];

		snprintf(path, sizeof(path), "%s/%" PRIu32 "/task/%" PRIu32 "/ns/%s", scan->proc, pid, tid, names[i]);
		if (stat(path, &link) == 0)
			links[i] = (struct pd_namespace){ .dev = link.st_dev, .inode = link.st_ino };
	}
	return pd_made_add(scan->made, PD_RECORD_NAMESPACES, 0, &record, error);
}

static enum pd_status add_thread(struct scan *scan, uint32_t pid, uint32_t tid, bool fork, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	char path[512];

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/task/%" PRIu32 "/status", scan->proc, pid, tid);
	if (!pd_procfile_read(&scan->status, path))
		return PD_OK;
	if (scan->options->tasks && fork)
		status = add_fork(scan, pid, tid, error);
	if (status >= 0 && scan->options->namespaces)
		status = add_namespaces(scan, pid, tid, error);
	if (status >= 0 && scan->options->tasks)
		status = add_comm(scan, pid, tid, error);
	return status < 0 || pid != tid ? status : pd_maps_add(&scan->maps, pid, error);
}

static bool is_number(const char *name)
{
	return isdigit((unsigned char)name[0]);
}

// The main thread first: it has the maps.
static enum pd_status add_process(struct scan *scan, uint32_t pid, bool fork, struct pd_error *error)
{
	enum pd_status status = add_thread(scan, pid, pid, fork, error);
	struct dirent *entry;
	char path[512];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/task", scan->proc, pid);
	dir = status >= 0 ? opendir(path) : NULL;
	while (dir && status >= 0 && (entry = readdir(dir)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (is_number(entry->d_name) && tid != pid)
			status = add_thread(scan, pid, tid, true, error);
	}
	if (dir)
		closedir(dir);
	return status;
}

static enum pd_status add_all(struct scan *scan, struct pd_error *error)
{
	DIR *dir = opendir(scan->proc);
	enum pd_status status = PD_OK;
	struct dirent *entry;

	while (dir && status >= 0 && (entry = readdir(dir)) != NULL)
		if (is_number(entry->d_name))
			status = add_process(scan, (uint32_t)strtoul(entry->d_name, NULL, 10), true, error);
	if (dir)
		closedir(dir);
	return status;
}

// Threads that were named: each process once with its maps, and these threads.
static enum pd_status add_threads(struct scan *scan, const struct pd_u32s *tids, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	uint32_t last = 0;

	for (size_t i = 0; i < tids->count && status >= 0; i++) {
		char path[512];
		uint32_t pid;

		snprintf(path, sizeof(path), "%s/%" PRIu32 "/status", scan->proc, tids->items[i]);
		pid = pd_procfile_read(&scan->status, path) ? number_of(&scan->status, "Tgid") : 0;
		if (!pid)
			continue;
		if (pid != last)
			status = add_thread(scan, pid, pid, false, error);
		last = pid;
		if (status >= 0 && tids->items[i] != pid)
			status = add_thread(scan, pid, tids->items[i], true, error);
	}
	return status;
}

enum pd_status pd_existing_tasks(struct pd_made *made, const struct pd_existing_options *options,
				 struct pd_existing_notes *notes, struct pd_error *error)
{
	const char *proc = options->proc ? options->proc : "/proc";
	struct scan scan = { .made = made,
			     .options = options,
			     .proc = proc,
			     .maps = { .made = made, .options = options, .proc = proc, .notes = notes } };
	enum pd_status status = PD_OK;

	if (options->all)
		status = add_all(&scan, error);
	for (size_t i = 0; i < options->pids.count && status >= 0; i++)
		status = add_process(&scan, options->pids.items[i], false, error);
	if (status >= 0)
		status = add_threads(&scan, &options->tids, error);
	pd_procfile_fini(&scan.status);
	pd_procfile_fini(&scan.maps.file);
	return status;
}
