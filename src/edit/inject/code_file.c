/* SPDX-License-Identifier: MIT */
// ELF files of JIT-compiled functions, for tools that know only files.
#include "edit/inject/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

bool pd_code_file_name(const struct pd_code_dump *dump, const struct pd_jit_code *code, size_t number, char *out,
		       size_t size)
{
	char repeat[32] = "";
	int n;

	if (dump->repeats[number])
		snprintf(repeat, sizeof(repeat), "-%zu", number);
	n = snprintf(out, size, "%s/jitted-%" PRIu32 "-%" PRIu64 "%s.so", dump->folder, code->pid, code->index, repeat);
	return n > 0 && (size_t)n < size;
}

static bool write_bytes(int fd, struct pd_bytes bytes)
{
	while (bytes.size) {
		ssize_t put = write(fd, bytes.data, bytes.size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		bytes.data += put;
		bytes.size -= (size_t)put;
	}
	return true;
}

static void report_unfinished(const struct pd_inject *inject, enum pd_unfinished step, const char *path)
{
	if (inject->options.unfinished)
		inject->options.unfinished(inject->options.self, step, path);
}

// To a temporary name first, so that nothing is written through a link that somebody has put there.
static bool write_file(const struct pd_inject *inject, const char *path, struct pd_bytes bytes, struct stat *about)
{
	char temporary[PATH_MAX];
	int n = snprintf(temporary, sizeof(temporary), "%s.new-%d", path, (int)getpid());
	bool done = false;
	int fd, failure;

	if (n < 0 || (size_t)n >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	report_unfinished(inject, PD_UNFINISHED_STARTS, temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	failure = errno;
	report_unfinished(inject, fd >= 0 ? PD_UNFINISHED_EXISTS : PD_UNFINISHED_FAILED, temporary);
	if (fd >= 0) {
		done = write_bytes(fd, bytes) && fstat(fd, about) == 0 && close(fd) == 0 &&
		       rename(temporary, path) == 0;
		failure = errno;
		if (!done)
			unlink(temporary);
		report_unfinished(inject, PD_UNFINISHED_DONE, temporary);
	}
	errno = failure;
	return done;
}

bool pd_code_file_write(struct pd_inject *inject, const struct pd_code_dump *dump, size_t number,
			struct pd_code_map *map)
{
	const struct pd_jit_code *code = pd_jitdump_code_at(dump->jit, number);
	struct pd_jit_object object;
	struct pd_error error;
	char path[PATH_MAX];
	struct stat about;

	if (pd_jitdump_object(dump->jit, code, &object, &error) < 0) {
		pd_inject_warn(inject, true, "%s: %s", dump->path, error.message);
		return false;
	}
	if (!pd_code_file_name(dump, code, number, path, sizeof(path)) ||
	    !write_file(inject, path, object.elf, &about)) {
		pd_inject_warn(inject, true, "%s: %s cannot be written: %s", dump->path, code->name, strerror(errno));
		return false;
	}
	inject->result.code_file_count++;
	map->pgoff = object.text_offset;
	map->maj = major(about.st_dev);
	map->min = minor(about.st_dev);
	map->ino = about.st_ino;
	map->id.size = PD_BUILD_ID_SIZE;
	memcpy(map->id.bytes, object.build_id, PD_BUILD_ID_SIZE);
	return true;
}
