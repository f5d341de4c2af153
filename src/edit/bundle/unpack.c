/* SPDX-License-Identifier: MIT */
/*
 * The members of an archive in a new directory. Names were made tidy when the archive was read; here nothing is written
 * through a link, and no link is created that leads out of the directory.
 */
#include <perfdata/bundle.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "base/write_all.h"

enum {
	PIECE_BYTES = 256 << 10,
	WARNING_BYTES = 9216
};

struct unpacking {
	const struct pd_archive *archive;
	struct pd_unpack_options options;
	struct pd_unpack_result *result;
	struct pd_error *error;
	const char *output;
	int dir; // that is filled
	uint8_t *piece;
};

// ---- names in the directory ----

// The folder of a name, made if it is missing; never through a link. Returns a descriptor or -1.
static int open_folder(int dir, const char *name, const char **leaf_out)
{
	char part[NAME_MAX + 1];
	int fd = dup(dir), next;
	const char *slash;

	for (; fd >= 0 && (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		if (slash - name > NAME_MAX) {
			close(fd);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, name, (size_t)(slash - name));
		part[slash - name] = 0;
		next = mkdirat(fd, part, 0777) < 0 && errno != EEXIST ?
			       -1 :
			       openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	*leaf_out = name;
	return fd;
}

// False if the target of a link leads out of the directory; depth is that of the folder that has it.
static bool stays_inside(const char *target, size_t depth)
{
	if (*target == '/')
		return false;
	while (*target) {
		size_t length = strcspn(target, "/");

		if (length == 2 && target[0] == '.' && target[1] == '.') {
			if (!depth--)
				return false;
		} else if (length && !(length == 1 && target[0] == '.')) {
			depth++;
		}
		target += length + (target[length] == '/');
	}
	return true;
}

// ---- members ----

// Holes stay holes.
static bool write_file(struct unpacking *u, const struct pd_member *member, int fd)
{
	uint64_t start = 0, size = 0;

	for (uint64_t at = 0; pd_archive_extent(u->archive, member, at, &start, &size); at = start + size) {
		if (lseek(fd, (off_t)start, SEEK_SET) < 0)
			return false;
		for (uint64_t done = 0; done < size;) {
			size_t part = size - done < PIECE_BYTES ? (size_t)(size - done) : PIECE_BYTES, got = 0;

			errno = EIO;
			if (pd_archive_read(u->archive, member, start + done, u->piece, part, &got, NULL) < 0 || !got ||
			    !pd_write_all(fd, u->piece, got))
				return false;
			done += got;
		}
	}
	return ftruncate(fd, (off_t)member->size) == 0;
}

static bool make_file(struct unpacking *u, const struct pd_member *member, int folder, const char *leaf)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = member->modified } };
	bool is_recording = !strncmp(member->name, "perf.data", 9);
	bool ok;
	int fd;

	if (member->target && !strcmp(member->target, member->name))
		return true;
	// Of several with one name the last one counts.
	unlinkat(folder, leaf, 0);
	if (member->target)
		return linkat(u->dir, member->target, folder, leaf, 0) == 0;
	fd = openat(folder, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, is_recording ? 0600 : 0666);
	if (fd < 0)
		return false;
	ok = write_file(u, member, fd);
	futimens(fd, times);
	return close(fd) == 0 && ok;
}

static void refuse(struct unpacking *u, const struct pd_member *member, const char *reason)
{
	char message[WARNING_BYTES];

	if (u->result->refused_count++ >= PD_UNPACK_WARNINGS || !u->options.warn)
		return;
	snprintf(message, sizeof(message), "%s: skipped: %s", member->name, reason);
	u->options.warn(u->options.self, message);
}

static bool make_link(struct unpacking *u, const struct pd_member *member, int folder, const char *leaf)
{
	size_t depth = 0;

	for (const char *at = member->name; (at = strchr(at, '/')) != NULL; at++)
		depth++;
	if (!stays_inside(member->target, depth)) {
		refuse(u, member, "link to outside of the directory");
		return true;
	}
	unlinkat(folder, leaf, 0);
	if (symlinkat(member->target, folder, leaf) < 0)
		return false;
	u->result->link_count++;
	return true;
}

// Another member has the place, or it can be none.
static bool is_taken(int reason)
{
	return reason == EEXIST || reason == ENOTDIR || reason == EISDIR || reason == ELOOP || reason == ENAMETOOLONG ||
	       reason == ENOENT;
}

static bool make_member(struct unpacking *u, const struct pd_member *member)
{
	const char *leaf;
	int folder, reason;
	bool ok;

	if (!*member->name)
		return true;
	folder = open_folder(u->dir, member->name, &leaf);
	ok = folder >= 0;
	if (ok && member->kind == PD_MEMBER_FOLDER)
		ok = mkdirat(folder, leaf, 0777) == 0 || errno == EEXIST;
	else if (ok && member->kind == PD_MEMBER_LINK)
		ok = make_link(u, member, folder, leaf);
	else if (ok)
		ok = make_file(u, member, folder, leaf);
	reason = errno;
	if (folder >= 0)
		close(folder);
	u->result->file_count += ok && member->kind == PD_MEMBER_FILE;
	if (ok)
		return true;
	if (is_taken(reason)) {
		refuse(u, member, strerror(reason));
		return true;
	}
	pd_fail(u->error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s/%s: %s", u->output, member->name, strerror(reason));
	return false;
}

// Links come last, so that nothing is written where they lead.
static bool make_members(struct unpacking *u)
{
	const struct pd_member *member;

	for (int links = 0; links < 2; links++) {
		for (size_t i = 0; (member = pd_archive_member(u->archive, i)) != NULL; i++) {
			if (member->kind == PD_MEMBER_REFUSED && !links)
				refuse(u, member, member->reason);
			if (member->kind == PD_MEMBER_REFUSED || (member->kind == PD_MEMBER_LINK) != links)
				continue;
			if (!make_member(u, member))
				return false;
		}
	}
	return true;
}

// ---- all ----

static enum pd_status fill(struct unpacking *u, const char *temporary)
{
	u->dir = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	u->piece = pd_alloc(PIECE_BYTES);
	if (u->dir < 0 || !u->piece)
		return pd_fail(u->error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", temporary,
			       u->dir < 0 ? strerror(errno) : "out of memory");
	if (!make_members(u))
		return PD_ERROR_OUTPUT;
	// an empty directory may have the name
	if (rename(temporary, u->output) < 0)
		return pd_fail(u->error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", u->output, strerror(errno));
	return PD_OK;
}

static void report_unfinished(const struct unpacking *u, enum pd_unfinished step, const char *path)
{
	if (u->options.unfinished)
		u->options.unfinished(u->options.self, step, path);
}

// A temporary directory, next to the output.
static bool create_temporary(const struct unpacking *u, char *temporary)
{
	bool made;
	int failure;

	report_unfinished(u, PD_UNFINISHED_STARTS, temporary);
	made = mkdtemp(temporary);
	failure = errno;
	report_unfinished(u, made ? PD_UNFINISHED_EXISTS : PD_UNFINISHED_FAILED, temporary);
	errno = failure;
	return made;
}

static enum pd_status unpack(struct unpacking *u)
{
	char *temporary = u->result->incomplete;
	size_t length = strlen(u->output), capacity = sizeof(u->result->incomplete);
	enum pd_status status;

	while (length > 1 && u->output[length - 1] == '/')
		length--;
	errno = ENAMETOOLONG;
	if (snprintf(temporary, capacity, "%.*s.XXXXXX", (int)length, u->output) >= (int)capacity ||
	    !create_temporary(u, temporary)) {
		status = pd_fail(u->error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", u->output, strerror(errno));
		*temporary = 0;
		return status;
	}
	chmod(temporary, u->options.mode ? u->options.mode & 0777 : 0700);
	status = fill(u, temporary);
	report_unfinished(u, PD_UNFINISHED_DONE, temporary);
	if (status >= 0)
		*temporary = 0;
	if (u->dir >= 0)
		close(u->dir);
	pd_free(u->piece);
	return status;
}

enum pd_status pd_archive_unpack(const struct pd_archive *archive, const char *directory,
				 const struct pd_unpack_options *options, struct pd_unpack_result *result_out,
				 struct pd_error *error)
{
	struct unpacking u = {
		.archive = archive, .result = result_out, .error = error, .output = directory, .dir = -1
	};

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (options)
		memcpy(&u.options, options, options->size < sizeof(u.options) ? options->size : sizeof(u.options));
	memset(result_out, 0, sizeof(*result_out));
	return unpack(&u);
}

void pd_unpack_text(const struct pd_unpack_result *result, const char *directory, struct pd_text *text)
{
	pd_text_printf(text, "unpacked %" PRIu64 " file%s and %" PRIu64 " link%s into ", result->file_count,
		       pd_plural(result->file_count), result->link_count, pd_plural(result->link_count));
	pd_text_escaped(text, directory, strlen(directory));
	pd_text_add(text, "\n");
}
