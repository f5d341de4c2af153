/* SPDX-License-Identifier: MIT */
/* Rows with their graphs, some at a time: made by threads while earlier ones are printed. */
#include "report/print/print.h"

#include "base/pipeline.h"
#include "base/text/text.h"
#include "report/print/graph.h"

enum {
	ROWS_AT_ONCE = 128
};

/* What a thread needs. */
struct drawing_scratch {
	uint32_t *graphs; /* NULL: there are none */
};

static void end_scratch(void *self)
{
	struct drawing_scratch *scratch = self;

	pd_free(scratch->graphs);
	pd_free(scratch);
}

static void *begin_scratch(void *self)
{
	const struct pd_report *report = ((const struct drawing *)self)->report;
	struct drawing_scratch *scratch = pd_alloc(sizeof(*scratch));

	if (!scratch || report->graph.kind == PD_REPORT_GRAPH_NONE)
		return scratch;
	scratch->graphs = pd_graph_scratch(report);
	if (scratch->graphs)
		return scratch;
	pd_free(scratch);
	return NULL;
}

static bool has_graph(const struct drawing *drawing, const struct row *row)
{
	return has_graphs(drawing->report) && pd_graph_is_shown(drawing->report, drawing->table, row);
}

/* Rows are sorted, so what they show is anywhere in memory. */
static void prefetch_rows(const struct drawing *drawing, size_t begin, size_t end)
{
	for (unsigned stage = 0; stage < PREFETCH_STAGES; stage++)
		for (size_t i = begin; i < end; i++) {
			if (!stage)
				__builtin_prefetch(drawing->rows[i]->amounts);
			pd_values_prefetch(drawing->report, drawing->rows[i], stage);
		}
}

static bool make_lines(void *self, void *scratch, size_t index, struct pd_text *out)
{
	const struct drawing *drawing = self;
	const struct drawing_scratch *own = scratch;
	const struct row *last = drawing->rows[drawing->ends[index] - 1];
	size_t begin = index ? drawing->ends[index - 1] : 0;

	prefetch_rows(drawing, begin, drawing->ends[index]);
	for (size_t i = begin; i < drawing->ends[index]; i++)
		pd_text_row(drawing->report, drawing->table, drawing->rows[i], out);
	if (has_graph(drawing, last) && !pd_graph_print(drawing->report, drawing->table, last, own->graphs, out))
		return false;
	return !pd_text_failed(out);
}

static bool find_ends(struct drawing *drawing, size_t count)
{
	drawing->ends = pd_alloc((count + 1) * sizeof(*drawing->ends));
	for (size_t i = 0, begin = 0; drawing->ends && i < count; i++)
		if (i + 1 == count || i + 1 - begin == ROWS_AT_ONCE || has_graph(drawing, drawing->rows[i]))
			drawing->ends[drawing->count++] = begin = i + 1;
	return drawing->ends;
}

bool pd_drawing_start(struct drawing *drawing, struct pd_report *report, const struct table *table,
		      const struct row *const *rows, size_t count)
{
	struct pd_pipeline_job job = {
		.threads = report->options.threads,
		.self = drawing,
		.begin = begin_scratch,
		.end = end_scratch,
		.make = make_lines,
	};

	*drawing = (struct drawing){ .report = report, .table = table, .rows = rows };
	if (!find_ends(drawing, count) || (has_graphs(report) && !pd_graphs_prepare(report)))
		return false;
	job.count = drawing->count;
	drawing->pipeline = pd_pipeline_start(&job);
	return drawing->pipeline;
}

bool pd_drawing_next(struct drawing *drawing)
{
	const struct pd_text *text = pd_pipeline_next(drawing->pipeline);

	drawing->next++;
	if (text)
		pd_text_put(drawing->report->out, (const char *)pd_text_bytes(text).data, pd_text_bytes(text).size);
	return text;
}

void pd_drawing_end(struct drawing *drawing)
{
	pd_pipeline_end(drawing->pipeline);
	pd_free(drawing->ends);
	*drawing = (struct drawing){ 0 };
}
