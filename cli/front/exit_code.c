/* SPDX-License-Identifier: MIT */
/* What exit codes mean, for a command and in general. */
#include "front/cli.h"

#include <string.h>

#define OF(NAME) (1u << EXIT_CODE_##NAME)

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
	unsigned place;
	const char *text;
} meanings[] = {
#define MEANING(command, NAME, text) { #command, EXIT_CODE_##NAME, text },
#include "front/exit_code.def"
};

static unsigned codes_of(const char *command)
{
	for (size_t i = 0; command && i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t length = strlen(commands[i].command);

		if (!strncmp(commands[i].command, command, length) && (!command[length] || command[length] == '-'))
			return commands[i].codes;
	}
	return (1u << EXIT_CODE_COUNT) - 1;
}

/* As the command has it. */
static struct exit_code describe(const char *command, unsigned place)
{
	struct exit_code code = codes[place];

	for (size_t i = 0; command && i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (meanings[i].place == place && !strcmp(meanings[i].command, command))
			code.text = meanings[i].text;
	}
	return code;
}

void exit_codes_of(const char *command, struct exit_code list[EXIT_CODE_COUNT + 1])
{
	unsigned has = codes_of(command);

	for (unsigned place = 0; place < EXIT_CODE_COUNT; place++) {
		if (has >> place & 1)
			*list++ = describe(command, place);
	}
	*list = (struct exit_code){ 0 };
}
