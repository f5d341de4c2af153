/* SPDX-License-Identifier: MIT */
/* The key of a scrub, and the names that it keeps, as users give them: in files, as digits, or by chance. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "edit/scrub/scrub.h"

enum {
	FILE_MAX_BYTES = 1 << 20,
	RANDOM_KEY_BYTES = 32
};

struct pd_scrub_keep {
	const char **patterns;
	size_t count, capacity;
	struct pd_arena strings; // that patterns of files point into
};

// A small file, with a NUL after its end; to be freed.
static enum pd_status read_file(const char *path, char **data_out, size_t *size_out, struct pd_error *error)
{
	FILE *file = fopen(path, "re");
	char *data = file ? pd_alloc(FILE_MAX_BYTES + 1) : NULL;
	enum pd_status status = PD_OK;

	if (!file) {
		status = pd_fail_system(error, errno, "%s", path);
	} else if (!data) {
		status = pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "%s: out of memory", path);
	} else {
		*size_out = fread(data, 1, FILE_MAX_BYTES + 1, file);
		if (ferror(file))
			status = pd_fail_system(error, errno, "%s", path);
		else if (*size_out > FILE_MAX_BYTES)
			status = pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: too large", path);
		else
			data[*size_out] = 0;
	}
	if (file)
		fclose(file);
	if (status < 0)
		pd_free(data);
	else
		*data_out = data;
	return status;
}

// ---- names to keep ----

enum pd_status pd_scrub_keep_new(struct pd_scrub_keep **keep_out, struct pd_error *error)
{
	struct pd_scrub_keep *keep = pd_alloc(sizeof(*keep));

	if (!keep)
		return pd_fail_memory(error);
	*keep_out = keep;
	return PD_OK;
}

void pd_scrub_keep_free(struct pd_scrub_keep *keep)
{
	if (!keep)
		return;
	pd_free(keep->patterns);
	pd_arena_fini(&keep->strings);
	pd_free(keep);
}

enum pd_status pd_scrub_keep_add(struct pd_scrub_keep *keep, const char *pattern, struct pd_error *error)
{
	if (!PD_GROW(keep->patterns, keep->capacity, keep->count + 1))
		return pd_fail_memory(error);
	if (!pd_scrub_knows_class(pattern))
		return pd_fail(
			error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			"'%.*s' is not one of dso, comm, symbol, host, argument, event, release, pmu, word, name",
			(int)strcspn(pattern, "="), pattern);
	keep->patterns[keep->count++] = pattern;
	return PD_OK;
}

enum pd_status pd_scrub_keep_add_file(struct pd_scrub_keep *keep, const char *path, struct pd_error *error)
{
	size_t size = 0;
	char *data = NULL, *text;
	enum pd_status status = read_file(path, &data, &size, error);

	if (status < 0)
		return status;
	text = pd_arena_alloc(&keep->strings, size + 1);
	if (text && data)
		memcpy(text, data, size + 1);
	pd_free(data);
	if (!text)
		return pd_fail_memory(error);
	for (char *line = text, *next; line && status >= 0; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*line && *line != '#')
			status = pd_scrub_keep_add(keep, line, error);
	}
	return status;
}

void pd_scrub_keep_set(const struct pd_scrub_keep *keep, struct pd_scrub_options *options)
{
	options->keep = keep->patterns;
	options->keep_count = keep->count;
}

// ---- keys ----

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Pairs of digits become bytes, in place.
static bool decode_hex(char *text, size_t *size)
{
	if (*size % 2)
		return false;
	for (size_t i = 0; i < *size; i += 2) {
		int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		text[i / 2] = (char)(high << 4 | low);
	}
	*size /= 2;
	return true;
}

static enum pd_status random_key(char **key_out, size_t *size_out, struct pd_error *error)
{
	*key_out = pd_alloc(RANDOM_KEY_BYTES);
	if (!*key_out)
		return pd_fail_memory(error);
	*size_out = RANDOM_KEY_BYTES;
	if (getrandom(*key_out, RANDOM_KEY_BYTES, 0) == RANDOM_KEY_BYTES)
		return PD_OK;
	pd_free(*key_out);
	return pd_fail_system(error, errno, "cannot get a random key");
}

static enum pd_status copy_key(const char *text, char **key_out, size_t *size_out, struct pd_error *error)
{
	*size_out = strlen(text);
	*key_out = pd_alloc(*size_out + 1);
	if (!*key_out)
		return pd_fail_memory(error);
	memcpy(*key_out, text, *size_out);
	return PD_OK;
}

enum pd_status pd_scrub_key_read(const char *source, const char *text, struct pd_bytes *key_out, struct pd_error *error)
{
	bool hex = source && !strncmp(source, "hex:", 4);
	size_t size = 0;
	char *key = NULL;
	enum pd_status status = text    ? copy_key(text, &key, &size, error) :
				!source ? random_key(&key, &size, error) :
				hex     ? copy_key(source + 4, &key, &size, error) :
					  read_file(source, &key, &size, error);

	if (status < 0)
		return status;
	if (source && !text && !hex && size && key[size - 1] == '\n')
		size--;
	if (hex && !text && !decode_hex(key, &size))
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				 "hex: must be followed by pairs of hexadecimal digits");
	else if (size < PD_SCRUB_KEY_MIN_BYTES)
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				 "%zu bytes are too short, at least %d are required", size, PD_SCRUB_KEY_MIN_BYTES);
	if (status < 0)
		pd_free(key);
	else
		*key_out = (struct pd_bytes){ .data = (const uint8_t *)key, .size = size };
	return status;
}

void pd_scrub_key_free(struct pd_bytes *key)
{
	pd_free((void *)key->data);
	*key = (struct pd_bytes){ 0 };
}
