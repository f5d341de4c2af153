/* SPDX-License-Identifier: MIT */
/*
 * The perf data that a command writes: the options that say where and in what form, and a writer by them. Commands that
 * change a recording have them in common, so that each can write a file, a pipe or a directory, compressed or not.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "front/cli.h"

#include <perfdata/writer.h>

struct target_options {
	const char *output;
	int form; /* enum pd_mode plus one; 0: what fits the output */
	enum pd_endian byte_order;
	bool compress, compress2, no_compress;
	struct option_number level;
};
extern const struct option_group target_group;

struct target {
	struct pd_writer_options wanted; /* may be changed before target_open */
	struct pd_writer *writer;
	const struct pd_consumer *consumer; /* what is written is for this one; NULL: for all */
	const char *path;
	bool comes_once; /* an input does, through a pipe: what was written of it stays when a signal ends the program */
	struct unfinished *unfinished;
};

/* Takes the options. packing is what is done with compressed records when nothing is said of them: PD_PACK_KEEP for
 * commands that pass every record in the order of the file, PD_PACK_SAME for those that leave some out, change or
 * sort them. Says on stderr what is wrong and returns another code than CODE_OK then. */
int target_take(struct target *target, const struct target_options *options, enum pd_packing packing);
/* The same for another path than that of the options, with the same form. */
int target_take_path(struct target *target, const struct target_options *options, const char *path,
		     enum pd_packing packing);
/* Opens the writer. The inputs are the files that are read meanwhile. copy_metadata: events and features are those of the
 * first one. Says on stderr what is wrong and returns another code than CODE_OK then. */
int target_open(struct target *target, struct pd_file *const *inputs, size_t input_count, bool copy_metadata);
/* Opens the writer alone, by what is wanted. */
enum pd_status target_open_writer(struct target *target, struct pd_error *error);
/* Finishes the writer if code is CODE_OK or CODE_DAMAGED, else takes away what was written. Returns code, or that of
 * the failure. */
int target_close(struct target *target, int code);
/* Says on stderr why the writer failed; returns the code for it. */
int target_failed(const struct target *target, enum pd_status status, const struct pd_error *error);

#endif
