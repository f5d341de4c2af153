/* SPDX-License-Identifier: MIT */
/* From the tables of commands, options and exit codes to the description that manual/ prints. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include "front/cli.h"
#include "manual/manual.h"

/* Has a command, or the program with all its commands, described. Return an exit code: CODE_OUTPUT without memory, which is
 * reported on stderr. */
int describe_command(struct pd_text *text, const struct command_line *line, manual_command_fn *print);
int describe_program(struct pd_text *text, manual_program_fn *print);

/* What can stand for the value of an option, or (option NULL) for the arguments of the command. */
void describe_value(const struct command_line *line, const struct option *option, struct manual_value *value);

#endif
