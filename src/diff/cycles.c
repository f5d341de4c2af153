/* SPDX-License-Identifier: MIT */
/*
 * Cycles of basic blocks, out of branch stacks: those of a function in two runs are pairs if they lie at the same place in it. Texts are
 * made while the symbols of a run are there.
 */
#include "diff/diff.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "blocks/blocks.h"
#include "report/report.h"

enum pd_status pd_diff_read_blocks(struct pd_diff *diff, struct pd_file *file, const struct pd_report *report,
				   struct pd_error *error)
{
	const struct pd_blocks_options options = { .file = file,
						   .symbols = report->symbols,
						   .state = pd_profile_state(report->profile),
						   .choose = report->options.choose,
						   .filter = report->options.filter };

	if (diff->options.method != PD_DIFF_CYCLES)
		return PD_OK;
	if (!pd_blocks_recorded(file))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: no branch stacks, which cycles of blocks are computed of", pd_file_name(file));
	return pd_blocks_read(&options, &diff->blocks, error);
}

/* "hot.c:12"; false where the line is not known. */
static bool put_line(struct pd_diff *diff, const struct pd_report *report, const struct pd_function *function,
		     uint64_t addr)
{
	const struct pd_place place = { .dso = function->dso, .function = function, .addr = addr, .recorded = addr };
	struct pd_line line;

	if (!pd_symbols_lines(report->symbols, &place, &line, 1) || !line.file || !line.line)
		return false;
	pd_text_printf(diff->scratch, "%s:%" PRIu32, pd_path_leaf(line.file), line.line);
	return true;
}

/* "[hot.c:12 -> hot.c:15]", or with offsets in the function. */
static const char *range_of(struct pd_diff *diff, const struct pd_report *report, const struct pd_block *block,
			    const struct diff_block *offsets)
{
	struct pd_bytes text;

	pd_text_clear(diff->scratch);
	pd_text_char(diff->scratch, '[');
	if (put_line(diff, report, block->function, block->function->start + offsets->start)) {
		pd_text_add(diff->scratch, " -> ");
		if (put_line(diff, report, block->function, block->end)) {
			pd_text_char(diff->scratch, ']');
			text = pd_text_bytes(diff->scratch);
			return pd_arena_text(&diff->texts, text.data, text.size);
		}
	}
	pd_text_clear(diff->scratch);
	pd_text_printf(diff->scratch, "[%7" PRIx64 " -> %7" PRIx64 "]", offsets->start, offsets->end);
	text = pd_text_bytes(diff->scratch);
	return pd_arena_text(&diff->texts, text.data, text.size);
}

bool pd_diff_take_blocks(struct pd_diff *diff, struct diff_row *row, const struct pd_report *report,
			 const struct pd_function *function)
{
	struct row_blocks *blocks;
	const struct pd_block_count *counts;
	size_t count, most = 0;

	if (!diff->blocks || !function)
		return true;
	counts = pd_blocks_of(diff->blocks, function, &count);
	if (!count)
		return true;
	blocks = pd_arena_alloc(&diff->texts, sizeof(*blocks));
	if (blocks)
		blocks->items = pd_arena_alloc(&diff->texts, count * sizeof(*blocks->items));
	if (!blocks || !blocks->items)
		return false;
	blocks->run = diff->run_count - 1;
	blocks->next = row->blocks;
	row->blocks = blocks;
	for (size_t at = 0; at < count;) {
		struct diff_block *to = &blocks->items[most];
		struct pd_block block;

		at += pd_block_join(counts + at, count - at, &block);
		if (!block.timed)
			continue;
		/* as perf: where the start is not known, it is that of the function */
		to->start = block.start == PD_BLOCK_NO_START ? 0 : block.start - function->start;
		to->end = block.end - function->start;
		to->average = (int64_t)(block.cycles / block.timed);
		to->range = range_of(diff, report, &block, to);
		if (!to->range)
			return false;
		blocks->count = ++most;
	}
	return true;
}

static const struct row_blocks *blocks_of(const struct diff_row *row, size_t run, const struct row_blocks *after)
{
	const struct row_blocks *blocks = after ? after->next : row->blocks;

	while (blocks && blocks->run != run)
		blocks = blocks->next;
	return blocks;
}

/* Two functions of one name are one row: the first block at a place counts. */
static const struct diff_block *find_block(const struct diff_row *row, size_t run, const struct diff_block *like)
{
	for (const struct row_blocks *b = blocks_of(row, run, NULL); b; b = blocks_of(row, run, b)) {
		size_t low = 0, high = b->count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (b->items[middle].end < like->end)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < b->count && b->items[low].end == like->end && b->items[low].start == like->start)
			return &b->items[low];
	}
	return NULL;
}

static uint64_t size_of(int64_t difference)
{
	return (uint64_t)(difference < 0 ? -difference : difference);
}

/* As perf: the largest first, those of equal size by place. */
static int compare_pairs(const void *left, const void *right)
{
	const struct block_pair *a = left, *b = right;
	uint64_t x = size_of(a->difference), y = size_of(b->difference);

	if (x != y)
		return x > y ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

bool pd_diff_pair_blocks(const struct diff_row *row, size_t run, struct block_pair **pairs_out, size_t *count_out)
{
	size_t most = 0, count = 0;
	struct block_pair *pairs;

	for (const struct row_blocks *b = blocks_of(row, run, NULL); b; b = blocks_of(row, run, b))
		most += b->count;
	pairs = pd_alloc((most + 1) * sizeof(*pairs));
	if (!pairs)
		return false;
	for (const struct row_blocks *b = blocks_of(row, run, NULL); b; b = blocks_of(row, run, b))
		for (size_t i = 0; i < b->count; i++) {
			const struct diff_block *new = &b->items[i], *old = find_block(row, 0, new);

			if (old)
				pairs[count++] =
					(struct block_pair){ new->range, new->end, new->average - old->average };
		}
	if (count)
		qsort(pairs, count, sizeof(*pairs), compare_pairs);
	*pairs_out = pairs;
	*count_out = count;
	return true;
}
