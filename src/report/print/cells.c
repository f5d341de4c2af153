/* SPDX-License-Identifier: MIT */
/* Cells of tables as perf report --stdio prints them: columns as wide as their widest cell, or with a separator. */
#include "report/keys/field_keys.h"
#include "report/print/print.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/text.h"
#include "base/threads.h"
#include "trace/trace.h"

enum {
	NUMBER_WIDTH = 12,
	PERCENT_WIDTH = 8,
	WEIGHT_WIDTH = 8,
	PART_WIDTH = 7,         /* of a column of accesses */
	GAP = 2,                /* between columns */
	WORTH_A_PART = 1 << 13, /* rows */
	ROWS_AT_ONCE = 128,
	UNKNOWN_OBJECT_WIDTH = 16 /* as wide as an address, in perf */
};

static const struct value *value_at(const struct pd_report *report, const struct column *column, const struct row *row)
{
	return &report->values[column->key].items[row_value(report, row, column->key)];
}

static const char *text_at(const struct pd_report *report, const struct column *column, const struct row *row,
			   char *cell, size_t *length_out)
{
	const char *text = pd_value_text(report, column->key, row, cell);

	*length_out = report->keys[column->key]->times_samples ? strlen(text) : value_at(report, column, row)->length;
	return text;
}

/* Fields of tracepoints have their names in each table. */
static const char *key_header(const struct pd_report *report, const struct table *table, const struct key *key)
{
	const struct pd_member *field = key_is_field(key) ? pd_field_of_table(report, key, table) : NULL;

	return field ? field->field.name : key->head.header;
}

static const char *header_of(const struct pd_report *report, const struct table *table, const struct column *column)
{
	switch (column->kind) {
	case COLUMN_OVERHEAD:
		return column->implied ? "Self" : "Overhead";
	case COLUMN_CHILDREN:
		return "Children";
	case COLUMN_LATENCY:
	case COLUMN_LATENCY_CHILDREN:
		return "Latency";
	case COLUMN_KERNEL:
		return "sys";
	case COLUMN_USER:
		return "usr";
	case COLUMN_SAMPLES:
		return "Samples";
	case COLUMN_PERIOD:
		return "Period";
	case COLUMN_MEAN:
		return "Mean";
	case COLUMN_P50:
		return "p50";
	case COLUMN_P95:
		return "p95";
	case COLUMN_P99:
		return "p99";
	case COLUMN_MAX:
		return "Max";
	case COLUMN_WEIGHT1:
		return "Weight1";
	case COLUMN_WEIGHT2:
		return "Weight2";
	case COLUMN_WEIGHT3:
		return "Weight3";
	case COLUMN_OP:
	case COLUMN_CACHE:
	case COLUMN_MEMORY:
	case COLUMN_SNOOP:
	case COLUMN_DTLB:
		return pd_access_column(column->kind)->title;
	default:
		return key_header(report, table, report->keys[column->key]);
	}
}

static size_t number_width(const struct column *column)
{
	if (column_is_weight(column->kind))
		return WEIGHT_WIDTH;
	return pd_column_is_share(column->kind) ? PERCENT_WIDTH : NUMBER_WIDTH;
}

/* perf leaves room for an address where an object is not known, if nothing was said of widths and objects. */
static bool has_wide_unknown(const struct pd_report *report, const struct column *column)
{
	for (size_t i = 0; i < report->columns.count; i++)
		if (report->print.widths[i])
			return false;
	return report->keys[column->key]->unknown_is_address && !report->print.separator && !report->options.by_dso;
}

struct widening {
	const struct pd_report *report;
	const struct table *table;
	size_t parts;
	size_t widths[PD_PARTS_MOST][PD_REPORT_COLUMNS_MAX];
};

/* The key of functions, or the number of keys. */
static size_t symbol_key(const struct pd_report *report)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (strcmp(report->keys[i]->head.name, "sym") == 0)
			return i;
	return report->key_count;
}

/* As perf: an object is as wide as an address where the function is not known. */
static bool is_unresolved(const struct pd_report *report, size_t symbol, const struct row *row)
{
	return report->values[symbol].items[row_value(report, row, symbol)].is_addr;
}

static size_t widest(const struct widening *widening, const struct column *column, size_t begin, size_t end)
{
	const struct pd_report *report = widening->report;
	const bool wide_unknown = has_wide_unknown(report, column), times = report->keys[column->key]->times_samples;
	const bool by_symbol = wide_unknown && strcmp(report->keys[column->key]->head.name, "dso") == 0;
	const size_t symbol = by_symbol ? symbol_key(report) : report->key_count;
	const struct value *last = NULL;
	size_t width = 0;

	for (size_t i = begin; i < end; i++) {
		const struct row *row = &widening->table->rows[i];
		const struct value *value = value_at(report, column, row);
		char cell[PD_REPORT_CELL_BYTES];
		size_t length = value->length + value->padding;

		if (symbol < report->key_count && is_unresolved(report, symbol, row) && width < UNKNOWN_OBJECT_WIDTH)
			width = UNKNOWN_OBJECT_WIDTH;
		if ((value == last && !times) || value->clipped)
			continue;
		last = value;
		if (times)
			text_at(report, column, row, cell, &length);
		else if (wide_unknown && !value->is_addr && length < UNKNOWN_OBJECT_WIDTH &&
			 strcmp(value->text, "[unknown]") == 0)
			length = UNKNOWN_OBJECT_WIDTH;
		width = length > width ? length : width;
	}
	return width;
}

/* A CPU that is not known is wider than perf lets it be. */
static bool fits_rows(const struct pd_report *report, size_t column)
{
	return report->columns.items[column].kind == COLUMN_KEY && !report->print.widths[column] &&
	       !report->keys[report->columns.items[column].key]->fixed_width;
}

static void widen_rows(struct widening *widening, size_t part, size_t begin, size_t end)
{
	const struct pd_report *report = widening->report;

	/* lengths are known without the texts */
	for (unsigned stage = 0; stage + 1 < PREFETCH_STAGES; stage++)
		for (size_t i = begin; i < end; i++)
			pd_values_prefetch(report, &widening->table->rows[i], stage);
	for (size_t i = 0; i < report->columns.count; i++) {
		size_t width = fits_rows(report, i) ? widest(widening, &report->columns.items[i], begin, end) : 0;

		if (width > widening->widths[part][i])
			widening->widths[part][i] = width;
	}
}

static void widen_part(void *self, size_t part)
{
	struct widening *widening = self;
	size_t count = widening->table->head.row_count, end = pd_part_begin(count, widening->parts, part + 1);

	for (size_t i = pd_part_begin(count, widening->parts, part); i < end; i += ROWS_AT_ONCE)
		widen_rows(widening, part, i, end - i < ROWS_AT_ONCE ? end : i + ROWS_AT_ONCE);
}

static size_t key_width(const struct pd_report *report, const struct table *table, const struct key *key)
{
	const struct pd_member *field = key_is_field(key) ? pd_field_of_table(report, key, table) : NULL;

	return field ? pd_field_width(field) : key->width;
}

/* Without looking at rows. */
static size_t least_width(const struct pd_report *report, const struct table *table, size_t index)
{
	const struct column *column = &report->columns.items[index];
	size_t width = strlen(header_of(report, table, column)), wanted = report->print.widths[index], least = width;

	if (column_is_access(column->kind))
		return PART_WIDTH * pd_access_parts_shown(table, column->kind);
	if (column->kind != COLUMN_KEY) {
		/* as perf: this one is as wide as its title, whatever is in it */
		if ((table->head.group || !wanted) && column->kind != COLUMN_LATENCY_CHILDREN)
			least = number_width(column) * table->head.event_count;
		return wanted > least ? wanted : least;
	}
	least = key_width(report, table, report->keys[column->key]);
	if (!fits_rows(report, index))
		return wanted ? wanted : width > least ? width : least;
	if (report->options.nanoseconds && report->keys[column->key]->ns_width)
		least = report->keys[column->key]->ns_width;
	return width > least ? width : least;
}

/* As wide as the widest of all rows, shown or not, unless a width was asked for. */
void pd_text_widths(const struct pd_report *report, struct table *table)
{
	struct widening widening = { .report = report, .table = table };

	widening.parts = pd_part_count(report->options.threads, table->head.row_count, WORTH_A_PART);
	pd_in_parts(widening.parts, widen_part, &widening);
	for (size_t i = 0; i < report->columns.count; i++) {
		table->widths[i] = least_width(report, table, i);
		for (size_t k = 0; k < widening.parts; k++)
			if (widening.widths[k][i] > table->widths[i])
				table->widths[i] = widening.widths[k][i];
	}
}

/* Tables have millions of cells, so what they consist of is printed without formats. */
static void add_spaces(struct pd_text *out, size_t count)
{
	static const char spaces[] = "                                                                ";
	const size_t most = sizeof(spaces) - 1;

	for (; count > most; count -= most)
		pd_text_put(out, spaces, most);
	pd_text_put(out, spaces, count);
}

/* A number to the right, as " %*" PRIu64. */
static void add_right(struct pd_text *out, uint64_t number, int width)
{
	char text[24];
	char *at = text + sizeof(text) - 1;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	add_spaces(out,
		   1 + (text + sizeof(text) - 1 - at < width ? (size_t)(width - (text + sizeof(text) - 1 - at)) : 0));
	pd_text_add(out, at);
}

/* As " %*.2f%%". */
static void add_percent(struct pd_text *out, double percent, int width)
{
	enum {
		MOST = 24,
		LONGEST = 7 /* of a number that is not left to printf, with its sign */
	};
	double hundredths = percent >= 0 && percent < 999 ? percent * 100 : 0;
	unsigned number = (unsigned)hundredths;
	double rest = hundredths - number;
	char text[MOST] = "                       %", *at = text + MOST - 1;
	int length;

	/* Close to the middle printf says which way it goes. */
	if (!(percent >= 0 && percent < 999) || (rest > 0.4999 && rest < 0.5001) || width > MOST - LONGEST) {
		pd_text_printf(out, " %*.2f%%", width, percent);
		return;
	}
	number += rest > 0.5;
	for (unsigned digits = 0; digits < 3 || number; digits++, number /= 10) {
		if (digits == 2)
			*--at = '.';
		*--at = (char)('0' + number % 10);
	}
	length = (int)(text + MOST - 1 - at);
	length = 2 + (length < width ? width : length);
	pd_text_put(out, text + MOST - length, (size_t)length);
}

static void add_plain(const struct pd_report *report, struct pd_text *out, const char *text, size_t length)
{
	if (report->print.escape)
		pd_text_escaped(out, text, length);
	else
		pd_text_put(out, text, strnlen(text, length));
}

/* The separator does not stand inside of a cell. */
void pd_text_cell(const struct pd_report *report, struct pd_text *out, const char *text, size_t length)
{
	const char *end = text + length, *at;

	while (report->print.separator && (at = memchr(text, report->print.separator, (size_t)(end - text))) != NULL) {
		add_plain(report, out, text, (size_t)(at - text));
		pd_text_add(out, ".");
		text = at + 1;
	}
	add_plain(report, out, text, (size_t)(end - text));
}

/* Returns the bytes that take no room on the screen. */
static size_t add_share(const struct pd_report *report, struct pd_text *out, double percent, int width)
{
	const char *color = report->print.color ? share_color(percent) : NULL;

	if (color)
		pd_text_add(out, color);
	add_percent(out, percent, width);
	if (color)
		pd_text_add(out, SHARE_COLOR_END);
	return color ? strlen(color) + strlen(SHARE_COLOR_END) : 0;
}

/* A number has a blank in front of it, and with a separator nothing else. Returns as add_share. */
static size_t add_number(const struct pd_report *report, struct pd_text *out, const struct table *table, size_t index,
			 const struct row *row, size_t event)
{
	const struct column *column = &report->columns.items[index];
	uint64_t number = pd_row_number(table, row, event, column->kind);
	int width = (int)(report->print.widths[index] ? report->print.widths[index] : number_width(column));

	if (column_is_weight(column->kind)) {
		pd_text_printf(out, " %*.1f", report->print.separator ? 0 : WEIGHT_WIDTH - 1,
			       pd_row_mean_weight(table, row, event, column->kind));
		return 0;
	}
	if (pd_column_is_share(column->kind))
		return add_share(report, out, pd_percent(number, column_total(table, column->kind, event)),
				 report->print.separator || width < 2 ? 0 : width - 2);
	add_right(out, number, report->print.separator ? 0 : width - 1);
	return 0;
}

/* Callers were not asked for or not recorded. As perf: once, also for a group, and never without blanks. */
static void add_not_known(struct pd_text *out, size_t width)
{
	pd_text_printf(out, " %*s", (int)width - 1, "N/A");
}

static bool is_padded(const struct pd_report *report, size_t column)
{
	if (report->options.hierarchy)
		return report->columns.items[column].kind != COLUMN_KEY ||
		       !report->keys[report->columns.items[column].key]->unpadded;
	return column + 1 < report->columns.count || report->columns.items[column].kind != COLUMN_KEY ||
	       !report->keys[report->columns.items[column].key]->unpadded;
}

/* Returns how many characters it has. */
static size_t add_key(const struct pd_report *report, struct pd_text *out, const struct table *table, size_t index,
		      const struct row *row)
{
	const struct column *column = &report->columns.items[index];
	char cell[PD_REPORT_CELL_BYTES];
	size_t length, blanks = 0;
	const char *text = text_at(report, column, row, cell, &length);

	if (report->print.widths[index] && length > report->print.widths[index])
		length = report->print.widths[index];
	if (value_at(report, column, row)->clipped && length > table->widths[index])
		length = table->widths[index];
	if (report->keys[column->key]->right && length < table->widths[index])
		blanks = table->widths[index] - length;
	add_spaces(out, blanks);
	pd_text_cell(report, out, text, length);
	return blanks + length;
}

/* As perf: of a group what its leader has. */
static void add_accesses(struct pd_text *out, const struct table *table, enum column_kind kind, const struct row *row)
{
	for (size_t part = 0; part < pd_access_column(kind)->count; part++)
		if (table->parts_shown[kind - COLUMN_OP][part])
			pd_text_printf(out, "%*.1f%%", PART_WIDTH - 1,
				       pd_percent(pd_row_access(table, row, 0, kind, part), table->totals[0]));
}

static void add_cell(const struct pd_report *report, struct pd_text *out, const struct table *table, size_t index,
		     const struct row *row)
{
	const struct column *column = &report->columns.items[index];
	size_t before = pd_text_bytes(out).size, length;

	if (column->kind == COLUMN_KEY) {
		length = add_key(report, out, table, index, row);
	} else if (counts_children(column->kind) && !report->children) {
		add_not_known(out, report->print.widths[index]     ? report->print.widths[index] :
				   column->kind == COLUMN_CHILDREN ? PERCENT_WIDTH :
								     0);
		length = pd_text_bytes(out).size - before;
	} else if (column_is_access(column->kind)) {
		add_accesses(out, table, column->kind, row);
		length = pd_text_bytes(out).size - before;
	} else {
		for (size_t i = 0; i < table->head.event_count; i++)
			before += add_number(report, out, table, index, row, i);
		length = pd_text_bytes(out).size - before;
	}
	if (is_padded(report, index) && length < table->widths[index])
		add_spaces(out, table->widths[index] - length);
}

void pd_text_cells(const struct pd_report *report, const struct table *table, const struct row *row, size_t first,
		   size_t end, struct pd_text *out)
{
	for (size_t i = first; i < end; i++) {
		add_spaces(out, GAP);
		add_cell(report, out, table, i, row);
	}
}

const char *pd_column_header(const struct pd_report *report, const struct table *table, size_t column)
{
	return header_of(report, table, &report->columns.items[column]);
}

/* The title of a column of accesses above those of its parts. */
static void add_ruled(struct pd_text *out, const char *title, size_t width)
{
	size_t length = strlen(title) + 2, left = width > length ? (width - length) / 2 : 0;

	if (!left) {
		pd_text_printf(out, "%*s", (int)width, title);
		return;
	}
	for (size_t i = 0; i < left; i++)
		pd_text_char(out, '-');
	pd_text_printf(out, " %s ", title);
	for (size_t i = left + length; i < width; i++)
		pd_text_char(out, '-');
}

static void add_parts(struct pd_text *out, const struct table *table, enum column_kind kind)
{
	const struct access_column *access = pd_access_column(kind);

	for (size_t part = 0; part < access->count; part++)
		if (table->parts_shown[kind - COLUMN_OP][part])
			pd_text_printf(out, "%*s", PART_WIDTH, access->parts[part].title);
}

static void add_title(const struct pd_report *report, const struct table *table, size_t index)
{
	const struct column *column = &report->columns.items[index];
	const char *text = header_of(report, table, column);
	int width = (int)table->widths[index];

	if (column_is_access(column->kind))
		add_parts(report->out, table, column->kind);
	else if (column->kind == COLUMN_KEY && !key_is_field(report->keys[column->key]))
		pd_text_printf(report->out, "%-*.*s", width, width, text);
	else
		pd_text_printf(report->out, "%*s", width, text);
}

/* What stands above the titles of the parts of columns. */
static void add_upper_title(const struct pd_report *report, const struct table *table, size_t index)
{
	const struct column *column = &report->columns.items[index];

	if (column_is_access(column->kind))
		add_ruled(report->out, header_of(report, table, column),
			  PART_WIDTH * pd_access_parts_shown(table, column->kind));
	else
		add_spaces(report->out, table->widths[index]);
}

static void add_dots(const struct pd_report *report, const struct table *table, size_t index)
{
	for (size_t k = 0; k < table->widths[index]; k++)
		pd_text_add(report->out, ".");
}

/* A line of the header. */
static void add_line(const struct pd_report *report, const struct table *table, const char *gap,
		     void (*add)(const struct pd_report *report, const struct table *table, size_t index))
{
	bool first = true;

	for (size_t i = 0; i < report->columns.count; i++) {
		if (report->columns.items[i].elided || !pd_column_is_there(report, table, &report->columns.items[i]))
			continue;
		pd_text_add(report->out, first ? "# " : gap);
		first = false;
		add(report, table, i);
	}
	pd_text_add(report->out, "\n");
}

static bool has_accesses(const struct pd_report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->columns.count; i++)
		any |= column_is_access(report->columns.items[i].kind);
	return any;
}

void pd_text_header(const struct pd_report *report, const struct table *table)
{
	const char separator[] = { report->print.separator, 0 };
	const char *gap = report->print.separator ? separator : "  ";

	if (has_accesses(report))
		add_line(report, table, gap, add_upper_title);
	add_line(report, table, gap, add_title);
	if (report->print.separator)
		return;
	add_line(report, table, "  ", add_dots);
	pd_text_add(report->out, "#\n");
}

void pd_text_row(const struct pd_report *report, const struct table *table, const struct row *row, struct pd_text *out)
{
	bool first = true;

	for (size_t i = 0; i < report->columns.count; i++) {
		if (report->columns.items[i].elided || !pd_column_is_there(report, table, &report->columns.items[i]))
			continue;
		if (!report->print.separator)
			PD_TEXT_LITERAL(out, "  ");
		else if (!first)
			pd_text_char(out, report->print.separator);
		first = false;
		add_cell(report, out, table, i, row);
	}
	pd_text_char(out, '\n');
}
