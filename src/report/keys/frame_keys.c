/* SPDX-License-Identifier: MIT */
/* Sort keys of frames, and of both ends of branches: object, function, source line. */
#include "base/text/path.h"
#include "report/keys/find.h"
#include "report/report.h"
#include "symbol/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- keys of frames ---- */

const struct pd_frame *pd_key_frame(const struct pd_report *report, const struct key_context *context)
{
	if (context->merged)
		return context->merged;
	return context->branch ? &context->branch->to : pd_profile_frame(report->profile, context->frame);
}

static const char *dso_name(const struct pd_frame *frame)
{
	return frame->place.dso ? frame->place.dso->name : "[unknown]";
}

static bool find_object(struct pd_report *report, size_t key, const struct pd_frame *frame, uint32_t *value_out)
{
	const struct pd_dso *dso = frame->place.dso;
	uint32_t *known = pd_value_indexed(&report->values[key], dso ? dso->index + 1 : 0);

	if (!known)
		return false;
	if (!*known) {
		/* What is in no object comes after all that is. */
		if (!pd_value_find_text(&report->values[key], dso_name(frame), dso ? 0 : 1, (uintptr_t)report,
					value_out))
			return false;
		*known = *value_out + 1;
	}
	*value_out = *known - 1;
	return true;
}

bool pd_key_dso(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_object(report, key, pd_key_frame(report, context), value_out);
}

char pd_key_level(unsigned cpumode)
{
	switch (cpumode) {
	case PD_CPUMODE_KERNEL:
		return 'k';
	case PD_CPUMODE_GUEST_KERNEL:
		return 'g';
	case PD_CPUMODE_GUEST_USER:
		return 'u';
	case PD_CPUMODE_HYPERVISOR:
		return 'H';
	default:
		return '.';
	}
}

/* Functions have numbers without gaps. False if there is no memory. */
static bool find_function_value(struct value_table *table, const struct pd_function *function, uint32_t *value_out,
				bool *new_out)
{
	uint32_t *known = pd_value_indexed(table, function->index);

	*new_out = known && !*known;
	if (!known || (!*known && !pd_value_add(table, (struct identity){ function->index, UINT64_MAX }, value_out)))
		return false;
	if (*new_out)
		*known = *value_out + 1;
	*value_out = *known - 1;
	return true;
}

/* The value of a function, else of what an address is distinguished by. */
static bool find_function(struct pd_report *report, size_t key, const struct pd_frame *frame, unsigned cpumode,
			  struct identity id, uint32_t *value_out)
{
	enum {
		RESOLVED,
		UNRESOLVED
	};
	const struct pd_function *function = frame->place.function;
	struct value_table *table = &report->values[key];
	struct value *value;
	bool fresh;

	if (!(function ? find_function_value(table, function, value_out, &fresh) :
			 pd_value_find(table, id, value_out, &fresh)))
		return false;
	if (!fresh)
		return true;
	value = &table->items[*value_out];
	/* As perf, which distinguishes the ends of branches at once, and has no order of their names. */
	value->by_addr = !function || report->keys[key]->head.of_branch;
	if (value->by_addr)
		value->word = pd_addr_order(function ? function->start : id.a);
	value->equivalent = !function && !report->keys[key]->head.of_branch;
	table->any_equivalent |= value->equivalent;
	value->order = function ? RESOLVED : UNRESOLVED;
	value->level = pd_key_level(cpumode);
	value->is_addr = !function;
	if (function) {
		value->text = function->name;
	} else {
		value->addr = frame->place.addr;
		value->length = pd_value_addr_length(value->addr);
	}
	return true;
}

/* Functions are distinguished by object and place. As perf: addresses
 * without one by address alone, unless objects are a key. */
bool pd_key_symbol(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	struct pd_frame frame = *pd_key_frame(report, context);
	struct identity id;

	/* As perf: where branches went is shown as it was recorded. */
	if (context->branch)
		frame.place.addr = frame.place.recorded;
	/* What is in no object may be of another level in each table. */
	id = (struct identity){ frame.place.addr, frame.place.dso ? 0 : report->scratch.first_event };
	return find_function(report, key, &frame, context->cpumode, id, value_out);
}

/* Instructions per cycle are not known of samples. As perf: rows of different functions are never one. */
bool pd_key_ipc(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	static const char text[] = "-      -";
	const struct pd_place *place = &pd_key_frame(report, context)->place;
	struct identity id = { place->addr, place->dso ? 0 : report->scratch.first_event };
	struct value *value;
	bool fresh;

	if (place->function)
		id = (struct identity){ place->function->index, UINT64_MAX };
	if (!pd_value_find(&report->values[key], id, value_out, &fresh))
		return false;
	if (!fresh)
		return true;
	value = &report->values[key].items[*value_out];
	value->by_addr = true;
	value->word = pd_addr_order(place->function ? place->function->start : place->addr);
	return pd_value_set_text(&report->values[key], *value_out,
				 (struct pd_bytes){ (const uint8_t *)text, sizeof(text) - 1 }, 0);
}

static void describe_line(struct pd_report *report, const struct pd_frame *frame, bool whole)
{
	const struct pd_place *place = &frame->place;
	struct pd_line line;
	const char *name;

	pd_text_clear(report->scratch.text);
	if (pd_symbols_lines(report->symbols, place, &line, 1) && line.file && line.line) {
		name = report->options.source_paths ? line.file : pd_path_leaf(line.file);
		if (whole)
			pd_text_printf(report->scratch.text, "%s:%" PRIu32, name, line.line);
		else
			pd_text_add(report->scratch.text, name);
	} else if (!whole) {
		/* As perf: nothing. */
		return;
	} else if (place->function) {
		pd_text_printf(report->scratch.text, "%s+%" PRIu64, place->function->name,
			       place->addr - place->function->start);
	} else if (place->dso) {
		pd_text_printf(report->scratch.text, "%s[%" PRIx64 "]", place->dso->name, place->addr);
	} else {
		pd_text_add(report->scratch.text, "??:0");
	}
}

static bool find_line_text(struct pd_report *report, size_t key, const struct pd_frame *frame, bool whole,
			   uint32_t *value_out)
{
	describe_line(report, frame, whole);
	pd_text_printf(report->scratch.text, "%c", 0);
	return !pd_text_failed(report->scratch.text) &&
	       pd_value_find_text(&report->values[key], (const char *)pd_text_bytes(report->scratch.text).data, 0,
				  (uintptr_t)report, value_out);
}

bool pd_key_srcline(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_line_text(report, key, pd_key_frame(report, context), true, value_out);
}

bool pd_key_srcfile(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_line_text(report, key, pd_key_frame(report, context), false, value_out);
}

bool pd_key_symbol_size(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	const struct pd_function *function = pd_key_frame(report, context)->place.function;
	uint64_t size = function ? function->end - function->start : 0;
	char text[32];

	if (!function)
		return pd_value_find_number(&report->values[key], UINT64_MAX, UINT64_MAX, "unknown", value_out);
	snprintf(text, sizeof(text), "%" PRIu64, size);
	return pd_value_find_number(&report->values[key], size, size, text, value_out);
}

/* ---- keys of branches ---- */

bool pd_key_dso_from(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_object(report, key, &context->branch->from, value_out);
}

bool pd_key_dso_to(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_object(report, key, &context->branch->to, value_out);
}

/* As perf: addresses without a function are distinguished as they were recorded. */
static bool find_end(struct pd_report *report, size_t key, const struct pd_frame *end, uint32_t *value_out)
{
	struct identity id = { end->place.recorded, 0 };

	return find_function(report, key, end, end->cpumode, id, value_out);
}

bool pd_key_symbol_from(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_end(report, key, &context->branch->from, value_out);
}

bool pd_key_symbol_to(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_end(report, key, &context->branch->to, value_out);
}

bool pd_key_srcline_from(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_line_text(report, key, &context->branch->from, true, value_out);
}

bool pd_key_srcline_to(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return find_line_text(report, key, &context->branch->to, true, value_out);
}

bool pd_key_mispredict(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t flags = context->branch->flags;
	const char *text = PD_BITS(flags, PD_BRANCH_PREDICTED) ? "N" : PD_BITS(flags, PD_BRANCH_MISPRED) ? "Y" : "N/A";

	return pd_value_find_text(&report->values[key], text, 0, (uintptr_t)report, value_out);
}

bool pd_key_in_tx(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return pd_value_find_text(&report->values[key], PD_BITS(context->branch->flags, PD_BRANCH_IN_TX) ? "T" : ".", 0,
				  (uintptr_t)report, value_out);
}

bool pd_key_abort(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	return pd_value_find_text(&report->values[key], PD_BITS(context->branch->flags, PD_BRANCH_ABORT) ? "A" : ".", 0,
				  (uintptr_t)report, value_out);
}

/* As perf: a signed number of 16 bits, and none is a dash. */
bool pd_key_cycles(struct pd_report *report, size_t key, const struct key_context *context, uint32_t *value_out)
{
	uint64_t cycles = PD_BITS(context->branch->flags, PD_BRANCH_CYCLES);
	char text[16];

	snprintf(text, sizeof(text), "%d", (int16_t)cycles);
	return pd_value_find_number(&report->values[key], cycles, ~cycles, cycles ? text : "-", value_out);
}
