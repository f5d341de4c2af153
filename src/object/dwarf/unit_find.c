/* SPDX-License-Identifier: MIT */
/*
 * Looks addresses up in tables. Steps, made when a table is taken, say between which entries an address is; few are left
 * to be compared then, without branches that cannot be foreseen, so that one look-up need not wait for the one before.
 */
#include "object/dwarf/unit_table.h"

#include <string.h>

enum {
	DEEPEST = 1024, // links that are looked at for one address
	ENTRIES_OF_STEP = 2
};

// ---- taking ----

static bool is_text(const struct pd_unit_table *t, uint32_t text)
{
	return text < t->texts_size || text == 0;
}

static bool is_valid_link(const struct pd_unit_table *t, const struct pd_unit_link *link)
{
	if (link->name == PD_UNIT_JUMP)
		return link->call_file < t->link_count;
	return is_text(t, link->name & ~PD_UNIT_LAST) && is_text(t, link->call_file);
}

static bool are_valid_links(const struct pd_unit_table *t)
{
	const struct pd_unit_link *last = t->links + t->link_count - 1;

	for (uint32_t i = 0; i < t->link_count; i++)
		if (!is_valid_link(t, &t->links[i]))
			return false;
	return !t->link_count || (last->name & PD_UNIT_LAST) || last->name == PD_UNIT_JUMP;
}

static uint32_t end_of_range(const struct pd_unit_table *t, uint32_t range)
{
	return range + 1 < t->range_count ? t->ranges[range + 1].first : t->entry_count;
}

static bool is_valid_range(const struct pd_unit_table *t, uint32_t range)
{
	uint32_t first = t->ranges[range].first, end = end_of_range(t, range);

	if (end <= first || end > t->entry_count || (range && t->ranges[range].start <= t->ranges[range - 1].start) ||
	    t->entries[first].offset)
		return false;
	for (uint32_t i = first + 1; i < end; i++)
		if (t->entries[i].offset <= t->entries[i - 1].offset)
			return false;
	return true;
}

static bool is_valid(const struct pd_unit_table *t)
{
	if ((t->texts_size && t->texts[t->texts_size - 1]) || t->range_count > PD_UNIT_RANGES ||
	    (t->entry_count && (!t->range_count || t->ranges[0].first)) || !are_valid_links(t))
		return false;
	for (uint32_t i = 0; i < t->range_count; i++)
		if (!is_valid_range(t, i))
			return false;
	for (uint32_t i = 0; i < t->entry_count; i++) {
		const struct pd_unit_entry *entry = &t->entries[i];

		if ((!is_text(t, entry->file) && entry->file != PD_NO_TEXT) ||
		    (entry->chain >= t->link_count && entry->chain != PD_NO_SCOPE))
			return false;
	}
	return true;
}

static uint32_t length_of_range(const struct pd_unit_table *t, uint32_t range)
{
	return t->entries[end_of_range(t, range) - 1].offset;
}

// A step is the last entry that starts up to its first address.
static void fill_steps(struct pd_unit_table *t, uint32_t range, uint32_t *steps, uint32_t count)
{
	uint32_t at = t->ranges[range].first, end = end_of_range(t, range);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t from = (uint64_t)i << t->shift;

		while (at + 1 < end && t->entries[at + 1].offset <= from)
			at++;
		steps[i] = at;
	}
	steps[count] = end - 1;
}

static bool make_steps(struct pd_unit_table *t)
{
	uint64_t sum = 0, count = 0;
	uint32_t *steps;

	for (uint32_t i = 0; i < t->range_count; i++)
		sum += length_of_range(t, i);
	while (t->shift < 32 && sum >> t->shift > t->entry_count / ENTRIES_OF_STEP)
		t->shift++;
	// one more for each range: its end
	for (uint32_t i = 0; i < t->range_count; i++)
		count += ((uint64_t)length_of_range(t, i) >> t->shift) + 2;
	t->indexes = pd_realloc(NULL, t->range_count * sizeof(*t->indexes) + (size_t)count * sizeof(*steps) + 1);
	if (!t->indexes)
		return false;
	t->steps = steps = (uint32_t *)(void *)(t->indexes + t->range_count);
	count = 0;
	for (uint32_t i = 0; i < t->range_count; i++) {
		uint32_t length = (length_of_range(t, i) >> t->shift) + 1;

		t->indexes[i] = (struct pd_unit_index){ t->ranges[i].start, (uint32_t)count, length };
		fill_steps(t, i, steps + count, length);
		count += length + 1;
	}
	return true;
}

bool pd_unit_table_use(struct pd_unit_table *table_out, const void *block, size_t size)
{
	struct pd_unit_table t = { .block = block, .size = size };
	struct pd_unit_head head;
	uint64_t need;

	if (size >= sizeof(head)) {
		memcpy(&head, block, sizeof(head));
		need = sizeof(head) + (uint64_t)head.range_count * sizeof(*t.ranges) +
		       (uint64_t)head.entry_count * sizeof(*t.entries) + (uint64_t)head.link_count * sizeof(*t.links) +
		       head.texts_size;
		if (need == size) {
			// the block is aligned, and each part is a multiple of the next one's alignment
			t.ranges = (const void *)((const uint8_t *)block + sizeof(head));
			t.entries = (const void *)(t.ranges + head.range_count);
			t.links = (const void *)(t.entries + head.entry_count);
			t.texts = (const void *)(t.links + head.link_count);
			t.range_count = head.range_count;
			t.entry_count = head.entry_count;
			t.link_count = head.link_count;
			t.texts_size = head.texts_size;
		}
	}
	if (!t.ranges || !is_valid(&t) || !make_steps(&t))
		return false;
	*table_out = t;
	return true;
}

bool pd_unit_table_take(struct pd_unit_table *table_out, void *block, size_t size)
{
	if (!pd_unit_table_use(table_out, block, size)) {
		pd_free(block);
		return false;
	}
	table_out->owned = block;
	return true;
}

void pd_unit_table_fini(struct pd_unit_table *table)
{
	pd_free(table->owned);
	pd_free(table->indexes);
	*table = (struct pd_unit_table){ .block = NULL };
}

// ---- lookup ----

// The range that has an address; NULL in front of the first one.
static const struct pd_unit_index *find_index(const struct pd_unit_table *t, uint64_t addr)
{
	const struct pd_unit_index *index = t->indexes + t->range_count;

	while (index != t->indexes) {
		index--;
		if (addr >= index->start)
			return index;
	}
	return NULL;
}

// An entry if it starts up to an offset, else another one; without a branch.
static uint32_t later_of(const struct pd_unit_table *t, uint32_t first, uint32_t at, uint32_t offset)
{
	uint32_t mask = (uint32_t)0 - (t->entries[at].offset <= offset);

	return first ^ ((first ^ at) & mask);
}

// The last entry that starts up to an address of a range.
static uint32_t find_entry(const struct pd_unit_table *t, const struct pd_unit_index *index, uint64_t addr)
{
	uint32_t offset = addr - index->start < UINT32_MAX ? (uint32_t)(addr - index->start) : UINT32_MAX;
	uint32_t step = (uint32_t)((uint64_t)offset >> t->shift), first, last;

	step = index->first + (step < index->count ? step : index->count - 1);
	first = t->steps[step];
	last = t->steps[step + 1];
	while (last - first > 3) {
		uint32_t half = (last - first) / 2, at = later_of(t, first, first + half, offset);

		last = at == first ? first + half - 1 : last;
		first = at;
	}
	first = later_of(t, first, first + 2 < last ? first + 2 : last, offset);
	return later_of(t, first, first < last ? first + 1 : last, offset);
}

static const char *text_at(const struct pd_unit_table *t, uint32_t text)
{
	return text == PD_NO_TEXT || text == 0 ? NULL : t->texts + text;
}

static size_t walk_chain(const struct pd_unit_table *t, uint32_t chain, struct pd_lines_frame frame,
			 struct pd_lines_frame *frames_out, size_t capacity)
{
	const struct pd_unit_link *link = &t->links[chain];
	size_t n = 0;

	// jumps may go round in circles in a hostile file
	for (unsigned i = 0; i < DEEPEST; i++) {
		if (link->name == PD_UNIT_JUMP) {
			link = &t->links[link->call_file];
			continue;
		}
		frame.name = text_at(t, link->name & ~PD_UNIT_LAST);
		frame.inlined = !(link->name & PD_UNIT_LAST);
		if (n < capacity)
			frames_out[n] = frame;
		n++;
		if (!frame.inlined)
			break;
		frame.file = text_at(t, link->call_file);
		frame.line = link->call_line;
		link++;
	}
	return n;
}

size_t pd_unit_table_find(const struct pd_unit_table *t, uint64_t addr, struct pd_lines_frame *frames_out,
			  size_t capacity)
{
	const struct pd_unit_index *index = find_index(t, addr);
	struct pd_lines_frame frame = { .name = NULL };
	const struct pd_unit_entry *entry;

	if (!index)
		return 0;
	entry = &t->entries[find_entry(t, index, addr)];
	frame.file = text_at(t, entry->file);
	frame.line = entry->line;
	if (entry->chain != PD_NO_SCOPE)
		return walk_chain(t, entry->chain, frame, frames_out, capacity);
	if (entry->file == PD_NO_TEXT)
		return 0;
	if (capacity)
		frames_out[0] = frame;
	return 1;
}
