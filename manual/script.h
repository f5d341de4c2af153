/* SPDX-License-Identifier: MIT */
/* What the completion scripts of all shells share: a script is a file of scripts/ with markers, at which something is added. */
#ifndef MANUAL_SCRIPT_H
#define MANUAL_SCRIPT_H

#include "manual/manual.h"

/* A marker @NAME@ of a script, and what adds the text that takes its place; it takes the line end, too, if it begins a line. */
struct script_part {
	const char *name;
	manual_program_fn *add;
};

/* Adds the script. The parts end with one without a name. */
void script_add(struct pd_text *text, const char *script, const struct script_part *parts,
		const struct manual_program *program);

/* How a shell is told of values: what stands before and after the words of MANUAL_WORD and MANUAL_LIST; for other kinds, before is
 * all of it. */
struct script_form {
	const char *before, *after;
};

void script_add_value(struct pd_text *text, const struct script_form forms[MANUAL_KINDS],
		      const struct manual_value *value);
/* A string to be put between single quotes: quote replaces ', and characters in special get a backslash. */
void script_add_quoted(struct pd_text *text, const char *string, const char *special, const char *quote);

/* The scripts, which web/embed.py turns into these, and what fills them. */
extern const char manual_script_bash[], manual_script_fish[], manual_script_zsh[];
manual_program_fn script_add_bash, script_add_fish, script_add_zsh;

#endif
