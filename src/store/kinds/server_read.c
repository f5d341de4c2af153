/* SPDX-License-Identifier: MIT */
/*
 * A server, read: rows of its tables in RowBinary, in several answers, as each of them is kept in memory. Which recordings there are is
 * asked first: what arrives later is not looked at.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text/proto.h"
#include "base/text/text.h"
#include "store/kinds/kinds.h"
#include "store/kinds/reader.h"
#include "store/kinds/server.h"
#include "table/set.h"

enum {
	COLUMNS_MOST = 16,
	PAGE_ROWS = 100000,
	NS_PER_SECOND = 1000000000
};

// The stack whose callers are next, from the outermost one on.
struct chain {
	const uint8_t *frames;
	uint64_t left, depth, stack, parent;
};

struct remote {
	struct pd_store_reader reader; // first
	struct pd_store_server *server;
	struct pd_text recordings, samples; // conditions
	struct pd_text statement, answer;
	uint64_t page, pages; // the next one
	struct pd_cursor rows;
	struct pd_sql_value cells[COLUMNS_MOST];
	struct chain chain;
};

// ---- conditions ----

// As ClickHouse has strings: a backslash is no character of its own.
static void put_quoted(struct pd_text *text, const char *string, size_t size)
{
	pd_text_char(text, '\'');
	for (size_t i = 0; i < size; i++) {
		if (string[i] == '\'' || string[i] == '\\')
			pd_text_char(text, '\\');
		pd_text_char(text, string[i]);
	}
	pd_text_char(text, '\'');
}

static enum pd_status put_recordings(const struct pd_store_choice *choice, struct pd_text *text, struct pd_error *error)
{
	PD_TEXT_LITERAL(text, "1");
	for (size_t i = 0; i < choice->label_count; i++) {
		const char *label = choice->labels[i], *value = pd_store_label_value(label, error);

		if (!value)
			return PD_ERROR_ARGUMENT;
		PD_TEXT_LITERAL(text, " AND profile GLOBAL IN (SELECT profile FROM labels WHERE key = ");
		put_quoted(text, label, (size_t)(value - 1 - label));
		PD_TEXT_LITERAL(text, " AND value = ");
		put_quoted(text, value, strlen(value));
		pd_text_char(text, ')');
	}
	if (choice->profile) {
		pd_text_printf(text, " AND substring(profile, 1, %zu) = ", strlen(choice->profile));
		put_quoted(text, choice->profile, strlen(choice->profile));
	}
	return text->failed ? pd_fail_memory(error) : PD_OK;
}

// Seconds, which have 32 bits there.
static uint64_t seconds_of(uint64_t ns)
{
	return ns / NS_PER_SECOND < UINT32_MAX ? ns / NS_PER_SECOND : UINT32_MAX;
}

static enum pd_status put_conditions(struct remote *remote, const struct pd_store_choice *choice,
				     struct pd_error *error)
{
	enum pd_status status = put_recordings(choice, &remote->recordings, error);

	if (status < 0)
		return status;
	PD_TEXT_LITERAL(&remote->samples, "profile GLOBAL IN (SELECT profile FROM profiles WHERE ");
	pd_text_put(&remote->samples, remote->recordings.data, remote->recordings.size);
	pd_text_printf(&remote->samples, ") AND time >= toDateTime(%" PRIu64 ")", seconds_of(choice->from_ns));
	if (choice->to_ns)
		pd_text_printf(&remote->samples, " AND time < toDateTime(%" PRIu64 ")", seconds_of(choice->to_ns));
	return remote->samples.failed ? pd_fail_memory(error) : PD_OK;
}

static void put_condition(const struct remote *remote, size_t table, struct pd_text *text)
{
	static const char stacks[] = "stack GLOBAL IN (SELECT stack FROM samples WHERE ";
	const struct pd_text *samples = &remote->samples;

	if (table == PD_STORE_TABLE_frames)
		PD_TEXT_LITERAL(text, "frame GLOBAL IN (SELECT arrayJoin(frames) FROM stacks WHERE ");
	if (table == PD_STORE_TABLE_frames || table == PD_STORE_TABLE_stacks)
		pd_text_add(text, stacks);
	else if (table != PD_STORE_TABLE_samples)
		samples = &remote->recordings;
	pd_text_put(text, samples->data, samples->size);
	if (table == PD_STORE_TABLE_frames || table == PD_STORE_TABLE_stacks)
		pd_text_char(text, ')');
	if (table == PD_STORE_TABLE_frames)
		pd_text_char(text, ')');
}

// ---- answers ----

static size_t table_of(const struct remote *remote)
{
	return (size_t)(remote->reader.part.table - pd_store_tables);
}

// Each row is in one of the pages.
static void put_page(const struct remote *remote, struct pd_text *text)
{
	static const char *const keys[] = {
		[PD_STORE_TABLE_frames] = "frame",     [PD_STORE_TABLE_stacks] = "stack",
		[PD_STORE_TABLE_labels] = "profile",   [PD_STORE_TABLE_samples] = "profile, time, tid, stack",
		[PD_STORE_TABLE_profiles] = "profile",
	};

	if (remote->pages > 1)
		pd_text_printf(text, " AND cityHash64(%s) %% %" PRIu64 " = %" PRIu64, keys[table_of(remote)],
			       remote->pages, remote->page);
}

// As they are read, whatever their type is there.
static void put_columns(const struct pd_store_table *table, struct pd_text *text)
{
	static const char *const forms[] = {
		[PD_STORE_U32] = "toUInt32(%s)",
		[PD_STORE_S32] = "toInt32(%s)",
		[PD_STORE_U64] = "toUInt64(%s)",
		[PD_STORE_S64] = "toInt64(%s)",
		[PD_STORE_NAME] = "toString(%s)",
		[PD_STORE_TEXT] = "toString(%s)",
		[PD_STORE_TIME] = "toInt64(toUnixTimestamp(%s))",
		[PD_STORE_CHAIN] = "arrayMap(x -> toUInt64(x), %s)",
	};
	bool is_first = true;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct pd_store_column *column = &table->columns[i];
		const char *form = forms[column->type], *name;

		if (column->type != PD_STORE_CHAIN && column->in != PD_STORE_ALL)
			continue;
		name = strchr(form, '%');
		pd_text_printf(text, "%s%.*s%s%s", is_first ? "" : ", ", (int)(name - form), form, column->name,
			       name + 2);
		is_first = false;
	}
}

static enum pd_status run_statement(struct remote *remote, struct pd_error *error)
{
	const struct pd_bytes nothing = { NULL, 0 };
	enum pd_status status;

	pd_text_char(&remote->statement, 0);
	if (remote->statement.failed)
		return pd_fail_memory(error);
	for (unsigned turn = 1;; turn++) {
		status = pd_store_server_run(remote->server, "&readonly=1&wait_end_of_query=1", remote->statement.data,
					     nothing, &remote->answer, error);
		if (status != PD_ERROR_OUTPUT || !pd_store_server_wait(remote->server, turn))
			break;
	}
	if (status >= 0 && remote->answer.size >= PD_STORE_ANSWER_BYTES)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: an answer is too large: ask for less",
			       pd_store_server_name(remote->server));
	return status;
}

static enum pd_status count_pages(struct remote *remote, struct pd_error *error)
{
	enum pd_status status;

	pd_text_clear(&remote->statement);
	pd_text_printf(&remote->statement, "SELECT count() FROM %s WHERE ", remote->reader.part.table->name);
	put_condition(remote, table_of(remote), &remote->statement);
	status = run_statement(remote, error);
	pd_text_char(&remote->answer, 0);
	if (status >= 0 && remote->answer.failed)
		return pd_fail_memory(error);
	remote->page = 0;
	remote->pages = status < 0 ? 0 : strtoull(remote->answer.data, NULL, 10) / PAGE_ROWS + 1;
	return status;
}

static enum pd_status get_page(struct remote *remote, struct pd_error *error)
{
	enum pd_status status;

	pd_text_clear(&remote->statement);
	PD_TEXT_LITERAL(&remote->statement, "SELECT ");
	put_columns(remote->reader.part.table, &remote->statement);
	pd_text_printf(&remote->statement, " FROM %s WHERE ", remote->reader.part.table->name);
	put_condition(remote, table_of(remote), &remote->statement);
	put_page(remote, &remote->statement);
	// what is equal comes in one order, so that reports are the same each time
	if (remote->reader.part.table->by_day)
		PD_TEXT_LITERAL(&remote->statement, " ORDER BY profile, time, event, comm, pid, tid, stack");
	PD_TEXT_LITERAL(&remote->statement, " FORMAT RowBinary");
	status = run_statement(remote, error);
	remote->page++;
	if (status >= 0)
		remote->rows = pd_cursor(remote->answer.data, remote->answer.size, false);
	return status;
}

// ---- rows ----

static enum pd_status begin(struct pd_store_reader *reader, struct pd_error *error)
{
	struct remote *remote = (struct remote *)reader;

	remote->rows = pd_cursor(NULL, 0, false);
	remote->chain = (struct chain){ .left = 0 };
	return count_pages(remote, error);
}

// None is null there; what is empty was, but for labels.
static struct pd_sql_value take_value(const struct remote *remote, struct pd_cursor *c,
				      const struct pd_store_column *column)
{
	struct pd_sql_value value = { .kind = PD_SQL_INTEGER };

	if (column->type == PD_STORE_NAME || column->type == PD_STORE_TEXT) {
		value.size = (size_t)pd_proto_take_varint(c);
		value.data = (const char *)pd_cursor_take(c, value.size);
		value.kind = value.data && (value.size || table_of(remote) == PD_STORE_TABLE_labels) ? PD_SQL_TEXT :
												       PD_SQL_NULL;
		return value;
	}
	if (column->type == PD_STORE_U32)
		value.integer = pd_cursor_u32(c);
	else if (column->type == PD_STORE_S32)
		value.integer = pd_cursor_s32(c);
	else
		value.integer = (int64_t)pd_cursor_u64(c);
	if (!value.integer && (!strcmp(column->name, "stack") || !strcmp(column->name, "line")))
		value.kind = PD_SQL_NULL;
	return value;
}

// A stack becomes rows for it and its callers.
static void take_chain(struct remote *remote, struct pd_cursor *c)
{
	struct chain *chain = &remote->chain;

	chain->stack = (uint64_t)remote->cells[0].integer;
	chain->left = pd_proto_take_varint(c);
	chain->depth = chain->parent = 0;
	chain->frames = pd_cursor_take(c, chain->left <= UINT32_MAX ? chain->left * 8 : UINT64_MAX);
	if (c->failed)
		chain->left = 0;
}

static void next_caller(struct remote *remote)
{
	struct chain *chain = &remote->chain;
	struct pd_cursor one = pd_cursor(chain->frames + --chain->left * 8, 8, false);
	uint64_t frame = pd_cursor_u64(&one);
	uint64_t stack = chain->left ? pd_table_caller_id(chain->parent, frame) : chain->stack;

	remote->cells[0] = (struct pd_sql_value){ .kind = PD_SQL_INTEGER, .integer = (int64_t)stack };
	remote->cells[1] = (struct pd_sql_value){ .kind = chain->depth ? PD_SQL_INTEGER : PD_SQL_NULL,
						  .integer = (int64_t)chain->parent };
	remote->cells[2] = (struct pd_sql_value){ .kind = PD_SQL_INTEGER, .integer = (int64_t)frame };
	remote->cells[3] = (struct pd_sql_value){ .kind = PD_SQL_INTEGER, .integer = (int64_t)++chain->depth };
	chain->parent = stack;
}

static void take_row(struct remote *remote)
{
	const struct pd_store_table *table = remote->reader.part.table;
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].type == PD_STORE_CHAIN)
			take_chain(remote, &remote->rows);
		else if (table->columns[i].in == PD_STORE_ALL)
			remote->cells[count++] = take_value(remote, &remote->rows, &table->columns[i]);
}

static enum pd_status next(struct pd_store_reader *reader, struct pd_error *error)
{
	struct remote *remote = (struct remote *)reader;
	bool has_chains = table_of(remote) == PD_STORE_TABLE_stacks;
	enum pd_status status = PD_OK;

	while (!remote->chain.left) {
		while (status >= 0 && !pd_cursor_left(&remote->rows) && remote->page < remote->pages)
			status = get_page(remote, error);
		if (status < 0 || !pd_cursor_left(&remote->rows))
			return status < 0 ? status : PD_END;
		take_row(remote);
		if (remote->rows.failed)
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: an answer is damaged: table %s",
				       pd_store_server_name(remote->server), reader->part.table->name);
		if (!has_chains)
			return PD_OK;
	}
	next_caller(remote);
	return PD_OK;
}

static void cell(const struct pd_store_reader *reader, size_t column, struct pd_sql_value *value_out)
{
	*value_out = ((const struct remote *)reader)->cells[column];
}

static const struct pd_store_reader_kind kind = { begin, next, cell };

enum pd_status pd_store_server_read(const char *url, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error)
{
	const struct pd_store_profile profile = { .size = sizeof(profile),
						  .credentials = question->choice->credentials };
	struct remote remote = { .reader.kind = &kind };
	enum pd_status status = pd_store_server_open(url, &profile, &remote.server, error);

	if (status >= 0)
		status = put_conditions(&remote, question->choice, error);
	if (status >= 0)
		status = pd_store_reader_open(&remote.reader, question, database_out, error);
	pd_store_server_close(remote.server);
	pd_free(remote.recordings.data);
	pd_free(remote.samples.data);
	pd_free(remote.statement.data);
	pd_free(remote.answer.data);
	return status;
}

// ---- removing ----

static bool is_day(const char *text, size_t size)
{
	static const char form[] = "0000-00-00";

	for (size_t i = 0; i < size && size == strlen(form); i++)
		if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	return size == strlen(form);
}

static enum pd_status drop_days(struct pd_store_server *server, const struct pd_text *days, struct pd_error *error)
{
	const struct pd_bytes nothing = { NULL, 0 };
	struct pd_text answer = { 0 };
	enum pd_status status = PD_OK;

	for (size_t at = 0, end; status >= 0 && at < days->size; at = end + 1) {
		const char *line = days->data + at, *stop = memchr(line, '\n', days->size - at);
		char statement[80];

		end = stop ? (size_t)(stop - days->data) : days->size;
		if (!is_day(line, end - at)) {
			status = pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s answers no day",
					 pd_store_server_name(server));
			break;
		}
		snprintf(statement, sizeof(statement), "ALTER TABLE samples DROP PARTITION '%.10s'", line);
		status = pd_store_server_run(server, "", statement, nothing, &answer, error);
	}
	pd_free(answer.data);
	return status;
}

enum pd_status pd_store_server_prune(const char *url, const struct pd_store_options *options, struct pd_error *error)
{
	const struct pd_bytes nothing = { NULL, 0 };
	struct pd_store_server *server = NULL;
	struct pd_text days = { 0 };
	char statement[160];
	enum pd_status status = pd_store_server_open(url, options->profile, &server, error);

	snprintf(statement, sizeof(statement),
		 "SELECT toString(toDate(time)) AS day FROM samples GROUP BY day HAVING max(time) < toDateTime(%" PRIu64
		 ")",
		 seconds_of(options->before_ns));
	if (status >= 0)
		status = pd_store_server_run(server, "&readonly=1", statement, nothing, &days, error);
	if (status >= 0)
		status = drop_days(server, &days, error);
	pd_store_server_close(server);
	pd_free(days.data);
	return status;
}
