/* SPDX-License-Identifier: MIT */
/* The parts of perfdata scrub. What is wrong is said on stderr. */
#ifndef CLI_SCRUB_SCRUB_H
#define CLI_SCRUB_SCRUB_H

#include "front/cli.h"
#include "options/options.h"

#include <perfdata/scrub.h>

enum {
	SCRUB_FILE_MAX = 1 << 20 /* bytes of a key, or of a list of names */
};

/* ---- key.c ---- */

/* A small file, with a NUL after its end; to be freed. NULL if it cannot be read. */
char *scrub_file_read(const char *path, size_t *size_out);

/* The key that an option names: a file, hex:DIGITS or env:NAME; NULL: a random one. To be freed. NULL if there is none. */
char *scrub_key_read(const char *option, size_t *size_out);

/* ---- keep.c ---- */

/* All zero is an empty one. */
struct scrub_keep {
	const char **patterns;
	size_t count;
	char *texts[64]; /* of files, which the patterns point into */
	size_t text_count;
};

/* Patterns, and those of files, one a line. False if one cannot be used. */
bool scrub_keep_read(struct scrub_keep *keep, const struct option_list *patterns, const struct option_list *files);
void scrub_keep_free(struct scrub_keep *keep);

/* ---- summary.c: what was done ---- */

void scrub_print_json(const struct pd_scrub *scrub, enum pd_scrub_level level, bool random_key, struct pd_text *text);
/* On stderr. */
void scrub_print_summary(const struct pd_scrub *scrub, bool random_key);

/* ---- verify.c ---- */

/* Searches the second file of the call for names of the first. Returns the exit code: CODE_DAMAGED if one is found. */
int scrub_verify(const struct pd_scrub_options *options, struct option_number min_length, bool json,
		 const struct call *call);

#endif
