/* SPDX-License-Identifier: MIT */
/* The inside of a store that is read. */
#ifndef PD_STORE_STORE_H
#define PD_STORE_STORE_H

#include <perfdata/store.h>

#include "sql/engine.h"

/* Sums of a column, where that of SQLite fails if it has more than 63 bits: exact as long as there are no more, else a floating point
 * number; and as it is kept, the largest number there is. */
#define PD_STORE_SUM(column)                                                                               \
	"CASE WHEN abs(total(" column ")) < 9e18 THEN sum((" column ") >> 32) * 4294967296 + sum((" column \
	") & 4294967295) ELSE total(" column ") END"
#define PD_STORE_KEPT(number) "max(min(" number ", 9223372036854775807), -9223372036854775807)"

// What has to be there of a store that is read for a question; one that is a file has it all.
enum pd_store_need {
	PD_STORE_NEED_SAMPLES, // recordings and samples
	PD_STORE_NEED_NAMES,   // and frames and stacks
	PD_STORE_NEED_HOURS    // and sums of hours
};

struct pd_store_question {
	const struct pd_store_choice *choice;
	enum pd_store_need need;
};

// Other recordings and samples than those that were chosen may be there, or not.
enum pd_status pd_store_open(const char *path, const struct pd_store_question *question,
			     struct pd_sql_database **database_out, struct pd_error *error);
// Opens it, and prints the rows of statements.
enum pd_status pd_store_answer(const char *path, const struct pd_store_question *question, const char *statements,
			       enum pd_sql_format format, struct pd_text *text, struct pd_error *error);
// What people type, see pd_store_open_file. The result is the caller's; credentials may be NULL and must remain valid.
enum pd_status pd_store_choice_new(const char *const *words, size_t count, const char *credentials,
				   struct pd_store_choice **choice_out, struct pd_error *error);
// Or NULL. said may be an older struct, or NULL.
const char *pd_store_credentials(const struct pd_store_profile *said);
void pd_store_choice_free(struct pd_store_choice *choice); // NULL is ignored
// Conditions on profiles, and on the time of samples, as SQL. Errors: as pd_store_label_value; PD_ERROR_MEMORY.
enum pd_status pd_store_put_profiles(const struct pd_store_choice *choice, struct pd_text *text,
				     struct pd_error *error);
void pd_store_put_times(const struct pd_store_choice *choice, struct pd_text *text);
// Both as one condition on a row p of profiles.
enum pd_status pd_store_put_chosen(const struct pd_store_choice *choice, struct pd_text *text, struct pd_error *error);
// Prepares a statement with both between its parts.
enum pd_status pd_store_ask_for(struct pd_sql_database *database, const struct pd_store_choice *choice,
				const char *before, const char *after, struct pd_sql_statement **row_out,
				struct pd_error *error);
// The self time of functions: the most of each event, and the sum of the others.
enum pd_status pd_store_print_top(const char *path, const struct pd_store_choice *choice, enum pd_sql_format format,
				  struct pd_text *text, struct pd_error *error);
// Where the value of a label begins; NULL if it is no KEY=VALUE.
const char *pd_store_label_value(const char *label, struct pd_error *error);

#endif
