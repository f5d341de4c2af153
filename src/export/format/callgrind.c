/* SPDX-License-Identifier: MIT */
/*
 * Callgrind: what each address and source line costs itself, and each call with all that is below it. Readers add the inclusive cost of a
 * function up from its calls or from those to it. So a function that is in a stack several times counts once, where it is
 * innermost, and all stacks begin in one function.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "export/export.h"
#include "export/feed/sums.h"

// A cost at a line of a function, or of a call from there; sums are by these, with the numbers of struct pd_sum put to
// another use: event, function as stack, line as thread, callee and 1 (0: its own cost) as cpu.
#define ROOT (UINT32_MAX - 1) // number of the function that calls all others
#define NO_LINE UINT32_MAX    // where it does

// Each line has a cost for all of them.
enum {
	EVENTS_MOST = 64
};

enum names {
	OBJECT = 1,
	FILE_NAME = 2,
	FUNCTION = 4
};

struct callgrind {
	struct pd_sums sums;        // of stacks
	struct pd_sums costs;       // of lines and calls
	size_t events[EVENTS_MOST]; // that have samples
	size_t event_count;
	uint32_t root;      // string
	uint32_t *frame_of; // by line
	uint32_t *met;      // by string of a name: the stack that had such a function last
	uint8_t *named;     // by string: bits of enum names that it was written for, with its number
};

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct callgrind *callgrind = self->sink;
	const struct pd_sum sum = { .event = (uint32_t)sample->event->index,
				    .stack = sample->stack,
				    .cpu = UINT32_MAX,
				    .samples = 1,
				    .value = sample->value };

	self->failed |= !pd_sums_add(&callgrind->sums, self->tables.seed, &sum);
}

// ---- costs ----

static void add_cost(struct pd_export *self, const struct pd_sum *sum, uint32_t function, uint32_t line,
		     uint32_t callee_and_1)
{
	struct callgrind *callgrind = self->sink;
	const struct pd_sum cost = { .event = sum->event,
				     .stack = function,
				     .thread = line,
				     .cpu = callee_and_1,
				     .samples = sum->samples,
				     .value = sum->value };

	self->failed |= !pd_sums_add(&callgrind->costs, self->tables.seed, &cost);
}

static void add_stack(struct pd_export *self, const struct pd_sum *sum, uint32_t number)
{
	struct callgrind *callgrind = self->sink;
	size_t count;
	const uint32_t *lines = pd_tables_expand(&self->tables, sum->stack, &count);
	uint32_t callee_and_1 = 0;

	for (size_t i = 0; i < count && !self->failed; i++) {
		const struct pd_table_line *line = &self->tables.lines[lines[i]];
		uint32_t name = self->tables.functions[line->function].name;

		if (callgrind->met[name] == number)
			continue;
		callgrind->met[name] = number;
		add_cost(self, sum, line->function, lines[i], callee_and_1);
		callee_and_1 = line->function + 1;
	}
	add_cost(self, sum, ROOT, NO_LINE, callee_and_1);
}

// ---- text ----

static int by_function(const void *left, const void *right)
{
	const struct pd_sum *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

// A name is written once, with a number that stands for it later.
static void put_name(struct pd_export *self, const char *key, enum names kind, uint32_t string)
{
	struct callgrind *callgrind = self->sink;
	const struct pd_table_string *name = &self->tables.strings[string];

	pd_text_printf(self->text, "%s=(%" PRIu32 ")", key, string + 1);
	if (!(callgrind->named[string] & kind)) {
		pd_text_char(self->text, ' ');
		if (string)
			pd_text_put(self->text, name->text, name->size);
		else
			PD_TEXT_LITERAL(self->text, "???");
	}
	callgrind->named[string] |= (uint8_t)kind;
	pd_text_char(self->text, '\n');
}

static void put_function(struct pd_export *self, uint32_t number, bool called)
{
	const struct callgrind *callgrind = self->sink;
	const struct pd_table_function root = { .name = callgrind->root };
	const struct pd_table_function *function = number == ROOT ? &root : &self->tables.functions[number];

	put_name(self, called ? "cob" : "ob", OBJECT, self->tables.objects[function->object].path);
	put_name(self, called ? "cfi" : "fl", FILE_NAME, function->file);
	put_name(self, called ? "cfn" : "fn", FUNCTION, function->name);
}

// An address in the object, and the source line that it is of.
static void put_position(struct pd_export *self, uint32_t line)
{
	const struct callgrind *callgrind = self->sink;
	const struct pd_table_frame *frame = line == NO_LINE ? NULL : &self->tables.frames[callgrind->frame_of[line]];

	pd_text_hex(self->text, frame && frame->object ? frame->place.addr : 0);
	pd_text_char(self->text, ' ');
	pd_text_u64(self->text, frame ? self->tables.lines[line].line : 0);
}

// The costs of one address or call, by event.
static void put_costs(struct pd_export *self, const struct pd_sum *costs, size_t count)
{
	const struct callgrind *callgrind = self->sink;
	size_t at = 0;

	put_position(self, costs->thread);
	for (size_t i = 0; i < callgrind->event_count; i++) {
		bool has_cost = at < count && costs[at].event == callgrind->events[i];

		pd_text_char(self->text, ' ');
		pd_text_u64(self->text, has_cost ? costs[at].value : 0);
		at += has_cost;
	}
	pd_text_char(self->text, '\n');
}

static void put_cost(struct pd_export *self, const struct pd_sum *costs, size_t count)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < count; i++)
		calls += costs[i].samples;
	if (costs->cpu) {
		put_function(self, costs->cpu - 1, true);
		pd_text_printf(self->text, "calls=%" PRIu64 " 0x0 0\n", calls);
	}
	put_costs(self, costs, count);
	pd_export_flush(self);
}

static void put_all(struct pd_export *self)
{
	struct callgrind *callgrind = self->sink;
	const struct pd_sum *costs = callgrind->costs.items;
	size_t count = callgrind->costs.count, size;

	for (size_t i = 0; i < count && !self->text->sink_failed; i += size) {
		for (size = 1; i + size < count && costs[i + size].stack == costs[i].stack &&
			       costs[i + size].thread == costs[i].thread && costs[i + size].cpu == costs[i].cpu;)
			size++;
		if (!i || costs[i].stack != costs[i - 1].stack) {
			pd_text_char(self->text, '\n');
			put_function(self, costs[i].stack, false);
		}
		put_cost(self, costs + i, size);
	}
}

static const char *event_name(const struct pd_export *self, size_t number)
{
	const struct callgrind *callgrind = self->sink;

	return pd_file_event(self->file, callgrind->events[number])->name;
}

static bool has_name_before(const struct pd_export *self, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (strcmp(event_name(self, i), event_name(self, number)) == 0)
			return true;
	return false;
}

// Names of events are words of letters, digits and _ here.
static void put_event(struct pd_export *self, size_t number)
{
	pd_text_char(self->text, ' ');
	for (const char *c = event_name(self, number); *c; c++) {
		bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');

		pd_text_char(self->text, plain ? *c : '_');
	}
	if (has_name_before(self, number))
		pd_text_printf(self->text, "_%zu", number);
}

static void put_events(struct pd_export *self)
{
	const struct callgrind *callgrind = self->sink;
	struct pd_text *text = self->text;

	PD_TEXT_LITERAL(text, "events:");
	for (size_t i = 0; i < callgrind->event_count; i++)
		put_event(self, i);
	PD_TEXT_LITERAL(text, "\nsummary:");
	for (size_t i = 0; i < callgrind->event_count; i++)
		pd_text_printf(text, " %" PRIu64, self->sums[callgrind->events[i]].value);
	pd_text_char(text, '\n');
}

static void choose_events(struct pd_export *self)
{
	struct callgrind *callgrind = self->sink;

	for (size_t i = 0; i < self->event_count; i++) {
		if (!self->sums[i].samples)
			continue;
		if (callgrind->event_count < EVENTS_MOST)
			callgrind->events[callgrind->event_count++] = i;
		else
			self->dropped[PD_SUPPORT_EVENTS] += self->sums[i].samples;
	}
}

static bool prepare(struct pd_export *self)
{
	struct callgrind *callgrind = self->sink;

	callgrind->root = pd_tables_text(&self->tables, "(root)");
	callgrind->met = pd_alloc((self->tables.string_count + 1) * sizeof(*callgrind->met));
	callgrind->named = pd_alloc(self->tables.string_count + 1);
	callgrind->frame_of = pd_tables_frames_of_lines(&self->tables);
	return callgrind->met && callgrind->named && callgrind->frame_of;
}

static void end(struct pd_export *self)
{
	struct callgrind *callgrind = self->sink;

	if (!pd_sums_finish(&callgrind->sums) || !prepare(self)) {
		self->failed = true;
		return;
	}
	choose_events(self);
	for (size_t i = 0; i < callgrind->sums.count; i++)
		if (callgrind->sums.items[i].event <= callgrind->events[callgrind->event_count - 1])
			add_stack(self, &callgrind->sums.items[i], (uint32_t)i + 1);
	self->failed |= !pd_sums_finish(&callgrind->costs);
	if (self->failed || self->tables.failed)
		return;
	qsort(callgrind->costs.items, callgrind->costs.count, sizeof(*callgrind->costs.items), by_function);
	PD_TEXT_LITERAL(self->text, "# callgrind format\nversion: 1\ncreator: perfdata\npositions: instr line\n");
	put_events(self);
	put_all(self);
}

static void fini(struct pd_export *self)
{
	struct callgrind *callgrind = self->sink;

	pd_sums_fini(&callgrind->sums);
	pd_sums_fini(&callgrind->costs);
	pd_free(callgrind->met);
	pd_free(callgrind->named);
	pd_free(callgrind->frame_of);
}

const struct pd_export_sink pd_export_sink_callgrind = {
	.size = sizeof(struct callgrind),
	.frames = PD_FRAMES_MAPPED,
	.whole_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
