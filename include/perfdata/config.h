/* SPDX-License-Identifier: MIT */
/**
 * config.h - files in the syntax of perf's configuration, for programs that obey the same settings as perf.
 *
 *	[section]
 *		key = value         # a comment; as is what follows ;
 *		other = "a # b"     # quotes keep spaces, # and ;
 *
 * perf reads /etc/perfconfig, then ~/.perfconfig; or only the file that the environment variable PERF_CONFIG names.
 *
 * One thread at a time per configuration.
 *
 * Source of the facts: perf-config(1).
 *
 * Example:
 *
 *	struct pd_config *config = pd_config_new();
 *
 *	if (pd_config_add_file(config, "/etc/perfconfig", true, &error) == PD_OK)
 *		puts(pd_config_get(config, "color.ui") ? pd_config_get(config, "color.ui") : "auto");
 *	pd_config_free(config);
 */
#ifndef PERFDATA_CONFIG_H
#define PERFDATA_CONFIG_H

#include <perfdata/base.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_config;

/** A configuration in which nothing is set; NULL without memory. */
PD_API struct pd_config *pd_config_new(void);
/** NULL is ignored. */
PD_API void pd_config_free(struct pd_config *config);

/** Adds the lines of a text; path is for messages. What is set again replaces what was. An error ends the text, and what stands
 * before it is kept. Errors: PD_ERROR_ARGUMENT, with the number of the line in the message; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_config_add(struct pd_config *config, const char *path, const char *text,
				    struct pd_error *error);
/** Adds a file, of at most 1 MiB. usual: a place where a file may be. One that is missing, or may not be read, is an empty one
 * then, and one of a user other than root and the caller is PD_ERROR_ARGUMENT: what somebody else put there must not change
 * what a program does. Errors: PD_ERROR_SYSTEM and those of pd_config_add. */
PD_API enum pd_status pd_config_add_file(struct pd_config *config, const char *path, bool usual,
					 struct pd_error *error);

/** Reads the configuration of a user, as perf finds it: only is the value of PERF_CONFIG, a file that is read in place of all others, or
 * "" for none; without it (NULL) /etc/perfconfig and .perfconfig in home, the value of HOME. warn (may be NULL) is called for each file in
 * which something is wrong; what stands before that is kept. NULL without memory. */
PD_API struct pd_config *pd_config_load(const char *only, const char *home, pd_warn_fn *warn, void *self);

/** The value of a key, "section.key" in lower case ([section "Sub"] makes section.Sub.key); "true" for a key without a value,
 * NULL if it is not set. Valid until something is added, or the configuration freed. */
PD_API const char *pd_config_get(const struct pd_config *config, const char *name);
/** Name and value of the index-th key that is set, in the order of the files; NULL past the end. Valid as pd_config_get. */
PD_API const char *pd_config_at(const struct pd_config *config, size_t index, const char **value_out);

/** A text with a key set to another value: in its line, else at the end of its section, else in a new section at the end. All else
 * of the text, comments too, stays as it is. changed gets all of it. Errors: PD_ERROR_ARGUMENT: the name is none, or the text is
 * damaged, see pd_config_add; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_config_change(const char *path, const char *text, const char *name, const char *value,
				       struct pd_text *changed, struct pd_error *error);
/** The same for a file, which is created if it is missing, and replaced when the new one is complete. Errors: also PD_ERROR_SYSTEM. */
PD_API enum pd_status pd_config_change_file(const char *path, const char *name, const char *value,
					    struct pd_error *error);

/** Whose configuration is meant. */
struct pd_config_place {
	size_t size;      /* sizeof(struct pd_config_place); 0 is PD_ERROR_ARGUMENT */
	const char *only; /* as in pd_config_load */
	const char *home;
	bool system; /* only /etc/perfconfig, also to change it */
	bool user;   /* only .perfconfig in home */
};

/** What perf config does: adds name=value of each key that a word names to the text, sets keys by words with a '=', and without words adds
 * all keys that are set. config is what pd_config_load gave for the place. Each word is taken; warn gets what is wrong with it.
 * Errors, of the first such word: PD_ERROR_ARGUMENT if it names no key; PD_ERROR_NO_MATCH if a key is not set; PD_ERROR_OUTPUT if the file cannot
 * be changed; also PD_ERROR_SYSTEM and PD_ERROR_MEMORY. */
PD_API enum pd_status pd_config_run(struct pd_text *text, const struct pd_config *config,
				    const struct pd_config_place *place, const char *const *words, size_t count,
				    pd_warn_fn *warn, void *self, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
