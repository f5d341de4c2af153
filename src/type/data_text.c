/* SPDX-License-Identifier: MIT */
/* Types of data with the share of each member, as perf annotate --data-type prints them, version 7.2. */
#include <inttypes.h>
#include <string.h>

#include "annotate/print/column.h"
#include "base/error.h"
#include "type/data.h"

enum {
	NUMBERS_WIDTH = 24, // of the columns with offset and size
	INDENT = 4
};

struct text {
	struct pd_type_printing printing;
	struct pd_annotate_text_options options;
	struct pd_text *out;
};

static void put_name(const struct text *t, const char *name)
{
	if (t->options.escape)
		pd_text_escaped(t->out, name, strlen(name));
	else
		pd_text_add(t->out, name);
}

static void put_columns(const struct text *t, uint64_t offset, uint64_t size)
{
	const struct pd_type_printing *p = &t->printing;

	for (size_t c = 0; c < p->column_count; c++) {
		const struct pd_annotate_sum sum = pd_type_printing_sum(p, c, offset, size);
		uint64_t all = pd_type_printing_sum(p, c, 0, UINT64_MAX).period;

		pd_annotate_put_column(t->out, &t->options, &sum, all ? 100.0 * (double)sum.period / (double)all : 0);
	}
}

static size_t columns_width(const struct text *t)
{
	return pd_annotate_column_width(t->options.show) * t->printing.column_count;
}

static bool put_member(void *self, const struct pd_type_member *member, bool end)
{
	struct text *t = self;
	unsigned indent = member->depth * INDENT;

	if (end) {
		pd_text_printf(t->out, "%*s};\n", (int)(columns_width(t) + NUMBERS_WIDTH + indent), "");
		return !t->out->failed;
	}
	put_columns(t, member->offset, member->size);
	pd_text_printf(t->out, " %#10" PRIx64 " %#10" PRIx64 "  %*s", member->offset, member->size, (int)indent, "");
	put_name(t, member->type);
	pd_text_char(t->out, '\t');
	put_name(t, member->name);
	pd_text_add(t->out, member->has_members ? " {\n" : ";\n");
	return !t->out->failed;
}

static void put_head(const struct text *t)
{
	const struct pd_type_printing *p = &t->printing;
	uint64_t samples = pd_type_printing_all(p, p->table->first_event, p->table->event_count).samples;

	pd_text_add(t->out, "Annotate type: '");
	put_name(t, p->row->access->type);
	pd_text_add(t->out, "' in ");
	put_name(t, p->row->dso->long_name);
	pd_text_printf(t->out, " (%" PRIu64 " samples):\n", samples);
	for (size_t c = 0; p->table->event_count > 1 && c < p->column_count; c++) {
		pd_text_printf(t->out, " event[%zu] = ", c);
		put_name(t, pd_file_event(p->data.base.file, p->columns[c])->name);
		pd_text_char(t->out, '\n');
	}
	pd_text_add(t->out, "============================================================================\n");
	pd_text_printf(t->out, "%*s %10s %10s  %s\n", (int)columns_width(t), pd_annotate_column_word(t->options.show),
		       "offset", "size", "field");
}

static bool put_type(void *self)
{
	struct text *t = self;
	struct pd_type_printing *p = &t->printing;

	put_head(t);
	if (!pd_types_each_member(p->data.types, p->row->access, put_member, t))
		return false;
	pd_text_char(t->out, '\n');
	return true;
}

enum pd_status pd_annotate_types_text(struct pd_annotate *annotate, const struct pd_annotate_types_options *types,
				      const struct pd_annotate_text_options *options, struct pd_text *text,
				      struct pd_error *error)
{
	struct text t = { .out = text };
	struct pd_type_printing *p = &t.printing;
	enum pd_status status = pd_type_printing_init(p, annotate, types, text, error);

	if (options)
		memcpy(&t.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (status == PD_OK && !pd_type_put_counts(&p->data, p->types.answers, p->types.words, text))
		status = pd_fail_memory(error);
	for (size_t i = 0; status == PD_OK && pd_type_printing_table(p, i); i++)
		status = pd_type_printing_each(p, put_type, &t, error);
	if (status == PD_OK)
		status = pd_type_printing_check(p, error);
	pd_type_printing_fini(p);
	return status;
}
