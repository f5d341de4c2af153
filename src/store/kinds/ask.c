/* SPDX-License-Identifier: MIT */
/* Questions that a server answers itself: its rows are printed as it prints them. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "store/kinds/kinds.h"
#include "store/kinds/server.h"

static const char list[] =
	"SELECT substring(hash, 1, 12) AS profile, nullIf(toDateTime(intDiv(start_ns, 1000000000)), toDateTime(0)) AS start, "
	"round((finish_ns - start_ns) / 1e9, 3) AS seconds, samples, lost, host, labels, name FROM "
	"(SELECT profile AS hash, start_ns, finish_ns, samples, lost, host, name FROM profiles) AS p ANY LEFT JOIN "
	"(SELECT profile AS hash, arrayStringConcat(arraySort(groupUniqArray(concat(key, '=', value))), ' ') AS labels FROM labels "
	"GROUP BY hash) AS l USING hash ORDER BY start_ns, hash";

// Nothing can be changed by it.
static const char harmless[] = "&readonly=1";

// Nothing that a terminal obeys.
static void put_lines(struct pd_text *text, const char *data, size_t size)
{
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		pd_text_escaped(text, data, length);
		pd_text_char(text, '\n');
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
}

static enum pd_status run_question(struct pd_store_server *server, const char *question, enum pd_sql_format format,
				   struct pd_text *text, struct pd_error *error)
{
	static const char *const formats[] = {
		[PD_SQL_COLUMNS] = "PrettyCompactNoEscapes", [PD_SQL_CSV] = "CSVWithNames", [PD_SQL_JSONL] = "JSONEachRow"
	};
	size_t length = strlen(question);
	struct pd_text statement = { 0 }, answer = { 0 };
	enum pd_status status;

	while (length && strchr("; \t\n", question[length - 1]))
		length--;
	pd_text_printf(&statement, "%.*s FORMAT %s%c", (int)length, question, formats[format], 0);
	status = statement.failed ? pd_fail_memory(error) :
				    pd_store_server_run(server, harmless, statement.data, (struct pd_bytes){ NULL, 0 },
							&answer, error);
	if (status >= 0)
		put_lines(text, answer.data, answer.size);
	pd_free(statement.data);
	pd_free(answer.data);
	return status;
}

enum pd_status pd_store_server_print(const char *const *words, size_t count, const struct pd_store_options *options,
				     struct pd_text *text, struct pd_error *error)
{
	bool is_list = count == 2 && !strcmp(words[0], "ls"), is_question = count == 3 && !strcmp(words[0], "sql");
	struct pd_store_server *server;
	enum pd_status status;

	if (count == 2 && !strcmp(words[0], "add"))
		return pd_store_server_send(words[1], options->profile, error);
	if (count == 2 && !strcmp(words[0], "prune") && options->before_ns)
		return pd_store_server_prune(words[1], options, error);
	if (!is_list && !is_question)
		return PD_END;
	status = pd_store_server_open(words[1], options->profile, &server, error);
	if (status < 0)
		return status;
	status = run_question(server, is_list ? list : words[2], options->format, text, error);
	pd_store_server_close(server);
	return status;
}
