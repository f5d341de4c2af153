/* SPDX-License-Identifier: MIT */
/* Which samples are wanted; and those for whose addresses there is no symbol: what is near to each other is shown as if it were a function. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/inside.h"
#include "base/lookup/search.h"

enum {
	NEAR = 64, // bytes between samples that are shown together
	AFTER = 32 // bytes that are shown after the last one
};

bool pd_annotate_is_wanted(const struct pd_annotate *annotate, const struct pd_place *place)
{
	const struct pd_annotate_options *options = &annotate->options;

	if (!place->dso || (place->function && place->addr < place->function->start))
		return false;
	if (options->symbol && (!place->function || strcmp(place->function->name, options->symbol) != 0))
		return false;
	return !options->has_place || options->has_place(options->filter, place);
}

const struct pd_place *pd_annotate_place(const struct pd_annotate *annotate, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(annotate->profile, entry->stack);
	const struct pd_frame *frame = stack ? pd_profile_frame(annotate->profile, stack->ip) : NULL;

	return frame && !frame->merged ? &frame->place : NULL;
}

static int compare_functions(const void *left, const void *right)
{
	const struct pd_function *a = left, *b = right;

	if (a->dso != b->dso)
		return a->dso->index < b->dso->index ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

static bool add_addr(struct pd_annotate *annotate, const struct pd_place *place)
{
	struct pd_function function = { .dso = place->dso, .start = place->addr, .bind = 'u' };

	if (!PD_GROW(annotate->nameless, annotate->nameless_capacity, annotate->nameless_count + 1))
		return false;
	function.end = function.start < UINT64_MAX - AFTER ? function.start + AFTER : UINT64_MAX;
	annotate->nameless[annotate->nameless_count++] = function;
	return true;
}

static bool name_function(struct pd_annotate *annotate, struct pd_function *function)
{
	char name[32];
	int length = snprintf(name, sizeof(name), "0x%016" PRIx64, function->start);

	function->name = function->linker_name = pd_arena_text(&annotate->texts, name, (size_t)length);
	return function->name != NULL;
}

static bool join_addrs(struct pd_annotate *annotate)
{
	struct pd_function *functions = annotate->nameless;
	size_t out = 0;

	if (annotate->nameless_count)
		qsort(functions, annotate->nameless_count, sizeof(*functions), compare_functions);
	for (size_t i = 0; i < annotate->nameless_count; i++) {
		if (out && functions[out - 1].dso == functions[i].dso &&
		    functions[i].start <= functions[out - 1].end + (NEAR - AFTER))
			functions[out - 1].end = functions[i].end;
		else
			functions[out++] = functions[i];
	}
	annotate->nameless_count = out;
	for (size_t i = 0; i < out; i++)
		if (!name_function(annotate, &functions[i]))
			return false;
	return true;
}

bool pd_annotate_find_nameless(struct pd_annotate *annotate)
{
	struct pd_profile_entry entry;

	if (!annotate->options.nameless || annotate->options.symbol)
		return true;
	for (size_t i = 0; pd_profile_entry(annotate->profile, i, &entry); i++) {
		const struct pd_place *place = pd_annotate_place(annotate, &entry);

		if (place && !place->function && place->dso && pd_annotate_is_wanted(annotate, place) &&
		    !add_addr(annotate, place))
			return false;
	}
	return join_addrs(annotate);
}

const struct pd_function *pd_annotate_nameless_at(const struct pd_annotate *annotate, const struct pd_place *place)
{
	const struct pd_function wanted = { .dso = place->dso, .start = place->addr };
	const struct pd_function *function;
	size_t at;

	// where nothing is mapped
	if (!place->dso)
		return NULL;
	PD_SEARCH(at, (size_t)0, annotate->nameless_count, i, compare_functions(&annotate->nameless[i], &wanted) <= 0);
	function = at ? &annotate->nameless[at - 1] : NULL;
	return function && function->dso == place->dso && place->addr < function->end ? function : NULL;
}
