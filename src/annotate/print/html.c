/* SPDX-License-Identifier: MIT */
/*
 * Annotations as one page without scripts: a part that can be opened for each function, heat as the colour of lines, jumps as links
 * within the page. Names come from files, and are text wherever they stand.
 */
#include <inttypes.h>
#include <string.h>

#include "annotate/print/loops.h"
#include "annotate/print/text.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<title>perfdata annotate</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:14px sans-serif;margin:1em}\n"
	"table{border-collapse:collapse;font:13px monospace}\n"
	"td{padding:0 .6em;white-space:pre;tab-size:8}\n"
	"td.n{text-align:right}\n"
	"tr.s td{opacity:.7}\n"
	"tr.l td{font-weight:bold}\n"
	"tr:target{outline:2px solid}\n"
	"summary{cursor:pointer;font-family:monospace;padding:.2em}\n"
	"a{text-decoration:none}\n"
	"</style></head><body>\n<h1>perfdata annotate</h1>\n";

struct page {
	struct pd_annotate *annotate;
	struct pd_text *out;
	size_t table, function;
};

static void put_html(struct pd_text *out, const char *text)
{
	for (size_t length = strlen(text); length;) {
		size_t size = *text == '\t' ? 1 : pd_text_plain(text, length);

		if (*text && strchr("<>&\"'", *text))
			pd_text_printf(out, "&#%d;", *text);
		else if (*text == '\t')
			pd_text_char(out, '\t');
		else
			pd_text_escaped(out, text, size ? size : 1);
		text += size ? size : 1;
		length -= size ? size : 1;
	}
}

// Red where the time is.
static void put_heat(struct pd_text *out, double percent)
{
	if (percent >= 0.5)
		pd_text_printf(out, " style=\"background:rgba(230,60,30,%.2f)\"",
			       percent > 50 ? 0.75 : 0.08 + percent / 75);
}

static void put_cycles(struct pd_text *out, const struct pd_annotate_branch *branch)
{
	pd_text_add(out, "<td class=\"n\">");
	if (branch->ipc > 0)
		pd_text_printf(out, "%.2f", branch->ipc);
	pd_text_add(out, "<td class=\"n\">");
	if (branch->cycles)
		pd_text_printf(out, "%" PRIu64, branch->cycles);
}

// Cells before the address that a line without numbers leaves empty.
static void put_empty(struct pd_text *out, const struct pd_annotate_code *code)
{
	for (size_t i = 0; i < code->part->head.event_count + (code->branches ? 2 : 0); i++)
		pd_text_add(out, "<td>");
}

static void put_instruction(struct page *page, const struct pd_annotate_code *code, size_t index)
{
	const struct pd_annotate_line *line = &code->lines[index];
	const struct pd_annotate_sum *sums = pd_annotate_line_sums(code, index);
	double first = pd_annotate_share(code->part, code->entry->head.sums, &sums[0], 0, PD_ANNOTATE_LOCAL_PERIOD);
	bool inside = line->has_target && line->target >= code->start && line->target < code->end;

	pd_text_printf(page->out, "<tr id=\"a%zu-%zu-%" PRIx64 "\"", page->table, page->function, line->addr);
	put_heat(page->out, first);
	pd_text_char(page->out, '>');
	for (size_t i = 0; i < code->part->head.event_count; i++)
		if (sums[i].samples)
			pd_text_printf(page->out, "<td class=\"n\" title=\"%" PRIu64 " samples\">%.2f", sums[i].samples,
				       pd_annotate_share(code->part, code->entry->head.sums, &sums[i], i,
							 PD_ANNOTATE_LOCAL_PERIOD));
		else
			pd_text_add(page->out, "<td>");
	if (code->branches)
		put_cycles(page->out, &code->branches[index]);
	pd_text_printf(page->out, "<td class=\"n\">%" PRIx64 "<td>", line->addr);
	if (inside)
		pd_text_printf(page->out, "<a href=\"#a%zu-%zu-%" PRIx64 "\">", page->table, page->function,
			       line->target);
	put_html(page->out, line->text);
	if (inside)
		pd_text_add(page->out, "</a>");
	pd_annotate_put_flow(page->out, pd_annotate_line_branch(code, index));
	pd_text_char(page->out, '\n');
}

static void put_text_line(struct page *page, const struct pd_annotate_code *code, const struct pd_annotate_line *line)
{
	pd_text_printf(page->out, "<tr class=\"%c\">", line->kind == PD_ANNOTATE_SOURCE ? 's' : 'l');
	put_empty(page->out, code);
	pd_text_add(page->out, "<td class=\"n\">");
	if (line->kind == PD_ANNOTATE_SOURCE)
		pd_text_printf(page->out, "%" PRIu32, line->line);
	pd_text_add(page->out, "<td>");
	put_html(page->out, line->text);
	pd_text_char(page->out, '\n');
}

static void put_loop(struct page *page, const struct pd_annotate_code *code, const struct pd_annotate_loop *loop)
{
	pd_text_add(page->out, "<tr class=\"l\">");
	put_empty(page->out, code);
	pd_text_printf(page->out, "<td><td>loop to %" PRIx64 ": %.2f%%, %zu instructions\n",
		       code->lines[loop->last].addr,
		       pd_annotate_share(code->part, code->entry->head.sums, &loop->sum, 0, PD_ANNOTATE_LOCAL_PERIOD),
		       loop->instructions);
}

static void put_blocks(struct page *page, const struct pd_annotate_code *code)
{
	if (!code->block_count)
		return;
	pd_text_printf(
		page->out,
		"<details><summary>Blocks by cycles (average IPC: %.2f, IPC coverage: %.1f%%)</summary>\n<table>\n"
		"<tr class=\"l\"><td>Cycles%%<td>Cycles<td>Average<td>IPC<td>Taken%%<td>Block\n",
		code->ipc, 100 * code->covered);
	for (size_t i = 0; i < code->block_count; i++) {
		const struct pd_annotate_block *block = &code->blocks[i];

		pd_text_add(page->out, "<tr");
		put_heat(page->out, 100 * block->share);
		pd_text_printf(page->out,
			       "><td class=\"n\">%.2f<td class=\"n\">%" PRIu64 "<td class=\"n\">%" PRIu64
			       "<td class=\"n\">%.2f<td class=\"n\">%.2f<td>",
			       100 * block->share, block->cycles, block->average, block->ipc, 100 * block->taken);
		pd_text_printf(page->out, "<a href=\"#a%zu-%zu-%" PRIx64 "\">%" PRIx64 "-%" PRIx64 "</a>\n",
			       page->table, page->function, block->start, block->start, block->end);
	}
	pd_text_add(page->out, "</table>\n</details>\n");
}

// Only where columns need it: shares speak for themselves.
static void put_titles(struct pd_text *out, const struct pd_annotate_code *code)
{
	if (!code->branches)
		return;
	pd_text_add(out, "<tr class=\"l\">");
	for (size_t i = 0; i < code->part->head.event_count; i++)
		pd_text_add(out, "<td>%");
	pd_text_add(out, "<td>IPC<td>Cycle<td><td>\n");
}

static bool put_code(struct page *page, const struct pd_annotate_code *code)
{
	struct pd_annotate_loop *loops = NULL;
	size_t loop_count = 0, loop = 0;

	if (!pd_annotate_find_loops(code, &loops, &loop_count))
		return false;
	put_blocks(page, code);
	pd_text_add(page->out, "<table>\n");
	put_titles(page->out, code);
	for (size_t i = 0; i < code->line_count; i++) {
		while (loop < loop_count && loops[loop].first <= i) {
			if (loops[loop].sum.samples)
				put_loop(page, code, &loops[loop]);
			loop++;
		}
		if (code->lines[i].kind == PD_ANNOTATE_INSTRUCTION)
			put_instruction(page, code, i);
		else if (code->lines[i].kind != PD_ANNOTATE_PLACE)
			put_text_line(page, code, &code->lines[i]);
	}
	pd_text_add(page->out, "</table>\n");
	pd_free(loops);
	return true;
}

// False without memory.
static bool put_function(struct page *page)
{
	const struct pd_annotate_function *function = pd_annotate_function(page->annotate, page->table, page->function);
	const struct pd_annotate_part *part = &page->annotate->parts[page->table];
	struct pd_annotate_code *code = NULL;
	struct pd_error why;
	enum pd_status status = pd_annotate_open(page->annotate, page->table, page->function, &code, &why);
	bool done = status != PD_ERROR_MEMORY;

	pd_text_printf(page->out, "<details%s><summary", page->function ? "" : " open");
	put_heat(page->out, pd_annotate_share(part, function->sums, &function->sums[0], 0, PD_ANNOTATE_GLOBAL_PERIOD));
	pd_text_printf(page->out, ">%.2f%% ",
		       pd_annotate_share(part, function->sums, &function->sums[0], 0, PD_ANNOTATE_GLOBAL_PERIOD));
	put_html(page->out, function->function->name);
	pd_text_add(page->out, " (");
	put_html(page->out, function->function->dso->name);
	pd_text_printf(page->out, "), %" PRIu64 " samples</summary>\n", function->sums[0].samples);
	if (status == PD_OK) {
		done = put_code(page, code);
	} else {
		pd_text_add(page->out, "<p>");
		put_html(page->out, why.message);
		pd_text_add(page->out, "</p>\n");
	}
	pd_text_add(page->out, "</details>\n");
	pd_annotate_close(code);
	return done;
}

static void put_table_head(struct page *page, const struct pd_annotate_part *part)
{
	pd_text_add(page->out, "<h2>");
	put_html(page->out, part->name);
	pd_text_printf(page->out, "</h2>\n<p>%" PRIu64 " samples in %zu functions", part->totals[0].samples,
		       part->head.function_count);
	if (pd_annotate_has_skid(page->annotate, part))
		pd_text_add(page->out, ". " PD_ANNOTATE_SKID);
	pd_text_add(page->out, ".</p>\n");
}

enum pd_status pd_annotate_html(struct pd_annotate *annotate, struct pd_text *text, struct pd_error *error)
{
	struct page page = { .annotate = annotate, .out = text };
	bool done = true, written = true;

	pd_text_add(text, head);
	for (size_t t = 0; done && written && t < annotate->part_count; t++) {
		page.table = t;
		put_table_head(&page, &annotate->parts[t]);
		for (size_t i = 0; done && written && i < annotate->parts[t].head.function_count; i++) {
			page.function = i;
			done = put_function(&page);
			written = pd_text_flush_large(text);
		}
	}
	pd_text_add(text, "</body></html>\n");
	if (!done || text->failed)
		return pd_fail_memory(error);
	return written ? PD_OK : pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output failed");
}
