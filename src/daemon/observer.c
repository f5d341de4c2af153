/* SPDX-License-Identifier: MIT */
/*
 * Changes of the configuration. The directories are watched and not the files, as most editors put a new file in the place of the old one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/text/path.h"
#include "daemon/parts.h"

enum {
	EVENTS_SIZE = 16 * (sizeof(struct inotify_event) + NAME_MAX + 1)
};

// Watches the directory of a path; false with errno.
static bool observe_file(struct pd_daemon_observer *observer, size_t index, char *path)
{
	const char *leaf = pd_path_leaf(path);
	size_t length = (size_t)(leaf - path), name = strlen(leaf);
	char before;

	errno = ENAMETOOLONG;
	if (name > NAME_MAX)
		return false;
	memcpy(observer->files[index].name, leaf, name + 1);
	before = path[length];
	path[length] = '\0';
	observer->files[index].number =
		inotify_add_watch(observer->fd, length ? path : ".", IN_CLOSE_WRITE | IN_MOVED_TO);
	path[length] = before;
	// a home that is not there has no configuration
	return observer->files[index].number >= 0 || errno == ENOENT;
}

// A link is followed: what is edited is what it leads to.
static bool observe_path(struct pd_daemon_observer *observer, size_t index, const char *file)
{
	char *path = realpath(file, NULL);
	bool ok;

	if (!path)
		path = strdup(file);
	errno = ENOMEM;
	ok = path && observe_file(observer, index, path);
	free(path);
	return ok;
}

void pd_daemon_observer_init(struct pd_daemon_observer *observer, const struct pd_daemon_options *options)
{
	const char *files[PD_DAEMON_FILES + 1];
	char home[PD_DAEMON_PATH];
	bool ok;

	for (size_t i = 0; i < PD_DAEMON_FILES; i++)
		observer->files[i].number = -1;
	observer->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	ok = observer->fd >= 0;
	pd_daemon_config_files(options, home, files);
	for (size_t i = 0; ok && files[i]; i++)
		ok = observe_path(observer, i, files[i]);
	if (!ok)
		pd_daemon_warn(options, "changes of the configuration are not noticed: %s", strerror(errno));
}

static bool is_of_file(const struct pd_daemon_observer *observer, const struct inotify_event *event)
{
	// some were lost
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	for (size_t i = 0; i < PD_DAEMON_FILES; i++)
		if (event->wd == observer->files[i].number && event->len &&
		    !strcmp(event->name, observer->files[i].name))
			return true;
	return false;
}

bool pd_daemon_observer_take(struct pd_daemon_observer *observer)
{
	_Alignas(struct inotify_event) char events[EVENTS_SIZE];
	bool changed = false;
	ssize_t got;

	while ((got = read(observer->fd, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *event = (const struct inotify_event *)(events + at);

			changed |= is_of_file(observer, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
	return changed;
}

void pd_daemon_observer_fini(struct pd_daemon_observer *observer)
{
	if (observer->fd >= 0)
		close(observer->fd);
	observer->fd = -1;
}
