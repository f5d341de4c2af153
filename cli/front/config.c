/* SPDX-License-Identifier: MIT */
#include "front/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/output.h"

enum {
	MOST_BYTES = 1 << 20, /* of a file: more is no configuration */
	MOST_NAME = 256       /* letters of section.key */
};

struct parser {
	struct config *config;
	const char *path;
	const char *at;
	size_t line;
	char section[MOST_NAME];
};

/* ---- characters; without regard to the locale ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_name(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool is_end(char c)
{
	return !c || c == '\n';
}

static bool is_comment(char c)
{
	return c == '#' || c == ';';
}

static void skip_blanks(struct parser *parser)
{
	while (is_blank(*parser->at))
		parser->at++;
}

static bool refuse(const struct parser *parser, const char *what)
{
	complain("%s:%zu: %s; the rest of the file is ignored", parser->path, parser->line, what);
	return false;
}

/* ---- sections ---- */

/* The word of a [section "word"], case and all; at is behind the opening quote. */
static bool parse_subsection(struct parser *parser, size_t length)
{
	char *section = parser->section;

	section[length++] = '.';
	for (; *parser->at != '"'; parser->at++) {
		parser->at += *parser->at == '\\';
		if (is_end(*parser->at) || length >= MOST_NAME - 1)
			return refuse(parser, "the section name is not closed by '\"'");
		section[length++] = *parser->at;
	}
	parser->at++;
	section[length] = '\0';
	return true;
}

static bool parse_section(struct parser *parser)
{
	size_t length = 0;

	parser->at++;
	while ((is_name(*parser->at) || *parser->at == '.') && length < MOST_NAME / 2)
		parser->section[length++] = lower(*parser->at++);
	parser->section[length] = '\0';
	if (length && is_blank(*parser->at)) {
		skip_blanks(parser);
		if (*parser->at != '"')
			return refuse(parser, "expected \"...\" or ] after the section name");
		parser->at++;
		if (!parse_subsection(parser, length))
			return false;
	}
	if (!length || *parser->at != ']')
		return refuse(parser, "not a section: expected [name]");
	parser->at++;
	return true;
}

/* ---- keys ---- */

static bool set(struct parser *parser, const char *key, const char *value)
{
	struct config *config = parser->config;
	struct config_entry *entries = realloc(config->entries, (config->count + 1) * sizeof(*entries));
	struct config_entry entry = { .value = strdup(value) };

	if (entries)
		config->entries = entries;
	if (asprintf(&entry.name, "%s.%s", parser->section, key) < 0)
		entry.name = NULL;
	if (!entries || !entry.name || !entry.value) {
		free(entry.name);
		free(entry.value);
		return refuse(parser, "out of memory");
	}
	entries[config->count++] = entry;
	return true;
}

/* What a backslash makes of the letter behind it; 0 if there is no such thing. */
static char unescape(char letter)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	const char *found = letter ? strchr(from, letter) : NULL;

	return found ? to[found - from] : 0;
}

/* The value up to the end of its line, which a backslash can move; room is enough for what is left of the text. */
static bool read_value(struct parser *parser, char *value)
{
	bool quoted = false;
	size_t kept = 0, length = 0; /* blanks at the end are not kept */

	for (skip_blanks(parser); !is_end(*parser->at); parser->at++) {
		char letter = *parser->at;

		if (!quoted && is_comment(letter))
			break;
		if (letter == '"') {
			quoted = !quoted;
			kept = length;
			continue;
		}
		if (letter == '\\' && *++parser->at == '\n') {
			parser->line++;
			continue;
		}
		if (letter == '\\' && !(letter = unescape(*parser->at)))
			return refuse(parser, "unknown escape after '\\'");
		value[length++] = letter;
		if (quoted || !is_blank(letter))
			kept = length;
	}
	value[kept] = '\0';
	return !quoted || refuse(parser, "the value is not closed by '\"'");
}

static bool parse_value(struct parser *parser, const char *key)
{
	char *value = malloc(strlen(parser->at) + 1);
	bool fine = value && read_value(parser, value) && set(parser, key, value);

	free(value);
	return fine;
}

static bool parse_key(struct parser *parser)
{
	char key[MOST_NAME];
	size_t length = 0;

	while (is_name(*parser->at) && length < sizeof(key) - 1)
		key[length++] = lower(*parser->at++);
	key[length] = '\0';
	skip_blanks(parser);
	if (!parser->section[0])
		return refuse(parser, "a key before the first [section]");
	if (is_end(*parser->at) || is_comment(*parser->at))
		return set(parser, key, "true");
	if (*parser->at != '=')
		return refuse(parser, "expected key = value");
	parser->at++;
	return parse_value(parser, key);
}

static bool parse_item(struct parser *parser)
{
	if (*parser->at == '[')
		return parse_section(parser);
	if (is_letter(*parser->at))
		return parse_key(parser);
	return refuse(parser, "expected [section] or key = value");
}

bool config_add(struct config *config, const char *path, const char *text)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some editors write it */
	struct parser parser = { .config = config, .path = path, .at = text, .line = 1 };

	if (strncmp(text, mark, sizeof(mark) - 1) == 0)
		parser.at += sizeof(mark) - 1;
	for (skip_blanks(&parser); *parser.at; skip_blanks(&parser)) {
		if (is_comment(*parser.at)) {
			parser.at += strcspn(parser.at, "\n");
		} else if (*parser.at == '\n') {
			parser.at++;
			parser.line++;
		} else if (!parse_item(&parser)) {
			return false;
		}
	}
	return true;
}

/* ---- files ---- */

static char *read_text(int fd)
{
	char *text = malloc(MOST_BYTES + 1);
	size_t size = 0;
	ssize_t got = 1;

	while (text && got > 0 && size < MOST_BYTES) {
		got = read(fd, text + size, MOST_BYTES - size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (text)
		text[size] = '\0';
	if (text && got >= 0)
		return text;
	free(text);
	return NULL;
}

/* named: by the user, so it is to be there. Another one counts only if it belongs to the user or to root: what somebody else put
 * there must not change what a command does. One that may not be read is no concern of the user: HOME is that of somebody else. */
static void add_file(struct config *config, const char *path, bool named)
{
	/* somebody else's FIFO must not be waited for */
	int fd = open(path, O_RDONLY | O_CLOEXEC | (named ? 0 : O_NONBLOCK));
	struct stat status;
	char *text;

	if (fd < 0) {
		if (named || (errno != ENOENT && errno != ENOTDIR && errno != EACCES))
			complain("%s: %s", path, strerror(errno));
		return;
	}
	if (!named && (fstat(fd, &status) < 0 || (status.st_uid && status.st_uid != geteuid()))) {
		complain("%s: not owned by the current user or root; ignored", path);
	} else {
		text = read_text(fd);
		if (text)
			config_add(config, path, text);
		else
			complain("%s: %s", path, strerror(errno));
		free(text);
	}
	close(fd);
}

void config_load(struct config *config)
{
	const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");
	char *path;

	*config = (struct config){ 0 };
	if (only) {
		if (*only)
			add_file(config, only, true);
		return;
	}
	add_file(config, "/etc/perfconfig", false);
	if (!home || home[0] != '/' || asprintf(&path, "%s/.perfconfig", home) < 0)
		return;
	add_file(config, path, false);
	free(path);
}

void config_fini(struct config *config)
{
	for (size_t i = 0; i < config->count; i++) {
		free(config->entries[i].name);
		free(config->entries[i].value);
	}
	free(config->entries);
	*config = (struct config){ 0 };
}

const char *config_get(const struct config *config, const char *name)
{
	size_t i = config->count;

	while (i && strcmp(config->entries[i - 1].name, name) != 0)
		i--;
	return i ? config->entries[i - 1].value : NULL;
}
