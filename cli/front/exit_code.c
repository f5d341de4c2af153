/* SPDX-License-Identifier: MIT */
/* What exit codes mean, for a command and in general. */
#include "front/cli.h"

#include <string.h>

enum place {
#define CODE(NAME, number, shown, text) AT_##NAME,
#include "front/exit_code.def"
	CODE_COUNT
};

#define OF(NAME) (1u << AT_##NAME)

static const struct exit_code codes[] = {
#define CODE(NAME, number, shown, text) { shown, text },
#include "front/exit_code.def"
};

static const struct {
	const char *command;
	unsigned codes;
} commands[] = {
#define CODES(command, others) { #command, OF(OK) | OF(USAGE) | OF(OUTPUT) | (others) },
#include "front/exit_code.def"
};

static const struct {
	const char *command;
	enum place place;
	const char *text;
} meanings[] = {
#define MEANING(command, NAME, text) { #command, AT_##NAME, text },
#include "front/exit_code.def"
};

static unsigned codes_of(const char *command)
{
	for (size_t i = 0; command && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].command, command))
			return commands[i].codes;
	}
	return (1u << CODE_COUNT) - 1;
}

bool exit_code_next(const char *command, size_t *at, struct exit_code *code_out)
{
	unsigned has = codes_of(command);

	while (*at < CODE_COUNT && !(has >> *at & 1))
		++*at;
	if (*at == CODE_COUNT)
		return false;
	*code_out = codes[*at];
	for (size_t i = 0; command && i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].place == (enum place) * at && !strcmp(meanings[i].command, command))
			code_out->text = meanings[i].text;
	}
	++*at;
	return true;
}
