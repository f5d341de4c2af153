/* SPDX-License-Identifier: MIT */
/*
 * From the entries of a profile to lines of named frames. A distinct address is named once. Names, frames and lines come in
 * the order of the entries, whatever threads there are.
 */
#include "flame/naming.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "symbol/data.h"

#include <perfdata/file.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KNOWN_ROOTS = 64,
	WORTH_A_PART = 1 << 12, /* entries; for less a thread costs more */
	MORE_FRAMES = 3,        /* of a line, beside those of its chain: event, root, and where the sample was taken */
};

/* The frame in front of the stacks of a thread. */
struct known_root {
	struct pd_profile_entry entry;
	bool is_known;
	uint32_t frame;
};

/* ---- stacks ---- */

/* Whether where a sample was taken is a frame besides those of its chain. */
static bool has_own_frame(const struct stacks *stacks, const struct pd_stack *stack)
{
	const struct pd_frame *ip, *first;

	if (!stack->caller_count || stack->callers[0] == stack->ip)
		return !stack->caller_count;
	ip = pd_profile_frame(stacks->profile, stack->ip);
	first = pd_profile_frame(stacks->profile, stack->callers[0]);
	return pd_place_is_called(&ip->place, ip->cpumode, &first->place, first->cpumode);
}

/* Adds a frame with what is inlined there. */
static uint32_t *put_frame(const struct stacks *stacks, uint32_t frame, uint32_t *at)
{
	const struct named *named = &stacks->named[frame];

	if (named->count == 1)
		*at++ = named->frame;
	for (uint32_t k = 0; named->count > 1 && k < named->count; k++)
		*at++ = stacks->frames[named->frame + k];
	return at;
}

/* Adds the frames of a stack to a line, innermost first. */
static void put_stack(const struct stacks *stacks, const struct pd_stack *stack, struct stack_lines *lines)
{
	uint32_t *frames = pd_lines_reserve(lines, (1 + stack->caller_count) * stacks->most_named), *at = frames;

	if (!frames)
		return;
	if (has_own_frame(stacks, stack))
		at = put_frame(stacks, stack->ip, at);
	for (size_t i = 0; i < stack->caller_count; i++)
		at = put_frame(stacks, stack->callers[i], at);
	lines->frame_count += (size_t)(at - frames);
}

static void reverse(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		uint32_t swapped = frames[i];

		frames[i] = frames[--count];
		frames[count] = swapped;
	}
}

/* ---- entries ---- */

/* What a stack asks for by name. */
enum use_kind {
	USE_EVENT,
	USE_ROOT,
	USE_FRAME
};

struct use {
	enum use_kind kind;
	uint32_t entry, frame;
};

/* Slices of time that have samples. */
struct times {
	uint32_t first, last, any;
	uint64_t step; /* what the distances have in common; 0: there is one at most */
};

/* A part has lines, counts and a path of its own; frames are named, and roots are found with a lock. */
struct part {
	struct stacks stacks;
	struct stack_result result;
	struct stack_lines lines;
	struct known_root roots[KNOWN_ROOTS];
	struct times times;
	struct use *uses; /* the first ones, in order */
	size_t use_count, use_capacity;
	size_t line_count, frame_count; /* that its lines will have if nothing was inlined */
	char padding[PD_PARTS_PADDING];
};

struct lining {
	struct stacks *stacks;
	struct part *parts;
	size_t part_count, entry_count;
	pthread_mutex_t lock;   /* of the tree's frames and texts */
	uint32_t *event_frames; /* one more than the frame; 0: none */
	uint32_t truncated;     /* what stands for the callers that unwinding did not find */
};

static bool same_root(const struct pd_profile_entry *a, const struct pd_profile_entry *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

/* Where a part keeps the root of an entry. */
static struct known_root *known_root(struct part *part, const struct pd_profile_entry *entry)
{
	uint64_t hash = ((uintptr_t)entry->comm ^ (uint64_t)entry->pid << 32 ^ entry->tid ^ entry->cpu) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &part->roots[(hash >> 32) % KNOWN_ROOTS];
}

static uint64_t value_of(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct tree_source *values = &stacks->result->values;
	uint32_t event = values->event_index[entry->event->index];

	return values->units[event] == PD_UNIT_SAMPLES ? entry->samples : entry->period;
}

static bool is_wanted(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	const struct pd_flame_options *options = stacks->options;

	if (stacks->one_event && entry->event != stacks->one_event)
		return false;
	return !options->wanted || options->wanted(options->self, &pd_profile_frame(stacks->profile, stack->ip)->place);
}

static void range_of(const struct lining *lining, size_t part, size_t *begin_out, size_t *end_out)
{
	*begin_out = pd_part_begin(lining->entry_count, lining->part_count, part);
	*end_out = pd_part_begin(lining->entry_count, lining->part_count, part + 1);
}

/* ---- slices of time ---- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t step_with(uint64_t step, uint32_t a, uint32_t b)
{
	return step == 1 ? 1 : gcd(step, a < b ? b - a : a - b);
}

static void join_times(struct times *times, const struct times *more)
{
	if (more->any == UINT32_MAX)
		return;
	if (times->any == UINT32_MAX)
		times->any = more->any;
	times->first = more->first < times->first ? more->first : times->first;
	times->last = more->last > times->last ? more->last : times->last;
	times->step = step_with(gcd(times->step, more->step), times->any, more->any);
}

static const struct times no_times = { .first = UINT32_MAX, .any = UINT32_MAX };

static void find_times(const struct lining *lining, size_t number)
{
	struct times *times = &lining->parts[number].times;
	size_t begin, end, count;

	range_of(lining, number, &begin, &end);
	*times = no_times;
	for (size_t i = begin; i < end; i++) {
		const struct pd_slice *slices = pd_profile_slices(lining->stacks->profile, i, &count);
		struct times of_entry = no_times;

		/* Samples without a time are the last ones. */
		while (count && slices[count - 1].index == UINT32_MAX)
			count--;
		if (count)
			of_entry = (struct times){ slices[0].index, slices[count - 1].index, slices[0].index, 0 };
		for (size_t k = 1; k < count && times->step != 1 && of_entry.step != 1; k++)
			of_entry.step = step_with(of_entry.step, slices[0].index, slices[k].index);
		join_times(times, &of_entry);
	}
}

/* Time begins with the first slice that has samples, and slices are as long as what their distances have in common. */
static void set_times(const struct lining *lining)
{
	struct stack_result *result = lining->stacks->result;
	uint64_t start_ns, length_ns = pd_profile_slicing(lining->stacks->profile, &start_ns);
	struct times times = no_times;

	for (size_t i = 0; i < lining->part_count; i++)
		join_times(&times, &lining->parts[i].times);
	if (!times.step)
		return;
	while ((times.last - times.first) / times.step >= TREE_SLICES_MOST)
		times.step *= 2;
	result->values.first_slice = times.first;
	result->values.slice_step = (uint32_t)times.step;
	result->first_ns = start_ns + times.first * length_ns;
	result->slice_ns = length_ns * times.step;
	result->slice_count = (size_t)((times.last - times.first) / times.step) + 1;
}

/* ---- names in order ---- */

static void add_use(struct part *part, enum use_kind kind, size_t entry, uint32_t frame)
{
	if (!PD_GROW(part->uses, part->use_capacity, part->use_count + 1)) {
		part->stacks.failed = true;
		return;
	}
	part->uses[part->use_count++] = (struct use){ kind, (uint32_t)entry, frame };
}

static void use_frame(struct part *part, bool *met, size_t entry, uint32_t frame)
{
	if (met[frame])
		return;
	met[frame] = true;
	add_use(part, USE_FRAME, entry, frame);
}

static void use_stack(struct part *part, bool *met, size_t entry, const struct pd_stack *stack)
{
	if (has_own_frame(&part->stacks, stack))
		use_frame(part, met, entry, stack->ip);
	for (size_t i = 0; i < stack->caller_count; i++)
		use_frame(part, met, entry, stack->callers[i]);
}

static void use_root(struct part *part, size_t index, const struct pd_profile_entry *entry)
{
	struct known_root *root = known_root(part, entry);

	if (part->stacks.options->root == PD_FLAME_ROOT_NONE || (root->is_known && same_root(&root->entry, entry)))
		return;
	root->entry = *entry;
	root->is_known = true;
	add_use(part, USE_ROOT, index, 0);
}

/* Finds what is used first in a part, in the order of its stacks. */
static void find_uses(void *self, size_t number)
{
	struct lining *lining = self;
	struct part *part = &lining->parts[number];
	const struct pd_profile *profile = part->stacks.profile;
	bool *met = pd_alloc((pd_profile_frame_count(profile) + 1) * sizeof(*met));
	const struct pd_event *event = NULL;
	size_t begin, end;

	if (part->stacks.options->slices)
		find_times(lining, number);
	range_of(lining, number, &begin, &end);
	for (size_t i = begin; met && i < end; i++) {
		struct pd_profile_entry entry;

		pd_profile_entry(profile, i, &entry);
		if (!value_of(&part->stacks, &entry) || !is_wanted(&part->stacks, &entry))
			continue;
		if (entry.event != event)
			add_use(part, USE_EVENT, i, 0);
		event = entry.event;
		part->line_count++;
		part->frame_count += pd_profile_stack(profile, entry.stack)->caller_count + MORE_FRAMES;
		if (!part->stacks.options->reverse)
			use_root(part, i, &entry);
		use_stack(part, met, i, pd_profile_stack(profile, entry.stack));
		if (part->stacks.options->reverse)
			use_root(part, i, &entry);
	}
	part->stacks.failed |= !met;
	memset(part->roots, 0, sizeof(part->roots));
	pd_free(met);
}

static void name_event(struct lining *lining, const struct pd_profile_entry *entry)
{
	uint32_t event = lining->stacks->result->values.event_index[entry->event->index];
	uint32_t *frame = &lining->event_frames[event];

	if (!*frame && pd_stacks_event_frame(lining->stacks, event, frame))
		++*frame;
}

static void name_uses(struct lining *lining, struct part *part)
{
	struct stacks *stacks = lining->stacks;
	uint32_t frame;

	for (size_t i = 0; i < part->use_count; i++) {
		const struct use *use = &part->uses[i];
		struct pd_profile_entry entry;

		pd_profile_entry(stacks->profile, use->entry, &entry);
		if (use->kind == USE_EVENT)
			name_event(lining, &entry);
		else if (use->kind == USE_ROOT)
			pd_stacks_root_frame(stacks, &entry, &frame);
		else
			pd_stacks_name_frame(stacks, use->frame);
	}
	stacks->tree->failed |= part->stacks.failed;
	pd_free(part->uses);
	part->uses = NULL;
}

/* ---- lines ---- */

/* As root_frame, in a part. */
static bool part_root(struct lining *lining, struct part *part, const struct pd_profile_entry *entry,
		      uint32_t *frame_out)
{
	struct known_root *root = known_root(part, entry);

	if (part->stacks.options->root == PD_FLAME_ROOT_NONE)
		return false;
	if (!root->is_known || !same_root(&root->entry, entry)) {
		pthread_mutex_lock(&lining->lock);
		pd_stacks_root_frame(lining->stacks, entry, &root->frame);
		pthread_mutex_unlock(&lining->lock);
		root->entry = *entry;
		root->is_known = true;
	}
	*frame_out = root->frame;
	return true;
}

/* The stack of an entry as a line. */
static void add_line(struct lining *lining, struct part *part, size_t index, const struct pd_profile_entry *entry)
{
	struct stacks *stacks = &part->stacks;
	struct stack_lines *lines = &part->lines;
	uint32_t event = lining->event_frames[stacks->result->values.event_index[entry->event->index]], root = 0;
	bool rooted = part_root(lining, part, entry, &root), inwards = !stacks->options->reverse;
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	size_t start;

	if (event)
		pd_lines_frame(lines, event - 1);
	if (rooted && inwards)
		pd_lines_frame(lines, root);
	start = lines->frame_count;
	put_stack(stacks, stack, lines);
	if (stack->unfinished)
		pd_lines_frame(lines, lining->truncated);
	if (inwards)
		reverse(lines->frames + start, lines->frame_count - start);
	if (rooted && !inwards)
		pd_lines_frame(lines, root);
	pd_lines_end(lines, value_of(stacks, entry), (uint32_t)index);
}

static void count_doubt(const struct stacks *stacks, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack = pd_profile_stack(stacks->profile, entry->stack);
	uint32_t leaf = has_own_frame(stacks, stack) ? stack->ip : stack->callers[0];
	struct stack_result *result = stacks->result;

	result->samples += entry->samples;
	result->cut += stack->cut ? entry->samples : 0;
	result->damaged += stack->damaged ? entry->samples : 0;
	if (!pd_place_is_resolved(&pd_profile_frame(stacks->profile, leaf)->place))
		result->unknown += entry->samples;
}

static void add_part(void *self, size_t number)
{
	struct lining *lining = self;
	struct part *part = &lining->parts[number];
	size_t begin, end;

	range_of(lining, number, &begin, &end);
	pd_lines_prefetch(&part->lines, part->line_count, part->frame_count);
	for (size_t i = begin; i < end; i++) {
		struct pd_profile_entry entry;

		pd_profile_entry(lining->stacks->profile, i, &entry);
		if (!is_wanted(&part->stacks, &entry))
			continue;
		count_doubt(&part->stacks, &entry);
		if (value_of(&part->stacks, &entry))
			add_line(lining, part, i, &entry);
	}
}

static void join_part(struct lining *lining, struct part *part)
{
	struct stack_result *result = lining->stacks->result;

	result->samples += part->result.samples;
	result->cut += part->result.cut;
	result->damaged += part->result.damaged;
	result->unknown += part->result.unknown;
}

static bool make_parts(struct lining *lining)
{
	struct stacks *stacks = lining->stacks;

	lining->entry_count = pd_profile_entry_count(stacks->profile);
	lining->part_count =
		pd_part_count(pd_thread_count(stacks->options->threads), lining->entry_count, WORTH_A_PART);
	lining->parts = pd_alloc(lining->part_count * sizeof(*lining->parts));
	lining->event_frames = pd_alloc((stacks->result->event_count + 1) * sizeof(*lining->event_frames));
	if (!lining->parts || !lining->event_frames)
		return false;
	for (size_t i = 0; i < lining->part_count; i++)
		lining->parts[i].stacks = *stacks;
	return true;
}

static void name_truncated(struct lining *lining)
{
	const struct pd_profile *profile = lining->stacks->profile;
	bool found = false;

	for (size_t i = 0; i < pd_profile_stack_count(profile) && !found; i++)
		found = pd_profile_stack(profile, i)->unfinished;
	if (found)
		lining->truncated = pd_stacks_truncated_frame(lining->stacks);
}

static void name_parts(struct lining *lining)
{
	pd_in_parts(lining->part_count, find_uses, lining);
	for (size_t i = 0; i < lining->part_count; i++)
		name_uses(lining, &lining->parts[i]);
	name_truncated(lining);
	if (lining->stacks->options->slices)
		set_times(lining);
}

static void add_parts(struct lining *lining)
{
	struct stack_lines lines[PD_PARTS_MOST];

	/* What was named stays where it is. */
	for (size_t i = 0; i < lining->part_count; i++) {
		struct part *part = &lining->parts[i];

		part->result.values = lining->stacks->result->values;
		part->stacks = *lining->stacks;
		part->stacks.result = &part->result;
	}
	pd_in_parts(lining->part_count, add_part, lining);
	for (size_t i = 0; i < lining->part_count; i++) {
		join_part(lining, &lining->parts[i]);
		lines[i] = lining->parts[i].lines;
	}
	pd_lines_join(lining->stacks->lines, lines, lining->part_count);
}

static void add_entries(struct stacks *stacks)
{
	struct lining lining = { .stacks = stacks };

	pthread_mutex_init(&lining.lock, NULL);
	if (make_parts(&lining)) {
		name_parts(&lining);
		if (!stacks->tree->failed)
			add_parts(&lining);
	} else {
		stacks->tree->failed = true;
	}
	stacks->tree->failed |= stacks->lines->failed;
	pthread_mutex_destroy(&lining.lock);
	pd_free(lining.parts);
	pd_free(lining.event_frames);
}

/* ---- reading ---- */

uint32_t pd_stacks_profile_by(const struct pd_flame_options *options)
{
	static const uint32_t roots[] = {
		[PD_FLAME_ROOT_NONE] = 0,
		[PD_FLAME_ROOT_COMM] = PD_BY_COMM,
		[PD_FLAME_ROOT_PID] = PD_BY_COMM | PD_BY_PID,
		[PD_FLAME_ROOT_TID] = PD_BY_COMM | PD_BY_PID | PD_BY_TID,
		[PD_FLAME_ROOT_CPU] = PD_BY_CPU,
	};

	/* Inlined functions depend on the address. */
	return roots[options->root] | PD_BY_CHAIN | PD_BY_LINE;
}

static enum pd_unit unit_of(enum pd_flame_weight weight, const struct pd_profile_total *total)
{
	enum pd_unit unit = pd_event_unit(total->event);

	if (weight == PD_FLAME_WEIGHT_SAMPLES)
		return PD_UNIT_SAMPLES;
	if (weight == PD_FLAME_WEIGHT_PERIOD || weight == PD_FLAME_WEIGHT_LATENCY)
		return unit == PD_UNIT_SAMPLES ? PD_UNIT_EVENTS : unit;
	return total->period ? unit : PD_UNIT_SAMPLES;
}

bool pd_stacks_add_up(const struct stack_result *result)
{
	for (size_t i = 1; i < result->event_count; i++)
		if (result->units[i] != result->units[0] || result->units[i] == PD_UNIT_EVENTS)
			return false;
	return true;
}

static bool list_events(struct stacks *stacks)
{
	struct stack_result *result = stacks->result;
	const struct pd_profile_total *total;
	size_t count = 0;

	result->unwinder = pd_profile_unwinder(stacks->profile);
	while (pd_profile_total(stacks->profile, count))
		count++;

	result->values.event_index = pd_alloc((count + 1) * sizeof(*result->values.event_index));
	result->events = pd_alloc((count + 1) * sizeof(*result->events));
	result->units = pd_alloc((count + 1) * sizeof(*result->units));
	if (!result->values.event_index || !result->events || !result->units)
		return false;
	for (size_t i = 0; i < count && (total = pd_profile_total(stacks->profile, i)) != NULL; i++) {
		result->samples_in_file += total->samples + total->left_samples;
		result->copied += total->copied_stacks;
		if (!total->samples || (stacks->one_event && total->event != stacks->one_event))
			continue;
		result->values.event_index[i] = (uint32_t)result->event_count;
		result->units[result->event_count] = unit_of(stacks->options->weight, total);
		result->events[result->event_count++] = total->event->name;
	}
	result->values.event_count = result->event_count;
	result->values.units = result->units;
	return true;
}

static enum pd_status build(struct stacks *stacks, struct pd_error *error)
{
	stacks->text = pd_text_new();
	stacks->named = pd_alloc((pd_profile_frame_count(stacks->profile) + 1) * sizeof(*stacks->named));
	if (!stacks->text || !stacks->named)
		return pd_fail_memory(error);
	if (stacks->options->one_event) {
		stacks->one_event = pd_flame_choose_event(stacks->profile, stacks->options->one_event);
		if (!stacks->one_event)
			return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: no samples of the event '%s'",
				       stacks->options->name, stacks->options->one_event->name);
	}
	if (!list_events(stacks))
		return pd_fail_memory(error);
	if (stacks->result->event_count > (uint32_t)1 << TREE_EVENT_BITS)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET,
			       "%s: %zu events with samples, which is more than one graph has", stacks->options->name,
			       stacks->result->event_count);
	add_entries(stacks);
	return stacks->tree->failed ? pd_fail_memory(error) : PD_OK;
}

enum pd_status pd_stacks_read(const struct pd_profile *profile, struct pd_symbols *symbols,
			      const struct pd_flame_options *options, struct tree *tree, struct stack_lines *lines,
			      struct stack_result *result, struct pd_error *error)
{
	struct stacks stacks = {
		.options = options,
		.symbols = symbols,
		.profile = profile,
		.tree = tree,
		.lines = lines,
		.result = result,
	};
	enum pd_status status;

	memset(result, 0, sizeof(*result));
	result->losses = *pd_profile_losses(profile);
	result->values.profile = profile;
	status = build(&stacks, error);
	pd_text_free(stacks.text);
	pd_free(stacks.named);
	pd_free(stacks.frames);
	pd_free(stacks.functions.items);
	pd_free(stacks.dsos.items);
	return status;
}

void pd_stacks_fini(struct stack_result *result)
{
	pd_free(result->events);
	pd_free(result->units);
	pd_free(result->values.event_index);
}
