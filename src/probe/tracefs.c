/* SPDX-License-Identifier: MIT */
/* Probes of the kernel: kprobe_events and uprobe_events of tracefs, and what its README says of them. */
#include "probe/set.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/elf/image.h"

enum {
	MOST_BYTES = 16 << 20
};

static bool make_path(const char *tracefs, const char *name, char path[4096])
{
	int n = snprintf(path, 4096, "%s/%s", tracefs, name);

	return n > 0 && n < 4096;
}

static const char *file_of(bool is_user)
{
	return is_user ? "uprobe_events" : "kprobe_events";
}

static char *read_all(const char *tracefs, const char *name)
{
	char path[4096];
	uint8_t *data;
	size_t size;

	if (!make_path(tracefs, name, path) || pd_image_read_file(path, MOST_BYTES, &data, &size, NULL))
		return NULL;
	return (char *)data;
}

char *pd_probe_events_read(const char *tracefs, bool is_user)
{
	return read_all(tracefs, file_of(is_user));
}

char *pd_probe_tracefs(const struct pd_probe_options *options)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[4096], *copy = NULL;

	for (size_t i = 0; i < 2 && !copy; i++) {
		const char *place = options->tracefs ? options->tracefs : places[i];
		size_t size = strlen(place) + 1;

		if (!make_path(place, "events", path) || access(path, R_OK) != 0)
			continue;
		copy = pd_alloc(size);
		if (copy)
			memcpy(copy, place, size);
	}
	return copy;
}

// ---- features ----

static bool has_line(const char *text, const char *pattern)
{
	char line[512];

	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "\n");

		if (length < sizeof(line)) {
			memcpy(line, at, length);
			line[length] = 0;
			if (fnmatch(pattern, line, 0) == 0)
				return true;
		}
		at += length + (at[length] == '\n');
	}
	return false;
}

struct pd_probe_features pd_probe_features_read(const char *tracefs)
{
	// where nobody may look, kernels of these years can do all of it
	struct pd_probe_features features = {
#define FEATURE(member, pattern) .member = true,
#include "probe/find/features.def"
	};
	char *text = tracefs ? read_all(tracefs, "README") : NULL;

	if (!text)
		return features;
#define FEATURE(member, pattern) features.member = has_line(text, pattern);
#include "probe/find/features.def"
	pd_free(text);
	return features;
}

// ---- writing ----

enum pd_status pd_probe_events_write(const char *tracefs, bool is_user, const char *line, struct pd_error *error)
{
	size_t length = strlen(line);
	enum pd_status status = PD_OK;
	char path[4096];
	int fd;

	// a name with a line end in it would be two lines for the kernel, the second one whatever it likes
	if (!length || strchr(line, '\n') != line + length - 1)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "a name of the object has a line end in it");
	if (!tracefs)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "tracefs is not mounted, or may not be read; probes need root");
	if (!make_path(tracefs, file_of(is_user), path))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the path of tracefs is too long");
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: this kernel has no %s", path,
			       is_user ? "probes in programs" : "probes of its own functions");
	if (fd < 0)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
	if (write(fd, line, length) != (ssize_t)length)
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the kernel refused '%.*s': %s",
				 (int)strcspn(line, "\n"), line, strerror(errno));
	if (close(fd) && !status)
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
	return status;
}

// ---- names ----

static void put_names(struct pd_text *text, const char *lines)
{
	for (const char *at = lines; *at;) {
		size_t length = strcspn(at, "\n"), name = strcspn(at, " \t\n");
		const char *colon = memchr(at, ':', name), *slash = memchr(at, '/', name);

		if (colon && slash && slash > colon)
			pd_text_printf(text, "%.*s:%.*s\n", (int)(slash - colon - 1), colon + 1,
				       (int)(at + name - slash - 1), slash + 1);
		at += length + (at[length] == '\n');
	}
}

char *pd_probe_names(const char *tracefs)
{
	struct pd_text text = { .data = NULL };

	for (int i = 0; i < 2; i++) {
		char *lines = pd_probe_events_read(tracefs, i == 1);

		if (lines)
			put_names(&text, lines);
		pd_free(lines);
	}
	pd_text_char(&text, 0);
	if (text.failed) {
		pd_free(text.data);
		return NULL;
	}
	return text.data;
}

// ---- reading lines ----

static const char *copy_part(struct pd_arena *arena, const char *start, const char *end)
{
	return pd_arena_text(arena, start, (size_t)(end - start));
}

static bool take_name(struct pd_arena *arena, const char *start, const char *end, struct pd_probe_point *point)
{
	const char *colon = memchr(start, ':', (size_t)(end - start));
	const char *slash = colon ? memchr(colon, '/', (size_t)(end - colon)) : NULL;

	if (!slash || (*start != 'p' && *start != 'r'))
		return false;
	point->is_return = *start == 'r';
	point->group = copy_part(arena, colon + 1, slash);
	point->event = copy_part(arena, slash + 1, end);
	return point->group && point->event;
}

static bool take_target(struct pd_arena *arena, const char *start, const char *end, struct pd_probe_point *point)
{
	const char *colon = memchr(start, ':', (size_t)(end - start)), *plus;
	char *text;

	if (colon) {
		point->module = copy_part(arena, start, colon);
		start = colon + 1;
		if (!point->module)
			return false;
		point->is_user = point->module[0] == '/';
	}
	text = pd_arena_text(arena, start, (size_t)(end - start));
	if (!text)
		return false;
	if (text[0] == '0') {
		point->addr = strtoull(text, NULL, 0);
		return true;
	}
	plus = strchr(text, '+');
	point->offset = plus ? strtoull(plus + 1, NULL, 0) : 0;
	text[strcspn(text, "+")] = 0;
	point->symbol = text;
	return true;
}

static bool take_value(struct pd_arena *arena, const char *start, const char *end, struct pd_probe_point *point)
{
	struct pd_probe_value *value = &point->values[point->value_count];
	const char *equals = memchr(start, '=', (size_t)(end - start));

	if (point->value_count == PD_PROBE_ARGUMENTS)
		return true;
	value->name = copy_part(arena, start, equals ? equals : end);
	value->value = copy_part(arena, equals ? equals + 1 : start, end);
	point->value_count++;
	return value->name && value->value;
}

bool pd_probe_parse_event(struct pd_arena *arena, const char *line, size_t length, struct pd_probe_point *point)
{
	const char *all = line + length;
	size_t words = 0;

	*point =
		(struct pd_probe_point){ .values = pd_arena_alloc(arena, PD_PROBE_ARGUMENTS * sizeof(*point->values)) };
	point->line = pd_arena_text(arena, line, length);
	if (!point->values || !point->line)
		return false;
	while (line < all) {
		const char *end = line;
		bool ok;

		while (end < all && *end != ' ' && *end != '\t')
			end++;
		if (end == line) {
			line++;
			continue;
		}
		ok = words == 0 ? take_name(arena, line, end, point) :
		     words == 1 ? take_target(arena, line, end, point) :
				  take_value(arena, line, end, point);
		if (!ok)
			return false;
		words++;
		line = end;
	}
	return words >= 2;
}
