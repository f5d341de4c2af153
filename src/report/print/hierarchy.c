/* SPDX-License-Identifier: MIT */
/* A table as a tree, as perf report --hierarchy prints it: rows of a level stand to the right of those above. */
#include "report/print/print.h"

#include <string.h>

#include "base/text/text.h"
#include "report/keys/field_keys.h"
#include "report/print/graph.h"
#include "report/rows/levels.h"

enum {
	INDENT = 3, /* of a level */
	GAP = 2     /* between columns */
};

struct tree {
	struct pd_report *report;
	const struct table *table;
	struct levels levels;
	size_t numbers;       /* columns in front of the keys */
	size_t numbers_width; /* with gaps */
	double least_percent;
	uint32_t *graphs;     /* NULL: there are none */
	struct pd_text *keys; /* of a row */
	enum pd_status status;
};

static void add_many(struct pd_text *out, char c, size_t count)
{
	while (count--)
		pd_text_char(out, c);
}

/* What the levels share: the indent of the deepest one. */
static size_t deepest(const struct tree *tree)
{
	return tree->levels.count ? INDENT * (tree->levels.count - 1) : 0;
}

/* Numbers in front of a name are not aligned in a tree. */
static const char *without_blanks(const char *text)
{
	return text + strspn(text, " ");
}

static bool is_shown(const struct tree *tree, size_t column)
{
	return pd_column_is_there(tree->report, tree->table, &tree->report->columns.items[column]);
}

// ---- header ----

static void add_titles(const struct tree *tree)
{
	const struct pd_report *report = tree->report;
	const struct level *levels = tree->levels.items;

	pd_text_add(report->out, "# ");
	add_many(report->out, ' ', deepest(tree));
	for (size_t i = 0; i < tree->numbers; i++)
		pd_text_printf(report->out, "%s%*s", i ? "  " : "", (int)tree->table->widths[i],
			       pd_column_header(report, tree->table, i));
	pd_text_add(report->out, "  ");
	for (size_t i = 0; i < tree->levels.count; i++)
		for (size_t k = levels[i].first_column; k < levels[i].end_column; k++) {
			if (!is_shown(tree, k))
				continue;
			pd_text_printf(report->out, "%s%s",
				       k > levels[i].first_column ? "+" :
				       i                          ? " / " :
								    "",
				       without_blanks(pd_column_header(report, tree->table, k)));
		}
	pd_text_add(report->out, "\n");
}

/* The widest level, or all titles. */
static size_t keys_width(const struct tree *tree)
{
	size_t titles = 0, widest = 0;

	for (size_t i = 0; i < tree->levels.count; i++) {
		const struct level *level = &tree->levels.items[i];
		size_t width = i * INDENT;

		titles += i ? strlen(" / ") : 0;
		for (size_t k = level->first_column; k < level->end_column; k++) {
			bool joined = k > level->first_column;

			if (!is_shown(tree, k))
				continue;
			/* as perf: one less than it takes */
			width += tree->table->widths[k] + joined;
			titles += strlen(without_blanks(pd_column_header(tree->report, tree->table, k))) + joined;
		}
		widest = width > widest ? width : widest;
	}
	return titles > widest ? titles : widest;
}

static void add_header(const struct tree *tree)
{
	struct pd_text *out = tree->report->out;

	if (tree->report->print.quiet)
		return;
	add_titles(tree);
	pd_text_add(out, "# ");
	add_many(out, '.', deepest(tree) + tree->numbers_width - GAP);
	pd_text_add(out, "  ");
	add_many(out, '.', keys_width(tree));
	pd_text_add(out, "\n#\n");
}

// ---- rows ----

static bool is_small(const struct tree *tree, const struct row *row)
{
	return pd_percent(row->amounts->period, tree->table->totals[0]) < tree->least_percent;
}

static void add_row(const struct tree *tree, size_t index, const struct row *row)
{
	const struct level *level = &tree->levels.items[index];
	struct pd_text *out = tree->report->out;

	add_many(out, ' ', index * INDENT);
	pd_text_cells(tree->report, tree->table, row, 0, tree->numbers, out);
	add_many(out, ' ', deepest(tree) + GAP);
	for (size_t k = level->first_column; k < level->end_column; k++) {
		if (!is_shown(tree, k))
			continue;
		pd_text_clear(tree->keys);
		pd_text_cells(tree->report, tree->table, row, k, k + 1, tree->keys);
		pd_text_char(tree->keys, 0);
		pd_text_add(out, k > level->first_column ? "  " : "");
		pd_text_add(out, without_blanks((const char *)pd_text_bytes(tree->keys).data));
	}
	pd_text_add(out, "\n");
}

/* As perf: where the names would be. */
static void add_none(const struct tree *tree, size_t index)
{
	struct pd_text *out = tree->report->out;

	add_many(out, ' ', index * INDENT + tree->numbers_width + deepest(tree) + GAP);
	pd_text_printf(out, "no entry >= %.2f%%\n", tree->least_percent);
}

static void add_graph(struct tree *tree, const struct row *row)
{
	if (tree->graphs && pd_graph_is_shown(tree->report, tree->table, row) &&
	    !pd_graph_print(tree->report, tree->table, row, tree->graphs, tree->report->out))
		tree->status = PD_ERROR_MEMORY;
}

/* The rows below one, by its number in the level above. There are few levels. */
static void add_rows(struct tree *tree, size_t index, size_t above)
{
	const struct level *level = &tree->levels.items[index];
	size_t shown = 0;

	for (size_t i = level->starts[above]; i < level->starts[above + 1] && tree->status == PD_OK; i++) {
		const struct row *row = &level->table.rows[level->below[i]];

		if (is_small(tree, row))
			continue;
		shown++;
		add_row(tree, index, row);
		if (index + 1 < tree->levels.count)
			add_rows(tree, index + 1, row->first_link);
		else
			add_graph(tree, &tree->table->rows[tree->levels.own[row->first_link]]);
		if (tree->status == PD_OK)
			tree->status = pd_print_flush_large(tree->report->out);
	}
	if (!shown && index)
		add_none(tree, index);
}

static void measure_numbers(struct tree *tree)
{
	const struct column_list *columns = &tree->report->columns;

	for (; tree->numbers < columns->count && columns->items[tree->numbers].kind != COLUMN_KEY; tree->numbers++)
		tree->numbers_width += GAP + tree->table->widths[tree->numbers];
}

static bool prepare_graphs(struct tree *tree)
{
	if (!has_graphs(tree->report))
		return true;
	tree->graphs = pd_graph_scratch(tree->report);
	return tree->graphs && pd_graphs_prepare(tree->report);
}

enum pd_status pd_text_hierarchy(struct pd_report *report, const struct table *table, double least_percent)
{
	struct tree tree = {
		.report = report, .table = table, .least_percent = least_percent, .status = PD_ERROR_MEMORY
	};

	measure_numbers(&tree);
	tree.keys = pd_text_new();
	if (tree.keys && pd_levels_build(&tree.levels, report, table) && prepare_graphs(&tree)) {
		tree.status = PD_OK;
		add_header(&tree);
		if (tree.levels.count)
			add_rows(&tree, 0, 0);
	}
	if (tree.keys && pd_text_failed(tree.keys))
		tree.status = PD_ERROR_MEMORY;
	pd_text_free(tree.keys);
	pd_free(tree.graphs);
	pd_levels_fini(&tree.levels);
	return tree.status;
}
