/* SPDX-License-Identifier: MIT */
/* Types of data with the share of each member, as perf annotate --data-type prints them, version 7.2. */
#include <inttypes.h>
#include <string.h>

#include "annotate/print/column.h"
#include "base/error.h"
#include "base/memory.h"
#include "type/data.h"

enum {
	NUMBERS_WIDTH = 24, // of the columns with offset and size
	INDENT = 4
};

struct printing {
	const struct pd_type_data *data;
	struct pd_annotate_text_options options;
	struct pd_text *out;
	const struct pd_annotate_table *table;
	size_t *columns; // events of the file that are shown
	size_t column_count;
	bool found; // any type
	const struct pd_type_row *row;
};

static void put_name(const struct printing *p, const char *name)
{
	if (p->options.escape)
		pd_text_escaped(p->out, name, strlen(name));
	else
		pd_text_add(p->out, name);
}

// ---- members ----

static void put_columns(const struct printing *p, uint64_t offset, uint64_t size)
{
	uint64_t end = size < UINT64_MAX - offset ? offset + size : UINT64_MAX;

	for (size_t c = 0; c < p->column_count; c++) {
		const struct pd_type_data *data = p->data;
		size_t event = p->columns[c];
		size_t from = pd_type_data_at(data, p->row, event, offset),
		       to = pd_type_data_at(data, p->row, event, end);
		const struct pd_annotate_sum sum = pd_type_data_sum(data, from, to);
		uint64_t all = pd_type_data_sum(data, pd_type_data_at(data, p->row, event, 0),
						pd_type_data_at(data, p->row, event, UINT64_MAX))
				       .period;

		pd_annotate_put_column(p->out, &p->options, &sum, all ? 100.0 * (double)sum.period / (double)all : 0);
	}
}

static size_t columns_width(const struct printing *p)
{
	return pd_annotate_column_width(p->options.show) * p->column_count;
}

static bool put_member(void *self, const struct pd_type_member *member, bool end)
{
	const struct printing *p = self;
	unsigned indent = member->depth * INDENT;

	if (end) {
		pd_text_printf(p->out, "%*s};\n", (int)(columns_width(p) + NUMBERS_WIDTH + indent), "");
		return !p->out->failed;
	}
	put_columns(p, member->offset, member->size);
	pd_text_printf(p->out, " %#10" PRIx64 " %#10" PRIx64 "  %*s", member->offset, member->size, (int)indent, "");
	put_name(p, member->type);
	pd_text_char(p->out, '\t');
	put_name(p, member->name);
	pd_text_add(p->out, member->has_members ? " {\n" : ";\n");
	return !p->out->failed;
}

// ---- types ----

static void put_head(const struct printing *p)
{
	const struct pd_annotate_table *table = p->table;
	const struct pd_type_data *data = p->data;
	size_t from = pd_type_data_at(data, p->row, table->first_event, 0);
	size_t to = pd_type_data_at(data, p->row, table->first_event + table->event_count, 0);

	pd_text_add(p->out, "Annotate type: '");
	put_name(p, p->row->access->type);
	pd_text_add(p->out, "' in ");
	put_name(p, p->row->dso->long_name);
	pd_text_printf(p->out, " (%" PRIu64 " samples):\n", pd_type_data_sum(data, from, to).samples);
	for (size_t c = 0; table->event_count > 1 && c < p->column_count; c++) {
		pd_text_printf(p->out, " event[%zu] = ", c);
		put_name(p, pd_file_event(data->base.file, p->columns[c])->name);
		pd_text_char(p->out, '\n');
	}
	pd_text_add(p->out, "============================================================================\n");
	pd_text_printf(p->out, "%*s %10s %10s  %s\n", (int)columns_width(p), pd_annotate_column_word(p->options.show),
		       "offset", "size", "field");
}

static bool put_type(struct printing *p, uint32_t number)
{
	p->row = &p->data->rows[number];
	put_head(p);
	if (!pd_types_each_member(p->data->types, p->row->access, put_member, p))
		return false;
	pd_text_char(p->out, '\n');
	return true;
}

static enum pd_status put_table(struct printing *p, const struct pd_annotate_types_options *types,
				struct pd_error *error)
{
	enum pd_status status = PD_OK;
	size_t count;
	uint32_t *rows = pd_type_data_order(p->data, p->table, types->type, &count);

	p->column_count = 0;
	for (size_t i = 0; i < p->table->event_count; i++)
		if (!types->skip_empty || p->table->totals[i].samples)
			p->columns[p->column_count++] = p->table->first_event + i;
	if (!rows)
		return pd_fail_memory(error);
	for (size_t i = 0; status == PD_OK && i < count; i++) {
		status = put_type(p, rows[i]) ? pd_text_flush_or_fail(p->out, error) : pd_fail_memory(error);
	}
	p->found |= count > 0;
	pd_free(rows);
	return status;
}

static enum pd_status put_all(struct printing *p, struct pd_type_data *data,
			      const struct pd_annotate_types_options *types, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	p->columns = pd_alloc((pd_file_event_count(data->base.file) + 1) * sizeof(*p->columns));
	if (!p->columns || !pd_type_data_collect(data, types->answers || types->words) ||
	    !pd_type_put_counts(data, types->answers, types->words, p->out))
		status = pd_fail_memory(error);
	for (size_t i = 0; status == PD_OK && (p->table = pd_annotate_table(data->annotate, i)) != NULL; i++)
		status = put_table(p, types, error);
	pd_free(p->columns);
	if (status == PD_OK && !p->found)
		return types->type ?
			       pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no samples access a type '%s'",
				       types->type) :
			       pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
				       "no samples access data of a known type; debug information says which it is");
	return status;
}

enum pd_status pd_annotate_types_text(struct pd_annotate *annotate, const struct pd_annotate_types_options *types,
				      const struct pd_annotate_text_options *options, struct pd_text *text,
				      struct pd_error *error)
{
	struct pd_annotate_types_options wanted = { .size = sizeof(wanted) };
	struct pd_type_data data = { .annotate = annotate, .base = pd_annotate_base(annotate) };
	struct printing p = { .data = &data, .out = text };
	const struct pd_string *arch = pd_file_arch(data.base.file);
	enum pd_status status = pd_types_check(arch ? arch->value.data : NULL, error);

	if (status != PD_OK)
		return status;
	if (types)
		memcpy(&wanted, types, types->size < sizeof(wanted) ? types->size : sizeof(wanted));
	if (options)
		memcpy(&p.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	status = put_all(&p, &data, &wanted, error);
	pd_type_data_fini(&data);
	return status;
}
