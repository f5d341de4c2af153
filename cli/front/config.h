/* SPDX-License-Identifier: MIT */
/*
 * The user's configuration, in the files and the syntax of perf config: /etc/perfconfig, then ~/.perfconfig; or only the
 * file that the environment variable PERF_CONFIG names.
 *
 *	[section]
 *		key = value         # a comment; as is what follows ;
 *		other = "a # b"     # quotes keep spaces, # and ;
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct config {
	struct config_entry {
		char *name; /* section.key, lower case; [section "Sub"] makes section.Sub.key */
		char *value;
	} * entries; /* in the order of the files */
	size_t count;
};

/* Reads the files. A file that is missing is an empty one, but for that of PERF_CONFIG; what is wrong in one is reported on stderr, with its line, and the
 * rest of that file is ignored. *config is to be freed with config_fini. */
void config_load(struct config *config);
/* Adds the lines of a text; path is for messages. False if a line is wrong (reported) or there is no memory. */
bool config_add(struct config *config, const char *path, const char *text);
void config_fini(struct config *config);

/* The last value of a key, "true" for a key without a value; NULL if it is not set. Valid until config_fini. */
const char *config_get(const struct config *config, const char *name);

#endif
