/* SPDX-License-Identifier: MIT */
/*
 * Call chains of processors that keep the last calls (LBR): the kernel's part as recorded, then where the newest call went to, and where
 * each one came from. They keep few, so what a deep stack has at its outer end is gone; but it was there in the thread's last sample, if
 * the oldest calls of this one were among those of the last one.
 */
#include <string.h>

#include "unwind/unwinder.h"

enum {
	KEPT_MOST = 64, // calls that a processor keeps
	SLOTS = 256
};

// The last sample of a thread.
struct pd_unwind_calls {
	uint32_t pid, tid;
	uint64_t newest; // where the processor has it
	size_t count, older_count;
	bool is_whole; // the oldest one is that of the outermost function
	struct pd_branch kept[KEPT_MOST];
	uint64_t older[PD_UNWIND_STACK]; // that were added to it: where calls came from
};

bool pd_unwinder_has_calls(const struct pd_attr *attr)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN) | PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK);

	return (attr->sample_type & parts) == parts && PD_BITS(attr->branch_sample_type, PD_BRANCH_TYPE_CALL_STACK);
}

// ---- how many calls the processor keeps ----

static uint64_t find_kept(const struct pd_list *caps)
{
	static const char name[] = "branches";

	for (size_t i = 0; i < caps->count; i++) {
		const struct pd_pmu_cap *cap = PD_ITEM(pd_pmu_cap, *caps, i);
		uint64_t count = 0;

		if (cap->name.length != sizeof(name) - 1 || memcmp(cap->name.data, name, cap->name.length) != 0)
			continue;
		for (size_t j = 0; j < cap->value.length && count <= KEPT_MOST; j++)
			count = count * 10 + (uint64_t)(cap->value.data[j] - '0');
		return count <= KEPT_MOST ? count : 0;
	}
	return 0;
}

static uint64_t count_kept(struct pd_file *file)
{
	const struct pd_cpu_pmu_caps *cpu = pd_file_cpu_pmu_caps(file);
	const struct pd_pmu_caps *all = pd_file_pmu_caps(file);
	uint64_t count = cpu ? find_kept(&cpu->caps) : 0;

	for (size_t i = 0; !count && all && i < all->pmus.count; i++)
		count = find_kept(&PD_ITEM(pd_pmu_cap_list, all->pmus, i)->caps);
	return count;
}

void pd_unwind_prepare_calls(struct pd_unwinder *unwinder)
{
	unwinder->kept_calls = count_kept(unwinder->shared->file);
	if (!unwinder->options.stitch_lbr)
		return;
	if (unwinder->kept_calls)
		unwinder->calls = pd_alloc_table(SLOTS * sizeof(*unwinder->calls));
	unwinder->failed |= unwinder->kept_calls && !unwinder->calls;
}

// ---- stitching ----

static bool are_same(const struct pd_branch *a, const struct pd_branch *b)
{
	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

// Where in the last sample the oldest call of this one was, if both agree from there on.
static bool find_oldest(const struct pd_unwinder *unwinder, const struct pd_unwind_calls *last,
			const struct pd_branch_stack *stack, size_t *at_out)
{
	uint64_t kept = unwinder->kept_calls;
	uint64_t oldest = (kept + stack->hw_idx + 1 - stack->entries.count) % kept;
	uint64_t at = (kept + last->newest - oldest) % kept;

	*at_out = (size_t)at;
	return at < last->count &&
	       are_same(&last->kept[at], PD_ITEM(pd_branch, stack->entries, stack->entries.count - 1));
}

// Older calls than those of the sample, which are also kept for the next one.
static void stitch(const struct pd_unwinder *unwinder, struct pd_unwind_calls *last,
		   const struct pd_branch_stack *stack)
{
	uint64_t older[PD_UNWIND_STACK];
	size_t at, count = 0;

	if (!find_oldest(unwinder, last, stack, &at)) {
		last->older_count = 0;
		last->is_whole = false;
		return;
	}
	for (at++; at < last->count; at++)
		older[count++] = last->kept[at].from;
	last->is_whole &= last->older_count <= PD_UNWIND_STACK - count;
	for (size_t i = 0; i < last->older_count && count < PD_UNWIND_STACK; i++)
		older[count++] = last->older[i];
	memcpy(last->older, older, count * sizeof(*older));
	last->older_count = count;
}

// NULL: nothing can be said of this sample.
static const struct pd_unwind_calls *follow_thread(struct pd_unwinder *unwinder, const struct pd_sample *sample)
{
	const struct pd_branch_stack *stack = sample->branch_stack;
	size_t count = stack->entries.count;
	struct pd_unwind_calls *last;

	if (!unwinder->calls)
		return NULL;
	last = &unwinder->calls[sample->tid % SLOTS];
	if (last->pid != sample->pid || last->tid != sample->tid || stack->hw_idx >= unwinder->kept_calls ||
	    count > KEPT_MOST || count > unwinder->kept_calls)
		last->count = last->older_count = last->is_whole = 0;
	else
		stitch(unwinder, last, stack);
	last->is_whole |= count < unwinder->kept_calls;
	last->pid = sample->pid;
	last->tid = sample->tid;
	last->newest = stack->hw_idx;
	last->count = 0;
	for (size_t i = 0; stack->hw_idx < unwinder->kept_calls && count <= KEPT_MOST && i < count; i++)
		last->kept[last->count++] = *PD_ITEM(pd_branch, stack->entries, i);
	return last;
}

// ---- the chain ----

// Words that mean something else are no addresses.
static size_t put_address(uint64_t *chain, size_t count, uint64_t addr)
{
	if (addr < PD_CONTEXT_MAX)
		chain[count++] = addr;
	return count;
}

// A processor that keeps as many calls as it can has none of those before them.
static enum pd_unwind_end end_of(const struct pd_unwinder *unwinder, const struct pd_unwind_calls *last, size_t count)
{
	bool is_full = unwinder->kept_calls && count >= unwinder->kept_calls;

	return is_full && !(last && last->is_whole) ? PD_UNWIND_CALLS_FULL : PD_UNWIND_OUTERMOST;
}

bool pd_unwind_calls(struct pd_unwinder *unwinder, const struct pd_sample *sample, struct pd_unwound *unwound_out)
{
	const struct pd_branch_stack *stack = sample->branch_stack;
	const struct pd_unwind_calls *last;
	struct pd_u64s chain = sample->callchain;
	size_t user = 0, count;

	while (user < chain.count && chain.items[user] != (uint64_t)PD_CONTEXT_USER)
		user++;
	if (user == chain.count || !stack || !stack->entries.count)
		return false;
	if (!PD_GROW(unwinder->chain, unwinder->chain_capacity,
		     user + 4 + stack->entries.count + (unwinder->calls ? PD_UNWIND_STACK : 0))) {
		unwinder->failed = true;
		return false;
	}
	memcpy(unwinder->chain, chain.items, (user + 1) * sizeof(*chain.items));
	count = put_address(unwinder->chain, user + 1, PD_ITEM(pd_branch, stack->entries, 0)->to);
	for (size_t i = 0; i < stack->entries.count; i++)
		count = put_address(unwinder->chain, count, PD_ITEM(pd_branch, stack->entries, i)->from);
	last = follow_thread(unwinder, sample);
	for (size_t i = 0; last && i < last->older_count; i++)
		count = put_address(unwinder->chain, count, last->older[i]);
	*unwound_out = (struct pd_unwound){
		.chain = { unwinder->chain, count },
		.frames = unwinder->chain + user + 1,
		.frame_count = count - user - 1,
		.end = end_of(unwinder, last, stack->entries.count),
		.joined = true,
	};
	unwinder->counts[0][unwound_out->end]++;
	// as other chains that are truncated
	if (unwound_out->end != PD_UNWIND_OUTERMOST)
		unwinder->chain[unwound_out->chain.count++] = (uint64_t)PD_CONTEXT_USER;
	return true;
}
