/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "samples/addresses.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

enum {
	SLOTS_LEAST = 1024,
	SLOTS_MOST = 1 << 21,
	ITEMS_LEAST = (2 << 20) / sizeof(struct pd_address_text),
	ITEMS_MOST = (96 << 20) / sizeof(struct pd_address_text),
	PART_OF_LIMIT = 32,
	LONGEST = 1 << 20 /* bytes of a text */
};

/* What the threads have in common. */
struct pd_address_home {
	pthread_mutex_t lock; /* over all of it, and over what is added to tables */
	struct pd_address_table *now;
	size_t users;
	bool is_shared; /* there have been several: one alone needs no lock */
};

/* ---- tables ---- */

static struct pd_address_slots *make_slots(size_t count)
{
	struct pd_address_slots *slots = pd_alloc(sizeof(*slots) + count * sizeof(slots->items[0]));

	if (slots)
		slots->mask = count - 1;
	return slots;
}

static void table_free(struct pd_address_table *table)
{
	struct pd_address_slots *older;

	for (struct pd_address_slots *slots = table->slots; slots; slots = older) {
		older = slots->older;
		pd_free(slots);
	}
	pd_free(table->items);
	pd_free(table);
}

/* Pages that are not written yet are no memory, unless the process has only so many. */
static size_t items_most(void)
{
	static const int kinds[] = { RLIMIT_AS, RLIMIT_DATA };
	size_t most = ITEMS_MOST;
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		while (most / 2 >= ITEMS_LEAST && getrlimit(kinds[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
		       most * sizeof(struct pd_address_text) > limit.rlim_cur / PART_OF_LIMIT)
			most /= 2;
	return most;
}

static size_t units(size_t bytes)
{
	return (bytes + sizeof(struct pd_address_text) - 1) / sizeof(struct pd_address_text);
}

static struct pd_address_table *table_new(void)
{
	struct pd_address_table *table = pd_alloc(sizeof(*table));
	size_t capacity = items_most();

	if (!table)
		return NULL;
	table->slots = make_slots(SLOTS_LEAST);
	table->items = pd_alloc(capacity * sizeof(*table->items));
	table->left = capacity - units(PD_ADDRESS_PADDING);
	if (table->slots && table->items) {
		table->mask = table->slots->mask;
		return table;
	}
	table_free(table);
	return NULL;
}

static void put_slot(struct pd_address_slots *slots, uint64_t hash, size_t item)
{
	size_t at = (size_t)hash & slots->mask;

	while (slots->items[at])
		at = (at + 1) & slots->mask;
	__atomic_store_n(&slots->items[at], hash >> 32 << 32 | item, __ATOMIC_RELEASE);
}

static bool grow_slots(struct pd_address_table *table)
{
	struct pd_address_slots *old = table->slots, *slots = make_slots((old->mask + 1) * 2);

	if (!slots)
		return false;
	slots->older = old;
	for (size_t i = 0; i <= old->mask; i++)
		if (old->items[i])
			put_slot(slots, pd_address_hash(&table->items[(uint32_t)old->items[i]].key),
				 (uint32_t)old->items[i]);
	table->slots = slots;
	__atomic_store_n(&table->mask, slots->mask, __ATOMIC_RELAXED);
	return true;
}

static bool is_full(const struct pd_address_table *table, size_t count)
{
	/* the first unit is of nobody: 0 is a free slot */
	return count >= table->left || table->used * 2 >= SLOTS_MOST;
}

static void table_put(struct pd_address_table *table, const struct pd_address_key *key, const char *text, size_t size)
{
	size_t place = table->left - 1 - units(size);
	struct pd_address_text *frame = &table->items[place];

	if (table->used * 2 > table->slots->mask && !grow_slots(table))
		return;
	*frame = (struct pd_address_text){ .key = *key, .size = (uint32_t)size };
	memcpy(frame + 1, text, size);
	put_slot(table->slots, pd_address_hash(key), place);
	table->left = place;
	table->used++;
}

/* ---- users; with the lock held ---- */

static void leave(struct pd_address_texts *frames)
{
	struct pd_address_table *table = frames->table;

	frames->generation++;
	frames->table = NULL;
	frames->slots = NULL;
	frames->items = NULL;
	if (!table || --table->users)
		return;
	if (frames->home->now == table)
		__atomic_store_n(&frames->home->now, NULL, __ATOMIC_RELAXED);
	table_free(table);
}

static void take_slots(struct pd_address_texts *frames)
{
	frames->slots = frames->table->slots->items;
	frames->mask = frames->table->slots->mask;
}

static void enter(struct pd_address_texts *frames)
{
	frames->table = frames->home->now;
	if (!frames->table)
		return;
	frames->table->users++;
	frames->items = frames->table->items;
	take_slots(frames);
}

/* Leaves the table behind for an empty one. */
static void begin_anew(struct pd_address_texts *frames)
{
	leave(frames);
	__atomic_store_n(&frames->home->now, table_new(), __ATOMIC_RELAXED);
	enter(frames);
}

static void follow(struct pd_address_texts *frames)
{
	if (frames->table != frames->home->now) {
		leave(frames);
		enter(frames);
	} else if (frames->table) {
		take_slots(frames);
	}
}

/* ---- all of it ---- */

static bool make_home(struct pd_address_texts *frames)
{
	if (frames->home)
		return true;
	frames->home = pd_alloc(sizeof(*frames->home));
	if (!frames->home)
		return false;
	pthread_mutex_init(&frames->home->lock, NULL);
	frames->home->users = 1;
	frames->now = &frames->home->now;
	return true;
}

bool pd_address_texts_join(struct pd_address_texts *frames, struct pd_address_texts *other)
{
	*frames = (struct pd_address_texts){ 0 };
	if (!make_home(other))
		return false;
	frames->home = other->home;
	frames->now = other->now;
	frames->home->is_shared = true;
	pthread_mutex_lock(&frames->home->lock);
	frames->home->users++;
	enter(frames);
	pthread_mutex_unlock(&frames->home->lock);
	return true;
}

void pd_address_texts_fini(struct pd_address_texts *frames)
{
	struct pd_address_home *home = frames->home;
	bool last;

	if (!home)
		return;
	pthread_mutex_lock(&home->lock);
	leave(frames);
	last = --home->users == 0;
	pthread_mutex_unlock(&home->lock);
	if (last) {
		pthread_mutex_destroy(&home->lock);
		pd_free(home);
	}
	*frames = (struct pd_address_texts){ 0 };
}

void pd_address_texts_clear(struct pd_address_texts *frames)
{
	if (!frames->home)
		return;
	pthread_mutex_lock(&frames->home->lock);
	leave(frames);
	pthread_mutex_unlock(&frames->home->lock);
}

void pd_address_texts_follow(struct pd_address_texts *frames)
{
	pthread_mutex_lock(&frames->home->lock);
	follow(frames);
	pthread_mutex_unlock(&frames->home->lock);
}

void pd_address_texts_put(struct pd_address_texts *frames, const struct pd_address_key *key, const char *text,
			  size_t size)
{
	bool locks;

	if (!size || size > LONGEST || !make_home(frames))
		return;
	locks = frames->home->is_shared;
	if (locks)
		pthread_mutex_lock(&frames->home->lock);
	follow(frames);
	if (!frames->table || is_full(frames->table, 1 + units(size)))
		begin_anew(frames);
	if (frames->table) {
		/* another thread may have made it meanwhile */
		if (!pd_address_texts_get(frames, key))
			table_put(frames->table, key, text, size);
		take_slots(frames);
	}
	if (locks)
		pthread_mutex_unlock(&frames->home->lock);
}
