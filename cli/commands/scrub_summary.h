/* SPDX-License-Identifier: MIT */
/* What perfdata scrub did, and what --verify found. */
#ifndef CLI_COMMANDS_SCRUB_SUMMARY_H
#define CLI_COMMANDS_SCRUB_SUMMARY_H

#include "front/cli.h"

#include <perfdata/scrub.h>

/* On standard error. */
void scrub_summary(const struct pd_scrub *scrub, const struct pd_scrub_result *result, enum pd_scrub_level level,
		   bool random_key);
void scrub_summary_json(const struct pd_scrub *scrub, enum pd_scrub_level level, bool random_key, struct pd_text *text);
/* Return the exit code: CODE_DAMAGED if a name was found. */
int scrub_finds(const struct pd_scrub_search *search, size_t min_length, struct pd_text *text);
int scrub_finds_json(const struct pd_scrub_search *search, struct pd_text *text);

#endif
