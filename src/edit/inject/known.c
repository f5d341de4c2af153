/* SPDX-License-Identifier: MIT */
/* Build ids that are given as text, in place of those of files: "ID PATH", as perf buildid-list prints them. */
#include "edit/inject/inject.h"

#include <string.h>

#include "object/symbols/scan.h"

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

void pd_inject_known_free(struct pd_inject_known *known)
{
	pd_free(known);
}
