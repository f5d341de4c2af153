/* SPDX-License-Identifier: MIT */
/*
 * Which tables a file has, and which columns these have: those of tables.def with the lines of the format's tables, and a table for
 * each tracepoint with a format.
 */
#include "table/set.h"

#include "base/error.h"

// A column that was described, before it is put into its table.
struct column_list {
	struct pd_table_column *columns;
	struct pd_column_source *sources;
	size_t count, column_capacity, source_capacity;
	bool failed;
};

static void add_column(struct column_list *list, struct pd_table_column column, struct pd_column_source source)
{
	if (!PD_GROW(list->columns, list->column_capacity, list->count + 1) ||
	    !PD_GROW(list->sources, list->source_capacity, list->count + 1)) {
		list->failed = true;
		return;
	}
	list->columns[list->count] = column;
	list->sources[list->count++] = source;
}

// ---- fields of the format ----

static enum pd_column_type type_of(const struct pd_field *field)
{
	bool is_signed = field->show == PD_SHOW_SIGNED || field->kind == PD_KIND_S32;

	switch (field->line) {
	case PD_LINE_FIELD:
	case PD_LINE_FLAGS:
		if (field->kind == PD_KIND_F64)
			return PD_COLUMN_F64;
		if (field->kind == PD_KIND_U64)
			return is_signed ? PD_COLUMN_S64 : PD_COLUMN_U64;
		return is_signed ? PD_COLUMN_S32 : PD_COLUMN_U32;
	case PD_LINE_ARRAY:
		return field->kind == PD_KIND_U8 ? PD_COLUMN_BYTES : PD_COLUMN_JSON;
	case PD_LINE_RECORDS:
		return PD_COLUMN_BYTES;
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		return PD_COLUMN_TEXT;
	default:
		return PD_COLUMN_JSON;
	}
}

static enum pd_column_role role_of(const char *name)
{
	static const struct {
		const char *name;
		enum pd_column_role role;
	} roles[] = {
		{ "time_ns", PD_ROLE_COLUMN_TIME },
		{ "pid", PD_ROLE_COLUMN_PID },
		{ "tid", PD_ROLE_COLUMN_TID },
		{ "cpu", PD_ROLE_COLUMN_CPU },
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, name) == 0)
			return roles[i].role;
	return PD_ROLE_COLUMN_NONE;
}

static void add_layout(struct column_list *list, const struct pd_layout *layout)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pd_field *field = &fields[i];

		if (field->line >= PD_LINE_MORE)
			continue;
		add_column(list, (struct pd_table_column){ field->name, field->doc, type_of(field) },
			   (struct pd_column_source){ PD_COL_FIELD,
						      layout == &pd_layouts[PD_LAYOUT_sample] ? role_of(field->name) :
												PD_ROLE_COLUMN_NONE,
						      field, NULL });
	}
}

// ---- tables ----

static bool add_table(struct pd_table_set *set, struct column_list *list, const char *name, const char *doc,
		      enum pd_table_id id, const struct pd_event *event)
{
	struct pd_table_full *full = &set->tables[set->count];
	bool done;

	full->table = (struct pd_table){ .name = name, .doc = doc, .column_count = list->count };
	full->id = id;
	full->event = event;
	full->table.columns = pd_arena_copy(&set->arena, list->columns, list->count * sizeof(*list->columns));
	full->sources = pd_arena_copy(&set->arena, list->sources, list->count * sizeof(*list->sources));
	done = !list->failed && full->table.columns && full->sources;
	set->count += done;
	list->count = 0;
	return done;
}

static bool add_fixed_tables(struct pd_table_set *set, struct column_list *list)
{
	bool done = true;

#define COLUMN(table, NAME, name, TYPE, ROLE, doc)                                 \
	add_column(list, (struct pd_table_column){ #name, doc, PD_COLUMN_##TYPE }, \
		   (struct pd_column_source){ PD_COL_##NAME, PD_ROLE_COLUMN_##ROLE, NULL, NULL });
#define LAYOUT(table, layout) add_layout(list, &pd_layouts[PD_LAYOUT_##layout]);
#define TABLE(table, about)                              \
	{                                                \
		const char *name = #table, *doc = about; \
		enum pd_table_id id = PD_TABLE_##table;
#define END(table)                                                \
	done = done && add_table(set, list, name, doc, id, NULL); \
	}
#include "table/tables.def"
	return done;
}

// ---- tracepoints ----

static enum pd_column_type type_of_trace(const struct pd_trace_field *field)
{
	bool is_number = field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8;

	if (field->is_string || !is_number || strchr(field->type, '[') || strstr(field->type, "__data_loc") ||
	    strstr(field->type, "__rel_loc"))
		return PD_COLUMN_TEXT;
	if (field->size == 8)
		return field->is_signed ? PD_COLUMN_S64 : PD_COLUMN_U64;
	return field->is_signed ? PD_COLUMN_S32 : PD_COLUMN_U32;
}

static bool is_taken(const struct column_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcasecmp(list->columns[i].name, name) == 0)
			return true;
	// whoever has several files adds a column of this name
	return strcasecmp(name, "file") == 0;
}

// As in the format, unless another column has this name.
static const char *name_of_trace(struct pd_table_set *set, const struct column_list *list, const char *name)
{
	size_t length = strlen(name);
	char *copy = pd_arena_alloc(&set->arena, length + 66);

	if (!copy)
		return NULL;
	memcpy(copy, name, length);
	for (size_t end = length; is_taken(list, copy) && end < length + 64; end++)
		copy[end] = '_';
	return is_taken(list, copy) ? NULL : copy;
}

static void add_trace_fields(struct pd_table_set *set, struct column_list *list, const struct pd_event *event)
{
	struct pd_trace_field field;

	for (int common = 0; common < 2; common++) {
		for (size_t i = 0; pd_trace_field_at(set->trace, event, i, &field); i++) {
			const char *name = field.is_common == (common != 0) && *field.name ?
						   name_of_trace(set, list, field.name) :
						   NULL;

			if (name)
				add_column(list, (struct pd_table_column){ name, field.type, type_of_trace(&field) },
					   (struct pd_column_source){ PD_COL_TRACE, PD_ROLE_COLUMN_NONE, NULL,
								      field.name });
		}
	}
}

static bool add_tracepoint(struct pd_table_set *set, struct column_list *list, const struct pd_event *event)
{
	static const struct {
		const char *name, *doc;
		enum pd_column_type type;
		enum pd_column_what what;
		enum pd_column_role role;
	} columns[] = {
		{ "record", "number of the record in the file, from 0", PD_COLUMN_U64, PD_COL_TRACE_RECORD,
		  PD_ROLE_COLUMN_NONE },
		{ "time_ns", "time in ns of the event's clock", PD_COLUMN_U64, PD_COL_TRACE_TIME, PD_ROLE_COLUMN_TIME },
		{ "sample_cpu", "CPU", PD_COLUMN_S32, PD_COL_TRACE_CPU, PD_ROLE_COLUMN_CPU },
		{ "sample_pid", "process that ran", PD_COLUMN_S32, PD_COL_TRACE_PID, PD_ROLE_COLUMN_PID },
		{ "sample_tid", "thread that ran", PD_COLUMN_S32, PD_COL_TRACE_TID, PD_ROLE_COLUMN_TID },
		{ "sample_comm", "its name", PD_COLUMN_NAME, PD_COL_TRACE_COMM, PD_ROLE_COLUMN_NONE },
		{ "stack", "call chain, see stacks", PD_COLUMN_U64, PD_COL_TRACE_STACK, PD_ROLE_COLUMN_NONE },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		add_column(list, (struct pd_table_column){ columns[i].name, columns[i].doc, columns[i].type },
			   (struct pd_column_source){ columns[i].what, columns[i].role, NULL, NULL });
	add_trace_fields(set, list, event);
	return add_table(set, list, event->name, "a tracepoint with the fields of its format", PD_TABLE_TRACEPOINT,
			 event);
}

static bool is_new_tracepoint(const struct pd_table_set *set, const struct pd_event *event)
{
	struct pd_trace_field field;

	if (event->attr->type != PD_TYPE_TRACEPOINT || !event->name || !pd_trace_field_at(set->trace, event, 0, &field))
		return false;
	for (size_t i = 0; i < set->count; i++)
		if (strcasecmp(set->tables[i].table.name, event->name) == 0)
			return false;
	return true;
}

enum pd_status pd_table_describe_fixed(struct pd_table_set *set, struct pd_error *error)
{
	struct column_list list = { 0 };
	bool done;

	set->tables = pd_alloc(PD_TABLE_TRACEPOINT * sizeof(*set->tables));
	done = set->tables && add_fixed_tables(set, &list);
	pd_free(list.columns);
	pd_free(list.sources);
	return done ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_table_describe(struct pd_table_set *set, struct pd_error *error)
{
	size_t events = pd_file_event_count(set->file);
	struct column_list list = { 0 };
	bool done;

	set->tables = pd_alloc((PD_TABLE_TRACEPOINT + events) * sizeof(*set->tables));
	done = set->tables && add_fixed_tables(set, &list);
	for (size_t i = 0; done && i < events; i++) {
		const struct pd_event *event = pd_file_event(set->file, i);

		if (is_new_tracepoint(set, event))
			done = add_tracepoint(set, &list, event);
	}
	pd_free(list.columns);
	pd_free(list.sources);
	return done && !set->arena.failed ? PD_OK : pd_fail_memory(error);
}
