/* SPDX-License-Identifier: MIT */
/* Questions about a store that are SQL alone: which functions took most, and which recordings there are. */
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "sql/sql.h"

// Sums by stack first: names are asked for once each.
static const char top_begin[] = "WITH sums AS (SELECT event, stack, " PD_STORE_SUM("count") " AS count, " PD_STORE_SUM(
	"value") " AS value FROM samples WHERE ";
static const char top_end[] =
	" GROUP BY event, stack), "
	"totals AS (SELECT event, " PD_STORE_SUM(
		"value") " AS total FROM sums GROUP BY event), "
			 "functions AS (SELECT event, function, object, " PD_STORE_SUM("count") " AS count, " PD_STORE_SUM(
				 "value") " AS value "
					  "FROM sums LEFT JOIN stacks USING (stack) LEFT JOIN frames USING (frame) GROUP BY event, function, object), "
					  "places AS (SELECT *, row_number() OVER (PARTITION BY event ORDER BY value DESC, function, object) AS place FROM functions) "
					  "SELECT event, round(100.0 * value / total, 2) AS percent, value, count AS samples, object, function FROM ("
					  "SELECT event, value, count, object, coalesce(function, '[unknown]') AS function, place FROM places WHERE place <= 50 "
					  "UNION ALL SELECT event, " PD_STORE_SUM("value") ", " PD_STORE_SUM(
						  "count") ", NULL, count(*) || ' other functions', 51 "
							   "FROM places WHERE place > 50 "
							   "GROUP BY event) JOIN totals USING (event) ORDER BY total DESC, event, place";

enum pd_status pd_store_print_top(const char *path, const struct pd_store_choice *choice, enum pd_sql_format format,
				  struct pd_text *text, struct pd_error *error)
{
	struct pd_text question = { 0 };
	enum pd_status status;

	pd_text_add(&question, top_begin);
	status = pd_store_put_profiles(choice, &question, error);
	pd_store_put_times(choice, &question);
	pd_text_add(&question, top_end);
	pd_text_char(&question, 0);
	if (status >= 0)
		status = question.failed ? pd_fail_memory(error) :
					   pd_store_ask(path, question.data, format, text, error);
	pd_free(question.data);
	return status;
}

// ---- recordings ----

static enum pd_status put_question(const struct pd_store_choice *choice, size_t index, struct pd_text *text,
				   struct pd_error *error)
{
	enum pd_status status;

	PD_TEXT_LITERAL(text, "SELECT profile FROM profiles p WHERE ");
	status = pd_store_put_chosen(choice, text, error);
	pd_text_printf(text, " ORDER BY start_ns, profile LIMIT 1 OFFSET %zu%c", index, 0);
	return status >= 0 && text->failed ? pd_fail_memory(error) : status;
}

static enum pd_status find_profile(struct pd_sql_database *database, const char *question, char *hash_out,
				   struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	struct pd_sql_value hash;
	const char *rest;
	enum pd_status status = pd_sql_sqlite.prepare(database, question, &row, &rest, error);

	if (status >= 0)
		status = pd_sql_sqlite.step(row, error);
	if (status == PD_OK) {
		pd_sql_sqlite.value(row, 0, &hash);
		snprintf(hash_out, PD_STORE_HASH_BYTES, "%.*s", hash.kind == PD_SQL_TEXT ? (int)hash.size : 0,
			 hash.kind == PD_SQL_TEXT ? hash.data : "");
	}
	pd_sql_sqlite.finish(row);
	return status;
}

static enum pd_status find_chosen(const char *path, const struct pd_store_choice *choice, size_t index, char *hash_out,
				  struct pd_error *error)
{
	struct pd_sql_database *database;
	struct pd_text text = { 0 };
	enum pd_status status = pd_store_open(path, &database, error);

	if (status < 0)
		return status;
	status = put_question(choice, index, &text, error);
	if (status >= 0)
		status = find_profile(database, text.data, hash_out, error);
	pd_sql_sqlite.close(database);
	pd_free(text.data);
	return status;
}

enum pd_status pd_store_profile(const char *path, const char *const *words, size_t count, size_t index,
				char hash_out[PD_STORE_HASH_BYTES], struct pd_error *error)
{
	struct pd_store_choice *choice;
	enum pd_status status = pd_store_choice_new(words, count, &choice, error);

	if (status < 0)
		return status;
	status = find_chosen(path, choice, index, hash_out, error);
	pd_store_choice_free(choice);
	return status;
}
