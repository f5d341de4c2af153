/* SPDX-License-Identifier: MIT */
/* Cgroups by their number, which is that of the folder in the file system of cgroups. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "record/machine/procfile.h"
#include "record/record.h"

enum {
	MOST_DEPTH = 64
};

// The folder of cgroups of version 2, or of perf_event in version 1.
static bool find_mount(const char *proc, char *path, size_t capacity)
{
	struct pd_procfile mounts = { 0 };
	char name[512], *at, *line;
	bool found = false;

	snprintf(name, sizeof(name), "%s/mounts", proc);
	pd_procfile_read(&mounts, name);
	at = mounts.size ? mounts.data : NULL;
	while ((line = pd_procfile_line(&at)) != NULL) {
		char where[256], kind[32], options[512];

		if (sscanf(line, "%*s %255s %31s %511s", where, kind, options) != 3)
			continue;
		if (strcmp(kind, "cgroup") == 0 && strstr(options, "perf_event")) {
			snprintf(path, capacity, "%s", where);
			found = true;
			break;
		}
		if (strcmp(kind, "cgroup2") == 0) {
			snprintf(path, capacity, "%s", where);
			found = true;
		}
	}
	pd_procfile_fini(&mounts);
	return found;
}

static enum pd_status add_one(struct pd_made *made, const char *path, const char *name, struct pd_error *error)
{
	struct pd_cgroup cgroup = { .path = { name, (uint32_t)strlen(name), 0 } };
	struct {
		struct file_handle handle;
		uint64_t id;
	} buffer = { .handle.handle_bytes = sizeof(buffer.id) };
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &buffer.handle, &mount, 0) < 0)
		return PD_OK;
	memcpy(&cgroup.id, buffer.handle.f_handle, sizeof(cgroup.id));
	return pd_made_add(made, PD_RECORD_CGROUP, 0, &cgroup, error);
}

// path is a buffer of PATH_CAPACITY bytes whose first `root` bytes are the mount.
enum {
	PATH_CAPACITY = 4096
};

static enum pd_status walk_cgroups(struct pd_made *made, char *path, size_t root, unsigned depth,
				   struct pd_error *error)
{
	size_t length = strlen(path);
	enum pd_status status = add_one(made, path, path[root] ? path + root : "/", error);
	DIR *dir = status >= 0 && depth < MOST_DEPTH ? opendir(path) : NULL;
	struct dirent *entry;

	while (dir && status >= 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    length + 1 + strlen(entry->d_name) >= PATH_CAPACITY)
			continue;
		snprintf(path + length, PATH_CAPACITY - length, "/%s", entry->d_name);
		status = walk_cgroups(made, path, root, depth + 1, error);
		path[length] = 0;
	}
	if (dir)
		closedir(dir);
	return status;
}

enum pd_status pd_existing_cgroups(struct pd_made *made, const struct pd_existing_options *options,
				   struct pd_error *error)
{
	char path[PATH_CAPACITY];

	if (!find_mount(options->proc ? options->proc : "/proc", path, sizeof(path)))
		return PD_OK;
	return walk_cgroups(made, path, strlen(path), 0, error);
}
