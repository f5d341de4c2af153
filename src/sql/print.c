/* SPDX-License-Identifier: MIT */
/* Rows for people, as CSV, and as JSON. Bytes are printed in hexadecimal. A text in CSV that a spreadsheet would run as a formula begins
 * with an apostrophe, as in export. */
#include "sql/sql.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"

enum {
	ROWS_ALIGNED = 4096, // widths are those of so many rows; later ones may be wider
	WIDTH_MOST = 120
};

struct page {
	struct pd_sql_statement *statement;
	struct pd_text *text;
	size_t count;
	// of the rows that wait for the widths: cells, one after another
	struct pd_text cells;
	size_t *ends;
	bool *right; // numbers
	size_t cell_count, cell_capacity, right_capacity;
	size_t *widths;
	bool begun;
};

// ---- cells ----

static void put_plain(struct pd_text *text, const struct pd_sql_value *value)
{
	switch (value->kind) {
	case PD_SQL_INTEGER:
		pd_text_s64(text, value->integer);
		break;
	case PD_SQL_REAL:
		pd_text_double(text, value->real);
		break;
	case PD_SQL_TEXT:
		pd_text_put(text, value->data, value->size);
		break;
	case PD_SQL_BYTES:
		pd_text_hex_bytes(text, (const uint8_t *)value->data, value->size);
		break;
	default:
		break;
	}
}

// Quoted where a comma, quote or line end is in it.
static void put_csv(struct pd_text *text, const char *data, size_t size)
{
	bool quoted = false;

	for (size_t i = 0; i < size; i++)
		quoted |= data[i] && strchr(",\"\r\n", data[i]);
	if (quoted)
		pd_text_char(text, '"');
	if (size && data[0] && strchr("=+-@", data[0]))
		pd_text_char(text, '\'');
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '"')
			pd_text_char(text, '"');
		pd_text_char(text, data[i]);
	}
	if (quoted)
		pd_text_char(text, '"');
}

static void put_csv_cell(struct pd_text *text, const struct pd_sql_value *value)
{
	if (value->kind == PD_SQL_TEXT)
		put_csv(text, value->data, value->size);
	else
		put_plain(text, value);
}

static void put_json(struct pd_text *text, const struct pd_sql_value *value)
{
	if (value->kind == PD_SQL_NULL || (value->kind == PD_SQL_REAL && !isfinite(value->real))) {
		PD_TEXT_LITERAL(text, "null");
	} else if (value->kind == PD_SQL_TEXT) {
		pd_text_json_string(text, value->data, value->size);
	} else {
		bool quoted = value->kind == PD_SQL_BYTES;

		if (quoted)
			pd_text_char(text, '"');
		put_plain(text, value);
		if (quoted)
			pd_text_char(text, '"');
	}
}

// ---- rows ----

static void put_csv_row(struct page *page)
{
	struct pd_sql_value value;

	for (size_t i = 0; i < page->count; i++) {
		if (i)
			pd_text_char(page->text, ',');
		pd_sql_sqlite.value(page->statement, i, &value);
		put_csv_cell(page->text, &value);
	}
	pd_text_char(page->text, '\n');
}

static void put_csv_header(struct page *page)
{
	for (size_t i = 0; i < page->count; i++) {
		const char *name = pd_sql_sqlite.column_name(page->statement, i);

		if (i)
			pd_text_char(page->text, ',');
		put_csv(page->text, name, strlen(name));
	}
	pd_text_char(page->text, '\n');
}

static void put_json_row(struct page *page)
{
	struct pd_sql_value value;

	pd_text_char(page->text, '{');
	for (size_t i = 0; i < page->count; i++) {
		const char *name = pd_sql_sqlite.column_name(page->statement, i);

		if (i)
			pd_text_char(page->text, ',');
		pd_text_json_string(page->text, name, strlen(name));
		pd_text_char(page->text, ':');
		pd_sql_sqlite.value(page->statement, i, &value);
		put_json(page->text, &value);
	}
	PD_TEXT_LITERAL(page->text, "}\n");
}

// ---- aligned ----

// Characters that text takes on a terminal, about: those of one column each.
static size_t width_of(const char *data, size_t size)
{
	size_t width = 0;

	for (size_t i = 0; i < size; i++)
		width += ((unsigned char)data[i] & 0xc0) != 0x80;
	return width;
}

static bool keep_cell(struct page *page, const char *data, size_t size, bool is_number, size_t column)
{
	size_t width = width_of(data, size);

	if (!PD_GROW(page->ends, page->cell_capacity, page->cell_count + 1) ||
	    !PD_GROW(page->right, page->right_capacity, page->cell_count + 1))
		return false;
	pd_text_escaped(&page->cells, data, size);
	page->right[page->cell_count] = is_number;
	page->ends[page->cell_count++] = page->cells.size;
	if (width > page->widths[column])
		page->widths[column] = width < WIDTH_MOST ? width : WIDTH_MOST;
	return !page->cells.failed;
}

static void put_spaces(struct pd_text *text, size_t count)
{
	while (count--)
		pd_text_char(text, ' ');
}

static void put_aligned(struct page *page, size_t cell)
{
	size_t begin = cell ? page->ends[cell - 1] : 0, column = cell % page->count;
	size_t size = page->ends[cell] - begin, width;
	const char *data = page->cells.data + begin;
	bool is_last = column + 1 == page->count;

	width = size ? width_of(data, size) : 0;
	width = width < page->widths[column] ? page->widths[column] - width : 0;
	if (page->right[cell])
		put_spaces(page->text, width);
	if (size)
		pd_text_put(page->text, data, size);
	if (!page->right[cell] && !is_last)
		put_spaces(page->text, width);
	if (is_last)
		pd_text_char(page->text, '\n');
	else
		PD_TEXT_LITERAL(page->text, "  ");
}

static void put_line(struct page *page)
{
	for (size_t i = 0; i < page->count; i++) {
		for (size_t k = 0; k < page->widths[i]; k++)
			pd_text_char(page->text, '-');
		pd_text_add(page->text, i + 1 == page->count ? "\n" : "  ");
	}
}

static void put_kept(struct page *page)
{
	for (size_t cell = 0; cell < page->cell_count; cell++) {
		if (cell == page->count && !page->begun)
			put_line(page);
		put_aligned(page, cell);
	}
	if (!page->begun && page->cell_count == page->count && page->count)
		put_line(page);
	page->begun = true;
	page->cell_count = 0;
	pd_text_clear(&page->cells);
}

// A number stands under the right end of its column's name.
static bool keep_header(struct page *page, const struct pd_sql_value *first)
{
	for (size_t i = 0; i < page->count; i++) {
		const char *name = pd_sql_sqlite.column_name(page->statement, i);
		bool is_number = first && (first[i].kind == PD_SQL_INTEGER || first[i].kind == PD_SQL_REAL);

		if (!keep_cell(page, name, strlen(name), is_number, i))
			return false;
	}
	return true;
}

static bool keep_row(struct page *page)
{
	struct pd_text one = { 0 };
	bool done = true;

	for (size_t i = 0; done && i < page->count; i++) {
		struct pd_sql_value value;

		pd_sql_sqlite.value(page->statement, i, &value);
		pd_text_clear(&one);
		put_plain(&one, &value);
		done = !one.failed && keep_cell(page, one.data ? one.data : "", one.size,
						value.kind == PD_SQL_INTEGER || value.kind == PD_SQL_REAL, i);
	}
	pd_free(one.data);
	return done;
}

static bool keep_first_row(struct page *page)
{
	struct pd_sql_value *first = pd_alloc((page->count + 1) * sizeof(*first));
	bool done = first != NULL;

	for (size_t i = 0; done && i < page->count; i++)
		pd_sql_sqlite.value(page->statement, i, &first[i]);
	done = done && keep_header(page, first) && keep_row(page);
	pd_free(first);
	return done;
}

static bool align_row(struct page *page, uint64_t row)
{
	if (!(row ? keep_row(page) : keep_first_row(page)))
		return false;
	if (page->cell_count >= ROWS_ALIGNED * page->count)
		put_kept(page);
	return true;
}

// ---- all of it ----

static enum pd_status print_row(struct page *page, enum pd_sql_format format, uint64_t row, struct pd_error *error)
{
	switch (format) {
	case PD_SQL_CSV:
		if (!row)
			put_csv_header(page);
		put_csv_row(page);
		break;
	case PD_SQL_JSONL:
		put_json_row(page);
		break;
	default:
		if (!align_row(page, row))
			return pd_fail_memory(error);
		break;
	}
	if (pd_text_flush_large(page->text))
		return PD_OK;
	return page->text->sink_failed ? pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written") :
					 pd_fail_memory(error);
}

enum pd_status pd_sql_print_rows(struct pd_sql_statement *statement, enum pd_sql_format format, struct pd_text *text,
				 struct pd_error *error)
{
	struct page page = { .statement = statement, .text = text, .count = pd_sql_sqlite.column_count(statement) };
	enum pd_status status = PD_OK;
	uint64_t row = 0;

	page.widths = pd_alloc((page.count + 1) * sizeof(*page.widths));
	if (!page.widths)
		return pd_fail_memory(error);
	for (; status == PD_OK; row++) {
		status = pd_sql_sqlite.step(statement, error);
		if (status == PD_OK && page.count)
			status = print_row(&page, format, row, error);
	}
	// a table without rows has a header
	if (status == PD_END && row == 1 && page.count && format == PD_SQL_CSV)
		put_csv_header(&page);
	if (status == PD_END && row == 1 && page.count && format == PD_SQL_COLUMNS && !keep_header(&page, NULL))
		status = pd_fail_memory(error);
	if (page.cell_count)
		put_kept(&page);
	pd_free(page.widths);
	pd_free(page.ends);
	pd_free(page.right);
	pd_free(page.cells.data);
	return status < 0 ? status : PD_OK;
}
