/* SPDX-License-Identifier: MIT */
/*
 * The text of each address is made once: a table from objects and places in them to the line that perf script prints for
 * it. Threads have one table and read it without a lock; one at a time adds to it. Its memory is bounded: when it is full,
 * an empty one takes its place, and it goes when its last user has.
 */
#ifndef PD_SAMPLES_ADDRESSES_H
#define PD_SAMPLES_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PD_ADDRESS_PADDING = 64
}; /* bytes that can be read after a text */

struct pd_address_key {
	uint64_t what; /* see frame_key */
	uint64_t addr;
};

struct pd_address_text {
	struct pd_address_key key;
	uint32_t size; /* of the text, which follows */
};

/* Small, since samples come from everywhere and most slots are far from the processor: 32 bits of the hash, and the place
 * of a frame, in units of struct pd_address_text. 0: the slot is free. */
typedef uint64_t pd_address_slot;

/* Open addressing, at most half full. */
struct pd_address_slots {
	size_t mask;
	struct pd_address_slots *older; /* somebody may look into them yet */
	pd_address_slot items[];
};

struct pd_address_table {
	struct pd_address_slots *slots; /* who adds makes larger ones */
	size_t mask;                    /* of the slots */
	/* With their texts, from the last to the first: what is after a text is written before it. They stay where they are. */
	struct pd_address_text *items;
	size_t used; /* slots */
	size_t left; /* of the items, in units of struct pd_address_text */
	size_t users;
};

struct pd_address_home;

/* What one thread has of the table. All zero is ready for use, by one thread alone. */
struct pd_address_texts {
	struct pd_address_home *home;
	struct pd_address_table *const *now; /* of the home */
	struct pd_address_table *table;
	/* Of the table, close at worker; larger slots are known with the next keeping up. */
	const pd_address_slot *slots;
	size_t mask;
	const struct pd_address_text *items;
	uint32_t generation; /* another one: texts of before may be gone */
};

void pd_address_texts_fini(struct pd_address_texts *frames);
/* Forgets everything; for one thread alone. */
void pd_address_texts_clear(struct pd_address_texts *frames);
/* Lets one more thread have the table of another one, which does not use it meanwhile. False if there is no memory. */
bool pd_address_texts_join(struct pd_address_texts *frames, struct pd_address_texts *other);
/* Keeps a text. Without memory it is not kept. */
void pd_address_texts_put(struct pd_address_texts *frames, const struct pd_address_key *key, const char *text,
			  size_t size);
/* Takes the present table and its slots. */
void pd_address_texts_follow(struct pd_address_texts *frames);

/* Of an object by its index, or of the kernel by what it has mapped; style is the CPU mode and the fields that are
 * shown. */
static inline struct pd_address_key pd_address_key(size_t place, uint32_t style, uint64_t addr)
{
	return (struct pd_address_key){ (uint64_t)place << 32 | style, addr };
}

static inline uint64_t pd_address_hash(const struct pd_address_key *key)
{
	uint64_t mixed = (key->addr ^ key->what * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);

	return mixed ^ mixed >> 32;
}

/* The text of an address, or NULL if there is none yet. Valid until the next call of another function. */
static inline const struct pd_address_text *pd_address_texts_get(const struct pd_address_texts *frames,
								 const struct pd_address_key *key)
{
	uint64_t hash = pd_address_hash(key);
	pd_address_slot slot;

	if (!frames->slots)
		return NULL;
	for (size_t at = (size_t)hash & frames->mask;
	     (slot = __atomic_load_n(&frames->slots[at], __ATOMIC_ACQUIRE)) != 0; at = (at + 1) & frames->mask) {
		const struct pd_address_text *frame = &frames->items[(uint32_t)slot];

		if (slot >> 32 == hash >> 32 && frame->key.addr == key->addr && frame->key.what == key->what)
			return frame;
	}
	return NULL;
}

/* Asks for what pd_address_texts_get looks at first, and returns it; NULL: there are no texts. */
static inline const pd_address_slot *pd_address_texts_fetch(const struct pd_address_texts *frames,
							    const struct pd_address_key *key, uint32_t *tag_out)
{
	uint64_t hash = pd_address_hash(key);
	const pd_address_slot *slot;

	if (!frames->slots)
		return NULL;
	slot = &frames->slots[(size_t)hash & frames->mask];
	__builtin_prefetch(slot);
	*tag_out = (uint32_t)(hash >> 32);
	return slot;
}

/* Asks for what pd_address_texts_get most likely answers, and returns it; NULL: there is nothing likely. */
static inline const struct pd_address_text *pd_address_texts_fetch_text(const struct pd_address_texts *frames,
									const pd_address_slot *slot, uint32_t tag)
{
	pd_address_slot found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	const struct pd_address_text *frame = &frames->items[(uint32_t)found];

	if (!found || (uint32_t)(found >> 32) != tag)
		return NULL;
	__builtin_prefetch(frame);
	__builtin_prefetch((const char *)frame + 64);
	return frame;
}

/* For what that returned. */
static inline bool pd_address_text_is_of(const struct pd_address_text *frame, const struct pd_address_key *key)
{
	return frame && frame->key.addr == key->addr && frame->key.what == key->what;
}

/* Takes what took the place of a full table or of slots. To be called now and then: a full table stays as long as it has
 * users. */
static inline void pd_address_texts_keep_up(struct pd_address_texts *frames)
{
	if (frames->now && (__atomic_load_n(frames->now, __ATOMIC_RELAXED) != frames->table ||
			    (frames->table && __atomic_load_n(&frames->table->mask, __ATOMIC_RELAXED) != frames->mask)))
		pd_address_texts_follow(frames);
}

static inline const char *pd_address_text(const struct pd_address_text *frame)
{
	return (const char *)(frame + 1);
}

#endif
