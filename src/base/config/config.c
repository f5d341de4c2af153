/* SPDX-License-Identifier: MIT */
// A small parser from left to right: a section, then its keys. Values are kept in an arena, in the order of the files.
#include <perfdata/config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/config/config.h"

enum {
	MOST_BYTES = PD_CONFIG_MOST_BYTES,
	MOST_NAME = PD_CONFIG_MOST_NAME,
	MOST_PATH = 4096
};

struct parser {
	struct pd_config *config;
	const char *path;
	const char *text, *at;
	const char *begin; // of the key that is parsed
	char *value;       // room for any of the text
	size_t line;
	char section[MOST_NAME];
	struct pd_error *error;
	enum pd_status status;
};

// ---- characters; without regard to the locale ----

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_alpha(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_name(char c)
{
	return is_alpha(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
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

static bool refuse(struct parser *parser, const char *what)
{
	parser->status = pd_fail(parser->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				 "%s:%zu: %s; the rest of the file is ignored", parser->path, parser->line, what);
	return false;
}

static bool no_memory(struct parser *parser)
{
	refuse(parser, "out of memory");
	parser->status = PD_ERROR_MEMORY;
	return false;
}

// ---- sections ----

// The word of a [section "word"], case and all; at is after the opening quote.
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

// ---- keys ----

// Where what was read ends, without the blanks before a comment.
static const char *end_of_key(const struct parser *parser)
{
	const char *end = parser->at;

	while (end > parser->begin && is_blank(end[-1]))
		end--;
	return end;
}

// The number of a name; PD_INDEX_END without memory.
static uint32_t number_name(struct pd_config *config, const char *name, size_t length)
{
	size_t before = config->names.count;
	uint32_t number;

	if (!before)
		config->names.seed = pd_hash_secret();
	number = pd_strings_add(&config->names, &config->texts, name, length);
	if (number == PD_INDEX_END || !PD_GROW(config->last, config->last_capacity, config->names.count))
		return PD_INDEX_END;
	if (config->names.count > before)
		config->last[number] = PD_INDEX_END;
	return number;
}

static bool set_key(struct parser *parser, const char *key, const char *value)
{
	struct pd_config *config = parser->config;
	char name[2 * MOST_NAME];
	int length = snprintf(name, sizeof(name), "%s.%s", parser->section, key);
	uint32_t number = number_name(config, name, (size_t)length);
	struct pd_setting setting = {
		.begin = (size_t)(parser->begin - parser->text),
		.end = (size_t)(end_of_key(parser) - parser->text),
		.value = pd_arena_text(&config->texts, value, strlen(value)),
	};

	if (number == PD_INDEX_END || !setting.value || !PD_GROW(config->settings, config->capacity, config->count + 1))
		return no_memory(parser);
	if (config->last[number] != PD_INDEX_END)
		config->settings[config->last[number]].replaced = true;
	setting.name = config->names.items[number];
	config->last[number] = (uint32_t)config->count;
	config->settings[config->count++] = setting;
	return true;
}

// What a backslash makes of the character after it; 0 if there is no such thing.
static char unescape(char c)
{
	static const char from[] = "tbn\\\"", to[] = "\t\b\n\\\"";
	const char *found = c ? strchr(from, c) : NULL;

	return found ? to[found - from] : 0;
}

// The value up to the end of its line, which a backslash can move.
static bool read_value(struct parser *parser, char *value)
{
	bool quoted = false;
	size_t kept = 0, length = 0; // blanks at the end are not kept

	for (skip_blanks(parser); !is_end(*parser->at); parser->at++) {
		char c = *parser->at;

		if (!quoted && is_comment(c))
			break;
		if (c == '"') {
			quoted = !quoted;
			kept = length;
			continue;
		}
		if (c == '\\' && *++parser->at == '\n') {
			parser->line++;
			continue;
		}
		if (c == '\\' && !(c = unescape(*parser->at)))
			return refuse(parser, "unknown escape after '\\'");
		value[length++] = c;
		if (quoted || !is_blank(c))
			kept = length;
	}
	value[kept] = '\0';
	return !quoted || refuse(parser, "the value is not closed by '\"'");
}

static bool parse_key(struct parser *parser)
{
	char key[MOST_NAME];
	size_t length = 0;

	parser->begin = parser->at;
	while (is_name(*parser->at) && length < sizeof(key) - 1)
		key[length++] = lower(*parser->at++);
	key[length] = '\0';
	skip_blanks(parser);
	if (!parser->section[0])
		return refuse(parser, "a key before the first [section]");
	if (is_end(*parser->at) || is_comment(*parser->at))
		return set_key(parser, key, "true");
	if (*parser->at != '=')
		return refuse(parser, "expected key = value");
	parser->at++;
	return read_value(parser, parser->value) && set_key(parser, key, parser->value);
}

static bool parse_item(struct parser *parser)
{
	if (*parser->at == '[')
		return parse_section(parser);
	if (is_alpha(*parser->at))
		return parse_key(parser);
	return refuse(parser, "expected [section] or key = value");
}

static void parse_text(struct parser *parser)
{
	for (skip_blanks(parser); *parser->at; skip_blanks(parser)) {
		if (is_comment(*parser->at)) {
			parser->at += strcspn(parser->at, "\n");
		} else if (*parser->at == '\n') {
			parser->at++;
			parser->line++;
		} else if (!parse_item(parser)) {
			return;
		}
	}
}

// What counts, in the order of the files.
static void order_settings(struct parser *parser)
{
	struct pd_config *config = parser->config;

	config->order_count = 0;
	if (!PD_GROW(config->order, config->order_capacity, config->count)) {
		no_memory(parser);
		return;
	}
	for (size_t i = 0; i < config->count; i++)
		if (!config->settings[i].replaced)
			config->order[config->order_count++] = (uint32_t)i;
}

enum pd_status pd_config_add(struct pd_config *config, const char *path, const char *text, struct pd_error *error)
{
	static const char mark[] = "\xef\xbb\xbf"; // of UTF-8, as some editors write it
	struct parser parser = { .config = config, .path = path, .text = text, .at = text, .line = 1, .error = error };

	if (strncmp(text, mark, sizeof(mark) - 1) == 0)
		parser.at += sizeof(mark) - 1;
	parser.value = pd_alloc(strlen(text) + 1);
	if (parser.value) {
		parse_text(&parser);
		order_settings(&parser);
	} else {
		no_memory(&parser);
	}
	pd_free(parser.value);
	return parser.status;
}

// ---- files ----

char *pd_config_read_text(int fd)
{
	char *text = pd_alloc(MOST_BYTES + 1);
	size_t size = 0;
	ssize_t got = 1;
	int why;

	errno = ENOMEM;
	while (text && got > 0 && size < MOST_BYTES) {
		got = read(fd, text + size, MOST_BYTES - size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (text && got >= 0)
		return text;
	why = errno;
	pd_free(text);
	errno = why;
	return NULL;
}

static enum pd_status fail_with_path(const char *path, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
}

static enum pd_status add_opened(struct pd_config *config, const char *path, int fd, bool usual, struct pd_error *error)
{
	enum pd_status status;
	struct stat about;
	char *text;

	if (usual && (fstat(fd, &about) < 0 || (about.st_uid && about.st_uid != geteuid())))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: not owned by the current user or root; ignored", path);
	text = pd_config_read_text(fd);
	if (!text)
		return fail_with_path(path, error);
	status = pd_config_add(config, path, text, error);
	pd_free(text);
	return status;
}

enum pd_status pd_config_add_file(struct pd_config *config, const char *path, bool usual, struct pd_error *error)
{
	// somebody else's FIFO must not be waited for
	int fd = open(path, O_RDONLY | O_CLOEXEC | (usual ? O_NONBLOCK : 0));
	enum pd_status status;

	// one that may not be read is no concern of the user: HOME is that of somebody else
	if (fd < 0 && usual && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return PD_OK;
	if (fd < 0)
		return fail_with_path(path, error);
	status = add_opened(config, path, fd, usual, error);
	close(fd);
	return status;
}

// ---- the whole ----

struct pd_config *pd_config_new(void)
{
	return pd_alloc(sizeof(struct pd_config));
}

void pd_config_free(struct pd_config *config)
{
	if (!config)
		return;
	pd_free(config->settings);
	pd_free(config->last);
	pd_free(config->order);
	pd_strings_fini(&config->names);
	pd_arena_fini(&config->texts);
	pd_free(config);
}

const char *pd_config_get(const struct pd_config *config, const char *name)
{
	size_t i = config->count;

	while (i && strcmp(config->settings[i - 1].name, name) != 0)
		i--;
	return i ? config->settings[i - 1].value : NULL;
}

const char *pd_config_at(const struct pd_config *config, size_t index, const char **value_out)
{
	const struct pd_setting *setting;

	if (index >= config->order_count)
		return NULL;
	setting = &config->settings[config->order[index]];
	*value_out = setting->value;
	return setting->name;
}

static void load_file(struct pd_config *config, const char *path, bool usual, pd_warn_fn *warn, void *self)
{
	struct pd_error error;

	if (pd_config_add_file(config, path, usual, &error) < 0 && warn)
		warn(self, error.message);
}

struct pd_config *pd_config_load(const char *only, const char *home, pd_warn_fn *warn, void *self)
{
	struct pd_config *config = pd_config_new();
	char path[MOST_PATH];

	if (!config)
		return NULL;
	if (only && *only)
		load_file(config, only, false, warn, self);
	if (only)
		return config;
	load_file(config, "/etc/perfconfig", true, warn, self);
	// a folder that depends on where the program runs is nobody's home
	if (home && *home == '/' && snprintf(path, sizeof(path), "%s/.perfconfig", home) < (int)sizeof(path))
		load_file(config, path, true, warn, self);
	return config;
}
