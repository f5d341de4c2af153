/* SPDX-License-Identifier: MIT */
/*
 * Addresses of mappings and samples replaced by those of a space without gaps: a recording then says where in which object a
 * sample was, but not where that was mapped. Each mapping gets the next addresses, with the same place in its page. A child has the
 * mappings of its parent. What is in no mapping is marked by its highest bit, as quipper does.
 */
#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "quipper/write.h"

enum {
	PAGE = 4096
};

struct range {
	uint64_t start, len, to;
};

struct space {
	struct range *ranges; // sorted
	size_t count, capacity;
};

struct pd_quipper_remap {
	struct space *spaces;
	size_t count, capacity;
	struct pd_u64_map space_of; // pid to place in spaces plus 1
	uint64_t next;              // address that is free
	struct pd_arena arena;      // of the present record
};

static const uint32_t kernel = UINT32_MAX;

struct pd_quipper_remap *pd_quipper_remap_new(void)
{
	return pd_alloc(sizeof(struct pd_quipper_remap));
}

void pd_quipper_remap_free(struct pd_quipper_remap *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->count; i++)
		pd_free(self->spaces[i].ranges);
	pd_free(self->spaces);
	pd_u64_map_fini(&self->space_of);
	pd_arena_fini(&self->arena);
	pd_free(self);
}

static struct space *find_space(const struct pd_quipper_remap *self, uint32_t pid)
{
	uint64_t place = pd_u64_map_find(&self->space_of, pid);

	return place ? &self->spaces[place - 1] : NULL;
}

// NULL if there is no memory.
static struct space *make_space(struct pd_quipper_remap *self, uint32_t pid)
{
	struct space *space = find_space(self, pid);

	if (space)
		return space;
	if (!PD_GROW(self->spaces, self->capacity, self->count + 1) ||
	    !pd_u64_map_add(&self->space_of, pid, self->count + 1))
		return NULL;
	self->spaces[self->count] = (struct space){ .ranges = NULL };
	return &self->spaces[self->count++];
}

// The first range that ends after an address.
static size_t find_range(const struct space *space, uint64_t addr)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (space->ranges[middle].start + (space->ranges[middle].len - 1) < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool insert(struct space *space, size_t at, struct range range)
{
	if (!PD_GROW(space->ranges, space->capacity, space->count + 1))
		return false;
	memmove(space->ranges + at + 1, space->ranges + at, (space->count - at) * sizeof(range));
	space->ranges[at] = range;
	space->count++;
	return true;
}

// What a new mapping is put over goes.
static bool clear_range(struct space *space, uint64_t start, uint64_t last)
{
	size_t at = find_range(space, start);

	while (at < space->count && space->ranges[at].start <= last) {
		struct range *range = &space->ranges[at], rest = *range;
		uint64_t range_last = range->start + (range->len - 1);

		if (range_last > last) {
			rest.to += last + 1 - range->start;
			rest.len = range_last - last;
			rest.start = last + 1;
			if (!insert(space, at + 1, rest))
				return false;
			range = &space->ranges[at];
		}
		if (range->start < start) {
			range->len = start - range->start;
			at++;
		} else {
			space->count--;
			memmove(range, range + 1, (space->count - at) * sizeof(*range));
		}
		if (range_last > last)
			break;
	}
	return true;
}

// Where a mapping is from now on. False if there is no memory.
static bool map(struct pd_quipper_remap *self, uint32_t pid, uint64_t start, uint64_t len, uint64_t *to_out)
{
	struct space *space = make_space(self, pid);
	uint64_t last = len - 1 > UINT64_MAX - start ? UINT64_MAX : start + (len - 1);

	*to_out = start;
	if (!space)
		return false;
	if (!len)
		return true;
	if (!clear_range(space, start, last))
		return false;
	*to_out = (self->next + PAGE - 1) / PAGE * PAGE + start % PAGE;
	self->next = *to_out + (last - start) + 1;
	return insert(space, find_range(space, start), (struct range){ start, last - start + 1, *to_out });
}

static uint64_t mapped_by(const struct space *space, uint64_t addr, bool *is_mapped)
{
	size_t at = space ? find_range(space, addr) : 0;

	*is_mapped = space && at < space->count && space->ranges[at].start <= addr;
	return *is_mapped ? space->ranges[at].to + (addr - space->ranges[at].start) : addr;
}

static uint64_t new_address(const struct pd_quipper_remap *self, uint32_t pid, uint64_t addr, bool *is_mapped)
{
	enum {
		MARK = 8
	};
	uint64_t to;

	*is_mapped = addr >= PD_CONTEXT_MAX;
	if (*is_mapped)
		return addr;
	to = mapped_by(find_space(self, kernel), addr, is_mapped);
	if (!*is_mapped)
		to = mapped_by(find_space(self, pid), addr, is_mapped);
	return *is_mapped ? to : (addr & (UINT64_MAX >> 4)) | (uint64_t)MARK << 60;
}

// ---- records ----

static bool fork_space(struct pd_quipper_remap *self, const struct pd_task *task)
{
	struct space *child, *parent;

	if (task->pid == task->ppid)
		return true;
	child = make_space(self, task->pid);
	parent = find_space(self, task->ppid);
	if (!child)
		return false;
	child->count = 0;
	if (!parent || !parent->count)
		return true;
	if (!PD_GROW(child->ranges, child->capacity, parent->count))
		return false;
	memcpy(child->ranges, parent->ranges, parent->count * sizeof(*parent->ranges));
	child->count = parent->count;
	return true;
}

static void forget_space(struct pd_quipper_remap *self, uint32_t pid)
{
	struct space *space = find_space(self, pid);

	if (space)
		space->count = 0;
}

// Where the kernel begins is said by pgoff, which is hidden.
static bool change_mapping(struct pd_quipper_remap *self, bool is_kernel, uint32_t pid, uint64_t *addr, uint64_t *len,
			   uint64_t *pgoff)
{
	if (is_kernel) {
		if (*pgoff > *addr && *pgoff - *addr < *len) {
			*len -= *pgoff - *addr;
			*addr = *pgoff;
		}
		*pgoff = 0;
	}
	return map(self, pid, *addr, *len, addr);
}

static const struct pd_branch_stack *change_branches(struct pd_quipper_remap *self, uint32_t pid,
						     const struct pd_branch_stack *branches)
{
	struct pd_branch_stack *stack = pd_arena_copy(&self->arena, branches, sizeof(*branches));
	struct pd_branch *entries = pd_arena_alloc(&self->arena, branches->entries.count * sizeof(*entries) + 1);
	bool is_mapped;

	if (!stack || !entries)
		return NULL;
	for (size_t i = 0; i < branches->entries.count; i++) {
		entries[i] = *PD_ITEM(pd_branch, branches->entries, i);
		entries[i].from = new_address(self, pid, entries[i].from, &is_mapped);
		entries[i].to = new_address(self, pid, entries[i].to, &is_mapped);
	}
	stack->entries = (struct pd_list){ entries, branches->entries.count, sizeof(*entries) };
	return stack;
}

static bool change_sample(struct pd_quipper_remap *self, struct pd_sample *sample, bool *is_mapped_out)
{
	uint64_t *chain = pd_arena_alloc(&self->arena, sample->callchain.count * sizeof(*chain) + 1);
	bool is_mapped;

	if (!chain)
		return false;
	sample->ip = new_address(self, sample->pid, sample->ip, is_mapped_out);
	if (sample->addr)
		sample->addr = new_address(self, sample->pid, sample->addr, &is_mapped);
	for (size_t i = 0; i < sample->callchain.count; i++)
		chain[i] = new_address(self, sample->pid, sample->callchain.items[i], &is_mapped);
	sample->callchain.items = chain;
	if (sample->branch_stack)
		sample->branch_stack = change_branches(self, sample->pid, sample->branch_stack);
	return !self->arena.failed;
}

const void *pd_quipper_remap_record(struct pd_quipper_remap *self, const struct pd_record *record, const void *decoded,
				    bool *is_mapped_out)
{
	bool is_kernel = (record->misc & 7) == PD_CPUMODE_KERNEL, good = true;
	void *changed;

	pd_arena_reset(&self->arena);
	*is_mapped_out = true;
	changed = pd_arena_copy(&self->arena, decoded, pd_layout_struct_size(pd_record_layout(record->type)));
	if (!changed)
		return NULL;
	if (record->type == PD_RECORD_MMAP) {
		struct pd_mmap *mmap = changed;

		good = change_mapping(self, is_kernel, mmap->pid, &mmap->addr, &mmap->len, &mmap->pgoff);
	} else if (record->type == PD_RECORD_MMAP2) {
		struct pd_mmap2 *mmap = changed;

		good = change_mapping(self, is_kernel, mmap->pid, &mmap->addr, &mmap->len, &mmap->pgoff);
	} else if (record->type == PD_RECORD_SAMPLE) {
		good = change_sample(self, changed, is_mapped_out);
	} else if (record->type == PD_RECORD_KSYMBOL) {
		struct pd_ksymbol *symbol = changed;

		good = map(self, kernel, symbol->addr, symbol->len, &symbol->addr);
	} else if (record->type == PD_RECORD_FORK) {
		good = fork_space(self, changed);
	} else if (record->type == PD_RECORD_COMM && record->misc & PD_MASK(PD_MISC_COMM_EXEC)) {
		forget_space(self, ((struct pd_comm *)changed)->pid);
	} else if (record->type == PD_RECORD_EXIT &&
		   ((struct pd_task *)changed)->pid == ((struct pd_task *)changed)->tid) {
		forget_space(self, ((struct pd_task *)changed)->pid);
	}
	return good ? changed : NULL;
}
