/* SPDX-License-Identifier: MIT */
/*
 * What the commands that sum samples up have in common: open a file, add its samples up, name the
 * places.
 */
#ifndef CLI_ANALYSIS_H
#define CLI_ANALYSIS_H

#include "files/input.h"
#include "options/select_options.h"
#include "options/symbol_options.h"

struct analysis_options {
	struct input_options input; /* these two as in struct symbol_values */
	struct symbol_options symbols;
	struct pd_select_options select;
	unsigned threads;
	bool no_unwind;
	bool stitch_lbr;
};

struct analysis {
	struct input input; /* first: see input_progress */
	struct pd_select *select;
	struct pd_profile *profile;
	struct pd_symbols *symbols;
	const struct symbol_options *symbol_options;
	bool symbols_asked;
	bool short_names; /* of C++, unless an option says otherwise */
};

/* For options of the library that take functions; self is the analysis, or a struct that begins with it. */
enum pd_choice analysis_choose(const void *self, const struct pd_candidate *candidate);
enum pd_status analysis_ready(void *self, struct pd_window *window, struct pd_error *error);
bool analysis_has_place(const void *self, const struct pd_place *place);
/* Opened once; NULL if they cannot be had, which is reported then. */
struct pd_symbols *analysis_symbols(void *self, const struct pd_state *state);
/* Whether analysis_choose takes every sample: asking about each is dear. */
bool analysis_takes_all(const struct pd_select_options *select);

/* Opens the file of an analysis that is all zero but for select. Returns as analysis_begin. */
int analysis_open(struct analysis *analysis, const struct analysis_options *options, const struct call *call);
/* Opens the file, so that what to read can depend on it. Says what is wrong and returns another code than CODE_OK
 * then. */
int analysis_begin(struct analysis *analysis, const struct analysis_options *options, const struct call *call);
/* Reads and names. profile says how to add up; what concerns selection, threads and progress is filled in here.
 * Says what is wrong and returns another code than CODE_OK then: CODE_NO_SAMPLES if the file has none, CODE_NOTHING
 * if none is wanted. */
int analysis_read(struct analysis *analysis, const struct analysis_options *options,
		  const struct pd_profile_options *profile);
/* Frees what was read, so that the file can be read once more, in another way. */
void analysis_forget(struct analysis *analysis);
/* To be called in any case, after analysis_begin. Returns code, or what closing the input makes of it. */
int analysis_close(struct analysis *analysis, int code);

/* Warns that so many of the samples have a copied user stack that is not unwound; nothing if there are none. */
void copied_stacks_report(const char *name, uint64_t copied, uint64_t samples);
/* Warns that unwound stacks are incomplete, and why; nothing if none is, or unwinder is NULL. */
void unwinding_report(const char *name, const struct pd_unwinder *unwinder);

#endif
