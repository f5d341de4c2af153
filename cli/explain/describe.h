/* SPDX-License-Identifier: MIT */
/*
 * Header, events and features of a file as text and as JSON lines.
 */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <perfdata/perfdata.h>

/* The file header and every event. */
void describe_header(struct pd_text *text, struct pd_file *file);
/* {"header":{...}}, then {"event":{...}} for each event. */
void describe_header_json(struct pd_text *text, struct pd_file *file);

/* A feature: its name, its place, what it says; with hex its bytes too. */
void describe_feature(struct pd_text *text, struct pd_file *file, const struct pd_feature_section *section, bool hex);
/* {"feature":{...}} */
void describe_feature_json(struct pd_text *text, struct pd_file *file, const struct pd_feature_section *section,
			   bool hex);

/* "file", "pipe" or "directory". */
const char *mode_name(enum pd_mode mode);

#endif
