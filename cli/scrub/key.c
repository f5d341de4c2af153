/* SPDX-License-Identifier: MIT */
/* The key of perfdata scrub, from a file, the command line, the environment or the kernel. */
#include "scrub/scrub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	KEY_MIN = 16,
	RANDOM_KEY = 32
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Pairs of digits become bytes, in place. */
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

char *scrub_file_read(const char *path, size_t *size_out)
{
	const size_t most = SCRUB_FILE_MAX;
	FILE *file = fopen(path, "re");
	char *data = malloc(most + 1);
	size_t size = file && data ? fread(data, 1, most + 1, file) : 0;

	if (!file || !data || ferror(file) || size > most) {
		print_error("%s: %s", path,
			    !data               ? "out of memory" :
			    file && size > most ? "too large" :
						  strerror(errno));
		free(data);
		data = NULL;
	} else {
		data[size] = 0;
		*size_out = size;
	}
	if (file)
		fclose(file);
	return data;
}

static char *random_key(size_t *size)
{
	char *key = malloc(RANDOM_KEY);

	*size = RANDOM_KEY;
	if (key && getrandom(key, RANDOM_KEY, 0) == RANDOM_KEY)
		return key;
	print_error("cannot get a random key: %s", strerror(errno));
	free(key);
	return NULL;
}

static char *given_key(const char *option, size_t *size)
{
	bool hex = !strncmp(option, "hex:", 4), environment = !strncmp(option, "env:", 4);
	const char *text = environment ? getenv(option + 4) : hex ? option + 4 : NULL;
	char *key;

	if (environment && !text) {
		print_error("option --key: environment variable %s is not set", option + 4);
		return NULL;
	}
	key = text ? strdup(text) : scrub_file_read(option, size);
	if (!key)
		return NULL;
	if (text)
		*size = strlen(key);
	else if (*size && key[*size - 1] == '\n')
		--*size;
	if (hex && !decode_hex(key, size)) {
		print_error("option --key: hex: must be followed by pairs of hexadecimal digits");
	} else if (*size < KEY_MIN) {
		print_error("option --key: %zu bytes are too short, at least %d are required", *size, KEY_MIN);
	} else {
		return key;
	}
	free(key);
	return NULL;
}

char *scrub_key_read(const char *option, size_t *size_out)
{
	return option ? given_key(option, size_out) : random_key(size_out);
}
