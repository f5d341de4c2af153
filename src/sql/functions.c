/* SPDX-License-Identifier: MIT */
/* Functions of SQL: names of addresses and stacks, times. */
#include "sql/sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <perfdata/summary.h>

static void give_text(struct pd_sql_value *result_out, const char *text, size_t size)
{
	*result_out = (struct pd_sql_value){ .kind = PD_SQL_TEXT, .data = text, .size = size };
}

// The file of that name, or the first one.
static struct pd_sql_file *file_of(struct pd_sql *sql, const struct pd_sql_value *arguments, size_t count, size_t at)
{
	if (count <= at || arguments[at].kind != PD_SQL_TEXT)
		return &sql->files[0];
	for (size_t i = 0; i < sql->file_count; i++)
		if (strcmp(pd_file_name(sql->files[i].file), arguments[at].data) == 0)
			return &sql->files[i];
	return NULL;
}

// ---- addresses ----

// Without a process, an address of the kernel; without a time, at the end.
static bool find_place(struct pd_sql *sql, const struct pd_sql_value *arguments, size_t count,
		       struct pd_place *place_out)
{
	struct pd_sql_file *file = file_of(sql, arguments, count, 3);
	bool has_pid = count > 1 && arguments[1].kind == PD_SQL_INTEGER;
	struct pd_moment when = { PD_NEVER, 0 };

	if (!file || arguments[0].kind != PD_SQL_INTEGER || pd_table_open_symbols(file->set, NULL) < 0)
		return false;
	if (count > 2 && arguments[2].kind == PD_SQL_INTEGER)
		when = (struct pd_moment){ (uint64_t)arguments[2].integer, UINT64_MAX };
	*place_out = pd_symbols_place(file->set->symbols, has_pid ? (uint32_t)arguments[1].integer : UINT32_MAX,
				      has_pid ? PD_CPUMODE_UNKNOWN : PD_CPUMODE_KERNEL, when,
				      (uint64_t)arguments[0].integer);
	return true;
}

static void give_name(struct pd_sql *sql, const char *name, struct pd_sql_value *result_out)
{
	pd_text_clear(sql->text);
	pd_text_harmless(sql->text, name);
	if (!sql->text->failed)
		give_text(result_out, sql->text->data, sql->text->size);
}

static void symbol(void *self, const struct pd_sql_value *arguments, size_t count, struct pd_sql_value *result_out)
{
	struct pd_place place;

	if (find_place(self, arguments, count, &place) && place.function)
		give_name(self, place.function->name, result_out);
}

static void object(void *self, const struct pd_sql_value *arguments, size_t count, struct pd_sql_value *result_out)
{
	struct pd_place place;

	if (find_place(self, arguments, count, &place) && place.dso)
		give_name(self, place.dso->name, result_out);
}

static void address(void *self, const struct pd_sql_value *arguments, size_t count, struct pd_sql_value *result_out)
{
	struct pd_sql *sql = self;

	(void)count;
	if (arguments[0].kind != PD_SQL_INTEGER)
		return;
	pd_text_clear(sql->text);
	pd_text_hex(sql->text, (uint64_t)arguments[0].integer);
	if (!sql->text->failed)
		give_text(result_out, sql->text->data, sql->text->size);
}

// ---- stacks ----

static void stack_text(void *self, const struct pd_sql_value *arguments, size_t count, struct pd_sql_value *result_out)
{
	struct pd_sql *sql = self;

	(void)count;
	for (size_t i = 0; arguments[0].kind == PD_SQL_INTEGER && i < sql->file_count; i++) {
		const char *text = pd_table_stack_text(sql->files[i].set, (uint64_t)arguments[0].integer);

		if (!*text)
			continue;
		give_text(result_out, text, strlen(text));
		return;
	}
}

// ---- times ----

// As ISO 8601 has it, in UTC.
static void wall_clock(void *self, const struct pd_sql_value *arguments, size_t count, struct pd_sql_value *result_out)
{
	struct pd_sql *sql = self;
	struct pd_sql_file *file = file_of(sql, arguments, count, 1);
	uint64_t ns = PD_NO_TIME;
	struct tm parts;
	char day[48];
	time_t seconds;

	if (file && arguments[0].kind == PD_SQL_INTEGER)
		ns = pd_file_wall_clock(file->file, (uint64_t)arguments[0].integer);
	seconds = (time_t)(ns / 1000000000);
	if (ns == PD_NO_TIME || !gmtime_r(&seconds, &parts) || !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &parts))
		return;
	pd_text_clear(sql->text);
	pd_text_printf(sql->text, "%s.%09" PRIu64 "Z", day, ns % 1000000000);
	if (!sql->text->failed)
		give_text(result_out, sql->text->data, sql->text->size);
}

const struct pd_sql_function pd_sql_functions[] = {
	{ "symbol", 1, 4, symbol },         { "object", 1, 4, object },   { "stack_text", 1, 1, stack_text },
	{ "wall_clock", 1, 2, wall_clock }, { "address", 1, 1, address }, { 0 },
};
