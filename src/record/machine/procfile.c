/* SPDX-License-Identifier: MIT */
#include "record/machine/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STEP = 16 << 10,
	MOST = 64 << 20
};

static bool read_until(struct pd_procfile *file, const char *path, bool first_line)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? 1 : -1;

	file->size = 0;
	file->cut = false;
	while (got > 0 && file->size < MOST && !(first_line && file->size && memchr(file->data, '\n', file->size))) {
		if (!PD_GROW(file->data, file->capacity, file->size + STEP + 1)) {
			got = -1;
			break;
		}
		do
			got = read(fd, file->data + file->size, file->capacity - file->size - 1);
		while (got < 0 && errno == EINTR);
		if (got > 0)
			file->size += (size_t)got;
	}
	file->cut = got > 0 && !first_line;
	if (fd >= 0)
		close(fd);
	if (got < 0)
		file->size = 0;
	if (file->data)
		file->data[file->size] = 0;
	return got >= 0;
}

bool pd_procfile_read(struct pd_procfile *file, const char *path)
{
	return read_until(file, path, false);
}

bool pd_procfile_read_line(struct pd_procfile *file, const char *path)
{
	return read_until(file, path, true);
}

void pd_procfile_fini(struct pd_procfile *file)
{
	pd_free(file->data);
	*file = (struct pd_procfile){ 0 };
}

char *pd_procfile_line(char **at)
{
	char *line = *at, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	*at = end ? end + 1 : line + strlen(line);
	if (end)
		*end = 0;
	return line;
}

const char *pd_procfile_value(const struct pd_procfile *file, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = file->size ? file->data : NULL; line && *line;) {
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

uint64_t pd_record_number(const char *path, uint64_t fallback)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	char *end = text;
	uint64_t number;

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return fallback;
	number = strtoull(text, &end, 10);
	return end != text ? number : fallback;
}
