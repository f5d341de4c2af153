/* SPDX-License-Identifier: MIT */
/* What the files that print reports share. */
#ifndef PD_REPORT_PRINT_PRINT_H
#define PD_REPORT_PRINT_PRINT_H

#include <string.h>

#include "report/report.h"

/* Escape sequences around a percentage, with the colours and limits of perf; NULL for small ones, which have none. */
static inline const char *share_color(double percent)
{
	const double red = 5, green = 0.5;

	return percent >= red ? "\033[31m" : percent >= green ? "\033[32m" : NULL;
}
#define SHARE_COLOR_END "\033[m"

/* Takes over the options of a call that prints. */
static inline void pd_print_start(struct pd_report *report, const struct pd_report_text_options *options,
				  struct pd_text *out)
{
	report->print = (struct pd_report_text_options){ 0 };
	if (options)
		memcpy(&report->print, options,
		       options->size < sizeof(report->print) ? options->size : sizeof(report->print));
	report->out = out;
}

/* ---- status.c ---- */

/* Writes the text away if it is long. */
enum pd_status pd_print_flush_large(struct pd_text *text);
/* What a call that prints returns. */
enum pd_status pd_print_end(enum pd_status status, const struct pd_text *text, struct pd_error *error);

/* ---- cells.c ---- */

/* As wide as the widest of all rows, shown or not, unless a width is given. */
void pd_text_widths(const struct pd_report *report, struct table *table);
/* Names of the columns; the widths are known. */
void pd_text_header(const struct pd_report *report, const struct table *table);
void pd_text_row(const struct pd_report *report, const struct table *table, const struct row *row, struct pd_text *out);
/* Some cells of a row, with the blanks in front of them and without a separator. */
void pd_text_cells(const struct pd_report *report, const struct table *table, const struct row *row, size_t first,
		   size_t end, struct pd_text *out);
const char *pd_column_header(const struct pd_report *report, const struct table *table, size_t column);
/* A string in which the separator does not occur. */
void pd_text_cell(const struct pd_report *report, struct pd_text *out, const char *text, size_t length);

/* ---- hierarchy.c ---- */

/* Header and rows of a table as a tree, without what is smaller than least_percent. */
enum pd_status pd_text_hierarchy(struct pd_report *report, const struct table *table, double least_percent);

/* ---- blocks.c ---- */

/* The basic blocks of an event, instead of the rows of its table. */
enum pd_status pd_text_blocks(struct pd_report *report, const struct table *table);

/* ---- draw.c ---- */

/* Rows of a table with their graphs, made on several threads, in order. */
struct drawing {
	struct pd_report *report;
	const struct table *table;
	const struct row *const *rows;
	size_t *ends;       /* of each text: which row it ends at; only the last one of a text has a graph */
	size_t count, next; /* texts */
	struct pd_pipeline *pipeline;
};
/* False if there is no memory. pd_drawing_end comes after it in any case. */
bool pd_drawing_start(struct drawing *drawing, struct pd_report *report, const struct table *table,
		      const struct row *const *rows, size_t count);
/* Prints some more rows; all are printed if next is count. False if there is no memory. */
bool pd_drawing_next(struct drawing *drawing);
void pd_drawing_end(struct drawing *drawing);

#endif
