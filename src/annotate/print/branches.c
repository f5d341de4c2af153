/* SPDX-License-Identifier: MIT */
/* What branch stacks say of code, as text and JSON: shares of branches as perf annotate --stdio, columns as its --stdio2. */
#include <inttypes.h>
#include <string.h>

#include <perfdata/json.h>

#include "annotate/print/text.h"

enum {
	MOST_BLOCKS = 10 // in a list before a function
};

// As perf: a thousandth is nothing.
static bool is_said(double share)
{
	return 100 * share > 0.1;
}

void pd_annotate_put_flow(struct pd_text *out, const struct pd_annotate_branch *branch)
{
	if (!branch || (!is_said(branch->entered) && !is_said(branch->taken)))
		return;
	pd_text_add(out, "\t#");
	if (is_said(branch->entered))
		pd_text_printf(out, " +%.2f%%", 100 * branch->entered);
	if (is_said(branch->taken))
		pd_text_printf(out, " -%.2f%% (p:%.2f%%)", 100 * branch->taken, 100 * branch->predicted);
}

void pd_annotate_put_cycles(struct pd_text *out, const struct pd_annotate_branch *branch)
{
	if (branch && branch->ipc > 0)
		pd_text_printf(out, " %5.2f", branch->ipc);
	else
		pd_text_printf(out, "%6s", "");
	if (branch && branch->cycles)
		pd_text_printf(out, " %5" PRIu64, branch->cycles);
	else
		pd_text_printf(out, "%6s", "");
}

// ---- blocks ----

static const struct pd_annotate_line *line_at(const struct pd_annotate_code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->line_count; i++)
		if (code->lines[i].kind == PD_ANNOTATE_INSTRUCTION && code->lines[i].addr == addr)
			return &code->lines[i];
	return NULL;
}

static void put_source(struct pd_annotate_printing *p, uint64_t addr)
{
	const struct pd_annotate_line *line = line_at(p->code, addr);
	const char *slash = line && line->file ? strrchr(line->file, '/') : NULL;
	const char *name = !line || !line->file ? NULL : slash && !p->options.full_paths ? slash + 1 : line->file;

	if (!name || !line->line)
		return;
	pd_text_add(p->out, "  ");
	pd_annotate_put_name(p, name, strlen(name));
	pd_text_printf(p->out, ":%" PRIu32, line->line);
}

static void put_block(struct pd_annotate_printing *p, const struct pd_annotate_block *block)
{
	pd_text_printf(p->out, " %6.2f%%  %10" PRIu64 "  %7" PRIu64, 100 * block->share, block->cycles, block->average);
	if (block->ipc > 0)
		pd_text_printf(p->out, "  %5.2f", block->ipc);
	else
		pd_text_printf(p->out, "  %5s", "");
	if (block->taken > 0)
		pd_text_printf(p->out, "  %6.2f%%", 100 * block->taken);
	else
		pd_text_printf(p->out, "  %7s", "");
	pd_text_printf(p->out, "  %" PRIx64 "-%" PRIx64, block->start, block->end);
	put_source(p, block->start);
	put_source(p, block->end);
	pd_text_char(p->out, '\n');
}

void pd_annotate_put_blocks(struct pd_annotate_printing *p)
{
	const struct pd_annotate_code *code = p->code;
	const char *name = code->entry->head.function->name;

	pd_text_add(p->out, "\nBlocks of ");
	pd_annotate_put_name(p, name, strlen(name));
	if (code->covered > 0)
		pd_text_printf(p->out, " by cycles (average IPC: %.2f, IPC coverage: %.1f%%)\n", code->ipc,
			       100 * code->covered);
	else
		pd_text_add(p->out, " by cycles (IPC is not known)\n");
	pd_text_add(p->out, "----------------------------------------------\n\n");
	pd_text_add(p->out, " Cycles%      Cycles  Average    IPC   Taken%  Block\n");
	for (size_t i = 0; i < code->block_count && i < MOST_BLOCKS; i++)
		put_block(p, &code->blocks[i]);
	if (code->block_count > MOST_BLOCKS)
		pd_text_printf(p->out, " (%zu more)\n", code->block_count - MOST_BLOCKS);
	pd_text_char(p->out, '\n');
}

// ---- JSON ----

static void add_if(struct pd_json *json, const char *name, double number)
{
	if (number > 0)
		pd_json_double(json, name, number);
}

void pd_annotate_json_branch(struct pd_json *json, const struct pd_annotate_branch *branch)
{
	if (!branch)
		return;
	add_if(json, "ipc", branch->ipc);
	if (branch->cycles) {
		pd_json_number(json, "cycles", branch->cycles);
		pd_json_number(json, "cycles_min", branch->least);
		pd_json_number(json, "cycles_max", branch->most);
	}
	if (branch->executed)
		pd_json_number(json, "executed", branch->executed);
	add_if(json, "entered", branch->entered);
	add_if(json, "taken", branch->taken);
	add_if(json, "predicted", branch->predicted);
}

void pd_annotate_json_blocks(struct pd_json *json, const struct pd_annotate_code *code)
{
	if (!code->block_count)
		return;
	pd_json_double(json, "ipc", code->ipc);
	pd_json_double(json, "ipc_coverage", code->covered);
	pd_json_open(json, "blocks", '[');
	for (size_t i = 0; i < code->block_count; i++) {
		const struct pd_annotate_block *block = &code->blocks[i];

		pd_json_open(json, NULL, '{');
		pd_annotate_json_addr(json, "start", block->start);
		pd_annotate_json_addr(json, "end", block->end);
		pd_json_number(json, "instructions", block->instructions);
		pd_json_number(json, "count", block->count);
		pd_json_number(json, "cycles", block->cycles);
		pd_json_double(json, "share", block->share);
		if (block->average)
			pd_json_number(json, "average", block->average);
		add_if(json, "ipc", block->ipc);
		pd_json_double(json, "taken", block->taken);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}
