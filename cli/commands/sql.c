/* SPDX-License-Identifier: MIT */
/* perfdata sql: questions about recordings in SQL, one after another or as given. */
#include "files/analysis.h"
#include "files/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct values {
	struct analysis_options analysis;
	enum pd_sql_format format;
	const char *output;
	bool list, manual;
};

static const struct option options[] = {
	OPTION("format", 0, CHOICE, "column|csv|json", format,
	       "how rows are printed; json is one object per line (default: column)"),
	STRING("output", 'o', "FILE", output, "write all tables to FILE, a plain SQLite database"),
	FLAG("list", 'l', list, "list the queries that go by a name"),
	FLAG("manual", 0, manual, "print the tables with their columns, and the queries, as a page in Markdown"),
	GROUP(unwind_option, analysis.no_unwind),
	GROUP(select_group, analysis.select),
	GROUP(symbol_group, analysis.symbols),
	GROUP(waiting_group, analysis.input),
	GROUP(input_group, analysis.input),
	{ 0 },
};

struct session {
	const struct values *values;
	const struct call *call;
	struct analysis *inputs;
	size_t count;
	struct pd_sql *sql;
};

/* ---- files ---- */

static int open_inputs(struct session *session, size_t words)
{
	const struct analysis_options *options = &session->values->analysis;
	size_t count = words ? words : 1;
	int code = CODE_OK;

	session->inputs = calloc(count, sizeof(*session->inputs));
	if (!session->inputs)
		return print_failure(CODE_UNREADABLE, "out of memory");
	for (size_t i = 0; code == CODE_OK && i < count; i++) {
		struct call call = *session->call;

		if (words)
			call.words += i;
		call.word_count = words ? 1 : 0;
		if (!select_take(&session->inputs[i].select, &options->select))
			return CODE_USAGE;
		session->count++;
		code = analysis_open(&session->inputs[i], options, &call);
	}
	return code;
}

static int close_inputs(struct session *session, int code)
{
	pd_sql_free(session->sql);
	for (size_t i = 0; i < session->count; i++)
		code = analysis_close(&session->inputs[i], code);
	free(session->inputs);
	return code;
}

static int open_tables(struct session *session)
{
	struct pd_sql_options how = { .size = sizeof(how), .self_stride = sizeof(*session->inputs) };
	struct pd_file **files = calloc(session->count, sizeof(struct pd_file *));
	struct pd_error error;
	enum pd_status status;

	if (!files)
		return print_failure(CODE_UNREADABLE, "out of memory");
	how.tables.no_unwind = session->values->analysis.no_unwind;
	how.tables.choose = analysis_takes_all(&session->values->analysis.select) ? NULL : analysis_choose;
	how.choose_place = pd_select_by_place(session->inputs->select) ? analysis_has_place : NULL;
	how.tables.ready = analysis_ready;
	how.tables.symbols = analysis_symbols;
	how.tables.self = session->inputs;
	for (size_t i = 0; i < session->count; i++)
		files[i] = session->inputs[i].input.file;
	status = pd_sql_new(files, session->count, &how, &session->sql, &error);
	free(files);
	return code_with_error(status, &error);
}

/* ---- statements ---- */

/* Returns the code of the first statement that failed, unless somebody is there to see it. */
static int read_lines(struct session *session, struct pd_sql_shell *shell)
{
	bool interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	char path[BUILD_ID_DIRECTORY_SIZE];
	const char *history = interactive ? in_home("XDG_STATE_HOME", "perfdata/sql_history", path) : NULL;
	enum pd_status status = PD_OK;
	struct pd_error error;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int code = CODE_OK;

	if (interactive && !history)
		history = in_home("HOME", ".local/state/perfdata/sql_history", path);
	if (history && pd_sql_shell_remember(shell, history, &error) < 0)
		print_error("%s", error.message);
	while (status != PD_END && output_flush(session->call->out) && (interactive || code == CODE_OK)) {
		if (interactive && fputs(pd_sql_shell_prompt(shell), stdout) >= 0)
			fflush(stdout);
		size = getline(&line, &capacity, stdin);
		if (size < 0)
			break;
		line[size - (size && line[size - 1] == '\n')] = 0;
		status = pd_sql_shell_line(shell, line, &error);
		code = code_of_print(status, &error);
	}
	if (code == CODE_OK)
		code = code_of_print(pd_sql_shell_end(shell, &error), &error);
	free(line);
	return interactive ? CODE_OK : code;
}

static int run_shell(struct session *session)
{
	const struct pd_sql_shell_options options = { .format = session->values->format, .warn = print_warning };
	struct pd_sql_shell *shell = NULL;
	struct pd_error error;
	int code = code_with_error(pd_sql_shell_new(session->sql, &options, session->call->out->text, &shell, &error),
				   &error);

	if (code == CODE_OK)
		code = read_lines(session, shell);
	pd_sql_shell_free(shell);
	return code;
}

/* ---- all of it ---- */

static int save(struct session *session)
{
	struct outfile file;
	struct pd_error error;
	int code = outfile_open(&file, session->values->output, session->call->out, session->inputs[0].input.name);
	const char *path;

	if (code != CODE_OK)
		return code;
	path = file.file ? pd_outfile_temporary(file.file) : NULL;
	code = code_with_error(pd_sql_save(session->sql, path, &error), &error);
	return outfile_close(&file, code);
}

static int run_sql(const struct call *call)
{
	const struct values *values = call->values;
	struct session session = { .values = values, .call = call };
	size_t words = call->word_count;
	const char *statement = words && pd_sql_is_statement(call->words[words - 1]) ? call->words[words - 1] : NULL;
	struct pd_error error;
	int code;

	if (values->list)
		pd_sql_print_queries(call->out->text);
	if (values->manual)
		pd_sql_print_manual(call->out->text);
	if (values->list || values->manual)
		return CODE_OK;
	code = open_inputs(&session, words - (statement != NULL));
	if (code == CODE_OK)
		code = open_tables(&session);
	if (code == CODE_OK && values->output)
		code = save(&session);
	if (code == CODE_OK && statement)
		code = code_of_print(pd_sql_ask(session.sql, statement, values->format, call->out->text, &error),
				     &error);
	else if (code == CODE_OK && !values->output)
		code = run_shell(&session);
	return close_inputs(&session, code);
}

const struct command cmd_sql = {
	.usage = "[OPTION]... FILE... [STATEMENT | @QUERY]",
	.text = "Ask questions about recordings in SQL. Each FILE is read as tables: samples, records, stacks, frames, maps, tasks, events, "
		"features, counts, losses, and one for each tracepoint, such as \"sched:sched_switch\", with its fields. Several FILEs are one: "
		"each table has a column file.\n"
		"\n"
		"Conditions on time_ns, event, pid, tid, cpu and the type of records narrow what is read. Functions: symbol(ip, pid, time_ns), "
		"object(the same), stack_text(stack), wall_clock(time_ns), address(number). Unsigned numbers above 2^63 are negative in SQL.\n"
		"\n"
		"The last argument is a STATEMENT if it has a blank or a semicolon, and a QUERY of --list if it begins with @. Without one, "
		"statements are read from standard input. Statements open and write no file.",
	OPTIONS(options),
	EXAMPLES({ "perfdata sql perf.data @top-functions", "a query that is there already; --list has all of them" },
		 { "perfdata sql perf.data 'select comm, count(*) from samples group by comm'",
		   "samples of each thread name" },
		 { "perfdata sql *.data 'select file, sum(lost) from losses group by file'",
		   "what was lost, by recording" },
		 { "perfdata sql --format csv perf.data 'select * from tasks' > tasks.csv",
		   "a table for other programs" },
		 { "perfdata sql perf.data", "a shell: .tables, .schema TABLE, .history, statements" },
		 { "perfdata sql -o perf.db perf.data", "all tables, for sqlite3 and others" }),
	.usual = "format output list input time comms event",
	.max_words = (size_t)-1,
	.run = run_sql,
};
