/* SPDX-License-Identifier: MIT */
#include "export/format/branches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"

// Sums have kinds for events, and frames for stacks and threads.
enum kind {
	TAKEN,
	RANGE,
	ADDRESS
};

enum {
	RANGE_MOST = 1 << 20 // bytes; longer ones are of code that was not recorded
};

// ---- counting ----

static void count(struct pd_export *self, enum kind kind, uint32_t from, uint32_t to, bool mispredicted)
{
	struct pd_branches *branches = self->sink;
	const struct pd_sum sum = {
		.event = kind, .stack = from, .thread = to, .cpu = UINT32_MAX, .samples = 1, .value = mispredicted
	};

	self->failed |= !pd_sums_add(&branches->sums, self->tables.seed, &sum);
}

// False for an address of the kernel, and if there is no memory.
static bool find_frame(struct pd_export *self, const struct pd_export_sample *sample, uint64_t addr,
		       uint32_t *frame_out)
{
	const struct pd_code_address address = { sample->maps,    addr, sample->brief->pid,
						 PD_CPUMODE_USER, 0,    pd_record_moment(sample->record) };

	if (!addr || addr >> 63)
		return false;
	*frame_out = pd_places_frame(&self->places, address);
	self->failed |= *frame_out == PD_NO_FRAME;
	return !self->failed;
}

// Between a branch and the one before it, which led there, the code was run through.
static void count_range(struct pd_export *self, uint32_t begin, uint32_t end)
{
	const struct pd_table_frame *first = &self->tables.frames[begin], *last = &self->tables.frames[end];

	if (first->mapping == last->mapping && first->object && first->place.recorded <= last->place.recorded &&
	    last->place.recorded - first->place.recorded <= RANGE_MOST)
		count(self, RANGE, begin, end, false);
}

static void count_entries(struct pd_export *self, const struct pd_export_sample *sample,
			  const struct pd_branch_stack *stack)
{
	struct pd_branches *branches = self->sink;
	uint32_t from, to, newer = PD_NO_FRAME;

	for (size_t i = 0; i < stack->entries.count && !self->failed; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, stack->entries, i);
		bool has_from = find_frame(self, sample, branch->from, &from);
		bool has_to = find_frame(self, sample, branch->to, &to);

		if (has_to && newer != PD_NO_FRAME)
			count_range(self, to, newer);
		newer = has_from ? from : PD_NO_FRAME;
		if (!has_from || !has_to)
			continue;
		branches->entries++;
		count(self, TAKEN, from, to, PD_BITS(branch->flags, PD_BRANCH_MISPRED));
	}
}

void pd_branches_take(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_branches *branches = self->sink;
	const struct pd_sample *full;

	if (!(sample->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK)))
		return;
	full = pd_as_sample(sample->record);
	self->result.damaged += !full;
	if (!full || !full->branch_stack || !full->branch_stack->entries.count)
		return;
	branches->stacks++;
	if (self->tables.frames[sample->ip].cpumode == PD_CPUMODE_USER)
		count(self, ADDRESS, sample->ip, 0, false);
	count_entries(self, sample, full->branch_stack);
}

// ---- the object ----

static uint32_t object_of(const struct pd_export *self, uint32_t frame)
{
	return self->tables.frames[frame].object;
}

// Both ends are in the object.
static bool is_inside(const struct pd_export *self, const struct pd_sum *sum, uint32_t object)
{
	return object_of(self, sum->stack) == object &&
	       (sum->event == ADDRESS || object_of(self, sum->thread) == object);
}

static bool has_name(const struct pd_export *self, size_t object, const char *name)
{
	const struct pd_dso *dso = self->tables.objects[object].dso;

	return strcmp(dso->name, name) == 0 || strcmp(dso->long_name, name) == 0;
}

// The one with the most branches inside of it; or that of the name. 0: none.
static uint32_t choose_object(struct pd_export *self)
{
	const struct pd_branches *branches = self->sink;
	uint64_t *counts = pd_alloc(self->tables.object_count * sizeof(*counts));
	uint32_t best = 0;

	self->failed |= !counts;
	for (size_t i = 0; counts && i < branches->sums.count; i++) {
		const struct pd_sum *sum = &branches->sums.items[i];

		if (sum->event != ADDRESS && is_inside(self, sum, object_of(self, sum->stack)))
			counts[object_of(self, sum->stack)] += sum->samples;
	}
	for (uint32_t i = 1; counts && i < self->tables.object_count; i++) {
		bool wanted = !self->options.object || has_name(self, i, self->options.object);

		if (wanted && counts[i] && (!best || counts[i] > counts[best]))
			best = i;
	}
	pd_free(counts);
	return best;
}

// Why there would be nothing to write.
static void stop(struct pd_export *self)
{
	const struct pd_branches *branches = self->sink;
	struct pd_error error;

	if (!branches->stacks)
		pd_fail(&error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			"no sample has a branch stack; record with perfdata record -b on a machine whose processor has them (not in most virtual machines)");
	else if (!branches->entries)
		pd_fail(&error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			"the branch stacks have no branch of user space; record with perfdata record -j any,u");
	else if (self->options.object)
		pd_fail(&error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no branch stays inside of the object %s",
			self->options.object);
	else
		pd_fail(&error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no branch stays inside of one object");
	pd_export_stop(self, PD_ERROR_NO_MATCH, &error);
}

// ---- lists ----

static uint64_t address_of(const struct pd_export *self, uint32_t frame, enum pd_branch_addresses addresses)
{
	const struct pd_table_frame *found = &self->tables.frames[frame];
	const struct pd_table_mapping *mapping = &self->tables.mappings[found->mapping];

	switch (addresses) {
	case PD_BRANCH_OFFSETS:
		return found->place.recorded - mapping->start + mapping->pgoff;
	case PD_BRANCH_VIRTUAL:
		return found->place.addr;
	case PD_BRANCH_IN_MAPPED:
		return found->place.recorded - mapping->start;
	}
	return 0;
}

static int compare_counts(const void *left, const void *right)
{
	const struct pd_branch_count *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

// Processes can have the same code at several addresses.
static void sort_list(struct pd_branch_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_counts);
	for (size_t i = 0; i < list->count; i++) {
		if (!kept || compare_counts(&list->items[kept - 1], &list->items[i]) != 0) {
			list->items[kept++] = list->items[i];
			continue;
		}
		list->items[kept - 1].count += list->items[i].count;
		list->items[kept - 1].mispredicted += list->items[i].mispredicted;
	}
	list->count = kept;
}

static void fill_list(struct pd_export *self, struct pd_branch_list *list, enum kind kind,
		      enum pd_branch_addresses addresses)
{
	const struct pd_branches *branches = self->sink;

	for (size_t i = 0; i < branches->sums.count && !self->failed; i++) {
		const struct pd_sum *sum = &branches->sums.items[i];

		if (sum->event != kind || !is_inside(self, sum, branches->object))
			continue;
		if (!PD_GROW(list->items, list->capacity, list->count + 1)) {
			self->failed = true;
			return;
		}
		list->items[list->count++] = (struct pd_branch_count){
			.from = address_of(self, sum->stack, addresses),
			.to = kind == ADDRESS ? 0 : address_of(self, sum->thread, addresses),
			.count = sum->samples,
			.mispredicted = sum->value,
		};
	}
	sort_list(list);
}

bool pd_branches_end(struct pd_export *self, enum pd_branch_addresses addresses)
{
	struct pd_branches *branches = self->sink;

	self->failed |= !pd_sums_finish(&branches->sums);
	branches->object = choose_object(self);
	if (self->failed)
		return false;
	if (!branches->object) {
		stop(self);
		return false;
	}
	fill_list(self, &branches->taken, TAKEN, addresses);
	fill_list(self, &branches->ranges, RANGE, addresses);
	fill_list(self, &branches->addresses, ADDRESS, addresses);
	return !self->failed;
}

void pd_branches_fini(struct pd_export *self)
{
	struct pd_branches *branches = self->sink;

	pd_sums_fini(&branches->sums);
	pd_free(branches->taken.items);
	pd_free(branches->ranges.items);
	pd_free(branches->addresses.items);
}
