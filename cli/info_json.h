/* SPDX-License-Identifier: MIT */
/*
 * The facts of perfdata info as JSON.
 */
#ifndef CLI_INFO_JSON_H
#define CLI_INFO_JSON_H

#include "facts.h"

void info_json(struct pd_text *text, const struct facts *facts, const char *name);

#endif
