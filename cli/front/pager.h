/* SPDX-License-Identifier: MIT */
/* Sends standard output through the user's pager. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <perfdata/config.h>

#include <stdbool.h>

/* The shell command of the pager: that of PERF_PAGER, of pager.COMMAND in the configuration, of PAGER, or less. NULL if
 * there is to be none: the variable is empty or "cat", the configuration says no, or no such program is installed.
 * forced: --paginate was given. usual: what the configuration does not mention is paged. */
const char *pager_command(const struct pd_config *config, const char *command, bool forced, bool usual);
/* Whether the program of a shell command is found. */
bool program_is_installed(const char *command);
/* Redirects standard output to the pager, and standard error, too, if it is a terminal. False if the pager cannot be
 * started. */
bool pager_start(const char *command);
/* Closes standard output and error and waits until the user has left the pager, if there is one. For signal handlers
 * too. */
void pager_end(void);

#endif
