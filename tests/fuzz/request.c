/* SPDX-License-Identifier: MIT */
/*
 * Requests to a view, line by line: "PATH?NAME=VALUE&...", as a server passes them on, decoded. Whatever is asked, there is an answer, and
 * what is refused says why. Lines that begin with a space are headers, of which who asks is judged.
 */
#include <string.h>

#include <perfdata/viewer.h>

#include "driver.h"
#include "sampled.h"
#include "walk.h"

enum {
	PARAMETERS_MOST = 16,
	LINES_MOST = 40
};

static struct pd_file *file;
static struct pd_viewer *viewer;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max_size);
}

// Once: a server has one view for all requests.
static void open_view(void)
{
	const struct pd_viewer_options options = { .size = sizeof(options), .threads = 1 };
	static struct image image;

	if (viewer)
		return;
	sampled_make(&image);
	REQUIRE(pd_file_open_memory(image.data, image.size, NULL, &file, NULL) == PD_OK);
	REQUIRE(pd_viewer_new(file, &options, &viewer, NULL) == PD_OK);
}

// Splits a line in place.
static size_t split(char *line, struct pd_viewer_parameter *parameters)
{
	char *at = strchr(line, '?');
	size_t count = 0;

	if (at)
		*at++ = 0;
	while (at && count < PARAMETERS_MOST) {
		char *next = strchr(at, '&'), *value;

		if (next)
			*next++ = 0;
		value = strchr(at, '=');
		if (value)
			*value++ = 0;
		parameters[count++] = (struct pd_viewer_parameter){ at, value ? value : "" };
		at = next;
	}
	return count;
}

static void ask(char *line)
{
	struct pd_viewer_parameter parameters[PARAMETERS_MOST];
	struct pd_viewer_answer answer = { 0 };
	struct pd_error error = { 0 };
	size_t count = split(line, parameters);

	REQUIRE(pd_viewer_answer(viewer, line, parameters, count, &answer, &error) == PD_OK);
	REQUIRE(answer.code == 200 || answer.code == 400 || answer.code == 404 || answer.code == 500);
	REQUIRE(answer.type && (answer.body.data || !answer.body.size));
	if (answer.code != 200)
		REQUIRE(answer.body.size > 12 && memcmp(answer.body.data, "{\"error\":\"", 10) == 0);
}

// " METHOD URL HOST ORIGIN SITE MODE", the last ones may be missing.
static void judge(char *line)
{
	const struct pd_viewer_guard guard = { "0123456789abcdef0123456789abcdef", 4242 };
	char *words[6] = { 0 };
	struct pd_viewer_caller caller;
	const char *path;
	unsigned code = 0;

	for (size_t i = 0; i < 6; i++)
		words[i] = strtok(i ? NULL : line, " ");
	if (!words[1])
		return;
	caller = (struct pd_viewer_caller){
		words[0], words[1], words[2], words[2] != NULL, words[3], words[4], words[5]
	};
	path = pd_viewer_admit(&guard, &caller, &code);
	if (!path) {
		REQUIRE(code == 403 || code == 404 || code == 405);
		return;
	}
	REQUIRE(!strcmp(words[2], "127.0.0.1:4242") || !strcmp(words[2], "localhost:4242"));
	REQUIRE(!words[3] || !strcmp(words[3], "http://127.0.0.1:4242") || !strcmp(words[3], "http://localhost:4242"));
	REQUIRE(!strncmp(words[1] + 1, guard.token, PD_VIEWER_TOKEN_CHARS) &&
		path == words[1] + PD_VIEWER_TOKEN_CHARS + 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *next;
	size_t lines = 0;

	REQUIRE(text);
	memcpy(text, data, size);
	text[size] = 0;
	open_view();
	for (char *line = text; line && lines < LINES_MOST; line = next, lines++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*line == ' ')
			judge(line);
		else
			ask(line);
	}
	free(text);
	return 0;
}
