/* SPDX-License-Identifier: MIT */
#include "profile/collect/owners.h"

#include "base/memory.h"
#include "profile/frame/hash.h"

void pd_owners_fini(struct pd_owners *owners)
{
	pd_free(owners->items);
	pd_index_fini(&owners->index);
	*owners = (struct pd_owners){ 0 };
}

// Names are one pointer for each text, so pointers are compared.
static bool same_owner(const struct pd_owner *a, const struct pd_owner *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->nameless == b->nameless;
}

uint32_t pd_owners_find(struct pd_owners *owners, const struct pd_owner *owner)
{
	uint64_t words[] = { (uintptr_t)owner->comm, (uint64_t)owner->pid << 32 | owner->tid, owner->nameless };
	uint64_t hash = pd_hash_words(owners->seed, words, sizeof(words) / sizeof(words[0]));
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&owners->index, hash, &at)) != PD_INDEX_END;)
		if (same_owner(&owners->items[i], owner))
			return i;
	if (owners->count >= UINT32_MAX - 1 || !PD_GROW(owners->items, owners->capacity, owners->count + 1) ||
	    !pd_index_add(&owners->index, hash, (uint32_t)owners->count))
		return UINT32_MAX;
	owners->items[owners->count] = *owner;
	return (uint32_t)owners->count++;
}

static struct pd_owner owner_of(uint32_t by, uint32_t pid, uint32_t tid, const struct pd_view *view)
{
	bool nameless = (by & PD_BY_COMM) && !view->comm;

	return (struct pd_owner){
		.comm = by & PD_BY_COMM ? view->comm : NULL,
		.pid = by & PD_BY_PID ? pid : UINT32_MAX,
		.tid = (by & PD_BY_TID) || nameless ? tid : UINT32_MAX,
		.nameless = nameless,
	};
}

// Both numbers of the process go up with time, so their sum says which they are.
static void add_codes(const struct pd_codes *codes, uint32_t pid, struct pd_moment when, struct pd_view *view)
{
	uint64_t turn = pd_codes_turn(codes, pid, when, &view->from, &view->until);

	view->maps += turn << 32;
}

void pd_owners_view(const struct pd_owners *owners, struct pd_thread_view *view, uint32_t pid, uint32_t tid,
		    struct pd_moment when, struct pd_owner *owner_out)
{
	view->used = false;
	pd_state_view(owners->state, pid, tid, when, &view->view);
	if (owners->codes)
		add_codes(owners->codes, pid, when, &view->view);
	view->pid = pid;
	view->tid = tid;
	*owner_out = owner_of(owners->by, pid, tid, &view->view);
}
