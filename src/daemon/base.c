/* SPDX-License-Identifier: MIT */
/*
 * The directory of a daemon. Who holds its lock owns what is in it, also a socket that a daemon left behind that was killed. All is opened
 * relative to the directory, so that nobody can put another one in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/write_all.h"
#include "daemon/parts.h"

enum {
	BACKLOG = 16
};

static enum pd_status fail_with_name(const struct pd_daemon_base *base, const char *name, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s%s: %s", base->path, name, strerror(errno));
}

// ---- the lock ----

// A lock of this kind is also respected by perf.
static bool take_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &lock) == 0;
}

static enum pd_status fail_with_owner(const struct pd_daemon_base *base, struct pd_error *error)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (errno != EAGAIN && errno != EACCES)
		return fail_with_name(base, "/lock", error);
	if (fcntl(base->lock, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "another perf daemon (pid %d) owns %s", (int)lock.l_pid,
		       base->path);
}

static enum pd_status open_lock(struct pd_daemon_base *base, struct pd_error *error)
{
	char pid[32];
	int length = snprintf(pid, sizeof(pid), "%d", (int)getpid());

	base->lock = openat(base->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	if (base->lock < 0)
		return fail_with_name(base, "/lock", error);
	if (!take_lock(base->lock))
		return fail_with_owner(base, error);
	if (ftruncate(base->lock, 0) < 0 || !pd_write_all(base->lock, pid, (size_t)length))
		return fail_with_name(base, "/lock", error);
	return PD_OK;
}

// ---- the socket ----

enum pd_status pd_daemon_address(const char *base, struct sockaddr_un *address, struct pd_error *error)
{
	size_t size = sizeof(address->sun_path);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((size_t)snprintf(address->sun_path, size, "%s/control", base) >= size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "base %s: a socket in it would have a path of more than %zu bytes", base, size - 1);
	return PD_OK;
}

// Of a daemon that was killed: the lock is ours.
static bool remove_socket(const struct pd_daemon_base *base)
{
	struct stat about;

	if (fstatat(base->dir, "control", &about, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	errno = EEXIST;
	return S_ISSOCK(about.st_mode) && unlinkat(base->dir, "control", 0) == 0;
}

static enum pd_status listen_at(struct pd_daemon_base *base, struct pd_error *error)
{
	struct sockaddr_un address;
	enum pd_status status = pd_daemon_address(base->path, &address, error);

	if (status < 0)
		return status;
	if (!remove_socket(base))
		return fail_with_name(base, "/control", error);
	base->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (base->listener < 0 || bind(base->listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(base->listener, BACKLOG) < 0)
		return fail_with_name(base, "/control", error);
	return PD_OK;
}

// ---- the whole ----

// In the directory of somebody else, nothing stays what it is.
static enum pd_status check_owner(const struct pd_daemon_base *base, struct pd_error *error)
{
	struct stat about;

	if (fstat(base->dir, &about) < 0)
		return fail_with_name(base, "", error);
	if (about.st_uid && about.st_uid != geteuid())
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "base %s: belongs to another user", base->path);
	return PD_OK;
}

enum pd_status pd_daemon_base_open(struct pd_daemon_base *base, struct pd_error *error)
{
	enum pd_status status;

	base->lock = base->listener = -1;
	base->dir = open(base->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base->dir < 0)
		return fail_with_name(base, "", error);
	status = check_owner(base, error);
	if (status >= 0)
		status = open_lock(base, error);
	if (status >= 0)
		status = listen_at(base, error);
	return status;
}

void pd_daemon_base_fini(struct pd_daemon_base *base)
{
	if (base->listener >= 0) {
		unlinkat(base->dir, "control", 0);
		close(base->listener);
	}
	if (base->lock >= 0)
		close(base->lock);
	if (base->dir >= 0)
		close(base->dir);
	base->listener = base->lock = base->dir = -1;
}
