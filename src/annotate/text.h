/* SPDX-License-Identifier: MIT */
/* What the texts of annotations have in common. */
#ifndef PD_ANNOTATE_TEXT_H
#define PD_ANNOTATE_TEXT_H

#include "annotate/inside.h"

struct pd_annotate_printing {
	struct pd_annotate_text_options options;
	struct pd_text *out;
	struct pd_annotate_code *code;
	size_t events;
	size_t addr_width;
	uint64_t counter;      // of lines
	const char *last_file; // of the last place that was printed
	uint32_t last_line;
};

/** The share of a sum in percent; local are the sums of its function. */
double pd_annotate_share(const struct pd_annotate_part *part, const struct pd_annotate_sum *local,
			 const struct pd_annotate_sum *sum, size_t event, enum pd_annotate_percent percent);

/** Text of a file, escaped where that is asked for. */
void pd_annotate_put_name(struct pd_annotate_printing *p, const char *name, size_t length);

// ---- summary.c ----

/** Lines of the source with their shares, largest first. False without memory. */
bool pd_annotate_put_summary(struct pd_annotate_printing *p);
/** Whether an instruction is in the summary. */
bool pd_annotate_is_hot(const struct pd_annotate_printing *p, const struct pd_annotate_sum *sums);
/** " // hot.c:12" unless it was said before. */
void pd_annotate_put_place(struct pd_annotate_printing *p, const struct pd_annotate_line *line);

#endif
