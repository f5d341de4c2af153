/* SPDX-License-Identifier: MIT */
/* Loops of a function: what lies between a jump and its target before it; and jumps as lines beside the code. */
#include <stdlib.h>
#include <string.h>

#include "annotate/print/loops.h"

enum {
	MOST_JUMPS = 4096,
	NARROW = 1 // room for the arrow at the end of a line
};

static bool is_inner_jump(const struct pd_annotate_code *code, const struct pd_annotate_line *line)
{
	return line->kind == PD_ANNOTATE_INSTRUCTION && line->has_target && line->flow != PD_FLOW_CALL &&
	       line->target >= code->start && line->target < code->end;
}

// The index of the instruction at an address; line_count if there is none.
static size_t instruction_at(const struct pd_annotate_code *code, uint64_t addr)
{
	size_t first = 0, last = code->line_count;

	while (first < last) {
		size_t middle = first + (last - first) / 2, at = middle;

		while (at < last && code->lines[at].kind != PD_ANNOTATE_INSTRUCTION)
			at++;
		if (at == last)
			last = middle;
		else if (code->lines[at].addr == addr)
			return at;
		else if (code->lines[at].addr < addr)
			first = at + 1;
		else
			last = middle;
	}
	return code->line_count;
}

// ---- loops ----

static int compare_loops(const void *left, const void *right)
{
	const struct pd_annotate_loop *a = left, *b = right;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->last < b->last) - (a->last > b->last);
}

static void add_up(const struct pd_annotate_code *code, struct pd_annotate_loop *loop)
{
	for (size_t i = loop->first; i <= loop->last; i++) {
		const struct pd_annotate_sum *sums = pd_annotate_line_sums(code, i);

		loop->sum.period += sums ? sums[0].period : 0;
		loop->sum.samples += sums ? sums[0].samples : 0;
		loop->instructions += sums != NULL;
	}
}

bool pd_annotate_find_loops(const struct pd_annotate_code *code, struct pd_annotate_loop **loops_out, size_t *count_out)
{
	struct pd_annotate_loop *loops = NULL;
	size_t count = 0, capacity = 0, out = 0;

	for (size_t i = 0; i < code->line_count && count < MOST_JUMPS; i++) {
		const struct pd_annotate_line *line = &code->lines[i];
		size_t first;

		if (!is_inner_jump(code, line) || line->target > line->addr)
			continue;
		first = instruction_at(code, line->target);
		if (first > i)
			continue;
		if (!PD_GROW(loops, capacity, count + 1)) {
			pd_free(loops);
			return false;
		}
		loops[count++] = (struct pd_annotate_loop){ .first = first, .last = i };
	}
	if (count)
		qsort(loops, count, sizeof(*loops), compare_loops);
	// several jumps to one place are one loop, which ends with the last of them
	for (size_t i = 0; i < count; i++)
		if (!out || loops[out - 1].first != loops[i].first)
			loops[out++] = loops[i];
	for (size_t i = 0; i < out; i++)
		add_up(code, &loops[i]);
	*loops_out = loops;
	*count_out = out;
	return true;
}

// ---- jumps ----

struct jump {
	size_t from, to; // lines
};

static size_t low(const struct jump *jump)
{
	return jump->from < jump->to ? jump->from : jump->to;
}

static size_t high(const struct jump *jump)
{
	return jump->from > jump->to ? jump->from : jump->to;
}

// Short ones are drawn next to the code.
static int compare_jumps(const void *left, const void *right)
{
	size_t a = high(left) - low(left), b = high(right) - low(right);

	if (a != b)
		return a < b ? -1 : 1;
	return (low(left) > low(right)) - (low(left) < low(right));
}

static char *cell(const struct pd_annotate_jumps *jumps, size_t line, size_t lane)
{
	return jumps->cells + line * PD_ANNOTATE_JUMP_WIDTH + (PD_ANNOTATE_JUMP_WIDTH - 1 - NARROW - lane);
}

static bool is_free(const struct pd_annotate_jumps *jumps, const struct jump *jump, size_t lane)
{
	for (size_t i = low(jump); i <= high(jump); i++)
		if (*cell(jumps, i, lane) != ' ')
			return false;
	return true;
}

static void draw(const struct pd_annotate_jumps *jumps, const struct jump *jump, size_t lane)
{
	char *end = jumps->cells + jump->to * PD_ANNOTATE_JUMP_WIDTH + PD_ANNOTATE_JUMP_WIDTH - 1;

	for (size_t i = low(jump) + 1; i < high(jump); i++)
		*cell(jumps, i, lane) = '|';
	*cell(jumps, low(jump), lane) = '/';
	*cell(jumps, high(jump), lane) = '\\';
	for (size_t side = 0; side < 2; side++)
		for (size_t k = 0; k < lane; k++) {
			char *place = cell(jumps, side ? jump->to : jump->from, k);

			if (*place == ' ')
				*place = '-';
		}
	*end = '>';
	end = jumps->cells + jump->from * PD_ANNOTATE_JUMP_WIDTH + PD_ANNOTATE_JUMP_WIDTH - 1;
	if (*end == ' ')
		*end = '-';
}

// Those whose both ends are shown.
static size_t find_jumps(const struct pd_annotate_code *code, const bool *shown, struct jump *found)
{
	size_t count = 0;

	for (size_t i = 0; i < code->line_count && count < MOST_JUMPS; i++) {
		size_t to;

		if (!is_inner_jump(code, &code->lines[i]) || (shown && !shown[i]))
			continue;
		to = instruction_at(code, code->lines[i].target);
		if (to < code->line_count && to != i && (!shown || shown[to]))
			found[count++] = (struct jump){ i, to };
	}
	return count;
}

bool pd_annotate_draw_jumps(const struct pd_annotate_code *code, const bool *shown, struct pd_annotate_jumps *jumps_out)
{
	struct jump *found = pd_alloc(MOST_JUMPS * sizeof(*found));
	size_t size = code->line_count * PD_ANNOTATE_JUMP_WIDTH, count;

	jumps_out->cells = pd_alloc(size + 1);
	if (!found || !jumps_out->cells) {
		pd_free(found);
		pd_free(jumps_out->cells);
		jumps_out->cells = NULL;
		return false;
	}
	memset(jumps_out->cells, ' ', size);
	count = find_jumps(code, shown, found);
	if (count)
		qsort(found, count, sizeof(*found), compare_jumps);
	for (size_t i = 0; i < count; i++)
		for (size_t lane = 0; lane < PD_ANNOTATE_JUMP_WIDTH - NARROW; lane++)
			if (is_free(jumps_out, &found[i], lane)) {
				draw(jumps_out, &found[i], lane);
				break;
			}
	pd_free(found);
	return true;
}
