/* SPDX-License-Identifier: MIT */
/* Scripts of an installed perf, which are called by their names: script record NAME, script report NAME, script NAME. */
#ifndef FILES_PERF_SCRIPTS_H
#define FILES_PERF_SCRIPTS_H

#include "front/cli.h"
#include "options/value.h"

/* The folder that they are in, below "scripts". NULL: there is none. */
const char *perf_scripts_folder(void);
/* What this first word of a line says: "record", "report", or "live" for the name of a script. NULL: none of it, as for files. */
const char *perf_scripts_mode(const char *word);
bool perf_scripts_begin(const char *word);
/* Adds words for the Python package in this mode or "list". False if that cannot be done, which is said on stderr. */
bool perf_scripts_add(struct option_list *line, const char *mode, const struct call *call);

#endif
