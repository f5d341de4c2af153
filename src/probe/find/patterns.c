/* SPDX-License-Identifier: MIT */
/* Source files: where they are, and which of their lines match a pattern. */
#include "probe/find/finder.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "object/elf/image.h"

enum {
	MOST_SOURCE = 64 << 20
};

// ---- where ----

static const char *joined(struct pd_arena *arena, const char *folder, const char *path)
{
	size_t length = strlen(folder), size = strlen(path);
	char *text = pd_arena_alloc(arena, length + size + 2);

	if (!text)
		return NULL;
	memcpy(text, folder, length);
	text[length] = '/';
	memcpy(text + length + 1, path, size + 1);
	return text;
}

const char *pd_probe_source(struct pd_arena *arena, const char *path, const char *folder, const char *root)
{
	const char *tail = path, *tried;
	size_t length = folder ? strlen(folder) : 0;

	if (!root) {
		if (path[0] != '/' && folder)
			path = joined(arena, folder, path);
		return path && access(path, R_OK) == 0 ? path : NULL;
	}
	if (length && strncmp(path, folder, length) == 0 && path[length] == '/')
		tail = path + length + 1;
	// as it is below the root, then with less and less of its folders
	for (; tail; tail = strchr(tail, '/')) {
		tail += *tail == '/';
		tried = joined(arena, root, tail);
		if (tried && access(tried, R_OK) == 0)
			return tried;
	}
	return NULL;
}

// ---- which lines ----

struct state {
	const char *pattern, *text; // to go on with
};

// Steps over what is the same in both; false if they differ. Blanks do not count.
static bool match_step(struct state *s)
{
	while (isspace((unsigned char)*s->text))
		s->text++;
	while (isspace((unsigned char)*s->pattern))
		s->pattern++;
	if (!*s->text)
		return false;
	if (*s->pattern == '\\' && s->pattern[1])
		s->pattern++;
	else if (*s->pattern == '?') {
		s->pattern++;
		s->text++;
		return true;
	}
	if (*s->pattern != *s->text)
		return false;
	s->pattern++;
	s->text++;
	return true;
}

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

// * is any text; the last one that was met is tried again further on.
static bool matches(const char *text, const char *pattern)
{
	struct state at = { pattern, text }, last = { NULL, NULL };

	for (;;) {
		at.pattern = skip_blanks(at.pattern);
		at.text = skip_blanks(at.text);
		if (*at.pattern == '*') {
			at.pattern++;
			last = at;
			continue;
		}
		if (!*at.pattern && !*at.text)
			return true;
		if (*at.pattern && match_step(&at))
			continue;
		if (!last.pattern || !*last.text)
			return false;
		last.text++;
		at = last;
	}
}

enum pd_status pd_probe_match_lines(const char *path, const char *pattern, uint32_t **lines_out, size_t *count_out,
				    struct pd_error *error)
{
	size_t size, capacity = 0;
	uint8_t *data;
	uint32_t number = 1;
	enum pd_status status = pd_image_read_file(path, MOST_SOURCE, &data, &size, error);

	*lines_out = NULL;
	*count_out = 0;
	if (status)
		return status;
	for (char *line = (char *)data, *end = line + size; line < end && !status; number++) {
		char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		*stop = 0;
		if (matches(line, pattern)) {
			if (PD_GROW(*lines_out, capacity, *count_out + 1))
				(*lines_out)[(*count_out)++] = number;
			else
				status = pd_fail_memory(error);
		}
		line = stop + 1;
	}
	pd_free(data);
	return status;
}
