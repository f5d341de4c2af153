/* SPDX-License-Identifier: MIT */
/* RowBinaryWithNamesAndTypes of ClickHouse, and the tables to insert it into. */
#include "table/file/format.h"

static const char *type_of(enum pd_column_type type)
{
	static const char *const types[] = {
		[PD_COLUMN_U32] = "Nullable(UInt32)",  [PD_COLUMN_S32] = "Nullable(Int32)",
		[PD_COLUMN_U64] = "Nullable(UInt64)",  [PD_COLUMN_S64] = "Nullable(Int64)",
		[PD_COLUMN_F64] = "Nullable(Float64)", [PD_COLUMN_NAME] = "LowCardinality(Nullable(String))",
		[PD_COLUMN_TEXT] = "Nullable(String)", [PD_COLUMN_BYTES] = "Nullable(String)",
		[PD_COLUMN_JSON] = "Nullable(String)",
	};

	return types[type];
}

static void put_string(struct pd_text *text, const char *string, size_t size)
{
	pd_proto_varint(text, size);
	pd_text_put(text, string, size);
}

static enum pd_status begin(struct pd_table_file *file, struct pd_error *error)
{
	const struct pd_table *table = file->table;
	struct pd_text name = { 0 };

	pd_proto_varint(file->text, table->column_count);
	for (size_t i = 0; i < table->column_count; i++) {
		pd_text_clear(&name);
		pd_text_harmless(&name, table->columns[i].name);
		put_string(file->text, name.data, name.size);
	}
	file->text->failed |= name.failed;
	pd_free(name.data);
	for (size_t i = 0; i < table->column_count; i++) {
		const char *type = type_of(table->columns[i].type);

		put_string(file->text, type, strlen(type));
	}
	return pd_table_file_flush(file, error);
}

static void put_cell(const struct pd_table_file *file, const struct pd_column_buffer *column, size_t row)
{
	struct pd_text *text = file->text;

	pd_text_char(text, (char)!column->valid[row]);
	if (!column->valid[row])
		return;
	if (column->bytes) {
		struct pd_bytes bytes = pd_columns_bytes(column, row);

		put_string(text, (const char *)bytes.data, bytes.size);
	} else if (column->type == PD_COLUMN_NAME) {
		const struct pd_table_string *string = &file->strings->strings[((const uint32_t *)column->items)[row]];

		put_string(text, string->text, string->size);
	} else if (pd_column_is_wide(column->type)) {
		pd_put_le_items(text, (const uint64_t *)column->items + row, 1, 8);
	} else {
		pd_put_le_items(text, (const uint32_t *)column->items + row, 1, 4);
	}
}

static enum pd_status add_batch(struct pd_table_file *file, const struct pd_columns *batch, struct pd_error *error)
{
	for (size_t row = 0; row < batch->rows; row++)
		for (size_t i = 0; i < batch->column_count; i++)
			put_cell(file, &batch->columns[i], row);
	return pd_table_file_flush(file, error);
}

static enum pd_status end(struct pd_table_file *file, struct pd_error *error)
{
	return pd_table_file_flush(file, error);
}

static void fini(struct pd_table_file *file)
{
	(void)file;
}

// ---- the tables ----

// A name between backquotes.
static void put_quoted(struct pd_text *text, const char *name)
{
	struct pd_text harmless = { 0 };

	pd_text_harmless(&harmless, name);
	pd_text_char(text, '`');
	for (size_t i = 0; i < harmless.size; i++) {
		if (harmless.data[i] == '`' || harmless.data[i] == '\\')
			pd_text_char(text, '\\');
		pd_text_char(text, harmless.data[i]);
	}
	pd_text_char(text, '`');
	text->failed |= harmless.failed;
	pd_free(harmless.data);
}

static void describe(const struct pd_table *table, struct pd_text *text)
{
	PD_TEXT_LITERAL(text, "CREATE TABLE ");
	put_quoted(text, table->name);
	PD_TEXT_LITERAL(text, " (\n");
	for (size_t i = 0; i < table->column_count; i++) {
		PD_TEXT_LITERAL(text, "  ");
		put_quoted(text, table->columns[i].name);
		pd_text_printf(text, " %s%s\n", type_of(table->columns[i].type),
			       i + 1 < table->column_count ? "," : "");
	}
	PD_TEXT_LITERAL(text, ") ENGINE = MergeTree ORDER BY tuple();\n");
}

const struct pd_table_format pd_table_format_rowbinary = {
	.suffix = ".rowbinary",
	.begin = begin,
	.add = add_batch,
	.end = end,
	.fini = fini,
	.describe = describe,
	.description = "schema.sql",
};
