/* SPDX-License-Identifier: MIT */
#include "manual/script.h"

#include <string.h>

/* The part whose marker begins here, or NULL. */
static const struct script_part *find_part(const struct script_part *parts, const char *at)
{
	for (; parts->name; parts++) {
		size_t length = strlen(parts->name);

		if (strncmp(at + 1, parts->name, length) == 0 && at[1 + length] == '@')
			return parts;
	}
	return NULL;
}

void script_add(struct pd_text *text, const char *script, const struct script_part *parts,
		const struct manual_program *program)
{
	const char *at = script;

	while (*at) {
		const char *marker = at + strcspn(at, "@");
		const struct script_part *part = *marker ? find_part(parts, marker) : NULL;
		const char *end = part || !*marker ? marker : marker + 1;

		pd_text_printf(text, "%.*s", (int)(end - at), at);
		at = end;
		if (!part)
			continue;
		part->add(text, program);
		at += strlen(part->name) + 2;
		at += *at == '\n' && (marker == script || marker[-1] == '\n');
	}
}

void script_add_value(struct pd_text *text, const struct script_form forms[MANUAL_KINDS],
		      const struct manual_value *value)
{
	pd_text_add(text, forms[value->kind].before);
	if (!forms[value->kind].after)
		return;
	value->add_words(value->words, text);
	pd_text_add(text, forms[value->kind].after);
}

void script_add_quoted(struct pd_text *text, const char *string, const char *special, const char *quote)
{
	for (; *string; string++) {
		if (*string == '\'')
			pd_text_add(text, quote);
		else
			pd_text_printf(text, "%s%c", strchr(special, *string) ? "\\" : "", *string);
	}
}
