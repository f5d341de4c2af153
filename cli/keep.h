/* SPDX-License-Identifier: MIT */
/*
 * What the commands that keep a part of a recording have in common: the input, the output, and a walk that asks the
 * command about each record, passes what is kept, counts, and says at the end what was kept.
 *
 * What says how the rest is to be read (events, features, compression) is always passed and never asked about.
 */
#ifndef CLI_KEEP_H
#define CLI_KEEP_H

#include "front/input.h"
#include "front/target.h"

struct keep_options {
	struct input_options input;
	struct target_options target;
	bool json;
};

/* Lines for the options table of a command whose values are struct type with such a member. */
#define KEEP_OPTIONS(type, m)                                                          \
	INPUT_OPTIONS(type, m.input), TARGET_OPTIONS(type, m.target),                  \
	{                                                                              \
		"json", 'j', OPTION_FLAG, NULL, offsetof(type, m.json),                \
			"print what was kept as JSON on standard output", GROUP_OUTPUT \
	}

enum verdict {
	VERDICT_DROP,
	VERDICT_PASS,
	VERDICT_PASSED, /* the command has passed it itself */
	VERDICT_END,    /* it is not wanted, and nothing behind it is */
	VERDICT_FAILED  /* keep->status and keep->error say why */
};

struct kept {
	uint64_t kept, seen;
};

struct keep {
	const struct keep_options *options;
	struct input input;
	struct target target;
	/* Asked about each record. */
	enum verdict (*choose)(void *self, struct pd_stream *stream, const struct pd_record *record);
	void *self;
	/* As in pd_changes, or NULL; its first argument is the struct keep. */
	enum pd_status (*event)(void *keep, const struct pd_event *event, struct pd_attr *attr, const char **name,
				struct pd_error *error);
	const struct pd_select *select; /* of the command, or NULL */
	bool any_record;                /* samples are no aim of their own: it is fine if none is kept */
	uint64_t from_ns, to_ns;        /* what is wanted, for the features of a pipe; 0: open */
	struct kept samples, others;
	uint64_t first_ns, last_ns; /* of the samples that were kept; 0: none has a time */
	uint64_t *rounds;           /* by part: records passed since the last round */
	size_t part_count;
	struct pd_sample_time noted;
	struct pd_error error;
	enum pd_status status;
	bool ended; /* by VERDICT_END */
};

/* Takes the options and opens the input; twice: it is read more than once, so what comes through a pipe is kept. Says
 * what is wrong and returns another code than CODE_FINE then. */
int keep_open(struct keep *keep, const struct keep_options *options, const struct call *call, bool twice);
/* Reads the input without writing, before keep_write. Problems are told here, and not again. */
int keep_look(struct keep *keep, record_fn *each, void *self);
/* Writes what choose says. */
int keep_write(struct keep *keep);
/* Ends the output, tells, and closes. Returns code, or what the end makes of it. */
int keep_close(struct keep *keep, int code);
/* Keeps a failure of the command. Returns false if it is one. */
bool keep_status(struct keep *keep, enum pd_status status);

/* True for records that later ones depend on: who runs, what is mapped, what code the kernel has. */
bool keep_is_state(uint32_t type);
/* True if the input comes once and is not kept: it ends when whoever writes it ends. */
bool keep_is_live(const struct keep *keep);

#endif
