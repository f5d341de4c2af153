/* SPDX-License-Identifier: MIT */
/* Call chains of calls and other events: a line for each frame below theirs, or a member of their object. */
#include <inttypes.h>
#include <string.h>

#include "format/chain.h"
#include "pairs/lines/lines.h"

enum {
	INDENT = 39,
	FRAMES = 127 // unless somebody wants another number, as perf
};

// The frames of an event, as far as they are printed.
static struct pd_chain_walk walk_of(const struct pd_lines *lines, const struct pd_line_chain *chain)
{
	const size_t most = lines->options->max_stack ? lines->options->max_stack : FRAMES;
	const struct pd_u64s none = { 0 };

	return pd_chain_walk(lines->pairs->symbols ? chain->addresses : none, most);
}

static bool next_address(const struct pd_line_chain *chain, struct pd_chain_walk *walk, uint64_t *addr_out)
{
	while (pd_chain_next(walk, addr_out)) {
		if (!chain->user_only || walk->cpumode == PD_CPUMODE_USER)
			return true;
		walk->left++; // it does not count
	}
	return false;
}

struct pd_place pd_lines_place(const struct pd_lines *lines, const struct pd_line_chain *of, unsigned cpumode,
			       uint64_t addr, uint64_t *shown_out)
{
	const struct pd_moment when = { of->time_ns, UINT64_MAX };
	struct pd_place place = { .addr = addr };
	struct pd_location location;

	if (lines->pairs->symbols)
		place = pd_symbols_place(lines->pairs->symbols, of->pid, cpumode, when, addr);
	*shown_out = place.dso ? place.addr : addr;
	if (place.dso && !place.dso->kernel &&
	    pd_state_locate(lines->pairs->state, of->pid, cpumode, when, addr, &location))
		*shown_out = location.offset;
	return place;
}

static bool next_place(const struct pd_lines *lines, const struct pd_line_chain *chain, struct pd_chain_walk *walk,
		       struct pd_place *place_out, uint64_t *shown_out)
{
	uint64_t addr;

	if (!next_address(chain, walk, &addr))
		return false;
	*place_out = pd_lines_place(lines, chain, walk->cpumode, addr, shown_out);
	return true;
}

bool pd_lines_chain_is_long_enough(const struct pd_lines *lines, const struct pd_line_chain *chain)
{
	struct pd_chain_walk walk = walk_of(lines, chain);
	size_t count = 0;
	uint64_t addr;

	if (!lines->options->min_stack || !chain->is_recorded)
		return true;
	while (count < lines->options->min_stack && next_address(chain, &walk, &addr))
		count++;
	return count >= lines->options->min_stack;
}

static void print_name(struct pd_text *text, const struct pd_place *place, uint64_t shown)
{
	const char *object = place->dso ? place->dso->long_name : "[unknown]";

	// as C prints %#lx: nothing has no 0x
	if (place->function)
		pd_text_escaped(text, place->function->name, strlen(place->function->name));
	else if (place->dso && shown)
		pd_text_printf(text, "[0x%" PRIx64 "]", shown);
	else
		pd_text_add(text, "[0]");
	pd_text_add(text, " (");
	pd_text_escaped(text, object, strlen(object));
	pd_text_add(text, ")\n");
}

void pd_lines_print_chain(struct pd_lines *lines, const struct pd_line_chain *chain)
{
	struct pd_chain_walk walk = walk_of(lines, chain);
	struct pd_text *text = lines->sched->text;
	struct pd_place place;
	uint64_t shown;

	while (next_place(lines, chain, &walk, &place, &shown)) {
		pd_text_printf(text, "%*s", INDENT, "");
		print_name(text, &place, shown);
	}
}

void pd_lines_json_chain(struct pd_lines *lines, const struct pd_line_chain *chain)
{
	struct pd_chain_walk walk = walk_of(lines, chain);
	struct pd_json *json = &lines->json;
	struct pd_place place;
	uint64_t shown;

	if (!chain->is_recorded || !lines->pairs->symbols)
		return;
	pd_json_open(json, "callchain", '[');
	while (next_place(lines, chain, &walk, &place, &shown)) {
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "symbol", place.function ? place.function->name : NULL);
		pd_json_string(json, "dso", place.dso ? place.dso->long_name : NULL);
		if (!place.function)
			pd_json_number(json, "address", shown);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}
