/* SPDX-License-Identifier: MIT */
/*
 * Options of perf that the command of the same name does not have, by name: what is not there is said with what to use
 * instead, rather than as a typing mistake.
 */
#ifndef CLI_ABSENT_H
#define CLI_ABSENT_H

#include <stdbool.h>
#include <stddef.h>

struct command;

/* Says on stderr what to use instead of an option of perf, or (command NULL) of one of its commands. False if perf does not have it
 * either. */
bool absent_report(const struct command *command, const char *name, size_t length);
bool absent_report_short(const struct command *command, char short_name);

#endif
