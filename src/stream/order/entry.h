/* SPDX-License-Identifier: MIT */
/* What is sorted of records. */
#ifndef PD_STREAM_ENTRY_H
#define PD_STREAM_ENTRY_H

#include "stream/cut/pieces.h"

struct pd_entry {
	uint64_t time_ns;
	uint32_t at;   // of the record: in the view of its chunk, or of a copy in units of PD_KEPT_ALIGN
	uint32_t word; // see below
};

// The rank of a key, the event of the file plus 1 (0: it has to be found again), and the number of the record in its piece.
enum {
	PD_ENTRY_PACKED = (1 << 11) - 1, // instead of the event, whose index is the number then: words, see pd_pack
	PD_ENTRY_EVENTS = PD_ENTRY_PACKED - 1,
	PD_ENTRY_NUMBERS = (1 << 20) - 1
};

static inline uint32_t pd_entry_word(uint32_t rank, uint32_t event, uint32_t number)
{
	return rank << 31 | event << 20 | number;
}

static inline uint32_t pd_entry_rank(const struct pd_entry *entry)
{
	return entry->word >> 31;
}

static inline uint32_t pd_entry_event(const struct pd_entry *entry)
{
	return entry->word >> 20 & PD_ENTRY_PACKED;
}

static inline struct pd_key pd_entry_key(const struct pd_entry *entry)
{
	return (struct pd_key){ entry->time_ns, pd_entry_rank(entry) };
}

static inline int pd_entry_compare(const struct pd_entry *a, const struct pd_entry *b)
{
	return pd_key_compare(pd_entry_key(a), pd_entry_key(b));
}

// The same as a condition, without a branch.
static inline bool pd_entry_is_before(const struct pd_entry *a, const struct pd_entry *b)
{
	return (a->time_ns < b->time_ns) | ((a->time_ns == b->time_ns) & (pd_entry_rank(a) < pd_entry_rank(b)));
}

// Memory for sorting.
struct pd_entry_sorter {
	struct pd_entry *spare;
	struct pd_entry_run *runs;
	size_t capacity, run_capacity;
};

// Sorts entries whose `at` ascends, as do those of one chunk; another memory may take their place. False if there is no memory.
bool pd_entries_sort(struct pd_entry **entries, size_t *capacity, size_t count, struct pd_entry_sorter *sorter);
void pd_entry_sorter_fini(struct pd_entry_sorter *sorter);

#endif
