/* SPDX-License-Identifier: MIT */
/*
 * Chains that the kernel recorded in parts. The user part may be in a later record. On arm64 the caller of a function without a frame of
 * its own is only in the link register, which is recorded beside the chain of frame pointers; rules say whether it is there.
 */
#include <string.h>

#include "state/state.h"
#include "unwind/unwinder.h"

enum {
	ARM64_LR = 30 // perf's index
};

// Room for a chain of two pieces, which is the answer. False if there is no memory.
static bool put_together(struct pd_unwinder *unwinder, struct pd_u64s before, struct pd_u64s after, size_t user,
			 struct pd_unwound *unwound_out)
{
	size_t count = before.count + after.count;

	if (!PD_GROW(unwinder->chain, unwinder->chain_capacity, count + 1)) {
		unwinder->failed = true;
		return false;
	}
	if (before.count)
		memcpy(unwinder->chain, before.items, before.count * sizeof(*before.items));
	if (after.count)
		memcpy(unwinder->chain + before.count, after.items, after.count * sizeof(*after.items));
	*unwound_out = (struct pd_unwound){
		.chain = { unwinder->chain, count },
		.frames = unwinder->chain + user,
		.frame_count = count - user,
		.joined = true,
	};
	return true;
}

// ---- a part that comes later ----

bool pd_unwinder_waits(const struct pd_state *state, const struct pd_record *record)
{
	const struct pd_sample *sample;

	if (record->type != PD_RECORD_SAMPLE || !record->event || !pd_unwinder_joins(record->event->attr))
		return false;
	sample = pd_as_sample(record);
	return sample && pd_unwinder_has_more(sample) &&
	       !pd_state_deferred(state, pd_unwinder_more(sample), sample->tid, pd_record_moment(record)).count;
}

// The user part never came: the chain ends as one that is truncated. A sample has its address at least.
static bool end_early(struct pd_unwinder *unwinder, const struct pd_record *record, const struct pd_sample *sample,
		      struct pd_u64s before, struct pd_unwound *unwound_out)
{
	bool kernel = PD_BITS(record->misc, PD_MISC_CPUMODE) != PD_CPUMODE_USER, needs_ip = sample->ip;
	uint64_t rest[4];
	size_t count = 0;

	for (size_t i = 0; i < before.count; i++)
		needs_ip &= before.items[i] >= PD_CONTEXT_MAX;
	if (needs_ip) {
		rest[count++] = (uint64_t)(kernel ? PD_CONTEXT_KERNEL : PD_CONTEXT_USER);
		rest[count++] = sample->ip;
	}
	if (!needs_ip || kernel)
		rest[count++] = (uint64_t)PD_CONTEXT_USER;
	rest[count++] = (uint64_t)PD_CONTEXT_USER;
	if (!put_together(unwinder, before, (struct pd_u64s){ rest, count },
			  before.count + (needs_ip && !kernel ? 1 : count), unwound_out))
		return false;
	unwound_out->end = PD_UNWIND_DEFERRED;
	return true;
}

// The first part ends with a marker and the number that the other one has.
static bool join(struct pd_unwinder *unwinder, const struct pd_record *record, const struct pd_sample *sample,
		 struct pd_unwound *unwound_out)
{
	struct pd_u64s before = sample->callchain, user;

	if (!pd_unwinder_has_more(sample))
		return false;
	before.count -= 2;
	user = pd_state_deferred(unwinder->shared->state, pd_unwinder_more(sample), sample->tid,
				 pd_record_moment(record));
	unwinder->counts[0][user.count ? PD_UNWIND_OUTERMOST : PD_UNWIND_DEFERRED]++;
	if (!user.count)
		return end_early(unwinder, record, sample, before, unwound_out);
	return put_together(unwinder, before, user, before.count + 1, unwound_out);
}

// ---- the link register ----

bool pd_unwinder_has_link(const struct pd_attr *attr)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN) | PD_MASK(PD_SAMPLE_TYPE_REGS_USER);

	return (attr->sample_type & parts) == parts && !PD_BITS(attr->sample_type, PD_SAMPLE_TYPE_STACK_USER) &&
	       attr->sample_regs_user >> ARM64_LR & 1;
}

// The return address is in the link register: the function has no frame yet, or none any more.
static bool is_in_link(const struct pd_unwind_walk *walk, const struct pd_unwind_rule *rule)
{
	if (!rule || rule->kind != PD_CFA_REGISTER || rule->cfa_register != walk->arch->sp ||
	    rule->ra != walk->arch->ra || rule->is_signal)
		return false;
	for (size_t i = 0; i < rule->count; i++)
		if (rule->saved[i].number == rule->ra)
			return false;
	return true;
}

static struct pd_unwind_walk walk_of(struct pd_unwinder *unwinder, const struct pd_record *record,
				     const struct pd_sample *sample)
{
	struct pd_moment when = pd_record_moment(record);

	return (struct pd_unwind_walk){
		.unwinder = unwinder,
		.arch = pd_unwind_arch_of(unwinder->shared->machine, sample->user_regs->abi),
		.pid = sample->pid,
		.tid = sample->tid,
		.when = when,
		.maps = pd_unwinder_maps(unwinder, sample->pid, sample->tid, when),
	};
}

// The caller of the innermost function, if the chain lacks it.
static bool find_leaf_caller(struct pd_unwinder *unwinder, const struct pd_record *record,
			     const struct pd_sample *sample, uint64_t leaf, uint64_t *caller_out)
{
	uint64_t below = record->event->attr->sample_regs_user & ((UINT64_C(1) << ARM64_LR) - 1);
	size_t at = (size_t)__builtin_popcountll(below);
	struct pd_unwind_walk walk = walk_of(unwinder, record, sample);

	if (!walk.arch || walk.arch->word != 8 || at >= sample->user_regs->regs.count)
		return false;
	pd_unwind_begin(&walk);
	if (!is_in_link(&walk, pd_unwind_ask(&walk, leaf).rule))
		return false;
	*caller_out = (sample->user_regs->regs.items[at] & walk.arch->code_mask) - 1;
	return pd_unwind_ask(&walk, *caller_out).is_code;
}

static bool add_leaf_caller(struct pd_unwinder *unwinder, const struct pd_record *record,
			    const struct pd_sample *sample, struct pd_unwound *unwound_out)
{
	struct pd_u64s chain = sample->callchain, rest;
	uint64_t caller;
	size_t user = 0;

	if (!pd_unwinder_has_link(record->event->attr) || unwinder->shared->machine != PD_ARCH_ARM64 ||
	    !unwinder->shared->symbols || !sample->user_regs || !sample->user_regs->abi)
		return false;
	while (user < chain.count && chain.items[user] != (uint64_t)PD_CONTEXT_USER)
		user++;
	if (chain.count - user < 2 || !find_leaf_caller(unwinder, record, sample, chain.items[user + 1], &caller))
		return false;
	rest = (struct pd_u64s){ chain.items + user + 1, chain.count - user - 1 };
	if (rest.count > 1 && rest.items[1] - 1 == caller)
		return false;
	// one place is kept after the marker, and the leaf goes there
	if (!put_together(unwinder, (struct pd_u64s){ chain.items, user + 2 }, rest, user + 1, unwound_out))
		return false;
	unwinder->chain[user + 2] = caller;
	return true;
}

bool pd_unwind_parts(struct pd_unwinder *unwinder, const struct pd_record *record, const struct pd_sample *sample,
		     struct pd_unwound *unwound_out)
{
	return join(unwinder, record, sample, unwound_out) || add_leaf_caller(unwinder, record, sample, unwound_out);
}
