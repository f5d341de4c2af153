/* SPDX-License-Identifier: MIT */
/* Branches in call chains: what samples say of them at a node of a graph, added up and printed. */
#include "report/print/graph.h"

#include <inttypes.h>

#include "base/text/json.h"

void pd_passed_add(struct passed *passed, const struct chain *chain, const uint32_t *at)
{
	const size_t caller = (size_t)(at - chain->callers) - chain->first_branch;
	const struct pd_passed_branch *branch;
	const uint64_t samples = chain->samples;
	const bool is_first = !passed->count;

	if (caller / 2 >= chain->branch_count)
		return;
	branch = &chain->branches[caller / 2];
	passed->is_to = (caller % 2 != 0) == ((branch->flags & PD_PASSED_REVERSED) != 0);
	passed->count += samples;
	if (passed->is_to) {
		passed->predicted += branch->flags & PD_PASSED_PREDICTED ? samples : 0;
		passed->aborted += branch->flags & PD_PASSED_ABORTED ? samples : 0;
		return;
	}
	passed->cycles += samples * branch->cycles;
	passed->iterations += samples * branch->iterations;
	passed->iteration_cycles += samples * branch->iteration_cycles;
	passed->left += samples - is_first;
}

/* What follows the name of a frame: each note has something in front. */
struct notes {
	struct pd_text *text;
	bool any;
};

static void note(struct notes *notes, const char *name)
{
	pd_text_printf(notes->text, "%s%s:", notes->any ? " " : " (", name);
	notes->any = true;
}

static void note_share(struct notes *notes, const char *name, uint64_t part, uint64_t whole)
{
	note(notes, name);
	pd_text_printf(notes->text, "%.1f%%", (double)part * 100 / (double)whole);
}

static void note_number(struct notes *notes, const char *name, uint64_t number)
{
	note(notes, name);
	pd_text_printf(notes->text, "%" PRIu64, number);
}

static void note_to(struct notes *notes, const struct passed *passed)
{
	if (passed->predicted < passed->count)
		note_share(notes, "predicted", passed->predicted, passed->count);
	if (passed->aborted)
		note_share(notes, "abort", passed->aborted, passed->count);
}

static void note_from(struct notes *notes, const struct passed *passed)
{
	if (passed->cycles / passed->count)
		note_number(notes, "cycles", passed->cycles / passed->count);
	if (!passed->left || !(passed->iterations / passed->left))
		return;
	note_number(notes, "iter", passed->iterations / passed->left);
	note_number(notes, "avg_cycles", passed->iteration_cycles / passed->iterations);
}

void pd_passed_print(const struct passed *passed, struct pd_text *text)
{
	struct notes notes = { .text = text };

	if (!passed->count) {
		pd_text_add(text, " (calltrace)");
		return;
	}
	(passed->is_to ? note_to : note_from)(&notes, passed);
	if (notes.any)
		pd_text_add(text, ")");
}

void pd_passed_json(const struct passed *passed, struct pd_json *json)
{
	pd_json_open(json, "branches", '{');
	pd_json_number(json, passed->is_to ? "to" : "from", passed->count);
	if (passed->is_to) {
		pd_json_number(json, "predicted", passed->predicted);
		pd_json_number(json, "aborted", passed->aborted);
	} else {
		pd_json_number(json, "cycles", passed->cycles);
		pd_json_number(json, "iterations", passed->iterations);
		pd_json_number(json, "iteration_cycles", passed->iteration_cycles);
	}
	pd_json_close(json, '}');
}
