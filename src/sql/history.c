/* SPDX-License-Identifier: MIT */
#include "sql/history.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/write_all.h"

enum {
	MOST_BYTES = 1 << 18, // that are read of the file: its end
	SHOWN = 50
};

// ---- the file ----

static void make_folders(const char *path)
{
	char folder[PATH_MAX];

	if (strlen(path) >= sizeof(folder))
		return;
	strcpy(folder, path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(folder, 0700);
		*slash = '/';
	}
}

// From the first whole line on.
static void read_end(struct pd_sql_history *history)
{
	off_t size = lseek(history->fd, 0, SEEK_END), from = size > MOST_BYTES ? size - MOST_BYTES : 0;
	ssize_t got;
	const char *line;

	if (size <= 0 || !pd_text_reserve(&history->lines, (size_t)(size - from) + 1))
		return;
	got = pread(history->fd, history->lines.data, (size_t)(size - from), from);
	history->lines.size = got > 0 ? (size_t)got : 0;
	line = from && got > 0 ? memchr(history->lines.data, '\n', history->lines.size) : NULL;
	if (line) {
		history->lines.size -= (size_t)(line + 1 - history->lines.data);
		memmove(history->lines.data, line + 1, history->lines.size);
	}
	if (history->lines.size && history->lines.data[history->lines.size - 1] != '\n')
		pd_text_char(&history->lines, '\n');
}

bool pd_sql_history_open(struct pd_sql_history *history, const char *path)
{
	struct stat about;

	history->fd = -1;
	if (!path)
		return true;
	make_folders(path);
	history->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600);
	if (history->fd < 0)
		return false;
	if (fstat(history->fd, &about) == 0 && S_ISREG(about.st_mode)) {
		read_end(history);
		return true;
	}
	close(history->fd);
	history->fd = -1;
	errno = EINVAL;
	return false;
}

void pd_sql_history_close(struct pd_sql_history *history)
{
	if (history->fd >= 0)
		close(history->fd);
	pd_free(history->lines.data);
}

// ---- lines ----

static size_t count_lines(const struct pd_text *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->size; i++)
		count += text->data[i] == '\n';
	return count;
}

// The number-th line from 0 on, and its length.
static const char *find_line(const struct pd_text *text, size_t number, size_t *length_out)
{
	const char *at = text->data, *end;

	for (;; at = end + 1) {
		size_t left = text->size - (size_t)(at - text->data);

		end = left ? memchr(at, '\n', left) : NULL;
		if (!end)
			return NULL;
		*length_out = (size_t)(end - at);
		if (!number--)
			return at;
	}
}

void pd_sql_history_add(struct pd_sql_history *history, const char *statement)
{
	size_t length = strlen(statement), count = count_lines(&history->lines), last_length = 0, at;
	const char *last = count ? find_line(&history->lines, count - 1, &last_length) : NULL;

	while (length && strchr(" \t\r\n", statement[length - 1]))
		length--;
	if (!length || (last && last_length == length && !memcmp(last, statement, length)))
		return;
	at = history->lines.size;
	for (size_t i = 0; i < length; i++)
		pd_text_char(&history->lines, statement[i] == '\n' ? ' ' : statement[i]);
	pd_text_char(&history->lines, '\n');
	if (history->lines.failed) {
		history->lines.failed = false;
		history->lines.size = at;
	} else if (history->fd >= 0) {
		// one that cannot be kept is known until the shell ends
		(void)pd_write_all(history->fd, history->lines.data + at, history->lines.size - at);
	}
}

char *pd_sql_history_find(const struct pd_sql_history *history, size_t number)
{
	size_t count = count_lines(&history->lines), length = 0;
	const char *line = NULL;
	char *found;

	if (count && number <= count)
		line = find_line(&history->lines, number ? number - 1 : count - 1, &length);
	found = line ? pd_alloc(length + 1) : NULL;
	if (found)
		memcpy(found, line, length);
	return found;
}

void pd_sql_history_print(const struct pd_sql_history *history, struct pd_text *text)
{
	size_t count = count_lines(&history->lines), length = 0;

	for (size_t i = count > SHOWN ? count - SHOWN : 0; i < count; i++) {
		const char *line = find_line(&history->lines, i, &length);

		pd_text_printf(text, "%5zu  ", i + 1);
		pd_text_escaped(text, line, length);
		pd_text_char(text, '\n');
	}
}
