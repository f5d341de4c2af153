/* SPDX-License-Identifier: MIT */
/*
 * Where addresses go. All that was ever mapped in user space is joined to ranges that do not touch each other; each range
 * gets a place of its own, and what is in it moves along. So maps that overlap or follow each other still do, in every
 * process and at every time, and an address keeps its offset in its object. The kernel with its modules moves as a whole.
 * What is in no range becomes a number that the key makes of it.
 */
#include "scrub.h"

#include <stdlib.h>
#include <string.h>

#define KERNEL_HALF (UINT64_C(1) << 63)
#define VSYSCALL UINT64_C(0xffffffffff600000)
/* Places for what is in no range: where nothing is ever mapped. */
#define ODD_USER (UINT64_C(1) << 55)
#define ODD_KERNEL (UINT64_C(0xff) << 56)
#define ODD_MASK (ODD_USER - 1)

enum {
	PAGE = 4096,
	GRAIN_BITS = 16, /* pages of all machines */
	GRAIN = 1 << GRAIN_BITS,
	FIRST_MERGE = 4096,
	ANCHOR_BITS = 21,
	MOST_BITS = 46 /* what is larger is no map of a program */
};

enum scrub_space scrub_space_of(uint16_t misc)
{
	switch (PD_BITS(misc, PD_MISC_CPUMODE)) {
	case PD_CPUMODE_KERNEL:
		return SPACE_KERNEL;
	case PD_CPUMODE_USER:
		return SPACE_USER;
	case PD_CPUMODE_GUEST_KERNEL:
		return SPACE_GUEST;
	}
	return SPACE_ANY;
}

static enum scrub_space space_of_map(uint16_t misc, uint32_t pid, uint64_t addr)
{
	enum scrub_space space = scrub_space_of(misc);

	if (space != SPACE_ANY)
		return space;
	return pid == UINT32_MAX || addr >= KERNEL_HALF ? SPACE_KERNEL : SPACE_USER;
}

/* ---- the plan ---- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void merge(struct space *space)
{
	size_t count = 0;

	if (space->count)
		qsort(space->ranges, space->count, sizeof(*space->ranges), by_start);
	for (size_t i = 0; i < space->count; i++) {
		struct range *last = count ? &space->ranges[count - 1] : NULL, *range = &space->ranges[i];

		if (last && (range->start <= last->end || range->start == last->end + 1)) {
			if (range->end > last->end)
				last->end = range->end;
		} else {
			space->ranges[count++] = *range;
		}
	}
	space->count = count;
}

/* The kernel is often mapped to the end of all addresses. */
static uint64_t kernel_size(uint64_t start, uint64_t size)
{
	uint64_t most = UINT64_C(1) << 48;

	if (start >= KERNEL_HALF)
		most = -start;
	else if (start >= UINT64_C(1) << 31 && start < UINT64_C(1) << 32)
		most = (UINT64_C(1) << 32) - start;
	return size < most ? size : most;
}

static bool add(struct scrub *scrub, enum scrub_space which, uint64_t start, uint64_t size)
{
	struct space *space = &scrub->spaces[which];
	struct range *more;

	if (!size)
		return true;
	if (which != SPACE_USER)
		size = kernel_size(start, size);
	if (size >> (which == SPACE_USER ? MOST_BITS : 63) || !start || start > UINT64_MAX - (size - 1)) {
		scrub->counts.unplaced += which == SPACE_USER;
		return true;
	}
	if (space->count >= space->merge_at && space->count >= FIRST_MERGE) {
		merge(space);
		space->merge_at = 2 * space->count;
	}
	if (space->count == space->capacity) {
		space->capacity = space->capacity ? 2 * space->capacity : 256;
		more = realloc(space->ranges, space->capacity * sizeof(*more));
		if (!more)
			return false;
		space->ranges = more;
	}
	space->ranges[space->count++] = (struct range){ .start = start, .end = start + (size - 1) };
	return true;
}

static bool add_map(struct scrub *scrub, uint16_t misc, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff)
{
	enum scrub_space space = space_of_map(misc, pid, addr);

	/* A recorder that may not see addresses of the kernel maps it everywhere. */
	if (space != SPACE_USER && !addr && pgoff >= KERNEL_HALF)
		return add(scrub, space, pgoff & ~(uint64_t)((1 << ANCHOR_BITS) - 1), UINT64_C(1) << 30);
	return add(scrub, space, addr, len);
}

bool scrub_note_mapping(struct scrub *scrub, const struct pd_record *record)
{
	const struct pd_mmap2 *mmap2 = pd_as_mmap2(record);
	const struct pd_mmap *mmap = pd_as_mmap(record);
	const struct pd_ksymbol *ksymbol = pd_as_ksymbol(record);

	if (mmap2)
		return add_map(scrub, record->misc, mmap2->pid, mmap2->addr, mmap2->len, mmap2->pgoff);
	if (mmap)
		return add_map(scrub, record->misc, mmap->pid, mmap->addr, mmap->len, mmap->pgoff);
	return !ksymbol || add(scrub, SPACE_KERNEL, ksymbol->addr, ksymbol->len);
}

struct place {
	uint64_t order;
	struct range *range;
};

static int by_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* In an order and with gaps that only the key knows. */
static bool plan_user(struct scrub *scrub)
{
	struct space *space = &scrub->spaces[SPACE_USER];
	struct place *places = calloc(space->count + 1, sizeof(*places));
	uint64_t total = 0, base = UINT64_C(1) << 45, room = UINT64_C(1) << 46, at, gap;

	if (!places)
		return false;
	for (size_t i = 0; i < space->count; i++) {
		struct range *range = &space->ranges[i];

		places[i] = (struct place){ scrub_number_of(scrub, CLASS_CODE, range->start), range };
		total += ((range->end - range->start) >> GRAIN_BITS) + 2;
	}
	qsort(places, space->count, sizeof(*places), by_order);
	if (total > room >> (GRAIN_BITS + 1)) {
		base = UINT64_C(1) << 49;
		room = UINT64_C(1) << 54;
	}
	room >>= GRAIN_BITS;
	gap = total < room ? (room - total) / (space->count + 1) + 1 : 1;
	at = base >> GRAIN_BITS;
	for (size_t i = 0; i < space->count; i++) {
		struct range *range = places[i].range;

		at += scrub_number_of(scrub, CLASS_OFFSET, places[i].order) % gap;
		range->delta = (at << GRAIN_BITS) - (range->start & ~(uint64_t)(GRAIN - 1));
		at += ((range->end - range->start) >> GRAIN_BITS) + 2;
	}
	free(places);
	return true;
}

/* One step for all of a half, down from the upper one, up from below. */
static void plan_kernel(struct scrub *scrub, enum scrub_space which)
{
	struct space *space = &scrub->spaces[which];
	uint64_t random = scrub_number_of(scrub, CLASS_KERNEL_CODE, which);

	random = (random % (1 << 16) + 1) << ANCHOR_BITS;
	for (size_t i = 0; i < space->count; i++) {
		struct range *range = &space->ranges[i];

		if (range->start >= KERNEL_HALF)
			range->delta = -random;
		else if (range->start >= UINT64_C(1) << 31 && range->end < UINT64_C(1) << 32)
			range->delta = -(random & ((1 << 28) - 1));
		else
			range->delta = range->end < KERNEL_HALF - random ? random : 0;
	}
}

bool scrub_plan_addresses(struct scrub *scrub)
{
	for (size_t i = 0; i < SPACE_COUNT; i++)
		merge(&scrub->spaces[i]);
	plan_kernel(scrub, SPACE_KERNEL);
	plan_kernel(scrub, SPACE_GUEST);
	return plan_user(scrub);
}

/* ---- by the plan ---- */

static const struct range *range_at(struct space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	if (space->last < space->count && address >= space->ranges[space->last].start &&
	    address <= space->ranges[space->last].end)
		return &space->ranges[space->last];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address > space->ranges[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == space->count || address < space->ranges[low].start)
		return NULL;
	space->last = low;
	return &space->ranges[low];
}

static const struct range *find(struct scrub *scrub, enum scrub_space space, uint64_t address)
{
	const struct range *range = NULL;

	if (space == SPACE_GUEST)
		return range_at(&scrub->spaces[SPACE_GUEST], address);
	if (space != SPACE_KERNEL && address < KERNEL_HALF)
		range = range_at(&scrub->spaces[SPACE_USER], address);
	if (!range && (space != SPACE_USER || address >= KERNEL_HALF))
		range = range_at(&scrub->spaces[SPACE_KERNEL], address);
	return range;
}

static uint64_t make_odd(struct scrub *scrub, uint64_t address)
{
	return (scrub_number_of(scrub, CLASS_DATA, address) & ODD_MASK) |
	       (address >= KERNEL_HALF ? ODD_KERNEL : ODD_USER);
}

/* Places in one cache line or page stay together. */
static uint64_t make_odd_page(struct scrub *scrub, uint64_t address)
{
	return ((scrub_number_of(scrub, CLASS_PHYSICAL, address) * PAGE) & ODD_MASK) |
	       (address >= KERNEL_HALF ? ODD_KERNEL : ODD_USER);
}

static uint64_t odd(struct scrub *scrub, uint64_t address, bool data)
{
	/* Near 0 nothing can be but a mistake of the program. */
	if (address < PAGE && scrub->level < LEVEL_ALL)
		return address;
	if (data && address >= PAGE && scrub->level < LEVEL_ALL)
		return memo_get(scrub, CLASS_PHYSICAL, address & ~(uint64_t)(PAGE - 1), make_odd_page) |
		       (address & (PAGE - 1));
	return memo_get(scrub, CLASS_DATA, address, make_odd);
}

uint64_t scrub_address(struct scrub *scrub, enum scrub_space space, uint64_t address, bool data)
{
	const struct range *range;

	if (!address || scrub_action(scrub, CLASS_CODE) == ACTION_KEEP)
		return address;
	/* It is there in every process, always. */
	if ((address & ~(uint64_t)(PAGE - 1)) == VSYSCALL)
		return address;
	range = find(scrub, space, address);
	return range ? address + range->delta : odd(scrub, address, data);
}

/* Markers say what the entries behind them are; behind a deferred user part is a number that is no address. */
void scrub_chain(struct scrub *scrub, uint64_t *items, size_t count)
{
	enum scrub_space space = scrub->space;

	for (size_t i = 0; i < count; i++) {
		if (items[i] < PD_CONTEXT_MAX) {
			items[i] = scrub_address(scrub, space, items[i], false);
			continue;
		}
		switch ((int64_t)items[i]) {
		case PD_CONTEXT_KERNEL:
			space = SPACE_KERNEL;
			break;
		case PD_CONTEXT_USER:
			space = SPACE_USER;
			break;
		case PD_CONTEXT_GUEST_KERNEL:
			space = SPACE_GUEST;
			break;
		case PD_CONTEXT_USER_DEFERRED:
			i++;
			break;
		default:
			space = SPACE_ANY;
		}
	}
}

/* ---- maps ---- */

struct map {
	uint16_t misc;
	uint32_t pid;
	uint64_t addr, len, pgoff;
	const struct pd_str *name;
};

static bool is_file(const struct pd_str *name)
{
	return name->length && name->data[0] != '[' && strncmp(name->data, "//anon", 6) != 0 &&
	       strncmp(name->data, "anon_inode:", 11) != 0;
}

/* What the kernel gives as offset in memory without a file is the address that it had at first. */
static uint64_t move_offset(struct scrub *scrub, const struct map *map, enum scrub_space space, uint64_t moved)
{
	const struct range *range;

	if (!map->pgoff && !is_file(map->name))
		return 0;
	if (space != SPACE_USER) {
		range = find(scrub, space, map->pgoff);
		if (range)
			return map->pgoff + range->delta;
		return map->pgoff >= KERNEL_HALF ? odd(scrub, map->pgoff, false) : map->pgoff;
	}
	if (!is_file(map->name))
		return map->pgoff + (moved - map->addr);
	if (scrub_action(scrub, CLASS_OFFSET) == ACTION_KEEP)
		return map->pgoff;
	return map->pgoff +
	       (scrub_number_of_text(scrub, CLASS_OFFSET, map->name->data, map->name->length) % 4096 + 1) * GRAIN;
}

static void move_map(struct scrub *scrub, struct map *map)
{
	enum scrub_space space = space_of_map(map->misc, map->pid, map->addr);
	uint64_t moved = scrub_address(scrub, space, map->addr, true);

	scrub->counts.values[CLASS_CODE]++;
	scrub->counts.values[CLASS_OFFSET]++;
	if (scrub_action(scrub, CLASS_CODE) == ACTION_KEEP)
		return;
	map->pgoff = move_offset(scrub, map, space, moved);
	map->addr = moved;
	if (map->len > UINT64_MAX - moved)
		map->len = UINT64_MAX - moved;
}

void scrub_special_mmap(struct scrub *scrub, struct pd_mmap *mmap)
{
	struct map map = { scrub->misc, mmap->pid, mmap->addr, mmap->len, mmap->pgoff, &mmap->filename };

	move_map(scrub, &map);
	mmap->addr = map.addr;
	mmap->len = map.len;
	mmap->pgoff = map.pgoff;
}

static struct pd_bytes without_tail(struct scrub *scrub, struct pd_bytes id, size_t used)
{
	uint8_t *now = room_take(&scrub->room, id.size + 1);

	scrub->failed |= !now;
	if (!now)
		return (struct pd_bytes){ 0 };
	memcpy(now, id.data, used < id.size ? used : id.size);
	return (struct pd_bytes){ now, id.size };
}

void scrub_special_mmap2(struct scrub *scrub, struct pd_mmap2 *mmap2)
{
	struct map map = { scrub->misc, mmap2->pid, mmap2->addr, mmap2->len, mmap2->pgoff, &mmap2->filename };

	move_map(scrub, &map);
	mmap2->addr = map.addr;
	mmap2->len = map.len;
	mmap2->pgoff = map.pgoff;
	if (mmap2->build_id.size)
		mmap2->build_id = without_tail(scrub, mmap2->build_id, mmap2->build_id_size);
}

void scrub_special_header_build_id(struct scrub *scrub, struct pd_header_build_id *id)
{
	bool sized = scrub->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE);

	if (id->build_id.size)
		id->build_id = without_tail(scrub, id->build_id, sized ? id->size : id->build_id.size);
	if (!sized)
		id->size = 0;
}
