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
	const struct pd_store_question question = { choice, PD_STORE_NEED_NAMES };
	struct pd_text statement = { 0 };
	enum pd_status status;

	pd_text_add(&statement, top_begin);
	status = pd_store_put_profiles(choice, &statement, error);
	pd_store_put_times(choice, &statement);
	pd_text_add(&statement, top_end);
	pd_text_char(&statement, 0);
	if (status >= 0)
		status = statement.failed ? pd_fail_memory(error) :
					    pd_store_answer(path, &question, statement.data, format, text, error);
	pd_free(statement.data);
	return status;
}

// ---- recordings ----

static enum pd_status put_question(const struct pd_store_choice *choice, struct pd_text *text, struct pd_error *error)
{
	enum pd_status status;

	PD_TEXT_LITERAL(text, "SELECT profile FROM profiles p WHERE ");
	status = pd_store_put_chosen(choice, text, error);
	PD_TEXT_LITERAL(text, " ORDER BY start_ns, profile");
	pd_text_char(text, 0);
	return status >= 0 && text->failed ? pd_fail_memory(error) : status;
}

static enum pd_status list_profiles(struct pd_sql_database *database, const char *question, struct pd_text *text,
				    struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	struct pd_sql_value hash;
	const char *rest;
	enum pd_status status = pd_sql_sqlite.prepare(database, question, &row, &rest, error);

	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK) {
		pd_sql_sqlite.value(row, 0, &hash);
		if (hash.kind != PD_SQL_TEXT || hash.size != PD_STORE_HASH_BYTES - 1) {
			status = pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "a recording of the store has no hash");
			break;
		}
		if (text->size)
			pd_text_char(text, ',');
		pd_text_put(text, hash.data, hash.size);
	}
	pd_sql_sqlite.finish(row);
	if (status < 0)
		return status;
	if (!text->size)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no recording of the store fits");
	pd_text_char(text, 0);
	return text->failed ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status list_chosen(const char *path, const struct pd_store_choice *choice, struct pd_text *text,
				  struct pd_error *error)
{
	const struct pd_store_question question = { choice, PD_STORE_NEED_SAMPLES };
	struct pd_sql_database *database;
	struct pd_text statement = { 0 };
	enum pd_status status = pd_store_open(path, &question, &database, error);

	if (status < 0)
		return status;
	status = put_question(choice, &statement, error);
	if (status >= 0)
		status = list_profiles(database, statement.data, text, error);
	pd_sql_sqlite.close(database);
	pd_free(statement.data);
	return status;
}

enum pd_status pd_store_profiles(const char *path, const char *const *words, size_t count,
				 const struct pd_store_profile *said, struct pd_text *text, struct pd_error *error)
{
	struct pd_store_choice *choice;
	enum pd_status status = text ? pd_store_choice_new(words, count, pd_store_credentials(said), &choice, error) :
				       pd_fail_memory(error);

	if (status < 0)
		return status;
	pd_text_clear(text);
	status = list_chosen(path, choice, text, error);
	pd_store_choice_free(choice);
	return status;
}

enum pd_status pd_store_profile(const char *path, const char *const *words, size_t count, size_t index,
				char hash_out[PD_STORE_HASH_BYTES], struct pd_error *error)
{
	struct pd_text text = { 0 };
	enum pd_status status = pd_store_profiles(path, words, count, NULL, &text, error);
	bool has = status >= 0 && index < text.size / PD_STORE_HASH_BYTES;

	if (has)
		snprintf(hash_out, PD_STORE_HASH_BYTES, "%.*s", PD_STORE_HASH_BYTES - 1,
			 text.data + index * PD_STORE_HASH_BYTES);
	pd_free(text.data);
	return has || (status < 0 && status != PD_ERROR_NO_MATCH) ? status : PD_END;
}
