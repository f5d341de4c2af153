/* SPDX-License-Identifier: MIT */
/* Conditions on changes, for programs that end with an error if one holds: comparisons and words, joined by "and". */
#include "diff/gate.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct {
	const char *name;
	enum quantity quantity;
	enum pd_diff_rating rating;
} words[] = { { "change", QUANTITY_CHANGE, 0 },
	      { "self", QUANTITY_CHANGE, 0 },
	      { "growth", QUANTITY_GROWTH, 0 },
	      { "old", QUANTITY_OLD, 0 },
	      { "new", QUANTITY_NEW, 0 },
	      { "significant", QUANTITY_RATING, PD_DIFF_REAL },
	      { "real", QUANTITY_RATING, PD_DIFF_REAL },
	      { "maybe", QUANTITY_RATING, PD_DIFF_MAYBE } };

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

static size_t word_length(const char *at)
{
	size_t length = 0;

	while (isalpha((unsigned char)at[length]))
		length++;
	return length;
}

/* Returns what follows, or NULL. */
static const char *parse_comparison(const char *at, struct term *term)
{
	char *end;

	at = skip_blanks(at);
	if (*at != '<' && *at != '>')
		return NULL;
	term->below = *at++ == '<';
	term->or_equal = *at == '=';
	at += term->or_equal;
	at = skip_blanks(at);
	/* strtod takes words, too */
	if (!*at || !strchr("+-.0123456789", *at))
		return NULL;
	term->limit = strtod(at, &end);
	if (end == at || !isfinite(term->limit))
		return NULL;
	return *end == '%' ? end + 1 : end;
}

static const char *parse_term(const char *at, struct term *term)
{
	size_t length = word_length(at);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) != length || memcmp(at, words[i].name, length) != 0)
			continue;
		*term = (struct term){ .quantity = words[i].quantity, .rating = words[i].rating };
		return term->quantity == QUANTITY_RATING ? at + length : parse_comparison(at + length, term);
	}
	return NULL;
}

static bool parse(const char *at, struct pd_diff_gate *gate)
{
	while (gate->count < TERMS_MOST) {
		at = parse_term(skip_blanks(at), &gate->terms[gate->count]);
		if (!at)
			return false;
		gate->count++;
		at = skip_blanks(at);
		if (!*at)
			return true;
		if (word_length(at) != 3 || memcmp(at, "and", 3) != 0)
			return false;
		at += 3;
	}
	return false;
}

enum pd_status pd_diff_gate_new(const char *condition, struct pd_diff_gate **gate_out, struct pd_error *error)
{
	struct pd_diff_gate *gate = pd_alloc(sizeof(*gate));

	if (!gate)
		return pd_diff_no_memory(error);
	if (!parse(condition, gate)) {
		pd_free(gate);
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "'%s' is not a condition such as 'change > 2%% and significant'", condition);
	}
	*gate_out = gate;
	return PD_OK;
}

void pd_diff_gate_free(struct pd_diff_gate *gate)
{
	if (!gate)
		return;
	pd_free(gate->accepted);
	pd_arena_fini(&gate->texts);
	pd_free(gate);
}

/* In percent. What the baseline lacks grew without limit. */
static double quantity_of(enum quantity quantity, const struct pd_diff_change *change)
{
	switch (quantity) {
	case QUANTITY_GROWTH:
		return change->old_share > 0 ? 100 * change->change / change->old_share :
					       (change->change > 0 ? INFINITY : 0);
	case QUANTITY_OLD:
		return 100 * change->old_share;
	case QUANTITY_NEW:
		return 100 * change->new_share;
	default:
		return 100 * change->change;
	}
}

static bool holds(const struct term *term, const struct pd_diff_change *change)
{
	double number = quantity_of(term->quantity, change);

	if (term->quantity == QUANTITY_RATING)
		return change->rating >= term->rating;
	if (term->or_equal && number == term->limit)
		return true;
	return term->below ? number < term->limit : number > term->limit;
}

bool pd_diff_gate_holds(const struct pd_diff_gate *gate, const struct pd_diff_change *change)
{
	if (change->rating == PD_DIFF_UNTESTED)
		return false;
	for (size_t i = 0; i < gate->count; i++)
		if (!holds(&gate->terms[i], change))
			return false;
	return true;
}

bool pd_diff_gate_needs_runs(const struct pd_diff_gate *gate)
{
	for (size_t i = 0; i < gate->count; i++)
		if (gate->terms[i].quantity == QUANTITY_RATING && gate->terms[i].rating == PD_DIFF_REAL)
			return true;
	return false;
}

enum pd_diff_outcome pd_diff_gate_outcome(const struct pd_diff *diff, const struct pd_diff_gate *gate, size_t event,
					  size_t row, size_t side)
{
	struct pd_diff_change change;

	if (!pd_diff_change(diff, event, row, side, &change) || !pd_diff_gate_holds(gate, &change))
		return PD_DIFF_PASSES;
	return pd_diff_is_accepted(gate, diff, event, row, &change) ? PD_DIFF_ACCEPTED : PD_DIFF_FAILS;
}

bool pd_diff_gate_lacks_runs(const struct pd_diff *diff, const struct pd_diff_gate *gate)
{
	for (size_t side = 0; side < pd_diff_side_count(diff); side++)
		if (pd_diff_run_count(diff, side) < 2 && pd_diff_gate_needs_runs(gate))
			return true;
	return false;
}

// ---- as text ----

static void add_change(struct pd_text *text, const struct pd_diff *diff, size_t event, size_t row, size_t side,
		       enum pd_diff_outcome outcome)
{
	const char *cells[] = { pd_diff_cell(diff, event, row, 0), pd_diff_cell(diff, event, row, 1) };
	const char *name = pd_diff_event(diff, event)->name;
	struct pd_diff_change change;

	pd_diff_change(diff, event, row, side, &change);
	pd_text_add(text, outcome == PD_DIFF_FAILS ? "fail: " : "accepted: ");
	pd_text_escaped(text, name, strlen(name));
	pd_text_add(text, ": ");
	pd_text_escaped(text, cells[0], strlen(cells[0]));
	pd_text_add(text, cells[1] ? " " : "");
	pd_text_escaped(text, cells[1] ? cells[1] : "", cells[1] ? strlen(cells[1]) : 0);
	pd_text_printf(text, ": %.2f%% to %.2f%% (%s)\n", change.old_share * 100, change.new_share * 100,
		       pd_diff_rating_name(change.rating));
}

static size_t add_changes(struct pd_text *text, const struct pd_diff *diff, const struct pd_diff_gate *gate,
			  size_t event, size_t side)
{
	struct pd_diff_change change;
	size_t count = 0;

	for (size_t row = 0; pd_diff_change(diff, event, row, side, &change); row++) {
		enum pd_diff_outcome outcome = pd_diff_gate_outcome(diff, gate, event, row, side);

		count += outcome == PD_DIFF_FAILS;
		if (outcome != PD_DIFF_PASSES && text)
			add_change(text, diff, event, row, side, outcome);
	}
	return count;
}

size_t pd_diff_gate_text(const struct pd_diff *diff, const struct pd_diff_gate *gate, struct pd_text *text)
{
	size_t count = 0;

	for (size_t event = 0; pd_diff_event(diff, event); event++)
		for (size_t side = 1; side < pd_diff_side_count(diff); side++)
			count += add_changes(text, diff, gate, event, side);
	return count;
}
