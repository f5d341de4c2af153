/* SPDX-License-Identifier: MIT */
/*
 * What branch stacks say of the code of a function: cycles and instructions per cycle of its blocks, and how often branches were taken.
 * Numbers are those of perf: blocks that end at one branch are one, as long as the longest; of an instruction that several are in the
 * last one says how fast it is.
 */
#include <stdlib.h>

#include "annotate/inside.h"
#include "base/lookup/search.h"
#include "blocks/blocks.h"

// How often something begins or ends at an address.
struct mark_count {
	uint64_t addr, count, predicted;
};

struct branching {
	struct pd_annotate_code *code;
	size_t *lines; // of instructions, by address
	size_t count;
	size_t *free; // by instruction: the last one up to it that has no IPC yet, plus 1
	struct mark_count *starts, *ends;
	size_t start_count, end_count;
	uint64_t cycles, instructions; // that were executed in blocks
	size_t covered;
};

// ---- instructions ----

static uint64_t addr_at(const struct branching *b, size_t index)
{
	return b->code->lines[b->lines[index]].addr;
}

static size_t instruction_from(const struct branching *b, uint64_t addr)
{
	size_t at;

	PD_SEARCH(at, (size_t)0, b->count, i, addr_at(b, i) < addr);
	return at;
}

static void find_instructions(struct branching *b)
{
	for (size_t i = 0; i < b->code->line_count; i++)
		if (b->code->lines[i].kind == PD_ANNOTATE_INSTRUCTION) {
			b->lines[b->count] = i;
			b->free[b->count] = b->count + 1;
			b->count++;
		}
}

// The last instruction before end that has no IPC, plus 1; 0: none.
static size_t last_free(struct branching *b, size_t end)
{
	size_t at = end;

	while (at && b->free[at - 1] != at)
		at = b->free[at - 1];
	// whoever comes this way again takes one step
	while (end && end != at) {
		size_t next = b->free[end - 1];

		b->free[end - 1] = at;
		end = next;
	}
	return at;
}

// ---- blocks ----

static double ipc_of(const struct pd_block *block, size_t instructions)
{
	return block->own_cycles ? (double)instructions * (double)block->own_timed / (double)block->own_cycles : 0;
}

// Gives the instructions of a block its IPC, where they have none.
static void fill_ipc(struct branching *b, const struct pd_block *block, size_t first, size_t end, double ipc)
{
	size_t before = b->covered;

	for (size_t at = last_free(b, end); at > first; at = last_free(b, at)) {
		b->code->branches[b->lines[at - 1]].ipc = ipc;
		b->free[at - 1] = at - 1;
		b->covered++;
	}
	if (b->covered == before)
		return;
	b->cycles += block->own_cycles;
	b->instructions += (end - first) * block->own_timed;
}

static void take_block(struct branching *b, const struct pd_block *block)
{
	struct pd_annotate_block *out = &b->code->blocks[b->code->block_count++];
	size_t at = instruction_from(b, block->end);
	bool has_start = block->start != PD_BLOCK_NO_START;
	size_t first = has_start ? instruction_from(b, block->start) : at;
	size_t end = at < b->count && addr_at(b, at) == block->end ? at + 1 : at;

	*out = (struct pd_annotate_block){ .start = has_start ? block->start : block->end,
					   .end = block->end,
					   .count = block->count,
					   .cycles = block->cycles,
					   .average = block->timed ? block->cycles / block->timed : 0,
					   .instructions = end - first };
	if (has_start && block->timed) {
		out->ipc = ipc_of(block, end - first);
		if (out->ipc > 0)
			fill_ipc(b, block, first, end, out->ipc);
	}
	if (end > at && block->timed) {
		struct pd_annotate_branch *branch = &b->code->branches[b->lines[at]];

		branch->cycles = out->average;
		branch->least = block->least;
		branch->most = block->most;
	}
}

// From the last one to the first, as the last one says how fast an instruction is.
static bool take_blocks(struct branching *b, const struct pd_block_count *counts, size_t count)
{
	struct pd_block *blocks = pd_alloc((count + 1) * sizeof(*blocks));
	size_t n = 0;

	b->code->blocks = pd_alloc((count + 1) * sizeof(*b->code->blocks));
	if (!blocks || !b->code->blocks) {
		pd_free(blocks);
		return false;
	}
	for (size_t i = 0; i < count; n++)
		i += pd_block_join(counts + i, count - i, &blocks[n]);
	while (n)
		take_block(b, &blocks[--n]);
	pd_free(blocks);
	return true;
}

static int compare_blocks(const void *left, const void *right)
{
	const struct pd_annotate_block *a = left, *b = right;

	if (a->cycles != b->cycles)
		return a->cycles > b->cycles ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

// ---- how often ----

static int compare_marks(const void *left, const void *right)
{
	const struct mark_count *a = left, *b = right;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

static size_t join_marks(struct mark_count *marks, size_t count)
{
	size_t out = 0;

	if (count)
		qsort(marks, count, sizeof(*marks), compare_marks);
	for (size_t i = 0; i < count; i++) {
		if (out && marks[out - 1].addr == marks[i].addr) {
			marks[out - 1].count += marks[i].count;
			marks[out - 1].predicted += marks[i].predicted;
		} else {
			marks[out++] = marks[i];
		}
	}
	return out;
}

// Only blocks whose both ends are known tell how often the code between them was executed.
static bool find_marks(struct branching *b, const struct pd_block_count *counts, size_t count)
{
	b->starts = pd_alloc((count + 1) * sizeof(*b->starts));
	b->ends = pd_alloc((count + 1) * sizeof(*b->ends));
	if (!b->starts || !b->ends)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (counts[i].start == PD_BLOCK_NO_START)
			continue;
		b->starts[b->start_count++] = (struct mark_count){ counts[i].start, counts[i].count, 0 };
		b->ends[b->end_count++] = (struct mark_count){ counts[i].end, counts[i].count, counts[i].predicted };
	}
	b->start_count = join_marks(b->starts, b->start_count);
	b->end_count = join_marks(b->ends, b->end_count);
	return true;
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

// How often the code at the next end was executed, if running is how often that from here on is.
static uint64_t executed_at_end(const struct branching *b, size_t start, size_t end, uint64_t running)
{
	for (; start < b->start_count && end < b->end_count && b->starts[start].addr <= b->ends[end].addr; start++)
		running += b->starts[start].count;
	return running;
}

static void count_executions(struct branching *b)
{
	size_t start = 0, end = 0;
	uint64_t running = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct pd_annotate_branch *branch = &b->code->branches[b->lines[i]];
		uint64_t addr = addr_at(b, i), entered = 0;

		for (; end < b->end_count && b->ends[end].addr < addr; end++)
			running -= b->ends[end].count;
		for (; start < b->start_count && b->starts[start].addr <= addr; start++) {
			running += b->starts[start].count;
			entered = b->starts[start].addr == addr ? b->starts[start].count : 0;
		}
		branch->executed = running;
		if (entered)
			branch->entered = share_of(entered, executed_at_end(b, start, end, running));
		if (end < b->end_count && b->ends[end].addr == addr) {
			branch->taken = share_of(b->ends[end].count, running);
			branch->predicted = share_of(b->ends[end].predicted, b->ends[end].count);
		}
	}
}

// ---- all ----

static void finish_blocks(struct branching *b)
{
	struct pd_annotate_code *code = b->code;
	uint64_t all = pd_blocks_cycles(code->annotate->blocks);

	for (size_t i = 0; i < code->block_count; i++) {
		size_t at = instruction_from(b, code->blocks[i].end);

		code->blocks[i].share = share_of(code->blocks[i].cycles, all);
		if (at < b->count && addr_at(b, at) == code->blocks[i].end)
			code->blocks[i].taken = code->branches[b->lines[at]].taken;
	}
	if (code->block_count)
		qsort(code->blocks, code->block_count, sizeof(*code->blocks), compare_blocks);
	code->ipc = share_of(b->instructions, b->cycles);
	code->covered = share_of(b->covered, b->count);
}

bool pd_annotate_add_branches(struct pd_annotate_code *code)
{
	struct branching b = { .code = code };
	const struct pd_block_count *counts;
	size_t count;
	bool done;

	if (!code->annotate->blocks)
		return true;
	counts = pd_blocks_of(code->annotate->blocks, code->entry->head.function, &count);
	if (!count)
		return true;
	b.lines = pd_alloc((code->line_count + 1) * sizeof(*b.lines));
	b.free = pd_alloc((code->line_count + 1) * sizeof(*b.free));
	code->branches = pd_alloc((code->line_count + 1) * sizeof(*code->branches));
	done = b.lines && b.free && code->branches;
	if (done) {
		find_instructions(&b);
		done = take_blocks(&b, counts, count) && find_marks(&b, counts, count);
	}
	if (done) {
		count_executions(&b);
		finish_blocks(&b);
	}
	pd_free(b.lines);
	pd_free(b.free);
	pd_free(b.starts);
	pd_free(b.ends);
	return done;
}

const struct pd_annotate_branch *pd_annotate_line_branch(const struct pd_annotate_code *code, size_t index)
{
	if (!code->branches || index >= code->line_count || code->lines[index].kind != PD_ANNOTATE_INSTRUCTION)
		return NULL;
	return &code->branches[index];
}

const struct pd_annotate_block *pd_annotate_block(const struct pd_annotate_code *code, size_t index)
{
	return index < code->block_count ? &code->blocks[index] : NULL;
}

double pd_annotate_ipc(const struct pd_annotate_code *code, double *covered_out)
{
	if (covered_out)
		*covered_out = code->covered;
	return code->ipc;
}
