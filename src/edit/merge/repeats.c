/* SPDX-License-Identifier: MIT */
/*
 * Records that come again. Pieces of a recording have in common what is no sample: what another piece has brought is
 * left out, what one piece has twice stays. Known are the records without a time, and those of the present time.
 */
#include "edit/merge/merge.h"

#include <string.h>

#include "base/lookup/hash.h"

// A record that was written. Two hashes with a secret: bytes that agree in both are the same.
struct fingerprint {
	uint64_t hash[2];
	size_t source;
};

struct list {
	struct fingerprint *items;
	size_t count, capacity;
};

struct pd_repeats {
	const struct pd_merge *merge;
	struct list untimed;
	struct pd_index untimed_index;
	struct list now;
	uint64_t now_ns;
	size_t *members; // pieces of a session, by its number
};

struct pd_repeats *pd_repeats_new(const struct pd_merge *merge)
{
	struct pd_repeats *repeats = pd_alloc(sizeof(*repeats));

	if (repeats)
		repeats->members = pd_alloc((merge->source_count + 1) * sizeof(*repeats->members));
	if (!repeats || !repeats->members) {
		pd_free(repeats);
		return NULL;
	}
	repeats->merge = merge;
	for (size_t i = 0; i < merge->source_count; i++)
		repeats->members[merge->sources[i]->session]++;
	return repeats;
}

void pd_repeats_free(struct pd_repeats *repeats)
{
	if (!repeats)
		return;
	pd_free(repeats->untimed.items);
	pd_index_fini(&repeats->untimed_index);
	pd_free(repeats->now.items);
	pd_free(repeats->members);
	pd_free(repeats);
}

static struct fingerprint hash_record(const struct pd_repeats *repeats, const struct pd_merge_source *source,
				      const struct pd_record *record)
{
	const uint64_t *secret = repeats->merge->secret;
	uint64_t hash[2] = { secret[0] ^ record->tail_size, secret[1] ^ source->session };
	struct pd_bytes bytes = record->bytes;

	hash[0] ^= (uint64_t)source->join.time_ns;
	for (size_t i = 0; i < bytes.size; i += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes.data + i, bytes.size - i < 8 ? bytes.size - i : 8);
		for (size_t j = 0; j < 2; j++) {
			unsigned __int128 product = (unsigned __int128)(word ^ hash[j]) * (secret[1 - j] | 1);

			hash[j] = (uint64_t)product ^ (uint64_t)(product >> 64) ^ (hash[j] << 7 | hash[j] >> 57);
		}
	}
	return (struct fingerprint){ { hash[0], hash[1] ^ bytes.size }, source->index };
}

static bool is_same(const struct fingerprint *a, const struct fingerprint *b)
{
	return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
}

static const struct fingerprint *find_untimed(const struct pd_repeats *repeats, const struct fingerprint *fingerprint)
{
	size_t at = (size_t)fingerprint->hash[0];
	uint32_t number;

	while ((number = pd_index_next(&repeats->untimed_index, fingerprint->hash[0], &at)) != PD_INDEX_END)
		if (is_same(&repeats->untimed.items[number], fingerprint))
			return &repeats->untimed.items[number];
	return NULL;
}

static const struct fingerprint *find_now(struct pd_repeats *repeats, const struct fingerprint *fingerprint,
					  uint64_t time_ns)
{
	if (time_ns != repeats->now_ns)
		repeats->now.count = 0;
	repeats->now_ns = time_ns;
	for (size_t i = 0; i < repeats->now.count; i++)
		if (is_same(&repeats->now.items[i], fingerprint))
			return &repeats->now.items[i];
	return NULL;
}

static bool keep(struct pd_repeats *repeats, const struct fingerprint *fingerprint, bool untimed)
{
	struct list *list = untimed ? &repeats->untimed : &repeats->now;

	if (!PD_GROW(list->items, list->capacity, list->count + 1) ||
	    (untimed && !pd_index_add(&repeats->untimed_index, fingerprint->hash[0], (uint32_t)list->count)))
		return false;
	list->items[list->count++] = *fingerprint;
	return true;
}

bool pd_repeats_take(struct pd_repeats *repeats, const struct pd_merge_source *source, const struct pd_record *record,
		     uint64_t time_ns, bool untimed, bool *repeated_out)
{
	const struct fingerprint *found;
	struct fingerprint fingerprint;

	*repeated_out = false;
	if (repeats->members[source->session] < 2)
		return true;
	fingerprint = hash_record(repeats, source, record);
	found = untimed ? find_untimed(repeats, &fingerprint) : find_now(repeats, &fingerprint, time_ns);
	if (!found)
		return keep(repeats, &fingerprint, untimed);
	*repeated_out = found->source != fingerprint.source;
	return true;
}
