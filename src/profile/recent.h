/* SPDX-License-Identifier: MIT */
/*
 * The table of what a collector has seen lately: raw keys, by their tags, and what was counted of them since. A raw key is
 * in one of two pairs, most in the first one; what goes to make room leaves its counts in its bucket.
 */
#ifndef PD_PROFILE_RECENT_H
#define PD_PROFILE_RECENT_H

#include "profile/collect.h"

static inline struct pd_recent *pd_recent_pair_in(struct pd_recent *recent, size_t count, const struct pd_tag *tag)
{
	return &recent[2 * (pd_tag_hash(tag) & (count / 2 - 1))];
}

static inline struct pd_recent *pd_recent_second_in(struct pd_recent *recent, size_t count, const struct pd_tag *tag)
{
	return &recent[2 * (pd_tag_hash(tag) >> 32 & (count / 2 - 1))];
}

static inline struct pd_recent *pd_recent_pair(const struct pd_collector *c, const struct pd_tag *tag)
{
	return pd_recent_pair_in(c->recent, c->recent_count, tag);
}

static inline struct pd_recent *pd_recent_second(const struct pd_collector *c, const struct pd_tag *tag)
{
	return pd_recent_second_in(c->recent, c->recent_count, tag);
}

// NULL if it is not in the pair.
static inline struct pd_recent *pd_recent_same(struct pd_recent *pair, const struct pd_tag *tag)
{
	for (size_t i = 0; i < 2; i++)
		if (pair[i].samples && pd_same_tag(&pair[i].tag, tag))
			return &pair[i];
	return NULL;
}

// False if there is no memory.
bool pd_recent_init(struct pd_collector *collector);
void pd_recent_fini(struct pd_collector *collector);
// A place for a raw key that is not in the table. It is taken as soon as its samples are counted.
struct pd_recent *pd_recent_add(struct pd_collector *collector, const struct pd_tag *tag, uint32_t bucket);
// What was counted beside the bucket goes into it.
void pd_recent_settle(struct pd_collector *collector, struct pd_recent *recent);
void pd_recent_settle_all(struct pd_collector *collector);
// Counts what a slice of time has of a bucket.
void pd_recent_add_portion(struct pd_collector *collector, const struct pd_portion *portion);

#endif
