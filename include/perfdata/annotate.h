/* SPDX-License-Identifier: MIT */
/**
 * annotate.h - samples by instruction: the code of functions with the share of each instruction, and the lines of the source.
 *
 * Of a profile that is there: pd_annotate_new, pd_annotate_ask, which fills in the options to read it with,
 * pd_annotate_build. There is a table for each event or group of events, and in it a function for each symbol with samples, the
 * largest first. pd_annotate_open disassembles one of them; pd_annotate_text prints all, as perf annotate does.
 *
 * Code is disassembled by a library that a build may lack: pd_annotate_open returns PD_ERROR_UNSUPPORTED then.
 *
 * Threads: one at a time for each.
 *
 * Example:
 *
 *	struct pd_profile_options how = { .size = sizeof(how) };
 *	struct pd_annotate *annotate;
 *
 *	if (pd_annotate_new(NULL, &annotate, &error) == PD_OK) {
 *		pd_annotate_ask(annotate, &how);
 *		if (pd_profile_read(file, &how, &profile, &error) == PD_OK &&
 *		    pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error) == PD_OK &&
 *		    pd_profile_name(profile, symbols, &error) == PD_OK &&
 *		    pd_annotate_build(annotate, file, profile, symbols, &error) == PD_OK)
 *			pd_annotate_text(annotate, NULL, text, &error);
 *		pd_annotate_free(annotate);
 *	}
 */
#ifndef PERFDATA_ANNOTATE_H
#define PERFDATA_ANNOTATE_H

#include <perfdata/profile.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a percentage is of. */
enum pd_annotate_percent {
	PD_ANNOTATE_LOCAL_PERIOD,  /* periods, of the function */
	PD_ANNOTATE_GLOBAL_PERIOD, /* periods, of the event */
	PD_ANNOTATE_LOCAL_HITS,    /* samples, of the function */
	PD_ANNOTATE_GLOBAL_HITS    /* samples, of the event */
};

/** Sets what a word as of perf annotate --percent-type names: local-period, hits-global ... Errors: PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_annotate_percent_parse(const char *word, enum pd_annotate_percent *percent_out,
						struct pd_error *error);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_annotate_options {
	size_t size; /* sizeof(struct pd_annotate_options); 0 is PD_ERROR_ARGUMENT */
	const char *
		symbol; /* only functions of this name, as they are shown; NULL: all. Valid as long as the annotation */
	/* Whether the object and function of a sample are requested; may be NULL. */
	bool (*has_place)(const void *filter, const struct pd_place *place);
	const void *filter;
	bool all_in_one_table; /* all events, as if they were a group */
	bool no_groups;        /* a table for each event, even of a group */
	double least_percent;  /* functions with a smaller share of all events of a table are omitted */
	bool intel;            /* x86 in Intel's syntax, not AT&T's */
	bool nameless;         /* also code for which there is no symbol: a function for samples near to each other */
	/* That of pd_profile_options, for branch stacks, which are read again; gets filter. May be NULL. */
	enum pd_choice (*choose)(const void *filter, const struct pd_candidate *candidate);
};

struct pd_annotate;

/** Without a profile. Errors: PD_ERROR_ARGUMENT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_annotate_new(const struct pd_annotate_options *options, struct pd_annotate **annotate_out,
				      struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_annotate_free(struct pd_annotate *annotate);
/** Sets what is needed of a profile. */
PD_API void pd_annotate_ask(const struct pd_annotate *annotate, struct pd_profile_options *options);
/** Adds up, once. file, profile and symbols must outlive the annotation; the profile has names (pd_profile_name). Errors:
 * PD_ERROR_MEMORY. */
PD_API enum pd_status pd_annotate_build(struct pd_annotate *annotate, struct pd_file *file,
					const struct pd_profile *profile, struct pd_symbols *symbols,
					struct pd_error *error);

/* ---- results ---- */

struct pd_annotate_sum {
	uint64_t period, samples;
};

struct pd_annotate_table {
	size_t first_event, event_count; /* indices of pd_file_event */
	const char *name;                /* of the event or of the group */
	size_t function_count;
	const struct pd_annotate_sum *totals; /* by event, of the functions and of samples in none */
};

/** A function with samples. Valid as long as the annotation. */
struct pd_annotate_function {
	const struct pd_function *function;
	const struct pd_annotate_sum *sums; /* by event of the table */
};

/** The index-th table, or NULL past the end. Valid as long as the annotation. */
PD_API const struct pd_annotate_table *pd_annotate_table(const struct pd_annotate *annotate, size_t index);
/** The index-th function of a table; NULL past the end. */
PD_API const struct pd_annotate_function *pd_annotate_function(const struct pd_annotate *annotate, size_t table,
							       size_t index);

/* ---- code ---- */

/** What follows an instruction. */
enum pd_flow {
	PD_FLOW_NEXT,
	PD_FLOW_BRANCH, /* a jump with a condition */
	PD_FLOW_JUMP,
	PD_FLOW_CALL,
	PD_FLOW_RETURN
};

enum pd_annotate_kind {
	PD_ANNOTATE_INSTRUCTION,
	PD_ANNOTATE_SECTION, /* the name of the section, before its first code */
	PD_ANNOTATE_LABEL,   /* a symbol begins: "0000000000001200 <odd>:" */
	PD_ANNOTATE_INLINED, /* another function's code begins: "odd():" */
	PD_ANNOTATE_PLACE,   /* "/src/hot.c:12" */
	PD_ANNOTATE_SOURCE,  /* a line of the source */
	PD_ANNOTATE_GAP      /* zeros that are left out */
};

/** A line of the code of a function. Valid as long as the code. */
struct pd_annotate_line {
	enum pd_annotate_kind kind;
	enum pd_flow flow;     /* of an instruction */
	const char *text;      /* of any kind; never NULL */
	const char *file;      /* of an instruction and of the source: path, or NULL */
	uint32_t line;         /* its line; 0: unknown */
	bool has_target;       /* target is where the instruction jumps */
	uint64_t addr, target; /* addresses in the object */
	struct pd_bytes bytes; /* of an instruction */
};

struct pd_annotate_code;

/** Disassembles a function of a table. Errors: PD_ERROR_NO_MATCH if its object or its code is not found; PD_ERROR_UNSUPPORTED
 * if no disassembler knows it; PD_ERROR_LIMIT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_annotate_open(struct pd_annotate *annotate, size_t table, size_t function,
				       struct pd_annotate_code **code_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_annotate_close(struct pd_annotate_code *code);
/** The index-th line, or NULL past the end. */
PD_API const struct pd_annotate_line *pd_annotate_line(const struct pd_annotate_code *code, size_t index);
/** Sums of an instruction by event of the table; NULL if it is none. */
PD_API const struct pd_annotate_sum *pd_annotate_line_sums(const struct pd_annotate_code *code, size_t index);

/* ---- branch stacks ---- */

/** What branch stacks say of an instruction, as perf annotate counts it. Shares are of 1. */
struct pd_annotate_branch {
	double ipc; /* instructions per cycle of the block that it is in; 0: unknown */
	uint64_t cycles, least,
		most;      /* mean of blocks that end here, and limits; 0: none does, or no cycles were recorded */
	uint64_t executed; /* how often */
	double entered;    /* if branches go here: share of these in the executions of the next branch */
	double taken,
		predicted; /* if it is a branch: share of its executions that took it, and of these, predicted ones */
};

/** Blocks that end at one branch. */
struct pd_annotate_block {
	uint64_t start, end;    /* addresses in the object: of the first instruction, if known, and of the branch */
	uint64_t count, cycles; /* how often it was executed, and all its cycles */
	uint64_t average;       /* cycles; 0: not recorded */
	double share;           /* of all cycles of the recording, of 1 */
	double ipc, taken;      /* those of struct pd_annotate_branch; ipc is 0 if start is not known */
	size_t instructions;
};

/** NULL if the line is no instruction, or no branch stack ends in the function. Valid as long as the code. */
PD_API const struct pd_annotate_branch *pd_annotate_line_branch(const struct pd_annotate_code *code, size_t index);
/** The index-th block of the function, that with most cycles first; NULL past the end. Valid as long as the code. */
PD_API const struct pd_annotate_block *pd_annotate_block(const struct pd_annotate_code *code, size_t index);
/** Instructions per cycle of the function, 0 if unknown. covered_out gets the share of its instructions that this is known of; may be
 * NULL. */
PD_API double pd_annotate_ipc(const struct pd_annotate_code *code, double *covered_out);

/* ---- as text ---- */

/** What columns show. */
enum pd_annotate_show {
	PD_ANNOTATE_SHOW_PERCENT,
	PD_ANNOTATE_SHOW_SAMPLES,
	PD_ANNOTATE_SHOW_PERIOD
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_annotate_text_options {
	size_t size; /* sizeof(struct pd_annotate_text_options) */
	enum pd_annotate_percent percent;
	enum pd_annotate_show show;
	bool no_source;  /* without lines of the source */
	bool raw;        /* with the bytes of instructions */
	bool full_paths; /* of objects and source files */
	bool lines;      /* source lines summed up before each function, and after instructions */
	bool escape;     /* control characters, for terminals */
	bool color;
	bool hot_only;    /* only instructions with a share, and what is near them, with their loops and jumps */
	pd_warn_fn *warn; /* gets what could not be annotated; may be NULL */
	void *self;
	bool cycles; /* with branch stacks: columns with instructions per cycle and cycles, and a list of blocks before each function */
};

/** All functions, as perf annotate --stdio prints them. Appends to text, and writes it out (pd_text_flush_large). Errors:
 * PD_ERROR_MEMORY; PD_ERROR_OUTPUT if writing failed. */
PD_API enum pd_status pd_annotate_text(struct pd_annotate *annotate, const struct pd_annotate_text_options *options,
				       struct pd_text *text, struct pd_error *error);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_annotate_types_options {
	size_t size;      /* sizeof(struct pd_annotate_types_options) */
	const char *type; /* only this one: "struct node", or "node"; NULL: all */
	bool answers;     /* before it, how many addresses have a type, and why others have none */
	bool words;       /* the same by the name of the instruction */
	bool skip_empty;  /* of a group, only events with samples */
};

/** Types of data that samples access, with the share of each member, as perf annotate --data-type prints them, version 7.2. Of the text options,
 * show, escape and color count. Errors: PD_ERROR_UNSUPPORTED if types are not known of this architecture, or by this build; else as
 * pd_annotate_text. */
PD_API enum pd_status pd_annotate_types_text(struct pd_annotate *annotate,
					     const struct pd_annotate_types_options *types,
					     const struct pd_annotate_text_options *options, struct pd_text *text,
					     struct pd_error *error);

/** The same as JSON: tables with types, each with its members and theirs. Of a type, sums are all samples that access it, and in_members
 * those at an offset in it; of a member, sums are those in it. Counts that are asked for are the members type_stat and insn_stat. Errors: as
 * pd_annotate_types_text. */
PD_API enum pd_status pd_annotate_types_json(struct pd_annotate *annotate,
					     const struct pd_annotate_types_options *types, struct pd_text *text,
					     struct pd_error *error);

/** All functions as a page that needs only a browser, without scripts. Errors: as pd_annotate_text. */
PD_API enum pd_status pd_annotate_html(struct pd_annotate *annotate, struct pd_text *text, struct pd_error *error);

/** The source files that samples of the functions came from, the largest first, with the share of each line. Columns are as of
 * pd_annotate_text; local percentages are of the file. hot_only: only lines with samples, and what is near them. Errors: as
 * pd_annotate_text. */
PD_API enum pd_status pd_annotate_source_text(struct pd_annotate *annotate,
					      const struct pd_annotate_text_options *options, struct pd_text *text,
					      struct pd_error *error);
/** The same as JSON: tables with files, and of them the lines with samples. Errors: as pd_annotate_text. */
PD_API enum pd_status pd_annotate_source_json(struct pd_annotate *annotate, struct pd_text *text,
					      struct pd_error *error);

/** All functions as an object with the member tables; of instructions without samples there are no sums. Where no code is found, missing
 * is the reason. Errors: as pd_annotate_text. */
PD_API enum pd_status pd_annotate_json(struct pd_annotate *annotate, struct pd_text *text, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
