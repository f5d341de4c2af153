/* SPDX-License-Identifier: MIT */
/* Sets a key in the text of a configuration: only the bytes of its value change. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/config/config.h"
#include "base/text/text.h"
#include "base/write_all.h"

// ---- names ----

static bool is_word(const char *text, size_t length, const char *more)
{
	if (!length || !((text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z'))
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && (!c || !strchr(more, c)))
			return false;
	}
	return true;
}

// The dot between section and key; NULL if this is no name.
static const char *find_dot(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (strlen(name) >= PD_CONFIG_MOST_NAME / 2 || !dot || !is_word(name, (size_t)(dot - name), "-_.") ||
	    !is_word(dot + 1, strlen(dot + 1), "-_"))
		return NULL;
	return dot;
}

// ---- the new text ----

// What would end a value, or be another one, stands in quotes.
static void add_value(struct pd_text *out, const char *value)
{
	size_t length = strlen(value);
	bool quoted = !length || value[0] == ' ' || value[length - 1] == ' ' || strpbrk(value, "#;\"\\\n\t\b\r\f\v");
	static const char from[] = "\t\b\n\\\"", to[] = "tbn\\\"";

	if (quoted)
		pd_text_char(out, '"');
	for (const char *at = value; *at; at++) {
		const char *escape = strchr(from, *at);

		if (escape)
			pd_text_char(out, '\\');
		pd_text_char(out, escape ? to[escape - from] : *at);
	}
	if (quoted)
		pd_text_char(out, '"');
}

static void add_line(struct pd_text *out, const char *key, const char *value)
{
	pd_text_printf(out, "%s = ", key);
	add_value(out, value);
}

static void add_bytes(struct pd_text *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		pd_text_char(out, text[i]);
}

// The last setting with this name, or with this section if length is that of one. NULL if there is none.
static const struct pd_setting *find_last(const struct pd_config *config, const char *name, size_t length, bool section)
{
	for (size_t i = config->count; i; i--) {
		const struct pd_setting *setting = &config->settings[i - 1];

		if (strlen(setting->name) < length || strncasecmp(setting->name, name, length) != 0)
			continue;
		if (section ? strrchr(setting->name, '.') == setting->name + length : !setting->name[length])
			return setting;
	}
	return NULL;
}

static void add_new_section(struct pd_text *out, const char *text, const char *name, const char *key, const char *value)
{
	size_t length = strlen(text);

	add_bytes(out, text, length);
	// a last line that goes on would take the section as its value
	if (length && (text[length - 1] != '\n' || (length > 1 && text[length - 2] == '\\')))
		pd_text_char(out, '\n');
	pd_text_printf(out, "[%.*s]\n\t", (int)(key - 1 - name), name);
	add_line(out, key, value);
	pd_text_char(out, '\n');
}

static void add_changed(struct pd_text *out, const struct pd_config *config, const char *text, const char *name,
			const char *value)
{
	const char *key = strrchr(name, '.') + 1;
	const struct pd_setting *same = find_last(config, name, strlen(name), false);
	const struct pd_setting *neighbour = find_last(config, name, (size_t)(key - 1 - name), true);

	if (same) {
		add_bytes(out, text, same->begin);
		add_line(out, key, value);
		pd_text_add(out, text + same->end);
	} else if (neighbour) {
		size_t end = neighbour->end + strcspn(text + neighbour->end, "\n");

		add_bytes(out, text, end);
		pd_text_add(out, "\n\t");
		add_line(out, key, value);
		pd_text_add(out, text[end] ? text + end : "\n");
	} else {
		add_new_section(out, text, name, key, value);
	}
}

enum pd_status pd_config_change(const char *path, const char *text, const char *name, const char *value,
				struct pd_text *changed, struct pd_error *error)
{
	struct pd_config *config;
	enum pd_status status;

	if (!find_dot(name))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not the name of a key: section.key",
			       name);
	config = pd_config_new();
	if (!config)
		return pd_fail_memory(error);
	status = pd_config_add(config, path, text, error);
	if (status == PD_OK)
		add_changed(changed, config, text, name, value);
	pd_config_free(config);
	return status == PD_OK && pd_text_failed(changed) ? pd_fail_memory(error) : status;
}

// ---- the file ----

// The text of a file, for pd_free; "" of one that is missing. NULL with errno.
static char *read_file(const char *path, mode_t *mode_out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *text;

	*mode_out = 0600;
	if (fd < 0)
		return errno == ENOENT ? pd_alloc(1) : NULL;
	if (fstat(fd, &status) == 0)
		*mode_out = status.st_mode & 0777;
	text = pd_config_read_text(fd);
	close(fd);
	return text;
}

static enum pd_status replace_file(const char *path, mode_t mode, const struct pd_text *text, struct pd_error *error)
{
	const struct pd_bytes bytes = pd_text_bytes(text);
	char temporary[PATH_MAX];
	bool ok;
	int fd;

	if (snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid()) >= (int)sizeof(temporary))
		return pd_fail_system(error, ENAMETOOLONG, "%s", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return pd_fail_system(error, errno, "%s", temporary);
	ok = pd_write_all(fd, bytes.data, bytes.size) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
	if (close(fd) == 0 && ok && rename(temporary, path) == 0)
		return PD_OK;
	pd_fail_system(error, errno, "%s", path);
	unlink(temporary);
	return PD_ERROR_SYSTEM;
}

static enum pd_status change_opened(const char *path, const char *text, mode_t mode, const char *name,
				    const char *value, struct pd_error *error)
{
	struct pd_text *changed = pd_text_new();
	enum pd_status status = PD_ERROR_MEMORY;

	if (!changed)
		return pd_fail_memory(error);
	status = pd_config_change(path, text, name, value, changed, error);
	if (status == PD_OK)
		status = replace_file(path, mode, changed, error);
	pd_text_free(changed);
	return status;
}

enum pd_status pd_config_change_file(const char *path, const char *name, const char *value, struct pd_error *error)
{
	char real[PATH_MAX];
	enum pd_status status;
	mode_t mode;
	char *text;

	// where a link points to is what is changed
	if (realpath(path, real))
		path = real;
	text = read_file(path, &mode);
	if (!text)
		return pd_fail_system(error, errno, "%s", path);
	status = change_opened(path, text, mode, name, value, error);
	pd_free(text);
	return status;
}
