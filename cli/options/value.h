/* SPDX-License-Identifier: MIT */
/* Values of options: what the parser of options does with the argument of one. */
#ifndef CLI_OPTIONS_VALUE_H
#define CLI_OPTIONS_VALUE_H

#include "options/options.h"

#include <perfdata/recorder.h>

/* Sets the value of an option at its place. flag: false if --no-NAME takes it back. Says on stderr what is wrong and returns false
 * then. */
bool option_set(const struct command *command, const struct option *option, const char *value, bool flag, void *place);
/* Sets an option of a recording, see pd_recorder_options_set; no value leaves it as it is. Likewise. */
bool option_set_recorder(struct pd_recorder_options *options, const char *name, const char *value);
/* Adds an item, which must outlive the list. False without memory, which is said. */
bool option_list_add(struct option_list *list, const char *item);

#endif
