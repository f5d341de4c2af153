/* SPDX-License-Identifier: MIT */
/*
 * The input file of a command: its options, opening it, iterating over its records and reporting its
 * problems on stderr.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "front/cli.h"
#include "options/select_options.h"

/* Values of the options that every reading command has. */
struct input_options {
	const char *path;
	bool force;
	bool quiet;
	bool verbose;
	const char *waiting; /* of waiting_group: the samples are those of waiting; NULL: no */
	const char *pair;    /* the same: of pairs of these events */
	bool keep;           /* no option: the command reads twice, so what comes through a pipe is kept */
	bool verify;         /* no option: damage inside of records is reported too, whoever decodes them or not */
	bool recover;        /* no option: what the header says wrongly is looked for, see pd_open_options */
};
extern const struct option_group input_group;
/* --waiting, for commands whose group this is, too. */
extern const struct option_group waiting_group;

struct input {
	struct pd_file *file;
	struct pd_file *switches; /* with --waiting: what it was made of */
	bool left_out;            /* with --waiting: not all waits are of the duration that is asked for */
	const char *name;         /* for messages */
	const struct call *call;
	struct output *out;
	struct progress progress;
	bool quiet, verbose, verify;
	struct pd_problem_counts problems;
};

/* Opens the file given by option or as the only argument; without either perf.data, or standard
 * input if that is a pipe. problem (may be NULL) gets the problems instead of stderr.
 * On failure, reports it and returns another code than CODE_OK. */
int input_open(struct input *input, const struct input_options *options, const struct call *call,
	       pd_problem_fn *problem, void *self);
/* Opens the file, calls a function, whose exit code is returned, and closes the file. input may begin a larger struct. */
int input_run(struct input *input, const struct input_options *options, const struct call *call,
	      int (*run)(struct input *input));
/* Reports a problem on stderr, for problem functions of commands. Returns true. */
bool input_report(struct input *input, const struct pd_problem *problem);
/* As perf: what is piped in is meant, unless a file is named. */
const char *input_default(void);
/* The name of the input of a command that has no struct input_options: that of --input or the only argument, else usual. False if there
 * are both, which is said on stderr. */
bool input_path(const char *option, const struct call *call, const char *usual, const char **path_out);
/* Labels, which may be NULL, and what the environment says of stores. */
struct pd_store_profile store_said(const struct option_list *labels);
/* Opens what is no recording, for pd_pull_descriptor; - is standard input. Says what is wrong and returns another code than CODE_OK
 * then. To be closed by descriptor_close. */
int descriptor_open(const char *path, struct pd_descriptor *descriptor_out);
void descriptor_close(const struct pd_descriptor *descriptor);
/* Says on stderr that there are no samples, or that none was selected, and why; select may be NULL. Returns the exit code. */
int input_nothing(const struct input *input, const struct pd_select *select, bool had_samples);
/* Ends the talk about problems and closes. Returns code, or CODE_DAMAGED if code is CODE_OK and
 * something was damaged. */
int input_close(struct input *input, int code);

/* To be called between two passes: kinds of problems already reported are not reported again. */
void input_again(struct input *input);

/* For options of the library that take functions; self is the input, or a struct that begins with it. */
void input_progress(void *self, uint64_t done, uint64_t total);
void input_progress_step(void *self, const struct pd_stream *stream);
bool input_progress_go_on(void *self, uint64_t done, uint64_t total);
void input_warn(void *self, const char *message);
/* input_again, and the progress begins anew. */
void input_pass_end(void *self);

/* Prints the header as perf does; full as with -I. Returns CODE_OK, or another code after it said why on stderr. */
int input_print_header(struct input *input, bool full);

/* Runs a command that has print: opens its file, prints, closes it; says what is wrong. */
int input_print(const struct call *call);

#endif
