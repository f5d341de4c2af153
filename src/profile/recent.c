/* SPDX-License-Identifier: MIT */
#include "profile/recent.h"

enum {
	RECENT_FIRST = 1 << 16,
	RECENT_LIMIT = 1 << 20,
};

void pd_recent_add_portion(struct pd_collector *c, const struct pd_portion *portion)
{
	struct pd_portions *portions = &c->portions;

	if (PD_GROW(portions->items, portions->capacity, portions->count + 1))
		portions->items[portions->count++] = *portion;
	else
		c->failed = true;
}

void pd_recent_settle(struct pd_collector *c, struct pd_recent *recent)
{
	if (!recent->samples)
		return;
	if (c->options->slices)
		pd_recent_add_portion(c, &(struct pd_portion){recent->period, recent->bucket, recent->samples, recent->strip});
	else
		pd_bucket_add(pd_bucket_at(c->common, recent->bucket), recent->samples, recent->period, 0);
	recent->samples = 0;
	recent->period = 0;
}

void pd_recent_settle_all(struct pd_collector *c)
{
	for (size_t i = 0; i < c->recent_count; i++)
		pd_recent_settle(c, &c->recent[i]);
	c->recent_used = 0;
}

static bool make_recent(size_t count, void **memory_out, struct pd_recent **recent_out)
{
	enum { LINE = 64 };
	void *memory = pd_alloc_table(count * sizeof(struct pd_recent) + LINE);

	if (!memory)
		return false;
	*memory_out = memory;
	// a pair is a line of the processor's cache
	*recent_out = (struct pd_recent *)(void *)((char *)memory + (LINE - (uintptr_t)memory % LINE) % LINE);
	return true;
}

static struct pd_recent *free_in(struct pd_recent *pair)
{
	if (!pair[0].samples)
		return &pair[0];
	return pair[1].samples ? NULL : &pair[1];
}

// NULL if both pairs are full.
static struct pd_recent *room_in(struct pd_recent *recent, size_t count, const struct pd_tag *tag)
{
	struct pd_recent *room = free_in(pd_recent_pair_in(recent, count, tag));

	return room ? room : free_in(pd_recent_second_in(recent, count, tag));
}

// Puts a raw key in place of the older one of its first pair, which moves where it has room, or goes.
static struct pd_recent *displace(struct pd_collector *c, const struct pd_recent *recent)
{
	struct pd_recent *pair = pd_recent_pair(c, &recent->tag), *room = room_in(c->recent, c->recent_count, &pair[1].tag);

	if (room) {
		*room = pair[1];
		c->recent_used++;
	} else {
		pd_recent_settle(c, &pair[1]);
	}
	pair[1] = pair[0];
	pair[0] = *recent;
	return pair;
}

// Without memory the table stays as it is.
static void grow_recent(struct pd_collector *c)
{
	size_t count = c->recent_count * 4, used = 0;
	struct pd_recent *recent;
	void *memory;

	if (!make_recent(count, &memory, &recent))
		return;
	for (size_t i = 0; i < c->recent_count; i++) {
		struct pd_recent *old = &c->recent[i], *room;

		if (!old->samples)
			continue;
		room = room_in(recent, count, &old->tag);
		if (room) {
			*room = *old;
			used++;
		} else {
			pd_recent_settle(c, old);
		}
	}
	pd_free(c->recent_memory);
	c->recent_memory = memory;
	c->recent = recent;
	c->recent_count = count;
	c->recent_used = used;
}

struct pd_recent *pd_recent_add(struct pd_collector *c, const struct pd_tag *tag, uint32_t bucket)
{
	const struct pd_recent recent = {.tag = *tag, .bucket = bucket};
	struct pd_recent *room;

	// from here on many would be in their second pair
	if (PD_UNLIKELY(c->recent_used * 2 >= c->recent_count && c->recent_count < RECENT_LIMIT))
		grow_recent(c);
	room = room_in(c->recent, c->recent_count, tag);
	if (!room)
		return displace(c, &recent);
	c->recent_used++;
	*room = recent;
	return room;
}

bool pd_recent_init(struct pd_collector *c)
{
	c->recent_count = RECENT_FIRST;
	return make_recent(c->recent_count, &c->recent_memory, &c->recent);
}

void pd_recent_fini(struct pd_collector *c)
{
	pd_free(c->recent_memory);
	c->recent_memory = NULL;
	c->recent = NULL;
	c->recent_count = 0;
}
