/* SPDX-License-Identifier: MIT */
/* What the texts of annotations have in common. */
#ifndef PD_ANNOTATE_TEXT_H
#define PD_ANNOTATE_TEXT_H

#include "annotate/inside.h"
#include "annotate/print/column.h"

struct pd_annotate_printing {
	struct pd_annotate_text_options options;
	struct pd_text *out;
	struct pd_annotate_code *code;
	const struct pd_annotate_part *part;
	const struct pd_annotate_sum *local; // what local percentages are of, by event
	size_t events;
	size_t addr_width;
	size_t cycles_width;                  // of the columns of branch stacks, if there are any
	const struct pd_annotate_loop *loops; // that are to be said
	size_t loop_count, loop;              // the next one
	const char *jumps;                    // characters before each instruction, or NULL
	uint64_t counter;                     // of lines
	const char *last_file;                // of the last place that was printed
	uint32_t last_line;
};

/** The share of a sum in percent; local are the sums of its function. */
double pd_annotate_share(const struct pd_annotate_part *part, const struct pd_annotate_sum *local,
			 const struct pd_annotate_sum *sum, size_t event, enum pd_annotate_percent percent);

/** Width of all columns of numbers, with those of branch stacks. */
size_t pd_annotate_width(const struct pd_annotate_printing *p);
/** A number of each event. */
void pd_annotate_put_columns(struct pd_annotate_printing *p, const struct pd_annotate_sum *sums);
/** The line below a title that was begun at the offset. */
void pd_annotate_put_rule(struct pd_annotate_printing *p, size_t begin);
/** Of which type percentages are: "local period". */
const char *pd_annotate_percent_word(const struct pd_annotate_printing *p);
/** Text of a file, escaped where that is asked for. */
void pd_annotate_put_name(struct pd_annotate_printing *p, const char *name, size_t length);

/** A line of the source with the blanks before it. */
void pd_annotate_put_indented(struct pd_annotate_printing *p, const char *text, size_t length);

// ---- share.c ----

/** Whether an event of a table is sampled where the processor was interrupted, not where it happened. */
bool pd_annotate_has_skid(const struct pd_annotate *annotate, const struct pd_annotate_part *part);
#define PD_ANNOTATE_SKID "Addresses are not precise: the instruction that took the time is often the one before"

// ---- json.c ----

struct pd_json;
/** Sums by event as a member, and what a table begins with. */
void pd_annotate_json_sums(struct pd_json *json, const char *name, const struct pd_annotate_sum *sums, size_t count);
void pd_annotate_json_head(struct pd_json *json, const struct pd_annotate *annotate,
			   const struct pd_annotate_part *part);
void pd_annotate_json_addr(struct pd_json *json, const char *name, uint64_t addr);

// ---- branches.c ----

enum {
	PD_ANNOTATE_CYCLES_WIDTH = 12
};
#define PD_ANNOTATE_CYCLES "   IPC Cycle"

/** "\t# +18.56% -43.11% (p:91.10%)": entered here, taken here and predicted; nothing for NULL. */
void pd_annotate_put_flow(struct pd_text *out, const struct pd_annotate_branch *branch);
/** Columns with instructions per cycle and cycles. */
void pd_annotate_put_cycles(struct pd_text *out, const struct pd_annotate_branch *branch);
/** The blocks of a function, before its code. */
void pd_annotate_put_blocks(struct pd_annotate_printing *p);
/** Members of an instruction, and of a function. */
void pd_annotate_json_branch(struct pd_json *json, const struct pd_annotate_branch *branch);
void pd_annotate_json_blocks(struct pd_json *json, const struct pd_annotate_code *code);

// ---- summary.c ----

/** Lines of the source with their shares, largest first. False without memory. */
bool pd_annotate_put_summary(struct pd_annotate_printing *p);
/** Whether an instruction is in the summary. */
bool pd_annotate_is_hot(const struct pd_annotate_printing *p, const struct pd_annotate_sum *sums);
/** " // hot.c:12" unless it was said before. */
void pd_annotate_put_place(struct pd_annotate_printing *p, const struct pd_annotate_line *line);

#endif
