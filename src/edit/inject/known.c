/* SPDX-License-Identifier: MIT */
/* Build ids that are given as text, in place of those of files: "ID PATH", as perf buildid-list prints them. */
#include "edit/inject/inject.h"

#include <stdio.h>
#include <string.h>

#include "object/symbols/scan.h"

enum {
	LIST_MAX_BYTES = 16 << 20
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* word stays, known->path points into it. */
static bool parse_known(struct pd_inject_known *known, const char *word)
{
	size_t count = 0;

	for (; pd_scan_digit(word[0]) >= 0 && pd_scan_digit(word[1]) >= 0 && count < PD_BUILD_ID_SIZE; word += 2)
		known->id.bytes[count++] = (uint8_t)(pd_scan_digit(word[0]) << 4 | pd_scan_digit(word[1]));
	known->id.size = (uint8_t)count;
	if (!count || !is_blank(*word))
		return false;
	while (is_blank(*word))
		word++;
	known->path = word;
	return *word;
}

/* Cuts text into words; what has no id is listed with blanks in its place. */
static enum pd_status parse_all(struct pd_inject_known *known, char *text, bool is_list, size_t *count_out,
				struct pd_error *error)
{
	const char *between = is_list ? "\n" : ",";
	char *rest = NULL;
	size_t count = 0;

	for (char *word = strtok_r(text, between, &rest); word; word = strtok_r(NULL, between, &rest)) {
		const char *start = word + strspn(word, " \t");

		known[count] = (struct pd_inject_known){ 0 };
		if (parse_known(&known[count], start))
			count++;
		else if (!is_list || *start != '/')
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not 'ID PATH'", word);
	}
	*count_out = count;
	return PD_OK;
}

enum pd_status pd_inject_known_parse(const char *text, bool is_list, struct pd_inject_known **known_out,
				     size_t *count_out, struct pd_error *error)
{
	size_t size = strlen(text) + 1, most = 1;
	struct pd_inject_known *known;
	enum pd_status status;
	char *copy;

	for (const char *c = text; *c; c++)
		most += *c == (is_list ? '\n' : ',');
	// the text is after the list, so both are freed as one
	known = pd_alloc(most * sizeof(*known) + size);
	if (!known)
		return pd_fail_memory(error);
	copy = memcpy(&known[most], text, size);
	status = parse_all(known, copy, is_list, count_out, error);
	if (status < 0)
		pd_free(known);
	else
		*known_out = known;
	return status;
}

// Ends with a NUL.
static enum pd_status read_list(const char *path, char **text_out, struct pd_error *error)
{
	FILE *file = fopen(path, "re");
	char *text = file ? pd_alloc(LIST_MAX_BYTES) : NULL;
	size_t size = text ? fread(text, 1, LIST_MAX_BYTES, file) : 0;
	bool is_whole = text && size < LIST_MAX_BYTES && !ferror(file);

	if (file)
		fclose(file);
	if (is_whole) {
		text[size] = 0;
		*text_out = text;
		return PD_OK;
	}
	pd_free(text);
	return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: %s", path,
		       !file ? "cannot be opened" : "cannot be read, or is larger than 16 MiB");
}

enum pd_status pd_inject_known_read(const char *argument, struct pd_inject_known **known_out, size_t *count_out,
				    struct pd_error *error)
{
	static const char prefix[] = "file://";
	enum pd_status status;
	char *text = NULL;

	if (strncmp(argument, prefix, sizeof(prefix) - 1) != 0)
		return pd_inject_known_parse(argument, false, known_out, count_out, error);
	status = read_list(argument + sizeof(prefix) - 1, &text, error);
	if (status < 0)
		return status;
	status = pd_inject_known_parse(text, true, known_out, count_out, error);
	pd_free(text);
	return status;
}

void pd_inject_known_free(struct pd_inject_known *known)
{
	pd_free(known);
}
