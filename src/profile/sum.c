/* SPDX-License-Identifier: MIT */
/*
 * Sums of profiles. A sum is a profile whose frames are functions, not addresses, with names of its own: it outlives the
 * symbols of what was added. It grows by what is new; when much of it has faded away, what is left is added to an empty one.
 */
#include <perfdata/live.h>

#include <string.h>

#include "base/error.h"
#include "base/lookup/strings.h"
#include "profile/profile.h"

#define NOTHING UINT32_MAX

// What belongs to an entry and is not seen by users.
struct sum_entry {
	uint32_t event;
};

struct pd_sum {
	struct pd_profile view; // entries, stacks, frames, totals, losses
	size_t entry_capacity, frame_capacity, total_capacity;
	struct sum_entry *extras; // of entries
	size_t extra_capacity;
	uint64_t seed;
	struct pd_arena kept; // texts, objects, functions, callers, raw data
	struct pd_strings texts;
	struct pd_dso **dsos;
	size_t dso_count, dso_capacity;
	struct pd_function **functions;
	size_t function_count, function_capacity;
	struct pd_index dso_index, function_index, frame_index, stack_index, entry_index;
	uint32_t *numbers; // of frames of the profile that is added, plus 1
	uint32_t *stack_numbers;
	uint32_t *callers; // of the stack that is added
	size_t caller_capacity;
	size_t dead; // entries that faded away
};

static const uint64_t first_seed = UINT64_C(0x9e3779b97f4a7c15);

static void fini(struct pd_sum *sum)
{
	pd_arena_fini(&sum->kept);
	pd_strings_fini(&sum->texts);
	pd_index_fini(&sum->dso_index);
	pd_index_fini(&sum->function_index);
	pd_index_fini(&sum->frame_index);
	pd_index_fini(&sum->stack_index);
	pd_index_fini(&sum->entry_index);
	pd_free(sum->dsos);
	pd_free(sum->functions);
	pd_free(sum->numbers);
	pd_free(sum->stack_numbers);
	pd_free(sum->callers);
	pd_free(sum->extras);
	pd_free(sum->view.entries);
	pd_free(sum->view.stacks);
	pd_free(sum->view.frames);
	pd_free(sum->view.totals);
	*sum = (struct pd_sum){ .seed = sum->seed, .texts.seed = sum->seed };
}

enum pd_status pd_sum_new(struct pd_sum **sum_out, struct pd_error *error)
{
	struct pd_sum *sum = pd_alloc(sizeof(*sum));

	if (!sum)
		return pd_fail_memory(error);
	sum->seed = sum->texts.seed = pd_hash_secret();
	*sum_out = sum;
	return PD_OK;
}

void pd_sum_free(struct pd_sum *sum)
{
	if (!sum)
		return;
	fini(sum);
	pd_free(sum);
}

// ---- names: what is equal is there once. NULL if there is no memory. ----

static const char *text_once(struct pd_sum *sum, const char *text)
{
	return pd_strings_once(&sum->texts, &sum->kept, text);
}

static const struct pd_dso *dso_once(struct pd_sum *sum, const struct pd_dso *dso)
{
	uint64_t hash = pd_hash(sum->seed, dso->long_name, strlen(dso->long_name));
	size_t at = (uint32_t)hash;
	struct pd_dso *copy;

	for (uint32_t i; (i = pd_index_next(&sum->dso_index, hash, &at)) != PD_INDEX_END;)
		if (strcmp(sum->dsos[i]->long_name, dso->long_name) == 0 && strcmp(sum->dsos[i]->name, dso->name) == 0)
			return sum->dsos[i];
	copy = pd_arena_alloc(&sum->kept, sizeof(*copy));
	if (!copy || !PD_GROW(sum->dsos, sum->dso_capacity, sum->dso_count + 1) ||
	    !pd_index_add(&sum->dso_index, hash, (uint32_t)sum->dso_count))
		return NULL;
	*copy = (struct pd_dso){
		.index = sum->dso_count,
		.name = text_once(sum, dso->name),
		.long_name = text_once(sum, dso->long_name),
		.kernel = dso->kernel,
		.state = dso->state,
		.detail = "",
	};
	if (!copy->name || !copy->long_name)
		return NULL;
	sum->dsos[sum->dso_count++] = copy;
	return copy;
}

static const struct pd_function *function_once(struct pd_sum *sum, const struct pd_dso *dso,
					       const struct pd_function *function)
{
	uint64_t hash = pd_hash(sum->seed ^ dso->index * first_seed, function->name, strlen(function->name)) ^
			function->start;
	size_t at = (uint32_t)hash;
	struct pd_function *copy;

	for (uint32_t i; (i = pd_index_next(&sum->function_index, hash, &at)) != PD_INDEX_END;) {
		const struct pd_function *there = sum->functions[i];

		if (there->dso == dso && there->start == function->start && strcmp(there->name, function->name) == 0)
			return there;
	}
	copy = pd_arena_alloc(&sum->kept, sizeof(*copy));
	if (!copy || !PD_GROW(sum->functions, sum->function_capacity, sum->function_count + 1) ||
	    !pd_index_add(&sum->function_index, hash, (uint32_t)sum->function_count))
		return NULL;
	*copy = *function;
	copy->index = sum->function_count;
	copy->dso = dso;
	copy->name = text_once(sum, function->name);
	copy->linker_name = text_once(sum, function->linker_name);
	if (!copy->name || !copy->linker_name)
		return NULL;
	sum->functions[sum->function_count++] = copy;
	return copy;
}

// ---- frames and stacks: numbers, NOTHING if there is no memory ----

// An address says where only as long as it has no name.
static bool same_frame(const struct pd_frame *a, const struct pd_frame *b)
{
	if (a->cpumode != b->cpumode || a->place.dso != b->place.dso || a->place.function != b->place.function)
		return false;
	return a->place.function || (a->place.addr == b->place.addr && (a->place.dso || a->pid == b->pid));
}

static uint32_t frame_once(struct pd_sum *sum, const struct pd_frame *from)
{
	struct pd_profile *view = &sum->view;
	struct pd_frame frame = *from;
	uint64_t words[3];
	uint64_t hash;
	size_t at;

	if (from->place.dso && !(frame.place.dso = dso_once(sum, from->place.dso)))
		return NOTHING;
	if (from->place.function && !(frame.place.function = function_once(sum, frame.place.dso, from->place.function)))
		return NOTHING;
	words[0] = frame.place.function ? frame.place.function->index + 1 : frame.place.addr;
	words[1] = frame.place.dso ? frame.place.dso->index + 1 : 0;
	words[2] = frame.cpumode;
	hash = pd_hash_words(sum->seed, words, 3);
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&sum->frame_index, hash, &at)) != PD_INDEX_END;)
		if (same_frame(&view->frames[i], &frame))
			return i;
	if (view->frame_count >= NOTHING - 1 || !PD_GROW(view->frames, sum->frame_capacity, view->frame_count + 1) ||
	    !pd_index_add(&sum->frame_index, hash, (uint32_t)view->frame_count))
		return NOTHING;
	view->frames[view->frame_count] = frame;
	return (uint32_t)view->frame_count++;
}

static uint32_t frame_number(struct pd_sum *sum, const struct pd_profile *profile, uint32_t frame)
{
	if (!sum->numbers[frame])
		sum->numbers[frame] = frame_once(sum, &profile->frames[frame]) + 1;
	return sum->numbers[frame] - 1;
}

static bool same_stack(const struct pd_stack *a, const struct pd_stack *b)
{
	return a->ip == b->ip && a->caller_count == b->caller_count && a->cut == b->cut && a->damaged == b->damaged &&
	       a->unfinished == b->unfinished &&
	       (!a->caller_count || memcmp(a->callers, b->callers, a->caller_count * sizeof(a->callers[0])) == 0);
}

static uint32_t stack_once(struct pd_sum *sum, struct pd_stack stack)
{
	struct pd_profile *view = &sum->view;
	uint64_t hash = pd_hash_halves(sum->seed ^ stack.ip, stack.callers, stack.caller_count);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&sum->stack_index, hash, &at)) != PD_INDEX_END;)
		if (same_stack(&view->stacks[i], &stack))
			return i;
	if (stack.caller_count)
		stack.callers = pd_arena_copy(&sum->kept, stack.callers, stack.caller_count * sizeof(stack.callers[0]));
	if ((stack.caller_count && !stack.callers) || view->stack_count >= NOTHING - 1 ||
	    !PD_GROW(view->stacks, view->stack_capacity, view->stack_count + 1) ||
	    !pd_index_add(&sum->stack_index, hash, (uint32_t)view->stack_count))
		return NOTHING;
	view->stacks[view->stack_count] = stack;
	return (uint32_t)view->stack_count++;
}

static uint32_t stack_number(struct pd_sum *sum, const struct pd_profile *profile, size_t index)
{
	const struct pd_stack *from = &profile->stacks[index];
	struct pd_stack stack = *from;

	if (sum->stack_numbers[index])
		return sum->stack_numbers[index] - 1;
	if (!PD_GROW(sum->callers, sum->caller_capacity, from->caller_count + 1))
		return NOTHING;
	stack.ip = frame_number(sum, profile, from->ip);
	for (size_t i = 0; i < from->caller_count; i++) {
		sum->callers[i] = frame_number(sum, profile, from->callers[i]);
		if (sum->callers[i] == NOTHING)
			return NOTHING;
	}
	stack.callers = sum->callers;
	if (stack.ip != NOTHING)
		sum->stack_numbers[index] = stack_once(sum, stack) + 1;
	return sum->stack_numbers[index] - 1;
}

// ---- entries ----

static bool same_entry(const struct pd_profile_entry *a, const struct pd_profile_entry *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu &&
	       a->cgroup == b->cgroup && a->weight == b->weight && a->parallelism == b->parallelism &&
	       a->stack == b->stack && a->raw.size == b->raw.size &&
	       (!a->raw.size || memcmp(a->raw.data, b->raw.data, a->raw.size) == 0);
}

static uint64_t hash_entry(const struct pd_sum *sum, const struct pd_profile_entry *entry, uint32_t event)
{
	uint64_t words[] = {
		(uintptr_t)entry->comm,
		(uint64_t)entry->pid << 32 | entry->tid,
		(uint64_t)entry->cpu << 32 | event,
		entry->cgroup,
		entry->weight,
		entry->stack,
		entry->parallelism,
	};

	if (entry->raw.size)
		words[6] ^= pd_hash(sum->seed, entry->raw.data, entry->raw.size);
	return pd_hash_words(sum->seed, words, sizeof(words) / sizeof(words[0]));
}

static void add_amounts(struct pd_sum *sum, struct pd_profile_entry *to, const struct pd_profile_entry *from)
{
	// one that came back to life
	if (!to->samples && !to->period && sum->dead)
		sum->dead--;
	to->samples += from->samples;
	to->period += from->period;
	to->weights += from->weights;
}

static bool add_entry(struct pd_sum *sum, const struct pd_profile *profile, const struct pd_profile_entry *from,
		      uint32_t event)
{
	struct pd_profile *view = &sum->view;
	struct pd_profile_entry entry = *from;
	uint64_t hash;
	size_t at;

	entry.stack = stack_number(sum, profile, from->stack);
	if (entry.stack == NOTHING || (from->comm && !(entry.comm = text_once(sum, from->comm))))
		return false;
	hash = hash_entry(sum, &entry, event);
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&sum->entry_index, hash, &at)) != PD_INDEX_END;) {
		if (sum->extras[i].event == event && same_entry(&view->entries[i], &entry)) {
			add_amounts(sum, &view->entries[i], from);
			return true;
		}
	}
	if (entry.raw.size && !(entry.raw.data = pd_arena_copy(&sum->kept, from->raw.data, from->raw.size)))
		return false;
	if (view->entry_count >= NOTHING - 1 || !PD_GROW(view->entries, sum->entry_capacity, view->entry_count + 1) ||
	    !PD_GROW(sum->extras, sum->extra_capacity, view->entry_count + 1) ||
	    !pd_index_add(&sum->entry_index, hash, (uint32_t)view->entry_count))
		return false;
	view->entries[view->entry_count] = entry;
	sum->extras[view->entry_count++] = (struct sum_entry){ event };
	return true;
}

static bool add_totals(struct pd_sum *sum, const struct pd_profile *profile)
{
	struct pd_profile *view = &sum->view;
	size_t count = profile->event_count;

	if (!PD_GROW(view->totals, sum->total_capacity, count + 1))
		return false;
	for (; view->event_count < count; view->event_count++)
		view->totals[view->event_count] = (struct pd_profile_total){ 0 };
	for (size_t i = 0; i < count; i++) {
		view->totals[i].samples += profile->totals[i].samples;
		view->totals[i].period += profile->totals[i].period;
		view->totals[i].weights += profile->totals[i].weights;
		view->totals[i].left_samples += profile->totals[i].left_samples;
		view->totals[i].left_period += profile->totals[i].left_period;
		view->totals[i].copied_stacks += profile->totals[i].copied_stacks;
	}
	return true;
}

static void add_losses(struct pd_profile_losses *to, const struct pd_profile_losses *from)
{
	to->lost += from->lost;
	to->lost_records += from->lost_records;
	to->lost_samples += from->lost_samples;
	to->throttles += from->throttles;
	to->unthrottles += from->unthrottles;
	to->aux_lost += from->aux_lost;
	to->unknown_event += from->unknown_event;
	to->damaged += from->damaged;
	to->had_samples |= from->had_samples;
}

// events: their numbers, NULL where the entries point to them.
static bool add_all(struct pd_sum *sum, const struct pd_profile *profile, const struct sum_entry *events)
{
	bool done = true;

	sum->numbers = pd_alloc((profile->frame_count + 1) * sizeof(*sum->numbers));
	sum->stack_numbers = pd_alloc((profile->stack_count + 1) * sizeof(*sum->stack_numbers));
	done = sum->numbers && sum->stack_numbers && add_totals(sum, profile);
	for (size_t i = 0; i < profile->entry_count && done; i++) {
		struct pd_profile_entry entry;

		pd_profile_entry(profile, i, &entry);
		if (entry.samples || entry.period)
			done = add_entry(sum, profile, &entry, events ? events[i].event : (uint32_t)entry.event->index);
	}
	add_losses(&sum->view.losses, &profile->losses);
	pd_free(sum->numbers);
	pd_free(sum->stack_numbers);
	sum->numbers = sum->stack_numbers = NULL;
	return done;
}

enum pd_status pd_sum_add(struct pd_sum *sum, const struct pd_profile *profile, struct pd_error *error)
{
	if (add_all(sum, profile, NULL))
		return PD_OK;
	fini(sum);
	return pd_fail_memory(error);
}

// ---- fading ----

static uint64_t faded(uint64_t number, unsigned part, unsigned whole)
{
	return whole ? number / whole * part + number % whole * part / whole : 0;
}

// Takes what is left into an empty sum, so that memory is what is left.
static bool shrink(struct pd_sum *sum)
{
	struct pd_sum fresh = { .seed = sum->seed };
	bool done = add_all(&fresh, &sum->view, sum->extras);

	if (!done) {
		fini(&fresh);
		return false;
	}
	fini(sum);
	*sum = fresh;
	return true;
}

enum pd_status pd_sum_fade(struct pd_sum *sum, unsigned part, unsigned whole, struct pd_error *error)
{
	struct pd_profile *view = &sum->view;

	sum->dead = 0;
	for (size_t i = 0; i < view->entry_count; i++) {
		struct pd_profile_entry *entry = &view->entries[i];

		entry->period = faded(entry->period, part, whole);
		entry->samples = faded(entry->samples, part, whole);
		entry->weights = faded(entry->weights, part, whole);
		if (!entry->period)
			entry->samples = 0;
		sum->dead += !entry->period;
	}
	for (size_t i = 0; i < view->event_count; i++) {
		struct pd_profile_total *total = &view->totals[i];

		total->samples = faded(total->samples, part, whole);
		total->period = faded(total->period, part, whole);
		total->weights = faded(total->weights, part, whole);
		total->left_samples = faded(total->left_samples, part, whole);
		total->left_period = faded(total->left_period, part, whole);
		total->copied_stacks = faded(total->copied_stacks, part, whole);
	}
	if (sum->dead * 2 < view->entry_count || !view->entry_count || shrink(sum))
		return PD_OK;
	fini(sum);
	return pd_fail_memory(error);
}

const struct pd_profile *pd_sum_profile(struct pd_sum *sum, struct pd_file *file, const struct pd_state *state)
{
	struct pd_profile *view = &sum->view;
	size_t count = file ? pd_file_event_count(file) : 0;

	view->file = file;
	view->state = (struct pd_state *)(uintptr_t)state;
	view->foreign_state = true;
	for (size_t i = 0; i < view->entry_count; i++)
		view->entries[i].event = sum->extras[i].event < count ? pd_file_event(file, sum->extras[i].event) :
									NULL;
	for (size_t i = 0; i < view->event_count; i++)
		view->totals[i].event = i < count ? pd_file_event(file, i) : NULL;
	return view;
}
