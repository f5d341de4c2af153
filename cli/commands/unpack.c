/* SPDX-License-Identifier: MIT */
/*
 * perfdata unpack: the files of a bundle in a new directory. Names were made tidy by the library; here nothing is written
 * through a link, and no link is made that leads out of the directory.
 */
#include "front/cli.h"
#include "front/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 256 << 10, REFUSED_SHOWN = 20 };

struct values {
	const char *input;
	const char *output;
	bool quiet;
};

static const struct option options[] = {
	{ "input", 'i', OPTION_STRING, "FILE", offsetof(struct values, input), "bundle to read; - is standard input" },
	{ "output", 'o', OPTION_STRING, "DIR", offsetof(struct values, output), "directory to create" },
	{ "quiet", 'q', OPTION_FLAG, NULL, offsetof(struct values, quiet), "do not report skipped members" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata unpack bundle.tar -o there", "unpack perf.data and its objects into the directory there" },
	{ "perfdata report --symfs there there/perf.data", "use them" },
	{ "perf --buildid-dir there report -i there/perf.data", "the same with perf" },
	{ 0 },
};

struct unpacking {
	const struct pd_archive *archive;
	const char *output;
	int dir; /* that is filled */
	uint8_t *step;
	uint64_t files, links, refused;
	bool quiet;
};

/* ---- places in the directory ---- */

/* The folder of a name, made if it is missing; never through a link. Returns a descriptor or -1. */
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
			       -1 : openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	*leaf_out = name;
	return fd;
}

/* False if the target of a link leads out of the directory; depth is that of the folder that has it. */
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

/* ---- members ---- */

static bool write_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		data += done;
		size -= (size_t)done;
	}
	return true;
}

/* Holes stay holes. */
static bool write_file(struct unpacking *u, const struct pd_member *member, int fd)
{
	uint64_t start = 0, size = 0;

	for (uint64_t at = 0; pd_archive_extent(u->archive, member, at, &start, &size); at = start + size) {
		if (lseek(fd, (off_t)start, SEEK_SET) < 0)
			return false;
		for (uint64_t done = 0; done < size;) {
			size_t part = size - done < STEP ? (size_t)(size - done) : STEP, got = 0;

			errno = EIO;
			if (pd_archive_read(u->archive, member, start + done, u->step, part, &got, NULL) < 0 || !got ||
			    !write_all(fd, u->step, got))
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
	/* Of several with one name the last one counts. */
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
	if (u->refused++ < REFUSED_SHOWN && !u->quiet)
		complain("%s: skipped: %s", member->name, reason);
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
	u->links++;
	return true;
}

/* Another member has the place, or it can be none. */
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
	u->files += ok && member->kind == PD_MEMBER_FILE;
	if (ok)
		return true;
	if (is_taken(reason)) {
		refuse(u, member, strerror(reason));
		return true;
	}
	complain("%s/%s: %s", u->output, member->name, strerror(reason));
	return false;
}

/* Links come last, so that nothing is written where they lead. */
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

/* ---- the command ---- */

static int unpack_to(struct unpacking *u, const char *beside)
{
	u->dir = open(beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	u->step = malloc(STEP);
	if (u->dir < 0 || !u->step) {
		complain("%s: %s", beside, strerror(errno));
		return CODE_OUTPUT;
	}
	if (!make_members(u))
		return CODE_OUTPUT;
	/* An empty directory may have the name. */
	if (rename(beside, u->output) < 0) {
		complain("%s: %s", u->output, strerror(errno));
		return CODE_OUTPUT;
	}
	return CODE_FINE;
}

/* A new directory beside the wanted one. */
static bool make_beside(char *beside, struct unfinished **unfinished_out)
{
	bool made;

	unfinished_begin();
	made = mkdtemp(beside);
	if (made)
		*unfinished_out = unfinished_add(beside, UNFINISHED_TREE);
	unfinished_end();
	return made;
}

static int unpack(struct unpacking *u)
{
	struct unfinished *unfinished = NULL;
	char beside[PATH_MAX];
	mode_t mask = umask(0);
	size_t length = strlen(u->output);
	int code;

	umask(mask);
	while (length > 1 && u->output[length - 1] == '/')
		length--;
	if (snprintf(beside, sizeof(beside), "%.*s.XXXXXX", (int)length, u->output) >= (int)sizeof(beside) ||
	    !make_beside(beside, &unfinished)) {
		complain("%s: %s", u->output, strerror(errno));
		return CODE_OUTPUT;
	}
	chmod(beside, 0777 & ~mask);
	code = unpack_to(u, beside);
	unfinished_done(unfinished);
	if (code != CODE_FINE)
		complain("incomplete output is in %s", beside);
	if (u->dir >= 0)
		close(u->dir);
	free(u->step);
	return code;
}

static int tell_result(const struct unpacking *u)
{
	uint64_t offset = 0;
	const char *damage = pd_archive_damage(u->archive, &offset);

	if (u->refused > REFUSED_SHOWN && !u->quiet)
		complain("skipped: %" PRIu64 " more", u->refused - REFUSED_SHOWN);
	if (damage)
		complain("%s: offset 0x%" PRIx64 ": %s", pd_archive_name(u->archive), offset, damage);
	if (!u->quiet)
		complain("unpacked %" PRIu64 " file%s and %" PRIu64 " link%s into %s", u->files, plural(u->files), u->links,
			 plural(u->links), u->output);
	return damage || u->refused ? CODE_DAMAGED : CODE_FINE;
}

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	if (!dir)
		return false;
	while ((entry = readdir(dir)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return !count;
}

static bool is_free(const char *path)
{
	struct stat status;

	if ((lstat(path, &status) < 0 && errno == ENOENT) || is_empty(path))
		return true;
	complain("%s: already exists", path);
	return false;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct unpacking u = { .output = values->output, .dir = -1, .quiet = values->quiet };
	const char *input = values->input ? values->input : call->word_count ? call->words[0] : NULL;
	struct pd_archive *archive = NULL;
	struct pd_error error;
	enum pd_status status;
	int code;

	if (values->input && call->word_count) {
		complain("unexpected argument '%s' (--input is '%s' already)", call->words[0], values->input);
		return CODE_USAGE;
	}
	if (!input || !u.output) {
		complain(input ? "no output given; use -o DIR" : "no input given; name a BUNDLE, or - for standard input");
		return CODE_USAGE;
	}
	if (!is_free(u.output))
		return CODE_OUTPUT;
	if (strcmp(input, "-") != 0)
		status = pd_archive_open(input, NULL, &archive, &error);
	else
		status = pd_archive_open_fd(STDIN_FILENO, NULL, &archive, &error);
	if (status < 0) {
		complain("%s", error.message);
		return CODE_UNREADABLE;
	}
	u.archive = archive;
	code = unpack(&u);
	if (code == CODE_FINE)
		code = tell_result(&u);
	pd_archive_close(archive);
	return code;
}

const struct command cmd_unpack = {
	.usage = "[OPTION]... BUNDLE -o DIR",
	.text = "Unpack a bundle, or any tar file, into a new or empty directory, which can be used with --symfs and "
		"--buildid-dir, also of perf.\n"
		"\n"
		"DIR appears when it is complete; an interrupted run removes its files. Members outside of DIR, and those that are not files, "
		"directories or links, are skipped and reported; the exit code is 1 then. A bundle is an ordinary tar file, so tar "
		"can unpack it, too.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
