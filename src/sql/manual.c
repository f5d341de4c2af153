/* SPDX-License-Identifier: MIT */
/* Tables and queries as a page of documentation, out of their descriptions. */
#include "sql/sql.h"

// A cell of a table in Markdown.
static void put_cell(struct pd_text *text, const char *string)
{
	for (; *string; string++) {
		if (*string == '|')
			pd_text_char(text, '\\');
		pd_text_char(text, *string);
	}
}

static void print_table(struct pd_text *text, const struct pd_table *table)
{
	static const char *const types[] = {
		[PD_COLUMN_U32] = "integer", [PD_COLUMN_S32] = "integer", [PD_COLUMN_U64] = "integer",
		[PD_COLUMN_S64] = "integer", [PD_COLUMN_F64] = "real",    [PD_COLUMN_NAME] = "text",
		[PD_COLUMN_TEXT] = "text",   [PD_COLUMN_BYTES] = "blob",  [PD_COLUMN_JSON] = "JSON",
	};

	pd_text_printf(text, "\n## %s\n\n%s.\n\n| column | type | what it is |\n| --- | --- | --- |\n", table->name,
		       table->doc);
	for (size_t i = 0; i < table->column_count; i++) {
		bool narrows = pd_table_full(table)->sources[i].role != PD_ROLE_COLUMN_NONE;

		pd_text_printf(text, "| `%s`%s | %s | ", table->columns[i].name, narrows ? " *" : "",
			       types[table->columns[i].type]);
		put_cell(text, table->columns[i].doc);
		PD_TEXT_LITERAL(text, " |\n");
	}
}

static void print_tables(struct pd_text *text)
{
	struct pd_table_set *set = pd_alloc(sizeof(*set));

	if (!set || pd_table_describe_fixed(set, NULL) < 0)
		text->failed = true;
	for (size_t i = 0; set && i < set->count; i++)
		print_table(text, &set->tables[i].table);
	if (set) {
		pd_free(set->tables);
		pd_arena_fini(&set->arena);
	}
	pd_free(set);
}

static void print_queries(struct pd_text *text)
{
	struct pd_sql_query query;

	PD_TEXT_LITERAL(text, "\n## Queries\n\n| query | what it shows | tracepoints |\n| --- | --- | --- |\n");
	for (size_t i = 0; pd_sql_query_at(i, &query); i++) {
		pd_text_printf(text, "| `@%s` | ", query.name);
		put_cell(text, query.doc);
		pd_text_printf(text, " | %s |\n", query.needs ? query.needs : "");
	}
}

void pd_sql_print_manual(struct pd_text *text)
{
	pd_text_printf(
		text,
		"# Tables\n\nWhat `perfdata sql`, `perfdata/table.h` and the Python package have in common. Version %d of the "
		"schema: columns and tables are added, and renamed or removed only with another version.\n\n"
		"Each table has a column `file` in SQL. What is not recorded or not known is null. Conditions on columns with * "
		"narrow what is read. Unsigned numbers of 64 bits above 2^63 are negative in SQL; `address(x)` prints them. "
		"Strings are valid UTF-8 without control characters, which become U+FFFD.\n\n"
		"Each tracepoint whose format the file has is a table of the event's name (`\"sched:sched_switch\"`): `record`, "
		"`time_ns`, `sample_cpu`, `sample_pid`, `sample_tid`, `sample_comm`, `stack`, and the fields of the format under "
		"their names.\n\n"
		"Functions: `symbol(ip, pid, time_ns, file)` and `object(ip, pid, time_ns, file)` (without a process, of the kernel), "
		"`stack_text(stack)`, `wall_clock(time_ns, file)`, `address(number)`.\n\n"
		"The shell (`perfdata sql FILE`) keeps statements in `$XDG_STATE_HOME/perfdata/sql_history`, or in `~/.local/state/`: "
		"`.history` shows the last, `!12` asks one again, `!!` the last one.\n\n"
		"In `sqlite3` and other programs that load extensions: `.load DIR/perfdata/libperfdata_sqlite`, then `CREATE VIRTUAL "
		"TABLE temp.samples USING perfdata('perf.data', 'samples')`, and so for each table. The functions above are not there.\n",
		PD_TABLE_VERSION);
	print_tables(text);
	print_queries(text);
}
