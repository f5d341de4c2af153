/* SPDX-License-Identifier: MIT */
/* What was asked in a shell, now and before, in a file with a line for each statement. */
#ifndef PD_SQL_HISTORY_H
#define PD_SQL_HISTORY_H

#include "base/text/text.h"

struct pd_sql_history {
	int fd; // -1: it is not kept
	struct pd_text lines;
};

// Reads what a file has, if it can; its folders are made. path NULL: it is not kept. False, with errno, if the file cannot be used.
bool pd_sql_history_open(struct pd_sql_history *history, const char *path);
void pd_sql_history_close(struct pd_sql_history *history);
// Adds a statement, unless it is the last one; line feeds become blanks.
void pd_sql_history_add(struct pd_sql_history *history, const char *statement);
// The number-th statement from 1 on, or the last one with 0; NULL if there is none. To be freed.
char *pd_sql_history_find(const struct pd_sql_history *history, size_t number);
// The last ones, with their numbers.
void pd_sql_history_print(const struct pd_sql_history *history, struct pd_text *text);

#endif
