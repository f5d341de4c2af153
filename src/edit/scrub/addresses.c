/* SPDX-License-Identifier: MIT */
/*
 * Where addresses go. All that was ever mapped in user space is joined to ranges that do not touch each other; each range
 * gets a place of its own, and what is in it moves along. So maps that overlap or follow each other still do, in every
 * process and at every time, and an address keeps its offset in its object. The kernel with its modules moves as a whole.
 * What is in no range becomes a number that the key makes of it.
 */
#include "base/lookup/search.h"
#include "edit/scrub/scrub.h"

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

enum pd_scrub_space pd_scrub_space_of(uint16_t misc)
{
	switch (PD_BITS(misc, PD_MISC_CPUMODE)) {
	case PD_CPUMODE_KERNEL:
		return PD_SPACE_KERNEL;
	case PD_CPUMODE_USER:
		return PD_SPACE_USER;
	case PD_CPUMODE_GUEST_KERNEL:
		return PD_SPACE_GUEST;
	}
	return PD_SPACE_ANY;
}

static enum pd_scrub_space space_of_map(uint16_t misc, uint32_t pid, uint64_t addr)
{
	enum pd_scrub_space space = pd_scrub_space_of(misc);

	if (space != PD_SPACE_ANY)
		return space;
	return pid == UINT32_MAX || addr >= KERNEL_HALF ? PD_SPACE_KERNEL : PD_SPACE_USER;
}

/* ---- the plan ---- */

static int by_start(const void *a, const void *b)
{
	const struct pd_address_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void merge(struct pd_address_space *space)
{
	size_t count = 0;

	if (space->count)
		qsort(space->ranges, space->count, sizeof(*space->ranges), by_start);
	for (size_t i = 0; i < space->count; i++) {
		struct pd_address_range *last = count ? &space->ranges[count - 1] : NULL, *range = &space->ranges[i];

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

static bool add_range(struct pd_scrub *scrub, enum pd_scrub_space which, uint64_t start, uint64_t size)
{
	struct pd_address_space *space = &scrub->spaces[which];
	struct pd_address_range *more;

	if (!size)
		return true;
	if (which != PD_SPACE_USER)
		size = kernel_size(start, size);
	if (size >> (which == PD_SPACE_USER ? MOST_BITS : 63) || !start || start > UINT64_MAX - (size - 1)) {
		scrub->result.large_map_count += which == PD_SPACE_USER;
		return true;
	}
	if (space->count >= space->merge_at && space->count >= FIRST_MERGE) {
		merge(space);
		space->merge_at = 2 * space->count;
	}
	if (space->count == space->capacity) {
		space->capacity = space->capacity ? 2 * space->capacity : 256;
		more = pd_realloc(space->ranges, space->capacity * sizeof(*more));
		if (!more)
			return false;
		space->ranges = more;
	}
	space->ranges[space->count++] = (struct pd_address_range){ .start = start, .end = start + (size - 1) };
	return true;
}

static bool add_map(struct pd_scrub *scrub, uint16_t misc, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff)
{
	enum pd_scrub_space space = space_of_map(misc, pid, addr);

	/* A recorder that may not see addresses of the kernel maps it everywhere. */
	if (space != PD_SPACE_USER && !addr && pgoff >= KERNEL_HALF)
		return add_range(scrub, space, pgoff & ~(uint64_t)((1 << ANCHOR_BITS) - 1), UINT64_C(1) << 30);
	return add_range(scrub, space, addr, len);
}

bool pd_scrub_note_mapping(struct pd_scrub *scrub, const struct pd_record *record)
{
	const struct pd_mmap2 *mmap2 = pd_as_mmap2(record);
	const struct pd_mmap *mmap = pd_as_mmap(record);
	const struct pd_ksymbol *ksymbol = pd_as_ksymbol(record);

	if (mmap2)
		return add_map(scrub, record->misc, mmap2->pid, mmap2->addr, mmap2->len, mmap2->pgoff);
	if (mmap)
		return add_map(scrub, record->misc, mmap->pid, mmap->addr, mmap->len, mmap->pgoff);
	return !ksymbol || add_range(scrub, PD_SPACE_KERNEL, ksymbol->addr, ksymbol->len);
}

struct place {
	uint64_t order;
	struct pd_address_range *range;
};

static int by_order(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* In an order and with gaps that only the key knows. */
static bool plan_user(struct pd_scrub *scrub)
{
	struct pd_address_space *space = &scrub->spaces[PD_SPACE_USER];
	struct place *places = pd_alloc((space->count + 1) * (sizeof(*places)));
	uint64_t total = 0, base = UINT64_C(1) << 45, range = UINT64_C(1) << 46, at, gap;

	if (!places)
		return false;
	for (size_t i = 0; i < space->count; i++) {
		struct pd_address_range *range = &space->ranges[i];

		places[i] = (struct place){ pd_scrub_number_of(scrub, PD_CLASS_CODE, range->start), range };
		total += ((range->end - range->start) >> GRAIN_BITS) + 2;
	}
	qsort(places, space->count, sizeof(*places), by_order);
	if (total > range >> (GRAIN_BITS + 1)) {
		base = UINT64_C(1) << 49;
		range = UINT64_C(1) << 54;
	}
	range >>= GRAIN_BITS;
	gap = total < range ? (range - total) / (space->count + 1) + 1 : 1;
	at = base >> GRAIN_BITS;
	for (size_t i = 0; i < space->count; i++) {
		struct pd_address_range *range = places[i].range;

		at += pd_scrub_number_of(scrub, PD_CLASS_OFFSET, places[i].order) % gap;
		range->delta = (at << GRAIN_BITS) - (range->start & ~(uint64_t)(GRAIN - 1));
		at += ((range->end - range->start) >> GRAIN_BITS) + 2;
	}
	pd_free(places);
	return true;
}

/* One step for all of a half, down from the upper one, up from below. */
static void plan_kernel(struct pd_scrub *scrub, enum pd_scrub_space which)
{
	struct pd_address_space *space = &scrub->spaces[which];
	uint64_t random = pd_scrub_number_of(scrub, PD_CLASS_KERNEL_CODE, which);

	random = (random % (1 << 16) + 1) << ANCHOR_BITS;
	for (size_t i = 0; i < space->count; i++) {
		struct pd_address_range *range = &space->ranges[i];

		if (range->start >= KERNEL_HALF)
			range->delta = -random;
		else if (range->start >= UINT64_C(1) << 31 && range->end < UINT64_C(1) << 32)
			range->delta = -(random & ((1 << 28) - 1));
		else
			range->delta = range->end < KERNEL_HALF - random ? random : 0;
	}
}

bool pd_scrub_plan_addresses(struct pd_scrub *scrub)
{
	for (size_t i = 0; i < PD_SPACE_COUNT; i++)
		merge(&scrub->spaces[i]);
	plan_kernel(scrub, PD_SPACE_KERNEL);
	plan_kernel(scrub, PD_SPACE_GUEST);
	return plan_user(scrub);
}

/* ---- by the plan ---- */

static const struct pd_address_range *range_at(struct pd_address_space *space, uint64_t address)
{
	size_t at;

	if (space->last < space->count && address >= space->ranges[space->last].start &&
	    address <= space->ranges[space->last].end)
		return &space->ranges[space->last];
	PD_SEARCH(at, 0, space->count, i, address > space->ranges[i].end);
	if (at == space->count || address < space->ranges[at].start)
		return NULL;
	space->last = at;
	return &space->ranges[at];
}

static const struct pd_address_range *find(struct pd_scrub *scrub, enum pd_scrub_space space, uint64_t address)
{
	const struct pd_address_range *range = NULL;

	if (space == PD_SPACE_GUEST)
		return range_at(&scrub->spaces[PD_SPACE_GUEST], address);
	if (space != PD_SPACE_KERNEL && address < KERNEL_HALF)
		range = range_at(&scrub->spaces[PD_SPACE_USER], address);
	if (!range && (space != PD_SPACE_USER || address >= KERNEL_HALF))
		range = range_at(&scrub->spaces[PD_SPACE_KERNEL], address);
	return range;
}

static uint64_t make_odd(struct pd_scrub *scrub, uint64_t address)
{
	return (pd_scrub_number_of(scrub, PD_CLASS_DATA, address) & ODD_MASK) |
	       (address >= KERNEL_HALF ? ODD_KERNEL : ODD_USER);
}

/* Places in one cache line or page stay together. */
static uint64_t make_odd_page(struct pd_scrub *scrub, uint64_t address)
{
	return ((pd_scrub_number_of(scrub, PD_CLASS_PHYSICAL, address) * PAGE) & ODD_MASK) |
	       (address >= KERNEL_HALF ? ODD_KERNEL : ODD_USER);
}

static uint64_t odd(struct pd_scrub *scrub, uint64_t address, bool data)
{
	/* Near 0 nothing can be but a mistake of the program. */
	if (address < PAGE && scrub->level < PD_SCRUB_ALL)
		return address;
	if (data && address >= PAGE && scrub->level < PD_SCRUB_ALL)
		return pd_scrub_known_number(scrub, PD_CLASS_PHYSICAL, address & ~(uint64_t)(PAGE - 1), make_odd_page) |
		       (address & (PAGE - 1));
	return pd_scrub_known_number(scrub, PD_CLASS_DATA, address, make_odd);
}

uint64_t pd_scrub_address(struct pd_scrub *scrub, enum pd_scrub_space space, uint64_t address, bool data)
{
	const struct pd_address_range *range;

	if (!address || pd_scrub_action(scrub, PD_CLASS_CODE) == PD_SCRUB_KEEP)
		return address;
	/* It is there in every process, always. */
	if ((address & ~(uint64_t)(PAGE - 1)) == VSYSCALL)
		return address;
	range = find(scrub, space, address);
	return range ? address + range->delta : odd(scrub, address, data);
}

/* Markers say what the entries after them are; after a deferred user part is a number that is no address. */
void pd_scrub_chain(struct pd_scrub *scrub, uint64_t *items, size_t count)
{
	enum pd_scrub_space space = scrub->space;

	for (size_t i = 0; i < count; i++) {
		if (items[i] < PD_CONTEXT_MAX) {
			items[i] = pd_scrub_address(scrub, space, items[i], false);
			continue;
		}
		switch ((int64_t)items[i]) {
		case PD_CONTEXT_KERNEL:
			space = PD_SPACE_KERNEL;
			break;
		case PD_CONTEXT_USER:
			space = PD_SPACE_USER;
			break;
		case PD_CONTEXT_GUEST_KERNEL:
			space = PD_SPACE_GUEST;
			break;
		case PD_CONTEXT_USER_DEFERRED:
			i++;
			break;
		default:
			space = PD_SPACE_ANY;
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
static uint64_t move_offset(struct pd_scrub *scrub, const struct map *map, enum pd_scrub_space space, uint64_t moved)
{
	const struct pd_address_range *range;

	if (!map->pgoff && !is_file(map->name))
		return 0;
	if (space != PD_SPACE_USER) {
		range = find(scrub, space, map->pgoff);
		if (range)
			return map->pgoff + range->delta;
		return map->pgoff >= KERNEL_HALF ? odd(scrub, map->pgoff, false) : map->pgoff;
	}
	if (!is_file(map->name))
		return map->pgoff + (moved - map->addr);
	if (pd_scrub_action(scrub, PD_CLASS_OFFSET) == PD_SCRUB_KEEP)
		return map->pgoff;
	return map->pgoff +
	       (pd_scrub_number_of_text(scrub, PD_CLASS_OFFSET, map->name->data, map->name->length) % 4096 + 1) * GRAIN;
}

static void move_map(struct pd_scrub *scrub, struct map *map)
{
	enum pd_scrub_space space = space_of_map(map->misc, map->pid, map->addr);
	uint64_t moved = pd_scrub_address(scrub, space, map->addr, true);

	scrub->counts.values[PD_CLASS_CODE]++;
	scrub->counts.values[PD_CLASS_OFFSET]++;
	if (pd_scrub_action(scrub, PD_CLASS_CODE) == PD_SCRUB_KEEP)
		return;
	map->pgoff = move_offset(scrub, map, space, moved);
	map->addr = moved;
	if (map->len > UINT64_MAX - moved)
		map->len = UINT64_MAX - moved;
}

void pd_scrub_special_mmap(struct pd_scrub *scrub, struct pd_mmap *mmap)
{
	struct map map = { scrub->misc, mmap->pid, mmap->addr, mmap->len, mmap->pgoff, &mmap->filename };

	move_map(scrub, &map);
	mmap->addr = map.addr;
	mmap->len = map.len;
	mmap->pgoff = map.pgoff;
}

static struct pd_bytes without_tail(struct pd_scrub *scrub, struct pd_bytes id, size_t used)
{
	uint8_t *now = pd_arena_alloc(&scrub->arena, id.size + 1);

	scrub->failed |= !now;
	if (!now)
		return (struct pd_bytes){ 0 };
	memcpy(now, id.data, used < id.size ? used : id.size);
	return (struct pd_bytes){ now, id.size };
}

void pd_scrub_special_mmap2(struct pd_scrub *scrub, struct pd_mmap2 *mmap2)
{
	struct map map = { scrub->misc, mmap2->pid, mmap2->addr, mmap2->len, mmap2->pgoff, &mmap2->filename };

	move_map(scrub, &map);
	mmap2->addr = map.addr;
	mmap2->len = map.len;
	mmap2->pgoff = map.pgoff;
	if (mmap2->build_id.size)
		mmap2->build_id = without_tail(scrub, mmap2->build_id, mmap2->build_id_size);
}

void pd_scrub_special_header_build_id(struct pd_scrub *scrub, struct pd_header_build_id *id)
{
	bool sized = scrub->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE);

	if (id->build_id.size)
		id->build_id = without_tail(scrub, id->build_id, sized ? id->size : id->build_id.size);
	if (!sized)
		id->size = 0;
}

/* ---- events ---- */

static bool is_probe(struct pd_scrub *scrub, uint32_t type)
{
	const struct pd_pmu_mappings *mappings = pd_file_pmu_mappings(scrub->file);

	for (size_t i = 0; mappings && i < mappings->pmus.count; i++) {
		const struct pd_pmu_mapping *pmu = PD_ITEM(pd_pmu_mapping, mappings->pmus, i);

		if (pmu->type == type)
			return !strcmp(pmu->name.data, "kprobe") || !strcmp(pmu->name.data, "uprobe");
	}
	return false;
}

/* What most events have there are bits of the PMU; breakpoints and probes have addresses. */
void pd_scrub_special_attr(struct pd_scrub *scrub, struct pd_attr *attr)
{
	if (pd_scrub_action(scrub, PD_CLASS_CONFIG) == PD_SCRUB_KEEP)
		return;
	if (attr->type == PD_TYPE_BREAKPOINT) {
		scrub->counts.values[PD_CLASS_CONFIG]++;
		attr->config1 = pd_scrub_address(scrub, PD_SPACE_ANY, attr->config1, true);
	} else if (attr->type > PD_TYPE_BREAKPOINT && (attr->config1 || attr->config2) && is_probe(scrub, attr->type)) {
		scrub->counts.values[PD_CLASS_CONFIG]++;
		attr->config1 = attr->config2 = 0;
	}
}
